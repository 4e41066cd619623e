"""Buck equations against hand calculations."""

from __future__ import annotations

import math

import pytest

from domain.design.buck_power_stage import (
    Losses,
    OperatingPoint,
    capacitance_for,
    current_ripple,
    duty_continuous,
    duty_discontinuous,
    inductance_for,
    overshoot_capacitance,
    settling_time,
    voltage_ripple,
)

IDEAL = Losses(switch_ohm=0.0, winding_ohm=0.0, diode_v=0.0, rectifier_ohm=0.0)
TWELVE_TO_FIVE = OperatingPoint(vin=12, vout=5, iout=2, fsw=300e3)


def test_ideal_converter_is_the_textbook_one():
    duty = duty_continuous(TWELVE_TO_FIVE, IDEAL)
    assert duty == pytest.approx(5 / 12)
    # L = Vout (Vin - Vout) / (dI f Vin) = 5 * 7 / (0.6 * 300k * 12) = 16.2 uH
    inductance = inductance_for(TWELVE_TO_FIVE, duty, 0.6, IDEAL)
    assert inductance == pytest.approx(16.2037e-6, rel=1e-4)
    assert current_ripple(TWELVE_TO_FIVE, duty, inductance, IDEAL) == pytest.approx(0.6)
    # C = dI / (8 f dV) = 0.6 / (8 * 300k * 30m) = 8.33 uF
    assert capacitance_for(0.6, 30e-3, 300e3) == pytest.approx(8.3333e-6, rel=1e-4)


def test_losses_raise_the_duty():
    # (5 + 2*0.02 + 0.4) / (12 - 2*0.05 + 0.4) = 5.44 / 12.3
    losses = Losses(switch_ohm=0.05, winding_ohm=0.02, diode_v=0.4, rectifier_ohm=0.0)
    assert duty_continuous(TWELVE_TO_FIVE, losses) == pytest.approx(5.44 / 12.3)


def test_discontinuous_duty_solves_the_conversion_ratio():
    point = OperatingPoint(vin=24, vout=6, iout=0.05, fsw=100e3)
    duty = duty_discontinuous(point, 50e-6, IDEAL)
    conduction = 2 * 50e-6 * 100e3 / (6 / 0.05)
    assert 2 / (1 + math.sqrt(1 + 4 * conduction / duty**2)) == pytest.approx(6 / 24)
    assert duty < 6 / 24


def test_modes_meet_at_the_boundary():
    # At the boundary dI = 2 Iout both equations give the same duty.
    point = OperatingPoint(vin=10, vout=4, iout=1, fsw=100e3)
    inductance = inductance_for(point, 0.4, 2.0, IDEAL)
    assert duty_discontinuous(point, inductance, IDEAL) == pytest.approx(duty_continuous(point, IDEAL))


def test_ripple_of_capacitor_and_resistance():
    assert voltage_ripple(1.0, 10e-6, 0.0, 100e3) == pytest.approx(1 / (8 * 100e3 * 10e-6))
    assert voltage_ripple(1.0, 1000e-6, 0.1, 100e3) == pytest.approx(0.1)
    # A summed waveform: a triangle of current in C and ESR, duty one half.
    c, esr, f = 10e-6, 0.1, 100e3
    steps = 20000
    current = [(i / steps if i < steps else 2 - i / steps) - 0.5 for i in range(2 * steps)]
    charge, wave = 0.0, []
    for value in current:
        charge += value / (2 * steps * f)
        wave.append(charge / c + esr * value)
    assert voltage_ripple(1.0, c, esr, f) == pytest.approx(max(wave) - min(wave), rel=1e-3)


def test_load_step_energy():
    # 10 uH at 2 A holds 20 uJ; 40 uF lifted from 5 V by 0.1 V (linearised) takes C V dV = 20 uJ.
    assert overshoot_capacitance(10e-6, 2.0, 5.0, 0.1) == pytest.approx(40e-6)


def test_settling_of_light_and_heavy_damping():
    # Ringing: 2 R C; overdamped: the slow pole of the real pair.
    assert settling_time(10e-6, 100e-6, 5.0, 0.0) == pytest.approx(2 * 5.0 * 100e-6)
    poles = [1e3, 1e6]
    # L = 1: choose R, Rs with 1/(RC) + Rs/L = sum and (1 + Rs/R)/(LC) = product.
    inductance, series = 1e-6, 1e-9
    capacitance = 1 / (poles[0] * poles[1] * inductance)
    load = 1 / (capacitance * (sum(poles) - series / inductance))
    assert settling_time(inductance, capacitance, load, series) == pytest.approx(1e-3, rel=1e-2)
