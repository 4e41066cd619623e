"""Turns written down by hand, for the rules of the loop."""

from __future__ import annotations

from typing import Any

from domain.llm.agentic_loop.turn import AnswerRecord, CallRecord, TurnRecord, attempt_of, signature_of
from domain.llm.tools.result import EffectClass

EFFECTS: dict[str, EffectClass] = {
    "rewrite_file": "change",
    "patch_file": "change",
    "run_simulation": "simulate",
    "run_monte_carlo": "simulate",
}


def did(
    tool: str, arguments: dict[str, Any], outcome: str = "ok", *, fails: str = "", version: str = ""
) -> CallRecord:
    """A call that has its result; `version` is that of the file a change leaves."""
    path = str(arguments.get("path", ""))
    return CallRecord(
        name=tool,
        signature=signature_of(tool, arguments),
        attempt=attempt_of(tool, arguments),
        effect=EFFECTS.get(tool, "read"),
        success=not fails,
        error_type=fails,
        outcome=fails or outcome,
        written={path: version or outcome} if tool in ("rewrite_file", "patch_file") and not fails else {},
    )


def simulated(netlist: str, *, fails: bool = False, analysis: str = "", **metrics: float) -> CallRecord:
    """A simulation of a netlist with these figures."""
    return CallRecord(
        name="run_simulation",
        signature=signature_of("run_simulation", {"file_path": "a.cir", "analysis": analysis}),
        effect="simulate",
        groups=frozenset({"single_run"}),
        success=not fails,
        error_type="simulation_failed" if fails else "",
        outcome=f"{netlist}{sorted(metrics.items())}",
        reason="singular matrix" if fails else "",
        result={
            "ok": not fails,
            "file_path": "a.cir",
            "netlist_sha256": netlist,
            "metrics": {name: {"value": value, "unit": ""} for name, value in metrics.items()},
        },
    )


def answered(*calls: CallRecord, text: str = "") -> AnswerRecord:
    """An answer with calls."""
    return AnswerRecord(text=text, finish_reason="tool_calls", calls=calls)


def said(text: str, finish: str = "stop", **more: Any) -> AnswerRecord:
    """An answer without calls."""
    return AnswerRecord(message_id="m", text=text, finish_reason=finish, is_partial=finish != "stop", **more)


def turn(*answers: AnswerRecord, question: str = "Make it faster.") -> TurnRecord:
    """The turn of these answers."""
    rounds = len(answers) + sum(answer.continuations for answer in answers)
    return TurnRecord(question=question, answers=answers, rounds=rounds)
