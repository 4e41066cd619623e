"""Time measurements on waveforms that are formulas; within 1 %, mostly far closer."""

from __future__ import annotations

import math

import pytest

from domain.simulation.expressions import evaluate
from shared.errors import CircuitError

TAU = 1e-6


def _check(plots, expected: dict[str, tuple[float, str]], rel: float = 0.01) -> None:
    for expression, (value, unit) in expected.items():
        found = evaluate(expression, plots)
        assert found.value == pytest.approx(value, rel=rel, abs=1e-12 if value == 0 else 0), expression
        assert found.unit == unit, expression


def test_rc_step(run_deck):
    plots = run_deck(
        "* rc step\nv1 in 0 pulse(1 3 2u 1p 1p 1 2)\nr1 in out 1k\nc1 out 0 1n\n.tran 5n 14u 0 5n\n.end\n"
    )
    _check(
        plots,
        {
            "rise_time(v(out))": (TAU * math.log(9), "s"),
            "settling_time(v(out), 0.01)": (TAU * math.log(100), "s"),
            "settling_time(v(out), 0.05)": (TAU * math.log(20), "s"),
            "settling_time(v(out))": (TAU * math.log(50), "s"),
            "slew_rate(v(out))": (0.8 * 2 / (TAU * math.log(9)), "V/s"),
            "delay(v(in), v(out))": (TAU * math.log(2), "s"),
            "cross(v(out), 2)": (2e-6 + TAU * math.log(2), "s"),
            "cross(v(out),2)-cross(v(in),2)": (TAU * math.log(2), "s"),
            "at(v(out), 3u)": (1 + 2 * (1 - math.exp(-1)), "V"),
            "at(v(out)*2, 3u)": (2 + 4 * (1 - math.exp(-1)), "V"),
            "max(v(out))": (3, "V"),
            "pp(v(out))": (2, "V"),
            "max(v(out))-min(v(out))": (2, "V"),
            "max(v(in,out))": (2, "V"),
            "avg(v(out), 0, 2u)": (1, "V"),
            "max(deriv(v(out)))": (2 / TAU, "V/s"),
            "at(integ(v(out)), 2u)": (2e-6, "V*s"),
            "-min(i(v1))": (2e-3, "A"),
            "max(-v(in)*i(v1))": (6e-3, "W"),
            "ripple(v(out), 10u, 14u)": (2 * (math.exp(-8) - math.exp(-12)), "V"),
        },
    )
    assert evaluate("overshoot(v(out))", plots).value < 1e-3
    with pytest.raises(CircuitError):
        evaluate("fall_time(v(out))", plots)


def test_falling_rc_step(run_deck):
    plots = run_deck(
        "* rc fall\nv1 in 0 pulse(2 -1 1u 1p 1p 1 2)\nr1 in out 1k\nc1 out 0 1n\n.tran 5n 12u 0 5n\n.end\n"
    )
    _check(
        plots,
        {
            "fall_time(v(out))": (TAU * math.log(9), "s"),
            "settling_time(v(out), 2m)": (TAU * math.log(500), "s"),
            "slew_rate(v(out))": (0.8 * 3 / (TAU * math.log(9)), "V/s"),
            "delay(v(in), v(out))": (TAU * math.log(2), "s"),
        },
    )
    with pytest.raises(CircuitError):
        evaluate("rise_time(v(out))", plots)


@pytest.mark.parametrize("start", [0.0, 20e-6])
@pytest.mark.parametrize("zeta", [0.1, 0.2, 0.5, 0.8])
def test_second_order_step(run_deck, zeta, start):
    """overshoot = exp(-pi zeta/sqrt(1 - zeta^2)); settling from the formula of the response itself."""
    w0 = 2 * math.pi * 1e5
    inductance = 1e-3
    capacitance = 1 / (w0**2 * inductance)
    resistance = 2 * zeta * w0 * inductance
    stop = start + 12 / (zeta * w0)
    plots = run_deck(
        f"* rlc\nv1 in 0 pulse(0 1 {start} 1p 1p 1 2)\nr1 in a {resistance}\nl1 a out 1m\n"
        f"c1 out 0 {capacitance}\n"
        f".tran 20n {stop} 0 20n\n.end\n"
    )
    damped = math.sqrt(1 - zeta**2)

    def response(t: float) -> float:
        phase = w0 * damped * t
        return 1 - math.exp(-zeta * w0 * t) * (math.cos(phase) + zeta / damped * math.sin(phase))

    step = 1e-9
    settled = max(n for n in range(int((stop - start) / step)) if abs(response(n * step) - 1) > 0.02) * step
    edge = [next(n for n in range(10**6) if response(n * step) >= level) * step for level in (0.1, 0.9)]
    _check(
        plots,
        {
            "overshoot(v(out))": (math.exp(-math.pi * zeta / damped), "1"),
            "settling_time(v(out), 0.02)": (settled, "s"),
            "rise_time(v(out))": (edge[1] - edge[0], "s"),
        },
    )


def test_sine(run_deck):
    plots = run_deck("* sine\nv1 out 0 sin(0.5 2 10k)\nr1 out 0 1k\n.tran 0.5u 1m 0 0.5u\n.end\n")
    _check(
        plots,
        {
            "rms(v(out))": (math.sqrt(0.25 + 2), "V"),
            "rms(v(out)-avg(v(out)))": (math.sqrt(2), "V"),
            "avg(v(out))": (0.5, "V"),
            "avg(v(out), 0, 50u)": (0.5 + 4 / math.pi, "V"),
            "pp(v(out))": (4, "V"),
            "frequency(v(out))": (1e4, "Hz"),
            "period(v(out))": (1e-4, "s"),
            "1/period(v(out))": (1e4, "Hz"),
            "duty(v(out))": (0.5, "1"),
            "rise_time(v(out))": (2 * math.asin(0.8) / (2 * math.pi * 1e4), "s"),
            "fall_time(v(out))": (2 * math.asin(0.8) / (2 * math.pi * 1e4), "s"),
            "max(deriv(v(out)))": (2 * 2 * math.pi * 1e4, "V/s"),
            "ripple(v(out))": (4, "V"),
            "cross(v(out), 0.5, -1)": (0.95e-3, "s"),
            "avg(-v(out)*i(v1))": (2.25e-3, "W"),
            "at(v(out), 2.25*period(v(out)))": (2.5, "V"),
        },
    )
    assert evaluate("thd(v(out), 10k)", plots).value < 1e-4


def test_known_harmonics(run_deck):
    plots = run_deck(
        "* harmonics\n.options reltol=1e-7\nv1 s 0 sin(0 1 1k)\n"
        "b1 out 0 v=0.3+v(s)+0.1*(2*v(s)^2-1)+0.05*(4*v(s)*v(s)*v(s)-3*v(s))\nr1 out 0 1k\n"
        ".tran 5u 5.3m 0 5u\n.end\n"
    )
    _check(plots, {"thd(v(out), 1k)": (math.hypot(0.1, 0.05), "1"), "thd(v(out),1k,2)": (0.1, "1")}, rel=1e-3)


def test_thd_of_coarse_uneven_steps(run_deck):
    plots = run_deck(
        "* coarse\n.options reltol=1e-7\nv1 s 0 sin(0 1 1k)\n"
        "b1 out 0 v=v(s)+0.02*v(s)*v(s)*v(s)\nr1 out 0 1k\n.tran 50u 5m\n.end\n"
    )
    _check(plots, {"thd(v(out), 1k)": (0.005 / 1.015, "1")}, rel=0.01)


def test_square_wave(run_deck):
    plots = run_deck(
        "* square\nv1 in 0 pulse(-1 3 1u 10n 20n 2.985u 10u)\nr1 in out 1\nr2 out 0 1meg\n"
        ".tran 10n 57u 0 50n\n.end\n"
    )
    _check(
        plots,
        {
            "frequency(v(in))": (1e5, "Hz"),
            "period(v(in))": (1e-5, "s"),
            "duty(v(in))": (0.3, "1"),
            "rise_time(v(in))": (8e-9, "s"),
            "fall_time(v(in))": (16e-9, "s"),
            "slew_rate(v(in))": (4 / 10e-9, "V/s"),
            "ripple(v(in))": (4, "V"),
            "avg(v(in), 11u, 51u)": (0.2, "V"),
            "cross(v(in), 1, 3)": (11.005e-6, "s"),
        },
    )


def test_harmonics_of_a_square_wave(run_deck):
    plots = run_deck("* sq\nv1 o 0 pulse(-1 1 0 1n 1n 0.499m 1m)\nr1 o 0 1\n.tran 1u 4m\n.end\n")
    nine = math.sqrt(sum(1 / n**2 for n in (3, 5, 7, 9)))
    _check(plots, {"thd(v(o), 1k)": (nine, "1"), "thd(v(o),1k,51)": (0.4732, "1")})


def test_distortion_is_that_of_four(run_deck, tmp_path):
    import re
    import subprocess

    deck = (
        "* clip\nv1 s 0 sin(0 1 1k)\nb1 out 0 v=tanh(3*v(s))+0.1*v(s)^2\nr1 out 0 1k\n"
        ".tran 1u 5m 0 1u\n.four 1k v(out)\n.end\n"
    )
    plots = run_deck(deck)
    printed = subprocess.run(
        ["ngspice", "-n", "-b", "deck.cir"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout
    found = re.search(r"THD: ([\d.]+) %", printed)
    assert found, printed
    assert evaluate("thd(v(out), 1k)", plots).value == pytest.approx(float(found[1]) / 100, rel=0.005)


def test_ripple_in_the_steady_state_after_a_slow_start(run_deck):
    """A current source charges C through a triangle: dV = I T/(8 C) beside a start-up transient."""
    plots = run_deck(
        "* ripple\nv1 in 0 pulse(0 10 0 1n 1n 5u 10u)\nl1 in out 100u\nc1 out 0 100u\n"
        "r1 out 0 0.5\n.tran 50n 3m 0 100n uic\n.end\n"
    )
    swing = 10 * 0.5 * 0.5 * 10e-6 / 100e-6
    _check(
        plots,
        {"ripple(v(out))": (swing * 10e-6 / (8 * 100e-6), "V"), "avg(v(out),2m,3m)": (5, "V")},
        rel=0.01,
    )


def test_oscillator_that_starts_slowly(run_deck):
    """A growing LC oscillation: only whole periods of the steady half count."""
    plots = run_deck(
        "* osc\nl1 a 0 1m\nc1 a 0 1n ic=1m\nb1 a 0 i=-1e-4*v(a)+1e-4*v(a)*v(a)*v(a)\n"
        ".tran 50n 1m 0 50n uic\n.end\n"
    )
    _check(plots, {"frequency(v(a))": (1 / (2 * math.pi * 1e-6), "Hz"), "duty(v(a))": (0.5, "1")})


def test_dc_sweep_and_operating_point(run_deck):
    plots = run_deck(
        "* divider\nv1 in 0 5\nr1 in out 3k\nr2 out 0 2k\n.op\n.dc v1 0 10 0.5\n.tf v(out) v1\n.end\n"
    )
    _check(
        plots,
        {
            "v(out)": (2, "V"),
            "v(in,out)": (3, "V"),
            "v(in)*i(v1)": (-5e-3, "W"),
            "v(out)/v(in)": (0.4, "1"),
            "max(v(out))": (4, "V"),
            "at(v(out), 2.6)": (1.04, "V"),
            "cross(v(out), 1)": (2.5, "V"),
            "max(deriv(v(out)))": (0.4, "1"),
            "avg(v(out))": (2, "V"),
            "at(v(out), v(in))": (2, "V"),
            "rms(op.v(out))": (2, "V"),
            "pp(op.v(out))": (0, "V"),
            '"output_impedance_at_v(out)"': (1200, "Ohm"),
        },
    )
