"""The job that asks which calls that the schema of an operator allows its fake does not take; none of them is made.

Measured on torch 2.13: fakes and kernels for meta tensors are passed positions as positions, without those at the end
that have the value of their default, and by keyword what has no position and not the value of its default.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from nonstrict_agent.arm import program_in
from nonstrict_agent.loading import LoadError, load
from nonstrict_agent.observe.operators import Operators
from nonstrict_agent.project_files import install_project, user_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MAX_TEXT = 200


def run_fakes(job: dict[str, Any]) -> dict[str, Any]:
    """Ask the operators that a program registers while it is loaded.

    The job holds the fields of an arm's program. The answer holds `operators`: for each that has a fake its `name`, the
    `fake` (file and first line), and `refused`, a call that it does not take, in words, with the error; empty if it
    takes all. `failure` says why the program was loaded in part only: what it registered is asked all the same, which
    its package may have done by importing it.
    """
    install_project(job["root"], job["path"], job.get("overlays", {}))
    operators = Operators(user_files(job["root"], job["path"]), lambda: None)
    operators.install()
    failure = ""
    try:
        load(program_in(job))
    except LoadError as error:
        failure = str(error)
    return {"operators": list(_asked(operators.fakes())), "failure": failure}


def _asked(fakes: Mapping[str, Callable[..., Any]]) -> Iterator[dict[str, Any]]:
    for name, fake in fakes.items():
        schema, code = _schema_of(name), getattr(fake, "__code__", None)
        if schema is not None and code is not None:
            yield {"name": name, "fake": [code.co_filename, code.co_firstlineno], "refused": refused(schema, fake)}


def _schema_of(name: str) -> Any:
    """The schema of an operator; None if there is none, or one for each of several overloads."""
    import torch

    namespace, _, own = name.partition("::")
    packet: Any = getattr(getattr(torch.ops, namespace), own, None)
    overloads = packet.overloads() if packet is not None else ()
    return getattr(packet, overloads[0])._schema if len(overloads) == 1 else None


def refused(schema: Any, fake: Callable[..., Any]) -> str:
    """A call that a schema allows and a fake does not take, in words, with the error; empty if there is none."""
    try:
        # A function around another one takes what itself says.
        signature = inspect.signature(fake, follow_wrapped=False)
    except (TypeError, ValueError):
        return ""
    for count, given in _calls(schema):
        positions, keywords = (None,) * count, dict.fromkeys(given)
        try:
            signature.bind(*positions, **keywords)
        except TypeError:
            return f"{_in_words(schema, count, given)}: {_error_of(fake, positions, keywords)}"
    return ""


def _calls(schema: Any) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The shapes that calls of the fake have: how many positions and which keywords, the shortest first."""
    positional = [one for one in schema.arguments if not one.kwarg_only]
    by_name = [one for one in schema.arguments if one.kwarg_only]
    least = max((at for at, one in enumerate(positional, 1) if not one.has_default_value()), default=0)
    needed = tuple(one.name for one in by_name if not one.has_default_value())
    every = tuple(one.name for one in by_name)
    for given in dict.fromkeys((needed, every)):
        yield from ((count, given) for count in range(least, len(positional) + 1))


def _in_words(schema: Any, count: int, given: tuple[str, ...]) -> str:
    positional = [one.name for one in schema.arguments if not one.kwarg_only]
    total = len(schema.arguments)
    if count + len(given) == total:
        return f"a call with {'its argument' if total == 1 else f'all {total} arguments'}"
    last = f", the last `{[*positional[:count], *given][-1]}`" if count + len(given) else ""
    return f"a call with {count + len(given)} of {total} arguments{last}"


def _error_of(fake: Callable[..., Any], positions: tuple[Any, ...], keywords: Mapping[str, Any]) -> str:
    """What Python says of a call that a function does not take, which does not come as far as its body."""
    try:
        fake(*positions, **keywords)
    except TypeError as error:
        return f"TypeError: {error}"[:_MAX_TEXT]
    return "TypeError"
