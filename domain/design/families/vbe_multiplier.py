"""The VBE multiplier: a transistor that holds a multiple of its base-emitter voltage across itself.

V = VBE (1 + R1/R2) + IB R1 with R1 from collector to base and R2 from base to emitter; dV/dT = (1 + R1/R2)
dVBE/dT, so that it follows as many junctions as it stands for; incremental resistance (1 + R1/R2) re + R1/B.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 12.5.2; Gray, Meyer, "Analysis and Design
of Analog Integrated Circuits", 5th ed., section 5.4.5.
"""

from __future__ import annotations

import math

from domain.design import kit, transistor
from domain.design.families import temperature_rows as rows
from domain.design.kit import around, at_least, best_pair, beyond, spice, with_unit
from shared.message import msg

_SHARE = 0.1
"""Of the current, through the divider: twenty times the base's."""
_SATURATION_A = 1e-14
_STIFF = 1.6
"""Incremental resistance that is allowed over the one of the equation."""


def _slope_volt(request: kit.Request) -> float:
    """Incremental resistance times the current: k VT / (1 - share) and the base current's drop across R1."""
    above = request["bias_v"] - transistor.BASE_EMITTER_V
    return float(
        (1 + above / transistor.BASE_EMITTER_V) * transistor.THERMAL_V / (1 - _SHARE)
        + above / _SHARE / transistor.CURRENT_GAIN
    )


def _current(request: kit.Request) -> float:
    """2 mA, or what the incremental resistance takes, within what is designed."""
    if request["slope_ohm"] is None:
        return 2e-3
    return at_least(min(max(1.1 * _slope_volt(request) / request["slope_ohm"], 100e-6), 0.05), "E24")


_QUANTITIES = (
    kit.Quantity(
        name="bias_v", label=msg("bias voltage"), dimensions=("V",), takes_rest=True, within=(0.9, 6),
        words=r"bias|voltage|output|drop|偏置|电压|输出|压降", example=1.3, required=True,
    ),
    kit.Quantity(
        name="slope_ohm", label=msg("incremental resistance"), dimensions=("Ohm",), limit="at_most",
        words=r"(?:incremental|dynamic|output|differential) (?:resistance|impedance)|impedance|"
              r"动态(?:电阻|内阻|阻抗)|内阻|输出(?:电阻|阻抗)",
        takes_rest=True, within=(1, 5e3), example=60,
    ),
    kit.Quantity(
        name="current_a", label=msg("current"), dimensions=("A",), takes_rest=True, within=(100e-6, 0.05),
        words=r"current|bias(?:ed)? (?:at|with|by)|电流|偏流", example=2e-3,
        default=_current,
    ),
    rows.LOWEST,
    rows.HIGHEST,
    kit.TOLERANCE,
)  # fmt: skip


def _most_ohm(request: kit.Request) -> float:
    return float(request["slope_ohm"] or _STIFF * _slope_volt(request) / request["current_a"])


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of E96. Raises CircuitError for an incremental resistance that the current cannot give."""
    current, wanted = request["current_a"], request["bias_v"] * correction["bias_v"]
    least = _slope_volt(request) / current
    if _most_ohm(request) < least:
        advice = msg("Raise the current.")
        raise beyond(msg("incremental resistance"), "Ω", _most_ohm(request), least, advice, digits=2)
    collector = (1 - _SHARE) * current
    vbe = transistor.THERMAL_V * math.log(collector / _SATURATION_A)
    exact = vbe / (_SHARE * current)
    r2, r1 = best_pair(
        kit.values_between(0.8 * exact, 1.25 * exact, "E96"),
        lambda each: (wanted - vbe) / (vbe / each + collector / transistor.CURRENT_GAIN),
        "E96",
        lambda below, above: abs(vbe + above * (vbe / below + collector / transistor.CURRENT_GAIN) - wanted),
    )
    note = msg("Equivalent to {count} junctions; incremental resistance about {ohm}.",
               count=f"{request['bias_v'] / vbe:.2g}", ohm=with_unit(least, "Ω", 2))  # fmt: skip
    return kit.Sized(parts={"R1": r1, "R2": r2}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The multiplier, above a junction that carries the same current and that it is compared with."""
    model, current = transistor.npn_of(request), spice(request["current_a"])
    deck.part(f"Ibias 0 drive DC {current} AC 1", msg("current of the driver stage"))
    deck.part("Vmeter drive out DC 0", msg("test bench: measures the current"))
    deck.part(f"Q1 out b e {model}", msg("transistor"))
    deck.part(f"R1 out b {spice(sized.parts['R1'])}", msg("sets the multiple, together with R2"))
    deck.part(f"R2 b e {spice(sized.parts['R2'])}", msg("sets the multiple, together with R1"))
    deck.part(f"Q2 e e 0 {model}", msg("test bench: a junction to compare the drift with"))
    transistor.write_npn(deck, request)


def _ratio(place: float) -> str:
    """Multiplied voltage over that of the junction beside it, at a temperature."""
    return f"at(v(out)-v(e),{place:g})/at(v(e),{place:g})"


def _tempco(request: kit.Request) -> str:
    low, high = request["lowest_c"], request["highest_c"]
    change = f"(at(v(out)-v(e),{high:g})-at(v(out)-v(e),{low:g}))"
    return f"1e6*{change}/{high - low:g}/at(v(out)-v(e),{rows.NOMINAL_C})"


FAMILY = kit.Family(
    key="vbe_multiplier",
    name=msg("VBE multipliers"), one=msg("a VBE multiplier"),
    examples={"en": "VBE multiplier 1.3 V at 2 mA",
              "zh": "1.3V的VBE倍增电路，电流2mA"},
    words=kit.Words(
        named=(
            r"(?:v_?be|rubber[\s-]diode|base[\s-]emitter(?: voltage)?)[\s-]?multipl\w+(?: (?:bias|circuit))*|"
            r"rubber diode|(?:v_?be|ube|基射极?电压|发射结电压)(?:的)?倍[增压]+(?:偏置)?(?:器|电路)?"
        ),
        excludes=r"op[\s-]?amp|运放|power amplifier|功放|class",
        refuses=(transistor.NO_PNP,),
    ),
    quantities=_QUANTITIES,
    choices=(transistor.TRANSISTOR,),
    goals=(
        kit.GoalRow(metric="bias", label=msg("Bias voltage"), unit="V", quantity="bias_v",
                    expression=lambda _request: f"at(v(out)-v(e),{rows.NOMINAL_C})"),
        kit.GoalRow(
            metric="tracking", label=msg("Drift against that of a junction, hot over cold"), unit="1",
            expression=lambda request: f"{_ratio(request['highest_c'])}/({_ratio(request['lowest_c'])})",
            bounds=lambda _request: around(1.0, 0.05), is_corrected=False,
        ),
        kit.GoalRow(metric="tempco", label=msg("Temperature coefficient"), unit="ppm/K", expression=_tempco,
                    bounds=lambda _request: kit.Bounds(minimum=-4000, maximum=-1500), is_corrected=False),
        kit.GoalRow(metric="incremental_resistance", label=msg("Incremental resistance"), unit="Ohm",
                    expression="dcgain((v(out)-v(e))/i(vmeter))", quantity="slope_ohm", is_corrected=False,
                    bounds=lambda request: kit.Bounds(maximum=_most_ohm(request))),
    ),
    title="VBE multiplier {bias_v:.3g} V, {current_a:A3}",
    remarks=(msg("V = VBE (1 + R1/R2) + IB R1, from collector to emitter."),),
    analyses=lambda request, sized, goals: (*rows.sweep(request, sized, goals), ".ac dec 10 10 10k"),
    output="", size=size, netlist=netlist,
    says=lambda sentence: rows.says_temperatures(sentence, _QUANTITIES),
)  # fmt: skip
