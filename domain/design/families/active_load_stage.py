"""The common-source amplifier with a PMOS load: diode-connected, or a current source.

Gain -gm1 (1/gm2 || ro1 || ro2 || RL) or -gm1 (ro1 || ro2 || RL) with gm = 2 ID / Vov. Mirrors hold the
currents: M3 sets the gate of M1, M4 and M5 that of a current source. Sources: Razavi, "Design of Analog CMOS
Integrated Circuits", 2nd ed., sections 3.3.2, 3.3.3; Sedra, Smith, "Microelectronic Circuits", 7th ed., 8.3.
"""

from __future__ import annotations

import math

from domain.circuit.figures import told_apart, with_unit
from domain.circuit.preferred_values import at_least
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import Choice, Correction, Family, Option, Request, Sized, Words
from domain.design.engine.wording import unreachable
from domain.design.families.amplifier_rows import GAIN_LABEL
from domain.design.families.transistor_rows import (
    LOW_GOAL,
    OTHER_DEVICES,
    gain_goal,
    quantities,
    sweep,
    write_source,
)
from domain.design.mosfet import (
    LAMBDA,
    LAMBDA_P,
    LEAST_OVERDRIVE_V,
    MOST_OVERDRIVE_V,
    THRESHOLD_V,
    nmos,
    p_ratio_for,
    pmos,
    ratio_for,
    write_nmos,
    write_pmos,
)
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 10e6
_LOAD_OVERDRIVE_V = 0.3
"""Of a current source."""
_SHARE = 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def _drain_a(_request: Request) -> float:
    return 100e-6


def size(request: Request, correction: Correction) -> Sized:
    """The widths by the gain, capacitors of E6."""
    current, supply, rl = request["collector_a"], request["supply_v"], request["load_ohm"]
    gain = request["gain"] * correction["gain"]
    is_diode = request["form"] == "diode"
    # a diode takes what leaves the other one its overdrive; below, the gain of both sets its overdrive
    most = min(3.0, supply - THRESHOLD_V - MOST_OVERDRIVE_V) if is_diode else _LOAD_OVERDRIVE_V
    load_v = most
    for _ in range(4):
        drop = THRESHOLD_V + load_v
        ro = parallel((1 / LAMBDA + supply - drop) / current, (1 / LAMBDA_P + drop) / current)
        load = parallel(parallel(ro, rl), load_v / (2 * current)) if is_diode else parallel(ro, rl)
        overdrive = 2 * current * load / gain
        if is_diode and overdrive > MOST_OVERDRIVE_V / 2:
            load_v = max(0.2, load_v * MOST_OVERDRIVE_V / 2 / overdrive)
    if not LEAST_OVERDRIVE_V <= overdrive <= 2 * MOST_OVERDRIVE_V:
        limit_v = LEAST_OVERDRIVE_V if overdrive < LEAST_OVERDRIVE_V else 2 * MOST_OVERDRIVE_V
        asked, limit = told_apart("", request["gain"], 2 * current * load / limit_v, digits=3)
        advice = msg("Change the current, the supply or the load, or ask for the other kind of load.")
        raise unreachable(GAIN_LABEL, asked, limit, advice)
    gate_v = THRESHOLD_V + overdrive
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "Iref": current,
        "W/L 1": ratio_for(current, overdrive, supply - drop),
        "W/L 2": p_ratio_for(current, load_v, drop),
        "W/L 3": ratio_for(current, overdrive, gate_v),
        "Rg": _GATE_OHM,
        "C1": at_least(_SHARE / (low * _GATE_OHM), "E6"),
        "C2": at_least(1.6 / (low * rl), "E6"),
    }
    note = msg(
        "Drain current {current}, overdrive {overdrive}, W/L = {ratio}.",
        current=with_unit(current, "A", 3),
        overdrive=with_unit(overdrive, "V", 3),
        ratio=f"{parts['W/L 1']:.3g}",
    )
    return Sized(parts=parts, notes=(note,))


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """Source, mirrors, the amplifying transistor and its load."""
    parts = sized.parts
    write_source(deck, request, min(0.01, 0.5 / request["gain"]))
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(nmos("M3", "b b 0 0", parts["W/L 3"]), msg("sets the gate of M1"))
    deck.part(f"Rg b g {spice(parts['Rg'])}", msg("bias of the gate"))
    deck.part(f"C1 in g {spice(parts['C1'])}", msg("couples the input"))
    deck.part(nmos("M1", "d g 0 0", parts["W/L 1"]), msg("transistor: its width sets the gain"))
    if request["form"] == "diode":
        deck.part(pmos("M2", "d d vcc vcc", parts["W/L 2"]), msg("load, connected as a diode"))
    else:
        deck.part(pmos("M2", "d p vcc vcc", parts["W/L 2"]), msg("load, a current source"))
        deck.part(nmos("M4", "p b 0 0", parts["W/L 1"]), msg("carries the reference to M5"))
        deck.part(pmos("M5", "p p vcc vcc", parts["W/L 2"]), msg("sets the gate of M2"))
    deck.part(f"C2 d out {spice(parts['C2'])}", msg("couples the output"))
    deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))
    write_nmos(deck)
    write_pmos(deck)


FAMILY = Family(
    key="active_load_stage",
    name=msg("common-source amplifiers with a PMOS load (diode or current source)"),
    one=msg("a common-source amplifier with a PMOS load"),
    examples={
        "en": "common-source amplifier with diode-connected load, gain 5, 5 V supply",
        "zh": "电流源负载的共源放大电路，增益100倍，电源5V",
    },
    words=Words(
        named=(
            r"common[\s-]source(?: amplifier| amp| stage)?.{0,30}"
            r"(?:diode(?:[\s-]connected)?|active|current[\s-](?:source|mirror))[\s-]loads?|"
            r"共源.{0,10}(?:二极管|有源|电流源|电流镜)(?:连接|接法)?(?:型)?负载|"
            r"(?:二极管|有源|电流源|电流镜)(?:连接|接法)?(?:型)?负载.{0,6}共源极?(?:放大)?(?:器|电路)?"
        ),
        excludes=rf"cascode|共源共栅|{OTHER_DEVICES}",
    ),
    quantities=quantities(_drain_a, load=10e6),
    choices=(
        Choice(
            name="form", label=msg("load"),
            options=(
                Option(
                    key="source", label=msg("current source"),
                    words=r"active|current[\s-](?:source|mirror)|有源|电流源|电流镜",
                ),
                Option(key="diode", label=msg("diode connection"), words=r"diode|二极管"),
            ),
        ),
    ),
    goals=(gain_goal(-1), LOW_GOAL),
    title=lambda request: (
        f"Common-source amplifier, {request['form']} load, gain {request['gain']:.4g}, "
        f"{request['supply_v']:g} V"
    ),
    remarks=lambda request: (
        msg("Gain = -gm1 (1/gm2 || ro1 || ro2 || Rload), gm = 2 ID / (VGS - VT).")
        if request["form"] == "diode"
        else msg("Gain = -gm1 (ro1 || ro2 || Rload), gm = 2 ID / (VGS - VT)."),
    ),
    analyses=sweep,
    size=size,
    netlist=netlist,
)  # fmt: skip
