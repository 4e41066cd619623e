"""The common-gate amplifier: one NMOS, its gate at a bypassed divider, the input at the source.

Gain gm (RD || RL) with gm = 2 ID / Vov, input resistance 1 / gm: the width sets both. The capacitor at the
source sets the lower corner.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 7.3.5; Razavi, "Design of Analog CMOS
Integrated Circuits", 2nd ed., section 3.5.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import transistor_rows as rows
from domain.design.kit import at_least, nearest, spice, with_unit
from domain.design.mosfet import element, nmos_of, write_models
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 1e6
_INPUT_SHARE, _OTHER_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24, capacitors of E6, the width by the gain; a series resistor where that is too low."""
    current, device, drop_v = request["collector_a"], nmos_of(request), rows.drain_drop_v(request)
    rd, rs = nearest(drop_v / current, "E24"), nearest(rows.source_v(request) / current, "E24")
    gain = request["gain"] * correction["gain"]
    least, most = device.least_overdrive_v, rows.most_overdrive_v(request, device, drop_v)
    overdrive = least
    for _ in range(4):  # the resistance of a card's drain depends on the overdrive
        ro = device.output_v(min(max(overdrive, least), most), drop_v) / current
        load = parallel(rd, request["load_ohm"], ro)
        overdrive = 2 * current / (gain / load - 1 / ro)  # ro carries the signal on, too
    if overdrive < least:
        raise rows.too_much_gain(request, 2 * current * load / least)
    series = 0.0
    if overdrive > most:
        overdrive = 0.5 * most
        ro = device.output_v(overdrive, drop_v) / current
        gm, load = 2 * current / overdrive + 1 / ro, parallel(rd, request["load_ohm"])
        seen_ohm = parallel(rs, (1 + load / ro) / gm)  # at the source
        series = nearest(seen_ohm * (gm * parallel(load, ro) / gain - 1), "E96")
    drain_v = request["supply_v"] - current * (rd + rs)
    gate_v = current * rs + device.gate_v(overdrive, drain_v)
    input_ohm = series + parallel(rs, overdrive / (2 * current))
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": nearest(_GATE_OHM * (request["supply_v"] - gate_v) / gate_v, "E96"), "R2": _GATE_OHM,
        "RD": rd, "RS": rs, "W/L": device.ratio(current, overdrive, drain_v),
        "C1": at_least(_INPUT_SHARE / (low * input_ohm), "E6"),
        "C2": at_least(_OTHER_SHARE / (low * (rd + request["load_ohm"])), "E6"),
        "C3": at_least(_OTHER_SHARE / (low * 0.1 * _GATE_OHM), "E6"),
    }  # fmt: skip
    if series:
        parts["RS1"] = series
    note = msg("Drain current {current}, input resistance {input}, W/L = {ratio}.",
               current=with_unit(current, "A", 3), input=with_unit(input_ohm, "Ω", 3),
               ratio=f"{parts['W/L']:.3g}")  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its three capacitors."""
    n = nmos_of(request)
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.02, 0.2 * rows.drain_drop_v(request) / request["gain"]))
    fed = "in"
    if "RS1" in parts:
        fed = "x"
        deck.part(f"RS1 in x {parts['RS1']}", msg("lowers the gain"))
    deck.part(f"C1 {fed} s {parts['C1']}", msg("couples the input: sets the lower corner"))
    rows.write_divider(deck, parts, "g")
    deck.part(f"C3 g 0 {parts['C3']}", msg("AC-grounds the gate"))
    deck.part(f"RD vcc d {parts['RD']}", msg("drain resistor"))
    deck.part(element(n, "M1", "d g s s", sized.parts["W/L"]), msg("transistor: its width sets the gain"))
    deck.part(f"RS s 0 {parts['RS']}", msg("stabilizes the operating point"))
    rows.write_load(deck, request, parts, "d")
    write_models(deck, request, "nmos")


FAMILY = kit.Family(
    key="common_gate",
    name=msg("common-gate amplifiers with one NMOS transistor"), one=msg("a common-gate amplifier"),
    examples={"en": "common-gate amplifier, gain 10, 12 V supply, 100 kohm load",
              "zh": "增益10倍的共栅放大电路，电源12V，负载100kΩ"},
    words=kit.Words(
        named=(r"(?:single[\s-](?:stage|transistor) )?(?:mos(?:fet)? |n-?mos |fet )?common[\s-]gate"
               r"(?: (?:mos(?:fet)?|n-?mos|fet))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit))?|"
               r"(?:单(?:级|管))?(?:n?mos(?:fet)?管?|场效应管)?共栅极?(?:组态)?(?:放大)?(?:器|电路)?|"
               r"(?:(?<![a-z])gate (?:is )?(?:ac[\s-])?grounded|grounded[\s-]gate|"
               r"栅极(?:交流)?[接到]地)(?=.*(?:gain|amplif|增益|放大))"),
        excludes=(r"cascode|共源|common[\s-](?:source|drain)|follower|跟随|p-?mos|jfet|"
                  rf"{rows.OTHER_DEVICES}"),
        refuses=(rows.NO_ACTIVE_LOAD,),
    ),
    quantities=rows.quantities(rows.drawn_a(0.5e-3, rows.drain_drop_v), load=100e3, supply=rows.MOS_SUPPLY_V),
    goals=(rows.gain_goal(1), rows.LOW_GOAL),
    title="Common-gate amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = gm (RD || Rload), gm = 2 ID / (VGS - VT)."),),
    analyses=rows.sweep,
    transistors=("nmos",),
    size=size, netlist=netlist,
)  # fmt: skip
