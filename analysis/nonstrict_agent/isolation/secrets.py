"""What work in a containment never sees: places where secrets are kept."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

from nonstrict_agent.isolation.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Relative to a home directory.
_IN_HOME = words("""
    .ssh .gnupg .aws .azure .kube .docker .netrc _netrc .git-credentials .pypirc .npmrc .boto .s3cfg .oci .kaggle
    .databrickscfg .vault-token .pgpass .my.cnf .password-store .Xauthority .ICEauthority .mozilla .thunderbird
    .config/gcloud .config/gh .config/hub .config/git/credentials .config/rclone .config/op .config/doctl
    .config/containers/auth.json .config/google-chrome .config/chromium .config/BraveSoftware .config/huggingface
    .cache/huggingface/token .cache/huggingface/stored_tokens .huggingface .local/share/keyrings .cargo/credentials
    .cargo/credentials.toml .terraform.d/credentials.tfrc.json .bash_history .zsh_history .python_history
""")

# Credentials of the machine, and services that do things for whoever asks.
_OF_MACHINE = words("""
    /etc/shadow /etc/gshadow /etc/ssh /etc/krb5.keytab
    /run/user /run/secrets /run/docker.sock /run/docker /run/containerd /run/podman /run/crio /run/dbus
    /run/systemd/private /run/snapd.socket /run/libvirt /run/keyrings
    /var/run/docker.sock /var/run/secrets /var/lib/docker /var/lib/containers /var/lib/kubelet /var/lib/sss/secrets
""")

# Names of files in projects.
_IN_PROJECT = frozenset(
    words("""
    .envrc .netrc .npmrc .pypirc .git-credentials secrets.toml credentials.json
""")
)
_FOR_EXAMPLE = (".example", ".sample", ".template", ".dist")
_WITHOUT_SECRETS = frozenset({".git", "node_modules", "site-packages", "__pycache__"})
_MOST_FOLDERS = 5000

_TEMPORARY = ("/tmp/krb5cc_*", "/tmp/ssh-*")  # noqa: S108 - looked for, not used

_SOCKET_VARIABLES = ("SSH_AUTH_SOCK", "XAUTHORITY", "KRB5CCNAME", "GPG_AGENT_INFO")


def secret_places(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Paths that exist here and usually hold secrets or lead to services, with links resolved.

    Some are named by `variables`, such as `KRB5CCNAME`; who starts the agent without one of them tells what it hides.
    """
    homes = homes_of(variables)
    named = [variables[name].removeprefix("FILE:") for name in _SOCKET_VARIABLES if variables.get(name)]
    named += [os.path.join(variables["HF_HOME"], "token")] if variables.get("HF_HOME") else []
    named += [path for pattern in _TEMPORARY for path in glob.glob(pattern)]
    paths = [os.path.join(home, place) for home in homes for place in _IN_HOME]
    found = (os.path.realpath(path) for path in [*paths, *_OF_MACHINE, *named])
    # A link to a whole tree, such as a home, would hide the user's project with it.
    kept = {path for path in found if path.count("/") > 1 and path not in homes and os.path.lexists(path)}
    return tuple(sorted(kept))


def homes_of(variables: Mapping[str, str]) -> list[str]:
    """The homes of this user: as the variable says, and as the system does."""
    return sorted({variables.get("HOME", ""), _home_of_user()} - {""})


def secret_files(project: str) -> Iterator[str]:
    """Files of a project that usually hold secrets; in a very large one, those that are near the top."""
    level, folders = [project], 0
    while level:
        below: list[str] = []
        for folder in level:
            folders += 1
            if folders > _MOST_FOLDERS:
                return
            for entry in _entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    below += [entry.path] if entry.name not in _WITHOUT_SECRETS else []
                elif _is_secret(entry.name):
                    yield os.path.realpath(entry.path)
            if os.path.exists(path := os.path.join(folder, ".git", "config")):
                # Holds the token with which CI checked the project out.
                yield os.path.realpath(path)
        level = below


def _is_secret(name: str) -> bool:
    is_dotenv = name == ".env" or name.startswith(".env.") or name.endswith(".env")
    return name in _IN_PROJECT or (is_dotenv and not name.endswith(_FOR_EXAMPLE))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing if it is an environment."""
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except OSError:
        return []
    return [] if any(entry.name == "pyvenv.cfg" for entry in entries) else entries


def _home_of_user() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        # Windows, or a user without an entry.
        return ""
