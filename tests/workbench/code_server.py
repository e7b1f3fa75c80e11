"""VS Code's workbench as a process on the loopback: code-server out of .workbench/, with the packaged extension."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.server.oracle import environment
from tests.server.processes import Process, descendants

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
#: Made by scripts/workbench.sh.
INSTALLED = ROOT / ".workbench" / "node_modules"
EXTENSION = "nonstrict.nonstrict"
START_SECONDS = 60
END_SECONDS = 10

#: An editor that asks nothing, fetches nothing and moves nothing by itself.
QUIET = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "remote.autoForwardPorts": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.enableExperiments": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}


def missing() -> str:
    """Why there is no workbench on this machine, empty if there is one."""
    if shutil.which("chromium") is None:
        return "there is no Chromium: Debian's package chromium (make test, as root)"
    if not (INSTALLED / "code-server").is_dir():
        return "there is no code-server in .workbench/ (make test)"
    return ""


def packaged() -> Path:
    """The extension as users get it."""
    version = json.loads((ROOT / "client-vscode" / "package.json").read_text(encoding="utf-8"))["version"]
    path = ROOT / "dist" / f"nonstrict-{version}.vsix"
    assert path.exists(), f"{path} is not there: make package"
    return path


class Place(NamedTuple):
    """The folders of one code-server; extensions may be shared."""

    data: Path
    extensions: Path

    def command(self, *arguments: str) -> list[str]:
        """A command line of code-server that leaves nothing elsewhere."""
        self.data.mkdir(parents=True, exist_ok=True)
        config = self.data / "code-server.yaml"
        config.write_text("auth: none\ncert: false\n", encoding="utf-8")
        program = [str(INSTALLED / ".bin" / "node"), str(INSTALLED / "code-server" / "out" / "node" / "entry.js")]
        folders = ["--user-data-dir", str(self.data), "--extensions-dir", str(self.extensions)]
        return [*program, "--config", str(config), *folders, *arguments]

    def environment(self, **extra: str) -> dict[str, str]:
        """What programs of the editor see: no home directory but this one, no shop of extensions."""
        ours = {name: value for name, value in environment().items() if not name.startswith(("VSCODE_", "PYTEST_"))}
        home = {"HOME": str(self.data / "home"), "XDG_CACHE_HOME": str(self.data / "home" / ".cache")}
        return {**ours, **home, "EXTENSIONS_GALLERY": '{"serviceUrl": ""}', **extra}


def install(vsix: Path, place: Place) -> str:
    """Install a packaged extension; what code-server says."""
    command = place.command("--install-extension", str(vsix))
    run = subprocess.run(command, capture_output=True, text=True, env=place.environment(), check=False, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


class CodeServer:
    """A running code-server at a free port of the loopback."""

    def __init__(
        self,
        place: Place,
        settings: Mapping[str, Any],
        *,
        trusted: bool = True,
        read_only: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; all folders are trusted, or none is before the user says so. A folder may be read-only for it."""
        self.place = place
        self.log = place.data / "code-server.log"
        (place.data / "home").mkdir(parents=True, exist_ok=True)
        write_settings(place.data / "User", {**QUIET, **settings})
        options = ["--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
        options += ["--disable-getting-started-override", "--disable-proxy"]
        # Else programs would have the environment of a login shell.
        options += ["--vscode-option", "force-disable-user-env"]
        options += ["--disable-workspace-trust"] if trusted else []
        command = [*(_read_only(read_only) if read_only else ()), *place.command(*options)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=place.environment(**(environment or {})),
                start_new_session=True,
            )
        self.address = self._address()

    def processes(self, words: str) -> list[Process]:
        """The processes of this editor whose command line holds `words`."""
        return [one for one in descendants(self._process.pid) if words in one.command]

    def close(self) -> None:
        """End it and all that it started."""
        _signal(self._process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        _signal(self._process.pid, signal.SIGKILL)
        self._process.wait(END_SECONDS)

    def _address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", self.log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.05)
        raise AssertionError("code-server does not start: " + self.log.read_text(errors="replace"))


def _read_only(folder: Path) -> list[str]:
    """The beginning of a command line for which a folder is read-only, even as root."""
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(folder)]


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings.json of a folder as a whole, so that nobody reads half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / "settings.json.new"
    written.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    written.replace(folder / "settings.json")
