"""How every filter reads a sentence: kind, order, cut-off, attenuation at a frequency, part values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.design import kit
from domain.design.engine import wording
from domain.design.families import filter_rows as rows
from domain.design.kit import fill_slots, impossible, left_out, number, told_apart, within_measure
from shared.errors import CircuitError
from shared.message import Message, msg

_BAND_BEFORE = re.compile(
    r"(?:pass[\s-]?band|stop[\s-]?band|bandwidth|通带|阻带|带宽|频带)[^,;。]{0,12}$", re.IGNORECASE
)
_THREE_DB_MARK = re.compile(rows.THREE_DB, re.IGNORECASE)
_SLOPE = re.compile(
    r"(?P<before>\d+(?:\.\d+)?)\s?(?:db|分贝)\s*(?:/|per|每|an?)\s*(?:(?P<decade>dec|十倍频)|oct|倍频)"
    r"|每(?P<tenfold>十)?倍频程?\s*(?:衰减|下降)?\s*-?(?P<behind>\d+(?:\.\d+)?)\s?(?:db|分贝)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)?[\s-]*(?:order|poles?(?![a-z])|"
    r"(?:reactive |lc |l/c )?elements?(?![a-z])|阶|"
    r"极点|个?元件)|(?:(?<![a-z])order|阶数)\s*(?:n\s*)?(?:=|:|of|is|为|是)?\s*(\d+(?:\.\d+)?)|"
    r"(?<![a-z])n\s*=\s*(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_CARDINALS = "one two three four five six seven eight nine ten"
_GRADE = kit.Slot(name="resistor_grade", dimensions=("%",), words=r"resistors?|电阻", takes_bare=False)
_OF_A_BAND = r"band[\s-]?(?:pass(?!e[ds]|ing)|stop|reject)|notch|带通|带阻|陷波"
_HALF_POWER_DB = 3.0
_ROUNDED = 0.02
"""People write 3, 3.0 or 3.01 dB."""


def filter_kind(sentence: kit.Sentence) -> str | None:
    """Low-pass or high-pass, None when the sentence says neither or both."""
    is_low, is_high = sentence.has(rows.LETS_LOWS_THROUGH), sentence.has(rows.LETS_HIGHS_THROUGH)
    if is_low == is_high:
        return None
    return rows.LOW_PASS if is_low else rows.HIGH_PASS


def order_of(sentence: kit.Sentence) -> int | None:
    """The order a sentence states (`4th order`, `second-order`, `3阶`, `two-pole`, `24 dB/octave`).

    Raises CircuitError for one that is not whole.
    """
    if slope := _SLOPE.search(sentence.text):
        decibels = within_measure(float(slope["before"] or slope["behind"]))
        return max(1, round(decibels / (20 if slope["decade"] or slope["tenfold"] else 6)))
    if digits := _ORDER.search(sentence.text):
        order = within_measure(float(next(group for group in digits.groups() if group)))
        if order != int(order):
            raise impossible(msg("A filter has a whole number of poles, not {order}.", order=f"{order:g}"),
                             msg("Ask for an order such as 2 or 4."))  # fmt: skip
        return int(order)
    for words, tail in ((_ORDINALS, r"[\s-]*order"), (_CARDINALS, r"[\s-]*poles?")):
        for place, word in enumerate(words.split(), start=1):
            if sentence.has(rf"\b{word}{tail}"):
                return place
    return None


def _nothing_more(_sentence: kit.Sentence, _filled: kit.Filled) -> Mapping[str, Any]:
    return {}


def filter_reader(
    quantities: Sequence[kit.Quantity],
    more: Callable[[kit.Sentence, kit.Filled], Mapping[str, Any]] = _nothing_more,
    *,
    cutoff: str = "cutoff_hz",
) -> Callable[[kit.Sentence], kit.Said]:
    """Reads what all filters share the way all of them do, and a family's own quantities beside it.

    `more` gives further parameters (None takes one back), `cutoff` is the name of the cut-off's.
    """

    def says(sentence: kit.Sentence) -> kit.Said:
        filled, bands = _filled(sentence, [*quantities, _GRADE])
        kit.refuse_doubled(quantities, filled)
        filled = _with_ripple(quantities, filled)
        kind = filter_kind(sentence)
        notes: list[Message] = []
        if kind is None and sentence.has(_OF_A_BAND):
            raise CircuitError(
                msg("This filter has one edge; a band-pass or band-stop has two."),
                advice=msg("Ask for a “band-pass filter” or a “notch filter” without naming this circuit."),
                error_type="unknown_circuit",
            )
        if kind is None:
            kind = rows.LOW_PASS
            notes.append(wording.KIND_ASSUMED)
        values: dict[str, Any] = {
            quantity.name: number(quantity, filled.values[quantity.name])
            for quantity in quantities
            if quantity.name in filled.values
        }
        values |= _frequencies(sentence, filled, kind, cutoff)
        if "tolerance" not in values and bands and values[cutoff]:
            values["tolerance"] = bands[0].value / values[cutoff]
        values |= {"kind": kind, "order": order_of(sentence)}
        stated = frozenset(name for name, value in values.items() if value is not None)
        values |= more(sentence, filled)
        values.setdefault("resistor_series", _resistor_series(sentence, filled))
        return kit.Said(values=values, stated=stated, notes=(*notes, *left_out(filled.unused)))

    return says


def _with_ripple(quantities: Sequence[kit.Quantity], filled: kit.Filled) -> kit.Filled:
    """Less than 3 dB for which no frequency is told are no attenuation, but what the pass band may lose; 3 dB
    are the cut-off, where that is told."""
    mention = filled.values.get("attenuation_db")
    decibels = abs(mention.middle) if mention is not None else math.inf
    if mention is None or "attenuation_hz" in filled.values or decibels > _HALF_POWER_DB + _ROUNDED:
        return filled
    values = {name: each for name, each in filled.values.items() if name != "attenuation_db"}
    places = [
        each.name for each in quantities if each.name in ("ripple_db", "loss_db") and each.name not in values
    ]
    if decibels < _HALF_POWER_DB - _ROUNDED and places:
        values[places[0]] = mention
    elif not any(each.dimension == "Hz" for each in values.values()):
        return filled
    return replace(filled, values=values)


def _filled(sentence: kit.Sentence, slots: Sequence[kit.Slot]) -> tuple[kit.Filled, list[kit.Mention]]:
    """The numbers by slot, and the widths of a band around a frequency (`1 kHz ± 20 Hz`)."""
    mentions = [m for m in sentence.mentions if not _defines_something_else(sentence, m)]
    bands = [m for m in mentions if m.is_tolerance and m.dimension == "Hz"]
    if not any(m.dimension == "dB" for m in mentions):
        slots = [slot for slot in slots if slot.name != "attenuation_hz"]
    return fill_slots(sentence, slots, [m for m in mentions if m not in bands]), bands


def _defines_something_else(sentence: kit.Sentence, mention: kit.Mention) -> bool:
    """Decibels that ask for no attenuation: the 3 dB of "-3 dB frequency", the 40 dB of "40 dB/decade"."""
    if any(m.start() - 1 <= mention.start < m.end() for m in _SLOPE.finditer(sentence.text)):
        return True
    return (
        mention.dimension == "dB"
        and math.isclose(abs(mention.value), _HALF_POWER_DB, abs_tol=_ROUNDED)
        and any(
            m.start() - 1 <= mention.start and mention.end <= m.end()
            for m in _THREE_DB_MARK.finditer(sentence.text)
        )
    )


def _frequencies(
    sentence: kit.Sentence, filled: kit.Filled, kind: str, cutoff: str
) -> dict[str, float | None]:
    """Cut-off, attenuation and where it is asked for; 3 dB of attenuation are the cut-off."""
    edge = _edge_of(sentence, filled.values.get(cutoff), is_upper=kind == rows.LOW_PASS)
    if edge is None:
        edge = _only_scaled_number(sentence, filled)
    decibels, hz = _attenuation(sentence, filled, kind, edge)
    if decibels is not None and abs(decibels - _HALF_POWER_DB) < _ROUNDED and edge in (None, hz):
        edge, decibels, hz = hz, None, None
    if edge is None and decibels is None:
        edge = _edge_of(sentence, filled.values.get("attenuation_hz"), is_upper=kind == rows.LOW_PASS)
    return {cutoff: edge, "attenuation_db": decibels, "attenuation_hz": hz}


def _only_scaled_number(sentence: kit.Sentence, filled: kit.Filled) -> float | None:
    """The 3.4k of "low-pass, order 5, 3.4k": the one number with a prefix and no unit that nothing names."""
    taken = set(filled.values.values())
    bare = [m for m in sentence.of("none") if m not in taken and re.search(r"[kM]$|meg$|千|兆", m.text)]
    has_frequency = bool(sentence.of("Hz") or sentence.of("s") or sentence.of("F") or sentence.of("H"))
    return bare[0].value if len(bare) == 1 and not has_frequency else None


def _edge_of(sentence: kit.Sentence, mention: kit.Mention | None, *, is_upper: bool) -> float | None:
    """A frequency; of a band ("pass band 0-3.4 kHz") the end next to the cut-off, of another range its
    middle."""
    if mention is None or mention.upper is None:
        return None if mention is None else mention.value
    if mention.value == 0 or _BAND_BEFORE.search(sentence.text[: mention.start]):
        return mention.upper if is_upper else mention.value
    return mention.middle


def _attenuation(
    sentence: kit.Sentence, filled: kit.Filled, kind: str, cutoff: float | None
) -> tuple[float | None, float | None]:
    decibels = filled.value("attenuation_db")
    frequency = _edge_of(sentence, filled.values.get("attenuation_hz"), is_upper=kind == rows.HIGH_PASS)
    if decibels is None:
        return None, None
    decibels = abs(decibels)
    if frequency is None:
        raise kit.missing_goal(
            msg(
                "An attenuation of {decibels} dB is requested, but no frequency for it.",
                decibels=f"{decibels:g}",
            ),
            msg(
                "Add the frequency, for example: at least {decibels} dB at 10 kHz.", decibels=f"{decibels:g}"
            ),
        )
    is_inside = cutoff is not None and (frequency <= cutoff if kind == rows.LOW_PASS else frequency >= cutoff)
    if is_inside and decibels > _HALF_POWER_DB + _ROUNDED / 2:
        at, edge = told_apart("Hz", frequency, cutoff or 0.0)
        raise impossible(
            msg(
                "{decibels} dB of attenuation at {frequency} is inside the pass band (cut-off {cutoff}).",
                decibels=f"{decibels:g}",
                frequency=at,
                cutoff=edge,
            ),
            msg(
                "A low-pass attenuates above its cut-off, a high-pass below: change one of the two "
                "frequencies."
            ),
        )
    return decibels, frequency


def _resistor_series(sentence: kit.Sentence, filled: kit.Filled) -> kit.SeriesName:
    named = re.search(r"(?<![a-z0-9])E(6|12|24|48|96|192)(?!\d)", sentence.text, re.IGNORECASE)
    if named:
        names: dict[str, kit.SeriesName] = {
            "6": "E6", "12": "E12", "24": "E24", "48": "E48", "96": "E96", "192": "E192",
        }  # fmt: skip
        return names[named[1]]
    grade = filled.value("resistor_grade")
    if grade is None or 0.005 <= grade < 0.02:
        return "E96"
    return "E24" if grade >= 0.02 else "E192"
