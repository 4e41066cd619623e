"""What two studies of one kind found, figure by figure: before, now, and by how much it moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from application.studies.reading import StoredStudy, figure_of, figures_of
from presentation.study_figures import METHODS, end_of, sensitivities_of, shown_or_dash, unit_of
from shared.message import Message, msg

_NO_RATIO = frozenset({"dB", "deg", "°"})
"""Units whose figures are compared by their difference alone."""
_MOST_PERCENT = 999


class ComparedFigure(NamedTuple):
    """A figure of both; NaN where one has none."""

    label: Message
    before: float
    now: float
    unit: str


def compared(before: StoredStudy, now: StoredStudy) -> tuple[ComparedFigure, ...]:
    """The figures that say what such a study found, of two that may have been set up differently."""
    there, here = (dict(_figures(study)) for study in (before, now))
    return tuple(
        ComparedFigure(
            label=(here.get(key) or there[key])[0],
            before=there[key][1] if key in there else math.nan,
            now=here[key][1] if key in here else math.nan,
            unit=(here.get(key) or there[key])[2],
        )
        for key in {**here, **there}
    )


def change_told(figure: ComparedFigure) -> Message:
    """How far a figure moved: as a share where that says something, else by how much."""
    before, now = figure.before, figure.now
    if math.isnan(before) or math.isnan(now):
        return msg("{text}", text="")
    if before == now:
        return msg("{text}", text="=")
    if figure.unit == "%":
        return msg("{change} points", change=f"{now - before:+.3g}".replace("-", "−"))
    share = 100 * (now - before) / abs(before) if before else math.inf
    if figure.unit not in _NO_RATIO and figure.unit and before * now > 0 and abs(share) < _MOST_PERCENT:
        return msg("{text}", text=f"{share:+.3g} %".replace("-", "−"))
    sign = "+" if now > before else ""
    return msg("{text}", text=sign + shown_or_dash(now - before, figure.unit))


_Figure = tuple[Message, float, str]


def _figures(study: StoredStudy) -> Iterator[tuple[tuple[str, ...], _Figure]]:
    yield ("runs",), (msg("Runs"), float(len(study.rows)), "")
    found = study.part("yield")
    if study.kind == "montecarlo" and (total := figure_of(found.get("n"))) > 0:
        yield ("yield",), (msg("Yield"), 100 * figure_of(found.get("passed")) / total, "%")
    of_kind = _OF_KIND.get(study.kind, _ends)
    for metric, unit in study.units.items():
        for name, label, value in of_kind(study, metric):
            yield (metric, name), (label, value, "" if study.kind == "sensitivity" else unit)
    for name, value in figures_of(study.part("best", "parameters")).items():
        label = msg("Best value of {name}", name=name)
        yield ("best value", name.lower()), (label, value, unit_of(name))


_Labelled = Iterator[tuple[str, Message, float]]


def _ends(study: StoredStudy, metric: str) -> _Labelled:
    values = [row.metrics.get(metric, math.nan) for row in study.rows if row.is_ok]
    known = [value for value in values if not math.isnan(value)]
    yield "low", msg("{metric} min", metric=metric), min(known, default=math.nan)
    yield "high", msg("{metric} max", metric=metric), max(known, default=math.nan)


def _scatter(study: StoredStudy, metric: str) -> _Labelled:
    found = study.part("statistics", metric)
    yield "mean", msg("{metric} mean", metric=metric), figure_of(found.get("mean"))
    yield "sigma", msg("{metric} σ", metric=metric), figure_of(found.get("sigma"))
    yield from _ends(study, metric)


def _worst(study: StoredStudy, metric: str) -> _Labelled:
    for method, (low, high) in METHODS:
        for end, what in (("min", low), ("max", high)):
            value = end_of(study, metric, method, end)
            if not math.isnan(value):
                yield f"{method} {end}", msg("{metric}: {what}", metric=metric, what=what), value


def _sensitivity(study: StoredStudy, metric: str) -> _Labelled:
    for each in sensitivities_of(study, metric):
        name = str(each.get("parameter", ""))
        label = msg("{metric} by {name}, % per %", metric=metric, name=name)
        yield name.lower(), label, figure_of(each.get("normalized"))


def _best(study: StoredStudy, metric: str) -> _Labelled:
    yield "best", msg("{metric} of the best", metric=metric), study.figure("best", "metrics", metric)


_OF_KIND: Mapping[str, Callable[[StoredStudy, str], _Labelled]] = {
    "montecarlo": _scatter,
    "worst-case": _worst,
    "sensitivity": _sensitivity,
    "optimize": _best,
}
