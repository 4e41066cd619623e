"""The right tabs Info and Debug: what is known of the project, and how the program is doing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PyQt6.QtGui import QGuiApplication

from application.simulation.simulating import SimulationRequest
from presentation.panels.debug.panel import DebugPanel
from presentation.panels.info.panel import InfoPanel
from presentation.ui.facts import size_text
from presentation.ui.log_file import log_to_file
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from presentation.window.panes import Panes
from shared.events import Event
from shared.paths import user_home
from tests.gui.conftest import Until


@pytest.fixture
async def panes(services: WindowServices, project: Path, until: Until) -> AsyncIterator[Panes]:
    opened = await services.app.project.browse.open(project)
    services.workspace.root = opened.root
    services.workspace.main_circuit = opened.root / "filter.cir"
    made = Panes(services, Parts(services, services.app))
    made.resize(1400, 800)
    made.show()
    yield made
    made.hide()  # so that nothing is read any more
    await until(lambda: not services.app.program.tasks.handles)


def info(panes: Panes) -> InfoPanel:
    found = panes.findChild(InfoPanel)
    assert isinstance(found, InfoPanel)
    return found


def debug(panes: Panes) -> DebugPanel:
    found = panes.findChild(DebugPanel)
    assert isinstance(found, DebugPanel)
    return found


async def test_info_tells_of_project_results_file_and_simulator(panes, services, project, until):
    assert panes.findChild(InfoPanel) is None  # made when it is wanted
    panes.show_panel("info")
    sheet = info(panes).sheet
    await until(lambda: "ngspice" in sheet.plain_text and "Stored runs: 0" in sheet.plain_text)
    assert f"Folder: {project}" in sheet.plain_text
    assert "Main circuit: filter.cir" in sheet.plain_text
    assert "bubblewrap" in sheet.plain_text or "landlock" in sheet.plain_text

    result = await services.app.simulation.run(SimulationRequest(circuit=project / "filter.cir"))
    services.workspace.run_finished.emit(result)
    services.workspace.file_shown.emit(project / "filter.cir")
    await until(lambda: "Stored runs: 1" in sheet.plain_text and "Current file" in sheet.plain_text)
    folder = result.result_path.parent
    size = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    assert f"Size on disk: {size_text(size)}" in sheet.plain_text
    assert "✓ Latest: Run 1, filter.cir" in sheet.plain_text

    services.language.set("zh")
    services.theme.set_mode("dark")
    assert "主电路: filter.cir" in sheet.plain_text
    assert "主电路" in sheet.toPlainText()


@dataclass(frozen=True, slots=True)
class Knock(Event):
    """Something happened."""


def log_an_error() -> None:
    with log_to_file(user_home()):
        logging.getLogger("tests").error("something went wrong")


@pytest.mark.expects_error_log("something went wrong")
async def test_debug_counts_tells_the_log_and_can_be_copied(panes, services, until):
    panes.show_panel("debug")
    panel = debug(panes)
    await until(lambda: "ngspice" in panel.current.plain_text)
    for _ in range(3):
        services.app.program.events.publish(Knock())
    services.start(asyncio.sleep(0), kind="a short task")
    await until(lambda: "a short task" not in [handle.kind for handle in services.app.program.tasks.handles])
    panel.refresh()
    await until(lambda: "Knock: 3" in panel.current.plain_text)
    assert "a short task: 1" in panel.current.plain_text
    assert "debug panel" not in panel.current.plain_text  # what looks does not change what it sees

    panel.copy_button.click()
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    assert clipboard.text() == panel.current.plain_text

    await asyncio.to_thread(log_an_error)
    panel.tabs.setCurrentIndex(1)
    await until(lambda: "something went wrong" in panel.current.plain_text)
    assert "ERROR tests" in panel.current.plain_text


async def test_the_machine_is_examined_on_demand(panes, until):
    panes.show_panel("debug")
    panel = debug(panes)
    await until(lambda: "ngspice" in panel.current.plain_text)
    assert "Proxy" not in panel.current.plain_text
    panel.anew.click()
    await until(lambda: "Proxy: none set" in panel.current.plain_text, timeout_s=40)


async def test_what_is_stored_is_counted_without_following_links(services, project, tmp_path):
    results = project / ".circuit_ai" / "sim_results" / "one"
    results.mkdir(parents=True)
    (results / "result.json").write_bytes(b"x" * 10)
    outside = tmp_path / "large"
    outside.write_bytes(b"x" * 5000)
    (results / "link").symlink_to(outside)
    (results.parent / "under-way").mkdir()
    (results.parent / "under-way" / "a.raw").write_bytes(b"x" * 7)
    stored = await services.app.project.browse.stored(project)
    assert (stored.count, stored.size) == (1, 17)
