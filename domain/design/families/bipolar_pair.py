"""What a bipolar differential pair is made of: collector resistors or a PNP mirror as load, a mirror as tail.

Gain RC/(2 (re + RE)) with resistors, (RL || ro2 || ro4)/(re + RE) with a mirror, re = VT/IC; the rejection
of what both inputs share is the tail's resistance over re + RE, that resistance ro (1 + gm R) with R in the
emitters of its mirror. Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 9.2, 9.4, 9.5;
Gray, Meyer, "Analysis and Design of Analog Integrated Circuits", 5th ed., sections 3.5, 4.2.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import amplifier_rows as rows
from domain.design.kit import beyond, nearest, spice, with_unit
from domain.design.opamp import BANDWIDTH, write_supplies
from domain.design.transistor import (
    BASE_EMITTER_V,
    CURRENT_GAIN,
    THERMAL_V,
    npn_of,
    parallel,
)
from shared.message import msg

_EARLY_V = {"npn": 80.0, "2N3904": 90.0, "2N2222": 90.0, "BC547": 80.0}
_PNP = {"npn": "pnp", "2N3904": "2N3906", "2N2222": "2N2907", "BC547": "BC557"}
_PNP_EARLY_V = {"pnp": 60.0, "2N3906": 60.0, "2N2907": 80.0, "BC557": 60.0}
_LEAST_MIRROR_GAIN, _MIRROR_GAIN, _RESISTOR_GAIN = 250.0, 500.0, 50.0
_TAIL_DROP_V, _MOST_DROP_V = 0.3, 2.0
"""Across the resistors in the emitters of the tail's mirror."""
_ROOM_V = 1.0
"""Between the inputs, at ground, and the collectors at rest."""
_MILLER_FARAD, _OWN_FARAD = 4e-12, 8e-12
"""Between base and collector; of a collector to ground, the wiring included."""
_SHARED_DB = 6.0
"""What the unequal collectors take of the rejection."""
REJECTION = msg("common-mode rejection")


def form(request: kit.Request) -> str | None:
    """A mirror where the gain is beyond what resistors drop."""
    gain = request["gain"]
    return None if gain is None or gain < _LEAST_MIRROR_GAIN else "mirror"


def gain(request: kit.Request) -> float:
    return _MIRROR_GAIN if request["form"] == "mirror" else _RESISTOR_GAIN


def _slope_ohm(request: kit.Request) -> float:
    """re + RE of each transistor."""
    return float(2 * THERMAL_V / request["tail_a"] + (request["emitter_ohm"] or 0.0))


def _early_v(request: kit.Request) -> float:
    """With the voltage that the collector has: some half of the supply with resistors, all of it with a "
    "mirror."""
    supply = request["supply_v"]
    return float(_EARLY_V[npn_of(request)] + (supply if request["form"] == "mirror" else 0.6 * supply))


def _load(request: kit.Request, gain: float) -> dict[str, float]:
    """RC, or RL across the mirror. Raises CircuitError for a gain beyond the supply or the transistors."""
    slope, tail = _slope_ohm(request), request["tail_a"]
    if request["form"] == "resistor":
        # the other transistor's emitter stands in the way of what the collector's voltage does
        ro = 2 * _early_v(request) / tail * 2 * slope / (2 * THERMAL_V / tail)
        seen = 2 * gain * slope
        rc = seen / (1 - seen / ro) if seen < ro else math.inf
        most = 2 * (request["supply_v"] - _ROOM_V) / tail
        if rc > most:
            limit = parallel(most, ro) / slope / 2
            advice = msg("Raise the supply, or ask for a mirror as load.")
            raise beyond(rows.GAIN_LABEL, "", request["gain"], limit, advice)
        return {"RC": nearest(rc, "E96")}
    junction = 2 * THERMAL_V / tail
    load = 2 * (_PNP_EARLY_V[_PNP[npn_of(request)]] + request["supply_v"]) / tail
    ro = parallel(2 * _early_v(request) / tail * slope / junction, load)
    needed = gain * slope
    if needed > 0.9 * ro:
        advice = msg("Lower the gain, or use two stages.")
        raise beyond(rows.GAIN_LABEL, "", request["gain"], 0.9 * ro / slope, advice)
    return {"RL": nearest(needed / (1 - needed / ro), "E96")}


def _tail_drop_v(request: kit.Request) -> float:
    """Across the mirror's emitter resistors. Raises CircuitError for a rejection out of reach."""
    supply, wanted = request["supply_v"], 10 ** ((request["rejection_db"] + _SHARED_DB) / 20)
    plain = _EARLY_V[npn_of(request)] / request["tail_a"] / _slope_ohm(request)
    drop = max(_TAIL_DROP_V, 1.3 * THERMAL_V * (wanted / plain - 1))
    most = min(_MOST_DROP_V, 0.4 * (supply - BASE_EMITTER_V))
    if drop > most:
        limit = 20 * math.log10(plain * (1 + most / 1.3 / THERMAL_V)) - _SHARED_DB
        advice = msg("Lower the rejection, leave out the emitter resistors of the pair, or raise the supply.")
        raise beyond(REJECTION, "dB", request["rejection_db"], limit, advice, digits=3)
    return float(drop)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The load of E96, the tail's resistors of E24 and E96. Raises CircuitError for what is out of reach."""
    tail, supply = request["tail_a"], request["supply_v"]
    parts = _load(request, request["gain"] * correction["gain"])
    seen = parts.get("RC") or parts["RL"]
    own = _MILLER_FARAD + _OWN_FARAD + request["load_farad"]
    fastest = 1 / (2 * math.pi * seen * own) / 1.1
    if request["bandwidth_hz"] * correction["bandwidth_hz"] > fastest:
        advice = msg("Lower the gain or the load capacitance, or raise the tail current.")
        raise beyond(BANDWIDTH.label, "Hz", request["bandwidth_hz"], fastest, advice)
    drop = _tail_drop_v(request)
    re = nearest(drop / tail, "E24")
    base_v = THERMAL_V * math.log(tail / 1e-14)
    ratio = 1 + 2 / CURRENT_GAIN
    parts |= {"RT": re, "RR": nearest((supply - base_v - tail * re) / (ratio * tail), "E96")}
    if request["emitter_ohm"]:
        parts["RE"] = nearest(request["emitter_ohm"], "E96")
    note = msg("Tail current {tail}, re = {ohm}.", tail=with_unit(tail, "A", 3),
               ohm=with_unit(2 * THERMAL_V / tail, "Ω", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Both inputs, the pair, its load, the tail's mirror."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    model, amplitude = npn_of(request), 0.2 / request["gain"]
    rows.write_inputs(deck, amplitude, spice(request["bandwidth_hz"] / 20))
    write_supplies(deck, request["supply_v"])
    left, right = ("e1", "e2") if "RE" in parts else ("t", "t")
    deck.part(f"Q1 x inp {left} {model}", msg("pair: non-inverting input"))
    deck.part(f"Q2 out inn {right} {model}", msg("pair: inverting input"))
    if "RE" in parts:
        deck.part(f"RE1 e1 t {parts['RE']}", msg("makes the pair linear, lowers the gain"))
        deck.part(f"RE2 e2 t {parts['RE']}", msg("makes the pair linear, lowers the gain"))
    if "RC" in parts:
        deck.part(f"RC1 vcc x {parts['RC']}", msg("collector resistor"))
        deck.part(f"RC2 vcc out {parts['RC']}", msg("collector resistor"))
    else:
        pnp = _PNP[model]
        deck.part(f"Q3 x x vcc {pnp}", msg("mirrors the current of Q1"))
        deck.part(f"Q4 out x vcc {pnp}", msg("load"))
        deck.part(f"RL out 0 {parts['RL']}", msg("sets the gain, and the output's level at rest"))
    deck.part(f"Q5 t b f {model}", msg("tail current"))
    deck.part(f"Q6 b b g {model}", msg("sets the base of Q5"))
    deck.part(f"RT1 f vee {parts['RT']}", msg("raises the resistance of the tail"))
    deck.part(f"RT2 g vee {parts['RT']}", msg("as RT1"))
    deck.part(f"RR 0 b {parts['RR']}", msg("reference current"))
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    deck.rule()
    if model != "npn":
        deck.cards(f".include {model}.lib", *([] if "RC" in parts else [f".include {_PNP[model]}.lib"]))
        return
    deck.note(msg("Generic small-signal transistors."))
    deck.cards(
        f".model npn NPN(IS=1e-14 BF={CURRENT_GAIN:g} VAF={_EARLY_V['npn']:g} RB=10 CJE=6p CJC=3p TF=0.4n)"
    )
    if "RC" not in parts:
        deck.cards(f".model pnp PNP(IS=1e-14 BF=150 VAF={_PNP_EARLY_V['pnp']:g} RB=10 CJE=8p CJC=5p TF=0.6n)")
