"""Numbers and ticks as they are read on a plot."""

import math

import pytest

from domain.simulation.goals import DesignGoal
from domain.simulation.result import Quantity
from presentation.panels.waveforms.figures import (
    beside_goal,
    column,
    fixed,
    joined,
    linear_ticks,
    log_ticks,
    quantity,
    scale_for,
    significant,
)
from presentation.ui.name_cut import cut_apart, middle_cut, trace_cut
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each


def _texts(ticks):
    return [tick.text.replace("\u00a0", " ") for tick in ticks.ticks if tick.text]


@for_each(
    ("value", "unit", "shown"),
    [
        (9976.0, "Hz", "9.976 kHz"),
        (0.99999, "V", "1.000 V"),
        (-48.35, "dB", "−48.35 dB"),
        (0.0871, "dB", "0.087 dB"),
        (-106.149, "dB", "−106.1 dB"),
        (4.85e-6, "V", "4.850 µV"),
        (53.0, "deg", "53.0°"),
        (1e-15, "A", "1.000 fA"),
        (0.0, "V", "0 V"),
        (999.96, "Hz", "1.000 kHz"),
        (1e6, "Hz", "1.000 MHz"),
        (12.5e-9, "V/sqrt(Hz)", "12.50 nV/√Hz"),
        (4.2e-17, "V^2/Hz", "42.00 10⁻¹⁸ V²/Hz"),
        (0.163, "1", "0.1630"),
        (4.32e-4, "%", "0.0004320 %"),
        (math.nan, "V", "— V"),
        (6e-22, "V", "0 V"),  # what rounding left
        (6e-22, "V^2/Hz", "600.0 10⁻²⁴ V²/Hz"),
        (math.inf, "dB", "∞ dB"),
    ],
)
def test_a_number_has_the_prefix_and_digits_an_engineer_writes(value, unit, shown):
    assert joined(*quantity(value, unit)).replace("\u00a0", " ") == shown


def test_numbers_of_a_row_share_one_unit():
    assert column([9976.0, 40000.0, 30024.0], "Hz") == ("kHz", ["9.976", "40.00", "30.02"])
    assert column([6e-22, 0.0, -6e-22], "V") == ("V", ["0", "0", "0.0000"])


def test_two_places_on_an_axis_never_look_the_same():
    unit, (a, b, difference) = column([1e-3, 1.00001e-3, 1e-8], "s", is_place=True)
    assert unit == "ms"
    assert a != b
    assert (a, b) == ("1.00000", "1.00001")
    assert difference == "0.0000"


def test_equal_places_need_no_more_digits():
    assert column([1e-3, 1e-3, 0.0], "s", is_place=True)[1] == ["1.000", "1.000", "0.0000"]


def test_a_minus_is_a_minus_and_there_is_no_negative_zero():
    assert fixed(-1.5, 1) == "−1.5"
    assert fixed(-0.001, 1) == "0.0"
    assert significant(-1.23456e-7) == "−1.235e−7"


def test_ticks_of_gain_and_phase_are_those_of_a_bode_plot():
    assert _texts(linear_ticks(-130, 100, "dB", 6)) == ["−120", "−80", "−40", "0", "40", "80"]
    assert _texts(linear_ticks(-380, 20, "deg", 5)) == ["−360", "−270", "−180", "−90", "0"]


def test_ticks_of_time_are_in_its_prefix():
    ticks = linear_ticks(0, 3.2e-3, "s", 6)
    assert (ticks.unit, _texts(ticks)) == ("ms", ["0", "1", "2", "3"])
    ticks = linear_ticks(0, 1.1e-6, "s", 6)
    assert (ticks.unit, _texts(ticks)[:3]) == ("µs", ["0.0", "0.2", "0.4"])


def test_decades_are_labelled_and_divided():
    ticks = log_ticks(2, 8, "Hz", 8)
    assert _texts(ticks) == ["100", "1 k", "10 k", "100 k", "1 M", "10 M", "100 M"]
    assert ticks.unit == "Hz"
    minor = [tick.position for tick in ticks.ticks if not tick.is_major]
    assert len(minor) == 6 * 8
    assert math.isclose(min(minor), math.log10(200))


def test_many_decades_in_little_room_are_labelled_now_and_then():
    assert len(_texts(log_ticks(-3, 12, "Hz", 4))) <= 5


def test_a_decade_is_labelled_at_2_and_5_too():
    assert _texts(log_ticks(3, 4.31, "Hz", 8)) == ["1 k", "2 k", "5 k", "10 k", "20 k"]


def test_inside_a_decade_the_axis_is_divided_evenly():
    ticks = log_ticks(math.log10(2000), math.log10(2500), "Hz", 5)
    assert (ticks.unit, _texts(ticks)) == ("kHz", ["2.0", "2.1", "2.2", "2.3", "2.4", "2.5"])


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf)])
def test_no_range_no_ticks(low, high):
    assert linear_ticks(low, high, "V", 5).ticks == ()
    assert log_ticks(low, high, "Hz", 5).ticks == ()


@campaigns(fast=300, whole=30_000)
def test_ticks_of_any_range_are_inside_it_in_order_and_few(campaign):
    units = ["V", "s", "dB", "deg", "1", "", "V^2/Hz", "Ohm"]
    for rng in campaign.cases():
        magnitude = 10.0 ** rng.uniform(-18, 12)
        low = rng.uniform(-1, 1) * magnitude
        high = low + magnitude * 10.0 ** rng.uniform(-6, 1)
        most = rng.randint(2, 14)
        unit = rng.choice(units)
        for ticks, ends in (
            (linear_ticks(low, high, unit, most), (low, high)),
            (log_ticks(*sorted((rng.uniform(-18, 12), rng.uniform(-18, 12))), unit, most), None),
        ):
            places = [tick.position for tick in ticks.ticks]
            assert places == sorted(places)
            labels = [tick.text for tick in ticks.ticks if tick.text]
            assert len(labels) <= 2 * most + 4
            assert len(set(labels)) == len(labels), (low, high, unit, labels)
            if ends is not None and places:
                room = 1e-6 * (high - low)
                assert low - room <= places[0]
                assert places[-1] <= high + room


@campaigns(fast=300, whole=30_000)
def test_a_shown_quantity_says_the_number_again(campaign):
    prefixes = {"a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0,
                "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # fmt: skip
    for rng in campaign.cases():
        value = rng.choice((-1, 1)) * 10.0 ** rng.uniform(-17.9, 14.9)
        text, unit = quantity(value, "A", 5)
        factor = prefixes[unit.removesuffix("A")]
        again = float(text.replace("−", "-")) * factor
        assert math.isclose(again, value, rel_tol=6e-5), (value, text, unit)


def test_the_scale_of_nothing_is_plain():
    assert scale_for(0.0, "V") == scale_for(math.nan, "V")
    assert scale_for(0.0, "V").unit == "V"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(999.97, "999.97\tHz"), (1000.03, "1.00003\tkHz"), (1000.0, "1.000\tkHz"), (1234.5, "1.234\tkHz")],
)
def test_a_measurement_beside_its_goal_does_not_read_like_the_limit(value: float, shown: str) -> None:
    goal = DesignGoal(metric="fc", expression="x", unit="Hz", minimum=1000.0)
    assert beside_goal(goal, Quantity(value=value, unit="Hz"))[0] == shown


class _Wide:
    """Chinese letters 13 pixels, others 7."""

    def horizontalAdvance(self, text: str, /) -> int:  # noqa: N802 - Qt's name
        return sum(13 if letter >= "\u2e80" else 7 for letter in text)


def test_names_that_differ_in_the_middle_are_cut_apart() -> None:
    names = [f"inverting_amplifier_gain_{gain}_50kHz.cir" for gain in (20, 50, 100)]
    shown = [cut_apart(_Wide(), name, 140, names) for name in names]
    assert shown == ["inverti…20_50kHz.cir", "inverti…50_50kHz.cir", "invert…100_50kHz.cir"]
    run = f"仿真 #3 · {names[0]}"
    others = [f"仿真 #{number} · {name}" for number, name in enumerate(names)]
    assert cut_apart(_Wide(), run, 210, others, kept=" · ") == "仿真 #3 · inverti…20_50kHz.cir"
    assert cut_apart(_Wide(), names[0], 140, [names[0], "rc.cir"]) == middle_cut(_Wide(), names[0], 140)
    assert cut_apart(_Wide(), names[0], 70, names) == middle_cut(_Wide(), names[0], 70)  # no room for it


def test_a_name_that_fits_is_not_cut_though_its_parts_are_each_rounded_up() -> None:
    class Rounded:
        def horizontalAdvance(self, text: str, /) -> int:  # noqa: N802 - Qt's name
            return math.ceil(6.4 * len(text))

    name = "Run 4 · bax.cir"
    assert cut_apart(Rounded(), name, 96, [name], kept=" · ") == name


def test_of_a_voltage_without_room_its_node_stays() -> None:
    texts = ("v(n003)", "v(n003)", "v(n003)", "v(a,b)", "i(r4)")
    shown = [trace_cut(_Wide(), text, width) for text, width in zip(texts, (49, 48, 21, 28, 21), strict=True)]
    assert shown == ["v(n003)", "n003", "v…)", "v…b)", "i…)"]
    # Of what is measured on one the functions stay: they tell it from the others.
    measured = "db(peak(v(tone_out)))"
    cuts = [trace_cut(_Wide(), measured, 7 * letters) for letters in (21, 20, 15, 11, 10)]
    assert cuts == [measured, "db(peak(tone_out))", "db(peak(to…ut))", "db(peak(…))", "db(p…ut)))"]
    assert trace_cut(_Wide(), "max(tran.v(tone_out))", 70) == "max(to…ut)"
    cuts = [trace_cut(_Wide(), "pp(tran.v(out),13.18m)", 7 * letters) for letters in (22, 14, 13, 8)]
    assert cuts == ["pp(tran.v(out),13.18m)", "pp(out,13.18m)", "pp(out,…)", "pp(o…,…)"]


def test_long_names_that_differ_at_their_end_are_told_apart() -> None:
    names = [f"共射放大器_增益20dB{end}.cir" for end in ("", "_2", "_3")]
    assert [middle_cut(_Wide(), name, 112) for name in names] == [
        "共射放大…0dB.cir",
        "共射放大…B_2.cir",
        "共射放大…B_3.cir",
    ]
    assert cut_apart(_Wide(), f"仿真 #3 · {names[1]}", 146, (), kept=" · ") == "仿真 #3 · 共射…_2.cir"
    for width in range(-5, 220):
        shown = middle_cut(_Wide(), names[1], width)
        assert _Wide().horizontalAdvance(shown) <= max(width, 7)
        assert shown == names[1] or "…" in shown
