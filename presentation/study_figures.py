"""The figures of stored studies in words, for the window and for documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from application.optimization.documents import conflict_text
from application.studies.reading import StoredRow, StoredStudy, figure_of, figures_of
from domain.circuit.numbers import format_number
from domain.circuit.preferred_values import SeriesName, nearest
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from domain.studies.conflicts import Conflict
from presentation.charts.scales import prefix_of
from presentation.figures import number
from presentation.goal_margins import typeset
from presentation.search_words import ENDS
from shared.message import Message, msg

METHODS: Sequence[tuple[str, tuple[Message, Message]]] = (
    ("eva", (msg("Worst-case minimum"), msg("Worst-case maximum"))),
    ("rss", (msg("Minimum by RSS"), msg("Maximum by RSS"))),
)
"""The limits of a worst case, by the part of its figures."""
_LABELS = {"nominal": msg("Nominal"), "extreme": msg("Combination"), "search": msg("Combination")}
_SERIES: Mapping[str, SeriesName] = {"r": "E24", "c": "E12", "l": "E12"}


def shown(value: float, unit: str, digits: int = 4) -> str:
    """A figure with its unit, typeset."""
    return typeset(number(value, unit, digits))


def shown_or_dash(value: float, unit: str, digits: int = 4) -> str:
    return "–" if math.isnan(value) else shown(value, unit, digits)


def figure_text(value: float, digits: int = 4) -> str:
    """A figure with so many digits and the real minus: ``10.00``, ``−0.402``."""
    if value and math.isfinite(value):
        whole = math.floor(math.log10(abs(value))) + 1
        text = f"{value:.{max(digits - max(whole, 1), 0)}f}" if -3 < whole <= 6 else f"{value:.{digits}g}"
    else:
        text = f"{value:g}"
    return text.replace("-", "−")


def plain(value: float) -> str:
    """Four digits; a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def deviation(value: float, nominal: float) -> str:
    """In percent of the nominal value: ``+1.5``."""
    if math.isnan(value) or math.isnan(nominal) or not nominal:
        return ""
    return (
        f"{100 * (value / nominal - 1):+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")
    )


def metric_factors(study: StoredStudy) -> dict[str, tuple[float, str]]:
    """By metric what its figures are divided by, and the unit of the column then."""
    return {metric: prefix_of(study.middles.get(metric, 1.0), unit) for metric, unit in study.units.items()}


def with_unit(name: str, unit: str) -> str:
    """The head of a column whose figures have a unit."""
    return f"{name} / {unit}" if unit else name


def unit_of(name: str) -> str:
    """Of a quantity by its name, where that says it: of the elements whose value has one."""
    key = name.lower()
    if key == "temp":
        return "degC"
    owner, _, member = key.partition(".")
    if member:
        return "m" if member in ("w", "l") and owner[:1] == "m" else ""
    return {"r": "Ω", "c": "F", "l": "H", "v": "V", "i": "A"}.get(owner[:1], "")


def told(study: StoredStudy, translate: Callable[[Message], str]) -> str:
    """How its parts scatter, and what it warns of."""
    return " · ".join(translate(text) for text in (*study.texts("assumed"), *study.texts("warnings")))


def nominals_of(study: StoredStudy, written: Mapping[str, float]) -> Mapping[str, float]:
    """The values deviations are counted from: those the study ran with, else those of the circuit now."""
    return {**written, **figures_of(study.document.get("nominal_parameters"))}


def metric_in(text: str, study: StoredStudy) -> str:
    """The metric that a yield's name (``bw >= 1e+06``) begins with."""
    found = [metric for metric in study.units if text.startswith(metric)]
    return max(found, key=len, default=text)


def run_label(row: StoredRow, translate: Callable[[Message], str]) -> str:
    """What a run is for: ``R1 +`` is that value alone at its upper limit."""
    known = _LABELS.get(row.label)
    if known is not None:
        return translate(known)
    return row.label.replace(" -", " −") or translate(msg("Run {number}", number=row.run))


def end_of(study: StoredStudy, metric: str, method: str, end: str) -> float:
    """A limit of a metric by one of the methods; that by runs tells in which it was, too."""
    place = ("statistics", metric, method, end)
    return study.figure(*place, "value") if method == "eva" else study.figure(*place)


def bends_in(study: StoredStudy, metric: str) -> Message | None:
    """What to say of a worst case whose metric goes the same way at both ends of a tolerance."""
    names = study.part("statistics", metric).get("not_monotonic")
    if not isinstance(names, list) or not names:
        return None
    return msg(
        "{metric} is not monotonic in {names}: the extreme may be inside the tolerance.",
        metric=metric,
        names=", ".join(map(str, names)),
    )


def sensitivities_of(study: StoredStudy, metric: str) -> Sequence[Mapping[str, Any]]:
    """Parameter, slope, normalized, per_tolerance; the strongest first."""
    return objects(study.part("statistics", metric).get("sensitivities"))


def objects(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def best_verdicts(study: StoredStudy) -> list[GoalVerdict]:
    """The goals of an optimization at the best values it found."""
    found = []
    for item in objects(study.part("best").get("goals")):
        low, high = figure_of(item.get(">=")), figure_of(item.get("<="))
        unit = str(item.get("unit") or "")
        goal = DesignGoal(
            metric=str(item.get("metric", "")),
            expression="",
            unit=unit,
            minimum=None if math.isnan(low) else low,
            maximum=None if math.isnan(high) else high,
            weight="wish" if item.get("weight") == "wish" else "must",
        )
        measured = Quantity(value=figure_of(item.get("value")), unit=unit)
        found.append(GoalVerdict(goal=goal, measured=measured, met=item.get("met") is True))
    return found


def best_texts(study: StoredStudy) -> dict[str, str]:
    """The best values an optimization found, as they are written."""
    texts = study.part("best").get("values")
    return {str(name): str(text) for name, text in texts.items()} if isinstance(texts, Mapping) else {}


def end_words(study: StoredStudy) -> list[Message]:
    """How an optimization ended, and what stands in the way of goals that are missed."""
    end = "" if study.is_under_way else str(study.document.get("end"))
    said = [ENDS[end]] if end in ENDS else []
    simulations = len(study.rows)
    said.append(msg("{count} {count:simulation|simulations}.", count=simulations))
    best = study.part("best")
    if best and best.get("verified") is not True:
        said.append(msg("These values come from the search; no separate run has verified them."))
    elif best:
        said.append(msg("Verified by a separate run."))
    goals = {goal.metric: goal for goal in study.goals}
    for item in objects(study.document.get("conflicts"))[:2]:
        names, met = item.get("goals"), item.get("met_by")
        if isinstance(names, list) and isinstance(met, list) and all(name in goals for name in names):
            conflict = Conflict(
                goals=tuple(goals[name] for name in names),
                met_by=tuple(int(figure_of(each)) for each in met if not math.isnan(figure_of(each))),
                nearest=figure_of(item.get("nearest")),
            )
            said.append(conflict_text(conflict, study.units))
    said.extend(study.texts("warnings"))
    ends = study.document.get("at_range_end")
    if isinstance(ends, list) and ends:
        said.append(msg("At the end of the allowed range: {names}", names=", ".join(map(str, ends))))
    return said


def in_series(name: str, value: float) -> tuple[str, str]:
    """The nearest value of the series a part is bought in, and the series."""
    series = _SERIES.get(name[:1].lower()) if "." not in name else None
    if series is None or not value > 0:
        return "", ""
    return format_number(nearest(value, series), 6), series
