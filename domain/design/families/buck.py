"""Buck (step-down) converters with a diode or a synchronous rectifier, at a fixed duty.

Equations and parts: `domain.design.buck_power_stage`; what may be asked for: `buck_request`; the switching
circuit: `buck_netlist`. There is no controller: the duty is the one for the nominal input.
"""

from __future__ import annotations

from dataclasses import asdict

from domain.circuit.figures import with_unit
from domain.design.buck_power_stage import size_power_stage
from domain.design.engine.conversion import is_linked
from domain.design.engine.declaration import (
    Bounds,
    Correction,
    Family,
    GoalRow,
    Request,
    Sized,
    Words,
    around,
)
from domain.design.families.buck_netlist import netlist, transient
from domain.design.families.buck_request import QUANTITIES, RECTIFIER, complete, restore, says
from domain.design.sentence import Sentence
from shared.message import msg

_NAMED = r"(?<![a-z])buck(?![a-z])|step(?:ping|s|ped)?[\s-]?down|降压|降圧"
_CONVERTER = (
    r"dc[\s/-]*(?:to[\s-])?dc|converter|转换器|变换器|变换电路|转换电路|"
    r"switch(?:ing|ed)?[\s-]*(?:mode|regulator|power|supply)|开关(?:电源|稳压)|smps|power supply|电源"
)
_SUPPLY = (
    r"降(?:低)?(?:到|至|为|成)|rails?(?![a-z])|output|(?<![a-z])v_?out(?![a-z])|输出|"
    r"(?<![a-z])suppl(?:y|ies)|供电|母线|(?:from|out of) (?:an?|the)?\s?\d|(?:batter(?:y|ies)|电池)|"
    r"由.{0,8}得到|从.{0,8}(?:得到|产生)"
)
"""Words of a supply: two voltages and a current with one of them can only mean a converter."""


def _claims(sentence: Sentence) -> float:
    """Buck or step-down by name, or a DC-DC converter between two voltages."""
    if sentence.has(_NAMED):
        return 1.0
    if len(sentence.of("V")) < 2 or sentence.has("filter|滤波"):
        return 0.0
    if sentence.has(_CONVERTER):
        return 0.8
    has_load = bool(sentence.of("A") or sentence.of("W") or sentence.has(r"load|负载"))
    is_supply = has_load and not sentence.has(r"op[\s-]?amp|运放")
    return 0.6 if is_supply and (is_linked(sentence) or sentence.has(_SUPPLY)) else 0.0


def size(request: Request, correction: Correction) -> Sized:
    """Duty, L and C by the power-stage equations."""
    stage = size_power_stage(request, correction)
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


def _inductor_ripple(request: Request) -> Bounds:
    """As said, else a third more than the parts are sized for."""
    room = 1.0 if request.states("inductor_ripple_a") else 4 / 3
    return Bounds(maximum=request["inductor_ripple_a"] * room)


FAMILY = Family(
    key="buck",
    name=msg("buck (step-down) converters with diode or synchronous rectifier"),
    one=msg("a buck converter"),
    examples={
        "en": "buck converter 12 V to 5 V, 2 A, 300 kHz, ripple below 30 mV",
        "zh": "12V转5V、2A的降压电路，开关频率300kHz，纹波小于30mV",
    },
    words=Words(named=_NAMED),
    claims=_claims,
    quantities=QUANTITIES,
    choices=(RECTIFIER,),
    goals=(
        GoalRow(
            metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
            expression=lambda _request: "avg(v(out))",
            bounds=lambda request: around(request["vout"], request["tolerance"]),
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
    ),
    title=lambda request: (
        f"Buck converter {request['vin']:g} V to {request['vout']:g} V, {request['iout']:g} A, "
        f"{with_unit(request['fsw'], 'Hz')}, {request['rectifier']} rectifier"
    ),
    stem=lambda request: f"buck_{request['vin']:g}V_{request['vout']:g}V_{request['iout']:g}A",
    remarks=lambda _request: (),
    analyses=lambda request, sized, _goals: (transient(request, sized),),
    size=size,
    netlist=netlist,
    says=says,
    complete=complete,
    restore=restore,
    factors=lambda request, tuning: {
        "vout": 1 + tuning["duty_shift"] * request["vin"] / request["vout"],
        "ripple_v": 1 / tuning["capacitance_scale"],
        "inductor_ripple_a": 1 / tuning["inductance_scale"],
        "conduction": 1 / tuning["loss_scale"],
    },
)  # fmt: skip
