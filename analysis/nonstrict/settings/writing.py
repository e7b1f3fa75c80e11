"""Writes entries of the budget into a configuration file, and leaves all else in it as it is."""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tomlkit import TOMLDocument
    from tomlkit.container import Container
    from tomlkit.items import Key


def with_budget(
    path: str, text: str, changes: Mapping[str, Mapping[str, int]], moved: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The text of a configuration file with numbers of the budget changed, and entries added behind the last one.

    Entries that `moved` get the key that stands there for theirs.

    Raises:
        ConfigurationError: the file cannot be edited, or an entry that moved is not in it.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    names = ("tool", "nonstrict", "budget") if os.path.basename(path) == "pyproject.toml" else ("budget",)
    try:
        document = tomlkit.parse(text)
        if moved:
            # Read again, as a table finds its entries by the keys that it was made with.
            document = tomlkit.parse(_renamed(path, document, names, moved))
        _change(document, names, changes)
        written = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ConfigurationError(f"{path} cannot be edited: {error}") from error
    # Lines that are added end as all others do.
    ends = text.count("\n") == text.count("\r\n") > 0
    return re.sub(r"(?<!\r)\n", "\r\n", written) if ends else written


def _renamed(path: str, document: TOMLDocument, names: tuple[str, ...], moved: Mapping[str, str]) -> str:
    """The text of a document in which entries of a table have other keys, each where it was."""
    from tomlkit.items import Table

    done = set[str]()
    for container in _parts(document, names):
        for index, (key, item) in enumerate(container.body):
            if key is None or key.key not in moved:
                continue
            container.body[index] = (_key_like(key, moved[key.key]), item)
            done.add(key.key)
            if isinstance(item, Table):
                # What a header says is kept beside the keys.
                item.invalidate_display_name()
    if lost := sorted(moved.keys() - done):
        raise ConfigurationError(f"{path} does not hold the entry `{lost[0]}` of the budget.")
    return document.as_string()


def _parts(container: Container, names: tuple[str, ...]) -> Iterator[Container]:
    """The parts of a table, which may stand in several places of a file."""
    from tomlkit.items import InlineTable, Table

    if not names:
        yield container
        return
    for key, item in container.body:
        if key is not None and key.key == names[0] and isinstance(item, Table | InlineTable):
            yield from _parts(item.value, names[1:])


def _key_like(key: Key, name: str) -> Key:
    """Another key, written as one is: with its quotes, and its place in a dotted key."""
    import tomlkit
    from tomlkit.items import SingleKey

    before = key.as_string()
    literal = before.lstrip().startswith("'") and "'" not in name and name.isprintable()
    written = f"'{name}'" if literal else SingleKey(name).as_string()
    space = " " * (len(before) - len(before.rstrip()))
    made = tomlkit.parse(f"{written}{space}{'.number' if key.is_dotted() else ''}=0").body[0][0]
    if made is None:
        raise AssertionError(written)
    made.sep = key.sep
    return made


def _change(document: TOMLDocument, names: tuple[str, ...], changes: Mapping[str, Mapping[str, int]]) -> None:
    """Change numbers of a table, and add entries behind its last one."""
    import tomlkit
    from tomlkit.items import InlineTable

    table: Any = document
    for name in names if changes else ():
        if name not in table:
            table[name] = tomlkit.table(is_super_table=name != names[-1])
        table = table[name]
    entries = cast("dict[str, Any]", table)
    for key, numbers in sorted(changes.items()):
        before = entries.get(key)
        if before is None or (isinstance(before, InlineTable) and not numbers.keys() <= before.keys()):
            together = {**cast("dict[str, int]", before or {}), **numbers}
            written = ", ".join(f"{number} = {most}" for number, most in together.items())
            entries[key] = tomlkit.value(f"{{ {written} }}")
            continue
        for number, most in numbers.items():
            before[number] = most
