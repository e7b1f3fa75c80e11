"""Options of Dynamo that the program sets, in whatever file: `torch._dynamo.config.suppress_errors = True`.

Assignments, `config.patch(...)`, `setattr`, changes of a set and of the environment count wherever they stand in a file
that runs with the region: which part of a program is running when a region is compiled is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions.assigned import CONFIG, ENVIRONMENT, Settings, assigned, constant_of
from nonstrict.program.discovery.together import may_run_with
from nonstrict.program.domain.values import NO_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.state.machine import Machine

#: The variables from which torch reads an option while it is imported. Source: `torch/_dynamo/config.py` of torch 2.13.
_VARIABLES = {
    "suppress_errors": "TORCHDYNAMO_SUPPRESS_ERRORS",
    "capture_scalar_outputs": "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
    "capture_dynamic_output_shape_ops": "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
}
#: The options that are on by default, beside those that ask for graph breaks.
_ON = frozenset(
    {
        *("automatic_dynamic_shapes", "assume_static_by_default", "force_parameter_static_shapes"),
        "skip_nnmodule_hook_guards",
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
    return tuple(dict.fromkeys(path for path, value in _values(machine, option) if value is not default))


def constants(machine: Machine, option: str, path: str) -> frozenset[object]:
    """To what a program sets an option that runs together with a file: `NO_CONSTANT` where that is not known."""
    return frozenset(value for where, value in _values(machine, option) if may_run_with(machine, path, where))


def _values(machine: Machine, option: str) -> tuple[tuple[str, object], ...]:
    """The files that set an option, each with a value that it sets."""
    known = machine.part(Settings).options
    if option not in known:
        words = [word for word in (option, _VARIABLES.get(option)) if word is not None]
        files = dict.fromkeys(path for word in words for path in machine.elsewhere.files_with(word.encode()))
        known[option] = tuple((path, value) for path in files for value in _set_in(machine, path, option))
    return known[option]


def _set_in(machine: Machine, path: str, option: str) -> Iterator[object]:
    module = machine.project.module(path)
    names = (option, _VARIABLES.get(option, ""))
    for one in assigned(machine, module, names) if module is not None else ():
        value = constant_of(machine, module, one.value) if module is not None else NO_CONSTANT
        if one.holder == ENVIRONMENT:
            yield value not in _OFF[option == "suppress_errors" :]
        elif one.holder == CONFIG:
            yield value
