"""A turn whose changes lose a goal says so in its last row, whatever the model says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from application.app import Application
from bootstrap import build
from domain.simulation.goals import DesignGoal
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.agent.in_process import turn

PART = "* shared\nC1 out 0 100n\n"
DECK = "* board\nV1 in 0 AC 1\nR1 in out 1k\n.include part.inc\n.ac dec 30 10 100k\n.end\n"
GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0)
TWO = DesignGoal(metric="dc", expression="mag(at(v(out),10))", unit="V", minimum=5.0)


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


def _edit(old: str, new: str) -> Script:
    return answer("", calls=[call("patch_file", {"path": "part.inc", "search": old, "replace": new})])


@pytest.mark.timeout(180)
async def test_a_lost_goal_is_told_by_the_program(app: Application, tmp_path: Path) -> None:
    root = tmp_path / "boards"
    root.mkdir()
    (root / "part.inc").write_text(PART)
    for name in ("a.cir", "b.cir"):
        (root / name).write_text(DECK)
    await app.project.browse.open(root)
    await app.project.browse.ask_of(root, root / "a.cir", [GOAL, TWO])
    await app.project.browse.ask_of(root, root / "b.cir", [GOAL])

    script = [_edit("100n", "150n"), _edit("150n", "1u"), answer("C1 is 1u now.")]
    with FakeLLMServer(list(script)) as server:
        ended, _ = await turn(app, server, root, "Make C1 larger.")
    # What it never met is not lost; what came before the turn's first edit counts, not the step between.
    assert str(ended.note) == (
        "The changes of this turn lost 2 goals that were met before: "
        "a.cir: fc = 159.8 Hz (1.4 kHz … 1.8 kHz; 1.592 kHz); "
        "b.cir: fc = 159.8 Hz (1.4 kHz … 1.8 kHz; 1.592 kHz)."
    ).replace(" Hz", " Hz")

    # A turn that found it so has lost nothing; one that mends it neither.
    for old, new in (("1u", "2u"), ("2u", "100n")):
        with FakeLLMServer([_edit(old, new), answer("Changed.")]) as server:
            ended, _ = await turn(app, server, root, "Change C1.")
        assert ended.note is None

    await app.program.preferences.set("watch_goals", value=False)
    with FakeLLMServer([_edit("100n", "1u"), answer("Changed.")]) as server:
        ended, _ = await turn(app, server, root, "Change C1.")
    assert ended.note is None
