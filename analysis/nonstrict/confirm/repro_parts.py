"""The parts of stand-alone scripts that show a finding: what compares two processes, and what records one of them."""

from __future__ import annotations

#: Finds packages whose folders are called otherwise.
RENAMED = '''\


class Renamed:
    """Finds the packages in PACKAGES, as an installation of the project does."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Where a package is, if it is one of them or holds nothing else."""
        if not any(f"{one}.".startswith(f"{name}.") for one in PACKAGES):
            return None
        folder = PACKAGES.get(name)
        found = None if folder else importlib.machinery.PathFinder.find_spec(name, path)
        if found is not None:
            return found
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder] if folder else []
        start = os.path.join(folder or "", "__init__.py")
        if folder and os.path.isfile(start):
            spec.loader = importlib.machinery.SourceFileLoader(name, start)
            spec.origin, spec.has_location = start, True
        return spec


sys.meta_path.insert(0, Renamed)
'''

#: Runs the script twice more, once per arm, and compares what they recorded.
COMPARE = '''\
BACKEND = sys.argv[1] if len(sys.argv) > 1 else {backend!r}
ARM = os.environ.get("REPRO_ARM", "")  # "eager" or a backend, in the two processes that run the program
RECORD = os.environ.get("REPRO_RECORD", "")


def run(arm):
    """The records of the program's calls of compiled regions, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record.pt")
        environment = {{**os.environ, "REPRO_ARM": arm, "REPRO_RECORD": path}}
        command = [sys.executable, os.path.abspath(__file__)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
        calls = torch.load(path, weights_only=True) if os.path.exists(path) else []
    if done.returncode and (not calls or "error" not in calls[-1]):
        sys.exit(f"the program itself fails ({{arm}}):\\n{{done.stderr}}")
    if not calls:
        sys.exit(f"the program called no compiled region ({{arm}})")
    return calls, done.stderr


def same(left, right):
    """Whether two recorded values are equal, tensors up to rounding."""
    if type(left) is type(right) and isinstance(left, (torch.Tensor, float)):
        try:
            torch.testing.assert_close(right, left, equal_nan=True)
        except AssertionError:
            return False
        return True
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def compare():
    """Fail where compiled code does otherwise than eager code."""
    (eager, _), (compiled, errors) = run("eager"), run(BACKEND)
    for number, (left, right) in enumerate(zip(eager, compiled), 1):
        if "error" in right and "error" not in left:
            sys.stderr.write(errors)
        raised = [call.get("error", "nothing") for call in (left, right)]
        told = f"call {{number}}: eager raises {{raised[0]}}, {{BACKEND}} raises {{raised[1]}}"
        assert raised[0].split(":")[0] == raised[1].split(":")[0], told
        for what in left:
            if what != "error":
                told = f"call {{number}}, {{what}}:\\n  eager: {{left[what]}}\\n  {{BACKEND}}: {{right.get(what)}}"
                assert same(left[what], right.get(what)), told
{frozen}    assert len(eager) == len(compiled), f"eager made {{len(eager)}} calls, {{BACKEND}} {{len(compiled)}}"
    print(f"{{BACKEND}} does what eager code does in {{len(eager)}} call(s): the problem is not there")


if not ARM:
    sys.exit(compare())
'''

#: For what eager code draws anew in each call.
FROZEN = """\
    results = [call["result"] for call in eager if "result" in call]
    fixed = [call["result"] for call in compiled if "result" in call]
    varies = any(not same(results[0], other) for other in results[1:])
    assert not varies or any(not same(fixed[0], other) for other in fixed[1:]), (
        f"eager code gives another result in each call, {BACKEND} always the first one: {fixed[0]}"
    )
"""

#: Puts the backend behind `torch.compile`, and records calls.
RECORDER = '''\
CALLS = []
INSIDE = []  # whether a region is running
WATCHED = {{}}
{settings}

def flat(value, depth=4):
    """A value as nested lists of tensors, numbers and texts."""
    if isinstance(value, torch.Tensor):
        name = type(value).__name__
        if name in ("FakeTensor", "FunctionalTensor"):
            return f"a {{name}} of the tracer"
        return value.detach().cpu().clone().contiguous().as_subclass(torch.Tensor)
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth and isinstance(value, dict):
        return [[repr(key), flat(part, depth - 1)] for key, part in value.items()]
    if depth and isinstance(value, (list, tuple)):
        return [flat(part, depth - 1) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if depth and isinstance(getattr(value, "__dict__", None), dict) and not callable(value):
        return [type(value).__name__, flat(vars(value), depth - 1)]
    return type(value).__name__


def seed(number):
    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def record(function, arguments, keywords):
    """Call a region and record the call."""
    if len(CALLS) >= {calls}:
        os._exit(0)
    seed(len(CALLS))
{before}    CALLS.append(call := {{}})
    try:
{during}    except BaseException as error:
        call["error"] = f"{{type(error).__name__}}: {{str(error).strip()}}".split("\\n")[0]
        raise
    finally:
{after}        torch.save(CALLS, RECORD)
    return result


def recorded(function):
    """A region whose calls from outside are recorded."""

    @functools.wraps(function)
    def region(*arguments, **keywords):
        if torch.compiler.is_compiling() or INSIDE:
            return function(*arguments, **keywords)
        INSIDE.append(True)
        try:
{repeat}            return record(function, arguments, keywords)
        finally:
            INSIDE.clear()

    region.is_region = True
    return region


torch_compile = torch.compile


def compile_recorded(model=None, **options):
    """`torch.compile` with the backend of this process."""
    if model is None or options.get("disable"):
        return model if model is not None else lambda model: compile_recorded(model, **options)
    chosen = {{name: options[name] for name in ("fullgraph", "dynamic") if name in options}}
    compiled = torch_compile(model, backend=ARM, **chosen)
    name = getattr(model, "__qualname__", type(model).__qualname__)
    WATCHED.setdefault(name, getattr(model, "__self__", model))
    if isinstance(compiled, torch.nn.Module):
        compiled.forward = recorded(compiled.forward)
        return compiled
    return recorded(compiled)


torch.compile = compile_recorded
torch._dynamo.config.suppress_errors = False
if ARM == "eager":
    torch.compiler.set_stance("force_eager")
if ARM == "inductor":
    torch._inductor.config.fallback_random = True
seed(0)
'''

#: Compiles one marked function by itself, and leaves the regions of the program as they are without compilation.
ALONE = '''\
def compile_alone(marker):
    """A marker that also puts a region around the function in question."""

    def mark(function=None, *arguments, **options):
        marked = marker(function, *arguments, **options)
        if getattr(function, "__qualname__", "") != {name!r} or not callable(marked):
            return marked

        @functools.wraps(function)
        def region(*given, **named):
            return marked(*given, **named)

        return compile_recorded(region, fullgraph=True)

    return mark


torch.compile = lambda model=None, **_: model if model is not None else lambda model: model
for owner in (torch._dynamo, torch._dynamo.decorators, torch.compiler):
    for name in ("nonstrict_trace", "allow_in_graph", "leaf_function"):
        if hasattr(owner, name):
            setattr(owner, name, compile_alone(getattr(owner, name)))
'''

#: Finds state by the path that a report names.
LOOK = '''\
def named(function, arguments, keywords):
    """Arguments by number and by name."""
    given = {f"argument {index}": value for index, value in enumerate((*arguments, *keywords.values()), 1)}
    try:
        return {**inspect.signature(function).bind(*arguments, **keywords).arguments, **given}
    except (TypeError, ValueError):
        return given


def look(path, given):
    """The value at a path such as `CONFIG.scale` or `argument 1.seen`; a text where there is none."""
    root, steps = re.fullmatch(r"(argument \\d+|\\w+)(.*)", path, re.DOTALL).groups()
    for found in (given, globals(), WATCHED, closures()):
        if root in found:
            try:
                return eval(f"root{steps}", {"root": found[root]})
            except (AttributeError, KeyError, IndexError, TypeError):
                continue
    for name in sorted(sys.modules, key=len, reverse=True):
        if path.startswith(f"{name}."):
            return eval(f"root{path[len(name):]}", {"root": sys.modules[name]})
    return "absent"


def closures():
    """The variables that functions of this file keep."""
    found, pending = {}, [value for value in (*globals().values(), *WATCHED.values()) if callable(value)]
    while pending and len(found) < 1000:
        function = pending.pop()
        code = getattr(function, "__code__", None)
        for name, cell in zip(code.co_freevars if code else (), getattr(function, "__closure__", None) or ()):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if name not in found:
                found[name] = value
                pending += [value] if callable(value) else []
    return found


'''

#: Files of the project that are other than they lie there; what Python compiled of them before is not used.
CHANGED = """\
loader = importlib.machinery.SourceFileLoader
data_as_it_lies, stats_as_it_lies = loader.get_data, loader.path_stats


def changed_data(self, path):
    return TEXTS[path].encode() if path in TEXTS else data_as_it_lies(self, path)


def changed_stats(self, path):
    if path in TEXTS:
        raise OSError(path)
    return stats_as_it_lies(self, path)


loader.get_data, loader.path_stats = changed_data, changed_stats
"""

#: Another value of the same kind.
OTHER = '''\
def other(value):
    """Another value of the same kind."""
    if isinstance(value, torch.nn.Module):
        value = copy.deepcopy(value)
        for tensor in (*value.parameters(), *value.buffers()):
            tensor.data = other(tensor.data)
        return value
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(other(value.detach()), requires_grad=value.requires_grad)
    if isinstance(value, torch.Tensor):
        new = ~value if value.dtype == torch.bool else value.detach() + 1
        return new.requires_grad_(value.requires_grad)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (list, tuple)):
        return type(value)(map(other, value))
    if isinstance(value, dict):
        return {key: other(part) for key, part in value.items()}
    return value + 1


'''

#: Copies of arguments for calls that are made again.
COPIED = '''\
def copied(value):
    """A copy in which modules and parameters are the same objects."""
    if isinstance(value, (torch.nn.Module, torch.nn.Parameter)):
        return value
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(part) for key, part in value.items()}
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


'''

#: What a region writes, at the level of file descriptors.
STREAMS = '''\
class Written:
    """What is written to standard output meanwhile."""

    def __enter__(self):
        sys.stdout.flush()
        self.file = tempfile.TemporaryFile()
        self.before = os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *_):
        sys.stdout.flush()
        os.dup2(self.before, 1)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")


'''

#: Audit events of the program's own lines.
EVENTS = """\
HAPPENED = []


def audit(event, _):
    if event in {events!r} and INSIDE:
        frame = sys._getframe(1)
        while frame is not None and os.path.basename(frame.f_code.co_filename) not in {files!r}:
            frame = frame.f_back
        if frame is not None:
            HAPPENED.append(event)


sys.addaudithook(audit)


"""

#: What stands for the other ranks of a program that runs on several.
GROUP = """\
# A process group whose other ranks are not there: what they would send is made up, so that numbers say nothing.
RANKS = {ranks}
torch.distributed.init_process_group(backend="fake", rank=0, world_size=RANKS, store=FakeStore())


"""

#: Makes meshes of devices over it.
MESH = '''\
def device_mesh(*names):
    """A mesh with these dimensions, or one without a name, over all ranks."""
    return init_device_mesh("cpu", (RANKS, *(1 for _ in names[1:])), mesh_dim_names=names or None)


'''

#: The gradients that a result gives to some state.
GRADIENT = '''\
def gradient(result, path, given):
    """The gradient of the sum of a result with respect to what a path leads to."""
    outputs = [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    outputs = [leaf for leaf in outputs if leaf.requires_grad]
    leaf = look(path, given)
    if not outputs or not isinstance(leaf, torch.Tensor):
        return None
    return torch.autograd.grad(sum(leaf.sum() for leaf in outputs), leaf, allow_unused=True, retain_graph=True)[0]


'''

#: A function that no code of the program calls is called from a region made for it.
AS_REGION = '''\
def as_region(function):
    """A compiled region that does nothing but call a function, unless that is one itself."""
    if hasattr(function, "is_region"):
        return function

    def region(*arguments, **keywords):
        return function(*arguments, **keywords)

    return torch.compile(region, fullgraph=True)


'''

#: The same for a graph that is traced ahead of time: with the first arguments that are given.
AS_TRACED = '''\
def as_region(function):
    """What `make_fx` makes of a function when it is first called."""
    made = []

    def lenient(*values):
        return function(*values)

    def region(*arguments):
        if not made:
            made.append(proxy_tensor.make_fx(lenient, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments))
        return made[0](*arguments)

    return region


'''

#: In the eager process, what is traced is called itself. Tracing is recorded as well, since it may be refused.
AHEAD = '''\
class Untraced:
    """Stands for a graph where nothing is traced."""

    def __init__(self, call=lambda *arguments, **keywords: None):
        self.is_region, self.call = True, call

    def __call__(self, *arguments, **keywords):
        return self.call(*arguments, **keywords)

    def __getattr__(self, name):
        return Untraced()

    def __iter__(self):
        return iter(())


def traced(tracer, function):
    """What a tracer makes of a function, recorded like a region."""
    if INSIDE:
        return tracer()
    CALLS.append(call := {"traced": True})
    torch.save(CALLS, RECORD)
    if ARM == "eager":
        return Untraced(recorded(function))
    INSIDE.append(True)
    try:
        return tracer()
    except BaseException as error:
        call["error"] = f"{type(error).__name__}: {str(error).strip()}".split("\\n")[0]
        torch.save(CALLS, RECORD)
        raise
    finally:
        INSIDE.clear()


def make_fx_recorded(function, *settings, **options):
    """`make_fx`, whose graphs are recorded."""

    def trace(*arguments):
        graph = traced(lambda: torch_make_fx(function, *settings, **options)(*arguments), function)
        if isinstance(graph, torch.nn.Module):
            graph.forward = recorded(graph.forward)
        return graph

    return trace


class Exported:
    """Stands for an exported program."""

    def __init__(self, program):
        self.program = program

    def module(self):
        return self.program if hasattr(self.program, "is_region") else recorded(self.program.module())


def export_recorded(module, *arguments, **options):
    """`torch.export.export`, whose programs are recorded."""
    return Exported(traced(lambda: torch_export(module, *arguments, **options), module))


torch_make_fx, torch_export = proxy_tensor.make_fx, torch.export.export
proxy_tensor.make_fx, torch.export.export = make_fx_recorded, export_recorded


'''
