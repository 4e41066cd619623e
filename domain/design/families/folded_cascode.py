"""The folded cascode op-amp: NMOS pair, PMOS cascodes that take its current up and down, NMOS cascode mirror.

Gain gm1 (gm5 ro5 (ro1 || ro3) || gm9 ro9 ro7), with one overdrive V and lambdas ln, lp:
4 / (V^2 (lp (ln + 2 lp) + ln^2)); sizing: `cascode_opamp`. Sources: Razavi, "Design of Analog CMOS Integrated
Circuits", 2nd ed., section 9.2; Allen, Holberg, "CMOS Analog Circuit Design", 3rd ed., section 6.5.
"""

from __future__ import annotations

from functools import partial

from domain.design import kit
from domain.design.families.cascode_opamp import ABOVE_V, branch
from domain.design.families.opamp_rows import opamp_family, quantities, write_bench
from domain.design.kit import spice
from domain.design.mosfet import Device, element, nmos_of, pmos_of, write_models
from shared.message import msg

_CASCODE_V = 0.7
"""Across a cascode of the mirror."""


def _gain_v2(supply: float, n: Device, p: Device, overdrive: float) -> float:
    low_v = overdrive + ABOVE_V
    pair_v = n.gate_v(overdrive, supply, 0.5 * supply)
    pair = 1 / n.least_output_v(overdrive, supply - low_v + pair_v, max(supply - pair_v, 0.0))
    n_cascode, p_cascode = (1 / each.least_output_v(overdrive, supply - low_v, low_v) for each in (n, p))
    lower, source = (1 / each.least_output_v(overdrive, low_v) for each in (n, p))
    return 4 / (p_cascode * (pair + 2 * source) + n_cascode * lower)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Widths by the currents: 2 I in the sources above the pair, I in the cascodes; their gates."""
    supply = request["supply_v"]
    own = branch(request, correction, partial(_gain_v2, supply), p_mirror=False)
    current, overdrive = own
    low_v = overdrive + ABOVE_V
    n, p = nmos_of(request), pmos_of(request)
    gate_v = n.diode_v(overdrive)
    parts = {
        "Iref": 2 * current,
        "W/L 1": n.ratio(current, overdrive, supply),
        "W/L 3": p.ratio(2 * current, overdrive, low_v),
        "W/L 5": p.ratio(current, overdrive, supply),
        "W/L 7": n.ratio(current, overdrive, low_v),
        "W/L 9": n.ratio(current, overdrive, _CASCODE_V),
        "W/L 11": n.ratio(2 * current, overdrive, gate_v),
        "W/L 13": p.ratio(2 * current, overdrive, p.diode_v(overdrive)),
        "Vb1": -supply + low_v + n.gate_v(overdrive, _CASCODE_V, low_v),
        "Vb2": supply - low_v - p.gate_v(overdrive, 1.0, low_v),
    }
    return kit.Sized(parts=parts, notes=(own.note(),))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The op-amp with its output fed back at DC only, so that its open-loop gain is seen."""
    n, p = nmos_of(request), pmos_of(request)
    parts, supply = sized.parts, request["supply_v"]
    write_bench(deck, request)
    for name, nodes in (("Iref1", "vcc b"), ("Iref2", "c vee")):
        deck.part(f"{name} {nodes} DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(f"Vb1 b1 0 DC {spice(parts['Vb1'])}", msg("gates of the NMOS cascodes"))
    deck.part(f"Vb2 b2 0 DC {spice(parts['Vb2'])}", msg("gates of the PMOS cascodes"))
    deck.part(element(n, "M12", "b b vee vee", parts["W/L 11"]), msg("sets the gate of M11"))
    deck.part(element(n, "M11", "t b vee vee", parts["W/L 11"]), msg("tail current"))
    deck.part(element(p, "M13", "c c vcc vcc", parts["W/L 13"]), msg("sets the gates of M3 and M4"))
    deck.part(element(n, "M1", "p in t vee", parts["W/L 1"]), msg("pair: non-inverting input"))
    deck.part(element(n, "M2", "q inn t vee", parts["W/L 1"]), msg("pair: inverting input"))
    deck.part(element(p, "M3", "p c vcc vcc", parts["W/L 3"]), msg("feeds M1 and M5"))
    deck.part(element(p, "M4", "q c vcc vcc", parts["W/L 3"]), msg("feeds M2 and M6"))
    deck.part(element(p, "M5", "y b2 p vcc", parts["W/L 5"]), msg("cascode: takes the signal of M1 down"))
    deck.part(element(p, "M6", "out b2 q vcc", parts["W/L 5"]), msg("cascode: takes the signal of M2 down"))
    deck.part(element(n, "M9", "y b1 u vee", parts["W/L 9"]), msg("cascode of M7"))
    deck.part(element(n, "M10", "out b1 v vee", parts["W/L 9"]), msg("cascode of M8"))
    deck.part(element(n, "M7", "u y vee vee", parts["W/L 7"]), msg("mirrors the current of M5"))
    deck.part(element(n, "M8", "v y vee vee", parts["W/L 7"]), msg("mirrors the current of M5"))
    deck.cards(f".nodeset v(out)=0 v(inn)=0 v(y)={spice(1 - supply)} v(u)={spice(0.4 - supply)}")
    write_models(deck, request, "nmos", "pmos")


FAMILY = opamp_family(
    key="folded_cascode",
    title="Folded cascode",
    name=msg("folded cascode op-amps"), one=msg("a folded cascode op-amp"),
    examples={"en": "folded cascode op-amp, gain 75 dB, GBW 10 MHz, load 5 pF, ±2.5 V",
              "zh": "折叠式共源共栅运放，增益75dB，单位增益带宽10MHz，负载电容5pF，电源±2.5V"},
    words=kit.Words(
        named=(r"(?:(?:single[\s-]stage|cmos|differential) )*folded[\s-]?cascode"
               r"(?:[\s-](?:differential|cmos|op[\s-]?amps?|ota|amplifier|operational amplifier))*|"
               r"(?:单级)?折叠[式型]?(?:的)?(?:cmos)?(?:共源共栅|级联|cascode)*(?:差分)?"
               r"(?:运(?:算)?放(?:大器)?|放大(?:器|电路)|ota)?"),
        excludes=(
            r"two[\s-]stage|两级|2级|telescopic|套筒|fully[\s-]differential|全差分|bjt|npn|gain[\s-]boost|增益提升"
        ),
    ),
    quantities=quantities(60e3, 100e3, 50e6),
    remark=msg("GBW = gm1 / (2 pi CL); gain = gm1 (gm5 ro5 (ro1 || ro3) || gm9 ro9 ro7)."),
    size=size, netlist=netlist,
)  # fmt: skip
