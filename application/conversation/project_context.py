"""What a model is told of the project with each message: its circuits and its goals, in brief."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles

_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")
_MOST_FILES = 40
_MOST_FOLDERS = 200
_GOALS_LIMIT = 1200


def describe_project(project: ProjectFiles) -> str:
    """The project's circuits (paths and sizes) and the goals of its current design; blocking."""
    lines = [f"Project folder: {project.root.name}"]
    found = _circuits(project.root)
    if not found:
        lines.append("It has no circuit file yet.")
    for path in found[:_MOST_FILES]:
        lines.append(f"- {path.relative_to(project.root).as_posix()}")
    if len(found) > _MOST_FILES:
        lines.append(f"- and {len(found) - _MOST_FILES} more (list_project_files shows all)")
    goals = _goals(project)
    if goals:
        lines.append(f"Goals of the current design: {goals}")
    return "\n".join(lines)


def _circuits(root: Path) -> list[Path]:
    found: list[Path] = []
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in sorted(files) if name.lower().endswith(_CIRCUITS)]
        if count >= _MOST_FOLDERS:
            break
    return found


def _goals(project: ProjectFiles) -> str:
    try:
        document = json.loads(project.read_design_goals() or b"{}")
    except (CircuitAIError, ValueError):
        return ""  # a damaged file of goals is the design's to report; a chat goes on without
    goals = document.get("goals") if isinstance(document, dict) else None
    if not goals:
        return ""
    return json.dumps(goals, ensure_ascii=False)[:_GOALS_LIMIT]
