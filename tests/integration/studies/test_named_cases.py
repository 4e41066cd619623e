"""Cases that are kept with a circuit: found by a search, simulated with every run, undone, moved, spoilt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.goal_checks.case_runs import CaseRun
from application.project.named_cases import FoundCase
from application.simulation.simulating import SimulationRequest
from application.studies.reading import StoredStudy
from application.studies.studying import StudyRequest
from domain.simulation.goals import DesignGoal
from domain.studies.corners import Setting
from domain.studies.named_case import NamedCase
from domain.studies.study_spec import read_study_spec
from presentation.case_words import verdict_in_short, verdict_of_case
from shared.errors import CircuitError, UserInputError

DECK = """* low pass, loaded
V1 in 0 DC 1 AC 1
R1 in out 1k
C1 out 0 100n
Rload out 0 1meg
.lib models.lib typ
.ac dec 40 10 1meg
.end
"""
MODELS = ".lib typ\nRx out 0 1g\n.endl\n.lib slow\nRx out 0 20k\n.endl\n"
GOALS = (
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1700.0),
    DesignGoal(metric="dc", expression="mag(at(v(out),10))", unit="V", minimum=0.9),
    DesignGoal(metric="hot", expression="mag(at(v(out),10))", unit="V", minimum=0.9, condition="at 85 degC"),
)
SPEC = {
    "parameters": [
        {"name": "R1", "tolerance": "5%"},
        {"name": "C1", "tolerance": "10%"},
        {"name": "Rload", "min": "5k", "max": "1meg"},
    ],
    "corners": {"process": ["typ", "slow"], "temp": [27, 85]},
    "at_corners": True,
    "method": "search",
    "measure": {"fc": "bandwidth(v(out))"},
    "goals": ["1400 <= fc <= 1700"],
}


@pytest.fixture
async def circuit(app: Application, tmp_path: Path) -> Path:
    path = tmp_path / "rc.cir"
    _write(path, DECK)
    _write(path.with_name("models.lib"), MODELS)
    await app.project.browse.open(tmp_path)
    await app.project.browse.ask_of(tmp_path, path, GOALS)
    return path


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _goals_file(root: Path) -> Path:
    return next((root / ".circuit_ai" / "goals").iterdir())


async def _searched(app: Application, circuit: Path) -> StoredStudy:
    spec = read_study_spec(SPEC)
    result = await app.simulation.study(StudyRequest(circuit=circuit, kind="worst-case", spec=spec))
    return await app.simulation.read_study(result.result_path)


async def _runs(app: Application, circuit: Path, **asked: object) -> tuple[CaseRun, ...]:
    request = SimulationRequest(circuit=circuit, **asked)  # type: ignore[arg-type]
    return await app.project.run_cases(circuit.parent, request)


@pytest.mark.timeout(300)
async def test_the_case_a_search_finds_is_simulated_with_every_run(app: Application, circuit: Path) -> None:
    root, cases = circuit.parent, app.project.cases
    assert await _runs(app, circuit) == ()
    study = await _searched(app, circuit)
    worst = study.worst_first[0]
    nominals = {"R1": 1e3, "C1": 100e-9, "Rload": 1e6}
    found = FoundCase(study=study, row=worst, nominals=nominals)
    goals_file = _goals_file(root)
    before = _text(goals_file)
    case = await cases.keep(root, circuit, "  worst  fc ", found)
    assert case.name == "worst fc"
    assert case.section == "slow"
    assert study.scattering == ("R1", "C1")
    by_name = {each.name: (each.value, each.is_factor) for each in case.settings}
    assert by_name["R1"] == (pytest.approx(0.95), True)
    assert by_name["Rload"] == (5e3, False)

    # It measures exactly what the search measured; the goal with a condition of its own is not its business.
    (run,) = await _runs(app, circuit)
    assert [each.goal.metric for each in run.goals] == ["fc", "dc"]
    assert run.goals[0].value == worst.metrics["fc"]
    assert [each.goal.metric for each in run.missed] == ["fc", "dc"]
    line = str(verdict_of_case(run, str))
    assert line.startswith("Case worst fc: 2 of 2 goals missed: fc 2.")
    assert str(verdict_in_short([run])) == "Goals missed in 1 of 1 case: worst fc"
    met = replace(run, goals=tuple(replace(each, is_met=True) for each in run.goals))
    assert verdict_in_short([met]) is None

    # Scattering values follow the circuit, the load does not; values of the run hold too.
    _write(circuit, DECK.replace("R1 in out 1k", "R1 in out 2k"))
    values = await app.project.run_cases.values_of(circuit, case)
    assert values["R1"] == pytest.approx(1900)
    assert values["Rload"] == 5e3
    (slower,) = await _runs(app, circuit, assignments=(("C1", "1u"),))
    assert slower.goals[0].value < run.goals[0].value / 5
    made = await app.project.circuit_of_run(
        root, circuit, values, corner=case.section, label="worst fc", title="worst"
    )
    assert made.path.name == "rc_worst_fc.cir"
    assert "Rload out 0 5k" in _text(made.path).replace("5000", "5k")
    hot = await app.project.circuit_of_run(root, circuit, {"temp": 85.0}, corner="", label="hot", title="hot")
    assert _text(hot.path).endswith(".options temp=85\n.end\n")
    _write(circuit, DECK)

    # The tool tells it beside the goals, and the same as the others.
    result = await app.conversations.run_tool("run_simulation", {"path": "rc.cir"}, project=root)
    told = next(text for text in result.content.splitlines() if text.startswith("Case worst fc (slow, "))
    assert ": 0 of 2 met; MISSED fc = " in told
    await app.program.preferences.set("run_cases", value=False)
    result = await app.conversations.run_tool("run_simulation", {"path": "rc.cir"}, project=root)
    assert "Case worst" not in result.content
    await app.program.preferences.set("run_cases", value=True)

    # Goals that are set leave it; moving the circuit takes it along; undo takes it away to the byte.
    await app.project.browse.ask_of(root, circuit, GOALS[:1])
    assert [each.name for each in await cases.of(root, circuit)] == ["worst fc"]
    await app.project.browse.ask_of(root, circuit, GOALS)
    await app.project.browse.follow_move(root, circuit, circuit.with_name("moved.cir"))
    assert [each.name for each in await cases.of(root, circuit.with_name("moved.cir"))] == ["worst fc"]
    await app.project.browse.follow_move(root, circuit.with_name("moved.cir"), circuit)
    await cases.delete(root, circuit, "WORST FC")
    assert await cases.of(root, circuit) == ()
    await app.project.operations.undo(root)
    assert [each.name for each in await cases.of(root, circuit)] == ["worst fc"]
    _write(goals_file, before)
    await cases.keep(root, circuit, "again", found)
    await app.project.operations.undo(root)
    assert _text(goals_file) == before


@pytest.mark.timeout(120)
async def test_what_is_wrong_with_a_case_is_its_own_line(app: Application, circuit: Path) -> None:
    root, cases = circuit.parent, app.project.cases
    study = await _searched(app, circuit)
    nominals = {"R1": 1e3, "C1": 100e-9, "Rload": 1e6}
    at_rest = replace(next(row for row in study.rows if row.label == "nominal"), corner="")
    worst = FoundCase(study=study, row=study.worst_first[0], nominals=nominals)
    for name, found, problem in (
        (" ", worst, "1 to 60"),
        ("x" * 61, worst, "1 to 60"),
        ("rest", FoundCase(study=study, row=at_rest, nominals={**nominals, "temp": 27.0}), "same values"),
    ):
        with pytest.raises(UserInputError, match=problem):
            await cases.keep(root, circuit, name, found)
    with pytest.raises(UserInputError, match="no case nothing"):
        await cases.delete(root, circuit, "nothing")

    goals_file = _goals_file(root)
    document = json.loads(_text(goals_file))
    document["cases"] = [
        {"name": "gone", "set": {"R77": 1.0}},
        {"name": "good", "set": {"temp": 85, "R1": {"times": 1.01}}},
        {"name": "bad", "set": {"R1": "1k"}}, {"name": "", "set": {}}, "text", {"name": 3}, None,
        {"name": "endless", "set": {"R1": 1e400}}, {"name": "section", "section": "none", "set": {}},
    ]  # fmt: skip
    _write(goals_file, json.dumps(document))
    assert [each.name for each in await cases.of(root, circuit)] == ["gone", "good", "section"]
    gone, good, section = await _runs(app, circuit)
    assert gone.problem is not None
    assert "R77" in str(gone.problem)
    assert section.problem is not None
    assert good.problem is None
    many = tuple(Setting(name=f"R{number}", value=1.01, is_factor=True) for number in range(30))
    assert NamedCase(name="many", settings=many).conditions.endswith("R7 +1 % (+22)")
    assert not good.missed
    assert "Case gone: not judged: " in str(verdict_of_case(gone, str))
    assert str(verdict_of_case(good, str)) == "Case good: 2 goals met"
    (none,) = [run for run in await _runs(app, circuit, analysis="op") if run.case.name == "good"]
    assert none.missed  # no frequency response in it

    await app.project.browse.ask_of(root, circuit, [])
    nothing = await _runs(app, circuit)
    assert all("no goal" in str(run.problem) for run in nothing)
    _write(circuit, "")
    with pytest.raises((UserInputError, CircuitError)):
        await app.project.run_cases.values_of(circuit, NamedCase(name="x"))
