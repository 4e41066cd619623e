"""No module of Qt's binding is imported, and none that leads to it, on another thread than the first.

Making PyQt's classes in a thread while Qt's loop runs ends in a segmentation fault, seldom: what is looked
for is the import, not the fault. `QtImports` watches this process (every test, see `plugin.py`); it hears of
modules that are there already too. `QtEnds` does the like for what of Qt's is destroyed. `python -m
tests.ground.qt_imports FILE ARGV...` runs the program so, and writes what both have found into FILE.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import os
import runpy
import sys
import threading
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

_QT = ("PyQt6", "pyqtgraph", "qasync")
_OURS = "presentation."


class QtImports:
    """Stands in front of both ways to import; what was wrong is taken with `take`."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._import = builtins.__import__
        self._import_module = importlib.import_module
        self._leads: dict[str, bool] = {}

    def watch(self) -> None:
        """Put the watch up."""
        real, here, first = self._import, threading.get_ident, threading.main_thread().ident

        def import_(
            name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0
        ) -> Any:
            found = real(name, globals_, locals_, fromlist, level)
            if not level and here() != first:  # the program imports late, in functions that are called often
                self._look(name)
            return found

        def import_module(name: str, package: str | None = None) -> ModuleType:
            found = self._import_module(name, package)
            self._look(name)
            return found

        builtins.__import__ = import_
        importlib.import_module = import_module  # type: ignore[assignment]

    def unwatch(self) -> None:
        """Take it away."""
        builtins.__import__ = self._import
        importlib.import_module = self._import_module

    def take(self) -> list[str]:
        """What was imported where it may not be, since the last call."""
        found = list(self._found)
        self._found.clear()
        return found

    def _look(self, name: str) -> None:
        if threading.current_thread() is threading.main_thread() or not self._leads_to_qt(name, set()):
            return
        places = [
            f"{Path(frame.filename).name}:{frame.lineno}"
            for frame in traceback.extract_stack()
            if "importlib" not in frame.filename and frame.filename != __file__
        ]
        thread = threading.current_thread().name
        self._found.append(
            f"{name}, of Qt, was imported in the thread {thread}, by {' > '.join(places[-4:])}"
        )

    def _leads_to_qt(self, name: str, seen: set[str]) -> bool:
        """Whether a module is of Qt, or is ours and its names come from one that is."""
        if name.partition(".")[0] in _QT:
            return True
        if not name.startswith(_OURS) or name in seen:
            return False
        if name not in self._leads:
            seen.add(name)
            sources = (
                {
                    value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                    for value in list(vars(sys.modules[name]).values())
                }
                if name in sys.modules
                else set()
            )
            self._leads[name] = any(
                isinstance(each, str) and self._leads_to_qt(each, seen) for each in sources
            )
        return self._leads[name]


class QtEnds:
    """Notes what of Qt's was let go of, and so destroyed, on another thread than the first; and garbage too.

    `gc.get_objects` would be no way to find them: it holds on to tuples that another thread is still making.
    """

    def __init__(self) -> None:
        self._found: list[str] = []
        self._alive: dict[int, weakref.ref[Any]] = {}
        self._kinds: list[Any] = []

    def watch(self) -> None:
        """Hear of every collection of garbage, and of the end of what is made from now on."""
        from PyQt6.QtCore import QObject
        from PyQt6.QtGui import QImage, QPixmap
        from PyQt6.QtWidgets import QGraphicsItem

        self._kinds = [QObject, QGraphicsItem, QPixmap, QImage]
        for kind in self._kinds:
            kind.__init__ = self._watched(kind.__init__)
        gc.callbacks.append(self._on_garbage)

    def unwatch(self) -> None:
        """Hear of nothing any more."""
        gc.callbacks.remove(self._on_garbage)
        for kind in self._kinds:
            del kind.__init__  # the one it inherits is Qt's
        self._alive.clear()

    def take(self) -> list[str]:
        """What was seen, since the last call."""
        found = list(self._found)
        self._found.clear()
        return found

    def _watched(self, init: Callable[..., None]) -> Callable[..., None]:
        def init_watched(made: Any, *args: Any, **named: Any) -> None:
            init(made, *args, **named)
            key, kind = id(made), type(made).__qualname__

            def told(_reference: object) -> None:
                self._alive.pop(key, None)
                self._note(f"a {kind} was let go of")

            self._alive[key] = weakref.ref(made, told)

        return init_watched

    def _on_garbage(self, phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            self._note("garbage was collected")

    def _note(self, what: str) -> None:
        thread = threading.current_thread()
        if thread is not threading.main_thread():
            self._found.append(f"{what} in the thread {thread.name}")


def _main() -> None:
    report, *argv = sys.argv[1:]
    imports, ends = QtImports(), QtEnds()
    imports.watch()
    ends.watch()
    leave = os._exit

    def end(code: int) -> None:
        Path(report).write_text("\n".join([*imports.take(), *ends.take()]), encoding="utf-8")
        leave(code)

    os._exit = end  # type: ignore[assignment]  # how main.py ends
    root = Path(__file__).resolve().parents[2]
    sys.argv = [str(root / "main.py"), *argv]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
