"""What CMOS logic shares: delay, load, supply, a pulse's levels, and a count said in words.

tp = alpha C / (KP W/L VDD) with alpha = 2 / (7/4 - 3 VT/VDD + (VT/VDD)^2); a PMOS is wider by the ratio of
the KP. Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 14.2 to 14.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from domain.design import kit
from domain.design.families.differential_pair import LOAD_FARAD
from domain.design.families.transistor_rows import SUPPLY_V
from domain.design.kit import left_out, read_quantities, spice
from domain.design.mosfet import KP, KP_P, LENGTH_M, THRESHOLD_V
from shared.message import msg

WIDER_P = KP / KP_P
MOST_RATIO = 2000.0
LEVEL = 0.1
"""Of the supply: how far the levels may stand inside it."""
DELAY_LABEL = msg("propagation delay")
DELAY = kit.Quantity(
    name="delay_s", label=DELAY_LABEL, dimensions=("s",), takes_rest=True, limit="at_most",
    words=r"delay|propagation|t_?p(?:d|hl|lh)?(?![a-z])|延迟|延时", example=10e-9, default=20e-9,
    within=(0.5e-9, 1e-4),
)  # fmt: skip
GATE_LOAD = replace(LOAD_FARAD, default=1e-12)
LOGIC_SUPPLY = replace(SUPPLY_V, within=(2.5, 20), default=5.0, example=5)
_GATE_FARAD = 3.45e-11 / 20e-9 * LENGTH_M**2
_OVERLAP_FARAD = 0.3e-9 * LENGTH_M
"""Of a transistor with W/L = 1."""
_NUMBERS = {
    "dual": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11,
    "双": 2, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip


def alpha(supply_v: float) -> float:
    share = THRESHOLD_V / supply_v
    return float(2 / (7 / 4 - 3 * share + share**2))


def gate_farad(n_ratio: float, p_ratio: float) -> float:
    """Of an input: channels and the overlaps, the drain's as both of its ends move."""
    return (n_ratio + p_ratio) * (_GATE_FARAD + 3 * _OVERLAP_FARAD)


def drain_farad(ratio: float) -> float:
    """Of a drain, its overlap seen from a gate that moves the other way."""
    return 2 * ratio * _OVERLAP_FARAD


def count_of(text: str, of: str) -> float | None:
    """How many of something (`of`, a pattern) a text speaks of first: "three sensors", "六颗"."""
    words = "|".join(sorted(_NUMBERS, key=len, reverse=True))
    found = re.search(rf"(?<![\d.a-z])(?P<n>\d+(?![\d.])|{words})(?:{of})", text, re.IGNORECASE)
    if found is None:
        return None
    said = found["n"].lower()
    return float(_NUMBERS[said] if said in _NUMBERS else int(said))


def counted(quantities: tuple[kit.Quantity, ...], name: str, of: str) -> Callable[[kit.Sentence], kit.Said]:
    """The `says` of a family with a number of things (`of`, a pattern): "3-stage", "five stages", "三级"."""
    words = "|".join(sorted(_NUMBERS, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\d.])(?P<n>\d+|{words})[\s-]?(?:个|只)?(?:{of})", re.IGNORECASE)

    def says(sentence: kit.Sentence) -> kit.Said:
        found = pattern.search(sentence.text)
        if found is None:
            values, unused = read_quantities(quantities, sentence)
            return kit.Said(values=values, stated=frozenset(values), notes=left_out(unused))
        start, end = found.span()
        rest = tuple(each for each in sentence.mentions if not start <= each.start < end)
        values, unused = read_quantities(quantities, replace(sentence, mentions=rest, links=()))
        text = found["n"].lower()
        values[name] = float(_NUMBERS[text] if text in _NUMBERS else int(text))
        return kit.Said(values=values, stated=frozenset(values), notes=left_out(unused))

    return says


def delay_goal(
    metric: str, node: Callable[[kit.Request], str], edge: Callable[[kit.Request], int]
) -> kit.GoalRow:
    """From the input's passing of the middle to the output's: `edge` gives the output's number of it."""
    labels = {"fall_delay": msg("Delay, falling"), "rise_delay": msg("Delay, rising")}

    def expression(request: kit.Request) -> str:
        half, own = spice(request["supply_v"] / 2), 2 - edge(request) % 2
        return f"cross(v(out),{half},{edge(request)})-cross(v({node(request)}),{half},{own})"

    return kit.GoalRow(
        metric=metric, label=labels[metric], unit="s", quantity="delay_s", expression=expression,
    )  # fmt: skip


def level_goal(
    metric: str,
    place: Callable[[kit.Request], float],
    number: int = 0,
    when: Callable[[kit.Request], bool] = lambda _request: True,
) -> kit.GoalRow:
    """The output at a time: low or high by the metric's first letter; `number`: the input that makes it."""
    is_low = metric.startswith("low")
    label = msg("Low level") if is_low else msg("High level")
    if number:
        label = (
            msg("Low level by input {number}", number=number)
            if is_low
            else msg("High level by input {number}", number=number)
        )
    return kit.GoalRow(
        metric=f"{metric}_{number}" if number else metric, label=label, unit="V",
        expression=lambda request: f"at(v(out),{spice(place(request))})",
        bounds=lambda request: (
            kit.Bounds(maximum=LEVEL * request["supply_v"])
            if is_low
            else kit.Bounds(minimum=(1 - LEVEL) * request["supply_v"])
        ),
        when=when,
    )  # fmt: skip
