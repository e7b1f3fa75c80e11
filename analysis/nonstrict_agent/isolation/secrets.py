"""What work in a containment never sees: places where secrets are kept, and environment variables that may be some."""

from __future__ import annotations

import glob
import os
import re
from typing import TYPE_CHECKING

from nonstrict_agent.isolation.words import words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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

_NAMES = set(
    words("""
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP HOSTNAME NO_COLOR
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH
    CC CXX CFLAGS CXXFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH SDKROOT DEVELOPER_DIR
    MACOSX_DEPLOYMENT_TARGET TOKENIZERS_PARALLELISM NUMEXPR_NUM_THREADS VECLIB_MAXIMUM_THREADS
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE LOCALAPPDATA APPDATA PROGRAMFILES PROGRAMDATA
    NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE INCLUDE LIB LIBPATH
""")
)

_PREFIXES = words("""
    LC_ PYTHON TORCH PYTORCH ATEN_ AOT_ INDUCTOR_ TRITON CUDA CUDNN_ CUBLAS_ NVIDIA_ NVTE_ NCCL_ GLOO_ HIP_ HSA_ ROCM
    ROCR_ AMD_ XPU_ SYCL_ ZE_ ONEAPI_ MKL_ KMP_ OMP_ GOMP_ OPENBLAS_ BLIS_ DNNL_ ONEDNN_ NUMBA_ HF_ TRANSFORMERS_
    NIX_ VSCMD_ NONSTRICT_
""")

# Run by the interpreter at its start, or change how it starts.
_UNWANTED = {"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONDEBUG", "PYTHONFAULTHANDLER"}

_SECRET_WORDS = {
    *words("TOKEN TOKENS SECRET SECRETS PASSWORD PASSWD PASSPHRASE CREDENTIAL CREDENTIALS"),
    *words("KEY KEYS APIKEY AUTH COOKIE PAT"),
}
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")


def environment(inherited: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The variables that work may see: those that Python, torch, CUDA and compilers need, and `keep`; no others.

    Variables whose names speak of tokens, keys or passwords, or whose values are addresses with a password, are
    dropped even then, unless named in `keep`.
    """
    wanted = {name.upper() for name in keep}
    return {name: value for name, value in inherited.items() if name.upper() in wanted or _harmless(name, value)}


def _harmless(name: str, value: str) -> bool:
    name = name.upper()
    if name not in _NAMES and not name.startswith(_PREFIXES):
        return False
    return not (
        name in _UNWANTED or _SECRET_WORDS.intersection(name.split("_")) or _ADDRESS_WITH_PASSWORD.search(value)
    )


def secret_places(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Paths that exist here and usually hold secrets or lead to services, with links resolved.

    Some are named by `variables`, such as `SSH_AUTH_SOCK`; those that `environment` drops are to be asked about before.
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
