"""All rules by code, in the order of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.rules import (
    nst101_global_tensor_capture,
    nst102_closure_tensor_capture,
    nst103_module_capture,
    nst104_mutable_state_capture,
    nst105_module_mode_capture,
    nst106_unguarded_argument_property,
    nst107_marked_function_rebinding,
    nst201_io_side_effect,
    nst202_input_mutation,
    nst203_outer_mutation,
    nst204_captured_tensor_mutation,
    nst205_torch_global_state,
    nst207_traced_tensor_leak,
    nst208_input_data_rebinding,
    nst209_hook_side_effect,
    nst210_escaping_exception,
    nst211_thread_handoff,
    nst301_nondeterminism,
    nst302_generator_argument,
    nst401_data_ptr,
    nst402_tensor_escape,
    nst403_opaque_native_call,
    nst901_syntax_error,
    nst902_unused_suppression,
    nst903_invalid_configuration,
)

if TYPE_CHECKING:
    from nonstrict.rules.base import Rule

_MODULES = (
    nst101_global_tensor_capture,
    nst102_closure_tensor_capture,
    nst103_module_capture,
    nst104_mutable_state_capture,
    nst105_module_mode_capture,
    nst106_unguarded_argument_property,
    nst107_marked_function_rebinding,
    nst201_io_side_effect,
    nst202_input_mutation,
    nst203_outer_mutation,
    nst204_captured_tensor_mutation,
    nst205_torch_global_state,
    nst207_traced_tensor_leak,
    nst208_input_data_rebinding,
    nst209_hook_side_effect,
    nst210_escaping_exception,
    nst211_thread_handoff,
    nst301_nondeterminism,
    nst302_generator_argument,
    nst401_data_ptr,
    nst402_tensor_escape,
    nst403_opaque_native_call,
    nst901_syntax_error,
    nst902_unused_suppression,
    nst903_invalid_configuration,
)

#: Every rule, by its code.
RULES: dict[str, Rule] = {module.RULE.code: module.RULE for module in _MODULES}
