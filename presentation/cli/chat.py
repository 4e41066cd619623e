"""`chat PROJECT TEXT`: one turn with a model that has the project's tools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import assert_never

from application.app import Application
from application.events import (
    AlternativeTaken,
    AnswerStreamed,
    ChatEvent,
    ConfirmationGiven,
    ConfirmationNeeded,
    ErrorOccurred,
    PhaseEntered,
    RetryScheduled,
    SessionOpened,
    SourcesFound,
    ToolEnded,
    ToolStarted,
    TurnEnd,
    TurnEnded,
)
from domain.llm.chat import THINKING_LEVELS, ProviderChoice
from presentation.cli import design
from presentation.cli.confirming import confirmer, given_document, needed_document
from presentation.cli.consent import consent_asker
from presentation.cli.events import common_document
from presentation.cli.keys import unlock_keys
from presentation.cli.output import Output
from presentation.cli.terminal import read_input
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg

_EXIT_CODES: dict[TurnEnd, int] = {
    "completed": 0,
    "limit": 1,
    "loop": 1,
    "length": 1,
    "content_filter": 1,
    "cut": 3,
    "error": 3,
    "stopped": 130,
}
_LARGEST_INPUT = 4 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT TEXT [--session ID] [--resume], the model and how it is asked, and the mode."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--session", default="", metavar="ID")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--provider", default="builtin", metavar="P")
    parser.add_argument("--model", default="", metavar="M")
    parser.add_argument("--base-url", default="", metavar="U")
    parser.add_argument("--thinking", choices=THINKING_LEVELS)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--mode", choices=("free", "workflow"), default="free")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--max-iterations", type=design.rounds, default=8, metavar="N")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 0 when the answer is complete, 1 at a limit, 3 when the provider failed."""
    from application.conversation.chatting import ChatRequest
    from application.prompting import PromptsWarned

    text = await _text_of(args)
    if args.mode == "workflow":
        args.text = text
        return await design.run(args, app, out)
    out = out if text is None else out.in_language_of(text)
    request = ChatRequest(
        project=args.project,
        text=text,
        session_id=args.session,
        choice=ProviderChoice(
            provider=args.provider,
            model=args.model,
            base_url=args.base_url,
            thinking=args.thinking,
            search=args.search,
        ),
    )
    printer = _EventPrinter(out)
    app.events.subscribe(PromptsWarned, lambda warning: out.note(warning.message))
    try:
        await unlock_keys(app, args.provider, out)
        ended = await app.chat(
            request,
            emit=printer,
            confirm=confirmer(out, always_yes=args.yes),
            ask_consent=consent_asker(out, always_yes=args.yes),
        )
    except CircuitAIError as error:
        if not printer.has_told_error:
            fail(error, out)
        return error.exit_code
    return _EXIT_CODES[ended.stop_reason]


def fail(error: CircuitAIError, out: Output) -> None:
    """Show an error that came before there was a turn to tell it; with --json the closing line too."""
    if not out.as_json:
        out.fail(error)
        return
    printer = _EventPrinter(out)
    printer(ErrorOccurred(error_type=error.error_type, message=error.message, advice=error.advice))
    printer(TurnEnded(stop_reason="stopped" if error.exit_code == _EXIT_CODES["stopped"] else "error"))


def stopped(out: Output) -> None:
    """The closing line of a command that was stopped before there was a turn."""
    _EventPrinter(out)(TurnEnded(stop_reason="stopped"))


async def _text_of(args: argparse.Namespace) -> str | None:
    """What the user says; "-" reads it from standard input."""
    if args.resume:
        if args.text is not None:
            raise UserInputError(
                msg("With --resume the interrupted turn goes on; it takes no text."),
                advice=msg("Leave out the text, or leave out --resume."),
                error_type="bad_usage",
            )
        return None
    text: str | None = await _standard_input() if args.text == "-" else args.text
    if text is None or not text.strip():
        raise UserInputError(
            msg("There is nothing to say: the text is empty."),
            advice=msg("Give a text, or --resume to go on with an interrupted turn."),
            error_type="bad_usage",
        )
    return text


async def _standard_input() -> str:
    data = await read_input(_LARGEST_INPUT)
    if len(data) > _LARGEST_INPUT:
        raise UserInputError(
            msg("The text on standard input is longer than {size} MB.", size=_LARGEST_INPUT >> 20),
            advice=msg("Put it into a file of the project, and name the file."),
            error_type="bad_usage",
        )
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


class _EventPrinter:
    """Prints events: one JSON object a line, or the answer as it comes."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._is_in_line = False
        self._message_id = ""
        self.has_told_error = False
        """An error was shown already."""

    def __call__(self, event: ChatEvent) -> None:
        if self._out.as_json:
            for document in event_documents(event, self._out):
                self._out.json(document)
            self.has_told_error |= isinstance(event, ErrorOccurred)
        else:
            self._print(event)

    def _print(self, event: ChatEvent) -> None:  # noqa: PLR0912 - one an event
        out = self._out
        match event:
            case AnswerStreamed():
                if event.message_id != self._message_id:  # an answer that follows another without a call
                    self._end_line()
                    self._message_id = event.message_id
                if event.text:
                    out.piece(event.text)
                    self._is_in_line = not event.text.endswith("\n")
            case SourcesFound():
                self._end_line()
                out.say(msg("Sources of the web search:"))
                for number, source in enumerate(event.sources, 1):
                    out.line(f"  {source.reference or number}  {source.title}  {source.url}")
            case ToolStarted() | ConfirmationNeeded():
                self._end_line()
            case ToolEnded():
                out.line(f"{'✓' if event.success else '✗'} {out.translate(event.summary)}")
            case RetryScheduled():
                self._end_line()
                out.note(
                    msg(
                        "{reason} Trying again in {seconds} s.",
                        reason=out.translate(event.reason),
                        seconds=f"{event.wait_s:.0f}",
                    )
                )
            case AlternativeTaken():
                self._end_line()
                out.note(event.text)
            case ErrorOccurred():
                self._end_line()
                self.has_told_error = True
                out.fail(CircuitAIError(event.message, advice=event.advice, error_type=event.error_type))
            case TurnEnded():
                self._end_line()
                if event.stop_reason == "stopped":
                    out.say(msg("Stopped."))
                if event.note is not None:
                    out.say(event.note)
            case SessionOpened() | PhaseEntered() | ConfirmationGiven():
                pass
            case _:
                assert_never(event)

    def _end_line(self) -> None:
        if self._is_in_line:
            self._out.line()
        self._is_in_line = False


def event_documents(event: ChatEvent, out: Output) -> list[dict[str, object]]:  # noqa: PLR0911
    """The JSON lines of one event."""
    match event:
        case AnswerStreamed():
            pieces = (("reasoning", event.reasoning), ("token", event.text))
            return [{"type": kind, "text": text} for kind, text in pieces if text]
        case AlternativeTaken():
            text = out.translate(event.text)
            if event.kind == "context":
                return [{"type": "alternative", "kind": "context", "kept": event.kept, "message": text}]
            return [
                {
                    "type": "alternative",
                    "kind": "model",
                    "provider": event.provider,
                    "model": event.model,
                    "message": text,
                }
            ]
        case RetryScheduled():
            reason = out.translate(event.reason)
            return [{"type": "retry", "attempt": event.attempt, "wait_s": event.wait_s, "reason": reason}]
        case SourcesFound():
            return [{"type": "sources", "sources": [source.to_plain() for source in event.sources]}]
        case ConfirmationNeeded():
            return [needed_document(event, out)]
        case ConfirmationGiven():
            return [given_document(event)]
        case TurnEnded():
            note = out.translate(event.note) if event.note else None
            usage = dict(event.usage)
            return [{"type": "done", "stop_reason": event.stop_reason, "usage": usage, "note": note}]
        case _:
            return [common_document(event, out)]
