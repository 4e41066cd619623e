"""The state a design begins with: from nothing, from a circuit of the project, or from a finished design."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from application.workflow.journal import DesignRun
from shared.errors import UserInputError
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.graph.state import GraphState
    from application.ports.project import ProjectFiles


def start_state(project: ProjectFiles, run: DesignRun) -> GraphState:
    return {
        "session_id": run.session_id,
        "turn_id": run.turn_id,
        "step": "",
        "step_number": 0,
        "work_mode": "workflow",
        "project_root": str(project.root),
        "user_input": run.text,
        "max_iterations": run.max_iterations,
        **({} if run.refines is None else _refined(project, run.refines)),
        **({} if not run.circuit else _begun_from(project, run.circuit)),
    }


def _begun_from(project: ProjectFiles, circuit: str) -> GraphState:
    """A start from a circuit of the project, which is round 0: simulated and judged before it is changed."""
    content = project.read(project.root / circuit)
    sha256 = project.keep_object(content)
    return {
        "circuit_file_path": circuit,
        "netlist_sha256": sha256,
        "circuit_files": {circuit: sha256},
        "planned_simulation": new_ulid(),
        "iteration_count": -1,
    }


def without_circuit() -> GraphState:
    """What `_begun_from` set, taken back: a circuit of its own is designed."""
    return {
        "circuit_file_path": "",
        "netlist_sha256": "",
        "circuit_files": {},
        "planned_simulation": "",
        "iteration_count": 0,
    }


def _refined(project: ProjectFiles, refines: Mapping[str, Any]) -> GraphState:
    """A start from a finished design: its circuit and what it was sized for, and none of its rounds.

    Where a language model goes on, the circuit as it is now is round 0: simulated and judged first.
    """
    begun: GraphState = {}
    if refines.get("is_round_zero"):
        with contextlib.suppress(UserInputError):  # it is gone: the wish may be to have it again
            begun = _begun_from(project, str(refines["circuit_file_path"]))
    return {
        "design_intent": dict(refines["design_intent"]),
        "refined_goals": list(refines["refined_goals"]),
        "demand": str(refines.get("demand") or ""),
        "refined_from": dict(refines["design_intent"]),
        "circuit_file_path": str(refines["circuit_file_path"]),
        "netlist_sha256": str(refines["netlist_sha256"]),
        "circuit_files": dict(refines.get("circuit_files") or {}),
        "instruction": str(refines.get("instruction") or ""),
        "last_writes": [],
        "error_places": [],
        "planned_change": None,
        "planned_restoring": None,
        "planned_simulation": "",
        "is_completed": False,
        "is_exhausted": False,
        "termination_reason": "",
        "error_context": "",
        "last_metrics": {},
        "last_verdicts": [],
        "best_round": None,
        "last_round": None,
        "previous_round": None,
        "last_write": "",
        "goals_changed": False,
        "iteration_count": 0,
        "checkpoint_count": 0,
        "stagnation_count": 0,
        "consecutive_fix_attempts": 0,
        **begun,
    }
