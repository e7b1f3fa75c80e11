"""What was found of who changes what: each question is searched for once, by one machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from nonstrict.findings import Related
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.mutations_protocol import Put


@dataclass(eq=False)
class FoundWrites:
    """Answers so far, each by what was asked; what is asked again while it is searched for counts as none."""

    #: the writes of a top-level name in its module
    of_names: dict[tuple[Module, str], list[Write]] = field(default_factory=dict)
    #: the assignments of an attribute of a class, by its file, name and the attribute
    of_attributes: dict[tuple[str, str, str], list[Write]] = field(default_factory=dict)
    #: assignments of attributes by name, in the modules loaded so far
    by_attribute: dict[str, list[Write]] = field(default_factory=dict)
    #: by method, the steps that lead from its receiver to what it changes
    changes: dict[Function, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    #: functions that are replaced, by file and name
    replaced: dict[tuple[str, str], list[Write]] = field(default_factory=dict)
    #: by file, what switches modules between training and evaluation
    mode_switches: dict[str, tuple[Related, ...]] = field(default_factory=dict)
    #: what the program puts under an attribute of a class, or a name of a module
    put_at: dict[AccessPath, tuple[Put, ...]] = field(default_factory=dict)
    #: by file and name, whether a context manager that takes its changes back is entered around eager code only
    around_eager: dict[tuple[str, str], bool] = field(default_factory=dict)
    #: by calls of `setattr`, the steps to the attributes that they set; None where those may be any
    named_by: dict[ast.AST, frozenset[str] | None] = field(default_factory=dict)
