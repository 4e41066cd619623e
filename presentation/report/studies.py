"""Kept studies as parts of a document: tables and charts of what is stored, and how it came about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from application.reports.kept_studies import ReportStudy
from application.simulation.judging import JudgedGoal
from application.studies.reading import StoredRow, StoredStudy, figure_of, figures_of
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal
from domain.studies.robustness import tolerance_in_percent
from domain.studies.study_goals import goal_name
from presentation.charts.content import Bar, Spot, SpotsContent
from presentation.charts.svg import bars_svg, bins_svg, lines_svg, plane_svg, spots_svg
from presentation.goal_margins import GoalRow, limit_text
from presentation.goal_margins import shown as as_text
from presentation.goal_words import name_of
from presentation.report.blocks import Block, Cell, Heading, Paragraph, Picture, Table, Translate
from presentation.report.goals import goal_table
from presentation.study_charts import (
    MOST_LINES,
    bins_of,
    effect_bars,
    families_of,
    family_lines,
    limits_of,
    progress_of,
    sensitivity_bars,
)
from presentation.study_figures import (
    METHODS,
    bends_in,
    best_texts,
    best_verdicts,
    end_of,
    end_words,
    in_series,
    metric_in,
    objects,
    percent,
    plain,
    run_label,
    sensitivities_of,
    shown,
    shown_or_dash,
)
from presentation.study_map import plane_of
from presentation.study_words import title_of
from shared.message import Message, msg, one_line

_MOST_CHARTS = 4
"""Of a study: one for each of the first metrics, those with goals before others."""
_MOST_METRICS, _LEAST_METRICS = 6, 2
"""Columns of a table of runs: as many as there is room for beside the parameters."""
_MOST_TOLD = 100
"""Rows of a table of metrics."""
_MOST_ROWS = 40
_MOST_WORST = 8
_MOST_PARAMETERS = 20
_MOST_ERRORS = 3
_MOST_NAMED = 4
"""Parameters in a sweep's table."""


def study_blocks(found: ReportStudy, sha256: str, say: Translate) -> Iterator[Block]:
    """A study whole. `sha256`: of the circuit's file as it is now."""
    study = found.study
    yield Heading(2, say(title_of(study.kind)))
    yield Paragraph(_facts(found, say))
    if not study.is_ours:
        yield Paragraph(
            say(msg("This study was not run by this installation, or was changed since.")), "warn"
        )
    if study.netlist_sha256 != sha256:
        yield Paragraph(say(msg("The circuit's file was changed after this study.")), "warn")
    for text in study.texts("assumed"):
        yield Paragraph(one_line(say(msg("Assumed: {text}", text=text))))
    told = () if study.kind == "optimize" else study.texts("warnings")
    for text in (*told, *study.texts("errors")[:_MOST_ERRORS]):
        yield Paragraph(one_line(say(text)), "warn")
    if not study.rows:
        yield Paragraph(say(msg("No run of it is kept.")), "warn")
        return
    parts = _PARTS.get(study.kind)
    if parts is not None:
        yield from parts(study, say)


def _facts(found: ReportStudy, say: Translate) -> str:
    """Which run it was, how many simulations, with which seed."""
    study = found.study
    facts = [
        msg("Run {number}", number=found.number),
        msg("{text}", text=study.created[:16].replace("T", " ") + " UTC"),
    ]
    total = study.figure("runs", "total")
    if study.is_stopped and not math.isnan(total):
        facts.append(
            msg("stopped after {count} of {total} {total:run|runs}", count=len(study.rows), total=int(total))
        )
    else:
        facts.append(msg("{count} {count:run|runs}", count=len(study.rows)))
    if study.failed:
        facts.append(msg("{count} failed", count=study.failed))
    seed = study.figure("seed")
    if not math.isnan(seed):
        facts.append(msg("seed {seed}", seed=f"{seed:.0f}"))
    simulator = study.document.get("simulator")
    if isinstance(simulator, str) and simulator:
        facts.append(msg("{text}", text=simulator))
    return one_line(" · ".join(map(say, facts)))


# ---- Monte Carlo ---------------------------------------------------------------------------------------


def _monte_carlo(study: StoredStudy, say: Translate) -> Iterator[Block]:
    yield from _yields(study, say)
    yield from _statistics(study, say)
    yield from _charts(study, lambda metric: bins_svg(bins_of(study, metric)), _distribution_caption, say)
    shares = _shares(study, say)
    if shares is not None:
        yield Heading(3, say(msg("Share of variance")))
        yield shares
    worst = study.worst_first[:_MOST_WORST]
    if len(study.rows) > len(worst):
        yield Heading(3, say(msg("Worst runs")))
        yield _runs(study, worst, say)


def _yields(study: StoredStudy, say: Translate) -> Iterator[Block]:
    found = study.part("yield")
    if not figure_of(found.get("n")) > 0:
        return
    yield Paragraph(say(_yield_words(found)), "strong")
    each_goal = {
        text: each for text, each in study.part("yield", "goals").items() if isinstance(each, Mapping)
    }
    if len(each_goal) > 1:
        rows = []
        goals = {goal_name(goal): goal for goal in study.goals}
        for text, each in each_goal.items():
            metric, good = metric_in(text, study), figure_of(each.get("passed"))
            limit = limit_text(goals[text]) if text in goals else one_line(text)
            share = figure_of(each.get("value"))
            rows.append((
                Cell(one_line(metric)),
                Cell(say(as_text(limit)), is_number=True),
                Cell("–" if math.isnan(good) else f"{good:.0f}", is_number=True),
                Cell("–" if math.isnan(share) else say(as_text(percent(share))), is_number=True),
            ))  # fmt: skip
        head = (msg("Goal"), msg("Limit"), msg("Good runs"), msg("Yield"))
        yield Table(tuple(map(say, head)), tuple(rows))


def _yield_words(found: Mapping[str, object]) -> Message:
    passed, total, low, high = (figure_of(found.get(key)) for key in ("passed", "n", "low", "high"))
    return msg(
        "Yield {share} ({passed} of {total}); with 95 % confidence between {low} and {high}.",
        share=percent(passed / total),
        passed=f"{passed:.0f}",
        total=f"{total:.0f}",
        low=percent(low),
        high=percent(high),
    )


def _statistics(study: StoredStudy, say: Translate, *, is_random: bool = True) -> Iterator[Block]:
    """Figures of the runs together; values that somebody chose have no mean to be told."""
    told = (("mean", say(msg("Mean"))), ("sigma", "σ"), ("min", say(msg("Least"))),
            ("median", say(msg("Median"))), ("max", say(msg("Greatest"))))  # fmt: skip
    keys = [key for key, _ in told if is_random or key in ("min", "max")]
    has_cpk = any(not math.isnan(study.figure("statistics", metric, "cpk")) for metric in study.units)
    rows = []
    for metric in _metrics(study)[:_MOST_TOLD]:
        unit = study.units[metric]
        bounds = [goal for goal in study.goals if goal.metric == metric]
        figures = [study.figure("statistics", metric, key) for key in keys]
        cells = [Cell(one_line(metric))]
        if study.goals:
            cells.append(Cell(say(as_text(_limits(bounds))), is_number=True))
        cells += [Cell(shown_or_dash(value, unit), is_number=True) for value in figures]
        if has_cpk:
            cells.append(Cell(_three_digits(study.figure("statistics", metric, "cpk")), is_number=True))
        rows.append(tuple(cells))
    head = [say(msg("Measurement"))]
    head += [say(msg("Limit"))] if study.goals else []
    head += [name for key, name in told if key in keys]
    head += ["Cpk"] if has_cpk else []
    yield Table(tuple(head), tuple(rows))
    yield from _left_out(len(study.units) - _MOST_TOLD, say)


def _shares(study: StoredStudy, say: Translate) -> Table | None:
    """What each parameter makes of the variance of each metric; None where that was not to be had."""
    found = {
        metric: figures_of(study.part("statistics", metric).get("contributions"))
        for metric in _metrics(study)[:_MOST_METRICS]
    }
    found = {metric: shares for metric, shares in found.items() if shares}
    names = list(dict.fromkeys(name for shares in found.values() for name in shares))
    names.sort(key=lambda name: -max(shares.get(name, 0.0) for shares in found.values()))
    if not names:
        return None
    rows = tuple(
        (
            Cell(one_line(name)),
            *(
                Cell(say(as_text(percent(max(shares.get(name, 0.0), 0.0)))), is_number=True)
                for shares in found.values()
            ),
        )
        for name in names[:_MOST_PARAMETERS]
    )
    return Table((say(msg("Parameter")), *map(one_line, found)), rows)


# ---- corners, worst case, sensitivity ------------------------------------------------------------------


def _corners(study: StoredStudy, say: Translate) -> Iterator[Block]:
    yield _verdict(study, say)
    rows = []
    for metric in _metrics(study)[:_MOST_TOLD]:
        unit = study.units[metric]
        span = study.part("corners", metric)
        worst = span.get("worst_corner")
        goals = [goal for goal in study.goals if goal.metric == metric]
        rows.append((
            Cell(one_line(metric)),
            Cell(say(as_text(_limits(goals))), is_number=True),
            _judged(figure_of(span.get("min")), unit, goals),
            Cell(one_line(str(span.get("min_corner", "")))),
            _judged(figure_of(span.get("max")), unit, goals),
            Cell(one_line(str(span.get("max_corner", "")))),
            Cell(one_line(worst), "warn") if isinstance(worst, str) else Cell("–"),
        ))  # fmt: skip
    head = (
        msg("Measurement"), msg("Limit"), msg("Least"), msg("at corner"), msg("Greatest"), msg("at corner"),
        msg("Worst corner"),
    )  # fmt: skip
    yield Table(tuple(map(say, head)), tuple(rows))
    yield from _left_out(len(study.units) - _MOST_TOLD, say)
    yield from _charts(study, lambda metric: spots_svg(_spots(study, metric)), _at_corners_caption, say)
    if any(goal.metric in study.units for goal in study.goals):
        yield Paragraph(say(msg("The worst corner of a measurement that has a goal is ringed.")))
    yield _runs(study, study.worst_first if study.goals else study.rows, say)
    yield from _left_out(len(study.rows) - _MOST_ROWS, say)


def _spots(study: StoredStudy, metric: str) -> SpotsContent:
    """The value of a metric at each corner, the worst marked."""
    unit = study.units.get(metric, "")
    worst = study.part("corners", metric).get("worst_corner")
    goals = [goal for goal in study.goals if goal.metric == metric]
    spots = []
    for row in study.rows:
        value = row.metrics.get(metric, math.nan)
        name = row.corner or row.label or f"{row.run}"
        spots.append(
            Spot(
                name=one_line(name),
                value=value,
                text=shown(value, unit),
                is_bad=any(not goal.is_met_by(value) for goal in goals),
                is_worst=isinstance(worst, str) and row.corner == worst,
            )
        )
    return SpotsContent(spots=spots, unit=unit, limits=limits_of(study.goals, metric, unit))


def _worst_case(study: StoredStudy, say: Translate) -> Iterator[Block]:
    yield _verdict(study, say)
    methods = [
        (key, ends)
        for key, ends in METHODS
        if any(study.part("statistics", metric, key) for metric in study.units)
    ]
    rows = []
    for metric in _metrics(study)[:_MOST_TOLD]:
        unit = study.units[metric]
        goals = [goal for goal in study.goals if goal.metric == metric]
        limits = [study.figure("statistics", metric, "nominal")]
        limits += [end_of(study, metric, key, end) for key, _ in methods for end in ("min", "max")]
        limit = Cell(say(as_text(_limits(goals))), is_number=True)
        rows.append((Cell(one_line(metric)), limit, *(_judged(value, unit, goals) for value in limits)))
    head = (msg("Measurement"), msg("Limit"), msg("Nominal"), *(end for _, ends in methods for end in ends))
    yield Table(tuple(map(say, head)), tuple(rows))
    yield from _left_out(len(study.units) - _MOST_TOLD, say)
    for metric in _metrics(study)[:_MOST_TOLD]:
        told = bends_in(study, metric)
        if told is not None:
            yield Paragraph(one_line(say(told)), "warn")
    yield from _charts(study, lambda metric: _tornado(effect_bars(study, metric)), _effects_caption, say)
    if study.goals and any(row.goals_met is False for row in study.rows):
        missed = [row for row in study.worst_first if row.goals_met is False]
        yield Heading(3, say(msg("Runs that miss a goal")))
        yield _runs(study, missed[:_MOST_WORST], say)
        yield from _left_out(len(missed) - _MOST_WORST, say)


def _sensitivity(study: StoredStudy, say: Translate) -> Iterator[Block]:
    yield from _charts(
        study, lambda metric: _tornado(sensitivity_bars(study, metric)), _sensitivity_caption, say
    )
    for metric in _metrics(study)[:_MOST_CHARTS]:
        items, unit = sensitivities_of(study, metric), study.units.get(metric, "")
        has_tolerance = any(not math.isnan(figure_of(item.get("per_tolerance"))) for item in items)
        head = [msg("Parameter"), msg("Slope"), msg("Percent per percent")]
        head += [msg("For the whole tolerance")] if has_tolerance else []
        yield Heading(3, one_line(metric))
        yield Table(
            tuple(map(say, head)),
            tuple(
                (
                    Cell(one_line(str(item.get("parameter", "")))),
                    Cell(plain(figure_of(item.get("slope"))), is_number=True),
                    Cell(plain(figure_of(item.get("normalized"))), is_number=True),
                    Cell(shown_or_dash(figure_of(item.get("per_tolerance")), unit), is_number=True),
                )[: len(head)]
                for item in items[:_MOST_PARAMETERS]
            ),
        )
        yield from _left_out(len(items) - _MOST_PARAMETERS, say)


def _tornado(bars: Sequence[Bar]) -> str:
    return bars_svg(bars[:_MOST_PARAMETERS])


# ---- sweep, optimization -------------------------------------------------------------------------------


def _sweep(study: StoredStudy, say: Translate) -> Iterator[Block]:
    axis = max(
        study.parameters,
        key=lambda name: len({row.parameters[name] for row in study.rows if name in row.parameters}),
        default="",
    )
    left_out = 0
    for metric in _metrics(study)[:_MOST_CHARTS]:
        families = families_of(study, metric, axis)
        left_out = max(left_out, len(families) - MOST_LINES)
        content = family_lines(study, metric, axis, families)
        if content is not None:
            caption = msg("{metric} against {parameter}", metric=metric, parameter=axis)
            yield Picture(lines_svg(content), one_line(say(caption)), is_own=True)
    if left_out > 0:
        yield Paragraph(say(msg("{count} more lines are in the table", count=left_out)))
    yield from _statistics(study, say, is_random=False)
    yield _runs(study, study.rows, say)
    yield from _left_out(len(study.rows) - _MOST_ROWS, say)


def _search(study: StoredStudy, say: Translate) -> Iterator[Block]:
    ended = one_line(" ".join(map(say, end_words(study))))
    yield Paragraph(ended.replace("。 ", "。"))
    verdicts = best_verdicts(study)
    if not study.part("best"):
        yield Paragraph(say(msg("No simulation succeeded.")), "error")
        return
    if verdicts:
        yield goal_table([JudgedGoal(verdict=verdict) for verdict in verdicts], say)
    start, best = (figures_of(study.part(part, "parameters")) for part in ("start", "best"))
    rows = []
    for name, text in best_texts(study).items():
        begun = start.get(name, math.nan)
        value, series = in_series(name, best.get(name, math.nan))
        rows.append((
            Cell(one_line(name)),
            Cell("–" if math.isnan(begun) else format_number(begun, 5), is_number=True),
            Cell(one_line(text), is_number=True),
            Cell(f"{value} ({series})" if value else "–", is_number=True),
        ))  # fmt: skip
    head = (msg("Parameter"), msg("Start"), msg("Best"), msg("Nearest of the series"))
    yield Table(tuple(map(say, head)), tuple(rows))
    yield from _robustness(
        study, {verdict.goal.metric: say(name_of(verdict.goal)) for verdict in verdicts}, say
    )
    found = study.part("scatter", "yield")
    if figure_of(found.get("n")) > 0:
        yield Paragraph(say(_yield_words(found)))
    title, content = progress_of(study, say)
    if content is not None:
        yield Picture(lines_svg(content), one_line(say(title)), is_own=True)


def _robustness(study: StoredStudy, names: Mapping[str, str], say: Translate) -> Iterator[Block]:
    """How far parts may be off, a line for each figure: of one with two bounds the nearer one's."""
    found: dict[str, Mapping[str, object]] = {}
    for item in objects(study.document.get("robustness")):
        share, metric = figure_of(item.get("holds_within")), str(item.get("metric", ""))
        if item.get("decisive") and not math.isnan(share):
            other = found.get(metric)
            if other is None or share < figure_of(other.get("holds_within")):
                found[metric] = item
    for metric, item in found.items():
        told = msg(
            "{metric}: met with parts within ±{share} % (limited by {name})",
            metric=names.get(metric, metric),
            share=tolerance_in_percent(figure_of(item.get("holds_within"))),
            name=str(item.get("decisive")),
        )
        yield Paragraph(one_line(say(told)), "warn" if item.get("on_edge") is True else "")


def _map(study: StoredStudy, say: Translate) -> Iterator[Block]:
    share = study.figure("map", "share_met")
    if not math.isnan(share):
        yield Paragraph(say(msg("All goals are met on {share} of the map.", share=percent(share))))
    content = plane_of(study, figures_of(study.document.get("nominal_parameters")))
    if content is not None:
        caption = msg("{first} and {second}: where the goals are met, their borders, the design as a dot",
                      first=content.x_name, second=content.y_name)  # fmt: skip
        yield Picture(plane_svg(content), one_line(say(caption)), is_own=True)
    best = study.figure("map", "best_run")
    row = None if math.isnan(best) else study.row(int(best))
    if row is not None:
        values = ", ".join(f"{name} = {format_number(value, 6)}" for name, value in row.parameters.items())
        told = msg("The largest margin is at {values} (run {number}).", values=values, number=row.run)
        yield Paragraph(one_line(say(told)))
        yield _runs(study, [row], say)


# ---- what several have ---------------------------------------------------------------------------------


def _verdict(study: StoredStudy, say: Translate) -> Paragraph:
    met = study.document.get("goals_met")
    if met is True:
        return Paragraph(say(msg("All goals are met")), "ok")
    if met is False:
        return Paragraph(say(msg("Goals are missed")), "error")
    return Paragraph(say(msg("It was run without goals.")))


def _runs(study: StoredStudy, rows: Sequence[StoredRow], say: Translate) -> Table:
    """Runs with their measurements, those beyond a limit in the color of errors."""
    has_corner = any(row.corner for row in rows)
    names = study.parameters[:_MOST_NAMED] if study.kind == "sweep" else ()
    metrics = _metrics(study)[: max(_MOST_METRICS - len(names), _LEAST_METRICS)]
    lines = []
    for row in rows[:_MOST_ROWS]:
        label = row.corner or (f"{row.run} {run_label(row, say)}" if row.label else f"{row.run}")
        cells = [Cell(one_line(label), "" if row.is_ok else "error")]
        for name in names:
            value = row.parameters.get(name, math.nan)
            cells.append(Cell("–" if math.isnan(value) else format_number(value, 5), is_number=True))
        for metric in metrics:
            goals = [goal for goal in study.goals if goal.metric == metric]
            cells.append(_judged(row.metrics.get(metric, math.nan), study.units.get(metric, ""), goals))
        if study.goals:
            margin = study.margin(row)
            text = GoalRow(value="", limit="", met=(margin or 0) >= 0, margin=margin).margin_text
            mood = "" if margin is None else "ok" if margin >= 0 else "error"
            cells.append(Cell(say(as_text(text)), mood, is_number=True))
        lines.append(tuple(cells))
    head = [
        say(msg("Corner") if has_corner else msg("Run number")),
        *map(one_line, names),
        *map(one_line, metrics),
    ]
    head += [say(msg("Margin"))] if study.goals else []
    return Table(tuple(head), tuple(lines))


def _left_out(count: int, say: Translate) -> Iterator[Block]:
    if count > 0:
        yield Paragraph(say(msg("and {count} more", count=count)))


def _charts(
    study: StoredStudy, draw: Callable[[str], str], caption: Callable[[str], Message], say: Translate
) -> Iterator[Block]:
    for metric in _metrics(study)[:_MOST_CHARTS]:
        svg = draw(metric)
        if svg:
            yield Picture(svg, one_line(say(caption(metric))), is_own=True)


def _metrics(study: StoredStudy) -> list[str]:
    """Those with goals first."""
    asked = {goal.metric for goal in study.goals}
    return sorted(study.units, key=lambda metric: metric not in asked)


def _three_digits(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}".replace("-", "−")


def _distribution_caption(metric: str) -> Message:
    return msg("Distribution of {metric}", metric=metric)


def _at_corners_caption(metric: str) -> Message:
    return msg("{metric} at the corners", metric=metric)


def _effects_caption(metric: str) -> Message:
    return msg("Each parameter alone at its limits: effect on {metric}", metric=metric)


def _sensitivity_caption(metric: str) -> Message:
    return msg("Change of {metric} with each parameter", metric=metric)


def _limits(goals: Sequence[DesignGoal]) -> str:
    return ", ".join(map(limit_text, goals)) or "–"


def _judged(value: float, unit: str, goals: Sequence[DesignGoal]) -> Cell:
    is_bad = not math.isnan(value) and any(not goal.is_met_by(value) for goal in goals)
    return Cell(shown_or_dash(value, unit), "error" if is_bad else "", is_number=True)


_PARTS: Mapping[str, Callable[[StoredStudy, Translate], Iterator[Block]]] = {
    "sweep": _sweep,
    "montecarlo": _monte_carlo,
    "corners": _corners,
    "worst-case": _worst_case,
    "sensitivity": _sensitivity,
    "map": _map,
    "optimize": _search,
}
