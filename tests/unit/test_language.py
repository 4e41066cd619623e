"""The glossary's lint finds what it is for (`make check` runs it); stored texts keep their translation."""

from __future__ import annotations

import json

from presentation.translation import CATALOGUES, Translator, language_of
from scripts.check_language import ROOT, faults, spoken
from shared.message import Message, msg
from tests.unit.test_translations import placeholders, read_catalogue

GLOSSARY = (ROOT / "docs" / "language.md").read_text("utf-8")


def test_a_banned_word_is_found_where_it_stands() -> None:
    source = 'def f():\n    return msg("{path} is no netlist; mend it.", path=1)\n'
    ((line, text),) = spoken(source)
    (fault,) = faults([("en", f"x.py:{line}", text)], GLOSSARY)
    assert fault.startswith("x.py:2: “is no”")
    assert faults([("zh", "zh.json", "请您稍候")], GLOSSARY)


def test_words_that_only_contain_a_banned_one_are_free() -> None:
    free = ["There is no result.", "commended", "Manewry", "an is-no-longer", "marshall"]
    assert faults([("en", "x", text) for text in free], GLOSSARY) == []


def test_chinese_is_spaced_as_engineers_write() -> None:
    for wrong in (
        "占 60 %",
        "占 {share}\u00a0%",
        "用ngspice 仿真",
        "截止频率 10kHz",
        "不行,请重试, 谢谢",
        "结果: 3",
        "“{card}” 不是分析",
        "{seconds} s 后重试",
    ):
        assert faults([("zh", "x", wrong)], GLOSSARY), wrong
    right = ("占 60%，{share}%", "用 ngspice 仿真，10 kHz", "写 10Meg 或 {kind}代替", "“实部,虚部”")
    assert faults([("zh", "x", text) for text in right] + [("en", "x", "60 %")], GLOSSARY) == []
    assert faults([("en", "x", "60% of {count}"), ("en", "x", "{share}% met")], GLOSSARY)
    assert faults([("en", "x", 'Write it as 0.05 or "5%".')], GLOSSARY) == []


def test_a_share_that_is_told_stands_as_its_language_has_it() -> None:
    told = msg("{figure}", figure="10 kHz ±2\u00a0%")
    assert Translator("zh")(told) == "10 kHz ±2%"
    assert Translator("en")(told) == "10 kHz ±2\u00a0%"
    named = msg("{text}", text="用户写的 5 % 电阻")
    assert Translator("zh")(named) == "用户写的 5 % 电阻"


def test_between_two_chinese_words_stands_no_space() -> None:
    translate = Translator("zh")
    ours = msg(
        "No {label} given; {value} assumed.", label=msg("rectifier"), value=msg("synchronous rectifier")
    )
    assert translate(ours) == "未指定整流方式，默认同步整流管。"
    figure = msg("No {label} given; {value} assumed.", label=msg("tolerance"), value="2\u00a0%")
    assert translate(figure) == "未指定容差，默认 2%。"
    assert translate(msg("Go back to round {number}", number=msg("{text}", text="2"))) == "回到第 2 轮"


def test_texts_in_the_words_of_earlier_versions_are_still_translated() -> None:
    former = read_catalogue((CATALOGUES / "former.json").read_text("utf-8"))
    now = {key for path in CATALOGUES.glob("zh/*.json") for key in json.loads(path.read_text("utf-8"))}
    assert former
    for old, new in former.items():
        assert placeholders(old) == placeholders(new)
    translate = Translator("zh")
    lost = [old for old, new in former.items() if new not in now and language_of(new) != "zh"]
    assert not lost, "neither a text of today nor a translation"
    assert all(
        translate(Message(old, {})) != old
        for old in former
        if not placeholders(old) and "{" not in old and language_of(old) == "en"
    )
