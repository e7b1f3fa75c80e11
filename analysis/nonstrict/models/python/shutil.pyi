"""What `shutil` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("copies or removes files")
def chown(path, user, group): ...

copy = copy2 = copyfile = copyfileobj = copymode = copystat = copytree = make_archive = move = rmtree = chown
unpack_archive = chown

@does.io("reads the file system")
def disk_usage(path) -> tuple: ...
@does.io("reads the file system")
def get_terminal_size(fallback): ...
@does.io("reads the file system")
def which(cmd, mode, path) -> str: ...
