"""The names that constructs may use: arguments of the compiled region, and globals around it.

A region is given those of `ARGUMENTS` that its code mentions; everything else is a global, modules among them.
"""

from __future__ import annotations

import argparse
import contextvars
import datetime as dt
import decimal
import fractions
import functools
import importlib
import io
import logging
import pathlib
import queue
import random
import re
import tempfile
import threading
import uuid
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from graph_breaks.program import *  # noqa: F403 -- the names are for the constructs
from graph_breaks.program import Holder, Net, counting, helper

if TYPE_CHECKING:
    from collections.abc import Callable

# Modules that constructs name, besides those that come with torch.
MODULES = """
array asyncio atexit base64 binascii bisect bz2 cProfile calendar codecs colorsys concurrent.futures configparser
csv ctypes difflib fnmatch getpass glob graphlib gzip hashlib heapq hmac html importlib.util ipaddress
logging.handlers lzma mimetypes multiprocessing numbers pickle pkgutil platform pprint reprlib resource sched
secrets select selectors shelve shlex shutil signal socket sqlite3 statistics struct subprocess tarfile tempfile
textwrap timeit traceback tracemalloc unicodedata unittest.mock urllib.parse urllib.request zipfile zlib
numpy.testing torch.cuda.nvtx torch.nn.attention.flex_attention torch.nn.utils.parametrizations
torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.stateless torch.utils.benchmark torch.utils.dlpack
torch.utils.flop_counter
"""
for _name in MODULES.split():
    importlib.import_module(_name)

COUNTER = 0
LIST: list[Any] = [1, 2]
TENSOR = torch.ones(3)
ITERATOR = iter([1, 2, 3])
GENERATOR = counting(3)
LOGGER = logging.getLogger("graph_breaks")
LOCK = threading.Lock()
RLOCK = threading.RLock()
EVENT = threading.Event()
CONDITION = threading.Condition()
SEMAPHORE = threading.Semaphore(2)
THREAD = threading.Thread(target=helper, args=(1,))
QUEUE: queue.Queue[int] = queue.Queue()
LOCAL = threading.local()
LOCAL.value = 1
CONTEXT_VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("v", default=1)
PATTERN = re.compile("a+")
PATH = pathlib.Path("file.txt")
BUFFER = io.BytesIO()
SAVED = io.BytesIO()
torch.save(torch.ones(3), SAVED)
SAVED.seek(0)
TEXT = io.StringIO()
RANDOM = random.Random(0)  # noqa: S311 -- nothing is secret here
NUMPY_GENERATOR = np.random.default_rng(0)
ARRAY = np.ones(3, dtype=np.float32)
DATE = dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)
DELTA = dt.timedelta(seconds=1)
DECIMAL = decimal.Decimal("1.5")
FRACTION = fractions.Fraction(1, 2)
UUID = uuid.UUID(int=1)
TORCH_GENERATOR = torch.Generator()
REFERENCE = weakref.ref(TENSOR)
HOLDER = Holder()
NET = Net()
DISABLED_NET = torch.compiler.disable(Net())
PARAMETER = nn.Parameter(torch.ones(3))
OPTIMIZER = torch.optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1)
OPTIMIZER.param_groups[0]["params"][0].grad = torch.ones(3)
SCHEDULED = torch.optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1)
SCHEDULED.param_groups[0]["params"][0].grad = torch.ones(3)
SCHEDULER = torch.optim.lr_scheduler.StepLR(SCHEDULED, 1)
NAMESPACE = argparse.Namespace(a=1)
PARTIAL = functools.partial(helper, scale=3)
BACKWARD_HOOKED = Net()
BACKWARD_HOOKED.register_full_backward_hook(lambda module, gradients, given: None)
HOOK_HANDLE = NET.register_forward_hook(lambda module, args, output: None)
DATASET = torch.utils.data.TensorDataset(torch.ones(4, 3))
LOADER = torch.utils.data.DataLoader(DATASET)
SCALER = torch.amp.GradScaler("cpu", enabled=False)

ADAPTER = logging.LoggerAdapter(LOGGER, {})
PRESENT = __file__
# Opened anew in each process.
FILE: Any = None
RELU = nn.ReLU()
RNG_STATE = torch.get_rng_state()
SEQUENTIAL = nn.Sequential(nn.ReLU(), nn.ReLU())
LSTM, GRU, RNN = nn.LSTM(8, 3), nn.GRU(8, 3), nn.RNN(8, 3)
ATTENTION = nn.MultiheadAttention(8, 1)
PARALLEL = nn.DataParallel(NET)
PARAMETERS_WITH_GRAD = OPTIMIZER.param_groups[0]["params"]
IMAGE_WEIGHT = torch.ones(2, 3, 3, 3)
LENGTHS = torch.tensor([3, 2, 1])
PACKED = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 3), LENGTHS)
QUERY = torch.ones(1, 1, 16, 16)
_npy = io.BytesIO()
np.save(_npy, np.ones(3))
NPY = _npy.getvalue()


def _opened() -> Any:
    return tempfile.TemporaryFile("w+b")


# Makers of arguments of a region, by name.
ARGUMENTS: dict[str, Callable[[], Any]] = {
    "x": lambda: torch.tensor([1.0, 2.0, 3.0]),
    "y": lambda: torch.tensor([3.0, 2.0, 1.0]),
    "n": lambda: torch.tensor([1, 0, 2]),
    "k": lambda: torch.tensor(1),
    "m": lambda: torch.eye(3),
    "g": lambda: torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
    "mask": lambda: torch.tensor([True, False, True]),
    "images": lambda: torch.ones(1, 3, 8, 8),
    "iterator": lambda: iter([1, 2, 3]),
    "generator": lambda: counting(3),
    "rng": torch.Generator,
    "module": Net,
    "optimizer": lambda: torch.optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1),
    "items": lambda: [1, 2, 3],
    "mapping": lambda: {"a": 1},
    "tensors": lambda: [torch.ones(3), torch.zeros(3)],
    "holder": Holder,
    "number": lambda: 3,
    "real": lambda: 1.5,
    "text": lambda: "abc",
    "file": _opened,
    "array_argument": lambda: np.ones(3, dtype=np.float32),
}
