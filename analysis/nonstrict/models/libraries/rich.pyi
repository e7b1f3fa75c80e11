"""What rich does: its API reference."""

from tqdm import tqdm

from nonstrict.models import does
from nonstrict.models.terms import submodule

@does.stdout
def print(*objects): ...

inspect = print_json = print

@submodule
class console:
    class Console:
        @does.stdout
        def print(self, *objects): ...
        input = log = out = print_json = rule = status = print

@submodule
class pretty:
    @does.stdout
    def pprint(object): ...

@submodule
class progress:
    @does.progress
    def track(sequence) -> tqdm: ...

    @does.progress
    class Progress:
        @does.progress
        def update(self, task_id): ...
        add_task = advance = start = stop = update
