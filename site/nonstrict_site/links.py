"""Links between files of the repository, bent to lead to pages of the site, or to the repository where it has none."""

from __future__ import annotations

import posixpath
import re

from nonstrict_site.dialect import for_python_markdown
from nonstrict_site.sources import REPOSITORY, ROOT, addresses

#: Code, in which nothing is a link: fenced blocks, and code in a line.
_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
#: Where a link or a picture leads: inline, in a definition of its own, in HTML.
_TARGET = re.compile(
    r"(?P<before>!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(|^ {0,3}\[[^\]\n]+\]:[ ]+|\b(?:href|src)=\")"
    r"(?P<target>[^\s)\"]+)",
    re.MULTILINE,
)
#: How texts that are not in the repository name a file of it.
_OURS = f"{REPOSITORY}/blob/main/"
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#|//", re.IGNORECASE)
#: Code is taken out while links are sought: their texts may hold some.
_HIDDEN = "\x00{}\x00"


def rewritten(markdown: str, source: str, page: str) -> str:
    """The Markdown of the file `source` as that of `page`: with links of the site, for Python-Markdown."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return _HIDDEN.format(len(hidden) - 1)

    def bend(match: re.Match[str]) -> str:
        picture = match["before"].startswith(("!", "src"))
        return match["before"] + address(match["target"], source, page, picture=picture)

    bent = _TARGET.sub(bend, _CODE.sub(hide, markdown))
    return for_python_markdown(re.sub(r"\x00(\d+)\x00", lambda match: hidden[int(match[1])], bent))


def address(target: str, source: str, page: str, *, picture: bool = False) -> str:
    """Where a link of the file `source` leads on its page; what leads nowhere stays, and MkDocs complains of it."""
    path, hash_, fragment = target.removeprefix(_OURS).partition("#")
    if target.startswith(_OURS):
        there = path
    elif _ELSEWHERE.match(target):
        return target
    else:
        there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    known = addresses().get(there) or addresses().get(f"{there}/README.md")
    if known is not None:
        return posixpath.relpath(known, posixpath.dirname(page) or ".") + hash_ + fragment
    if not (ROOT / there).exists():
        return target
    kind = "raw" if picture else "tree" if (ROOT / there).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{there}{hash_}{fragment}"
