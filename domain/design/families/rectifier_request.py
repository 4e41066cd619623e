"""What is asked of a rectifier: input, load, ripple; and what it makes of its input."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from domain.design import kit
from domain.design.engine.library_parts import DIODES, Diode
from domain.design.kit import assumed, fill_slots, impossible, left_out, missing, number, with_unit
from shared.message import Message, msg

GENERAL = Diode(
    saturation_a=10e-9, emission=1.8, series_ohm=0.03, reverse_v=1000, average_a=20, recovery_s=1e-6
)
SOURCE_SHARE = 1e-3
"""Resistance of the source over that of the load."""
_PEAK = re.compile(r"(?<![a-z])(?:peak|pk|vpk?(?![a-z])|amplitude)|峰值|幅[值度]|振幅", re.IGNORECASE)
_BOTH_PEAKS = re.compile(r"peak[\s-]to[\s-]peak|p-?p(?![a-z])|峰峰", re.IGNORECASE)
_LATE = 0.4
"""Part of the mean current of a conducting diode that still flows when the capacitor is fullest."""
_NEAR = 14
"""Characters beside a voltage in which it is called a peak."""

QUANTITIES = (
    kit.Quantity(
        name="input_v", label=msg("input voltage (rms)"), dimensions=("V",), takes_rest=True, within=(2, 300),
        words=(r"input|(?<![a-z])v_?in(?![a-z])|(?<![a-z])ac(?![a-z])|rms|secondary|source|交流|输入|"
               r"有效值|次级|副边"),
        example=12,
    ),
    kit.Quantity(name="vout", label=msg("output voltage"), dimensions=("V",), within=(1.5, 400), example=15,
                 words=r"output|v_?out|(?<![a-z])dc(?![a-z])|直流|输出(?:电压)?"),
    kit.Quantity(
        name="iout", label=msg("load current"), dimensions=("A",), takes_rest=True, within=(100e-6, 10),
        words=r"load|current|i_?out|output current|负载|电流", example=0.1,
    ),
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True, takes_bare=False,
        words=r"load|r_?l(?![a-z])|负载", within=(0.5, 10e6), example=1e3,
    ),
    kit.Quantity(name="ripple_v", label=msg("ripple"), dimensions=("V", "%"), words=r"ripple|纹波|波纹|脉动",
                 within=(1e-3, 100), example=0.5),
    kit.Quantity(
        name="frequency_hz", label=msg("frequency"), dimensions=("Hz",), takes_rest=True, within=(10, 100e3),
        words=r"frequency|频率|line|mains|工频", example=50, default=50.0,
    ),
    replace(kit.TOLERANCE, default=0.1, is_told=False),
)  # fmt: skip


def says(sentence: kit.Sentence) -> kit.Said:
    """A voltage of the input is rms unless it is called a peak; a ripple in percent is one of the output."""
    filled = fill_slots(sentence, QUANTITIES)
    kit.refuse_doubled(QUANTITIES, filled)
    values = {
        each.name: number(each, filled.values[each.name]) for each in QUANTITIES if each.name in filled.values
    }
    stated = frozenset(values)
    if mention := filled.values.get("input_v"):
        before = re.split(r"[,;，；。]", sentence.text[max(0, mention.start - _NEAR) : mention.start])[-1]
        after = re.split(r"[,;，；。]", sentence.text[mention.end : mention.end + _NEAR])[0]
        beside = before + mention.text + after
        if _BOTH_PEAKS.search(beside):
            values["input_v"] /= 2 * math.sqrt(2)
        elif _PEAK.search(beside):
            values["input_v"] /= math.sqrt(2)
    mention = filled.values.get("ripple_v")
    if mention is not None and mention.dimension == "%":
        values["ripple_share"] = values.pop("ripple_v")
    return kit.Said(values=values, stated=stated, notes=left_out(filled.unused))


def diode_of(request: kit.Request) -> Diode:
    return DIODES.get(request["diode"], GENERAL)


def _above(request: kit.Request, ripple: float, peak: float, load: float) -> float:
    """From the mean output to the peak of the input (V)."""
    surge = load * (1 + math.pi * math.sqrt((0.5 if request["form"] == "bridge" else 2) * peak / ripple))
    late = _LATE * surge
    count = 2 if request["form"] == "bridge" else 1
    return count * diode_of(request).drop(late) + ripple / 2 + late * SOURCE_SHARE * peak / load


def complete(request: kit.Request) -> kit.Said:
    """Load, ripple, and of input and output what was not said. Raises CircuitError without either."""
    rms, vout, load = request["input_v"], request["vout"], request["iout"]
    if rms is None and vout is None:
        raise missing(msg("input voltage (rms)"), "12 V")
    near = vout or max(rms * math.sqrt(2) - 1.6, 0.5 * rms)
    notes: tuple[Message, ...] = ()
    if load is None and request["load_ohm"] is None:
        load, notes = 0.1, (assumed(msg("load current"), "100 mA"),)
    load = load or near / request["load_ohm"]
    ripple = request["ripple_v"] or (request.get("ripple_share") or 0.05) * near
    if request["ripple_v"] is None and not request.get("ripple_share"):
        notes = (*notes, assumed(msg("ripple"), with_unit(ripple, "V", 3)))
    peak = rms * math.sqrt(2) if rms else near + _above(request, ripple, near + 2, load)
    made = peak - _above(request, ripple, peak, load)
    if made < 0.3 * peak or (vout and rms and abs(made / vout - 1) > (request["tolerance"] or 0.1)):
        raise impossible(
            msg("This rectifier makes about {made} of {rms} rms.",
                made=with_unit(made, "V", 3), rms=with_unit(peak / math.sqrt(2), "V", 3)),
            msg("Change the input voltage, or give only one of input and output."),
        )  # fmt: skip
    values = {"iout": load, "ripple_v": ripple, "input_v": peak / math.sqrt(2), "vout": vout or made}
    return kit.Said(values=values, notes=notes)
