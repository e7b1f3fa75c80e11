"""Vector fields of the pendulum, for the notebook."""

import numpy as np
import torch

GRAVITY = 9.81
LENGTHS = np.array([1.0, 1.5, 2.0], dtype=np.float32)
damping = torch.tensor([0.0, 0.05, 0.1])
calls = 0


def set_gravity(value):
    global GRAVITY
    GRAVITY = value


@torch._dynamo.nonstrict_trace
def acceleration(angle, velocity):
    """Of three pendulums at once."""
    global calls
    calls += 1  # expect: NST203
    lengths = torch.from_numpy(LENGTHS)
    pull = -(GRAVITY / lengths) * torch.sin(angle)  # expect: NST104
    return pull - damping * velocity  # expect: NST101
