"""What names say: those of parameters of what they hold, those of functions of torch of what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Ranks (dimensions) that the functions of torch.nn.functional want of their arguments, by position.
RANKS: Mapping[str, tuple[int, ...]] = {
    **{f"{name}{n}d": (n + 2,) for n in (1, 2, 3) for name in ("max_pool", "avg_pool", "adaptive_avg_pool")},
    **{f"{name}{n}d": (n + 2, n + 2, 1) for n in (1, 2, 3) for name in ("conv", "conv_transpose")},
    "bmm": (3, 3),
    "baddbmm": (3, 3, 3),
    "mm": (2, 2),
    "addmm": (2, 2, 2),
    "mv": (2, 1),
    "dot": (1, 1),
    "outer": (1, 1),
    "interpolate": (4,),
    "grid_sample": (4, 4),
    "pixel_shuffle": (4,),
    "unfold": (4,),
    "scaled_dot_product_attention": (4, 4, 4),
    "cross_entropy": (2, 1),
    "nll_loss": (2, 1),
    "batch_norm": (4, 1, 1),
    "group_norm": (4,),
}
# Arguments of functions and methods of torch that are indices; of methods, the receiver is not counted.
INDICES: Mapping[str, int] = {
    "embedding": 0, "one_hot": 0, "cross_entropy": 1, "nll_loss": 1, "gather": 2, "scatter": 2, "scatter_add": 2,
    "index_select": 2, "index_add": 2, "take_along_dim": 1, "bincount": 0, "take": 1, "index_copy": 2,
}  # fmt: skip
MASKS: Mapping[str, int] = {"masked_fill": 1, "where": 0, "masked_select": 1, "masked_scatter": 1}

# What a name says. Words are whole parts of a name between underscores.
INDEX = frozenset(
    {
        "idx",
        "index",
        "indices",
        "indexes",
        "ids",
        "target",
        "targets",
        "label",
        "labels",
        "token",
        "tokens",
        "positions",
        "perm",
        "permutation",
        "assignment",
    }
)
MASK = frozenset({"mask", "masks"})
GROUP = frozenset({"group", "pg"})
FLOAT = {
    "eps": 1e-5, "epsilon": 1e-5, "dropout": 0.0, "p": 0.0, "prob": 0.25, "rate": 0.25, "lr": 0.01, "alpha": 0.5,
    "beta": 0.5, "gamma": 0.5, "scale": 0.5, "scaling": 0.5, "temperature": 0.5, "temp": 0.5, "momentum": 0.1,
    "margin": 0.5, "threshold": 0.5, "slope": 0.1, "decay": 0.1, "smoothing": 0.1, "weight": 0.5, "tau": 0.5,
    "base": 100.0, "theta": 100.0, "lambda": 0.5, "std": 1.0, "sigma": 1.0, "coef": 0.5, "clip": 1.0, "delta": 0.5,
    "factor": 2.0, "ratio": 0.5, "value": 0.5, "min": -0.5, "max": 0.5, "lower": 0.1, "upper": 0.5,
}  # fmt: skip
BOOL = frozenset(
    {
        "training",
        "inplace",
        "causal",
        "keepdim",
        "train",
        "normalize",
        "flag",
        "use",
        "is",
        "has",
        "return",
        "enable",
        "enabled",
        "deterministic",
        "affine",
        "bidirectional",
        "sorted",
        "largest",
        "unbiased",
        "reverse",
        "log",
        "verbose",
        "do",
        "with",
        "allow",
        "should",
    }
)
SIZE = frozenset(
    {
        "features",
        "channels",
        "hidden",
        "width",
        "height",
        "embed",
        "embedding",
        "size",
        "d",
        "model",
        "inner",
        "intermediate",
        "units",
        "planes",
        "dims",
        "in",
        "out",
        "len",
        "length",
        "seq",
        "tokens",
        "chans",
        "inp",
        "oup",
    }
)
COUNT = {
    "kernel": 3, "stride": 1, "padding": 0, "dilation": 1, "groups": 1, "heads": 2, "head": 2, "layers": 1, "depth": 1,
    "repeats": 2, "rep": 2, "n": 2, "k": 2, "num": 2, "steps": 2, "window": 2, "block": 2, "patch": 2, "upscale": 2,
    "downscale": 2, "bins": 4, "classes": 4, "vocab": 8, "embeddings": 8, "experts": 2,
    "max": 8, "chunk": 2, "reduction": 2,
    "order": 1, "diagonal": 0, "offset": 0, "start": 0, "end": 4, "shift": 1, "expansion": 2,
    "rank": 2, "batch": 2, "step": 1,
}  # fmt: skip
DIM = frozenset({"dim", "axis"})
STRING = {
    "reduction": ["mean", "sum", "none"], "mode": ["nearest", "bilinear", "constant", "fan_in", "mean"],
    "padding": ["same", "valid"], "equation": ["ij,jk->ik"], "device": ["cpu"], "activation": ["relu", "gelu"],
    "act": ["relu", "gelu"], "nonlinearity": ["relu", "tanh"], "indexing": ["ij"], "approximate": ["none", "tanh"],
}  # fmt: skip
OBJECT = frozenset({"config", "cfg", "conf", "opts", "opt", "hparams", "self", "args"})
FUNCTION = frozenset(
    {
        "fn",
        "func",
        "function",
        "callback",
        "activation",
        "act",
        "closure",
        "module",
        "model",
        "layer",
        "block",
        "norm",
        "net",
        "f",
    }
)
