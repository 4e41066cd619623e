"""The common-emitter amplifier: one NPN, biased by a divider, its emitter resistor bypassed in part.

Gain -(RC || RL || ro) / (re + RE1) with re = VT / IC; the bias stands on VE of about a tenth of the supply
and on a divider that carries a tenth of the collector current. Three capacitors set the lower corner: that at
the emitter first, the coupling ones well below it.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 7.3, 7.5 and 10.1; Horowitz, Hill, "The
Art of Electronics", 3rd ed., section 2.3.
"""

from __future__ import annotations

import math

from domain.design import kit, transistor
from domain.design.families import transistor_rows as rows
from domain.design.kit import at_least, nearest, spice, with_unit
from shared.message import msg

_EMITTER_SHARE, _COUPLING_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Bias of E24, the gain by RE1 of E96, capacitors of E6."""
    current, drop = request["collector_a"], rows.collector_drop_v(request)
    rc = nearest(drop / current, "E24")
    gain, re, series = request["gain"] * correction["gain"], transistor.emitter_ohm(current), 0.0
    for _ in range(3):  # ro is raised by the open part of the emitter resistor
        load = transistor.parallel(
            rc, request["load_ohm"], transistor.EARLY_V / current * (1 + max(series, 0.0) / re)
        )
        series = load / gain - re
    if series <= 0:
        raise rows.too_much_gain(request, 0.95 * load / re)
    re1 = nearest(series, "E96")
    emitter_v = max(1.0, 0.1 * request["supply_v"], current * re1)
    rest = emitter_v / current - re1
    re2 = nearest(rest, "E24") if rest > 0.05 * re1 + 1 else 0.0
    bias = transistor.Bias.of(request["supply_v"], current, current * (re1 + re2))
    input_ohm = bias.seen_ohm(re + re1)
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": bias.r1, "R2": bias.r2, "RC": rc, "RE1": re1,
        "C1": at_least(_COUPLING_SHARE / (low * input_ohm), "E6"),
        "C2": at_least(_COUPLING_SHARE / (low * (rc + request["load_ohm"])), "E6"),
    }  # fmt: skip
    if re2:
        parts |= {
            "RE2": re2,
            "C3": at_least(_EMITTER_SHARE / (low * transistor.parallel(re2, re + re1)), "E6"),
        }
    note = msg("Collector current {current}, emitter at {emitter}, collector at {collector}.",
               current=with_unit(current, "A", 3), emitter=with_unit(current * (re1 + re2), "V", 3),
               collector=with_unit(request["supply_v"] - current * rc, "V", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its three capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    amplitude = min(0.01, 0.2 * rows.collector_drop_v(request) / request["gain"])
    rows.write_source(deck, request, amplitude)
    deck.part(f"C1 in b {parts['C1']}", msg("couples the input"))
    rows.write_divider(deck, parts, "b")
    deck.part(f"RC vcc c {parts['RC']}", msg("collector resistor"))
    deck.part(f"Q1 c b e {transistor.npn_of(request)}", msg("transistor"))
    rows.write_emitter(deck, parts)
    rows.write_load(deck, request, parts, "c")
    transistor.write_npn(deck, request)


FAMILY = kit.Family(
    key="common_emitter",
    name=msg("common-emitter amplifiers with one transistor"), one=msg("a common-emitter amplifier"),
    examples={"en": "common-emitter amplifier, gain 50, 12 V supply, 10 kohm load",
              "zh": "增益50倍的共射放大电路，电源12V，负载10kΩ"},
    words=kit.Words(
        named=(r"(?:single[\s-](?:stage|transistor) )?(?:bjt |npn |transistor )?common[\s-]emitter"
               r"(?: (?:bjt|npn|transistor))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit))?|"
               r"(?:单(?:级|管))?(?:bjt|npn|三极管|晶体管)?共(?:发)?射极?(?:组态)?"
               r"(?:三极管|晶体管)?(?:放大)?(?:器|电路)?"),
        plausible=(r"(?:single[\s-](?:stage|transistor) )?(?:bjt|npn|bipolar|transistor)(?: transistor)? "
                   r"(?:voltage )?(?:amplifier|amp|stage)|(?:单管|三极管|晶体管|bjt|npn)放大(?:器|电路)"),
        excludes=(rf"cascode|共射共基|common[\s-](?:base|collector)|follower|mos(?!t)|fet|{rows.OTHER_DEVICES}"),
        refuses=(transistor.NO_PNP,),
    ),
    quantities=rows.quantities(rows.drawn_a(1e-3, rows.collector_drop_v)),
    choices=(transistor.TRANSISTOR,),
    goals=(rows.gain_goal(-1), rows.LOW_GOAL),
    title="Common-emitter amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = -(RC || Rload || ro) / (VT / IC + RE1)."),),
    analyses=rows.sweep,
    size=size, netlist=netlist,
)  # fmt: skip
