"""Figures with units in a text that people or models wrote, in English or Chinese.

``19.2 dB``, ``1.05kHz``, ``1.2e3 Hz``, ``3×10^3 Hz``, ``12 毫伏``, ``2 Vpp``, ``980–1020 Hz``
(both have the unit).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shared.late_patterns import late_pattern

_PLAIN = str.maketrans(
    {
        **{chr(0xFF01 + place): chr(0x21 + place) for place in range(94)},  # full-width ASCII
        "\ufe50": "，",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ",
        "−": "-", "–": "-", "—": "-", "～": "~", "×": "*", "·": "*", "µ": "u", "μ": "u", "\u2126": "Ω",
    }
)  # fmt: skip
"""One character for one: places in the plain text are those of the text."""
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

_SCALES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "meg": 1e6,
    "G": 1e9, "T": 1e12, "pico": 1e-12, "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "kilo": 1e3,
    "mega": 1e6, "giga": 1e9,
    "飞": 1e-15, "皮": 1e-12, "纳": 1e-9, "微": 1e-6, "毫": 1e-3, "千": 1e3, "万": 1e4, "兆": 1e6, "吉": 1e9,
}  # fmt: skip
_UNITS = {
    name: unit
    for unit, names in {
        "Hz": "hz hertz 赫兹 赫",
        "V": "v volt volts 伏特 伏",
        "A": "a amp amps 安培 安",
        "W": "w watt watts 瓦特 瓦",
        "Ohm": "ω ohm ohms 欧姆 欧",
        "F": "f farad farads 法拉 法",
        "H": "h henry 亨利 亨",
        "s": "s sec second seconds 秒",
        "S": "siemens 西门子 西",
        "dB": "db 分贝",
        "deg": "° deg degree degrees 度",
        "degC": "°c ℃ 摄氏度",
        "%": "% percent",
        "1": "v/v 倍",
    }.items()
    for name in names.split()
}
_NUMBER = (
    r"10\^[-+]?\d{1,3}|(?:\d{1,3}(?:,\d{3})+|[1-9]\d{0,2}(?: \d{3})+(?= ?[V倍HΩA])|\d+)?(?:(?<=\d)\.\d+"
    r"|(?<![\d.])\.\d+|(?<=\d))"
    r"(?:[eE][-+]?\d{1,3}|\s?\*\s?10(?:\s?(?:\^|\*\*)\s?\(?[-+]?\d{1,3}\)?|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))?"
)
_UNIT = (
    r"(?:(?P<prefix>[Mm]eg|MEG|[fpnumkKMGT]|[飞皮纳微毫千兆吉万]|pico|nano|micro|milli|kilo|mega|giga)?"
    r"(?P<unit>[Hh][Zz]|HZ|hertz|赫兹?|V/V|[Vv]olts?|V|伏特?|amps?|A|安培?|[Ww]atts?|W|瓦特?|[Oo]hms?|Ω|欧姆?"
    r"|farads?|F|法拉?|henry|H|亨利?|seconds?|sec|s|秒|siemens|(?<![A-Z])S|西门子|d[Bb]|D[Bb]|分贝|°\s?C"
    r"|℃|摄氏度|degrees?|deg|°|度"
    r"|percent|%|倍)(?:(?<=[VA])(?:pp|PP|p-p|rms|RMS|pk)|(?<=dB)(?:V|c)(?![a-z]))?)"
    r"(?![A-Za-z0-9_²^Ω]|=[-+.\d])"  # "vpk=513 ps=1.29": the next name
)
_FIGURE = late_pattern(
    rf"(?<![A-Za-z\d_.^])(?P<percent>百分之\s?)?(?P<sign>[-+±](?=[\d.]))?(?P<number>{_NUMBER})"
    rf"(?:\s?-?{_UNIT})?"
)
_PER = late_pattern(
    r"\s?(?:/|\bper\b|每)\s?(?P<root>√\s?Hz|sqrt\(Hz\)|rt\s?Hz|Hz\^0?\.5)?(?P<time>[mun]?s\b)?"
)
_SIGNED = late_pattern(r"[-+±]\Z")
_RANGE = late_pattern(r"\s?(?:-|~|/|至|到|和|与|或|→|->|…|\.\.\.?|\bto\b|\band\b|\bor\b|,)\s?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFigure:
    """One figure of a text."""

    text: str
    """As it was written, with its unit."""
    value: float
    """SI; a percentage is 100 times the fraction."""
    unit: str
    """As in `domain.simulation.units`; "%" for percent, "1" for times, "?" for a compound nobody measures."""
    step: float
    """What one unit of its last digit is worth, SI."""
    digits: int
    """How many significant digits were written."""
    start: int
    end: int


_CODE = late_pattern(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)", re.DOTALL)


def without_code(text: str) -> str:
    """Fenced blocks as blanks, so that places stay."""
    return _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


_BETWEEN_DIGITS = late_pattern(r"(?<=\d)，(?=\d)")
"""It ends a clause; a plain one may part thousands."""


def plain(text: str) -> str:
    """The text with plain forms of digits, signs and prefixes, each character in its place."""
    return _BETWEEN_DIGITS.sub("\ufe50", text).translate(_PLAIN)


def _unit_named(written: str) -> str:
    return "S" if written == "S" else _UNITS[written.replace(" ", "").lower()]


def unit_name(unit: str) -> str:
    """A unit as goals write it, in the form of `domain.simulation.units`: "Ω" is "Ohm", "°" is "deg"."""
    return unit if unit == "S" else _UNITS.get(plain(unit).strip().lower(), unit)


_SHORT = 2_000
"""A text up to this length is remembered with its figures: an answer is held against the same lines of
results hundreds of times."""


def figures_in(text: str) -> Iterator[TextFigure]:
    """The figures that have a unit, in their order. Linear in the text."""
    return iter(_of_short(text)) if len(text) <= _SHORT else _figures_of(text)


@lru_cache(1024)
def _of_short(text: str) -> tuple[TextFigure, ...]:
    return tuple(_figures_of(text))


def _figures_of(text: str) -> Iterator[TextFigure]:
    flat = plain(text)
    waiting: list[tuple[int, int, str]] = []
    for found in _FIGURE.finditer(flat):
        span = (found.start("number"), found.end("number"), found["number"])
        if found["unit"] is None and not found["percent"]:
            waiting.append(span)
            continue
        scale, unit, end = _unit_of(found, flat)
        ahead = _in_one_range(waiting, span[0], flat)
        waiting = []
        for start, stop, number in (*ahead, (span[0], end, span[2])):
            first = found.start() if start == span[0] else start
            figure = _figure(text, (first, stop), number, scale, unit)
            if math.isfinite(figure.value):
                yield figure


_WORDS = {
    word: value
    for value, words in {
        0: "zero", 1: "one a an", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen",
        15: "fifteen",
        16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty", 30: "thirty",
        40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety",
    }.items()
    for word in words.split()
}  # fmt: skip
_POWERS = {
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
    "十": 10,
    "百": 100,
    "千": 1000,
    "万": 10_000,
}
_DIGITS = {digit: place % 10 for place, digit in enumerate("零一二三四五六七八九〇")} | {"两": 2}
_IN_WORDS = late_pattern(
    rf"\b(?P<english>(?:(?:{'|'.join(_WORDS)}|hundred|thousand|million|and|point)[ -]){{1,12}})"
    r"(?P<prefix>pico|nano|micro|milli|kilo|mega|giga)?-?(?P<unit>hertz|volts?|amps?|amperes?|ohms?"
    r"|watts?|seconds?"
    r"|farads?|decibels?|degrees?|percent)\b"
    r"|(?P<percent>百分之)?(?P<chinese>[零一二两三四五六七八九〇十百千万]{1,9}(?:点[零一二三四五六七八九〇]{1,6})?)"
    r"(?P<scale>[飞皮纳微毫千兆吉])?(?P<one>赫兹?|伏特?|安培?|欧姆?|瓦特?|分贝|法拉?)?",
    re.IGNORECASE,
)
_LONG_UNITS = {"amperes": "A", "ampere": "A", "decibels": "dB", "decibel": "dB"}


def figures_in_words(text: str) -> Iterator[TextFigure]:
    """The figures whose number is a word: ``a hundred and five hertz``, ``四十五分贝``, ``百分之八``."""
    for found in _IN_WORDS.finditer(plain(text)):
        english = (found["english"] or "").lower()
        unit = (found["unit"] or found["one"] or "").lower()
        if not unit and not found["percent"]:
            continue
        number = _number_in_english(english) if english else _number_in_chinese(found["chinese"])
        if not number or english.strip() in ("a", "an", "and", "one"):
            continue
        scale = _SCALES.get((found["prefix"] or found["scale"] or "").lower(), 1.0)
        step = 1.0
        while step < number and number % (10 * step) == 0:
            step *= 10
        if number % 1:
            step = 0.1
        yield TextFigure(
            text=found[0],
            value=number * scale,
            unit="%" if found["percent"] else _LONG_UNITS.get(unit) or _UNITS[unit],
            step=step * scale,
            digits=len(f"{number:g}".rstrip("0").replace(".", "")),
            start=found.start(),
            end=found.end(),
        )


def _number_in_english(words: str) -> float:
    whole, _, decimals = re.sub(r"[ -]+", " ", words).partition("point ")
    total = part = 0.0
    for word in whole.split():
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _POWERS:
            total, part = total + (part or 1) * _POWERS[word], 0.0
        else:
            part += _WORDS.get(word, 0)
    digits = "".join(str(_WORDS[each]) for each in decimals.split() if each in _WORDS)
    return total + part + (float(f"0.{digits}") if digits else 0.0)


def _number_in_chinese(run: str) -> float:
    whole, _, decimals = run.partition("点")
    total = part = digit = 0.0
    for each in whole:
        if each == "万":
            total, part, digit = (total + part + digit) * 10_000, 0.0, 0.0
        elif each in _POWERS:
            part, digit = part + (digit or 1) * _POWERS[each], 0.0
        else:
            digit = 10 * digit + _DIGITS[each]
    digits = "".join(str(_DIGITS[each]) for each in decimals)
    return total + part + digit + (float(f"0.{digits}") if digits else 0.0)


def _in_one_range(waiting: list[tuple[int, int, str]], start: int, flat: str) -> list[tuple[int, int, str]]:
    """The numbers right before a figure that share its unit: ``980`` of ``980–1020 Hz``."""
    kept: list[tuple[int, int, str]] = []
    for each in reversed(waiting[-3:]):
        between = flat[each[1] : start]
        if "," in between and between.rstrip("+-±") != between and not _SIGNED.search(flat, 0, each[0]):
            break  # "Q = 6.5, -3 dB at 10 kHz": two things
        if len(between) > 5 or not _RANGE.fullmatch(between.rstrip("+-±") or between):
            break
        kept.insert(0, each)
        start = each[0]
    return kept


def _unit_of(found: re.Match[str], flat: str) -> tuple[float, str, int]:
    if found["percent"]:
        return 1.0, "%", found.end()
    prefix, unit = found["prefix"] or "", _unit_named(found["unit"])
    scale = _SCALES.get(prefix, _SCALES.get(prefix.lower(), 1.0))
    if unit == "Hz" and prefix == "m":  # nobody writes of millihertz: "mhz" is MHz
        scale = 1e6
    if unit == "1" and prefix:
        return scale, "?", found.end()  # "25 mV/V"
    per = _PER.match(flat, found.end()) if unit != "1" else None
    if per is None:
        return scale, unit, found.end()
    if per["root"]:
        return scale, f"{unit}/sqrt(Hz)", per.end()
    if per["time"]:
        return scale / _SCALES.get(per["time"][:-1], 1.0), f"{unit}/s", per.end()
    # "12 V/2 A" are two figures, "20 dB/decade" is a slope
    rest = flat[per.end() : per.end() + 1]
    return (scale, "?", per.end()) if rest.strip(" √(") and not rest.isdigit() else (scale, unit, found.end())


def _figure(text: str, span: tuple[int, int], number: str, scale: float, unit: str) -> TextFigure:
    written = number.replace(",", "").replace(" ", "")
    power = 0
    if written.startswith("10^"):
        written = f"1e{written[3:]}"
    elif "*" in written:
        written, _, tail = written.partition("*")
        power = int(tail.translate(_SUPERSCRIPTS).removeprefix("10").lstrip("*^(").rstrip(")") or "0")
    mantissa, _, exponent = written.lower().partition("e")
    power += int(exponent or "0")
    whole, _, decimals = mantissa.partition(".")
    power = max(-300, min(300, power))
    return TextFigure(
        text=text[span[0] : span[1]].strip(),
        value=float(mantissa) * 10.0**power * scale,
        unit=unit,
        step=10.0 ** (power - len(decimals)) * scale,
        digits=len((whole + decimals).lstrip("0")),
        start=span[0],
        end=span[1],
    )
