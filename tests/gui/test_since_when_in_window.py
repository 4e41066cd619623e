"""Since when is a goal lost: asked by the command, answered in one line, taken back alone."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

from application.project.undoing import VALUES_TOOL
from domain.simulation.goals import DesignGoal
from presentation.panels.studies.since_when import SinceWhen
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until

DECK = "* filter\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\nR2 out 0 1meg\n.ac dec 30 10 100k\n.end\n"
GOALS = (
    DesignGoal(metric="dc", expression="mag(at(v(out),10))", unit="V", minimum=0.9),
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0),
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("tool", "who"),
    [("patch_file", "an operation (patch_file)"), (VALUES_TOOL, "values applied in the window")],
)
async def test_the_edit_is_named_in_one_line_and_only_it_is_taken_back(
    services: WindowServices, tmp_path: Path, until: Until, tool: str, who: str
) -> None:
    root = tmp_path / "p"
    circuit = root / "rc.cir"
    await asyncio.to_thread(_write, circuit, DECK)
    project = services.app.project
    await project.browse.open(root)
    await project.browse.ask_of(root, circuit, GOALS)
    services.workspace.root = root
    services.workspace.main_circuit = circuit
    text = DECK
    for old, new in (("1meg", "2meg"), ("in out 1k", "in out 7.7k"), ("2meg", "3meg")):
        before, text = text, text.replace(old, new)
        await project.operations.rewrite(
            root,
            {circuit: text.encode()},
            expected={circuit: hashlib.sha256(before.encode()).hexdigest()},
            tool=tool,
        )
    said: list[str] = []
    services.workspace.status_changed.connect(lambda words: said.append(services.language(words)))
    window = QWidget()
    window.show()
    tasks = services.app.program.tasks
    SinceWhen(services, services.app, window).ask()
    await until(lambda: any("stops it" in words for words in said))
    SinceWhen(services, services.app, window).ask()
    await until(lambda: "Stopped." in said and not tasks.handles)
    SinceWhen(services, services.app, window).ask()

    def button(name: str) -> QPushButton | None:
        shown = [each for each in QApplication.topLevelWidgets() if each.isVisible()]
        found = [each for top in shown for each in top.findChildren(QPushButton)]
        return next((each for each in found if each.text() == name), None)

    await until(lambda: button("Undo only this") is not None)
    answer = next(words for words in said if words.startswith("rc.cir:3"))
    assert who in answer
    assert "“R1 in out 1k” became “R1 in out 7.7k”; fc went from 1.59" in answer.replace("\u00a0", " ")
    taken = button("Undo only this")
    assert taken is not None
    QTest.mouseClick(taken, Qt.MouseButton.LeftButton)
    await until(lambda: circuit.read_text() == DECK.replace("1meg", "3meg"))
    await until(lambda: not tasks.handles)
    SinceWhen(services, services.app, window).ask()
    await until(lambda: "All goals of rc.cir are met." in said)
    await project.operations.undo(root)
    assert await asyncio.to_thread(circuit.read_text) == text
    await until(lambda: not tasks.handles)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
