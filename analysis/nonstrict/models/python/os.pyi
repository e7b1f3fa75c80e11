"""What `os` does: the documentation of Python 3.14."""

from collections.abc import Iterator
from io import TextIOWrapper

from nonstrict.models import does
from nonstrict.models.terms import submodule

@does.exit("ends the process")
def _exit(status): ...

abort = kill = killpg = _exit

@does.io("reads the file system")
def access(path, mode) -> bool: ...

isatty = access

@does.io("changes the working directory")
def chdir(path) -> None: ...
@does.io("changes the file system")
def chflags(path, flags, follow_symlinks): ...

chmod = chown = fchmod = fchown = lchflags = lchmod = lchown = link = mkfifo = mknod = removexattr = chflags
setxattr = symlink = utime = chflags

@does.io("changes the working directory")
def chroot(path): ...

fchdir = chroot

@does.io("closes a file")
def close(fd): ...

closerange = close

@does.io("reads a file")
def copy_file_range(src, dst, count, offset_src): ...

getxattr = listxattr = pread = preadv = readv = splice = copy_file_range

def cpu_count() -> int: ...

process_cpu_count = cpu_count

@does.io("opens a pipe")
def dup(fd): ...

dup2 = pipe = pipe2 = dup

@does.io("opens a file")
def eventfd(initval, flags): ...

memfd_create = openpty = eventfd

@does.program("replaces the process")
def execl(file, *args): ...

execle = execlp = execlpe = execv = execve = execvp = execvpe = execl

@does.io("writes to a file")
def fdatasync(fd): ...

fsync = ftruncate = pwrite = pwritev = sendfile = sync = truncate = write = writev = fdatasync

@does.io("opens a file")
def fdopen(fd, mode, buffering, encoding) -> TextIOWrapper: ...

popen = fdopen

@does.program("starts a process")
def fork(): ...

forkpty = posix_spawn = posix_spawnp = spawnl = spawnle = spawnlp = spawnlpe = spawnv = spawnve = spawnvp = fork
spawnvpe = startfile = system = fork

@does.io("reads the file system")
def fpathconf(fd, name): ...

fstat = fstatvfs = getcwdb = lstat = pathconf = stat = statvfs = ttyname = fpathconf

def fsencode(filename) -> bytes: ...
@does.io("lists a directory")
def fwalk(top, topdown, onerror) -> Iterator: ...

scandir = walk = fwalk

@does.environ_read
def get_exec_path(env): ...

getenvb = get_exec_path

@does.io("reads the file system")
def get_terminal_size(fd) -> tuple: ...
@does.io("reads the file system")
def getcwd() -> str: ...
@does.identity("reads the user's identity")
def getegid() -> int: ...

geteuid = getgid = getgroups = getegid

@does.environ_read
def getenv(key) -> str: ...
@does.identity("reads the machine's identity")
def getloadavg(): ...

uname = getloadavg

@does.identity("reads the user's identity")
def getlogin() -> str: ...
@does.identity("reads a process id")
def getpgid(pid): ...

getpgrp = getsid = gettid = getpgid

@does.identity("reads a process id")
def getpid() -> int: ...

getppid = getpid

@does.random("draws random bytes")
def getrandom(size, flags) -> bytes: ...

urandom = getrandom

@does.identity("reads the user's identity")
def getuid() -> int: ...
@does.io("lists a directory")
def listdir(path) -> list: ...
@does.io("lists a directory")
def listdrives(): ...

listmounts = listvolumes = listdrives

@does.io("changes the file system")
def makedirs(name, mode, exist_ok) -> None: ...

mkdir = makedirs

@does.environ_write
def nice(increment): ...

reload_environ = sched_setaffinity = setgid = setpriority = setsid = setuid = umask = nice

@does.io("opens a file")
def open(path, flags, mode) -> int: ...
@does.environ_write
def putenv(name, value) -> None: ...

unsetenv = putenv

@does.io("reads a file")
def read(fd, length) -> bytes: ...
@does.io("reads a file")
def readlink(path) -> str: ...
@does.io("removes a file")
def remove(path) -> None: ...

rmdir = unlink = remove

@does.io("removes a file")
def removedirs(name): ...
@does.io("renames a file")
def rename(src, dst) -> None: ...
@does.io("renames a file")
def renames(old, new): ...

replace = renames

def strerror(code) -> str: ...
@does.clock
def times() -> tuple: ...
@does.program("waits for a process")
def wait(): ...

wait3 = wait4 = waitid = waitpid = wait

class _Environ:
    @does.environ_read
    def __getitem__(self, key) -> str: ...
    items = keys = values = __getitem__
    @does.environ_read
    def get(self, key) -> str: ...
    @does.environ_read
    def copy(self) -> dict: ...
    @does.environ_write
    def __setitem__(self, key, value): ...
    __setattr__ = clear = pop = popitem = setdefault = update = __setitem__

environ: _Environ
environb: _Environ

@submodule
class path:
    def abspath(path) -> str: ...
    basename = commonpath = commonprefix = dirname = join = normcase = normpath = relpath = abspath
    @does.io("reads the file system")
    def exists(path) -> bool: ...
    isdir = isfile = islink = ismount = lexists = samefile = exists
    @does.environ_read
    def expanduser(path) -> str: ...
    expandvars = expanduser
    @does.io("reads the file system")
    def getatime(filename) -> float: ...
    getctime = getmtime = getsize = getatime
    def isabs(s) -> bool: ...
    @does.io("reads the file system")
    def isdevdrive(*args): ...
    isjunction = sameopenfile = isdevdrive
    @does.io("reads the file system")
    def realpath(filename) -> str: ...
    def split(p) -> tuple: ...
    splitdrive = splitext = split
