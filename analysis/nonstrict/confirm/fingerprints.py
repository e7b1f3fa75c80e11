"""Fingerprints of state and arguments in two arms, compared: by their numbers, as far as the agent kept them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.numbers import leaf_difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.confirm.numbers import Difference

#: The fingerprint of a floating-point tensor (`nonstrict_agent.observe.state`): dtype and sizes, hash, what it carries.
_FLOATS = re.compile(r"(?P<form>tensor (?:float|bfloat|complex)\w* \[[^\]]*\]) [0-9a-f]+(?P<rest>.*)", re.DOTALL)
#: The same of any tensor.
_TENSOR = re.compile(r"(?P<form>tensor \w+ \[[^\]]*\]) [0-9a-f]+(?P<rest>.*)", re.DOTALL)


class Unlike(NamedTuple):
    """Two fingerprints that are not of the same: by how much, if numbers tell it.

    It is `vague` if they may be of the same but for rounding, and their numbers were not kept.
    """

    gap: Difference | None = None
    vague: bool = False


class Numbers(NamedTuple):
    """The tensors that two arms made, by fingerprint (`nonstrict_agent.observe.numbers`)."""

    leaves: Mapping[str, dict[str, Any]]

    def unlike(self, eager: str | None, compiled: str | None) -> Unlike | None:
        """How two fingerprints differ; None where they are of the same, but for rounding."""
        if eager == compiled:
            return None
        if not eager or not compiled or not _differ_in_numbers(eager, compiled):
            return Unlike()
        pair = [self.leaves.get(name) for name in (eager, compiled)]
        if pair[0] is None or pair[1] is None:
            return Unlike(vague=True)
        gap = leaf_difference(pair[0], pair[1])
        return Unlike(gap) if gap is not None else None

    def alike(self, eager: Mapping[str, str], compiled: Mapping[str, str]) -> bool:
        """Whether two calls were given the same, but for rounding."""
        return eager == compiled or (
            eager.keys() == compiled.keys() and all(self.unlike(eager[path], compiled[path]) is None for path in eager)
        )


def numbers_of(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> Numbers:
    """What is known of the tensors of two arms."""
    return Numbers({**eager.get("numbers", {}), **compiled.get("numbers", {})})


def form_of(fingerprint: str | None) -> str | None:
    """A fingerprint without the numbers of a tensor: what guards of Dynamo ask of."""
    match = _TENSOR.fullmatch(fingerprint or "")
    return match["form"] + match["rest"] if match is not None else fingerprint


def _differ_in_numbers(eager: str, compiled: str) -> bool:
    """Whether two fingerprints are those of floating-point tensors that have everything but their numbers in common."""
    pair = [_FLOATS.fullmatch(text) for text in (eager, compiled)]
    return all(pair) and len({(match["form"], match["rest"]) for match in pair if match is not None}) == 1
