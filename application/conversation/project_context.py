"""What a model is told of the project with each message: its circuits and its goals, in brief."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.design.goals import DesignGoal
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles

_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")
_MOST_FILES = 40
_MOST_FOLDERS = 200
_GOALS_LIMIT = 1200
MAIN_CIRCUIT = "The circuit that is meant when none is named: "


def describe_project(project: ProjectFiles, main_circuit: str = "") -> str:
    """The project's circuits, the main one, and the goals of its current design; blocking.

    `main_circuit`: relative to the project, "" when none is known; one that is not there is not told.
    """
    lines = [f"Project folder: {project.root.name}"]
    found = _circuits(project.root)
    if not found:
        lines.append("It has no circuit file yet.")
    for path in found[:_MOST_FILES]:
        lines.append(f"- {path.relative_to(project.root).as_posix()}")
    if len(found) > _MOST_FILES:
        lines.append(f"- and {len(found) - _MOST_FILES} more (list_project_files shows all)")
    if main_circuit and any(path.relative_to(project.root).as_posix() == main_circuit for path in found):
        lines.append(f"{MAIN_CIRCUIT}{main_circuit}")
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


def goals_of(project: ProjectFiles) -> tuple[DesignGoal, ...]:
    """The goals of the project's current design, those that can be read; blocking."""
    return tuple(goal for plain in _stored_goals(project) if (goal := _goal(plain)) is not None)


def _goal(plain: Any) -> DesignGoal | None:
    if not isinstance(plain, dict) or not isinstance(plain.get("metric"), str):
        return None
    bounds = [plain.get(name) for name in ("minimum", "maximum", "target")]
    if not all(bound is None or isinstance(bound, int | float) for bound in bounds):
        return None
    minimum, maximum, target = bounds
    return DesignGoal(
        metric=plain["metric"],
        expression=str(plain.get("expression", "")),
        unit=str(plain.get("unit", "")),
        minimum=minimum,
        maximum=maximum,
        target=target,
    )


def _stored_goals(project: ProjectFiles) -> list[Any]:
    try:
        document = json.loads(project.read_design_goals() or b"{}")
    except (CircuitAIError, ValueError):
        return []  # a damaged file of goals is the design's to report; a chat goes on without
    goals = document.get("goals") if isinstance(document, dict) else None
    return goals if isinstance(goals, list) else []


def _goals(project: ProjectFiles) -> str:
    goals = _stored_goals(project)
    return json.dumps(goals, ensure_ascii=False)[:_GOALS_LIMIT] if goals else ""
