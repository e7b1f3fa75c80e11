"""Functions that check what they are given, as users write checks."""

from __future__ import annotations

import torch


def asserts(x):
    assert x.ndim == 2, "not a matrix"
    return x


def raises(x):
    _rows, cols = x.shape
    if cols % 2 != 0:
        raise ValueError("odd")
    return x


def either(x, n):
    if x.dim() != 2 and n <= 4:
        raise ValueError("neither")
    return x


def chained(mode):
    if mode == "fast":
        return 1
    elif mode == "exact":  # noqa: RET505 - what the test is about
        return 2
    else:
        raise KeyError(mode)


def guarded(n):
    if n > 8:
        return n
    raise ValueError("small")


def between(n):
    if not 1 <= n < 8:
        raise ValueError("outside")
    return n


def check(condition, text):
    if not condition:
        raise ValueError(text)


def helped(x):
    check(x.shape[0] >= 4, "short")
    return x


def by_torch(x):
    torch._check(x.shape[0] > 3)
    return x


def is_column_major(tensor):
    """Whether columns are contiguous."""
    return tensor.stride(-2) == 1


def by_predicate(x):
    assert is_column_major(x)
    return x


def negated(x):
    if not x.requires_grad:
        raise RuntimeError("a constant")
    return x


def unrelated():
    raise NotImplementedError


def aligned(a, b, block_size=32):
    rows, width = a.shape
    assert width % block_size == 0
    flat = a.reshape(rows * width // block_size, block_size)
    check(b.ndim == 3 and b.size(1) == width, "experts")
    return flat.sum() + b.sum()


def typed(x, scale):
    if x.dtype not in (torch.bfloat16, torch.float16):
        raise TypeError("half precision only")
    assert scale.dtype == torch.int32
    return x * scale


def grouped(x, groups):
    assert x.shape[-1] >= 48
    if x.shape[1] % groups:
        raise ValueError("channels")
    if groups < 6:
        raise ValueError("groups")
    return x.reshape(x.shape[0], groups, -1)


def column_major(a, b):
    assert is_column_major(b), "columns"
    if not a.is_contiguous():
        raise ValueError("rows")
    return a @ b


def alike(query, key):
    if query.dim() != 4:
        raise ValueError("four dimensions")
    assert query.shape == key.shape
    assert query.requires_grad
    return query * key


def kinds(x, backend="auto", mode=None):
    if backend not in ("triton", "eager"):
        raise ValueError("backend")
    if mode is None:
        raise ValueError("mode")
    if mode == "up":
        return x * 2
    if mode == "down":
        return x / 2
    raise KeyError(mode)


def evaluated(x, training=True):
    if training:
        raise RuntimeError("for inference")
    return x + 1


def scaled(x, scale=None):
    if scale is None:
        raise ValueError("needs a scale")
    if scale.numel() != 1 and scale.shape[0] != x.shape[0]:
        raise ValueError("per row")
    return x * scale.reshape(-1, 1)


def offsets(x, ends):
    if ends.dtype != torch.int32:
        raise TypeError("ends")
    begin = [0, *ends.tolist()[:-1]]
    parts = [x[first:last] for first, last in zip(begin, ends.tolist(), strict=True)]
    if any(len(part) == 0 for part in parts):
        raise ValueError("empty group")
    assert sum(map(len, parts)) == x.shape[0]
    return torch.stack([part.sum() for part in parts])


def by_tensor(x):
    assert x.is_cuda, "on a GPU only"
    return x + 1


def by_device(x, n):
    if n != 3:
        raise ValueError("three")
    if x.device.type != "cuda":
        raise ValueError("on a GPU only")
    return x * n


def by_machine(x):
    if not torch.cuda.is_available():
        raise RuntimeError("needs a GPU")
    return x + 1


def never(x):
    assert x.shape[0] == -4
    return x


def described(
    frames: torch.Tensor,
    mask,  # [batch, time]: which frames count
    scale=1.0,
):
    """Sum frames.

    Args:
        frames (torch.Tensor): A video, of shape
            (batch, time, channels, height * width).
        mask: See above.
        scale: A factor (1.0 by default, or another).

    Returns:
        A tensor: (batch, channels).
    """
    return (frames * mask[:, :, None, None]).sum((1, 3)) * scale


def in_fields(query, key, index):
    """Attend.

    :param query: of shape (B, N, 64)
    :param torch.Tensor key: [B, M, 64]
    :param index: (N,)
    """
    return (query @ key.transpose(1, 2))[:, index]
