"""The Pierce oscillator: a crystal as motional arm, a CMOS inverter biased by a resistor, two capacitors.

The crystal's frequency holds at its load capacitance CL: C1 = C2 = 2 CL. It starts where the inverter's
transconductance is more than gmcrit = 4 Rm (2 pi f)^2 (C0 + CL)^2; the width gives several times that.
Sources: STMicroelectronics AN2867, "Oscillator design guide"; Vittoz, Degrauwe, Bitz, "High-performance
crystal oscillator circuits: theory and application", IEEE J. Solid-State Circuits 23 (1988), 774 (the
negative resistance beside C0, by which the current grows).
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families.logic_rows import LOGIC_SUPPLY, WIDER_P
from domain.design.families.oscillator_rows import FREQUENCY_GOAL, LC_AMPLITUDE_GOAL, frequency_row, transient
from domain.design.kit import nearest, spice, unreachable, with_unit
from domain.design.mosfet import KP, THRESHOLD_V, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_SHUNT_F, _MOTIONAL_F = 4e-12, 16e-15
"""C0 and Cm of an AT-cut crystal."""
_OHM_AT_1MHZ = 200.0
"""Of the motional resistance, which falls with the root of the frequency: 100 ohm at 4 MHz, 50 at 16 MHz."""
_MARGIN = 15.0
"""Of the transconductance; AN2867 asks for 5."""
_BIAS_OHM = 1e6
_ESR = msg("series resistance of the crystal")
_START = 0.05
"""Of the motional current at the full swing: it begins with that."""
_GROWTHS = 6.0
"""Time constants of the growth until the record begins."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The motional arm by the frequency at CL, C1 and C2 of E24, the widths by the transconductance."""
    omega = 2 * math.pi * request["frequency_hz"]
    load = request["load_farad"]
    ohm = request["esr_ohm"]
    # series resonance below the frequency at the load capacitance
    pulled = omega * correction["frequency_hz"] / (1 + _MOTIONAL_F / (2 * (_SHUNT_F + load)))
    least = 4 * ohm * omega**2 * (_SHUNT_F + load) ** 2
    overdrive = request["supply_v"] / 2 - THRESHOLD_V
    ratio = max(_MARGIN * least / (2 * KP * overdrive), 1.0)
    parts = {
        "Lm": 1 / (pulled**2 * _MOTIONAL_F), "Cm": _MOTIONAL_F, "Rm": ohm, "C0": _SHUNT_F,
        "C1": nearest(2 * load, "E24"), "C2": nearest(2 * load, "E24"), "Rf": _BIAS_OHM, "W/L": ratio,
    }  # fmt: skip
    gm, c1 = 2 * KP * overdrive * ratio, parts["C1"]
    negative = gm * c1**2 / ((gm * _SHUNT_F) ** 2 + (omega * (c1**2 + 2 * c1 * _SHUNT_F)) ** 2)
    note = msg(
        "Crystal: Lm = {l}, Cm = {c}, Rm = {r}; C1 = C2 = {load}; transconductance {margin} times the "
        "minimum.",
        l=with_unit(parts["Lm"], "H"),
        c=with_unit(_MOTIONAL_F, "F"),
        r=with_unit(ohm, "Ω", 3),
        load=with_unit(parts["C1"], "F"),
        margin=f"{gm / least:.3g}",
    )
    if negative < 2 * ohm:
        limit = with_unit(negative / 2, "Ω", 3)
        advice = msg("Ask for a lower frequency or less load capacitance.")
        raise unreachable(_ESR, with_unit(ohm, "Ω", 3), limit, advice)
    return kit.Sized(parts=parts, figures={"growth_s": 2 * parts["Lm"] / (negative - ohm)}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The inverter and its bias, the crystal, both capacitors, from their steady state but for the swing."""
    parts, half = sized.parts, spice(request["supply_v"] / 2)
    swing = request["supply_v"] / 2 * 2 * math.pi * request["frequency_hz"] * parts["C1"]
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(nmos("M1", "out g 0 0", parts["W/L"]), msg("inverter"))
    deck.part(pmos("M2", "out g vcc vcc", WIDER_P * parts["W/L"]), msg("inverter"))
    deck.part(f"Rf out g {spice(parts['Rf'])}", msg("biases the inverter at mid-supply"))
    deck.part(
        f"Lm g x {spice(parts['Lm'])} IC={spice(_START * swing)}",
        msg("crystal; start-up kick in place of noise"),
    )
    deck.part(f"Cm x y {spice(parts['Cm'])} IC=0", msg("crystal: motional capacitance"))
    deck.part(f"Rm y out {spice(parts['Rm'])}", msg("crystal: motional resistance"))
    deck.part(f"C0 g out {spice(parts['C0'])} IC=0", msg("crystal: capacitance of its electrodes"))
    deck.part(f"C1 g 0 {spice(parts['C1'])} IC={half}", msg("load capacitor"))
    deck.part(f"C2 out 0 {spice(parts['C2'])} IC={half}", msg("load capacitor"))
    write_nmos(deck)
    write_pmos(deck)


def _record(request: kit.Request, sized: kit.Sized) -> str:
    """The `.tran` card: the growth first."""
    settles = math.ceil(_GROWTHS * sized.figures["growth_s"] * request["frequency_hz"])
    return f"{transient(request, settles=settles, points=100)} uic"


FAMILY = kit.Family(
    key="pierce_oscillator",
    name=msg("Pierce crystal oscillators with a CMOS inverter"), one=msg("a Pierce crystal oscillator"),
    examples={"en": "Pierce crystal oscillator at 8 MHz, load capacitance 18 pF, 5 V supply",
              "zh": "8MHz皮尔斯晶体振荡器，负载电容18pF，电源5V"},
    words=kit.Words(
        named=(r"pierce(?: (?:crystal|quartz|xtal))?(?: (?:oscillator|circuit))?|"
               r"(?:quartz|crystal|xtal)(?: (?:clock|cmos|pierce))*(?: oscillator)?"
               r"(?! (?:filter|ladder|radio|set))|"
               r"(?:皮尔[斯兹](?:晶体|晶振|石英)*|石英(?:晶体|晶振)?|晶体(?=振荡|震荡|谐振)|晶振)"
               r"(?:振荡|震荡|谐振)?(?:器|电路)?"),
        excludes=(r"colpitts|考[毕比]兹|clapp|克拉泼|hartley|哈特莱|overtone|泛音|vcxo|tcxo|压控|温补|"
                  r"filter|滤波|bjt|npn|三极管|pll|锁相"),
    ),
    quantities=(
        frequency_row((2e6, 25e6), 8e6),
        kit.Quantity(name="load_farad", label=msg("load capacitance of the crystal"), dimensions=("F",),
                     takes_rest=True, words=r"load(?: capacit\w+)?|(?<![a-z])c_?l(?![a-z])|负载(?:电容)?",
                     within=(6e-12, 40e-12), example=18e-12, default=18e-12),
        kit.Quantity(
            name="esr_ohm", label=_ESR, dimensions=("Ohm",), takes_rest=True,
            words=r"(?<![a-z])esr(?![a-z])|series resistance|motional|串联电阻|等效电阻", within=(10, 400),
            example=50, default=lambda request: _OHM_AT_1MHZ / math.sqrt(request["frequency_hz"] / 1e6),
        ),
        replace(LOGIC_SUPPLY, within=(2.5, 15)),
        replace(kit.TOLERANCE, default=1e-3, within=(5e-4, 0.1), example=1e-3),
    ),
    goals=(FREQUENCY_GOAL, LC_AMPLITUDE_GOAL),
    title="Pierce crystal oscillator, {frequency_hz:Hz}",
    remarks=(msg("gm > 4 Rm (2 pi f)^2 (C0 + CL)^2, C1 = C2 = 2 CL."),),
    analyses=lambda request, sized, _goals: (_record(request, sized),),
    size=size, netlist=netlist,
)  # fmt: skip
