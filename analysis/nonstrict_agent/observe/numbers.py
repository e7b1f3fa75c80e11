"""The numbers behind fingerprints of tensors, which alone do not tell rounding from another value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict_agent.observe.values import encode_leaf

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

#: Bytes of numbers, as `encode_leaf` writes them, that are kept of one run.
_MOST_BYTES = 4 << 20
#: Elements of a tensor that is kept whenever it was made.
_FEW = 64


class Numbers:
    """The floating-point tensors of a run by fingerprint, as far as they fit.

    Of those that are there before the first call, which are the same in every run of a program, only small ones are.
    """

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()
        self._left = _MOST_BYTES

    def keep(self, tensors: Mapping[str, torch.Tensor], *, first: bool) -> None:
        """Keep the numbers of tensors that were not seen before; `first` says that there was no call yet."""
        for name, tensor in tensors.items():
            if name in self._seen or self._left <= 0:
                continue
            self._seen.add(name)
            leaf = encode_leaf(tensor) if not first or tensor.numel() <= _FEW else {}
            if "data" in leaf:
                self._left -= len(leaf["data"])
                self.kept[name] = leaf
