"""The window's state, in ``window.json`` of the user's own folder."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from application.project.window_state import (
    MOST_RECENT,
    CircuitView,
    ProjectMemory,
    WindowState,
    changed_by,
)
from infrastructure.persistence.atomic import write_atomically, write_problem
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.user_json import read_object

SCHEMA_VERSION = 1
FILE = "window.json"
_MAX_BYTES = 8 * 2**20
_LARGEST = 100_000
"""No window, pane or splitter has so many pixels."""
_MOST_LINES = 100_000_000


_logger = logging.getLogger(__name__)

T = TypeVar("T")


class WindowStateFile:
    """Implements application.project.window_state.WindowStates."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._path = user_home / FILE

    def load(self) -> WindowState:
        """The state saved last. A file that is damaged is set aside, and counts as none."""
        try:
            content = read_object(self._path, max_bytes=_MAX_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return WindowState()
        except (OSError, ValueError) as error:
            _logger.warning("The state of the window in %s is not used: %s", self._path, error)
            return WindowState(damaged=self._set_aside())
        return _state(content)

    def _set_aside(self) -> Path | None:
        aside = self._path.with_suffix(f"{self._path.suffix}.damaged")
        try:
            self._path.replace(aside)
        except OSError as error:
            _logger.warning("%s cannot be renamed: %s", self._path, error)
            return self._path
        return aside

    def update(self, before: WindowState, after: WindowState) -> None:
        """See the port."""
        with change_lock(self._path):
            self.save(changed_by(self.load(), before, after))

    def save(self, state: WindowState) -> None:
        """Write it atomically. Raises EnvironmentProblem, UserInputError."""
        content = {
            "schema_version": SCHEMA_VERSION,
            "language": state.language,
            "theme": state.theme,
            "scale": state.scale,
            "geometry": state.geometry,
            "is_maximized": state.is_maximized,
            "shown_panes": dict(state.shown_panes),
            "sizes": dict(state.sizes),
            "right_tab": state.right_tab,
            "last_project": None if state.last_project is None else str(state.last_project),
            "projects": [
                {"path": str(path), **_plain_memory(memory)} for path, memory in state.projects.items()
            ],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1)
        try:
            self._home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_problem(error, self._path) from error
        write_atomically(self._path, (text + "\n").encode("utf-8", "surrogateescape"), inside=self._home)


def _plain_memory(memory: ProjectMemory) -> dict[str, Any]:
    return {
        "main_circuit": memory.main_circuit,
        "open_files": memory.open_files,
        "shown_file": memory.shown_file,
        "expanded": memory.expanded,
        "sizes": dict(memory.sizes),
        "views": {place: asdict(view) for place, view in memory.views.items()},
        "accepted": None if memory.accepted is None else dict(memory.accepted),
        "places": dict(memory.places),
        "bottom_tab": memory.bottom_tab,
        "conversation": memory.conversation,
        "drafts": dict(memory.drafts),
    }


def _state(content: Mapping[str, Any]) -> WindowState:
    default = WindowState()
    projects: dict[Path, ProjectMemory] = {}
    for item in _or(default.projects, _list, content.get("projects")):
        path = _or(None, _absolute, item.get("path")) if isinstance(item, dict) else None
        if path is not None and len(projects) < MOST_RECENT:
            projects.setdefault(path, _memory(item))
    return WindowState(
        language=_or(default.language, _one_of("auto", "en", "zh"), content.get("language")),
        theme=_or(default.theme, _one_of("system", "light", "dark"), content.get("theme")),
        scale=_or(default.scale, _scale, content.get("scale")),
        geometry=_or(None, _geometry, content.get("geometry")),
        is_maximized=content.get("is_maximized") is True,
        shown_panes=_or({}, _mapping(_flag), content.get("shown_panes")),
        sizes=_or({}, _mapping(_pixels), content.get("sizes")),
        right_tab=_or(0, _pixel, content.get("right_tab")),
        last_project=_or(None, _absolute, content.get("last_project")),
        projects=projects,
    )


def _memory(content: Mapping[str, Any]) -> ProjectMemory:
    return ProjectMemory(
        main_circuit=_or("", _text, content.get("main_circuit")),
        open_files=_or((), _texts, content.get("open_files")),
        shown_file=_or("", _text, content.get("shown_file")),
        expanded=_or((), _texts, content.get("expanded")),
        sizes=_or({}, _mapping(_pixels), content.get("sizes")),
        views=_or({}, _mapping(_view), content.get("views")),
        accepted=_or(None, _mapping(_text), content.get("accepted")),
        places=_or({}, _mapping(_place), content.get("places")),
        bottom_tab=_or(0, _pixel, content.get("bottom_tab")),
        conversation=_or(None, _text, content.get("conversation")),
        drafts=_or({}, _mapping(_text), content.get("drafts")),
    )


def _view(value: Any) -> CircuitView:
    content = value if isinstance(value, dict) else {}
    return CircuitView(
        analysis=_or("", _text, content.get("analysis")),
        traces=_or({}, _mapping(_expressions), content.get("traces")),
        zooms=_or({}, _mapping(_mapping(_range)), content.get("zooms")),
        measurements=_or([], _expressions, content.get("measurements")),
    )


def _expressions(value: Any) -> list[str]:
    return list(_texts(value))


def _range(value: Any) -> tuple[float, float]:
    low, high = (float(item) for item in _list(value))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(value)
    return low, high


def _or(default: T, read: Callable[[Any], T], value: Any) -> T:
    """What `read` makes of the value; the default where it is not understood."""
    try:
        return read(value)
    except (TypeError, ValueError):
        return default


def _one_of(*words: Any) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in words:
            raise ValueError(value)
        return value

    return read


def _mapping(read: Callable[[Any], T]) -> Callable[[Any], dict[str, T]]:
    def read_all(value: Any) -> dict[str, T]:
        if not isinstance(value, dict):
            raise TypeError("an object is needed")
        return {key: read(item) for key, item in value.items()}

    return read_all


def _list(value: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError("a list is needed")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("a text is needed")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(item) for item in _list(value))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return value


def _pixel(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ValueError(value)
    return value


def _pixels(value: Any) -> tuple[int, ...]:
    return tuple(_pixel(item) for item in _list(value))


def _place(value: Any) -> tuple[int, int, int]:
    line, column, top = _list(value)
    return _count(line), _count(column), _count(top)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_LINES:
        raise ValueError(value)
    return value


def _geometry(value: Any) -> tuple[int, int, int, int]:
    x, y, width, height = _list(value)
    for place in (x, y):  # a second screen may lie to the left
        if isinstance(place, bool) or not isinstance(place, int) or abs(place) > _LARGEST:
            raise ValueError(place)
    return x, y, _pixel(width), _pixel(height)


def _scale(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1.0 <= value <= 2.0:
        raise ValueError(value)
    return float(value)


def _absolute(value: Any) -> Path | None:
    if value is None:
        return None
    path = Path(_text(value))
    if not path.is_absolute():
        raise ValueError(value)
    return path
