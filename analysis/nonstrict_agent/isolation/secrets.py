"""What work in a containment never sees: places where secrets are kept."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

from nonstrict_agent.isolation.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_TEMPORARY = ("/tmp/krb5cc_*", "/tmp/ssh-*")  # noqa: S108 - looked for, not used

_SOCKET_VARIABLES = ("SSH_AUTH_SOCK", "XAUTHORITY", "KRB5CCNAME", "GPG_AGENT_INFO")


def secret_places(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Paths that exist here and usually hold secrets or lead to services, with links resolved.

    Some are named by `variables`, such as `KRB5CCNAME`; who starts the agent without one of them tells what it hides.
    """
    homes = {variables.get("HOME", ""), _home_of_user()} - {""}
    named = [variables[name].removeprefix("FILE:") for name in _SOCKET_VARIABLES if variables.get(name)]
    named += [os.path.join(variables["HF_HOME"], "token")] if variables.get("HF_HOME") else []
    named += [path for pattern in _TEMPORARY for path in glob.glob(pattern)]
    paths = [os.path.join(home, place) for home in sorted(homes) for place in _IN_HOME]
    found = (os.path.realpath(path) for path in [*paths, *_OF_MACHINE, *named])
    # A link to a whole tree, such as a home, would hide the user's project with it.
    kept = {path for path in found if path.count("/") > 1 and path not in homes and os.path.lexists(path)}
    return tuple(sorted(kept))


def _home_of_user() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        # Windows, or a user without an entry.
        return ""
