"""LTspice's repeated PWL sources, and braces within expressions."""

from __future__ import annotations

from domain.circuit.foreign_braces import flat_braces, with_braces, with_signs_inside
from domain.circuit.foreign_pwl import repeated_points, with_edges, with_points
from tests.ground.cases import for_each


@for_each(
    ("written", "read"),
    [
        (
            "V1 a 0 PWL REPEAT FOREVER (0 0 1m 1 +1m 0) ENDREPEAT AC 1",
            "V1 a 0 PWL(0 0 0.001 1 0.002 0) r=0 AC 1",
        ),
        ("V1 a 0 pwl repeat for 2 (0 0 1 {v}) endrepeat", "V1 a 0 PWL(0 0 1 {v} 1.000000001 0 2 {v})"),
        ("V1 a 0 PWL REPEAT FOREVER (1m 0 2m 1) ENDREPEAT", None),  # what holds before its first point?
        ("V1 a 0 PWL REPEAT FOREVER (0 0 2m 1 1m 0) ENDREPEAT", None),
        ("V1 a 0 PWL REPEAT FOREVER (0 0 2m) ENDREPEAT", None),
        ("V1 a 0 PWL(0 0 1 1)", None),
    ],
)
def test_repeated_points(written: str, read: str | None) -> None:
    assert repeated_points(written) == (read or written)


def test_points_of_a_file_are_read_until_the_stop_time() -> None:
    source, points = "V1 a 0 PWL file=p.txt AC 1", "0 1\n1 2\n2 3\n3 4\n"
    assert with_points(source, points, 1.5) == "V1 a 0 PWL(0 1 1 2 2 3) AC 1"
    assert with_points(source, points, None) == "V1 a 0 PWL(0 1 1 2 2 3 3 4) AC 1"


def test_braces_within_expressions() -> None:
    assert with_braces(".param t=2*5/{v}*{s} a=1 b={x} c={y*{z}}") == (
        ".param t={2*5/(v)*(s)} a=1 b={x} c={y*(z)}"
    )
    assert with_braces(".param a=(b}*{c}") == ".param a={(b)*(c)}"  # as LTspice takes it
    assert with_braces(".param r = r0 * exp(b * (1/t - 1)) a=2") == ".param r = {r0 * exp(b * (1/t - 1))} a=2"
    assert with_braces(".param a=1 b='2 * a' c = 3") == ".param a=1 b='2 * a' c = 3"
    assert flat_braces("R1 a b {x*{y}}") == "R1 a b {x*(y)}"
    assert flat_braces("B1 a b V={a}*{b}") == "B1 a b V={a}*{b}"
    assert flat_braces("R1 a b {x") == "R1 a b {x"


def test_a_sign_before_braces_goes_into_them() -> None:
    card = ".model PM NMOS (LEVEL=1 VTO=-{VQ} KP=+{2*k} LAMBDA=-1m)"
    assert with_signs_inside(card) == ".model PM NMOS (LEVEL=1 VTO={-(VQ)} KP={+(2*k)} LAMBDA=-1m)"
    assert with_signs_inside("V1 a 0 PULSE(-{v} {v -{w}} 0)") == "V1 a 0 PULSE({-(v)} {v -{w}} 0)"
    for as_it_is in ("V1 {a -{b} }", "I1 a 0 R=-{a}**2", "V1 a 0 'a -{b}'", "V1 a-{b} 0 1", "a-{b -{c} }"):
        assert with_signs_inside(as_it_is) == as_it_is


def test_a_pulse_whose_width_may_become_0() -> None:
    pulse = "V1 a 0 PULSE(0 5 0 1n 1n {w} 10u)"
    assert with_edges(pulse, None) == "V1 a 0 PULSE(0 5 0 1n 1n {((w)>0?(w):1e-11)} 10u)"
    assert with_edges("V1 a 0 PULSE(0 5 0 1n 1n {w})", 1.0) == "V1 a 0 PULSE(0 5 0 1n 1n {w})"
