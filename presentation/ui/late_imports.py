"""Modules that are imported after the first paint: Qt's on the window's thread, all others in a thread.

An extension module of PyQt makes its classes and enumerations when it is first imported. Done on another
thread while the loop runs, that ended in a segmentation fault in two starts of a hundred. What takes the
time is the disk (the web engine alone has 200 MB): the files are read in a thread, and the import on the
loop finds them in memory.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from shared.uninterrupted import in_pieces

_logger = logging.getLogger(__name__)

_PIECE = 1 << 20
"""Bytes read at a time; whoever waits for the interpreter gets it in between."""
_PIECES_AT_ONCE = 8
"""So many are read before it is looked whether the window ends; a slow disk takes a tenth of a second."""
# PyQt's wheels keep Qt's libraries here; a system's own Qt lies elsewhere, and is in memory on a desktop.
_LIBRARIES = Path("Qt6/lib")

WEB_VIEW = (
    "PyQt6.QtNetwork",
    "PyQt6.QtPrintSupport",
    "PyQt6.QtWebChannel",
    "PyQt6.QtQml",
    "PyQt6.QtQuick",
    "PyQt6.QtWebEngineCore",
    "PyQt6.QtWebEngineWidgets",
    "presentation.panels.conversation.web_view",
)


async def import_qt(modules: Sequence[str], *, without_qt: Sequence[str] = ()) -> None:
    """Import `modules`, which are of Qt or lead to it, a turn of the loop for each.

    `without_qt` are imported in a thread before: what the modules need besides Qt. A module that cannot be
    imported is told in the log; whoever needs it fails by itself, with its own words.
    """
    await in_pieces(_prepared(modules, without_qt))
    for name in modules:
        _import(name)
        await asyncio.sleep(0)


def _prepared(modules: Iterable[str], without_qt: Iterable[str]) -> Iterator[None]:
    for path in _files_of(modules):
        yield from _read_into_memory(path)
    for name in without_qt:
        _import(name)
        yield


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError as error:
        _logger.warning("%s cannot be imported: %s", name, error)


def _files_of(modules: Iterable[str]) -> Iterable[Path]:
    """The shared libraries behind modules of PyQt: the binding, and the library of Qt it is for."""
    package = importlib.util.find_spec("PyQt6")
    places = None if package is None else package.submodule_search_locations
    folders = [Path(place) for place in places or ()]
    for name in modules:
        parent, _, own = name.partition(".")
        if parent == "PyQt6" and own:
            for folder in folders:
                yield from folder.glob(f"{own}.*so")
                yield from (folder / _LIBRARIES).glob(f"libQt6{own.removeprefix('Qt')}.so.6")


def _read_into_memory(path: Path) -> Iterator[None]:
    """Have the system keep a file in memory. One that cannot be read is told by its import."""
    piece = bytearray(_PIECE)
    try:
        with path.open("rb", buffering=0) as file:
            pieces = iter(partial(file.readinto, piece), 0)
            while any(islice(pieces, _PIECES_AT_ONCE)):
                yield
    except OSError as error:
        _logger.info("%s cannot be read: %s", path, error)
