"""The cases of torch's own tests in which CUDA graphs are skipped, split or recorded anew, and what is said of them."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """\
## The cases of torch's tests

`test/inductor/test_cudagraph_trees.py` has the cases that torch's developers skip, split and record anew for. This is
what NST808 says of each kind of them, and where it says nothing, the reason.

"""
_NOTHING = "nothing: "


class Case(NamedTuple):
    """What some tests do, which they are, and what NST808 says of it."""

    does: str
    tests: tuple[str, ...]
    told: str


CASES = (
    Case(
        "an argument is changed in place, also by `out=`",
        ("test_mutation_on_inp", "test_mutation_reinplaced", "test_cudagraph_or_error"),
        "skipped",
    ),
    Case("a plain tensor of a module is changed", ("test_tensor_constant_mutation",), f"{_NOTHING}captured"),
    Case(
        "what another region gave is changed, in a step",
        ("test_mutation_cudagraph_managed_tensors", "test_mutation_cudagraph_managed_tensor_warn_only_once"),
        f"{_NOTHING}captured",
    ),
    Case("`weight.data *= mask`", ("test_input_storage_mutation_skips_cudagraphs",), "skipped"),
    Case(
        "a part is computed on the CPU",
        ("test_graph_partition", "test_graph_partition_log_message", "test_graph_partition_forward_backward"),
        "left out, where the region copies to the CPU or makes it there; of what is passed from there, the copy",
    ),
    Case(
        "a tensor of the CPU without dimensions",
        ("test_graph_partition_cpu_scalar1", "test_graph_partition_cpu_scalar_multiple"),
        "left out",
    ),
    Case(
        "two GPUs",
        ("test_multiple_devices_msg", "test_graph_partition_multiple_devices_msg"),
        "skipped, where the region names both; on which device arguments are is not known",
    ),
    Case("dynamic shapes, with `cudagraph_skip_dynamic_graphs`", ("test_skip_symbolic",), "skipped"),
    Case(
        "many sizes",
        ("test_skip_if_dynamic_shape_limit_reached1", "test_graph_partition_dynamic_shapes", "test_run_simple"),
        "recorded for each value, from three on",
    ),
    Case(
        "`nonzero()`, with `capture_dynamic_output_shape_ops`",
        ("test_incompatible_cudagraph_ops_nonzero", "test_incompatible_cudagraph_ops_nonzero_graph_breaks"),
        "left out",
    ),
    Case(
        "`item()`, with `capture_scalar_outputs`",
        ("test_incompatible_cudagraph_ops_item",),
        f"{_NOTHING}it is left out only where the number leaves the graph",
    ),
    Case(
        "assignment through a mask",
        ("test_index_put_boolean_fallback_partitions_cudagraphs",),
        f"{_NOTHING}captured",
    ),
    Case("`cpp_wrapper`", ("test_skip_cpp_wrapper",), "skipped"),
    Case(
        "a custom operator with the tag `cudagraph_unsafe`",
        ("test_skip_cudagraph_unsafe_ops", "test_graph_partition_custom_op", "test_cudagraph_unsafe_unbacked_ops"),
        f"{_NOTHING}its author asks for it",
    ),
    Case(
        "operators that an option names, small graphs, a policy",
        ("test_graph_partition_custom_rule", "test_cudagraph_min_partition_size_skip_small", "test_should_wrap_false"),
        f"{_NOTHING}the options ask for it",
    ),
    Case(
        "`override_cudagraphs`",
        ("test_cudagraph_annotation_disable", "test_cudagraph_annotation_enable"),
        f"{_NOTHING}the program asks for it",
    ),
    Case(
        "a parameter or buffer is replaced by another object",
        ("test_multi_dispatch_single_compile_param_inputs", "test_rerecord_if_static_input_address_changed"),
        f"{_NOTHING}out of reach, as the text does not tell how many objects there are",
    ),
    Case(
        "switched off in the backward pass, or by what a cache has",
        ("test_forward_with_skipped_cudagraphed_backward", "test_cache_hit_forward_miss_backward"),
        f"{_NOTHING}out of reach, as only tests of torch have such a switch",
    ),
    Case(
        "`multinomial`, `topk`",
        ("test_multinomial", "test_topk_skips_cudagraph_on_hip"),
        f"{_NOTHING}captured on CUDA",
    ),
)


def page() -> str:
    """The section for readers."""
    rows = (f"| {one.does} | {', '.join(f'`{test}`' for test in one.tests)} | {one.told} |\n" for one in CASES)
    return f"{HEAD}| what is done | tests | NST808 |\n| --- | --- | --- |\n{''.join(rows)}"
