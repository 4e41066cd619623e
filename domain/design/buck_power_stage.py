"""The buck converter's power stage, losses included: equations, and parts that can be bought. SI units.

Sources: Erickson, Maksimovic, "Fundamentals of Power Electronics", 2nd ed.: chapter 2 (volt-second
balance, inductor ripple, output ripple of a two-pole filter), chapter 3 (duty with switch, diode and
winding losses), chapter 5 (boundary to and ratio in discontinuous conduction). Texas Instruments
SLVA477B, "Basic Calculation of a Buck Converter's Power Stage": inductor and output capacitor
selection (the same results, and the overshoot).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import at_least, nearest
from domain.design.engine.declaration import Correction, Request
from domain.design.engine.library_parts import DIODES, MOSFETS
from domain.design.understanding import impossible
from shared.message import msg

DEAD_TIME = 0.01
"""Of the period, twice in each."""
BODY_DIODE_V = 0.7
_SHORTEST_ON_TIME_S = 15e-9
_LOAD_STEP = 0.5
"""Of the load current: taking it away shall lift the output by no more than `_OVERSHOOT`."""
_OVERSHOOT = 0.05
_LONGEST_RECOVERY = 0.05
"""Of the period: a diode that takes longer to block conducts backwards."""
_DEFAULT_ESR, _LEAST_ESR = 5e-3, 0.5e-3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerStage:
    """A sized converter."""

    losses: Losses
    duty: float
    inductance: float
    capacitance: float
    esr: float
    ripple_a: float
    """Of the inductor at the nominal input, peak to peak."""
    is_continuous: bool


def size_power_stage(request: Request, correction: Correction) -> PowerStage:
    """Losses, duty, L and C. Raises CircuitError when the demands leave nothing to build."""
    losses = losses_of(request, 1 / correction["conduction"])
    _check_duty(request, losses)
    ripple_a = request["inductor_ripple_a"] * correction["inductor_ripple_a"]
    for _ in range(12):
        stage = _stage(request, correction, losses, ripple_a)
        if stage is not None:
            return stage
        if request["inductance"] is not None:
            break
        ripple_a *= 0.75
    raise impossible(
        msg(
            "No output filter with the given parts keeps the ripple below {ripple}.",
            ripple=with_unit(request["ripple_v"], "V"),
        ),
        msg("Allow more ripple, raise the switching frequency, or leave L, C and ESR unspecified."),
    )


def _at(request: Request, vin: float) -> OperatingPoint:
    return OperatingPoint(vin=vin, vout=request["vout"], iout=request["iout"], fsw=request["fsw"])


def losses_of(
    request: Request, scale: float, inductor_gain: float = 1.0, blocks_v: float | None = None
) -> Losses:
    """Parts that lose about one per cent each of the output power (times `scale`), unless they are given;
    `inductor_gain` times the load current flows in them.

    `blocks_v` is what the diode blocks where it feeds the load alone; None: the input (a buck converter).
    Raises CircuitError for a diode of the model library that is not made for it.
    """
    one_percent = 0.01 * request["vout"] / request["iout"] / inductor_gain**2
    chosen = nearest(min(max(one_percent * scale, 1e-3), 1.0), "E6")
    is_diode = request["rectifier"] == "diode"
    drop = request["diode_v"] or (0.4 if request["vin_highest"] <= 60 else 0.7)
    if is_diode and (name := named_diode(request)):
        vin, iout = request["vin_highest"], request["iout"]
        average = iout * (1 - request["vout"] / vin) if blocks_v is None else iout
        _check_diode(request, name, vin if blocks_v is None else blocks_v, average)
        drop = DIODES[name].drop(iout * inductor_gain)
    switch = request["switch_ohm"] or chosen
    if name := named_mosfet(request):
        blocked = request["vin_highest"] if blocks_v is None else blocks_v
        check_mosfet(name, blocked, request["iout"] * inductor_gain)
        switch = MOSFETS[name].on_ohm
    return Losses(
        switch_ohm=switch,
        winding_ohm=request["winding_ohm"] or chosen,
        diode_v=drop if is_diode else 2 * DEAD_TIME * BODY_DIODE_V,
        rectifier_ohm=0.0 if is_diode else switch,
    )


def named_diode(request: Request) -> str:
    """The diode of the model library that was asked for; "" for any."""
    name = str(request.get("diode", ""))
    return name if name in DIODES else ""


def named_mosfet(request: Request) -> str:
    """The MOSFET of the model library that was asked for; "" for any."""
    name = str(request.get("mosfet", ""))
    return name if name in MOSFETS else ""


def check_mosfet(name: str, blocks_v: float, current_a: float) -> None:
    """Raises CircuitError for a MOSFET of the model library beyond its ratings."""
    mosfet = MOSFETS[name]
    if blocks_v > mosfet.blocks_v:
        reason = msg(
            "{part} blocks {rated} V, but has to block {volts} V.",
            part=name,
            rated=f"{mosfet.blocks_v:g}",
            volts=f"{blocks_v:g}",
        )
    elif current_a > mosfet.drain_a:
        reason = msg(
            "{part} is rated for {rated} A, but would carry {current} A while it is on.",
            part=name,
            rated=f"{mosfet.drain_a:g}",
            current=f"{current_a:.2g}",
        )
    else:
        return
    raise impossible(reason, msg("Name another MOSFET, or none: a switch that fits is then assumed."))


def _check_diode(request: Request, name: str, blocks_v: float, average_a: float) -> None:
    diode = DIODES[name]
    if blocks_v > diode.reverse_v:
        reason = msg(
            "{part} blocks {rated} V, but has to block {volts} V.",
            part=name,
            rated=f"{diode.reverse_v:g}",
            volts=f"{blocks_v:g}",
        )
    elif average_a > diode.average_a:
        reason = msg(
            "{part} is rated for {rated} A on average, but would carry {current} A.",
            part=name,
            rated=f"{diode.average_a:g}",
            current=f"{average_a:.2g}",
        )
    elif diode.recovery_s * request["fsw"] > _LONGEST_RECOVERY:
        reason = msg("{part} recovers too slowly for {fsw}.", part=name, fsw=with_unit(request["fsw"], "Hz"))
    else:
        return
    raise impossible(reason, msg("Name another diode, or none: one that fits is then assumed."))


def _check_duty(request: Request, losses: Losses) -> None:
    highest = duty_continuous(_at(request, request["vin_lowest"]), losses)
    if not 0 < highest <= 0.95:
        raise impossible(
            msg(
                "Converting {vin} V to {vout} V leaves no room for losses: the switch would have to be "
                "on {percent} % of the time.",
                vout=f"{request['vout']:g}",
                vin=f"{request['vin_lowest']:g}",
                percent=f"{100 * min(abs(highest), 1.0):.0f}",
            ),
            msg("Raise the input voltage, lower the output voltage, or use a linear regulator."),
        )
    on_time = duty_continuous(_at(request, request["vin_highest"]), losses) / request["fsw"]
    if on_time < _SHORTEST_ON_TIME_S:
        raise impossible(
            msg(
                "The switch would be on for only {time}, which real switches cannot achieve.",
                time=with_unit(on_time, "s", 3),
            ),
            msg("Lower the switching frequency or the input voltage."),
        )


def _stage(request: Request, correction: Correction, losses: Losses, ripple_a: float) -> PowerStage | None:
    """A power stage with about this inductor ripple, None when the output ripple cannot be kept with it."""
    hardest, nominal = _at(request, request["vin_highest"]), _at(request, request["vin"])
    duty = duty_continuous(hardest, losses)
    inductance = request["inductance"] or at_least(
        1.02 * inductance_for(hardest, duty, ripple_a, losses), "E12"
    )
    ripple_a = current_ripple(hardest, duty, inductance, losses)
    esr = esr_for(request, ripple_a)
    capacitance = None if esr is None else output_capacitance(request, correction, inductance, ripple_a, esr)
    if esr is None or capacitance is None:
        return None
    factor = correction["vout"]
    aimed = replace(nominal, vout=factor * nominal.vout, iout=factor * nominal.iout)
    duty = duty_continuous(aimed, losses)
    at_nominal = current_ripple(nominal, duty_continuous(nominal, losses), inductance, losses)
    is_continuous = request["rectifier"] == "synchronous" or at_nominal < 2 * request["iout"]
    if not is_continuous:
        duty = duty_discontinuous(aimed, inductance, losses)
        on_time = duty_discontinuous(nominal, inductance, losses) / nominal.fsw
        at_nominal = (nominal.vin - nominal.vout) * on_time / inductance
    return PowerStage(
        losses=losses,
        duty=min(max(duty, 0.005), 0.98),
        inductance=inductance,
        capacitance=capacitance,
        esr=esr,
        ripple_a=at_nominal,
        is_continuous=is_continuous,
    )


def esr_for(request: Request, ripple_a: float) -> float | None:
    """The given series resistance, or one (several ceramics in parallel if need be) that drops at most half
    the allowed ripple; None when the given or least possible one drops too much."""
    allowed: float = request["ripple_v"] / ripple_a
    given: float | None = request["esr"]
    if given is not None:
        return given if given <= 0.85 * allowed else None
    if 0.4 * allowed < _LEAST_ESR:
        return None
    if allowed * 0.4 >= _DEFAULT_ESR:
        return _DEFAULT_ESR
    return _DEFAULT_ESR / math.ceil(_DEFAULT_ESR / (0.4 * allowed))


def output_capacitance(
    request: Request, correction: Correction, inductance: float, ripple_a: float, esr: float
) -> float | None:
    """The smallest E6 value that keeps the ripple with a margin, puts the filter a decade below fsw and
    takes half the load away without much overshoot."""
    fsw, given = request["fsw"], request["capacitance"]
    if given is not None:
        return given if voltage_ripple(ripple_a, given, esr, fsw) <= request["ripple_v"] else None
    allowed = 0.85 * request["ripple_v"] * correction["ripple_v"]
    if esr * ripple_a > allowed:
        return None
    slow_enough = 1 / ((2 * math.pi * fsw / 10) ** 2 * inductance)
    for_load_step = overshoot_capacitance(
        inductance, _LOAD_STEP * request["iout"], request["vout"], _OVERSHOOT * request["vout"]
    )
    capacitance = at_least(max(capacitance_for(ripple_a, allowed, fsw), slow_enough, for_load_step), "E6")
    for _ in range(30):
        if voltage_ripple(ripple_a, capacitance, esr, fsw) <= allowed:
            return capacitance
        capacitance = at_least(1.1 * capacitance, "E6")
    return None
