"""All rules by code, in the order of the catalogue: each file of this folder that is named after a code holds one."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from typing import TYPE_CHECKING

from nonstrict import rules

if TYPE_CHECKING:
    from nonstrict.rules.base import Rule

_FILE = re.compile(r"nst\d{3}_\w+")


def _found() -> list[Rule]:
    names = sorted(one.name for one in pkgutil.iter_modules(rules.__path__) if _FILE.fullmatch(one.name))
    return [import_module(f"{rules.__name__}.{name}").RULE for name in names]


#: Every rule, by its code.
RULES: dict[str, Rule] = {rule.code: rule for rule in _found()}
