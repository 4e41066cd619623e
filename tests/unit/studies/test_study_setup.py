"""From a page that is filled in to the specification the command line reads."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from domain.simulation.goals import DesignGoal
from domain.studies.setup import (
    SETUP_KINDS,
    Adjustable,
    CircuitOffer,
    Metric,
    SetupKind,
    SetupRow,
    StudySetup,
    UsualSetups,
    document_of,
    fitting,
    measured_and_limit,
    percent,
    row_for,
    row_problem,
    setup_problem,
    with_measurements,
)
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError
from tests.ground.cases import for_each

GOAL = DesignGoal(
    metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=9700.0, maximum=10300.0, target=10e3
)
HOT = DesignGoal(metric="gain", expression="gain(v(out),1k)", unit="1", minimum=9.0, condition="at 85 degC")
OFFER = CircuitOffer(
    adjustables=(
        Adjustable(name="R1", text="13k", value=13e3, letter="r"),
        Adjustable(name="R2", text="16k", value=16e3, letter="r"),
        Adjustable(name="RX", text="{rx}", value=math.nan, letter="r"),
        Adjustable(name="C1", text="1n", value=1e-9, letter="c"),
        Adjustable(name="gain", text="3", value=3.0),
        Adjustable(name="M1.w", text="10u", value=10e-6),
        Adjustable(name="temp", text="27", value=27.0),
    ),
    metrics=(
        Metric(name="fc", expression="bandwidth(v(out))", goals=(GOAL,)),
        Metric(name="gain", expression="gain(v(out),1k)", goals=(HOT,)),
        Metric(name="a40k", expression=""),
    ),
    sections=("TT", "FF"),
    supplies=("vdd",),
)


def test_a_pattern_stands_for_elements_and_a_name_for_any_quantity():
    assert [item.name for item in fitting("r?", OFFER)] == ["R1", "R2", "RX"]
    assert [item.name for item in fitting("*", OFFER)] == ["R1", "R2", "RX", "C1"], (
        "no .param, as in the engine"
    )
    assert [item.name for item in fitting("m1.W", OFFER)] == ["M1.w"]
    assert fitting("R9*", OFFER) == fitting("", OFFER) == ()


def test_a_monte_carlo_reads_as_the_same_specification():
    rows = (
        SetupRow(pattern="R*", without=("RX",), tolerance="5 %"),
        SetupRow(pattern="C1", tolerance="1", meaning="sigma", distribution="normal"),
    )
    setup = StudySetup(rows=rows, runs="500", seed="7", without=("gain",), limits={"a40k": ">= 46"})
    assert setup_problem("montecarlo", setup, OFFER) is None
    document = document_of("montecarlo", setup, OFFER)
    spec = read_study_spec(document)
    assert (spec.runs, spec.seed, spec.sampling) == (500, 7, "random")
    by_name = {item.name: item.spread for item in spec.parameters}
    assert list(by_name) == ["R1", "R2", "C1"]
    first, last = by_name["R1"], by_name["C1"]
    assert first is not None
    assert last is not None
    assert (first.tolerance, first.distribution, first.is_sigma) == (0.05, "uniform", False)
    assert (last.tolerance, last.distribution, last.is_sigma) == (0.01, "normal", True)
    assert spec.measures == {"fc": "bandwidth(v(out))", "a40k": "a40k"}
    assert [(goal.metric, goal.minimum, goal.maximum) for goal in spec.goals] == [
        ("fc", 9700.0, 10300.0),
        ("a40k", 46.0, None),
    ]


def test_ranges_of_sweep_and_search_read_as_the_same_specification():
    rows = (
        SetupRow(pattern="R1", low="1k", high="10k", scale="log", points="5"),
        SetupRow(pattern="C1", scale="list", values="1n, 2.2 n，4.7n"),
        SetupRow(pattern="R2", scale="E24"),
    )
    sweep = read_study_spec(document_of("sweep", StudySetup(rows=rows), OFFER)).parameters
    ranges = [item.range for item in sweep]
    assert ranges[0] is not None
    assert (ranges[0].minimum, ranges[0].maximum, ranges[0].scale, ranges[0].points) == (1e3, 1e4, "log", 5)
    assert sweep[1].values == pytest.approx((1e-9, 2.2e-9, 4.7e-9))
    assert ranges[2] is not None
    assert (ranges[2].minimum, ranges[2].maximum, ranges[2].scale) == (5.3e3, 48e3, "E24")
    setup = StudySetup(rows=rows, objective="a40k", maximizes=True, budget="80", seed="0")
    search = read_study_spec(document_of("optimize", setup, OFFER))
    assert search.search.budget == 80
    assert search.seed == 0
    assert [(each.metric, each.maximize) for each in search.search.objectives] == [("a40k", True)]
    assert search.parameters[0].range is not None
    assert search.parameters[0].range.points is None, "points belong to sweeps"


def test_corners_span_process_supply_and_temperature():
    setup = UsualSetups(offer=OFFER).of("corners")
    spec = read_study_spec(document_of("corners", setup, OFFER))
    assert len(spec.corners.corners) == 2 * 3 * 3
    assert {s.name for corner in spec.corners.corners for s in corner.settings} == {"vdd", "temp"}
    at_corners = replace(setup, rows=(SetupRow(pattern="R1"),), at_corners=True)
    assert read_study_spec(document_of("montecarlo", at_corners, OFFER)).at_corners
    assert "corners" not in document_of("montecarlo", replace(at_corners, at_corners=False), OFFER)


@for_each("kind", SETUP_KINDS)
def test_what_a_page_begins_with_can_be_run_at_once(kind: SetupKind):
    offer = replace(OFFER, adjustables=tuple(each for each in OFFER.adjustables if each.name != "RX"))
    setup = UsualSetups(offer=offer).of(kind)
    assert setup_problem(kind, setup, offer) is None
    assert [row_problem(kind, row, offer) for row in setup.rows] == [None] * len(setup.rows)
    read_study_spec(document_of(kind, setup, offer))
    assert "gain" in setup.without, "a goal that holds at 85 degrees is not judged at others unasked"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("bandwidth(v(out))", ("bandwidth(v(out))", "")),
        (" bandwidth(v(out)) 9.5k..10.5k ", ("bandwidth(v(out))", "9.5k..10.5k")),
        ("max(v(out), 1m, 2m)<=5 V", ("max(v(out), 1m, 2m)", "<=5 V")),
        ("db(gain(v(out),1k)) - 3 >= 20", ("db(gain(v(out),1k)) - 3", ">= 20")),
        ("v(out) - 3", ("v(out) - 3", "")),
    ],
)
def test_a_limit_stands_behind_what_is_measured(text: str, read: tuple[str, str]):
    assert measured_and_limit(text) == read


def test_what_is_no_measurement_with_a_limit_is_refused():
    with pytest.raises(CircuitAIError):
        measured_and_limit("bandwidth(v(out)) soon")


def test_a_search_does_not_begin_with_the_load():
    loaded = (Adjustable(name="RL", text="5", value=5.0, letter="r", is_load=True), *OFFER.adjustables)
    rows = UsualSetups(offer=replace(OFFER, adjustables=loaded)).of("optimize").rows
    assert [each.pattern for each in rows] == ["R1", "R2", "C1"]


def test_a_kind_takes_over_parameters_and_limits_of_its_like():
    former = {
        "montecarlo": StudySetup(
            rows=(SetupRow(pattern="R1", tolerance="2 %"),),
            added=("pp(v(out))",),
            limits={"a40k": "1", "g": "2"},
        ),
        "optimize": StudySetup(added=("db(v(out))",), limits={"g": "3"}),
    }
    worst = UsualSetups(offer=OFFER, former=former).of("worst-case")
    assert worst.rows == former["montecarlo"].rows
    assert worst.limits == {"a40k": "1", "g": "2"}
    sweep = UsualSetups(offer=OFFER, former=former).of("sweep")
    assert sweep.rows[0].low
    assert sweep.added == worst.added == ("pp(v(out))", "db(v(out))")
    assert sweep.limits == {"a40k": "1", "g": "3"}


@for_each(
    ("kind", "row", "said"),
    [
        ("montecarlo", SetupRow(), "Enter a name"),
        ("montecarlo", SetupRow(pattern="R9*"), "No part matches R9*."),
        ("montecarlo", SetupRow(pattern="R?", without=("R1", "R2", "RX")), "No part is selected."),
        ("montecarlo", SetupRow(pattern="R1", tolerance="much"), "in percent"),
        ("montecarlo", SetupRow(pattern="R1", tolerance="-5 %"), "in percent"),
        ("worst-case", SetupRow(pattern="RX"), "RX does not have a plain value"),
        ("sweep", SetupRow(pattern="RX"), "lower and the upper"),
        ("sweep", SetupRow(pattern="R1", low="10k", high="1k"), "less than"),
        ("sweep", SetupRow(pattern="R1", low="0", high="1k", scale="log"), "greater than 0"),
        ("sweep", SetupRow(pattern="R1", points="few"), "whole number"),
        ("sweep", SetupRow(pattern="R1", scale="list", values="1k, x"), "separated by commas"),
        ("optimize", SetupRow(pattern="R1", low="abc"), "lower and the upper"),
    ],
)
def test_what_is_wrong_with_a_row(kind: SetupKind, row: SetupRow, said: str):
    problem = row_problem(kind, row, OFFER)
    assert problem is not None
    assert said in str(problem)


@for_each(
    ("kind", "setup", "said"),
    [
        ("montecarlo", StudySetup(), "Add a parameter"),
        ("montecarlo", StudySetup(runs="0"), "whole number of runs"),
        ("montecarlo", StudySetup(seed="x"), "seed"),
        ("montecarlo", StudySetup(without=("fc", "gain", "a40k")), "Nothing is measured"),
        ("montecarlo", StudySetup(limits={"a40k": "high"}), "Enter a limit"),
        ("optimize", StudySetup(budget=""), "how many simulations"),
        ("optimize", StudySetup(without=("fc", "gain")), "Nothing is asked for"),
        ("corners", StudySetup(), "Enter processes"),
        ("corners", StudySetup(voltages="1.8, low"), "low is not a number"),
    ],
)
def test_what_is_wrong_with_a_set_up(kind: SetupKind, setup: StudySetup, said: str):
    problem = setup_problem(kind, setup, OFFER)
    assert problem is not None
    assert said in str(problem)


def test_a_slider_needs_nothing_measured():
    setup = StudySetup(rows=(SetupRow(pattern="R1", low="1k", high="10k"),), without=("fc", "gain", "a40k"))
    assert setup_problem("tune", setup, OFFER) is None
    assert read_study_spec(document_of("tune", setup, OFFER)).measures == {}


@for_each(("text", "share"), [("5 %", 0.05), ("5", 0.05), ("0,5%", 0.005), ("5％", 0.05)])
def test_a_tolerance_is_in_percent(text: str, share: float):
    assert percent(text) == pytest.approx(share)


def test_what_is_measured_besides_is_a_metric_once():
    added = with_measurements(OFFER, ["max(v(out))", "bandwidth(v(out))", "max(v(out))"])
    assert [item.name for item in added.metrics] == ["fc", "gain", "a40k", "max(v(out))"]
    assert document_of("sweep", StudySetup(), added)["measure"]["max(v(out))"] == "max(v(out))"


def test_a_row_for_a_value_has_a_range_around_it():
    assert row_for(OFFER.adjustables[0], "optimize") == SetupRow(
        pattern="R1", low="4.3k", high="39k", scale="E24"
    )
    assert row_for(OFFER.adjustables[5], "sweep").scale == "log"
    circuit_without_analysis = replace(OFFER, has_analysis=False)
    problem = setup_problem("sweep", StudySetup(rows=(SetupRow(pattern="R1"),)), circuit_without_analysis)
    assert "analysis" in str(problem)
