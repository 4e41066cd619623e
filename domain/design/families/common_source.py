"""The common-source amplifier: one NMOS, resistor load, its source resistor bypassed.

Gain -gm (RD || RL || ro) with gm = 2 ID / Vov: the width sets it. A divider and the source resistor hold
the current; the capacitor at the source sets the lower corner.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 7.3.4, 7.4 and 10.1; Razavi, "Design of
Analog CMOS Integrated Circuits", 2nd ed., section 3.3.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import transistor_rows as rows
from domain.design.kit import at_least, nearest, spice
from domain.design.mosfet import element, nmos_of, write_models
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 1e6
"""The smaller resistor of the divider at the gate."""
_SOURCE_SHARE, _OTHER_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24, capacitors of E6, the width by the gain."""
    current, device, gain = request["collector_a"], nmos_of(request), request["gain"] * correction["gain"]
    drop_v = rows.drain_drop_v(request)
    rd = nearest(drop_v / current, "E24")
    least, most = device.least_overdrive_v, rows.most_overdrive_v(request, device, drop_v)
    overdrive = least
    for _ in range(4):  # the resistance of a card's drain depends on the overdrive
        ro = device.output_v(min(max(overdrive, least), most), drop_v) / current
        load = parallel(rd, request["load_ohm"], ro)
        overdrive = 2 * current * load / gain
    if overdrive < least:
        raise rows.too_much_gain(request, 2 * current * load / least)
    open_ohm = 0.0
    if overdrive > most:  # the source resistor is left unbypassed in part
        overdrive = most
        wanted = load / gain - overdrive / (2 * current)
        load = parallel(rd, request["load_ohm"], ro * (1 + 2 * current * wanted / overdrive))
        body = device.body_effect(overdrive, drop_v, rows.source_v(request))
        open_ohm = nearest((load / gain - overdrive / (2 * current)) / (1 + body), "E96")
    held_v = max(rows.source_v(request), 1.2 * current * open_ohm)
    rs = nearest(held_v / current - open_ohm, "E24")
    drain_v = request["supply_v"] - current * rd - held_v
    gate_v = current * (rs + open_ohm) + device.gate_v(overdrive, drain_v, held_v)
    r2 = _GATE_OHM
    r1 = nearest(r2 * (request["supply_v"] - gate_v) / gate_v, "E96")
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    at_source = parallel(rs, overdrive / (2 * current) + open_ohm)
    parts = {
        "R1": r1, "R2": r2, "RD": rd, "RS": rs, "W/L": device.ratio(current, overdrive, drain_v, held_v),
        "C1": at_least(_OTHER_SHARE / (low * parallel(r1, r2)), "E6"),
        "C2": at_least(_OTHER_SHARE / (low * (rd + request["load_ohm"])), "E6"),
        "C3": at_least(_SOURCE_SHARE / (low * at_source), "E6"),
    }  # fmt: skip
    if open_ohm:
        parts["RS1"] = open_ohm
    return kit.Sized(parts=parts, notes=(rows.mos_note(current, overdrive, parts["W/L"]),))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its three capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.02, 0.2 * rows.drain_drop_v(request) / request["gain"]))
    deck.part(f"C1 in g {parts['C1']}", msg("couples the input"))
    rows.write_divider(deck, parts, "g")
    deck.part(f"RD vcc d {parts['RD']}", msg("drain resistor"))
    m1 = element(nmos_of(request), "M1", "d g s 0", sized.parts["W/L"])
    deck.part(m1, msg("transistor: its width sets the gain"))
    rows.write_foot(deck, parts)
    rows.write_load(deck, request, parts, "d")
    write_models(deck, request, "nmos")


FAMILY = kit.Family(
    key="common_source",
    name=msg("common-source amplifiers with one NMOS transistor"), one=msg("a common-source amplifier"),
    examples={"en": "common-source amplifier, gain 10, 12 V supply, 100 kohm load",
              "zh": "增益10倍的共源放大电路，电源12V，负载100kΩ"},
    words=kit.Words(
        named=(r"(?:single[\s-](?:stage|transistor) )?(?:mos(?:fet)? |n-?mos |fet )?common[\s-]source"
               r"(?: (?:mos(?:fet)?|n-?mos|fet))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit))?|"
               r"(?:单(?:级|管))?(?:n?mos(?:fet)?管?|场效应管)?共源极?(?:组态)?(?:放大)?(?:器|电路)?"),
        plausible=(
            r"(?:single[\s-](?:stage|transistor) )?(?:mos(?:fet)?|n-?mos)(?: transistor)? (?:voltage )?"
            r"(?:amplifier|amp|stage)|(?:n?mos(?:fet)?管?|场效应管)放大(?:器|电路)"
        ),
        excludes=(r"cascode|共源共栅|common[\s-](?:gate|drain)|follower|跟随|p-?mos|jfet|"
                  r"current[\s-]source load|active load|"
                  rf"diode[\s-](?:connected )?load|有源负载|电流源负载|二极管负载|inverter|反相器|"
                  rf"{rows.OTHER_DEVICES}"),
    ),
    quantities=rows.quantities(rows.drawn_a(0.5e-3, rows.drain_drop_v), load=100e3, supply=rows.MOS_SUPPLY_V),
    goals=(rows.gain_goal(-1), rows.LOW_GOAL),
    title="Common-source amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = -gm (RD || Rload || ro), gm = 2 ID / (VGS - VT)."),),
    analyses=rows.sweep,
    transistors=("nmos",),
    size=size, netlist=netlist,
)  # fmt: skip
