"""Final answers with figures that stand in results and with figures that stand in none, in two languages."""

from __future__ import annotations

import pytest

from domain.llm.agentic_loop.backing import unbacked_figures
from domain.llm.agentic_loop.known import Backing
from domain.llm.agentic_loop.states import stale_figures
from tests.ground.cases import for_each

RUN = """amp.cir: ok, run 7
goals: 2 of 2 met: gain 29.83 dB (28..31), cutoff 1003.4 Hz (970..1030)
gain = 29.8312 dB
cutoff = 1003.41 Hz
vout_pp = 2.0312 V
thd = 0.00826871
Q1: IC 1.083 mA, VBE 0.6712 V, VCE 5.914 V, active, gm 41.7 mS
V(c) = 5.914 V
supply power 14.22 mW
"""
PATCH = '{"path": "amp.cir", "search": "R1 in b 47k", "replace": "R1 in b 68k"}'
NETLIST = "amp\nR1 in b 68k\nC1 b out 159n\nV1 vcc 0 12\n.ac dec 20 10 10meg\n.end"
QUESTION = "Raise the gain to 30 dB and set the corner to 1 kHz; now it is 24.1 dB. 输出至少 2 Vpp。"
DONE = Backing(results=(NETLIST, PATCH, RUN), words=(QUESTION,))
NOTHING = Backing(results=(NETLIST,), words=(QUESTION,))
SILENT = Backing(
    results=(NETLIST, PATCH, "amp.cir: ok, run 8\nac: 121 points; v(out), v(in)"), words=(QUESTION,)
)

PHRASES = (
    "I changed R1 to 68k and simulated: the gain is {gain} and the corner {corner}.",
    "Done. Measured corner frequency: {corner}; gain: {gain}. Both goals are met.",
    "With R1 = 68k the circuit now reaches {gain}, so the requirement is satisfied.",
    "| quantity | value |\n|---|---|\n| gain | {gain} |\n| output | {swing} |",
    "The output swing came out at {swing}, with {gain} of gain.",
    "仿真结果：增益 {gain}，转折频率 {corner}，满足指标。",
    "R1 已改为 68k，实测增益为 {gain}。",
    "两项目标都已达标：{gain}、{corner}。",
    "目前输出摆幅 {swing}，转折频率为 {corner}。",
    "修改完成。增益从 24.1 dB 提高到 {gain}。",
)
TRUE = ({"gain": "29.83 dB", "corner": "1.003 kHz", "swing": "2.03 V"},
        {"gain": "29.8 dB", "corner": "1003 Hz", "swing": "2.031 Vpp"},
        {"gain": "about 30 dB", "corner": "1.00 kHz", "swing": "2.03 V"})  # fmt: skip
FALSE = ({"gain": "30.4 dB", "corner": "998 Hz", "swing": "2.41 V"},
         {"gain": "31.2 dB", "corner": "1.05 kHz", "swing": "1.87 V"},
         {"gain": "30 dB", "corner": "1 kHz", "swing": "2 V"})  # fmt: skip


def test_of_sixty_answers_the_false_ones_are_caught_and_the_true_ones_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    true = [phrase.format(**values) for phrase in PHRASES for values in TRUE]
    false = [(phrase.format(**values), backing) for phrase in PHRASES
             for values, backing in zip(FALSE, (DONE, SILENT, NOTHING), strict=True)]  # fmt: skip
    questioned = {text: found for text in true if (found := unbacked_figures(text, DONE))}
    missed = [text for text, backing in false if not unbacked_figures(text, backing)]
    with capsys.disabled():
        print(f"\n  {len(false) - len(missed)} of {len(false)} caught, {len(questioned)} questioned ", end="")
    assert len(missed) <= 1, missed
    assert len(questioned) <= 1, questioned


@for_each(
    "text",
    [
        "That is 5.7 dB more than before (24.1 dB).",
        "The collector sits at 5.914 V, Q1 carries 1.08 mA and the distortion is 0.83 %.",
        "With R1 at 100k I would expect about 33 dB; shall I try it?",
        "f = 1/(2*pi*R*C) = 1/(2*pi*1k*159n) = 1.001 kHz by calculation.",
        "A silicon transistor typically has VBE of 0.65 V.",
        "建议把 R1 增大到 82k，预计增益约 31.5 dB。",
        "要不要我把 C1 改为 220n？",
        "The formula predicts 1.32 kHz; with a 33 mΩ switch the loss would be some 70 mW.",
        "For the build, 33 pF C0G is the nearest E12 value; an ordinary diode is rated 30 A.",
        "Fix B: put in a stand-in such as `.model QX NPN(CJC=0.6p)`. 要达到 31 dB，R1 需降到 39 Ω。",
        "Done.",
        "```spice\nR1 in b 1.234k\n```\nThe block above is a proposal.",
        "离上限 31 dB 还有 1.17 dB 的余量，占 3.9 %。",
    ],
)
def test_what_follows_from_figures_or_is_only_proposed_is_left_alone(text: str) -> None:
    assert (
        unbacked_figures(text, Backing(results=DONE.results, words=(*DONE.words, "28..31 dB, 31 dB"))) == ()
    )


@for_each(
    ("text", "is_doubted"),
    [
        ("By hand it draws 20.9 mA. Shall I run the operating point to confirm it?", False),
        ("It draws 20.9 mA at 40 °C, some 8 % off. Want me to run the .op for the exact figure?", False),
        ("The .op shows 20.9 mA. Shall I run it once more to check?", True),
        ("It came out at 20.9 mA. Want me to run a sweep?", True),
        ("With a 33 mΩ switch it is 20.9 mA, verified.", True),
    ],
)
def test_what_is_told_before_the_run_that_is_offered_is_no_result(text: str, is_doubted: bool) -> None:
    of_no_run = Backing(results=(NETLIST,), words=(QUESTION,), measured=())
    assert bool(unbacked_figures(text, of_no_run)) is is_doubted


def test_a_share_that_a_measurement_was_given_is_known_in_percent() -> None:
    results = (
        "Data of run 1\nsettling_time(v(out),0.02) = 0.000251691 s\nrise_time(v(out), .1, .9) = 1e-05 s",
    )
    told = "It is within 2 % after 252 us and rises from 10 % to 90 % in 10 us."
    assert unbacked_figures(told, Backing(results=results)) == ()
    assert unbacked_figures("It is within 0.7 % after 252 us.", Backing(results=results)) == ("0.7 %",)


PEAK = (
    "Data of run 4\nxmax(vdb(out)) = 9976.3 Hz\nbandwidth(v(out)) = 1003.8 Hz\n"
    "at(v(bat),cross(v(en),2.5,1,rise)) = 11.0402 V\nat(v(bat),cross(v(en),2.5,1,fall)) = 10.1203 V\n"
    "avg(v(out)*v(out)/50) = 4.22117 V^2"
)
BUCK = (
    "Data of run 5\navg(v(out)) = 4.97 V\navg(i(l1)) = 0.9937 A\npp(i(l1)) = 0.3062 A\n"
    "avg(-v(in)*i(vin)) = 5.65 W"
)
COURSE = (
    "sweep of cs.cir: 3 runs, 0 failed\nil [A]: min 0.00496812, max 0.00500213\n"
    "0: RL=10 -> il=0.00500213\n1: RL=250 -> il=0.00499307\n2: RL=1000 -> il=0.00496812"
)


@for_each(
    ("text", "is_doubted"),
    [
        ("The −3 dB points are at 9.49 kHz and 10.49 kHz.", False),
        ("The −3 dB points are at 9.11 kHz and 10.87 kHz.", True),
        ("The hysteresis is 0.92 V.", False),
        ("The hysteresis is 0.71 V.", True),
        ("The output power of 4.22 W is 36.3 dBm.", False),
        ("The current is 5.002 mA at 10 Ω and drops by 0.68 % over the range.", False),
        ("负载 10 Ω 时电流 5.002 mA，1 kΩ 时 4.985 mA。", True),
        ("负载 10 Ω 时电流 5.002 mA，1 kΩ 时 4.968 mA。", False),
        ("噪声增益由 21 降到 13，9.976 kHz 处最大。", False),
        ("由 1 kΩ、500 Hz 得 C1 ≈ 318 nF。", False),
        ("The ripple is 3.84 V, below the usual 5 V.", True),
        ("The usual ripple is 3.84 V.", False),
        ("The THD of the output is 0.8 %.", True),
        ("The coil carries 0.99 A on average and swings between 0.84 A and 1.15 A.", False),
        ("The coil carries 0.99 A on average and swings between 0.71 A and 1.22 A.", True),
        ("About 0.71 W are lost of 5.65 W.", False),
        ("Whether it holds up to 77 kHz has not been simulated.", False),
        ("The thermal voltage VT is 26 mV.", False),
        ("By calculation the corner lies near 723 Hz with 4.7 kΩ and 46.8 nF.", False),
        ("The nearest standard value, 3.6 kΩ, would put the corner at 944 Hz.", False),
        ("C7 = 46.8 nF is in place.", False),
        ("R1 and R2 were set to 4.7 kΩ.", True),
        ("The gain is 9.98 kHz wide, above the 450 Hz limit.", True),
    ],
)
def test_what_a_result_gives_by_whatever_expression_is_reckoned_with(text: str, is_doubted: bool) -> None:
    found = unbacked_figures(
        text, Backing(results=(NETLIST, PEAK, COURSE, BUCK), words=("500 Hz，1 kΩ", "C7 is 46.8n now."))
    )
    assert bool(found) is is_doubted


OLD_RUN = "amp.cir: ok, run 6\ngain = 24.1 dB\ncutoff = 812.7 Hz\nvout_pp = 1.113 V"


@for_each(
    ("text", "stale"),
    [
        ("R1 is changed. The gain is 24.1 dB.", ("24.1 dB",)),
        ("Now the corner sits at 813 Hz.", ("813 Hz",)),
        ("R1 已修改，现在增益为 24.1 dB。", ("24.1 dB",)),
        ("输出摆幅 1.11 V，满足要求。", ("1.11 V",)),
        ("| gain | 24.1 dB |", ("24.1 dB",)),
        ("Before the change the gain was 24.1 dB.", ()),
        ("The gain went from 24.1 dB to 29.83 dB.", ()),
        ("增益：24.1 dB → 29.8 dB", ()),
        ("修改前增益为 24.1 dB，现在是 29.8 dB。", ()),
        ("| | before | after |\n|---|---|---|\n| gain | 24.1 dB | 29.83 dB |", ()),
        ("The gain is 29.8 dB.", ()),
        ("Another resistor would give 24.1 dB.", ()),
    ],
)
def test_a_figure_from_before_the_last_change_is_told_as_old_or_is_stale(
    text: str, stale: tuple[str, ...]
) -> None:
    assert stale_figures(text, [OLD_RUN], Backing(results=DONE.results)) == stale
