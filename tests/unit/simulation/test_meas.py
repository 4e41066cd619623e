"""Reading `.meas` cards, and what they say when they fail (values are compared with ngspice itself in
tests/integration/measurements)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.simulation.meas import evaluate_meas
from domain.simulation.meas_cards import parse_meas
from domain.simulation.meas_numerics import area_under
from domain.simulation.result import Quantity
from domain.simulation.waveform import Plot
from shared.errors import UserInputError
from shared.message import Message
from tests.ground.cases import for_each
from tests.unit.simulation.plots import plot

T = np.linspace(0, 1e-3, 1001)
TRAN = plot(
    "tran",
    ("time", T, "s"),
    {"v(out)": (np.sin(2e3 * math.pi * T), "V"), "v(in)": (T * 1e3, "V"), "i(v1)": (-T, "A")},
)
F = np.logspace(3, 6, 61)
AC = plot("ac", ("frequency", F, "Hz"), {"v(out)": (1 / (1 + 1j * F / 1e4), "V")})
NOISE = plot("noise", ("frequency", F, "Hz"), {"onoise_spectrum": (np.full(61, 2e-9), "V/sqrt(Hz)")})


def _one(
    card: str, plots: list[Plot] | None = None, parameters: dict[str, float] | None = None
) -> Quantity | Message:
    statement = parse_meas(card, 7)
    return evaluate_meas([statement], [TRAN, AC, NOISE] if plots is None else plots, parameters or {})[
        statement.name
    ]


@pytest.mark.parametrize(
    "card",
    [
        "meas tran rise trig v(out) val=0.1 rise=1 targ v(out) val=0.9 rise=1",
        ".MEASURE TRAN Rise TRIG V(OUT) VAL = 0.1 RISE = 1 TARG V(OUT) VAL =0.9 RISE= 1",
        ".meas  tran\trise trig v( out ) val='1/10' rise=1 targ v(out) val={ 9 / 10 } rise=1",
        '.meas tran rise trig "v(out)" val=100m rise=1 targ v(out) val=0.9volts rise=1',
    ],
)
def test_one_card_in_many_spellings(card):
    found = _one(card)
    assert isinstance(found, Quantity)
    expected = (math.asin(0.9) - math.asin(0.1)) / (2e3 * math.pi)
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.unit == "s"


@for_each(
    ("card", "value", "unit"),
    [
        (".meas tran m max v(out)", 1, "V"),
        (".meas tran m max_at v(out)", 0.25e-3, "s"),
        (".meas tran m integ v(in)", 0.5e-3, "V*s"),
        (".meas tran m integral i(v1)", -0.5e-6, "C"),
        (".meas tran m deriv v(in) at=0.5m", 1e3, "V/s"),
        (".meas tran m derivative v(out) when v(in)=0.5", -2e3 * math.pi, "V/s"),
        (".meas tran m max v(out,in)", None, "V"),
        (".meas tran m trig at=0.1m targ at=0.4m", 0.3e-3, "s"),
        (".meas tran m find v(in) at=level", 0.2, "V"),
        (".meas tran m when v(in)=half", 0.5e-3, "s"),
        (".meas tran m param='half*2'", 1, ""),
        (".meas ac m when vdb(out)=-3.0103", 1e4, "Hz"),
        (".meas ac m when mag(v(out))=1/sqrt(2)", 1e4, "Hz"),
        (".meas ac m find ph( v(out) ) at=10k", -45, "deg"),
        (".meas ac m trig mag(v(out))=half*1.8 fall=1 targ mag(v(out))=half*2/sqrt(2) fall=last", 5157, "Hz"),
        (".meas tran m max v(out) - v(in)*half from=0 to=0.25m", 0.8782, "V"),
        (".meas ac m find vp(out) at=10k", -math.pi / 4, "rad"),
        (".meas ac m max vdb(out)", None, "dB"),
        (".meas noise m max onoise_spectrum", 2e-9, "V/sqrt(Hz)"),
    ],
)
def test_values_and_units(card, value, unit):
    found = _one(card, parameters={"level": 0.2e-3, "half": 0.5})
    assert isinstance(found, Quantity), found
    assert found.unit == unit
    if value is not None:
        assert found.value == pytest.approx(value, rel=2e-3)


@for_each(
    ("card", "words"),
    [
        ("meas", "needs an analysis"),
        ("meas tran x max", "what to measure"),
        ("meas hb x max v(out)", "tran, ac, dc, noise or op"),
        ("meas x max v(out) from=1", "tran, ac, dc, noise or op"),
        ("meas tran x mean v(out)", "mean is not a measurement"),
        ("meas tran x err v(out) v(in)", "err is not a measurement"),
        ("meas tran x trig v(out) val=1 rise=1", "TARG is missing"),
        ("meas tran x trig v(out) val=1 rise=1 targ", "what to measure"),
        ("meas tran x when v(out)", "condition"),
        ("meas tran x when rise=1 v(out)=5 ", "not understood"),
        ("meas tran x max v(out) foo=3", "foo=3 is not understood"),
        ("meas tran x max v(out) sideways", "sideways is not understood"),
        ("meas tran x find v(out) when", "condition"),
    ],
)
def test_a_card_that_cannot_be_read_says_why_and_where(card, words):
    with pytest.raises(UserInputError, match=words) as caught:
        parse_meas(card, 12)
    assert caught.value.line == 12
    assert "line 12" in str(caught.value)


@for_each(
    ("card", "words"),
    [
        (".meas dc m max v(out)", "no dc analysis"),
        (".meas tran m max v(nowhere)", r"no vector v\(nowhere\)"),
        (".meas tran m max vm(out)", r"no vector vm\(out\)"),
        (".meas tran m when v(out)=5", "no point meets its condition"),
        (".meas tran m find v(out) at=1", "no point meets its condition"),
        (".meas tran m find v(out) from=1u to=2u", "AT= or WHEN"),
        (".meas tran m trig v(in) val=0.5 targ v(out) val=0.5 rise=1", "RISE=, FALL=, CROSS= or AT="),
        (".meas tran m max v(out) from=unknown", "unknown cannot be computed"),
        (".meas tran m param='unknown*2'", "cannot be computed"),
        (".meas tran m param='1/0'", "cannot be computed"),
        (".meas tran m param='v(out)'", "cannot be computed"),
        (".meas tran m deriv v(out) at=5", "no point meets its condition"),
        (".meas tran m max at=5", "names no vector"),
    ],
)
def test_failures_are_messages(card, words):
    found = _one(card)
    assert isinstance(found, Message)
    import re

    assert re.search(words, str(found)), str(found)
    assert "m" in str(found)


def test_the_same_failure_of_two_runs_is_one_to_tell():
    card = ".meas tran t trig v(in) val='0.5*nix' rise=1 targ v(out) val=0 fall=1"
    assert _one(card) == _one(card)


def test_an_operating_point_has_values_only():
    op = plot("op", None, {"v(a)": (np.array([3.0]), "V"), "v(b)": (np.array([1.0]), "V")})
    assert _one("meas op x find v(a)", [TRAN, op]) == Quantity(value=3.0, unit="V")
    assert _one("meas op x find v(a,b)", [op]).value == 2.0
    assert _one("meas op x max v(a)-2*v(b)", [op]).value == 1.0
    for card in ("meas op x when v(a)=2", "meas op x pp v(a)", "meas op x find v(a) when v(b)=1"):
        assert "only FIND and PARAM" in str(_one(card, [op]))
    assert _one("meas op x param V(a)-2*v(b)*k", [op], {"k": 2.0}) == Quantity(value=-1.0, unit="")
    assert "v(c) cannot be computed" in str(_one("meas op x param v(a)-v(c)", [op]))
    assert "no op analysis" in str(_one("meas op x find v(a)", [TRAN]))
    assert "cannot be computed" in str(_one("meas op x find v(c)", [op]))


def test_formulas_see_measurements_of_every_analysis():
    cards = [
        ".meas tran ratio param='b/a'",
        ".meas ac a find vm(out) at=10k",
        ".meas tran b max v(in)",
        ".meas tran again param='ratio*2'",
    ]
    found = evaluate_meas([parse_meas(card, 1) for card in cards], [TRAN, AC], {})
    ratio, again = found["ratio"], found["again"]
    assert isinstance(ratio, Quantity)
    assert isinstance(again, Quantity)
    assert ratio.value == pytest.approx(math.sqrt(2), rel=1e-3)
    assert again.value == pytest.approx(2 * ratio.value)


def test_an_empty_plot_is_a_failure():
    empty = plot("tran", ("time", np.empty(0), "s"), {"v(out)": (np.empty(0), "V")})
    assert isinstance(_one(".meas tran m max v(out)", [empty]), Message)


def test_the_area_is_exact_for_cubics_over_equal_steps():
    x = np.arange(4.0)
    assert area_under(x, x**3) == pytest.approx(3**4 / 4)
    x = np.arange(3.0)
    assert area_under(x, x**3) == pytest.approx(4)
    assert area_under(np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0, 3.0])) == pytest.approx(5)
    assert area_under(np.array([1.0]), np.array([1.0])) == 0


_WORDS = """tran ac m trig targ when find avg max param= v(out) v(out)=0.5 at=1u val= rise=1 fall=last
cross=-1 td=1u from=1u to=0 last 'x {1 ( ) = == vdb(out) rise=1e99 to=1e400 param='2*3' v(in)=v(out) integ rms
pp deriv min_at"""
_words = st.sampled_from(_WORDS.split())


@given(st.lists(_words | st.text(max_size=5), max_size=12))
def test_any_card_is_read_or_refused_and_evaluated_or_failed(words):
    text = "meas " + " ".join(words)
    try:
        statement = parse_meas(text, 1)
    except UserInputError:
        return
    for outcome in evaluate_meas([statement], [TRAN, AC], {}).values():
        assert isinstance(outcome, Message) or math.isfinite(outcome.value)
