"""Where every process of the agent begins; the last argument of the command line says as what."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the role this process was started for, and leave."""
    role, *rest = sys.argv[1:]
    if role == "broker":
        from nonstrict_agent.guardian import guarded

        guarded()
    elif role == "zygote":
        from nonstrict_agent.zygote import serve

        serve(rest[0])
    elif role == "worker":
        from nonstrict_agent.worker import serve_once

        serve_once(rest[0])
    else:
        sys.exit(f"unknown role {role}")
