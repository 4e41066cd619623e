"""Going back to a round of a design that has ended: its files, goals and figures; undone like any change.

A design that waits at its checkpoint goes back there (`nodes/restoring.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from application.conversation.sessions import find_session
from application.design.round_history import judged_rounds, newest_design, timeline
from application.tool_execution.operations import Operations
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.graph.state import GraphState
    from application.ports.conversation import Transcript
    from application.ports.project import ProjectFiles, Projects
    from application.workflow.journal import Narrate
    from shared.events import EventBus


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRestored:
    """What was put back."""

    session_id: str
    number: int
    circuit: str
    """Relative to the project."""
    paths: tuple[str, ...]
    """The files that were written."""
    main_circuit: str = ""
    """The main one of the round, where it is there and another is now; "" else."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """Files that somebody had changed: where that version is kept."""


class GoBackToRound:
    """The use case."""

    def __init__(
        self, projects: Projects, events: EventBus | None, narrators: Callable[[str], Narrate]
    ) -> None:
        self._projects = projects
        self._events = events
        self._narrators = narrators

    async def __call__(
        self, folder: Path, number: int, *, session_id: str = "", main_circuit: str = ""
    ) -> RoundRestored:
        """Put round `number` back, of the newest design or that of a conversation.

        `main_circuit` is that of the window now, relative to the project; "" for none.

        Raises UserInputError ("no_round", "design_pending", "session_in_use", "not_adopted"), CircuitError
        where a file can't be written; then none is.
        """
        project = await asyncio.to_thread(self._projects.open, folder)
        try:
            if session_id:
                session_id = await asyncio.to_thread(find_session, project.sessions, session_id)
            else:
                session_id = await asyncio.to_thread(_newest, project)
            transcript = await off_loop(project.sessions.open, session_id)
            try:
                return await self._go_back(project, transcript, number, main_circuit)
            finally:
                await off_loop(transcript.close)
        finally:
            await off_loop(project.close)

    async def _go_back(
        self, project: ProjectFiles, transcript: Transcript, number: int, main_circuit: str
    ) -> RoundRestored:
        from application.ports.events import TextWritten
        from application.workflow.nodes.circuit import WRITE_TOOL, keep_goals
        from application.workflow.nodes.restoring import Restoring, changes_of, files_of, of_round
        from domain.llm.messages import create_ai_message, message_to_dict

        plain, updates, is_open = newest_design(transcript.events)
        if is_open:
            raise UserInputError(
                msg("This design waits at a question: it goes back to a round there."),
                error_type="design_pending",
            )
        entries = timeline(updates)
        found = next((each for each in judged_rounds(entries) if each["number"] == number), None)
        if found is None or not found["netlist_sha256"]:
            raise _no_round(number)
        state = cast("GraphState", {**plain, "session_id": transcript.session_id})
        operations = Operations(log=project.operations, project=project, events=self._events)
        await operations.repair()
        records = await operations.list(session_id=transcript.session_id)
        restoring = Restoring(operations, project, lambda: main_circuit)
        plan = await restoring.plan(state, records, files_of(found, state), number=number)
        # Killed before its line was written, it has done that already: no second change, of nothing, to undo.
        plan["changes"] = [change for change in plan["changes"] if change[1] != change[2]]
        back: dict[str, Any] = {
            **of_round(state, found),
            "current_node": "go_back",
            "last_round": {**found, "count": plain.get("iteration_count", number)},
        }
        if plan["changes"]:
            changes = await asyncio.to_thread(changes_of, project, plan)
            await operations.change_files(
                op_id=plan["call_id"],
                session_id=transcript.session_id,
                tool=WRITE_TOOL,
                changes=changes,
                result={"path": changes[0].path, "round": number},
            )
        circuit = back["circuit_file_path"]
        await asyncio.to_thread(
            keep_goals, project, cast("GraphState", {"user_input": "", **state, **back}), circuit
        )
        narrate = await asyncio.to_thread(self._narrators, plain["user_input"])
        words = narrate(TextWritten(text=msg("Back to round {number}.", number=number)))
        line = {
            "event": "message",
            "message": message_to_dict(create_ai_message(words)),
            "step": f"{plan['call_id']}/back",
            "update": back,
        }
        await off_loop(transcript.append, line)
        paths = tuple(path for path, _, _ in plan["changes"])
        return RoundRestored(
            session_id=transcript.session_id,
            number=number,
            circuit=circuit,
            paths=paths,
            main_circuit=await asyncio.to_thread(restoring.main_of, found),
            aside=plan["aside"],
        )


def _newest(project: ProjectFiles) -> str:
    for info in project.sessions.list():
        if info.work_mode == "workflow" and info.is_ours:
            return info.session_id
    raise UserInputError(msg("There is no design in this project."), error_type="no_round")


def _no_round(number: int) -> UserInputError:
    return UserInputError(
        msg("There is no round {number} to go back to.", number=number), error_type="no_round"
    )
