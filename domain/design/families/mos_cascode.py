"""The MOS cascode amplifier: a common-source and a common-gate NMOS, resistor load.

Gain -gm1 (RD || RL) with gm = 2 ID / Vov: the width sets it; the upper transistor holds the drain of the
lower one. Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 8.5; Razavi, "Design of Analog
CMOS Integrated Circuits", 2nd ed., section 3.5.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import transistor_rows as rows
from domain.design.families.amplifier_rows import GAIN_LABEL
from domain.design.kit import at_least, beyond, nearest, spice
from domain.design.mosfet import element, nmos_of, write_models
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 1e6
_MOST_OVERDRIVE_V = 0.5
"""Two transistors share the supply."""
_SOURCE_SHARE, _OTHER_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""
_LOWER_V = 0.3
"""Across the lower transistor beyond its overdrive."""


def _source_v(request: kit.Request) -> float:
    return float(max(0.2 if rows.has_little_headroom(request) else 0.5, 0.1 * request["supply_v"]))


def _drop_v(request: kit.Request) -> float:
    """Across the drain resistor: half of what source and saturation leave."""
    saturation_v = 0.6 if rows.has_little_headroom(request) else 1.0
    return float(0.5 * (request["supply_v"] - _source_v(request) - saturation_v))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24 and E96, capacitors of E6, the width of both by the gain."""
    current, gain = request["collector_a"], request["gain"] * correction["gain"]
    device = nmos_of(request)
    least, most = device.least_overdrive_v, min(_MOST_OVERDRIVE_V, device.most_overdrive_v(_drop_v(request)))
    rd = nearest(_drop_v(request) / current, "E24")
    load = parallel(rd, request["load_ohm"])
    overdrive, open_ohm = 2 * current * load / gain, 0.0
    if overdrive < least:
        raise rows.too_much_gain(request, 2 * current * load / least)
    if overdrive > most:  # the source resistor is left unbypassed in part
        overdrive = most
        body = device.body_effect(overdrive, overdrive + _LOWER_V, _source_v(request))
        open_ohm = nearest((load / gain - overdrive / (2 * current)) / (1 + body), "E96")
    source_v = max(_source_v(request), 1.2 * current * open_ohm)
    rs = nearest(source_v / current - open_ohm, "E24")
    source_v = current * (rs + open_ohm)
    lower_v = overdrive + _LOWER_V
    if source_v + lower_v + overdrive + current * rd > request["supply_v"]:
        least = current * load / (source_v + overdrive / 2)
        raise beyond(GAIN_LABEL, "", request["gain"], least, msg("Raise the gain or the supply."))
    gate_v = source_v + device.gate_v(overdrive, lower_v, source_v)
    upper_v = source_v + device.gate_v(overdrive, _drop_v(request), source_v + lower_v) + lower_v
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    at_source = parallel(rs, overdrive / (2 * current) + open_ohm)
    r1, r3 = (nearest(_GATE_OHM * (request["supply_v"] - each) / each, "E96") for each in (gate_v, upper_v))
    parts = {
        "R1": r1, "R2": _GATE_OHM, "R3": r3, "R4": _GATE_OHM, "RD": rd, "RS": rs,
        "W/L": device.ratio(current, overdrive, lower_v, source_v),
        "C1": at_least(_OTHER_SHARE / (low * parallel(r1, _GATE_OHM)), "E6"),
        "C2": at_least(_OTHER_SHARE / (low * (rd + request["load_ohm"])), "E6"),
        "C3": at_least(_SOURCE_SHARE / (low * at_source), "E6"),
        "C4": at_least(_OTHER_SHARE / (low * parallel(r3, _GATE_OHM)), "E6"),
    }  # fmt: skip
    if open_ohm:
        parts["RS1"] = open_ohm
    return kit.Sized(parts=parts, notes=(rows.mos_note(current, overdrive, parts["W/L"]),))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, both transistors and the capacitors."""
    n = nmos_of(request)
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.02, 0.2 * _drop_v(request) / request["gain"]))
    deck.part(f"C1 in g {parts['C1']}", msg("couples the input"))
    rows.write_divider(deck, parts, "g")
    deck.part(f"R3 vcc g2 {parts['R3']}", msg("bias of the upper transistor, together with R4"))
    deck.part(f"R4 g2 0 {parts['R4']}", msg("bias of the upper transistor, together with R3"))
    deck.part(f"C4 g2 0 {parts['C4']}", msg("AC-grounds the gate of the upper transistor"))
    deck.part(f"RD vcc d {parts['RD']}", msg("drain resistor"))
    deck.part(element(n, "M2", "d g2 m 0", sized.parts["W/L"]), msg("upper transistor: common gate"))
    deck.part(element(n, "M1", "m g s 0", sized.parts["W/L"]), msg("transistor: its width sets the gain"))
    rows.write_foot(deck, parts)
    rows.write_load(deck, request, parts, "d")
    write_models(deck, request, "nmos")


FAMILY = kit.Family(
    key="mos_cascode",
    name=msg("cascode amplifiers with two NMOS transistors"), one=msg("a MOS cascode amplifier"),
    examples={"en": "MOS cascode amplifier, gain 10, 12 V supply, 100 kohm load",
              "zh": "增益10倍的共源共栅放大电路，电源12V，负载100kΩ"},
    words=kit.Words(
        named=(r"(?:mos(?:fet)?|n-?mos|cmos|fet) (?:single[\s-]stage )?cascode"
               r"(?: (?:amplifier|amp|stage|circuit))*|"
               r"cascode(?: (?:amplifier|amp|stage|circuit))*(?=.{0,40}(?:mos|fet))|"
               r"(?:单级)?(?:n?mos(?:fet)?管?)?共源共栅极?(?:级|组态)?(?:放大)?(?:器|电路)?"),
        excludes=rf"telescopic|套筒|folded|折叠|mirror|镜|bjt|bipolar|npn|p-?mos(?! (?:\w+ )?load)|"
                 rf"{rows.OTHER_DEVICES}",
        refuses=(rows.NO_ACTIVE_LOAD,),
    ),
    quantities=rows.quantities(
        rows.drawn_a(0.5e-3, _drop_v), load=100e3, supply=replace(rows.MOS_SUPPLY_V, within=(2.5, 60))
    ),
    goals=(rows.gain_goal(-1), rows.LOW_GOAL),
    title="MOS cascode amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = -gm1 (RD || Rload), gm = 2 ID / (VGS - VT)."),),
    analyses=rows.sweep,
    transistors=("nmos",),
    size=size, netlist=netlist,
)  # fmt: skip
