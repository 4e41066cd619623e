"""Frequency measurements on circuits whose response is a formula; within 1 %, mostly far closer."""

from __future__ import annotations

import math

import pytest

from domain.simulation.expressions import evaluate

HALF = 10 ** (-3.0103 / 20)
R, C, L = 1e3, 1e-7, 1e-3


def _check(plots, expected: dict[str, tuple[float, str]], rel: float = 0.01) -> None:
    for expression, (value, unit) in expected.items():
        found = evaluate(expression, plots)
        assert found.value == pytest.approx(value, rel=rel), expression
        assert found.unit == unit, expression


def test_rc_low_pass(run_deck):
    plots = run_deck("* rc\nv1 in 0 dc 2 ac 1\nr1 in out 1k\nc1 out 0 100n\n.ac dec 20 1 1meg\n.end\n")
    corner = 1 / (2 * math.pi * R * C)
    at_5k = 1 / math.hypot(1, 5e3 / corner)
    _check(
        plots,
        {
            "dcgain(v(out))": (1, "V"),
            "bandwidth(v(out))": (corner, "Hz"),
            "highcut(v(out))": (corner, "Hz"),
            "bandwidth(v(out), 20)": (corner * math.sqrt(99), "Hz"),
            "bandwidth(v(out), -20)": (corner * math.sqrt(99), "Hz"),
            "bandwidth(db(v(out)))": (corner, "Hz"),
            "gain(v(out), 5k)": (at_5k, "V"),
            "gain(v(out)/v(in), 5k)": (at_5k, "1"),
            "db(gain(v(out),5k))": (20 * math.log10(at_5k), "dB"),
            "gain(db(v(out)), 5k)": (20 * math.log10(at_5k), "dB"),
            "gain(v(out),5k)/dcgain(v(out))": (at_5k, "1"),
            "at(v(out), 5k)": (at_5k, "V"),
            "at(ph(v(out)), 5k)": (-math.degrees(math.atan(5e3 / corner)), "deg"),
            "ph(at(v(out), 5k))": (-math.degrees(math.atan(5e3 / corner)), "deg"),
            "at(vp(out), 5k)": (-math.degrees(math.atan(5e3 / corner)), "deg"),
            "at(re(v(out)), 5k)": (at_5k**2, "V"),
            "at(im(v(out)), 5k)": (-(at_5k**2) * 5e3 / corner, "V"),
            "max(v(out))": (1, "V"),
            "peak(v(out))": (1, "V"),
            "max(db(v(out)))-min(db(v(out)))": (20 * math.log10(math.hypot(1, 1e6 / corner)), "dB"),
            "cross(db(v(out)), -20)": (corner * math.sqrt(99), "Hz"),
            "gain(v(in)/i(v1), 10meg/10)": (math.hypot(R, 1 / (2 * math.pi * 1e6 * C)), "Ohm"),
            "at(group_delay(v(out)), 10)": (R * C, "s"),
            "cross(v(out), 0.1)": (corner * math.sqrt(99), "Hz"),
        },
    )


@pytest.mark.parametrize("points", [5, 7, 10])
def test_a_coarse_sweep_is_read_on_a_smooth_curve(run_deck, points):
    """Straight lines in dB would miss the -3 dB point by up to 2.7 % at 5 points a decade."""
    plots = run_deck(f"* rc\nv1 in 0 ac 1\nr1 in out 1k\nc1 out 0 100n\n.ac dec {points} 1.3 330k\n.end\n")
    corner = 1 / (2 * math.pi * R * C)
    _check(
        plots,
        {
            "bandwidth(v(out))": (corner, "Hz"),
            "lowcut(v(in,out))": (corner, "Hz"),
            "gain(v(out), 2k)": (1 / math.hypot(1, 2e3 / corner), "V"),
            "cross(db(v(out)), -3.0103)": (corner, "Hz"),
            "cross(ph(v(out)), -45)": (corner, "Hz"),
        },
    )


@pytest.mark.parametrize(("quality", "points"), [(1.0, 5), (3.0, 10), (12.0, 10), (40.0, 10)])
def test_a_resonance_is_found_between_coarse_samples(run_deck, quality, points):
    l1 = quality * 100 / (2 * math.pi * 1e3)
    c1 = 1 / ((2 * math.pi * 1e3) ** 2 * l1)
    plots = run_deck(
        f"* band-pass\nv1 in 0 ac 1\nl1 in a {l1:.9g}\nc1 a out {c1:.9g}\nr1 out 0 100\n"
        f".ac dec {points} 7 190k\n.end\n"
    )
    half = 1 / (2 * quality)
    _check(
        plots,
        {
            "q(v(out))": (quality, "1"),
            "bandwidth(v(out))": (1e3 / quality, "Hz"),
            "lowcut(v(out))": (1e3 * (math.hypot(1, half) - half), "Hz"),
            "highcut(v(out))": (1e3 * (math.hypot(1, half) + half), "Hz"),
        },
    )


def test_rl_high_pass_and_its_lowcut(run_deck):
    plots = run_deck("* rl\nv1 in 0 ac 2\nr1 in out 1k\nl1 out 0 1m\n.ac dec 30 100 1g\n.end\n")
    corner = R / (2 * math.pi * L)
    _check(
        plots,
        {
            "lowcut(v(out))": (corner, "Hz"),
            "gain(v(out)/v(in), 100k)": (1 / math.hypot(1, corner / 1e5), "1"),
            "peak(v(out))": (2, "V"),
        },
    )


@pytest.mark.parametrize("quality", [0.5, 2.0, 10.0, 60.0])
def test_rlc_band_pass(run_deck, quality):
    centre = 1 / (2 * math.pi * math.sqrt(L * C))
    resistance = math.sqrt(L / C) / quality
    plots = run_deck(
        f"* bp\nv1 in 0 ac 3\nl1 in m 1m\nc1 m out 100n\nr1 out 0 {resistance}\n.ac dec 200 100 2meg\n.end\n"
    )
    half_width = 1 / (2 * quality)
    _check(
        plots,
        {
            "bandwidth(v(out))": (centre / quality, "Hz"),
            "q(v(out))": (quality, "1"),
            "lowcut(v(out))": (centre * (math.sqrt(1 + half_width**2) - half_width), "Hz"),
            "highcut(v(out))": (centre * (math.sqrt(1 + half_width**2) + half_width), "Hz"),
        },
    )
    if quality < 20:  # the peak is a sample: sharper ones fall between the 200 points a decade
        _check(plots, {"peak(v(out))": (3, "V")})


@pytest.mark.parametrize("quality", [0.6, 1 / math.sqrt(2), 1.5, 5.0, 20.0])
def test_sallen_key_low_pass_stays_a_low_pass_however_much_it_peaks(run_deck, quality):
    """Unity gain: w0 = 1/(R sqrt(C1 C2)), Q = sqrt(C1/C2)/2."""
    w0, r = 2 * math.pi * 1e3, 1e4
    c1, c2 = 2 * quality / (w0 * r), 1 / (2 * quality * w0 * r)
    plots = run_deck(
        f"* sk\nv1 in 0 ac 1\nr1 in a {r}\nr2 a b {r}\nc1 a out {c1}\nc2 b 0 {c2}\n"
        "e1 out 0 b out 1e7\n.ac dec 100 10 100k\n.end\n"
    )
    a = 1 / quality**2 - 2
    corner = 1e3 * math.sqrt((-a + math.sqrt(a * a + 4)) / 2)
    expected = {
        "bandwidth(v(out))": (corner, "Hz"),
        "highcut(v(out))": (corner, "Hz"),
        "dcgain(v(out))": (1, "V"),
    }
    if quality > 1:
        expected["peak(v(out))"] = (quality / math.sqrt(1 - 1 / (4 * quality**2)), "V")
    _check(plots, expected)
    if quality >= 5:
        # q = f_peak / width; with y = (f/f0)^2, |H|^2 = 1 / ((1 - y)^2 + y/Q^2), half of its maximum at:
        level = 2 / quality**2 * (1 - 1 / (4 * quality**2))
        root = math.sqrt(a * a - 4 * (1 - level))
        width = math.sqrt((-a + root) / 2) - math.sqrt((-a - root) / 2)
        _check(plots, {"q(v(out))": (math.sqrt(-a / 2) / width, "1")})


@pytest.mark.parametrize("quality", [1 / math.sqrt(2), 5.0])
def test_second_order_high_pass_however_much_it_peaks(run_deck, quality):
    centre = 1 / (2 * math.pi * math.sqrt(L * C))
    resistance = math.sqrt(L / C) * quality  # parallel with the inductor
    plots = run_deck(
        f"* hp\nv1 in 0 ac 1\nc1 in out 100n\nl1 out 0 1m\nr1 out 0 {resistance}\n"
        f".ac dec 100 100 10meg\n.end\n"
    )
    a = 1 / quality**2 - 2
    corner = centre / math.sqrt((-a + math.sqrt(a * a + 4)) / 2)
    _check(plots, {"lowcut(v(out))": (corner, "Hz")})


def test_twin_notch(run_deck):
    """Series LC to ground behind R: stop band of width R/(2 pi L) around the resonance."""
    centre, width = 1 / (2 * math.pi * math.sqrt(L * C)), 100 / (2 * math.pi * L)
    plots = run_deck(
        "* notch\nv1 in 0 ac 1\nr1 in out 100\nl1 out m 1m\nc1 m 0 100n\n.ac dec 400 100 10meg\n.end\n"
    )
    half = width / (2 * centre)
    lower, upper = (centre * (math.sqrt(1 + half**2) + sign * half) for sign in (-1, 1))
    _check(
        plots,
        {
            "bandwidth(v(out))": (width, "Hz"),
            "q(v(out))": (centre / width, "1"),
            "highcut(v(out))": (lower, "Hz"),
            "lowcut(v(out))": (upper, "Hz"),
        },
    )


def test_ac_coupled_amplifier_is_a_band_pass(run_deck):
    plots = run_deck(
        "* amp\nv1 in 0 ac 1\nc1 in a 1u\nr1 a 0 1k\ne1 b 0 a 0 100\nr2 b out 1k\nc2 out 0 100p\n"
        ".ac dec 50 1 100meg\n.end\n"
    )
    low, high = 1 / (2 * math.pi * 1e-3), 1 / (2 * math.pi * 1e3 * 1e-10)
    _check(
        plots,
        {
            "lowcut(v(out))": (low, "Hz"),
            "highcut(v(out))": (high, "Hz"),
            "bandwidth(v(out))": (high - low, "Hz"),
        },
    )


def test_integrator_unity_gain(run_deck):
    plots = run_deck(
        "* int\nv1 in 0 ac 1\ng1 0 out in 0 1m\nc1 out 0 1n\nr1 out 0 1g\n.ac dec 10 1 100meg\n.end\n"
    )
    _check(plots, {"ugf(v(out))": (1e-3 / (2 * math.pi * 1e-9), "Hz"), "phase_margin(v(out))": (90, "deg")})


@pytest.mark.parametrize("sign", [1, -1])
def test_three_pole_loop_margins(run_deck, sign):
    """K/(1+s/wp)^3 with K = 5: unity where (1+x^2)^1.5 = 5, -180 degrees at x = sqrt 3 with 1/8."""
    plots = run_deck(
        f"* loop\nv1 in 0 ac 1\ne1 a 0 in 0 {5 * sign}\nr1 a b 1k\nc1 b 0 1n\ne2 c 0 b 0 1\n"
        f"r2 c d 1k\nc2 d 0 1n\n"
        "e3 e 0 d 0 1\nr3 e out 1k\nc3 out 0 1n\n.ac dec 50 100 100meg\n.end\n"
    )
    pole = 1 / (2 * math.pi * 1e-6)
    x = math.sqrt(5 ** (2 / 3) - 1)
    _check(
        plots,
        {
            "ugf(v(out))": (x * pole, "Hz"),
            "phase_margin(v(out))": (180 - 3 * math.degrees(math.atan(x)), "deg"),
            "gain_margin(v(out))": (20 * math.log10(8 / 5), "dB"),
        },
    )


def test_unstable_loop_has_negative_margins_and_a_double_integrator_a_lead(run_deck):
    plots = run_deck(
        "* unstable\nv1 in 0 ac 1\ne1 a 0 in 0 20\nr1 a b 1k\nc1 b 0 1n\ne2 c 0 b 0 1\nr2 c d 1k\nc2 d 0 1n\n"
        "e3 e 0 d 0 1\nr3 e out 1k\nc3 out 0 1n\n.ac dec 50 100 100meg\n.end\n"
    )
    x = math.sqrt(20 ** (2 / 3) - 1)
    _check(
        plots,
        {
            "phase_margin(v(out))": (180 - 3 * math.degrees(math.atan(x)), "deg"),
            "gain_margin(v(out))": (20 * math.log10(8 / 20), "dB"),
        },
    )
    # a PLL-like loop K (1 + s/z)/s^2 by two integrators and a feed-forward, z = 10 kHz, unity near 20 kHz
    z, k = 2 * math.pi * 1e4, (2 * math.pi * 1e4) ** 2 * 2
    plots = run_deck(
        f"* pll\nv1 in 0 ac 1\ng1 0 a in 0 1\nc1 a 0 1\nr1 a 0 1e12\ng2 0 b a 0 {k}\nc2 b 0 1\nr2 b 0 1e12\n"
        f"e1 out 0 poly(2) b 0 a 0 0 1 {k / z}\n.ac dec 100 1k 1meg\n.end\n"
    )
    u = math.sqrt((k**2 / z**2 + math.sqrt(k**4 / z**4 + 4 * k**2)) / 2)
    _check(
        plots,
        {
            "ugf(v(out))": (u / (2 * math.pi), "Hz"),
            "phase_margin(v(out))": (math.degrees(math.atan(u / z)), "deg"),
        },
    )


def test_thermal_noise_of_an_rc_is_kt_over_c(run_deck):
    plots = run_deck(
        "* ktc\n.options temp=27\nv1 in 0 ac 1\nr1 in out 10k\nc1 out 0 1p\n"
        ".noise v(out) v1 dec 50 1 100g\n.end\n"
    )
    boltzmann, temperature = 1.380649e-23, 300.15
    total = math.sqrt(boltzmann * temperature / 1e-12)
    _check(
        plots,
        {
            "noise_total(onoise)": (total, "V"),
            "onoise_total": (total, "V"),
            "gain(onoise, 1k)": (math.sqrt(4 * boltzmann * temperature * 1e4), "V/sqrt(Hz)"),
            "noise_total(inoise, 1, 1meg)": (math.sqrt(4 * boltzmann * temperature * 1e4 * (1e6 - 1)), "V"),
            "noise_total(onoise_spectrum)/onoise_total": (1, "1"),
            "sqrt(noise_total(onoise)^2)": (total, "V"),
        },
    )
    ours, ngspice = evaluate("noise_total(onoise)", plots).value, evaluate("onoise_total", plots).value
    assert ours == pytest.approx(ngspice, rel=1e-3)


def test_flicker_noise_is_integrated_exactly_between_few_points(run_deck):
    """1/f and white noise of a resistor: kf I^2/f (stop/start logarithm) + 4kTR (bandwidth)."""
    plots = run_deck(
        "* flicker\nv1 in 0 dc 1 ac 1\nr1 in out rm 1k\nvm out 0 0\nh1 o 0 vm 1k\n.model rm r kf=1e-9 af=2\n"
        ".noise v(o) v1 dec 1 1 1meg\n.end\n"
    )
    current = 1e-3
    _check(plots, {"noise_total(onoise)": (math.sqrt(1e-9 * current**2 * math.log(1e6)) * 1e3, "V")})
    assert evaluate("noise_total(onoise)", plots).value == pytest.approx(
        evaluate("onoise_total", plots).value, rel=1e-3
    )


@pytest.mark.parametrize("quality", [3, 20, 60, 120])
@pytest.mark.parametrize("loss", [0.0, 1.0])
def test_a_notch_sharper_than_the_sweep(run_deck, quality, loss):
    """A series trap of C, L and its loss behind R: |H|^2 = (d^2 + x^2) / (1 + x^2), x = 2 Q sinh(ln f/f0)."""
    load, centre = 100.0, 150e3
    inductance = quality * (load + loss) / (2 * math.pi * centre)
    capacitance = 1 / (inductance * (2 * math.pi * centre) ** 2)
    plots = run_deck(
        f"* trap\nv1 in 0 ac 1\nr1 in out {load}\nl1 out m {inductance:.15g}\nr2 m n {max(loss, 1e-6)}\n"
        f"c1 n 0 {capacitance:.15g}\n.ac dec 200 1k 20meg\n.end\n"
    )
    depth = loss / (load + loss)
    width = centre / quality * math.sqrt(1 - 2 * depth**2)  # where (d^2 + x^2) / (1 + x^2) is one half
    edge = math.asinh(width / centre / 2)
    _check(
        plots,
        {
            "bandwidth(v(out))": (width, "Hz"),
            "q(v(out))": (centre / width, "1"),
            "highcut(v(out))": (centre * math.exp(-edge), "Hz"),
            "lowcut(v(out))": (centre * math.exp(edge), "Hz"),
        },
    )


@pytest.mark.parametrize("quality", [1, 3, 10, 30])
@pytest.mark.parametrize("points", [30, 100])
def test_a_resonance_wider_than_the_sampling_is_exact_enough_for_differences(run_deck, quality, points):
    """A sensitivity differs two measurements 2 % apart, so 0.1 % of error would be 5 % of it."""
    load, inductance = 1e3 / quality, 1e-3
    centre = 1e3 / inductance / (2 * math.pi)
    plots = run_deck(
        f"* rlc\nv1 in 0 ac 1\nl1 in x {inductance}\nc1 x out {inductance / 1e6:.15g}\nr1 out 0 {load:.15g}\n"
        f".ac dec {points} {centre / 47:.12g} {centre * 53:.12g}\n.end\n"
    )
    expected = {"q(v(out))": (quality, "1"), "bandwidth(v(out))": (centre / quality, "Hz")}
    _check(plots, expected, rel=1e-4)
