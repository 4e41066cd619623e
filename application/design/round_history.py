"""Which rounds of a design stand, and in which order they were come to: what an undo goes back along.

Each judged round is an entry, and so is going back to an earlier one, which is a place to undo from as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from domain.llm.transcript import design_left_open

if TYPE_CHECKING:
    from application.graph.state import JudgedRound

_TAKEN_OVER = ("design_intent", "circuit_file_path", "netlist_sha256")
_TAKES_BACK = ("undo_round", "user_checkpoint")
"""Steps that say of `last_round` what it was before the newest entry."""


def timeline(updates: Iterable[Mapping[str, Any]]) -> list[JudgedRound]:
    """The entries that stand after these changes of a design's state, oldest first."""
    found: list[JudgedRound] = []
    for update in updates:
        if "last_round" not in update:
            continue
        if update.get("current_node") in _TAKES_BACK:
            found = found[:-1]
        elif update["last_round"] is not None:
            found.append(cast("JudgedRound", update["last_round"]))
    return found


def judged_rounds(entries: Iterable[JudgedRound]) -> list[JudgedRound]:
    """The rounds among them, each once, by number."""
    found = {entry["number"]: entry for entry in entries if "count" not in entry}
    return [found[number] for number in sorted(found)]


def number_shown(state: Mapping[str, Any]) -> int:
    """The number of the round whose circuit is in the files: not the newest one after going back."""
    last = state.get("last_round")
    number = last.get("number") if isinstance(last, Mapping) else state.get("iteration_count")
    return number if isinstance(number, int) and not isinstance(number, bool) else 0


def can_be_undone(state: Mapping[str, Any]) -> bool:
    """Whether there is a round before the one that is asked about, or its changes leave nothing behind."""
    return state.get("previous_round") is not None or bool(state.get("last_write"))


def begun_with(event: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a design's state at its first line: the circuit it begins from, what it refines."""
    design = event.get("design")
    refines = design.get("refines") if isinstance(design, Mapping) else None
    if not isinstance(refines, Mapping):
        circuit = design.get("circuit") if isinstance(design, Mapping) else None
        return {"circuit_file_path": circuit} if isinstance(circuit, str) else {}
    known = {name: refines[name] for name in _TAKEN_OVER if refines.get(name)}
    return known | {"design_goals_summary": refines.get("refined_goals")}


def newest_design(
    events: Iterable[Mapping[str, Any]],
) -> tuple[dict[str, Any], list[Mapping[str, Any]], bool]:
    """Of a transcript's newest design: its state, the changes that made it, and whether it is still open."""
    state: dict[str, Any] = {}
    updates: list[Mapping[str, Any]] = []
    design = ""
    for event in events:
        before, design = design, design_left_open(design, event)
        if design and design != before:
            begun = event.get("design")
            text = begun.get("text", "") if isinstance(begun, Mapping) else ""
            state, updates = {"user_input": str(text), **begun_with(event)}, []
        update = event.get("update")
        if isinstance(update, Mapping):
            state |= update
            updates.append(update)
    return state, updates, bool(design)
