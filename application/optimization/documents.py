"""An optimisation as JSON and as a table: for ``result.json``, the command line and the tool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from application.studies.documents import Translate, rows_csv, run_errors, told_texts, yield_document
from domain.circuit.figures import with_unit
from domain.design.round_table import asked
from domain.simulation.goals import GoalVerdict
from domain.studies.conflicts import Conflict
from domain.studies.optimization import BestPoint, Improvement, OptimizationResult
from domain.studies.robustness import Robustness
from domain.studies.scatter import Scatter
from shared.message import Message, msg
from shared.paths import ROWS_FILE


def optimization_document(result: OptimizationResult, translate: Translate = str) -> dict[str, Any]:
    """The whole optimisation in JSON types (numbers that are none stay NaN; see the caller)."""
    return {
        "ok": result.ok,
        "study": "optimize",
        "stopped": result.is_stopped,
        "end": result.end,
        "best": None if result.best is None else _best(result.best),
        "goals_met": result.goals_met,
        "robustness": [_robustness(item) for item in result.robustness],
        "gm_id": dict(result.efficiencies),
        "scatter": None if result.scatter is None else _scatter(result.scatter, translate),
        "conflicts": [
            {"goals": [goal.metric for goal in item.goals], "met_by": list(item.met_by),
             "nearest": item.nearest, "message": translate(conflict_text(item, result.units))}
            for item in result.conflicts
        ],
        "at_range_end": list(result.at_range_end),
        "start": None
        if result.start is None
        else {"parameters": dict(result.start.parameters), "metrics": dict(result.start.metrics)},
        "statistics": {
            "simulations": len(result.rows),
            "failed": result.failed,
            "repeated": result.repeated,
            "recalled": result.recalled,
            "generations": result.generations,
            "restarts": result.restarts,
            "rate_hz": len(result.rows) / result.duration_s if result.duration_s > 0 else math.nan,
        },
        "runs": {
            "total": result.budget,
            "done": len(result.rows),
            "ok": len(result.rows) - result.failed,
            "failed": result.failed,
        },
        "history": [_improvement(item) for item in result.history],
        "parameters": list(result.parameters),
        "units": dict(result.units),
        "goals": [
            {"metric": goal.metric, ">=": goal.minimum, "<=": goal.maximum, "weight": goal.weight}
            for goal in result.goals
        ],
        "objectives": [
            {"metric": item.metric, "direction": "maximize" if item.maximize else "minimize",
             "weight": item.weight}
            for item in result.objectives
        ],
        "seed": result.seed,
        "budget": result.budget,
        "output_path": result.output_path,
        "result_path": result.result_path,
        "rows_path": result.result_path.with_name(ROWS_FILE),
        "raw_path": result.raw_paths[0] if result.raw_paths else None,
        "errors": list(run_errors(result.rows, translate)),
        "warnings": [{"message": translate(warning)} for warning in result.warnings],
        "simulator": result.simulator_version,
        "confinement": list(result.confinement),
        "duration_s": result.duration_s,
    }  # fmt: skip


def stored_optimization(result: OptimizationResult) -> dict[str, Any]:
    """What ``result.json`` keeps; the simulations are beside it. Paths are relative to its folder."""
    document = optimization_document(result)
    del document["result_path"], document["raw_path"]
    folder = result.result_path.parent
    return {
        "id": result.result_id,
        "created": result.created,
        "kind": "study",
        "search_key": result.search_key,
        "status": "cancelled" if result.is_stopped else "ok" if result.ok else "failed",
        "netlist": {"path": str(result.circuit), "sha256": result.netlist_sha256},
        **document,
        "texts": told_texts(
            result.rows,
            assumed=() if result.scatter is None else result.scatter.assumed,
            warnings=result.warnings,
        ),
        "rows_path": ROWS_FILE,
        "metrics": {},
        "measured": dict(result.measured),
        "raw_paths": [str(path.relative_to(folder)) for path in result.raw_paths],
    }


def optimization_csv(result: OptimizationResult) -> bytes:
    """Every simulation as a table for spreadsheets."""
    return rows_csv(result)


def conflict_text(conflict: Conflict, units: Mapping[str, str]) -> Message:
    """What a conflict says, with the goals in figures."""
    texts = [f"{goal.metric} {asked(goal, unit=units.get(goal.metric, ''))}" for goal in conflict.goals]
    if len(texts) == 1:
        unit = units.get(conflict.goals[0].metric, "")
        value = "-" if math.isnan(conflict.nearest) else with_unit(conflict.nearest, unit)
        return msg("No simulation met {goal}; the nearest was {value}.", goal=texts[0], value=value)
    return msg(
        "{one} and {other} conflict: {one_count} and {other_count} points meet them, no point meets both.",
        one=texts[0],
        other=texts[1],
        one_count=conflict.met_by[0],
        other_count=conflict.met_by[1],
    )


def _best(best: BestPoint) -> dict[str, Any]:
    return {
        "parameters": dict(best.parameters),
        "values": dict(best.texts),
        "metrics": dict(best.metrics),
        "goals": [_verdict(verdict) for verdict in best.verdicts],
        "violation": best.cost.violation,
        "verified": best.is_verified,
        "run": best.run,
    }


def _verdict(verdict: GoalVerdict) -> dict[str, Any]:
    goal = verdict.goal
    return {
        "metric": goal.metric,
        ">=": goal.minimum,
        "<=": goal.maximum,
        "weight": goal.weight,
        "value": verdict.measured.value,
        "unit": verdict.measured.unit,
        "met": verdict.met,
    }


def _robustness(item: Robustness) -> dict[str, Any]:
    return {
        "metric": item.goal.metric,
        "margin": item.margin,
        "holds_within": item.holds_within,
        "decisive": item.decisive,
        "on_edge": item.on_edge,
    }


def _scatter(scatter: Scatter, translate: Translate) -> dict[str, Any]:
    return {
        "yield": {
            **yield_document(scatter.total),
            "goals": {name: yield_document(item) for name, item in scatter.yields.items()},
        },
        "sigma": dict(scatter.sigmas),
        "on_edge": scatter.on_edge,
        "yield_target": scatter.target,
        "assumed": [translate(line) for line in scatter.assumed],
    }


def _improvement(item: Improvement) -> dict[str, Any]:
    return {
        "run": item.run,
        "parameters": dict(item.parameters),
        "metrics": dict(item.metrics),
        "failed": item.cost.failed,
        "violation": item.cost.violation,
        "objective": item.cost.rest,
    }
