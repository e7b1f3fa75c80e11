"""The extension: what `.vscodeignore` lets in, with the wheel of this release and all that it needs, in pure Python."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from packaging.utils import canonicalize_name

from scripts.releasing.archives import LEFT_OVER, NATIVE, PACKAGES, differences, files_of, unwanted
from scripts.releasing.wheel import metadata, requirements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from email.message import Message
    from pathlib import Path

LIBS = "extension/bundled/libs/"
_FILES = (
    "extension.vsixmanifest",
    "extension/package.json",
    "extension/out/extension.js",
    "extension/bundled/launch.py",
    "extension/icon.png",
)
#: What the marketplaces show; the packager writes some of them in small letters.
_PAGES = ("readme.md", "changelog.md", "license")
#: The folders and files of the extension; nothing else goes in.
_PLACES = frozenset({"package.json", "out", "bundled", "walkthrough", "icon.png"})
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)|<img[^>]+src=[\"']([^\"']+)")


def mistakes(path: Path, wheel: Path, version: str) -> Iterator[str]:
    """What is wrong with an extension, beside the wheel that it should hold."""
    yield from (f"{path.name}: {mistake}" for mistake in _mistakes(path, wheel, version))


def _mistakes(path: Path, wheel: Path, version: str) -> Iterator[str]:
    try:
        files, ours = files_of(path), files_of(wheel)
    except ValueError as error:
        yield str(error)
        return
    if path.name != f"nonstrict-{version}.vsix":
        yield f"it is not a name of an extension of {version}"
    for name in _FILES:
        if name not in files:
            yield f"`{name}` is missing"
            return
    yield from _of_pages(files)
    yield from _of_manifests(files, version)
    for name in unwanted(files, (*NATIVE, *LEFT_OVER)):
        yield f"`{name}` has no place in it"
    for name in sorted(files):
        parts = PurePosixPath(name).parts
        if parts[0] == "extension" and parts[1] not in _PLACES and _page(parts[1]) not in _PAGES:
            yield f"`{name}` has no place in it"
    yield from _of_libraries(files, ours, version)


def _page(name: str) -> str:
    """A page as it is called in `_PAGES`."""
    return name.lower().replace("license.txt", "license").replace("license.md", "license")


def _of_pages(files: Mapping[str, bytes]) -> Iterator[str]:
    pages = {_page(name.removeprefix("extension/")): data for name, data in files.items() if name.count("/") == 1}
    for name in _PAGES:
        if not pages.get(name, b"").strip():
            yield f"`{name}` is missing or empty"
    for image in _IMAGE.findall(pages.get("readme.md", b"").decode()):
        address = image[0] or image[1]
        if not address.startswith("https://") or address.partition("?")[0].endswith(".svg"):
            yield f"its page shows {address}, which the marketplace does not"


def _of_manifests(files: Mapping[str, bytes], version: str) -> Iterator[str]:
    told: dict[str, Any] = json.loads(files["extension/package.json"])
    if (told.get("name"), told.get("version")) != ("nonstrict", version):
        yield f"package.json says that it is {told.get('name')} {told.get('version')}"
    for key in ("publisher", "repository", "license", "engines"):
        if not told.get(key):
            yield f"package.json says nothing of `{key}`"
    # The packager has written it, from the other one.
    identity = ET.fromstring(files["extension.vsixmanifest"]).find(".//{*}Identity")  # noqa: S314
    if identity is None or identity.get("Version") != version or identity.get("Publisher") != told.get("publisher"):
        yield "extension.vsixmanifest says another version or publisher than package.json"


def _of_libraries(files: Mapping[str, bytes], ours: Mapping[str, bytes], version: str) -> Iterator[str]:
    """What is wrong with the Python in it."""
    libraries = {name.removeprefix(LIBS): data for name, data in files.items() if name.startswith(LIBS)}
    mine = {name: data for name, data in libraries.items() if name.partition("/")[0] in PACKAGES}
    wanted = {name: data for name, data in ours.items() if name.partition("/")[0] in PACKAGES}
    for difference in differences(wanted, mine):
        yield f"its server is not that of the wheel: {difference}"
    bundled = {canonicalize_name(told["Name"]): told for told in _distributions(libraries)}
    stated = bundled.get(canonicalize_name("nonstrict"))
    if stated is None or stated["Version"] != version:
        yield f"its server is not nonstrict {version}"
        return
    for one in requirements(stated):
        found = bundled.get(canonicalize_name(one.name))
        if found is None:
            yield f"its server needs {one.name}, which is missing"
        elif not one.specifier.contains(found["Version"], prereleases=True):
            yield f"its server needs {one}, and {found['Version']} is there"


def _distributions(libraries: Mapping[str, bytes]) -> Iterator[Message]:
    for name in libraries:
        info = name.removesuffix("METADATA")
        if info.endswith(".dist-info/") and name != info:
            yield metadata(libraries, info)
