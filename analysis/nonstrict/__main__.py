"""`python -m nonstrict`."""

from __future__ import annotations

import sys

from nonstrict.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
