"""Two figures that an answer gives as start and end of one change: "from 7.6 V to 5.5 V", "28 → 31 mV".

What it says of the change itself, its way and its size, then follows from the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.circuit.figures_in_text import TextFigure, figures_in
from domain.circuit.said_figures import is_rounding
from shared.late_patterns import late_pattern

_NEAR = 28
_BEHIND = 40
"""How far behind the two the size of the change may stand."""
_ARROW = late_pattern(r"[\s*_`]*(?:->|=>|→|⟶|-->)[\s*_`约~≈]*")
_TO = late_pattern(r"[^,，;；。:：()（）\d]{0,16}?(?:\bto\b|->|→|[到至为成])(?: (?:about|some))?[\s*约]*")
_FROM = late_pattern(r"(?:\bfrom|从|由|原来的?|自)[\s*]?(?:about |around |约)?[\s*]*$")
_OUT_OF = late_pattern(r"[\s*]*,? ?(?:\bfrom\b|\bcompared (?:to|with)\b)(?: about| around)?[\s*]*")
_GOAL = late_pattern(r"(?:\bto|[到至])(?: (?:about|around))?[\s*约]*$")
_SIZE = late_pattern(
    r"\W{0,4}(?:(?:\b(?:a|an|i\.?e\.?|which is|so|it|by|up|down|reduced|increased|dropp?ed|fell|rose"
    r"|about|roughly|some"
    r"|approximately|nearly|around|that is|change of|drop of|reduction of|increase of|improvement of"
    r"|decrease of)\b"
    r"|即|也就是|下降|上升|降低|降幅|升幅|提高|提升|增加|增大|减少|减小|缩小|改善|变化|加深|幅度|了|约为?"
    r"|大约|近|达|为)\W{0,3}){1,6}"
)
_OF_OTHER = late_pattern(
    r"\W{0,3}(?:of|below|above|under|over|short|off|away|from|lower|higher|less|more|低|高|的)", re.IGNORECASE
)
"""It is told of something else."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Where something began, and where it ended."""

    first: TextFigure
    second: TextFigure

    @property
    def start(self) -> int:
        return min(self.first.start, self.second.start)

    @property
    def end(self) -> int:
        return max(self.first.end, self.second.end)


def pairs_in(flat: str, figures: Sequence[TextFigure]) -> Iterator[Pair]:
    """The pairs among the figures of a text in plain form. A range ("10 to 20 V") is none."""
    for one, other in pairwise(figures):
        between = flat[one.end : other.start]
        if one.unit != other.unit or one.value == other.value or len(between) > _NEAR:
            continue
        before = flat[max(0, one.start - _NEAR) : one.start]
        if _ARROW.fullmatch(between) or (_FROM.search(before) and _TO.fullmatch(between)):
            yield Pair(one, other)
        elif _GOAL.search(before) and _OUT_OF.fullmatch(between):
            yield Pair(other, one)


_OFF = 0.06


_POINT = r"(?:[^,，;；。:：()（）\n]{0,24}?(?:时的?|处的?|下的?)\s?)?"
_BARE = r"(?<![\d.\w])(?P<{0}>\d+\.\d+|\d+)(?![\d.]|\s?[A-Za-zΩµ°%‰])"
_BARE_PAIR = late_pattern(
    rf"(?:\bfrom\b|从|由)\s?{_POINT}{_BARE.format('first')}(?: at [^,;.()\n]{{1,16}})?\s?"
    rf"(?:\bto\b|->|→|[^,，;；。:：()\n\d]{{0,6}}?[到至为成])\s?{_POINT}{_BARE.format('second')}"
    r"(?: at [^,;.()\n]{1,16})?",
    re.IGNORECASE,
)


def shares_of_bare_pairs(flat: str, figures: Sequence[TextFigure]) -> Iterator[tuple[int, TextFigure, float]]:
    """Where two figures without a unit begin, the percentage told behind them, and the one it has to be.

    "从 0.991 降到 0.936，降低了 5.5 %".
    """
    for pair in _BARE_PAIR.finditer(flat):
        first, second = float(pair["first"]), float(pair["second"])
        size = next((each for each in figures if each.start >= pair.end()), None)
        if size is None or size.unit != "%" or not first or size.start - pair.end() > _BEHIND:
            continue
        if _SIZE.fullmatch(flat[pair.end() : size.start]) and not _OF_OTHER.match(flat, size.end):
            yield pair.start(), size, 100 * abs(second / first - 1)


def wrong_sizes(flat: str, figures: Sequence[TextFigure]) -> Iterator[str]:
    """Where the size of a change is told behind a pair, and isn't that of the two."""
    for start, told, share in shares_of_bare_pairs(flat, figures):
        if not is_rounding(told, share, is_rough=True) and abs(told.value - share) > _OFF * share + told.step:
            yield flat[start : told.end]
    pairs = {pair.end: pair for pair in pairs_in(flat, figures)}
    for one, size in pairwise(figures):
        pair = pairs.get(one.end)
        if pair is None or size.start - one.end > _BEHIND:
            continue
        if not _SIZE.fullmatch(flat[one.end : size.start]) or _OF_OTHER.match(flat, size.end):
            continue
        begin, end = abs(pair.first.value), abs(pair.second.value)
        low, high = sorted((begin, end))
        if not low:
            continue
        if size.unit == pair.first.unit:
            if size.value > high:
                continue  # it is of something else: "from 512 V to 431 V, so an 800 V type"
            sizes = [high - low, *([100 * (high - low) / begin] if size.unit == "%" else ())]
        elif size.unit not in ("%", "1") or pair.first.unit in ("dB", "deg", "degC", "%"):
            continue  # as a factor it may be told of one of them
        else:
            sizes = (
                [100 * abs(end / begin - 1)]
                if size.unit == "%"
                else [high / low, low / high, end / begin - 1]
            )
        # The two may be rounded themselves: so far their difference may be off.
        slack = (pair.first.step + pair.second.step) / 2
        if size.unit != pair.first.unit:
            slack *= (100 if size.unit == "%" else 1) / low * (high / low)
        if not any(
            is_rounding(size, value, is_rough=True) or abs(abs(size.value) - value) <= slack + size.step / 2
            for value in sizes
        ):
            yield flat[pair.start : size.end]


_ARRIVES = late_pattern(
    r"(?:\bfrom|从|由)\s?(?P<start>[^。；;,，:：\n]{1,40}?)\s?(?:\bto\b|->|→|到|至|为|成)(?: (?:about"
    r"|some))?[约\s]*$",
    re.IGNORECASE,
)


def came_from(before: str) -> int | None:
    """Where "from 42 dB to" begins that stands right before a figure."""
    found = _ARRIVES.search(before)
    return None if found is None or not any(figures_in(found["start"])) else found.start()
