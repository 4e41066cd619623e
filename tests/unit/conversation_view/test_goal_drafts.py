"""Goals as people write them: what is read from a row and from a text, and what is said of mistakes."""

import json

import pytest

from domain.simulation.goals import DesignGoal
from presentation.dialogs.goal_drafts import (
    BadGoal,
    BadText,
    GoalDraft,
    draft_of_measurement,
    drafts_of,
    goals_of,
    read_figure,
    text_of,
)
from tests.ground.cases import for_each

CUTOFF = DesignGoal(
    metric="cutoff",
    expression="highcut(v(out))",
    unit="Hz",
    minimum=9071.83,
    maximum=10026.76,
    target=9549.2965855,
    words="at 9.55 kHz",
)
PEAKING = DesignGoal(metric="peaking", expression="max(db(v(out)))", unit="dB", maximum=0.5, stated=False)
GAIN = DesignGoal(metric="gain", expression="db(v(out))", unit="dB", minimum=5.76, maximum=6.28, target=6.02)
SPAN = DesignGoal(metric="vout", expression="avg(v(out))", unit="V", minimum=4.9, maximum=5.2)


@pytest.mark.parametrize("goal", [CUTOFF, PEAKING, GAIN, SPAN])
def test_what_is_not_touched_is_exactly_what_it_was(goal: DesignGoal) -> None:
    draft = GoalDraft.of(goal)
    assert draft.goal() == goal
    assert not draft.is_changed
    (read,) = drafts_of(text_of([draft]), [draft])
    assert read.goal() == goal


@for_each(
    ("text", "unit", "value"),
    [
        ("10 kHz", "Hz", 1e4),
        ("10k", "Hz", 1e4),
        ("2.2\u00a0MHz", "Hz", 2.2e6),
        ("2 m", "V", 2e-3),
        ("6 µV", "V", 6e-6),
        ("-40 dB", "dB", -40.0),
        ("−40\u00a0dB", "dB", -40.0),
        ("45°", "deg", 45.0),
        ("0,5", "dB", 0.5),
        ("90 %", "1", 0.9),
        ("1e-15 A", "A", 1e-15),
        ("47 kΩ", "Ohm", 47e3),
        ("47 kohm", "Ohm", 47e3),
    ],
)
def test_figures(text: str, unit: str, value: float) -> None:
    found, of = read_figure(text, unit)
    assert (found, of) == (pytest.approx(value), unit)


@pytest.mark.parametrize("text", ["", "fast", "10 V", "10 kHzz", "nan", "1e999"])
def test_what_is_no_figure_of_the_unit_is_refused_with_advice(text: str) -> None:
    with pytest.raises(BadGoal) as refused:
        read_figure(text, "Hz")
    assert refused.value.cell == "limit"
    assert "example" in str(refused.value) or "write it as" in str(refused.value)


def test_an_added_goal_takes_its_unit_from_what_is_written() -> None:
    draft = GoalDraft(metric="tau", expression="max(v(out))", operator="=", limit="5 mV", tolerance="±10 %")
    goal = draft.goal()
    assert (goal.unit, goal.minimum, goal.maximum) == ("V", pytest.approx(4.5e-3), pytest.approx(5.5e-3))


@pytest.mark.parametrize(
    ("change", "cell"),
    [
        ({"metric": " "}, "metric"),
        ({"expression": "max(db(v(out))"}, "expression"),
        ({"expression": ""}, "expression"),
        ({"tolerance": "±0 %"}, "tolerance"),
        ({"tolerance": "a little"}, "tolerance"),
        ({"operator": "…", "limit": "5 kHz"}, "limit"),
        ({"operator": "…", "limit": "5 kHz … 4 kHz"}, "limit"),
    ],
)
def test_each_mistake_names_its_cell(change: dict[str, str], cell: str) -> None:
    whole = {"metric": "f", "expression": "highcut(v(out))", "operator": "=", "limit": "1 kHz"}
    with pytest.raises(BadGoal) as refused:
        GoalDraft(**(whole | change)).goal()  # type: ignore[arg-type]
    assert refused.value.cell == cell


def test_wishes_alone_and_names_twice_are_refused() -> None:
    cutoff = GoalDraft.of(CUTOFF)
    with pytest.raises(BadGoal, match="must"):
        goals_of([GoalDraft(**{**{f: getattr(cutoff, f) for f in cutoff.__slots__}, "weight": "wish"})])
    with pytest.raises(BadGoal, match="cutoff"):
        goals_of([cutoff, cutoff])


@for_each(
    ("line", "text"),
    [
        (1, "goals"),
        (
            3,
            '[\n  {"goal": "a", "measure": "v(out)", "limit": "<= 1 V"},\n'
            '  {"goal": "b", "measure": "v(out)"}\n]',
        ),
        (2, '[\n  {goal: "a"}\n]'),
        (3, '[\n  {"goal": "a", "measure": "v(out)", "limit": "<= 1 V"}\n  {"goal": "b"}\n]'),
        (2, '[\n  {"goal": "a", "measure": "v(out", "limit": "<= 1 V"}\n]'),
        (2, '[\n  {"goal": "a", "measure": "v(out)", "limit": "1 V"}\n]'),
        (2, '[\n  {"goal": "a", "measure": "v(out)", "limit": "<= 1 V", "colour": "red"}\n]'),
        (2, '[\n  {"goal": "a", "measure": "v(out)", "limit": "<= 1 V", "weight": "heavy"}\n]'),
        (2, '[\n  "cutoff"\n]'),
        (3, '[\n  {"goal": "a", "measure": "v(out)", "limit": "<= 1 V"}\n] and more'),
    ],
)
def test_a_wrong_text_is_refused_with_its_line(line: int, text: str) -> None:
    with pytest.raises(BadText) as refused:
        drafts_of(text, [])
    assert refused.value.line == line


def test_the_text_is_json_and_changes_are_taken_from_it() -> None:
    drafts = [GoalDraft.of(CUTOFF), GoalDraft.of(PEAKING)]
    text = text_of(drafts)
    assert [entry["goal"] for entry in json.loads(text)] == ["cutoff", "peaking"]
    changed = text.replace("≤ 0.5 dB", "<= 0.1 dB").replace('"weight": "must"}\n]', '"weight": "wish"}\n]')
    cutoff, peaking = goals_of(drafts_of(changed, drafts))
    assert cutoff == CUTOFF
    assert (peaking.maximum, peaking.weight, peaking.stated) == (0.1, "wish", True)


@pytest.mark.parametrize(
    ("expression", "value", "unit", "metric"),
    [
        ("bandwidth(v(out))", 9947.3, "Hz", "bandwidth"),
        ("db(dcgain(v(out)))", -4.389e-6, "dB", "dcgain_2"),
        ("min(tran.v(out))", 0.0, "V", "min"),
        ("max(tran.v(out))", -3.2e-3, "V", "max"),
        ("phase_margin(v(out))", 53.04, "deg", "phase_margin"),
        ("noise_total(onoise)", 4.85e-6, "V/sqrt(Hz)", "noise_total"),
    ],
)
def test_a_measured_value_is_proposed_as_a_goal_it_meets(
    expression: str, value: float, unit: str, metric: str
) -> None:
    draft = draft_of_measurement(expression, expression, value, unit, {"dcgain"})
    assert draft.metric == metric
    goal = draft.goal()
    assert goal.unit == unit
    assert goal.is_met_by(value)
    assert "e" not in draft.limit.replace("deg", "")


@for_each(
    ("expression", "value", "unit", "operator", "limit"),
    [
        ("bandwidth(v(out))", 9947.3, "Hz", "≥", "9.9 kHz"),
        ("db(snr(v(out)))", 61.26, "dB", "≥", "61 dB"),
        ("phase_margin(v(out))", 53.04, "deg", "≥", "53°"),
        ("overshoot(v(out))", 0.1234, "1", "≤", "0.13"),
        ("settling_time(v(out))", 2.31e-6, "s", "≤", "2.4 µs"),
        ("gain_margin(v(out))", -3.21, "dB", "≥", "−3.3 dB"),
        ("max(v(out))", 1.234, "V", "=", "1.234 V"),
    ],
)
def test_what_is_better_on_one_side_is_limited_on_the_other(expression, value, unit, operator, limit):
    draft = draft_of_measurement(expression, expression, value, unit, ())
    assert (draft.operator, draft.limit.replace("\u00a0", " ")) == (operator, limit)
    assert draft.goal().is_met_by(value)


def test_what_a_meas_measures_has_to_be_said() -> None:
    with pytest.raises(BadGoal):
        draft_of_measurement("fc", "", 9924.0, "Hz", ()).goal()
