"""Equations of the buck converter's power stage, losses included. SI units throughout.

Sources: Erickson, Maksimovic, "Fundamentals of Power Electronics", 2nd ed.: chapter 2 (volt-second
balance, inductor ripple, output ripple of a two-pole filter), chapter 3 (duty with switch, diode and
winding losses), chapter 5 (boundary to and ratio in discontinuous conduction). Texas Instruments
SLVA477B, "Basic Calculation of a Buck Converter's Power Stage": inductor and output capacitor
selection (the same results, and the overshoot).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What the real parts drop."""

    switch_ohm: float
    winding_ohm: float
    diode_v: float
    """Forward drop of the diode at the load current; for a synchronous rectifier that of its body diode,
    averaged over the off-time."""
    rectifier_ohm: float
    """On-resistance of a synchronous rectifier; 0 for a diode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """Where a converter works."""

    vin: float
    vout: float
    iout: float
    fsw: float


def duty_continuous(at: OperatingPoint, losses: Losses) -> float:
    """Duty that gives `vout` in continuous conduction: volt-second balance of the inductor.

    D (vin - I Ron) - (1 - D) (Vd + I Rr) - I Rl = vout.
    """
    falling = losses.diode_v + at.iout * losses.rectifier_ohm
    return (at.vout + at.iout * losses.winding_ohm + falling) / (
        at.vin - at.iout * losses.switch_ohm + falling
    )


def duty_discontinuous(at: OperatingPoint, inductance: float, losses: Losses) -> float:
    """Duty in discontinuous conduction: D = M sqrt(K / (1 - M)), K = 2 L fsw / R, with the diode's drop on
    both sides of M (from M = 2 / (1 + sqrt(1 + 4 K / D**2)))."""
    ratio = (at.vout + losses.diode_v) / (at.vin + losses.diode_v)
    conduction = 2 * inductance * at.fsw * at.iout / (at.vout + losses.diode_v)
    return ratio * math.sqrt(conduction / (1 - ratio))


def current_ripple(at: OperatingPoint, duty: float, inductance: float, losses: Losses) -> float:
    """Peak-to-peak inductor current: the fall during the off-time, V (1 - D) / (L f)."""
    falling = at.vout + losses.diode_v + at.iout * (losses.rectifier_ohm + losses.winding_ohm)
    return falling * (1 - duty) / (inductance * at.fsw)


def inductance_for(at: OperatingPoint, duty: float, ripple_a: float, losses: Losses) -> float:
    """The inductance that leaves `ripple_a` peak to peak."""
    return current_ripple(at, duty, 1.0, losses) / ripple_a


def capacitance_for(ripple_a: float, ripple_v: float, fsw: float) -> float:
    """The capacitance whose charge ripple is `ripple_v` peak to peak: dI / (8 f dV)."""
    return ripple_a / (8 * fsw * ripple_v)


def overshoot_capacitance(inductance: float, step_a: float, vout: float, overshoot_v: float) -> float:
    """The capacitance that takes up the inductor's energy when `step_a` of load goes away:
    L I**2 / (2 V dV)."""
    return inductance * step_a**2 / (2 * vout * overshoot_v)


def voltage_ripple(ripple_a: float, capacitance: float, esr: float, fsw: float) -> float:
    """Peak-to-peak output ripple of a triangular current in C with series resistance ESR.

    v(t) is a parabola plus a triangle; the extremes are where the current through ESR and the charge
    pull equally. For an even duty: dV = dI (1 / (8 f C) + 2 f C ESR**2) while ESR C < 1 / (4 f), else dI ESR.
    """
    knee = 1 / (4 * fsw * capacitance)
    if esr >= knee:
        return ripple_a * esr
    return ripple_a * (1 / (8 * fsw * capacitance) + 2 * fsw * capacitance * esr**2)


def settling_time(inductance: float, capacitance: float, load_ohm: float, series_ohm: float) -> float:
    """Time constant with which the output filter forgets its start (s): the slower pole of
    L C s**2 + (L / R + C Rs) s + 1 + Rs / R."""
    damping = (1 / (load_ohm * capacitance) + series_ohm / inductance) / 2
    resonance = (1 + series_ohm / load_ohm) / (inductance * capacitance)
    if damping**2 <= resonance:
        return 1 / damping
    return 1 / (damping - math.sqrt(damping**2 - resonance))
