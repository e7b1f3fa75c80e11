"""What `setup.py` tells setuptools of where the modules of a project are."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.domain.modules import Module
from nonstrict.program.linking.sys_path import PathReader
from nonstrict.text.source import UnreadableSource, source_from_bytes
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.linking.disk import Disk

_WORDS = ("package_dir", "find_packages", "find_namespace_packages")
_SETUP = frozenset({"setuptools.setup", "distutils.core.setup"})
_FINDING = frozenset(
    {
        "setuptools.find_packages",
        "setuptools.find_namespace_packages",
        "setuptools.PackageFinder.find",
        "setuptools.PEP420PackageFinder.find",
    }
)


def told_to_setup(path: str, disk: Disk) -> list[tuple[str, str]]:
    """Packages ("" for any) and their folders, as the script at a path gives them to `setup`.

    That is `package_dir={"": "python"}`, and the folders in which it finds packages.
    """
    content = disk.content(path)
    if content is None:
        return []
    try:
        source = source_from_bytes(path, content)
        if not any(word in source.code for word in _WORDS):
            return []
        tree = tree_of(source.code, path=path)
    except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = PathReader(Module(path, "setup", False, source))
    return [told for node in walk(tree) if isinstance(node, ast.Call) for told in _told(reader, node, path)]


def _told(reader: PathReader, call: ast.Call, path: str) -> Iterator[tuple[str, str]]:
    name = reader.dotted(call.func)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    folders: list[tuple[str | None, ast.expr | None]] = []
    if name in _SETUP and "package_dir" in keywords:
        table = reader.written(keywords["package_dir"])
        entries = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
        folders = [(reader.text(key), value) for key, value in entries if key is not None]
    elif name in _FINDING:
        folders = [("", call.args[0] if call.args else keywords.get("where"))]
    for package, node in folders:
        folder = reader.text(node) if node is not None else None
        if folder is not None and package is not None:
            yield package, os.path.relpath(folder, os.path.dirname(path)) if os.path.isabs(folder) else folder
