"""The telescopic cascode op-amp: NMOS pair, cascodes above it, a wide-swing PMOS cascode mirror.

Gain gm1 (gm3 ro3 ro1 || gm5 ro5 ro7), with one overdrive V and lambdas ln, lp: 4 / (V^2 (ln^2 + lp^2)).
Sizing: `cascode_opamp`. Source: Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., sections 5.2
and 9.2.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from domain.design import kit
from domain.design.families.cascode_opamp import ABOVE_V, branch
from domain.design.families.opamp_rows import opamp_family, quantities, write_bench
from domain.design.kit import spice
from domain.design.mosfet import Device, element, nmos_of, pmos_of, write_models
from shared.message import msg

_CASCODE_V = 0.7
"""Across a cascode of the mirror."""


class _Volts(NamedTuple):
    """Across each transistor below a cascode; of the pair's gates; of its source above the bulk (V): with the
    inputs and the output at 0."""

    low: float
    pair: float
    bulk: float

    @classmethod
    def of(cls, n: Device, overdrive: float, supply: float) -> _Volts:
        low_v = overdrive + ABOVE_V
        pair_v = n.gate_v(overdrive, low_v, 0.5 * supply)
        return cls(low_v, pair_v, max(supply - pair_v, 0.0))


def _gain_v2(supply: float, n: Device, p: Device, overdrive: float) -> float:
    at = _Volts.of(n, overdrive, supply)
    high_v = at.pair - at.low
    lower, upper = n.least_output_v(overdrive, at.low, at.bulk), p.least_output_v(overdrive, at.low)
    n_cascode = n.least_output_v(overdrive, high_v, at.bulk + at.low)
    p_cascode = p.least_output_v(overdrive, supply - at.low, at.low)
    return 4 / (1 / (lower * n_cascode) + 1 / (upper * p_cascode))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Widths of pair, cascodes, mirror and tail by their current; the gates of the cascodes."""
    supply = request["supply_v"]
    own = branch(request, correction, partial(_gain_v2, supply), p_mirror=True)
    current, overdrive = own
    n, p = nmos_of(request), pmos_of(request)
    low_v, pair_v, bulk_v = _Volts.of(n, overdrive, supply)
    gate_v, high_v = n.diode_v(overdrive), pair_v - low_v
    cascode_v = n.gate_v(overdrive, high_v, bulk_v + low_v)
    parts = {
        "Iref": 2 * current,
        "W/L 1": n.ratio(current, overdrive, low_v, bulk_v),
        "W/L 3": n.ratio(current, overdrive, high_v, bulk_v + low_v),
        "W/L 5": p.ratio(current, overdrive, _CASCODE_V),
        "W/L 7": p.ratio(current, overdrive, low_v),
        "W/L 9": n.ratio(2 * current, overdrive, gate_v),
        # of the inputs at 0: the pair's sources, the drain above them, and a threshold more
        "Vb1": -pair_v + low_v + cascode_v,
        "Vb2": supply - low_v - p.gate_v(overdrive, _CASCODE_V, low_v),
    }
    return kit.Sized(parts=parts, notes=(own.note(),))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The op-amp with its output fed back at DC only, so that its open-loop gain is seen."""
    n, p = nmos_of(request), pmos_of(request)
    parts, supply = sized.parts, request["supply_v"]
    write_bench(deck, request)
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(f"Vb1 b1 0 DC {spice(parts['Vb1'])}", msg("gates of the NMOS cascodes"))
    deck.part(f"Vb2 b2 0 DC {spice(parts['Vb2'])}", msg("gates of the PMOS cascodes"))
    deck.part(element(n, "M10", "b b vee vee", parts["W/L 9"]), msg("sets the gate of M9"))
    deck.part(element(n, "M9", "t b vee vee", parts["W/L 9"]), msg("tail current"))
    deck.part(element(n, "M1", "p in t vee", parts["W/L 1"]), msg("pair: non-inverting input"))
    deck.part(element(n, "M2", "q inn t vee", parts["W/L 1"]), msg("pair: inverting input"))
    deck.part(element(n, "M3", "y b1 p vee", parts["W/L 3"]), msg("cascode of M1"))
    deck.part(element(n, "M4", "out b1 q vee", parts["W/L 3"]), msg("cascode of M2"))
    deck.part(element(p, "M5", "y b2 u vcc", parts["W/L 5"]), msg("cascode of M7"))
    deck.part(element(p, "M6", "out b2 v vcc", parts["W/L 5"]), msg("cascode of M8"))
    deck.part(element(p, "M7", "u y vcc vcc", parts["W/L 7"]), msg("mirrors the current of M1"))
    deck.part(element(p, "M8", "v y vcc vcc", parts["W/L 7"]), msg("mirrors the current of M1"))
    deck.cards(f".nodeset v(out)=0 v(inn)=0 v(y)={spice(supply - 1)} v(u)={spice(supply - 0.4)}")
    write_models(deck, request, "nmos", "pmos")


FAMILY = opamp_family(
    key="telescopic_opamp",
    title="Telescopic",
    name=msg("telescopic cascode op-amps"), one=msg("a telescopic cascode op-amp"),
    examples={"en": "telescopic cascode op-amp, gain 80 dB, GBW 10 MHz, load 5 pF, ±2.5 V",
              "zh": "套筒式共源共栅运放，增益80dB，单位增益带宽10MHz，负载电容5pF，电源±2.5V"},
    words=kit.Words(
        named=(r"(?:(?:single[\s-]stage|cmos|differential) )*telescopic"
               r"(?:[\s-](?:cascoded?|differential|cmos|op[\s-]?amps?|ota|amplifier|operational amplifier))*"
               r"(?: with cascode loads?)?|"
               r"(?:单级)?套筒[式型]?(?:的)?(?:cmos)?(?:共源共栅|级联|cascode)*(?:差分)?"
               r"(?:运(?:算)?放(?:大器)?|放大(?:器|电路)|ota)?"),
        excludes=(
            r"two[\s-]stage|两级|2级|folded|折叠|fully[\s-]differential|全差分|bjt|npn|gain[\s-]boost|增益提升"
        ),
    ),
    quantities=quantities(100e3, 100e3, 50e6),
    remark=msg("GBW = gm1 / (2 pi CL); gain = gm1 (gm3 ro3 ro1 || gm5 ro5 ro7)."),
    size=size, netlist=netlist,
)  # fmt: skip
