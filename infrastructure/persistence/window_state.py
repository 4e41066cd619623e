"""The window's state, in ``window.json`` of the user's own folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from application.project.window_state import (
    MOST_RECENT,
    ProjectMemory,
    WindowState,
    changed_by,
)
from infrastructure.persistence.user_json import JsonFile
from shared.setting import read_fields

SCHEMA_VERSION = 1
FILE = "window.json"
_KEPT = WindowState.__dataclass_fields__.keys() - {"projects", "damaged"}
_RIGHT_TABS = ("conversation", "context", "debug", "info")
_BOTTOM_TABS = ("waveforms", "measurements", "iterations", "problems", "console")
"""Keys of the panels by the position of their tabs when positions were kept."""


class WindowStateFile:
    """Implements application.project.window_state.WindowStates."""

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(user_home, FILE, version=SCHEMA_VERSION, max_bytes=8 * 2**20)

    def load(self) -> WindowState:
        """The state saved last. A file that is damaged is set aside, and counts as none."""
        try:
            return _state(self._file.read())
        except (FileNotFoundError, NotADirectoryError):
            return WindowState()
        except (OSError, ValueError):
            return WindowState(damaged=self._file.set_aside() or self._file.path)

    def update(self, before: WindowState, after: WindowState) -> None:
        with self._file.locked():
            self.save(changed_by(self.load(), before, after))

    def save(self, state: WindowState) -> None:
        """Write it atomically. Raises EnvironmentProblem, UserInputError."""
        content = asdict(replace(state, projects={}, damaged=None))
        del content["damaged"]
        self._file.write(
            {
                **content,
                "last_project": None if state.last_project is None else str(state.last_project),
                "projects": [{"path": str(path), **asdict(kept)} for path, kept in state.projects.items()],
            }
        )


def _state(content: Mapping[str, Any]) -> WindowState:
    projects: dict[Path, ProjectMemory] = {}
    listed = content.get("projects")
    for item in listed if isinstance(listed, list) else ():
        place = item.get("path") if isinstance(item, dict) else None
        path = Path(place) if isinstance(place, str) and place.startswith("/") and "\0" not in place else None
        if path is not None and len(projects) < MOST_RECENT:
            memory = {"bottom_panel": _panel(item, "bottom_tab", _BOTTOM_TABS), **item}
            projects.setdefault(path, read_fields(ProjectMemory, memory, is_strict=False))
    content = {"right_panel": _panel(content, "right_tab", _RIGHT_TABS), **content}
    return replace(read_fields(WindowState, content, only=_KEPT, is_strict=False), projects=projects)


def _panel(content: Mapping[str, Any], old_name: str, old_tabs: Sequence[str]) -> str:
    """The key of a panel in files of earlier versions, which have the position of its tab instead."""
    if old_name not in content:
        return ""
    position = content[old_name]
    position = position if type(position) is int and position >= 0 else 0
    return old_tabs[position] if position < len(old_tabs) else ""
