"""Our `.meas` values against those ngspice prints for the same deck, card by card."""

from __future__ import annotations

import math
import random
import re

import pytest

from domain.simulation.meas import evaluate_meas
from domain.simulation.meas_cards import parse_meas
from domain.simulation.result import Quantity
from domain.simulation.waveform import Plot
from shared.errors import UserInputError
from shared.message import Message
from tests.ground.campaign import campaigns

TRAN = """* pulse into an RC, and a sine
.param vth=0.5 foo=2
v1 in 0 pulse(0 1 1u 1u 1u 10u 20u)
r1 in out 1k
c1 out 0 1n
vs s 0 sin(0.2 1 100k)
.save all
.tran 0.1u 100u
"""
TRAN_CARDS = """
trig v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=1
trig v(in) val=0.5 rise=2 targ v(out) val=0.5 fall=2
trig v(in) val=0.1 cross=1 targ v(in) val=0.9 cross=2
trig at=5u targ v(out) val=0.5 fall=1
trig v(in) val='vth' td=30u rise=1 targ v(out) val={vth} td=30u fall=1
trig v(in) val=0.5 rise=last targ v(out) val=0.5 fall=last
trig v(in) val=0.5 rise=99 targ v(out) val=0.5 rise=1
trig v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=99
trig v(in) val=0.5 targ v(in) val=0.5 fall=1
trig v(out) val=0.5 rise=3 targ v(in) val=0.5 rise=1
trig v(in) val=0.5 rise=1 from=25u targ v(out) val=0.5 rise=1
trig v(s) val=0.2 cross=2 targ v(s) val=0.2 cross=1 td=30u
trig v(in) val=vth rise=1 targ v(out) val=vth rise=1
trig v(in) rise=1 targ v(s) rise=1
delay v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=1
when v(out)=0.5 rise=2
when v(out)=0.5
WHEN V(OUT) = 0.5 RISE = 2
when v(out)=0.5 fall=last
when v(out)=0.5 last
when v(out)=v(s) cross=3
when v(out)=v(s) cross=last
when v(in)=v(out) fall=last
when v(in)=v(out) cross=1
when v(out)=0.5 td=25u
when v(out)=0.5 from=25u to=60u rise=1
when v(out)=0.5 from=25u to=30u rise=1
when v(out)=5
when v(out)=vth
when v(out)=0.5volts
when v(out)=500m rise=3
when v(in)=0.5 cross=last
when v(in)=0.5 fall=1
when v(s)=0.2 cross=1
when v(s)=0.2 rise=1.6
when v(s)=0.2 cross=-1
when v(in)=0 cross=1
when v(in)=0 rise=1
when v(in)=1 rise=1
when v(in)=1 fall=1
when v(in)=1 cross=2
when v(in)=0 cross=7
when time=5u
find v(out) at=5u
find v(out) at = 5u
find v(s) when v(out)=0.5 rise=1
find v(s) when v(out)=v(in) cross=2
find v(s) when v(out)=0.5 fall=last from=20u to=60u
find v(s) when v(out)=0.5 td=30u fall=1
find i(v1) at=3u
find v(out) at=1
find v(out) at={3*vth*1u}
find v(out) when time=5u
find v(out) from=5u to=6u
avg v(out)
avg v(out) from=10u to=50u
avg v(out) td=20u
avg i(v1) from=0 to=20u
avg v(s) from=10.01u to=10.04u
avg v(s) from=12.3u to=47.7u
rms v(s)
rms v(s) from=10u to=30u
rms v(out) to=50u
rms v(s) from=12.34u to=56.78u
rms v(s) from=200u to=300u
rms v(s) from=20u to=20u
min v(s)
max v(s) from=12u to=18u
max v(s) from={vth*10u} to=18u
max v(s) from=12u to=8u
max v(out) from=200u
max v(s) from=-5u
max v(nonode)
max time
max out
max v1#branch
max "v(out)"
min_at v(s)
max_at v(s) from=12u to=18u
max_at v(out)
pp v(s)
pp v(out) from=50u
integ v(out)
integ v(out) from=10u to=50u
integ v(out) from=11.11u to=55.55u
integ v(s) from=200u
"""

AC = """* parallel resonance
v1 in 0 dc 0 ac 1
r1 in out 1k
c1 out 0 1n
l1 out 0 1m
.save all
.ac dec 20 1k 10meg
"""
AC_CARDS = """
max vm(out)
max v(out)
max vdb(out)
max_at vdb(out)
max_at v(out)
when vdb(out)=-3 rise=1
when vdb(out)=-3 fall=last
when vp(out)=0
when vm(out)=0.7071 cross=2
when vdb(out)=-300
find vp(out) at=100k
find vdb(out) at=100k
find v(out) at=100k
find vi(out) at=123k
find vp(out) when vdb(out)=-3 cross=1
find v(out) when vdb(out)=-3 cross=1
find vm(out) at=100meg
trig vdb(out) val=-3 rise=1 targ vdb(out) val=-3 fall=1
trig at=1k targ vdb(out) val=-3 rise=1
avg vm(out)
avg v(out) from=10k to=1meg
rms vm(out) from=10k to=1meg
rms v(out)
integ vm(out) from=10k to=1meg
integ v(out)
pp vdb(out)
min vp(out)
min_at vi(out)
max vr(out)
max vi(out)
max i(v1)
max_at vm(out) from=1k to=50k
max vm(nonode)
"""

DC = """* diode
vd d 0 1
dd d 0 dm
.model dm d
.save all
.dc vd 0 0.8 0.01
"""
DC_CARDS = """
find i(vd) at=0.65
find i(vd) at=0.655
find v(d) when i(vd)=-1u fall=1
find i(vd) when v(d)=0.5
when i(vd)=-1u
when v(d)=0.333 rise=1
when v(d)=0.4 cross=last
when v(d)=2
max i(vd)
min i(vd)
min_at i(vd)
avg i(vd)
avg v(d) from=0.2 to=0.6
rms i(vd) from=0.2 to=0.6
integ i(vd) from=0.2 to=0.6
integ i(vd) from=0.205 to=0.603
pp i(vd) from=0.1 to=0.5
trig i(vd) val=-1u fall=1 targ i(vd) val=-1m fall=1
trig at=0.2 targ v(d) val=0.4 rise=1
"""

NESTED = """* two nested sweeps
v1 a 0 1
v2 b 0 1
bo o 0 v=v(a)*v(b)
ro o 0 1k
.save all
.dc v1 0 1 0.1 v2 1 3 1
"""
NESTED_CARDS = """
when v(o)=0.55
when v(o)=0.55 rise=1
when v(o)=0.55 rise=2
when v(o)=0.55 cross=last
find v(b) when v(o)=0.55 cross=last
max v(o)
max_at v(o)
find v(o) at=0.45
avg v(o)
"""

DOWNWARDS = """* a falling sweep
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.save all
.dc v1 2 -1 -0.03
"""
DOWNWARDS_CARDS = """
when v(b)=0.4
when v(b)=0.4 fall=1
when v(b)=0.4 rise=1
find v(b) at=0.7
max v(b)
min_at v(b)
"""

PARAMS = """* formulas
.param vth=0.5 foo=2
v1 in 0 pulse(0 1 1u 1u 1u 10u 20u)
r1 in out 1k
c1 out 0 1n
.save all
.tran 0.1u 100u
.meas tran early param='a+1'
.meas tran a avg v(out)
.meas tran b when v(out)=0.5 rise=2
.meas tran c when v(out)=0.5
.meas tran empty max v(out) from=200u
.meas tran bad max v(nonode)
.meas tran p1 param='a*2+vth'
.meas tran p2 param='b-c'
.meas tran p3 param='foo*nothing'
.meas tran p4 param = 'max(a,b)'
.meas tran p5 param='empty*2'
.meas tran p6 param='p1+1'
.meas tran p7 param='p8+1'
.meas tran p8 param='1+1'
.meas tran p9 param='foo>1 ? 5 : 6'
.meas tran p10 expr='foo*3'
.meas tran p11 param={3*foo}
.meas tran p12 param='bad+1'
.meas tran p13 param='v(out)'
.end
"""


def _computed(deck: str, plots: list[Plot], parameters: dict[str, float]) -> dict[str, Quantity | Message]:
    statements = []
    failures: dict[str, Quantity | Message] = {}
    for number, line in enumerate(deck.splitlines(), start=1):
        if line.startswith(".meas"):
            try:
                statements.append(parse_meas(line, number))
            except UserInputError as error:
                failures[line.split()[2]] = error.message
    return {**evaluate_meas(statements, plots, parameters), **failures}


def _compare(
    deck: str, cards: list[str], printed: dict[str, float], computed: dict[str, Quantity | Message]
) -> None:
    wrong = []
    for name, outcome in computed.items():
        card = next((card for card in cards if f" {name} " in card), name)
        expected = printed.get(name, math.nan)
        if not math.isfinite(expected):
            if not isinstance(outcome, Message):
                wrong.append(f"{card}: ngspice fails, ours {outcome}")
        elif isinstance(outcome, Message):
            wrong.append(f"{card}: ngspice {expected}, ours failed: {outcome}")
        elif outcome.value != pytest.approx(expected, rel=1e-5, abs=1e-15):
            wrong.append(f"{card}: ngspice {expected}, ours {outcome.value}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("circuit", "analysis", "texts"),
    [
        pytest.param(TRAN, "tran", TRAN_CARDS, id="tran"),
        pytest.param(AC, "ac", AC_CARDS, id="ac"),
        pytest.param(DC, "dc", DC_CARDS, id="dc"),
        pytest.param(NESTED, "dc", NESTED_CARDS, id="nested-dc"),
        pytest.param(DOWNWARDS, "dc", DOWNWARDS_CARDS, id="downwards-dc"),
    ],
)
def test_values_and_failures_are_those_of_ngspice(circuit, analysis, texts, run_deck, printed_measures):
    cards = [f".meas {analysis} m{i} {text}" for i, text in enumerate(texts.strip().splitlines())]
    deck = circuit + "\n".join(cards) + "\n.end\n"
    computed = _computed(deck, run_deck(deck), {"vth": 0.5, "foo": 2.0})
    assert len(computed) == len(cards)
    _compare(deck, cards, printed_measures(deck), computed)


def test_formulas_are_computed_last_from_what_succeeded(run_deck, printed_measures):
    computed = _computed(PARAMS, run_deck(PARAMS), {"vth": 0.5, "foo": 2.0})
    printed = printed_measures(PARAMS)
    assert len(printed) >= 12
    _compare(PARAMS, PARAMS.splitlines(), printed, computed)


def _number(rng: random.Random, low: float, high: float, *, plain: bool = False) -> str:
    # No exponent before a suffix: ngspice 39 reads -1.317e+04m as another number in `trig`.
    value = rng.uniform(low, high)
    return f"{value:.4g}" if plain or rng.random() < 0.7 else f"{value * 1e3:.1f}m"


def _count(rng: random.Random) -> str:
    wanted = rng.choice(["1", "1", "2", "3", "5", "last", "last", "99"])
    return f"{rng.choice(['rise', 'fall', 'cross'])}={wanted}"


def _window(rng: random.Random, stop: float, *, delay: bool = False) -> str:
    words = []
    if rng.random() < 0.4:
        words.append(f"from={rng.uniform(0, stop):.5g}")
    if rng.random() < 0.4:
        words.append(f"to={rng.uniform(0, stop):.5g}")
    if delay and rng.random() < 0.3:
        words.append(f"td={rng.uniform(0, stop):.5g}")
    return " ".join(words)


def _random_card(rng: random.Random, vectors: list[str], stop: float, levels: tuple[float, float]) -> str:
    vector, other = rng.choice(vectors), rng.choice(vectors)
    function = rng.choice(
        [
            "trig",
            "when",
            "when",
            "find",
            "findat",
            "avg",
            "rms",
            "min",
            "max",
            "min_at",
            "max_at",
            "pp",
            "integ",
        ]
    )
    level = _number(rng, *levels)
    compared = rng.choice([level, vector]) if vector != other else level
    when = f"when {other}={compared} {_window(rng, stop, delay=True)}"
    count = _count(rng) if rng.random() < 0.8 else ""
    if function == "trig":
        target = f"targ {other} val={_number(rng, *levels)} {_count(rng)}"
        return f"trig {vector} val={level} {_count(rng)} {_window(rng, stop / 2, delay=True)} {target}"
    if function == "when":
        return f"{when} {count}"
    if function == "find":
        return f"find {vector} {when} {count}"
    if function == "findat":
        return f"find {vector} at={rng.uniform(0, 1.1 * stop):.5g}"
    return f"{function} {vector} {_window(rng, stop)}"


def _random_deck(rng: random.Random) -> tuple[str, str, list[str]]:
    if rng.random() < 0.7:
        stop = 1e-3
        source = rng.choice(
            [
                f"pulse(0 1 {rng.choice([0, 2e-5])} {rng.choice(['1n', '10u'])} 5u 100u "
                f"{rng.choice(['200u', '350u'])})",
                f"sin({rng.choice([0, 0.25])} 1 {rng.choice([1e3, 2.7e3, 9e3])})",
                "pwl(0 0 0.2m 1 0.4m 1 0.6m -0.5 0.8m 0.5 1m 0.5)",
            ]
        )
        circuit = f"v1 in 0 {source}\nr1 in out 1k\nc1 out 0 {rng.choice(['1n', '50n', '200n'])}\n"
        circuit += (
            f"l1 in x 10m\nr2 x 0 100\n.tran {rng.choice(['1u', '10u'])} 1m {rng.choice(['', '0 2u'])}\n"
        )
        vectors, levels, analysis = ["v(out)", "v(in)", "i(v1)", "v(x)"], (-0.3, 1.0), "tran"
    elif rng.random() < 0.6:
        stop, analysis, levels = 1e6, "ac", (-40.0, 1.0)
        circuit = "v1 in 0 ac 1\nr1 in out 1k\nc1 out m 1n\nl1 m 0 1m\nr3 out 0 3k\n"
        circuit += rng.choice([".ac dec 7 100 1meg\n", ".ac lin 60 1k 1meg\n", ".ac oct 5 1k 2meg\n"])
        # no parts of complex vectors on the right: ngspice takes vi(out)=vp(out) for parameters and dies
        vectors = ["vdb(out)", "vp(out)", "vm(out)", "v(out)", "v(m)", "vi(m)", "vr(m)"]
    else:
        stop, analysis, levels = 2.0, "dc", (-0.5, 1.0)
        circuit = "v1 in 0 1\nr1 in out 1k\nd1 out 0 dm\n.model dm d\nr2 out 0 5k\n"
        circuit += rng.choice([".dc v1 -1 2 0.03\n", ".dc v1 2 -1 -0.07\n"])
        vectors = ["v(out)", "v(in)", "i(v1)"]
    deck = "* random\n" + circuit + ".save all\n"
    cards = [_random_card(rng, vectors, stop, levels) for _ in range(15)]
    if analysis == "ac":
        cards = [card for card in cards if not re.search(r"=v\w*\(", card)]
    return deck, analysis, cards


@pytest.mark.timeout(300)
@campaigns(fast=6, whole=1000)
def test_random_measurements_are_those_of_ngspice(campaign, run_deck, printed_measures):
    for rng in campaign.cases():
        circuit, analysis, texts = _random_deck(rng)
        cards = [f".meas {analysis} m{i} {text}" for i, text in enumerate(texts)]
        deck = circuit + "\n".join(cards) + "\n.end\n"
        _compare(deck, cards, printed_measures(deck), _computed(deck, run_deck(deck), {}))
