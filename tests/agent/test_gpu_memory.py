"""How much of a GPU one experiment may take, asked of a CUDA that is made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nonstrict_agent import gpu_memory
from nonstrict_agent.isolation.containment import GPU_MEMORY, Containment
from nonstrict_agent.zygote import is_on_gpu

if TYPE_CHECKING:
    from collections.abc import Callable

GIBI = 1 << 30


@pytest.mark.parametrize(("free", "total", "share"), [(80, 80, 0.9), (40, 80, 0.45), (0, 80, 0.0), (1, 0, 1.0)])
def test_others_who_use_the_gpu_go_on(free: int, total: int, share: float):
    assert gpu_memory.share_of(free * GIBI, total * GIBI) == pytest.approx(share)


@pytest.mark.torch
def test_the_bound_is_set_where_cuda_is_initialised(monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    later: list[Callable[[], None]] = []
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr(torch.cuda, "_lazy_call", later.append)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (60 * GIBI, 80 * GIBI))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *given: told.append(given))
    gpu_memory.bound_memory()
    assert told == []
    for one in later:
        one()
    assert told == [(pytest.approx(0.675), 0)]

    def refuses(device: int) -> None:
        raise RuntimeError(f"device {device} does not tell")

    monkeypatch.setattr(torch.cuda, "mem_get_info", refuses)
    for one in later:
        one()
    assert len(told) == 1


@pytest.mark.parametrize(
    ("job", "on_gpu"),
    [({"device": "cuda"}, True), ({"device": "cuda:1"}, True), ({"device": "cpu"}, False), ({}, False)],
)
def test_jobs_on_a_gpu(job: dict[str, Any], on_gpu: bool):
    assert is_on_gpu(job) is on_gpu
    assert Containment.memory < GPU_MEMORY
