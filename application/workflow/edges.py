"""The graph's conditional edges: where a run goes next."""

from __future__ import annotations

from langgraph.graph import END

from application.graph.state import GraphState

MAX_CONSECUTIVE_FIX_ATTEMPTS = 3
STAGNATION_LIMIT = 2


def route_after_goals(state: GraphState) -> str:
    """Confirmed goals lead to a design, declined ones to the end."""
    return "conclude" if state.get("user_intent") == "decline" else "initial_design"


def route_by_user_intent(state: GraphState) -> str:
    """What was decided at the checkpoint."""
    match state.get("user_intent"):
        case "continue":
            return "action"
        case "undo":
            return "undo_round"
        case _:
            return "conclude"


def route_after_undo(state: GraphState) -> str:
    """The round before is asked about again; without one the run is over."""
    return END if state.get("is_completed") else "user_checkpoint"


def route_after_action(state: GraphState) -> str:
    """A planned change is made; with nothing left to change the same round is asked about again."""
    return "write_circuit" if state.get("planned_change") else "user_checkpoint"


def route_after_write(state: GraphState) -> str:
    """A new circuit is simulated; the best one, put back at the end, was."""
    return END if state.get("is_completed") else "simulation"


def route_after_conclude(state: GraphState) -> str:
    """The best circuit is put back if it isn't the one in the file."""
    return "write_circuit" if state.get("planned_change") else END


def should_continue(state: GraphState) -> bool:
    """Whether another round is worth while, for whoever answers checkpoints automatically."""
    return (
        state.get("iteration_count", 0) < state.get("max_iterations", 1)
        and state.get("stagnation_count", 0) < STAGNATION_LIMIT
        and state.get("consecutive_fix_attempts", 0) < MAX_CONSECUTIVE_FIX_ATTEMPTS
    )
