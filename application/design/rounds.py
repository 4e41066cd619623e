"""The rounds of a project's last design: what each changed, what it measured, which circuit it had."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.design.round_history import begun_with
from application.design.story import verdicts_from_plain, whole
from domain.circuit.netlist import Netlist
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Values that were changed in the same way."""

    names: tuple[str, ...]
    """Of elements or parameters, as the netlist writes them."""
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRound:
    """One round: a circuit, simulated and judged."""

    number: int
    """From 1; 0 is the circuit that was there."""
    has_failed: bool = False
    """It could not be simulated."""
    verdicts: tuple[GoalVerdict, ...]
    circuit: Path
    netlist: bytes | None = None
    """None when its stored content is lost."""
    result_path: Path | None = None
    """Of its simulation; the result may have been deleted since."""
    changes: tuple[ValueChange, ...] = ()
    """Against the round before: values, and cards that came, went or were changed otherwise."""
    changed_lines: int = 0
    """How many lines differ from the round before."""
    said: str = ""
    """By which words at the checkpoint before it was asked for; "" where a button was pressed."""

    @property
    def goals_met(self) -> int:
        return sum(verdict.met for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRounds:
    """The rounds of one design, the first one first."""

    session_id: str
    text: str
    """The sentence it began with."""
    goals: tuple[DesignGoal, ...]
    rounds: tuple[DesignRound, ...]
    refines: DesignRounds | None = None
    """The finished design whose circuit this one changed; its own change is there, too."""

    @property
    def begins_from(self) -> DesignRound | None:
        """The round the circuit had come to before the first of these; None where they begin a circuit."""
        return None if self.refines is None else self.refines.rounds[-1]


def read_design_rounds(project: ProjectFiles, circuit: Path | None = None) -> DesignRounds | None:
    """Those of the design that was worked on last; None when there is none with a round. Blocking.

    With `circuit` those of the last design of that circuit, where it has one.

    What cannot be read of a conversation is left out; the store heals nothing here. Designs of another
    installation are read in their conversations: rounds can be shown, compared and put back.
    """
    last: DesignRounds | None = None
    for info in project.sessions.list():
        if info.work_mode != "workflow" or not info.is_ours:
            continue
        try:
            events = project.sessions.read(info.session_id).events
        except CircuitAIError:  # deleted meanwhile
            continue
        is_asked_for = circuit is None or _circuit_of(events, project) == circuit
        if last is not None and not is_asked_for:
            continue
        found = _rounds_of(info.session_id, events, project)
        if found is not None and is_asked_for:
            return found
        last = last or found
    return last


def _circuit_of(events: Sequence[Mapping[str, Any]], project: ProjectFiles) -> Path | None:
    """What the last design of a conversation worked on; cheap."""
    for event in reversed(events):
        update = event.get("update")
        path = update.get("circuit_file_path") if isinstance(update, Mapping) else None
        if isinstance(path, str) and path:
            return project.root / path
    return None


def _rounds_of(
    session_id: str, events: Sequence[Mapping[str, Any]], project: ProjectFiles
) -> DesignRounds | None:
    """The rounds of the last design in a conversation that has any, and those of the designs it refines."""
    text = ""
    state: dict[str, Any] = {}
    rounds: list[DesignRound] = []
    earlier: DesignRounds | None = None
    lacking = ""  # what was asked for before, and lacked a figure that this gives
    said = ""
    for event in events:
        design, failure = event.get("design"), event.get("failure")
        if isinstance(failure, Mapping) and failure.get("error_type") == "missing_goal":
            lacking = text
        if event.get("event") == "turn" and isinstance(design, Mapping):
            goes_on = isinstance(design.get("refines"), Mapping) or (
                rounds and design.get("circuit") == state.get("circuit_file_path")
            )
            earlier = _told(session_id, text, rounds, earlier) if goes_on else None
            told = filter(None, (lacking, str(design.get("text", ""))))
            text, lacking, state, rounds = " … ".join(told), "", begun_with(event), []
        said = _said_at(event) if isinstance(event.get("answer"), str) else said
        update = event.get("update")
        if not isinstance(update, Mapping):
            continue
        state |= update
        # A step that judges nothing new (the best circuit is put back) counts no round.
        is_round = "last_verdicts" in update and "iteration_count" in update
        if not is_round:
            continue
        number, is_undo = whole(update["iteration_count"]), update.get("current_node") == "undo_round"
        while rounds and rounds[-1].number >= number + is_undo:  # taken back, and gone on from there
            rounds.pop()
        if not is_undo and (verdicts := verdicts_from_plain(update["last_verdicts"])):
            before = rounds[-1] if rounds else None if earlier is None else earlier.rounds[-1]
            rounds.append(replace(_round(state, verdicts, project, before), said=said))
            said = ""
    return _told(session_id, text, rounds, earlier)


def _said_at(event: Mapping[str, Any]) -> str:
    """The words of an answer to a checkpoint that wants more than another round."""
    meant = event.get("meant")
    is_wish = isinstance(meant, Mapping) and meant.get("kind") in ("goals", "instruction")
    return str(meant.get("text", "")) if isinstance(meant, Mapping) and is_wish else ""


def _told(
    session_id: str, text: str, rounds: Sequence[DesignRound], earlier: DesignRounds | None
) -> DesignRounds | None:
    """What is told of a design; of one without a round what is told of the one it refines."""
    if not rounds:
        return earlier
    goals = tuple(verdict.goal for verdict in rounds[-1].verdicts)
    return DesignRounds(session_id=session_id, text=text, goals=goals, rounds=tuple(rounds), refines=earlier)


def _round(
    state: Mapping[str, Any],
    verdicts: tuple[GoalVerdict, ...],
    project: ProjectFiles,
    before: DesignRound | None,
) -> DesignRound:
    netlist: bytes | None = None
    last = state.get("last_round")
    known = last.get("netlist_sha256") if isinstance(last, Mapping) else state.get("netlist_sha256")
    try:
        netlist = project.read_object(str(known or ""))
    except (CircuitAIError, ValueError, OSError):  # the table is worth showing without it
        netlist = None
    changes: tuple[ValueChange, ...] = ()
    lines = 0
    if before is not None and before.netlist is not None and netlist is not None:
        changes = circuit_changes(before.netlist, netlist)
        lines = _changed_lines(before.netlist, netlist)
    result = _place(project, state.get("sim_result_path"))
    return DesignRound(
        number=whole(state["iteration_count"]),
        has_failed=bool(state.get("error_context")),
        verdicts=verdicts,
        circuit=_place(project, state.get("circuit_file_path")) or project.root,
        netlist=netlist,
        result_path=result,
        changes=changes,
        changed_lines=lines,
    )


def _place(project: ProjectFiles, text: object) -> Path | None:
    """A place in the project that a line of a transcript names; None for any other."""
    if not isinstance(text, str) or not text or "\0" in text:
        return None
    place = Path(os.path.realpath(project.root / text))
    return place if place.is_relative_to(project.root) else None


def value_changes(before: bytes, after: bytes) -> tuple[ValueChange, ...]:
    """Elements and parameters that both netlists have, with another value; equal changes together."""
    old, new = dict(_values(before)), dict(_values(after))
    found: dict[tuple[str, str], list[str]] = {}
    for key, (name, value) in new.items():
        earlier = old.get(key)
        if earlier is not None and earlier[1].lower() != value.lower():
            found.setdefault((earlier[1], value), []).append(name)
    return tuple(ValueChange(tuple(names), was, now) for (was, now), names in found.items())


def circuit_changes(before: bytes, after: bytes) -> tuple[ValueChange, ...]:
    """Values that are others, and cards that came, went or differ in more than that."""
    return (*value_changes(before, after), *_other_changes(before, after))


def edited_since(last: DesignRound, netlist: bytes) -> DesignRound | None:
    """What the circuit became outside the design behind its last round; None where it is still the same."""
    if last.netlist is None or not (lines := _changed_lines(last.netlist, netlist)):
        return None
    changes = circuit_changes(last.netlist, netlist)
    return replace(last, verdicts=(), netlist=netlist, result_path=None, changes=changes, changed_lines=lines)


def _other_changes(before: bytes, after: bytes) -> Iterator[ValueChange]:
    """The cards that differ in more than a value, without their names; "—" for one that is not there."""
    from application.design.report_data import netlist_changes

    values = {name: change for change in value_changes(before, after) for name in change.names}
    for each in netlist_changes(before, after):
        name = str(each["name"])
        was, now = ((each[side] or "").removeprefix(name).strip() or "—" for side in ("before", "after"))
        value = values.get(name)
        if value is None or _with_value(was, value) != now:
            yield ValueChange((name,), was, now)


def _with_value(card: str, change: ValueChange) -> str:
    """A card with the new value, whatever stands behind it (``10u IC=3``)."""
    value = rf"(?<!\S){re.escape(change.before)}(?!\S)"
    return re.sub(value, lambda _found: change.after, card, count=1)


def _values(data: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    netlist = Netlist.parse(data)
    for element in netlist.elements:
        if element.value is not None:
            yield element.name.lower(), (element.name, element.value.text)
    for parameter in netlist.parameters:
        yield f".param {parameter.name.lower()}", (parameter.name, parameter.value.text)


def _changed_lines(before: bytes, after: bytes) -> int:
    from domain.llm.tools.text_files import diff_files

    diff = diff_files(before, after, path="")
    return max(diff.added, diff.removed)
