"""A kept map of two values as something to draw: the window paints it, a report draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from application.studies.mapping import node_of
from application.studies.reading import StoredStudy, figure_of
from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import RealArray
from domain.studies.value_map import CELLS, FINER, MapAxis, Samples, bounds_of, deciding, excess
from presentation.charts.plane import Border, Place, PlaceOfRun, PlaneContent
from presentation.charts.scales import Scale, logarithmic, ticks_of
from presentation.figures import number
from presentation.goal_margins import typeset
from presentation.study_figures import objects, shown, unit_of

_COLORS = 8
_FEW_DECADES = 2.0
"""A logarithmic axis whose ends have a smaller ratio has evenly spaced figures."""


def axes_of(study: StoredStudy) -> tuple[MapAxis, MapAxis] | None:
    """The two axes of a kept map; None where it does not tell them."""
    found = []
    for item in objects(study.part("map").get("axes")):
        low, high = figure_of(item.get("min")), figure_of(item.get("max"))
        is_log = item.get("scale") == "log"
        if not high > low or (is_log and low <= 0):
            return None
        found.append(MapAxis(name=str(item.get("name", "")), low=low, high=high, is_log=is_log))
    return (found[0], found[1]) if len(found) == 2 else None


def plane_of(study: StoredStudy, present: Mapping[str, float]) -> PlaneContent | None:
    """The plane of a map; `present`: the circuit's values as they are. CPU work. None without axes."""
    axes = axes_of(study)
    if axes is None:
        return None
    samples, runs = Samples(study.units), []
    for row in study.rows:
        node = node_of(axes, row.parameters)
        if node is not None:
            samples.add(node, row.metrics)
            place = (node[0] / CELLS, node[1] / CELLS)
            runs.append(PlaceOfRun(run=row.run, place=place, is_met=row.goals_met is not False and row.is_ok))
    goals = [goal for goal in study.goals if goal.metric in study.units]
    good = _areas(excess(samples, deciding(goals))) if goals and samples.known.any() else []
    x, y = axes
    return PlaneContent(
        x=partial(_scale, x),
        y=partial(_scale, y),
        x_name=x.name,
        y_name=y.name,
        good=good,
        borders=list(_borders(study, samples, goals)),
        runs=runs,
        present=_place(axes, present),
    )


def color_of(number_of_goal: int) -> str:
    """The color of a goal's borders."""
    return f"trace.{number_of_goal % _COLORS}"


def _place(axes: tuple[MapAxis, MapAxis], values: Mapping[str, float]) -> Place | None:
    known = {name.lower(): value for name, value in values.items()}
    across, up = (axis.share(known.get(axis.name.lower(), math.nan)) for axis in axes)
    return (across, up) if 0 <= across <= 1 and 0 <= up <= 1 else None


def _borders(study: StoredStudy, samples: Samples, goals: Sequence[DesignGoal]) -> Iterator[Border]:
    from contourpy import LineType, contour_generator

    for place, goal in enumerate(goals):
        surface, levels = samples.surface(goal.metric, bounds_of(goal))
        if not np.isfinite(surface).any():
            continue
        found = contour_generator(z=np.ma.masked_invalid(surface), line_type=LineType.Separate)
        for bound, level in zip(bounds_of(goal), levels, strict=True):
            lines: Any = found.lines(level) if math.isfinite(level) else []
            sign = "≥" if bound == goal.minimum else "≤"
            text = shown(bound, study.units.get(goal.metric, ""))
            yield Border(
                name=f"{goal.metric} {sign} {text}",
                color=color_of(place),
                lines=[_places(line, CELLS) for line in lines],
            )


def _areas(missed: RealArray) -> list[list[list[Place]]]:
    """Where nothing is missed: each area's outline, then its holes."""
    from contourpy import FillType, contour_generator

    found: Any = contour_generator(z=missed, fill_type=FillType.OuterOffset).filled(-2.0, 0.0)
    return [
        [_places(points[first:last], CELLS * FINER) for first, last in pairwise(offsets)]
        for points, offsets in zip(*found, strict=True)
    ]


def _places(points: RealArray, cells: int) -> list[Place]:
    return [(float(x) / cells, float(y) / cells) for x, y in points]


def _scale(axis: MapAxis, room: int) -> Scale:
    """Figures with their units; the name stands elsewhere."""
    unit = unit_of(axis.name)
    if axis.is_log and axis.high / axis.low > _FEW_DECADES:
        return logarithmic(axis.low, axis.high, unit)
    values = ticks_of(axis.low, axis.high, max(room, 2))
    ticks = [(axis.share(value), typeset(number(value, unit))) for value in values]
    return Scale(low=axis.low, high=axis.high, ticks=ticks, unit="", is_log=axis.is_log)
