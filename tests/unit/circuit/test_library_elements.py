"""An element of a library's model in a netlist's text: free name, right place, included once."""

import re

import pytest

from domain.circuit.model_library import Addition, LibraryModel, includes_file, with_addition
from infrastructure.persistence.examples import ShippedModels
from presentation.translation import Translator

MODELS = {model.name: model for model in ShippedModels().models}


@pytest.mark.parametrize(("name", "line"), [
    ("2N3906", "Q7 collector base emitter 2N3906"),
    ("1N4148", "D7 anode cathode 1N4148"),
    ("NMOS_180", "M7 drain gate source bulk NMOS_180 W=10u L=1u"),
    ("OPAMP_1POLE", "X7 inp inn out OPAMP_1POLE"),
    ("NE555", "X7 gnd trig out reset ctrl thresh disch vcc NE555"),
])  # fmt: skip
def test_nodes_stand_in_the_order_of_the_pins(name: str, line: str) -> None:
    model = MODELS[name]
    assert model.element(f"{model.letter}7") == line


def _with(text: str, behind: int, *, has_title: bool = True, model: LibraryModel = MODELS["2N3904"]) -> str:
    added = Addition(model.letter, model.element("").strip(), model.include, f"{model.name}.lib")
    made = with_addition(text, added, behind=behind, has_title=has_title)
    assert made.text.splitlines()[made.line - 1] == made.element
    return made.text


def test_the_place_is_behind_the_line_and_never_behind_the_end() -> None:
    q = "Q1 collector base emitter 2N3904"
    include = ".include 2N3904.lib"
    assert _with("* t\nR1 a 0\n+ 1k\n.end\n", 2) == f"* t\n{include}\nR1 a 0\n+ 1k\n{q}\n.end\n"
    assert _with("* t\nR1 a 0 1k\n.end\nwords", 9) == f"* t\n{include}\nR1 a 0 1k\n{q}\n.end\nwords\n"
    assert _with("* t", 1) == f"* t\n{include}\n{q}\n"
    assert _with("R1 a 0 1k\n", 1, has_title=False) == f"{include}\nR1 a 0 1k\n{q}\n"
    assert _with("", 1) == f"{include}\n{q}\n"


def test_it_is_included_once_and_its_name_is_free() -> None:
    text = "* Q3 in words\r\n.INC '2n3904.LIB'\r\nq1 a b c 2N3904\r\nQ2 a b c x\r\n"
    assert _with(text, 3).endswith("2N3904\r\nQ3 collector base emitter 2N3904\r\nQ2 a b c x\r\n")
    assert _with(text, 3).count("lib") == 0
    assert not includes_file("* .include 2N3904.lib", "2N3904.lib")
    assert not includes_file(".include a2N3904.lib", "2N3904.lib")


def test_every_title_has_words_in_chinese_but_for_its_figures() -> None:
    chinese = Translator("zh")
    for model in MODELS.values():
        words = chinese(model.words)
        assert words != str(model.words)
        spelled = re.sub(r"\([^)]*\)|\b(?:NPN|PNP|NMOS|PMOS|MOS|JFET|BSIM3|gbw|a0|um|nm)\b|\d\w*", "", words)
        assert not re.search(r"[A-Za-z]{3,}", spelled), words
    assert chinese(MODELS["1N4148"].words) == "高速开关二极管，100 V, 200 mA"
