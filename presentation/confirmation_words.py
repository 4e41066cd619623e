"""What a question about calls says: the computed effect in words, for the card and for the terminal."""

from __future__ import annotations

from domain.llm.tools.confirmation import REASONS, Rule
from domain.llm.tools.confirmation_card import CallOnCard, ConfirmationCard
from domain.llm.tools.effect import PathEffect
from shared.message import Message, msg

MOST_PATHS = 8
"""Paths of one call that are named; the others are counted."""


def title_of(card: ConfirmationCard) -> Message:
    if len(card.calls) == 1:
        return msg("Allow this action?")
    return msg("Allow these {count} actions?", count=len(card.calls))


def deed_of(call: CallOnCard) -> Message:  # noqa: PLR0911 - one a kind of effect
    effect = call.effect
    if effect.destination:
        return msg("Send “{text}” to {server}", text=effect.sends, server=effect.destination)
    if not effect.paths:
        return msg("Run {tool}", tool=call.tool)
    path = effect.paths[0]
    if effect.effect == "outside":
        return msg("Run {tool} on {path}", tool=call.tool, path=path.path)
    if path.moved_to:
        return msg("Move {path} to {target}", path=path.path, target=path.moved_to)
    if effect.effect == "delete":
        if path.is_folder:
            return msg(
                "Delete the folder {path} with {count} {count:file|files}", path=path.path, count=effect.files
            )
        return msg("Delete {path}", path=path.path)
    if effect.effect in ("read", "simulate"):
        return msg("Run {tool} on {path}", tool=call.tool, path=path.path)
    if effect.effect == "create":
        return msg("Create {path}", path=path.path)
    if path.overwrites:
        return msg("Replace the entire content of {path}", path=path.path)
    return msg("Change {path}", path=path.path)


def reasons_of(call: CallOnCard) -> tuple[Message, ...]:
    return tuple(REASONS[reason] for reason in call.reasons)


def facts_of(call: CallOnCard) -> tuple[Message, ...]:
    """Sizes and lines of the call's own path, then the other paths."""
    effect = call.effect
    facts: list[Message] = []
    if effect.paths:
        facts += _facts_of_path(effect.paths[0])
    others = effect.paths[1:]
    facts += [msg("also {path}", path=_shown(path)) for path in others[:MOST_PATHS]]
    left = max(effect.files, len(effect.paths)) - 1 - min(len(others), MOST_PATHS)
    if left > 0 and others:
        facts.append(msg("and {count} more {count:file|files}", count=left))
    return tuple(facts)


def _facts_of_path(path: PathEffect) -> list[Message]:
    facts: list[Message] = []
    if path.is_folder:
        pass
    elif path.bytes_before is not None and path.bytes_after is not None:
        facts.append(
            msg("{before} → {after}",
                before=size_text(path.bytes_before), after=size_text(path.bytes_after))
        )  # fmt: skip
    elif path.bytes_before is not None:
        facts.append(msg("{before} before", before=size_text(path.bytes_before)))
    elif path.bytes_after is not None:
        facts.append(msg("{after} after", after=size_text(path.bytes_after)))
    if path.lines_lost or path.lines_added:
        facts.append(_lines_of(path))
    if path.moved_to and path.overwrites:
        facts.append(msg("what is at {target} will be overwritten", target=path.moved_to))
    return facts


def _lines_of(path: PathEffect) -> Message:
    lost, added = path.lines_lost, path.lines_added
    is_lost = msg("−1 line") if lost == 1 else msg("−{count} {count:line|lines}", count=lost)
    is_added = msg("+1 line") if added == 1 else msg("+{count} {count:line|lines}", count=added)
    if not lost or not added:
        return is_lost if lost else is_added
    return msg("{lost}, {added}", lost=is_lost, added=is_added)


def _shown(path: PathEffect) -> str:
    size = "" if path.bytes_before is None else f" ({size_text(path.bytes_before)})"
    return f"{path.path}{size}"


def always_text(rules: tuple[Rule, ...]) -> Message:
    """What "always allow" would add, in words."""
    rule = rules[0]
    if rule.path == "**":
        return msg("adds the rule: {tool} is always allowed in this project", tool=rule.tool)
    paths = ", ".join(each.path for each in rules)
    return msg("adds the rule: {tool} is always allowed for {paths}", tool=rule.tool, paths=paths)


def size_text(size: int) -> str:
    """Bytes for people: ``340 B``, ``12.4 kB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
