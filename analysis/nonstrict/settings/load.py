"""Finding and reading configuration files: which one counts for a directory, and what it says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from nonstrict.findings import with_advice
from nonstrict.settings.document import Document
from nonstrict.settings.errors import ConfigurationError, Place, invalid
from nonstrict.settings.model import Settings, default_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.findings import Diagnostic

#: In a directory the first of these that configures the tool counts.
CONFIG_NAMES = (".nonstrict.toml", "nonstrict.toml", "pyproject.toml")
#: What stands for the path of a file where settings come from an option, or from a program.
_GIVEN = ("--config", "settings")


def nearest_settings(directory: str) -> Settings | None:
    """The settings of the nearest configuration file at or above an absolute directory; None if there is none.

    Raises:
        ConfigurationError: that file cannot be read, is not TOML, or holds what we do not know.
    """
    here = directory
    while True:
        settings = settings_in(here, CONFIG_NAMES)
        if settings is not None:
            return settings
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def settings_in(directory: str, names: Iterable[str]) -> Settings | None:
    """The settings that one of the named files in an absolute directory gives, or None.

    A `pyproject.toml` without `[tool.nonstrict]` gives none.

    Raises:
        ConfigurationError: as `nearest_settings`.
    """
    for name in CONFIG_NAMES:
        if name in names:
            path = os.path.join(directory, name)
            text = _text_if_ours(path)
            if text is not None:
                settings = _settings_of(path, text, ())
                if settings is not None:
                    return settings
    return None


def settings_from_file(path: str) -> Settings:
    """The settings of a file that the user named.

    Raises:
        ConfigurationError: as `nearest_settings`, or the file does not exist.
    """
    path = os.path.abspath(path)
    settings = _settings_of(path, _read(path), ())
    if settings is None:
        raise ConfigurationError(f"{path} has no [tool.nonstrict] table. Add one, or name another file.")
    return settings


def settings_from_assignment(base: Settings, assignment: str) -> Settings:
    """`base` with one inline `key = value` on top, in TOML; relative paths belong to the working directory.

    Raises:
        ConfigurationError: it is not TOML, or holds what we do not know.
    """
    from nonstrict.settings.toml import parsed

    try:
        return _by_user(base, Document(_GIVEN[0], assignment, parsed(_GIVEN[0], assignment, advice="")))
    except ConfigurationError as error:
        detail = error.diagnostics[0] if error.diagnostics else None
        reason = f"{_elsewhere(detail)}{detail.message}" if detail else str(error)
        told = with_advice(f"--config '{assignment}': {reason}", detail.help if detail else "")
        raise ConfigurationError(told) from None


def settings_from_values(base: Settings, values: Mapping[str, object]) -> Settings:
    """`base` with values by key on top, as TOML has them; relative paths belong to the working directory.

    Raises:
        ConfigurationError: a key or a value is not known.
    """
    try:
        return _by_user(base, Document(_GIVEN[1], "", values))
    except ConfigurationError as error:
        told = (with_advice(f"{_elsewhere(one)}{one.message}", one.help) for one in error.diagnostics)
        raise ConfigurationError("\n".join(told)) from None


def _by_user(base: Settings, document: Document) -> Settings:
    """`base` with a document on top that comes from the user, and no file that may have come with the project."""
    named = base.python_by_user or "python" in document.content
    return _applied(base, document, os.getcwd())._replace(python_by_user=named)


def _elsewhere(mistake: Diagnostic) -> str:
    """Where a mistake is that is not in the assignment itself, but in a file that it names."""
    place = mistake.location
    return "" if place.path in _GIVEN else f"{place.path}:{place.row}:{place.column}: "


def misnamed_rule(settings: Settings, selector: str, message: str, advice: str) -> ConfigurationError:
    """NST903 on a rule selector that selects nothing, where a file holds it; else an error of the command line."""
    if settings.source is not None:
        from nonstrict.settings.toml import find_quoted

        place = find_quoted(_read(settings.source), selector)
        if place is not None:
            return configuration_error([invalid(settings.source, place, message, advice)])
    return ConfigurationError(with_advice(message, advice))


def _text_if_ours(path: str) -> str | None:
    """The text of a configuration file if it is there and may concern us."""
    if not os.path.isfile(path):
        return None
    text = _read(path)
    return text if not path.endswith("pyproject.toml") or "nonstrict" in text else None


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise ConfigurationError(f"{path} does not exist. Name a configuration file that does.") from None
    except OSError as error:
        reason, advice = f"The file cannot be read: {error.strerror or error}", "put a file there that can be read"
    except UnicodeDecodeError as error:
        reason, advice = f"The file is not valid TOML: not UTF-8 at byte {error.start}", "save it as UTF-8"
    raise configuration_error([invalid(path, Place(), reason, advice)])


def _settings_of(path: str, text: str, seen: tuple[str, ...]) -> Settings | None:
    """The settings of one file over those it extends; None for a pyproject.toml that is silent about us."""
    from nonstrict.settings.toml import parsed

    document = Document(path, text, parsed(path, text))
    if os.path.basename(path) == "pyproject.toml":
        tool = document.content.get("tool", {})
        if not isinstance(tool, dict) or "nonstrict" not in tool:
            return None
        table = cast("dict[str, object]", tool)["nonstrict"]
        if not isinstance(table, dict):
            document = Document(path, text, {}, ("tool",))
            raise configuration_error(
                [document.mistake("nonstrict", "`tool.nonstrict` must be a table", "write `[tool.nonstrict]`")]
            )
        document = Document(path, text, cast("dict[str, object]", table), ("tool", "nonstrict"))
    root = os.path.dirname(path)
    base = default_settings(root)
    _refuse_other_version(document)
    extended = document.content.get("extend")
    if isinstance(extended, str):
        target = os.path.normpath(os.path.join(root, os.path.expanduser(extended)))
        base = _extended(document, target, (*seen, path))
    return _applied(base, document, root)._replace(root=root, source=path)


def _extended(document: Document, target: str, seen: tuple[str, ...]) -> Settings:
    """The settings that a file extends."""
    if target in seen:
        mistake = document.mistake("extend", "`extend` leads back to this file", "name another file")
        raise configuration_error([mistake])
    if not os.path.isfile(target):
        message = f"`extend` names {target}, which does not exist"
        raise configuration_error([document.mistake("extend", message, "name an existing TOML file")])
    settings = _settings_of(target, _read(target), seen)
    if settings is None:
        message = f"`extend` names {target}, which has no [tool.nonstrict] table"
        raise configuration_error([document.mistake("extend", message, "add the table, or name another file")])
    return settings


def _applied(base: Settings, document: Document, root: str) -> Settings:
    """`base` with the keys of a document on top; all mistakes of the document are reported together."""
    from nonstrict.settings.options import OPTIONS
    from nonstrict.settings.values import BadValueError, checked

    fields: dict[str, Any] = {}
    mistakes: list[Diagnostic] = []
    _refuse_other_version(document)
    for key, value in document.content.items():
        option = OPTIONS.get(key)
        if option is None:
            mistakes.append(document.mistake(key, f"unknown key `{key}`", _nearest_key(key)))
            continue
        try:
            fields[option.field] = checked(option, value, root)
        except BadValueError as error:
            advice = f"write for instance `{option.example}`"
            mistakes.append(document.mistake(key, f"bad value for `{key}`: {error}", advice, part=error.part))
    mistakes += _wrong_models(fields.get("models", ()))
    if mistakes:
        raise configuration_error(mistakes)
    fields.pop("extend", None)
    for name in ("extend_select", "extend_exclude", "extend_per_file_ignores", "extend_fixable"):
        if name in fields:
            fields[name] = getattr(base, name) + fields[name]
    return base._replace(**fields)


def _refuse_other_version(document: Document) -> None:
    """Refuse a file for another version of nonstrict, before what this one does not know of it is told.

    Raises:
        ConfigurationError: `required-version` does not allow this version.
    """
    required = document.content.get("required-version")
    if not isinstance(required, str):
        return
    from nonstrict import __version__
    from nonstrict.settings.requirements import is_fulfilled

    if not is_fulfilled(required, __version__):
        message = f"this is nonstrict {__version__}, and `required-version` asks for `{required}`"
        raise configuration_error([document.mistake("required-version", message, "install a version that it allows")])


def _wrong_models(paths: Sequence[str]) -> list[Diagnostic]:
    """NST903 in the model that cannot be used: the first, as none is read behind it."""
    if not paths:
        return []
    from nonstrict.models.errors import ModelError
    from nonstrict.models.library import Models

    try:
        Models(paths)
    except ModelError as error:
        return [invalid(error.path, Place(error.row, error.column), error.message, error.advice)]
    return []


def configuration_error(mistakes: Sequence[Diagnostic]) -> ConfigurationError:
    """One exception for all mistakes of a file."""
    return ConfigurationError("\n".join(map(_line, mistakes)), tuple(mistakes))


def _line(mistake: Diagnostic) -> str:
    where = mistake.location
    return with_advice(f"{where.path}:{where.row}:{where.column}: {mistake.message}", mistake.help)


def _nearest_key(key: str) -> str:
    """Advice for a key that does not exist."""
    from difflib import get_close_matches

    from nonstrict.settings.options import OPTIONS

    close = get_close_matches(key.replace("_", "-"), OPTIONS, n=1, cutoff=0.65)
    return f"write `{close[0]}`" if close else "remove the key; `nonstrict config` lists the known ones"
