"""The wheel: the packages of the tree byte for byte, for every machine, with what it needs and no torch."""

from __future__ import annotations

from email.parser import Parser
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.releasing.archives import NATIVE, differences, files_of, sources, unwanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from email.message import Message
    from pathlib import Path

#: What a wheel says of itself beside its packages.
_INFO = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
_COMMAND = "nonstrict = nonstrict.cli.main:command"
#: What users' environments have, and the analysis never imports.
_NEVER = frozenset({"torch", "numpy"})


def mistakes(path: Path, root: Path, version: str) -> Iterator[str]:
    """What is wrong with the wheel of a tree."""
    try:
        files = files_of(path)
    except ValueError as error:
        yield str(error)
        return
    if path.name != f"nonstrict-{version}-py3-none-any.whl":
        yield f"{path.name} is not a name of a wheel of {version} for every machine"
    info = f"nonstrict-{version}.dist-info/"
    packages = {name: data for name, data in files.items() if ".dist-info/" not in name}
    for difference in differences(sources(root), packages):
        yield f"{path.name}: {difference}"
    for name in unwanted(files, NATIVE):
        yield f"{path.name}: `{name}` is for some machines only"
    for name in _INFO:
        if info + name not in files:
            yield f"{path.name}: `{info}{name}` is missing"
            return
    yield from (f"{path.name}: {mistake}" for mistake in _of_metadata(files, info, version))


def metadata(files: Mapping[str, bytes], info: str) -> Message:
    """The metadata of a distribution."""
    return Parser().parsestr(files[f"{info}METADATA"].decode())


def requirements(told: Message) -> list[Requirement]:
    """What a distribution needs whatever is asked of it besides."""
    found = [Requirement(text) for text in told.get_all("Requires-Dist", [])]
    return [one for one in found if one.marker is None or "extra" not in str(one.marker)]


def _of_metadata(files: Mapping[str, bytes], info: str, version: str) -> Iterator[str]:
    told = metadata(files, info)
    if (told["Name"], told["Version"]) != ("nonstrict", version):
        yield f"it says that it is {told['Name']} {told['Version']}"
    if not told["Requires-Python"]:
        yield "it does not say which Python it needs"
    if "Root-Is-Purelib: true" not in files[f"{info}WHEEL"].decode():
        yield "it is not pure Python"
    if _COMMAND not in files[f"{info}entry_points.txt"].decode():
        yield "it has no command `nonstrict`"
    for one in requirements(told):
        if canonicalize_name(one.name) in _NEVER:
            yield f"it needs {one.name}, which is the user's"
