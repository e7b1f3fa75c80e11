"""What `torch.cuda` does: its documentation and measurements, of torch 2.13."""

from torch import autocast

from nonstrict.models import does

@does.torch_query("reads the device's memory")
def clock_rate(device): ...

max_memory_allocated = max_memory_reserved = mem_get_info = memory_allocated = memory_cached = clock_rate
memory_reserved = memory_snapshot = memory_stats = memory_summary = memory_usage = power_draw = clock_rate
temperature = utilization = clock_rate

@does.torch_state("changes CUDA's memory")
def empty_cache(): ...

ipc_collect = reset_accumulated_memory_stats = reset_peak_memory_stats = empty_cache
set_per_process_memory_fraction = empty_cache

@does.torch_query("reads torch's random state")
def get_rng_state(device): ...

initial_seed = get_rng_state

@does.torch_state("changes the current device")
def init(): ...

set_device = set_stream = set_sync_debug_mode = init

@does.torch_state("seeds torch's random generator")
def manual_seed(seed): ...

manual_seed_all = seed = seed_all = manual_seed

@does.torch_state("sets torch's random state")
def set_rng_state(new_state, device): ...

set_rng_state_all = set_rng_state

@does.torch_guarded("waits for the device")
def synchronize(device): ...

class Event:
    @does.torch_query("queries the progress of the device")
    def elapsed_time(self, end_event): ...
    query = elapsed_time
    @does.torch_guarded("waits for the device")
    def record(self, stream): ...
    synchronize = wait = record

class Stream:
    @does.torch_query("queries the progress of the device")
    def query(self): ...
    @does.torch_guarded("waits for the device")
    def synchronize(self): ...
    wait_event = wait_stream = synchronize

amp.autocast = autocast
memory.empty_cache = empty_cache
memory.max_memory_allocated = max_memory_allocated
memory.mem_get_info = mem_get_info
memory.memory_allocated = memory_allocated
memory.reset_peak_memory_stats = reset_peak_memory_stats
