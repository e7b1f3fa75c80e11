"""What tqdm does: its API reference. Iterating a bar gives what it was given."""

from nonstrict.models import does

@does.progress
class tqdm:
    @does.progress
    def update(self, n): ...
    clear = close = display = refresh = reset = set_description = set_description_str = set_postfix = update
    set_postfix_str = write = update

@does.progress
def trange(*args) -> tqdm: ...
@does.progress
def write(s): ...

auto.tqdm = notebook.tqdm = std.tqdm = rich.tqdm = asyncio.tqdm = tqdm
auto.trange = notebook.trange = std.trange = trange
