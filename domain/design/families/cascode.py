"""The cascode: a common-emitter stage whose collector stands at the emitter of a common-base stage.

Gain -(RC || RL) / (re + RE1), as of the common-emitter stage; the lower collector does not move, so that its
capacitance costs little bandwidth. A divider of three resistors biases both.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 8.5 and 10.5; Horowitz, Hill, "The Art of
Electronics", 3rd ed., section 2.4.5.
"""

from __future__ import annotations

import math

from domain.design import kit, transistor
from domain.design.families import transistor_rows as rows
from domain.design.kit import at_least, nearest, spice, with_unit
from shared.message import msg

_LOWER_V = 1.0
"""Between collector and emitter of the lower transistor."""
_DIVIDER_SHARE = 0.15
"""Of the collector current, through the divider."""
_EMITTER_SHARE, _COUPLING_SHARE = 1.6, 8.0
"""By how much the corners of the capacitors lie below the lower corner of the amplifier."""
_BANDWIDTH = msg("bandwidth")


def _drop_v(request: kit.Request) -> float:
    return rows.collector_drop_v(request, _LOWER_V)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Bias of E24, the gain by RE1 of E96, capacitors of E6."""
    current = request["collector_a"]
    rc = nearest(_drop_v(request) / current, "E24")
    load, re = transistor.parallel(rc, request["load_ohm"]), transistor.emitter_ohm(current)
    series = load / (request["gain"] * correction["gain"]) - re
    if series <= 0:
        raise rows.too_much_gain(request, 0.95 * load / re)
    re1 = nearest(series, "E96")
    emitter_v = max(1.0, 0.1 * request["supply_v"], current * re1)
    rest = emitter_v / current - re1
    re2 = nearest(rest, "E24") if rest > 0.05 * re1 + 1 else 0.0
    base_v, base_a = current * (re1 + re2) + transistor.BASE_EMITTER_V, current / transistor.CURRENT_GAIN
    r3 = nearest(base_v / (_DIVIDER_SHARE * current), "E24")
    through = base_v / r3 + base_a
    r2 = nearest(_LOWER_V / through, "E24")
    r1 = nearest((request["supply_v"] - base_v - _LOWER_V) / (through + base_a), "E24")
    low = 2 * math.pi * request["low_hz"] * correction["low_hz"]
    input_ohm = transistor.parallel(r2, r3, transistor.CURRENT_GAIN * (re + re1))
    parts = {
        "R1": r1, "R2": r2, "R3": r3, "RC": rc, "RE1": re1,
        "C1": at_least(_COUPLING_SHARE / (low * input_ohm), "E6"),
        "C2": at_least(_COUPLING_SHARE / (low * (rc + request["load_ohm"])), "E6"),
        "C4": at_least(_COUPLING_SHARE / (low * transistor.parallel(r1, r2 + r3)), "E6"),
    }  # fmt: skip
    if re2:
        parts |= {
            "RE2": re2,
            "C3": at_least(_EMITTER_SHARE / (low * transistor.parallel(re2, re + re1)), "E6"),
        }
    note = msg("Collector current {current}, upper base at {base}.", current=with_unit(current, "A", 3),
               base=with_unit(base_v + _LOWER_V, "V", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, bias, the two transistors and their capacitors."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rows.write_source(deck, request, min(0.01, 0.2 * _drop_v(request) / request["gain"]))
    deck.part(f"C1 in b {parts['C1']}", msg("couples the input"))
    deck.part(f"R1 vcc b2 {parts['R1']}", msg("bias, together with R2 and R3"))
    deck.part(f"R2 b2 b {parts['R2']}", msg("bias, together with R1 and R3"))
    deck.part(f"R3 b 0 {parts['R3']}", msg("bias, together with R1 and R2"))
    deck.part(f"C4 b2 0 {parts['C4']}", msg("AC-grounds the upper base"))
    deck.part(f"RC vcc c {parts['RC']}", msg("collector resistor"))
    deck.part(f"Q2 c b2 m {transistor.npn_of(request)}", msg("upper transistor (common base)"))
    deck.part(f"Q1 m b e {transistor.npn_of(request)}", msg("lower transistor (common emitter)"))
    rows.write_emitter(deck, parts)
    rows.write_load(deck, request, parts, "c")
    transistor.write_npn(deck, request)


FAMILY = kit.Family(
    key="cascode",
    name=msg("cascode amplifiers with two transistors"), one=msg("a cascode amplifier"),
    examples={"en": "cascode amplifier, gain 40, 12 V supply, 10 kohm load",
              "zh": "增益40倍的共射共基放大电路，电源12V，负载10kΩ"},
    words=kit.Words(
        named=(r"(?:bjt |npn |transistor )?cascode(?: (?:bjt|npn|transistor))?(?: (?:voltage )?"
               r"(?:amplifier|amp|stage|circuit))?|共射[\s-]?共基(?:极)?(?:组态)?(?:放大)?(?:器|电路)?"),
        excludes=rf"folded|telescopic|折叠|套筒|mos(?!t)|fet|mirror|镜|共源|{rows.OTHER_DEVICES}",
        refuses=(transistor.NO_PNP,),
    ),
    quantities=rows.quantities(
        rows.drawn_a(1e-3, _drop_v),
        kit.Quantity(
            name="bandwidth_hz", label=_BANDWIDTH, dimensions=("Hz",), limit="at_least", within=(1e3, 100e6),
            words=r"band[\s-]?width|(?<![a-z])bw(?![a-z])|upper corner|up to|flat (?:to|beyond|past)|带宽|"
                  r"上限(?:截止)?(?:频率)?",
            example=1e6,
        ),
    ),
    choices=(transistor.TRANSISTOR,),
    goals=(
        rows.gain_goal(-1),
        rows.LOW_GOAL,
        kit.GoalRow(metric="bandwidth", label=msg("Upper corner, −3 dB"), unit="Hz", quantity="bandwidth_hz",
                    expression="highcut(v(out))", is_corrected=False),
    ),
    title="Cascode amplifier, gain {gain:.4g}, {supply_v:g} V",
    remarks=(msg("Gain = -(RC || Rload) / (VT / IC + RE1)."),),
    analyses=lambda request, _sized, _goals: (f".ac dec 50 {spice(request['low_hz'] / 50)} 1g",),
    size=size, netlist=netlist,
)  # fmt: skip
