"""The graph's conditional edges: where a run goes next."""

from __future__ import annotations

from application.graph.state import GraphState

MAX_CONSECUTIVE_FIX_ATTEMPTS = 3
STAGNATION_LIMIT = 2


def route_after_goals(state: GraphState) -> str:
    """Confirmed goals lead to a design, declined ones to the end."""
    return "conclude" if state.get("user_intent") == "decline" else "initial_design"


def route_by_user_intent(state: GraphState) -> str:
    """What was decided at the checkpoint."""
    return "action" if state.get("user_intent") == "continue" else "conclude"


def route_after_action(state: GraphState) -> str:
    """A changed circuit is simulated again; with nothing left to change the run ends."""
    return "simulation" if state.get("force_resimulate") else "conclude"


def should_continue(state: GraphState) -> bool:
    """Whether another round is worth while, for whoever answers checkpoints automatically."""
    return (
        state.get("iteration_count", 0) < state.get("max_iterations", 1)
        and state.get("stagnation_count", 0) < STAGNATION_LIMIT
        and state.get("consecutive_fix_attempts", 0) < MAX_CONSECUTIVE_FIX_ATTEMPTS
    )
