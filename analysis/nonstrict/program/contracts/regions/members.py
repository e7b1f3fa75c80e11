"""What `torch.nn.Module` (torch 2.13) has that tells of a module, changes it, or has it run."""

from __future__ import annotations

from nonstrict.models.members import RETURNING_MODULE

#: What runs the module, compiled.
CALLING = frozenset({"forward", "__call__"})
#: What hands on the module itself, or what is inside the wrapper of `torch.compile`: what is done with it is not seen.
TELLING = frozenset(
    {
        *("_orig_mod", "_torchdynamo_orig_callable", "dynamo_ctx", "get_compiler_config", "_call_impl"),
        *("apply", "children", "compile", "get_submodule", "modules", "named_children", "named_modules"),
        *("__dict__", "__class__", "__getattr__"),
    }
)
#: What tells of parameters, buffers and state, registers hooks, or sets the mode: nothing is computed.
BENIGN = RETURNING_MODULE | frozenset(
    {
        *("add_module", "buffers", "extra_repr", "get_buffer", "get_extra_state", "get_parameter", "load_state_dict"),
        *("named_buffers", "named_parameters", "parameters", "register_backward_hook", "register_buffer"),
        *("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"),
        *("register_full_backward_pre_hook", "register_load_state_dict_post_hook"),
        *(
            "register_load_state_dict_pre_hook",
            "register_module",
            "register_parameter",
            "register_state_dict_post_hook",
        ),
        *("register_state_dict_pre_hook", "set_extra_state", "set_submodule", "state_dict", "training", "zero_grad"),
    }
)
