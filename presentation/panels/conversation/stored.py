"""A stored conversation as the items it is shown by."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from application.conversation.goals_shown import GoalsNow
from application.conversation.shown_session import ShownCall, ShownMessage, ShownSession
from application.design.story import Ended, StoryStep
from application.ports.events import Done, StopReason
from application.ports.project import ABSENT, FOLDER
from application.project.undoing import INSERT_TOOL, OperationEntry
from domain.llm.attachments import attachments_from_plain
from domain.llm.transcript import INTERRUPTED, PREVIEW_LENGTH
from domain.llm.turn_failure import TurnFailure
from domain.simulation.goals import all_met
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    NO_FAULT,
    AnswerText,
    AttachedItem,
    CardState,
    CompressedRow,
    Confirmation,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Narration,
    Note,
    OperationCard,
    SimulationCard,
    Understood,
    UserText,
    WorkedElsewhere,
    card_of,
    judged_apart,
)
from presentation.panels.conversation.sources import stored_sources
from presentation.retelling import StoredWords
from shared.message import msg, stored_message
from shared.paths import circuit_of_goals

_logger = logging.getLogger(__name__)
_END_OF = "end of "


def items_of(session: ShownSession, operations: Iterable[OperationEntry]) -> tuple[Item, ...]:
    """The items of a conversation, in order; `operations` are those of the project."""
    items: dict[str, Item] = {}
    asked_about = _questions(session)
    told = {step.message_id: step for step in session.design if step.message_id}
    behind: dict[str, list[StoryStep]] = {}
    for step in session.design:
        if not step.message_id:
            behind.setdefault(step.after, []).append(step)
    apart = {step.said_in for step in session.design}
    turn = ""
    is_told_by_program = False
    beside, marked = _beside(session), _marked(session)
    items |= {row.key: row for row in (*marked.get("", ()), *beside.get("", ()))}
    for number, message in enumerate(session.messages):
        is_last = number == len(session.messages) - 1
        if message.role in ("user", "program"):
            is_told_by_program = message.role == "program"
        if message.role == "user":
            _put_failure(items, session, turn, is_newest=False)
            _put_limit(items, session, turn, is_newest=False)
            _put_note(items, session, turn)
            _put_stop(items, session, turn, is_newest=False)
            items |= {row.key: row for row in beside.get(_END_OF + turn, ())}
            turn = message.id
        story = told.get(message.id)
        for item in _items_of_message(message, session, story, is_last=is_last):
            if item.key in apart or (isinstance(item, Interrupted) and is_told_by_program):
                continue  # its texts stand where they were typed; the design itself tells where it rests
            question = asked_about.pop(item.key, None)
            if question is not None:  # it was asked before the call ran
                items[question.key] = question
            items[item.key] = item
        if message.role == "tool":
            _put_result(items, message)
        if story is not None and story.verdicts:
            _judge(items, story)
        items |= {row.key: row for row in (*marked.get(message.id, ()), *beside.get(message.id, ()))}
        for step in behind.get(message.id, ()):
            _put_step(items, step, session)
    _put_end(items, session, turn)
    items |= {row.key: row for row in beside.get(_END_OF + turn, ())}
    _open_chip(items)
    for number, problem in enumerate(session.problems):
        items[f"problem-{number}"] = Note(key=f"problem-{number}", text=problem)
    return _with_operations(_with_goals(items, _goals_of(session)), tuple(operations))


def _with_goals(items: Mapping[str, Item], goals: Sequence[GoalsNow]) -> dict[str, Item]:
    """With the cards about goals that came while a turn was under way, where they came."""
    found: dict[str, Item] = {}
    amid = [card for card in goals if card.row]
    for key, item in items.items():
        found[key] = item  # where nothing came of the answer it is behind the message
        found |= {card.key: card for card in amid if key == (card.row if card.row in items else card.after)}
    return found


def _put_step(items: dict[str, Item], step: StoryStep, session: ShownSession) -> None:
    for item in _rows_of(step, session):
        known = None if step.said_in or not isinstance(item, Understood) else _chip_of(item, items)
        items |= {item.key: item} if known is None else {known.key: replace(item, key=known.key)}


def _chip_of(taken: Understood, items: Mapping[str, Item]) -> Understood | None:
    """The chip of a text that was taken otherwise at a later checkpoint."""
    chips = (item for item in reversed(tuple(items.values())) if isinstance(item, Understood))
    return next((item for item in chips if item.intent.text == taken.intent.text), None)


def _open_chip(items: dict[str, Item]) -> None:
    """What was typed last can still be taken otherwise where the design waits behind it."""
    newest = next((each for each in reversed(items.values()) if isinstance(each, Decision | UserText)), None)
    chip = next((each for each in reversed(items.values()) if isinstance(each, Understood | UserText)), None)
    waits = next(
        (each for each in items.values() if isinstance(each, Decision) and each.state == "waits"), None
    )
    is_taken = isinstance(chip, Understood) and chip.state == "closed" and chip.intent.leads_on
    if isinstance(newest, Decision) and waits is not None and isinstance(chip, Understood) and is_taken:
        items[chip.key] = replace(chip, state="taken", others=waits.others(chip.intent))


def _put_end(items: dict[str, Item], session: ShownSession, turn: str) -> None:
    """What stands below the last turn: how it failed, or that it did not come to its end."""
    _put_note(items, session, turn)
    is_told = _put_failure(items, session, turn, is_newest=True) or _put_limit(
        items, session, turn, is_newest=True
    )
    if session.has_partial_response and session.is_in_use:
        items["open"] = WorkedElsewhere(key="open")
    elif (
        session.is_chat_open or (session.has_partial_response and session.work_mode != "workflow")
    ) and not any(isinstance(item, Interrupted) and not item.of_design for item in _behind(items, turn)):
        items["open"] = Interrupted(
            key="open",
            reason="interrupted",
            not_run=_not_run(session.messages),
            can_continue=session.is_ours,
            can_regenerate=session.is_ours,
        )
    elif _put_stop(items, session, turn, is_newest=True):
        pass
    elif (
        session.messages
        and session.messages[-1].role == "user"
        and session.is_led_as_chat
        and session.is_ours
        and not is_told
    ):
        items["unanswered"] = Interrupted(key="unanswered", reason="unanswered")


def _beside(session: ShownSession) -> dict[str, list[CompressedRow | GoalsNow]]:
    """The rows of compressions and of goals by the message behind which they were made; what was made when
    its turn had ended stands below the mark that tells how, by `_END_OF` the turn's first message."""
    ends: dict[str, str] = {}
    turn, last = "", list[str]()
    for message in session.messages:
        if message.role == "user":
            ends |= dict.fromkeys(last, _END_OF + turn)
            turn, last = message.id, []
        elif message.role != "tool":  # what a later turn says of calls that have not run is no going on
            last.clear()
        last.append(message.id)
    ends |= dict.fromkeys(last, _END_OF + turn)
    found: dict[str, list[CompressedRow | GoalsNow]] = {}
    for shown in session.compressions:
        one = shown.compression
        row = CompressedRow(
            key=one.compression_id,
            done=one,
            is_in_force=shown.is_in_force,
            can_restore=session.is_ours and bool(one.until),
        )
        place = shown.after if one.is_automatic else ends.get(shown.after, shown.after)
        found.setdefault(place, []).append(row)
    for goals in (each for each in _goals_of(session) if not each.row):
        found.setdefault(ends.get(goals.after, goals.after), []).append(goals)
    return found


def _goals_of(session: ShownSession) -> tuple[GoalsNow, ...]:
    return tuple(replace(each, is_ours=session.is_ours) for each in session.goals)


def _marked(session: ShownSession) -> dict[str, list[Note]]:
    """What the file of an imported conversation tells beside its messages, by the message before it."""
    found: dict[str, list[Note]] = {}
    for number, mark in enumerate(session.marks):
        text = msg("From the imported file: {text}", text=mark.text)
        found.setdefault(mark.after, []).append(Note(key=f"mark-{number}", text=text))
    return found


def _questions(session: ShownSession) -> dict[str, Confirmation]:
    """The questions about calls, by the first call each is about.

    A card that can't be put into words (of another version, or written by somebody else) is left out.
    """
    found: dict[str, Confirmation] = {}
    for shown in session.cards:
        card = shown.card
        try:
            is_whole = all(call.call_id in shown.answers for call in card.calls)
            state: Literal["answered", "expired"] = "answered" if is_whole else "expired"
            item = Confirmation(key=card.card_id, card=card, answers=shown.answers, state=state)
            HtmlItems(str, lambda _name: "")(item)
            first = card.calls[0].call_id
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            _logger.warning("A question of %s is not shown: %r", session.id, error)
            continue
        found[first] = item
    return found


def _put_failure(items: dict[str, Item], session: ShownSession, turn: str, *, is_newest: bool) -> bool:
    """Show why a turn failed, if it did; the ways out of the newest one still lead somewhere."""
    failure = session.failures.get(turn)
    if failure is None:
        return False
    key = f"{turn}-failure"
    is_open = session.is_ours and session.is_led_as_chat
    items[key] = _block(key, failure, session, can_retry=is_open, is_spent=not is_newest)
    return True


def _block(
    key: str, failure: TurnFailure, session: ShownSession, *, can_retry: bool, is_spent: bool
) -> ErrorBlock:
    said = sum(message.role == "user" for message in session.messages)
    return ErrorBlock(
        key=key,
        message=failure.message,
        advice=failure.advice,
        error_type=failure.error_type,
        model=failure.asked,
        can_retry=can_retry,
        can_begin_anew=failure.error_type == "context_too_long" and said > 1,
        offers=failure.offers,
        is_spent=is_spent,
    )


def _put_limit(items: dict[str, Item], session: ShownSession, turn: str, *, is_newest: bool) -> bool:
    """Say which limit ended a turn, if one did; the newest turn can go on."""
    limit = session.limits.get(turn)
    if limit is None:
        return False
    last = next(reversed(items.values()), None)
    if isinstance(last, Interrupted) and last.reason == limit.stop_reason:  # of half an answer
        items[last.key] = replace(last, note=limit.note)
        return True
    can_go_on = is_newest and session.is_ours and session.is_led_as_chat
    items[f"{turn}-limit"] = Interrupted(
        key=f"{turn}-limit",
        reason=limit.stop_reason,
        can_continue=can_go_on,
        can_regenerate=can_go_on,
        note=limit.note,
    )
    return True


def _put_note(items: dict[str, Item], session: ShownSession, turn: str) -> None:
    """Say what is doubtful about the answer of a turn."""
    if (note := session.notes.get(turn)) is not None:
        items[f"{turn}-note"] = Note(key=f"{turn}-note", text=note, is_doubt=True)


def _behind(items: Mapping[str, Item], key: str) -> Iterator[Item]:
    """The rows behind that of this key."""
    return itertools.islice(itertools.dropwhile(lambda item: item.key != key, items.values()), 1, None)


def _put_stop(items: dict[str, Item], session: ShownSession, turn: str, *, is_newest: bool) -> bool:
    """Say that a turn was broken off where no half answer says it."""
    reason = session.stops.get(turn)
    if reason is None or isinstance(next(reversed(items.values()), None), Interrupted):
        return False
    can_go_on = is_newest and session.is_ours and session.is_led_as_chat
    items[f"{turn}-stop"] = Interrupted(
        key=f"{turn}-stop", reason=reason, can_continue=can_go_on, can_regenerate=can_go_on
    )
    return True


def is_resting(session: ShownSession) -> bool:
    """Whether a design was left in the middle, and not at a question, and can be gone on with."""
    return session.is_ours and not session.is_in_use and any(step.left for step in session.design)


def context_tokens_of(session: ShownSession) -> int:
    """What the last counted answer filled of its model's window, without what was compressed since.

    0 when nobody counted.
    """
    freed, behind = 0, {each.after: each for each in session.compressions if each.is_in_force}
    for message in reversed(session.messages):
        if (done := behind.get(message.id)) is not None:  # made since
            freed += done.compression.tokens_before - done.compression.tokens_after
        if message.role == "assistant" and message.usage:
            counts = (message.usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
            used = sum(count for count in counts if isinstance(count, int) and count > 0)
            return max(used - freed, 0)
    return 0


def _items_of_message(
    message: ShownMessage, session: ShownSession, story: StoryStep | None, *, is_last: bool
) -> Iterator[Item]:
    if message.role == "user":
        yield UserText(
            key=message.id,
            text=message.text,
            created=message.created,
            attached=tuple(map(AttachedItem.of, attachments_from_plain(message.attachments))),
            versions=session.versions.get(message.id, ()),
            can_edit=session.is_ours and not session.is_in_use,
        )
    if message.role != "assistant":
        return
    sources = stored_sources(message.sources)
    if story is not None:
        yield from _rows_of(story, session)
    elif message.text or message.reasoning or sources:
        yield AnswerText(
            key=message.id,
            text=message.text,
            reasoning=message.reasoning,
            model=message.model,
            created=message.created,
            sources=sources,
            use=session.uses.get(message.id),
        )
    # Whoever works on it is at it: what is read as cut off is under way.
    is_coming = session.is_in_use and is_last and message.stop_reason in ("", INTERRUPTED)
    for call in message.tool_calls:
        unknown: CardState = "running" if is_coming else "not_run"
        state: CardState = unknown if call.success is None else "done" if call.success else "failed"
        yield replace(_card_of(call), state=state)
    if message.partial and not is_coming:
        is_idle = session.is_ours and not session.is_in_use
        yield Interrupted(
            key=f"{message.id}-interrupted",
            reason=message.stop_reason or "interrupted",
            created=message.created,
            characters=len(message.text),
            not_run=_not_run([message]),
            can_continue=is_last and is_idle and session.has_partial_response,
            can_regenerate=is_idle and session.is_led_as_chat,
        )


def _rows_of(step: StoryStep, session: ShownSession) -> Iterator[Item]:
    """A step of a design as it was shown while it ran; only the question it waits at can be answered."""
    ended, checkpoint = step.ended, step.checkpoint
    words = StoredWords("{text}", {"text": step.words})
    is_idle = session.is_ours and not session.is_in_use
    if step.failure is not None:
        is_last = step is session.design[-1] and session.messages[-1].id == (step.message_id or step.after)
        is_spent = not (is_idle and is_last and (step.left or ended is not None))
        yield _block(step.key, step.failure, session, can_retry=is_idle, is_spent=is_spent)
        return
    if ended is not None and ended.stop_reason == "error":  # of an earlier version
        yield ErrorBlock(key=step.key, message=words, can_retry=False, is_spent=True)
        return
    if ended is not None:
        yield DesignEnd(key=step.key, done=_done(ended))
        return
    if step.left and not session.is_in_use:
        yield Interrupted(
            key=f"{step.key}-left",
            reason="stopped" if step.left == "stopped" else "interrupted",
            not_run=_not_run(session.messages),
            can_continue=is_idle,
            can_regenerate=False,
            of_design=True,
        )
    if step.words:
        yield Narration(key=f"{step.key}-words", text=words)
    if checkpoint is not None:
        yield Decision(
            key=f"{step.key}-checkpoint",
            kind="checkpoint",
            number=checkpoint.number,
            met=sum(verdict.met for verdict in checkpoint.verdicts),
            total=len(checkpoint.verdicts),
            has_failed=checkpoint.has_failed,
            can_undo=checkpoint.can_undo,
            is_exhausted=checkpoint.is_exhausted,
            all_met=all_met(checkpoint.verdicts),
            state="chosen" if checkpoint.answer else "waits" if is_idle else "expired",
            answer=checkpoint.answer,
        )
    if step.meant is not None:
        if step.said_in:
            created = next(each.created for each in session.messages if each.id == step.said_in)
            yield UserText(key=f"{step.key}-said", text=step.meant.text, created=created, can_edit=False)
        state: Literal["closed", "dropped"] = "closed" if step.is_done else "dropped"
        changed = step.meant.goals or ()
        yield Understood(key=f"{step.key}-meant", intent=step.meant, state=state, changed=changed)
    if step.goals:
        yield GoalsCard(key=f"{step.key}-goals", goals=step.goals, assumptions=step.assumptions)


def _done(ended: Ended) -> Done:
    verdicts = ended.verdicts
    return Done(
        stop_reason=cast("StopReason", ended.stop_reason),
        project=Path(),
        circuit=ended.circuit or None,
        goals_met=all_met(verdicts),
        verdicts=verdicts,
        metrics={verdict.goal.metric: verdict.measured.value for verdict in verdicts},
        rounds=ended.rounds,
        round_number=ended.round_number,
    )


def _judge(items: dict[str, Item], step: StoryStep) -> None:
    """Put the verdicts of a round on its simulation."""
    last = next((item for item in reversed(items.values()) if isinstance(item, SimulationCard)), None)
    if last is None or last.verdicts:
        last = judged_apart(f"{step.key}-round", step.verdicts)
    items[last.key] = replace(last, verdicts=step.verdicts, round_number=step.round_number)


def _not_run(messages: Iterable[ShownMessage]) -> tuple[OperationCard | SimulationCard, ...]:
    calls = (call for message in messages for call in message.tool_calls if call.success is None)
    return tuple(_card_of(call) for call in calls)


def _card_of(call: ShownCall) -> OperationCard | SimulationCard:
    return card_of(call.id, call.name, call.arguments if isinstance(call.arguments, Mapping) else {})


def _put_result(items: dict[str, Item], message: ShownMessage) -> None:
    card = items.get(message.call_id)
    if card is None and message.file_path and message.result_path:  # round 0: no message called for it
        card = card_of(message.call_id, message.name, {"path": message.file_path})
        card = replace(card, state="done" if message.success else "failed")
    if card is not None:
        items[card.key] = _with_result(card, message)


def _with_result(card: Item, message: ShownMessage) -> Item:
    template, params = message.summary.get("template"), message.summary.get("params")
    summary = stored_message(template, params if isinstance(params, Mapping) else {})
    if not isinstance(card, OperationCard | SimulationCard):
        return card
    if message.error_type in NO_FAULT:
        card = replace(card, state="stopped")
    if isinstance(card, SimulationCard) and card.state != "stopped":
        card = replace(card, duration_s=message.duration_s, result_path=message.result_path)
    return card if summary is None else replace(card, summary=summary)


def _with_operations(items: dict[str, Item], operations: tuple[OperationEntry, ...]) -> tuple[Item, ...]:
    by_id = {entry.record.op_id: entry for entry in operations}
    undone_by = undoing_operations(operations)
    for key, entry in by_id.items():
        card = items.get(key)
        if isinstance(card, OperationCard):
            items[key] = with_operation(card, entry, undone_by)
    behind: dict[object, list[Item]] = {}
    for entry in operations:
        record = entry.record
        if record.tool == INSERT_TOOL and record.result is not None and record.state in ("done", "undone"):
            behind.setdefault(record.result.get("answer"), []).append(card_of_inserted(entry, undone_by))
    return tuple(each for key, item in items.items() for each in (item, *behind.get(key, ())))


def card_of_inserted(entry: OperationEntry, undone_by: Mapping[str, str]) -> OperationCard:
    """The row of a file that was made of a code block of an answer."""
    record = entry.record
    card = OperationCard(key=record.op_id, tool="rewrite_file", path=record.path, state="done")
    return with_operation(card, entry, undone_by)


def undoing_operations(operations: Iterable[OperationEntry]) -> dict[str, str]:
    """For each operation that was undone the one that did it last."""
    return {op_id: entry.record.op_id for entry in operations for op_id in entry.record.undone_ids}


def with_operation(card: OperationCard, entry: OperationEntry, undone_by: Mapping[str, str]) -> OperationCard:
    """A card with what its operation changed, and whether that stands.

    `undone_by`: for an operation the one that took it back.
    """
    record = entry.record
    if record.kind != "file" or record.state not in ("done", "undone"):
        return replace(card, path=card.path or record.path)
    tip, steps = record.op_id, 0
    while tip in undone_by and steps <= len(undone_by):
        tip, steps = undone_by[tip], steps + 1
    circuit = circuit_of_goals(record.path)
    changed = any(change.before != change.after for change in record.changes)
    return replace(
        card,
        # A kill came between the change and its result: the next turn finds that it was made.
        state="done" if card.state == "not_run" else card.state,
        path=circuit or record.path,
        diff=entry.diff,
        is_new_file=record.before_sha256 == ABSENT
        and not record.further
        and record.after_sha256 != FOLDER
        and not circuit,
        standing="none" if not changed else "undone" if steps % 2 else "stands",
        tip=tip,
    )


_DEFAULT_NAME = re.compile(r"Chat \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")


def title_of(name: str, first_words: str) -> str:
    """A conversation's name for people; one that has only its default name is known by its first words."""
    is_cut = len(first_words) == PREVIEW_LENGTH
    words = f"{first_words.rstrip()}…" if is_cut else first_words
    title = words if first_words.strip() and _DEFAULT_NAME.fullmatch(name) else name
    return " ".join(title.split())
