"""Whether a region is compiled to CUDA graphs where it computes on a GPU, as far as its options and Inductor's tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge import cuda_graphs
from nonstrict.program.contracts.regions import options
from nonstrict.program.domain.definitions import DEFAULT_BACKEND, Told

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import CompileOptions
    from nonstrict.program.state.machine import Machine

#: The option of Inductor by which a program asks for them, for all regions or for one.
_OPTION = "triton.cudagraphs"
#: The modes that leave it as it is. Source: `torch/_inductor/__init__.py` of torch 2.13, `list_mode_options`.
_DEFAULT_MODES = (Told.NOT_GIVEN, None, "default")


def are_asked_for(machine: Machine, path: str, given: CompileOptions) -> bool:
    """Whether CUDA graphs are asked for, by the options that are given in a file, or by the program for all regions."""
    if given.backend_name != DEFAULT_BACKEND:
        return cuda_graphs.is_asked_for(f'backend="{given.backend_name}"')
    told = dict(given.options).get(_OPTION) if isinstance(given.options, tuple) else None
    if isinstance(told, bool):
        return cuda_graphs.is_asked_for(f'options={{"{_OPTION}": {told}}}')
    if given.mode not in _DEFAULT_MODES:
        return isinstance(given.mode, str) and cuda_graphs.is_asked_for(f'mode="{given.mode}"')
    is_default = options.is_always(machine, f"{options.INDUCTOR}.{_OPTION}", path, value=True)
    return is_default and cuda_graphs.is_asked_for(f"config.{_OPTION}")
