"""Which sentence is which command, in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.llm_adapters.builtin.commands import (
    Analyze,
    Change,
    Command,
    Design,
    ListFiles,
    Measure,
    References,
    Search,
    Show,
    Simulate,
    SmallTalk,
    find_expressions,
    language_of,
    spice_value,
    understand_command,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from tests.ground.cases import for_each

FILES = ("amp.cir", "filters/lp 2.cir", "放大器.cir")


def change(file: str, *values: tuple[str, str], simulates: bool = False) -> Change:
    return Change(file=file, values=values, simulates=simulates)


@for_each(
    ("text", "command"),
    [
        ("simulate amp.cir", Simulate(file="amp.cir")),
        ("Please simulate AMP.CIR.", Simulate(file="amp.cir")),
        ("run it", Simulate(file="")),
        ("仿真放大器.cir", Simulate(file="放大器.cir")),
        ("跑一下 amp.cir", Simulate(file="amp.cir")),
        ("run other.cir", Simulate(file="other.cir")),
        ("run an ac analysis of amp.cir", Simulate(file="amp.cir", analysis_type="ac")),
        ("对 amp.cir 做瞬态分析", Simulate(file="amp.cir", analysis_type="tran")),
        (
            "simulate filters/lp 2.cir, max(v(out))?",
            Simulate(file="filters/lp 2.cir", expressions=("max(v(out))",)),
        ),
        ("change R1 to 2k in amp.cir", change("amp.cir", ("R1", "2k"))),
        ("Set R1 in amp.cir to 2 kΩ", change("amp.cir", ("R1", "2k"))),
        ("set R1's value from 1k to 2.2k in the file amp.cir", change("amp.cir", ("R1", "2.2k"))),
        ("change r1=2k amp.cir", change("amp.cir", ("r1", "2k"))),
        ("把 amp.cir 的 R1 改成 2k", change("amp.cir", ("R1", "2k"))),
        ("把amp.cir的R1改成2kΩ，然后仿真", change("amp.cir", ("R1", "2k"), simulates=True)),
        ("请将 R1 的阻值改为 10k", change("", ("R1", "10k"))),
        ("增大 R1 到 3k", change("", ("R1", "3k"))),
        (
            "set R1 to 4k7 and C1 to 10nF in amp.cir and simulate",
            change("amp.cir", ("R1", "4.7k"), ("C1", "10n"), simulates=True),
        ),
        ("change m1.w from 1u to 10u in amp.cir", change("amp.cir", ("m1.w", "10u"))),
        ("set R1 to {2*rx} in amp.cir", change("amp.cir", ("R1", "{2*rx}"))),
        ("simulate amp.cir with R1=2k", Simulate(file="amp.cir", parameters=(("R1", "2k"),))),
        (
            "What happens to max(v(out)) if I change R1 to 2k in amp.cir?",
            Simulate(file="amp.cir", parameters=(("R1", "2k"),), expressions=("max(v(out))",)),
        ),
        (
            "如果把 amp.cir 的 R1 改成 2k 会怎样？",
            Ask(intent="what_if", file="amp.cir", names=("R1",), parameters=(("R1", "2000"),)),
        ),
        ("Can you change R1 to 2k in amp.cir?", change("amp.cir", ("R1", "2k"))),
        ("change R1 to 2k in amp.cir, don't simulate", change("amp.cir", ("R1", "2k"))),
        ("把 amp.cir 的 R1 改成 2k，不要仿真", change("amp.cir", ("R1", "2k"))),
        ("measure bandwidth(v(out)) of amp.cir", Measure(file="amp.cir", expressions=("bandwidth(v(out))",))),
        ("测量 amp.cir 的带宽", Ask(intent="figure", file="amp.cir", figures=("bandwidth",))),
        ("What is the rise time of amp.cir?", Ask(intent="figure", file="amp.cir", figures=("rise_time",))),
        ("show amp.cir", Show(file="amp.cir")),
        ("amp.cir", Show(file="amp.cir")),
        ("显示放大器.cir", Show(file="放大器.cir")),
        ("打开 不存在的.cir", Show(file="不存在的.cir")),
        ("read lines 3-5 of amp.cir", Show(file="amp.cir", first=3, last=5)),
        ("显示 amp.cir 第 3 到 5 行", Show(file="amp.cir", first=3, last=5)),
        ("show line 7 of amp.cir", Show(file="amp.cir", first=7, last=7)),
        ("list the files", ListFiles()),
        ("What circuits are there?", ListFiles()),
        ("列出文件", ListFiles()),
        ("有哪些电路？", ListFiles()),
        ("search vdd", Search(query="vdd")),
        ("search for vdd in the project", Search(query="vdd")),
        ('find "R1 in"', Search(query="R1 in")),
        ("搜索 vdd", Search(query="vdd")),
        ("Where is R1 used?", References(symbol="R1")),
        ("R1 在哪里用到了？", References(symbol="R1")),
        ("哪里用到了 vdd", References(symbol="vdd")),
        ("analyze amp.cir", Analyze(file="amp.cir")),
        ("What does this circuit do?", Analyze(file="")),
        ("explain the circuit", Analyze(file="")),
        ("这个电路是干什么的？", Analyze(file="")),
        ("分析 amp.cir", Analyze(file="amp.cir")),
        ("Check amp.cir", Analyze(file="amp.cir", is_check=True)),
        ("please check amp.cir for errors", Analyze(file="amp.cir", is_check=True)),
        ("检查 amp.cir", Analyze(file="amp.cir", is_check=True)),
        ("Hello!", SmallTalk(kind="greeting")),
        ("hi, who are you?", SmallTalk(kind="help")),
        ("你好，你是谁？", SmallTalk(kind="help")),
        ("你好。", SmallTalk(kind="greeting")),
        ("ok, thanks", SmallTalk(kind="thanks")),
        ("谢谢", SmallTalk(kind="thanks")),
        ("What can you do?", SmallTalk(kind="help")),
        ("?", SmallTalk(kind="help")),
    ],
)
def test_plain_forms_are_understood(text: str, command: Command) -> None:
    assert understand_command(text, FILES) == command


@for_each(
    ("text", "is_meant"),
    [
        ("Design a 1 kHz RC low-pass and simulate it", True),
        ("please design a filter", True),
        ("设计一个 1 kHz 的低通滤波器", True),
        ("RC low-pass, 1 kHz", False),
        ("delete R1 from amp.cir", False),
        ("I need a buck converter, can you do that?", True),
        ("我需要一个 1 kHz 低通滤波器，可以吗？", True),
        ("don't change R1 to 2k in amp.cir", False),
        ("不要把 R1 改成 2k", False),
        ("", False),
    ],
)
def test_everything_else_may_be_a_design(text: str, is_meant: bool) -> None:
    assert understand_command(text, FILES) == Design(text=text, is_meant=is_meant)


@pytest.mark.parametrize(
    "text",
    [
        "What's the weather like?",
        "How does a 1 kHz RC low-pass work?",
        "explain the 1 kHz RC low-pass",
        "为什么 1 kHz 低通滤波器的增益低",
        "RC low-pass 1 kHz?",
    ],
)
def test_a_question_makes_nothing(text: str) -> None:
    assert understand_command(text, FILES) == Design(text=text, is_meant=False, is_question=True)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("simulate 放大器.cir", "en"),
        ("仿真放大器.cir", "zh"),
        ("把放大器.cir的R1改成2k", "zh"),
        ("放大器.cir", "zh"),
        ("amp.cir", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_that_of_the_words(text: str, language: str) -> None:
    assert language_of(text) == language


@for_each(
    ("text", "name", "value"),
    [
        ("2k", "R1", "2k"),
        ("2 kΩ", "R1", "2k"),
        ("2K", "R1", "2k"),
        ("4k7", "R1", "4.7k"),
        ("2R2", "R1", "2.2"),
        ("1M", "R1", "1Meg"),
        ("1 MOhm", "x1.load", "1Meg"),
        ("1m", "R1", "1m"),
        ("1M", "C1", "1M"),
        ("10 MHz", "f0", "10Meg"),
        ("10meg", "R1", "10Meg"),
        ("100nF", "C1", "100n"),
        ("1F", "C1", "1"),
        ("1f", "C1", "1f"),
        ("10 µH", "L1", "10u"),
        ("3.3 V", "V1", "3.3"),
        ("1e-9", "C1", "1e-9"),
        ("5 千欧", "R1", "5k"),
        ("-5V", "V1", "-5"),
        ("{a*2}", "R1", "{a*2}"),
    ],
)
def test_values_become_what_spice_reads(text: str, name: str, value: str) -> None:
    assert spice_value(text, name) == value


def test_expressions_are_found_whole() -> None:
    text = "give me db(v(out, 0)/v(in)), @m1[id] and bandwidth(v(out)), bandwidth(v(out)) (please) broken((v("
    assert find_expressions(text) == ("db(v(out, 0)/v(in))", "@m1[id]", "bandwidth(v(out))")


@given(st.text(max_size=60) | st.text(alphabet="把改成R1 2k.cir仿真show set to in(v)设计list\n", max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    understand_command(text, FILES)
