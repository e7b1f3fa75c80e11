"""The registration of pytrees is used under its private name.

area: api
named: TOR101 SLF001 warning
"""

import torch
from torch.utils import _pytree


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


def register():
    _pytree._register_pytree_node(Pair, lambda p: ([p.left, p.right], None), lambda v, _: Pair(*v))  # hazard


def main():
    if Pair not in _pytree.SUPPORTED_NODES:
        register()
    return [len(_pytree.tree_leaves(Pair(torch.ones(1), torch.ones(1))))]


# truth: eager warns FutureWarning; aot_eager same; inductor same
