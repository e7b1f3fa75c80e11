"""The settings of a run, as frozen data with their defaults."""

from __future__ import annotations

from typing import NamedTuple

from nonstrict.findings import Severity

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
)


class Pattern(NamedTuple):
    """A glob and the absolute directory that it is relative to."""

    glob: str
    base: str


class Settings(NamedTuple):
    """What one configuration file, or the command line over it, decides.

    `root` is the absolute directory of the configuration file (the working directory where there is none) and
    `source` the file itself. Rule selectors are codes, prefixes of codes, names or `ALL`, not yet checked. `inputs` are
    pairs of a marked function and of one that makes its arguments, both as `ABSOLUTE PATH::NAME`.
    """

    root: str
    source: str | None = None
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[Pattern, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    fail_on: Severity = Severity.WARNING
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    extend_exclude: tuple[Pattern, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    python: str | None = None
    torch_version: str | None = None
    output_format: str = "full"
    cache_dir: str | None = None
    inputs: tuple[tuple[str, str], ...] = ()


def default_settings(root: str) -> Settings:
    """The settings where nothing is configured; `root` is an absolute directory."""
    return Settings(
        root=root,
        include=tuple(Pattern(glob, root) for glob in DEFAULT_INCLUDE),
        exclude=tuple(Pattern(glob, root) for glob in DEFAULT_EXCLUDE),
    )
