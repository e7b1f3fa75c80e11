"""Stands for progress bars of packages that are not installed: they give what they are given, and show nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What makes a bar around the iterable that it is given first, by where it is imported from.
_BARS = frozenset(
    {
        *(
            f"tqdm{module}.{name}"
            for module in ("", ".auto", ".autonotebook", ".notebook", ".std", ".rich", ".asyncio")
            for name in ("tqdm", "tqdm_notebook")
        ),
        *("rich.progress.track", "alive_progress.alive_it", "progressbar.progressbar", "enlighten.Counter"),
        *("fastprogress.progress_bar", "fastprogress.master_bar"),
        *("fastprogress.fastprogress.progress_bar", "fastprogress.fastprogress.master_bar"),
    }
)
#: The same for one around a range.
_RANGES = frozenset(
    {f"tqdm{module}.{name}" for module in ("", ".auto", ".notebook", ".std") for name in ("trange", "tnrange")}
)


class Bar:
    """A progress bar that shows nothing."""

    def __init__(self, iterable: Any = ()) -> None:
        """Around what is iterated over, if anything."""
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)

    def __enter__(self) -> Bar:  # noqa: PYI034 - `Self` came with Python 3.11
        """The bar."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _shown


def _shown(*_: object, **__: object) -> None:
    """What is told to a bar."""


def bar(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Bar | None:
    """The bar that a call of something imported would make; None if it makes none."""
    if name in _RANGES:
        return Bar(range(*arguments))
    if name not in _BARS:
        return None
    return Bar(arguments[0] if arguments else keywords.get("iterable", keywords.get("sequence", ())))
