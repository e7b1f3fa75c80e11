"""Options of Dynamo that the program sets, in whatever file: `torch._dynamo.config.suppress_errors = True`.

Assignments, `config.patch(...)`, `setattr`, changes of a set and of the environment count wherever they stand in a file
that runs with the region: which part of a program is running when a region is compiled is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions.assigned import CONFIG, ENVIRONMENT, Settings, assigned, constant_of
from nonstrict.program.discovery.together import may_run_with

if TYPE_CHECKING:
    from nonstrict.program.contracts.regions.assigned import Assigned
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: The variables from which torch reads an option while it is imported. Source: `torch/_dynamo/config.py` of torch 2.13.
_VARIABLES = {
    "suppress_errors": "TORCHDYNAMO_SUPPRESS_ERRORS",
    "capture_scalar_outputs": "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
    "capture_dynamic_output_shape_ops": "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
}
#: What else of a variable leaves its option off; `suppress_errors` is on for any text.
_OFF = ("0", "")


def is_set(machine: Machine, option: str, path: str) -> bool:
    """Whether what a program runs together with a file sets an option to other than its default."""
    return any(may_run_with(machine, path, one) for one in setting(machine, option))


def setting(machine: Machine, option: str) -> tuple[str, ...]:
    """The files that set an option to other than its default."""
    if option not in machine.part(Settings).options:
        words = [word for word in (option, _VARIABLES.get(option)) if word is not None]
        files = dict.fromkeys(path for word in words for path in machine.elsewhere.files_with(word.encode()))
        machine.part(Settings).options[option] = tuple(path for path in files if _sets(machine, path, option))
    return machine.part(Settings).options[option]


def _sets(machine: Machine, path: str, option: str) -> bool:
    module = machine.project.module(path)
    names = (option, _VARIABLES.get(option, ""))
    return module is not None and any(
        _differs(machine, module, option, one) for one in assigned(machine, module, names)
    )


def _differs(machine: Machine, module: Module, option: str, one: Assigned) -> bool:
    """Whether a value may be another than the default of an option: False, but for those that ask for breaks."""
    value = constant_of(machine, module, one.value)
    if one.holder == ENVIRONMENT:
        return value not in _OFF[option == "suppress_errors" :]
    return one.holder == CONFIG and value is not option.startswith("graph_break_on")
