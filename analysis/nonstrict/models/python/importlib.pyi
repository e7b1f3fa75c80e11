"""What `importlib` does: the documentation of Python 3.14."""

from pathlib import Path
from types import ModuleType

from nonstrict.models.terms import submodule

def import_module(name, package) -> ModuleType: ...

reload = import_module

@submodule
class resources:
    def files(package) -> Path: ...

@submodule
class util:
    def module_from_spec(spec) -> ModuleType: ...
