"""What options cannot mean, alone or together: refused before anything is read or written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from nonstrict.settings.model import Settings

#: Formats made for people, in which a run may also say a sentence.
_FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
_COUNTED = _FOR_PEOPLE | {"json"}
#: Options that are about experiments alone, with what they are where nobody sets them.
_EXPERIMENTS = {
    "device": "auto",
    "timeout": 60.0,
    "isolation": "auto",
    "full_import": False,
    "write_repro": None,
    "probe": False,
    "trust": False,
    "workers": 0,
    "cluster": None,
}
#: Formats of which one round can follow another.
WATCHED = _FOR_PEOPLE | {"json-lines"}
#: Options of runs that are made once.
_ONCE = ("since", "staged", "diff", "statistics", "output_file", "show_settings", "show_files", "exit_non_zero_on_fix")
_SELECTORS = ("select", "extend_select", "ignore", "fixable", "extend_fixable", "unfixable")
#: Options that each ask for another run, and what such a run has no place for.
_RUNS = {
    "show_settings": ("show_files", "add_ignore", "write_baseline", "fix", "fix_only", "diff", "confirm", "statistics"),
    "show_files": ("add_ignore", "write_baseline", "fix", "fix_only", "diff", "confirm", "statistics"),
    "add_ignore": ("write_baseline", "fix", "fix_only", "confirm", "statistics"),
    "write_baseline": ("since", "staged", "fix", "fix_only", "diff", "statistics"),
    "diff": ("confirm", "statistics"),
    "fix_only": ("confirm", "statistics"),
    "probe": ("fix", "add_ignore", "write_baseline", "statistics"),
}
#: Options that change which findings are looked at, and what is made of all of them.
_VIEWS = {"ignore_suppressions": ("add_ignore", "write_baseline"), "no_notes": ("write_baseline",)}


def refuse_misuse(options: argparse.Namespace) -> None:
    """Refuse options of `nonstrict check` that cannot be meant.

    Raises:
        ConfigurationError: the first that was found.
    """
    for message in _mistakes(options):
        raise ConfigurationError(message)


def _mistakes(options: argparse.Namespace) -> Iterator[str]:
    yield from _empty(options)
    yield from _exclusive(options)
    yield from _formats(options)
    yield from _output(options)
    yield from mistakes_about_places(options)
    yield from _changes(options)
    yield from _watching(options)
    if options.stdin_filename is not None and "-" not in options.paths:
        yield "--stdin-filename names the text of standard input, which is not read. Add the path `-`."
    if not options.confirm:
        for name, default in _EXPERIMENTS.items():
            if getattr(options, name) != default:
                yield f"{_flag(name)} is about experiments, and none are run. Add --confirm."
    for name in ("cache_dir", "write_repro"):
        path = getattr(options, name)
        if path and os.path.exists(path) and not os.path.isdir(path):
            yield f"{_flag(name)} takes a directory: {path} is a file."
    folder = os.path.dirname(options.write_baseline or "")
    if folder and not os.path.isdir(folder):
        yield f"--write-baseline={options.write_baseline}: there is no directory {folder}."
    if options.write_baseline and options.baseline:
        yield "--write-baseline=FILE and --baseline exclude each other. Drop one of them."
    if options.fix is False and options.fix_only:
        yield "--no-fix and --fix-only exclude each other. Drop one of them."
    missing = next((path for path in options.paths if path != "-" and not os.path.lexists(path)), None)
    if options.show_settings and missing is not None:
        yield f"{missing} does not exist, and has no settings."
    if options.exit_zero and options.exit_non_zero_on_fix:
        yield "--exit-zero and --exit-non-zero-on-fix exclude each other. Drop one of them."


def _changes(options: argparse.Namespace) -> Iterator[str]:
    """What cannot be meant of a change that git is asked about."""
    for name in ("since", "staged"):
        if _is_given(options, name) and "-" in options.paths:
            yield f"{_flag(name)} asks git, which knows nothing of standard input. Name files and directories."
    if options.since == "":
        yield "--since takes a commit, a branch or a tag, not nothing."
    for name in ("fix", "fix_only", "diff", "add_ignore", "confirm"):
        if options.staged and _is_given(options, name):
            yield f"--staged and {_flag(name)} exclude each other: the files may hold something else than is staged."


def _watching(options: argparse.Namespace) -> Iterator[str]:
    """What cannot be meant of checking again and again."""
    if not options.watch:
        return
    if "-" in options.paths:
        yield "--watch waits for files to change, and standard input is none. Name files and directories."
    if options.confirm:
        yield "--watch runs no experiments; `nonstrict server` does in an editor. Drop --confirm."
    for name in ("fix", "fix_only", "add_ignore", "write_baseline"):
        if _is_given(options, name):
            yield f"--watch changes no files, {_flag(name)} does. Drop one of them."
    for name in (*_ONCE, "silent"):
        if _is_given(options, name):
            yield f"--watch and {_flag(name)} exclude each other. Drop one of them."
    if options.output_format not in {None, *WATCHED}:
        known = ", ".join(sorted(WATCHED))
        yield f"--watch writes round after round, {options.output_format} is one document. Choose one of {known}."


def mistakes_about_places(options: argparse.Namespace) -> Iterator[str]:
    """What cannot be meant of where experiments run."""
    if options.cluster is not None and options.workers:
        yield "--cluster and --workers exclude each other: a cluster has workers of its own. Drop one of them."
    if options.cluster == "":
        yield "--cluster takes the address of a Dask scheduler, as tcp://HOST:8786, not nothing."


def _empty(options: argparse.Namespace) -> Iterator[str]:
    """What was given and says nothing: often a variable of a shell that is not set."""
    for name in _SELECTORS:
        items: list[str] | None = getattr(options, name)
        if items and not any(item.replace(",", " ").strip() for item in items):
            yield f"{_flag(name)} names no rule."
    if "" in options.paths:
        yield "a path is empty. Name a file or a directory; `.` is this one."
    if options.cache_dir == "":
        yield "--cache-dir takes a directory, not nothing."
    if options.stdin_filename == "":
        yield "--stdin-filename is empty. Name a file, whether it exists or not."


def _exclusive(options: argparse.Namespace) -> Iterator[str]:
    if options.diff and options.confirm:
        yield "--diff writes nothing that --confirm could run. Drop one of them."
    for name, others in (*_RUNS.items(), *_VIEWS.items()):
        for other in others:
            if _is_given(options, name) and _is_given(options, other):
                yield f"{_flag(name)} and {_flag(other)} exclude each other. Drop one of them."


def _formats(options: argparse.Namespace) -> Iterator[str]:
    """Formats that were asked for by name where something else than findings is written."""
    name = options.output_format
    if name is None:
        return
    if options.statistics and name not in _COUNTED:
        yield f"--statistics knows no format {name}. Choose full or json."
    for run in _RUNS:
        if _is_given(options, run) and name not in _FOR_PEOPLE:
            yield f"{_flag(run)} reports no findings, and knows no format {name}. Drop --output-format."


def _output(options: argparse.Namespace) -> Iterator[str]:
    """`--output-file` where nothing is written, or over what is read."""
    path = options.output_file
    if path is None:
        if options.silent and options.statistics:
            yield "--silent and --statistics exclude each other. Drop one of them."
        return
    run = next((name for name in _RUNS if _is_given(options, name)), None)
    if run is not None:
        yield f"{_flag(run)} reports no findings that --output-file could hold. Drop one of them."
    if options.silent:
        yield "--silent and --output-file exclude each other. Drop one of them."
    if path == "" or os.path.isdir(path):
        yield f"--output-file takes a file, not {'nothing' if path == '' else f'the directory {path}'}."
    elif not os.path.isdir(os.path.dirname(path) or os.curdir):
        yield f"--output-file {path}: there is no directory {os.path.dirname(path)}."
    elif any(os.path.isfile(one) and os.path.exists(path) and os.path.samefile(one, path) for one in options.paths):
        yield f"--output-file {path} would overwrite a file that is checked. Name another one."


def _is_given(options: argparse.Namespace, name: str) -> bool:
    value = getattr(options, name)
    return value is not None and value is not False


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse_hidden_notes(settings: Settings, options: argparse.Namespace) -> None:
    """Refuse to fail a run for what it is asked not to show.

    Raises:
        ConfigurationError: notes are left out, and fail the run.
    """
    if options.no_notes and settings.fail_on is Severity.NOTE:
        raise ConfigurationError("--no-notes leaves out what a run fails for with `--fail-on note`. Drop one of them.")


def chosen_interpreter(named: str) -> str:
    """The absolute path of the interpreter or environment that `--python` names, also by a name on the `PATH`.

    Raises:
        ConfigurationError: there is none.
    """
    path = os.path.abspath(os.path.expanduser(named))
    if os.path.exists(path) and named:
        from nonstrict.knowledge.torch_version import is_environment

        if is_environment(path) if os.path.isdir(path) else os.access(path, os.X_OK):
            return path
        raise ConfigurationError(f"--python {named}: this is neither an interpreter nor an environment.")
    import shutil

    found = shutil.which(named) if os.path.basename(named) == named else None
    if found is None:
        raise ConfigurationError(f"--python {named}: there is no such interpreter or environment.")
    return os.path.abspath(found)


def known_torch(version: str) -> str:
    """The version that `--torch-version` names.

    Raises:
        ConfigurationError: it is no version, or one that nothing is known of.
    """
    from nonstrict.settings.values import BadValueError, known_version

    try:
        return known_version(version)
    except BadValueError as error:
        raise ConfigurationError(f"--torch-version {version or repr(version)}: {error}.") from None


def targeted_python(version: str) -> str:
    """The version that `--target-python` names.

    Raises:
        ConfigurationError: it is no version of Python, or one that nothing is known of.
    """
    from nonstrict.settings.values import BadValueError, known_python

    try:
        return known_python(version)
    except BadValueError as error:
        raise ConfigurationError(f"--target-python {version or repr(version)}: {error}.") from None


def refuse_other_torch(settings: Settings, trusted: Callable[[str], bool]) -> None:
    """Refuse experiments where the findings are for another torch than the one that would run.

    `trusted`: see `ConfirmOptions`.

    Raises:
        ConfigurationError: `torch_version` says another version than the interpreter has.
    """
    from nonstrict.check.venues import chosen_python, other_torch

    why = other_torch(settings, chosen_python(settings, trusted)) if settings.torch_version is not None else ""
    if why:
        raise ConfigurationError(f"{why}. Drop --torch-version, or name an interpreter that has it with --python.")
