"""`nonstrict completion`: a script that has a shell complete commands, options, their values and the codes of rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
#: What is completed as a file or a directory, by the metavar that the help shows.
_FILES = frozenset({"FILE", "PATH", "FILE::FUNCTION", "FILE[::FUNCTION]", "FILE | 'KEY = VALUE'"})
_FOLDERS = frozenset({"DIR"})
_RULES = "RULES"
#: Functions of each shell that complete codes and names of rules, also behind a comma, and keys of the configuration.
_FUNCTIONS = {
    "bash": """\
_nonstrict_words=({rules})
_nonstrict_keys=({keys})
_nonstrict_rules() {{
  local before="" last="${{1##*,}}"
  [[ $1 == *,* ]] && before="${{1%,*}},"
  compgen -P "$before" -W "${{_nonstrict_words[*]}}" -- "$last"
}}
_nonstrict_config() {{
  compgen -W "${{_nonstrict_keys[*]}}" -- "$1"
}}
""",
    "zsh": """\
_nonstrict_rules() {{
  local -a words=({rules})
  _sequence compadd - -a words
}}
_nonstrict_config() {{
  local -a words=({keys})
  compadd -a words
}}
""",
    "fish": """\
function _nonstrict_rules
  set -l before (commandline -ct | string replace -rf '(.*,)[^,]*$' '$1')
  printf "$before%s\\n" {rules}
end
function _nonstrict_config
  printf "%s\\n" {keys}
end
""",
}
_OF_RULES = {"bash": "_nonstrict_rules", "zsh": "_nonstrict_rules", "fish": "(_nonstrict_rules)"}
_OF_KEYS = {"bash": "_nonstrict_config", "zsh": "_nonstrict_config", "fish": "(_nonstrict_config)"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        'bash: eval "$(nonstrict completion bash)" in ~/.bashrc. '
        "zsh: nonstrict completion zsh > DIR/_nonstrict, where DIR is in $fpath. "
        "fish: nonstrict completion fish > ~/.config/fish/completions/nonstrict.fish."
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(options: argparse.Namespace) -> int:
    """Write the script."""
    import shtab

    sys.stdout.write(shtab.complete(_everything(), shell=options.shell, preamble=_functions(options.shell)) + "\n")
    return ExitStatus.CLEAN


def _functions(shell: str) -> str:
    from nonstrict.rules.registry import RULES
    from nonstrict.settings.options import OPTIONS

    rules = " ".join(("ALL", *RULES, *(rule.name for rule in RULES.values())))
    return _FUNCTIONS[shell].format(rules=rules, keys=" ".join(OPTIONS))


def _everything() -> argparse.ArgumentParser:
    """One parser with all commands, as libraries that complete want it."""
    from importlib import import_module

    from nonstrict.cli.main import ALIASES, COMMANDS
    from nonstrict.cli.parser import Parser

    parser = Parser(prog="nonstrict")
    parser.add_argument("-V", "--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(parser_class=Parser)
    for name, (module_name, summary) in COMMANDS.items():
        module = import_module(f"nonstrict.cli.{module_name}")
        aliases = [alias for alias, meant in ALIASES.items() if meant == name]
        command = commands.add_parser(name, aliases=aliases, help=summary, description=summary)
        module.add_arguments(command)
        optional: frozenset[str] = getattr(module, "VALUE_OPTIONAL", frozenset())
        for action in _actions(command):
            _described(name, action, optional)
    return parser


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    yield from parser._actions  # pyright: ignore[reportPrivateUsage] - `argparse` has no other way to ask


def _described(command: str, action: Any, optional: frozenset[str]) -> None:
    """Say of an option or an argument what its values are, where `choices` do not."""
    if optional.intersection(action.option_strings):
        # Its value is joined to it: the next word is another argument.
        action.nargs = 0
    elif action.metavar in _FILES or action.dest == "path":
        action.complete = "file"
    elif action.metavar in _FOLDERS:
        action.complete = "directory"
    elif action.metavar == _RULES or (command, action.dest) in (("rule", "rule"), ("explain", "text")):
        action.complete = _OF_RULES
    elif (command, action.dest) == ("config", "key"):
        action.complete = _OF_KEYS
