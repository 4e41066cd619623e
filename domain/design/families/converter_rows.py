"""What converters with one inductor share: goals, and what `size` tells of a power stage."""

from __future__ import annotations

from dataclasses import asdict

from domain.design import kit
from domain.design.buck_power_stage import PowerStage
from domain.design.kit import around, with_unit
from shared.message import msg


def _inductor_ripple(request: kit.Request) -> kit.Bounds:
    """As said, else a third more than the parts are sized for."""
    room = 1.0 if request.states("inductor_ripple_a") else 4 / 3
    return kit.Bounds(maximum=request["inductor_ripple_a"] * room)


def goals(sign: int = 1) -> tuple[kit.GoalRow, ...]:
    """Output (of that sign), its ripple, that of the inductor, and the efficiency where it was asked for."""
    return (
        kit.GoalRow(
            metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
            expression="avg(v(out))",
            bounds=lambda request: around(sign * request["vout"], request["tolerance"]),
        ),
        kit.GoalRow(
            metric="ripple", label=msg("Ripple"), unit="V", quantity="ripple_v",
            expression="pp(v(out))",
            bounds=lambda request: kit.Bounds(maximum=request["ripple_v"]),
        ),
        kit.GoalRow(
            metric="inductor_ripple", label=msg("Inductor ripple current"), unit="A",
            quantity="inductor_ripple_a", expression="pp(i(l1))", bounds=_inductor_ripple,
            when=lambda request: request["inductance"] is None or request.states("inductor_ripple_a"),
        ),
        kit.GoalRow(
            metric="efficiency", label=msg("Efficiency"), unit="1", quantity="efficiency",
            expression="avg(v(out)*i(vload))/avg(-v(in)*i(vin))",
            bounds=lambda request: kit.Bounds(minimum=request["efficiency"]), is_corrected=False,
            helped_by="conduction", when=lambda request: request["efficiency"] is not None,
        ),
    )  # fmt: skip


def sized(request: kit.Request, stage: PowerStage) -> kit.Sized:
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
    return kit.Sized(
        parts={"L1": stage.inductance, "C1": stage.capacitance, "Resr": stage.esr, "Rload": load},
        figures={
            "duty": stage.duty,
            "ripple_a": stage.ripple_a,
            "is_continuous": float(stage.is_continuous),
            **asdict(stage.losses),
        },
        notes=tuple(notes),
    )
