"""The common-source amplifier with a PMOS load: diode-connected, or a current source.

Gain -gm1 (1/gm2 || ro1 || ro2 || RL) or -gm1 (ro1 || ro2 || RL) with gm = 2 ID / Vov. Mirrors hold the
currents: M3 sets the gate of M1, M4 and M5 that of a current source. Sources: Razavi, "Design of Analog CMOS
Integrated Circuits", 2nd ed., sections 3.3.2, 3.3.3; Sedra, Smith, "Microelectronic Circuits", 7th ed., 8.3.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.engine.device_cards import CARDS
from domain.design.families import transistor_rows as rows
from domain.design.families.amplifier_rows import GAIN_LABEL
from domain.design.kit import at_least, beyond, impossible, spice, with_unit
from domain.design.mosfet import element, nmos_of, pmos_of, same_gate, write_models
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 10e6
_LOAD_OVERDRIVE_V = 0.3
"""Of a current source."""
_SHARE = 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def _drain_a(_request: kit.Request) -> float:
    return 100e-6


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The widths by the gain, capacitors of E6."""
    current, supply, rl = request["collector_a"], request["supply_v"], request["load_ohm"]
    gain = request["gain"] * correction["gain"]
    is_diode = request["form"] == "diode"
    n, p = nmos_of(request), pmos_of(request)
    overdrive, least, widest = 0.2, n.least_overdrive_v, n.most_overdrive_v(0.5 * supply)
    widest_load = 3.0
    if request.get(CARDS):
        widest, widest_load = widest / 2, p.most_overdrive_v(0.5 * supply)
    # a diode takes what leaves the other one its overdrive; below, the gain of both sets its overdrive
    most = min(widest_load, supply - p.diode_v(0.2) + 0.2 - widest) if is_diode else _LOAD_OVERDRIVE_V
    load_v = most
    for _ in range(8):
        drop = p.diode_v(load_v)
        reached = min(max(overdrive, least), 2 * widest)
        ro = parallel(n.output_v(reached, supply - drop) / current, p.output_v(load_v, drop) / current)
        load = parallel(parallel(ro, rl), load_v / (2 * current)) if is_diode else parallel(ro, rl)
        overdrive = 2 * current * load / gain
        if is_diode and overdrive > widest / 2:
            load_v = max(0.2, load_v * widest / 2 / overdrive)
    if not least <= overdrive <= 2 * widest:
        limit_v = least if overdrive < least else 2 * widest
        advice = msg("Change the current, the supply or the load, or ask for the other kind of load.")
        limit = 2 * current * load / limit_v
        if overdrive >= least:  # both transistors alone have more
            raise impossible(
                msg("With this load the gain is at least {limit}, not {asked}.",
                    limit=f"{limit:.3g}", asked=f"{request['gain']:.3g}"),
                msg("Ask for a larger gain, a smaller load, or a common-source stage with a resistor."),
            )  # fmt: skip
        raise beyond(GAIN_LABEL, "", request["gain"], limit, advice)
    gate_v = n.gate_v(overdrive, supply - drop)
    bias_v = same_gate(n, overdrive, supply - drop, gate_v)
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "Iref": current,
        "W/L 1": n.ratio(current, overdrive, supply - drop),
        "W/L 2": p.ratio(current, load_v, drop),
        "W/L 3": n.ratio(current, bias_v, gate_v),
        "Rg": _GATE_OHM,
        "C1": at_least(_SHARE / (low * _GATE_OHM), "E6"),
        "C2": at_least(1.6 / (low * rl), "E6"),
    }
    note = msg("Drain current {current}, overdrive {overdrive}, W/L = {ratio}.",
               current=with_unit(current, "A", 3), overdrive=with_unit(overdrive, "V", 3),
               ratio=f"{parts['W/L 1']:.3g}")  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, mirrors, the amplifying transistor and its load."""
    n, p = nmos_of(request), pmos_of(request)
    parts = sized.parts
    rows.write_source(deck, request, min(0.01, 0.5 / request["gain"]))
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(element(n, "M3", "b b 0 0", parts["W/L 3"]), msg("sets the gate of M1"))
    deck.part(f"Rg b g {spice(parts['Rg'])}", msg("bias of the gate"))
    deck.part(f"C1 in g {spice(parts['C1'])}", msg("couples the input"))
    deck.part(element(n, "M1", "d g 0 0", parts["W/L 1"]), msg("transistor: its width sets the gain"))
    if request["form"] == "diode":
        deck.part(element(p, "M2", "d d vcc vcc", parts["W/L 2"]), msg("load, connected as a diode"))
    else:
        deck.part(element(p, "M2", "d p vcc vcc", parts["W/L 2"]), msg("load, a current source"))
        deck.part(element(n, "M4", "p b 0 0", parts["W/L 1"]), msg("carries the reference to M5"))
        deck.part(element(p, "M5", "p p vcc vcc", parts["W/L 2"]), msg("sets the gate of M2"))
    deck.part(f"C2 d out {spice(parts['C2'])}", msg("couples the output"))
    deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))
    write_models(deck, request, "nmos", "pmos")


FAMILY = kit.Family(
    key="active_load_stage",
    name=msg("common-source amplifiers with a PMOS load (diode or current source)"),
    one=msg("a common-source amplifier with a PMOS load"),
    examples={"en": "common-source amplifier with diode-connected load, gain 5, 5 V supply",
              "zh": "电流源负载的共源放大电路，增益100倍，电源5V"},
    words=kit.Words(
        named=(
            r"common[\s-]source(?: amplifier| amp| stage)?.{0,30}"
            r"(?:diode(?:[\s-]connected)?|active|current[\s-](?:source|mirror))[\s-]loads?|"
            r"共源.{0,10}(?:二极管|有源|电流源|电流镜)(?:连接|接法)?(?:型)?负载|"
            r"(?:二极管|有源|电流源|电流镜)(?:连接|接法)?(?:型)?负载.{0,6}共源极?(?:放大)?(?:器|电路)?"
        ),
        excludes=rf"cascode|共源共栅|{rows.OTHER_DEVICES}",
    ),
    quantities=rows.quantities(_drain_a, load=10e6, supply=rows.MOS_SUPPLY_V),
    choices=(
        kit.Choice(
            name="form", label=msg("load"),
            options=(
                kit.Option(
                    key="source", label=msg("current source"),
                    words=r"active|current[\s-](?:source|mirror)|有源|电流源|电流镜",
                ),
                kit.Option(key="diode", label=msg("diode connection"), words=r"diode|二极管"),
            ),
        ),
    ),
    goals=(rows.gain_goal(-1), rows.LOW_GOAL),
    title="Common-source amplifier, {form} load, gain {gain:.4g}, {supply_v:g} V",
    remarks=lambda request: (
        msg("Gain = -gm1 (1/gm2 || ro1 || ro2 || Rload), gm = 2 ID / (VGS - VT).")
        if request["form"] == "diode"
        else msg("Gain = -gm1 (ro1 || ro2 || Rload), gm = 2 ID / (VGS - VT)."),
    ),
    analyses=rows.sweep,
    transistors=("nmos", "pmos"),
    size=size, netlist=netlist,
)  # fmt: skip
