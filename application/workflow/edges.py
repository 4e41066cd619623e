"""The graph's conditional edges: where a run goes next."""

from __future__ import annotations

from langgraph.graph import END

from application.graph.state import GraphState
from shared.message import Message, msg

MAX_CONSECUTIVE_FIX_ATTEMPTS = 3
STAGNATION_LIMIT = 2


def route_after_request(state: GraphState) -> str:
    """Goals are to be confirmed; what is no request for a circuit has been answered."""
    return END if state.get("is_completed") else "confirm_goals"


def route_after_goals(state: GraphState) -> str:
    """Confirmed goals lead to a design, to the circuit there is, or to a wish; declined ones to the end."""
    match state.get("user_intent"):
        case "decline":
            return "conclude"
        case _ if state.get("planned_simulation"):
            return "simulation"
        case "instruction":
            return "action"
        case _:
            return "initial_design"


def is_instruction_waiting(state: GraphState) -> bool:
    """Whether an instruction is to be carried out behind this round: a finished design is refined by it, or
    somebody changed the circuit before it could be."""
    if state.get("instruction_waits"):
        return True
    is_begun = bool(state.get("checkpoint_count")) or state.get("iteration_count", 0) > 0
    return state.get("user_intent") == "instruction" and bool(state.get("refined_from")) and not is_begun


def route_after_analysis(state: GraphState) -> str:
    """The round is asked about; one before the instruction that a design is refined by is not."""
    return "action" if is_instruction_waiting(state) else "user_checkpoint"


def route_after_design(state: GraphState) -> str:
    """The circuit is simulated; without one the round has failed."""
    if state.get("planned_change"):  # of a design that an earlier version began
        return "write_circuit"
    return "simulation" if state.get("planned_simulation") else "analysis"


def route_by_user_intent(state: GraphState) -> str:
    """What was decided at the checkpoint."""
    match state.get("user_intent"):
        case "continue" | "fix" | "instruction" | "question":
            return "action"
        case "undo":
            return "undo_round"
        case "go_back":
            return "go_back"
        case "look_again":
            return "simulation" if state.get("planned_simulation") else "analysis"
        case _:
            return "conclude"


def route_to_restoring(state: GraphState) -> str:
    """What has to be put back is put back; else the same checkpoint asks again, or the run is over."""
    if state.get("planned_restoring"):
        return "restore"
    return END if state.get("is_completed") else "user_checkpoint"


def route_after_action(state: GraphState) -> str:
    """A change is simulated; with nothing changed the same round is asked about again."""
    if state.get("planned_change"):  # of a design that an earlier version began
        return "write_circuit"
    return "simulation" if state.get("planned_simulation") else "user_checkpoint"


def why_rounds_rest(state: GraphState) -> Message | None:
    """Why no further round is worth while, for whoever answers checkpoints automatically; None: one is."""
    if (rounds := state.get("iteration_count", 0)) >= state.get("max_iterations", 1):
        return msg("all {count} {count:round|rounds} used", count=rounds)
    stagnant, fixes = state.get("stagnation_count", 0), state.get("consecutive_fix_attempts", 0)
    if stagnant < STAGNATION_LIMIT and fixes < MAX_CONSECUTIVE_FIX_ATTEMPTS:
        return None
    if fixes and state.get("error_context"):
        return msg("{count} rounds in a row could not be simulated", count=fixes)
    return msg("{count} rounds in a row came no closer to the goals", count=stagnant)
