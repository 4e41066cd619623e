"""A study as JSON and as a table: for ``result.json``, the command line and the tools."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from domain.simulation.goals import DesignGoal
from domain.simulation.result import SimulationIssue
from domain.studies.sensitivity import Sensitivity
from domain.studies.statistics import MetricStatistics, Yield
from domain.studies.study import CornerSpan, MapFindings, StudyResult, StudyRow
from domain.studies.worst_case import Extreme, WorstCase
from shared.message import Message, message_to_plain, msg
from shared.paths import ROWS_FILE
from shared.spreadsheets import plain_cell

Translate = Callable[[Message], str]
_ERRORS_TOLD = 20


def study_document(
    result: StudyResult, translate: Translate = str, *, with_rows: bool = True
) -> dict[str, Any]:
    """The whole study in JSON types (numbers that are none stay NaN; see the caller)."""
    document: dict[str, Any] = {
        "ok": result.ok,
        "study": result.kind,
        "stopped": result.is_stopped,
        "runs": {
            "total": result.total,
            "done": len(result.rows),
            "ok": len(result.rows) - result.failed,
            "failed": result.failed,
        },
        "parameters": list(result.parameters),
        "scattering": list(result.scattering),
        "assumed": [translate(line) for line in result.assumed],
        "units": dict(result.units),
        "statistics": _statistics(result),
        "goals": [_goal(goal) for goal in result.goals],
        "goals_met": result.goals_met,
        "result_path": result.result_path,
        "rows_path": result.result_path.with_name(ROWS_FILE),
        "errors": [*run_errors(result.rows, translate), *_nothing_measured(result, translate)],
        "warnings": [{"message": translate(warning)} for warning in result.warnings],
        "simulator": result.simulator_version,
        "confinement": list(result.confinement),
        "duration_s": result.duration_s,
    }
    if result.seed is not None:
        document["seed"] = result.seed
    if result.statistics_by_corner:
        document["statistics_by_corner"] = {
            corner: {name: _metric(item) for name, item in found.items()}
            for corner, found in result.statistics_by_corner.items()
        }
    if result.total_yield is not None:
        document["yield"] = {
            **yield_document(result.total_yield),
            "goals": {name: yield_document(item) for name, item in result.yields.items()},
        }
    if result.corners:
        document["corners"] = {name: _span(span) for name, span in result.corners.items()}
    if result.plane is not None:
        document["map"] = _plane(result.plane)
    if result.nominal is not None:
        document["nominal"] = dict(result.nominal.metrics)
        document["nominal_parameters"] = dict(result.nominal.parameters)
    if with_rows:
        document["rows"] = [_row(row, translate) for row in result.rows]
    return document


def stored_document(result: StudyResult) -> dict[str, Any]:
    """What ``result.json`` keeps; the rows are beside it. Paths are relative to its folder."""
    document = study_document(result, with_rows=False)
    del document["result_path"]
    return {
        "id": result.result_id,
        "created": result.created,
        "kind": "study",
        "status": "cancelled" if result.is_stopped else "ok" if result.ok else "failed",
        "netlist": {"path": str(result.circuit), "sha256": result.netlist_sha256},
        **document,
        "texts": told_texts(result.rows, assumed=result.assumed, warnings=result.warnings),
        "rows_path": ROWS_FILE,
        "metrics": {},
        "raw_paths": [],
    }


def with_setup(document: dict[str, Any], setup: Mapping[str, Any] | None) -> dict[str, Any]:
    """A stored document with what was filled in for it, so that it can be run again."""
    return document if setup is None else document | {"setup": dict(setup)}


def told_texts(
    rows: Sequence[StudyRow], *, assumed: Sequence[Message], warnings: Sequence[Message]
) -> dict[str, Any]:
    """What a stored study says in words, as data: it is read in the language of whoever reads it."""
    return {
        "assumed": [message_to_plain(line) for line in assumed],
        "warnings": [message_to_plain(warning) for warning in warnings],
        "errors": [error["message"] for error in run_errors(rows, message_to_plain)],
    }


class Rows(Protocol):
    """What has rows of runs: a study or an optimisation."""

    @property
    def rows(self) -> tuple[StudyRow, ...]: ...

    @property
    def units(self) -> Mapping[str, str]: ...

    @property
    def goals(self) -> tuple[DesignGoal, ...]: ...


def rows_csv(result: Rows) -> bytes:
    """The rows as a table for spreadsheets: RFC 4180, UTF-8; units stand in the head."""
    rows = result.rows
    names = list(dict.fromkeys(name for row in rows for name in row.parameters))
    has_corner, has_label = (any(getattr(row, key) for row in rows) for key in ("corner", "label"))
    stream = io.StringIO()
    writer = csv.writer(stream)
    head = [
        "run",
        *(["corner"] if has_corner else []),
        *(["label"] if has_label else []),
        *names,
        *(f"{metric} [{unit}]" if unit and unit != "1" else metric for metric, unit in result.units.items()),
        *(["goals_met"] if result.goals else []),
        "state",
        "reason",
    ]  # fmt: skip
    writer.writerow(map(plain_cell, head))
    for row in rows:
        writer.writerow([
            row.run,
            *([plain_cell(row.corner or "")] if has_corner else []),
            *([plain_cell(row.label)] if has_label else []),
            *(_cell(row.parameters.get(name, math.nan)) for name in names),
            *(_cell(row.metrics.get(metric, math.nan)) for metric in result.units),
            *([row.goals_met] if result.goals else []),
            row.state,
            plain_cell(str(row.reason or "")),
        ])  # fmt: skip
    return stream.getvalue().encode("utf-8")


def _cell(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _row(row: StudyRow, translate: Translate) -> dict[str, Any]:
    document: dict[str, Any] = {"run": row.run}
    if row.label:
        document["label"] = row.label
    if row.corner is not None:
        document["corner"] = row.corner
    document |= {"parameters": dict(row.parameters), "metrics": dict(row.metrics), "state": row.state}
    if row.goals_met is not None:
        document["goals_met"] = row.goals_met
    if row.reason is not None:
        document["reason"] = translate(row.reason)
    return document


def _nothing_measured(result: StudyResult, translate: Translate) -> Iterator[dict[str, Any]]:
    """The error of a study whose runs went well and gave no metric at all."""
    if result.rows and result.failed < len(result.rows) and not result.has_values:
        text = translate(msg("No run produced a value of any metric; see the warnings."))
        yield {"code": "nothing-measured", "message": text, "file": None, "line": None, "advice": None}


def run_errors(rows: Sequence[StudyRow], translate: Callable[[Message], Any]) -> Iterator[dict[str, Any]]:
    """Why runs failed, each reason once, with how many runs and the first of them."""
    found: dict[tuple[str, object, object], tuple[SimulationIssue, list[int]]] = {}
    for row in rows:
        for issue in row.issues:
            if issue.severity == "error" and row.state != "ok":
                key = (str(issue.message), issue.file, issue.line)
                found.setdefault(key, (issue, []))[1].append(row.run)
    for issue, runs in list(found.values())[:_ERRORS_TOLD]:
        yield {
            "code": issue.code,
            "message": translate(issue.message),
            "file": issue.file,
            "line": issue.line,
            "advice": translate(issue.advice) if issue.advice else None,
            "runs": len(set(runs)),
            "first_run": runs[0],
        }


def _statistics(result: StudyResult) -> dict[str, Any]:
    """By metric; for a worst case and a sensitivity what they are about."""
    if result.worst_cases:
        return {name: _worst_case(case) for name, case in result.worst_cases.items()}
    if result.sensitivities:
        nominal = result.nominal.metrics if result.nominal is not None else {}
        return {
            name: {
                "unit": result.units[name],
                "nominal": nominal.get(name, math.nan),
                "method": "central differences",
                "sensitivities": [_sensitivity(item) for item in found],
            }
            for name, found in result.sensitivities.items()
        }
    return {name: _metric(item) for name, item in result.statistics.items()}


def _metric(item: MetricStatistics) -> dict[str, Any]:
    document: dict[str, Any] = {
        "unit": item.unit,
        "n": item.count,
        "failed": item.failed,
        "mean": item.mean,
        "mean_interval": list(item.mean_interval),
        "sigma": item.sigma,
        "sigma_interval": list(item.sigma_interval),
        "median": item.median,
        "min": item.minimum,
        "min_run": item.minimum_run,
        "max": item.maximum,
        "max_run": item.maximum_run,
        "quantiles": {f"{share:g}": value for share, value in item.quantiles.items()},
        "correlations": dict(item.correlations),
        "contributions": dict(item.contributions),
    }
    if not math.isnan(item.cpk):
        document |= {"cp": item.cp, "cpk": item.cpk}
    if item.histogram is not None:
        document["histogram"] = {"edges": list(item.histogram.edges), "counts": list(item.histogram.counts)}
    return document


def yield_document(item: Yield) -> dict[str, Any]:
    low, high = item.interval
    return {"value": item.value, "passed": item.passed, "n": item.total, "low": low, "high": high}


def _span(span: CornerSpan | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "unit": span.unit,
        "min": span.minimum,
        "min_corner": span.minimum_corner,
        "max": span.maximum,
        "max_corner": span.maximum_corner,
        "worst_corner": span.worst_corner,
    }


def _plane(found: MapFindings) -> dict[str, Any]:
    return {
        "axes": [
            {"name": axis.name, "min": axis.low, "max": axis.high, "scale": "log" if axis.is_log else "lin"}
            for axis in found.axes
        ],
        "nodes": found.nodes,
        "share_met": found.share_met,
        "best_run": found.best_run,
    }


def _worst_case(case: WorstCase) -> dict[str, Any]:
    document: dict[str, Any] = {"unit": case.unit, "nominal": case.nominal}
    if case.minimum is not None and case.maximum is not None:
        document["eva"] = {"min": _extreme(case.minimum), "max": _extreme(case.maximum)}
        document |= {"min": case.minimum.value, "max": case.maximum.value}
    if not math.isnan(case.rss[0]):
        document["rss"] = {"min": case.rss[0], "max": case.rss[1]}
        document.setdefault("min", case.rss[0])
        document.setdefault("max", case.rss[1])
    return document | {"effects": dict(case.effects), "not_monotonic": list(case.not_monotonic)}


def _extreme(extreme: Extreme) -> dict[str, Any]:
    return {"value": extreme.value, "run": extreme.run, "parameters": dict(extreme.parameters)}


def _sensitivity(item: Sensitivity) -> dict[str, Any]:
    return {
        "parameter": item.parameter,
        "slope": item.slope,
        "normalized": item.normalised,
        "per_tolerance": item.per_tolerance,
    }


def _goal(goal: DesignGoal) -> Mapping[str, Any]:
    return {"metric": goal.metric, ">=": goal.minimum, "<=": goal.maximum, "weight": goal.weight}
