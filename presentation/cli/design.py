"""`design PROJECT TEXT`: from a sentence to a circuit that ngspice has proved."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never

from application.app import Application
from application.events import (
    CheckpointReached,
    ConfirmationAsked,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IterationFinished,
    PhaseEntered,
    SessionOpened,
    TextWritten,
    ToolEnded,
    ToolStarted,
)
from domain.design.goals import DesignGoal, GoalVerdict
from presentation.cli.figures import number
from presentation.cli.output import Output, plain
from shared.errors import CircuitAIError, NeedsConfirmation
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.designing import DesignRequest, Question

Answer = Literal["continue", "accept", "stop", "decline"]
_YES = ("", "y", "yes", "是", "好", "确认")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT TEXT [--provider P] [--yes] [--max-iterations N]."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("text", metavar="TEXT")
    parser.add_argument("--provider", default="builtin", metavar="P")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--max-iterations", type=_rounds, default=8, metavar="N")


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rounds, 1 or more")
    return int(text)


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the goals are not met."""
    from application.designing import DesignRequest

    request = DesignRequest(
        project=args.project,
        text=args.text,
        provider=args.provider,
        max_iterations=args.max_iterations,
    )
    try:
        done = await design(request, app=app, out=out, always_yes=args.yes)
    except CircuitAIError as error:
        if not out.as_json:  # else the error event has been printed, and `done` was the last line
            out.in_language_of(args.text).fail(error)
        return error.exit_code
    return 0 if done.goals_met else 1


async def design(request: DesignRequest, *, app: Application, out: Output, always_yes: bool) -> Done:
    """Run one design, shown as it happens, in the language of the request."""
    out = out.in_language_of(request.text)

    async def ask(question: Question) -> Answer:
        if always_yes:
            return "continue" if question.kind == "goals" else question.recommended
        return await _ask_on_terminal(question, out)

    return await app.design(request, ask=ask, emit=_EventPrinter(out))


async def _ask_on_terminal(question: Question, out: Output) -> Answer:
    if out.as_json or not sys.stdin.isatty():
        raise NeedsConfirmation(
            msg("The goals have to be confirmed, and there is no terminal to ask on.")
            if question.kind == "goals"
            else msg("A decision is needed at the checkpoint, and there is no terminal to ask on."),
            advice=msg("Add --yes to confirm goals and let the rounds go on by themselves."),
        )
    if question.kind == "goals":
        reply = await _read_line(out.translate(msg("Design to these goals? [Y/n] ")))
        return "continue" if reply in _YES else "decline"
    if question.goals_met:
        reply = await _read_line(out.translate(msg("Goals met. Accept this circuit? [Y/n] ")))
        return "accept" if reply in _YES else "stop"
    reply = await _read_line(out.translate(msg("Goals not met. Try another round? [Y/n] ")))
    return "continue" if reply in _YES else "stop"


async def _read_line(prompt: str) -> str:
    """The answer in lower case; "n" when the input has ended.

    No thread waits in `input`: Ctrl+C could not end it.
    """
    print(prompt, end="", flush=True)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), readable.set)
    except NotImplementedError:  # Windows
        line = await asyncio.to_thread(sys.stdin.readline)
    else:
        try:
            await readable.wait()
        finally:
            loop.remove_reader(sys.stdin.fileno())
        line = sys.stdin.readline()
    return line.strip().lower() if line else "n"


class _EventPrinter:
    """Prints events: one JSON object a line, or a readable log."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def __call__(self, event: DesignEvent) -> None:
        if self._out.as_json:
            self._out.json(event_document(event, self._out))
        else:
            self._print(event)

    def _print(self, event: DesignEvent) -> None:
        out = self._out
        match event:
            case GoalsUnderstood():
                out.say(msg("Goals:"))
                for goal in event.goals:
                    out.line(f"  {_goal_line(goal)}" + ("" if goal.stated else f"  ({_default(out)})"))
                for assumption in event.assumptions:
                    out.line(f"  · {out.translate(assumption)}")
            case TextWritten():
                out.line(out.translate(event.text))
            case ToolEnded():
                out.line(f"{'✓' if event.success else '✗'} {out.translate(event.summary)}")
            case IterationFinished():
                out.say(msg("Round {number}:", number=event.number))
                for verdict in event.verdicts:
                    out.line(f"  {_verdict_line(verdict)}")
            case Done():
                out.say(_closing(event))
            case (
                SessionOpened()
                | PhaseEntered()
                | ToolStarted()
                | CheckpointReached()
                | ConfirmationAsked()
                | ErrorOccurred()
            ):
                pass
            case _:
                assert_never(event)


def _default(out: Output) -> str:
    return out.translate(msg("our default"))


def _goal_line(goal: DesignGoal) -> str:
    return f"{goal.metric} {_bounds(goal)}"


def _bounds(goal: DesignGoal) -> str:
    if goal.minimum is not None and goal.maximum is not None:
        return f"{number(goal.minimum, goal.unit)} … {number(goal.maximum, goal.unit)}"
    if goal.minimum is not None:
        return f"≥ {number(goal.minimum, goal.unit)}"
    return f"≤ {number(goal.maximum, goal.unit)}" if goal.maximum is not None else ""


def _verdict_line(verdict: GoalVerdict) -> str:
    mark = "✓" if verdict.met else "✗"
    value = number(verdict.measured.value, verdict.goal.unit)
    return f"{mark} {verdict.goal.metric} = {value}  ({_bounds(verdict.goal)})"


def _closing(done: Done) -> Message:
    match done.stop_reason:
        case "goals_met":
            return msg("Goals met in round {rounds}: {circuit}", rounds=done.rounds, circuit=_file(done))
        case "goals_not_met":
            missed = [verdict for verdict in done.verdicts if not verdict.met]
            return msg(
                "Goals not met after {rounds} rounds ({missed}); the best circuit is in {circuit}",
                rounds=done.rounds,
                missed="; ".join(_verdict_line(verdict) for verdict in missed),
                circuit=_file(done),
            )
        case "declined":
            return msg("Nothing was designed: the goals were not confirmed.")
        case "stopped":
            return msg("Stopped.")
        case "error":
            return msg("No circuit was finished.")
        case _:
            assert_never(done.stop_reason)


def _file(done: Done) -> Path | str:
    return done.project / done.circuit if done.circuit else "—"


def event_document(event: DesignEvent, out: Output) -> dict[str, object]:  # noqa: PLR0911 - one return an event
    """The JSON line of one event."""
    match event:
        case SessionOpened():
            return {"type": "session", "session_id": event.session_id}
        case PhaseEntered():
            return {"type": "phase", "phase": event.phase, "round": event.round_number}
        case TextWritten():
            return {"type": "token", "text": out.translate(event.text) + "\n"}
        case ToolStarted():
            return {
                "type": "tool_start",
                "id": event.call_id,
                "name": event.name,
                "arguments": plain(event.arguments),
            }
        case ToolEnded():
            return {
                "type": "tool_end",
                "id": event.call_id,
                "name": event.name,
                "success": event.success,
                "summary": out.translate(event.summary),
            }
        case GoalsUnderstood():
            return {
                "type": "goals",
                "goals": [_goal_document(goal) for goal in event.goals],
                "assumptions": [out.translate(text) for text in event.assumptions],
            }
        case IterationFinished():
            return {
                "type": "iteration",
                "n": event.number,
                "metrics": dict(event.metrics),
                "goals": [_verdict_document(verdict) for verdict in event.verdicts],
            }
        case CheckpointReached():
            return {
                "type": "checkpoint",
                "n": event.number,
                "circuit": event.circuit,
                "goals_met": event.goals_met,
            }
        case ConfirmationAsked():
            return {"type": "confirm", "kind": event.kind, "answer": event.answer}
        case ErrorOccurred():
            return {
                "type": "error",
                "error_type": event.error_type,
                "message": out.translate(event.message),
                "advice": out.translate(event.advice) if event.advice else None,
            }
        case Done():
            return {
                "type": "done",
                "stop_reason": event.stop_reason,
                "usage": dict(event.usage),
                "circuit": event.circuit,
                "goals_met": event.goals_met,
                "goals": [_verdict_document(verdict) for verdict in event.verdicts],
                "metrics": dict(event.metrics),
                "rounds": event.rounds,
            }
        case _:
            assert_never(event)


def _goal_document(goal: DesignGoal) -> dict[str, object]:
    bound = goal.minimum if goal.minimum is not None else goal.maximum
    return {
        "metric": goal.metric,
        "expression": goal.expression,
        "target": goal.target if goal.target is not None else bound,
        ">=": goal.minimum,
        "<=": goal.maximum,
        "unit": goal.unit,
        "stated": goal.stated,
    }


def _verdict_document(verdict: GoalVerdict) -> dict[str, object]:
    return {
        **_goal_document(verdict.goal),
        "value": verdict.measured.value,
        "met": verdict.met,
    }
