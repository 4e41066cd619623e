"""What people type for a component, in both languages and in the forms of data sheets."""

from __future__ import annotations

import math

from domain.components.query import ComponentQuery, Condition, read_query
from domain.components.values import values_for
from tests.ground.cases import for_each

_INF = math.inf


@for_each(
    ("text", "words", "kinds", "conditions"),
    [
        ("2N3904", ("2n3904",), (), ()),
        ("npn vceo>40", (), ("npn",), (("v", 40, _INF, True),)),
        (
            "NPN Vceo ≥ 40 V, Ic at least 200 mA",
            (),
            ("npn",),
            (("v", 40, _INF, False), ("i", 0.2, _INF, False)),
        ),
        ("npn 40 V 200 mA", (), ("npn",), (("v", 40, _INF, False), ("i", 0.2, _INF, False))),
        ("find me a dual op-amp above 5 MHz", ("dual",), ("opamp",), (("f", 5e6, _INF, True),)),
        ("op amp gbw>5meg", (), ("opamp",), (("f", 5e6, _INF, True),)),
        ("op-amp 5 mhz", (), ("opamp",), (("f", 5e6, _INF, False),)),
        ("双运放大于5MHz", ("dual",), ("opamp",), (("f", 5e6, _INF, True),)),
        ("三极管 耐压不低于 40 V", (), ("npn", "pnp"), (("v", 40, _INF, False),)),
        ("op-amp slew rate > 10 V/us", (), ("opamp",), (("slew", 1e7, _INF, True),)),
        (
            "n-channel mosfet rds(on) < 50 mOhm 60V",
            (),
            ("nmos",),
            (("ron", 0, 0.05, True), ("v", 60, _INF, False)),
        ),
        ("p 沟道 MOSFET 30 V 以上", (), ("pmos",), (("v", 30, _INF, False),)),
        ("mosfets", (), ("nmos", "pmos"), ()),
        ("schottky under 2A", (), ("schottky",), (("i", 0, 2, True),)),
        ("NE555", ("ne555",), (), ()),
        ("jfet-input op-amp", ("jfet-input",), ("opamp",), ()),
        ("", (), (), ()),
        ("op-amp > > 5", ("5",), ("opamp",), ()),
    ],
)
def test_queries(
    text: str,
    words: tuple[str, ...],
    kinds: tuple[str, ...],
    conditions: tuple[tuple[str, float, float, bool], ...],
) -> None:
    read = read_query(text)
    assert (read.words, read.kinds) == (words, kinds)
    assert read.conditions == tuple(Condition(*each) for each in conditions)


def test_a_zener_voltage_is_about_and_an_on_resistance_at_most() -> None:
    [zener] = read_query("zener 5.1 V").conditions
    assert zener.quantity == "vz"
    assert 4.8 < zener.low < 5.1 < zener.high < 5.4
    [on] = read_query("nmos rds(on) 50 mOhm").conditions
    assert (on.quantity, on.low, on.high, on.is_open) == ("ron", 0, 0.05, False)


@for_each(
    ("text", "value", "kinds", "names"),
    [
        ("4k7", 4700, ("resistor",), ["4.7k"]),
        ("10 µF", 1e-5, ("capacitor",), ["10u"]),
        ("100n", 1e-7, ("capacitor", "inductor"), ["100n", "100n"]),
        ("resistor 4.99k", 4990, ("resistor",), ["4.99k", "5.1k", "4.7k"]),
        ("5k resistor", 5000, ("resistor",), ["4.99k", "5.1k", "5.11k"]),
        ("电阻 1M", 1e6, ("resistor",), ["1Meg"]),
        ("10 mH", 1e-2, ("inductor",), ["10m"]),
    ],
)
def test_values_of_the_e_series(text: str, value: float, kinds: tuple[str, ...], names: list[str]) -> None:
    read = read_query(text)
    assert (read.value, read.kinds) == (value, kinds)
    assert [each.name for each in values_for(read)][: len(names)] == names


def test_a_value_beyond_all_sizes_has_no_part_and_a_long_text_is_cut() -> None:
    assert values_for(ComponentQuery(kinds=("resistor",), value=1e300)) == ()
    assert len(read_query("x " * 10_000).words) <= 8
    assert read_query("npn \ud800").text == "npn ?"
