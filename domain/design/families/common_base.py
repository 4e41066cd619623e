"""The common-base amplifier: one NPN, its base at a bypassed divider, the input at the emitter.

Gain (RC || RL) / (RS + re) with re = VT / IC and RS in series with the input; the bias is that of the
common-emitter amplifier. The capacitor at the emitter sets the lower corner.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 7.3.5; Gray, Meyer, "Analysis and Design
of Analog Integrated Circuits", 5th ed., section 3.3.3.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import transistor_rows as rows
from domain.design.kit import at_least, nearest, spice, with_unit
from domain.design.transistor import NO_PNP, TRANSISTOR, Bias, emitter_ohm, npn_of, parallel, write_npn
from shared.message import msg

_INPUT_SHARE, _OTHER_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Bias of E24, the gain by RS of E96, capacitors of E6."""
    current = request["collector_a"]
    rc = nearest(rows.collector_drop_v(request) / current, "E24")
    load, re = parallel(rc, request["load_ohm"]), emitter_ohm(current)
    rs = load / (request["gain"] * correction["gain"]) - re
    if rs <= 0:
        raise rows.too_much_gain(request, 0.95 * load / re)
    rs = nearest(rs, "E96")
    emitter_v = max(1.0, 0.1 * request["supply_v"])
    bottom = nearest(emitter_v / current, "E24")
    bias = Bias.of(request["supply_v"], current, current * bottom)
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": bias.r1, "R2": bias.r2, "RC": rc, "RE": bottom, "RS": rs,
        "C1": at_least(_INPUT_SHARE / (low * (rs + re)), "E6"),
        "C2": at_least(_OTHER_SHARE / (low * (rc + request["load_ohm"])), "E6"),
        "C3": at_least(_OTHER_SHARE / (low * bias.seen_ohm(re + parallel(rs, bottom))), "E6"),
    }  # fmt: skip
    note = msg("Collector current {current}, input resistance {input} with RS.",
               current=with_unit(current, "A", 3), input=with_unit(rs + re, "Ω", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its three capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.01, 0.2 * rows.collector_drop_v(request) / request["gain"]))
    deck.part(f"RS in s {parts['RS']}", msg("sets the gain"))
    deck.part(f"C1 s e {parts['C1']}", msg("couples the input: sets the lower corner"))
    rows.write_divider(deck, parts, "b")
    deck.part(f"C3 b 0 {parts['C3']}", msg("AC-grounds the base"))
    deck.part(f"RC vcc c {parts['RC']}", msg("collector resistor"))
    deck.part(f"Q1 c b e {npn_of(request)}", msg("transistor"))
    deck.part(f"RE e 0 {parts['RE']}", msg("stabilizes the operating point"))
    rows.write_load(deck, request, parts, "c")
    write_npn(deck, request)


FAMILY = kit.Family(
    key="common_base",
    name=msg("common-base amplifiers with one transistor"), one=msg("a common-base amplifier"),
    examples={"en": "common-base amplifier, gain 30, 12 V supply, 10 kohm load",
              "zh": "增益30倍的共基放大电路，电源12V，负载10kΩ"},
    words=kit.Words(
        named=(
            r"(?:single[\s-](?:stage|transistor) )?(?:bjt |npn |transistor )?common[\s-]base"
            r"(?: (?:bjt|npn|transistor))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit))?|"
            r"(?:the )?base (?:is )?(?:ac[\s-])?grounded|grounded[\s-]base|基极(?:交流)?接地|"
            r"(?:单(?:级|管))?(?:bjt|npn|三极管|晶体管)?共基极?(?:组态)?(?:三极管|晶体管)?(?:放大)?(?:器|电路)?"
        ),
        excludes=rf"cascode|共射|common[\s-](?:emitter|collector)|follower|mos(?!t)|fet|{rows.OTHER_DEVICES}",
        refuses=(NO_PNP,),
    ),
    quantities=rows.quantities(rows.drawn_a(1e-3, rows.collector_drop_v)),
    choices=(TRANSISTOR,),
    goals=(rows.gain_goal(1), rows.LOW_GOAL),
    title="Common-base amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = (RC || Rload) / (RS + VT / IC)."),),
    analyses=rows.sweep,
    size=size, netlist=netlist,
)  # fmt: skip
