"""What stands for a progress bar gives what it is given."""

from __future__ import annotations

import pytest

from nonstrict_agent.stand_ins import MissingModuleError, StandIn, compared


def tqdm(name: str = "tqdm") -> StandIn:
    return StandIn(f"tqdm.auto.{name}", "could not be imported: No module named 'tqdm'")


def test_a_bar_is_what_it_is_around() -> None:
    with tqdm()(range(3), desc="steps") as shown:
        assert list(shown) == [0, 1, 2]
        assert len(shown) == 3
        shown.set_postfix(loss=1.0)
    assert list(tqdm()(iterable=[1])) == [1]
    assert list(tqdm("trange")(1, 3)) == [1, 2]


def test_nothing_else_of_its_package_is_known() -> None:
    for name in ("write", "pandas"):
        with pytest.raises(MissingModuleError):
            tqdm(name)("text")


def test_a_call_that_is_compared_is_not_what_the_program_does() -> None:
    used: list[str] = []
    with compared(used), pytest.raises(MissingModuleError):
        tqdm()([1])
    assert used == ["`tqdm.auto.tqdm` could not be imported: No module named 'tqdm'"]
