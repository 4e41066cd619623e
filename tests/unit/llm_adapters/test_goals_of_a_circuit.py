"""Which goals the built-in model reads from a sentence about a circuit that is there."""

from __future__ import annotations

import math
import time

import pytest

from domain.design.goal_extraction import read_answer
from infrastructure.llm_adapters.builtin.improving import goals_told
from infrastructure.llm_adapters.builtin.plans import Speech

AMPLIFIER = """amplifier
Vcc vcc 0 12
Vin in 0 AC 1
C1 in b 10u
R1 vcc b 47k
R2 b 0 10k
Rc vcc c 3.3k
Q1 c b e qn
Re e 0 820
C2 c out 10u
RL out 0 10k
.model qn NPN(BF=200)
.ac dec 20 10 100meg
.end
"""
BUCK = """buck
Vin vin 0 12
Vg g 0 PULSE(0 5 0 10n 10n 4u 10u)
S1 vin sw g 0 SWM
D1 0 sw DM
L1 sw out 47u
C1 out 0 47u
Rload out 0 5
.model SWM SW(VT=2.5)
.model DM D(IS=1e-8)
.tran 0.1u 4m
.end
"""
OUTLINES = {
    "amp.cir": (
        "amp.cir: netlist, 14 lines, utf-8\nmade of (by its connections):\n"
        "  supplies: vcc +12 V; inputs: in (Vin); outputs: out\n"
        "  common_emitter: transistor Q1, load Rc, bias R1+R2, foot Re; in=b, out=out, common=e\n"
        "  load: RL\nnodes: vcc 0 in b c e out\nanalyses:\n  .ac dec 20 10 100meg (line 13)"
    ),
    "buck.cir": (
        "buck.cir: netlist, 12 lines, utf-8\nmade of (by its connections):\n"
        "  supplies: vin +12 V; outputs: out\n"
        "  buck_converter: switch S1, rectifier D1, inductor L1, output_capacitor C1; in=vin, out=out\n"
        "  load: Rload\nnodes: vin 0 g sw out\nanalyses:\n  .tran 0.1u 4m (line 11)"
    ),
}
NETLISTS = {"amp.cir": AMPLIFIER, "buck.cir": BUCK}
INF = math.inf


def test_a_load_is_found_behind_an_ammeter_and_a_supply_with_an_ac_value() -> None:
    """As our own converters have them where their efficiency is a goal."""
    netlist = BUCK.replace("Rload out 0 5", "Rload out ld 5\nVload ld 0 DC 0").replace("0 12", "0 DC 12 AC 1")
    outline = OUTLINES["buck.cir"].replace("\n  load: Rload", "")
    brief = {"circuit": "buck.cir", "netlist": netlist, "outline": outline}
    found = read_answer(goals_told(brief, "efficiency above 85 %", Speech(say=str, circuits=())))
    (goal,) = found.goals
    assert "p(rload)" in goal.expression
    assert "p(vin)" in goal.expression


def read(text: str, file: str) -> tuple[dict[str, tuple[float, float]], str]:
    """Bounds by metric, and what is said besides."""
    brief = {"circuit": file, "netlist": NETLISTS[file], "outline": OUTLINES[file]}
    found = read_answer(goals_told(brief, text, Speech(say=str, circuits=())))
    bounds = {
        each.metric: (
            -INF if each.minimum is None else each.minimum,
            INF if each.maximum is None else each.maximum,
        )
        for each in found.goals
    }
    return bounds, str(found.reply)


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("mid-band gain 40 dB, upper cutoff above 1 MHz", {"gain": (39.5, 40.5), "upper_cutoff": (1e6, INF)}),
        (
            "The amplifier shall provide a voltage gain between 38 dB and 42 dB and an upper cut-off "
            "frequency of not less than 5 MHz.",
            {"gain": (38, 42), "upper_cutoff": (5e6, INF)},
        ),
        (
            "I need a gain of 100, give or take 5, and an input impedance of no less than 2k.",
            {"gain": (95, 105), "input_impedance": (2e3, INF)},
        ),
        ("Right now I measure about 44 dB. I would like 30 dB plus or minus 1 dB", {"gain": (29, 31)}),
        ("make it go down to 20 Hz", {"lower_cutoff": (-INF, 20)}),
        (
            "通带 30 Hz 到 3 MHz,中频增益至少 36 dB",
            {"lower_cutoff": (-INF, 30), "upper_cutoff": (3e6, INF), "gain": (36, INF)},
        ),
        (
            "at least 20 dB of attenuation at 1 Hz while losing less than 1 dB at 1 kHz",
            {"gain": (-INF, -20), "gain_2": (-1, INF)},
        ),
        (
            "gain of -10 and a lower cut-off that stays below 50 Hz",
            {"gain": (9.5, 10.5), "lower_cutoff": (-INF, 50)},
        ),
        ("想压到26dB左右，上下差1dB都行", {"gain": (25, 27)}),
        (
            "it should be down 30dB at 10 Hz, phase lag below 20 degrees at 1 kHz",
            {"gain": (-30.5, -29.5), "phase": (-20, INF)},
        ),
        ("-3dB在1.5kHz，还要有35 dB", {"cutoff": (1425, 1575), "gain": (35, INF)}),
        ("集电极静态电压应为 6.5 V ± 0.5 V", {"collector_voltage": (6, 7)}),
        ("放大10倍,带宽800kHz以上", {"gain": (9.5, 10.5), "bandwidth": (8e5, INF)}),
    ],
)
def test_figures_of_an_amplifier(text: str, goals: dict[str, tuple[float, float]]) -> None:
    assert read(text, "amp.cir")[0] == {key: pytest.approx(value) for key, value in goals.items()}


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("5 V out, ripple below 20 mV", {"vout": (4.75, 5.25), "ripple": (-INF, 0.02)}),
        (
            "Make the buck deliver 3.3 V ± 2 % with an efficiency of at least 90 %, don't change the diode.",
            {"vout": (3.234, 3.366), "efficiency": (0.9, INF)},
        ),
        ("请把输出电压调整为 3.3 V(误差不超过 50 mV),开关频率保持 100 kHz 不变。", {"vout": (3.25, 3.35)}),
        ("The converter shall settle to its final value in less than 1 ms.", {"settling_time": (-INF, 1e-3)}),
    ],
)
def test_figures_of_a_converter(text: str, goals: dict[str, tuple[float, float]]) -> None:
    assert read(text, "buck.cir")[0] == {key: pytest.approx(value) for key, value in goals.items()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("电源电流别超过2毫安,增益 40 dB", "Not read as goals: 电源电流别超过2毫安."),
        ("overshoot below 5 %, gain 40 dB", "amp.cir has no transient analysis."),
    ],
)
def test_what_is_no_goal_is_said_beside_the_goals(text: str, told: str) -> None:
    goals, reply = read(text, "amp.cir")
    assert list(goals) == ["gain"]
    assert reply.startswith(told)


@pytest.mark.parametrize("text", ["hello", "make it better", "why is it so noisy?", "R1 stays at 47k"])
def test_nothing_is_read_where_nothing_is_asked(text: str) -> None:
    assert read(text, "amp.cir") == ({}, "")


def test_words_without_blanks_are_gone_through_once() -> None:
    """A thousand characters took 20 s of a processor: each value's name was looked for in all before it."""
    begun = time.process_time()
    bounds, _ = read("增益40dB" * 166, "amp.cir")
    assert bounds == {"gain": (39.5, 40.5)}
    assert time.process_time() - begun < 5
