"""Which lines of the code that Inductor generated came from which lines of the user's.

Inductor keeps, for each kernel, the stack traces of the operators fused into it (`torch._inductor.debug`, if there is a
setting `trace.provenance_tracking_level`), and writes the kernel's name and number above each call.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: A line of the text from 0, and a line of a file from 1.
Origin = tuple[int, str, int]

_IN_FILE = re.compile(r'File "([^"]+)", line (\d+), in ')
_KERNEL = re.compile(r"^(\w+) = async_compile\.\w+\(")
_END_OF_KERNEL = re.compile(r"^'''")
_HANDLE = re.compile(r"^\s*# \[Provenance debug handles\] (.+)$")


def track_kernels() -> None:
    """Have Inductor note from now on what each kernel was made of, if this torch can."""
    import torch._inductor.config as inductor

    if hasattr(inductor.trace, "provenance_tracking_level"):
        inductor.trace.provenance_tracking_level = 1


def kernel_places(is_user: Callable[[str], bool]) -> dict[str, list[tuple[str, int]]]:
    """For each kernel of the code that is being generated, as `name:number`, the user's innermost lines."""
    from torch._inductor import debug

    traces: Mapping[str, Any] = getattr(debug, "_inductor_kernel_stack_trace", {})
    return {name: _places(found, is_user) for name, found in traces.items()}


def _places(traces: list[str], is_user: Callable[[str], bool]) -> list[tuple[str, int]]:
    innermost = (
        next(((path, int(line)) for path, line in reversed(_IN_FILE.findall(trace)) if is_user(path)), None)
        for trace in traces
    )
    return list(dict.fromkeys(place for place in innermost if place is not None))


def origins_of(code: str, kernels: Mapping[str, list[tuple[str, int]]]) -> list[Origin]:
    """The origins of lines of generated code: of a kernel all of its lines, and those that call it."""
    bodies: dict[str, list[tuple[str, int]]] = {}
    for handle, places in kernels.items():
        bodies.setdefault(handle.rpartition(":")[0], []).extend(places)
    found: list[Origin] = []
    inside: list[tuple[str, int]] = []
    called: list[tuple[str, int]] = []
    for number, line in enumerate(code.split("\n")):
        started, handles = _KERNEL.match(line), _HANDLE.match(line)
        if started is not None:
            inside = bodies.get(started[1], [])
        places = inside or called
        called = []
        if handles is not None:
            called = [place for handle in re.split(r",?\s+", handles[1]) for place in kernels.get(handle, [])]
            places = called
        found += [(number, path, row) for path, row in dict.fromkeys(places)]
        if _END_OF_KERNEL.match(line):
            inside = []
    return found
