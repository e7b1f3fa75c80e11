"""What `torch.nn` does besides its operators: the source of torch 2.13, and measurements."""

from typing import Self

from torch import Tensor

from nonstrict.models import does
from nonstrict.models.terms import Changed, T, submodule

class Module:
    # Those annotated `-> Self`, and those of containers that return the container.
    def to(self: Changed) -> Self: ...
    apply = bfloat16 = cpu = cuda = double = eval = float = half = ipu = mtia = requires_grad_ = share_memory = to
    to_empty = train = type = xpu = append = extend = to
    # What tells of the module.
    def parameters(self, recurse): ...
    buffers = children = extra_repr = get_buffer = get_parameter = get_submodule = modules = state_dict = parameters
    named_buffers = named_children = named_modules = named_parameters = parameters
    def zero_grad(self: Changed, set_to_none): ...
    @does.hook("registers a hook on a module")
    def register_forward_hook(self, hook): ...
    register_backward_hook = register_forward_pre_hook = register_full_backward_hook = register_forward_hook
    register_full_backward_pre_hook = register_load_state_dict_post_hook = register_forward_hook
    register_state_dict_pre_hook = register_forward_hook

class Parameter(Tensor): ...
class Buffer(Tensor): ...

parameter.Parameter = Parameter
modules.module.Module = modules.Module = Module

@submodule
class modules:
    @submodule
    class module:
        @does.hook("registers a hook for all modules")
        def register_module_forward_hook(hook): ...
        register_module_backward_hook = register_module_forward_pre_hook = register_module_forward_hook
        register_module_full_backward_hook = register_module_forward_hook

@submodule
class utils:
    def clip_grad_norm_(parameters, max_norm) -> Tensor: ...
    get_total_norm = parameters_to_vector = clip_grad_norm_
    def weight_norm(module: T) -> T: ...
    remove_spectral_norm = remove_weight_norm = spectral_norm = weight_norm

    @submodule
    class parametrizations:
        def weight_norm(module: T) -> T: ...
        orthogonal = spectral_norm = weight_norm

    @submodule
    class parametrize:
        def register_parametrization(module: T, tensor_name, parametrization) -> T: ...
        def remove_parametrizations(module: T, tensor_name) -> T: ...

    @submodule
    class prune:
        def identity(module: T, name) -> T: ...
        l1_unstructured = ln_structured = random_unstructured = remove = identity

utils.clip_grad.clip_grad_norm_ = utils.clip_grad_norm_
utils.convert_parameters.parameters_to_vector = utils.parameters_to_vector

class SyncBatchNorm(Module):
    @classmethod
    def convert_sync_batchnorm(cls, module: T) -> T: ...
