"""The effects that models name, as decorators: `@does.log`, or in words of its own `@does.log("...")`.

Models import them from here, so that editors know them too. Nothing is called: models are read, never run.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar, overload

from nonstrict.models.entries import Doing

_T = TypeVar("_T")


class Effect(NamedTuple):
    """A decorator: what calls of the function do besides computing a value."""

    doing: Doing
    what: str

    @overload
    def __call__(self, subject: str) -> Effect: ...
    @overload
    def __call__(self, subject: _T) -> _T: ...
    def __call__(self, subject: _T | str) -> _T | Effect | str:
        """The effect in other words, or the function that it stands above."""
        return Effect(self.doing, subject) if isinstance(subject, str) else subject


def _effect(doing: Doing) -> Effect:
    return Effect(doing, doing.value)


#: It tells people something, which compiled code no longer does.
output, stdout, stderr = _effect(Doing.OUTPUT), _effect(Doing.STDOUT), _effect(Doing.STDERR)
progress, log = _effect(Doing.PROGRESS), _effect(Doing.LOG)
#: Any other input and output, and waiting.
io = _effect(Doing.IO)
environ_read, environ_write = _effect(Doing.ENVIRON_READ), _effect(Doing.ENVIRON_WRITE)
#: `draw`: a number of Python's own generators; `random`: anything else by chance.
draw, random, seed = _effect(Doing.DRAW), _effect(Doing.RANDOM), _effect(Doing.SEED)
clock, identity = _effect(Doing.CLOCK), _effect(Doing.IDENTITY)
#: Others do it: a function of the program, in a thread or a process of its own, or another program.
thread, process, program = _effect(Doing.THREAD), _effect(Doing.PROCESS), _effect(Doing.PROGRAM)
exit = _effect(Doing.EXIT)  # noqa: A001  # models say `does.exit`
pointer, storage, hook = _effect(Doing.POINTER), _effect(Doing.STORAGE), _effect(Doing.HOOK)
#: A traced tensor that is given to it leaves what torch can trace.
native, escape = _effect(Doing.NATIVE), _effect(Doing.ESCAPE)
torch_state, torch_query = _effect(Doing.TORCH_STATE), _effect(Doing.TORCH_QUERY)
torch_guarded = _effect(Doing.TORCH_GUARDED)
