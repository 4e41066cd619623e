"""Final answers that claim deeds: of files, of runs, of goals that are met; with and without the deed."""

from __future__ import annotations

import pytest

from domain.llm.agentic_loop.claims import Deeds, unmade_claims

PATCH = '{"path": "amp.cir", "search": "R1 in b 47k", "replace": "R1 in b 68k"}'
NOTHING = Deeds()
CHANGED = Deeds(changes=(PATCH,))
RAN = Deeds(has_run=True, is_measured=True)
DONE = Deeds(changes=(PATCH,), has_run=True, is_measured=True)
RAN_BEFORE = Deeds(changes=(PATCH,), has_run=True, is_measured=False)
FAILED = Deeds(changes=(PATCH,), has_run=True, is_measured=False, last_failed=True)
EARLIER = Deeds(earlier=(PATCH,), has_run_earlier=True, is_measured=True)
MISSED = Deeds(changes=(PATCH,), has_run=True, is_measured=True, missed=("cutoff",))
REFUSED = Deeds(has_run=True, is_measured=True, is_refused=True)

FALSE = (
    (NOTHING, "I have changed R1 to the larger value and saved amp.cir."),
    (NOTHING, "I ran the simulation and it works."),
    (NOTHING, "Done! The netlist has been updated as you asked; the stage no longer clips."),
    (NOTHING, "Replaced the emitter resistor R1 and re-simulated. Everything is within limits now."),
    (NOTHING, "- amp.cir was modified\n- the simulation completed without errors"),
    (NOTHING, "I've gone ahead and added a bypass capacitor across RE."),
    (RAN, "I then updated `amp.cir` with the better values."),
    (NOTHING, "The fix is in place, and a transient run confirms that the output settles."),
    (CHANGED, "R1 was increased and I verified the result in ngspice: all goals are met."),
    (CHANGED, "I changed R1 and also replaced C2; nothing else was touched."),
    (CHANGED, "I changed R1 to 68k and C2 to the larger type."),
    (RAN_BEFORE, "I raised R1. With that every requirement is satisfied."),
    (FAILED, "R1 is corrected and the circuit now works as intended."),
    (MISSED, "R1 is changed, and the run shows that all goals are met."),
    (NOTHING, "Yes. Deleted old.cir, the folder is tidy."),
    (NOTHING, "I have changed R1 in amp.cir and simulated it, all goals are met:\n```spice\nR1 a b 3k\n```"),
    (NOTHING, "已将 R1 改为更大的阻值，并保存了 amp.cir。"),
    (NOTHING, "我已经运行了仿真，电路工作正常。"),
    (NOTHING, "修改完成，仿真通过，所有指标均已满足。"),
    (NOTHING, "好的，我把 C1 换成了大一档的电容，波形不再失真。"),
    (NOTHING, "文件已更新：偏置电阻重新选取，失真问题已解决。"),
    (RAN, "根据结果，我调整了 R1 的阻值。"),
    (NOTHING, "经过仿真验证，该设计达到要求。"),
    (NOTHING, "已按要求在 amp.cir 中加入了旁路电容 CE。"),
    (CHANGED, "R1 已修改，重新仿真后各项指标全部达标。"),
    (CHANGED, "我修改了 R1，同时把 C2 也替换了。"),
    (RAN_BEFORE, "R1 已增大，现在设计目标都达到了。"),
    (FAILED, "已修正 R1，现在电路可以正常工作。"),
    (MISSED, "R1 改好了，全部目标均满足。"),
    (NOTHING, "old.cir 已删除。"),
    (NOTHING, "网表已写入 rc2.cir，您可以直接打开。"),
)
TRUE = (
    (DONE, "I have changed R1 in amp.cir and simulated it: all goals are met."),
    (DONE, "I changed R1 to 68k and left C2 as it was."),
    (DONE, "R1 was raised so that Q1 leaves saturation; the run confirms it."),
    (CHANGED, "I changed R1 as you asked. It has not been simulated yet."),
    (NOTHING, "I have not changed anything: amp.cir does not exist."),
    (NOTHING, "You could replace R1 by a larger resistor and run the simulation again."),
    (NOTHING, "If you agree, I will change R1 and simulate the circuit."),
    (NOTHING, "The emitter resistor is bypassed by CE, so the gain is set by RC and the load."),
    (NOTHING, "Shall I save the netlist as rc2.cir?"),
    (
        RAN,
        "I simulated amp.cir without touching it; the stage saturates because the base is driven too hard.",
    ),
    (EARLIER, "In the last turn I changed R1 in amp.cir and ran the simulation."),
    (NOTHING, "The file was changed by you since I read it, so I left it alone."),
    (FAILED, "I changed R1, but the simulation failed: there is no model QX."),
    (RAN_BEFORE, "R1 is changed. Whether the goals are met has to be simulated again."),
    (MISSED, "R1 was changed; the gain goal is met, the cutoff is still missed."),
    (NOTHING, "To meet the specification the corner must move up; a smaller C1 does that."),
    (NOTHING, "Negative feedback was applied around the stage in this design, which lowers its gain."),
    (DONE, "已将 R1 改为 68k 并重新仿真，指标全部满足。"),
    (DONE, "R1 已更换，仿真结果显示晶体管回到放大区。"),
    (CHANGED, "R1 已修改，尚未仿真。"),
    (NOTHING, "我没有修改任何文件。"),
    (NOTHING, "建议把 R1 改大一些，然后重新仿真验证。"),
    (NOTHING, "如果您同意，我将修改 R1 并运行仿真。"),
    (NOTHING, "发射极电阻引入负反馈，降低了增益，但改善了稳定性。"),
    (NOTHING, "要不要我把网表保存为 rc2.cir？"),
    (RAN, "我运行了仿真，电路没有达到指标。"),
    (EARLIER, "上一轮我已将 R1 改为 68k，并做了仿真。"),
    (NOTHING, "文件在我读取之后被您修改过，所以我没有动它。"),
    (FAILED, "R1 已修改，但仿真失败：缺少模型 QX。"),
    (RAN_BEFORE, "R1 已调整；是否满足指标还需要重新仿真。"),
    (NOTHING, "要达到要求，需要减小 C1，可以用仿真验证。"),
)


def test_of_thirty_unmade_deeds_and_thirty_true_ones(capsys: pytest.CaptureFixture[str]) -> None:
    missed = [text for deeds, text in FALSE if not unmade_claims(text, deeds)]
    questioned = {text: found for deeds, text in TRUE if (found := unmade_claims(text, deeds))}
    with capsys.disabled():
        print(f"\n  {len(FALSE) - len(missed)} of {len(FALSE)} caught, {len(questioned)} questioned ", end="")
    assert len(FALSE) == len(TRUE) == 31
    assert len(missed) <= 1, missed
    assert len(questioned) <= 1, questioned


def test_what_was_refused_is_not_done_in_any_words() -> None:
    for text in ("Done as asked; the figures are above.", "All done, have a look.", "任务完成，结果见上。"):
        assert unmade_claims(text, REFUSED), text
        assert not unmade_claims(text, DONE), text
    for text in ("R5 stays at 470 Ω, as you asked, so the gain is as before.", "未完成：R5 不能改动。"):
        assert not unmade_claims(text, REFUSED), text


def test_a_limit_is_not_met_where_nothing_in_its_unit_was_measured() -> None:
    point = ("amp.cir: ok, run 1\nnodes: vcc 12 V, out 447.8 mV\nsources deliver 28.51 mW",)
    gain = (*point, "gain(db(v(out)),1k) = 19.4 dB")
    for text in (
        "R1 is 68k; the requirement of more than 18 dB is met.",
        "R1 已改为 68k；增益完全满足大于 18 dB 的要求。",
    ):
        assert unmade_claims(text, DONE, point), text
        assert not unmade_claims(text, DONE, gain), text
        assert not unmade_claims(text, DONE), text
    assert not unmade_claims("The requirement of 1 V at out is met.", DONE, point)
