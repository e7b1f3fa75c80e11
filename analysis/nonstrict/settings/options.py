"""Every key of `[tool.nonstrict]`: its type, its default and what it means."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """One key. `kind` names the check of its value (see `nonstrict.settings.values`)."""

    key: str
    kind: str
    default: str
    summary: str
    example: str

    @property
    def field(self) -> str:
        """Name of the attribute of `Settings`."""
        return self.key.replace("-", "_")


OPTIONS: dict[str, Option] = {
    option.key: option
    for option in (
        Option(
            "extend",
            "path",
            "none",
            "A configuration file to inherit from; the path is relative to this file.",
            'extend = "../nonstrict.toml"',
        ),
        Option(
            "required-version",
            "requirement",
            "none",
            "The version of nonstrict that the project is for, as PEP 440 has it; one without an operator is exact. "
            "Any other version refuses to run.",
            'required-version = ">=0.1,<0.3"',
        ),
        Option(
            "select",
            "selectors",
            '["ALL"]',
            "The rules to report: codes, prefixes of codes (`NST1`), names, or `ALL`.",
            'select = ["NST1", "NST204", "io-side-effect"]',
        ),
        Option(
            "extend-select",
            "selectors",
            "[]",
            "Rules to report in addition to `select`.",
            'extend-select = ["NST902"]',
        ),
        Option(
            "ignore",
            "selectors",
            "[]",
            "Rules not to report; the more specific of `select` and `ignore` wins, `ignore` on a tie.",
            'ignore = ["NST205", "data-ptr"]',
        ),
        Option(
            "per-file-ignores",
            "ignores",
            "{}",
            "Rules not to report in files that match a pattern; a leading `!` negates the pattern.",
            'per-file-ignores = { "tests/*" = ["NST201"] }',
        ),
        Option(
            "extend-per-file-ignores",
            "ignores",
            "{}",
            "Added to `per-file-ignores`, also to that of a file that this one extends.",
            'extend-per-file-ignores = { "benchmarks/*" = ["NST201"] }',
        ),
        Option(
            "severity",
            "severities",
            "{}",
            "A fixed severity for a rule, instead of the one that its evidence gives: `error`, `warning` or `note`.",
            'severity = { NST104 = "error" }',
        ),
        Option(
            "fail-on",
            "severity",
            '"warning"',
            "The lowest severity that makes the exit status 1.",
            'fail-on = "error"',
        ),
        Option(
            "strict-coverage",
            "boolean",
            "false",
            "Make the exit status 1 if a compiled region was not analyzed; `nonstrict regions` shows why.",
            "strict-coverage = true",
        ),
        Option(
            "fixable",
            "selectors",
            '["ALL"]',
            "The rules whose fixes are offered and applied.",
            'fixable = ["NST6", "NST902"]',
        ),
        Option(
            "extend-fixable",
            "selectors",
            "[]",
            "Rules whose fixes are offered and applied in addition to `fixable`.",
            'extend-fixable = ["NST101"]',
        ),
        Option(
            "unfixable",
            "selectors",
            "[]",
            "Rules whose fixes are neither offered nor applied; the more specific of `fixable` and `unfixable` wins.",
            'unfixable = ["NST1"]',
        ),
        Option(
            "fix",
            "boolean",
            "false",
            "Apply fixes, as with `--fix`.",
            "fix = true",
        ),
        Option(
            "fix-only",
            "boolean",
            "false",
            "Apply fixes and do not report the findings that are left, as with `--fix-only`.",
            "fix-only = true",
        ),
        Option(
            "unsafe-fixes",
            "boolean",
            "none",
            "Apply unsafe fixes too; with `false` they are not mentioned.",
            "unsafe-fixes = true",
        ),
        Option(
            "show-fixes",
            "boolean",
            "false",
            "List what was fixed.",
            "show-fixes = true",
        ),
        Option(
            "baseline",
            "path",
            '".nonstrict-baseline.json"',
            "A file of known findings, which are not reported. `nonstrict check --write-baseline` writes it.",
            'baseline = "tests/baseline.json"',
        ),
        Option(
            "include",
            "patterns",
            '["*.py", "*.pyi", "*.ipynb", "*.md", "*.txt", "*.rst"]',
            "The files to check in a directory. A file named on the command line is always checked.",
            'include = ["*.py", "*.ipynb"]',
        ),
        Option(
            "exclude",
            "patterns",
            '[".git", ".venv", "build", "dist", "node_modules", ...]',
            "Files and directories to exclude; replaces the default list.",
            'exclude = [".venv", "third_party"]',
        ),
        Option(
            "extend-exclude",
            "patterns",
            "[]",
            "Files and directories to exclude in addition to `exclude`.",
            'extend-exclude = ["third_party"]',
        ),
        Option(
            "force-exclude",
            "boolean",
            "false",
            "Apply exclusions also to files given on the command line.",
            "force-exclude = true",
        ),
        Option(
            "respect-gitignore",
            "boolean",
            "true",
            "Skip files that `.gitignore` files and `.git/info/exclude` ignore.",
            "respect-gitignore = false",
        ),
        Option(
            "python",
            "path",
            "none",
            "The interpreter or virtual environment whose torch the findings are for; started only to confirm them.",
            'python = ".venv"',
        ),
        Option(
            "torch-version",
            "version",
            "none",
            "The version of torch the findings are for (default: the installed one).",
            'torch-version = "2.13"',
        ),
        Option(
            "target-python",
            "python",
            "`requires-python` of the project",
            "The lowest version of Python that the code is for: it decides conditions on `sys.version_info`, and which "
            "modules are of the standard library.",
            'target-python = "3.11"',
        ),
        Option(
            "inputs",
            "inputs",
            "{}",
            "Functions that make the arguments of marked functions for experiments: each returns a tuple of positional "
            "arguments or a dict of keyword arguments.",
            'inputs = { "src/model.py::attend" = "tests/inputs.py::attention_inputs" }',
        ),
        Option(
            "models",
            "models",
            "[]",
            "Files that describe what the functions of a library do; each is named after its library.",
            'models = ["models/mylib.pyi"]',
        ),
        Option(
            "budget",
            "budget",
            "{}",
            "How many graphs and recompilations a compiled region may have, or each below a folder; `nonstrict budget` "
            "and `pytest --nonstrict` hold what is known against it.",
            'budget = { "src/model.py::Model.forward" = { graphs = 1, recompilations = 2 }, "src" = { graphs = 2 } }',
        ),
        Option(
            "output-format",
            "format",
            '"full"',
            "The output format if `--output-format` is not given.",
            'output-format = "concise"',
        ),
        Option(
            "cache-dir",
            "path",
            '".nonstrict_cache"',
            "The cache directory, relative to this file.",
            'cache-dir = "/tmp/nonstrict"',
        ),
    )
}
