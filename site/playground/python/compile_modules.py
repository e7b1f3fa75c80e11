"""Compiles Python for the page, by the Python that runs this: the build runs it in Pyodide.

The standard library stays an archive of modules, without their sources. The modules of the engine become one table,
which `boot_engine` imports from: on a page, each look at the file system takes its time.
"""

from __future__ import annotations

import importlib.util
import marshal
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

#: The member of the engine's archive that holds its modules, by their paths without suffix.
TABLE = "modules.marshal"
_SUFFIX = ".py"


def compile_library(source: str, target: str, unused: list[str]) -> None:
    """Write an archive of the standard library without some of its packages and modules."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in _members(source):
            if name.partition("/")[0].removesuffix(_SUFFIX) in unused:
                continue
            if name.endswith(_SUFFIX):
                # A file without source: a magic number, three words that nobody reads, the code.
                code = marshal.dumps(_compiled(content, name))
                _write(archive, f"{name}c", importlib.util.MAGIC_NUMBER + bytes(12) + code)
            else:
                _write(archive, name, content)


def compile_engine(source: str, target: str, folder: str) -> None:
    """Write an archive of the engine as it is to lie in `folder`: its data as they are, its modules in one table."""
    table: dict[str, bytes] = {}
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in _members(source):
            if name.endswith(_SUFFIX):
                table[name.removesuffix(_SUFFIX)] = marshal.dumps(_compiled(content, f"{folder}/{name}"))
            else:
                _write(archive, name, content)
        _write(archive, TABLE, marshal.dumps(table))


def _members(source: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(source) as archive:
        for name in sorted(archive.namelist()):
            if not name.endswith("/"):
                yield name, archive.read(name)


def _compiled(source: bytes, path: str) -> CodeType:
    # Neither docstrings nor assertions are of use on a page.
    return compile(source, path, "exec", dont_inherit=True, optimize=2)


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
