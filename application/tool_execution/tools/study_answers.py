"""What the tools that simulate a circuit many times answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from application.tool_execution.definition import ToolContext
from domain.llm.tools.result import ToolResult, failure
from shared.message import msg

if TYPE_CHECKING:
    from domain.studies.study import StudyResult

_MOST_ROWS = 40
_MOST_TOLD = 20


def study_answer(result: StudyResult, context: ToolContext) -> ToolResult:
    """What a tool answers about a study."""
    from application.studies.documents import study_document

    view = context.view
    details = plain_figures(study_document(result))
    details["rows"] = details["rows"][:_MOST_ROWS] if result.kind in ("sweep", "corners") else []
    for item in details["statistics"].values():
        item.pop("histogram", None)
    details["file_path"] = view.name_of(result.circuit)
    details["result_path"] = view.name_of(result.result_path)
    details["rows_path"] = view.name_of(result.result_path.with_name("rows.csv"))
    for error in details["errors"]:
        error["file"] = None if error["file"] is None else view.name_of(error["file"])
    content = _content(details)
    if result.rows and result.failed < len(result.rows):
        return ToolResult(
            success=True,
            content=content,
            summary=msg(
                "Simulated {path} {count} {count:time|times}, {failed} failed.", path=details["file_path"],
                count=len(result.rows), failed=result.failed,
            ),
            result=details,
        )  # fmt: skip
    reasons = [row.reason for row in result.rows if row.reason is not None]
    return failure(
        "simulation_failed",
        msg("Every run of {path} failed: {reason}", path=details["file_path"],
            reason=reasons[0] if reasons else msg("no reason was given")),
        detail=content,
        result=details,
    )  # fmt: skip


def plain_figures(value: Any) -> Any:
    """A document in JSON types; None for NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain_figures(item) for key, item in value.items()}
    return [plain_figures(item) for item in value] if isinstance(value, list | tuple) else value


def _content(details: Mapping[str, Any]) -> str:
    runs = details["runs"]
    lines = [
        f"{details['study']} of {details['file_path']}: {runs['done']} runs, {runs['failed']} failed, "
        f"all rows in {details['rows_path']}",
        *(f"assumed: {line}" for line in details["assumed"]),
    ]
    if "yield" in details:
        found = details["yield"]
        lines.append(
            f"yield {_number(found['value'])} ({found['passed']} of {found['n']}), 95 % confidence "
            f"{_number(found['low'])} to {_number(found['high'])}"
        )
    goals = details.get("yield", {}).get("goals", {})
    if len(goals) > 1:
        lines += [f"  {goal}: met in {item['passed']} of {item['n']}" for goal, item in goals.items()]
    if details["goals_met"] is not None:
        lines.append(f"goals met: {'yes' if details['goals_met'] else 'no'}")
    for metric, item in details["statistics"].items():
        lines.append(f"{metric} [{item['unit'] or '?'}]: {_figures(item, details['study'])}")
        if details["study"] == "montecarlo" and item.get("contributions"):
            lines.append(f"  variance from {_shares(item['contributions'])}")
        if item.get("effects"):
            effects = list(item["effects"].items())[:_MOST_TOLD]
            lines.append("  alone: " + ", ".join(f"{name} ±{_number(abs(half))}" for name, half in effects))
        lines += [f"  {_named(entry)}" for entry in item.get("sensitivities", ())[:_MOST_TOLD]]
    for metric, span in details.get("corners", {}).items():
        if span is not None:
            worst = f", worst at {span['worst_corner']}" if span["worst_corner"] else ""
            lines.append(f"{metric}: lowest at {span['min_corner']}, highest at {span['max_corner']}{worst}")
    lines += [_error(item) for item in details["errors"][:5]]
    lines += [f"warning: {item['message']}" for item in details["warnings"][:5]]
    lines += [_row(row) for row in details["rows"]]
    return "\n".join(lines)


def _error(item: Mapping[str, Any]) -> str:
    """An error of some runs, or of the study as a whole."""
    where = f"error in {item['runs']} runs" if "runs" in item else "error"
    return f"{where}: {item['message']}"


def _shares(contributions: Mapping[str, float]) -> str:
    """``R1 61 %, C1 36 %, curvature and interplay 3 %``."""
    told = [f"{name} {100 * share:.0f} %" for name, share in list(contributions.items())[:_MOST_TOLD]]
    rest = 1 - sum(contributions.values())
    return ", ".join(told) + (f", curvature and interplay {100 * rest:.0f} %" if rest > 0.005 else "")


def _figures(item: Mapping[str, Any], kind: str) -> str:
    spread = ("mean", "sigma", "median", "cpk") if kind == "montecarlo" else ()
    keys = [key for key in ("nominal", "mean", "sigma", "min", "median", "max", "cpk")
            if key in spread or key in ("nominal", "min", "max")]  # fmt: skip
    figures = [f"{key} {_number(item[key])}" for key in keys if key in item]
    if "rss" in item:
        figures.append(f"rss {_number(item['rss']['min'])} to {_number(item['rss']['max'])}")
    return ", ".join(figures)


def _named(entry: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value if isinstance(value, str) else _number(value)}"
        for key, value in entry.items()
        if value is not None
    )


def _row(row: Mapping[str, Any]) -> str:
    place = " ".join(str(row[key]) for key in ("run", "label", "corner") if key in row)
    values = " ".join(f"{name}={_number(value)}" for name, value in row["parameters"].items())
    metrics = " ".join(f"{name}={_number(value)}" for name, value in row["metrics"].items())
    return f"{place}: {values} -> {metrics if row['state'] == 'ok' else row['state']}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
