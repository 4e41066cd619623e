"""Numbers without measure in a deck: thousands of digits, signs that look like digits, endless powers."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from domain.circuit.exchange.qucs import read_qucs
from domain.circuit.laplace import NotRational, realised, transfer_of
from domain.circuit.netlist import Netlist
from domain.simulation.fourier import parse_four
from tests.integration.cli.conftest import Cli

DIGITS = "9" * 5_000
DECKS = {
    "a POLY of 5,000 digits": f"E1 b 0 POLY({DIGITS}) a 0 0 1\nR2 b 0 1k\n.op",
    "a POLY of a superscript": "E1 b 0 POLY(\u00b2) a 0 0 1\nR2 b 0 1k\n.op",
    "harmonics of 5,000 digits": f".tran 10u 2m\n.four 1k {DIGITS} v(a)",
    "a superscript of harmonics": ".tran 10u 2m\n.four 1k \u00b2 v(a)",
    "steps of 5,000 digits": f".param x=1\n.step param x 1 {DIGITS} 1\n.op",
    "steps across all doubles": ".param x=1\n.step param x -1e308 1e308 1e-300\n.op",
    "decades across all doubles": ".param x=1\n.step dec param x 1e-300 1e308 1\n.op",
    "a step too small to be one": ".param x=1\n.step dec param x 1 10 1e30\n.op",
    "a level of 5,000 digits": f".model m nmos(level={DIGITS})\nM1 a a 0 0 m\n.op",
    "a power of 5,000 digits": f"E1 b 0 a 0 laplace={{1/(1+s**{DIGITS})}}\nR2 b 0 1k\n.op",
    "a power of powers": "E1 b 0 a 0 laplace={1/((((s**20)**20)**20)**20)}\nR2 b 0 1k\n.op",
}


@pytest.mark.parametrize("cards", DECKS.values(), ids=DECKS)
def test_a_deck_with_such_a_number_is_checked(cli: Cli, tmp_path: Path, cards: str) -> None:
    deck = tmp_path / "a.cir"
    deck.write_text(f"* a\nV1 a 0 sin(0 1 1k)\nR1 a 0 1k\n{cards}\n.end\n", encoding="utf-8")
    told = cli("check", deck, "--json")
    assert told.exit_code in (0, 1, 2), told.stderr
    assert "internal" not in told.stdout


@pytest.mark.parametrize("points", [DIGITS, "1e999", "many", "-1", ""])
def test_a_netlist_of_qucs_with_such_a_number_is_read(points: str) -> None:
    sweeps = (
        f'.{kind} Start="1 Hz" Stop="1e999 GHz" Points="{points}" Type="log"' for kind in ("AC:A", "TR:T")
    )
    text = "# Qucs 0.0.19\n" + "\n".join((*sweeps, f'R:R1 _net0 gnd R="{DIGITS}"'))
    assert "R1" in read_qucs(text, "x").text


@pytest.mark.parametrize("brackets", ["()", "{}"])
def test_brackets_without_end_are_refused_where_they_stand(cli: Cli, tmp_path: Path, brackets: str) -> None:
    """Ten seconds to a minute and a half of a processor for each million before."""
    deck = tmp_path / "a.cir"
    deep = brackets[0] * 500_000 + "v(a)" + brackets[1] * 500_000
    sound = "*" + "(" * 5000 + "\nB1 b 0 v=" + "+(v(a))" * 5000 + "\nR1 b 0 1k\n.op\n"
    for cards, is_refused in ((sound, False), (f"{sound}B2 c 0 v={deep}\nR2 c 0 1\n", True)):
        deck.write_text(f"* a\nV1 a 0 1\n{cards}.end\n")
        told = [cli(command, deck) for command in ("check", *(["simulate"] * is_refused))]
        assert [run.exit_code for run in told] == ([1, 2] if is_refused else [0])
        for run in told * is_refused:
            assert f"{deck}:7:" in run.stdout + run.stderr
            assert "nested more than 1000 deep" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("number", "harmonics", "signals"),
    [("5", 5, ("v(a)",)), (DIGITS, 100, ("v(a)",)), ("\u00b2", 9, ("\u00b2", "v(a)"))],
)
def test_a_number_of_harmonics_is_one_or_is_a_signal(
    number: str, harmonics: int, signals: tuple[str, ...]
) -> None:
    (statement,) = Netlist.parse(f".four 1k {number} v(a)".encode(), has_title=False).statements
    card = parse_four(statement)
    assert (card.harmonics, card.signals) == (harmonics, signals)


@pytest.mark.parametrize(
    "text",
    [
        f"1/(1+s**{DIGITS})",
        "1/(1+s**(1e999/1e999))",
        "s**(1/0)",
        "1e999/(1+s)",
        "1/((((s**20)**20)**20)**20)",
        "*".join(["(1+s)"] * 3_000),
        "1/(" + "(" * 20_000 + "s" + ")" * 20_000 + ")",
        "1/(" + "-" * 20_000 + "s)",
    ],
    ids=lambda text: text[:20],
)
def test_a_transfer_function_beyond_measure_is_refused_soon(text: str) -> None:
    """Python calls are counted, not seconds."""
    with pytest.raises(NotRational):
        _with_few_calls(lambda: transfer_of(text))


def test_poles_that_no_element_can_have_are_refused() -> None:
    above, below = transfer_of("(s+1)/(s^3+1e-320*s)")
    with pytest.raises(NotRational):
        realised("e1", "a", "b", above, below)


def _with_few_calls(work: Callable[[], object], most: int = 1_000_000) -> None:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"
        if calls > most:
            raise AssertionError(f"more than {most} calls")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
