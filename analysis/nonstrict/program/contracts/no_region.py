"""What rules ask of compiled regions, answered for a marked function, which is none: it is traced with its callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions.capturing import NO_CUDA_GRAPHS
from nonstrict.program.contracts.regions.graphs import NO_GRAPHS

if TYPE_CHECKING:
    from nonstrict.program.contracts.regions.capturing import CudaGraphs
    from nonstrict.program.contracts.regions.dropped_guards import DroppedGuard
    from nonstrict.program.contracts.regions.graphs import Graphs
    from nonstrict.program.contracts.regions.late_hooks import LateHook
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.contracts.regions.stale import StaleValue
    from nonstrict.program.domain.effects import Observed


class NoRegion:
    """A body in which no graph breaks by itself."""

    def refusal(self, observed: Observed) -> str:
        """No option makes a break an error."""
        return ""

    def given_up(self, observed: Observed) -> str:
        """Nothing is given up."""
        return ""

    def hidden_behind(self, observed: Observed) -> int:
        """Nothing stands behind a break."""
        return 0

    @property
    def graphs(self) -> Graphs:
        """Nothing is compiled."""
        return NO_GRAPHS

    @property
    def recompilations(self) -> tuple[Recompilation, ...]:
        """Nothing is compiled again."""
        return ()

    @property
    def stale_values(self) -> tuple[StaleValue, ...]:
        """Nothing is kept."""
        return ()

    @property
    def dropped_guards(self) -> tuple[DroppedGuard, ...]:
        """Nothing is guarded."""
        return ()

    @property
    def cuda_graphs(self) -> CudaGraphs:
        """Nothing is recorded."""
        return NO_CUDA_GRAPHS

    @property
    def late_hooks(self) -> tuple[LateHook, ...]:
        """What it calls is traced each time its callers are."""
        return ()

    @property
    def falls_back(self) -> bool:
        """Nothing goes on without it."""
        return False
