"""Puts the server into the VS Code extension: our wheel and what it needs, in client-vscode/bundled/libs.

All of it is pure Python, so that one package serves every machine. The wheels of other projects are kept in the
directory that is named; with all of them there, nothing is downloaded.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBS = ROOT / "client-vscode" / "bundled" / "libs"
#: What these packages need on Python 3.10 alone. pip judges that by the Python it runs in.
FOR_OLDER_PYTHONS = ("exceptiongroup", "tomli")
#: Stubs of other people's libraries, thousands of files: definitions are looked up in sources.
UNUSED = ("bin", "jedi/third_party/django-stubs", "jedi/third_party/typeshed/stubs")
PURE = ("--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any", "--python-version=3.10")
QUIET = ("-qq", "--disable-pip-version-check", "--no-input")


def main(wheels: Path) -> None:
    """Make the directory of the server's libraries anew."""
    fetch_wheels(wheels)
    shutil.rmtree(LIBS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as built:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (ours,) = Path(built).glob("*.whl")
        pip(
            "install",
            *QUIET,
            *PURE,
            "--no-index",
            f"--find-links={wheels}",
            "--no-compile",
            f"--target={LIBS}",
            str(ours),
            *FOR_OLDER_PYTHONS,
        )
    # Console scripts (`bin`) would start the interpreter of the machine that packed them.
    for name in UNUSED:
        shutil.rmtree(LIBS / name, ignore_errors=True)


def fetch_wheels(wheels: Path) -> None:
    """Have the wheels of all that our package needs in a directory."""
    kept = sorted(requirements())
    wheels.mkdir(parents=True, exist_ok=True)
    stamp = wheels / "requirements.txt"
    if not stamp.exists() or stamp.read_text().splitlines() != kept:
        pip("download", *QUIET, *PURE, f"--dest={wheels}", *kept)
        stamp.write_text("\n".join(kept) + "\n")


def requirements() -> set[str]:
    """What our package needs, whatever Python runs it."""
    told = (requirement.partition(";") for requirement in requires("nonstrict") or ())
    return {name.strip() for name, _, condition in told if "extra" not in condition} | set(FOR_OLDER_PYTHONS)


def pip(*arguments: str) -> None:
    """Run pip.

    Raises:
        CalledProcessError: it failed; it has said why.
    """
    subprocess.run([sys.executable, "-m", "pip", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
