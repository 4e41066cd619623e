"""A conversation as a document: JSON in the shape of the requirements, plain text, Markdown.

Nothing in a message can break the document around it: in Markdown texts stand in block quotes and
code in fences longer than any within, and control characters are made visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from application.conversation.session_marks import marks_in, marks_of
from application.conversation.shown_session import (
    ShownCall,
    ShownCompression,
    ShownMessage,
    ShownSession,
)
from domain.llm.compression import Compression
from domain.llm.netlists_in_text import complete_netlists
from shared.message import Message, msg, stored_message, visible
from shared.safe_json import join_surrogates

Translate = Callable[[Message], str]

_LINE_END = re.compile(r"\r\n|\r|\n")


# --- JSON -------------------------------------------------------------------------------------------


def json_document(session: ShownSession) -> dict[str, Any]:
    """The shape of the requirements, section 3.2.1.1; with the messages that were replaced by other versions,
    each marked, in the order in which they came."""
    in_force = [each for each in session.compressions if each.is_in_force]
    document: dict[str, Any] = {
        "session_id": session.id,
        "session_name": session.name,
        "work_mode": session.work_mode,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "message_count": len(session.messages),
        "messages": [_json_message(message) for message in session.history],
        "summary": next((each.compression.summary for each in reversed(in_force)), None),
    }
    if session.compressions:
        document["compressions"] = [_json_compression(each) for each in session.compressions]
    if marks := [
        {"after": mark.after, "kind": mark.kind, "text": str(mark.text)} for mark in marks_in(session)
    ]:
        document["marks"] = marks
    return document


def _json_compression(shown: ShownCompression) -> dict[str, Any]:
    one = shown.compression
    return {
        "after": shown.after,
        "until": one.until,
        "messages": one.messages,
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
        "by": one.by or "rules",
        "automatic": one.is_automatic,
        "in_force": shown.is_in_force,
        "timestamp": one.created,
        "text": one.text,
        "summary": one.summary,
    }


def _json_message(message: ShownMessage) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "content": message.text,
        "timestamp": message.created,
    } | json_version(message)
    match message.role:
        case "user":
            document["attachments"] = list(message.attachments)
        case "assistant":
            document |= {
                "reasoning_content": message.reasoning,
                "operations": list(message.operations),
                "is_partial": message.partial,
                "stop_reason": message.stop_reason,
                "tool_calls": [json_call(call) for call in message.tool_calls],
                "web_search_results": list(message.sources),
                "usage": message.usage,
                "model": message.model,
                "earlier_versions": list(message.earlier),
            }
        case "tool":
            document |= json_tool_fields(message)
    return document


def json_version(message: ShownMessage) -> dict[str, Any]:
    """Of a message whose place another has taken, or that has taken one's place; else nothing."""
    marks: dict[str, Any] = {"instead_of": message.instead_of} if message.instead_of else {}
    return marks | ({"replaced": True} if message.is_replaced else {})


def json_call(call: ShownCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "success": call.success}


def json_tool_fields(message: ShownMessage) -> dict[str, Any]:
    """What only a tool's answer has."""
    return {
        "tool_call_id": message.call_id,
        "name": message.name,
        "success": message.success,
        "error_type": message.error_type,
    }


# --- plain text -------------------------------------------------------------------------------------


def with_versions(session: ShownSession) -> ShownSession:
    """The conversation with what was replaced, in the order in which it came; headings say what it is."""
    return replace(session, messages=session.history)


def plain_text(session: ShownSession, translate: Translate, *, with_ids: bool = False) -> str:
    """The conversation to read, and to search in; `with_ids`: each message of the user's and each answer
    with what it is named by elsewhere."""
    words = _Words(translate)
    lines = [_one_line(session.name), _one_line(words.facts(session)), ""]
    results = {message.call_id: message for message in session.messages if message.role == "tool"}
    done, marks = _compressed(session), _marks(session, translate)
    lines += [f"! {_one_line(mark)}" for mark in marks.pop("", ())]
    for shown in done.pop("", ()):
        lines += [f"--- {words.compressed(shown)} ---", *_indented(shown.compression.summary, ""), ""]
    for message in _to_tell(session):
        lines += [
            f"=== {words.heading(message, session)}{_named(message) if with_ids else ''} ===",
            *_indented(message.reasoning, words.reasoning),
        ]
        lines += [visible(message.text)] if message.text else []
        lines += [f"! {_one_line(hint)}" for hint in words.netlists(message)]
        for call in message.tool_calls:
            lines += [f"-> {_one_line(call.name)} {_one_line(_arguments(call.arguments))}"]
            lines += _indented(words.outcome(results.get(call.id)), "<-")
        lines += [f"* {_one_line(item)}" for item in message.operations]
        lines += [f"@ {_one_line(item)}" for item in (*_attached(message), *_sources(message))]
        for text in message.earlier:
            lines += _indented(text, words.earlier)
        lines += [f"! {_one_line(mark)}" for mark in marks.get(message.id, ())]
        lines.append("")
        for shown in done.get(message.id, ()):
            lines += [f"--- {words.compressed(shown)} ---", *_indented(shown.compression.summary, ""), ""]
    return join_surrogates("\n".join(lines)).rstrip("\n") + "\n"


def _named(message: ShownMessage) -> str:
    return f" · {_one_line(message.id)}" if message.role in ("user", "assistant") else ""


def _indented(text: str, label: str) -> list[str]:
    if not text:
        return []
    return [f"  {label}", *(f"    {line}" for line in _LINE_END.split(visible(text)))]


# --- Markdown ---------------------------------------------------------------------------------------


def markdown(session: ShownSession, translate: Translate) -> str:
    """The conversation as CommonMark."""
    words = _Words(translate)
    blocks = [f"# {_escaped(session.name)}", _escaped(words.facts(session))]
    results = {message.call_id: message for message in session.messages if message.role == "tool"}
    done, marks = _compressed(session), _marks(session, translate)
    blocks += [f"**{_escaped(mark)}**" for mark in marks.pop("", ())]
    for shown in done.pop("", ()):
        blocks += [f"*{_escaped(words.compressed(shown))}*", _quoted(shown.compression.summary)]
    for message in _to_tell(session):
        blocks.append(f"## {_escaped(words.heading(message, session))}")
        if message.reasoning:
            blocks += [f"*{words.reasoning}*", _fenced(message.reasoning, "text")]
        if message.text:
            blocks.append(_quoted(message.text))
        blocks += [f"*{_escaped(hint)}*" for hint in words.netlists(message)]
        for call in message.tool_calls:
            blocks += [_code(call.name), _fenced(_arguments(call.arguments, indent=2), "json")]
            blocks.append(_fenced(words.outcome(results.get(call.id)), "text"))
        for label, items in (
            (words.operations, message.operations),
            (words.attachments, _attached(message)),
            (words.sources, _sources(message)),
        ):
            if items:
                blocks += [f"*{label}*", "\n".join(f"- {_escaped(item)}" for item in items)]
        for text in message.earlier:
            blocks += [f"*{words.earlier}*", _quoted(text)]
        blocks += [f"**{_escaped(mark)}**" for mark in marks.get(message.id, ())]
        for shown in done.get(message.id, ()):
            blocks += [f"*{_escaped(words.compressed(shown))}*", _quoted(shown.compression.summary)]
    return join_surrogates("\n\n".join(blocks)) + "\n"


def _quoted(text: str) -> str:
    """A block quote: an open fence, a heading or HTML in `text` ends with it."""
    return "\n".join(f"> {line}".rstrip() for line in _LINE_END.split(visible(text)))


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{_LINE_END.sub(chr(10), visible(text))}\n{fence}"


def _code(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {_one_line(text)} {ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _escaped(text: str) -> str:
    """One line in which nothing is markup."""
    return re.sub(r"([\\`*_\[\]<>#&|~!])", r"\\\1", _one_line(text))


# --- both -------------------------------------------------------------------------------------------


class _Words:
    """The words of the documents, in one language."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate
        self.reasoning = translate(msg("Reasoning"))
        self.operations = translate(msg("What was done"))
        self.attachments = translate(msg("Attachments"))
        self.sources = translate(msg("Sources"))
        self.earlier = translate(msg("Earlier version"))
        self._roles = {
            "user": translate(msg("User")),
            "assistant": translate(msg("Assistant")),
            "system": translate(msg("Instruction")),
            "tool": translate(msg("Tool")),
        }

    def facts(self, session: ShownSession) -> str:
        """Id, mode and time of a conversation."""
        return f"{session.id} · {session.work_mode} · {session.created_at}"

    def heading(self, message: ShownMessage, session: ShownSession) -> str:
        """Who, when, whether it was interrupted, and which version it is."""
        parts = [self._roles.get(message.role, message.role), message.name, message.created]
        if message.partial:
            parts.append(self._translate(msg("interrupted: {reason}", reason=message.stop_reason or "?")))
        if len(ids := session.versions.get(message.id, ())) > 1:
            of = msg("version {number} of {count}", number=ids.index(message.id) + 1, count=len(ids))
            parts.append(self._translate(of))
        if message.is_replaced:
            parts.append(self._translate(msg("replaced")))
        return _one_line(" · ".join(part for part in parts if part))

    def netlists(self, message: ShownMessage) -> list[str]:
        """Of an answer: how each complete netlist in it becomes a circuit."""
        if message.role != "assistant" or message.tool_calls:
            return []
        return [
            self._translate(
                msg(
                    'Netlist in the answer: "{title}". Copy the block into a file whose name ends in .cir, '
                    "for example {name}, to simulate it.",
                    title=netlist.title,
                    name=netlist.file_name,
                )
            )
            for netlist in complete_netlists(message.text)
        ]

    def compressed(self, shown: ShownCompression) -> str:
        """What a compression did, and whether it was taken back."""
        told = self._translate(compressed_words(shown.compression))
        return told if shown.is_in_force else f"{told} {self._translate(msg('(undone)'))}"

    def outcome(self, result: ShownMessage | None) -> str:
        if result is None:
            return self._translate(msg("No result: the call did not run, or its run was interrupted."))
        told = self._told(result)
        failed = (
            "" if result.success else self._translate(msg("Failed: {kind}", kind=result.error_type or "?"))
        )
        return "\n".join(part for part in (failed, told, result.text) if part)

    def _told(self, result: ShownMessage) -> str:
        """The line for the user, if its stored template is one of ours: plain names in braces."""
        told = stored_message(result.summary.get("template"), result.summary.get("params"))
        return "" if told is None else self._translate(told)


def _told_before(session: ShownSession) -> dict[str, str]:
    """For each message the one that is told of it, or before it."""
    told = {message.id: message.id for message in _to_tell(session)}
    last = ""
    for message in session.messages:
        last = told.setdefault(message.id, last)
    return told


def _marks(session: ShownSession, translate: Translate) -> dict[str, list[str]]:
    """What happened beside the messages, by the message that is told before it."""
    told = _told_before(session)
    found: dict[str, list[str]] = {}
    for behind, marks in marks_of(session).items():
        found.setdefault(told.get(behind, ""), []).extend(map(translate, marks))
    return found


def _compressed(session: ShownSession) -> dict[str, list[ShownCompression]]:
    """The compressions by the message that is told before them."""
    told = _told_before(session)
    found: dict[str, list[ShownCompression]] = {}
    for shown in session.compressions:
        found.setdefault(told.get(shown.after, ""), []).append(shown)
    return found


def compressed_words(done: Compression) -> Message:
    """What a compression did, in one line."""
    if not done.until:
        return msg(
            "Begins with the summary of an earlier conversation: "
            "{count} {count:message|messages}, {after} tokens",
            count=done.messages,
            after=f"{done.tokens_after:,}",
        )
    return msg(
        "{count} {count:message|messages} summarized, {before} → {after} tokens",
        count=done.messages,
        before=f"{done.tokens_before:,}",
        after=f"{done.tokens_after:,}",
    )


def _to_tell(session: ShownSession) -> Iterator[ShownMessage]:
    """All messages but the tools' answers that stand with their calls."""
    calls = {call.id for message in session.messages for call in message.tool_calls}
    return (m for m in session.messages if m.role != "tool" or m.call_id not in calls)


def _attached(message: ShownMessage) -> tuple[str, ...]:
    return tuple(str(item.get("name") or item.get("path") or "?") for item in message.attachments)


def _sources(message: ShownMessage) -> tuple[str, ...]:
    texts = (
        " - ".join(str(item[key]) for key in ("title", "link", "url") if item.get(key))
        for item in message.sources
    )
    numbers = (str(item.get("reference") or f"[{number}]") for number, item in enumerate(message.sources, 1))
    return tuple(f"{number} {text}" for number, text in zip(numbers, texts, strict=True) if text)


def _arguments(arguments: Any, *, indent: int | None = None) -> str:
    return (
        arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=indent)
    )


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())
