"""What a step's run says of its end: failed is an error, stopped is none."""

from __future__ import annotations

from pathlib import Path

from domain.circuit.stepping import StepAxis, StepPoint
from domain.simulation.result import RunStatus, SimulationRun
from domain.simulation.stepped_run import SteppedRun
from tests.ground.cases import for_each

AXIS = StepAxis(kind="param", name="r", values=(1e3, 2e3), line=6)


@for_each(
    ("status", "told"),
    [
        ("ok", []),
        ("failed", [("error", "step-failed", "Step 2 of 2 (r=2k) failed to simulate.")]),
        ("cancelled", [("warning", "step-stopped", "Step 2 of 2 (r=2k) was stopped.")]),
    ],
)
def test_how_a_step_ended(status: RunStatus, told: list[tuple[str, str, str]]) -> None:
    run = SimulationRun(
        status=status,
        raw_paths=(),
        issues=(),
        log_path=Path("log"),
        duration_s=0.1,
        simulator_version="ngspice-39",
        confinement=(),
    )
    point = StepPoint(values=((AXIS, 2e3),))
    step = SteppedRun(number=2, count=2, point=point, circuit=Path("a.cir"), run=run, folder=Path())
    assert [(each.severity, each.code, str(each.message)) for each in step.issues] == told
    assert {each.line for each in step.issues} <= {6}
