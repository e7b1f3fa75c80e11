"""A workspace that is not trusted: findings, and nothing that would run what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.workbench.interpreters import leaving_a_trace
from tests.workbench.projects import SCALED, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open, Serve


def test_untrusted_until_the_user_trusts_it(open_workbench: Open, serve: Serve, project: Path, tmp_path: Path):
    trace = tmp_path / "trace"
    theirs = leaving_a_trace(project / "bin", trace)
    write(project, scaled=SCALED)
    (project / "pyproject.toml").write_text(f'[tool.nonstrict]\npython = "{theirs}"\n', encoding="utf-8")
    workbench = open_workbench(project, {"nonstrict.interpreter": [str(theirs)]}, serve(trusted=False))
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    expect(workbench.lens("1 finding")).to_have_text("1 finding")
    assert workbench.commands("nonstrict: ").filter(has_text="nonstrict: Confirm").count() == 0
    workbench.save()
    assert not trace.exists(), trace.read_text(encoding="utf-8")

    workbench.trust()
    expect(workbench.lens("confirm")).to_be_visible()
    assert trace.exists()
