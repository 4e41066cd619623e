"""Unit algebra."""

from __future__ import annotations

from domain.simulation.units import integrated_density, power, product, quotient, total
from tests.ground.cases import for_each


@for_each(
    ("first", "second", "times", "over"),
    [
        ("V", "A", "W", "Ohm"),
        ("V", "V", "V^2", "1"),
        ("A", "V", "W", "S"),
        ("V", "1", "V", "V"),
        ("1", "s", "s", "Hz"),
        ("1", "Hz", "Hz", "s"),
        ("V", "s", "V*s", "V/s"),
        ("V/sqrt(Hz)", "V/sqrt(Hz)", "V^2/Hz", "1"),
        ("dB", "1", "dB", "dB"),
        ("deg", "1", "deg", "deg"),
        ("", "V", "", ""),
        ("V", "", "", ""),
        ("V", "Ohm", "V^2/A", "A"),
        ("A", "Ohm", "V", "A^2/V"),
        ("W", "V", "V^2*A", "A"),
        ("no such", "V", "", ""),
    ],
)
def test_products_and_quotients(first, second, times, over):
    assert product(first, second) == times
    assert quotient(first, second) == over


@for_each(
    ("unit", "exponent", "result"),
    [
        ("V", 2, "V^2"),
        ("V^2/Hz", 0.5, "V/sqrt(Hz)"),
        ("V", 0.5, "sqrt(V)"),
        ("V", -1, "1/V"),
        ("s", -1, "Hz"),
        ("V", 0.3, ""),
        ("V", float("nan"), ""),
        ("V", 1e9, ""),
        ("V", 0, "1"),
        ("1", 0.3, "1"),
        ("", 2, ""),
    ],
)
def test_powers(unit, exponent, result):
    assert power(unit, exponent) == result


def test_sums_and_densities():
    assert total("V", "V") == "V"
    assert total("V", "1") == total("1", "V") == "V"
    assert total("V", "A") == ""
    assert integrated_density("V/sqrt(Hz)") == "V"
    assert integrated_density("A^2/Hz") == "A"


@for_each("unit", ["V", "A^2/V", "V/sqrt(Hz)", "V^2/Hz", "V*s", "1/V", "sqrt(V)", "V^3/A^2"])
def test_what_is_written_is_read_again(unit):
    assert product(unit, "1") == unit
    assert quotient(product(unit, "V"), "V") == unit
