"""Which files a run checks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from nonstrict.check.files import Discovery, discover
from nonstrict.settings.load import settings_in
from nonstrict.settings.model import PAGE_LIMIT, Pattern, default_settings


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def found(*paths: str, **fields: object) -> Discovery:
    return discover(paths or ["."], default_settings(os.getcwd())._replace(**fields))  # pyright: ignore[reportArgumentType]


def test_the_default_kinds_in_the_order_of_their_names(project: Path):
    touch("b.py", "a.pyi", "n.ipynb", "d.md", "t.txt", "r.rst", "x.c", "pkg/z.py", "pkg/a.py")
    assert found().files == ["a.pyi", "b.py", "d.md", "n.ipynb", "r.rst", "t.txt", "pkg/a.py", "pkg/z.py"]


def test_large_pages_are_left_out_unless_named(project: Path):
    Path("big.txt").write_bytes(b"x" * (PAGE_LIMIT + 1))
    assert found().files == []
    assert found("big.txt").files == ["big.txt"]


def test_caches_and_environments_are_left_out(project: Path):
    touch(".venv/a.py", "node_modules/a.py", "__pycache__/a.py", "build/a.py", "src/build/a.py", "src/builder/a.py")
    assert found().files == ["src/builder/a.py"]


def test_a_named_file_is_checked_even_if_excluded_or_of_another_kind(project: Path):
    touch("build/a.py", "script")
    assert found("build/a.py", "script").files == ["build/a.py", "script"]
    assert found("build/a.py").explicit == {"build/a.py"}
    assert found("build/a.py", force_exclude=True).files == []


def test_a_file_named_twice_is_checked_once(project: Path):
    touch("src/a.py")
    assert found("src/a.py", "src", "./src/../src/a.py").files == ["src/a.py"]


def test_a_file_named_by_a_link_too_is_checked_once_and_stays_named(project: Path):
    touch("src/a.py")
    Path("link.py").symlink_to("src/a.py")
    Path("folder").symlink_to("src")
    absolute = str(project / "src" / "a.py")
    for named in (("link.py", "src/a.py"), ("folder", "src/a.py"), ("src", "link.py"), (".", "folder/a.py")):
        once = found(*named)
        assert len(once.files) == 1, named
        assert once.explicit == set(once.files), named
    once = found(str(project / "src"), "src/a.py", f"../{project.name}/src/a.py")
    assert (once.files, once.explicit) == ([absolute], {absolute})


def test_a_file_of_the_working_directory_has_one_name(project: Path):
    touch("a.py")
    assert found(f"../{project.name}/a.py", f"../{project.name}").files == ["a.py"]


def test_paths_are_shown_as_they_were_given(project: Path):
    touch("src/a.py")
    assert found("src/").files == ["src/a.py"]
    assert found(str(project / "src")).files == [str(project / "src" / "a.py")]


def test_what_does_not_exist_is_a_failure(project: Path):
    assert found("gone.py").failures == (("gone.py", "does not exist"),)


def test_a_pipe_is_a_failure_and_does_not_hang(project: Path):
    os.mkfifo("pipe.py")
    assert found().files == []
    assert "neither a file nor a directory" in found("pipe.py").failures[0][1]


def test_links_to_directories_are_not_followed_but_links_to_other_files_are(project: Path):
    touch("src/a.py", "kept/b.txt")
    Path("src/loop").symlink_to(project / "src")
    Path("src/b.py").symlink_to(project / "kept" / "b.txt")
    Path("src/c.py").symlink_to(project / "src" / "a.py")
    Path("src/broken.py").symlink_to(project / "gone.py")
    assert found("src").files == ["src/a.py", "src/b.py"]
    assert found("src/loop").files == ["src/loop/a.py", "src/loop/b.py"]


def test_a_directory_with_the_name_of_a_module_is_walked(project: Path):
    touch("a.py/b.py")
    assert found().files == ["a.py/b.py"]


def test_very_deep_directories(project: Path):
    depth = 1100
    here = os.open(".", os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        touch("a.py")
        os.chdir(here)
        assert found().files == ["d/" * depth + "a.py"]
    finally:
        os.chdir(here)
        os.close(here)
        # Python's own removal is recursive.
        subprocess.run(["rm", "-rf", str(project / "d")], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable to root")
def test_an_unreadable_directory_is_a_failure(project: Path):
    touch("shut/a.py")
    Path("shut").chmod(0)
    try:
        assert found().failures == (("shut/", "Permission denied"),)
    finally:
        Path("shut").chmod(0o700)


def test_exclude_patterns(project: Path):
    touch("a/gen/x.py", "b/gen/y.py", "b/keep.py", "b/keep_test.py")
    here = str(project)
    assert found(extend_exclude=(Pattern("gen", here),)).files == ["b/keep.py", "b/keep_test.py"]
    assert found(extend_exclude=(Pattern("a/gen", here),)).files == ["b/keep.py", "b/keep_test.py", "b/gen/y.py"]
    assert found(extend_exclude=(Pattern("*_test.py", here),)).files == ["a/gen/x.py", "b/keep.py", "b/gen/y.py"]
    assert found(extend_exclude=(Pattern("b/*", here),)).files == ["a/gen/x.py"]


def test_gitignore(project: Path):
    touch("out/a.py", "src/a.py", "src/gen_a.py", "src/keep/gen_b.py", ".git/info/exclude")
    Path(".gitignore").write_text("/out/\ngen_*\n")
    Path("src/keep/.gitignore").write_text("!gen_b.py\n")
    assert found().files == ["src/a.py", "src/keep/gen_b.py"]
    assert found("src").files == ["src/a.py", "src/keep/gen_b.py"]
    assert len(found(respect_gitignore=False).files) == 4
    Path(".git/info/exclude").write_text("a.py\n")
    assert found().files == ["src/keep/gen_b.py"]


def test_settings_below_hold_for_their_directory(project: Path):
    touch("a.py", "sub/b.py", "sub/skip.py", "sub/deep/c.py")
    Path("sub/nonstrict.toml").write_text('select = ["NST2"]\nextend-exclude = ["skip.py"]\n')
    root = default_settings(str(project))
    discovery = discover(["."], root, settings_in)
    assert discovery.files == ["a.py", "sub/b.py", "sub/deep/c.py"]
    assert {path: settings.select for path, settings in discovery.nested.items()} == {
        "sub/b.py": ("NST2",),
        "sub/deep/c.py": ("NST2",),
    }
    named = discover(["sub/deep/c.py", "a.py"], root, settings_in)
    assert named.nested["sub/deep/c.py"].select == ("NST2",)
    assert "a.py" not in named.nested


def test_a_named_directory_is_checked_even_if_git_ignores_it(project: Path):
    touch("out/deep/a.py", "out/deep/skip/b.py", "c.py")
    Path(".git").mkdir()
    Path(".gitignore").write_text("/out/\nskip/\n")
    assert [os.path.basename(path) for path in found("out/deep").files] == ["a.py", "b.py"]
    assert [os.path.basename(path) for path in found(".").files] == ["c.py"]
