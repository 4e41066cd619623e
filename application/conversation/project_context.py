"""What a model is told of the project with each message: its circuits and goals, in brief.

And which of its own changes were taken back: its words in the history do not know of that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from application.design.circuit_goals import GoalBook, read_goals
from application.ports.project import OperationRecord, ProjectFiles
from domain.simulation.goals import DesignGoal
from shared.paths import walk

_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")
_MOST_FILES = 40
_MOST_FOLDERS = 200
_GOALS_LIMIT = 1200
"""Characters of one circuit's goals."""
_MOST_GOALS = 4
"""Circuits whose goals are told."""
_MOST_CHANGES = 10
MAIN_CIRCUIT = "The circuit that is meant when none is named: "


def describe_project(project: ProjectFiles, main_circuit: str = "") -> str:
    """The project's circuits, the main one, and what is asked of each; blocking.

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
    lines += _goals(project, main_circuit)
    return "\n".join(lines)


def _circuits(root: Path) -> list[Path]:
    found: list[Path] = []
    for count, (folder, folders, files) in enumerate(walk(root)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in sorted(files) if name.lower().endswith(_CIRCUITS)]
        if count >= _MOST_FOLDERS:
            break
    return found


def goals_of(project: ProjectFiles, circuit: str) -> tuple[DesignGoal, ...]:
    """What is asked of the circuit at a place in the project; blocking."""
    return read_goals(project, circuit).goals


def _goals(project: ProjectFiles, main_circuit: str) -> Iterator[str]:
    """A line for each circuit with goals, the main one first; none of one that is kept from models."""
    found = [each for each in GoalBook(project).all if not project.is_kept_back(each.circuit)]
    found.sort(key=lambda each: each.circuit != main_circuit)
    for each in found[:_MOST_GOALS]:
        stored = json.dumps(each.plain, ensure_ascii=False)
        yield f"Goals of {each.circuit}: {stored[:_GOALS_LIMIT]}"
    if len(found) > _MOST_GOALS:
        yield f"{len(found) - _MOST_GOALS} more circuits have goals."


def undone_note(records: Sequence[OperationRecord], *, since: str) -> str:
    """A note on a conversation's operations, oldest first, or "".

    Told are the changes that are taken back now, as long as they are, and those that were done again after
    `since` (ISO 8601, UTC: the model's last answer of an earlier turn).
    """
    by_id = {record.op_id: record for record in records}
    undone = [record for record in records if record.kind == "file" and record.state == "undone"]
    fresh = {
        original.op_id
        for record in records
        if record.kind == "undo" and record.created > since
        for original in _originals(record, by_id)
    }
    again = [record for record in records if record.op_id in fresh and record.state == "done"]
    lines = []
    if undone:
        lines.append("These changes of yours were taken back; the files no longer have them:")
        lines += [
            _line(record) + (", since your last answer" if record.op_id in fresh else "")
            for record in undone[-_MOST_CHANGES:]
        ]
    if again:
        lines.append("These changes of yours were taken back and then done again; the files have them now:")
        lines += [_line(record) for record in again[-_MOST_CHANGES:]]
    return "\n".join(lines)


def _originals(record: OperationRecord, by_id: dict[str, OperationRecord]) -> list[OperationRecord]:
    """The changes at the beginning of chains of undos."""
    seen: set[str] = set()
    found: list[OperationRecord] = []
    left = [record]
    while left:
        each = left.pop()
        if each.kind == "file":
            found.append(each)
        elif each.op_id not in seen:
            seen.add(each.op_id)
            left += [by_id[op_id] for op_id in each.undone_ids if op_id in by_id]
    return found


def _line(record: OperationRecord) -> str:
    return f"- {record.tool} of {record.path} at {record.created[:19]}Z"
