"""SPICE numbers: what ngspice reads is what we read, and what we print it reads back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.circuit.numbers import (
    digits_times_power,
    format_number,
    parse_number,
    read_number,
    split_suffix,
)
from tests.ground.cases import for_each

NGSPICE_READS = [
    ("1k", 1e3), ("1K", 1e3), ("1MEG", 1e6), ("1Meg", 1e6), ("1meg", 1e6), ("1M", 1e-3), ("1m", 1e-3),
    ("1mil", 25.4e-6), ("1MIL", 25.4e-6), ("1milli", 25.4e-6), ("1u", 1e-6), ("1e-3", 1e-3), ("1e3k", 1e6),
    ("100nF", 1e-7), ("1T", 1e12), ("1g", 1e9), ("1f", 1e-15), ("1F", 1e-15), ("1a", 1.0), ("1p", 1e-12),
    ("1x", 1.0), ("1Ohm", 1.0), ("1kOhm", 1e3), ("1.5e+3", 1500.0), (".5k", 500.0), ("5.", 5.0),
    ("1e", 1.0), ("1ee", 1.0), ("1d3", 1e3), ("1D3", 1e3), ("+5", 5.0), ("-5", -5.0), ("1µ", 1e-6),
    ("1MegOhm", 1e6), ("1MF", 1e-3), ("1e3Hz", 1e3), ("1ex", 1.0), ("1s", 1.0), ("1e-3k", 1.0),
    ("1mi", 1e-3), ("1amp", 1.0), ("1h", 1.0), ("10uF", 1e-5), ("0", 0.0),
]  # fmt: skip


@for_each(("text", "value"), NGSPICE_READS)
def test_reads_as_ngspice_does(text: str, value: float) -> None:
    assert parse_number(text) == pytest.approx(value, rel=1e-12)


@for_each(
    "text",
    ["", "k", "abc", "{1k}", "2K2", "1k5", "1,5k", "0x10", "1_000", "1.2.3", "--1", "1 k", "nan", "inf"],
)
def test_refuses_what_would_be_misread(text: str) -> None:
    with pytest.raises(ValueError, match="not a SPICE number"):
        parse_number(text)
    with pytest.raises(ValueError, match="not a SPICE number"):
        split_suffix(text)


def test_an_element_line_reads_the_beginning_only() -> None:
    number = read_number("4k7")
    assert number is not None
    assert (number.value, number.suffix, number.rest) == (4000.0, "k", "7")
    assert read_number("model") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("4.7k", ("4.7", "k", "")),
        ("10MegOhm", ("10", "Meg", "Ohm")),
        ("1e-3", ("1e-3", "", "")),
        ("100nF", ("100", "n", "F")),
    ],
)
def test_splits_mantissa_suffix_and_unit(text: str, parts: tuple[str, str, str]) -> None:
    assert split_suffix(text) == parts


@for_each(
    ("value", "text"),
    [
        (1e6, "1Meg"),
        (4700, "4.7k"),
        (0.0, "0"),
        (1e-7, "100n"),
        (999999.9, "1Meg"),
        (-2.5e-3, "-2.5m"),
        (1e-15, "1f"),
        (1e15, "1e15"),
        (3e-18, "3e-18"),
        (150, "150"),
        (0.47, "470m"),
        (1e12, "1T"),
    ],
)
def test_prints_engineering_notation(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_has_no_text_for_what_spice_cannot_write(value: float) -> None:
    with pytest.raises(ValueError, match="no way to write"):
        format_number(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_seventeen_digits_come_back(value: float) -> None:
    assert parse_number(format_number(value, 17)) == pytest.approx(value, rel=1e-15, abs=0)


@given(st.floats(min_value=1e-14, max_value=1e14), st.integers(min_value=1, max_value=12))
def test_rounding_error_is_that_of_the_digits(value: float, digits: int) -> None:
    text = format_number(value, digits)
    assert parse_number(text) == pytest.approx(value, rel=0.5001 * 10 ** (1 - digits))
    assert "M" not in text.replace("Meg", "")


@for_each(
    ("text", "value"),
    [
        ("0.000431", 431 * 1e-6),  # one digit below 0.000431
        ("0.431m", 431 * 1e-6),
        ("431u", 431 * 1e-6),
        ("-.5", -0.5),
        ("4.87e-4s", 487 * 1e-6),
        ("1meg", 1e6),
        ("2.5mil", 2.5 * 25.4e-6),
        ("1e-400", 0.0),
    ],
)
def test_digits_times_a_power_of_ten_may_be_the_double_beside(text: str, value: float) -> None:
    assert digits_times_power(text) == value
    assert digits_times_power(text) == pytest.approx(parse_number(text), rel=1e-15)
