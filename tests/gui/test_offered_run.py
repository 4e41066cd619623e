"""A run of the assistant's beside the user's own curves: offered, and shown or overlaid by a click."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton, QToolButton

from application.simulation.simulating import SimulationRequest
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.conftest import Until


@pytest.fixture
async def parts(services: WindowServices, project: Path, until: Until) -> Parts:
    (project / ".circuit_ai").mkdir()
    (project / "other.cir").write_text((project / "filter.cir").read_text().replace("100n", "10n"))
    services.workspace.root, services.workspace.main_circuit = project, project / "filter.cir"
    made = Parts(services, services.app)
    made.results.resize(260, 300)
    made.bottom.resize(820, 420)
    for widget in (made.results, made.bottom):
        widget.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


async def assistant_runs(parts: Parts, circuit: Path) -> Path:
    """What a simulation of a conversation leaves, and tells."""
    result = await parts.app.simulation.run(SimulationRequest(circuit=circuit))
    parts.services.workspace.run_made.emit(result.result_path)
    return result.result_path


def shown(parts: Parts) -> Path | None:
    found = parts.runs.shown
    return None if found.loaded is None or found.is_loading else found.loaded.source


def press(parts: Parts, name: str, kind: type = QPushButton) -> None:
    button = parts.runs.waveforms.offer.findChild(kind, name)
    assert button.isVisibleTo(parts.bottom)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def test_runs_of_the_assistant_do_not_take_the_place_of_the_users_curves(
    parts: Parts, services: WindowServices, project: Path, until: Until
) -> None:
    circuit, workspace, offer = project / "filter.cir", services.workspace, parts.runs.waveforms.offer
    # Nothing is shown: it is, and those that follow it.
    for _ in range(2):
        made = await assistant_runs(parts, circuit)
        await until(lambda made=made: shown(parts) == made)
    assert offer.text == ""
    # The user runs it himself: from now on the curves are his.
    workspace.main_run_requested.emit()
    await until(lambda: len(parts.results.model.results) == 3 and shown(parts) not in (None, made))
    own = shown(parts)
    assert own is not None
    await until(lambda: not services.app.program.tasks.handles)
    waits: list[Path] = []
    workspace.result_waits.connect(waits.append)
    workspace.run_made.emit(own)  # nothing had changed: what it was told of is what is shown
    fourth = await assistant_runs(parts, circuit)
    await until(lambda: offer.text == "The assistant has simulated this circuit: run 4")
    assert shown(parts) == own
    assert waits == [fourth]
    press(parts, "offeredOverlay")
    assert parts.runs.waveforms.overlay.chosen == (fourth,)
    assert (shown(parts), offer.text) == (own, "")
    await assistant_runs(parts, circuit)
    await until(lambda: offer.text.endswith("run 5"))
    press(parts, "offeredClose", QToolButton)
    assert (shown(parts), offer.text) == (own, "")
    sixth = await assistant_runs(parts, circuit)
    await until(lambda: offer.text.endswith("run 6"))
    workspace.goals_changed.emit(circuit)  # what is shown is read again, and the offer stays
    await until(lambda: shown(parts) == own)
    assert offer.text.endswith("run 6")
    services.language.set("zh")
    assert offer.text == "助手仿真了这个电路：仿真 #6"
    press(parts, "offeredShow")
    await until(lambda: shown(parts) == sixth)
    assert offer.text == ""
    # That was chosen by the user: it stays too, until another circuit has its first curves.
    await assistant_runs(parts, circuit)
    await until(lambda: bool(offer.text))
    other = await assistant_runs(parts, project / "other.cir")
    await until(lambda: shown(parts) == other)
    assert offer.text == ""


async def test_what_an_opened_project_shows_gives_way_until_somebody_chooses_it(
    parts: Parts, services: WindowServices, project: Path, until: Until
) -> None:
    circuit, workspace = project / "filter.cir", services.workspace
    first = await parts.app.simulation.run(SimulationRequest(circuit=circuit))
    workspace.project_opened.emit(project)
    await until(lambda: shown(parts) == first.result_path)
    await until(lambda: not services.app.program.tasks.handles)
    second = await assistant_runs(parts, circuit)
    await until(lambda: shown(parts) == second)
    workspace.result_selected.emit(first.result_path)
    await until(lambda: shown(parts) == first.result_path)
    await assistant_runs(parts, circuit)
    await until(lambda: parts.runs.shown.offered is not None)
    assert shown(parts) == first.result_path
    workspace.project_closed.emit()
    assert parts.runs.waveforms.offer.text == ""
