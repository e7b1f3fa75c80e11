"""The settings of a run, as frozen data with their defaults."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Severity

if TYPE_CHECKING:
    from nonstrict.settings.budget import Budget

#: Directories that hold no code of the project, and caches.
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nonstrict_cache",
    ".nox",
    ".pants.d",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
DEFAULT_INCLUDE = ("*.py", "*.pyi", "*.ipynb", "*.md", "*.txt", "*.rst")
#: The name of a baseline, next to the configuration, where nobody gives another one.
DEFAULT_BASELINE = ".nonstrict-baseline.json"
#: Documentation pages larger than this (bytes) are read only when they are named.
PAGE_LIMIT = 1 << 20

FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "pylint",
    "rdjson",
    "azure",
    "html",
    "agent",
)


class Pattern(NamedTuple):
    """A glob and the absolute directory that it is relative to."""

    glob: str
    base: str


class Asked(NamedTuple):
    """Rule selectors of the command line that go on top of what files say: they win, however specific those are."""

    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()


class Settings(NamedTuple):
    """What one configuration file, or the command line over it, decides.

    `root` is the absolute directory of the configuration file (the working directory where there is none) and
    `source` the file itself. Rule selectors are codes, prefixes of codes, names or `ALL`, not yet checked. `inputs` are
    pairs of a marked function and of one that makes its arguments, both as `ABSOLUTE PATH::NAME`. `models` are the
    absolute paths of files that describe libraries. `budget` is what regions may be compiled to. `python_by_user`: the
    user named `python`, for this run or in an editor, and no file that may have come with the project. `asked` and
    `ignore_suppressions` are of the command line alone. `target_python` is the lowest version that the code is for,
    "3.10". `unsafe_fixes` None means that they are not applied, but that people are told of them. `baseline` None is
    `DEFAULT_BASELINE` in `root`, if that is there, and "" none at all.
    """

    root: str
    source: str | None = None
    required_version: str | None = None
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    extend_per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    fail_on: Severity = Severity.WARNING
    strict_coverage: bool = False
    fixable: tuple[str, ...] = ("ALL",)
    extend_fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool | None = None
    show_fixes: bool = False
    baseline: str | None = None
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    extend_exclude: tuple[Pattern, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    python: str | None = None
    python_by_user: bool = False
    torch_version: str | None = None
    target_python: str | None = None
    output_format: str = "full"
    cache_dir: str | None = None
    inputs: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()
    asked: Asked = Asked()
    ignore_suppressions: bool = False
    budget: tuple[Budget, ...] = ()

    @property
    def least(self) -> Applicability:
        """What a fix must be at least to be applied."""
        return Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE

    @property
    def baseline_path(self) -> str | None:
        """Where the baseline is, or would be; None if there is to be none."""
        return os.path.join(self.root, DEFAULT_BASELINE) if self.baseline is None else self.baseline or None


def default_settings(root: str) -> Settings:
    """The settings where nothing is configured; `root` is an absolute directory."""
    return Settings(
        root=root,
        include=tuple(Pattern(glob, root) for glob in DEFAULT_INCLUDE),
        exclude=tuple(Pattern(glob, root) for glob in DEFAULT_EXCLUDE),
    )
