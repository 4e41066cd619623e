"""The source follower (common drain): one NMOS, its gate biased by a divider, a resistor at the source.

Gain (RS || RL) / (1 / gm + RS || RL) with gm = 2 ID / Vov: the width sets it.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 7.3.6; Razavi, "Design of Analog CMOS
Integrated Circuits", 2nd ed., section 3.4.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import transistor_rows as rows
from domain.design.families.amplifier_rows import GAIN_LABEL, GAIN_WORDS
from domain.design.kit import at_least, beyond, nearest, spice
from domain.design.mosfet import element, nmos_of, write_models
from domain.design.transistor import parallel
from shared.message import msg

_GATE_OHM = 1e6
_INPUT_SHARE, _OUTPUT_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def _source_v(request: kit.Request) -> float:
    """A little below the middle: the gate stands higher by threshold and overdrive."""
    return float(max(0.3 * request["supply_v"], min(0.5 * request["supply_v"], request["supply_v"] - 4)))


def _drain_a(request: kit.Request) -> float:
    """1 mA, or what drives the load to either side."""
    return float(min(max(1e-3, _source_v(request) / request["load_ohm"]), 0.05))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24, capacitors of E6, the width by the gain."""
    current, device = request["collector_a"], nmos_of(request)
    least, drain_v = device.least_overdrive_v, 0.5 * request["supply_v"]
    rs = nearest(_source_v(request) / current, "E24")
    load = parallel(rs, request["load_ohm"])
    aim = 1 - 0.8 * (1 - request["gain"])
    overdrive = min(2 * current * load * (1 / aim - 1), 0.3 * device.most_overdrive_v(drain_v))
    if overdrive < least:
        limit = 1 / (1 + least / (2 * current * load))
        advice = msg("Raise the load resistance, the supply or the collector current.")
        raise beyond(GAIN_LABEL, "", request["gain"], 1 - 1.25 * (1 - limit), advice)
    gate_v = current * rs + device.gate_v(overdrive, drain_v)
    r1 = nearest(_GATE_OHM * (request["supply_v"] - gate_v) / gate_v, "E96")
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": r1, "R2": _GATE_OHM, "RS": rs, "W/L": device.ratio(current, overdrive, drain_v),
        "C1": at_least(_INPUT_SHARE / (low * parallel(r1, _GATE_OHM)), "E6"),
        "C2": at_least(_OUTPUT_SHARE / (low * request["load_ohm"]), "E6"),
    }  # fmt: skip
    return kit.Sized(parts=parts, notes=(rows.mos_note(current, overdrive, parts["W/L"]),))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its two capacitors."""
    n = nmos_of(request)
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.5, 0.2 * _source_v(request)))
    deck.part(f"C1 in g {parts['C1']}", msg("couples the input"))
    rows.write_divider(deck, parts, "g")
    deck.part(element(n, "M1", "vcc g s s", sized.parts["W/L"]), msg("transistor: its width sets the gain"))
    deck.part(f"RS s 0 {parts['RS']}", msg("carries the current"))
    rows.write_load(deck, request, parts, "s")
    write_models(deck, request, "nmos")


FAMILY = kit.Family(
    key="source_follower",
    name=msg("source followers (common drain)"), one=msg("a source follower"),
    examples={"en": "source follower, 12 V supply, load 10 kohm",
              "zh": "电源12V、负载10kΩ的源极跟随器"},
    words=kit.Words(
        named=(
            r"(?:mos(?:fet)? |n-?mos |fet )?(?:source[\s-]follower|common[\s-]drain)"
            r"(?: (?:mos(?:fet)?|n-?mos|fet))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit|buffer))*|"
            r"(?:n?mos(?:fet)?管?|场效应管)?(?:源极?(?:跟随|输出)器?|共漏极?)(?:组态)?(?:放大)?(?:器|电路)?"
        ),
        plausible=r"(?:mos(?:fet)?|n-?mos)\s?(?:voltage )?(?:buffer|follower|缓冲器?|跟随器)",
        excludes=rf"cascode|common[\s-](?:gate|source)|共源|共栅|p-?mos|jfet|{rows.OTHER_DEVICES}",
        refuses=(rows.NO_ACTIVE_LOAD,),
    ),
    quantities=rows.quantities(
        _drain_a,
        supply=rows.MOS_SUPPLY_V,
        gain=kit.Quantity(
            name="gain", label=GAIN_LABEL, dimensions=("x", "dB", "none"), limit="at_least", words=GAIN_WORDS,
            within=(0.3, 0.98), example=0.9, default=0.8, is_told=False,
        ),
    ),
    goals=(
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"at(re(v(out)/v(in)),{rows.mid_hz(request)})",
                    is_corrected=False),
        rows.LOW_GOAL,
    ),
    title="Source follower, {supply_v:g} V, {load_ohm:Ohm}",
    remarks=(msg("Gain = (RS || Rload) / (1 / gm + RS || Rload), gm = 2 ID / (VGS - VT)."),),
    analyses=rows.sweep,
    transistors=("nmos",),
    size=size, netlist=netlist,
)  # fmt: skip
