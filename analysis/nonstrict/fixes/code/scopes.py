"""What names of a file mean by its imports: the module, or the dotted name, that an expression stands for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.fixes.code.bindings import Bindings
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine


class Scopes:
    """The names of one file: what the text tells of them, and what its imports mean."""

    def __init__(self, document: Document, machine: Machine) -> None:
        self.document = document
        self.machine = machine
        module = machine.project.module(document.path)
        if module is None:
            raise ValueError(f"{document.path} is a document, but no module of the project")
        self.module: Module = module
        self.text: Bindings = remembered(document.tree, "_nonstrict_bindings_of", lambda _: Bindings(document))

    def dotted(self, node: ast.AST) -> str:
        """The absolute dotted name that an expression stands for by the imports around; "" if they do not tell."""
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        if not isinstance(node, ast.Name):
            return ""
        bindings = self.text.bindings(self.text.binder(node, node.id), node.id)
        names = {self.imported(bound, node.id) for bound in bindings}
        return names.pop() if len(names) == 1 else ""

    def imported(self, node: ast.AST, name: str) -> str:
        """The dotted name that an import binds a name to; "" if the node is no import."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname == name:
                    return alias.name
                if not alias.asname and alias.name.partition(".")[0] == name:
                    return name
        if isinstance(node, ast.ImportFrom):
            package = self.machine.project.absolute(node.module or "", node.level, self.module)
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return f"{package}.{alias.name}" if package else alias.name
        return ""

    def module_at(self, node: ast.AST) -> str:
        """The file of the project's module that an expression means; "" if it means none."""
        return self.file_of(self.dotted(node))

    def file_of(self, dotted: str) -> str:
        """The file of a module by its dotted name, also where a package holds it under another one."""
        if not dotted:
            return ""
        found = self.machine.project.find(dotted, self.module)
        if found is not None:
            return found
        package, _, name = dotted.rpartition(".")
        if not package or self.machine.project.find(package, self.module) is None:
            return ""
        value = self.machine.module_attribute(self.module, package, name)
        if value.kind is not Kind.PYTHON_MODULE or value.ref == dotted:
            return ""
        return self.machine.project.find(value.dotted, self.module) or ""
