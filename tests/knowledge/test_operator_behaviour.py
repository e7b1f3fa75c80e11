"""What operators share with their operands and make of their values, as `nonstrict.knowledge.operators` answers it."""

from __future__ import annotations

from nonstrict.knowledge.operators import (
    is_module_member,
    is_sizeless_member,
    nn_module,
    rebinds,
    reshapes,
    tensor_method,
    torch_function,
)


def method(name):
    found = tensor_method(name)
    assert found is not None, name
    return found


def function(name):
    found = torch_function(name)
    assert found is not None, name
    return found


def having(column, names):
    return " ".join(name for name in names.split() if getattr(method(name), column))


def test_what_gives_its_operand_itself_or_a_copy():
    casts = "to type type_as float double half bfloat16 cfloat long int short char byte bool cuda cpu"
    assert having("casts", casts) == casts
    assert having("casts", "contiguous clone view flatten detach view_as add cpu") == "cpu"
    assert function("torch.as_tensor").casts
    assert (
        having("itself_or_copy", "to contiguous resolve_conj reshape flatten clone view")
        == "to contiguous resolve_conj"
    )


def test_what_copies_where_the_layout_asks_for_it():
    names = "contiguous reshape reshape_as flatten ravel resolve_conj resolve_neg"
    assert having("lays_out", f"{names} view to clone transpose expand") == names
    assert function("torch.ravel").lays_out


def test_what_puts_dimensions_in_another_order():
    names = "t transpose permute movedim moveaxis swapaxes swapdims adjoint"
    assert having("permutes", f"{names} view flatten rot90 expand unsqueeze clone diagonal") == names


def test_what_changes_a_tensor_and_not_its_elements():
    names = "squeeze_ unsqueeze_ t_ transpose_ as_strided_ resize_ resize_as_ detach_ requires_grad_ retain_grad"
    assert " ".join(filter(rebinds, f"{names} share_memory_ add_ set_ zero_".split())) == f"{names} share_memory_"
    assert " ".join(filter(reshapes, f"{names} set_ add_".split())) == f"{names} set_".replace(
        " detach_ requires_grad_ retain_grad", ""
    )


def test_what_no_gradient_flows_through():
    names = "detach histc floor_divide unique new_zeros"
    assert having("detaches", f"{names} sin clone to view relu sign") == names
    cutting = "detach item tolist numpy long int bool short byte argmax"
    assert having("cuts_gradients", f"{cutting} float to sum sin view") == cutting


def test_what_the_tracer_computes():
    assert having(
        "folds", "sqrt add pow clamp view to float sort topk split gather bernoulli tolist normal_ where"
    ) == ("sqrt add pow clamp view to float sort topk split gather")
    assert function("torch.where").folds_tensors
    for name, known in {
        "tensor": True,
        "full_like": True,
        "stack": True,
        "scalar_tensor": False,
        "rand": False,
    }.items():
        assert function(f"torch.{name}").folds is known, name


def test_what_wants_to_know_a_number_that_is_a_size():
    for name in ("linspace", "logspace", "chunk", "split", "tensor_split", "fft.fftfreq"):
        assert function(f"torch.{name}").specializes, name
    for name in ("arange", "zeros", "narrow", "topk", "repeat_interleave", "split_with_sizes"):
        assert not function(f"torch.{name}").specializes, name


def test_what_the_values_of_a_result_are():
    names = "clone contiguous cpu detach double float half to"
    assert having("keeps_values", f"{names} abs long sin neg round flip") == names
    for name in ("tensor", "as_tensor", "asarray", "from_numpy", "scalar_tensor"):
        assert function(f"torch.{name}").of_data, name
    assert not function("torch.full").of_data


def test_what_an_operator_makes_of_its_own_result():
    settling = (
        "abs ceil clamp clamp_max clip fix floor fmod maximum nan_to_num relu remainder round sign sort trunc unique"
    )
    changing = "add add_ cos cumsum div exp flip log mul neg permute pow roll sigmoid sin softmax sqrt t tanh unsqueeze"
    assert having("settles", f"{settling} {changing} clone") == settling
    assert having("changes", f"{settling} {changing} clone") == changing
    assert function("torch.nn.functional.gelu").changes
    assert not function("torch.rand").changes


def test_numbers_that_are_sizes():
    names = "split chunk as_strided expand narrow repeat repeat_interleave reshape tile topk unfold view"
    assert having("takes_sizes", f"{names} select roll sum transpose add unbind") == names
    for name in ("arange", "eye", "linspace", "randint", "randperm", "zeros"):
        assert function(f"torch.{name}").takes_sizes, name


def test_what_holds_what_the_memory_held():
    for name in ("empty", "empty_like", "empty_strided"):
        assert function(f"torch.{name}").uninitialised, name
    for name in ("zeros", "full", "arange", "tensor", "corrcoef"):
        assert not function(f"torch.{name}").uninitialised, name


def test_what_makes_one_tensor_of_several():
    for name in ("cat", "stack", "hstack", "column_stack"):
        assert function(f"torch.{name}").joins, name
    assert not function("torch.add").joins


def test_members_that_tell_no_sizes():
    for name in ("dtype", "device", "ndim", "dim", "is_contiguous", "element_size", "requires_grad", "itemsize"):
        assert is_sizeless_member(name), name
    for name in ("shape", "size", "numel", "nbytes", "stride", "data_ptr", "T"):
        assert not is_sizeless_member(name), name


def test_members_of_every_module():
    assert is_module_member("forward")
    assert is_module_member("training")
    assert not is_module_member("weight")


def test_layers_that_are_a_function_which_drops():
    dropout, relu = nn_module("torch.nn.Dropout2d"), nn_module("torch.nn.ReLU")
    assert dropout is not None
    assert relu is not None
    assert (dropout.drops, relu.drops) == ("torch.nn.functional.dropout2d", "")


def test_where_the_dimension_stays():
    places = {"sum": 2, "max": 2, "argmax": 2, "std": 3, "var": 3, "quantile": 3, "norm": 3, "aminmax": 0, "relu": 0}
    assert {name: method(name).keepdim for name in places} == places
    assert function("torch.norm").keepdim == function("torch.linalg.vector_norm").keepdim == 3
    assert function("torch.sum").keeping(["x", 0, "kept"], {}, "") == "kept"
    assert function("torch.std").keeping(["x", 0, "unbiased"], {}, "") == ""
    assert function("torch.std").keeping(["x", 0], {"keepdims": "kept"}, "") == "kept"
