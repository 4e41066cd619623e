"""What circuits whose behaviour over temperature counts share: the range, its sweep, the drift over it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from domain.design import kit
from domain.design.kit import left_out, read_quantities, spice
from shared.message import msg

NOMINAL_C = "27"
"""Degrees Celsius where values are compared: ngspice's own temperature."""

_DEGREES = r"(?:°c|摄氏度|度|deg(?:rees?)?(?: c(?:elsius)?)?|c(?![a-z]))"
_RANGE = re.compile(
    rf"([-+]?\d+)\s*{_DEGREES}?\s*(?:to|and|到|至|和|~|-|\.{{2,3}})\s*([-+]?\d+)\s*{_DEGREES}", re.IGNORECASE
)
_BARE_RANGE = re.compile(
    r"(?:(?:temperature|温度)[^\d,;。+-]{0,8}|(?<![\d.a-z])(?=-))([-+]?\d+)\s*(?:to|and|到|至|和|~|-)\s*"
    r"\+?(\d+)(?![\d.]|\s?[a-z%])",
    re.IGNORECASE,
)
"""Without a unit, by the word in front or by what lies below zero."""
LOWEST = kit.Quantity(
    name="lowest_c", label=msg("minimum temperature"), dimensions=("degC",), words="(?!)", within=(-55, 20),
    example=-40, default=-40.0,
)  # fmt: skip
HIGHEST = kit.Quantity(
    name="highest_c", label=msg("maximum temperature"), dimensions=("degC",), words="(?!)", within=(35, 150),
    example=125, default=125.0,
)  # fmt: skip


def says_temperatures(sentence: kit.Sentence, quantities: Sequence[kit.Quantity]) -> kit.Said:
    """The range of temperature ("-40 to 85 °C", "0到70度") by its form, everything else by its words."""
    span = _RANGE.search(sentence.text) or _BARE_RANGE.search(sentence.text)
    if span is not None:
        outside = tuple(each for each in sentence.mentions if not span.start() <= each.start < span.end())
        sentence = replace(sentence, mentions=outside, links=())
    found, unused = read_quantities(tuple(quantities), sentence)
    if span is None:
        return kit.Said(values=found, stated=frozenset(found), notes=left_out(unused))
    found |= dict(
        zip((LOWEST.name, HIGHEST.name), sorted(float(each) for each in span.groups()), strict=True)
    )
    return kit.Said(values=found, stated=frozenset(found), notes=left_out(unused))


def drift(request: kit.Request, voltage: str) -> str:
    """Box method: extremes' distance over the range and the value at 27 degrees Celsius, ppm/K."""
    width = request[HIGHEST.name] - request[LOWEST.name]
    return f"1e6*pp({voltage})/{width:g}/at({voltage},{NOMINAL_C})"


def sweep(request: kit.Request, _sized: kit.Sized, _goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    """The `.dc` card over the temperature, a degree a step."""
    return (f".dc temp {spice(request[LOWEST.name])} {spice(request[HIGHEST.name])} 1",)
