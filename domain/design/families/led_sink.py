"""What holds the current of LEDs: op-amp and MOSFET at a sense resistor, two NPN transistors, or a resistor.

Op-amp: I = VREF R2/(R1 + R2)/RS, the reference a shunt of 1.225 V. Two transistors: I = VBE/RS. Resistor:
I = (V - n VLED)/R1. A load that is no LED is a voltage of a third of the supply.
Source: Horowitz, Hill, "The Art of Electronics", 3rd ed., sections 2.2.6, 4.2.5 and 9.13.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families.resistive_rows import zener_model
from domain.design.kit import best_pair, beyond, impossible, nearest, spice, with_unit
from domain.design.opamp import GENERIC, write_opamp
from domain.design.transistor import CURRENT_GAIN, THERMAL_V, npn_of, write_npn
from shared.message import Message, msg

_SENSE_V, _REFERENCE_V, _REFERENCE_A = 0.2, 1.225, 1e-3
SUPPLY_SPREAD = 0.1
"""By how much the supply is varied to both sides."""
_ROOM_V = {"opamp": 0.6, "pair": 1.6, "resistor": 0.3}
"""Of the supply at its lowest, what the load must leave."""
_MOST_A = {"opamp": 3.0, "pair": 0.1, "resistor": 0.1}
_MOST_W = {"opamp": 15.0, "pair": 0.5, "resistor": 2.0}
_GBW_HZ = 1e6


def _load_v(request: kit.Request) -> float:
    """Across the load, at the current that was asked for."""
    if request["load"] == "led":
        return float(request["leds"] * request["forward_v"])
    return float(request["supply_v"] / 3)


def _enough_supply(request: kit.Request) -> None:
    """Raises CircuitError where the supply at its lowest leaves the load too little."""
    supply = request["supply_v"]
    needed = (_load_v(request) + _ROOM_V[request["form"]]) / (1 - SUPPLY_SPREAD)
    if supply < needed:
        raise impossible(
            msg(
                "{count} {count:LED|LEDs}, {drop} each, and this circuit need a supply of at least "
                "{least}, not {supply}.",
                count=int(request["leds"]),
                drop=with_unit(request["forward_v"], "V", 3),
                least=with_unit(needed, "V", 3),
                supply=with_unit(supply, "V", 4),
            ),
            msg("Raise the supply, ask for fewer LEDs in series, or for a boost converter."),
        )


def _lost(request: kit.Request, over: float) -> Message:
    power = with_unit(over * request["current_a"], "W", 2)
    if request["load"] != "led":
        return msg("{power} dissipated outside the load.", power=power)
    drop, count = with_unit(request["forward_v"], "V", 3), int(request["leds"])
    return msg(
        "{count} {count:LED|LEDs}, {drop} each; {power} dissipated outside the load.",
        count=count,
        drop=drop,
        power=power,
    )


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The sense resistor and the reference's divider of E96, or the one resistor, of E24 where it is near."""
    form, current = request["form"], request["current_a"] * correction["current_a"]
    _enough_supply(request)
    over = request["supply_v"] - _load_v(request)
    most = min(_MOST_A[form], _MOST_W[form] / over)
    if request["current_a"] > most:
        advice = msg("Lower the current or the supply, put more LEDs in series, or ask for a buck converter.")
        raise beyond(msg("current"), "A", request["current_a"], most, advice, digits=2)
    lost = _lost(request, over)
    if form == "resistor":
        exact = over / current
        common = nearest(exact, "E24")
        is_near = abs(common / exact - 1) <= 0.7 * request["tolerance"]
        return kit.Sized(parts={"R1": common if is_near else nearest(exact, "E96")}, notes=(lost,))
    if form == "pair":
        bias = 5 * request["current_a"] / CURRENT_GAIN
        base_v = THERMAL_V * math.log(0.8 * bias / 1e-14)
        parts = {"R1": nearest((request["supply_v"] - 2 * base_v) / bias, "E24"), "RS": base_v / current}
        return kit.Sized(parts={**parts, "RS": nearest(parts["RS"], "E96")}, notes=(lost,))
    sense = nearest(_SENSE_V / request["current_a"], "E24")
    share = current * sense / _REFERENCE_V
    r2, r1 = best_pair(kit.values_between(10e3, 30e3, "E24"), lambda lower: lower * (1 / share - 1), "E96",
                       lambda lower, upper: abs(lower / (lower + upper) / share - 1))  # fmt: skip
    reference = nearest((request["supply_v"] - _REFERENCE_V) / _REFERENCE_A, "E24")
    return kit.Sized(parts={"R1": r1, "R2": r2, "R3": reference, "RS": sense}, notes=(lost,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, load, and what holds the current below it."""
    parts, form = {name: spice(value) for name, value in sized.parts.items()}, request["form"]
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply, swept"))
    is_led = request["load"] == "led"
    if is_led:
        deck.part("Vload vcc l0 DC 0", msg("measures the current"))
        for number in range(1, int(request["leds"]) + 1):
            deck.part(f"D{number} l{number - 1} {_below(request, number)} dled", msg("one LED of the string"))
    else:
        deck.part(f"Vload vcc d DC {spice(_load_v(request))}", msg("load: the voltage across it"))
    if form == "resistor":
        deck.part(f"R1 d 0 {parts['R1']}", msg("sets the current"))
    elif form == "pair":
        deck.part(f"R1 vcc b {parts['R1']}", msg("turns the output transistor on"))
        deck.part(f"Q1 d b s {npn_of(request)}", msg("output transistor"))
        deck.part(f"Q2 b s 0 {npn_of(request)}", msg("takes the base current away at its VBE"))
        deck.part(f"RS s 0 {parts['RS']}", msg("sets the current"))
    else:
        deck.part(f"R3 vcc ref {parts['R3']}", msg("current of the reference"))
        deck.part("DR 0 ref dzener", msg("shunt reference"))
        deck.part(f"R1 ref p {parts['R1']}", msg("divides the reference"))
        deck.part(f"R2 p 0 {parts['R2']}", msg("divides the reference"))
        deck.part(f"XU1 p s vcc 0 g {GENERIC}", msg("holds the voltage at the sense resistor"))
        deck.part("M1 d g s nfet", msg("output transistor"))
        deck.part(f"RS s 0 {parts['RS']}", msg("sense resistor"))
    deck.rule()
    if is_led:
        series = 0.05 * request["forward_v"] / request["current_a"]
        junction = 0.95 * request["forward_v"]
        saturation = request["current_a"] * math.exp(-junction / (2 * THERMAL_V))
        deck.note(msg("LED with this forward voltage at the requested current."))
        deck.cards(f".model dled D(IS={saturation:.6g} N=2 RS={spice(series)})")
    if form == "pair":
        write_npn(deck, request)
    elif form == "opamp":
        deck.note(msg("Generic logic-level N-channel power MOSFET and shunt reference."))
        deck.cards(
            ".model nfet VDMOS(nchan VTO=1.5 KP=8 RD=20m RS=10m RDS=10Meg CGS=500p CGDMAX=400p CGDMIN=30p"
            " CJO=300p)",
            zener_model(_REFERENCE_V, _REFERENCE_A),
        )
        write_opamp(deck, kit.Request({"opamp": GENERIC, "supply_v": request["supply_v"]}), _GBW_HZ)


def _below(request: kit.Request, number: int) -> str:
    return "d" if number == request["leds"] else f"l{number}"
