"""Search for arguments with which a function runs eagerly.

Best first over whole sets of arguments, small shapes only. A set that fails tells how far the function got, which
parameters the failing expression depends on, and an error message; `repairs` and `moves` turn these into the next sets.
Two queues share the work: one orders by plausibility alone, the other by how far the parent of a set got.

Tries are real eager calls on the CPU: on such shapes a fake tensor costs more than the numbers do, and says less.
They run in the calling process, which is to be thrown away afterwards: what the function changes stays changed.

"Runs" is not enough: a result should hold a tensor, be finite, and not be the same number everywhere; and where the
caller names lines, these must be executed. The best set found is returned with what it lacks.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent.inputs import signature, trying
from nonstrict_agent.inputs.exploring import SEED, Exploration
from nonstrict_agent.inputs.instances import Instances
from nonstrict_agent.inputs.trying import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nonstrict_agent.inputs.specification import CallSpec


class Found(NamedTuple):
    """Calls that ran: `calls[i]` with values made from the seed `SEED + i`.

    `how` is a sentence. `lacks` says what the result of the first call is short of, empty if nothing.
    """

    calls: list[CallSpec]
    how: str
    tries: int
    seconds: float
    lacks: str = ""


class NotFound(NamedTuple):
    """No call ran, or none reached the lines (`missed`); the one that got farthest may have asked for a GPU (`on_gpu`).

    `reason` is a sentence.
    """

    reason: str
    tries: int
    seconds: float
    missed: bool = False
    on_gpu: bool = False


def find_inputs(
    function: Callable[..., Any],
    *,
    namespace: Mapping[str, object],
    seconds: float = 3.0,
    required_lines: Mapping[str, set[int]] | None = None,
    variants: int = 1,
    tries: int = 20_000,
) -> Found | NotFound:
    """Arguments with which `function` runs eagerly: a function, method or module, also a marked or compiled one.

    Args:
        function: what is called; one whose first parameter is `self` is given an instance of its class.
        namespace: of the module that defines it; annotations, classes and names of functions are looked up there.
        seconds: for the whole search; a single try is not interrupted.
        required_lines: by file name, the lines of an expression that the call must evaluate: one of them is enough,
            as an expression over several lines has code on some of them only.
        variants: how many different calls are wanted: other shapes, literals, values. Fewer may be found.
        tries: at most so many calls.
    """
    with trying.quiet():
        return _find(function, namespace, seconds, required_lines or {}, variants, tries)


def _find(
    function: Callable[..., Any],
    namespace: Mapping[str, object],
    seconds: float,
    required_lines: Mapping[str, set[int]],
    variants: int,
    tries: int,
) -> Found | NotFound:
    start = time.perf_counter()
    wanted = {file: lines for file, lines in required_lines.items() if lines}
    instances = Instances(namespace, seconds)
    reading = signature.read(function, namespace, instances.of)
    if reading is None:
        return NotFound("The function has no signature that can be read.", 0, time.perf_counter() - start)
    if len(reading.parameters) and reading.parameters[0].name == "self" and not reading.parameters[0].guesses:
        return NotFound(
            "No instance of the class of this method could be made.", instances.tries, time.perf_counter() - start
        )
    search = Exploration(reading, namespace, start + seconds, wanted, tries)
    best = search.run()
    spent = time.perf_counter() - start
    count = search.tries + instances.tries
    if best is None:
        told = f"No arguments were found in {count} tries; the one that got farthest ended with {search.farthest}"
        return NotFound(told, count, spent, on_gpu=search.wants_gpu)
    if not best.score[0]:
        return NotFound(
            f"Arguments were found, but in {count} tries none reached the lines.", count, spent, missed=True
        )
    chosen = [best.choice, *search.variants(best, variants - 1)]
    calls = [trying.call_of(reading.parameters, each) for each in chosen]
    lacks = WORDS[best.score[1]]
    count, spent = search.tries + instances.tries, time.perf_counter() - start
    how = f"found by search in {count} {'try' if count == 1 else 'tries'}" + (f"; {lacks}" if lacks else "")
    return Found(calls, how, count, spent, lacks)


__all__ = ["SEED", "Found", "NotFound", "find_inputs"]
