"""Studies for people: tables of rows, statistics, corners and tornado charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from domain.circuit.numbers import format_number
from domain.simulation.goals import GoalVerdict
from domain.simulation.result import Quantity
from domain.studies.statistics import Yield
from domain.studies.study import StudyResult, StudyRow
from presentation.cli.plane_table import print_plane
from presentation.cli.tables import table
from presentation.figures import number
from presentation.goal_margins import shown, value_and_limit
from presentation.json_output import Output
from shared.message import Message, msg

_MOST_ROWS = 60
_BAR = 30
_DASH = "—"


def print_study(result: StudyResult, out: Output) -> None:
    for line in result.assumed:
        out.say(line)
    if result.plane is not None:
        print_plane(result, result.plane, out)
        return
    if result.kind in ("sweep", "corners") or result.total <= _MOST_ROWS // 2:
        _lines(out, _rows(result, out))
    if result.kind in ("sweep", "montecarlo") and len(result.rows) > 1:
        _lines(out, _statistics(result, out))
    if result.kind == "montecarlo":
        _lines(out, _contributions(result, out))
    _lines(out, _corners(result, out))
    _lines(out, _worst_cases(result, out))
    _lines(out, _sensitivities(result, out))
    _print_yield(result, out)


def _lines(out: Output, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        for line in table(rows):
            out.row(line)
        out.line()


def _rows(result: StudyResult, out: Output) -> list[list[str]]:
    rows = result.rows
    if not rows:
        return []
    names = list(dict.fromkeys(name for row in rows for name in row.parameters))
    heads = [out.translate(msg("run"))]
    heads += [out.translate(msg("corner"))] if rows[0].corner is not None else []
    lines = [[*heads, *names, *result.units]]
    for row in rows[:_MOST_ROWS]:
        start = [str(row.run) if not row.label else f"{row.run} {row.label}"]
        start += [row.corner] if row.corner is not None else []
        values = [_value(row.parameters.get(name, math.nan)) for name in names]
        lines.append([*start, *values, *_metrics(row, result, out)])
    if len(rows) > _MOST_ROWS:
        lines.append([out.translate(msg("... {count} more", count=len(rows) - _MOST_ROWS))])
    return lines


def _metrics(row: StudyRow, result: StudyResult, out: Output) -> Iterator[str]:
    if row.state != "ok" and row.reason is not None:
        yield out.translate(row.reason)
        return
    for metric, unit in result.units.items():
        measured = row.metrics.get(metric, math.nan)
        value = number(measured, unit)
        missed = [goal for goal in result.goals if goal.metric == metric and not goal.is_met_by(measured)]
        for goal in missed:
            measure = Quantity(value=measured, unit=unit)
            told, _ = value_and_limit(GoalVerdict(goal=goal, measured=measure, met=False))
            value = told if isinstance(told, str) else value
        yield value + (" !" if missed else "")


def _translated(heads: Iterable[Message | str], out: Output) -> list[str]:
    return [head if isinstance(head, str) else out.translate(head) for head in heads]


def _value(value: float) -> str:
    return _DASH if not math.isfinite(value) else format_number(value, 5)


def _statistics(result: StudyResult, out: Output) -> list[list[str]]:
    if not result.statistics:
        return []
    heads: list[Message | str] = [msg("metric"), "n", msg("mean"), msg("sigma"), msg("min"), "1 %",
                            msg("median"), "99 %", msg("max"), "Cpk"]  # fmt: skip
    lines = [_translated(heads, out)]
    for metric, item in result.statistics.items():
        values = (item.mean, item.sigma, item.minimum, item.quantiles.get(0.01, math.nan), item.median,
                  item.quantiles.get(0.99, math.nan), item.maximum)  # fmt: skip
        lines.append([
            metric, str(item.count), *(number(value, item.unit) for value in values), number(item.cpk, "1", 3)
        ])  # fmt: skip
    return lines


def _contributions(result: StudyResult, out: Output) -> list[list[str]]:
    """The share of each metric's variance that a part makes."""
    found = {metric: item.contributions for metric, item in result.statistics.items() if item.contributions}
    names = list(dict.fromkeys(name for shares in found.values() for name in shares))[:_MOST_ROWS]
    if not names:
        return []
    heads = [out.translate(msg("share of the variance")), *names]
    return [heads, *([metric, *(out.translate(shown(_share(shares.get(name, 0.0)))) for name in names)]
                     for metric, shares in found.items())]  # fmt: skip


def _corners(result: StudyResult, out: Output) -> list[list[str]]:
    if not result.corners:
        return []
    heads: list[Message | str] = [msg("metric"), msg("min"), msg("at"), msg("max"), msg("at"), msg("worst")]
    lines = [_translated(heads, out)]
    for metric, span in result.corners.items():
        if span is None:
            lines.append([metric, _DASH])
            continue
        lines.append([
            metric,
            number(span.minimum, span.unit), span.minimum_corner,
            number(span.maximum, span.unit), span.maximum_corner,
            span.worst_corner or "",
        ])  # fmt: skip
    return lines


def _worst_cases(result: StudyResult, out: Output) -> list[list[str]]:
    if not result.worst_cases:
        return []
    heads = [msg("metric"), msg("nominal"), msg("EVA min"), msg("EVA max"), msg("RSS min"), msg("RSS max")]
    lines = [_translated(heads, out)]
    for metric, case in result.worst_cases.items():
        extremes = [case.minimum.value if case.minimum else math.nan,
                    case.maximum.value if case.maximum else math.nan]  # fmt: skip
        lines.append([metric, *(number(v, case.unit) for v in (case.nominal, *extremes, *case.rss))])
    return lines


def _sensitivities(result: StudyResult, out: Output) -> list[list[str]]:
    lines: list[list[str]] = []
    for metric, found in result.sensitivities.items():
        most = max((item.weight for item in found), default=0.0) or 1.0
        unit = result.units[metric]
        lines.append([metric, out.translate(msg("normalized")), out.translate(msg("per tolerance")), ""])
        for item in found:
            bar = "#" * round(_BAR * item.weight / most)
            lines.append([
                f"  {item.parameter}", number(item.normalised, "1"), number(item.per_tolerance, unit),
                bar.ljust(_BAR),
            ])  # fmt: skip
    return lines


def _print_yield(result: StudyResult, out: Output) -> None:
    print_yields(result.yields, result.total_yield if result.kind == "montecarlo" else None, out)


def print_yields(yields: Mapping[str, Yield], found: Yield | None, out: Output) -> None:
    """The yield of each goal, and of all together."""
    for name, item in yields.items():
        out.row(f"{name}: {out.translate(shown(_share(item.value)))} ({item.passed}/{item.total})")
    if found is not None:
        out.say(
            msg("Yield {share} ({passed} of {total}); with 95 % confidence between {low} and {high}.",
                share=_share(found.value), passed=found.passed, total=found.total,
                low=_share(found.interval[0]), high=_share(found.interval[1]))
        )  # fmt: skip


def _share(value: float) -> str:
    return _DASH if math.isnan(value) else f"{100 * value:.4g} %"
