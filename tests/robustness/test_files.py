"""Files that are not there, not readable, not text, too large, or not what their name says."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.robustness.conftest import Check

HAZARD = "import torch\nW = torch.ones(3)\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return x + W\n"
LARGE = 50_000_000


def test_a_path_that_is_missing_is_named(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    run = check("a.py", "mising.py")
    assert run.status == 2
    assert run.err == "nonstrict: mising.py: does not exist\n"
    assert run.codes == ["NST101"]


@pytest.mark.parametrize("path", ["", "a\nb", "no/such/../thing", "x" * 5000, "😀", b"\xff\xfe.py"])
def test_odd_paths(path: str | bytes, check: Check) -> None:
    run = check(path)
    assert run.status == 2
    assert run.err.startswith("nonstrict: ")


def test_a_file_that_may_not_be_read(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    secret = tmp_path / "secret.py"
    secret.write_text(HAZARD)
    secret.chmod(0)
    for paths in (["."], ["a.py", "secret.py"]):
        run = check(*paths, restricted=True)
        assert run.status == 2
        assert "secret.py: permission denied" in run.err.lower()
        assert run.codes == ["NST101"]


def test_a_file_that_cannot_be_read(check: Check, tmp_path: Path) -> None:
    """Reading fails after opening succeeded, for every user."""
    broken = Path("/proc/self/mem")
    if not broken.exists():
        pytest.skip("there is no such file on this system")
    (tmp_path / "a.py").symlink_to(broken)
    run = check("a.py")
    assert run.status == 2
    assert run.err.startswith("nonstrict: a.py: ")


def test_a_directory_that_may_not_be_listed(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    try:
        run = check(restricted=True)
        assert run.status == 2
        assert "closed" in run.err
        assert run.codes == ["NST101"]
    finally:
        closed.chmod(stat.S_IRWXU)


def test_links_that_loop(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    below = tmp_path / "below"
    below.mkdir()
    (below / "up").symlink_to(tmp_path, target_is_directory=True)
    (below / "self").symlink_to(below / "self")
    (below / "self.py").symlink_to(below / "self.py")
    (below / "nowhere.py").symlink_to(tmp_path / "nowhere.py")
    for paths in ([], ["below", "."]):
        run = check(*paths)
        assert run.codes == ["NST101"]
        assert run.status == 1
    assert check("below/up").codes == ["NST101"]
    run = check("below/self.py")
    assert run.status == 2
    assert "below/self.py" in run.err


def test_a_deep_directory(check: Check, tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder /= "d"
        folder.mkdir()
    (folder / "a.py").write_text(HAZARD)
    assert check().codes == ["NST101"]


def test_a_pipe_is_not_waited_for(check: Check, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes on this system")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "a.py").write_text(HAZARD)
    run = check()
    assert (run.status, run.codes) == (1, ["NST101"])
    run = check("pipe.py")
    assert run.status == 2
    assert "neither a file nor a directory" in run.err


@pytest.mark.parametrize("content", ["sparse", "marked"])
def test_a_file_of_50_megabytes(content: str, check: Check, tmp_path: Path) -> None:
    large = tmp_path / "large.py"
    try:
        with large.open("wb") as handle:
            if content == "sparse":
                handle.truncate(LARGE)
            else:
                line = b"x = torch._dynamo.nonstrict_trace\n" * 1000
                for _ in range(LARGE // len(line) + 1):
                    handle.write(line)
        run = check("large.py")
        assert run.status == 2
        assert run.err == "nonstrict: large.py: too large (50 MB, the limit is 20 MB); exclude it\n"
        run = check()
        assert run.findings == []
        assert run.status == (2 if content == "marked" else 0)
    finally:
        large.unlink()


def test_terabytes_are_not_read(check: Check, tmp_path: Path) -> None:
    large = tmp_path / "large.py"
    try:
        with large.open("wb") as handle:
            handle.truncate(1 << 40)
    except OSError:
        pytest.skip("there are no such files on this system")
    for paths in (["large.py"], []):
        run = check(*paths)
        assert run.findings == []
        assert run.status == 2
        assert run.err.startswith("nonstrict: large.py: too large")


BINARIES = {
    "random": bytes(range(256)) * 40,
    "elf": b"\x7fELF\x02\x01\x01" + b"\0" * 500,
    "zip": b"PK\x03\x04" + b"\x14\0\0\0\x08\0" * 100,
    "pyc": b"\xa7\r\r\n" + b"\0" * 12 + b"\xe3\0\0\0" * 50,
    "marked": b"\0\1\2\3" * 100 + b"nonstrict_trace" + b"\0\1\2\3" * 100,
}


@pytest.mark.parametrize("name", BINARIES)
def test_a_binary_with_the_name_of_a_program(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(BINARIES[name])
    run = check("a.py")
    assert run.status in (1, 2)
    assert run.err.startswith("nonstrict: a.py: ") if run.status == 2 else set(run.codes) == {"NST901"}


def test_null_bytes_in_a_program(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(HAZARD.encode().replace(b"return", b"return ") + b"y = 'a\0b'\n")
    run = check()
    assert run.status == 1
    assert sorted(run.codes) == ["NST101", "NST901"]


ENCODED = {
    "utf-8 with a mark of byte order": b"\xef\xbb\xbf" + HAZARD.encode(),
    "latin-1 with a cookie": b"# coding: latin-1\n# \xe9\n" + HAZARD.encode(),
    "shift_jis with a cookie": "# coding: shift_jis\n# 日本\n".encode("shift_jis") + HAZARD.encode(),
    "utf-8 that is not": b"# \xff\xfe\xe9\n" + HAZARD.encode(),
    "an unknown cookie": b"# coding: klingon\n" + HAZARD.encode(),
    "a codec of bytes": b"# coding: rot13\n" + HAZARD.encode(),
    "utf-16": HAZARD.encode("utf-16"),
    "utf-32": HAZARD.encode("utf-32"),
    "lone carriage returns": HAZARD.replace("\n", "\r").encode(),
    "form feeds": HAZARD.replace("@", "\x0c@").encode(),
    "tabs": HAZARD.replace("    ", "\t").encode(),
    "surrogates": b"# \xed\xa0\x80\n" + HAZARD.encode(),
}
UNREADABLE = {"utf-32"}


@pytest.mark.parametrize("name", ENCODED)
def test_odd_encodings(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(ENCODED[name])
    run = check("a.py")
    if run.status == 2:
        assert run.err.startswith("nonstrict: a.py: ")
        return
    assert run.status == 1
    assert set(run.codes) <= {"NST101", "NST901"}
    assert run.codes


NOTEBOOKS: dict[str, object] = {
    "a list": [],
    "null": None,
    "a number": 1e999,
    "no cells": {"nbformat": 4},
    "cells of another kind": {"cells": 3},
    "a cell of another kind": {"cells": [3, None, [], "x"]},
    "no source": {"cells": [{"cell_type": "code"}]},
    "a source of another kind": {"cells": [{"cell_type": "code", "source": {"a": 1}}]},
    "lines of another kind": {"cells": [{"cell_type": "code", "source": [1, None, ["x"], {"a": 1}]}]},
    "a kind of another kind": {"cells": [{"cell_type": ["code"], "source": "x = 1"}]},
    "surrogates": {"cells": [{"cell_type": "code", "source": "x = '\ud800'\n"}]},
    "null bytes": {"cells": [{"cell_type": "code", "source": "nonstrict_trace = '\0'\n"}]},
    "older worksheets": {"worksheets": [{"cells": [{"cell_type": "code", "input": 3}]}]},
    "odd metadata": {"metadata": {"kernelspec": [1]}, "cells": [{"cell_type": "code", "source": "x", "metadata": 3}]},
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_of_wrong_shapes(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(json.dumps(NOTEBOOKS[name]))
    run = check("a.ipynb")
    if run.status == 2:
        assert run.err.startswith("nonstrict: a.ipynb: ")
    else:
        assert set(run.codes) <= {"NST901"}


@pytest.mark.parametrize("text", ["{", "nonstrict_trace", "[" * 100_000, '{"cells": [' * 50_000, "NaN", "9" * 10_000])
def test_notebooks_that_are_no_json(text: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    (tmp_path / "b.py").write_text(HAZARD)
    run = check("a.ipynb", "b.py")
    assert "NST101" in run.codes
    assert run.status == 2 or "NST901" in run.codes
    assert run.status != 2 or run.err.startswith("nonstrict: a.ipynb: ")


TOML = {
    "no TOML": "select = [",
    "an unknown key": "selct = ['NST1']\n",
    "a wrong type": "select = 3\n",
    "an unknown rule": "select = ['NST999']\n",
    "a wrong severity": "[severity]\nNST101 = 'fatal'\n",
    "deep": "a = " + "[" * 5000 + "]" * 5000,
    "a cycle": "extend = 'nonstrict.toml'\n",
    "no such file": "extend = 'missing.toml'\n",
    "null bytes": "select = ['\0']\n",
}


@pytest.mark.parametrize("name", TOML)
def test_wrong_configuration(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "nonstrict.toml").write_text(TOML[name])
    (tmp_path / "a.py").write_text(HAZARD)
    run = check()
    assert run.status == 2
    assert "NST903" in run.codes
    assert {Path(finding["filename"]).name for finding in run.findings} == {"nonstrict.toml"}


def test_configuration_that_is_no_text(check: Check, tmp_path: Path) -> None:
    (tmp_path / "nonstrict.toml").write_bytes(b"\xff\xfe\0\1")
    run = check()
    assert run.status == 2
    assert "nonstrict.toml" in run.err + run.out


def test_standard_input_of_any_kind(check: Check) -> None:
    for data in (b"", b"\xff\xfe\0", b"def f(:", BINARIES["elf"]):
        run = check("-", stdin=data)
        assert run.status != 2 or run.err.startswith("nonstrict: ")
