"""Rows every declared filter shares: kind, cut-off, order, attenuation at a frequency, tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from domain.design.deck import spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Bounds,
    Choice,
    GoalRow,
    Option,
    Quantity,
    Request,
    Said,
    Sized,
    around,
)
from domain.design.engine.reading import number
from domain.design.families.filter_requests import (
    COMMON_SLOTS,
    LABELS,
    LETS_HIGHS_THROUGH,
    LETS_LOWS_THROUGH,
    frequencies_in,
    order_of,
    read_filter,
)
from domain.design.prototypes import attenuation_db, prototype, ripple_edge
from domain.design.sentence import Sentence
from domain.design.understanding import Filled, left_out
from domain.simulation.goals import DesignGoal
from shared.message import msg

LOW_PASS, HIGH_PASS = "lowpass", "highpass"
KIND = Choice(
    name="kind",
    label=msg("kind of filter"),
    options=(
        Option(key=LOW_PASS, label=msg("low-pass"), words=LETS_LOWS_THROUGH),
        Option(key=HIGH_PASS, label=msg("high-pass"), words=LETS_HIGHS_THROUGH),
    ),
)
RESPONSE = Choice(
    name="response",
    label=msg("response"),
    options=(
        Option(
            key="butterworth", label=msg("Butterworth"), words=r"butterw|巴特沃|maximally flat|最(?:大)?平坦"
        ),
        Option(
            key="chebyshev", label=msg("Chebyshev"), words=r"cheb[iy]|tscheb|[切契]比雪夫|ripple|纹波|波纹"
        ),
    ),
)
PARTS = Choice(
    name="parts",
    label=msg("part values"),
    is_told=False,
    options=(
        Option(key="E24", label=msg("{series} values", series="E24"), words=r"(?<![a-z0-9])e24(?!\d)"),
        Option(key="E96", label=msg("{series} values", series="E96"), words=r"(?<![a-z0-9])e96(?!\d)"),
        Option(key="exact", label=msg("exact values"), words=r"exact|精确(?:值|元件)|理想(?:值|元件)"),
    ),
)
CUTOFF_AT = Choice(
    name="cutoff_at",
    label=msg("cut-off"),
    is_told=False,
    options=(
        Option(key="half_power", label=msg("half-power point"), words=r"(?<![\d.])3(?:\.01)?\s?db"),
        Option(
            key="edge",
            label=msg("ripple edge"),
            words=r"(?:ripple|pass[\s-]?band) (?:edge|up to)|通带(?:边缘|截止|频率)|[纹波]{2}(?:边缘|带宽)",
        ),
    ),
)
LOSS = Quantity(
    name="loss_db", label=msg("pass-band loss"), dimensions=("dB",), takes_bare=False, within=(0.01, 3),
    example=0.5,
    words=(
        r"ripple|纹波|波纹|波动|起伏|cheb\w*|[切契]比雪夫|(?:pass[\s-]?band|insertion) (?:loss|attenuation)|"
        r"通带(?:内)?(?:的)?(?:最大)?(?:允许)?(?:损耗|衰减|损失)|插入?损耗?"
    ),
    default=lambda request: 0.5 if request["response"] == "chebyshev" else 1.0,
)  # fmt: skip
"""Of a Chebyshev response its ripple."""
_SLOTS = {slot.name: slot for slot in COMMON_SLOTS}


_CUTOFF = msg("cut-off frequency")


def _row(name: str, slot: str, **facts: object) -> Quantity:
    found = _SLOTS[slot]
    return Quantity(name=name, dimensions=found.dimensions, words=found.words, **facts)  # type: ignore[arg-type]


def filter_quantities(
    cutoff_hz: tuple[float, float], *, example_hz: float, name: str = "cutoff_hz"
) -> tuple[Quantity, ...]:
    """Cut-off (`name` in the parameters), attenuation and tolerance, with the cut-offs a family can do."""
    return (
        _row(name, "cutoff", label=_CUTOFF, within=cutoff_hz, example=example_hz, required=True),
        _row("attenuation_db", "attenuation_db", label=msg("attenuation"), within=(0, 160), example=40),
        _row(
            "attenuation_hz", "attenuation_hz", label=msg("stop-band edge"), within=(1e-9, 1e15), example=2e6
        ),
        TOLERANCE,
    )


def order_quantity(low: int, high: int) -> Quantity:
    """The order, as `order_of` reads it."""
    return Quantity(
        name="order",
        label=msg("order"),
        dimensions=("none",),
        words="(?!)",
        within=(low, high),
        example=5,
        required=True,
        is_whole=True,
    )


def _nothing_more(_sentence: Sentence, _filled: Filled) -> Mapping[str, Any]:
    return {}


def filter_reader(
    own: Sequence[Quantity],
    more: Callable[[Sentence, Filled], Mapping[str, Any]] = _nothing_more,
    *,
    cutoff: str = "cutoff_hz",
) -> Callable[[Sentence], Said]:
    """Reads what all filters share the way all of them do, and a family's own quantities beside it.

    `more` gives further parameters (None takes one back), `cutoff` is the name of the cut-off's.
    """

    def says(sentence: Sentence) -> Said:
        request, filled = read_filter(sentence, (*COMMON_SLOTS, *(quantity.slot() for quantity in own)))
        values: dict[str, Any] = {
            "kind": request.kind,
            cutoff: request.cutoff_hz,
            "order": order_of(sentence),
            "attenuation_db": request.attenuation_db,
            "attenuation_hz": request.attenuation_hz,
            "tolerance": request.tolerance if request.tolerance_is_stated else None,
        }
        for quantity in own:
            if quantity.name in filled.values:
                values[quantity.name] = number(quantity, filled.values[quantity.name])
        stated = frozenset(name for name, value in values.items() if value is not None)
        values |= more(sentence, filled)
        values.setdefault("resistor_series", request.resistor_series)
        return Said(values=values, stated=stated, notes=(*request.assumptions, *left_out(filled.unused)))

    return says


def pass_band_edge(request: Request) -> float:
    """End of the pass band over the -3 dB frequency of a low-pass: of the ripple, or half way."""
    return (
        0.5
        if request["response"] == "butterworth"
        else ripple_edge(int(request["order"]), request["loss_db"])
    )


def away(request: Request, ratio: float) -> float:
    """A frequency `ratio` times as far into the stop band as the cut-off (below 1: into the pass band)."""
    return float(request["cutoff_hz"] * (ratio if request["kind"] == LOW_PASS else 1 / ratio))


def predicted_db(request: Request, order: int, ratio: float) -> float:
    """Attenuation of the exact response at `ratio` times the cut-off, towards the stop band."""
    return attenuation_db(prototype(request["response"], order, request["loss_db"]), ratio)


def stop_hz(request: Request) -> float:
    """Where the attenuation is measured: as said, else at twice the cut-off as a proof of the order."""
    return float(request["attenuation_hz"] or away(request, 2.0))


def attenuation(request: Request) -> Bounds:
    """The attenuation to be kept at `stop_hz`: as said, else what the order gives, a little less."""
    if request["attenuation_db"]:
        return Bounds(maximum=-request["attenuation_db"])
    exact = predicted_db(request, int(request["order"]), 2 / (1 + request["tolerance"]))
    return Bounds(maximum=-round(exact - 0.5, 1))


def _pass_band(request: Request) -> str:
    """The least gain of the pass band over its greatest, dB."""
    edge = away(request, pass_band_edge(request) * (1 - request["tolerance"]))
    far = edge * (0.02 if request["kind"] == LOW_PASS else 50)
    return f"db(min(v(out),{spice(min(edge, far))},{spice(max(edge, far))})/peak(v(out)))"


def sweep(request: Request, _sized: Sized, goals: Sequence[DesignGoal]) -> tuple[str]:
    """An .ac card from well inside the pass band to beyond every frequency a goal measures."""
    edges = [request["cutoff_hz"], *frequencies_in(goals)]
    below, above = (100, 3) if request["kind"] == LOW_PASS else (3, 100)
    return (f".ac dec 200 {spice(min(edges) / below)} {spice(max(edges) * above)}",)


CUTOFF_GOAL = GoalRow(
    metric="cutoff",
    label=LABELS["cutoff"],
    unit="Hz",
    quantity="cutoff_hz",
    expression=lambda request: f"{'highcut' if request['kind'] == LOW_PASS else 'lowcut'}(v(out))",
    bounds=lambda request: around(request["cutoff_hz"], request["tolerance"]),
)
LOSS_GOAL = GoalRow(
    metric="passband_loss",
    label=LABELS["passband_loss"],
    unit="dB",
    quantity="loss_db",
    expression=_pass_band,
    bounds=lambda request: Bounds(minimum=-request["loss_db"]),
    is_corrected=False,
)
ATTENUATION_GOAL = GoalRow(
    metric="attenuation",
    label=LABELS["attenuation"],
    unit="dB",
    quantity="attenuation_db",
    expression=lambda request: f"db(gain(v(out),{spice(stop_hz(request))})/peak(v(out)))",
    bounds=attenuation,
    is_corrected=False,
)
