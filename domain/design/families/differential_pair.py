"""The differential pair of NMOS transistors: a PMOS mirror or resistors as load, a mirror as tail.

Gain gm (ro2 || ro4) or gm (RD || ro2) / 2 with gm = 2 ID / Vov; bandwidth 1 / (2 pi Rout CL). Sources:
Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., sections 4.2 and 5.3; Sedra, Smith,
"Microelectronic Circuits", 7th ed., sections 9.1 and 9.5.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.engine.device_cards import CARDS
from domain.design.families import amplifier_rows as rows
from domain.design.families.bjt_differential_pair import BIPOLAR
from domain.design.kit import beyond, nearest, spice, unreachable, with_unit
from domain.design.mosfet import element, nmos_of, pmos_of, same_gate, write_models
from domain.design.opamp import BANDWIDTH, BANDWIDTH_GOAL, SUPPLY, write_supplies
from domain.design.transistor import parallel
from shared.message import msg

_LOAD_OVERDRIVE_V = _TAIL_OVERDRIVE_V = 0.3
_TAIL_V, _SPARE_V = 0.15, 0.05
"""Across the tail of a named card at least, and beyond its overdrive."""
_BANDWIDTH_MARGIN = 1.3
"""For the capacitances of the transistors themselves."""
_LEAST_MIRROR_GAIN = 40.0
_MOST_OHM, _LEAST_A, _MOST_A = 200e3, 1e-6, 20e-3
LOAD_FARAD = kit.Quantity(
    name="load_farad", label=msg("load capacitance"), dimensions=("F",), takes_rest=True,
    words=r"load(?: capacit\w+)?|(?<![a-z])c_?l(?:oad)?(?![a-z])|负载(?:电容)?|into|driv(?:es?|ing)(?![a-z])",
    within=(1e-13, 1e-9), example=10e-12, default=10e-12,
)  # fmt: skip


def _form(request: kit.Request) -> str | None:
    gain = request["gain"]
    return None if gain is None or gain >= _LEAST_MIRROR_GAIN else "resistor"


def _gain(request: kit.Request) -> float:
    return 10.0 if request["form"] == "resistor" else 100.0


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The current by the bandwidth, the widths by the gain."""
    supply, gain = request["supply_v"], request["gain"] * correction["gain"]
    bandwidth = request["bandwidth_hz"] * _BANDWIDTH_MARGIN * correction["bandwidth_hz"]
    most_ohm = 1 / (2 * math.pi * bandwidth * request["load_farad"])
    n, p, parts = nmos_of(request), pmos_of(request), {}
    least = n.least_overdrive_v
    # the pair's sources are below its inputs, and this far above its bulk
    bulk_v = supply - n.gate_v(0.2, 1.0, 0.5 * supply)
    if request["form"] == "resistor":
        overdrive = min(0.3, (0.5 * supply if request.get(CARDS) else supply - 0.8) / gain)
        rd = nearest(min(most_ohm, _MOST_OHM), "E24")
        current = gain * overdrive / rd
        drop = current * rd
        for _ in range(4):
            ro = n.output_v(max(overdrive, least), 2 * supply - drop - bulk_v, bulk_v) / current
            overdrive = current * parallel(rd, ro) / gain
            bulk_v = max(supply - n.gate_v(max(overdrive, least), 1.0, bulk_v), 0.0)
        reached = gain * overdrive / least
        parts["RD"] = rd
    else:
        drop = p.diode_v(_LOAD_OVERDRIVE_V)
        overdrive, most = 0.2, n.most_overdrive_v(supply)
        for _ in range(3):  # the sources move with the overdrive,
            low_v = 2 * supply - drop - bulk_v
            for _ in range(8):  # and the resistances of a card depend on it
                held = min(max(overdrive, least), most)
                volts = parallel(
                    n.output_v(held, low_v, bulk_v), p.output_v(_LOAD_OVERDRIVE_V, drop)
                )  # output resistance times current
                overdrive = 2 * volts / gain
            bulk_v = max(supply - n.gate_v(min(max(overdrive, least), most), low_v, bulk_v), 0.0)
        current = max(volts / most_ohm, _LEAST_A)
        reached = 2 * volts / (least if overdrive < least else n.most_overdrive_v(low_v))
        parts["W/L 3"] = p.ratio(current, _LOAD_OVERDRIVE_V, drop)
    has_room = not request.get(CARDS) or bulk_v > _TAIL_V
    if least <= overdrive and not has_room:
        while supply - n.gate_v(overdrive, 1.0, bulk_v) <= _TAIL_V and overdrive > least:
            overdrive *= 0.97
        reached = 2 * volts / overdrive if "RD" not in parts else gain * overdrive / least
    if not least <= overdrive <= n.most_overdrive_v(supply) or not has_room:
        advice = msg("Ask for the other kind of load, or change the supply.")
        raise beyond(rows.GAIN_LABEL, "", request["gain"], reached, advice)
    if current > _MOST_A:
        asked, limit = (with_unit(each, "Hz", 3) for each in (bandwidth, bandwidth * _MOST_A / current))
        advice = msg("Lower the load capacitance or the gain.")
        raise unreachable(BANDWIDTH.label, asked, limit, advice)
    tail_v = _TAIL_OVERDRIVE_V
    if request.get(CARDS):
        tail_v = min(tail_v, max(bulk_v - _SPARE_V, least))
    pair_v, gate_v = n.gate_v(overdrive, 1.0, bulk_v), n.diode_v(tail_v)
    parts |= {
        "Iref": 2 * current,
        "W/L 1": n.ratio(current, overdrive, supply - drop + pair_v, bulk_v),
        "W/L 5": n.ratio(2 * current, same_gate(n, tail_v, gate_v, supply - pair_v), supply - pair_v),
        "W/L 6": n.ratio(2 * current, tail_v, gate_v),
    }
    note = msg("Tail current {current}, overdrive {overdrive}, W/L = {ratio}.",
               current=with_unit(2 * current, "A", 3), overdrive=with_unit(overdrive, "V", 3),
               ratio=f"{parts['W/L 1']:.3g}")  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Both inputs, the tail, the pair and its load."""
    n, p = nmos_of(request), pmos_of(request)
    parts = sized.parts
    amplitude = 0.2 / request["gain"]
    rows.write_inputs(deck, amplitude, spice(request["bandwidth_hz"] / 20))
    write_supplies(deck, request["supply_v"])
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(element(n, "M6", "b b vee vee", parts["W/L 6"]), msg("sets the gate of M5"))
    deck.part(element(n, "M5", "t b vee vee", parts["W/L 5"]), msg("tail current"))
    deck.part(element(n, "M1", "x inp t vee", parts["W/L 1"]), msg("pair: non-inverting input"))
    deck.part(element(n, "M2", "out inn t vee", parts["W/L 1"]), msg("pair: inverting input"))
    if "RD" in parts:
        deck.part(f"RD1 vcc x {spice(parts['RD'])}", msg("drain resistor"))
        deck.part(f"RD2 vcc out {spice(parts['RD'])}", msg("drain resistor"))
    else:
        deck.part(element(p, "M3", "x x vcc vcc", parts["W/L 3"]), msg("mirrors the current of M1"))
        deck.part(element(p, "M4", "out x vcc vcc", parts["W/L 3"]), msg("load"))
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    write_models(deck, request, *(["nmos"] if "RD" in parts else ["nmos", "pmos"]))


def _sweep(request: kit.Request) -> tuple[str]:
    low, high = request["bandwidth_hz"] / 5000, request["bandwidth_hz"] * 1000
    return (f".ac dec 30 {spice(low)} {spice(high)}",)


FAMILY = kit.Family(
    key="differential_pair",
    name=msg("MOS differential pairs (mirror or resistor load)"), one=msg("a differential pair"),
    examples={"en": "differential pair with mirror load, gain 100, bandwidth 50 kHz, load 10 pF, ±5 V",
              "zh": "电流镜负载的差分对，增益100倍，带宽50kHz，负载电容10pF，电源±5V"},
    words=kit.Words(
        named=(
            r"(?:(?:n?mos(?:fet)?|cmos|single[\s-]stage) )*(?:diff(?:erential)?|long[\s-]tailed) "
            r"(?:(?:pair|common[\s-]source op[\s-]?amp|ota|stage)(?: amplifier)?|"
            r"op[\s-]?amp(?=.{0,60}(?:mirror|tail|mos|active|resistive load)))|"
            r"(?:five|5)[\s-]transistor ota|(?:simple|single[\s-]stage)(?: cmos)? (?:ota|op[\s-]?amp)|"
            r"(?:n?mos管?|cmos)?(?:源极?耦合)?差分(?:对管?|输入级)(?:放大)?(?:器|电路)?|[五5]管(?:ota|运放)|单级运放"
        ),
        excludes=(
            rf"two[\s-]stage|两级|2级|miller|密勒|米勒|telescopic|套筒|folded|折叠|{BIPOLAR}|fully|全差分"
        ),
    ),
    quantities=(replace(rows.gain_row((2, 450), 100), required=False, default=_gain),
                BANDWIDTH, LOAD_FARAD, replace(SUPPLY, default=5.0, is_told=True), kit.TOLERANCE),
    choices=(
        kit.Choice(
            name="form", label=msg("load"), default=_form,
            options=(kit.Option(key="mirror", label=msg("mirror"), words=r"mirror|active|ota|电流镜|有源"),
                     kit.Option(key="resistor", label=msg("resistors"), words=r"resisti?|电阻负载")),
        ),
    ),
    goals=(*rows.differential_goals(), BANDWIDTH_GOAL),
    title="Differential pair, {form} load, gain {gain:.4g}, +-{supply_v:g} V",
    remarks=rows.two_input_remarks(
        msg("Gain = gm Rout, or gm RD / 2 with resistors; gm = 2 ID / (VGS - VT).")
    ),
    analyses=lambda request, _sized, _goals: _sweep(request),
    transistors=("nmos", "pmos"),
    size=size, netlist=netlist,
)  # fmt: skip
