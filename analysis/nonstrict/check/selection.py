"""Which rules are reported where, and how severe they are: settings held against the catalogue."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.check.patterns import PathMatcher
from nonstrict.settings.model import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.findings import Severity
    from nonstrict.rules.base import Rule
    from nonstrict.settings.model import Settings


class Selection:
    """What some settings say about every rule."""

    __slots__ = ("_enabled", "_fixable", "_ignores", "_severities", "ignores_suppressions")

    def __init__(self, settings: Settings, rules: Mapping[str, Rule]) -> None:
        """Resolve the selectors of `settings`.

        Raises:
            ConfigurationError: a selector selects no rule.
        """
        asked = settings.asked
        self._enabled = _chosen(
            settings,
            rules,
            ((*settings.select, *settings.extend_select), settings.ignore),
            (asked.extend_select, asked.ignore),
        )
        self._fixable = _chosen(
            settings,
            rules,
            ((*settings.fixable, *settings.extend_fixable), settings.unfixable),
            (asked.extend_fixable, asked.unfixable),
        )
        self.ignores_suppressions = settings.ignore_suppressions
        severities: dict[str, Severity] = {}
        by_specificity = sorted(settings.severity, key=lambda item: _specificity(item[0]))
        for selector, severity in by_specificity:
            severities.update(dict.fromkeys(_resolved(selector, settings, rules), severity))
        self._severities = severities
        self._ignores = [
            (_FilePattern(pattern), _union(selectors, settings, rules))
            for pattern, selectors in (*settings.per_file_ignores, *settings.extend_per_file_ignores)
        ]

    @classmethod
    def of_everything(cls, rules: Mapping[str, Rule]) -> Selection:
        """Every rule as it is by itself, and no fix: what holds where settings cannot be held against the rules."""
        made = cls.__new__(cls)
        made._enabled, made._fixable = frozenset(rules), frozenset[str]()
        made._severities, made._ignores, made.ignores_suppressions = {}, [], False
        return made

    def enabled(self, code: str) -> bool:
        """Whether a rule is reported at all."""
        return code in self._enabled

    def fixable(self, code: str) -> bool:
        """Whether the fixes of a rule are offered."""
        return code in self._fixable

    def severity(self, code: str, severity: Severity) -> Severity:
        """The severity of a finding whose evidence suggests `severity`."""
        return self._severities.get(code, severity)

    def ignored_in(self, path: str) -> frozenset[str]:
        """The codes that are not reported in a file."""
        absolute = os.path.abspath(path)
        ignored: frozenset[str] = frozenset()
        for pattern, codes in self._ignores:
            if pattern.matches(absolute):
                ignored |= codes
        return ignored


def refuse_unknown(settings: Settings, rules: Mapping[str, Rule]) -> None:
    """Resolve all selectors of some settings, and nothing else.

    Raises:
        ConfigurationError: a selector selects no rule.
    """
    by_file = (*settings.per_file_ignores, *settings.extend_per_file_ignores)
    lists = (
        *(settings.select, settings.extend_select, settings.ignore),
        *(settings.fixable, settings.extend_fixable, settings.unfixable),
        *settings.asked,
        [selector for selector, _ in settings.severity],
        *(selectors for _, selectors in by_file),
    )
    for selectors in lists:
        _union(selectors, settings, rules)


def codes_by_name(rules: Mapping[str, Rule]) -> dict[str, str]:
    """The code of every rule name, and of every code itself, for suppressions."""
    return {rule.name: code for code, rule in rules.items()} | {code: code for code in rules}


class _FilePattern:
    """A pattern of `per-file-ignores`, which a leading `!` turns round."""

    __slots__ = ("_base", "_matcher", "_negated")

    def __init__(self, pattern: Pattern) -> None:
        self._base = pattern.base
        self._negated = pattern.glob.startswith("!")
        self._matcher = PathMatcher((Pattern(pattern.glob.removeprefix("!"), pattern.base),))

    def matches(self, path: str) -> bool:
        return self._matcher.matches_any_part(path, self._base) != self._negated


def _chosen(
    settings: Settings, rules: Mapping[str, Rule], *layers: tuple[Sequence[str], Sequence[str]]
) -> frozenset[str]:
    """The selected codes of layers of selectors that choose and that leave out, of which a later one wins.

    Within a layer the most specific selector decides for each code, the one that leaves out on a tie.
    """
    decided: dict[str, bool] = {}
    for chosen, left_out in layers:
        weight: dict[str, tuple[int, bool]] = {}
        for selectors, selected in ((chosen, True), (left_out, False)):
            for selector in selectors:
                rank = _specificity(selector)
                for code in _resolved(selector, settings, rules):
                    known = weight.get(code)
                    if known is None or rank > known[0] or (rank == known[0] and not selected):
                        weight[code] = (rank, selected)
        decided.update((code, selected) for code, (_, selected) in weight.items())
    return frozenset(code for code, selected in decided.items() if selected)


def _specificity(selector: str) -> int:
    selector = _plain(selector)
    if selector == "ALL":
        return 0
    return len(selector) if _is_code(selector) else 99


def _plain(selector: str) -> str:
    """A selector as the catalogue writes it: codes in capitals, names in small letters."""
    upper = selector.upper()
    return upper if upper == "ALL" or _is_code(upper) else selector.lower()


def _is_code(selector: str) -> bool:
    return selector.startswith("NST") and (selector == "NST" or selector[3:].isdigit())


def _union(selectors: Iterable[str], settings: Settings, rules: Mapping[str, Rule]) -> frozenset[str]:
    return frozenset(code for selector in selectors for code in _resolved(selector, settings, rules))


def _resolved(selector: str, settings: Settings, rules: Mapping[str, Rule]) -> list[str]:
    """The codes that a selector means; `ConfigurationError` where there is no such rule."""
    plain = _plain(selector)
    if plain == "ALL":
        return list(rules)
    found = (
        [code for code in rules if code.startswith(plain)]
        if _is_code(plain)
        else [code for code, rule in rules.items() if rule.name == plain]
    )
    if found or plain in CATEGORIES:
        return found
    from difflib import get_close_matches

    from nonstrict.settings.load import misnamed_rule

    close = get_close_matches(plain, [*rules, *(rule.name for rule in rules.values())], n=1, cutoff=0.7)
    advice = f"write `{close[0]}`" if close else "correct the name; `nonstrict rule --all` lists the rules"
    advice = "name them one by one, with commas between them" if len(selector.split()) > 1 else advice
    raise misnamed_rule(settings, selector, f"no rule is called `{selector}`", advice)


#: Families of the catalogue: they may be selected although none of their rules is built yet.
CATEGORIES = frozenset({"NST", *(f"NST{digit}" for digit in "12345679")})
