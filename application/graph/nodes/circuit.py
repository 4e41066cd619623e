"""The nodes that make and change the circuit: initial design, action, conclusion."""

from __future__ import annotations

import asyncio
from pathlib import Path

from application.events import TextWritten
from application.graph.nodes._effects import enter, tell, tool_call
from application.graph.state import (
    GraphState,
    intent_from_plain,
    proposal_from_plain,
    proposal_to_plain,
    verdict_from_plain,
)
from application.ports import Designer, ProjectFiles
from domain.design.designer import Proposal
from shared.errors import UserInputError
from shared.message import msg

_MOST_NAMES = 1000


class InitialDesignNode:
    """The first shot by design equations, written into a file of its own."""

    def __init__(self, designer: Designer, project: ProjectFiles) -> None:
        self._designer = designer
        self._project = project

    async def __call__(self, state: GraphState) -> GraphState:
        """Propose a circuit and write it; never over a file that holds something else."""
        enter("initial_design", state)
        proposal = await self._designer.propose(intent_from_plain(state["design_intent"]))
        path = await asyncio.to_thread(self._free_path, proposal)
        return await _write(self._project, path, proposal, "initial_design")

    def _free_path(self, proposal: Proposal) -> Path:
        """`stem.cir`, or the first `stem_2.cir` ... that is free or already holds this very netlist.

        A folder, a link to the outside or anything else of that name is not free either.
        """
        content = proposal.netlist.encode()
        for number in range(1, _MOST_NAMES + 1):
            suffix = "" if number == 1 else f"_{number}"
            path = self._project.root / f"{proposal.file_stem}{suffix}.cir"
            try:
                if self._project.read(path) == content:
                    return path
            except UserInputError as error:
                if error.error_type == "file_not_found":
                    return path
        raise UserInputError(
            msg("No free file name was found for {name}.cir.", name=proposal.file_stem),
            advice=msg("Remove or rename some of the circuits in the project."),
        )


class ActionNode:
    """Carries out what was decided at the checkpoint: another round with re-sized values."""

    def __init__(self, designer: Designer, project: ProjectFiles) -> None:
        self._designer = designer
        self._project = project

    async def __call__(self, state: GraphState) -> GraphState:
        """Re-size after a miss; without anything left to change, say so by not forcing a simulation."""
        enter("action", state)
        path = self._project.root / state["circuit_file_path"]
        netlist = await asyncio.to_thread(self._project.read, path)
        previous = proposal_from_plain(state["proposal"], netlist.decode())
        revised = await self._designer.revise(
            intent_from_plain(state["design_intent"]),
            previous,
            [verdict_from_plain(plain) for plain in state["last_verdicts"]],
        )
        if revised is None:
            tell(TextWritten(text=msg("There is nothing left to change that would bring the goals closer.")))
            return {"current_node": "action", "force_resimulate": False}
        return await _write(self._project, path, revised, "action")


class ConcludeNode:
    """Ends a run; when a former round was better than the last, its circuit is put back."""

    def __init__(self, project: ProjectFiles) -> None:
        self._project = project

    async def __call__(self, state: GraphState) -> GraphState:
        """Leave the best circuit in the file and its figures in the state."""
        enter("conclude", state, ends_round=True)
        ended: GraphState = {
            "current_node": "conclude",
            "is_completed": True,
            "termination_reason": state.get("user_intent", "stop"),
        }
        best = state.get("best_round")
        if best is None or best["netlist_sha256"] == state.get("netlist_sha256"):
            return ended
        path = self._project.root / state["circuit_file_path"]
        async with tool_call("rewrite_file", path=path.name) as call:
            content = await asyncio.to_thread(self._project.read_object, best["netlist_sha256"])
            await asyncio.to_thread(self._project.write, path, content)
            call.success = True
            call.summary = msg("Put back round {number}, the best one.", number=best["number"])
        return {
            **ended,
            "netlist_sha256": best["netlist_sha256"],
            "sim_result_path": best["sim_result_path"],
            "last_metrics": best["metrics"],
            "last_verdicts": best["verdicts"],
        }


async def _write(project: ProjectFiles, path: Path, proposal: Proposal, node: str) -> GraphState:
    content = proposal.netlist.encode()
    async with tool_call("rewrite_file", path=path.name) as call:
        await asyncio.to_thread(project.keep_object, content)
        digest = await asyncio.to_thread(project.write, path, content)
        call.success = True
        call.summary = msg("Wrote {path}.", path=path.name)
    for note in proposal.notes:
        tell(TextWritten(text=note))
    return {
        "current_node": node,
        "circuit_file_path": path.relative_to(project.root).as_posix(),
        "netlist_sha256": digest,
        "proposal": proposal_to_plain(proposal),
        "force_resimulate": True,
    }
