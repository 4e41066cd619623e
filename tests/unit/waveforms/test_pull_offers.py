"""What is offered to be moved: figures of a run or of one step, and the goals of other conditions."""

from __future__ import annotations

import math

import pytest

from domain.simulation.goals import DesignGoal
from domain.simulation.result import Quantity as Figure
from domain.simulation.waveform import Step
from presentation.panels.waveforms.pull_offers import (
    figure_of,
    goals_beside,
    in_conditions,
    of_the_run,
    wanted_of,
)
from presentation.panels.waveforms.pull_points import Quantity
from presentation.panels.waveforms.shown_result import Measured
from presentation.panels.waveforms.step_figures import StepFigure

BAND = DesignGoal(metric="bw", expression="bandwidth(v(out))", unit="Hz", minimum=2e3)
HOT = DesignGoal(
    metric="hot", expression="bandwidth(v(out))", unit="Hz", minimum=1e3, maximum=3e3, condition="at 85 degC"
)
BOTH = DesignGoal(
    metric="both", expression="max(v(out))", unit="V", maximum=2.0, condition="-40 to 85 degC, vdd = 3 V"
)
CORNER = DesignGoal(metric="ss", expression="max(v(out))", unit="V", maximum=2.0, condition="slow corner")
LOADED = DesignGoal(metric="low", expression="min(v(out))", unit="V", minimum=0.1, condition="rload = 10k")
STEPS = Step(number=1, count=2, values={"rload": 1e3}), Step(number=2, count=2, values={"rload": 10e3})


def _hertz(value: float) -> Figure:
    return Figure(value=value, unit="Hz")


def _figures(*values: float) -> tuple[StepFigure, ...]:
    return tuple(
        StepFigure(label="", values=step.values, value=_hertz(value))
        for step, value in zip(STEPS, values, strict=True)
    )


CARD = Measured(name="att@1", value=_hertz(5.0), step="rload = 1k", steps=_figures(5.0, 7.0))
GOAL = Measured(
    name="bw", value=_hertz(3e3), goal=BAND, expression=BAND.expression, goal_steps=_figures(3e3, 1.7e3)
)


def test_a_figure_is_that_of_the_step_the_cursors_read() -> None:
    first, other = (list(of_the_run((CARD, GOAL), {}, step)) for step in STEPS)
    assert [each.expression for each in other] == ["att", "bandwidth(v(out))"]
    assert [each.value for each in (*first, *other)] == [5.0, 3e3, 7.0, 1.7e3]
    assert [each.at for each in other] == [{"rload": 10e3}] * 2
    assert str(other[1].name) == "bw at rload = 10k"
    # A goal is asked of the first run alone: in another one its lines are not there to be taken.
    assert (first[1].goal, other[1].goal) == (BAND, None)
    assert goals_beside((BAND, LOADED, HOT), first[0]) == [BAND]
    assert goals_beside((BAND, LOADED, HOT), other[0]) == [LOADED]
    assert figure_of((CARD, GOAL), other[1]) == 1.7e3
    assert figure_of((CARD,), other[1]) is None
    # Steps that nobody wrote down cannot be set again.
    assert list(of_the_run((CARD, GOAL), {}, Step(number=3, count=2, values={}))) == []


def test_a_run_with_values_of_its_own_is_measured_again_with_them() -> None:
    plain = Measured(name="vpp", value=_hertz(4.0))
    (found,) = of_the_run((plain,), {"temp": "85"}, None)
    assert (found.at, found.is_of_run) == ({"temp": 85.0}, False)
    assert goals_beside((BAND, HOT), found) == [HOT]
    (found,) = of_the_run((plain,), {"corner": "SS", "temp": "85"}, None)
    assert (found.at, found.corner, found.is_of_run) == ({"temp": 85.0}, "SS", False)
    assert str(found.name) == "vpp at SS, temp = 85"
    assert list(of_the_run((plain,), {"vdd": "{two}"}, None)) == []
    (found,) = of_the_run((plain, Measured(name="none", value=_hertz(math.nan))), {}, None)
    assert (found.at, found.is_of_run, str(found.name)) == ({}, True, "vpp")


def test_a_goal_of_a_condition_is_offered_for_each_of_its_runs() -> None:
    found = list(in_conditions((BAND, HOT, BOTH, CORNER), {}))
    assert [each.at for each in found] == [
        {"temp": 85.0}, {"temp": -40.0, "vdd": 3.0}, {"temp": 85.0, "vdd": 3.0}, {},
    ]  # fmt: skip
    assert [each.corner for each in found] == ["", "", "", "SS"]
    assert goals_beside((BAND, HOT, CORNER), found[3]) == []
    assert list(in_conditions((CORNER,), {"corner": "SS"})) == []
    assert all(math.isnan(each.value) and not each.is_of_run for each in found)
    assert "temp = -40, vdd = 3" in str(found[1].name)
    assert goals_beside((BAND, HOT, BOTH), found[0]) == []
    # The run was in this condition already: it is among its figures.
    assert [each.goal for each in in_conditions((HOT,), {"temp": "85"})] == []


@pytest.mark.parametrize(
    ("goal", "wanted"), [(HOT, 2e3), (BOTH, 2.0), (DesignGoal(metric="x", expression="x", unit=""), math.nan)]
)
def test_what_is_proposed_is_what_the_goal_asks_for(goal: DesignGoal, wanted: float) -> None:
    quantity = Quantity(name="", expression="", value=math.nan, unit="", goal=goal)
    assert wanted_of(quantity) == pytest.approx(wanted, nan_ok=True)


def test_a_card_that_answers_a_goal_of_its_name_is_moved_as_the_goal_is():
    card = Measured(name="bw", value=_hertz(2.5e3), goal=BAND, is_judged=True)
    assert [each.expression for each in of_the_run([card], {}, None)] == ["bandwidth(v(out))"]
    assert [each.expression for each in of_the_run([Measured(name="BW", value=_hertz(2.5e3))], {}, None)] == [
        "bw"
    ]
