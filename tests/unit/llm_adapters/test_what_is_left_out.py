"""Sentences of which a part has no place in what is understood: never done without it, and told."""

from __future__ import annotations

from collections.abc import Generator

from infrastructure.llm_adapters.builtin.commands import Change, Unclear, understand_command
from infrastructure.llm_adapters.builtin.conditions import under
from infrastructure.llm_adapters.builtin.plans import Call, Outcome
from infrastructure.llm_adapters.builtin.reading import Ask
from tests.ground.cases import for_each

FILES = ("amp.cir",)


@for_each(
    ("text", "parts"),
    [
        ("make the gain 40 dB and the psrr 60 dB", ("psrr", "the psrr 60 dB")),
        ("I want a phase margin of 65 degrees with 3 V", ("degrees with 3 V",)),
        ("set RC to 3.3k for 2 mA", ("for 2 mA",)),
        ("how much power does a politician have?", ("politician",)),
        ("政治家有多少功率", ("政治家",)),
        ("what's the phase margin of the bandgap?", ("bandgap",)),
        ("if RZ goes to zero, where does the right half plane zero land?", ("right half plane zero",)),
        ("CMRR在1kHz是多少dB", ("CMRR",)),
        ("run a monte carlo on the offset", ("offset",)),
        ("负载从10mA跳到150mA,输出会掉多少", ("负载从10mA跳",)),
        ("make it better", ()),
        ("change the resistor", ()),
        ("set R1 to -5k", ("R1 = -5k",)),
        ("run it at -40, 27 and 125 C", ("it at -40", "27")),
        ("帮我改一下", ()),
    ],
)
def test_nothing_is_done_without_it(text: str, parts: tuple[str, ...]) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Unclear), command
    assert command.parts == parts


@for_each(
    ("text", "left"),
    [
        ("how many dB down am I at 10 kHz? my ADC samples at 20k", "samples at 20k"),
        ("gain and psrr at 1 kHz?", "psrr"),
        ("what is the power in Q1 at full load?", "full load"),
        ("phase margin at 85 degrees?", ""),
        ("ripple on the 5 V rail?", ""),
        ("sweep L1 from 10u to 100u in 5 steps and give me the ripple", ""),
    ],
)
def test_a_question_is_answered_and_told_what_of_it_is_not(text: str, left: str) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Ask), command
    assert command.unanswered == left


@for_each(
    ("text", "intent", "parameters"),
    [
        (
            "I want 65 degrees of phase margin driving 5 pF. Change CC and RZ only.",
            "tune",
            ("load_c", "5e-12"),
        ),
        ("make the output 5 V at 2 A", "tune", ("load_i", "2")),
        ("efficiency at 10% load?", "figure", ("load_share", "0.1")),
        ("静态电流是多少,空载的时候", "current", ("load_share", "0")),
        ("phase margin with CL at 10p instead of 5p", "what_if", ("CL", "1e-11")),
        ("Monte Carlo of the gain with a 600 ohm load", "monte_carlo", ("load", "600")),
        ("inductor ripple current at 24V input", "figure", ("input", "24")),
        ("increase the phase margin to 60 degrees at CL = 10p", "tune", ("CL", "1e-11")),
    ],
)
def test_a_condition_is_set_for_the_runs(text: str, intent: str, parameters: tuple[str, str]) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Ask), command
    assert (command.intent, command.parameters, command.unanswered) == (intent, (parameters,), "")


@for_each(
    ("text", "values"),
    [
        ("R1改351", (("R1", "351"),)),
        ("make R1 4k7 pls", (("R1", "4.7k"),)),
        ("change RC to 3.3k and tell me what happens to the swing", (("RC", "3.3k"),)),
        ("set RC to 2k instead of 3k", (("RC", "2k"),)),
        ("C1 100uF -> 470uF, rerun", (("C1", "470u"),)),
    ],
)
def test_an_order_is_carried_out(text: str, values: tuple[tuple[str, str], ...]) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Change), command
    assert command.values == values


def test_a_second_figure_keeps_its_bound_while_the_first_is_tuned() -> None:
    command = understand_command("增益做到-50倍左右,但集电极电流不能超过2mA", FILES)
    assert isinstance(command, Ask)
    assert (command.intent, command.figures, command.value) == ("tune", ("gain",), -50)
    assert [(each.figures, each.value, each.bound) for each in command.besides] == [
        (("collector_current",), 0.002, "at_most")
    ]


@for_each(
    ("text", "way", "value", "unit"),
    [
        ("increase the gain by 6 dB", "raise", 6, "dB"),
        ("lower the ripple by 20 %", "lower", 0.2, "%"),
        ("把带宽提高20%", "raise", 0.2, "%"),
        ("截止频率太低,提高一倍,R1不要动", "raise", 2, "x"),
    ],
)
def test_a_figure_changes_by_so_much(text: str, way: str, value: float, unit: str) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Ask), command
    assert (command.intent, command.is_change) == ("tune", True)
    assert (command.way, command.value, command.unit) == (way, value, unit)


def test_every_run_and_study_is_made_under_the_conditions() -> None:
    def plan() -> Generator[Call, Outcome, str]:
        yield Call(tool="run_simulation", arguments={"path": "a.cir", "parameters": {"R1": "2k"}})
        yield Call(tool="run_study", arguments={"kind": "sweep"})
        yield Call(tool="inspect_data", arguments={})
        return "said"

    def carried_out() -> Generator[Call, Outcome, None]:
        assert (yield from under(plan(), [("CL", "5p")])) == "said"

    assert [dict(call.arguments) for call in carried_out()] == [
        {"path": "a.cir", "parameters": {"CL": "5p", "R1": "2k"}},
        {"kind": "sweep", "set": {"CL": "5p"}},
        {},
    ]
