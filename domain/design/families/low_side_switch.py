"""What a low-side switch is made of: transistor, resistors, and what takes the current of a coil over.

NPN: the base takes a tenth of the load current, or what the drive allows; at the forced gain b, VCE(sat) =
VT ln((1 + (b + 1)/BR)/(1 - b/BF)) + I RC. NMOS: VDS = I (Rs + 1/(KP (VG - VTO))), the gate resistor by the
peak of the drive. With a Zener diode behind the flyback diode the current falls to a tenth in
L/R ln((I R + VC)/(I R/10 + VC)). Sources: Horowitz, Hill, "The Art of Electronics", 3rd ed., sections 1.6.7,
2.2.1, 3.5.4; Sedra, Smith, "Microelectronic Circuits", 7th ed., section 6.2.
"""

from __future__ import annotations

import math

from domain.circuit.preferred_values import zener_voltages
from domain.design import kit
from domain.design.buck_power_stage import check_mosfet, named_mosfet
from domain.design.engine.library_parts import MOSFETS, Mosfet
from domain.design.families.resistive_rows import zener_model
from domain.design.families.switch_rows import DRIVE, DROP, LOGIC, write_load
from domain.design.kit import at_least, beyond, spice, with_unit
from domain.design.transistor import THERMAL_V, npn_of
from shared.message import msg

_GENERAL = Mosfet(on_ohm=0.017, blocks_v=60, drain_a=10, threshold_v=1.5, slope=60)
_NPN = {"npn": (0.6, 60, 90, 5, 0.35), "2N2222": (0.6, 40, 110, 6, 0.45), "2N3904": (0.2, 40, 100, 4, 0.95),
        "BC547": (0.1, 45, 160, 6, 1.0)}  # fmt: skip
"""Rated current (A) and voltage (V), forward and reverse gain, series resistance (Ohm)."""
_LEAST_ON_V, _ON_V, _DIODE_IS, _DIODE_N, _DIODE_DROP_V = 0.65, 0.85, 5e-9, 1.8, 0.1
_SPARE = 0.94
"""Of an upper limit, what is aimed at."""
_PULL_OHM, _PULL_RATIO, _GATE_FARAD = {"npn": 10e3, "nmos": 100e3}, 33.0, 5e-9
"""Of the resistor that keeps it off, at least, and over the gate's; the largest gate capacitance."""
FORCED, _MOST_FORCED = 10.0, 0.4
"""Collector over base current; at most that share of the forward gain."""
LEFT = 0.1
"""Of the current, when a coil counts as released."""
RELEASE = msg("release time")
OPEN = msg("voltage at the open switch")


def _rated(request: kit.Request) -> tuple[float, float]:
    """Current and voltage of the transistor."""
    if request["form"] == "npn":
        return _NPN[npn_of(request)][:2]
    fet = MOSFETS.get(named_mosfet(request), _GENERAL)
    return fet.drain_a, fet.blocks_v


def _diode_v(request: kit.Request) -> float:
    """Across the general flyback diode."""
    return _DIODE_N * THERMAL_V * math.log(request["current_a"] / _DIODE_IS) + _DIODE_DROP_V


def most_v(request: kit.Request) -> float:
    """A diode above the supply; for a quick release what the transistor holds, less a tenth."""
    if request["release_s"] is None:
        return float(request["supply_v"] + 1.6)
    return 0.9 * _rated(request)[1]


def _base(request: kit.Request) -> dict[str, float]:
    """Base resistor of E24. Raises CircuitError for a drive too weak or a drop out of reach."""
    current, control, pull = request["current_a"], request["control_v"], _PULL_OHM["npn"]
    _, _, gain, reverse, series = _NPN[npn_of(request)]
    most = _SPARE * request["drive_a"] - _ON_V / pull
    needed = current / (_MOST_FORCED * gain)
    if most < needed:
        advice = msg("Allow more current from the drive, or ask for an NMOS transistor.")
        raise beyond(DRIVE, "A", request["drive_a"], (needed + _ON_V / pull) / _SPARE, advice)
    base = min(current / FORCED, most)
    least = (control - _LEAST_ON_V) / (_SPARE * request["drive_a"])
    ohm = at_least(max((control - _ON_V) / (base + _ON_V / pull), least), "E24")
    forced = current / ((control - _ON_V) / ohm - _ON_V / pull)
    drop = (
        THERMAL_V * math.log((1 + (forced + 1) / reverse) / max(1 - forced / gain, 0.01)) + current * series
    )
    _refuse_drop(request, drop)
    return {"RB": ohm, "RP": pull}


def _gate(request: kit.Request) -> dict[str, float]:
    """Gate resistor of E24. Raises CircuitError for a drive that does not open the channel enough."""
    name, current = named_mosfet(request), request["current_a"]
    fet = MOSFETS.get(name, _GENERAL)
    if name:
        check_mosfet(name, request["supply_v"], current)
    over = request["control_v"] * _PULL_RATIO / (1 + _PULL_RATIO) - fet.threshold_v
    drop = current * (fet.series_ohm + 1 / (fet.slope * over)) if over > 0 else math.inf
    if drop > over / 2:
        advice = msg("Raise the voltage of the drive, or ask for an NPN transistor.")
        least = fet.threshold_v + max(0.3, math.sqrt(2 * current / fet.slope) + current * fet.series_ohm)
        raise beyond(LOGIC, "V", request["control_v"], least, advice)
    _refuse_drop(request, 1.05 * drop)
    ohm = at_least(max(request["control_v"] / (_SPARE * request["drive_a"]), 10.0), "E24")
    return {"RB": ohm, "RP": at_least(max(_PULL_RATIO * ohm, _PULL_OHM["nmos"]), "E24")}


def _refuse_drop(request: kit.Request, drop: float) -> None:
    if drop > request["drop_v"]:
        advice = msg("Allow a larger drop, or ask for an NMOS transistor with a drive of 5 V.")
        raise beyond(DROP, "V", request["drop_v"], drop, advice)


def _zener(request: kit.Request) -> float:
    """The least voltage of E24 that lets go in time; 0: the diode alone does. Raises CircuitError."""
    supply, diode = request["supply_v"], _diode_v(request)
    room = request["peak_v"] - supply - diode - 0.1
    if room < 0:
        raise beyond(OPEN, "V", request["peak_v"], supply + diode + 0.1,
                     msg("Allow a higher voltage at the open switch."))  # fmt: skip
    if request["release_s"] is None or _falls(request, diode) < _SPARE * request["release_s"]:
        return 0.0
    for volts in zener_voltages(2.4, 100.0):
        if 1.03 * volts > room:
            break
        if _falls(request, diode + 0.98 * volts) < _SPARE * request["release_s"]:
            return volts
    shortest = _falls(request, diode + 0.95 * room) / _SPARE
    advice = msg("Allow a higher voltage at the open switch, or more time.")
    raise beyond(RELEASE, "s", request["release_s"], shortest, advice)


def _falls(request: kit.Request, clamp: float) -> float:
    """Time until a tenth of the current is left, with a voltage across the coil."""
    supply = request["supply_v"]
    return float(
        request["coil_h"] / request["load_ohm"] * math.log((supply + clamp) / (LEFT * supply + clamp))
    )


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Resistors of E24, the Zener diode. Raises CircuitError for what is out of reach."""
    del correction  # every limit is kept by a margin
    rated_a, rated_v = _rated(request)
    if request["current_a"] > rated_a:
        advice = msg("Ask for a stronger transistor, or an NMOS transistor.")
        raise beyond(msg("load current"), "A", request["current_a"], rated_a, advice)
    held = request["peak_v"] if request["load"] == "coil" else request["supply_v"]
    if held > rated_v:
        advice = msg("Allow a later release, or name a transistor that holds more.")
        raise beyond(OPEN, "V", held, rated_v, advice)
    parts = _base(request) if request["form"] == "npn" else _gate(request)
    if request["load"] != "coil":
        return kit.Sized(parts=parts)
    zener = _zener(request)
    note = msg("The current of the coil is down to a tenth {time} after switching off.",
               time=with_unit(_falls(request, _diode_v(request) + zener), "s", 2))  # fmt: skip
    return kit.Sized(parts={**parts, **({"VZ": zener} if zener else {})}, notes=(note,))


def times(request: kit.Request) -> tuple[float, float]:
    """Switched on and off at (s); the record ends as long after."""
    gate_s = 30 * request["control_v"] / request["drive_a"] * _GATE_FARAD
    long = max(9 * request["coil_h"] / request["load_ohm"] if request["load"] == "coil" else 1e-3, gate_s)
    return 0.1 * long, 1.1 * long


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Drive, transistor, load and what protects it."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    is_npn, load, (on, off) = request["form"] == "npn", request["load"], times(request)
    wave = f"0 {spice(request['control_v'])} {spice(on)} 100n 100n {spice(off - on)} {spice(4 * off)}"
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"Vctl ctl 0 DC 0 PULSE({wave})", msg("logic output: on and off once"))
    deck.part(f"RB ctl b {parts['RB']}", msg("base resistor") if is_npn else msg("gate resistor"))
    deck.part(f"RP b 0 {parts['RP']}", msg("keeps it off while nothing drives it"))
    write_load(deck, request, "vcc", "out")
    if load == "coil":
        deck.part(f"D1 out {'z' if 'VZ' in parts else 'vcc'} dfly", msg("takes the current of the coil over"))
        if "VZ" in parts:
            deck.part("D3 vcc z dzener", msg("Zener diode: the higher, the sooner the current is gone"))
    name = npn_of(request) if is_npn else named_mosfet(request) or "nfet"
    deck.part(f"{'Q1 out b 0' if is_npn else 'M1 out b 0'} {name}", msg("switch"))
    deck.rule()
    deck.cards(".options method=gear")  # trapezoids ring where the diode takes over
    if load == "coil":
        series = spice(_DIODE_DROP_V / request["current_a"])
        deck.cards(f".model dfly D(IS={_DIODE_IS:g} N={_DIODE_N:g} RS={series} CJO=20p)")
    if "VZ" in sized.parts:
        deck.cards(zener_model(sized.parts["VZ"], request["current_a"]))
    if name == "npn":
        deck.note(msg("Generic NPN switching transistor."))
        deck.cards(
            ".model npn NPN(IS=3e-14 BF=150 VAF=90 IKF=1 BR=5 RB=2 RC=0.3 CJE=20p CJC=9p TF=0.4n TR=60n)"
        )
    elif name == "nfet":
        deck.note(msg("Generic logic-level N-channel power MOSFET."))
        deck.cards(
            f".model nfet VDMOS(nchan VTO={_GENERAL.threshold_v:g} KP={_GENERAL.slope:g} RD=10m RS=5m RDS=1g "
            "CGS=1n CGDMAX=1n CGDMIN=60p CJO=400p)"
        )
    else:
        deck.cards(f".include {name}.lib")
