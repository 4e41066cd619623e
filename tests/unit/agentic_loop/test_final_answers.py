"""Final answers behind results, in sets written before the rules were looked at: false and true ones."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from application.agent.past import Past
from application.tool_execution.executor import ToolExecutor
from application.tool_execution.registry import TOOLS
from domain.llm.agentic_loop.contradictions import contradictions
from domain.llm.agentic_loop.evidence import doubts_about
from domain.llm.messages import create_ai_message, create_human_message, create_tool_message
from tests.ground.cases import for_each

_EXECUTOR = ToolExecutor(TOOLS)
SETS = sorted((Path(__file__).parent / "answers").glob("*.json"))


def conversation(scene: dict[str, Any]) -> list[BaseMessage]:
    """The user's message and the calls with their results."""
    messages: list[BaseMessage] = [create_human_message(scene["user"])]
    for number, (name, given, success, text, *rest) in enumerate(scene["calls"]):
        call = {"id": f"call-{number}", "name": name, "args": given}
        messages.append(create_ai_message("", tool_calls=[call]))
        goals = [{"metric": metric, "met": met} for metric, met in (rest[1] if len(rest) > 1 else ())]
        messages.append(
            create_tool_message(
                text,
                call_id=call["id"],
                name=name,
                success=success,
                error_type=rest[0] if rest else "",
                result={"goals": goals} if goals else {},
            )
        )
    return messages


def past_of(scene: dict[str, Any]) -> Past:
    """What the answers of a scene may rest on."""
    messages = conversation(scene)
    return Past(messages, messages, scene.get("context", ""), _EXECUTOR)


def findings(past: Past, text: str) -> tuple[str, ...]:
    """What is asked about in an answer."""
    doubts = doubts_about(text, past.evidence)
    return (*doubts.figures, *doubts.stale, *doubts.contradicted, *map(str, doubts.claims))


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_false_answers_are_caught_and_the_true_ones_left_alone(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    pasts = {name: past_of(scene) for name, scene in held["scenes"].items()}
    judged = [(true, text, findings(pasts[name], text)) for name, true, text in held["answers"]]
    missed = [text for true, text, found in judged if not true and not found]
    questioned = {text: found for true, text, found in judged if true and found}
    with capsys.disabled():
        false = sum(not true for true, _, _ in judged)
        print(
            f"\n  {path.stem}: {false - len(missed)} of {false} caught, {len(questioned)} questioned ", end=""
        )
    assert len(judged) in (30, 60)
    assert len(missed) <= 1, missed
    assert len(questioned) <= 1, questioned


_ODD_RESULTS = (
    "version = 1.2.3", "gain [dB]: min 1.2.3, max 4", "0: R1=1.2.3 -> gain=1.2.3", "max(v(out)) = .",
    "at(v(out),1.2.3) = 4", "P = 1.2.3 W", "  variance from R1 1.2.3 %",
    "t = 1e-999 s\nf = 1e999 Hz; g = 1e308 V",
    f"yield 0 ({'9' * 5000} of {'9' * 5000})", f"a.cir: ok, run {'9' * 5000}",
    "Q1 npn active: IC 0 A, IB 1 A",
    "R1 = 0 Ohm\nC1 = 0 F", f"I = {'9' * 400} A",
)  # fmt: skip
_ODD_ANSWERS = (
    "The bandwidth fell by a factor of 0 (1 kHz to 2 kHz), to 1e-999 Hz.",
    "It is 1.2.3 times the goal, 10 V.",
    "The current of 0 mA equals (24 V - 1 V)/480 Ω = 0 mA.", "β ≈ 169, so 1e999 Hz and 1e-999 s ‖ 0 Ω.",
    "带宽是原来的 0 倍，由 1 kHz 变为 0 Hz。", f"{'9' * 400} V, i.e. 39.6 dB", "½ V ١ mA ²", "0.0, i.e. 3 dB",
)  # fmt: skip


@pytest.mark.parametrize("asked", ["At least 0 Hz, within ±0 %.", "1.2.3 V, 1e999 Hz"])
def test_numbers_that_nobody_can_reckon_with_stop_no_judge(asked: str) -> None:
    """A file, a deck or a model may write anything; each of these ended the turn with an error."""
    call = ["run_simulation", {"path": "a.cir", "note": "gain = 1.2.3"}, True]
    past = past_of({"user": asked, "calls": [[*call, text] for text in _ODD_RESULTS]})
    judged = {text: findings(past, text) for text in _ODD_ANSWERS}
    assert any("factor of 0" in each for each in judged[_ODD_ANSWERS[0]])


@pytest.mark.parametrize("unit", ["\n", "\t", "1 % 1 to ", "1 "])
def test_an_answer_of_one_thing_over_and_over_is_judged_in_bounded_time(unit: str) -> None:
    """It took the square of its length: 17 s for 8,000 line ends."""
    past = past_of(
        {"user": "", "calls": [["read_file", {"path": "a"}, True, f"Goals (a):{unit * 4_000}= 1"]]}
    )
    begin = time.thread_time()
    findings(past, unit * 8_000)
    assert time.thread_time() - begin < 4


_ASKED = "Delay 1 ms ±3 %, supply current below 30 mA, at least 500 kHz."
_SWEEP = (
    "sweep of a.cir: 2 runs, 0 failed\nbw [Hz]: min 1.0e6, max 1.4e6\n"
    "0: CF=5e-13 -> bw=1.4e6\n1: CF=2e-12 -> bw=1.0e6"
)


@for_each(
    ("text", "is_wrong"),
    [
        ("The delay is 0.995 ms, 4.5 % below 1 ms.", True),
        ("The delay is 0.995 ms, 0.5 % below 1 ms.", False),
        ("延时 0.936 ms 到 1.055 ms，都在 1 ms ±3 % 以内。", True),
        ("延时 0.985 ms 到 1.015 ms，都在 1 ms ±3 % 以内。", False),
        ("10.6 kHz is within ±3 % of 10 kHz.", True),
        ("10.2 kHz is within ±3 % of 10 kHz.", False),
        ("The bandwidth is 1.0 MHz, three times the required 500 kHz.", True),
        ("The bandwidth is 1.0 MHz, twice the required 500 kHz.", False),
        ("The delay dropped, from 2.0 ms to 2.2 ms.", True),
        ("The bandwidth is 1.4 MHz at 2 pF and 1.0 MHz at 0.5 pF.", True),
        ("The bandwidth is 1.4 MHz at 0.5 pF and 1.0 MHz at 2 pF.", False),
        ("CF 从 0.5 pF 增大到 2 pF 时带宽上升到 1.4 MHz。", True),
        ("The bandwidth fell by about 400 kHz.", False),
        ("From run 13 to run 16 the bandwidth fell by 400 kHz.", False),
        ("The bandwidth fell by 400 kHz over 16 runs.", True),
        ("The bandwidth fell by about 700 kHz.", True),
        ("增益从 2 kΩ 时的 0.991 降到 100 Ω 时的 0.936，降低了 12 %。", True),
        ("增益从 2 kΩ 时的 0.991 降到 100 Ω 时的 0.936，降低了 5.5 %。", False),
        ("Bandwidth: f0/Q = 37.871/10.016 ≈ 3.78 kHz.", False),
        ("Bandwidth: f0/Q = 37.871/10.016 ≈ 4.78 kHz.", True),
        ("On at 11.04 V (10.85–11.15 V).", False),
        ("A uniform ±3 % has σ = 3 %/√3 = 1.73 %.", False),
        ("A uniform ±3 % has σ = 3 %/√3 = 1.43 %.", True),
        ("A Butterworth response has 80·log10(900/200) ≈ 52.3 dB.", False),
        ("0.5 × 1000 µF × (12 V)² = 72 mJ", False),
        ("幅度随温度升高而下降：2.053 V → 1.950 V。", False),
        ("幅度随温度升高而上升：2.053 V → 1.950 V。", True),
        ("The peak drops from 512 V to 431 V, so an 800 V type is fine.", False),
        ("The THD is 0.80 % (was 8.2 %, not settled), well below 3 %.", False),
        ("The THD is 4.1 % (was 8.2 %), below 3 %.", True),
        ("The THD (8.2 %) is below 3 %.", True),
        ("The THD is 0.80 %, down from 8.2 %, below 3 %.", False),
        ("The THD is 3.8 %, down from 8.2 %, below 3 %.", True),
        ("增益为 30.9 dB（此前 26.3 dB），高于 30 dB。", False),
        ("失真为 4.1 %（原来 8.2 %），低于 3 %。", True),
        ("延时 10.251 ms，比 10.2 ms 短。", True),
        ("延时 10.151 ms，比 10.2 ms 短。", False),
        ("集电极电压 6.03 V 低于 5 V，不合格。", True),
        ("集电极电压 4.97 V 低于 5 V，不合格。", False),
        ("That would leave roughly 300 kHz, just below the required 500 kHz.", False),
    ],
)
def test_what_an_answer_reckons_is_reckoned_anew(text: str, is_wrong: bool) -> None:
    assert bool(contradictions(text, (_SWEEP,), (), (_ASKED,))) is is_wrong


_LOAD = (
    "sweep of pump.cir: 4 runs, 0 failed\nvo [V]: min -4.947, max -3.9476\n0: IL=0.001 -> vo=-4.947\n"
    "1: IL=0.005 -> vo=-4.7366\n2: IL=0.01 -> vo=-4.4736\n3: IL=0.02 -> vo=-3.9476"
)
_DIFFERENTIAL = "Data of run 1 of ecg.cir\nmax(db(v(out))) = 60.1214 dB"
_COMMON = "Data of run 2 of ecg_cm.cir\ndb(gain(v(out),50)) = -24.3307 dB"
_WARM = "Data of run 1 of th.cir\nat(v(tc),cross(v(out),6,1,rise)) = 45.6018 V"


_BEFORE = "Data of run 1 of a.cir\ngain(db(v(out)),1k) = 26.3 dB\nQ1 npn SATURATION: IC 2.27 mA, VCE 210.7 mV"
_NOW = (
    "a.cir: ok, run 2\nGoals (1 of 1 met): met gain = 30.885 dB (≥ 30 dB)\n"
    "Q1 npn active: IC 1.507 mA, VCE 3.231 V"
)


@for_each(
    ("text", "is_wrong"),
    [
        ("Gain: 30.9 dB ✅ (was 26.3 dB ❌)", False),
        ("The gain is 30.9 dB, met (was 26.3 dB, missed).", False),
        ("原因：Q1 静态饱和。把 R1 改为 150 kΩ 后，Q1 工作在放大区。", False),
        ("Cause: Q1 is saturated. With R1 = 150 kΩ it is active.", False),
        ("With R1 = 150 kΩ Q1 is saturated.", True),
    ],
)
def test_what_was_before_is_told_in_an_aside_or_ahead_of_the_change(text: str, is_wrong: bool) -> None:
    asked = "Gain at 1 kHz at least 30 dB."
    assert bool(contradictions(text, (_NOW,), (_BEFORE,), (asked,))) is is_wrong


_SHARES = (
    "montecarlo of amp.cir: 200 runs, 0 failed\ng [dB]: mean 31.857, sigma 0.305101, min 31.0506\n"
    "  variance from R3 43 %, R4 35 %, R1 10 %, R2 9 %, R7 1 %, R5 1 %"
)


@for_each(
    ("text", "is_wrong"),
    [
        ("R4 matters most (43 % of the variance), then R3 (35 %).", True),
        ("R3 matters most (43 % of the variance), then R4 (35 %).", False),
        ("R3 (43 %) and R4 (35 %) dominate.", False),
        ("R4 贡献最大（43 %），其次是 R3（35 %）。", True),
    ],
)
def test_a_share_is_of_the_part_before_its_brackets(text: str, is_wrong: bool) -> None:
    assert bool(contradictions(text, (_SHARES,))) is is_wrong


@for_each(
    ("calls", "text", "is_doubted"),
    [
        ([["run_study", _LOAD]], "From 1 mA to 20 mA it drops by 1.00 V: the output resistance is about {}.",
         {"52.6 Ω": False, "31.4 Ω": True}),
        ([["inspect_data", _DIFFERENTIAL, "ecg.cir"], ["patch_file", "Changed ecg_cm.cir", "ecg_cm.cir"],
          ["inspect_data", _COMMON, "ecg_cm.cir"]], "差模增益 {}，没有改动。",
         {"60.1 dB": False, "58.7 dB": True}),
        ([["inspect_data", _WARM]], "The fan goes on at {}.", {"45.6 °C": False, "48.9 °C": True}),
    ],
)  # fmt: skip
def test_what_a_model_may_have_worked_out_or_measured_elsewhere_is_left_alone(
    calls: list[list[str]], text: str, is_doubted: dict[str, bool]
) -> None:
    """A slope of a sweep, a circuit that was not the one changed, a voltage that stands for a temperature."""
    done = [[name, {"path": (*path, "a.cir")[0]}, True, result] for name, result, *path in calls]
    past = past_of({"user": "", "calls": done})
    assert {each: bool(findings(past, text.format(each))) for each in is_doubted} == is_doubted
