"""`python -m nonstrict`."""

from __future__ import annotations

from nonstrict.cli.main import command

if __name__ == "__main__":
    command()
