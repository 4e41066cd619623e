"""What a high-side switch is made of: a P-channel MOSFET, and a transistor that pulls its gate down.

RG1 (gate to source) and RG2 divide the supply where the gate would not bear it; RG1 alone turns the switch
off: t = RG1 (C ln(VGS/VT) + CGD VS/VT). Sources as in `pmos_pass`; Horowitz, Hill, section 2.2.1.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import pmos_pass
from domain.design.families import switch_rows as rows
from domain.design.kit import at_least, at_most, beyond, impossible, nearest, spice, with_unit
from shared.message import msg

_GATE_V, _SPARE = 10.0, 0.94
"""More does not lower the on-resistance much; of an upper limit, what is aimed at."""
_PULL_OHM = (470.0, 10e3)
_NEAR_ONE = 33.0
"""RG1 over RG2, where the gate bears the supply."""
_FORCED, _BASE_V, _LEAST_BASE_V, _OFF_OHM = 10.0, 0.72, 0.6, 100e3
_SMALL_VT, _SMALL_OVER_V = 1.0, 0.5
"""Of the general NMOS that drives the gate."""
_GATE_OHM = 1e3
_OWN_S = 2e-6
"""The NPN transistor's storage time."""
_MOST_AT_GATE = 0.97
SWITCHING = msg("switching time")


def _gate_v(request: kit.Request) -> float:
    return float(min(_SPARE * request["gate_v"], _GATE_V, _MOST_AT_GATE * request["supply_v"]))


def _pull_ohm(request: kit.Request, used: pmos_pass.Pass, gate_v: float, faster: float) -> float:
    """RG1 of E24. Raises CircuitError for a transistor that a resistor does not turn off in time."""
    charge = used.farad * math.log(gate_v / used.part.threshold_v)
    charge += 0.12 * used.farad * request["supply_v"] / used.part.threshold_v
    wanted = 0.5 * (request["switching_s"] - _OWN_S) * faster / charge
    if wanted < _PULL_OHM[0]:
        advice = msg("Allow more time, or a larger drop: a smaller transistor switches faster.")
        least = 2 * charge * _PULL_OHM[0] + _OWN_S
        raise beyond(SWITCHING, "s", request["switching_s"], least, advice)
    return at_most(min(wanted, _PULL_OHM[1]), "E24")


def _driver(request: kit.Request, pulled_a: float) -> dict[str, float]:
    """RB and RP. Raises CircuitError for a drive too weak."""
    control, most = request["control_v"], _SPARE * request["drive_a"]
    if request["form"] == "nmos":
        if control < _SMALL_VT + _SMALL_OVER_V:
            advice = msg("Raise the voltage of the drive, or ask for an NPN transistor.")
            raise beyond(rows.LOGIC, "V", control, _SMALL_VT + _SMALL_OVER_V, advice)
        return {"RB": at_least(max(_GATE_OHM, control / most), "E24"), "RP": _OFF_OHM}
    base = pulled_a / _FORCED + _BASE_V / _OFF_OHM
    ohm = at_least((control - _LEAST_BASE_V) / min(most, 1.2 * base), "E24")
    if (control - _BASE_V) / ohm < 0.3 * base:
        advice = msg("Allow more current from the drive, or ask for an NMOS transistor.")
        raise beyond(rows.DRIVE, "A", request["drive_a"], base, advice)
    return {"RB": ohm, "RP": _OFF_OHM}


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24. Raises CircuitError for what is out of reach."""
    supply, gate_v = request["supply_v"], _gate_v(request)
    used = pmos_pass.chosen(request, gate_v, rows.DROP)
    if gate_v < used.part.threshold_v + 0.5:
        raise impossible(
            msg("A supply of {supply} does not open the P-channel MOSFET.", supply=with_unit(supply, "V")),
            msg("Raise the supply, or name a logic-level part: {name}.", name="AO3401A"),
        )  # fmt: skip
    upper = _pull_ohm(request, used, gate_v, correction["switching_s"])
    lower = nearest(max(upper * (supply / gate_v - 1), upper / _NEAR_ONE), "E24")
    parts = {"RG1": upper, "RG2": lower, **_driver(request, supply / (upper + lower))}
    lost = request["current_a"] ** 2 * used.on_ohm(gate_v)
    note = msg("P-channel MOSFET: at most {ohm} at {gate} between gate and source, made for more than "
               "{volts}; "
               "it loses {lost}.", ohm=with_unit(used.on_ohm(gate_v), "Ω", 2), gate=with_unit(gate_v, "V", 2),
               volts=with_unit(1.25 * supply, "V", 2), lost=with_unit(lost, "W", 2))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def times(request: kit.Request) -> tuple[float, float]:
    """Switched on and off at (s); the record ends as long after."""
    coil = 9 * request["coil_h"] / request["load_ohm"] if request["load"] == "coil" else 0.0
    long = max(coil, 8 * request["switching_s"])
    return 0.1 * long, 1.1 * long


def on_at(request: kit.Request, share: float = 0.999) -> str:
    """Of the time at which it is switched off."""
    return spice(share * times(request)[1])


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Drive, its transistor, the P-channel MOSFET, the load."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    used = pmos_pass.chosen(request, _gate_v(request), rows.DROP)
    is_npn, (on, off) = request["form"] == "npn", times(request)
    wave = f"0 {spice(request['control_v'])} {spice(on)} 100n 100n {spice(off - on)} {spice(4 * off)}"
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"Vctl ctl 0 DC 0 PULSE({wave})", msg("logic output: on and off once"))
    deck.part(f"RB ctl b {parts['RB']}", msg("base resistor") if is_npn else msg("gate resistor"))
    deck.part(f"RP b 0 {parts['RP']}", msg("keeps it off while nothing drives it"))
    driver = "Q1 x b 0 npn" if is_npn else "M2 x b 0 nfet"
    deck.part(driver, msg("pulls the gate down: shifts the level of the drive"))
    deck.part(f"RG2 g x {parts['RG2']}", msg("with RG1 the voltage between gate and source"))
    deck.part(f"RG1 vcc g {parts['RG1']}", msg("turns it off"))
    deck.part(f"M1 out g vcc {used.name}", msg("switch: P-channel MOSFET"))
    rows.write_load(deck, request, "out", "0")
    if request["load"] == "coil":
        deck.part("D1 0 out dfly", msg("takes the current of the coil over"))
    deck.rule()
    deck.cards(".options method=gear")
    if request["load"] == "coil":
        deck.cards(f".model dfly D(IS=5e-9 N=1.8 RS={spice(0.1 / request['current_a'])} CJO=20p)")
    pmos_pass.write_model(deck, used)
    if is_npn:
        deck.note(msg("Generic small-signal NPN transistor."))
        deck.cards(
            ".model npn NPN(IS=1e-14 BF=200 VAF=80 IKF=0.2 BR=4 RB=10 RC=1 CJE=6p CJC=3p TF=0.4n TR=60n)"
        )
    else:
        deck.note(msg("Generic small N-channel MOSFET with a low threshold."))
        deck.cards(f".model nfet VDMOS(nchan VTO={_SMALL_VT:g} KP=0.3 RD=0.6 RS=0.4 RDS=1g CGS=25p "
                   f"CGDMAX=25p "
                   "CGDMIN=5p CJO=20p)")  # fmt: skip
