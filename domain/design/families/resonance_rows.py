"""What band-pass and notch filters share: the center, and Q or the width that says the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from domain.design import kit
from domain.design.families.filter_rows import LETS_HIGHS_THROUGH, LETS_LOWS_THROUGH
from domain.design.kit import (
    around,
    best_pair,
    fill_slots,
    impossible,
    left_out,
    number,
    refuse_doubled,
    values_between,
    with_unit,
)
from shared.errors import CircuitError
from shared.message import msg

CENTER = kit.Quantity(
    name="center_hz", label=msg("center frequency"), dimensions=("Hz",), takes_rest=True, within=(0.1, 300e3),
    example=1e3, required=True, weak=r"(?<![a-z])at(?![a-z])|@|在",
    words=(
        r"cent(?:er|re)(?: frequency)?|(?<![a-z])f_?[0cr](?![a-z\d])|resonan\w*|tuned to|"
        r"notch(?: frequency)?(?: at)?|"
        r"hum|中心(?:频率)?|谐振(?:频率)?|陷波(?:频率|点)?|(?:工频|抑制|滤除|去除)|频率"
    ),
)  # fmt: skip
WIDTH = kit.Quantity(
    name="width_hz", label=msg("bandwidth"), dimensions=("Hz",), within=(1e-3, 300e3), example=200,
    words=r"band[\s-]?width|(?<![a-z])bw(?![a-z])|wide|width|带宽|通带宽度|阻带宽度",
)  # fmt: skip
QUALITY = kit.Quantity(
    name="quality", label=msg("Q"), dimensions=("none", "x"), within=(0.5, 15), example=5, default=5.0,
    takes_rest=False, words=r"(?<![a-z])q(?:uality(?: factor)?)?(?:[\s-]?factor|值)?(?![a-z])|品质因数",
)  # fmt: skip
CENTER_GOAL = kit.GoalRow(
    metric="center", label=msg("Center frequency"), unit="Hz", quantity="center_hz",
    expression="sqrt(lowcut(v(out))*highcut(v(out)))",
)  # fmt: skip
QUALITY_GOAL = kit.GoalRow(
    metric="quality", label=msg("Q"), unit="1", quantity="quality",
    expression="q(v(out))",
    bounds=lambda request: around(request["quality"], max(0.1, request["tolerance"])),
)  # fmt: skip


def capacitor_and_resistor(product: float, middle: float) -> tuple[float, float]:
    """C (F) of E12 within three times `middle` and R (Ohm) of E96 whose product (s) comes nearest."""
    return best_pair(
        values_between(middle / 3, 3 * middle, "E12"),
        lambda each: product / each,
        "E96",
        lambda one, two: abs(math.log(one * two / product)) + 1e-4 * abs(math.log(one / middle)),
    )


OTHER_BANDS = (
    r"(?<![\d.])(?:50|75)\s?(?:ohms?|Ω|ω|欧)|notch|band[\s-]?(?:stop|reject)|陷波|带阻|(?<![a-z])lc(?![a-z])|ladder|"
    r"梯形|passive|无源|state[\s-]?variable|状态变量|bi[\s-]?quad|双二|khn|tow[\s-]?thomas|托马斯|universal|"
    r"crystal|晶体|saw|cheb|切比雪夫"
)
"""Words of band-pass filters that are made of other parts."""
_BOTH_EDGES = re.compile(r"\s*(?:and|&|和|与|、)\s*", re.IGNORECASE)


def says_resonance(quantities: Sequence[kit.Quantity]) -> Callable[[kit.Sentence], kit.Said]:
    """A band (1 kHz to 10 kHz) is its center, in the logarithm, and its width; the rest by its words."""

    def says(sentence: kit.Sentence) -> kit.Said:
        band = _band(sentence)
        rest = [mention for mention in sentence.mentions if band is None or mention not in band[1]]
        filled = fill_slots(sentence, quantities, rest)
        refuse_doubled(quantities, filled)
        values = {
            quantity.name: number(quantity, filled.values[quantity.name])
            for quantity in quantities
            if quantity.name in filled.values
        }
        if band is not None:
            low, high = band[0]
            values |= {CENTER.name: math.sqrt(low * high), WIDTH.name: high - low}
        return kit.Said(values=values, stated=frozenset(values), notes=left_out(filled.unused))

    return says


def _band(sentence: kit.Sentence) -> tuple[tuple[float, float], tuple[kit.Mention, ...]] | None:
    """The first range of frequencies, and the mentions that say it."""
    for mention in sentence.of("Hz"):
        if mention.upper is not None:
            return (mention.value, mention.upper), (mention,)
    for index, _ in sentence.links:
        pair = sentence.mentions[index : index + 2]
        low, high = sorted(each.value for each in pair)
        if all(each.dimension == "Hz" for each in pair) and low < high:
            return (low, high), tuple(pair)
    for first, second in pairwise(sentence.of("Hz")):
        if _BOTH_EDGES.fullmatch(sentence.text, first.end, second.start) and first.value < second.value:
            return (first.value, second.value), (first, second)
    return None


def edges(sentence: kit.Sentence) -> tuple[tuple[float, float], tuple[kit.Mention, ...]] | None:
    """The edges of a band, also as those of a high-pass and a low-pass, and the mentions that say them."""
    if (band := _band(sentence)) is not None:
        return band
    hertz = sentence.of("Hz")
    has_both = sentence.has(LETS_LOWS_THROUGH) and sentence.has(LETS_HIGHS_THROUGH)
    if len(hertz) != 2 or not has_both:
        return None
    low, high = sorted(each.middle for each in hertz)
    return ((low, high), tuple(hertz)) if low < high else None


def is_wide(sentence: kit.Sentence) -> bool:
    """Whether a band is wider than one resonance makes it."""
    band = edges(sentence)
    if band is None or not band[0][0] > 0:
        return False
    low, high = band[0]
    return math.sqrt(low * high) / (high - low) < QUALITY.within[0]


def complete_resonance(
    request: kit.Request, within: tuple[float, float] = QUALITY.within, *, passes: bool = True
) -> kit.Said:
    """Q from the width. Raises CircuitError for a width whose Q is not `within`; the band `passes` or is
    stopped."""
    center, width, quality = request["center_hz"], request["width_hz"], request["quality"]
    if center is None or width is None or quality is not None:
        return kit.Said(values={})
    least, most = within
    if not least <= center / width <= most:
        raise _width_beyond(center, width, (center / most, center / least), passes=passes)
    return kit.Said(values={"quality": center / width}, stated=frozenset({"quality"}))


def _width_beyond(center: float, width: float, limits: tuple[float, float], *, passes: bool) -> CircuitError:
    """In the words of who asked for a bandwidth, with the way to one that is wider."""
    given, low, high, middle = (with_unit(each, "Hz", 4) for each in (width, *limits, center))
    message = msg(
        "A bandwidth of {given} around {center} is out of range ({low} to {high}).",
        given=given, center=middle, low=low, high=high,
    )  # fmt: skip
    if width < limits[0] or not passes:
        return impossible(message, msg("Widen the band.") if width < limits[0] else msg("Narrow the band."))
    half = width / 2
    lower, upper = (with_unit(math.hypot(center, half) + side * half, "Hz", 4) for side in (-1, 1))
    return impossible(
        message,
        msg(
            "Narrow the band. For a wider one ask for an active band-pass from {lower} to {upper}.",
            lower=lower,
            upper=upper,
        ),
    )
