"""The low-dropout regulator of transistors: a PMOS pass transistor, an error amplifier, type-II compensation.

Loop gain T = b gm1 Zc gmp Zo with b = R2/(R1 + R2), Zc the compensation Rz + Cz beside the gate's own
capacitance Cg and Zo the output capacitor beside the load. Where T passes 1 the output capacitor turns it
by 90 degrees: at w = b gm1 Rz gmp/Cout, which the load moves as it moves gmp. Rz keeps the pole of the gate,
1/(Rz Cg), above the highest of these frequencies and Cz the zero 1/(Rz Cz) below the lowest.
Sources: Rincon-Mora, "Analog IC Design with Low-Dropout Regulators", 2nd ed., chapters 4 to 6; Razavi,
"Design of Analog CMOS Integrated Circuits", 2nd ed., section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from domain.circuit.preferred_values import at_least, best_pair, nearest, values_between
from domain.design.deck import Deck, spice
from domain.design.mosfet import nmos, p_ratio_for, pmos, ratio_for, write_nmos, write_pmos
from shared.message import msg

_REFERENCE_V = 1.0
_TAIL_A, _OVERDRIVE_V, _TAIL_OVERDRIVE_V, _MIRROR_OVERDRIVE_V = 40e-6, 0.12, 0.1, 0.2
_KP, _THRESHOLD_V, _LENGTH_M, _OXIDE, _OVERLAP = 80e-6, 0.7, 0.5e-6, 3.45e-3, 0.3e-9
"""Of the pass transistor: A/V2, V, m, F/m2, F/m."""
_GATE_LOW_V = 0.35
"""The error amplifier pulls the gate no lower."""
_PASS_OVERDRIVE_V = (0.08, 0.3)
_FEEDBACK_OHM = (10e3, 30e3)
_MARGIN_DEG = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a regulator is sized for (V, A, F, degrees)."""

    vout: float
    lowest_vin: float
    dropout_v: float
    load_a: float
    light_a: float
    cout_farad: float
    phase_margin_deg: float


def pass_ratio(aim: Aim) -> float:
    """W/L: carries the load in the triode region at drop-out, and saturated at the lowest input."""
    drop = 0.8 * aim.dropout_v
    drive = aim.vout + drop - _GATE_LOW_V - _THRESHOLD_V
    reached = min(drop, drive)
    triode = aim.load_a / (_KP * (drive * reached - reached**2 / 2))
    low, high = _PASS_OVERDRIVE_V
    overdrive = min(max(0.8 * (aim.lowest_vin - aim.vout), low), high, 0.9 * (drive + 0.1))
    return max(triode, 2 * aim.load_a / (_KP * overdrive**2))


def gate_farad(ratio: float) -> float:
    """Of a pass transistor, saturated."""
    return ratio * _LENGTH_M * (2 / 3 * _LENGTH_M * _OXIDE + 2 * _OVERLAP)


def size_regulator(aim: Aim) -> dict[str, float]:
    """The divider of E24 and E96, Rz of E24, Cz of E12, W/L of the pass transistor."""
    upper, ratio = aim.vout / _REFERENCE_V - 1, pass_ratio(aim)
    r2, r1 = best_pair(
        values_between(*_FEEDBACK_OHM, "E24"),
        lambda each: each * upper,
        "E96",
        lambda two, one: abs(math.log((1 + one / two) / (1 + upper))),
    )
    most, least = (math.sqrt(2 * _KP * ratio * each) for each in (aim.load_a, aim.light_a))
    share = _TAIL_A / _OVERDRIVE_V / (1 + upper)
    turn = math.tan(math.radians(min(max(90 - aim.phase_margin_deg - _MARGIN_DEG, 8.0), 40.0)))
    rz = nearest(math.sqrt(turn * aim.cout_farad / (gate_farad(ratio) * share * most)), "E24")
    cz = at_least(aim.cout_farad / (turn * share * least * rz**2), "E12")
    return {"R1": r1, "R2": r2, "Rz": rz, "Cz": cz, "W/L pass": ratio}


def write_regulator(deck: Deck, parts: Mapping[str, float]) -> None:
    """`.subckt ldo in out fb` and its transistors."""
    half = _TAIL_A / 2
    mirror, pair = p_ratio_for(half, _MIRROR_OVERDRIVE_V, 0.9), ratio_for(half, _OVERDRIVE_V, 1.0)
    tail, width = ratio_for(_TAIL_A, _TAIL_OVERDRIVE_V, 0.3), spice(parts["W/L pass"] * _LENGTH_M)
    deck.cards(".subckt ldo in out fb")
    deck.part(f"Mp out g in in ppass W={width} L={spice(_LENGTH_M)}", msg("pass transistor"))
    deck.part(f"Vref ref 0 DC {spice(_REFERENCE_V)}", msg("reference"))
    deck.part(nmos("M1", "y tap s 0", pair), msg("pair: feedback"))
    deck.part(nmos("M2", "g ref s 0", pair), msg("pair: reference"))
    deck.part(pmos("M3", "y y in in", mirror), msg("mirrors the current of M1"))
    deck.part(pmos("M4", "g y in in", mirror), msg("load of the error amplifier"))
    deck.part(f"Iref in b DC {spice(_TAIL_A)}", msg("reference current"))
    deck.part(nmos("M8", "b b 0 0", tail), msg("sets the gate of M5"))
    deck.part(nmos("M5", "s b 0 0", tail), msg("tail current"))
    deck.part(f"Rz in z {spice(parts['Rz'])}", msg("compensation"))
    deck.part(f"Cz z g {spice(parts['Cz'])}", msg("compensation"))
    deck.part(f"R1 fb tap {spice(parts['R1'])}", msg("feedback: sets the output together with R2"))
    deck.part(f"R2 tap 0 {spice(parts['R2'])}", msg("feedback: sets the output together with R1"))
    deck.cards(
        ".ends ldo",
        f".model ppass PMOS(LEVEL=1 VTO={-_THRESHOLD_V:g} KP={spice(_KP)} LAMBDA=0.1 TOX=10n"
        f" CGSO={spice(_OVERLAP)} CGDO={spice(_OVERLAP)})",
    )
    write_nmos(deck)
    write_pmos(deck)


def near(node: str, vin: float, vout: float) -> str:
    """A `.nodeset` for the regulator `x<node>` whose output is `node`."""
    gate, output = spice(vin - 0.9), spice(vout)
    return (
        f".nodeset v({node})={output} v(fb{node})={output} v(x{node}.b)=0.8 v(x{node}.s)=0.2"
        f" v(x{node}.tap)={spice(_REFERENCE_V)} v(x{node}.ref)={spice(_REFERENCE_V)}"
        f" v(x{node}.g)={gate} v(x{node}.y)={gate}"
    )
