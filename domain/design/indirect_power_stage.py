"""The power stage of converters whose inductor feeds the output in the off-time only: boost, buck-boost.

Equations with the drops of switch, rectifier and winding; D' = 1 - D, I = Iout / D' in the inductor.
Volt-second balance: D (Vin - I Ron) = D' (Vx + Vd + I Rr) + I Rl, with Vx = Vout - Vin (boost: the input
helps in the off-time) or Vout (buck-boost). Inductor ripple: (Vin - I (Ron + Rl)) D / (L f). The capacitor
alone feeds the load in the on-time, Iout D / (C f); its series resistance sees the inductor's peak current.
SI units.
Source: Erickson, Maksimovic, "Fundamentals of Power Electronics", 2nd ed., sections 2.3, 3.2 to 3.5 and 5.3;
Texas Instruments SLVA372C and SLVA721A (the same in the words of a data sheet).
"""

from __future__ import annotations

import math

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import at_least
from domain.design.buck_power_stage import Losses, PowerStage, losses_of
from domain.design.engine.declaration import Correction, Request
from domain.design.understanding import impossible
from shared.message import msg

MOST_DUTY = 0.9
_SHORTEST_ON_TIME_S = 15e-9
_DEFAULT_ESR = 5e-3
_MARGIN = 0.85
"""Of the output ripple that is allowed."""


def duty_continuous(
    request: Request, vin: float, vout: float, losses: Losses, *, inverts: bool
) -> float | None:
    """Duty that gives `vout` in continuous conduction; None when the losses are too great for any.

    The balance above is a square equation in D': a D'**2 - b D' + c = 0; the smaller duty is meant.
    """
    iout = request["iout"] * vout / request["vout"]
    a = vout + losses.diode_v + (vin if inverts else 0.0)
    b = vin + iout * (losses.switch_ohm - losses.rectifier_ohm)
    c = iout * (losses.switch_ohm + losses.winding_ohm)
    inside = b * b - 4 * a * c
    return None if inside < 0 else 1 - (b + math.sqrt(inside)) / (2 * a)


def size_indirect_stage(request: Request, correction: Correction, *, inverts: bool) -> PowerStage:
    """Losses, duty, L and C. Raises CircuitError when the demands leave nothing to build."""
    vout, iout, fsw = request["vout"], request["iout"], request["fsw"]
    gain = vout / request["vin_lowest"] + inverts
    blocks_v = vout + (request["vin_highest"] if inverts else 0.0)
    losses = losses_of(request, 1 / correction["conduction"], gain, blocks_v)
    highest = duty_continuous(request, request["vin_lowest"], vout, losses, inverts=inverts)
    if highest is None or highest > MOST_DUTY:
        raise impossible(
            msg(
                "Converting {vin} V to {vout} V would need the switch to be on more than {percent} % of "
                "the time.",
                vin=f"{request['vin_lowest']:g}",
                vout=f"{vout:g}",
                percent=f"{100 * MOST_DUTY:.0f}",
            ),
            msg("Raise the input voltage, lower the output voltage or current, or use a transformer."),
        )
    duty = duty_continuous(request, request["vin"], vout, losses, inverts=inverts) or 0.0
    least = duty_continuous(request, request["vin_highest"], vout, losses, inverts=inverts) or 0.0
    if least / fsw < _SHORTEST_ON_TIME_S:
        raise impossible(
            msg(
                "The switch would be on for only {time}, which real switches cannot achieve.",
                time=with_unit(max(least, 0.0) / fsw, "s", 3),
            ),
            msg("Lower the switching frequency or the input voltage."),
        )
    current = iout / (1 - duty)
    wanted = (request["inductor_ripple_a"] or 0.3 * current) * correction["inductor_ripple_a"]
    drive = request["vin"] - current * (losses.switch_ohm + losses.winding_ohm)
    inductance = request["inductance"] or at_least(1.02 * drive * duty / (wanted * fsw), "E12")
    ripple_a = drive * duty / (inductance * fsw)
    if ripple_a >= 2 * current:
        raise impossible(
            msg("With {inductance} the inductor current would reach zero in every period.",
                inductance=with_unit(inductance, "H")),
            msg("Ask for a larger inductor, a higher switching frequency or more load current."),
        )  # fmt: skip
    aimed = duty_continuous(request, request["vin"], vout * correction["vout"], losses, inverts=inverts)
    esr, capacitance = pulsed_output(request, correction, max(duty, highest), current + ripple_a / 2)
    return PowerStage(
        losses=losses, duty=min(max(aimed or duty, 0.01), MOST_DUTY), inductance=inductance,
        capacitance=capacitance, esr=esr, ripple_a=ripple_a, is_continuous=True,
    )  # fmt: skip


def pulsed_output(
    request: Request, correction: Correction, duty: float, peak_a: float
) -> tuple[float, float]:
    """Series resistance and capacitance of an output fed in the off-time only: at most half of the ripple on
    the resistance."""
    allowed = _MARGIN * request["ripple_v"] * correction["ripple_v"]
    given, charge = request["capacitance"], request["iout"] * duty / request["fsw"]
    esr = request["esr"]
    if esr is None:
        esr = _DEFAULT_ESR / max(1, math.ceil(_DEFAULT_ESR * peak_a / (allowed / 2)))
    left = allowed - esr * peak_a
    if left <= 0 or (given is not None and charge / given > left):
        raise impossible(
            msg(
                "No output filter with the given parts keeps the ripple below {ripple}.",
                ripple=with_unit(request["ripple_v"], "V"),
            ),
            msg("Allow more ripple, raise the switching frequency, or leave L, C and ESR unspecified."),
        )
    return esr, given or at_least(charge / left, "E6")
