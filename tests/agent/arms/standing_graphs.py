"""Programs whose region behaves as one with CUDA graphs does, on the CPU.

An operator of `graphs.py` is run by methods of torch's own manager of CUDA graphs, which the agent listens to: it is
warmed up, recorded, and then gives one tensor again and again, in whose memory it computes. In eager code it is plain.
"""

from __future__ import annotations

from textwrap import dedent

GRAPHS = """\
import collections
from unittest import mock

import torch
from torch._dynamo import eval_frame
from torch._inductor import cudagraph_trees as trees
from torch._inductor import cudagraph_utils

FUNCTIONS = trees.CUDAGraphTreeManager
MANAGER = mock.MagicMock(
    warmed_up_functions=set(),
    current_node=None,
    id_to_mode=collections.defaultdict(lambda: trees.CompilationMode.INFERENCE),
    running_forwards_with_pending_backwards=False,
    user_invoked_mark_step=FUNCTIONS.user_invoked_mark_step,
    is_recording=True,
)
MEMORY = {}


class Node:
    def __init__(self, *given):
        pass

    def run(self, inputs):
        (x,) = inputs
        # Only a replay has memory that was there before.
        return MEMORY[tuple(x.shape)].copy_(x * 2) if tuple(x.shape) in MEMORY else x * 2

    def run_first_inputs(self, inputs):
        (x,) = inputs
        MEMORY[tuple(x.shape)] = x * 2
        return MEMORY[tuple(x.shape)]


def run(x):
    size = tuple(x.shape)
    nodes = {"CUDAWarmupNode": Node, "CUDAGraphNode": Node}
    with mock.patch.multiple(trees, **nodes), mock.patch.object(torch.cuda, "synchronize"):
        if size not in MANAGER.warmed_up_functions or not MANAGER.is_recording:
            return FUNCTIONS.run_eager(MANAGER, [x], size)
        if size not in MEMORY:
            MANAGER.current_node = None
            return FUNCTIONS.record_function(MANAGER, [x], size)
        return FUNCTIONS.execute_node(MANAGER, Node(), [x])


@torch.library.custom_op("standing::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if eval_frame._stance.stance == "force_eager" else run(x)


@torch.library.custom_op("standing::skipped", mutates_args=())
def skipped(x: torch.Tensor, why: str) -> torch.Tensor:
    if eval_frame._stance.stance != "force_eager":
        cudagraph_utils.log_cudagraph_skip_and_bump_counter(why)
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@skipped.register_fake
def _(x, why):
    return torch.empty_like(x)
"""
HEAD = """\
import os

import torch

import graphs

DEVICE = os.environ.get("NO_SUCH_DEVICE", "cpu")


@torch.compile(mode="reduce-overhead")
def step(x):
    return torch.ops.standing.twice(x)


"""


def program(text: str) -> str:
    """The program with some text behind its region `step`."""
    return HEAD + dedent(text)
