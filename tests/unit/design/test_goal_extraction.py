"""What models answer to EXTRACT_DESIGN_GOALS, sloppy and hostile, and what is made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from domain.design.goal_extraction import MOST_GOALS, GoalsRead, read_answer, read_goals
from domain.design.goal_words import in_words_of
from domain.simulation.goals import DesignGoal
from tests.ground.cases import for_each

CUTOFF = {
    "metric": "cutoff",
    "expression": "bandwidth(v(out))",
    "analysis": "ac",
    "target": 10000,
    "minimum": None,
    "maximum": None,
    "tolerance": 0.02,
    "unit": "Hz",
    "stated": True,
    "words": "corner at 10 kHz",
}
RIPPLE = {"metric": "ripple", "expression": "ripple(v(out))", "maximum": 0.03, "unit": "V"}
WANTED = ("cutoff", 9800.0, 10200.0, "Hz")


def answer(*goals: object, **entries: object) -> str:
    return json.dumps({"goals": list(goals), **entries}, ensure_ascii=False)


def cutoff(**entries: object) -> str:
    return answer({**CUTOFF, **entries})


def one(expression: str, **entries: object) -> str:
    return answer({"metric": "it", "expression": expression, **entries})


def brief(goal: DesignGoal) -> tuple[str, float | None, float | None, str]:
    return goal.metric, goal.minimum, goal.maximum, goal.unit


PLAIN = cutoff()

READ: dict[str, tuple[str, list[tuple[str, float | None, float | None, str]]]] = {
    # around the JSON
    "plain": (PLAIN, [WANTED]),
    "a fence": (f"```json\n{PLAIN}\n```", [WANTED]),
    "prose and a fence": (f"Sure! Here are the goals:\n```\n{PLAIN}\n```\nShall I go on?", [WANTED]),
    "prose before and behind": (f"The goals I'd read [see below] are: {PLAIN} Good luck!", [WANTED]),
    "thoughts with JSON in them": (f'<think>maybe {{"goals": []}}? no.</think>\n{PLAIN}', [WANTED]),
    "thoughts without their beginning": (f"so the user wants...\n</think>{PLAIN}", [WANTED]),
    "the form first, then the answer": (f'{{"goals": [], "reply": null}}\n\n{PLAIN}', [WANTED]),
    "an open bracket in the prose": (f"In the interval [0, 10) we need: {PLAIN}", [WANTED]),
    "a mark at the beginning": (f"\ufeff{PLAIN}", [WANTED]),
    "encoded with its line ends": (json.dumps(json.loads(PLAIN), indent=4).replace("\n", "\r\n"), [WANTED]),
    # in the JSON
    "trailing commas": (PLAIN.replace("}]", ",},]").replace("]}", "],}"), [WANTED]),
    "single quotes": (str(json.loads(PLAIN)), [WANTED]),
    "full-width punctuation": (PLAIN.replace('": ', '"：').replace(", ", "，"), [WANTED]),
    "comments": ('{"goals": [ // the goals\n' + json.dumps(CUTOFF) + "\n/* no more */ ]}", [WANTED]),
    "a list of goals": (json.dumps([CUTOFF, RIPPLE]), [WANTED, ("ripple", None, 0.03, "V")]),
    "a list of one answer": (f"[{PLAIN}]", [WANTED]),
    "one goal by itself": (json.dumps(CUTOFF), [WANTED]),
    "goals by name": (json.dumps({"goals": {"cutoff": {**CUTOFF, "metric": "cutoff"}}}), [WANTED]),
    "a wrapper": (json.dumps({"result": {"goals": [CUTOFF]}}), [WANTED]),
    "keys in other letters": ('{"Goals": [{"Metric": "cutoff", "Expression": "BANDWIDTH(V(OUT))", '
                              '"Min": 9800, "MAX": 10200, "Unit": "Hz"}]}', [WANTED]),
    # figures
    "a figure with its unit": (cutoff(target="10 kHz"), [WANTED]),
    "a figure with a prefix": (cutoff(target="10k"), [WANTED]),
    "the unit has the prefix": (cutoff(target=10, unit="kHz"), [WANTED]),
    "in SI, but the unit has a prefix": (cutoff(unit="kHz"), [WANTED]),
    "a figure as an object": (cutoff(target={"value": 10, "unit": "kHz"}), [WANTED]),
    "thousands": (cutoff(target="10,000 Hz"), [WANTED]),
    "percent": (cutoff(tolerance="2%"), [WANTED]),
    "plus and minus": (cutoff(tolerance="±2 %"), [WANTED]),
    "a tolerance in its unit": (cutoff(tolerance="200 Hz"), [WANTED]),
    "whole percent, as the words say": (cutoff(tolerance=2, words="10 kHz ±2%"), [WANTED]),
    "a pair": (cutoff(target=None, tolerance=None, range=[9800, "10.2 kHz"]), [WANTED]),
    "a range in words": (cutoff(target="9.8-10.2 kHz", tolerance=None), [WANTED]),
    "Chinese units": (one("ripple(v(out))", maximum="30毫伏"), [("it", None, 0.03, "V")]),
    "Chinese numerals": (one("ripple(v(out))", maximum="不超过三十毫伏", unit="伏"),
                         [("it", None, 0.03, "V")]),
    "a Chinese tolerance": (cutoff(target="10千赫", unit="赫兹", tolerance="百分之二"), [WANTED]),
    "a sign": (one("phase_margin(v(out))", target=">= 60", unit="deg"), [("it", 60.0, None, "deg")]),
    "degrees": (one("phase_margin(v(out))", minimum="60°", unit="度"), [("it", 60.0, None, "deg")]),
    "words": (one("max(db(v(out)))", target="at least 20 dB"), [("it", 20.0, None, "dB")]),
    "words of the other side": (one("avg(i(v1))", value="less than 5 mA"), [("it", None, 0.005, "A")]),
    "a comparator": (one("max(db(v(out)))", comparator="<=", value=3, unit="dB"), [("it", None, 3.0, "dB")]),
    "a comparator in words": (one("ugf(v(out))", operator="at_least", limit="1 MHz"),
                              [("it", 1e6, None, "Hz")]),
    "comparisons in a text": (json.dumps({"goals": "bandwidth(v(out),3) >= 1Meg; max(v(out)) <= 30 mV"}),
                              [("bandwidth", 1e6, None, "Hz"), ("max", None, 0.03, "V")]),
    "a bound in the expression": (one("bandwidth(v(out)) >= 1Meg"), [("it", 1e6, None, "Hz")]),
    "a tolerance of decibels": (one("dcgain(db(v(out)))", target=20, tolerance=0.5, unit="dB"),
                                [("it", 19.5, 20.5, "dB")]),
    "no tolerance": (one("avg(v(out))", target=5, unit="V"), [("it", 4.75, 5.25, "V")]),
    "percent of a share": (one("overshoot(v(out))", maximum=5, unit="%"), [("it", None, 0.05, "1")]),
    "percent of a hundredfold": (one("100*overshoot(v(out))", maximum=5, unit="%"), [("it", None, 5.0, "%")]),
    "volts per microsecond": (one("slew_rate(v(out))", minimum=2, unit="V/us"), [("it", 2e6, None, "V/s")]),
    "a noise density": (one("at(onoise, 1k)", maximum=10, unit="nV/√Hz"), [("it", None, 1e-8, "V/sqrt(Hz)")]),
    "worked out of two figures": (one("ugf(v(out))", minimum=1e6, unit="Hz", words="gain 1000 at 1 kHz"),
                                  [("it", 1e6, None, "Hz")]),
    "no unit at all": (one("rise_time(v(out))", maximum=1e-6), [("it", None, 1e-6, "s")]),
    # goals among goals
    "two halves": (answer({"metric": "vout", "expression": "avg(v(out))", "minimum": 4.9, "unit": "V"},
                          {"metric": "vout", "expression": "avg(V(out))", "maximum": 5.1, "unit": "V"}),
                   [("vout", 4.9, 5.1, "V")]),
    "said twice": (answer(CUTOFF, CUTOFF), [WANTED]),
    "a metric in Chinese": (cutoff(metric="截止频率"), [("截止频率", 9800.0, 10200.0, "Hz")]),
    "a metric with blanks": (cutoff(metric="cut-off frequency"),
                             [("cut_off_frequency", 9800.0, 10200.0, "Hz")]),
}  # fmt: skip


@for_each("name", READ)
def test_what_is_sloppy_is_read_as_meant(name: str) -> None:
    text, goals = READ[name]
    found = read_answer(text)
    assert found.problems == ()
    got = [brief(goal) for goal in found.goals]
    assert [(metric, unit) for metric, *_, unit in got] == [(metric, unit) for metric, *_, unit in goals]
    for (_, *bounds, _), (_, *wanted, _) in zip(got, goals, strict=True):
        assert bounds == [None if each is None else pytest.approx(each, rel=1e-9) for each in wanted]


REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "not a JSON object"),
    "cut off": (PLAIN[:-20], "cut off"),
    "an empty object": ("{}", "neither a goal nor"),
    "an expression of another language": (one("FIND V(out) WHEN freq=1k", minimum=1), "cannot be read"),
    "an unknown function": (one("cutoff_frequency(v(out))", minimum=1), "cutoff_frequency"),
    "no expression": (answer({"metric": "gain", "minimum": 1}), "no expression"),
    "a trivial one": (one("5", minimum=1), "measures no signal"),
    "a whole curve": (one("v(out)", analysis="ac", minimum=1), "max(v(out))"),
    "no bound": (one("avg(v(out))", unit="V"), "no bound"),
    "not finite": (one("avg(v(out))", minimum="1e400"), "no finite number"),
    "a huge whole number": (one("avg(v(out))", minimum=10**400), "no finite number"),
    "true": (one("avg(v(out))", minimum=True), "is not one figure"),
    "a nonsense figure": (one("avg(v(out))", minimum="as low as possible"), "is not one figure"),
    "upside down": (one("avg(v(out))", minimum=5, maximum=4), "never be met"),
    "exactly": (one("avg(v(out))", minimum=5, maximum=5), "exactly 5"),
    "a target outside": (one("avg(v(out))", target=9, minimum=4, maximum=5), "outside its own bounds"),
    "contradicting": (answer(CUTOFF, {**CUTOFF, "target": 20000, "words": ""}), "contradicts goal"),
    "one metric twice": (answer(CUTOFF, {**RIPPLE, "metric": "cutoff"}), "a name of its own"),
    "decibels of volts": (one("max(v(out))", minimum=20, unit="dB"), "max(db(v(out)))"),
    "seconds in hertz": (one("rise_time(v(out))", maximum=1000, unit="Hz"), "gives s"),
    "figure and unit apart": (one("avg(v(out))", minimum="5 A", unit="V"), "is in A"),
    "a thousandth of the words": (cutoff(target=10), "the words say"),
    "a thousandth of one of its words": (cutoff(target=10, words="gain 5, 10 kHz corner"), "the words say"),
    "an odd tolerance": (cutoff(tolerance=50, words=""), "no share"),
    "an odd unit": (cutoff(unit="bananas"), "no unit"),
    "an attenuation as a gain": (
        one("gain(db(v(out)),10k)", minimum=20, unit="dB", words="at least 20 dB down"), "write -(gain("
    ),
    "only wishes": (cutoff(priority="nice to have"), "at least one has to be"),
    "goals as a text": ('{"goals": "a cutoff of 10 kHz"}', "list of objects"),
    "goals as texts": ('{"goals": ["cutoff 10 kHz"]}', "has to be an object"),
}  # fmt: skip


@for_each("name", REFUSED)
def test_what_is_not_right_is_refused_in_words_for_the_model(name: str) -> None:
    text, said = REFUSED[name]
    found = read_answer(text)
    assert any(said in problem for problem in found.problems), found.problems


def test_a_right_goal_stays_beside_a_wrong_one_whose_words_are_kept() -> None:
    wrong = {"metric": "noise", "expression": "loudness(v(out))", "maximum": 1, "words": "quiet enough"}
    found = read_answer(answer(CUTOFF, wrong))
    assert [goal.metric for goal in found.goals] == ["cutoff"]
    assert found.left_out == ("quiet enough",)


def test_every_entry_of_the_template_arrives() -> None:
    text = answer(
        CUTOFF,
        {**RIPPLE, "priority": "wish", "condition": "at 85 degC", "stated": "false"},
        circuit_type="low-pass",
        summary="A filter.",
        reply="Here is what I read.",
        questions=["Which supply?", {"question": "Which load?"}, ""],
    )
    found = read_answer(text)
    assert (found.circuit_type, found.summary, found.reply) == (
        "low-pass",
        "A filter.",
        "Here is what I read.",
    )
    assert found.questions == ("Which supply?", "Which load?")
    first, second = found.goals
    assert (first.weight, first.stated, first.target, first.words) == (
        "must",
        True,
        10000,
        "corner at 10 kHz",
    )
    assert (second.weight, second.stated, second.condition) == ("wish", False, "at 85 degC")


def test_a_greeting_is_answered() -> None:
    assert read_answer('{"goals": [], "reply": "Hello! What shall it do?"}') == GoalsRead(
        reply="Hello! What shall it do?"
    )
    in_prose = read_answer("<think>a greeting</think>Hello! What shall it do?")
    assert in_prose.reply == "Hello! What shall it do?"
    assert in_prose.problems


HOSTILE: dict[str, Any] = {
    "deep": "[" * 100_000,
    "deep and closed": '{"goals": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "a million goals": '{"goals": [' + ",".join(["{}"] * 1_000_000) + "]}",
    "many goals": answer(*[{**CUTOFF, "metric": f"m{n}", "expression": f"ugf(v(n{n}))"} for n in range(500)]),
    "a huge text": answer({**CUTOFF, "words": "x" * 150_000, "metric": "m" * 10_000}, reply="y" * 20_000),
    "a huge expression": one("max(" * 5000 + "v(out)" + ")" * 5000, minimum=1),
    "quotes": '{"goals": ["' + '\\"' * 90_000,
    "brackets": "{[" * 60_000 + PLAIN,
    "thoughts": "<think>" * 25_000 + PLAIN,
    "comments": '{"goals": [' + "/*" * 90_000,
    "control characters": answer(CUTOFF, reply="a\x1b[31m\u202eb\x00\ud800"),
    "half characters": one("avg(v(\ud800))", minimum="\ud800", words="\ud800\x1b"),
    "numbers": '{"goals": ' + "9" * 100_000 + "}",
    "keys that are no words": answer({"": 1, "a" * 5000: 2, "metric": ["x"], "expression": {"a": 1}}),
}  # fmt: skip


@for_each("name", HOSTILE)
def test_a_hostile_answer_stays_small(name: str) -> None:
    found = read_answer(HOSTILE[name])
    assert len(found.goals) <= MOST_GOALS
    assert sum(map(len, found.problems)) < 6_000
    texts = [str(found.reply), found.summary, *found.left_out, *found.problems]
    texts += [text for goal in found.goals for text in (goal.metric, goal.expression, goal.words, goal.unit)]
    assert all(len(text) <= 4_000 for text in texts)
    "".join(texts).encode()
    assert not set("".join(texts)) & {"\x1b", "\x00", "\u202e"}


def test_a_goal_quotes_only_what_was_said() -> None:
    text = "A common-emitter stage: gain at least 40 dB, supply 12 V. 带宽不低于 20kHz"
    quoted = DesignGoal(
        metric="gain", expression="db(v(out))", unit="dB", minimum=40, words="Gain at least 40dB"
    )
    false_words = replace(quoted, words="gain of at least 40 dB please")
    invented = replace(quoted, minimum=20, words="gain of at least 20 dB")
    found = in_words_of((quoted, false_words, invented), text)
    assert [(goal.words, goal.stated) for goal in found] == [
        ("Gain at least 40dB", True),
        ("gain at least 40 dB", True),
        ("", False),
    ]
    band = replace(quoted, metric="bw", unit="Hz", minimum=20e3, words="带宽20kHz以上")
    assert in_words_of((band,), text)[0].words == "带宽不低于 20kHz"


def test_a_comparison_is_a_goal() -> None:
    """As studies take it; two bounds are one goal."""
    goals, problems = read_goals(
        ["gain(db(v(out)),1k) >= 30 dB", "970 Hz <= bandwidth(v(out)) < 1030", "thd <= 3 %"]
    )
    assert problems == ()
    assert [(each.metric, each.expression, each.minimum, each.maximum) for each in goals] == [
        ("gain", "gain(db(v(out)),1k)", 30.0, None),
        ("bandwidth", "bandwidth(v(out))", 970.0, 1030.0),
        ("thd", "thd", None, 0.03),
    ]
