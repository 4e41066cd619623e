"""What a conversation with a model tells: JSON lines, or the answer as it comes.

A model's words are marked, so that they can't pass for the program's own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import assert_never

from application.agent.alternatives import named
from application.ports.events import (
    AlternativeTaken,
    AnswerCounted,
    AnswerStreamed,
    AttachmentsLeftOut,
    ChatEvent,
    CompressionStarted,
    ConfirmationGiven,
    ConfirmationNeeded,
    ConversationCompressed,
    ErrorOccurred,
    MessageWritten,
    PhaseEntered,
    RetryScheduled,
    SessionOpened,
    SourcesFound,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    WaitsForPlace,
)
from domain.llm.chat import ProviderChoice
from domain.llm.compression import Compression
from domain.llm.costs import Cost, shown_cost
from presentation.cli import web_search
from presentation.cli.confirming import given_document, needed_document
from presentation.cli.events import common_document
from presentation.json_output import Output
from presentation.use_words import use_document
from shared.errors import CircuitAIError
from shared.message import Message, msg

MARK = "│ "
_LINE_ENDS = str.maketrans({"\u2028": "\n", "\u2029": "\n"})
_MARKED = len(MARK) + 1  # the bar may take two columns
_TAB = 8
_NARROWEST = 8
"""Columns below which a terminal is left to wrap the lines itself."""


class Quoting:
    """Begins each line of a text that streams in with a mark, also those a terminal would wrap.

    Without the latter, blanks up to the edge would carry a forged question to the beginning of a line.
    """

    def __init__(self, columns: Callable[[], int | None]) -> None:
        self._columns = columns
        """Of the terminal; None behind a pipe."""
        self._at = 0
        """Columns of the line so far."""
        self._word = ""
        """The word at the end of what came, held back until it is known to fit; on a terminal only."""

    def __call__(self, text: str) -> str:
        """The next piece with its marks, but for its last word."""
        edge = self._edge()
        parts: list[str] = []
        for sign in text.translate(_LINE_ENDS):
            width = _most_columns(sign)
            if edge is not None and not sign.isspace() and width == 1:
                self._word += sign
                continue
            parts += self._placed_word(edge)
            if sign == "\n":
                parts.append("\n" if self._at else f"{MARK.rstrip()}\n")
                self._at = 0
            else:
                parts += self._placed(sign, width, edge)
        return "".join(parts)

    def end(self) -> str:
        """What is left of the text, which ends here; with a line end where it has none."""
        parts = [*self._placed_word(self._edge())]
        parts += ["\n"] if self._at else []
        self._at = 0
        return "".join(parts)

    def _edge(self) -> int | None:
        columns = self._columns()
        return columns if columns is not None and columns >= _NARROWEST else None

    def _placed_word(self, edge: int | None) -> Iterator[str]:
        word, self._word = self._word, ""
        if edge is not None and len(word) <= edge - _MARKED < self._at - _MARKED + len(word):
            yield "\n"
            self._at = 0
        for sign in word:
            yield from self._placed(sign, 1, edge)

    def _placed(self, sign: str, width: int, edge: int | None) -> Iterator[str]:
        if edge is not None and self._at and self._at + width > edge:
            yield "\n"
            self._at = 0
            if sign == " ":
                return
        if not self._at:
            yield MARK
            self._at = _MARKED
        yield sign
        self._at += width


def quoted(text: str, columns: Callable[[], int | None]) -> str:
    """The whole of a text with its marks, without a line end."""
    quoting = Quoting(columns)
    return (quoting(text.strip("\n")) + quoting.end()).removesuffix("\n")


def _most_columns(sign: str) -> int:
    """Rather too many than too few: terminals disagree, and a line we end early is still marked."""
    if sign == "\t":
        return _TAB
    return 2 if unicodedata.east_asian_width(sign) in "WFA" else 1


class ChatPrinter:
    """Prints events: one JSON object a line, or the answer as it comes, its lines marked."""

    def __init__(
        self,
        out: Output,
        again: Callable[[ProviderChoice, str], str] | None = None,
        *,
        take_netlist: Callable[[str, str], str] | None = None,
        go_on: Callable[[str], str] | None = None,
    ) -> None:
        self._out = out
        self._again = again
        """The command that asks another model, in a conversation."""
        self._take_netlist = take_netlist
        """The command that writes the netlist of a conversation's answer into a file of this name."""
        self._go_on = go_on
        """The command that goes on in a conversation whose turn came to a limit."""
        self._answer: list[str] = []
        self._has_written = False
        """A tool wrote a file: a netlist in the closing answer repeats it."""
        self._session_id = ""
        self._quoting = Quoting(lambda: out.columns)
        self._message_id = ""
        self.has_told_error = False
        """An error was shown already."""

    def __call__(self, event: ChatEvent) -> None:
        if isinstance(event, SessionOpened):
            self._session_id = event.session_id
        if isinstance(event, TurnEnded):
            self._tell_netlists()
        else:
            self._follow(event)
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
                if event.text:
                    out.piece(self._quoting(event.text))
            case SourcesFound():
                self.end_line()
                out.say(msg("Web search sources:"))
                web_search.say_sources(event.sources, out)
            case ToolStarted() | ConfirmationNeeded():
                self.end_line()
            case ToolEnded():
                out.row(f"{'✓' if event.success else '✗'} {out.translate(event.summary)}")
            case RetryScheduled():
                self.end_line()
                out.note(
                    msg(
                        "{reason} (retrying in {seconds} s)",
                        reason=out.translate(event.reason),
                        seconds=f"{event.wait_s:.0f}",
                    )
                )
            case WaitsForPlace():
                self.end_line()
                out.note(
                    msg(
                        "Waiting for its turn: {count} {count:request|requests} to the provider "
                        "{count:is|are} running",
                        count=event.running,
                    )
                )
            case CompressionStarted():
                self.end_line()
                out.say(msg("Summarizing earlier messages"))
            case AlternativeTaken() | AttachmentsLeftOut() | ConversationCompressed():
                self.end_line()
                out.note(event.text)
            case ErrorOccurred():
                self.end_line()
                self.has_told_error = True
                out.fail(CircuitAIError(event.message, advice=event.advice, error_type=event.error_type))
                self._tell_commands(event.offers)
            case TurnEnded():
                self.end_line()
                if event.stop_reason == "stopped":
                    out.say(msg("Stopped."))
                if event.note is not None:
                    out.say(event.note)
                if event.stop_reason == "limit" and self._go_on is not None and self._session_id:
                    out.note(msg("Continue it with: {command}", command=self._go_on(self._session_id)))
                if (cost := cost_line(event.cost, event.session_cost)) is not None:
                    out.note(cost)
            case SessionOpened(problems=problems):
                for problem in problems:
                    self._out.note(problem)
            case MessageWritten() | PhaseEntered() | ConfirmationGiven() | AnswerCounted():
                pass
            case _:
                assert_never(event)

    def _follow(self, event: ChatEvent) -> None:
        """Keep what was answered last, and whether a file was written."""
        if isinstance(event, ToolEnded):
            self._has_written |= event.success and event.name == "rewrite_file"
        if isinstance(event, AnswerStreamed):
            if event.message_id != self._message_id:  # an answer that follows another without a call
                if not self._out.as_json:
                    self.end_line()
                self._message_id = event.message_id
                self._answer.clear()
            self._answer.append(event.text)

    def _tell_netlists(self) -> None:
        answer = "".join(self._answer)
        if self._take_netlist is None or self._has_written or not ("```" in answer or "~~~" in answer):
            return
        from domain.llm.netlists_in_text import complete_netlists  # with the reader of netlists

        for netlist in complete_netlists(answer)[-1:]:
            command = self._take_netlist(self._session_id, netlist.file_name)
            if self._out.as_json:
                facts = {"title": netlist.title, "elements": netlist.elements, "command": command}
                self._out.json({"type": "netlist", **facts})
                continue
            self.end_line()
            self._out.note(
                msg(
                    'Netlist in the answer, not written: "{title}" ({count} {count:element|elements}). '
                    "To save it: {command}",
                    title=netlist.title,
                    count=netlist.elements,
                    command=command,
                )
            )

    def _tell_commands(self, offers: tuple[ProviderChoice, ...]) -> None:
        for offer in offers:
            if self._again is not None:
                command = self._again(offer, self._session_id)
                self._out.note(msg("To ask {model}: {command}", model=named(offer), command=command))

    def end_line(self) -> None:
        """What follows begins a line of its own."""
        self._out.piece(self._quoting.end())


def event_documents(event: ChatEvent, out: Output) -> list[dict[str, object]]:  # noqa: PLR0911, PLR0912
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
        case AttachmentsLeftOut():
            return [{"type": "attachments_left_out", "message": out.translate(event.text)}]
        case CompressionStarted():
            return []
        case WaitsForPlace():
            return [{"type": "waits", "running": event.running}]
        case ConversationCompressed():
            return [compressed_document(event.compression) | {"message": out.translate(event.text)}]
        case RetryScheduled():
            reason = out.translate(event.reason)
            return [{"type": "retry", "attempt": event.attempt, "wait_s": event.wait_s, "reason": reason}]
        case SourcesFound():
            return [{"type": "sources", "sources": [source.to_plain() for source in event.sources]}]
        case MessageWritten():
            return []
        case AnswerCounted():
            return [{"type": "answer", **use_document(event.use)}]
        case ConfirmationNeeded():
            return [needed_document(event, out)]
        case ConfirmationGiven():
            return [given_document(event)]
        case TurnEnded():
            note = out.translate(event.note) if event.note else None
            usage = dict(event.usage)
            cost = cost_document(event.cost, event.session_cost)
            end = {"type": "done", "stop_reason": event.stop_reason, "usage": usage, "cost": cost}
            return [{**end, "note": note}]
        case _:
            return [common_document(event, out)]


def compressed_document(done: Compression) -> dict[str, object]:
    """A compression, of an event `compressed` and of the command."""
    return {
        "type": "compressed",
        "id": done.compression_id,
        "messages": done.messages,
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "by": done.by or "rules",
        "automatic": done.is_automatic,
        "summary": done.summary,
    }


def cost_document(turn: Cost, conversation: Cost) -> dict[str, object]:
    """What was spent, of an event `done`."""
    return {"turn": turn.to_plain(), "conversation": conversation.to_plain()}


def cost_line(turn: Cost, conversation: Cost) -> Message | None:
    """What was spent, for people; None for nothing, and where no price of the conversation is known."""
    spent, whole = shown_cost(turn), shown_cost(conversation)
    if turn.is_free or not whole:
        return None
    if not spent:
        return msg("The cost of this turn is unknown.")
    if conversation.unknown:
        return msg(
            "Cost at list prices: {spent}; this conversation: {whole}, not counting {count} "
            "{count:answer|answers} of unknown cost.",
            spent=spent,
            whole=whole,
            count=conversation.unknown,
        )
    return msg("Cost at list prices: {spent}; this conversation: {whole}.", spent=spent, whole=whole)
