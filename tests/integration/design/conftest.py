"""Designs a sentence the way a user does: the whole application, its graph, its box."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import StateGraph

import bootstrap
from application.graph.runtime import CompiledGraph
from application.ports.events import DesignEvent, Done
from application.workflow import builder
from application.workflow.designing import DesignRequest, Question
from tests.integration.design.walks import edge


@dataclass(frozen=True)
class Designed:
    family: str
    netlist: str


Design = Callable[[str], Awaitable[Designed]]


async def _answer(question: Question):
    return "continue" if question.kind == "goals" else question.recommended


@pytest.fixture(scope="session")
def designs_made() -> dict[str, Designed]:
    """What was designed already: several tests look at the same circuit."""
    return {}


@pytest.fixture
def design(designs_made: dict[str, Designed], tmp_path: Path) -> Design:
    async def make(text: str) -> Designed:
        if text not in designs_made:
            app = bootstrap.build(environment=os.environ)
            events: list[DesignEvent] = []
            try:
                done = await app.design.run(
                    DesignRequest(project=tmp_path / "project", text=text), ask=_answer, emit=events.append
                )
            finally:
                await app.close()
                assert isinstance(events[-1], Done)
            assert done.goals_met, (text, [verdict for verdict in done.verdicts if not verdict.met])
            assert done.circuit is not None
            goals = json.loads(
                (done.project / ".circuit_ai" / "goals" / f"{done.circuit}.json").read_text("utf-8")
            )
            netlist = (done.project / done.circuit).read_text("utf-8")
            designs_made[text] = Designed(goals["family"], netlist)
        return designs_made[text]

    return make


@pytest.fixture(scope="session")
def recorded_workflow() -> tuple[CompiledGraph, set[str]]:
    """The graph of designs, and the edges that were gone along on it."""
    walked: set[str] = set()

    class Recorded(StateGraph):
        def add_conditional_edges(self, source: str, path: Any, path_map: Any = None, **more: Any) -> Any:
            def chosen(state: Any) -> str:
                target = str(path(state))
                walked.add(edge(source, target))
                return target

            return super().add_conditional_edges(source, chosen, path_map, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "StateGraph", Recorded)
        return builder.compiled_workflow.__wrapped__(), walked


@pytest.fixture(autouse=True)
def edges_walked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test with the mark `walks` goes along each edge of the graph that the mark names."""
    mark = request.node.get_closest_marker("walks")
    if mark is None:
        yield
        return
    graph, walked = request.getfixturevalue("recorded_workflow")
    walked.clear()
    monkeypatch.setattr(builder, "compiled_workflow", lambda: graph)
    yield
    assert set(mark.args) <= walked, f"not walked: {set(mark.args) - walked}"
