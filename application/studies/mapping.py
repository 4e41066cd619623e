"""A map of two values: a coarse grid whole, then the borders of goals finer while there is time left."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.hunting import NOMINAL_LABEL
from application.studies.input import Runs, StudyInput
from application.studies.plan import Point
from domain.studies.spec_reader import spec_error
from domain.studies.study import MapFindings, StudyRow
from domain.studies.study_spec import StudyParameter, StudySpec
from domain.studies.value_map import (
    COARSE,
    MapAxis,
    Node,
    Samples,
    axis_of,
    coarse_nodes,
    deciding,
    share_met,
)
from shared.message import msg

_USUAL_TIME_S = 10.0


def mapped(spec: StudySpec, _prepared: PreparedCircuit) -> Sequence[StudyParameter]:
    """The parameters of a map. Raises UserInputError where it has none, or nothing to judge."""
    if not spec.parameters:
        raise spec_error(
            "parameters",
            msg("are missing: a map needs two"),
            advice=msg("Add {example}.", example='{"name": "R1", "min": "1k", "max": "10k", "scale": "log"}'),
        )
    if not spec.goals:
        raise spec_error(
            "goals",
            msg("are missing: a map shows where they are met"),
            advice=msg("Add {example}.", example='"fc >= 1k"'),
        )
    return spec.parameters


async def simulate_map(study: StudyInput, runs: Runs) -> object:
    """The circuit as written, the coarse grid, then finer ones along the borders as long as the time of the
    study suffices for the next."""
    axes, nominals = _axes(study), study.plan.nominals(study.plan.corners[0])
    ends = time.monotonic() + (study.spec.search.time_limit_s or _USUAL_TIME_S)
    await runs.do([Point(values=nominals, label=NOMINAL_LABEL)])
    samples, nodes, step = Samples(study.metrics), coarse_nodes(), 2 * COARSE
    while True:
        began = time.monotonic()
        rows = await runs.do([Point(values=_values(axes, node)) for node in nodes])
        for node, row in zip(nodes, rows, strict=True):
            samples.add(node, row.metrics)
        now = time.monotonic()
        each_s, step = (now - began) / len(nodes), step // 2
        nodes = samples.finer(step, study.goals) if step > 1 else []
        if not nodes or now + each_s * len(nodes) > ends:
            return rows


def judge_map(study: StudyInput, rows: Sequence[StudyRow], _units: Mapping[str, str]) -> Mapping[str, Any]:
    """Which share of the plane is good, and the run that is furthest from all borders."""
    axes = _axes(study)
    samples, goals = Samples(study.metrics), deciding(study.goals)
    points = [row for row in rows if row.label != NOMINAL_LABEL]
    best: tuple[float, int] | None = None
    for row in points:
        node = node_of(axes, row.parameters)
        if node is not None:
            samples.add(node, row.metrics)
        margins = [goal.margin(row.metrics.get(goal.metric, math.nan)) for goal in goals]
        known = [margin for margin in margins if margin is not None]
        if len(known) == len(margins) and (best is None or min(known) > best[0]):
            best = (min(known), row.run)
    return {
        "nominal": next((row for row in rows if row.label == NOMINAL_LABEL), None),
        "plane": MapFindings(
            axes=axes,
            nodes=samples.finest,
            share_met=share_met(samples, goals),
            best_run=None if best is None else best[1],
        ),
    }


def node_of(axes: tuple[MapAxis, MapAxis], values: Mapping[str, float]) -> Node | None:
    """The node of a run; None for one that is beside all of them."""
    across, up = (axis.place(values.get(axis.name, math.nan)) for axis in axes)
    return None if across is None or up is None else (across, up)


def _axes(study: StudyInput) -> tuple[MapAxis, MapAxis]:
    """Raises UserInputError unless there are two parameters, each with a range."""
    parameters = study.plan.parameters
    if len(parameters) != 2:
        raise spec_error(
            "parameters",
            msg("must be two for a map, not {count}: {names}", count=len(parameters),
                names=", ".join(parameter.name for parameter in parameters)),
        )  # fmt: skip
    nominals = study.plan.nominals(study.plan.corners[0])
    first, second = (
        axis_of(parameter, nominals[parameter.name], f"parameters[{number}]")
        for number, parameter in enumerate(parameters)
    )
    return first, second


def _values(axes: tuple[MapAxis, MapAxis], node: Node) -> dict[str, float]:
    return {axis.name: axis.value(place) for axis, place in zip(axes, node, strict=True)}
