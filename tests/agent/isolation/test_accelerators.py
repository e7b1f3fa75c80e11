"""The device files by which a machine shows a GPU, and the variable that hides it."""

from __future__ import annotations

import os

import pytest

from nonstrict_agent.isolation import accelerators


@pytest.mark.parametrize(
    ("path", "of_cuda"),
    [
        ("/dev/nvidia0", True),
        ("/dev/nvidiactl", True),
        ("/dev/nvidia-uvm", True),
        ("/dev/dxg", True),
        ("/dev/null", False),
        ("/dev/dri/card0", False),
        ("/srv/nvidia", False),
    ],
)
def test_which_files_cuda_opens(path: str, of_cuda: bool) -> None:
    assert accelerators.is_of_cuda(path) is of_cuda


@pytest.mark.parametrize("shown", ["/dev/nvidiactl", "/dev/dxg"])
def test_a_gpu_that_is_hidden_is_none(monkeypatch: pytest.MonkeyPatch, shown: str) -> None:
    monkeypatch.setattr(accelerators.sys, "platform", "linux")
    monkeypatch.setattr(os.path, "exists", lambda path: path == shown)
    assert accelerators.may_have_cuda({})
    assert accelerators.may_have_cuda({"CUDA_VISIBLE_DEVICES": "1"})
    assert not accelerators.may_have_cuda({"CUDA_VISIBLE_DEVICES": ""})
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    assert not accelerators.may_have_cuda({})
