"""Verdicts of answers - met, missed, the only one, the worst - against what was asked and measured."""

from __future__ import annotations

from domain.llm.agentic_loop.verdicts import wrong_verdicts
from tests.ground.cases import for_each

_CORNERS = (
    "1.8 V output within ±2 %, quiescent current below 60 uA, PSRR at least 40 dB, over all corners.",
    "corners of reg.cir: 3 runs, 0 failed\nvo [V]: min 1.77204, max 1.80713\n"
    "iq [A]: min 4.2e-05, max 6.42e-05\npsrr [dB]: min 38.4021, max 46.2041\n"
    "0 tt_27C: temp=27 -> vo=1.80022 iq=4.92e-05 psrr=44.1007\n"
    "1 ff_125C: temp=125 -> vo=1.79904 iq=6.42e-05 psrr=38.4021\n"
    "2 ss_-40C: temp=-40 -> vo=1.77204 iq=4.2e-05 psrr=46.2041",
)
_SWEEP = (
    "取 RB，使电流纹波不超过 0.2 A，功耗小于 0.5 W。",
    "sweep of bal.cir: 3 runs, 0 failed\npp_i [A]: min 0.1, max 0.3\npr [W]: min 0.3, max 0.522\n"
    "0: RB=33 -> pp_i=0.1022 pr=0.5223\n1: RB=39 -> pp_i=0.1504 pr=0.4433\n2: RB=56 -> pp_i=0.3011 pr=0.31",
)
_TWICE = (_SWEEP[0], f"{_SWEEP[1]}|{_SWEEP[1].replace('0.4433', '0.6033')}")
"""Under another condition, which is not told: which of the two is meant nobody knows."""
_RUN = (
    "I want 8 Vpp undistorted (THD below 0.5 %) and a bandwidth of 9 kHz ±1 kHz, S11 below -12 dB at 50 MHz.",
    "Data of run 2 of ab.cir\npp(v(out)) = 8.09411 V\nthd(v(out),1k) = 0.448107 %\n"
    "bandwidth(v(out)) = 8917 Hz\n"
    "db(at(s11,50meg)) = -16.1 dB",
)
_BEST = (
    "Phase margin at least 55 degrees and bandwidth at least 20 MHz; noise below 4 pA/sqrt(Hz).",
    "optimization of tia.cir: 64 runs, 0 failed\nGoals (2 of 3 met): met bw = 22.4 MHz (≥ 20 MHz); "
    "met pm = 57.2 deg (≥ 55 deg); MISSED noise = 4.31 pA/sqrt(Hz) (≤ 4 pA/sqrt(Hz))",
)


@for_each(
    ("scene", "text", "is_wrong"),
    [
        (_CORNERS, "The quiescent current stays below 60 uA in every corner.", True),
        (_CORNERS, "The quiescent current stays below 60 uA at tt and ss.", False),
        (_CORNERS, "Only the PSRR fails, 38.4 dB at ff.", True),
        (_CORNERS, "Quiescent current and PSRR miss their limits at ff, everything else holds.", False),
        (_CORNERS, "All corners meet the specifications.", True),
        (_CORNERS, "ss is fine.", False),
        (_CORNERS, "ff is fine.", True),
        (_CORNERS, "The worst corner for the PSRR is ss.", True),
        (_CORNERS, "The worst corner for the PSRR is ff.", False),
        (_CORNERS, "If the current were below 60 uA in every corner, it would do.", False),
        (_SWEEP, "33 Ω 也合格。", True),
        (_SWEEP, "只有 39 Ω 合格。", False),
        (_SWEEP, "只有 56 Ω 合格。", True),
        (_SWEEP, "39 Ω 时功耗 0.443 W，超过 0.5 W。", True),
        (_SWEEP, "33 Ω 时功耗 0.522 W，超过 0.5 W。", False),
        (_RUN, "THD at 0.45 % no longer meets the 0.5 % limit.", True),
        (_RUN, "THD at 0.45 % still meets the 0.5 % limit.", False),
        (_RUN, "The bandwidth of 8.92 kHz is outside of ±1 kHz.", True),
        (_RUN, "S11 is -16.1 dB at 50 MHz, so -12 dB is met.", False),
        (_RUN, "S11 is -16.1 dB at 50 MHz, so -12 dB is missed.", True),
        (_TWICE, "只有 39 Ω 合格。", False),
        (_BEST, "All goals but the phase margin are met.", True),
        (_BEST, "All goals but the noise are met.", False),
        (_RUN, "The swing is 8.1 V but it was far too slow.", False),
    ],
)
def test_a_verdict_is_held_against_what_was_measured(
    scene: tuple[str, str], text: str, is_wrong: bool
) -> None:
    asked, results = scene
    assert bool(tuple(wrong_verdicts(text, results.split("|"), (), (asked,)))) is is_wrong


def test_a_verdict_may_be_of_the_circuit_as_it_was() -> None:
    asked, new = _RUN
    bad = new.replace("0.448", "0.748")
    said = {each: f"Originally THD {each} the limit." for each in ("met", "missed")}
    assert not tuple(wrong_verdicts(said["missed"], (new,), (bad,), (asked,)))
    assert tuple(wrong_verdicts(said["met"], (bad,), (bad,), (asked,)))
