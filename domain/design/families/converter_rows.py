"""What converters with one inductor share: goals, and what `size` tells of a power stage."""

from __future__ import annotations

from dataclasses import asdict

from domain.circuit.figures import with_unit
from domain.design.buck_power_stage import PowerStage
from domain.design.engine.declaration import Bounds, GoalRow, Request, Sized, around
from shared.message import msg


def _inductor_ripple(request: Request) -> Bounds:
    """As said, else a third more than the parts are sized for."""
    room = 1.0 if request.states("inductor_ripple_a") else 4 / 3
    return Bounds(maximum=request["inductor_ripple_a"] * room)


def goals(sign: int = 1) -> tuple[GoalRow, ...]:
    """Output (of that sign), its ripple, that of the inductor, and the efficiency where it was asked for."""
    return (
        GoalRow(
            metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
            expression=lambda _request: "avg(v(out))",
            bounds=lambda request: around(sign * request["vout"], request["tolerance"]),
        ),
        GoalRow(
            metric="ripple", label=msg("Ripple"), unit="V", quantity="ripple_v",
            expression=lambda _request: "pp(v(out))",
            bounds=lambda request: Bounds(maximum=request["ripple_v"]),
        ),
        GoalRow(
            metric="inductor_ripple", label=msg("Inductor ripple current"), unit="A",
            quantity="inductor_ripple_a", expression=lambda _request: "pp(i(l1))", bounds=_inductor_ripple,
            when=lambda request: request["inductance"] is None or request.states("inductor_ripple_a"),
        ),
        GoalRow(
            metric="efficiency", label=msg("Efficiency"), unit="1", quantity="efficiency",
            expression=lambda _request: "avg(v(out)*i(vload))/avg(-v(in)*i(vin))",
            bounds=lambda request: Bounds(minimum=request["efficiency"]), is_corrected=False,
            helped_by="conduction", when=lambda request: request["efficiency"] is not None,
        ),
    )  # fmt: skip


def sized(request: Request, stage: PowerStage) -> Sized:
    """Parts, figures and words of a power stage."""
    notes = [
        msg(
            "Duty {duty} %, inductor ripple {ripple} peak to peak.",
            duty=f"{100 * stage.duty:.1f}",
            ripple=with_unit(stage.ripple_a, "A", 3),
        )
    ]
    if not stage.is_continuous:
        notes.append(msg("The inductor current reaches zero in every period (discontinuous conduction)."))
    if request["efficiency"] is not None:
        notes.append(
            msg("The efficiency includes conduction losses only; gate-drive and switching losses are extra.")
        )
    load = request["vout"] / request["iout"]
    return Sized(
        parts={"L1": stage.inductance, "C1": stage.capacitance, "Resr": stage.esr, "Rload": load},
        figures={
            "duty": stage.duty,
            "ripple_a": stage.ripple_a,
            "is_continuous": float(stage.is_continuous),
            **asdict(stage.losses),
        },
        notes=tuple(notes),
    )
