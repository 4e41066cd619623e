"""What a level shifter for both directions is made of: an NMOS, gate at the lower supply, two pull-ups.

A line alone rises from 30 to 70 % in ln(7/3) R C. Up to a threshold below the lower supply the transistor
still joins the lines, which rise together towards the middle of both supplies, each with its own R and C;
then each goes on alone. The driver that pulls a line down carries both pull-ups. Sources: NXP, AN10441,
"Level shifting techniques in I2C-bus design"; NXP, UM10204, "I2C-bus specification", rev. 7, sections 6 and
7.1 (rise times, sink currents).
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.buck_power_stage import named_mosfet
from domain.design.engine.library_parts import MOSFETS
from domain.design.kit import at_least, at_most, beyond, impossible, spice, unreachable, with_unit
from shared.message import Message, msg

_LOW, _TOP = 0.3, 0.7
"""Of a supply: the highest voltage that counts as low, the least that counts as high."""
_AIM = 0.92
"""Of the rise time: the transistor adds its capacitances."""
_OWN_FARAD, _PART_FARAD = 20e-12, 32e-12
"""At either line, of the general transistor and of one of the library."""
_DRIVER_V = 0.4
"""At the driver's end, at the current it is made for."""
_THRESHOLD_V, _OVERDRIVE_V = 0.9, 0.5
"""Of the general transistor; beyond the threshold at least."""
_MOST_OHM = 100e3
_HIGH = 0.9
RISE = msg("rise time")


def rise_s(request: kit.Request) -> float:
    """A tenth of a period up to 100 kHz, above 0.12 of it: about 1 us, 300 ns and 120 ns of the I2C bus."""
    hertz = request["clock_hz"]
    return float((0.1 if hertz <= 100e3 else 0.12) / hertz)


def sink_a(request: kit.Request) -> float:
    """Of the I2C bus: standard mode, fast mode, fast mode plus."""
    return 3e-3 if request["clock_hz"] <= 100e3 else 6e-3 if request["clock_hz"] <= 400e3 else 20e-3


def complete(request: kit.Request) -> kit.Said:
    """The lower supply first, whichever was said first."""
    low, high = request["low_v"], request["high_v"]
    if low is None or high is None:
        return kit.Said(values={})
    return kit.Said(values={"low_v": min(low, high), "high_v": max(low, high)})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Equal pull-ups of E24. Raises CircuitError for a threshold too high or lines too slow."""
    low, high, farad = request["low_v"], request["high_v"], request["line_farad"]
    if high <= 1.02 * low:
        raise impossible(msg("Both sides have the same supply: nothing is to be shifted."),
                         msg("Name the two supplies, for example 3.3 V and 5 V."))  # fmt: skip
    part = MOSFETS.get(named_mosfet(request))
    threshold = part.threshold_v if part else _THRESHOLD_V
    least = threshold + _OVERDRIVE_V
    if low < least:
        advice = msg("Raise the lower supply, or name a transistor with a lower threshold.")
        raise beyond(msg("lower supply"), "V", low, least, advice)
    turns = max(_time_constants(request, supply, threshold) for supply in (low, high))
    slowest = (
        _AIM
        * request["rise_s"]
        * correction["rise_s"]
        / (turns * (farad + (_PART_FARAD if part else _OWN_FARAD)))
    )
    least_ohm = (low + high - 2 * _DRIVER_V) / request["sink_a"]
    ohm = at_most(min(slowest, _MOST_OHM), "E24")
    if ohm < least_ohm:
        ohm = at_most(slowest, "E96")
    if ohm < least_ohm:
        fastest = request["rise_s"] * at_least(least_ohm, "E96") / slowest
        advice = msg("Lower the speed or the capacitance, or allow the drivers more current.")
        asked, limit = (with_unit(each, "s", 3) for each in (request["rise_s"], fastest))
        raise unreachable(RISE, asked, limit, advice)
    sink = (low + high - 2 * _DRIVER_V) / ohm
    note = msg("Pull-ups of {ohm}: a driver that pulls its line down carries {sink}.",
               ohm=with_unit(ohm, "Ω"), sink=with_unit(sink, "A", 2))  # fmt: skip
    return kit.Sized(parts={"R1": ohm, "R2": ohm}, notes=(note,))


def _time_constants(request: kit.Request, supply: float, threshold: float) -> float:
    """Rise time of the line with that supply, over R C."""
    start, end, parting = _LOW * supply, _TOP * supply, request["low_v"] - threshold
    middle = (request["low_v"] + request["high_v"]) / 2
    joined = min(max(parting, start), end)
    return math.log((middle - start) / (middle - joined)) + math.log((supply - joined) / (supply - end))


def half_s(request: kit.Request) -> float:
    return float(max(0.5 / request["clock_hz"], 4 * request["rise_s"]))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Both lines, the transistor, a driver on either side: first the lower one pulls, then the higher one."""
    half, edge = half_s(request), spice(half_s(request) / 500)
    parts = {name: spice(value) for name, value in sized.parts.items()}
    driver = spice(_DRIVER_V / request["sink_a"])
    name = named_mosfet(request) or "nfet"
    deck.part(f"Vlow vlow 0 DC {spice(request['low_v'])}", msg("lower supply"))
    deck.part(f"Vhigh vhigh 0 DC {spice(request['high_v'])}", msg("higher supply"))
    deck.part(f"R1 vlow low {parts['R1']}", msg("pull-up of the lower side"))
    deck.part(f"R2 vhigh out {parts['R2']}", msg("pull-up of the higher side"))
    deck.part(f"M1 out vlow low {name}", msg("passes a low level on, in both directions"))
    for node, number, side in (
        ("low", 1, msg("line on the lower side")),
        ("out", 2, msg("line on the higher side")),
    ):
        deck.part(f"C{number} {node} 0 {spice(request['line_farad'])}", side)
    for node, number, side in (
        ("low", 1, msg("driver on the lower side")),
        ("out", 2, msg("driver on the higher side")),
    ):
        start, period = (2 * number - 1) * half, spice(8 * half)
        deck.part(f"S{number} {node} 0 c{number} 0 driver", side)
        deck.part(f"Vc{number} c{number} 0 DC 0 PULSE(0 1 {spice(start)} {edge} {edge} {spice(half)} "
                  f"{period})",
                  msg("when it pulls"))  # fmt: skip
    deck.rule()
    deck.cards(".options method=gear", f".model driver SW(VT=0.5 VH=0.2 RON={driver} ROFF=1g)")
    if name == "nfet":
        deck.note(msg("Generic small N-channel MOSFET with a low threshold."))
        deck.cards(f".model nfet VDMOS(nchan VTO={_THRESHOLD_V:g} KP=0.3 RD=0.6 RS=0.4 RDS=1g CGS=15p "
                   f"CGDMAX=25p "
                   "CGDMIN=4p CJO=12p IS=1e-13 N=1.1)")  # fmt: skip
    else:
        deck.cards(f".include {name}.lib")


def risen(node: str, supply: str) -> kit.GoalRow:
    """After its own side's driver has let go: the first driver for the lower side, the second for the "
    "higher."""
    number, label = (
        (1, msg("Rise time of the lower side")) if node == "low" else (2, msg("Rise time of the higher side"))
    )

    def expression(request: kit.Request) -> str:
        # one passing down and one up for each driver before
        count = 2 * number
        low, high = (spice(share * request[supply]) for share in (_LOW, _TOP))
        return f"cross(v({node}),{high},{count})-cross(v({node}),{low},{count})"

    return kit.GoalRow(metric=f"rise_{'low' if node == 'low' else 'high'}_side", label=label, unit="s",
                       quantity="rise_s", expression=expression)  # fmt: skip


def level(metric: str, label: Message, node: str, turns: float, limit: str, *, is_low: bool) -> kit.GoalRow:
    def bounds(request: kit.Request) -> kit.Bounds:
        return (kit.Bounds(maximum=_LOW * request[limit]) if is_low
                else kit.Bounds(minimum=_HIGH * request[limit]))  # fmt: skip

    def expression(request: kit.Request) -> str:
        return f"at(v({node}),{spice(turns * half_s(request))})"

    return kit.GoalRow(metric=metric, label=label, unit="V", bounds=bounds, expression=expression)
