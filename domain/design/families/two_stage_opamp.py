"""The two-stage CMOS op-amp with Miller compensation: NMOS pair with a PMOS mirror, PMOS common source.

gm1 = 2 pi GBW Cc; second pole p2 = gm6 / (CL + C1 (1 + CL / Cc)) placed by the phase margin, the zero moved
away by Rz = 1 / gm6; gain gm1 (ro2 || ro4) gm6 (ro6 || ro7). Sources: Allen, Holberg, "CMOS Analog Circuit
Design", 3rd ed., sections 6.2, 6.3; Razavi, "Design of Analog CMOS Integrated Circuits", 2nd ed., 10.5.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.engine.device_cards import CARDS
from domain.design.families.amplifier_rows import GAIN_LABEL
from domain.design.families.opamp_rows import opamp_family, quantities, write_bench
from domain.design.kit import at_least, beyond, nearest, spice, unreachable, with_unit
from domain.design.mosfet import element, nmos_of, pmos_of, write_models
from domain.design.opamp import GBW
from domain.design.transistor import parallel
from shared.message import msg

_MILLER_SHARE = 0.3
"""Of the load capacitance; Allen and Holberg ask for 0.22 at 60 degrees."""
_OVERDRIVE_V = 0.25
_GBW_MARGIN, _GAIN_MARGIN, _PHASE_MARGIN, _CARD_MARGIN = 1.1, 1.15, 7.0, 1.06
"""The last, of a named card: its mirrors copy a little more where the drain voltage is higher."""
_MOST_MILLER = 1.5
"""Of the load, in Cc."""
_MOST_SHARE = 0.7
"""Of the second pole that M6's own gate may cost."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Cc of E12, Rz of E24, currents by GBW and phase margin, overdrives by the gain."""
    cl = request["load_farad"]
    margin = _CARD_MARGIN if request.get(CARDS) else 1.0
    gain = request["gain"] * _GAIN_MARGIN * margin * correction["gain"]
    n, p, overdrive, supply = nmos_of(request), pmos_of(request), _OVERDRIVE_V, request["supply_v"]
    for _ in range(6):  # of a card the gain of a stage times its overdrive is no constant
        mirror_v = p.diode_v(overdrive)
        pair_v = n.gate_v(overdrive, supply, 0.5 * supply)
        drain_v, bulk_v = supply - mirror_v + pair_v, max(supply - pair_v, 0.0)
        first_v = parallel(
            n.least_output_v(overdrive, drain_v, bulk_v), p.least_output_v(overdrive, mirror_v)
        )
        last_v = parallel(n.least_output_v(_OVERDRIVE_V, supply), p.least_output_v(overdrive, supply))
        stage_v = 2 * math.sqrt(first_v * last_v)
        overdrive = min(_OVERDRIVE_V, stage_v / math.sqrt(gain))
    if request.get(CARDS) and overdrive < n.least_overdrive_v:
        advice = msg("Lower the gain or the phase margin.")
        raise beyond(GAIN_LABEL, "", request["gain"], (stage_v / n.least_overdrive_v) ** 2, advice)
    cc = at_least(max(_MILLER_SHARE * cl, 0.5e-12), "E12")
    unity = 2 * math.pi * request["gbw_hz"] * _GBW_MARGIN * margin * correction["gbw_hz"]
    degrees = min(request["phase_margin_deg"] * correction["phase_margin_deg"] + _PHASE_MARGIN, 86.0)
    second = unity * math.tan(math.radians(degrees))
    gate = second * p.gate_s(overdrive, request["supply_v"])
    while gate * (1 + cl / cc) > _MOST_SHARE and cc < _MOST_MILLER * cl:
        cc = at_least(1.1 * cc, "E12")  # M6's own gate counts the less, and both stages take more current
    own = gate * (1 + cl / cc)
    if own > _MOST_SHARE:
        asked = with_unit(request["gbw_hz"], "Hz", 3)
        limit = with_unit(request["gbw_hz"] * _MOST_SHARE / own, "Hz", 3)
        raise unreachable(GBW.label, asked, limit, msg("Lower the gain or the phase margin."))
    gm1, gm6 = unity * cc, second * cl / (1 - own)
    first, last = gm1 * overdrive / 2, gm6 * overdrive / 2
    ratio4 = p.ratio(first, overdrive, p.diode_v(overdrive))
    ratio8 = n.ratio(2 * first, _OVERDRIVE_V, n.diode_v(_OVERDRIVE_V))
    parts = {
        "Iref": 2 * first, "Cc": cc, "Rz": nearest(1 / gm6, "E24"),
        "W/L 1": n.ratio(first, overdrive, drain_v, bulk_v), "W/L 3": ratio4, "W/L 6": ratio4 * last / first,
        "W/L 8": ratio8, "W/L 7": ratio8 * last / (2 * first),
    }  # fmt: skip
    note = msg("First stage {first}, second stage {last}, overdrive {overdrive}, Cc = {cc}.",
               first=with_unit(2 * first, "A", 3), last=with_unit(last, "A", 3),
               overdrive=with_unit(overdrive, "V", 3), cc=with_unit(cc, "F", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The op-amp with its output fed back at DC only, so that its open-loop gain is seen."""
    n, p = nmos_of(request), pmos_of(request)
    parts = sized.parts
    write_bench(deck, request)
    deck.part(f"Iref vcc b DC {spice(parts['Iref'])}", msg("reference current"))
    deck.part(element(n, "M8", "b b vee vee", parts["W/L 8"]), msg("sets the gates of M5 and M7"))
    deck.part(element(n, "M5", "t b vee vee", parts["W/L 8"]), msg("tail current"))
    deck.part(element(n, "M1", "y inn t vee", parts["W/L 1"]), msg("pair: inverting input"))
    deck.part(element(n, "M2", "x in t vee", parts["W/L 1"]), msg("pair: non-inverting input"))
    deck.part(element(p, "M3", "y y vcc vcc", parts["W/L 3"]), msg("mirrors the current of M1"))
    deck.part(element(p, "M4", "x y vcc vcc", parts["W/L 3"]), msg("load of the first stage"))
    deck.part(element(p, "M6", "out x vcc vcc", parts["W/L 6"]), msg("second stage"))
    deck.part(element(n, "M7", "out b vee vee", parts["W/L 7"]), msg("load of the second stage"))
    deck.part(f"Rz x z {spice(parts['Rz'])}", msg("moves the zero away"))
    deck.part(f"Cc z out {spice(parts['Cc'])}", msg("Miller compensation"))
    upper = spice(request["supply_v"] - 0.7 - _OVERDRIVE_V)
    lower = spice(-request["supply_v"] + 0.7 + _OVERDRIVE_V)
    deck.cards(f".nodeset v(out)=0 v(inn)=0 v(t)=-0.95 v(x)={upper} v(y)={upper} v(b)={lower}")
    write_models(deck, request, "nmos", "pmos")


FAMILY = opamp_family(
    key="two_stage_opamp",
    title="Two-stage",
    name=msg("two-stage CMOS op-amps with Miller compensation"), one=msg("a two-stage op-amp"),
    examples={"en": "two-stage Miller op-amp, gain 70 dB, GBW 5 MHz, phase margin 60, load 10 pF, ±2.5 V",
              "zh": "两级米勒补偿运放，增益70dB，单位增益带宽5MHz，相位裕度60，负载电容10pF，电源±2.5V"},
    words=kit.Words(
        named=(r"(?:two|2)[\s-]stage(?:[\s,-]+(?:cmos|mos|miller|compensated|differential))* "
               r"(?:op[\s-]?amps?|operational amplifier|ota)|"
               r"(?:two|2)[\s-]stage (?:cmos )?amplifier(?=.{0,20}miller)|miller(?:[\s-]compensated)? "
               r"(?:op[\s-]?amp|operational amplifier|ota)|"
               r"(?:两|2)级(?:cmos|密勒|米勒|miller|补偿|差分|的)*运(?:算)?放(?:大器)?|"
               r"(?:密勒|米勒|miller)(?:补偿)?(?:的)?(?:cmos|两级|2级)*运(?:算)?放(?:大器)?"),
        excludes=r"common[\s-]emitter|共射|bjt|npn|folded|折叠|telescopic|套筒",
    ),
    quantities=quantities(100e3, 1e3, 20e6),
    remark=msg("GBW = gm1 / (2 pi Cc); Rz = 1 / gm6."),
    size=size, netlist=netlist,
)  # fmt: skip
