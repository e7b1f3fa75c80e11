"""The model and what runs it."""

from __future__ import annotations

import logging
import threading
import time
import uuid

import torch
from torch import nn

from .cache import kv_cache
from .rope import Mask, rope_table
from .settings import settings

logger = logging.getLogger("serving")
WIDTH = 16
banned = torch.zeros(32)
latencies: list[float] = []


@torch._dynamo.nonstrict_trace
def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, request: str) -> torch.Tensor:
    """Attention over everything the request has said so far."""
    key, value = kv_cache.extend(request, key, value)
    scores = query @ key.transpose(1, 2) / settings.temperature  # expect: NST104
    if settings.trace_requests:
        logger.info("request %s", request)  # expect: NST201
    return scores.softmax(-1) @ value


@torch._dynamo.nonstrict_trace
def positions(x: torch.Tensor) -> torch.Tensor:
    """Add the rotary table and the mask's row sums."""
    start = time.perf_counter()
    out = x + rope_table(x.shape[1], x.shape[2])
    visible = (Mask.of(x.shape[1]) == 0).float().mean(-1)
    latencies.append(time.perf_counter() - start)  # expect: NST203
    return out * visible[:, None]


@torch._dynamo.nonstrict_trace
def choose(logits: torch.Tensor, ids: list[int]) -> torch.Tensor:
    """The best token of each row, without banned ones."""
    best = (logits - banned * 1e9).argmax(-1)  # expect: NST101
    ids.append(int(best[0]))  # expect: NST202, NST402
    logger.debug("chose for %s", uuid.uuid4())  # expect: NST201
    return best


class Model(nn.Module):
    def __init__(self, vocabulary: int = 32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.drop = nn.Dropout(0.1)
        self.requests = 0
        self.timings: list[float] = []

    def forward(self, tokens: torch.Tensor, request: str) -> torch.Tensor:
        hidden = self.drop(positions(self.embed(tokens)))
        query, key, value = self.project(hidden).chunk(3, -1)
        return attend(query, key, value, request) @ self.embed.weight.T


@torch.compile
def embed_only(model: Model, tokens: torch.Tensor) -> torch.Tensor:
    """Mean embedding of a text, for search."""
    model.requests += 1  # expect: NST803
    hidden = model.embed(tokens) * (1.0 + 0.001 * model.requests)
    for row in hidden:
        if row.norm() > 100:  # expect: NST701
            return row
    return hidden.mean(1)


class Engine:
    """Answers requests; safe to call from several threads."""

    def __init__(self, model: Model | None = None):
        self.model = (model or Model()).eval()
        self.forward = torch.compile(self.model, fullgraph=True)
        self.choose = torch.compile(self._choose, fullgraph=True)
        self.lock = threading.Lock()
        Mask.of(settings.max_length)

    @staticmethod
    def _choose(logits: torch.Tensor, ids: list[int]) -> torch.Tensor:
        return choose(logits, ids) + 0

    def generate(self, prompt: list[int], request: str, steps: int = 2) -> list[int]:
        ids: list[int] = []
        tokens = torch.tensor([prompt])
        with self.lock, torch.no_grad():
            for _ in range(steps):
                logits = self.forward(tokens, request)
                tokens = self.choose(logits[:, -1], ids)[:, None]
            kv_cache.drop(request)
        return ids
