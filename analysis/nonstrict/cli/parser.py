"""The parser of a command: mistakes are told in one line, with the name that was meant, before a line of usage."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict.cli.help import HelpFormatter
from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


#: What `argparse` says of arguments, and how we say it.
_REWORDED = (
    (r"argument (\S+): expected one argument", r"\1 takes a value."),
    (r"argument (\S+): expected at least one argument", r"\1 takes one or more values."),
    (r"argument (\S+): ignored explicit argument .*", r"\1 takes no value."),
    (r"argument (\S+): not allowed with argument (\S+)", r"\2 and \1 exclude each other. Drop one of them."),
    (r"the following arguments are required: (.+)", r"\1 is missing."),
    (r"argument (\S+): (.+)", r"\1: \2."),
)


class Parser(argparse.ArgumentParser):
    """A parser whose `error` names the mistake first; it knows no abbreviations of options."""

    def __init__(self, *, prog: str, formatter_class: Any = HelpFormatter, **settings: Any) -> None:
        """Declare no options yet; `settings` are those of `argparse.ArgumentParser`."""
        super().__init__(prog=prog, formatter_class=formatter_class, allow_abbrev=False, **settings)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The options; ends the process with exit status 2 where there is one that is not known."""
        options, unknown = self.parse_known_args(args, namespace or argparse.Namespace())
        if unknown:
            self.error(self._unknown(unknown))
        return options

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, then how the command is used; exit status 2."""
        for pattern, text in _REWORDED:
            if (found := re.fullmatch(pattern, message)) is not None:
                message = found.expand(text)
                break
        usage = self.usage or f"{self.prog} [OPTIONS]{''.join(map(self._shown, self._get_positional_actions()))}"
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
            sys.stderr.write(f"nonstrict: {message}\nusage: {usage}\n`{self.prog} --help` lists the options.\n")
        sys.exit(ExitStatus.FAILURE)

    def _unknown(self, words: Sequence[str]) -> str:
        option = next((word for word in words if word.startswith("-") and word != "-"), None)
        if option is None:
            return f"`{words[0]}` is one argument too many."
        name = option.partition("=")[0]
        return f"there is no option `{name}`.{meant(name, self._option_string_actions)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        kind = " or ".join(action.option_strings) or action.metavar or action.dest
        text = str(value)
        advice = meant(text, choices) or f" Choose one of {', '.join(choices)}."
        if not action.option_strings and os.path.exists(text):
            self.error(f"`{text}` is a path and no command. Did you mean `{self.prog} check {text}`?")
        self.error(f"`{text}` is not a value of {kind}.{advice}")

    @staticmethod
    def _shown(action: argparse.Action) -> str:
        name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        return {"?": f" [{name}]", "*": f" [{name} ...]", argparse.REMAINDER: f" {name} ..."}.get(
            str(action.nargs), f" {name}"
        )


def meant(word: str, names: Iterable[str]) -> str:
    """The question whether a name was meant that is spelled much like a word, after a blank; "" if there is none."""
    from difflib import get_close_matches

    known = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), known, n=1, cutoff=0.7)
    return f" Did you mean `{known[close[0]]}`?" if close else ""
