"""A run without an operating point or one that gets stuck is tried again; what else fails is not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from application.simulation.second_try import run_patiently, without_promise
from domain.simulation.request import ResourceLimits, SimulationJob
from domain.simulation.result import SimulationIssue, SimulationRun
from shared.message import msg
from shared.uninterrupted import off_loop

DECK = b"* x\nV1 a 0 1\nR1 a 0 1\n.op\n.end\n"


@dataclass
class Simulator:
    """Finds no solution, with these words, unless it is given enough iterations."""

    code: str
    suffices: bytes
    decks: list[bytes] = field(default_factory=list)

    async def run(self, job: SimulationJob, **_: object) -> SimulationRun:
        self.decks.append(job.deck)
        which = "first" if len(self.decks) == 1 else "second"
        await off_loop((job.output_dir / "log").write_text, f"of the {which} run")
        issue = SimulationIssue(severity="error", code=self.code, message=msg("it failed"))
        is_found = self.suffices in job.deck
        return SimulationRun(
            status="ok" if is_found else "failed",
            raw_paths=(),
            issues=() if is_found else (issue,),
            log_path=job.output_dir / "log",
            duration_s=2.0,
            simulator_version="",
            confinement=(),
        )


@pytest.mark.parametrize(
    ("code", "suffices", "deck", "tries", "codes"),
    [
        ("no-convergence", b"V1", DECK, 1, []),
        ("no-convergence", b"itl1=500", DECK, 2, ["more-iterations"]),
        ("no-convergence", b"never", DECK, 2, ["no-convergence"]),
        ("no-convergence", b"itl1=500", DECK + b".options ITL1=200", 1, ["no-convergence"]),
        ("timestep-too-small", b"method=gear trtol=2", DECK, 2, ["gear-integration"]),
        ("timestep-too-small", b"cshunt=1e-15", DECK, 3, ["capacitance-everywhere"]),
        ("timestep-too-small", b"method=gear", DECK + b".options METHOD=trap", 2, ["timestep-too-small"]),
        ("undefined-model", b"itl1=500", DECK, 1, ["undefined-model"]),
    ],
)
async def test_one_more_try(
    code: str, suffices: bytes, deck: bytes, tries: int, codes: list[str], tmp_path: Path
) -> None:
    simulator = Simulator(code, suffices)
    job = SimulationJob(
        deck=deck,
        deck_path=tmp_path / "x.cir",
        output_dir=tmp_path,
        limits=ResourceLimits(wall_s=10),
        compatibility="ltpsa",
    )
    short = replace(job, limits=ResourceLimits(wall_s=2.5))
    assert (await run_patiently(simulator, short)).duration_s == 2.0  # type: ignore[arg-type]
    simulator.decks.clear()
    run = await run_patiently(simulator, job)  # type: ignore[arg-type]
    assert (len(simulator.decks), [issue.code for issue in run.issues]) == (tries, codes)
    assert run.duration_s == 2.0 * tries
    assert run.log_path == tmp_path / "log"
    was_second = codes[:1] in (["more-iterations"], ["gear-integration"], ["capacitance-everywhere"])
    assert run.log_path.read_text() == f"of the {'second' if was_second else 'first'} run"
    if code == "timestep-too-small":  # of a circuit for ngspice itself it is only proposed
        simulator.decks.clear()
        await run_patiently(simulator, replace(job, compatibility=None))  # type: ignore[arg-type]
        assert len(simulator.decks) == 1


def test_what_helped_one_step_is_no_advice_where_others_failed() -> None:
    told = SimulationIssue(
        severity="warning", code="capacitance-everywhere", message=msg("helped"), advice=msg("Write it.")
    )
    other = SimulationIssue(severity="error", code="step-failed", message=msg("failed"), advice=msg("Do."))
    assert [each.advice for each in without_promise((told, other))] == [None, other.advice]
