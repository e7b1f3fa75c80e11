"""The guard of a global is filtered out, and the global changes.

area: meaning
named: NST806
"""

import torch

scale = 1


@torch.compile(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})
def step(x):
    return x * scale  # hazard


def main():
    global scale
    results = []
    for value in (1, 2, 3):
        scale = value
        results.append(step(torch.ones(2)).sum().item())
    return results


# truth: eager runs; aot_eager wrong; inductor wrong; graphs 1, breaks 0, recompilations 0
