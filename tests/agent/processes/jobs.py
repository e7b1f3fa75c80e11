"""What the tests of this folder let the agent run: functions that return JSON objects, or do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time


def echo(**values):
    return {"process": os.getpid(), **values}


def sleep(seconds, mark=None):
    if mark:
        with open(mark, "w", encoding="utf-8") as file:
            file.write("started")
    time.sleep(seconds)
    return {}


def leave():
    os._exit(3)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def fail():
    raise ValueError("no such luck")


def hoard():
    return {"size": len(bytearray(64 << 30))}


def big(size):
    return {"text": "x" * size}


def print_much():
    for _ in range(20):
        sys.stdout.write("x" * 1_000_000 + "\n")
    sys.stdout.flush()
    return {}


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("written")
    return {}


def secrets():
    return {"environment": dict(os.environ), "path": sys.path}


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return {"text": file.read()}
    except OSError as error:
        return {"text": "", "error": str(error)}


def plant(name):
    """Write a file into each cache that torch reads."""
    for path in in_caches(name):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path)
    return {"planted": in_caches(name)}


def find(name):
    """Those of the same files that are there."""
    return {"found": [path for path in in_caches(name) if os.path.exists(path)]}


def in_caches(name):
    variables = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR")
    return [os.path.join(os.environ[variable], name) for variable in variables]


def leave_orphans():
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    return {}


def hold_orphans(mark):
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    return sleep(300, mark)


def compile_with_gcc(source, mark):
    with open(mark, "w", encoding="utf-8") as file:
        file.write("started")
    subprocess.run(["g++", "-O2", "-x", "c++", "-c", "-o", "/dev/null", source], check=True)
    return {}


def compile_kernel(backend, factor):
    import torch

    began = time.perf_counter()
    compiled = torch.compile(lambda x: (x * factor).sin() + 1, backend=backend)
    x = torch.ones(4)
    same = torch.allclose(compiled(x), (x * factor).sin() + 1)
    return {"same": same, "seconds": time.perf_counter() - began, "cache": os.environ["TORCHINDUCTOR_CACHE_DIR"]}
