"""The class AB output stage: complementary emitter followers biased by two junctions, driven between them.

With I through the bias branch, VT ln(IQ/I) + IQ RE = I RB; RE near VT/IQ makes the gain at the crossover that
at the peaks. The resistors from the supplies carry the base current of the peaks: R = (Vcc - Vp - Ip RE -
VBE)/(1.5 Ip/B). Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 12.4; Oliver,
"Distortion in complementary-pair class-B amplifiers", Hewlett-Packard Journal, Feb. 1971.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.kit import around, at_most, beyond, missing, nearest, spice, with_unit
from domain.design.opamp import SUPPLY, write_supplies
from domain.design.transistor import THERMAL_V
from shared.message import msg

SATURATION_A, GAIN, _SPARE = 1e-13, 100.0, 1.5
SATURATION_V, _PERIODS, _STEPS = 1.0, 6, 500
_MOST_SHARE = 0.1
"""Of the load, in an emitter resistor."""
CARD = f"(IS={SATURATION_A:g} BF={GAIN:g} VAF=80 RB=1 CJE=200p CJC=100p TF=3n)"
AMPLITUDE = msg("output amplitude")
_RATIO = (0.15, 20.0)
"""Quiescent current over that of the bias branch, which resistors can set."""


def _bias(request: kit.Request) -> tuple[float, float]:
    """Feed resistor of E24 and current of the bias branch. Raises CircuitError for a swing out of reach."""
    peak, supply = request["amplitude_v"], request["supply_v"]
    most_a = peak / request["load_ohm"]
    room = supply - (1 + _MOST_SHARE / 2) * peak - THERMAL_V * math.log(most_a / SATURATION_A)
    if room < SATURATION_V:
        advice = msg("Raise the supply or lower the amplitude.")
        raise beyond(AMPLITUDE, "V", peak, peak + (room - SATURATION_V) / (1 + _MOST_SHARE / 2), advice)
    feed = at_most(room * GAIN / (_SPARE * most_a), "E24")
    return feed, (supply - THERMAL_V * math.log(supply / feed / SATURATION_A)) / feed


def _quiet(request: kit.Request) -> float:
    """Near that of the bias branch, and not below a fiftieth of the peak."""
    return nearest(max(0.7 * _bias(request)[1], 0.02 * request["amplitude_v"] / request["load_ohm"]), "E24")


QUANTITIES = (
    kit.Quantity(
        name="amplitude_v", label=AMPLITUDE, dimensions=("V",), within=(0.5, 60), example=10,
        words=r"amplitude|swing|output(?! power)|peak|v_?p(?![a-z])|幅度|幅值|振幅|峰值|输出(?!功率)|摆幅",
    ),
    kit.Quantity(
        name="power_w", label=msg("output power"), dimensions=("W",), takes_rest=True, within=(1e-3, 500),
        words=r"power|output|功率|输出", example=5,
    ),
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True, within=(2, 10e3),
        words=r"load|speaker|r_?l(?:oad)?(?![a-z])|into|负载|喇叭|扬声器", example=8, default=8.0,
    ),
    kit.Quantity(
        name="quiet_a", label=msg("quiescent current"), dimensions=("A",), takes_rest=True, example=0.03,
        words=r"quiescent|idle|standing|bias|i_?q(?![a-z])|静态|偏置|空载", within=(0.1e-3, 1),
        default=_quiet,
    ),
    kit.Quantity(
        name="distortion", label=msg("distortion"), dimensions=("%",), takes_rest=True, limit="at_most",
        words=r"distortion|thd|crossover|失真|谐波", within=(1e-3, 0.3), example=0.01, default=0.02,
    ),
    kit.Quantity(
        name="frequency_hz", label=msg("frequency"), dimensions=("Hz",), takes_rest=True, within=(10, 100e3),
        words=r"frequency|tone|at|频率", example=1e3, default=1e3,
    ),
    replace(SUPPLY, within=(2.5, 80), default=None, is_told=True),
    replace(kit.TOLERANCE, words=r"tolerance|accura\w*|容差|精度|允差", takes_rest=False, is_told=False,
            default=0.1),
)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """Amplitude and power of each other, the supply. Raises CircuitError where neither was said."""
    peak, watt, load = request["amplitude_v"], request["power_w"], request["load_ohm"] or 8.0
    if peak is None and watt is None:
        raise missing(msg("output power"), "5 W")
    peak = peak or math.sqrt(2 * watt * load)
    return kit.Said(values={"amplitude_v": peak, "power_w": peak**2 / 2 / load,
                            "supply_v": request["supply_v"] or math.ceil(1.15 * peak + 3)})  # fmt: skip


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """RE of E12, the bias of E24 and E96. Raises CircuitError for what is out of reach."""
    peak, load, quiet = request["amplitude_v"], request["load_ohm"], request["quiet_a"]
    most_a = peak / load
    feed, branch = _bias(request)
    low, high = (branch * each for each in _RATIO)
    if not low <= quiet <= high:
        advice = msg("Change the supply or the amplitude.")
        raise beyond(msg("quiescent current"), "A", quiet, low if quiet < low else high, advice, digits=2)
    quiet *= correction["quiet_a"]
    re = nearest(min(THERMAL_V / quiet, _MOST_SHARE * load), "E12")
    while (drop := THERMAL_V * math.log(quiet / branch) + quiet * re) < 0.002:
        re = nearest(1.2 * re, "E12")
    note = msg("Bias branch {branch}, quiescent current {quiet}, peak current {peak}.",
               branch=with_unit(branch, "A", 2), quiet=with_unit(quiet, "A", 2),
               peak=with_unit(most_a, "A", 2))  # fmt: skip
    gain = load / (load + re + THERMAL_V / most_a)
    parts = {"Rfeed": feed, "RE": re, "RB": nearest(drop / branch, "E96"), "Rload": load}
    return kit.Sized(parts=parts, figures={"drive_v": peak * correction["amplitude_v"] / gain}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supplies, the bias branch around the input, both followers, the load."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    write_supplies(deck, request["supply_v"])
    wave = f"SIN(0 {spice(sized.figures['drive_v'])} {spice(request['frequency_hz'])})"
    deck.part(f"Vin in 0 DC 0 AC 1 {wave}", msg("input"))
    for rail, base, joint, e, n, polarity in (
        ("vcc", "bp", "jp", "ep", 1, "npn"),
        ("vee", "bn", "jn", "en", 2, "pnp"),
    ):
        deck.part(f"R{n} {rail} {base} {parts['Rfeed']}", msg("feeds the bias branch and the base"))
        deck.part(
            f"Q{n + 2} {base} {base} {joint} {polarity}", msg("junction that biases the output transistor")
        )
        deck.part(f"RB{n} {joint} in {parts['RB']}", msg("sets the quiescent current"))
        deck.part(f"Q{n} c{n} {base} {e} {polarity}", msg("output transistor"))
        deck.part(f"RE{n} {e} out {parts['RE']}", msg("emitter resistor"))
        deck.part(f"Vmeter{n} c{n} {rail} DC 0", msg("measures the current of the output transistor"))
    deck.part(f"Rload out 0 {parts['Rload']}", msg("load"))
    deck.rule()
    deck.note(msg("Generic complementary pair of power transistors."))
    deck.cards(f".model npn NPN{CARD}", f".model pnp PNP{CARD}")


def record(request: kit.Request) -> str:
    period = 1 / request["frequency_hz"]
    return f".tran {spice(period / _STEPS)} {spice(_PERIODS * period)} 0 {spice(period / _STEPS)}"


GOALS = (
    kit.GoalRow(metric="amplitude", label=msg("Output amplitude"), unit="V", quantity="amplitude_v",
                expression="pp(v(out))/2"),
    kit.GoalRow(metric="quiescent_current", label=msg("Quiescent current"), unit="A", quantity="quiet_a",
                expression="at(-i(vmeter1),0)", bounds=lambda request: around(request["quiet_a"], 0.25)),
    kit.GoalRow(
        metric="distortion", label=msg("Distortion"), unit="1", quantity="distortion", is_corrected=False,
        expression=lambda request: f"thd(v(out),{spice(request['frequency_hz'])})",
    ),
)  # fmt: skip

FAMILY = kit.Family(
    key="class_ab_stage",
    name=msg("class AB output stages (complementary emitter followers)"), one=msg("a class AB output stage"),
    examples={"en": "class AB output stage, 5 W into 8 ohm, quiescent current 30 mA",
              "zh": "甲乙类互补输出级，8Ω负载输出5W，静态电流30mA"},
    words=kit.Words(
        named=(
            r"class[\s-]?a/?b(?: (?:push[\s-]pull|complementary|output|power|audio|emitter|bjt))*"
            r"(?: (?:stage|amplifier|amp|buffer|follower))?|"
            r"(?:push[\s-]pull|complementary)(?: (?:emitter|output|bjt))+(?: (?:stage|follower|buffer))?|"
            r"(?:甲乙|ab)类(?:推挽|互补|对称|射极|跟随|功率)*(?:输出级?|放大|功放)?(?:器|级|电路)?|"
            r"(?:推挽|互补)(?:对称|射极|跟随|功率)*(?:输出级|功放)(?:电路)?|(?:推挽|互补)(?:对称)?射极跟随器|ocl(?:功放|电路)?"
        ),
        excludes=r"mos(?!t)|cmos|converter|变换器|transformer|变压器|single[\s-]supply|单电源|otl|class[\s-]?d|丁类",
    ),
    quantities=QUANTITIES,
    goals=GOALS,
    title="Class AB output stage, {power_w:W3}, {load_ohm:.3g} ohm",
    remarks=(msg("VT ln(IQ / I) + IQ RE = I RB, I in the bias branch; RE near VT / IQ."),),
    analyses=lambda request, _sized, _goals: (record(request),),
    size=size, netlist=netlist,
    complete=complete,
)  # fmt: skip
