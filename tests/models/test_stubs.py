"""What a model may say, and what it means: each test is a file as a project would write it."""

from __future__ import annotations

import textwrap

import pytest

from nonstrict.models import stubs
from nonstrict.models.entries import Doing, Form, Parameter, Type
from nonstrict.models.errors import ModelError

HEAD = """\
from typing import Self, overload
from torch import Tensor
from nonstrict.models import does
from nonstrict.models.terms import Changed, T, submodule, surrounds
"""


def read(text):
    return stubs.read("models/acme.pyi", HEAD + textwrap.dedent(text), "acme")


def effect(entry):
    assert entry.effect is not None
    return entry.effect


def test_a_decorator_says_what_a_call_does():
    entry = read("""
        @does.log
        def report(value: float) -> None: ...
    """)["report"]
    assert entry.name == "acme.report"
    assert effect(entry).doing is Doing.LOG
    assert effect(entry).what == "writes a log record"
    assert entry.returns == Type("builtins.None")


def test_an_effect_may_be_said_in_other_words():
    entries = read("""
        @does.io("writes to the journal")
        def report(value): ...
    """)
    assert effect(entries["report"]).what == "writes to the journal"


def test_an_effect_may_be_named_for_several_functions():
    entries = read("""
        draws = does.random("draws from the queue of acme")
        @draws
        def one(): ...
        @draws
        def two(): ...
    """)
    assert entries["one"].effect == entries["two"].effect
    assert "draws" not in entries


def test_a_function_without_a_decorator_only_computes():
    assert read("def mean(x: Tensor) -> Tensor: ...")["mean"].effect is None


def test_other_names_of_a_function_are_given_by_assignment():
    entries = read("""
        def mean(x: Tensor) -> Tensor: ...
        average = stats.mean = mean
    """)
    assert entries["average"].form is entries["stats.mean"].form is Form.ALIAS
    assert entries["stats.mean"].target == "acme.mean"


def test_results_name_types_of_this_file_of_others_and_of_python():
    entries = read("""
        def table() -> dict[str, Tensor]: ...
        def maybe() -> Tensor | None: ...
        def cache() -> "Cache": ...
        def anything(): ...
        class Cache: ...
    """)
    assert entries["table"].returns == Type("builtins.dict", (Type("builtins.str"), Type("torch.Tensor")))
    assert entries["maybe"].returns == Type("typing.Union", (Type("torch.Tensor"), Type("builtins.None")))
    assert entries["cache"].returns == Type("acme.Cache")
    assert entries["anything"].returns == Type("")


def test_from_t_to_t_is_the_argument_itself():
    entries = read("""
        def constrain(spec, x: T) -> T: ...
        class Registry:
            def add(self, function: T) -> T: ...
            @staticmethod
            def keep(function: T) -> T: ...
    """)
    assert [entries[name].gives for name in ("constrain", "Registry.add", "Registry.keep")] == [1, 0, 0]


def test_changed_are_arguments_self_and_what_is_written_to():
    entries = read("""
        def push(heap: Changed, item): ...
        def add(a, b, *, out: Changed[Tensor]): ...
        class Cache:
            def put(self: Changed, key, value): ...
    """)
    assert entries["push"].changes == (Parameter(0, "heap"),)
    assert entries["add"].changes == (Parameter(-1, "out"),)
    assert entries["Cache.put"].changes_self
    assert entries["Cache.put"].changes == ()


def test_an_overload_without_the_effect_says_which_arguments_spare_it():
    entry = read("""
        @overload
        @does.clock
        def stamp(): ...
        @overload
        def stamp(seconds: float): ...
    """)["stamp"]
    assert effect(entry).doing is Doing.CLOCK
    assert effect(entry).pure_with == 1


def test_classes_have_bases_members_and_may_stand_for_modules():
    entries = read("""
        import threading

        class Lock(threading.Lock): ...

        @surrounds
        class timed: ...

        @submodule
        class metrics:
            class Gauge:
                @property
                @does.environ_read
                def value(self) -> float: ...
    """)
    assert entries["Lock"].bases == ("threading.Lock",)
    assert entries["timed"].surrounds
    assert entries["metrics"].form is Form.MODULE
    assert entries["metrics.Gauge.value"].form is Form.VARIABLE


def test_an_import_under_its_own_name_is_a_name_of_the_module():
    assert read("from torch import Tensor as Tensor")["Tensor"].target == "torch.Tensor"


def test_names_mean_what_the_imports_say():
    entries = stubs.read("acme.pyi", "import nonstrict.models.does as what\n@what.io\ndef read(): ...\n", "acme")
    assert effect(entries["read"]).doing is Doing.IO


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("def f(:", 5, "The model is not valid Python"),
        ("print('hello')", 5, "A model only describes names"),
        ("if True:\n    def f(): ...", 5, "A model only describes names"),
        ("def f():\n    return 1", 6, "Functions of a model have no body"),
        ("\n@does.journal\ndef f(): ...", 6, "`nonstrict.models.does` has no `journal`"),
        ("@does.io(3)\ndef f(): ...", 5, "`does.io` takes one phrase"),
        ("@does.io('')\ndef f(): ...", 5, "`does.io` takes one phrase"),
        ("@cached\ndef f(): ...", 5, "`cached` is not defined"),
        ("@abs\ndef f(): ...", 5, "`abs` says nothing that models know"),
        ("def f() -> Missing: ...", 5, "`Missing` is not defined"),
        ("def f() -> 'a b': ...", 5, "`a b` is not a type"),
        ("class A(Missing): ...", 5, "`Missing` is not defined"),
        ("x = 1", 5, "`1` is not a name"),
        ("x[0] = abs", 5, "Only names can be described"),
        ("from . import other", 5, "A model imports by whole names only"),
        ("from nonstrict.models.terms import Frozen", 5, "`nonstrict.models.terms` has no `Frozen`"),
        ("x = '\0'", 1, "The model is not valid Python"),
    ],
)
def test_what_a_model_cannot_say_is_told_with_its_line(text, row, message):
    with pytest.raises(ModelError) as caught:
        stubs.read("acme.pyi", HEAD + text, "acme")
    assert caught.value.row == row
    assert message in caught.value.message
    assert caught.value.advice[:1].islower()
    assert not caught.value.advice.endswith(".")
