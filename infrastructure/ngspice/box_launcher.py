"""Runs inside the box, as the last step before ngspice: gives up rights, then becomes ngspice or hosts it.

A script for ``python -I -S``, sent along as text; it never runs inside the application. It imports
nothing but built-in modules and `_ctypes` (the C half of `ctypes`; the Python half costs 4 ms a
run). It does what the plan says and stops with exit code 125 when a step fails, so that a run is
never less confined than it was said to be.

The plan is a marshalled dict on the file descriptor named by argv[1] (made by `sandbox.py`):
    calls     system call numbers by name        cwd        working directory
    limits    [(resource, soft, hard)]           argv, env  what to become
    ruleset   None or struct landlock_ruleset_attr
    rules     [(path, rights)] for Landlock; a path that is not there gives no right
    filter    None or BPF bytes                  pid_mark   bytes in it that stand for our pid
    parent    None or the process to die with (bubblewrap sees to that itself)
    lifeline  None or the writing end of a pipe that the application reads: it breaks when that is dead
    guest     None, or (source, settings): a script whose `prepare(settings)` is called before the rights
              are given up and gives what is called after, instead of becoming another program
"""

import _ctypes
import _signal  # type: ignore[import-not-found]
import marshal
import posix
import sys

TYPE_CHECKING = False  # typing costs 5 ms a run
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Calls = dict[str, int]

FAILED = 125
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
O_PATH = 0o10000000
LANDLOCK_RULE_PATH_BENEATH = 1
POLLERR = 8
SECCOMP_SET_MODE_FILTER = 1


class Long(_ctypes._SimpleCData):  # type: ignore[type-arg]
    """C long, wide enough for every argument and result here."""

    _type_ = "l"


class Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]
    """C unsigned char."""

    _type_ = "B"


class Syscall(_ctypes.CFuncPtr):
    """The C library's syscall(2)."""

    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = Long


_libc = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
_syscall = Syscall(_ctypes.dlsym(_libc, "syscall"))


def call(what: str, number: int, *arguments: int | bytes) -> int:
    """One system call. Integers become longs, bytes become pointers; -1 is an OSError."""
    values = [Long(value) if isinstance(value, int) else value for value in (number, *arguments)]
    result: int = _syscall(*values)
    if result == -1:
        raise OSError(_ctypes.get_errno(), what)
    return result


def restrict_files(calls: Calls, ruleset: bytes, rules: list[tuple[str, int]]) -> None:
    """Landlock: from here on only what `rules` names can be opened."""
    domain = call("landlock_create_ruleset", calls["landlock_create_ruleset"], ruleset, len(ruleset), 0)
    for path, rights in rules:
        try:
            fd = posix.open(path, O_PATH | posix.O_CLOEXEC)
        except OSError:
            continue
        # struct landlock_path_beneath_attr, packed: u64 allowed_access, s32 parent_fd.
        beneath = rights.to_bytes(8, "little") + fd.to_bytes(4, "little")
        call("landlock_add_rule", calls["landlock_add_rule"], domain, LANDLOCK_RULE_PATH_BENEATH, beneath, 0)
        posix.close(fd)
    call("landlock_restrict_self", calls["landlock_restrict_self"], domain, 0)
    posix.close(domain)


def in_memory(data: bytes) -> _ctypes.Array[Byte]:
    """A copy of `data` with an address; keep it as long as the kernel may look."""

    class Bytes(_ctypes.Array):  # type: ignore[type-arg]
        _type_ = Byte
        _length_ = len(data)

    return Bytes(*data)


def refuse_calls(calls: Calls, program: bytes) -> None:
    """Load the seccomp filter; struct sock_fprog is u16 length, padding, pointer."""
    kept = in_memory(program)
    header = (len(program) // 8).to_bytes(8, "little") + _ctypes.addressof(kept).to_bytes(8, "little")
    call("seccomp", calls["seccomp"], SECCOMP_SET_MODE_FILTER, 0, header)


def lower_limit(calls: Calls, kind: int, soft: int, hard: int) -> None:
    """Set one resource limit of this process, never above what it has (prlimit64: two u64)."""
    now = in_memory(bytes(16))
    call("prlimit64", calls["prlimit64"], 0, kind, 0, _ctypes.addressof(now))
    allowed = int.from_bytes(bytes(now)[8:], "little")
    new = min(soft, allowed).to_bytes(8, "little") + min(hard, allowed).to_bytes(8, "little")
    call("prlimit64", calls["prlimit64"], 0, kind, new, 0)


def has_lost_its_reader(calls: Calls, descriptor: int) -> bool:
    """Whether nobody reads the pipe any more (ppoll: struct pollfd is s32 fd, s16 events, s16 revents)."""
    asked = in_memory(descriptor.to_bytes(4, "little") + bytes(4))
    call("ppoll", calls["ppoll"], _ctypes.addressof(asked), 1, bytes(16), 0, 8)
    return bool(int.from_bytes(bytes(asked)[6:], "little") & POLLERR)


def host(source: str, settings: "dict[str, Any]") -> "Callable[[], None]":
    """Let the guest make ready; what it returns serves and does not come back."""
    names: dict[str, Any] = {"__name__": "guest"}
    exec(compile(source, "<guest>", "exec"), names)  # noqa: S102 - our own script
    serve: Callable[[], None] = names["prepare"](settings)
    return serve


def main() -> None:
    """Take the plan's steps in order, then execve (or serve)."""
    with open(int(sys.argv[1]), "rb") as source:  # noqa: PTH123 - a descriptor; pathlib costs 5 ms
        plan = marshal.loads(source.read())  # noqa: S302 - written by our own parent process
    calls: Calls = plan["calls"]
    posix.chdir(plan["cwd"])
    # Killed, the application can no longer end the run; without bubblewrap nobody else would.
    call("prctl", calls["prctl"], PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
    serve = host(*plan["guest"]) if plan["guest"] else None
    if plan["parent"] not in (None, posix.getppid()):
        posix._exit(FAILED)
    # bubblewrap asks to die with the application a moment after its start: one killed before that moment is
    # not noticed by it.
    if plan["lifeline"] is not None and has_lost_its_reader(calls, plan["lifeline"]):
        posix._exit(FAILED)
    if plan["ruleset"] or plan["filter"]:
        call("prctl", calls["prctl"], PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if plan["ruleset"]:
        restrict_files(calls, plan["ruleset"], plan["rules"])
    for kind, soft, hard in plan["limits"]:
        lower_limit(calls, kind, soft, hard)
    if plan["filter"]:
        pid = posix.getpid().to_bytes(4, "little")
        refuse_calls(calls, plan["filter"].replace(plan["pid_mark"], pid))
    # The interpreter ignores these, and execve would pass that on: ngspice would then go on past its
    # file size limit and end with exit code 0 and half of its data.
    for number in (_signal.SIGXFSZ, _signal.SIGPIPE):
        _signal.signal(number, _signal.SIG_DFL)
    if serve is not None:
        serve()
    posix.execve(plan["argv"][0], plan["argv"], plan["env"])


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        posix.write(2, f"box: {error}\n".encode())
        posix._exit(FAILED)
