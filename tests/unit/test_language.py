"""The glossary's lint finds what it is for (`make check` runs it); stored texts keep their translation."""

from __future__ import annotations

import json

from presentation.translation import CATALOGUES, Translator
from scripts.check_language import ROOT, faults, spoken
from shared.message import Message
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


def test_texts_in_the_words_of_earlier_versions_are_still_translated() -> None:
    former = read_catalogue((CATALOGUES / "former.json").read_text("utf-8"))
    now = {key for path in CATALOGUES.glob("zh/*.json") for key in json.loads(path.read_text("utf-8"))}
    assert former
    for old, new in former.items():
        assert placeholders(old) == placeholders(new)
    known = [old for old, new in former.items() if new in now]
    translate = Translator("zh")
    assert len(known) > len(former) / 2
    assert all(
        translate(Message(old, {})) != old for old in known if not placeholders(old) and "{" not in old
    )
