"""Goals of a Sallen-Key filter and the prototype behind them."""

from __future__ import annotations

import math

from domain.design.deck import spice
from domain.design.families.filter_requests import cutoff_goal, peaking_goal
from domain.design.families.sallen_key_request import SallenKeyRequirement
from domain.design.prototypes import (
    Section,
    attenuation_db,
    half_power_frequency,
    prototype,
    ripple_edge,
)
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

_FLATNESS_DB = 0.5
_GAIN_TOLERANCE = 0.03


def sections(requirement: SallenKeyRequirement, ripple_scale: float = 1.0) -> tuple[Section, ...]:
    """The prototype, relative to `cutoff_hz`."""
    if requirement.q is not None:
        return (Section(1.0, requirement.q),)
    return prototype(requirement.response, requirement.order, requirement.design_ripple_db * ripple_scale)


def cutoff_definition(requirement: SallenKeyRequirement) -> Message:
    """What "cut-off" means in this design, for the comments."""
    if requirement.q is not None:
        return msg(
            "The frequency asked for is the natural frequency f0, where the gain is Q times the "
            "pass-band gain."
        )
    if requirement.is_ripple_edge:
        return msg(
            "The frequency asked for is the end of the ripple band; the goal is the -3 dB frequency "
            "that belongs to it."
        )
    return msg("The cut-off is where the gain is 3 dB below the pass band.")


def goals(requirement: SallenKeyRequirement) -> tuple[DesignGoal, ...]:
    """Everything that is measured on the result, stated or by default."""
    found = [_cutoff(requirement)]
    if requirement.q is not None:
        found.append(_quality(requirement))
    found.append(_pass_gain(requirement))
    if requirement.response == "chebyshev" and requirement.order > 1:
        found.append(_ripple(requirement))
    elif requirement.q is None or requirement.peaking_db is not None:
        found.append(_flatness(requirement))
    if requirement.loss_db is not None:
        found.append(_pass_band_loss(requirement, requirement.loss_db))
    if requirement.attenuation_db is not None and requirement.attenuation_hz is not None:
        found.append(
            _attenuation(requirement, requirement.attenuation_hz, requirement.attenuation_db, stated=True)
        )
    elif requirement.q is None:
        found.append(_steepness(requirement))
    return tuple(found)


def pass_band_multiple(requirement: SallenKeyRequirement) -> float:
    """How far above its cut-off a high-pass's pass-band gain is measured: a Chebyshev response still
    ripples a decade above."""
    return 5.0 * requirement.order if requirement.response == "chebyshev" and requirement.order > 1 else 10.0


def _reference(requirement: SallenKeyRequirement) -> str:
    """The pass-band gain: at DC, or well above a high-pass's cut-off."""
    if requirement.kind == "lowpass":
        return "dcgain(v(out))"
    return f"gain(v(out),{spice(pass_band_multiple(requirement) * requirement.wanted_hz)})"


def _cutoff(requirement: SallenKeyRequirement) -> DesignGoal:
    frequency = requirement.wanted_hz
    if requirement.q is not None:
        ratio = half_power_frequency((Section(1.0, requirement.q),))
        frequency = frequency * ratio if requirement.kind == "lowpass" else frequency / ratio
    is_stated = requirement.loss_db is None
    return cutoff_goal(requirement.kind, frequency, requirement.tolerance, stated=is_stated)


def _quality(requirement: SallenKeyRequirement) -> DesignGoal:
    assert requirement.q is not None
    return DesignGoal(
        metric="q",
        expression=f"gain(v(out),{spice(requirement.wanted_hz)})/{_reference(requirement)}",
        unit="1",
        minimum=0.9 * requirement.q,
        maximum=1.1 * requirement.q,
        target=requirement.q,
    )


def _pass_gain(requirement: SallenKeyRequirement) -> DesignGoal:
    decibels = 20 * math.log10(requirement.gain)
    if requirement.kind == "highpass":
        decibels -= attenuation_db(sections(requirement), 1 / pass_band_multiple(requirement))
    room = 20 * math.log10(1 + _GAIN_TOLERANCE)
    return DesignGoal(
        metric="passband_gain",
        expression=f"db({_reference(requirement)})",
        unit="dB",
        minimum=decibels - room,
        maximum=decibels + room,
        target=decibels,
        stated=requirement.gain_is_stated,
    )


def _ripple(requirement: SallenKeyRequirement) -> DesignGoal:
    """Top of the response over the lowest point inside the pass band (the ripple minimum next the edge)."""
    edge = ripple_edge(requirement.order, requirement.design_ripple_db)
    lowest = edge * math.cos(math.pi / requirement.order)
    if requirement.order == 2:
        bottom = _reference(requirement)
    else:
        frequency = (
            requirement.wanted_hz * lowest
            if requirement.kind == "lowpass"
            else requirement.wanted_hz / lowest
        )
        bottom = f"gain(v(out),{spice(frequency)})"
    return DesignGoal(
        metric="ripple",
        expression=f"db(peak(v(out))/{bottom})",
        unit="dB",
        maximum=max(requirement.ripple_db, 0.1),
        target=requirement.ripple_db,
        stated=requirement.ripple_is_stated,
    )


def _pass_band_loss(requirement: SallenKeyRequirement, loss_db: float) -> DesignGoal:
    return DesignGoal(
        metric="passband_loss",
        expression=f"db(gain(v(out),{spice(requirement.stated_hz or 0.0)})/{_reference(requirement)})",
        unit="dB",
        minimum=-loss_db,
    )


def _flatness(requirement: SallenKeyRequirement) -> DesignGoal:
    stated = requirement.peaking_db
    limit = _FLATNESS_DB if stated is None else stated
    return peaking_goal(_reference(requirement), limit, stated=stated is not None)


def _attenuation(
    requirement: SallenKeyRequirement, frequency: float, decibels: float, *, stated: bool
) -> DesignGoal:
    return DesignGoal(
        metric="attenuation",
        expression=f"db(gain(v(out),{spice(frequency)})/{_reference(requirement)})",
        unit="dB",
        maximum=-decibels,
        stated=stated,
    )


def _steepness(requirement: SallenKeyRequirement) -> DesignGoal:
    """The order shows in the stop band: at three times the cut-off, less what the tolerance may cost."""
    frequency = 3 * requirement.wanted_hz if requirement.kind == "lowpass" else requirement.wanted_hz / 3
    expected = attenuation_db(sections(requirement), 3.0)
    slack = 1.0 + 20 * requirement.order * math.log10(1 + requirement.tolerance)
    return _attenuation(requirement, frequency, math.floor(expected - slack), stated=False)
