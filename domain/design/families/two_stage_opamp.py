"""The two-stage CMOS op-amp with Miller compensation: NMOS pair with a PMOS mirror, PMOS common source.

gm1 = 2 pi GBW Cc; second pole p2 = gm6 / (CL + C1 (1 + CL / Cc)) placed by the phase margin, the zero moved
away by Rz = 1 / gm6; gain gm1 (ro2 || ro4) gm6 (ro6 || ro7). Sources: Allen, Holberg, "CMOS Analog Circuit
Design", 3rd ed., sections 6.2, 6.3; Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., 10.5.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import at_least, nearest
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Bounds,
    Correction,
    Family,
    GoalRow,
    Quantity,
    Request,
    Sized,
    Words,
)
from domain.design.engine.wording import unreachable
from domain.design.families.amplifier_rows import GAIN_LABEL, GAIN_WORDS
from domain.design.families.differential_pair import LOAD_FARAD
from domain.design.mosfet import (
    KP_P,
    LAMBDA,
    LAMBDA_P,
    LENGTH_M,
    nmos,
    p_ratio_for,
    pmos,
    ratio_for,
    write_nmos,
    write_pmos,
)
from domain.design.opamp import GBW, SUPPLY, write_supplies
from shared.message import msg

_MILLER_SHARE = 0.3
"""Of the load capacitance; Allen and Holberg ask for 0.22 at 60 degrees."""
_OVERDRIVE_V = 0.25
_STAGE_V = 2 / (LAMBDA + LAMBDA_P)
"""Gain of a stage times its overdrive (V)."""
_OXIDE = 3.45e-11 / 20e-9
"""F/m2"""
_GBW_MARGIN, _GAIN_MARGIN, _PHASE_MARGIN = 1.1, 1.15, 7.0
_MOST_SHARE = 0.7
"""Of the second pole that M6's own gate may cost."""
_LEAST_DEGREES, _MOST_DEGREES = 45, 75


def size(request: Request, correction: Correction) -> Sized:
    """Cc of E12, Rz of E24, currents by GBW and phase margin, overdrives by the gain."""
    cl = request["load_farad"]
    gain = request["gain"] * _GAIN_MARGIN * correction["gain"]
    overdrive = min(_OVERDRIVE_V, _STAGE_V / math.sqrt(gain))
    cc = at_least(max(_MILLER_SHARE * cl, 0.5e-12), "E12")
    unity = 2 * math.pi * request["gbw_hz"] * _GBW_MARGIN * correction["gbw_hz"]
    degrees = min(request["phase_margin_deg"] * correction["phase_margin_deg"] + _PHASE_MARGIN, 86.0)
    second = unity * math.tan(math.radians(degrees))
    own = second * (2 / 3 * _OXIDE * LENGTH_M**2) / (KP_P * overdrive) * (1 + cl / cc)
    if own > _MOST_SHARE:
        asked = with_unit(request["gbw_hz"], "Hz", 3)
        limit = with_unit(request["gbw_hz"] * _MOST_SHARE / own, "Hz", 3)
        raise unreachable(GBW.label, asked, limit, msg("Lower the gain or the phase margin."))
    gm1, gm6 = unity * cc, second * cl / (1 - own)
    first, last = gm1 * overdrive / 2, gm6 * overdrive / 2
    tail_v = request["supply_v"] - 0.7 - overdrive
    ratio4 = p_ratio_for(first, overdrive, 0.7 + overdrive)
    ratio8 = ratio_for(2 * first, _OVERDRIVE_V, 0.7 + _OVERDRIVE_V)
    parts = {
        "Iref": 2 * first, "Cc": cc, "Rz": nearest(1 / gm6, "E24"),
        "W/L 1": ratio_for(first, overdrive, tail_v), "W/L 3": ratio4, "W/L 6": ratio4 * last / first,
        "W/L 8": ratio8, "W/L 7": ratio8 * last / (2 * first),
    }  # fmt: skip
    note = msg(
        "First stage {first}, second stage {last}, overdrive {overdrive}, Cc = {cc}.",
        first=with_unit(2 * first, "A", 3),
        last=with_unit(last, "A", 3),
        overdrive=with_unit(overdrive, "V", 3),
        cc=with_unit(cc, "F", 3),
    )
    return Sized(parts=parts, notes=(note,))


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """The op-amp with its output fed back at DC only, so that its open-loop gain is seen."""
    parts = sized.parts
    deck.part("Vin in 0 DC 0 AC 1", msg("non-inverting input: 1 V for .ac"))
    write_supplies(deck, request["supply_v"])
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(nmos("M8", "b b vee vee", parts["W/L 8"]), msg("sets the gates of M5 and M7"))
    deck.part(nmos("M5", "t b vee vee", parts["W/L 8"]), msg("tail current"))
    deck.part(nmos("M1", "y inn t vee", parts["W/L 1"]), msg("pair: inverting input"))
    deck.part(nmos("M2", "x in t vee", parts["W/L 1"]), msg("pair: non-inverting input"))
    deck.part(pmos("M3", "y y vcc vcc", parts["W/L 3"]), msg("mirrors the current of M1"))
    deck.part(pmos("M4", "x y vcc vcc", parts["W/L 3"]), msg("load of the first stage"))
    deck.part(pmos("M6", "out x vcc vcc", parts["W/L 6"]), msg("second stage"))
    deck.part(nmos("M7", "out b vee vee", parts["W/L 7"]), msg("load of the second stage"))
    deck.part(f"Rz x z {spice(parts['Rz'])}", msg("moves the zero away"))
    deck.part(f"Cc z out {spice(parts['Cc'])}", msg("Miller compensation"))
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    deck.part("Lfb out inn 1G", msg("test bench: closes the loop at DC"))
    deck.part("Cfb inn 0 1", msg("test bench: opens it for signals"))
    upper = spice(request["supply_v"] - 0.7 - _OVERDRIVE_V)
    lower = spice(-request["supply_v"] + 0.7 + _OVERDRIVE_V)
    deck.cards(f".nodeset v(out)=0 v(inn)=0 v(t)=-0.95 v(x)={upper} v(y)={upper} v(b)={lower}")
    write_nmos(deck)
    write_pmos(deck)


def _decibels(request: Request) -> Bounds:
    return Bounds(minimum=20 * math.log10(request["gain"]))


FAMILY = Family(
    key="two_stage_opamp",
    name=msg("two-stage CMOS op-amps with Miller compensation"),
    one=msg("a two-stage op-amp"),
    examples={
        "en": "two-stage Miller op-amp, gain 70 dB, GBW 5 MHz, phase margin 60, load 10 pF, ±2.5 V",
        "zh": "两级米勒补偿运放，增益70dB，单位增益带宽5MHz，相位裕度60，负载电容10pF，电源±2.5V",
    },
    words=Words(
        named=(
            r"(?:two|2)[\s-]stage(?: (?:cmos|mos|miller|compensated|differential))* "
            r"(?:op[\s-]?amps?|operational amplifier|ota)|"
            r"(?:two|2)[\s-]stage (?:cmos )?amplifier(?=.{0,20}miller)|miller(?:[\s-]compensated)? "
            r"(?:op[\s-]?amp|operational amplifier|ota)|"
            r"(?:两|2)级(?:cmos|密勒|米勒|miller|补偿|差分|的)*运(?:算)?放(?:大器)?|"
            r"(?:密勒|米勒|miller)补偿(?:的)?(?:cmos|两级|2级)*运(?:算)?放(?:大器)?"
        ),
        excludes=r"common[\s-]emitter|共射|bjt|npn|folded|折叠|telescopic|套筒",
    ),
    quantities=(
        Quantity(
            name="gain", label=GAIN_LABEL, dimensions=("x", "dB"), words=rf"{GAIN_WORDS}|open[\s-]loop|开环",
            takes_rest=True, limit="at_least", within=(100, 100e3), example=1000, default=1000.0,
        ),
        replace(GBW, takes_rest=True, limit="at_least", within=(1e3, 20e6), example=1e6, default=1e6,
                words=rf"{GBW.words}|ugf|ugbw|band[\s-]?width|单位增益(?:带宽|频率)|带宽"),
        Quantity(
            name="phase_margin_deg", label=msg("phase margin"), dimensions=("none",), limit="at_least",
            words=r"phase[\s-]margin|(?<![a-z])pm(?![a-z])|相位裕[度量]", example=60, default=60.0,
            within=(_LEAST_DEGREES, _MOST_DEGREES),
        ),
        LOAD_FARAD,
        replace(SUPPLY, default=5.0),
        replace(TOLERANCE, is_told=False),
    ),
    goals=(
        GoalRow(
            metric="gain_db", label=msg("Open-loop gain"), unit="dB", quantity="gain",
            expression=lambda _request: "db(dcgain(v(out)))", bounds=_decibels,
        ),
        GoalRow(
            metric="unity_gain", label=msg("Unity-gain frequency"), unit="Hz", quantity="gbw_hz",
            expression=lambda _request: "ugf(v(out))",
            bounds=lambda request: Bounds(minimum=request["gbw_hz"]),
        ),
        GoalRow(
            metric="phase_margin", label=msg("Phase margin"), unit="deg", quantity="phase_margin_deg",
            expression=lambda _request: "phase_margin(v(out))",
            bounds=lambda request: Bounds(minimum=request["phase_margin_deg"]),
        ),
    ),
    title=lambda request: (
        f"Two-stage op-amp, GBW {with_unit(request['gbw_hz'], 'Hz')}, "
        f"load {with_unit(request['load_farad'], 'F')}"
    ),
    remarks=lambda _request: (msg("GBW = gm1 / (2 pi Cc); Rz = 1 / gm6."),),
    analyses=lambda request, _sized, _goals: (f".ac dec 30 0.1 {spice(100 * request['gbw_hz'])}",),
    size=size,
    netlist=netlist,
)  # fmt: skip
