"""Goals a person changed: the requirement follows them, what nobody touched stays, words are kept."""

import math
from dataclasses import replace

import pytest

from application.design.plain_state import intent_to_plain
from application.workflow.design_sessions import Question
from application.workflow.refining import read_message, refinement
from domain.circuit.preferred_values import is_preferred
from domain.design.another_circuit import another_circuit, other_circuit_in
from domain.design.catalogue import FAMILIES, propose, understand
from domain.design.demand_change import changes_netlist, design_changed_by
from domain.design.designer import DesignIntent
from domain.design.goal_change import goals_changed_by, is_told_of_another
from domain.simulation.goals import DesignGoal, GoalVerdict, all_met, total_shortfall
from domain.simulation.result import Quantity
from infrastructure.persistence.known_texts import checkpoint_texts
from presentation.panels.conversation.items import Understood
from presentation.panels.conversation.question_rows import understood_row
from shared.message import Message

ACTIVE_FILTER = "2nd-order active low-pass, cut-off 3.4 kHz, at least 25 dB down at 20 kHz"


def goal(intent: DesignIntent, metric: str) -> DesignGoal:
    return next(goal for goal in intent.goals if goal.metric == metric)


def scaled(goal: DesignGoal, factor: float) -> DesignGoal:
    def times(value: float | None) -> float | None:
        return None if value is None else value * factor

    return replace(
        goal, minimum=times(goal.minimum), maximum=times(goal.maximum), target=times(goal.target), stated=True
    )


def follow(intent: DesignIntent, *changed: DesignGoal) -> DesignIntent:
    by_metric = {each.metric: each for each in changed}
    goals = [by_metric.get(each.metric, each) for each in intent.goals]
    return FAMILIES[intent.family].follow(intent, goals)


def test_a_sallen_key_filter_follows_its_corner_and_its_proposals_do_too() -> None:
    before = understand("2nd-order Butterworth low-pass, cut-off 1 kHz")
    after = follow(before, scaled(goal(before, "cutoff"), 3))
    assert after.parameters["cutoff_hz"] == pytest.approx(3e3)
    assert goal(after, "cutoff").target == pytest.approx(3e3)
    assert "9k" in goal(after, "attenuation").expression  # three times the corner, as proposed before
    assert "Vin" in FAMILIES["sallen_key"].propose(after, str).netlist
    before = understand("2nd-order Sallen-Key high-pass, 300 Hz, Butterworth, gain 6 dB")
    after = follow(before, scaled(goal(before, "cutoff"), 10))
    assert goal(after, "passband_gain").expression == "db(gain(v(out),30k))"  # at 3 kHz nothing passes now


def test_a_goal_that_was_said_does_not_follow_another() -> None:
    before = understand("4th-order Butterworth low-pass, cut-off 1 kHz, at least 40 dB down at 5 kHz")
    after = follow(before, scaled(goal(before, "cutoff"), 2))
    assert goal(after, "attenuation") == goal(before, "attenuation")


def test_what_is_measured_at_the_center_is_measured_at_the_new_one() -> None:
    before = understand("band-pass filter, 1 kHz center, 200 Hz wide, gain 2")
    after = follow(before, scaled(goal(before, "center"), 0.3))
    assert goal(before, "gain").expression == "gain(v(out)/v(in),1k)"
    assert goal(after, "gain").expression == "gain(v(out)/v(in),300)"
    assert goal(after, "gain").target == goal(before, "gain").target


def test_first_order_and_buck_follow_theirs() -> None:
    rc = understand("RC low-pass filter with a cutoff of 10 kHz")
    after = follow(rc, scaled(goal(rc, "cutoff"), 0.5))
    assert after.parameters["cutoff_hz"] == pytest.approx(5e3)
    assert after.parameters["lowest_cutoff_hz"] < 5e3 < after.parameters["highest_cutoff_hz"]
    buck = understand("Buck converter 12 V to 5 V 2 A with ripple below 50 mV")
    after = follow(buck, scaled(goal(buck, "ripple"), 0.5), scaled(goal(buck, "vout"), 0.66))
    assert after.parameters["ripple_v"] == pytest.approx(0.025)
    assert after.parameters["vout"] == pytest.approx(3.3)


def test_nothing_changed_changes_nothing() -> None:
    for family in FAMILIES.values():
        intent = understand(family.examples["en"])
        assert FAMILIES[intent.family].follow(intent, intent.goals) == intent


@pytest.mark.parametrize(
    ("sentence", "metric", "words"),
    [
        ("Design an RC low-pass filter with a cutoff of 10 kHz", "cutoff", "a cutoff of 10 kHz"),
        ("Buck converter 12 V to 5 V 2 A with ripple below 50 mV", "ripple", "ripple below 50 mV"),
        ("截止频率为1kHz的二阶巴特沃斯低通滤波器，增益 2 倍", "passband_gain", "增益 2 倍"),
        ("2nd-order Butterworth low-pass, cut-off 1 kHz", "peaking", ""),
        ("A microphone preamp with 40 dB gain from 100 Hz to 15 kHz, 9 V supply", "gain", "40 dB"),
        ("Second-order high-pass filter, 300 Hz Butterworth, gain 6 dB", "passband_gain", "gain 6 dB"),
        (
            "A microphone preamp with 40 dB gain from 100 Hz to 15 kHz, 9 V supply",
            "bandwidth",
            "gain from 100 Hz to 15 kHz",
        ),
    ],
)
def test_a_goal_knows_the_words_it_was_read_from(sentence: str, metric: str, words: str) -> None:
    assert goal(understand(sentence), metric).words == words


def test_a_missed_wish_does_not_hold_a_design_up_but_counts_a_little() -> None:
    must = DesignGoal(metric="a", expression="x", unit="V", maximum=1.0)
    wish = replace(must, metric="b", weight="wish")

    def verdict(of: DesignGoal, value: float) -> GoalVerdict:
        return GoalVerdict(goal=of, measured=Quantity(value=value, unit="V"), met=of.is_met_by(value))

    assert all_met([verdict(must, 0.5), verdict(wish, 2.0)])
    assert not all_met([verdict(must, 2.0), verdict(wish, 0.5)])
    assert not all_met([])
    assert 0 < total_shortfall([verdict(wish, 2.0)]) < total_shortfall([verdict(must, 2.0)])
    far, nowhere = ([verdict(must, 0.5), verdict(must, value)] for value in (1e9, math.nan))
    assert total_shortfall(far) < total_shortfall(
        nowhere
    )  # a circuit that does not run is not the best round


AMPLIFIER, LOW_PASS = "inverting amplifier, gain 7.5", "RC low-pass, 1 kHz"
SINGLE, SPLIT = "non-inverting amplifier, gain 40, single supply 12 V", "non-inverting amplifier, gain 20 dB"


@pytest.mark.parametrize(
    ("request_", "said", "parameters"),
    [
        (AMPLIFIER, "Use E12 resistors", {"series": "E12", "series_for_all": False}),
        (AMPLIFIER, "继续，电阻都用 E24 系列", {"series": "E24", "series_for_all": False}),
        (AMPLIFIER, "only E24 parts please", {"series": "E24", "series_for_all": True}),
        (AMPLIFIER, "use a 5 V supply", {"supply_v": 5.0, "rails": "single", "coupling": "ac"}),
        (AMPLIFIER, "supply should be ±12 V", {"supply_v": 12.0, "rails": "dual"}),
        (AMPLIFIER, "Set gain to 10 and use a 9 V supply", {"gain": 10.0, "supply_v": 9.0}),
        (AMPLIFIER, "add a 10k load", {"added_load_ohm": 10e3, "input_ohm": 10e3}),
        (AMPLIFIER, "the load is 2 kohm", {"added_load_ohm": 2e3}),
        (f"{AMPLIFIER}, 1k load", "remove the load", {"added_load_ohm": None}),
        (LOW_PASS, "make it a high-pass", {"kind": "highpass"}),
        (LOW_PASS, "the load is 2 kohm", {"load_ohm": 2e3}),
        ("Sallen-Key low-pass 1 kHz", "make it Chebyshev", {"response": "chebyshev", "ripple_db": 0.5}),
        ("buck converter 12 V to 5 V, 2 A", "load is 1 A", {"iout": 1.0, "inductor_ripple_a": 0.3}),
        (
            "buck converter 12 V to 5 V, 2 A",
            "less ripple please, 30 mV at most, and use a 22uH coil",
            {"ripple_v": 30e-3, "inductance": 22e-6},
        ),
        (AMPLIFIER, "use 1% resistors", {"series": "E96", "tolerance": 0.05}),
        (LOW_PASS, "replace the capacitor by 22 nF", {"capacitor_f": 22e-9}),
        ("boost 5 V to 12 V", "use a smaller inductor, 4.7 uH", {"inductance": 4.7e-6}),
        ("boost 5 V to 12 V", "I need 800 mA", {"iout": 0.8}),
        ("boost 5 V to 12 V", "3 A", {"iout": 3.0}),
        (AMPLIFIER, "the output should drive 600 ohm", {"added_load_ohm": 600.0, "input_ohm": 10e3}),
        ("Wien bridge oscillator 1 kHz", "run on ±9 V", {"supply_v": 9.0}),
        ("LED driver 20 mA", "supply is 24 V", {"supply_v": 24.0, "load": "led"}),
        ("555 timer 1 kHz", "run it from 5 V", {"supply_v": 5.0}),
        ("555 timer 1 kHz", "into 2k load", {"added_load_ohm": 2e3}),
        (SPLIT, "改成交流耦合", {"coupling": "ac"}),
        (SPLIT, "use AC coupling and a 2k load", {"coupling": "ac", "added_load_ohm": 2e3}),
        (SPLIT, "输入加隔直电容", {"coupling": "ac"}),
    ],
)
def test_a_sentence_changes_more_of_a_design_than_its_goals(
    request_: str, said: str, parameters: dict[str, object]
) -> None:
    changed = design_changed_by(said, understand(request_))
    assert changed is not None
    intent, told = changed
    assert {name: intent.parameters[name] for name in parameters} == parameters
    assert told  # what it was taken for
    netlist = propose(intent, str).netlist
    assert netlist.count("Rload out 0") <= 1
    if "added_load_ohm" in parameters:
        assert ("Rload out 0" in netlist) == (parameters["added_load_ohm"] is not None)
    assert design_changed_by(said, intent) == (intent, ())  # it is so already


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (AMPLIFIER, "why is the supply 5 V?"),
        (AMPLIFIER, "add a second stage"),
        (AMPLIFIER, "use a 5 V supply and add a second stage"),
        (AMPLIFIER, "change R3 to 4.7k"),
        (AMPLIFIER, "raise the supply by 3 V"),
        (LOW_PASS, "second order please"),
        (AMPLIFIER, "use a 100k feedback resistor"),
        ("LDO 5 V to 3.3 V, 0.5 A", "load step to 3 A"),
        ("buck converter 12 V to 5 V, 2 A", "without diode"),
        (LOW_PASS, "use a 5 V supply"),  # it has none
        (SINGLE, "负载上不能有直流，输出加个隔直电容"),  # the choice of coupling is that of the input
        (SINGLE, "负载上不能有直流，加个隔直电容"),
        (SINGLE, "隔直电容加在输出端"),
        (SINGLE, "AC-couple the output"),
        (SINGLE, "the output must be AC coupled"),
        (SPLIT, "输出改成交流耦合"),
    ],
)
def test_what_is_not_wholly_a_change_of_the_design_changes_nothing(request_: str, said: str) -> None:
    assert design_changed_by(said, understand(request_)) is None


@pytest.mark.parametrize("key", ["non_inverting_amplifier", "sallen_key", "common_emitter", "timer_555"])
def test_all_resistors_are_of_the_series_that_was_asked_for(key: str) -> None:
    intent = understand(f"{FAMILIES[key].examples['en']}, with E12 resistors")
    parts = propose(intent, str).values
    assert all(is_preferred(value, "E12") for name, value in parts.items() if name.startswith("R"))


def test_a_coarse_series_has_room_for_a_ratio_and_never_no_value() -> None:
    wide = propose(understand("non-inverting amplifier, gain 30 dB, E12 resistors"), str).values
    assert 1 + wide["R2"] / wide["R1"] == pytest.approx(10 ** (30 / 20), rel=0.02)
    strict = propose(understand("inverting amplifier, gain 2, input resistance 50k, E6 resistors"), str)
    assert strict.values["R1"] == pytest.approx(47e3)


def test_a_user_s_goal_stays_when_the_supply_changes() -> None:
    before = understand(AMPLIFIER)
    after = follow(before, scaled(goal(before, "gain"), 2))
    changed = design_changed_by("use a ±9 V supply", after)
    assert changed is not None
    assert goal(changed[0], "gain") == goal(after, "gain")
    assert changed[0].parameters["gain"] == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("text", "target", "width"),
    [
        ("inverting amplifier, 20 dB", 20.0, 0.424),
        ("non-inverting amplifier, gain 40 dB ± 1 dB", 40.0, 1.0),
        ("inverting amplifier, gain 10 (20 dB)", -10.0, 0.5),
        ("inverting amplifier, gain 10", -10.0, 0.5),
    ],
)
def test_a_gain_is_told_as_it_was_asked(text: str, target: float, width: float) -> None:
    intent = understand(text)
    gain = goal(intent, "gain")
    assert gain.target == pytest.approx(target)
    assert (gain.maximum or 0) - target == pytest.approx(width, abs=1e-3)
    assert gain.unit == ("dB" if "dB" in text and "(" not in text else "1")
    if gain.unit == "dB":
        louder = replace(gain, minimum=29.0, maximum=31.0, target=30.0)
        followed = follow(intent, louder)
        assert followed.parameters["gain"] == pytest.approx(10 ** (30 / 20))
        proposal = propose(followed, str)
        missed = GoalVerdict(goal=goal(followed, "gain"), measured=Quantity(value=28.0, unit="dB"), met=False)
        revised = FAMILIES[intent.family].revise(followed, proposal, [missed], str)
        assert revised is not None
        assert revised.tuning["factors"]["gain"] == pytest.approx(10 ** (2 / 20), rel=0.02)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("change R2 to 91k", True),
        ("set C1 to 33u", True),
        ("把R2改成91k", True),
        ("what is R2?", False),
        ("raise R2 by 3k", False),
        ("R2 is too big", False),
    ],
)
def test_a_part_that_is_named_gets_its_value_in_the_netlist(text: str, is_one: bool) -> None:
    assert changes_netlist(text) is is_one


@pytest.mark.parametrize(
    ("text", "is_of_part"),
    [("把R1改成10k", True), ("R1 换成 12k", True), ("change R1 to 10k", True), ("改成2k", False)],
)
def test_a_part_s_value_is_no_cut_off(text: str, is_of_part: bool) -> None:
    intent = understand("RC low-pass, 1 kHz")
    state = {
        "design_intent": intent_to_plain(intent), "circuit_file_path": "filter.cir", "netlist_sha256": "00"
    }  # fmt: skip
    change = refinement(state, text)
    assert change is not None
    assert change.get("instruction") == (text if is_of_part else None)


def test_a_demand_that_cannot_be_is_told_with_what_to_do_and_is_not_called_misunderstood() -> None:
    design = understand("inverting amplifier, gain 20, bandwidth 200 kHz")
    question = Question(kind="checkpoint", design=design, goals=design.goals, known=checkpoint_texts())
    read = question.read("改成9V单电源，用LM358")
    assert read.kind == "unclear"
    assert isinstance(read.asks_back, Message)
    assert "limit is 27.8 kHz" in str(read.asks_back)
    assert str(read.asks_back).count(".") > 2  # the reason, and advice
    chip = Understood(key="k", intent=read, state="taken")
    assert "Not carried out" in repr(understood_row(chip))


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        ("带宽要窄一点，100Hz", 10.0),
        ("中心频率调到1.2kHz，带宽要窄一点，100Hz", 12.0),
        ("narrower bandwidth 50 Hz", 20.0),
    ],
)
def test_a_width_that_is_wished_narrower_is_the_q_and_no_center(text: str, quality: float) -> None:
    changed = goals_changed_by(text, understand("band-pass filter, center 1 kHz, Q 5, gain 2").goals)
    assert changed is not None
    found = {each.metric: each.target for each in changed}
    assert found["quality"] == pytest.approx(quality)
    assert found["center"] == (1200.0 if "1.2" in text else 1000.0)


@pytest.mark.parametrize(
    "text",
    [
        "20kHz处的衰减不够，要28dB以上",
        "20kHz那里不够，要衰减28dB",
        "attenuation at 20 kHz is not enough, make it 28 dB",
    ],
)
def test_the_frequency_where_a_goal_is_measured_is_no_cut_off(text: str) -> None:
    before = understand(ACTIVE_FILTER).goals
    after = goals_changed_by(text, before)
    assert after is not None
    assert [each.metric for each, old in zip(after, before, strict=True) if each != old] == ["attenuation"]


@pytest.mark.parametrize(
    ("request_text", "text", "kind"),
    [
        ("2nd-order active low-pass, cut-off 1 kHz", "再加一条：10kHz 处至少衰减 10dB", "refines"),
        ("buck converter 12V to 5V 2A", "one more goal: efficiency above 85 %", "refines"),
        ("buck converter 12V to 5V 2A", "再加一条：峰值电感电流小于3A", "begins"),  # no load of 3 A
        ("non-inverting amplifier, gain 10", "one more goal: THD below 0.1 %", "begins"),  # no tolerance
        ("non-inverting amplifier, gain 10", "再加一条：输出噪声小于1mV", "begins"),  # no output of 1 mV
        (ACTIVE_FILTER, "20kHz那里不够，要衰减28dB", "refines"),
        (ACTIVE_FILTER, "20kHz处衰减要到28dB", "refines"),  # no attenuator
        (ACTIVE_FILTER, "改成四阶，20kHz衰减45dB以上", "refines"),
        ("buck converter 12V to 5V 2A", "24V转3.3V, 1A", "apart"),
        ("non-inverting amplifier, gain 10", "增益再大一些，要46dB，输入阻抗不低于100k", "begins"),
    ],
)
async def test_what_else_is_asked_is_of_the_design_or_measured(
    request_text: str, text: str, kind: str
) -> None:
    intent = intent_to_plain(understand(request_text))
    state = {"design_intent": intent, "circuit_file_path": "own.cir", "netlist_sha256": "00"}
    read = await read_message(state, text, is_by_rules=True, circuit="own.cir")
    assert read.kind == kind


@pytest.mark.parametrize(
    ("request_text", "text", "parameters"),
    [
        ("buck converter 12V to 5V 2A", "change the input voltage to 24 V", {"vin": 24.0, "vout": 5.0}),
        ("buck converter 12V to 5V 2A", "make it smaller, 1 MHz", {"fsw": 1e6}),
        ("buck converter 12V to 5V", "it has to deliver 3 A, and stay above 90 % efficiency", {"iout": 3.0}),
        ("buck converter 12V to 5V", "more current, 3 A", {"iout": 3.0}),
        ("boost 3.7 V to 5 V, 1 A", "make it more efficient, at least 93 %", {"rectifier": "synchronous"}),
        ("LDO 9 V to 5 V, 0.3 A", "the input goes up to 12 V", {"vin": 12.0, "vout": 5.0}),
        ("LDO 9 V to 5 V, 0.3 A", "with a 10 uF ceramic at the output", {"cout_farad": 10e-6}),
        ("buck converter 12V to 5V 2A", "make it more efficient, at least 92 %", {"efficiency": 0.92}),
        (
            "buck converter 12V to 5V 2A",
            "add a load step from 0.5 to 2 A",
            {"step_from_a": 0.5, "step_to_a": 2},
        ),
        ("buck converter 12V to 5V 2A", "load step to 3 A", {"step_from_a": 2, "step_to_a": 3, "iout": 3}),
        ("buck 12V to 5V 2A, overshoot below 5 %", "only 3 % overshoot please", {"deviation_v": 0.15}),
        ("band-pass from 300 Hz to 3 kHz", "make it steeper, order 8", {"order": 8}),
        (
            "buck converter 12V to 5V 2A",
            "change the input to 24 V and the output to 3.3 V",
            {"vin": 24.0, "vout": 3.3},
        ),
        (
            "buck converter 9V to 3.3V 500mA",
            "too noisy, get the ripple under 5 mV and make it good for 1A",
            {"iout": 1.0, "ripple_v": 5e-3},
        ),
        (ACTIVE_FILTER, "改成四阶，20kHz衰减45dB以上", {"order": 4, "attenuation_db": 45.0}),
        ("RC low-pass, 1 kHz", "make it a high-pass at 2 kHz", {"kind": "highpass", "wanted_hz": 2000.0}),
    ],
)
def test_each_figure_and_way_of_a_change_finds_its_place(
    request_text: str, text: str, parameters: dict[str, object]
) -> None:
    found = design_changed_by(text, understand(request_text))
    assert found is not None
    assert {name: found[0].parameters[name] for name in parameters} == parameters


@pytest.mark.parametrize("text", ["make it 3.3 V", "改成3.3V"])
def test_a_figure_of_which_only_its_unit_is_said_is_the_target_with_that_unit(text: str) -> None:
    changed = goals_changed_by(text, understand("buck converter 12V to 5V 2A").goals)
    assert changed is not None
    assert [goal.target for goal in changed if goal.metric == "vout"] == [3.3]
    assert goals_changed_by("it sees 24 V", changed) is None


def test_another_kind_of_circuit_is_no_change_of_a_goal() -> None:
    intent = understand("RC low-pass, 1 kHz")
    assert other_circuit_in(intent, "make it a band-pass at 3 kHz") is not None
    assert other_circuit_in(intent, "make it a low-pass at 3 kHz") is None


@pytest.mark.parametrize(
    ("request_text", "text", "sentence"),
    [
        ("buck converter 12 V to 5 V, 2 A", "make it a boost to 24 V instead",
         "a boost converter, output voltage 24 V, input voltage 12 V, output current 2 A"),
        ("buck 12 V to 5 V, overshoot below 5 % when the load steps from 1 to 2 A", "can I have it isolated?",
         "a flyback converter, output voltage 5 V, input voltage 12 V, output current 2 A"),
        ("Sallen-Key low-pass 2nd order 1 kHz", "do it with multiple feedback",
         "a multiple-feedback filter, low-pass, cut-off frequency 1 kHz, order 2"),
        ("non-inverting amplifier gain 10", "use a transistor instead of the op-amp",
         "a common-emitter amplifier, gain 10"),
        ("wien oscillator 1 kHz", "make it a square wave", "a relaxation oscillator, frequency 1 kHz"),
    ],
)  # fmt: skip
def test_another_circuit_is_asked_for_with_what_was_asked(
    request_text: str, text: str, sentence: str
) -> None:
    other = another_circuit(understand(request_text), text)
    assert other is not None
    assert (other.sentence, other.lacks) == (sentence, None)


@pytest.mark.parametrize("text", ["make it nicer", "how does a flyback work?", "use a 7 V supply", "thanks"])
def test_other_words_ask_for_no_other_circuit(text: str) -> None:
    assert another_circuit(understand("buck converter 12 V to 5 V, 2 A"), text) is None


def test_what_the_other_circuit_lacks_is_told() -> None:
    other = another_circuit(understand("buck converter 12 V to 5 V, 2 A"), "use an LDO instead")
    assert other is not None
    assert other.lacks is not None
    assert "2 A for the output current" in str(other.lacks.message)


def test_what_is_only_told_is_no_change_of_a_proposal() -> None:
    single = understand("inverting amplifier, gain 5, single 9 V supply").goals
    told = goals_changed_by("it clips at 5 V", single)
    assert told is not None
    assert is_told_of_another("it clips at 5 V", single, told)
    assert not is_told_of_another("make the level 5 V", single, told)
