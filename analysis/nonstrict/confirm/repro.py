"""Writes a confirmed finding as a stand-alone script that fails as the finding predicts, fit for a bug report."""

from __future__ import annotations

import json
import os
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm import repro_parts as parts
from nonstrict.confirm.cutting import cut
from nonstrict.confirm.evidence import change_before
from nonstrict.confirm.expressions import CannotWriteError, Expressions
from nonstrict.confirm.groups import RANKS, needs_group
from nonstrict.confirm.programs import BACKENDS
from nonstrict.findings import ENVIRONMENT
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.confirm.programs import Change, Program, Schedule
    from nonstrict.confirm.traces import Divergence
    from nonstrict.findings import Diagnostic, Verdict

_MODULES = (
    "copy",
    "functools",
    "importlib.machinery",
    "inspect",
    "os",
    "random",
    "re",
    "subprocess",
    "sys",
    "tempfile",
)
#: What the parts for tracing ahead of time, and for process groups, import.
_AHEAD = "from torch.fx.experimental import proxy_tensor\n"
_GROUP = "import torch.distributed\nfrom torch.testing._internal.distributed.fake_pg import FakeStore\n"
_MESH = "from torch.distributed.device_mesh import init_device_mesh\n"
_WIDTH = 100
_LITERAL = re.compile(r"was set from .* to (.+)$")
_FAILED_LINE = re.compile(r"line (\d+):")
#: How the agent says that eager code never gives the same result twice.
_VARIES = "another value in each call"


class Proof(NamedTuple):
    """What a script is made from: the run that confirmed a finding, its eager trace, and by backend what differed.

    The program may have been changed for it: `without` says what was done about which other findings, `texts` are
    those of its other files that were changed.
    """

    program: Program
    schedule: Schedule
    eager: Mapping[str, Any]
    divergences: Mapping[str, Divergence]
    without: Sequence[str] = ()
    texts: Mapping[str, str] = {}


def write_repro(
    directory: str, diagnostic: Diagnostic, verdict: Verdict, proof: Proof, shows: Callable[[str, str], bool]
) -> str:
    """Write the script of a confirmed finding, and return its path; empty where it cannot be one.

    `shows` runs a script, by its name and text, and says whether it shows the finding: none is offered otherwise.

    Raises:
        OSError: the directory or the file cannot be written.
    """
    try:
        text = script(diagnostic, verdict, proof)
    except CannotWriteError:
        # No script: the verdict stands by itself.
        return ""
    if not shows(file_name(diagnostic), text):
        return ""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, file_name(diagnostic))
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)
    return path


def file_name(diagnostic: Diagnostic) -> str:
    """The name of a finding's script: its code, file, function and line (and cell)."""
    where = diagnostic.location
    stem = os.path.splitext(os.path.basename(where.path))[0]
    function = diagnostic.function.rpartition(".")[2]
    words = [diagnostic.code, stem, function, *([f"cell{where.cell}"] if where.cell else []), str(where.row)]
    return "_".join(word for word in (re.sub(r"\W+", "_", part).strip("_") for part in words) if word) + ".py"


def script(diagnostic: Diagnostic, verdict: Verdict, proof: Proof) -> str:
    """The text of the script.

    Raises:
        CannotWriteError: something of the experiment cannot be put into a script.
    """
    if not proof.divergences:
        raise CannotWriteError("no difference between backends")
    program, driver = proof.program, proof.schedule.driver
    if driver.kind == "test" or proof.schedule.program is not None:
        raise CannotWriteError("what sets it going is a test, or lies in another file")
    failing = {int(line) for text in proof.eager.get("missing", ()) for line in _FAILED_LINE.findall(text)}
    taken = cut(program.text, program.tree, driver, cuda=verdict.device == "cuda", failing=failing)
    ahead = driver.kind == "traced" or re.search(r"\b(make_fx|export)\(", taken.text) is not None
    backend = next((name for name in BACKENDS if name in proof.divergences), next(iter(proof.divergences)))
    frozen = any(one.eager == _VARIES for one in proof.divergences.values())
    compare = parts.COMPARE.format(backend=backend, frozen=parts.FROZEN if frozen else "")
    if frozen:
        # Eager code is no measure for itself here: only whether it varies counts.
        compare = compare.replace('if what != "error":', 'if what not in ("error", "result"):')
    drive = _drive(program, proof.schedule)
    group = parts.GROUP.format(ranks=RANKS) if needs_group(proof.schedule) else ""
    mesh = parts.MESH if "device_mesh(" in drive else ""
    own = re.sub(r"\n{4,}", "\n\n\n", f"{compare}\n\n{_harness(proof)}{parts.AHEAD if ahead else ''}{group}{mesh}")
    change, location = _change(proof), _location(program, proof.texts)
    used = own + change + location
    imports = (f"import {name}\n" for name in _MODULES if re.search(rf"\b{re.escape(name)}\.", used))
    return "\n".join(
        [
            _header(diagnostic, verdict, proof, backend),
            *([f"from __future__ import {', '.join(sorted({*taken.futures}))}\n"] if taken.futures else []),
            "".join(imports),
            "import torch\n" + (_AHEAD if ahead else "") + (_GROUP if group else "") + (_MESH if mesh else ""),
            own,
            _title(f"The program: {_shown_path(program)}, what the region needs of it"),
            *(f"# Changed for this: {done}" for done in proof.without),
            location,
            taken.text + "\n",
            _title("What sets it going"),
            change,
            drive,
        ]
    )


def _header(diagnostic: Diagnostic, verdict: Verdict, proof: Proof, backend: str) -> str:
    where = diagnostic.location
    name = f"{diagnostic.code} {diagnostic.name}"
    failing = [one for one in verdict.outcomes if one.result not in {"same", "not-run"}]
    expected = ", ".join(f"{one.backend} ({one.result})" for one in failing)
    passing = [one.backend for one in verdict.outcomes if one.result == "same"]
    lines = [
        f"{name}: {_shown_path(proof.program)}:{where.row}, in `{diagnostic.function or 'the region'}`",
        "",
        _filled(diagnostic.message),
        "",
        _filled(f"Expected: compiled code does what eager code does. Seen: {verdict.evidence}"),
        f"Seen with: torch {verdict.torch}, Python {verdict.python}, {verdict.device}.",
        f"Fails with: {expected}." + (f" Passes with: {', '.join(passing)}." if passing else ""),
        "",
        f"Run: python {file_name(diagnostic)} [{'|'.join(BACKENDS)}]   (default: {backend})",
        _filled(
            "Eager and compiled code run in a fresh process each, from the same seeds. Exit status 0: they agree; "
            "1: they do not, or the program itself fails."
        ),
    ]
    if _needs_project(proof.program):
        lines.append(
            _filled("It imports modules of its project, from the directory PROJECT below: change it where needed.")
        )
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n'


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _title(text: str) -> str:
    return f"\n# {'-' * 10} {text}\n"


def _shown_path(program: Program) -> str:
    path = os.path.relpath(program.path, program.root) if program.root else program.path
    return os.path.basename(program.path) if path.startswith("..") else path


def _needs_project(program: Program) -> bool:
    """Whether a file may import others of its project: it is part of a package, or there are more files beside it."""
    folder = os.path.dirname(program.path)
    stems = {os.path.splitext(name)[0] for base in (folder, program.root) for name in _listed(base)}
    stems |= {name.partition(".")[0] for name, _ in program.imported.packages}
    words = set(re.findall(r"(?m)^\s*(?:from|import)\s+\.?(\w+)", program.text))
    return bool(words & stems) or re.search(r"(?m)^\s*from\s+\.", program.text) is not None


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _location(program: Program, texts: Mapping[str, str]) -> str:
    """Where the program finds modules of its project, and the texts of those that were changed."""
    if not _needs_project(program):
        return ""
    imported = program.imported
    folders = dict.fromkeys((*imported.folders, *imported.further, os.path.abspath(program.root)))
    lines = ["PROJECT = [", *(f"    {folder!r}," for folder in folders), "]", "sys.path[0:0] = PROJECT"]
    if imported.packages:
        lines += ["PACKAGES = {", *(f"    {name!r}: {folder!r}," for name, folder in imported.packages), "}"]
        lines.append(parts.RENAMED)
    if imported.package:
        lines.append(f"__package__ = {imported.package!r}")
    if texts:
        lines += ["TEXTS = {", *(f"    {path!r}: {text!r}," for path, text in texts.items()), "}", parts.CHANGED]
    return "\n".join(lines) + "\n"


def _harness(proof: Proof) -> str:
    """What records the calls, cut down to what the finding is about."""
    channels = {one.channel for one in proof.divergences.values()}
    paths = _paths(proof)
    schedule = proof.schedule
    before, during, after = "", "        result = function(*arguments, **keywords)\n", ""
    settings: list[str] = []
    change = _own_change(proof)
    if change is not None:
        before += f"    if sum('traced' not in call for call in CALLS) == {change.at}:\n        change()\n"
    if Channel.EVENTS in channels:
        events = sorted(
            {one.eager.split(" ")[0] for one in proof.divergences.values() if one.channel is Channel.EVENTS}
        )
        files = sorted({os.path.basename(path) for one in proof.divergences.values() for path, _ in one.lines})
        # The program's own lines are in the script now.
        settings.append(
            parts.EVENTS.format(events=events, files=files).replace("not in [", "not in [os.path.basename(__file__), ")
        )
        before += "    HAPPENED.clear()\n"
        after += '        call["events"] = list(HAPPENED)\n'
    if Channel.OUTPUT in channels:
        settings.append(parts.STREAMS)
        during = "        with Written() as written:\n            result = function(*arguments, **keywords)\n"
        during += '        call["standard output"] = written.text\n'
    if Channel.VALUES in channels:
        during += '        call["result"] = flat(result)\n'
    if paths:
        before += "    given = named(function, arguments, keywords)\n"
    if channels & {Channel.STATE, Channel.LEAK, Channel.ARGUMENTS}:
        after += _state(paths)
    if Channel.GRADIENTS in channels:
        settings.append(parts.GRADIENT)
        wanted = "".join(f"{path!r}, " for path in paths)
        during += f"        for path in ({wanted}):\n"
        during += '            call[f"gradient of {path}"] = flat(gradient(result, path, given))\n'
    repeat = ""
    # After the call that its change is for, the run goes on to those of others.
    times = schedule.repeat if change is None or change.until is None else change.at + 1
    if times > 1:
        settings.append(parts.COPIED)
        repeat = (
            "            if not CALLS:\n"
            f"                again = [copied((arguments, keywords)) for _ in range({times - 1})]\n"
            "                result = record(function, arguments, keywords)\n"
            "                for more, more_keywords in again:\n"
            "                    record(function, more, more_keywords)\n"
            "                return result\n"
        )
    if paths or change is not None:
        settings.append(parts.LOOK)
    text = parts.RECORDER.format(
        settings="\n" + "".join(settings).rstrip() + "\n",
        calls=schedule.calls,
        before=before,
        during=during,
        after=after,
        repeat=repeat,
    )
    alone = getattr(schedule, "alone", "")
    return text + (parts.ALONE.format(name=alone) if alone else "")


_AMBIENT = {
    "<grad mode>": "torch.is_grad_enabled()",
    "<inference mode>": "torch.is_inference_mode_enabled()",
    "<default dtype>": "torch.get_default_dtype()",
    "<deterministic algorithms>": "torch.are_deterministic_algorithms_enabled()",
    "<float32 matmul precision>": "torch.get_float32_matmul_precision()",
    "<number of threads>": "torch.get_num_threads()",
    "<working directory>": "os.getcwd()",
    "<environment variables>": "sorted(os.environ.items())",
    "<module search path>": "list(sys.path)",
    "<recursion limit>": "sys.getrecursionlimit()",
}


def _paths(proof: Proof) -> list[str]:
    """The state that differs, by the shortest of its paths: what is inside it counts with it."""
    wanted = (Channel.STATE, Channel.LEAK, Channel.GRADIENTS, Channel.ARGUMENTS)
    listed = [path for one in proof.divergences.values() if one.channel in wanted for path in one.paths]
    # The script itself stands for the program's module.
    found = dict.fromkeys(path.removeprefix(f"{proof.program.imported.name}.") for path in listed)
    shortest = [p for p in found if not any(p != q and p.startswith((f"{q}.", f"{q}[")) for q in found)]
    unknown = [path for path in shortest if path.startswith("<") and path not in _AMBIENT]
    if unknown or not all(re.match(r"argument \d+|[A-Za-z_<]", path) for path in shortest):
        raise CannotWriteError(f"state such as {shortest[0]}")
    return shortest


def _state(paths: list[str]) -> str:
    """Lines that record state after a call."""
    lines = ""
    for path in paths:
        value = f"str({_AMBIENT[path]})" if path in _AMBIENT else f"flat(look({path!r}, given))"
        lines += f"        call[{path.strip('<>')!r}] = {value}\n"
    return lines


def _own_change(proof: Proof) -> Change | None:
    """The change that the finding is about: the last one before its divergence."""
    last = max((one.call for one in proof.divergences.values()), default=0)
    return max((one for one in proof.schedule.changes if one.at <= last), key=lambda one: one.at, default=None)


def _change(proof: Proof) -> str:
    """The function that changes what the finding is about before one of the calls."""
    change = _own_change(proof)
    if change is None:
        return ""
    name, path, how = change.name.removeprefix(f"{change.module}."), change.path, change.how
    foreign = change.module not in {"", proof.program.imported.name}
    if foreign:
        name = f"sys.modules[{change.module!r}].{name}"
    if "[]" in path:
        raise CannotWriteError("a change of some entry")
    target = name + "".join(path)
    lines = ["def change():", f'    """Before call {change.at + 1}."""']
    helper = ""
    literal = _LITERAL.search(change_before(proof.eager, change.at))
    if how == "mode":
        lines.append(f"    {target}.train(not {target}.training)")
    elif how == ENVIRONMENT:
        lines.append(f"    os.environ[{name!r}] = {literal.group(1) if literal else repr('1')}")
    elif how == "in-place":
        helper = parts.OTHER
        lines += [
            f"    value = look({target!r}, {{}})",
            "    with torch.no_grad():",
            "        if isinstance(value, torch.Tensor):",
            "            value.copy_(other(value))",
            "        elif isinstance(value, dict):",
            "            value.update(other(value))",
            "        else:",
            "            value[:] = other(value)",
        ]
    else:
        helper = "" if literal else parts.OTHER
        lines += [] if path or foreign else [f"    global {name}"]
        lines.append(f"    {target} = {literal.group(1) if literal else f'other({target})'}")
    return helper + "\n".join(lines) + "\n\n"


def _drive(program: Program, schedule: Schedule) -> str:
    """What sets the program going."""
    driver = schedule.driver
    if driver.kind == "function":
        return f"{driver.name}()\n"
    if driver.kind in {"block", "guard"}:
        return "# Executing the program did.\n"
    if driver.kind == "returned":
        raise CannotWriteError("a function that only returns what another one does")
    if driver.kind == "source":
        name = driver.name if "." not in driver.name else ""
        body = textwrap.indent(driver.given.strip("\n"), "    ")
        call = f"example(as_region({name}))" if name else "example()"
        return f"{parts.AS_REGION}def example({name}):\n{body}\n\n\n{call}\n"
    made = parts.AS_TRACED if driver.kind == "traced" else parts.AS_REGION
    return made + _calls(program, driver.name, driver.given)


def _calls(program: Program, name: str, given: str) -> str:
    """Calls with stated, recorded or found arguments."""
    writer = Expressions(program.imported.name)
    calls: list[str] = []
    stated = False
    for number, call in enumerate(json.loads(given)):
        calls.append(f"torch.manual_seed({number})")
        if "expression" in call:
            stated = True
            calls += [f"arguments, keywords = {call['expression']}", "region(*arguments, **keywords)"]
        else:
            calls.append(f"region({writer.call(call)})")
    lines = ["def inputs(*arguments, **keywords):\n    return arguments, keywords\n\n"] if stated else []
    lines += [f"{shared} = {text}" for shared, text in writer.shared.items()]
    return "\n".join([*lines, f"region = as_region({name})", *calls]) + "\n"
