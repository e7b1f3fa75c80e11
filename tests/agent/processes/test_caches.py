"""What code wrote into the caches of torch, which are unpickled, is seen by its own project and tier alone."""

from __future__ import annotations

import os

import pytest

from tests.agent.processes.agents import job, started, tiers

ISOLATED = [tier for tier in ("copy-on-write", "deny") if tier in tiers()]
PLANTED = "fxgraph/aa/planted.pickle"


def _planted(directory, tier, root):
    with started(directory, isolation=tier) as agent:
        result = agent.submit({**job("plant", name=PLANTED), "root": str(root)}, 30).result(60)
        assert result.value is not None, result
        return result.value["planted"]


def _found(directory, tier, root):
    with started(directory, isolation=tier) as agent:
        result = agent.submit({**job("find", name=PLANTED), "root": str(root)}, 30).result(60)
        assert result.value is not None, result
        return result.value["found"]


@pytest.mark.parametrize("tier", ISOLATED)
def test_a_less_isolated_run_does_not_read_them(stand_in, tier):
    root = stand_in / "project"
    planted = _planted(stand_in, tier, root)
    assert all(os.path.exists(path) for path in planted)
    assert _found(stand_in, tier, root) == planted
    assert [_found(stand_in, other, root) for other in tiers() if other != tier] == [[]] * (len(tiers()) - 1)


@pytest.mark.parametrize("tier", tiers())
def test_another_project_does_not_read_them(stand_in, tier):
    other = stand_in / "other"
    other.mkdir()
    _planted(stand_in, tier, stand_in / "project")
    assert _found(stand_in, tier, other) == []


@pytest.mark.parametrize("tier", ISOLATED)
def test_the_warm_process_reads_what_no_job_can_write(stand_in, tier):
    with started(stand_in, isolation=tier) as agent:
        agent.wait_ready(60)
        warm = stand_in / "cache" / tier / "warm"
        assert warm.is_dir()
        agent.submit(job("write", path=str(warm / "planted")), 30).result(60)
    assert not (warm / "planted").exists()
