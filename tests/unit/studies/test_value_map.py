"""The plane of two values: its nodes, what lies between runs, which cells are made finer."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from domain.simulation.goals import DesignGoal
from domain.studies.study_spec import Range, StudyParameter
from domain.studies.value_map import (
    CELLS,
    COARSE,
    MapAxis,
    Node,
    Samples,
    axis_of,
    coarse_nodes,
    excess,
    share_met,
)
from shared.errors import UserInputError
from tests.ground.cases import for_each

LOW = DesignGoal(metric="y", expression="", unit="", minimum=1.0)


def planes(low: float, high: float, *, is_log: bool) -> MapAxis:
    return MapAxis(name="R1", low=low, high=high, is_log=is_log)


def samples_of(nodes: list[Node], figure: object) -> Samples:
    found = Samples(["y"])
    assert callable(figure)
    for node in nodes:
        found.add(node, {"y": figure(*node)})
    return found


@for_each(
    "axis",
    [
        planes(1e3, 1e6, is_log=True),
        planes(999.9, 1000.1, is_log=True),
        planes(1e-15, 3e-15, is_log=True),
        planes(-5.0, 5.0, is_log=False),
        planes(1e6, 1e6 + 1, is_log=False),
    ],
)
def test_a_value_written_as_it_was_simulated_is_found_at_its_node(axis: MapAxis) -> None:
    values = [axis.value(place) for place in range(CELLS + 1)]
    assert (values[0], values[-1]) == (axis.low, axis.high)
    assert all(low < high for low, high in pairwise(values))
    assert [axis.place(value) for value in values] == list(range(CELLS + 1))
    assert axis.place((values[3] + values[4]) / 2) is None
    assert axis.place(values[-1] + (values[-1] - values[-2])) is None
    assert axis.place(math.nan) is None


def test_a_parameter_without_a_range_goes_from_a_third_to_three_times_its_value() -> None:
    axis = axis_of(StudyParameter(name="R1"), 10e3, "parameters[0]")
    assert (axis.low, axis.high, axis.is_log) == (3330.0, 30e3, True)
    turned = axis_of(StudyParameter(name="V1"), -3.0, "parameters[0]")
    assert (turned.low, turned.high, turned.is_log) == (-9.0, -1.0, False)
    for parameter, nominal in (
        (StudyParameter(name="R1"), 0.0),
        (StudyParameter(name="R1", values=(1.0, 2.0)), 1.0),
        (StudyParameter(name="R1", range=Range(minimum=1.0, maximum=1.0)), 1.0),
        (StudyParameter(name="R1", range=Range(minimum=1.0, maximum=2.0, scale="E24")), 1.0),
    ):
        with pytest.raises(UserInputError, match=r"parameters\[0\]"):
            axis_of(parameter, nominal, "parameters[0]")


def test_between_runs_a_plane_is_a_plane() -> None:
    nodes = coarse_nodes()
    assert len(nodes) == len(set(nodes)) == 81
    assert all(each % (2 * COARSE) == 0 for node in nodes[:25] for each in node)
    found = samples_of(nodes, lambda x, y: 2 * x - y)
    surface, levels = found.surface("y", [3.0])
    up, across = np.mgrid[: CELLS + 1, : CELLS + 1]
    assert levels == [3.0]
    np.testing.assert_allclose(surface, 2 * across - up, atol=1e-9)
    assert found.finest == 9


def test_only_the_cells_that_a_border_passes_are_made_finer() -> None:
    """The goal is met right of x = 20 of 64."""
    found = samples_of(coarse_nodes(), lambda x, _y: x - 19.0)
    nodes = found.finer(COARSE, [LOW])
    assert {x for x, _ in nodes} == {16, 20, 24}
    assert not set(nodes) & set(coarse_nodes())
    for node in nodes:
        found.add(node, {"y": node[0] - 19.0})
    assert found.finest == 17
    assert share_met(found, [LOW]) == pytest.approx(44 / 64, abs=0.01)
    assert float(excess(found, [LOW])[:, 0].min()) > 0


def test_a_run_without_a_figure_is_no_good_ground_and_its_edge_is_made_finer() -> None:
    found = samples_of(coarse_nodes(), lambda x, _y: math.nan if x > 32 else 5.0)
    assert {x for x, _ in found.finer(COARSE, [LOW])} == {32, 36, 40}
    assert share_met(found, [LOW]) == pytest.approx(0.5, abs=0.01)
    assert share_met(Samples(["y"]), [LOW]) == 0.0


def test_a_metric_over_decades_is_interpolated_by_its_logarithm() -> None:
    found = samples_of(coarse_nodes(), lambda x, _y: 10.0 ** (x / 16))
    surface, (level, beside) = found.surface("y", [10.0, -1.0])
    assert np.argmin(np.abs(surface[0] - level)) == 16
    assert beside == -math.inf
