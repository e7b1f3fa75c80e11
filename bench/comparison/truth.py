"""What running a program shows, as one line: eager against compiled, and how often torch compiled.

    eager runs; aot_eager wrong; inductor error; graphs 1, breaks 0, recompilations 0

`same`: results and output are those of eager. `wrong`: other results. `effects lost`: other output. `error`: compiled
code raises where eager does not. Numbers are those of aot_eager; programs that never call `torch.compile` have none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.comparison.probing import Outcome

BACKENDS = ("aot_eager", "inductor")


def close(left: object, right: object) -> bool:
    """Whether numbers agree within what fused kernels may differ by, and anything else is equal."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-3, abs_tol=1e-5)
    return left == right


def against(eager: Outcome, compiled: Outcome) -> str:
    """How compiled code differs from eager."""
    if compiled.error and not eager.error:
        return "error"
    left, right = eager.results or [], compiled.results or []
    if len(left) != len(right) or not all(map(close, left, right)):
        return "wrong"
    return "same" if eager.printed == compiled.printed else "effects lost"


def alone(eager: Outcome) -> str:
    """What eager does."""
    warned = sorted({found.message.partition(":")[0] for found in eager.findings if found.code == "warning"})
    if eager.error:
        return f"raises {eager.error}"
    return f"warns {', '.join(warned)}" if warned else "runs"


def described(outcomes: Mapping[str, Outcome]) -> str:
    """The line of a program, from its outcomes by mode; backends that were not run are left out."""
    eager = outcomes["eager"]
    parts = [f"eager {alone(eager)}"]
    parts += [f"{name} {against(eager, outcomes[name])}" for name in BACKENDS if name in outcomes]
    counted = outcomes["aot_eager"]
    if counted.regions:
        numbers = f"graphs {counted.graphs}, breaks {counted.breaks}, recompilations {counted.recompilations}"
        parts.append(numbers)
    return "; ".join(parts)
