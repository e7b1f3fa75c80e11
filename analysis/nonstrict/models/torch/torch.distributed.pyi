"""What `torch.distributed` does besides its collectives: the documentation of torch 2.13, and measurements."""

from nonstrict.models import does
from nonstrict.models.terms import T, submodule

@does.stdout
def breakpoint(rank): ...
@does.torch_state("changes torch's process groups")
def init_process_group(backend): ...

destroy_process_group = init_device_mesh = new_group = init_process_group

@submodule
class fsdp:
    def fully_shard(module: T) -> T: ...

@submodule
class tensor:
    def distribute_module(module: T) -> T: ...
    @submodule
    class parallel:
        def parallelize_module(module: T) -> T: ...
