"""`design PROJECT TEXT`: from a sentence to a circuit that ngspice has proved."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from application.app import Application
from application.ports.events import (
    AlternativeTaken,
    AnswerCounted,
    AnswerStreamed,
    AttachmentsLeftOut,
    ChatEvent,
    CheckpointReached,
    CompressionStarted,
    ConfirmationAsked,
    ConfirmationGiven,
    ConfirmationNeeded,
    ConversationCompressed,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    MainCircuitRestored,
    MessageWritten,
    RetryScheduled,
    SessionOpened,
    SourcesFound,
    TextWritten,
    TurnEnded,
    WaitsForPlace,
)
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.costs import CURRENCIES, read_money
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.cli import confirming
from presentation.cli.chat_events import ChatPrinter, cost_document, cost_line, quoted
from presentation.cli.confirming import confirmer, consent_asker
from presentation.cli.events import common_document
from presentation.cli.keys import unlock_keys
from presentation.cli.progress import told_with_progress
from presentation.cli.terminal import read_line, read_words
from presentation.goal_margins import limit_text
from presentation.goal_words import name_of
from presentation.intent_words import understood_text
from presentation.json_output import Output
from presentation.narration import Narrator
from shared.errors import CircuitAIError, NeedsConfirmation, UserInputError
from shared.message import Message, msg
from shared.setting import add_option

if TYPE_CHECKING:
    from application.workflow.designing import Answer, DesignRequest, Question, Reply, ResumeRequest

_OF_MODEL = (
    AnswerCounted,
    AnswerStreamed,
    SourcesFound,
    RetryScheduled,
    WaitsForPlace,
    AlternativeTaken,
    AttachmentsLeftOut,
    CompressionStarted,
    ConversationCompressed,
    ConfirmationNeeded,
    ConfirmationGiven,
    MessageWritten,
    TurnEnded,
)
"""Events of the model at work, as in a chat."""
_NO = ("n", "no", "否", "不", "停止")
_ASKED_ABOUT = frozenset(("accept", "stop", "undo", "go_back"))
"""What is never done by words alone."""
_YES = ("", "y", "yes", "是", "好", "确认")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT TEXT | PROJECT --resume | PROJECT --round K, in a session or not; and what holds for all."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("text", metavar="TEXT", nargs="?")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--session", default="", metavar="ID")
    confirming.add_take_over_argument(parser)
    parser.add_argument("--round", type=round_number, default=None, metavar="K")
    parser.add_argument("--provider", default="builtin", metavar="P")
    parser.add_argument("--model", default="", metavar="M")
    parser.add_argument("--base-url", default="", metavar="U")
    parser.add_argument("--yes", action="store_true")
    add_option(parser, AgentLimits, "session_cost", type=money, metavar="MONEY")
    parser.add_argument("--max-iterations", type=rounds, default=None, metavar="N")


def rounds(text: str) -> int:
    """A number of rounds, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rounds, 1 or more")
    return int(text)


def round_number(text: str) -> int:
    """The number of a round, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a round")
    return int(text)


def money(text: str) -> tuple[float, str]:
    """An amount above 0 with its currency: "0.5" (USD), "3CNY"."""
    try:
        return read_money(text)
    except ValueError:
        known = ", ".join(CURRENCIES)
        problem = f"{text!r} is not an amount of money above 0, as in 0.5 or 3CNY ({known})"
        raise argparse.ArgumentTypeError(problem) from None


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the goals are not met."""
    if getattr(args, "round", None) is not None:  # `chat --mode workflow` has no such option
        return await _go_back(args, app, out)
    request = _request(args)
    if args.provider == "builtin" and (args.model or args.base_url):
        out.note(msg("The built-in designer is not a language model: --model and --base-url are not used."))
    printer = _EventPrinter(out.in_language_of(args.text) if args.text else out)
    try:
        await confirming.take_over(args, app, printer.out)
        done = await _design(request, app=app, printer=printer, always_yes=args.yes)
    except CircuitAIError as error:
        if not out.as_json:  # else the error event has been printed, and `done` was the last line
            printer.out.fail(error)
        return error.exit_code
    return 0 if done.goals_met else 1


async def _go_back(args: argparse.Namespace, app: Application, out: Output) -> int:
    if args.text is not None or args.resume:
        raise _bad_usage(
            msg("--round goes back to a round of a finished design; it takes neither TEXT nor --resume.")
        )
    done = await app.design.go_back(args.project, args.round, session_id=args.session)
    if out.as_json:
        out.json(
            {
                "ok": True,
                "session": done.session_id,
                "round": done.number,
                "circuit": done.circuit,
                "files": list(done.paths),
                "kept": dict(done.aside),
            }
        )
        return 0
    for path, place in done.aside.items():
        out.say(
            msg(
                "{path} was changed outside the design: that version is kept in {place}.",
                path=path,
                place=place,
            )
        )
    out.say(msg("Back to round {number}.", number=done.number))
    return 0


def _request(args: argparse.Namespace) -> DesignRequest | ResumeRequest:
    from application.workflow.designing import DesignRequest, ResumeRequest

    choice = ProviderChoice(
        provider=args.provider,
        model=args.model,
        base_url=args.base_url,
        thinking=getattr(args, "thinking", None),
    )
    if args.resume and args.text is not None:
        raise _bad_usage(
            msg(
                "--resume continues with the sentence the design was started with; TEXT cannot be "
                "given as well."
            )
        )
    if args.resume:
        return ResumeRequest(
            project=args.project,
            session_id=args.session,
            choice=choice,
            max_cost=args.max_cost,
            max_iterations=args.max_iterations,
        )
    if args.text is None:
        raise _bad_usage(msg("Either the sentence TEXT or --resume is missing."))
    return DesignRequest(
        project=args.project,
        text=args.text,
        session_id=args.session,
        choice=choice,
        max_cost=args.max_cost,
        max_iterations=args.max_iterations,
    )


def _bad_usage(problem: Message) -> UserInputError:
    return UserInputError(
        problem,
        advice=msg("Either: design PROJECT TEXT [--session ID]. Or: design PROJECT --resume [--session ID]."),
        error_type="bad_usage",
    )


async def design(request: DesignRequest, *, app: Application, out: Output, always_yes: bool) -> Done:
    """Run one design, shown as it happens, in the language of the request."""
    printer = _EventPrinter(out.in_language_of(request.text))
    return await _design(request, app=app, printer=printer, always_yes=always_yes)


def stopped(out: Output) -> None:
    """The closing line of a command that was stopped before there was a design."""
    _EventPrinter(out)(Done(stop_reason="stopped", project=Path()))


async def _design(
    request: DesignRequest | ResumeRequest, *, app: Application, printer: _EventPrinter, always_yes: bool
) -> Done:
    async def ask(question: Question) -> Answer | Reply:
        if always_yes:
            return "continue" if question.kind == "goals" else question.recommended
        return await _ask_on_terminal(question, _left_waiting(request), printer.out)

    await unlock_keys(app, request.choice.provider, printer.out)
    with told_with_progress(app.program.events, printer.out, printer) as emit:
        try:
            return await app.design.run(
                request,
                ask=ask,
                emit=emit,
                confirm=confirmer(printer.out, always_yes=always_yes),
                ask_consent=consent_asker(printer.out, always_yes=always_yes),
            )
        except ProviderError as error:
            if error.error_type == "connection_lost":  # here nobody is there to say "continue" to
                error.advice = _how_to_continue(request)
            raise


async def _decided(
    question: Question, asked: Message, yes: Answer, left: NeedsConfirmation, out: Output
) -> Answer | Reply:
    """The answer to a checkpoint: yes, no (stop), or other words, which end nothing unasked."""
    from application.workflow.design_sessions import reply_of

    while True:
        typed = await read_words(out.translate(asked), at_end=left)
        if typed.lower() in _YES:
            return yes
        if typed.lower() in _NO:
            return "stop"
        intent = question.read(typed)
        if not intent.is_sure and question.reread is not None:
            intent = await question.reread(intent)
        reply = reply_of(intent)
        if reply is None:
            if intent.asks_back:
                asks = msg("{text}", text=intent.asks_back)
                out.line(quoted(out.translate(asks), lambda: out.columns))
            elif intent.kind == "goals" and question.goals:
                out.say(
                    msg(
                        "Name a goal of this design with its new value, for example “{name} {limit}”; the "
                        "checkpoint is still waiting.",
                        name=name_of(question.goals[0]),
                        limit=limit_text(question.goals[0]),
                    )
                )
            else:
                out.say(msg("That was not understood; the checkpoint is still waiting."))
            continue
        if not intent.is_sure or intent.kind in _ASKED_ABOUT:
            out.say(understood_text(intent.kind, intent.round_number, changes_design=bool(intent.told)))
            meant = out.translate(msg("Is that what you mean? [Y/n] "))
            if await read_line(meant, at_end=left) not in _YES:
                continue
        return replace(reply, said=(typed,))


def _left_waiting(request: DesignRequest | ResumeRequest) -> NeedsConfirmation:
    """The terminal's input has ended at a question: the design stays at it, as when a window is closed."""
    return NeedsConfirmation(msg("The design waits at this question."), advice=_how_to_continue(request))


def _how_to_continue(request: DesignRequest | ResumeRequest) -> Message:
    choice = request.choice
    given = (("--provider", choice.provider), ("--model", choice.model), ("--base-url", choice.base_url))
    options = [word for option, value in given if value not in ("", "builtin") for word in (option, value)]
    return msg(
        "Continue it with: {command}",
        command=shlex.join(["design", str(request.project), "--resume", *options]),
    )


async def _ask_on_terminal(question: Question, left: NeedsConfirmation, out: Output) -> Answer | Reply:
    if out.as_json or not sys.stdin.isatty():
        raise _needs_confirmation(question)
    match question.kind:
        case "pending_run":
            out.say(msg("A design was interrupted here: {text}", text=question.text))
            asked = out.translate(msg("Continue it instead of starting a new design? [Y/n] "))
            reply = await read_line(asked, at_end=left)
            return "resume" if reply in _YES else "anew"
        case "goals":
            text = msg("Design to these goals? [Y/n] ")
            if question.circuit:
                text = msg("Improve {circuit} to these goals? [Y/n] ", circuit=question.circuit)
            reply = await read_line(out.translate(text), at_end=left)
            return "continue" if reply in _YES else "decline"
        case "checkpoint" if question.goals_met:
            return await _decided(
                question, msg("Goals met. Accept this circuit? [Y/n] "), "accept", left, out
            )
        case "checkpoint" if question.has_failed:
            text = msg("This round failed. Try to fix it? [Y/n] ")
            if question.is_exhausted:
                text = msg(
                    "This round failed, and the last attempt changed nothing. Try to fix it once more? [Y/n] "
                )
            return await _decided(question, text, "continue", left, out)
        case "checkpoint" if question.is_exhausted:
            text = msg("Goals not met, and no further improvement is possible. Accept this circuit? [Y/n] ")
            return await _decided(question, text, "accept", left, out)
        case "checkpoint":
            text = msg("Goals not met. Try another round? [Y/n] ")
            if question.rests is not None:
                text = msg("Goals not met; {why}. Try another round? [Y/n] ", why=question.rests)
            return await _decided(question, text, "continue", left, out)
        case _:
            assert_never(question.kind)


def _needs_confirmation(question: Question) -> NeedsConfirmation:
    if question.kind == "pending_run":
        return NeedsConfirmation(
            msg("A design was interrupted here, and there is no terminal to ask whether to continue it."),
            advice=msg(
                "Continue it with --resume. With --yes the same sentence continues it and another one "
                "starts over."
            ),
        )
    return NeedsConfirmation(
        msg("The goals must be confirmed, and there is no terminal to ask on.")
        if question.kind == "goals"
        else msg("A decision is needed at the checkpoint, and there is no terminal to ask on."),
        advice=msg("Add --yes to confirm the goals and run the rounds without asking."),
    )


class _EventPrinter:
    """Prints events: one JSON object a line, or a readable log."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self._narrate = _narrator(out)
        self._of_model = ChatPrinter(out)

    def __call__(self, event: DesignEvent | ChatEvent) -> None:
        if isinstance(event, SessionOpened) and event.resumed_text:
            self.out = self.out.in_language_of(event.resumed_text)
            self._narrate = _narrator(self.out)
            self._of_model = ChatPrinter(self.out)
        if isinstance(event, _OF_MODEL):
            self._of_model(event)
            return
        self._of_model.end_line()
        if self.out.as_json:
            self.out.json(event_document(event, self.out))
        elif not isinstance(event, ErrorOccurred) and (text := self._narrate(event)):
            self.out.line(text)
        if (
            isinstance(event, Done)
            and not self.out.as_json
            and (cost := cost_line(event.cost, event.session_cost)) is not None
        ):
            self.out.note(cost)


def _narrator(out: Output) -> Narrator:
    return Narrator(out.translate, quote=lambda text: quoted(text, lambda: out.columns))


def event_document(event: DesignEvent, out: Output) -> dict[str, object]:  # noqa: PLR0911 - one an event
    match event:
        case TextWritten():
            return {"type": "token", "text": out.translate(event.text) + "\n"}
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
        case MainCircuitRestored():
            return {"type": "main_circuit", "path": event.path}
        case ConfirmationAsked():
            return {"type": "confirm", "kind": event.kind, "answer": event.answer}
        case IntentRead():
            return {"type": "intent", "kind": event.kind, "text": event.text}
        case Done():
            return {
                "type": "done",
                "stop_reason": event.stop_reason,
                "usage": dict(event.usage),
                "cost": cost_document(event.cost, event.session_cost),
                "circuit": event.circuit,
                "goals_met": event.goals_met,
                "goals": [_verdict_document(verdict) for verdict in event.verdicts],
                "metrics": dict(event.metrics),
                "rounds": event.rounds,
                "round": event.round_number,
            }
        case _:
            return common_document(event, out)


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
        "weight": goal.weight,
    }


def _verdict_document(verdict: GoalVerdict) -> dict[str, object]:
    return {
        **_goal_document(verdict.goal),
        "value": verdict.measured.value,
        "met": verdict.met,
        **({"condition": verdict.goal.condition} if verdict.goal.condition else {}),
        **({"judged_at": verdict.judged_at} if verdict.judged_at else {}),
        **({"lacking_corners": verdict.lacking} if verdict.lacking else {}),
    }
