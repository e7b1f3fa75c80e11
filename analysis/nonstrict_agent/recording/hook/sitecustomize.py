"""Found by every Python that `nonstrict record` starts, on PYTHONPATH: installs the recorder, then leaves no trace.

The `sitecustomize` that this file hides is run afterwards, as if this one did not exist. Python without site (`-S`,
`-I`) or without its environment (`-E`) does not come by here. Every version of Python must be able to read this file:
a command may start old ones, which are left alone.
"""

# No package: this directory is put on the path by itself.
# ruff: noqa: I002, INP001

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _start():
    # The detour is not to be seen in `sys.path`: programs print and copy it.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    directory = os.environ.get("NONSTRICT_RECORD_SPOOL", "")
    if not directory or sys.version_info < (3, 10):
        return
    try:
        _package()
        from nonstrict_agent.recording.start import start

        start(directory)
    except Exception as error:  # noqa: BLE001 - the command goes on, whatever is wrong with its recording
        import contextlib
        import json

        text = type(error).__name__ + ": " + str(error)
        with contextlib.suppress(OSError), open(os.path.join(directory, "failed.jsonl"), "a") as file:
            file.write(json.dumps({"event": "failed", "text": text}) + "\n")


def _package():
    """Import `nonstrict_agent` by its place: what else is installed beside it stays out of sight."""
    import importlib.util

    if "nonstrict_agent" in sys.modules:
        return
    location = os.path.dirname(os.path.dirname(_HERE))
    spec = importlib.util.spec_from_file_location(
        "nonstrict_agent", os.path.join(location, "__init__.py"), submodule_search_locations=[location]
    )
    if spec is None or spec.loader is None:
        raise ImportError(location)
    module = importlib.util.module_from_spec(spec)
    sys.modules["nonstrict_agent"] = module
    spec.loader.exec_module(module)


def _next():
    """Run the `sitecustomize` that comes next on the path, under its name."""
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  # pyright: ignore[reportMissingImports, reportUnusedImport]
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize" and "sitecustomize" not in str(error):
            raise
    finally:
        # The import of this file goes on, and must find a module of its name.
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


_start()
_next()
