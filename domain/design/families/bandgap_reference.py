"""The bandgap reference of Kuijk: an amplifier holds two branches of junctions at densities of 8 to 1.

PTAT current VT ln N/R3 and, where more than the bandgap is asked for, VBE/R4 run through R1, so that
Vout = (1 + R1/R4) (VBE + VT ln N (R1/R3)/(1 + R1/R4)). Both terms drift against each other where the bracket
is VG0 + (XTI - 1) VT. Sources: Kuijk, "A precision reference voltage source", IEEE J. Solid-State Circuits 8
(1973); Gray, Meyer, "Analysis and Design of Analog Integrated Circuits", 5th ed., section 4.4.3.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import temperature_rows as rows
from domain.design.kit import impossible, nearest, spice, values_between, with_unit
from domain.design.transistor import THERMAL_V
from shared.message import msg

_RATIO = 8
_SATURATION_A, _GAP_V, _EXPONENT = 2e-16, 1.16, 3
_BANDGAP_V = _GAP_V + (_EXPONENT - 1) * THERMAL_V
"""What one junction and its PTAT voltage make without drift."""
_ROOM_V = 0.3
_SCALABLE = 1.01
"""Below this, R4 would carry next to nothing: it is left out."""
_THRESHOLD_V, _PROCESS_A_PER_V2, _LEAST_SHAPE = 0.5, 50e-6, 20.0

_QUANTITIES = (
    kit.Quantity(
        name="vout", label=msg("reference voltage"), dimensions=("V",), takes_rest=True, within=(0.1, 12),
        words=r"output|reference|v_?ref(?![a-z])|v_?out(?![a-z])|输出|基准|参考",
        after=r"\s*(?:low[\s-]drift |precision )?(?:band[\s-]?gap|reference|output|带隙|基准)",
        example=1.21, default=round(_BANDGAP_V, 2),
    ),
    kit.Quantity(
        name="supply_v", label=msg("supply"), dimensions=("V",), within=(0.5, 40),
        words=r"suppl\w+|power(?:ed)?|runn?(?:ing|s)? (?:on|off|from)|rails?|"
              r"供电|电源|电池|battery|v_?cc|v_?dd|v_?in(?![a-z])|输入|运行|工作",
        before=r"from(?: an?)?|用|在", example=3.3,
        default=lambda request: 3.3 if request["vout"] <= 3.3 - _ROOM_V else math.ceil(request["vout"] + 1),
    ),
    kit.Quantity(
        name="drift_ppm", label=msg("temperature coefficient"), dimensions=("ppm/K",), limit="at_most",
        words=r"drift|temp(?:erature)?[\s-]?co\w*|tempco|(?<![a-z])tc(?![a-z])|温漂|温度系数|温度漂移",
        takes_rest=True, within=(5, 1000), example=50, default=50.0,
    ),
    kit.Quantity(
        name="current_a", label=msg("supply current"), dimensions=("A",), takes_rest=True, limit="at_most",
        words=r"current|quiescent|iq(?![a-z])|consum\w+|draw\w*|电流|功耗|耗电", within=(2e-6, 5e-3),
        example=100e-6, default=100e-6,
    ),
    rows.LOWEST,
    rows.HIGHEST,
    replace(kit.TOLERANCE, default=0.02),
)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """Raises CircuitError for an output below the bandgap, or a supply too low for it."""
    vout = request["vout"] or _BANDGAP_V
    least = _BANDGAP_V * (1 - (request["tolerance"] or 0.02))
    if vout < least:
        raise impossible(
            msg("A bandgap reference of this kind makes at least {least}, not {vout}: a junction and the "
                "voltage that cancels its drift add up to that.",
                least=with_unit(_BANDGAP_V, "V", 3), vout=with_unit(vout, "V", 3)),
            msg("Ask for {least} or more, and divide it down.", least=with_unit(_BANDGAP_V, "V", 3)),
        )  # fmt: skip
    if request["supply_v"] is not None and request["supply_v"] < vout + _ROOM_V:
        raise impossible(
            msg("A bandgap reference of {vout} needs a supply of at least {least}, not {supply}.",
                vout=with_unit(vout, "V", 3), least=with_unit(vout + _ROOM_V, "V", 3),
                supply=with_unit(request["supply_v"], "V", 3)),
            msg("Raise the supply voltage."),
        )  # fmt: skip
    return kit.Said(values={})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1, R3 and R4 of E96 that together come nearest to no drift and to the voltage."""
    scale = max(request["vout"] * correction["vout"] / _BANDGAP_V, 1.0)
    scaled = scale > _SCALABLE
    branch = 0.45 * request["current_a"] * correction["current_a"]
    # the share of a branch that the junction takes is PTAT, the rest goes through R4
    junction = branch
    for _ in range(20):
        vbe = THERMAL_V * math.log(junction / _SATURATION_A)
        drop = _BANDGAP_V * scale - vbe
        junction = branch * (1 - (scale - 1) * vbe / drop) if scaled else branch
    found = []
    ptat = THERMAL_V * math.log(_RATIO)
    for r3 in values_between(0.98 * ptat / junction, 1.3 * ptat / junction, "E96"):
        vbe = THERMAL_V * math.log(ptat / r3 / _SATURATION_A)
        wanted = (_BANDGAP_V - vbe) / ptat
        for r1 in values_between(0.97 * wanted * scale * r3, 1.03 * wanted * scale * r3, "E96"):
            r4 = nearest(r1 / (scale - 1), "E96") if scaled else math.inf
            made = 1 + r1 / r4
            slope = abs(r1 / r3 / made / wanted - 1)
            found.append((20 * slope + abs(made * vbe + r1 / r3 * ptat - scale * _BANDGAP_V), r3, r1, r4))
    _, r3, r1, r4 = min(found)
    shape = request["current_a"] / (_PROCESS_A_PER_V2 * _ROOM_V / 2)
    above = {"R4": r4, "R5": r4} if scaled else {}
    parts = {"R1": r1, "R2": r1, "R3": r3, "W/L": max(_LEAST_SHAPE, shape), **above}
    return kit.Sized(
        parts=parts,
        notes=(
            msg("Junction current {current}, voltage across R3 {ptat}.", current=with_unit(ptat / r3, "A", 3),
                ptat=with_unit(ptat, "V", 3)),
        ),
    )  # fmt: skip


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Branches and amplifier, which feeds them by a PMOS: without current its gate is low, so it starts."""
    parts, shape = {name: spice(value) for name, value in sized.parts.items()}, sized.parts["W/L"]
    deck.part(f"Vdd vdd 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"M1 out g vdd vdd pmos W={spice(shape * 1e-6)} L=1u", msg("supplies the branches"))
    deck.part(f"R1 out a {parts['R1']}", msg("carries the current of the single junction"))
    deck.part(f"R2 out b {parts['R2']}", msg("carries the same current"))
    deck.part(f"R3 b e {parts['R3']}", msg("difference of the junction voltages: sets the current"))
    deck.part("Q1 a a 0 npn", msg("junction"))
    deck.part(f"Q2 e e 0 npn {_RATIO}", msg("junction of {ratio} times the area", ratio=_RATIO))
    if "R4" in parts:
        deck.part(f"R4 a 0 {parts['R4']}", msg("raises the output above the bandgap, together with R5"))
        deck.part(f"R5 b 0 {parts['R5']}", msg("raises the output above the bandgap, together with R4"))
    deck.part("Eamp g 0 b a 100k", msg("amplifier, gain 100 dB"))
    deck.rule()
    deck.note(msg("Generic silicon junction."))
    deck.cards(f".model npn NPN(IS={_SATURATION_A:g} BF=100 XTI={_EXPONENT} EG={_GAP_V:g})")
    deck.cards(f".model pmos PMOS(VTO={-_THRESHOLD_V:g} KP={_PROCESS_A_PER_V2:g} LAMBDA=0.05)")
    deck.part(f".nodeset v(out)={spice(request['vout'])}", msg("starting point of the solution"))


FAMILY = kit.Family(
    key="bandgap_reference",
    name=msg("bandgap references (from 1.2 V)"), one=msg("a bandgap reference"),
    examples={"en": "bandgap reference 1.21 V, 3.3 V supply, drift below 30 ppm/°C from -40 to 85 °C",
              "zh": "1.21V带隙基准，电源3.3V，-40到85°C温漂小于30ppm/°C"},
    words=kit.Words(
        named=(
            r"(?:precision |low[\s-]drift |brokaw |kuijk )*band[\s-]?gap(?: voltage)?"
            r"(?: reference)?(?: (?:source|circuit))?|"
            r"(?:高精度|低温漂)?(?:的)?(?:带隙|能隙)(?:电压)?(?:基准|参考)?(?:电压)?(?:源|电路)?|(?:基准|参考)电压源"
        ),
        plausible=(
            r"(?:voltage|precision) reference|reference(?=.*(?:drift|ppm|tempco))|(?:基准|参考)电压|电压基准|"
            r"基准(?:源|(?=.*(?:温漂|ppm)))"
        ),
        excludes=r"zener|齐纳|稳压管|ldo|regulator|稳压器|schmitt|comparator|比较器|(?<![a-z])leds?(?![a-z])|current[\s-]s",
    ),
    quantities=_QUANTITIES,
    goals=(
        kit.GoalRow(metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
                    expression=lambda _request: f"at(v(out),{rows.NOMINAL_C})"),
        kit.GoalRow(metric="tempco", label=msg("Temperature coefficient"), unit="ppm/K", quantity="drift_ppm",
                    expression=lambda request: rows.drift(request, "v(out)"), is_corrected=False),
        kit.GoalRow(metric="supply_current", label=msg("Supply current"), unit="A", quantity="current_a",
                    expression=lambda _request: f"at(-i(vdd),{rows.NOMINAL_C})"),
    ),
    title="Bandgap reference {vout:.4g} V, {supply_v:.3g} V supply, {drift_ppm:.3g} ppm",
    remarks=(
        msg("Vout = (1 + R1/R4) VBE + (R1/R3) VT ln 8: what falls and what rises with the temperature."),
    ),
    analyses=rows.sweep,
    size=size, netlist=netlist,
    says=lambda sentence: rows.says_temperatures(sentence, _QUANTITIES),
    complete=complete,
)  # fmt: skip
