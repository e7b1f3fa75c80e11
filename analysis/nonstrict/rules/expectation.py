"""What an experiment shows of the findings of a rule: where they show, and in which words torch refuses them."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Experiment(enum.Enum):
    """How a compile proves or refutes a finding: what has to be seen in eager code before agreement means anything."""

    CHANGE = "change"
    """The state that the finding names changes between two calls, and eager code computes something else."""
    EFFECT = "effect"
    """Eager code has the effect: it writes, changes or tells something."""
    DRAW = "draw"
    """Eager code computes something else from call to call."""
    REFUSAL = "refusal"
    """The line is executed; torch refuses it, or computes something else."""
    BREAK = "break"
    """As `REFUSAL`; where the graph may break, it breaks there."""
    COMPILED = "compiled"
    """The application of `torch.compile` is reached: nothing is compiled of what it returned."""
    RECOMPILED = "recompiled"
    """What the finding is about varies: torch compiles the region again for it."""
    LIMIT = "limit"
    """As `RECOMPILED`, until torch gives the region up."""
    STALE = "stale"
    """What the finding is about varies: Inductor goes on with an earlier value, which it has from a cache of torch."""
    OVERWRITTEN = "overwritten"
    """CUDA graphs run: a result that the program keeps is another one after a later call, or cannot be read."""
    UNGRAPHED = "ungraphed"
    """CUDA graphs are asked for: torch runs what the finding is about without, or records one after the other."""
    IDENTITY = "identity"
    """The application of `torch.compile` is reached: the state of the wrapper has other names."""
    NONE = "none"
    """No run can tell."""

    __hash__ = object.__hash__


class Channel(enum.Enum):
    """On what compiled code may differ from eager code."""

    ERROR = "error"
    VALUES = "values"
    ARGUMENTS = "arguments"
    STATE = "state"
    OUTPUT = "output"
    EVENTS = "events"
    GRADIENTS = "gradients"
    LEAK = "leak"
    FILES = "files"


class Refusal(enum.Enum):
    """Words of torch 2.13 by which it refuses something without naming the line of the user's."""

    FAKE_CONVERSION = "convert all Tensors to FakeTensors"
    DATA_GUARD = "GuardOnDataDependent"
    CONSTRAINT = "ConstraintViolation"
    DATA_OUTPUT = "DataDependentOutput"
    UNBACKED_SYMBOL = "PendingUnbackedSymbol"
    FUNCTIONAL_GRAPH = "expected to have an entirely functional graph"
    UNDECLARED_MUTATION = "Undeclared in-place mutation"
    WRAPPED_ALREADY = "Cannot wrap a Tensor that has already been"
    FAKE_MODES = "Mixing fake modes"
    FAKE_TENSOR = "FakeTensor"
    INPUT_TYPE = "Invalid input type for nonstrict_trace"
    PYTREE_INPUT = "Invalid use of pytree_flatten with nonstrict_trace"
    RESULT_TYPE = "op returned non-Tensor"
    WRONG_KIND = "Expected a value of type"

    __hash__ = object.__hash__


#: What only a GPU shows.
ON_GPU = frozenset({Experiment.OVERWRITTEN, Experiment.UNGRAPHED})
#: Refusals of tensors that were made outside a trace, and of those that were left there by one.
OF_CAPTURES = frozenset({Refusal.FAKE_CONVERSION})
OF_LEAKS = frozenset({Refusal.WRAPPED_ALREADY, Refusal.FAKE_MODES, Refusal.FAKE_TENSOR})
#: Refusals in words that torch has for whatever of the kind it comes to first, in a function or in what that calls.
OF_MANY_CAUSES = OF_CAPTURES | OF_LEAKS | {Refusal.DATA_GUARD, Refusal.DATA_OUTPUT, Refusal.UNBACKED_SYMBOL}
#: Refusals of what a function is given: findings about its body have no part in them.
OF_ARGUMENTS = frozenset({Refusal.INPUT_TYPE, Refusal.PYTREE_INPUT})


class Trait(enum.Flag):
    """What sets the findings of a rule apart from others that the same experiment decides."""

    NONE = 0
    STALE = enum.auto()
    """About state whose changes compiled code does not see: before it changes, nothing is wrong. Captured tensors are
    not: their results require no gradient from the first call on."""
    SILENT = enum.auto()
    """About branches that are taken once and for all, which torch refuses in words of its own or not at all."""
    OPERATOR = enum.auto()
    """About operators of the user's, which Inductor may reorder, reuse the memory of, or leave out."""
    TELLS = enum.auto()
    """About what a function tells the world."""
    TELLS_LATER = enum.auto()
    """About what may tell the world something where it is not called."""
    CROSSES = enum.auto()
    """About what a region does to the state that a function in it reads, in one and the same call."""
    WRITES_ARGUMENTS = enum.auto()
    """About what a function does to objects it is given: tensors that it writes besides are none of them."""
    BRANCHES = enum.auto()
    """About which branch a trace keeps: agreement only says that all calls took the same one."""
    IN_FAKES = enum.auto()
    """About fakes, which only tracing executes: what they stand for runs in eager code."""
    IN_MARKERS = enum.auto()
    """About the marker itself: torch may refuse it before anything is compiled."""
    OF_MODES = enum.auto()
    """About the training mode of a module: that is what changes of it."""
    NEEDS_REGION = enum.auto()
    """About what comes after the call: a region that does nothing else shows no harm."""
    BETWEEN_CALLS = enum.auto()
    """About what the program does before or between calls of regions: that is where its line is executed."""
    OF_RESULTS = enum.auto()
    """About what a function gives back: what its body raises, it raises before that is looked at."""
    QUESTION = enum.auto()
    """No finding: does the function compute the same when it is compiled?"""


_REFUSED = frozenset({Experiment.REFUSAL, Experiment.BREAK})
_NUMERIC = frozenset({Channel.ERROR, Channel.VALUES, Channel.GRADIENTS, Channel.ARGUMENTS})
_CHANNELS: dict[Experiment, frozenset[Channel]] = {
    Experiment.CHANGE: _NUMERIC,
    Experiment.EFFECT: frozenset(Channel),
    Experiment.DRAW: frozenset({Channel.VALUES, Channel.ERROR, Channel.ARGUMENTS, Channel.STATE, Channel.OUTPUT}),
    Experiment.REFUSAL: _NUMERIC,
    Experiment.BREAK: _NUMERIC,
    Experiment.LIMIT: frozenset({Channel.ERROR}),
    Experiment.STALE: frozenset({Channel.VALUES, Channel.GRADIENTS}),
}


class Expectation(NamedTuple):
    """How an experiment decides the findings of a rule, the refusals that they foretell, and what sets them apart.

    `opcheck` is the test of `torch.library.opcheck` that fails if a finding about a custom operator is right.
    """

    experiment: Experiment = Experiment.NONE
    refusals: frozenset[Refusal] = frozenset()
    traits: Trait = Trait.NONE
    opcheck: str = ""

    @property
    def channels(self) -> frozenset[Channel]:
        """On what compiled code may differ from eager code if a finding is right."""
        return _CHANNELS.get(self.experiment, frozenset())

    @property
    def is_refused(self) -> bool:
        """Whether torch is expected to refuse what a finding is about."""
        return self.experiment in _REFUSED

    @property
    def may_be_refused(self) -> bool:
        """Whether torch may refuse what a finding is about."""
        return self.is_refused or bool(self.refusals)

    def foretells(self, error: str) -> bool:
        """Whether an error of the compiler is one that findings of the rule foretell, by its words."""
        if Refusal.WRONG_KIND.value in error:
            return False
        if Refusal.FAKE_CONVERSION.value in error:
            # Those are tensors of eager code; the words name fake ones too.
            return Refusal.FAKE_CONVERSION in self.refusals
        return any(one.value in error for one in self.refusals)


def is_of_arguments(error: str) -> bool:
    """Whether an error of the compiler is about what a function is given."""
    return any(one.value in error for one in (*OF_ARGUMENTS, Refusal.WRONG_KIND))
