"""Options of Dynamo and Inductor that a program sets, in whatever file: `torch._dynamo.config.suppress_errors = True`.

Those of Dynamo are asked for by their names, those of Inductor by dotted ones that begin at `INDUCTOR`.

Assignments, `config.patch(...)`, `setattr`, changes of a set and of the environment count wherever they stand in a file
that runs with the region: which part of a program is running when a region is compiled is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions.assigned import CONFIG, ENVIRONMENT, Setting, Settings, assigned, constant_of
from nonstrict.program.discovery.together import may_run_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.state.machine import Machine

INDUCTOR = "torch._inductor.config"
#: The variables from which torch reads an option while it is imported. Source: `torch/_dynamo/config.py` and
#: `torch/_inductor/config.py` of torch 2.13.
_VARIABLES = {
    "suppress_errors": "TORCHDYNAMO_SUPPRESS_ERRORS",
    "capture_scalar_outputs": "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
    "capture_dynamic_output_shape_ops": "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
    f"{INDUCTOR}.triton.cudagraphs": "TORCHINDUCTOR_CUDAGRAPHS",
    f"{INDUCTOR}.cpp_wrapper": "TORCHINDUCTOR_CPP_WRAPPER",
}
#: The options that are on by default, beside those that ask for graph breaks.
_ON = frozenset(
    {
        *("automatic_dynamic_shapes", "assume_static_by_default", "force_parameter_static_shapes"),
        "skip_nnmodule_hook_guards",
        f"{INDUCTOR}.graph_partition",
    }
)
#: What else of a variable leaves its option off; `suppress_errors` is on for any text.
_OFF = ("0", "")


def is_set(machine: Machine, option: str, path: str) -> bool:
    """Whether what a program runs together with a file sets an option to other than its default."""
    return any(may_run_with(machine, path, one) for one in setting(machine, option))


def setting(machine: Machine, option: str) -> tuple[str, ...]:
    """The files that set an option to other than its default."""
    default = option in _ON or option.startswith("graph_break_on")
    return tuple(dict.fromkeys(one.path for one in _settings(machine, option) if one.value is not default))


def constants(machine: Machine, option: str, path: str) -> frozenset[object]:
    """To what a program sets an option that runs together with a file: `NO_CONSTANT` where that is not known."""
    return frozenset(one.value for one in _settings(machine, option) if may_run_with(machine, path, one.path))


def is_always(machine: Machine, option: str, path: str, value: object) -> bool:
    """Whether a program that runs together with a file sets an option to a value for good, and to no other."""
    told = [one for one in _settings(machine, option) if may_run_with(machine, path, one.path)]
    return bool(told) and all(one.value is value and not one.for_now for one in told)


def _settings(machine: Machine, option: str) -> tuple[Setting, ...]:
    """Where an option is set, and to what."""
    known = machine.part(Settings).options
    if option not in known:
        words = [option.rpartition(".")[2], *filter(None, [_VARIABLES.get(option)])]
        files = dict.fromkeys(path for word in words for path in machine.elsewhere.files_with(word.encode()))
        known[option] = tuple(one for path in files for one in _set_in(machine, path, option))
    return known[option]


def _set_in(machine: Machine, path: str, option: str) -> Iterator[Setting]:
    module = machine.project.module(path)
    holder, _, name = option.rpartition(".")
    below, variable = option.removeprefix(f"{INDUCTOR}."), _VARIABLES.get(option, "")
    holders = {name: holder or CONFIG, variable: ENVIRONMENT, below: holder or CONFIG}
    if below != name:  # `config.patch({"triton.cudagraphs": True})`
        holders[below] = INDUCTOR
    for one in assigned(machine, module, tuple(holders)) if module is not None else ():
        if module is not None and one.holder == holders[one.name]:
            value = constant_of(machine, module, one.value)
            if one.name == variable:
                value = value not in _OFF[option == "suppress_errors" :]
            yield Setting(path, value, one.for_now)
