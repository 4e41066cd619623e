"""Design a circuit from a sentence, in workflow mode: the use case behind `design`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from application.events import (
    ConfirmationAsked,
    DesignEvent,
    Done,
    ErrorOccurred,
    SessionOpened,
    StopReason,
)
from domain.design.goals import DesignGoal
from shared.errors import CircuitAIError, UserInputError, internal_error
from shared.message import msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.graph.runtime import GraphRuntime
    from application.graph.state import GraphState
    from application.measuring import MeasureResult
    from application.ports import Checkpointers, Designer, ProjectFiles, Projects
    from application.simulating import RunSimulation

DEFAULT_MAX_ITERATIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRequest:
    """What a caller asks for."""

    project: Path
    text: str
    provider: str = "builtin"
    max_iterations: int = DEFAULT_MAX_ITERATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A decision that is the user's."""

    kind: Literal["goals", "checkpoint"]
    goals: tuple[DesignGoal, ...] = ()
    round_number: int = 0
    goals_met: bool = False
    recommended: Literal["continue", "accept", "stop"] = "continue"
    """What an automatic answer would be."""


Ask = Callable[[Question], Awaitable[Literal["continue", "accept", "stop", "decline"]]]


class DesignCircuit:
    """Runs the LangGraph workflow of one project."""

    def __init__(
        self,
        *,
        designers: Mapping[str, Designer],
        projects: Projects,
        simulate: RunSimulation,
        measure: MeasureResult,
        checkpointers: Checkpointers,
    ) -> None:
        self._designers = designers
        self._projects = projects
        self._simulate = simulate
        self._measure = measure
        self._checkpointers = checkpointers

    async def __call__(
        self, request: DesignRequest, *, ask: Ask, emit: Callable[[DesignEvent], None]
    ) -> Done:
        """Run to the end; `emit` gets every event as it happens, `Done` always last (also returned).

        Errors with a text for people become an `ErrorOccurred` before `Done` and are raised after
        it. Cancelling gives `Done` with stop_reason "stopped" and goes on cancelling.
        """
        session_id = new_ulid()
        emit(SessionOpened(session_id=session_id))
        progress = _Progress(request.project)
        try:
            designer = self._designer(request.provider)
            project = await asyncio.to_thread(self._projects.open, request.project, create=True)
            progress.project = project.root
            async with self._checkpointers(project.checkpoints_path) as saver:
                runtime = await self._runtime(designer, project, saver)
                start: GraphState = {
                    "session_id": session_id,
                    "work_mode": "workflow",
                    "project_root": str(project.root),
                    "user_input": request.text,
                    "max_iterations": request.max_iterations,
                }
                try:
                    async for event in runtime.run(
                        session_id, start, decide=_decider(ask, emit), rounds=request.max_iterations
                    ):
                        emit(cast("DesignEvent", event))
                finally:
                    progress.state = await runtime.state(session_id)
        except CircuitAIError as error:
            emit(ErrorOccurred(error_type=error.error_type, message=error.message, advice=error.advice))
            emit(progress.done("error"))
            raise
        except asyncio.CancelledError:
            emit(progress.done("stopped"))
            raise
        except Exception as error:
            # A bug: scripts still get their closing line, and the last-resort handler the cause.
            emit(ErrorOccurred(error_type="internal", message=internal_error(error), advice=None))
            emit(progress.done("error"))
            raise
        done = progress.done(None)
        emit(done)
        return done

    def _designer(self, provider: str) -> Designer:
        try:
            return self._designers[provider]
        except KeyError:
            raise UserInputError(
                msg("The provider {name} is not known.", name=provider),
                advice=msg("Known providers: {names}.", names=", ".join(sorted(self._designers))),
            ) from None

    async def _runtime(self, designer: Designer, project: ProjectFiles, saver: Any) -> GraphRuntime:
        await asyncio.to_thread(import_graph)
        from application.graph.builder import build_graph
        from application.graph.runtime import GraphRuntime

        graph = build_graph(
            designer=designer,
            project=project,
            simulate=self._simulate,
            measure=self._measure,
            checkpointer=saver,
        )
        return GraphRuntime(graph)


def import_graph() -> None:
    """Load LangGraph, about a second of CPU and of file reading: not for the loop's thread."""
    import application.graph.builder
    import application.graph.runtime  # noqa: F401 - loaded for those who use it


class _Progress:
    """What is known of the run, for the closing event."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.state: GraphState = {}

    def done(self, stop_reason: StopReason | None) -> Done:
        from application.graph.state import verdict_from_plain

        state = self.state
        verdicts = tuple(verdict_from_plain(plain) for plain in state.get("last_verdicts", ()))
        goals_met = bool(verdicts) and all(verdict.met for verdict in verdicts)
        if stop_reason is None:
            if state.get("user_intent") == "decline":
                stop_reason = "declined"
            else:
                stop_reason = "goals_met" if goals_met else "goals_not_met"
        return Done(
            stop_reason=stop_reason,
            project=self.project,
            circuit=state.get("circuit_file_path"),
            goals_met=goals_met,
            verdicts=verdicts,
            metrics={verdict.goal.metric: verdict.measured.value for verdict in verdicts},
            rounds=state.get("iteration_count", 0),
        )


def _decider(
    ask: Ask, emit: Callable[[DesignEvent], None]
) -> Callable[[dict[str, Any], GraphState], Awaitable[dict[str, Any]]]:
    """Turns the graph's interrupts into typed questions and the answers back."""
    from application.graph.edges import should_continue
    from application.graph.state import goal_from_plain

    async def decide(value: dict[str, Any], state: GraphState) -> dict[str, Any]:
        if value["kind"] == "goals":
            question = Question(kind="goals", goals=tuple(goal_from_plain(plain) for plain in value["goals"]))
        else:
            met = bool(value["goals_met"])
            question = Question(
                kind="checkpoint",
                round_number=int(value["round"]),
                goals_met=met,
                recommended="accept" if met else "continue" if should_continue(state) else "stop",
            )
        answer = await ask(question)
        emit(ConfirmationAsked(kind=question.kind, answer=answer))
        return {"intent": answer}

    return decide
