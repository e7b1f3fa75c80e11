#!/bin/sh
# Installs the Debian packages that a bare machine lacks; silent when nothing is missing.
#   system_packages.sh python | compiler | node | editors | browser | shells | make
# Without root or apt-get it says what to install and fails; editors, the browser and shells are left out then, and so
# are their tests.
set -eu

interpreter=${PYTHON:-python3}
case ${1:?python, compiler, node, editors, browser, shells or make} in
python)
    command -v "$interpreter" >/dev/null || missing=python3
    "$interpreter" -c 'import ensurepip, venv' 2>/dev/null || missing="${missing:-} python3-venv"
    ;;
compiler)
    command -v g++ >/dev/null || missing=g++
    "$interpreter" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        missing="${missing:-} python3-dev"
    ;;
node)
    command -v node >/dev/null || missing=nodejs
    command -v npm >/dev/null || missing="${missing:-} npm"
    ;;
editors)
    # Neovim comes with the Python packages. Emacs has eglot, its client of the protocol, on board since version 29.
    if ! command -v emacs >/dev/null; then
        missing=emacs-nox
    elif ! emacs --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1; then
        missing=elpa-eglot
    fi
    ;;
browser)
    # It shows the workbench of the VS Code extension, and reports. Without a font it would show no text.
    command -v chromium >/dev/null || missing="chromium fonts-dejavu-core"
    ;;
shells)
    # bash is there already.
    command -v zsh >/dev/null || missing=zsh
    command -v fish >/dev/null || missing="${missing:-} fish"
    ;;
make)
    command -v make >/dev/null || missing=make
    ;;
*)
    echo "system_packages.sh: unknown group '$1'; use python, compiler, node, editors, browser, shells or make" >&2
    exit 2
    ;;
esac

if [ -n "${missing:-}" ]; then
    case $1 in
    editors) optional="Tests with Emacs" ;;
    browser) optional="Tests in a workbench of VS Code, and of the page of reports," ;;
    shells) optional="Tests of completion in other shells" ;;
    *) optional= ;;
    esac
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        if [ -n "$optional" ]; then
            echo "$optional are skipped: there is no $missing" >&2
            exit 0
        fi
        echo "Please install: $missing (then run make again)" >&2
        exit 1
    fi
    echo "Installing $missing ..." >&2
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { apt-get -qq update && apt-get -qq install --no-install-recommends -y $missing; } >/dev/null || [ -n "$optional" ]
    if [ "$missing" = emacs-nox ] && command -v emacs >/dev/null; then
        exec sh "$0" editors
    fi
fi

if [ "$1" = python ] && ! "$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    echo "$interpreter is older than Python 3.10: name a newer one, as in 'make PYTHON=python3.11 test'" >&2
    exit 1
fi
