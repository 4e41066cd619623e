"""The use case over a simulator that is a formula: order, failures, progress, stopping, storing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from application.ports.events import StudyProgressed
from application.ports.simulation import Confinement
from application.studies.reading import StoredStudy
from application.studies.studying import RunStudy, StudyRequest
from application.studies.under_way import Watcher
from domain.circuit.simulator_settings import SimulatorSettings
from domain.simulation.batch import BatchRun, RunOutcome
from domain.studies.study import StudyResult
from domain.studies.study_spec import StudyKind, read_study_spec
from infrastructure.persistence.results import ResultFolders
from infrastructure.persistence.source_files import SourceReaderFactory
from shared.errors import UserInputError
from shared.events import EventBus
from tests.fakes.formula_batch import FormulaBatch, failed

DECK = "sum\nV1 in 0 1\nR1 in out 10\nR2 out 0 100\n.op\n.end\n"
VOUT = {"v": "v(out)"}


class NoSettings:
    def of_circuit(self, circuit: Path) -> SimulatorSettings:
        return SimulatorSettings()


class Named:
    """The part of the Simulator port studies ask."""

    async def version(self) -> str:
        return "formula-1"

    async def confinement(self) -> Confinement:
        return Confinement(bubblewrap=True, landlock_abi=0, seccomp=False, rlimits=True)


class Bench:
    def __init__(self, folder: Path) -> None:
        self.circuit = folder / "sum.cir"
        self.circuit.write_text(DECK)
        (folder / ".circuit_ai").mkdir()
        self.results = folder / ".circuit_ai" / "sim_results"
        self.events = EventBus()
        self.home = folder / "home"
        self.progress: list[StudyProgressed] = []
        self.events.subscribe(StudyProgressed, self.progress.append)

    async def do(
        self,
        batch: FormulaBatch,
        kind: StudyKind,
        on_stopped: Any = None,
        watcher: Watcher | None = None,
        **spec: Any,
    ) -> StudyResult:
        study = RunStudy(
            batch=lambda _cluster: batch,  # type: ignore[arg-type, return-value]
            simulator=Named(),  # type: ignore[arg-type]
            sources=SourceReaderFactory(),
            results=ResultFolders(user_home=self.home),
            events=self.events,
            settings=NoSettings(),  # type: ignore[arg-type]
        )
        request = StudyRequest(circuit=self.circuit, kind=kind, spec=read_study_spec(spec))
        return await study(request, on_stopped=on_stopped, watcher=watcher)

    def stored(self) -> list[Path]:
        return sorted(self.results.iterdir()) if self.results.exists() else []


@pytest.fixture
async def bench(tmp_path: Path) -> Bench:
    return await asyncio.to_thread(Bench, tmp_path)


def total(values: Any) -> float:
    return float(sum(values.values()))


async def test_what_came_so_far_is_shown_to_who_looks_and_to_nobody_else(bench: Bench) -> None:
    seen: list[StoredStudy] = []
    look = {"is": True}
    spec: dict[str, Any] = {
        "parameters": [{"name": "R1", "tolerance": 0.1}], "measure": VOUT, "goals": ["v >= 8"], "runs": 200,
    }  # fmt: skip
    watcher = Watcher(looks=lambda: look["is"], show=seen.append)
    result = await bench.do(FormulaBatch(total), "montecarlo", watcher=watcher, **spec)
    assert seen
    first = seen[0]
    assert first.is_under_way
    assert 0 < len(first.rows) < 200
    at_end = {row.run: (row.parameters, row.metrics) for row in result.rows}
    assert all((row.parameters, row.metrics) == at_end[row.run] for row in first.rows)
    assert first.figure("yield", "n") == first.figure("statistics", "v", "n") == len(first.rows)
    assert first.figure("runs", "total") == 200
    assert first.worst_first[0].metrics["v"] == min(row.metrics["v"] for row in first.rows)
    seen.clear()
    look["is"] = False
    await bench.do(FormulaBatch(total), "montecarlo", watcher=watcher, **spec)
    assert not seen


SWEEP = [{"name": "R1", "values": [1, 2, 3, 4]}]


async def test_rows_are_in_the_order_of_the_study_whatever_order_runs_end_in(bench: Bench) -> None:
    result = await bench.do(FormulaBatch(total), "sweep", parameters=SWEEP, measure=VOUT)
    assert [row.run for row in result.rows] == [0, 1, 2, 3]
    assert [row.metrics["v"] for row in result.rows] == [1, 2, 3, 4]
    assert (result.simulator_version, result.confinement) == ("formula-1", ("bubblewrap", "rlimits"))


async def test_only_what_is_measured_is_asked_of_the_simulator(bench: Bench) -> None:
    batch = FormulaBatch(total)
    await bench.do(batch, "sweep", parameters=SWEEP, measure=VOUT)
    signals = batch.batches[0].signals
    assert signals is not None
    assert "v(out)" in signals


async def test_crashed_and_late_runs_are_rows_and_lower_the_yield(bench: Bench) -> None:
    def spoil(run: BatchRun, outcome: RunOutcome) -> RunOutcome:
        return (
            failed(outcome, "crashed" if run.run_id == 3 else "timeout") if run.run_id in (3, 5) else outcome
        )

    result = await bench.do(
        FormulaBatch(total, outcome_of=spoil),
        "montecarlo",
        parameters=[{"name": "R1", "tolerance": 0.01}],
        measure=VOUT,
        goals=["v >= 0"],
        runs=10,
    )
    assert [row.state for row in result.rows if row.state != "ok"] == ["crashed", "timeout"]
    assert result.total_yield is not None
    assert (result.total_yield.passed, result.total_yield.total) == (8, 10)
    assert result.statistics["v"].failed == 2
    assert result.ok


async def test_a_study_where_every_run_counts_is_not_ok_with_a_failed_one(bench: Bench) -> None:
    batch = FormulaBatch(total, outcome_of=lambda run, o: failed(o) if run.run_id == 1 else o)
    result = await bench.do(batch, "corners", corners=[{"R1": 1}, {"R1": 2}], measure=VOUT)
    assert not result.ok
    assert [row.state for row in result.rows] == ["ok", "crashed"]


async def test_progress_is_told_with_the_best_so_far(bench: Bench) -> None:
    batch = FormulaBatch(total)
    await bench.do(batch, "sweep", parameters=SWEEP, measure=VOUT, goals=["v >= 3.5"])
    last = bench.progress[-1]
    assert (last.done, last.total, last.failed) == (4, 4, 0)
    assert (last.best, last.best_run) == ({"v": 4.0}, 3)
    assert last.remaining_s == 0
    assert [event.done for event in bench.progress] == sorted(event.done for event in bench.progress)


async def test_cancelling_keeps_what_is_done_and_ends_the_workers(bench: Bench) -> None:
    batch = FormulaBatch(total, hangs_after=2)
    partial: list[StudyResult] = []
    task = asyncio.create_task(bench.do(batch, "sweep", partial.append, parameters=SWEEP, measure=VOUT))
    await batch.is_hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert batch.is_closed
    [result] = partial
    assert (result.is_stopped, result.ok, result.total) == (True, False, 4)
    assert [row.run for row in result.rows] == [2, 3]
    stored = json.loads(await asyncio.to_thread(result.result_path.read_text))
    assert (stored["status"], stored["stopped"], stored["runs"]["done"]) == ("cancelled", True, 2)


async def test_cancelling_before_the_first_run_leaves_nothing(bench: Bench) -> None:
    batch = FormulaBatch(total, hangs_after=0)
    task = asyncio.create_task(bench.do(batch, "sweep", parameters=SWEEP, measure=VOUT))
    await batch.is_hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(bench.stored) == []


async def test_an_unknown_signal_is_refused_with_near_names_and_nothing_is_stored(bench: Bench) -> None:
    batch = FormulaBatch(total)
    with pytest.raises(UserInputError) as error:
        await bench.do(batch, "sweep", parameters=SWEEP, measure={"v": "v(outt)"})
    assert "v(out)" in str(error.value.advice)
    assert batch.batches[-1].signals is None
    assert await asyncio.to_thread(bench.stored) == []


async def test_a_worst_case_asks_again_when_it_knows_the_signs(bench: Bench) -> None:
    batch = FormulaBatch(lambda values: values["R1"] - values["R2"])
    tolerances = [{"name": "R1", "tolerance": 0.1}, {"name": "R2", "tolerance": 0.1}]
    result = await bench.do(batch, "worst-case", parameters=tolerances, measure=VOUT)
    case = result.worst_cases["v"]
    assert len(batch.batches) == 2
    assert case.minimum is not None
    assert case.maximum is not None
    assert (case.minimum.value, case.maximum.value) == pytest.approx((9 - 110, 11 - 90))
    assert case.rss == pytest.approx((-90 - 101**0.5, -90 + 101**0.5))


async def test_names_are_one_whatever_their_letter_case(bench: Bench) -> None:
    batch = FormulaBatch(total)
    result = await bench.do(
        batch, "sweep", parameters=[{"name": "r1", "values": [1]}], at_corners=True,
        corners=[{"name": "a", "R1": 5, "R2": 7}], measure=VOUT,
    )  # fmt: skip
    assert [varied.name for varied in batch.batches[0].circuits[0].varied] == ["r1", "R2"]
    assert result.rows[0].metrics["v"] == 8


async def test_a_pattern_is_every_element_that_is_not_named(bench: Bench) -> None:
    result = await bench.do(
        FormulaBatch(total), "montecarlo", runs=5, measure=VOUT,
        parameters=[{"name": "R*", "tolerance": 0.1}, {"name": "R1", "tolerance": 0}],
    )  # fmt: skip
    assert set(result.parameters) == {"R1", "R2"}
    assert {row.parameters["R1"] for row in result.rows} == {10}
    assert len({row.parameters["R2"] for row in result.rows}) == 5


async def test_two_goals_of_one_metric_are_both_bounds_of_its_capability(bench: Bench) -> None:
    result = await bench.do(
        FormulaBatch(lambda values: values["R1"]), "montecarlo", runs=50, measure=VOUT,
        parameters=[{"name": "R1", "tolerance": 0.01}], goals=["v >= 9", "v <= 12"],
    )  # fmt: skip
    found = result.statistics["v"]
    assert found.cp == pytest.approx(3 / (6 * found.sigma))
    assert found.cpk == pytest.approx((found.mean - 9) / (3 * found.sigma))
    assert list(result.yields) == ["v >= 9", "v <= 12"]
