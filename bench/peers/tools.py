"""The commands of each tool, as cases of `cli_bench.py`, and the servers, as `lsp_bench.py` starts them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

COLD, WARM, EDIT, CLONE = "cold", "nothing changed", "one edit", "fresh clone with the cache"
OURS = "nonstrict"
BASEDPYRIGHT, TORCHFIX = "basedpyright", "TorchFix"
#: Those that take minutes for a large corpus, and keep nothing between runs either.
SLOW = (BASEDPYRIGHT, TORCHFIX)
#: Takes a second look at a cache: files count as unchanged only when their status is a little old.
_SETTLED = "sleep 2.5"
_TREE = f"cp -r {{path}} {{tmp}}/tree && {_SETTLED}"
#: How often a round makes an edit: each is another one, with other consequences.
_EDITS = 3
#: A tool that takes minutes is run once.
_SLOW_RUNS = 1


class Format(NamedTuple):
    """How the tools are told to write their findings."""

    nonstrict: str
    ruff: str
    ty: str
    pyrefly: str
    basedpyright: str


CONCISE = Format("concise", "concise", "concise", "min-text", "--level error")
JSON = Format("json", "json", "gitlab", "json", "--outputjson")


@dataclass(frozen=True)
class Case:
    """A command of a tool in one state of its cache."""

    tool: str
    doing: str
    command: str
    more: dict[str, Any] = field(default_factory=dict[str, Any])

    def as_written(self, corpus: str) -> dict[str, Any]:
        """The case of `cli_bench.py`."""
        labels = {"tool": self.tool, "doing": self.doing}
        name = f"{self.tool}, {self.doing}"
        return {"name": name, "cmd": self.command, "corpora": [corpus], "labels": labels, **self.more}


def _nonstrict(style: Format) -> list[Case]:
    check = f"nonstrict check --isolated --exit-zero --quiet --output-format {style.nonstrict}"
    cached = f"{check} --cache-dir {{tmp}}/c"
    first = f"cd {{tmp}}/tree && {check} . > /dev/null"
    fill = f"{_TREE} && {first} && {_SETTLED} && {first}"
    clone = {"setup": fill, "prep": "rm -rf {tmp}/clone && cp -r {tmp}/tree {tmp}/clone", "cwd": "{tmp}/clone"}
    return [
        Case(OURS, COLD, f"{check} --no-cache {{path}}"),
        Case(OURS, WARM, f"{cached} {{path}}", {"warmup": 2}),
        Case(OURS, EDIT, f"{cached} {{tmp}}/tree", _edited()),
        Case(OURS, CLONE, f"{check} .", clone),
    ]


def _edited() -> dict[str, Any]:
    return {"setup": _TREE, "warmup": 2, "prep": "{py} {edit} {tmp}/tree", "repeat": _EDITS}


def _ruff(style: Format, select: str) -> list[Case]:
    check = f"ruff check --isolated --select {select} --exit-zero --quiet --output-format {style.ruff}"
    cached, name = f"{check} --cache-dir {{tmp}}/c", f"ruff {select}"
    return [
        Case(name, COLD, f"{check} --no-cache {{path}}"),
        Case(name, WARM, f"{cached} {{path}}", {"warmup": 1}),
        Case(name, EDIT, f"{cached} {{tmp}}/tree", _edited()),
    ]


def _type_checkers(style: Format) -> list[Case]:
    """Their commands keep nothing between runs: a run after an edit is a cold one. The corpus is the project."""
    root = {"cwd": "{path}"}
    pyrefly = "pyrefly check --python-interpreter-path {py} --search-path {path} --progress-bar no --output-format"
    return [
        Case("ty", COLD, f"ty check --python {{env}} --exit-zero --no-progress --output-format {style.ty} .", root),
        Case("pyrefly", COLD, f"{pyrefly} {style.pyrefly} .", root),
    ]


def _slow(style: Format) -> list[Case]:
    pyright = f"basedpyright --pythonpath {{py}} {style.basedpyright} ."
    return [
        Case(BASEDPYRIGHT, COLD, pyright, {"cwd": "{path}", "runs": _SLOW_RUNS}),
        Case(TORCHFIX, COLD, "flake8 --isolated --select TOR -j 2 --exit-zero {path}", {"runs": _SLOW_RUNS}),
    ]


#: Tools whose command keeps nothing between runs: what a run takes after an edit is what a cold one takes.
WITHOUT_CACHE = ("ty", "pyrefly", *SLOW)
TOOLS = (OURS, "ruff F", "ruff ALL", *WITHOUT_CACHE)


def cases(style: Format, slow: Collection[str]) -> list[Case]:
    """All commands for a corpus, ours first; `slow` are the slow tools that are among them."""
    found = [*_nonstrict(style), *_ruff(style, "F"), *_ruff(style, "ALL"), *_type_checkers(style)]
    return [*found, *(case for case in _slow(style) if case.tool in slow)]


#: By the name of a server: how it is started. `+pull` asks for diagnostics, where others send them by themselves.
SERVERS = {
    "ruff+pull": "ruff server",
    "nonstrict+pull": "nonstrict server",
    "ty+pull": "ty server",
    "pyrefly+pull": "pyrefly lsp",
    "basedpyright+pull": "basedpyright-langserver --stdio",
}


def tool_of(server: str) -> str:
    """The name of a server without its options."""
    return server.partition("+")[0]
