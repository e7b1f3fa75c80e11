"""Builds what a release consists of, in `dist`, and checks it: wheel, source archive, and the VS Code extension there.

`make release` has packaged the extension before. Nothing is published: see "A release" in CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.releasing import installed, sdist, versions, vsix, wheel  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Build and check; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rehearsal", action="store_true", help="take what is `Unreleased` for the release")
    parser.add_argument("--tag", default="", help="the tag that is released: it has to name the version")
    parser.add_argument("--versions", action="store_true", help="check what is stated, and stop")
    options = parser.parse_args(arguments)
    found = list(versions.mistakes(ROOT, rehearsal=options.rehearsal, tag=options.tag))
    if not found and not options.versions:
        found = _built(ROOT / "dist", versions.version_of(ROOT))
    for mistake in found:
        print(f"release: {mistake}", file=sys.stderr)
    if not found:
        print(f"nonstrict {versions.version_of(ROOT)} is fit to be released.")
    return bool(found)


def _built(dist: Path, version: str) -> list[str]:
    """Build the wheel and the source archive; what is wrong with them and with the extension beside them."""
    names = f"nonstrict-{version}-py3-none-any.whl", f"nonstrict-{version}.tar.gz", f"nonstrict-{version}.vsix"
    made, source, extension = (dist / name for name in names)
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(dist)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    missing = [f"dist/{path.name} was not made" for path in (made, source, extension) if not path.exists()]
    if missing:
        return missing
    strange = [f"dist/{path.name} is none of this release" for path in dist.iterdir() if path.name not in names]
    twine = [sys.executable, "-m", "twine", "check", "--strict", str(made), str(source)]
    page = subprocess.run(twine, capture_output=True, text=True, check=False)
    found = [*strange, *([f"twine check: {page.stdout.strip()}"] if page.returncode else [])]
    found += [*wheel.mistakes(made, ROOT, version), *sdist.mistakes(source, made, version)]
    found += vsix.mistakes(extension, made, version)
    if not found:
        with tempfile.TemporaryDirectory() as folder:
            found += installed.mistakes(made, extension, ROOT, version, Path(folder))
    return found


if __name__ == "__main__":
    sys.exit(main())
