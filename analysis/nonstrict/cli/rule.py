"""`nonstrict rule`: explains a rule, or lists all rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from nonstrict.report.record_types import RuleRecord
    from nonstrict.rules.base import Rule


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("rule", nargs="?", help="a code or a name, such as NST101 or global-tensor-capture")
    parser.add_argument("--all", action="store_true", help="list all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Show the documentation of a rule, or the list."""
    from nonstrict.rules.registry import RULES

    if options.all or options.rule is None:
        if options.all and options.rule is not None:
            return report_failure("Give either a rule or --all.")
        sys.stdout.write(_listed(list(RULES.values()), options.output_format))
        return ExitStatus.CLEAN
    wanted = options.rule.strip().lower()
    rule = next((rule for rule in RULES.values() if wanted in (rule.code.lower(), rule.name)), None)
    if rule is None:
        return report_failure(f"There is no rule `{options.rule}`.{_advice(wanted, list(RULES.values()))}")
    if options.output_format == "json":
        import json

        sys.stdout.write(json.dumps(_record(rule), indent=2) + "\n")
    else:
        sys.stdout.write(explained(rule))
    return ExitStatus.CLEAN


def _listed(rules: Sequence[Rule], output_format: str) -> str:
    if output_format == "json":
        import json

        return json.dumps([_record(rule) for rule in rules], indent=2) + "\n"
    width = max(len(rule.name) for rule in rules)
    return "".join(f"{rule.code}  {rule.name:<{width}}  {rule.severity.label:<7}  {rule.summary}\n" for rule in rules)


def explained(rule: Rule) -> str:
    """The page of a rule, for a terminal."""
    heading, _, text = rule.documentation.strip().partition("\n")
    return f"{heading}\n\nDefault severity: {rule.severity.label}\n\n{text.strip()}\n\nPage: {rule.url}\n"


def _record(rule: Rule) -> RuleRecord:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "summary": rule.summary,
        "documentation": rule.documentation,
        "url": rule.url,
    }


def _advice(wanted: str, rules: Sequence[Rule]) -> str:
    from difflib import get_close_matches

    names = {rule.name: rule.code for rule in rules} | {rule.code.lower(): rule.code for rule in rules}
    # All codes are much alike.
    close = get_close_matches(wanted, names, n=1, cutoff=0.85 if wanted.startswith("nst") else 0.7)
    return f" Did you mean `{names[close[0]]}`?" if close else " `nonstrict rule --all` lists the rules."
