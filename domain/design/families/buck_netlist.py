"""The netlist of a buck converter: it switches for real, at a fixed duty, and starts in its steady state.

`uic` starts it there (`.ic` serves a `.tran` without it); it runs until a start from elsewhere would have
died out, and saves whole periods only.
"""

from __future__ import annotations

import math

from domain.design.buck_power_stage import BODY_DIODE_V, DEAD_TIME, settling_time
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import Request, Sized
from shared.message import msg

_VT = 0.02585
_EMISSION = 1.05
_SAVED_PERIODS = 16
_MOST_PERIODS = 2000
_EDGES_IN_ON_TIME = 50
_STEPS_IN_ON_TIME = 4
"""A short on-time needs edges and steps shorter than it: the switches change at a time point."""


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """Source, switches, output filter, load and models."""
    parts, figures, vout = sized.parts, sized.figures, spice(request["vout"])
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input voltage"))
    _switches(deck, request, figures["duty"])
    valley = request["iout"] - figures["ripple_a"] / 2 if figures["is_continuous"] else 0.0
    deck.part(
        f"L1 sw lx {spice(parts['L1'])} IC={spice(valley)}",
        msg("inductor; starts at the valley of its current"),
    )
    deck.part(f"Rdcr lx out {spice(figures['winding_ohm'])}", msg("winding resistance of L1"))
    deck.part(f"C1 out esr {spice(parts['C1'])} IC={vout}", msg("output capacitor, already charged"))
    deck.part(f"Resr esr 0 {spice(parts['Resr'])}", msg("series resistance of C1"))
    measures_load = request["efficiency"] is not None
    deck.part(f"Rload out {'ld' if measures_load else '0'} {spice(parts['Rload'])}", msg("load"))
    if measures_load:
        deck.part("Vload ld 0 DC 0", msg("measures the load current"))
    deck.rule()
    _models(deck, request, sized)
    deck.part(f".ic v(out)={vout}", msg("initial state of a .tran without uic"))


def _switches(deck: Deck, request: Request, duty: float) -> None:
    period = 1 / request["fsw"]
    on_time = duty * period
    edge = min(period / 200, on_time / _EDGES_IN_ON_TIME)

    def pulse(delay: float, width: float) -> str:
        times = (delay, edge, edge, max(width, edge / 10), period)
        return f"PULSE(0 1 {' '.join(spice(time) for time in times)})"

    deck.part(
        f"Vgate gate 0 DC 0 {pulse(0.0, on_time - edge)}",
        msg("gate drive: fixed duty of {duty} %", duty=f"{100 * duty:.2f}"),
    )
    deck.part("S1 in sw gate 0 highside", msg("high-side switch"))
    if request["rectifier"] == "diode":
        deck.part("D1 0 sw freewheel", msg("free-wheeling diode"))
        return
    dead = DEAD_TIME * period
    deck.part(
        f"Vgatelow gatelow 0 DC 0 {pulse(on_time + dead, period - on_time - 2 * dead - edge)}",
        msg("low-side gate drive with dead time"),
    )
    deck.part("S2 sw 0 gatelow 0 lowside", msg("synchronous rectifier"))
    deck.part("D1 0 sw freewheel", msg("body diode: conducts in the dead time"))


def _models(deck: Deck, request: Request, sized: Sized) -> None:
    iout, is_diode = request["iout"], request["rectifier"] == "diode"
    deck.cards(f".model highside SW(VT=0.5 VH=0 RON={spice(sized.figures['switch_ohm'])} ROFF=1Meg)")
    if not is_diode:
        deck.cards(f".model lowside SW(VT=0.5 VH=0 RON={spice(sized.figures['rectifier_ohm'])} ROFF=1Meg)")
    drop = sized.figures["diode_v"] if is_diode else BODY_DIODE_V
    resistive = 0.1 * drop
    saturation = iout * math.exp(-(drop - resistive) / (_EMISSION * _VT))
    deck.cards(
        f".model freewheel D(IS={spice(saturation)} N={_EMISSION} RS={spice(resistive / iout)} "
        f"CJO={spice(50e-12 * max(iout, 0.2))})"
    )


def transient(request: Request, sized: Sized) -> str:
    """`.tran` over whole periods: first all that a cold start needs to die out, then those saved."""
    period, parts, figures = 1 / request["fsw"], sized.parts, sized.figures
    duty = figures["duty"]
    series = figures["winding_ohm"] + parts["Resr"] + figures["switch_ohm"] * duty
    series += figures["rectifier_ohm"] * (1 - duty)
    constant = settling_time(parts["L1"], parts["C1"], parts["Rload"], series)
    settle = min(max(math.ceil(9 * constant / period), 60), _MOST_PERIODS)
    stop = (settle + _SAVED_PERIODS) * period
    step = min(period / 60, duty * period / _STEPS_IN_ON_TIME)
    return f".tran {spice(period / 100)} {spice(stop)} {spice(settle * period)} {spice(step)} uic"
