"""What git knows of a repository: commits, the trees of files that they hold, and what became of files since.

Only commands that read are run: git is asked for what is stored, never to check anything out. Of the programs that the
configuration of a repository may name, only those can run that `git status` runs too: filters that convert files.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: A repository may name programs that git starts: watchers of the file system, pagers, drivers that show differences.
_HARMLESS = ("--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=", "-c", "core.quotePath=false")
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "-z")
#: What hooks are told of the repository that started them: which one is meant is told by a folder here.
_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"})
_MISSING = "git is needed for this and is not on the PATH. Install git."


class GitError(ConfigurationError):
    """What git was asked for cannot be had; the message says what to do."""


class Blob(NamedTuple):
    """A file of a tree: its path from the top with `/`, its mode ("100644", "120000" a link, "160000" a submodule).

    `size` is in bytes; 0 for a submodule.
    """

    path: str
    mode: str
    identity: str
    size: int


class Repository(NamedTuple):
    """The repository whose working tree has its root in the absolute folder `top`."""

    top: str

    def commit(self, name: str) -> str:
        """The identity of the commit that a name means.

        Raises:
            GitError: there is none here.
        """
        # A name that begins with a dash is none: git would take it for an option.
        found = None if name.startswith("-") else self._asked("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found is None:
            raise GitError(f"git knows no commit {name}. {self._advice(name)}")
        return found.decode().strip()

    def left_at(self, commit: str) -> str:
        """Where the current branch left that of a commit; the commit itself where no history tells."""
        found = self._asked("merge-base", commit, "HEAD")
        return found.decode().split("\n", 1)[0] if found is not None else commit

    def blobs(self, commit: str | None) -> list[Blob]:
        """The files of a commit; of the next one, as far as it is staged, where that is None.

        Raises:
            GitError: conflicts of a merge are staged.
        """
        if commit is None:
            return self._staged()
        found: list[Blob] = []
        for entry in _entries(self._told("ls-tree", "-r", "-z", "-l", "--full-tree", commit)):
            told, _, path = entry.partition("\t")
            mode, _, identity, size = told.split()
            found.append(Blob(path, mode, identity, int(size) if size.isdigit() else 0))
        return found

    def _staged(self) -> list[Blob]:
        found: list[Blob] = []
        for entry in _entries(self._told("ls-files", "--stage", "--full-name", "-z")):
            told, _, path = entry.partition("\t")
            mode, identity, stage = told.split()
            if stage != "0":
                raise GitError(f"{path} has merge conflicts. Resolve them and stage the file.")
            found.append(Blob(path, mode, identity, 0))
        return found

    def ignored(self) -> Iterator[str]:
        """What lies in the working tree and is ignored: files, and whole folders where all in them is."""
        listed = self._told("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return (path.rstrip("/") for path in _entries(listed))

    def untracked(self) -> Iterator[str]:
        """The files that git neither knows nor ignores."""
        return iter(_entries(self._told("ls-files", "--others", "--exclude-standard", "-z")))

    def renamed(self, before: str, *, staged: bool) -> dict[str, str]:
        """By the path of a file in a commit, its path in the working tree, or as `staged`, where it is another."""
        entries = _entries(self._told(*_DIFF, "-M", "--diff-filter=R", "--name-status", *_cached(staged), before))
        return {old: new for _, old, new in zip(entries[::3], entries[1::3], entries[2::3], strict=True)}

    def changed(self, before: str, *, staged: bool) -> frozenset[str]:
        """The paths of the files that differ between a commit and the working tree, or what is `staged`."""
        differing = _entries(self._told(*_DIFF, "--no-renames", "--name-only", *_cached(staged), before))
        return frozenset(differing if staged else (*differing, *self.untracked()))

    def excludes(self) -> str:
        """The file of rules about ignored files that only this clone has; it need not be there."""
        told = self._told("rev-parse", "--git-path", "info/exclude")
        return os.path.join(self.top, os.fsdecode(told.removesuffix(b"\n")))

    def contents(self, identities: Sequence[str]) -> Iterator[bytes]:
        """The bytes of some blobs, one after the other.

        Raises:
            GitError: one is not there.
        """
        with subprocess.Popen(
            ["git", *_HARMLESS, "cat-file", "--batch"],
            cwd=self.top,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            if process.stdin is None or process.stdout is None:
                raise GitError(_MISSING)
            for identity in identities:
                process.stdin.write(f"{identity}\n".encode())
                process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) != 3:
                    raise GitError(f"the object {identity} is missing. {self._advice('')}")
                yield process.stdout.read(int(header[2]))
                process.stdout.read(1)
            process.stdin.close()

    def _advice(self, name: str) -> str:
        shallow = self._asked("rev-parse", "--is-shallow-repository")
        if shallow is not None and shallow.strip() == b"true":
            fetch = f"`git fetch --depth=1 origin {name}`" if name else "`git fetch --unshallow`"
            return f"This clone is shallow: {fetch} brings it."
        return "Name a commit, a branch or a tag that is here, as `git log` does."

    def _asked(self, *arguments: str) -> bytes | None:
        """What git prints; None where it says that there is nothing."""
        done = _run(self.top, arguments)
        return done.stdout if done.returncode == 0 else None

    def _told(self, *arguments: str) -> bytes:
        done = _run(self.top, arguments)
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise GitError(f"git cannot show the earlier state ({reason}). Check that `git status` works here.")
        return done.stdout


def repository_of(folder: str) -> Repository:
    """The repository that holds an absolute folder.

    Raises:
        GitError: none does, or git is not installed.
    """
    done = _run(folder, ("rev-parse", "--show-toplevel"))
    top = os.fsdecode(done.stdout.removesuffix(b"\n"))
    if done.returncode or not top:
        reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitError(
            f"{folder} is not in a git working tree ({reason}). Earlier states of files can only be read from git."
        )
    return Repository(os.path.normpath(top))


def _run(folder: str, arguments: Iterable[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *_HARMLESS, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise GitError(_MISSING) from None


def _environment() -> dict[str, str]:
    """Ours, but git takes no locks that stand in the way of others, and asks nobody."""
    own = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    return {**own, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def _cached(staged: bool) -> tuple[str, ...]:
    return ("--cached",) if staged else ()


def _entries(told: bytes) -> list[str]:
    return [os.fsdecode(entry) for entry in told.split(b"\0") if entry]
