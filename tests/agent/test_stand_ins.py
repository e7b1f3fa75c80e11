"""What stands for a package makes more of its like while a program is loaded, and refuses every use afterwards."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Optional

import pytest

from nonstrict_agent.stand_ins import MissingModuleError, StandIn, compared, loading

if TYPE_CHECKING:
    from collections.abc import Callable

TOLD = r"^`apex` could not be imported: No module named 'apex'$"
USES: dict[str, Callable[[Any], object]] = {
    "attribute": lambda apex: apex.amp,
    "call": lambda apex: apex(1, a=2),
    "subscript": lambda apex: apex[0],
    "store": lambda apex: setattr(apex, "flag", 1),
    "class": lambda apex: type("Net", (), {}) and _derived(apex),
    "truth": bool,
    "length": len,
    "loop": list,
    "equality": lambda apex: apex == 1,
    "order": lambda apex: apex >= "1.0",
    "sum": lambda apex: 1 + apex,
    "union": lambda apex: apex | None,
    "text": str,
    "format": lambda apex: f"{apex}",
    "number": float,
    "index": operator.index,
    "isinstance": lambda apex: isinstance(1, apex),
    "membership": lambda apex: 1 in apex,
}
#: What gives a stand-in while a program is loaded; the others have answers, which nobody knows.
MAKING = ("attribute", "call", "subscript", "store", "class", "union")


def _derived(base: Any) -> Any:
    class Net(base, dict):  # type: ignore[misc]
        def forward(self, x: int) -> int:
            return super().forward(x)

    return Net


def apex() -> Any:
    return StandIn("apex", "could not be imported: No module named 'apex'")


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_no_use_has_an_answer(use: Callable[[Any], object]):
    with pytest.raises(MissingModuleError, match=TOLD):
        use(apex())


@pytest.mark.parametrize("name", USES)
def test_definitions_are_made_of_stand_ins(name: str):
    with loading():
        if name not in MAKING:
            with pytest.raises(MissingModuleError, match=TOLD):
                USES[name](apex())
        elif name != "store":
            made: Any = USES[name](apex())
            assert type(made) is StandIn
        else:
            USES[name](apex())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_use_in_a_call_that_is_compared_is_noted_even_if_its_error_is_caught(use: Callable[[Any], object]):
    one, needs = apex(), list[str]()
    with loading(), compared(needs):
        with pytest.raises(ImportError):
            use(one)
        with loading(), pytest.raises(ImportError):  # a module that is imported in the call
            use(one)
    assert needs == ["`apex` could not be imported: No module named 'apex'"]


def test_asking_for_what_protocols_ask_for_is_noted_in_a_call():
    needs: list[str] = []
    with compared(needs):
        assert getattr(apex(), "__version__", "0") == "0"
    assert len(needs) == 1


def test_what_is_no_use_is_allowed():
    one, needs = apex(), list[str]()
    with compared(needs):
        assert one is not None
        assert {one: 1}[one] == 1
        assert not isinstance(one, int)
        assert repr(one) == "<stand-in for apex>"
    assert needs == []


def test_decorated_functions_and_derived_classes_are_stand_ins_that_say_why():
    with loading():
        one = apex()

        @one.wrap
        def helper() -> int:
            return 1

        net = _derived(one.nn.Module)
        alias = Optional[one.Config]  # noqa: UP045 - what `typing` makes of it
        assert alias is not None
    with pytest.raises(MissingModuleError, match=r"^`apex.wrap` could not be imported: No module"):
        helper()
    told = r"^`Net` is derived from `apex.nn.Module`, which could not be imported: No module named 'apex'$"
    with pytest.raises(MissingModuleError, match=told):
        net()
