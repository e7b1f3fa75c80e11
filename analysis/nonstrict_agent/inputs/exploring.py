"""The search itself, best first over whole sets of arguments; `search` says what it is for and how it goes."""

from __future__ import annotations

import ast
import heapq
import itertools
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent import process_groups
from nonstrict_agent.inputs import moves, trying
from nonstrict_agent.inputs.answers import Failure
from nonstrict_agent.inputs.checks import failed_checks
from nonstrict_agent.inputs.demands import asks_for_gpu, demanded
from nonstrict_agent.inputs.repairs import repairs
from nonstrict_agent.inputs.source import names_in
from nonstrict_agent.inputs.specification import NONE, Spec, literal
from nonstrict_agent.inputs.trying import GOOD, Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict_agent.inputs.signature import Reading

SEED = 0  # of the tries
_PATIENCE = 250  # further tries for a better result once one ran
_SAME_FAILURE = 12  # sets with the same failure that are followed up


class Best(NamedTuple):
    """The best choice so far: whether it reached all lines and the quality of its result; the try it was."""

    score: tuple[bool, int]
    choice: Choice
    at: int


class _Later(NamedTuple):
    """The neighbours of a choice, yet to be made."""

    number: int
    cost: float
    choice: Choice
    blamed: tuple[str, ...]
    progress: tuple[int, ...]


class Exploration:
    """One search: two queues of choices, and what has been learned from failures."""

    def __init__(
        self,
        reading: Reading,
        namespace: Mapping[str, object],
        until: float,
        wanted: Mapping[str, set[int]],
        tries: int,
    ) -> None:
        self._reading = reading
        self._namespace = namespace
        self._until = until
        self._wanted = wanted
        self._limit = tries
        self._numbers = itertools.count()
        self._plausible: list[tuple[float, int, Choice | _Later]] = []
        self._advanced: list[tuple[tuple[int, ...], float, int, Choice | _Later]] = []
        self._seen: set[str] = set()
        self._expanded: set[int] = set()
        self._instances: dict[str, Any] = {}
        self._failures: Counter[str] = Counter()
        self._deciding = _deciding(reading)
        self.tries = 0
        #: The error of the try that got farthest, the last one of those.
        self.farthest = "nothing was tried"
        #: Whether that asked for a GPU.
        self.wants_gpu = False
        self._progress: tuple[int, ...] = ()

    def run(self, accept: Callable[[trying.Outcome], bool] | None = None) -> Best | None:
        """The best choice found, as soon as nothing better can be had or the time is over."""
        for cost, choice in self._first():
            self._push(cost, choice, ())
        best: Best | None = None
        while (popped := self._pop()) is not None and not self._over(best):
            cost, choice = popped
            self.tries += 1
            outcome = trying.attempt(self._reading, choice, SEED, self._namespace, self._instances)
            if outcome.error is None and self._instances:
                # What ran with modules that earlier tries may have changed must run with new ones.
                self._instances.clear()
                outcome = trying.attempt(self._reading, choice, SEED, self._namespace)
            if outcome.error is not None:
                if process_groups.given_for(outcome.error):
                    self._seen.discard(repr(choice))
                    self._push(cost, choice, ())
                else:
                    self._follow(cost, choice, outcome)
                continue
            if accept is not None and accept(outcome):
                return Best((True, GOOD), choice, self.tries)
            score = self._score(choice, outcome)
            if best is None or score > best.score:
                best = Best(score, choice, self.tries)
            if score == (True, GOOD):
                break
            self._vary(cost, choice, outcome, lines=score[0])
        return best

    def _over(self, best: Best | None) -> bool:
        patient = _PATIENCE if best is None or best.score[0] else 8 * _PATIENCE
        waited = best is not None and self.tries - best.at > patient
        return waited or self.tries >= self._limit or time.perf_counter() > self._until

    def _first(self) -> Iterator[tuple[float, Choice]]:
        """What to start from: the best guess for each, and all tensors of one rank."""
        base: dict[str, Spec] = {
            each.name: each.guesses[0].spec for each in self._reading.parameters if each.guesses and not each.optional
        }
        yield 0.0, base
        bare = {
            each.name: NONE
            for each in self._reading.parameters
            if each.name in base and any(g.spec == NONE for g in each.guesses)
        }
        yield 0.7, {**base, **bare}
        for n, rank in enumerate((2, 3, 4, 1, 5, 0)):
            yield 0.8 + 0.2 * n, moves.each_changed(self._reading, base, lambda node, rank=rank: _of_rank(node, rank))

    def _push(self, cost: float, entry: Choice | _Later, progress: tuple[int, ...]) -> None:
        number = next(self._numbers)
        heapq.heappush(self._plausible, (cost, number, entry))
        heapq.heappush(self._advanced, (tuple(-line for line in progress), cost, number, entry))

    def _pop(self) -> tuple[float, Choice] | None:
        """The next choice that was not tried: two of three by progress, the third by cost alone."""
        while self._plausible and self._advanced:
            if self.tries % 3 == 0:
                cost, _, entry = heapq.heappop(self._plausible)
            else:
                _, cost, _, entry = heapq.heappop(self._advanced)
            if isinstance(entry, _Later):
                self._expand(entry)
            elif (key := repr(entry)) not in self._seen and moves.fits(entry):
                self._seen.add(key)
                return cost, entry
        return None

    def _expand(self, later: _Later) -> None:
        if later.number not in self._expanded:
            self._expanded.add(later.number)
            for step, changed in moves.neighbours(self._reading, later.choice, later.blamed):
                self._push(later.cost + step, changed, later.progress)

    def _postpone(self, cost: float, choice: Choice, blamed: tuple[str, ...], progress: tuple[int, ...]) -> None:
        """Queues the neighbours of a choice without making them: there are hundreds, and few are ever tried."""
        self._push(cost + moves.LEAST, _Later(next(self._numbers), cost, choice, blamed, progress), progress)

    def _follow(self, cost: float, choice: Choice, outcome: trying.Outcome) -> None:
        """Queues what may come after a failure; failures that are all alike only a few times."""
        text = f"{type(outcome.error).__name__}: {outcome.error}"[:600]
        checks = failed_checks(outcome.error) if outcome.error is not None else []
        if outcome.progress >= self._progress:
            before = outcome.progress == self._progress and self.wants_gpu
            self._progress, self.farthest = outcome.progress, text.splitlines()[0][:160]
            self.wants_gpu = before or asks_for_gpu(checks)
        alike = f"{outcome.progress} {''.join(each for each in text[:120] if not each.isdigit())}"
        self._failures[alike] += 1
        repeated = self._failures[alike]
        if repeated > 20 * _SAME_FAILURE:
            return
        penalty = 0.15 * repeated
        failure = Failure(self._reading, choice, text, outcome.blamed)
        demands = demanded(failure, checks, outcome.origins)
        for step, changed in itertools.chain(demands, repairs(failure)):
            self._push(cost + step + penalty, changed, outcome.progress)
        if repeated <= _SAME_FAILURE:
            self._postpone(cost + penalty, choice, outcome.blamed, outcome.progress)

    def _score(self, choice: Choice, outcome: trying.Outcome) -> tuple[bool, int]:
        if not self._wanted:
            return True, outcome.quality
        reached = trying.lines_reached(self._reading, choice, SEED, self._namespace, self._wanted)
        return all(reached[file] for file in self._wanted), outcome.quality

    def _vary(self, cost: float, choice: Choice, outcome: trying.Outcome, *, lines: bool) -> None:
        """Queues what may run better, or down other branches: other values first, then other arguments."""
        for step, changed in moves.other_values(self._reading, choice):
            self._push(cost + step, changed, ())
        self._failures[f"ran {outcome.quality}"] += 1
        if self._failures[f"ran {outcome.quality}"] <= 4 * _SAME_FAILURE:
            self._postpone(cost, choice, () if lines else self._deciding, ())

    def variants(self, best: Best, count: int) -> list[Choice]:
        """Up to `count` further choices that run as well as the best: other sizes, other literals, other values."""
        found: list[Choice] = []
        kinds = [list(_other_sizes(self._reading, best.choice)), list(_other_literals(self._reading, best.choice))]
        kinds.append([each for _, each in moves.other_values(self._reading, best.choice)])
        ordered = [each for row in itertools.zip_longest(*kinds) for each in row if each is not None]
        for choice in ordered:
            if len(found) >= count or time.perf_counter() > self._until + 1.0:
                break
            if choice in (best.choice, *found) or not moves.fits(choice):
                continue
            self.tries += 1
            outcome = trying.attempt(self._reading, choice, SEED + 1 + len(found), self._namespace)
            if outcome.error is None and self._score(choice, outcome) >= best.score:
                found.append(choice)
        return found


def _of_rank(node: Spec, rank: int) -> Spec | None:
    return moves.ranked(node, rank) if node["kind"] == "tensor" and node["dtype"] == "float32" else None


def _deciding(reading: Reading) -> tuple[str, ...]:
    """The parameters that conditions depend on."""
    tests = (
        [node.test for node in ast.walk(reading.tree) if isinstance(node, (ast.If, ast.IfExp, ast.While))]
        if reading.tree
        else []
    )
    names = {name for test in tests for name in names_in(test)}
    return tuple(sorted({each for name in names for each in reading.influence.get(name, ())}))


def _other_sizes(reading: Reading, choice: Choice) -> Iterator[Choice]:
    """First dimensions, then whole sizes, changed alike in all tensors."""
    sizes = sorted(
        {size for _, _, node in moves.parts(reading, choice) if node["kind"] == "tensor" for size in node["shape"]}
    )
    for leading in (True, False):
        for old, new in itertools.product(sizes, (3, 6, 5, 8, 1)):

            def change(node: Spec, old: int = old, new: int = new, leading: bool = leading) -> Spec | None:
                if node["kind"] != "tensor" or old not in node["shape"]:
                    return None
                shape = [
                    new if size == old and (n == 0 or not leading) else size for n, size in enumerate(node["shape"])
                ]
                return moves.shaped(node, shape)

            yield moves.each_changed(reading, choice, change)
    for old, new in itertools.product(sizes, (6, 8)):
        yield moves.resized(reading, choice, old, new)


def _other_literals(reading: Reading, choice: Choice) -> Iterator[Choice]:
    for parameter in reading.parameters:
        spec = moves.current(parameter, choice)
        if spec is None or spec["kind"] not in {"literal", "enum", "dtype", "none"}:
            continue
        if spec["kind"] == "literal" and type(spec["value"]) is bool:
            yield {**choice, parameter.name: literal(not spec["value"])}
        for guess in parameter.guesses:
            if guess.spec != spec and (spec["kind"] == "none" or guess.spec["kind"] == spec["kind"]):
                yield {**choice, parameter.name: guess.spec}
