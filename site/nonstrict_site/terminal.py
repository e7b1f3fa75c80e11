"""What a command prints to a terminal, as HTML with its colors."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys

from nonstrict_site.sources import ROOT

_STYLE = re.compile(r"\x1b\[([\d;]*)m")


def terminal(arguments: str) -> str:
    """A frame with `nonstrict ARGUMENTS`, run at the top of the repository, and what it prints."""
    command = f'<span class="prompt">$ nonstrict {html.escape(arguments)}</span>'
    return f'<div class="terminal"><pre tabindex="0">{command}\n{_colored(_printed(arguments))}</pre></div>'


def _printed(arguments: str) -> str:
    """The output of a command that finds something; raises RuntimeError where it does not do its job."""
    run = subprocess.run(
        [sys.executable, "-m", "nonstrict", *shlex.split(arguments), "--isolated", "--no-cache", "--color=always"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in ("GITHUB_ACTIONS", "NO_COLOR")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode != 1:
        raise RuntimeError(f"`nonstrict {arguments}` found nothing to show: {run.stderr.strip()[-500:]}")
    return run.stdout.rstrip()


def _colored(text: str) -> str:
    """Escape sequences as spans, whose classes are their numbers: `a1 a31` is bold and red."""
    parts: list[str] = []
    opened = False
    for index, part in enumerate(_STYLE.split(text)):
        if index % 2 == 0:
            parts.append(html.escape(part))
            continue
        parts.append("</span>" if opened else "")
        opened = part not in ("", "0")
        if opened:
            parts.append(f'<span class="{" ".join(f"a{number}" for number in part.split(";"))}">')
    return "".join(parts)
