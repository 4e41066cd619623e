"""What a step's run says of its end: failed is an error, stopped is none."""

from __future__ import annotations

from pathlib import Path

from domain.circuit.stepping import StepAxis, StepPoint, step_value
from domain.simulation.result import RunStatus, SimulationIssue, SimulationRun
from domain.simulation.stepped_run import SteppedRun
from infrastructure.ngspice.stepped_runs import _told_once
from shared.message import msg
from tests.ground.cases import for_each

AXIS = StepAxis(kind="param", name="r", values=(1e3, 2e3), line=6)


def step_of(number: int, status: RunStatus, *issues: SimulationIssue) -> SteppedRun:
    run = SimulationRun(
        status=status,
        raw_paths=(),
        issues=issues,
        log_path=Path("log"),
        duration_s=0.1,
        simulator_version="ngspice-39",
        confinement=(),
    )
    point = StepPoint(values=((AXIS, AXIS.values[number - 1]),))
    return SteppedRun(number=number, count=2, point=point, circuit=Path("a.cir"), run=run, folder=Path())


@for_each(
    ("status", "told"),
    [
        ("ok", []),
        ("failed", [("error", "step-failed", "Step 2 of 2 (r=2k) failed to simulate.")]),
        ("cancelled", [("warning", "step-stopped", "Step 2 of 2 (r=2k) was stopped.")]),
    ],
)
def test_how_a_step_ended(status: RunStatus, told: list[tuple[str, str, str]]) -> None:
    step = step_of(2, status)
    assert [(each.severity, each.code, str(each.message)) for each in step.issues] == told
    assert {each.line for each in step.issues} <= {6}


def test_that_all_steps_failed_is_said_once_with_what_they_say_alike() -> None:
    why = SimulationIssue(severity="error", code="undefined-subcircuit", message=msg("No X1."))
    issues = _told_once([step_of(1, "failed", why), step_of(2, "failed", why)])
    assert [str(each.message) for each in issues] == ["No X1.", "All 2 steps failed to simulate."]
    assert len(_told_once([step_of(1, "failed", why), step_of(2, "ok")])) == 2


def test_a_share_is_no_thousandths() -> None:
    values = (0.005, 0.02, 0.5, 1.0, 4700.0)
    assert [step_value(value) for value in values] == ["5m", "0.02", "0.5", "1", "4.7k"]
