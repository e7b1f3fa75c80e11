;;; emacs.el --- What a user of Emacs does and sees, as one line of JSON -*- lexical-binding: t -*-
;; PYTHON=... FILE=... ACTION=... emacs --batch -l emacs.el
;; ACTION is a pattern of the code action that is taken.  Fails with a message after LIMIT seconds of waiting.

(package-initialize)
(require 'eglot)
(require 'flymake)
(require 'json)

(defconst limit 30)
(setq eglot-sync-connect limit
      eglot-connect-timeout limit
      eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil
      flymake-no-changes-timeout 0.1
      vc-handled-backends nil
      make-backup-files nil
      python-indent-guess-indent-offset nil)

(defun wait-for (what condition)
  "Wait until CONDITION holds; fail saying WHAT did not happen."
  (let ((end (+ (float-time) limit)))
    (while (and (not (funcall condition)) (< (float-time) end))
      (accept-process-output nil 0.05))
    (unless (funcall condition)
      (message "this did not happen: %s" what)
      (kill-emacs 1))))

(defun found ()
  "The findings that Flymake shows."
  (flymake-start)
  (flymake-diagnostics))

(defun shown ()
  "The findings, for JSON."
  (vconcat
   (mapcar (lambda (one)
             `((row . ,(line-number-at-pos (flymake-diagnostic-beg one)))
               (words . ,(buffer-substring-no-properties (flymake-diagnostic-beg one) (flymake-diagnostic-end one)))
               (text . ,(substring-no-properties (flymake-diagnostic-text one)))))
           (found))))

(defun server () "The server of this buffer." (eglot--current-server-or-lose))

(let* ((file (getenv "FILE"))
       (default-directory (file-name-directory file))
       (command (list (getenv "PYTHON") "-m" "nonstrict" "server"))
       seen)
  (find-file file)
  (python-mode)
  (eglot '(python-mode) `(transient . ,default-directory) 'eglot-lsp-server command "python")
  (wait-for "the session begins" (lambda () eglot--managed-mode))
  (wait-for "a finding is shown" #'found)
  (push (cons 'before (shown)) seen)

  (goto-char (point-min))
  (search-forward "nonstrict_")
  (let ((hover (jsonrpc-request (server) :textDocument/hover (eglot--TextDocumentPositionParams))))
    (push (cons 'hover (plist-get (plist-get hover :contents) :value)) seen))

  (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
  (let* ((offered (eglot-code-actions (flymake-diagnostic-beg (car (flymake-diagnostics)))
                                      (flymake-diagnostic-end (car (flymake-diagnostics)))))
         (action (seq-find (lambda (one) (string-match-p (getenv "ACTION") (plist-get one :title))) offered)))
    (unless (plist-get action :edit)
      (setq action (jsonrpc-request (server) :codeAction/resolve action)))
    (push (cons 'action (plist-get action :title)) seen)
    ;; Of files that are not visited it asks.
    (cl-letf (((symbol-function 'y-or-n-p) #'always))
      (eglot--apply-workspace-edit (plist-get action :edit))))
  (eglot--signal-textDocument/didChange)
  (wait-for "the finding is gone" (lambda () (null (found))))
  (save-some-buffers t)
  (push (cons 'after (shown)) seen)

  (let ((process (jsonrpc--process (server))))
    (eglot-shutdown (server))
    (wait-for "the server ends" (lambda () (not (process-live-p process)))))
  (princ (concat (json-encode seen) "\n")))
;;; emacs.el ends here
