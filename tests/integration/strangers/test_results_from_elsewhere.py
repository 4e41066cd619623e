"""Results that came with a project, and data that were changed behind their result's back."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.simulation.simulating import SimulationRequest
from bootstrap import build
from domain.simulation.result import SimulationResult
from infrastructure.persistence.project_view import FolderView
from infrastructure.persistence.result_catalogue import ResultList
from infrastructure.persistence.result_circuit import circuit_of
from infrastructure.persistence.result_figures import ResultFigures
from shared.errors import UserInputError

DECK = "* rc\nV1 in 0 1\nR1 in out 1k\nR2 out 0 1k\n.op\n.meas op vout find v(out)\n.end\n"


def as_user(home: Path, work: Callable[[Application], Awaitable[Any]]) -> Any:
    """What `work` gives in the program of the user whose own folder is `home`."""

    async def run() -> Any:
        app = build(environment={**os.environ, "CIRCUIT_DESIGN_AI_HOME": str(home)})
        try:
            return await work(app)
        finally:
            await app.close()

    return asyncio.run(run())


def simulate(circuit: Path) -> Callable[[Application], Awaitable[SimulationResult]]:
    return lambda app: app.simulation.run(SimulationRequest(circuit=circuit, reuse=True))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CIRCUIT_DESIGN_AI_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".circuit_ai").mkdir(parents=True)
    (tmp_path / "p" / "a.cir").write_text(DECK)
    return tmp_path / "p"


def measured(app: Application, source: Path) -> Awaitable[Any]:
    return app.simulation.measure(source, ["v(out)"])


def test_changed_data_are_told_and_not_given_as_the_simulators(project, home):
    result = as_user(home, simulate(project / "a.cir"))
    raw = result.run.raw_paths[0]
    good = as_user(home, lambda app: measured(app, result.result_path))
    assert good["v(out)"].value == pytest.approx(0.5)
    before = raw.stat()
    data = bytearray(raw.read_bytes())
    data[-8:] = bytes(8)
    raw.write_bytes(data)
    os.utime(raw, ns=(before.st_atime_ns, before.st_mtime_ns))  # as one would who does not want to be seen
    for source in (result.result_path, raw, raw.parent):
        with pytest.raises(UserInputError) as caught:
            as_user(home, lambda app, source=source: measured(app, source))
        assert caught.value.error_type == "data_changed"
    assert not as_user(home, simulate(project / "a.cir")).is_reused


def test_a_strangers_result_is_no_run_of_ours(project, home, tmp_path):
    theirs = as_user(tmp_path / "stranger", simulate(project / "a.cir"))
    assert theirs.ok
    assert [row.is_ours for row in ResultList().newest(project, 5)] == [False]
    figures = ResultFigures().read(theirs.result_path)
    assert figures is not None
    assert not figures.is_ours
    assert FolderView(root=project).newest_result(project / "a.cir") is None
    assert FolderView(root=project).newest_result(project / "a.cir", ours=False) == theirs.result_path
    ours = as_user(home, simulate(project / "a.cir"))
    assert not ours.is_reused
    assert FolderView(root=project).newest_result(project / "a.cir") == ours.result_path
    assert as_user(home, simulate(project / "a.cir")).is_reused
    assert [row.is_ours for row in ResultList().newest(project, 5)] == [True, False]
    assert as_user(home, lambda app: measured(app, theirs.result_path))  # to be looked at it is there


@pytest.mark.parametrize("how", ["figure", "circuit", "exchanged", "unsigned"])
def test_a_result_that_was_edited_is_no_run_of_ours(project, home, how):
    result = as_user(home, simulate(project / "a.cir"))
    path = result.result_path
    content = json.loads(path.read_text())
    if how == "figure":
        content["metrics"]["vout"]["value"] = 0.9
    elif how == "circuit":
        content["netlist"]["path"] = str(project / "b.cir")
    elif how == "unsigned":
        del content["signature"]
    path.write_text(json.dumps(content))
    if how == "exchanged":  # a good result in the place of another one
        other = path.parent.with_name(f"2027{path.parent.name[4:]}")
        shutil.copytree(path.parent, other)
        shutil.rmtree(path.parent)
    assert [row.is_ours for row in ResultList().newest(project, 5)] == [False]
    assert not as_user(home, simulate(project / "a.cir")).is_reused


def test_a_moved_project_keeps_its_results(project, home, tmp_path):
    as_user(home, simulate(project / "a.cir"))
    copied, renamed = tmp_path / "copied", tmp_path / "renamed"
    shutil.copytree(project, copied)
    project.rename(renamed)
    for root in (copied, renamed):
        (row,) = ResultList().newest(root, 5)
        assert row.is_ours
        assert row.circuit == root / "a.cir"
        assert FolderView(root=root).newest_result(root / "a.cir") == row.path
        figures = ResultFigures().read(row.path)
        assert figures is not None
        assert figures.circuit == root / "a.cir"


@pytest.mark.parametrize("place", ["../a.cir", "/etc/a.cir", "", 5, "a\0.cir"])
def test_a_circuits_place_never_leads_out_of_the_project(project, place):
    folder = project / ".circuit_ai" / "sim_results" / "1"
    assert circuit_of({"netlist": {"path": "/was/a.cir", "place": place}}, folder) == Path("/was/a.cir")
    assert (
        circuit_of({"netlist": {"path": "/was/a.cir", "place": "sub/a.cir"}}, folder) == project / "sub/a.cir"
    )
