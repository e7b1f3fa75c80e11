"""Lines of generated code are traced to the user's lines by what Inductor notes of its kernels."""

from __future__ import annotations

import pytest

from nonstrict_agent.code_lines import origins_of

MODEL = "/project/model.py"
CODE = """\
# AOT ID: ['0_inference']
import torch

cpp_fused_sin_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
void kernel(const float* in_ptr0)
{
}
''')

class Runner:
    def call(self, args):
        # [Provenance debug handles] cpp_fused_sin_0:1
        cpp_fused_sin_0(arg0_1, buf0)
        # [Provenance debug handles] extern_kernels.mm:2
        extern_kernels.mm(buf0, arg1_1, out=buf1)
        return (buf1, )
"""


def rows(kernels: dict[str, list[tuple[str, int]]]) -> dict[int, list[int]]:
    """The user's rows by line of the code, which count from 0."""
    found: dict[int, list[int]] = {}
    for line, path, row in origins_of(CODE, kernels):
        assert path == MODEL
        found.setdefault(line, []).append(row)
    return found


def test_a_kernel_with_its_calls_and_a_call_of_a_library():
    kernels = {"cpp_fused_sin_0:1": [(MODEL, 6), (MODEL, 7)], "extern_kernels.mm:2": [(MODEL, 8)]}
    body = {line: [6, 7] for line in range(3, 8)}
    assert rows(kernels) == {**body, 11: [6, 7], 12: [6, 7], 13: [8], 14: [8]}


def test_a_kernel_that_is_called_twice_belongs_to_the_lines_of_both_calls():
    found = rows({"cpp_fused_sin_0:1": [(MODEL, 6)], "cpp_fused_sin_0:5": [(MODEL, 9), (MODEL, 6)]})
    assert found[4] == [6, 9]
    assert found[12] == [6]


@pytest.mark.parametrize("kernels", [{}, {"cpp_fused_cos_1:1": [(MODEL, 3)]}])
def test_nothing_is_known_of_code_without_notes(kernels: dict[str, list[tuple[str, int]]]):
    assert rows(kernels) == {}
