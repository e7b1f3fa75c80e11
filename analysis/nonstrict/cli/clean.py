"""`nonstrict clean`: removes the caches of a project."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import add_configuration_arguments, main_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", nargs="?", default=".", help="a directory of the project (default: .)")
    parser.add_argument("--cache-dir", metavar="DIR", help="the cache directory")
    add_configuration_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Remove the cache directory, if it is one, and what experiments with the project compiled."""
    from nonstrict.check.cache.store import cache_directory

    if not os.path.exists(options.path):
        return report_failure(f"{options.path}: does not exist")
    if options.cache_dir == "":
        return report_failure("--cache-dir takes a directory, not nothing.")
    try:
        settings = main_settings([options.path], options)
    except ConfigurationError as error:
        return report_failure(str(error))
    _remove_compiled(settings.root)
    return _remove_results(options.cache_dir or os.environ.get("NONSTRICT_CACHE_DIR") or cache_directory(settings))


def _remove_compiled(root: str) -> None:
    from nonstrict.confirm.compile_caches import compile_caches_home, remove

    for path in remove(str(compile_caches_home()), root):
        sys.stdout.write(f"Removed {path}.\n")


def _remove_results(directory: str) -> int:
    import shutil

    from nonstrict.check.cache.store import is_cache

    if not os.path.isdir(directory):
        sys.stdout.write(f"There is no cache at {directory}.\n")
        return ExitStatus.CLEAN
    if not is_cache(directory):
        return report_failure(f"{directory} was not made by nonstrict. Remove it yourself if it is not needed.")
    try:
        shutil.rmtree(directory)
    except OSError as error:
        return report_failure(f"{directory} cannot be removed: {error.strerror or error}.")
    sys.stdout.write(f"Removed {directory}.\n")
    return ExitStatus.CLEAN
