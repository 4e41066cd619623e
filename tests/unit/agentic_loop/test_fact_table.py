"""Figures that were measured in one state of a circuit, or one row of a study, and are told of another."""

from __future__ import annotations

from typing import Any

from tests.ground.cases import for_each
from tests.unit.agentic_loop.test_final_answers import findings, past_of


def _measured(run: int, frequency: str, rest: str) -> list[Any]:
    told = f"Data of run {run} of tt.cir\nfrequency(v(out)) = {frequency} Hz\npp(v(out)) = {rest} V"
    return ["inspect_data", {"path": "tt.cir"}, True, told]


_RETUNED = {
    "user": "Does tt.cir give 440 Hz ±0.5 %? Retune it if not.",
    "calls": [
        _measured(1, "431.207", "3.20118"),
        ["patch_file", {"path": "tt.cir", "search": "R1 a b 36.5k", "replace": "R1 a b 35.7k"}, True,
         "Changed tt.cir: +1 -1 lines\n-R1 a b 36.5k\n+R1 a b 35.7k"],
        _measured(2, "440.911", "3.18402"),
    ],
}  # fmt: skip
_MOTOR = {
    "user": "Power factor above 0.97 from 176 V to 264 V, peak below 500 V.",
    "calls": [
        ["run_study", {"kind": "sweep", "path": "pfc.cir"}, True,
         "sweep of pfc.cir: 2 runs, 0 failed\npf [1]: min 0.9613, max 0.9941\nvpk [V]: min 401.2, max 488.1\n"
         "ps [W]: min 1.12, max 1.47\n0: VAC=176 -> vpk=401.2 ps=1.12 pf=0.9941\n"
         "1: VAC=264 -> vpk=488.1 ps=1.47 pf=0.9613"],
    ],
}  # fmt: skip


@for_each(
    ("scene", "text", "is_doubted"),
    [
        (_RETUNED, "The frequency was 440.9 Hz before and is 431.2 Hz after retuning.", True),
        (_RETUNED, "The frequency was 431.2 Hz before and is 440.9 Hz after retuning.", False),
        (_RETUNED, "After the change the frequency is 431.2 Hz.", True),
        (_RETUNED, "现在频率 440.9 Hz（改前 431.2 Hz）。", False),
        (_RETUNED, "频率由 440.9 Hz 变为 431.2 Hz。", True),
        (_MOTOR, "176 V 时 0.961，264 V 时 0.994。", True),
        (_MOTOR, "176 V 时 0.994，264 V 时 0.961。", False),
        (_MOTOR, "At 264 V the peak is 488 V and 1.47 W are lost.", False),
        (_MOTOR, "The peak stays below 500 V from 264 V upwards, too.", False),
    ],
)
def test_a_figure_is_told_of_the_state_and_the_row_that_has_it(
    scene: dict[str, Any], text: str, is_doubted: bool
) -> None:
    assert bool(findings(past_of(scene), text)) is is_doubted


@for_each(
    ("text", "is_doubted"),
    [
        ("The output power stays below 2 W.", True),
        ("It stopped at 120 ns; nothing is known of the power.", False),
    ],
)
def test_of_a_run_that_failed_nothing_is_told_to_be_below_a_limit(text: str, is_doubted: bool) -> None:
    failed = "Error (simulation_failed):\npa.cir: failed, run 1\nerror: the transient stopped at 1.2e-07 s"
    call = ["run_simulation", {"path": "pa.cir"}, False, failed, "simulation_failed"]
    assert bool(findings(past_of({"user": "More than 2 W?", "calls": [call]}), text)) is is_doubted
