"""The emitter follower (common collector): one NPN, its base biased by a divider at half of the supply.

Gain (RE || RL) / (re + RE || RL) with re = VT / IC, input resistance R1 || R2 || B (re + RE || RL).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 7.3.6; Horowitz, Hill, "The Art of
Electronics", 3rd ed., section 2.2.3.
"""

from __future__ import annotations

import math

from domain.design import kit, transistor
from domain.design.families import transistor_rows as rows
from domain.design.families.amplifier_rows import GAIN_LABEL, GAIN_WORDS
from domain.design.kit import at_least, beyond, nearest, spice, told_apart, unreachable, with_unit
from shared.message import msg

_MOST_A = 0.05
_DIVIDER_SHARES = (0.1, 0.05, 0.025)
"""Of the collector current, through the divider at the base."""
_INPUT_SHARE, _OUTPUT_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""
_INPUT = msg("input resistance")


def _emitter_v(request: kit.Request) -> float:
    return float(0.5 * request["supply_v"])


def _current(request: kit.Request) -> float:
    """1 mA, what drives the load to either side, or what the gain takes."""
    current = max(1e-3, _emitter_v(request) / request["load_ohm"])
    while current < _MOST_A and _gain(request, current) < request["gain"] + 0.2 * (1 - request["gain"]):
        current *= 1.2
    return float(min(current, _MOST_A))


def _gain(request: kit.Request, current: float) -> float:
    load = transistor.parallel(_emitter_v(request) / current, request["load_ohm"])
    return load / (load + transistor.emitter_ohm(current))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Bias of E24, capacitors of E6."""
    current, emitter_v = request["collector_a"], _emitter_v(request)
    if _gain(request, current) < request["gain"]:
        advice = msg("Raise the load resistance, the supply or the collector current.")
        raise beyond(GAIN_LABEL, "", request["gain"], _gain(request, current), advice)
    re = nearest(emitter_v / current, "E24")
    into_base = transistor.CURRENT_GAIN * (
        transistor.emitter_ohm(current) + transistor.parallel(re, request["load_ohm"])
    )
    wanted = (request["input_ohm"] or 0.0) * correction["input_ohm"]
    for share in _DIVIDER_SHARES:
        r2 = nearest((emitter_v + transistor.BASE_EMITTER_V) / (share * current), "E24")
        through = (emitter_v + transistor.BASE_EMITTER_V) / r2 + current / transistor.CURRENT_GAIN
        r1 = nearest((request["supply_v"] - emitter_v - transistor.BASE_EMITTER_V) / through, "E24")
        input_ohm = transistor.parallel(r1, r2, into_base)
        if input_ohm >= 1.05 * wanted:
            break
    else:
        asked, limit = told_apart("Ω", request["input_ohm"], input_ohm / 1.05, digits=3)
        advice = msg("Lower the collector current, or use an op-amp or a MOSFET.")
        raise unreachable(_INPUT, asked, limit, advice)
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    parts = {
        "R1": r1, "R2": r2, "RE": re,
        "C1": at_least(_INPUT_SHARE / (low * input_ohm), "E6"),
        "C2": at_least(_OUTPUT_SHARE / (low * request["load_ohm"]), "E6"),
    }  # fmt: skip
    note = msg("Collector current {current}, emitter at {emitter}, input resistance {input}.",
               current=with_unit(current, "A", 3), emitter=with_unit(emitter_v, "V", 3),
               input=with_unit(input_ohm, "Ω", 2))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the transistor and its two capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(1.0, 0.2 * _emitter_v(request)))
    deck.part(f"C1 in b {parts['C1']}", msg("couples the input"))
    rows.write_divider(deck, parts, "b")
    deck.part(f"Q1 vcc b e {transistor.npn_of(request)}", msg("transistor"))
    deck.part(f"RE e 0 {parts['RE']}", msg("carries the current"))
    rows.write_load(deck, request, parts, "e")
    transistor.write_npn(deck, request)


FAMILY = kit.Family(
    key="emitter_follower",
    name=msg("emitter followers (common collector)"), one=msg("an emitter follower"),
    examples={"en": "emitter follower, 12 V supply, load 1 kohm",
              "zh": "电源12V、负载1kΩ的射极跟随器"},
    words=kit.Words(
        named=(r"(?:bjt |npn |transistor )?(?:emitter[\s-]follower|common[\s-]collector)"
               r"(?: (?:bjt|npn|transistor))?(?: (?:voltage )?(?:amplifier|amp|stage|circuit|buffer))*|"
               r"(?:三极管|晶体管)?(?:射极?(?:跟?随|输出)器?|共集(?:电极)?)(?:组态)?(?:放大)?(?:器|电路)?"),
        plausible=r"(?:transistor|bjt|npn|三极管|晶体管)\s?(?:voltage )?(?:buffer|follower|缓冲器?|跟随器)",
        excludes=rf"class[\s-]?a(?![a-z])|甲类|cascode|common[\s-](?:base|emitter)|共射|共基|mos(?!t)|fet|{rows.OTHER_DEVICES}",
        refuses=(transistor.NO_PNP,),
    ),
    quantities=rows.quantities(
        _current,
        kit.Quantity(
            name="input_ohm", label=_INPUT, dimensions=("Ohm",), limit="at_least", within=(100, 10e6),
            words=r"input (?:resistance|impedance)|(?<![a-z])r_?in(?![a-z])|z_?in(?![a-z])|输入(?:电阻|阻抗)",
            example=20e3,
        ),
        load=1e3,
        gain=kit.Quantity(
            name="gain", label=GAIN_LABEL, dimensions=("x", "dB", "none"), limit="at_least", words=GAIN_WORDS,
            within=(0.3, 0.995), example=0.95, default=0.9, is_told=False,
        ),
    ),
    choices=(transistor.TRANSISTOR,),
    goals=(
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"at(re(v(out)/v(in)),{rows.mid_hz(request)})",
                    is_corrected=False),
        rows.LOW_GOAL,
        kit.GoalRow(
            metric="input_resistance", label=msg("Input resistance"), unit="Ohm", quantity="input_ohm",
            expression=lambda request: f"gain(v(in)/i(vin),{rows.mid_hz(request)})",
        ),
    ),
    title="Emitter follower, {supply_v:g} V, {load_ohm:Ohm}",
    remarks=(msg("Gain = (RE || Rload) / (VT / IC + RE || Rload)."),),
    analyses=rows.sweep,
    size=size, netlist=netlist,
)  # fmt: skip
