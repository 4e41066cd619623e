"""Every measurement on at least three circuits whose answer is a formula, in real ngspice, within 1 %."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import pytest

from domain.simulation.expression_syntax import Call, Node, children, parse
from domain.simulation.expressions import evaluate
from domain.simulation.measurements import MEASUREMENTS

Case = tuple[str, dict[str, float]]
TWO_PI = 2 * math.pi
LN9, LN2, LN50 = math.log(9), math.log(2), math.log(50)
K_BOLTZMANN, ROOM = 1.380649e-23, 300.15


def _low_passes() -> list[Case]:
    """R and C; L and R; a transconductance of 10 mS into 10 kOhm and 10 pF (gain 100)."""
    decks = (
        ("V1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n", 1.0, 1 / (TWO_PI * 1e3 * 100e-9)),
        ("V1 in 0 AC 1\nL1 in out 1m\nR1 out 0 100\n", 1.0, 100 / (TWO_PI * 1e-3)),
        ("V1 in 0 AC 1\nG1 0 out in 0 10m\nR1 out 0 10k\nC1 out 0 10p\n", 100.0, 1 / (TWO_PI * 1e4 * 10e-12)),
    )
    return [
        (
            f"{deck}.ac dec 20 1 1g\n",
            {
                "dcgain(v(out))": gain,
                "gain(v(out), 1k)": gain / math.hypot(1, 1e3 / corner),
                f"gain(v(out), {corner!r})": gain / math.sqrt(2),
                "bandwidth(v(out))": corner,
                "highcut(v(out))": corner,
                "peak(v(out))": gain,
                "ugf(2*v(out))": corner * math.sqrt((2 * gain) ** 2 - 1),
                f"at(ph(v(out)), {corner!r})": -45.0,
                f"cross(db(v(out)), {20 * math.log10(gain / math.sqrt(2))!r})": corner,
            },
        )
        for deck, gain, corner in decks
    ]


def _high_passes() -> list[Case]:
    decks = (
        ("V1 in 0 AC 1\nC1 in out 100n\nR1 out 0 1k\n", 1 / (TWO_PI * 1e3 * 100e-9)),
        ("V1 in 0 AC 1\nR1 in out 100\nL1 out 0 1m\n", 100 / (TWO_PI * 1e-3)),
        ("V1 in 0 AC 1\nE1 a 0 in 0 5\nC1 a out 1u\nR1 out 0 10k\n", 1 / (TWO_PI * 1e4 * 1e-6)),
    )
    return [
        (f"{deck}.ac dec 20 {corner / 1e3!r} {corner * 1e4!r}\n", {"lowcut(v(out))": corner})
        for deck, corner in decks
    ]


def _resonances() -> list[Case]:
    """f0 = 1/(2 pi sqrt(L C)); Q of the series circuit w0 L/R, of the parallel one R/(w0 L)."""
    w0 = 1 / math.sqrt(1e-3 * 1e-9)
    decks = [
        (f"V1 in 0 AC 1\nL1 in a 1m\nC1 a out 1n\nR1 out 0 {w0 * 1e-3 / q!r}\n", q) for q in (2.0, 8.0)
    ] + [(f"I1 0 out AC 1m\nL1 out 0 1m\nC1 out 0 1n\nR1 out 0 {5 * w0 * 1e-3!r}\n", 5.0)]
    return [
        (
            f"{deck}.ac dec 50 1k 100meg\n",
            {"q(v(out))": q, "bandwidth(v(out))": w0 / TWO_PI / q,
             "highcut(v(out))-lowcut(v(out))": w0 / TWO_PI / q},
        )
        for deck, q in decks
    ]  # fmt: skip


def _loops() -> list[Case]:
    """An integrator with a second pole: PM = 90 - atan(wc/w2). Three equal poles: GM = 8/A."""
    cases: list[Case] = []
    for ratio in (1.0, 3.0, 10.0):
        w1 = TWO_PI * 1e5
        w2 = ratio * w1
        crossing = math.sqrt((-(w2**2) + math.sqrt(w2**4 + 4 * w1**2 * w2**2)) / 2)
        cases.append(
            (
                f"V1 in 0 AC 1\nG1 0 a in 0 {w1 * 1e-9!r}\nC1 a 0 1n\nR9 a 0 1t\nE1 b 0 a 0 1\nR1 b out 1k\n"
                f"C2 out 0 {1 / (1e3 * w2)!r}\n.ac dec 50 10 100meg\n",
                {"phase_margin(v(out))": 90 - math.degrees(math.atan(crossing / w2)),
                 "ugf(v(out))": crossing / TWO_PI},
            )
        )  # fmt: skip
    for gain in (2.0, 4.0, 16.0):
        deck = f"V1 in 0 AC {gain}\n" + "".join(
            f"E{n} a{n} 0 {before} 0 1\nR{n} a{n} b{n} 1k\nC{n} b{n} 0 1n\n"
            for n, before in ((1, "in"), (2, "b1"), (3, "b2"))
        )
        cases.append((f"{deck}.ac dec 50 100 100meg\n", {"gain_margin(v(b3))": 20 * math.log10(8 / gain)}))
    return cases


def _noises() -> list[Case]:
    """kT/C, whatever the resistance; of two resistors in parallel too."""
    decks = (
        ("R1 in out 1k\nC1 out 0 1n\n", 1e-9),
        ("R1 in out 100k\nC1 out 0 100p\n", 100e-12),
        ("R1 in out 10k\nR2 out 0 30k\nC1 out 0 10p\n", 10e-12),
    )
    return [
        (
            f"V1 in 0 AC 1\n{deck}.noise v(out) V1 dec 20 1 100g\n",
            {"noise_total(onoise)": math.sqrt(K_BOLTZMANN * ROOM / capacitance)},
        )
        for deck, capacitance in decks
    ]


def _steps() -> list[Case]:
    """A step through one time constant, up and down: R and C; L and R; a transconductance."""
    cases: list[Case] = []
    stages = (
        ("R1 in out 1k\nC1 out 0 1n\n", 1e-6, 1.0),
        ("L1 in out 1m\nR1 out 0 100\n", 1e-5, 1.0),
        ("G1 0 out in 0 1m\nR1 out 0 2k\nC1 out 0 10n\n", 2e-5, 2.0),
    )
    for stage, tau, gain in stages:
        for low, high in ((0.0, 1.0), (1.0, -1.0)):
            size = abs(high - low) * gain
            edge = "rise_time" if high > low else "fall_time"
            start, stop = tau, 16 * tau
            end = gain * high
            cases.append(
                (
                    f"V1 in 0 PULSE({low} {high} {start!r} 1p 1p 1 2)\n{stage}"
                    f".tran {tau / 200!r} {stop!r} 0 {tau / 200!r}\n",
                    {
                        f"{edge}(v(out))": tau * LN9,
                        "slew_rate(v(out))": 0.8 * size / (tau * LN9),
                        "settling_time(v(out))": tau * LN50,
                        "delay(v(in), v(out))": tau * LN2,
                        f"cross(v(out), {gain * (low + high) / 2!r})": start + tau * LN2,
                        "pp(v(out))": size,
                        "max(v(out))": gain * max(low, high),
                        "min(v(out)-9)": gain * min(low, high) - 9,
                        f"at(v(out), {start + tau!r})": end - (high - low) * gain * math.exp(-1),
                    },
                )
            )
    return cases


def _ringing() -> list[Case]:
    """Overshoot of a second-order system: exp(-pi zeta / sqrt(1 - zeta^2))."""
    w0 = TWO_PI * 1e5
    return [
        (
            f"V1 in 0 PULSE(0 1 0 1p 1p 1 2)\nR1 in a {2 * zeta * w0 * 1e-3!r}\nL1 a out 1m\n"
            f"C1 out 0 {1 / (w0**2 * 1e-3)!r}\n.tran 20n {12 / (zeta * w0)!r} 0 20n\n",
            {"overshoot(v(out))": math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2))},
        )
        for zeta in (0.15, 0.4, 0.6)
    ]


def _periodic() -> list[Case]:
    """Sources with a period: pulses of two duties, a triangle, a sine."""
    cases: list[Case] = []
    for duty, frequency in ((0.2, 1e5), (0.7, 1e3), (0.5, 2e6)):
        period = 1 / frequency
        edge = period / 1000
        cases.append(
            (
                f"V1 out 0 PULSE(-1 3 0 {edge!r} {edge!r} {duty * period - edge!r} {period!r})\nR1 out 0 1k\n"
                f".tran {period / 200!r} {8.3 * period!r} 0 {period / 200!r}\n",
                {
                    "frequency(v(out))": frequency, "period(v(out))": period, "duty(v(out))": duty,
                    "ripple(v(out))": 4.0, f"avg(v(out), 0, {8 * period!r})": -1 + 4 * duty,
                    f"rms(v(out)+1, 0, {8 * period!r})": 4 * math.sqrt(duty), "peak(v(out))": 3.0,
                },
            )
        )  # fmt: skip
    cases.append(
        (
            "V1 out 0 PULSE(0 2 0 0.5m 0.5m 1n 1.000001m)\nR1 out 0 1k\n.tran 1u 6m 0 1u\n",
            {"frequency(v(out))": 1e3, "avg(v(out), 0, 5m)": 1.0, "rms(v(out), 0, 5m)": 2 / math.sqrt(3),
             "ripple(v(out))": 2.0},
        )
    )  # fmt: skip
    return cases


def _distorted() -> list[Case]:
    """cos 2x = 2 cos^2 x - 1, and so on: harmonics that are known, and a tone that is none (7.333 kHz)."""
    second, third = "(2*v(s)*v(s)-1)", "(4*v(s)*v(s)*v(s)-3*v(s))"
    cases: list[Case] = []
    for tone, two, three, spur in ((1.0, 0.1, 0.0, 0.01), (1.0, 0.0, 0.05, 0.02), (2.0, 0.2, 0.1, 0.02)):
        distortion, noise = math.hypot(two, three) / tone, spur / tone
        all_else = math.hypot(distortion, noise)
        sinad = 10 * math.log10((1 + all_else**2) / all_else**2)
        strongest = max(two, three)
        cases.append(
            (
                f".options reltol=1e-6\nV1 s 0 SIN(0 1 1k)\nV2 n 0 SIN(0 {spur} {22e3 / 3!r})\n"
                f"B1 out 0 V={tone}*v(s)+{two}*{second}+{three}*{third}+v(n)\nR1 out 0 1k\n"
                ".tran 2u 6m 0 2u\n",
                {
                    "thd(v(out), 1k)": distortion, "thdn(v(out), 1k)": all_else,
                    "sinad(v(out), 1k)": sinad, "enob(v(out), 1k)": (sinad - 1.76) / 6.02,
                    "snr(v(out), 1k)": -20 * math.log10(noise),
                    "sfdr(v(out), 1k)": 20 * math.log10(tone / strongest),
                    f"harmonic(v(out), {2 if two else 3}, 1k)": two or three,
                },
            )
        )  # fmt: skip
    return cases


_TABLES = (
    _low_passes,
    _high_passes,
    _resonances,
    _loops,
    _noises,
    _steps,
    _ringing,
    _periodic,
    _distorted,
)
CASES = [case for table in _TABLES for case in table()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].splitlines()[1][:24])
def test_within_one_percent(run_deck, case: Case) -> None:
    deck, expected = case
    plots = run_deck(f"closed form\n{deck}.end\n")
    for expression, value in expected.items():
        assert evaluate(expression, plots).value == pytest.approx(value, rel=0.01), expression


def _called(node: Node) -> Iterator[str]:
    if isinstance(node, Call):
        yield node.function
    for child in children(node):
        yield from _called(child)


def test_every_measurement_is_on_three_circuits() -> None:
    found = Counter(
        name
        for _, expected in CASES
        for name in {name for expression in expected for name in _called(parse(expression))}
    )
    assert {name: found[name] for name in MEASUREMENTS if found[name] < 3} == {}
