"""Facts about torch's operators, as `nonstrict.knowledge.operators` answers them."""

from __future__ import annotations

import pytest

from nonstrict.knowledge.operators import (
    canonical_name,
    is_array_member,
    is_tensor_only_member,
    nn_module,
    tensor_attribute,
    tensor_method,
    torch_function,
    torch_kind,
)


def method(name):
    found = tensor_method(name)
    assert found is not None, name
    return found


def function(name):
    found = torch_function(name)
    assert found is not None, name
    return found


IN_PLACE = (
    "add_ mul_ copy_ zero_ fill_ masked_fill_ index_put_ clamp_ scatter_ resize_ set_ __iadd__ __imul__ __setitem__"
)


@pytest.mark.parametrize("name", IN_PLACE.split())
def test_in_place_methods_write_self(name):
    assert 0 in method(name).mutates


@pytest.mark.parametrize(
    "name", ["add", "mul", "clone", "sum", "view", "detach", "__add__", "masked_fill", "item", "where", "size"]
)
def test_other_methods_write_nothing(name):
    assert method(name).mutates == ()


@pytest.mark.parametrize(
    "name", ["item", "tolist", "numpy", "equal", "allclose", "is_nonzero", "__bool__", "__int__", "__float__"]
)
def test_data_is_read_by_python(name):
    assert method(name).data_dependent


@pytest.mark.parametrize(
    "name", ["add", "sum", "max", "size", "shape_as", "clone", "view", "arange", "gather", "softmax"]
)
def test_data_stays_in_the_graph(name):
    found = tensor_method(name)
    assert found is None or not found.data_dependent


def test_functions_of_numbers_read_no_data():
    for name in ("arange", "zeros", "ones", "full", "linspace", "where", "tensor", "stack", "rand"):
        assert not function(f"torch.{name}").data_dependent, name
    for name in ("relu", "softmax", "layer_norm", "dropout", "linear", "cross_entropy", "conv2d", "max_pool2d"):
        assert not function(f"torch.nn.functional.{name}").data_dependent, name


@pytest.mark.parametrize("name", ["nonzero", "unique", "masked_select", "unique_consecutive", "bincount", "argwhere"])
def test_dynamic_shapes(name):
    assert method(name).dynamic_shape


def test_where_is_dynamic_only_with_one_argument():
    assert not function("torch.where").dynamic_shape
    assert function("torch.where").dynamic_arity == 1
    assert function("torch.where").returns == "tensor"


@pytest.mark.parametrize(
    "name", ["numel", "size", "dim", "stride", "is_contiguous", "new_zeros", "new_empty", "element_size"]
)
def test_metadata_methods(name):
    assert method(name).metadata


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "numel"])
def test_metadata_functions(name):
    assert function(f"torch.{name}").metadata


@pytest.mark.parametrize("name", ["add", "type", "clone", "sum", "to", "float", "view", "data_ptr", "__getitem__"])
def test_methods_that_use_data(name):
    assert not method(name).metadata


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "any", "all", "prod", "std", "var", "norm", "argmax"])
def test_reductions(name):
    assert method(name).reduces


@pytest.mark.parametrize("name", ["add", "relu", "softmax", "det", "view", "cumsum"])
def test_no_reductions(name):
    assert not method(name).reduces


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("add", "tensor"),
        ("split", "tensors"),
        ("topk", "tensors"),
        ("numel", "number"),
        ("size", "size"),
        ("is_contiguous", "bool"),
        ("backward", "none"),
        ("item", "number"),
        ("unbind", "tensors"),
        ("max", "tensor"),
        ("unique", "tensor"),
        ("__len__", "number"),
        ("stride", "size"),
    ],
)
def test_kinds_of_results(name, kind):
    assert method(name).returns == kind


def test_results_that_change_with_dim():
    assert method("max").dim_returns == "tensors"
    assert method("size").dim_returns == "number"
    assert method("sum").dim_returns == ""


@pytest.mark.parametrize(
    "name",
    ["view", "t", "transpose", "expand", "reshape", "detach", "split", "unbind", "add_", "squeeze", "contiguous"],
)
def test_views(name):
    assert method(name).views


@pytest.mark.parametrize("name", ["clone", "add", "sum", "softmax"])
def test_fresh_results(name):
    assert not method(name).views


def test_random_functions():
    for name in (
        "torch.rand",
        "torch.randn_like",
        "torch.bernoulli",
        "torch.nn.functional.dropout",
        "torch.multinomial",
    ):
        assert function(name).random, name
    assert not function("torch.zeros").random


def test_arguments_of_functions():
    assert function("torch.nn.functional.batch_norm").mutates == (1, 2)
    assert function("torch.nn.functional.relu").inplace
    assert function("torch.add").out
    assert function("torch.nn.init.normal_").mutates == (0,)


def test_spellings_of_one_operator():
    assert function("torch.ops.aten.add_.Tensor").mutates == (0,)
    assert function("torch.Tensor.add_").mutates == (0,)
    assert function("torch._VF.dropout").random
    assert function("torch.ops.aten.linalg_det").returns == "tensor"
    assert torch_function("torch.nn.Linear") is None
    assert torch_function("numpy.add") is None


def test_attributes():
    for name, kind in {"T": "tensor", "grad": "tensor", "shape": "size", "dtype": "dtype", "ndim": "number"}.items():
        assert tensor_attribute(name) == kind
    assert tensor_attribute("requires_grad") == "bool"
    assert tensor_attribute("device") == "device"
    assert tensor_attribute("add") is None


def test_members_that_only_tensors_have():
    for name in ("add_", "detach_", "unsqueeze", "requires_grad", "backward", "masked_fill"):
        assert is_tensor_only_member(name), name
    for name in (
        "append",
        "pop",
        "update",
        "count",
        "index",
        "to",
        "cuda",
        "split",
        "float",
        "copy",
        "name",
        "device",
        "dtype",
    ):
        assert not is_tensor_only_member(name), name
    assert is_array_member("sum")
    assert not is_array_member("unsqueeze")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch", "module"),
        ("torch.nn", "module"),
        ("torch.nn.Linear", "nn-module-class"),
        ("torch.float32", "dtype"),
        ("torch.Tensor", "tensor-class"),
        ("torch.nn.Parameter", "tensor-class"),
        ("torch.pi", "constant"),
        ("torch.no_grad", "context-manager"),
        ("torch.Generator", "generator-class"),
        ("torch.add", "function"),
        ("torch.optim.SGD", "optimizer-class"),
        ("torch.autograd.Function", "autograd-function"),
        ("torch.nothing_of_this_name", None),
        ("numpy.add", None),
    ],
)
def test_kinds_of_names(name, kind):
    assert torch_kind(name) == kind


def test_canonical_names():
    assert canonical_name("torch.nn.modules.linear.Linear") == "torch.nn.Linear"
    assert canonical_name("torch.nn.parameter.Parameter") == "torch.nn.Parameter"
    assert canonical_name("torch.nn.Linear") == "torch.nn.Linear"


MODE_DEPENDENT = "Dropout Dropout2d AlphaDropout BatchNorm1d BatchNorm2d SyncBatchNorm RReLU TransformerEncoderLayer"
NOT_MODE_DEPENDENT = "Linear Conv2d LayerNorm ReLU Embedding GroupNorm Identity MSELoss GRUCell Sequential"


@pytest.mark.parametrize("name", MODE_DEPENDENT.split())
def test_mode_dependent_modules(name):
    found = nn_module(f"torch.nn.{name}")
    assert found is not None
    assert found.mode_dependent
    assert found.mode_default


@pytest.mark.parametrize("name", NOT_MODE_DEPENDENT.split())
def test_modules_without_mode(name):
    found = nn_module(f"torch.nn.{name}")
    assert found is not None
    assert not found.mode_dependent


def test_mode_that_hangs_on_an_argument():
    recurrent = nn_module("torch.nn.modules.rnn.LSTM")
    assert recurrent is not None
    assert (recurrent.mode_dependent, recurrent.mode_argument, recurrent.mode_default) == (True, "dropout", False)
    dropout = nn_module("torch.nn.modules.dropout.Dropout")
    assert dropout is not None
    assert (dropout.name, dropout.mode_argument, dropout.mode_position) == ("torch.nn.Dropout", "p", 0)
    norm = nn_module("torch.nn.InstanceNorm2d")
    assert norm is not None
    assert not norm.mode_default


def test_parameters_and_containers():
    for name in ("Linear", "BatchNorm2d", "LSTM", "SyncBatchNorm", "PReLU", "MultiheadAttention"):
        found = nn_module(f"torch.nn.{name}")
        assert found is not None
        assert found.has_parameters, name
    for name in ("Sequential", "ModuleList", "ModuleDict"):
        found = nn_module(f"torch.nn.{name}")
        assert found is not None
        assert found.container
    assert nn_module("torch.nn.functional.relu") is None


@pytest.mark.parametrize(
    ("layer", "name", "expected"),
    [
        ("Linear", "weight", "parameter"),
        ("LSTM", "weight_ih_l0", "parameter"),
        ("GRU", "bias_hh_l3_reverse", "parameter"),
        ("MultiheadAttention", "q_proj_weight", "parameter"),
        ("BatchNorm2d", "running_mean", "buffer"),
        ("LSTM", "weight", ""),
        ("Sequential", "weight", ""),
        ("Linear", "in_features", ""),
    ],
)
def test_layers_register_parameters_and_buffers(layer: str, name: str, expected: str) -> None:
    found = nn_module(f"torch.nn.{layer}")
    assert found is not None
    assert found.registers(name) == expected


def test_wrappers_keep_the_module_that_they_are_given() -> None:
    wrapper, layer = nn_module("torch.nn.DataParallel"), nn_module("torch.nn.Linear")
    assert wrapper is not None
    assert layer is not None
    assert (wrapper.keeps, layer.keeps) == ((("module", 0),), ())


@pytest.mark.parametrize(
    ("name", "of", "named", "dtype"),
    [
        ("torch.bucketize", "float32", (), "int64"),
        ("torch.bucketize", "float32", ("out_int32",), ""),
        ("torch.bincount", "int64", ("minlength",), "int64"),
        ("torch.bincount", "int64", ("weights",), ""),
        ("torch.isfinite", "like $0", (), "bool"),
        ("torch.sin", "float16", (), "float16"),
        ("torch.sin", "int64", (), "default"),
        ("torch.sum", "bool", (), "int64"),
        ("torch.sum", "like $0", (), ""),
        ("torch.flip", "like $0", (), "like $0"),
        ("torch.add", "float32", (), ""),
        ("torch.sort", "float32", (), ""),
    ],
)
def test_dtype_of_a_result(name, of, named, dtype):
    assert function(name).result_dtype(of, named=named) == dtype


def test_dtypes_of_several_results_and_arguments_by_position():
    assert function("torch.sort").result_dtype("float32", at=0) == "float32"
    assert function("torch.sort").result_dtype("float32", at=1) == "int64"
    assert function("torch.bincount").result_dtype("int64", given=2) == ""
    assert [method("max").result_dtype("float16", at=at) for at in (0, 1)] == ["float16", "int64"]
    assert method("median").result_dtype("float16") == "float16"
    assert method("max").promotes, "the other argument may be a tensor of a higher dtype"
    assert [method("any").result_dtype(of) for of in ("float32", "uint8")] == ["bool", "uint8"]


@pytest.mark.parametrize("name", ["add", "sigmoid", "softmax", "eq", "lerp", "masked_fill", "cumsum", "clamp"])
def test_results_of_the_shape_of_the_arguments(name):
    assert method(name).pointwise


@pytest.mark.parametrize(
    "name", ["sum", "matmul", "transpose", "squeeze", "expand_as", "gather", "unsqueeze", "flatten", "diff", "reshape"]
)
def test_results_of_another_shape(name):
    assert not method(name).pointwise


@pytest.mark.parametrize("name", ["sin", "softmax", "mean", "norm", "div", "atan2", "float", "sigmoid", "logsumexp"])
def test_results_that_are_floating_point(name):
    assert method(name).gives_floating()


@pytest.mark.parametrize(
    "name", ["add", "sum", "pow", "clamp", "argmax", "floor_divide", "long", "flip", "max", "histc"]
)
def test_results_that_may_hold_whole_numbers(name):
    assert not method(name).gives_floating()


def test_an_argument_may_decide_whether_a_result_is_floating_point():
    assert not method("div").gives_floating(given=2, named=["rounding_mode"])
    assert method("softmax").gives_floating(given=2, named=["dim"])
    assert not method("softmax").gives_floating(named=["dtype"])
    assert not method("softmax").gives_floating(given=3), "the third is the dtype"


@pytest.mark.parametrize("name", ["ones", "empty", "randn", "eye", "linspace", "hann_window"])
def test_what_makes_tensors_of_the_default_dtype(name):
    assert function(f"torch.{name}").result_dtype("") == "default"
    assert function(f"torch.{name}").gives_floating()


@pytest.mark.parametrize("name", ["masked_scatter", "index_copy", "put"])
def test_operators_that_take_tensors_of_several_dtypes_keep_that_of_the_first(name):
    assert method(name).result_dtype("float32") == "float32"


@pytest.mark.parametrize(
    "name", ["sin", "flip", "roll", "sort", "cummax", "to", "type_as", "cuda", "scatter", "softmax", "tril", "clone"]
)
def test_results_of_the_shape_of_the_first_argument(name):
    assert method(name).keeps_shape


@pytest.mark.parametrize(
    "name", ["add", "where", "gather", "transpose", "topk", "expand_as", "repeat", "narrow", "sum"]
)
def test_results_of_a_shape_that_others_decide(name):
    assert not method(name).keeps_shape


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_sizes_may_be_given_together_or_one_by_one(name):
    assert (function(f"torch.{name}").sized, function(f"torch.{name}").spread) == (True, True)


def test_what_is_made_of_sizes():
    assert (function("torch.full").sized, function("torch.full").spread) == (True, False)
    assert (method("new_zeros").sized, method("new_zeros").spread) == (True, True)
    for name in ("torch.eye", "torch.arange", "torch.tensor", "torch.randint", "torch.reshape", "torch.zeros_like"):
        assert not function(name).sized, name
    assert not method("view").sized


def test_what_makes_another_tensor_like_one():
    for name in ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"):
        assert function(f"torch.{name}").like, name
    for name in ("clone", "new_zeros", "isreal", "sin"):
        assert not method(name).like, name


def test_what_cuts_a_tensor_into_pieces_that_share_its_memory():
    for name in ("chunk", "split", "unbind", "tensor_split", "hsplit", "split_with_sizes"):
        assert method(name).cuts, name
    for name in ("topk", "sort", "view", "unsafe_chunk", "nonzero"):
        assert not method(name).cuts, name


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "clamp", "bitwise_or", "pow", "floor_divide"])
def test_what_promotes_the_dtypes_of_its_operands(name):
    assert method(name).promotes
    assert method(name).result_dtype("float32") == "", "the other operand may be of a higher dtype"


@pytest.mark.parametrize("name", ["div", "eq", "neg", "masked_fill", "gather", "clamp_", "sum"])
def test_what_does_not_promote(name):
    assert not method(name).promotes


@pytest.mark.parametrize(
    ("name", "at"),
    [("sum", 1), ("logsumexp", 1), ("max", 1), ("mode", 1), ("norm", 2), ("quantile", 2), ("kthvalue", 2)],
)
def test_where_the_dimension_stands_over_which_an_operator_reduces(name, at):
    assert method(name).dim == at


@pytest.mark.parametrize("name", ["softmax", "cumsum", "topk", "sort", "select", "squeeze", "unbind", "argsort", "add"])
def test_what_keeps_its_dimensions_or_cuts_along_them(name):
    assert method(name).dim == 0


def test_values_and_their_indices():
    for name in ("sort", "topk", "mode", "kthvalue", "cummax", "max", "median"):
        assert method(name).pairs, name
    for name in ("frexp", "argmax", "amax", "unique", "std"):
        assert not method(name).pairs, name
