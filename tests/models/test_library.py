"""What the models say together: names, members along bases, and the models of a project in front of ours."""

from __future__ import annotations

import pytest

from nonstrict.models.entries import Doing, Form, Type
from nonstrict.models.errors import ModelError
from nonstrict.models.library import SHIPPED, Models, models_of, module_of


@pytest.mark.parametrize(
    ("name", "doing"),
    [
        ("builtins.print", Doing.STDOUT),
        ("builtins.open", Doing.IO),
        ("logging.info", Doing.LOG),
        ("warnings.warn", Doing.STDERR),
        ("os.environ.get", Doing.ENVIRON_READ),
        ("os.putenv", Doing.ENVIRON_WRITE),
        ("random.random", Doing.DRAW),
        ("random.seed", Doing.SEED),
        ("numpy.random.rand", Doing.RANDOM),
        ("numpy.random.seed", Doing.SEED),
        ("time.time", Doing.CLOCK),
        ("datetime.datetime.now", Doing.CLOCK),
        ("uuid.uuid4", Doing.IDENTITY),
        ("os.urandom", Doing.RANDOM),
        ("os.getpid", Doing.IDENTITY),
        ("threading.Thread", Doing.THREAD),
        ("concurrent.futures.ThreadPoolExecutor", Doing.THREAD),
        ("subprocess.run", Doing.PROGRAM),
        ("ctypes.cast", Doing.POINTER),
        ("copy.deepcopy", Doing.ESCAPE),
        ("numpy.asarray", Doing.ESCAPE),
        ("numpy.sin", Doing.NATIVE),
        ("numpy.add.at", Doing.NATIVE),
        ("numpy.linalg.svd", Doing.NATIVE),
        ("scipy.ndimage.gaussian_filter", Doing.NATIVE),
        ("torch.manual_seed", Doing.TORCH_STATE),
        ("torch.inference_mode", Doing.TORCH_STATE),
        ("torch.no_grad", Doing.TORCH_GUARDED),
        ("torch.is_grad_enabled", Doing.TORCH_GUARDED),
        ("torch.is_inference_mode_enabled", Doing.TORCH_QUERY),
        ("torch.save", Doing.IO),
        ("torch.Tensor.data_ptr", Doing.POINTER),
        ("pathlib.Path.read_text", Doing.IO),
        ("sys.stdout.write", Doing.STDOUT),
        ("wandb.log", Doing.IO),
        ("loguru.logger.info", Doing.LOG),
        ("tqdm.tqdm", Doing.PROGRESS),
        ("tqdm.auto.tqdm", Doing.PROGRESS),
        ("safetensors.torch.load_file", Doing.IO),
        ("tensorboardX.SummaryWriter.add_scalar", Doing.IO),
        ("PIL.ImageOps.mirror", Doing.NATIVE),
    ],
)
def test_effects_of_calls(name, doing):
    effect = SHIPPED.effect(name)
    assert effect is not None
    assert effect.doing is doing
    assert effect.what


PURE = (
    "builtins.len builtins.isinstance math.pi json.loads os.path.join copy.copy functools.partial itertools.count "
    "torch.add torch.rand torch.nn.Linear numpy.finfo threading.Lock collections.deque uuid.uuid5 einops.rearrange "
    "torch.cuda.is_available numpy torch.device logging.getLogger random.Random re.match contextlib.nullcontext"
)


@pytest.mark.parametrize("name", PURE.split())
def test_calls_without_effect(name):
    assert SHIPPED.effect(name) is None


def test_an_argument_may_spare_a_call_its_effect():
    effect = SHIPPED.effect("time.localtime")
    assert effect is not None
    assert effect.pure_with == 1


@pytest.mark.parametrize(
    ("owner", "method", "doing"),
    [
        ("logging.Logger", "info", Doing.LOG),
        ("logging.LoggerAdapter", "warning", Doing.LOG),
        ("io.TextIOWrapper", "write", Doing.IO),
        ("gzip.GzipFile", "read", Doing.IO),
        ("random.SystemRandom", "random", Doing.DRAW),
        ("numpy.random.Generator", "normal", Doing.RANDOM),
        ("multiprocessing.Queue", "put", Doing.PROCESS),
        ("queue.LifoQueue", "put", Doing.THREAD),
        ("pathlib.PosixPath", "unlink", Doing.IO),
    ],
)
def test_members_are_found_along_the_bases(owner, method, doing):
    member = SHIPPED.member(owner, method)
    assert member is not None
    assert member.effect is not None
    assert member.effect.doing is doing


def test_results_are_types():
    assert SHIPPED.result("threading.current_thread") == Type("threading.Thread")
    assert SHIPPED.result("safetensors.torch.load_file").parameters == (Type("builtins.str"), Type("torch.Tensor"))
    assert SHIPPED.result("nobody.knows").name == ""


def test_what_something_is_follows_its_bases():
    assert SHIPPED.is_a("threading.BoundedSemaphore", "threading.Lock")
    assert SHIPPED.ancestors("asyncio.Event") == ("asyncio.Event", "threading.Event")
    assert not SHIPPED.is_a("io.StringIO", "io.IOBase")
    assert SHIPPED.ancestors("nobody.Knows") == ("nobody.Knows",)


def test_other_names_lead_to_the_name():
    assert SHIPPED.canonical("tqdm.auto.tqdm") == "tqdm.tqdm"
    assert SHIPPED.canonical("jaxtyping.Float") == "typing.Annotated"
    assert SHIPPED.canonical("numpy.sin") == "numpy.absolute"
    called = SHIPPED.called("numpy.sin")
    assert called is not None
    assert called.name == "numpy.sin"


def test_assignments_to_settings_change_them():
    for name in ("torch.backends.cudnn.benchmark", "torch._dynamo.config.cache_size_limit"):
        effect = SHIPPED.assignment(name)
        assert effect is not None
        assert effect.doing is Doing.TORCH_STATE
    assert SHIPPED.assignment("torch.nothing") is None
    assert SHIPPED.assignment("sys.path") is None


def test_the_models_of_a_project_stand_in_front_of_ours(tmp_path):
    ours = tmp_path / "time.pyi"
    ours.write_text("def time() -> float: ...\ndef tick() -> float: ...\n")
    models = Models([str(ours)])
    assert models.effect("time.time") is None
    assert models.find("time.tick") is not None
    assert models.effect("time.monotonic") is not None
    assert models.replaces("time.tick")
    assert not models.replaces("time.monotonic")
    assert SHIPPED.find("time.tick") is None


def test_a_model_is_named_after_its_module(tmp_path):
    path = tmp_path / "acme.kernels.pyi"
    path.write_text("from torch import Tensor\ndef fused(x: Tensor) -> Tensor: ...\n")
    assert module_of(str(path)) == "acme.kernels"
    models = models_of([str(path)])
    assert models.result("acme.kernels.fused") == Type("torch.Tensor")
    assert models.describes("acme.kernels.other")
    assert models_of([]) is SHIPPED


def test_several_models_of_a_module_are_one(tmp_path):
    paths = [tmp_path / "acme.pyi", tmp_path / "more" / "acme.pyi"]
    paths[1].parent.mkdir()
    paths[0].write_text("def one() -> int: ...\ndef both() -> int: ...\n")
    paths[1].write_text("\ufeffdef two() -> int: ...\r\ndef both() -> str: ...\r\n", encoding="utf-8")
    models = Models([str(path) for path in paths])
    assert models.result("acme.one") == models.result("acme.two") == Type("builtins.int")
    assert models.result("acme.both") == Type("builtins.str")


def test_a_file_that_is_named_after_no_module_is_told(tmp_path):
    path = tmp_path / "my library.pyi"
    path.write_text("")
    with pytest.raises(ModelError, match="`my library` is not a name of a module"):
        Models([str(path)])


def test_a_name_that_leads_to_itself_is_nothing(tmp_path):
    path = tmp_path / "acme.pyi"
    path.write_text("a = b\nb = a\nclass C(D): ...\nclass D(C): ...\n")
    models = Models([str(path)])
    assert models.find("acme.a") is None
    assert models.canonical("acme.a") in ("acme.a", "acme.b")
    assert set(models.ancestors("acme.C")) == {"acme.C", "acme.D"}


@pytest.mark.parametrize(("content", "message"), [(b"\xff\xfe", "not UTF-8"), (None, "cannot be read")])
def test_files_that_are_no_models_are_told(tmp_path, content, message):
    path = tmp_path / "acme.pyi"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        Models([str(path)])


def test_form_of_what_stands_for_a_module():
    entry = SHIPPED.find("os.path")
    assert entry is not None
    assert entry.form is Form.MODULE
    assert SHIPPED.called("os.path") is None
