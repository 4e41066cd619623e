"""Designs a sentence the way a user does: the whole application, its graph, its box."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import bootstrap
from application.ports.events import DesignEvent, Done
from application.workflow.designing import DesignRequest, Question


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
