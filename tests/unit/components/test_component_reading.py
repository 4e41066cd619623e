"""What a library says of its parts: kinds, pins, figures, in the forms vendors use."""

from __future__ import annotations

import pytest

from domain.components.component import Component, figure_words
from domain.components.reading import read_components


def one(text: str) -> Component:
    [found] = read_components(text.encode(), "/lib/x.lib")
    return found


def test_ratings_of_ltspice_cards() -> None:
    found = one(".model 2N9999 NPN(IS=1E-14 VAF=100 Bf=300 TF=411p\n+ Vceo=40 Icrating=200m mfg=Maker)")
    assert (found.kind, found.letter, found.ports) == ("npn", "Q", ("collector", "base", "emitter"))
    assert figure_words(found.kind, found.figures) == "Vceo 40 V, Ic 200 mA, fT 387.2 MHz, hFE 300"
    mosfet = one(".model PX VDMOS(pchan Vto=-2 Ron=22m Vds=-30)")
    assert (mosfet.kind, mosfet.ports, mosfet.figures["v"]) == ("pmos", ("drain", "gate", "source"), 30)


def test_pins_and_figures_of_a_macromodel() -> None:
    found = one(
        "* LMX dual operational amplifier\n* gain bandwidth: 10 MHz typ., slew rate 5 V/µs\n"
        "* connections: non-inverting input\n*              | inverting input\n*              | | output\n"
        "*              | | |\n.subckt LMX 3 2 6\nE1 6 0 3 2 1e5\n.ends"
    )
    assert (found.kind, found.card, found.letter) == ("opamp", "subckt", "X")
    assert found.roles == ("non-inverting input", "inverting input", "output")
    assert dict(found.figures) == {"f": 10e6, "slew": pytest.approx(5e6)}
    assert found.title == "dual operational amplifier"


def test_kinds_told_by_pins_or_by_words_and_what_lies_inside_is_no_part() -> None:
    text = (
        ".subckt BUF inp inn vcc vee out\n.model inner NPN\n.subckt deep a b\n.ends\n.ends\n"
        "* 3.3 V low-dropout regulator\n.subckt REG in gnd out\n.ends\n"
        ".lib tt\n.model NCH NMOS LEVEL=8 VTH0=0.4\n.endl\n.model SWX SW(RON=1)\n.model DK D(EG=0.69)\n"
    )
    found = read_components(text.encode(), "/lib/x.lib")
    assert [(each.name, each.kind) for each in found] == [
        ("BUF", "opamp"), ("REG", "regulator"), ("NCH", "nmos"), ("SWX", "switch"), ("DK", "schottky")
    ]  # fmt: skip
    assert found[2].include_card("kit.lib") == ".lib kit.lib tt"
    assert found[0].include_card("my parts/x.lib") == '.include "my parts/x.lib"'
    assert found[0].element("X1", tuple("abcde")) == "X1 a b c d e BUF"


def test_figures_in_comments_do_not_lie() -> None:
    """Test conditions, dates and page numbers are no ratings."""
    found = one("* MAKER 2N7777 rev 2.0 2019\n* hFE measured at 10 V, 1 A\n.model 2N7777 NPN BF=80")
    assert dict(found.figures) == {"hfe": 80}
