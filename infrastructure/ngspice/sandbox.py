"""The box ngspice runs in: bubblewrap around, Landlock, seccomp and resource limits inside.

A netlist is a program written by a stranger. `Sandbox.command` turns "run ngspice with this deck"
into a command line that sees only the parts of ngspice, the files of the circuit (read-only) and
one scratch folder. What holds and what does not is told in docs/simulation.md.

Layers (each is used where it works; confined.py finds out by trying):
    bubblewrap  own mount, pid, network, ipc and user namespaces; no shell inside; empty environment
    landlock    in the last moment before ngspice: what can be opened, made, executed
    seccomp     no sockets, processes, links, permissions (syscall_filter.py)
    rlimits     processor time, memory, size of a file
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import marshal
import os
import platform
import re
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from domain.simulation.request import ResourceLimits
from infrastructure.ngspice.syscall_filter import PID_MARK, build_filter

Layer = Literal["bubblewrap", "landlock", "seccomp", "rlimits"]
ALL_LAYERS: frozenset[Layer] = frozenset(("bubblewrap", "landlock", "seccomp", "rlimits"))

LAUNCHER_FAILED = 125
"""Exit code of the launcher when a restriction could not be put in place."""

INNER_SCRATCH = Path("/run/circuit-ai")
"""Where the scratch folder stands under bubblewrap: a path no user's folder has."""

_LAUNCHER = Path(__file__).with_name("box_launcher.py")
_MACHINES = ("x86_64", "aarch64")
_CALLS = {
    "x86_64": {"prctl": 157, "ppoll": 271, "prlimit64": 302, "seccomp": 317},
    "aarch64": {"prctl": 167, "ppoll": 73, "prlimit64": 261, "seccomp": 277},
}
_LANDLOCK_CALLS = {
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}

# linux/landlock.h
_EXECUTE, _WRITE, _READ, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_REG, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_FS_RIGHTS_BY_ABI = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_NET_RIGHTS = 0b11
_SCOPES = 0b11

# Folders nobody can hand to a run: the box has its own there.
_NEVER_BOUND = frozenset(map(Path, ("/", "/tmp", "/proc", "/dev", "/sys", "/run")))  # noqa: S108
# Below these whole library folders are shown to bubblewrap (one mount instead of thirty);
# Landlock inside still lets only the listed libraries be opened.
_SYSTEM_LIBRARIES = tuple(map(Path, ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib")))
_TMP_BYTES = 64 * 2**20
_OPEN_FILES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An executable with what the dynamic loader needs to start it."""

    path: Path
    """Real path."""
    loader: Path | None
    """The dynamic loader as the executable names it; None when it is static."""
    libraries: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The pieces of this machine that go into the box."""

    ngspice: Program
    interpreter: Program
    bubblewrap: Path | None
    bubblewrap_sizes: bool = False
    """This bubblewrap can limit the size of a tmpfs."""
    library: Program | None = None
    """libngspice, for processes that host it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one run sees and may use."""

    scratch: Path
    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    input_folder: str | None = None
    """Where ngspice looks for relative includes and data files: a plain name inside `scratch`, because
    it loses what stands behind a blank or a letter beyond ASCII."""
    lifeline: int | None = None
    """The writing end of a pipe that we read; the run holds it, and does not begin when it is broken."""
    limits: ResourceLimits = field(default_factory=ResourceLimits)

    @property
    def descriptors(self) -> tuple[int, ...]:
        return () if self.lifeline is None else (self.lifeline,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A script that runs in the launcher's place instead of ngspice, and hosts its library."""

    source: str
    settings: Mapping[str, object]
    """Plain types; `environment` and `library` are added."""
    descriptors: tuple[int, ...]
    """Those it is to inherit."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Besides what every run gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line ready to start, with the descriptors it reads its plan from."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None
    pass_fds: tuple[int, ...]


def machine() -> Literal["x86_64", "aarch64"] | None:
    """The processor if we have its system call tables, else None."""
    name = platform.machine()
    if not sys.platform.startswith("linux") or name not in _MACHINES or sys.byteorder != "little":
        return None
    return "x86_64" if name == "x86_64" else "aarch64"


def landlock_abi() -> int:
    """Version of the kernel's Landlock interface, 0 without one."""
    if machine() is None:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    # LANDLOCK_CREATE_RULESET_VERSION = 1: asks only, creates nothing.
    version: int = libc.syscall(
        ctypes.c_long(_LANDLOCK_CALLS["landlock_create_ruleset"]),
        None,
        ctypes.c_size_t(0),
        ctypes.c_uint32(1),
    )
    return max(version, 0)


def elf_loader(program: Path) -> Path | None:
    """The dynamic loader an ELF executable asks for (PT_INTERP), None when it names none.

    Raises OSError when the file cannot be read and ValueError when it is no 64-bit ELF file.
    """
    with program.open("rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{program} is not a 64-bit little-endian ELF file")
        table, entry_size, entries = struct.unpack_from("<32xQ14xHH", head)
        for index in range(entries):
            file.seek(table + index * entry_size)
            kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", file.read(56))
            if kind == 3:
                file.seek(offset)
                return Path(os.fsdecode(file.read(size).rstrip(b"\0")))
    return None


def parse_loader_list(text: str) -> tuple[Path, ...]:
    """The libraries in the answer of ``ld.so --list PROGRAM``."""
    return tuple(dict.fromkeys(Path(found) for found in re.findall(r"=>\s+(/.*?)\s+\(0x", text)))


def interpreter_path() -> Path:
    """The real interpreter behind a virtual environment."""
    return Path(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))


def foreign_call_module() -> Path | None:
    """The file of `_ctypes`, which the launcher needs; None when it is built into the interpreter."""
    spec = importlib.util.find_spec("_ctypes")
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    return Path(spec.origin)


class Sandbox:
    """Builds the command lines of confined runs from fixed parts and layers."""

    def __init__(self, parts: Parts, layers: Iterable[Layer], *, abi: int | None = None) -> None:
        self.layers = frozenset(layers)
        self._parts = parts
        self._hosted = parts.library
        """When set, the box is one for guests: nothing at all can be executed in it."""
        self._abi = landlock_abi() if abi is None else abi
        self._launcher = _LAUNCHER.read_text(encoding="utf-8")
        self._data_folders = tuple(_ngspice_folders(parts.ngspice.path))
        self._machine: tuple[object, list[Path]] | None = None
        """What of this machine runs see, behind the state of the libraries' folders."""

    @property
    def uses_bubblewrap(self) -> bool:
        return "bubblewrap" in self.layers

    def data_folders(self) -> Iterator[Path]:
        """Code models and scripts of this ngspice."""
        return iter(self._data_folders)

    def scratch_seen(self, scratch: Path) -> Path:
        """The path of the scratch folder as the run sees it."""
        return INNER_SCRATCH if self.uses_bubblewrap else scratch

    def command(self, view: View, arguments: Sequence[str], descriptors: contextlib.ExitStack) -> Command:
        """The command line for ``ngspice *arguments``; what it opens is closed by `descriptors`.

        Looks at the file system: call it in a thread.
        """
        ngspice = str(self._parts.ngspice.path)
        if not self.layers:
            argv = (ngspice, *arguments)
            return Command(
                argv=argv, env=self._environment(view), cwd=view.scratch, pass_fds=view.descriptors
            )
        return self._launch(view, self._plan(view, arguments), descriptors)

    def host(self, view: View, guest: Guest, descriptors: contextlib.ExitStack) -> Command:
        """The command line of a process that runs `guest`, for parts with a library.

        Looks at the file system: call it in a thread.
        """
        assert self._hosted is not None
        settings = {
            **guest.settings,
            "library": str(self._hosted.path),
            "environment": {**self._environment(view), **guest.environment},
        }
        plan = self._plan(view, ()) | {"guest": (guest.source, settings)}
        command = self._launch(view, plan, descriptors)
        return replace(command, pass_fds=(*command.pass_fds, *guest.descriptors))

    def _launch(self, view: View, content: dict[str, object], descriptors: contextlib.ExitStack) -> Command:
        plan = descriptors.enter_context(_memory_file(marshal.dumps(content)))
        python = (str(self._parts.interpreter.path), "-I", "-S", "-c", self._launcher, str(plan))
        if not self.uses_bubblewrap:
            return Command(argv=python, env={"LC_ALL": "C"}, cwd=None, pass_fds=(plan, *view.descriptors))
        words = self._bubblewrap_options(view)
        user: tuple[int, ...] = ()
        if self._hosted is not None:
            # libngspice crashes when its user has no entry.
            line = f"user:x:{os.getuid()}:{os.getgid()}::{INNER_SCRATCH}:/none\n".encode()
            user = (descriptors.enter_context(_memory_file(line)),)
            words[-2:-2] = ["--ro-bind-data", str(user[0]), "/etc/passwd"]
        options = b"".join(os.fsencode(word) + b"\0" for word in words)
        args = descriptors.enter_context(_memory_file(options))
        argv = (str(self._parts.bubblewrap), "--args", str(args), "--", *python)
        # bubblewrap is process 1 inside and its environment can be read there: it gets none.
        return Command(argv=argv, env={}, cwd=None, pass_fds=(plan, args, *user, *view.descriptors))

    def _environment(self, view: View) -> dict[str, str]:
        scratch = str(self.scratch_seen(view.scratch))
        environment = {
            # ngspice 39 crashes without HOME when the user has no passwd entry.
            "HOME": scratch,
            "LC_ALL": "C",
            "TERM": "dumb",
            # -D num_threads=1 may be overruled by a system spinit; this may not.
            "OMP_NUM_THREADS": "1",
            "OMP_THREAD_LIMIT": "1",
        }
        if view.input_folder is not None:
            environment["NGSPICE_INPUT_DIR"] = view.input_folder
        return environment

    # ---- the plan of the launcher -----------------------------------------------------------

    def _plan(self, view: View, arguments: Sequence[str]) -> dict[str, object]:
        here = machine()
        ngspice = str(self._parts.ngspice.path)
        seccomp = "seccomp" in self.layers and here is not None
        landlock = "landlock" in self.layers and self._abi > 0
        return {
            "calls": {**_LANDLOCK_CALLS, **_CALLS[here or "x86_64"]},
            "limits": _limits(view.limits, seccomp) if "rlimits" in self.layers else [],
            "ruleset": self._ruleset() if landlock else None,
            "rules": self._rules(view) if landlock else [],
            "filter": build_filter(here, may_execute=self._hosted is None)
            if seccomp and here is not None
            else None,
            "pid_mark": PID_MARK.to_bytes(4, "little"),
            "parent": None if self.uses_bubblewrap else os.getpid(),
            "lifeline": view.lifeline,
            "argv": [ngspice, *arguments],
            "env": self._environment(view),
            "cwd": str(self.scratch_seen(view.scratch)),
            "guest": None,
        }

    @property
    def _handled_rights(self) -> int:
        return sum(rights for abi, rights in _FS_RIGHTS_BY_ABI if abi <= self._abi)

    def _ruleset(self) -> bytes:
        """``struct landlock_ruleset_attr`` as long as this kernel knows it."""
        words = [self._handled_rights]
        if self._abi >= 4:
            words.append(_NET_RIGHTS)
        if self._abi >= 6:
            words.append(_SCOPES)
        return struct.pack(f"<{len(words)}Q", *words)

    def _rules(self, view: View) -> list[tuple[str, int]]:
        readable, listable = _READ, _READ | _READ_DIR
        rules: list[tuple[Path, int]] = []
        if self._hosted is None:
            ngspice = self._parts.ngspice
            rules += [(file, _EXECUTE | _READ) for file in (ngspice.path, ngspice.loader) if file is not None]
            rules += [(library, readable) for library in ngspice.libraries]
            # tmpfile() of the C library: a file without a name, so no right to make or remove any.
            rules.append((Path("/tmp"), _READ | _WRITE))  # noqa: S108
        rules += [(folder, listable) for folder in self._data_folders]
        for name in ("/etc/ld.so.cache", "/proc/meminfo", "/proc/stat", "/proc/self/statm"):
            rules.append((Path(name), readable))
        rules.append((Path(os.devnull), _READ | _WRITE))
        scratch = self.scratch_seen(view.scratch)
        rules.append((scratch, listable | _WRITE | _MAKE_REG | _REMOVE_FILE | _TRUNCATE))
        rules += [(file, readable) for file in view.files]
        for folder in _bindable(view.folders):
            hidden = () if self.uses_bubblewrap else view.hidden
            rules += [(path, listable if path.is_dir() else readable) for path in _around(folder, hidden)]
        handled = self._handled_rights
        return [(str(path), rights & handled) for path, rights in rules]

    # ---- bubblewrap -------------------------------------------------------------------------

    def _bubblewrap_options(self, view: View) -> list[str]:
        options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        options += ["--setenv", "LC_ALL", "C", "--cap-drop", "ALL", "--proc", "/proc"]
        options += [*self._tmpfs("/tmp"), "--dev-bind", os.devnull, os.devnull]  # noqa: S108
        for top in ("/lib", "/lib32", "/lib64"):
            if Path(top).is_symlink():
                options += ["--symlink", str(Path(top).readlink()), top]
        for path in self._machine_paths():
            options += ["--ro-bind-try", str(path), str(path)]
        folders = _bindable(view.folders)
        for folder in folders:
            options += ["--ro-bind", str(folder), str(folder)]
        for folder in view.hidden:
            if folder.is_dir() and any(_is_under(folder, shown) for shown in folders):
                options += [*self._tmpfs(str(folder)), "--remount-ro", str(folder)]
        for file in view.files:
            if not any(_is_under(file, folder) for folder in folders):
                options += ["--ro-bind", str(file), str(file)]
        inner = str(INNER_SCRATCH)
        return [*options, "--bind", str(view.scratch), inner, "--chdir", inner, "--remount-ro", "/"]

    def _tmpfs(self, path: str) -> list[str]:
        size = ["--size", str(_TMP_BYTES)] if self._parts.bubblewrap_sizes else []
        return [*size, "--tmpfs", path]

    def _machine_paths(self) -> list[Path]:
        """The least of this machine that starts the interpreter and ngspice, outer folders first.

        Looked for once, and anew when a folder has changed in which a library or its link lies: most of what
        making a command line costs is to follow some seventy links.
        """
        programs = (self._hosted or self._parts.ngspice, self._parts.interpreter)
        files = [file for each in programs for file in (each.loader, *each.libraries) if file is not None]
        state = tuple(_state_of(folder) for folder in sorted({file.parent for file in files}))
        if self._machine is None or self._machine[0] != state:
            self._machine = state, self._found_on_machine([each.path for each in programs], files)
        return self._machine[1]

    def _found_on_machine(self, programs: Iterable[Path], files: Iterable[Path]) -> list[Path]:
        whole_folders = "landlock" in self.layers
        wanted = {Path("/etc/ld.so.cache"), *self._data_folders, *_standard_library(), *programs}
        real: dict[Path, Path] = {}  # most of the libraries lie in one or two folders
        for file in files:
            if file.parent not in real:
                real[file.parent] = Path(os.path.realpath(file.parent))
            wanted |= _as_bound(real[file.parent] / file.name, whole_folders)
        ordered = sorted(wanted, key=lambda path: len(path.parts))
        kept: list[Path] = []
        for path in ordered:
            if not any(_is_under(path, folder) for folder in kept):
                kept.append(path)
        return kept


def _state_of(folder: Path) -> tuple[int, int, int] | None:
    """Something that differs when an entry of `folder` was made, replaced or removed; None without it."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _as_bound(file: Path, whole_folders: bool) -> set[Path]:
    """The mounts that make a library, in a folder without links, appear under the name the loader uses."""
    folder = file.parent
    if whole_folders and any(_is_under(folder, top) and folder != top for top in _SYSTEM_LIBRARIES):
        return {folder, Path(os.path.realpath(file)).parent} if file.is_symlink() else {folder}
    return {file}


def _standard_library() -> set[Path]:
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    module = foreign_call_module()
    return folders if module is None else folders | {module.parent}


def _ngspice_folders(ngspice: Path) -> Iterator[Path]:
    """Code models and scripts beside the executable: <prefix>/lib[/<triplet>]/ngspice, share/ngspice."""
    prefix = ngspice.parent.parent
    candidates = [prefix / "share/ngspice", prefix / "lib/ngspice", prefix / "lib64/ngspice"]
    candidates += sorted((prefix / "lib").glob("*-linux-*/ngspice"))
    return (folder for folder in candidates if folder.is_dir())


def _bindable(folders: Iterable[Path]) -> list[Path]:
    """Folders that can be shown, outermost first, without those inside another."""
    kept: list[Path] = []
    for folder in sorted({Path(os.path.realpath(folder)) for folder in folders}, key=lambda p: len(p.parts)):
        if folder in _NEVER_BOUND or not folder.is_dir():
            continue
        if not any(_is_under(folder, shown) for shown in kept):
            kept.append(folder)
    return kept


def _around(folder: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """`folder` when nothing hidden is in it, else its entries with the hidden folders left out.

    Landlock rules only add rights, so a hole is made by naming what is around it. Links are left
    out: a rule on one would open what it points to.
    """
    if folder in hidden:
        return
    if not any(_is_under(path, folder) for path in hidden):
        yield folder
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _around(Path(entry.path), hidden)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _is_under(path: Path, folder: Path) -> bool:
    """Of paths from the root on, as text: a start of ngspice asks two hundred times."""
    return path == folder or str(path).startswith(f"{str(folder).rstrip('/')}/")


def _limits(limits: ResourceLimits, has_seccomp: bool) -> list[tuple[int, int, int]]:
    """(resource, soft, hard) in the numbering of x86_64 and aarch64 (asm-generic/resource.h)."""
    cpu, file_size, core, processes, open_files, memory = 0, 1, 4, 6, 7, 9
    found = [
        # SIGXCPU at the soft limit tells a time-out from a kill; the hard one ends who ignores it.
        (cpu, limits.cpu_s, limits.cpu_s + 2),
        (memory, limits.memory_bytes, limits.memory_bytes),
        (file_size, limits.largest, limits.largest),
        (core, 0, 0),
        (open_files, _OPEN_FILES, _OPEN_FILES),
    ]
    if not has_seccomp:
        # Without the filter this stops forks, except those of root.
        found.append((processes, 1, 1))
    return found


@contextlib.contextmanager
def _memory_file(data: bytes) -> Iterator[int]:
    """A descriptor from which `data` can be read once; command lines are too short for many files."""
    descriptor = os.memfd_create("circuit-ai")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
