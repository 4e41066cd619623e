"""Runs inside the box, in the launcher's process: hosts libngspice and computes the runs it is told.

A script, sent along as text (see box_launcher.py); it never runs inside the application. `prepare` loads
the library before the box is closed, because ngspice reads its start-up files and asks for the user's
entry in the password file then; decks are read only after. Everything is imported before, too.

It does not trust the deck, and the application does not trust it: descriptors 1 and 2 are a capped log,
orders and results go over descriptors of their own, results as counted frames (wire.py).

What libngspice (39) does, as tried: its functions return 0 whatever happened, so its words are sent along
as the verdict; after a failure it may answer with the values of an earlier run, so every plot is destroyed
after each run and only the plots of this run are read; an error it calls fatal ends it (`QUIT`); the
log of commands grows until it is asked to forget it.
"""

import collections
import contextlib
import ctypes
import marshal
import mmap
import os
import re
import struct
import time
from collections.abc import Callable
from typing import Any

HELLO, LOADED, LAYOUT, RESULT, QUIT, IDLE = range(6)
LOADING = 2**64 - 1
"""In the shared page instead of a run's number: the circuit is being loaded."""

_FRAME = struct.Struct("<IB")
_RESULT = struct.Struct("<IIdII")
_NUMBER = struct.Struct("<Q")
_FLUSH_BYTES = 256 * 1024
_FLUSH_S = 0.03
SAME = 0x8000_0000
"""In place of an axis' length: it is that of the result before in this layout, and not sent again."""
_HEAD_BYTES = 128 * 1024
_TAIL_LINES = 1000
_LONGEST_LINE = 4000
_COMPLEX = 2
_TROUBLE = re.compile(rb"error|abort|fatal|not found|fail", re.IGNORECASE)
TITLE = re.compile(rb"^stdout (?:Circuit: |Reset re-loads circuit ).*$", re.MULTILINE)
"""Where ngspice says the circuit's title, which may have any words in it ("current mirror" has "rror")."""
NUMBERED_BRANCH = re.compile(r"#branch_\w+")
"""A code model's currents are numbered behind the word; raw files leave that out."""
_AXIS = re.compile(r"time|frequency|.*-sweep")
_MANY = 100_000
_MOST_REMEMBERED = 500


class _Vector(ctypes.Structure):
    """``struct vector_info`` of ngspice/sharedspice.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("flags", ctypes.c_short),
        ("real", ctypes.c_void_p),
        ("complex", ctypes.c_void_p),
        ("length", ctypes.c_int),
    )


_Says = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
_Ends = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_bool, ctypes.c_bool, ctypes.c_int, ctypes.c_void_p
)


class Guest:
    """The library, the circuit it has loaded, and the pipes."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._orders = settings["orders"]
        self._results = settings["results"]
        self._page = mmap.mmap(settings["page"], mmap.PAGESIZE)
        self._frames: list[bytes] = []
        self._waiting = 0
        self._flushed = 0.0
        self._circuit: dict[str, Any] = {}
        self._is_loaded = False
        self._layouts: dict[tuple[Any, ...], int] = {}
        self._axes: dict[tuple[int, int], bytes] = {}
        self._known: tuple[tuple[bytes, ...], int, list[tuple[bytes, int, bool]]] | None = None
        self._settings: list[tuple[list[str], bool]] = []
        self._harmless: set[bytes] = set()
        self._head: list[bytes] = []
        self._tail: collections.deque[bytes] = collections.deque(maxlen=_TAIL_LINES)
        self._head_room = _HEAD_BYTES
        # Callbacks must live as long as the library.
        self._says, self._ends = _Says(self._hear), _Ends(self._end)
        self._lib = self._load_library(settings["library"])

    def _load_library(self, path: str) -> Any:
        library = ctypes.CDLL(path)
        library.ngSpice_Command.argtypes = [ctypes.c_char_p]
        library.ngGet_Vec_Info.argtypes = [ctypes.c_char_p]
        library.ngGet_Vec_Info.restype = ctypes.POINTER(_Vector)
        library.ngSpice_AllPlots.restype = ctypes.POINTER(ctypes.c_char_p)
        library.ngSpice_AllVecs.argtypes = [ctypes.c_char_p]
        library.ngSpice_AllVecs.restype = ctypes.POINTER(ctypes.c_char_p)
        library.ngSpice_Init(self._says, None, self._ends, None, None, None, None)
        return library

    # ---- what ngspice says ---------------------------------------------------------------------

    def _forget_words(self) -> None:
        if self._head:
            self._head.clear()
            self._tail.clear()
            self._head_room = _HEAD_BYTES

    def _hear(self, text: bytes, _id: int, _user: Any) -> int:
        if self._head_room > 0:
            self._head_room -= len(text)
            self._head.append(text[:_LONGEST_LINE])
        else:
            self._tail.append(text[:_LONGEST_LINE])
        return 0

    def _words(self) -> bytes:
        text = b"\n".join((*self._head, *self._tail)) if self._head else b""
        self._forget_words()
        return text

    def _end(self, status: int, _now: bool, _by_quit: bool, _id: int, _user: Any) -> int:
        """ngspice cannot go on (a fatal error, or `quit` in a deck): say so and go."""
        self._quit(status)
        return 0

    def _quit(self, status: int) -> None:
        words = self._words()
        self._put(QUIT, struct.pack("<i", status), words)
        self._flush()
        os._exit(0)

    # ---- frames --------------------------------------------------------------------------------

    def _put(self, kind: int, *parts: bytes) -> None:
        size = sum(map(len, parts))
        self._frames += (_FRAME.pack(size, kind), *parts)
        self._waiting += size

    def _flush(self) -> None:
        data = memoryview(b"".join(self._frames))
        self._frames.clear()
        self._waiting = 0
        while data:
            data = data[os.write(self._results, data) :]
        self._flushed = time.perf_counter()

    def _read(self, count: int) -> bytes:
        parts = []
        while count:
            part = os.read(self._orders, min(count, 2**20))
            if not part:
                os._exit(0)  # the application is done with us
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def serve(self) -> None:
        """Do what is ordered, for ever. Orders are marshalled tuples behind their length."""
        self._put(HELLO, self._words())
        self._flush()
        handlers: dict[str, Callable[..., None]] = {
            "circuit": self._take_circuit,
            "wanted": self._want,
            "runs": self._run_all,
        }
        while True:
            (size,) = _NUMBER.unpack(self._read(_NUMBER.size))
            name, *arguments = marshal.loads(self._read(size))  # noqa: S302 - the application wrote it
            try:
                handlers[name](*arguments)
            except MemoryError:
                self._hear(b"stderr malloc: Internal Error: can't allocate memory", 0, None)
                self._quit(1)
            self._mark(0)
            self._flush()

    def _mark(self, number: int) -> None:
        """Tell the application, without a system call, what is being worked on."""
        self._page[: _NUMBER.size] = _NUMBER.pack(number)

    # ---- the circuit ---------------------------------------------------------------------------

    def _command(self, text: str) -> None:
        self._lib.ngSpice_Command(text.encode("latin-1", "replace"))

    def _take_circuit(self, circuit: dict[str, Any]) -> None:
        self._circuit = circuit
        self._axes.clear()  # those of another circuit are not known to who reads this one's results
        self._mark(LOADING)
        for name, content in circuit["files"].items():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)  # noqa: PTH108 - pathlib is not here
            with open(name, "xb") as file:  # noqa: PTH123
                file.write(content)
        os.environ["NGSPICE_INPUT_DIR"] = circuit["input_folder"]
        self._settings = [
            ([f"{way} {target}=" for target in targets], way == "alterparam")
            for way, targets in circuit["ways"]
        ]
        words = self._load()
        self._put(LOADED, words)

    def _load(self) -> bytes:
        """Load the circuit anew, with nothing left of what was there."""
        for command in ("destroy all", "delete all", *(["remcirc"] if self._is_loaded else [])):
            self._command(command)
        self._words()
        for command in self._circuit["before"]:
            self._command(command)
        self._command("source " + self._circuit["deck"])
        self._is_loaded = True
        words = self._words()
        self._save()
        return words

    def _want(self, names: list[str] | None, saved: list[str]) -> None:
        self._circuit["wanted"], self._circuit["saved"] = names, saved
        self._command("delete all")
        self._save()

    def _save(self) -> None:
        """Have what is kept only when it is asked for."""
        self._known = None
        for name in self._circuit["saved"]:
            self._command("save " + name)
        self._words()

    # ---- runs ----------------------------------------------------------------------------------

    def _run_all(self, ids: list[int], values: bytes) -> None:
        width = len(self._circuit["ways"])
        numbers = memoryview(values).cast("d")
        for index, run_id in enumerate(ids):
            self._mark(run_id + 1)
            self._run(run_id, numbers[index * width : (index + 1) * width])
            if self._waiting > _FLUSH_BYTES or time.perf_counter() - self._flushed > _FLUSH_S:
                self._flush()
        self._mark(0)
        self._put(IDLE, b"")

    def _run(self, run_id: int, values: "memoryview[float]") -> None:
        started = time.perf_counter()
        circuit = self._circuit
        if not self._is_loaded:
            self._load()
        self._forget_words()
        command = self._lib.ngSpice_Command
        if circuit["first_seed"] is not None:
            self._command(f"setseed {circuit['first_seed'] + run_id}")
        if circuit["resets"]:
            for (starts, is_parameter), value in zip(self._settings, values, strict=True):
                if is_parameter:
                    self._command(starts[0] + repr(value))
            # It undoes every alter, which are therefore done after it.
            self._command("reset")
        for (starts, is_parameter), value in zip(self._settings, values, strict=True):
            if not is_parameter:
                for start in starts:
                    command((start + repr(value)).encode("latin-1", "replace"))
        setting = self._words()
        command(b"run")
        layout, lengths, data = self._read_plots()
        said = self._words()
        command(b"destroy all")
        command(None)  # forget the log of commands
        self._forget_words()
        if not lengths or self._tells_trouble(said) or (setting and self._tells_trouble(setting)):
            # Who knows what a failed run left behind: the next one begins with a fresh circuit.
            self._drop()
        duration = time.perf_counter() - started
        head = _RESULT.pack(run_id, layout, duration, len(setting), len(said))
        counts = struct.pack(f"<{len(lengths)}I", *lengths)
        self._put(RESULT, head, counts, bytes(-len(counts) % 8), *data, setting, said)

    def _tells_trouble(self, words: bytes) -> bool:
        """Searched once for each different text: most runs say the same."""
        if words in self._harmless:
            return False
        if _TROUBLE.search(TITLE.sub(b"", words)):
            return True
        if len(self._harmless) >= _MOST_REMEMBERED:
            self._harmless.clear()
        if len(words) <= _LONGEST_LINE:
            self._harmless.add(words)
        return False

    def _drop(self) -> None:
        self._command("remcirc")
        self._forget_words()
        self._is_loaded = False
        self._known = None

    def _read_plots(self) -> tuple[int, list[int], list[bytes]]:
        """Layout, lengths and numbers of what this run made."""
        known = self._known
        pointer = self._lib.ngSpice_AllPlots()
        if known is None or self._circuit["resets"] or not _holds(pointer, known[0]):
            known = self._known = self._learn(tuple(_strings(pointer)))
        _, layout, wanted = known
        find, axes = self._lib.ngGet_Vec_Info, self._axes
        lengths: list[int] = []
        data: list[bytes] = []
        for name, width, is_axis in wanted:
            found = find(name)
            vector = found.contents if found else None
            length = vector.length if vector is not None else 0
            address = None if vector is None else vector.complex if width == 2 else vector.real
            content = ctypes.string_at(address, 8 * width * length) if address and length else b""
            if is_axis:
                place = layout, len(lengths)
                if content and content == axes.get(place):
                    lengths.append(SAME)
                    continue
                axes[place] = content
            lengths.append(len(content) // (8 * width))
            data.append(content)
        return layout, lengths, data

    def _learn(
        self, plots: tuple[bytes, ...]
    ) -> tuple[tuple[bytes, ...], int, list[tuple[bytes, int, bool]]]:
        """The wanted vectors of these plots (path, doubles a point, axis); their layout is told once."""
        description, found_here = [], []
        wanted = self._circuit["wanted"]
        names = None if wanted is None else frozenset(wanted)
        for plot in reversed(plots):
            if plot == b"const":
                continue
            vectors: list[tuple[str, int, int]] = []
            there = list(reversed(_strings(self._lib.ngSpice_AllVecs(plot))))
            keys = [NUMBERED_BRANCH.sub("#branch", written.decode("latin-1").lower()) for written in there]
            # Of a plot nobody asks of, one vector tells that its analysis has run.
            is_asked = names is None or any(key in names or _AXIS.fullmatch(key) for key in keys)
            for index, (written, key) in enumerate(zip(there, keys, strict=True)):
                path = plot + b"." + written
                name = written.decode("latin-1")
                found = self._lib.ngGet_Vec_Info(path)
                is_wanted = names is None or key in names or _AXIS.fullmatch(key)
                if not found or not (is_wanted if is_asked else index == 0):
                    continue
                width = 2 if found.contents.flags & _COMPLEX else 1
                is_axis = not vectors and _AXIS.fullmatch(key) is not None
                vectors.append((name, found.contents.kind, width))
                found_here.append((path, width, is_axis))
            description.append((plot.decode("latin-1"), tuple(vectors)))
        layout = tuple(description)
        if layout not in self._layouts:
            self._layouts[layout] = len(self._layouts)
            self._put(LAYOUT, struct.pack("<I", self._layouts[layout]), _described(layout))
        return plots, self._layouts[layout], found_here


def _strings(pointer: Any) -> list[bytes]:
    """The texts of a C array that ends with a null pointer."""
    found: list[bytes] = []
    while pointer and pointer[len(found)] is not None and len(found) < _MANY:
        found.append(pointer[len(found)])
    return found


def _holds(pointer: Any, expected: tuple[bytes, ...]) -> bool:
    """Whether these are the texts of a C array that ends with a null pointer."""
    if not pointer:
        return not expected
    for index, text in enumerate(expected):
        if pointer[index] != text:  # also at its end: None
            return False
    return pointer[len(expected)] is None


def _described(layout: tuple[Any, ...]) -> bytes:
    """A layout as text: plots divided by form feeds, vectors by lines, fields by tabs."""
    return "\f".join(
        "\n".join((plot, *(f"{name}\t{kind}\t{width}" for name, kind, width in vectors)))
        for plot, vectors in layout
    ).encode("latin-1")


def prepare(settings: dict[str, Any]) -> Callable[[], None]:
    """Load the library; what is returned serves, once the box is closed."""
    os.environ.update(settings["environment"])
    guest = Guest(settings)
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
        # Landlock holds only the thread that calls it and those it starts later.
        raise OSError("a thread was started before the box was closed")
    return guest.serve
