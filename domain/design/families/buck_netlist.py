"""The netlist of a converter with one inductor: switching for real, at a fixed duty, from its steady state.

`uic` starts it there (`.ic` serves a `.tran` without it); it runs until a start from elsewhere would have
died out, and saves whole periods only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.design import kit
from domain.design.buck_power_stage import BODY_DIODE_V, DEAD_TIME, named_diode, named_mosfet, settling_time
from domain.design.families import load_step
from domain.design.kit import spice
from shared.message import msg

_VT = 0.02585
_EMISSION = 1.05
_SAVED_PERIODS = 16
_MOST_PERIODS = 2000
_EDGES_IN_ON_TIME = 50
_STEPS_IN_ON_TIME = 4
"""A short on-time needs edges and steps shorter than it: the switches change at a time point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Between which nodes the parts of a converter lie."""

    switch: str
    rectifier: str
    """Anode and cathode."""
    inductor: tuple[str, str]
    """Its current flows from the first to the second."""
    feeds_always: bool
    """Whether the inductor feeds the output in the on-time too: its mean current is that of the load."""
    sign: int = 1
    """Of the output voltage."""


BUCK = Topology(switch="in sw", rectifier="0 sw", inductor=("sw", "out"), feeds_always=True)
BOOST = Topology(switch="sw 0", rectifier="sw out", inductor=("in", "sw"), feeds_always=False)
BUCK_BOOST = Topology(switch="in sw", rectifier="out sw", inductor=("sw", "0"), feeds_always=False, sign=-1)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized, topology: Topology = BUCK) -> None:
    """Source, switches, output filter, load and models."""
    parts, figures, vout = sized.parts, sized.figures, spice(topology.sign * request["vout"])
    deck.part(f"Vin in 0 DC {spice(request['vin'])} AC 1", msg("input voltage"))
    _switches(deck, request, figures["duty"], topology)
    mean = request["iout"] if topology.feeds_always else request["iout"] / (1 - figures["duty"])
    valley = mean - figures["ripple_a"] / 2 if figures["is_continuous"] else 0.0
    start, end = topology.inductor
    deck.part(
        f"L1 {start} lx {spice(parts['L1'])} IC={spice(valley)}",
        msg("inductor; starts at the valley of its current"),
    )
    deck.part(f"Rdcr lx {end} {spice(figures['winding_ohm'])}", msg("winding resistance of L1"))
    deck.part(f"C1 out esr {spice(parts['C1'])} IC={vout}", msg("output capacitor, already charged"))
    deck.part(f"Resr esr 0 {spice(parts['Resr'])}", msg("series resistance of C1"))
    measures_load = request["efficiency"] is not None
    deck.part(f"Rload out {'ld' if measures_load else '0'} {spice(parts['Rload'])}", msg("load"))
    if measures_load:
        deck.part("Vload ld 0 DC 0", msg("measures the load current"))
    if load_step.is_asked(request):
        times = _step_times(1 / request["fsw"], _settles(request, sized, topology))
        load_step.write(deck, request, *times, topology.sign)
    deck.rule()
    _models(deck, request, sized, topology)
    deck.part(f".ic v(out)={vout}", msg("initial state of a .tran without uic"))


def _edge(period: float, on_time: float) -> float:
    return min(period / 200, on_time / _EDGES_IN_ON_TIME)


def _pulse(period: float, edge: float, delay: float, width: float) -> str:
    times = (delay, edge, edge, max(width, edge / 10), period)
    return f"PULSE(0 1 {' '.join(spice(time) for time in times)})"


def write_gate(deck: kit.Deck, fsw: float, duty: float) -> None:
    """The drive of the switch at the node `gate`."""
    period = 1 / fsw
    edge = _edge(period, duty * period)
    deck.part(
        f"Vgate gate 0 DC 0 {_pulse(period, edge, 0.0, duty * period - edge)}",
        msg("gate drive: fixed duty of {duty} %", duty=f"{100 * duty:.2f}"),
    )


def _switches(deck: kit.Deck, request: kit.Request, duty: float, topology: Topology) -> None:
    period = 1 / request["fsw"]
    on_time = duty * period
    edge = _edge(period, on_time)
    write_gate(deck, request["fsw"], duty)
    is_low = topology is BOOST
    what = msg("low-side switch") if is_low else msg("high-side switch")
    if name := named_mosfet(request):
        drain, source = topology.switch.split()
        deck.part(f"Edrive drive {source} gate 0 10", msg("gate driver: 10 V from gate to source"))
        deck.part("Rgate drive g1 2", msg("gate resistor"))
        deck.part(f"M1 {drain} g1 {source} {name}", what)
    else:
        deck.part(f"S1 {topology.switch} gate 0 {'lowside' if is_low else 'highside'}", what)
    if request["rectifier"] == "diode":
        deck.part(
            f"D1 {topology.rectifier} {named_diode(request) or 'freewheel'}", msg("free-wheeling diode")
        )
        return
    dead = DEAD_TIME * period
    deck.part(
        f"Vgatelow gatelow 0 DC 0 {_pulse(period, edge, on_time + dead, period - on_time - 2 * dead - edge)}",
        msg("low-side gate drive with dead time"),
    )
    anode, cathode = topology.rectifier.split()
    deck.part(
        f"S2 {cathode} {anode} gatelow 0 {'highside' if is_low else 'lowside'}", msg("synchronous rectifier")
    )
    deck.part(f"D1 {topology.rectifier} freewheel", msg("body diode: conducts in the dead time"))


def _models(deck: kit.Deck, request: kit.Request, sized: kit.Sized, topology: Topology) -> None:
    figures, is_diode = sized.figures, request["rectifier"] == "diode"
    switch, rectifier = ("lowside", "highside") if topology is BOOST else ("highside", "lowside")
    if name := named_mosfet(request):
        deck.note(msg("MOSFET from the model library."))
        deck.cards(f".include {name}.lib")
    else:
        deck.cards(f".model {switch} SW(VT=0.5 VH=0 RON={spice(figures['switch_ohm'])} ROFF=1Meg)")
    if not is_diode:
        deck.cards(f".model {rectifier} SW(VT=0.5 VH=0 RON={spice(figures['rectifier_ohm'])} ROFF=1Meg)")
    if is_diode and (name := named_diode(request)):
        deck.note(msg("Diode from the model library."))
        deck.cards(f".include {name}.lib")
        return
    current = request["iout"] if topology.feeds_always else request["iout"] / (1 - figures["duty"])
    deck.cards(diode_card(figures["diode_v"] if is_diode else BODY_DIODE_V, current))


def diode_card(drop: float, current: float) -> str:
    """The model of a diode with this drop (V) at a current (A)."""
    resistive = 0.1 * drop
    saturation = current * math.exp(-(drop - resistive) / (_EMISSION * _VT))
    return (
        f".model freewheel D(IS={spice(saturation)} N={_EMISSION} RS={spice(resistive / current)} "
        f"CJO={spice(50e-12 * max(current, 0.2))})"
    )


def transients(request: kit.Request, sized: kit.Sized, topology: Topology = BUCK) -> tuple[str, ...]:
    """`.tran` over whole periods: first all that a cold start needs to die out, then those saved; with a load
    step another one that goes on until the output is back."""
    period, duty = 1 / request["fsw"], sized.figures["duty"]
    settles = _settles(request, sized, topology)
    first = periods(period, duty, settles)
    if not load_step.is_asked(request):
        return (first,)
    begins, lasts = _step_times(period, settles)
    stop, start = spice(begins + 2 * lasts), spice(begins - _SAVED_PERIODS / 2 * period)
    # ngspice runs the last of them first: that is `tran`, the one with the step `tran2`
    return f".tran {spice(period / 100)} {stop} {start} {first.split()[-2]} uic", first


def _settles(request: kit.Request, sized: kit.Sized, topology: Topology) -> int:
    """Periods until a start from elsewhere has died out."""
    parts, figures, duty = sized.parts, sized.figures, sized.figures["duty"]
    series = figures["winding_ohm"] + parts["Resr"] + figures["switch_ohm"] * duty
    series += figures["rectifier_ohm"] * (1 - duty)
    # Seen from the output, an inductor that feeds it in the off-time only is larger by 1 / (1 - D)**2.
    seen = 1.0 if topology.feeds_always else 1 / (1 - duty) ** 2
    constant = settling_time(seen * parts["L1"], parts["C1"], parts["Rload"], seen * series)
    return min(max(math.ceil(9 * constant * float(request["fsw"])), 60), _MOST_PERIODS)


def _step_times(period: float, settles: int) -> tuple[float, float]:
    """When a load step begins, behind the periods of the first `.tran`, and how long it lasts."""
    return (settles + _SAVED_PERIODS + 2) * period, max(settles / 3, 60) * period


def periods(period: float, duty: float, settles: int) -> str:
    """`.tran` over `settles` periods and then those that are saved."""
    settle = min(max(settles, 60), _MOST_PERIODS)
    stop = (settle + _SAVED_PERIODS) * period
    step = min(period / 60, duty * period / _STEPS_IN_ON_TIME)
    return f".tran {spice(period / 100)} {spice(stop)} {spice(settle * period)} {spice(step)} uic"
