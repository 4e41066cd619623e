"""A trace as rows for people: the tree of its spans, each in a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.tracing import KeptSpan


_OUTCOMES = {
    "stopped": msg("stopped"),
    "limit": msg("stopped at a limit"),
    "loop": msg("stopped: repeating the same steps"),
    "length": msg("cut off"),
    "cut": msg("cut off"),
}
"""Ends of a turn that are no failure, and not what was hoped for."""


def tree_rows(spans: Sequence[KeptSpan]) -> Iterator[tuple[int, KeptSpan]]:
    """Every span with its depth, each behind the one it is in; those whose parent is missing at the top."""
    known = {span.span_id for span in spans}
    inside: defaultdict[str, list[KeptSpan]] = defaultdict(list)
    for span in spans:
        inside[span.parent_id if span.parent_id in known else ""].append(span)

    def rows(parent_id: str, depth: int) -> Iterator[tuple[int, KeptSpan]]:
        for span in inside[parent_id]:
            yield depth, span
            yield from rows(span.span_id, depth + 1)

    return rows("", 0)


def row_words(span: KeptSpan, translate: Callable[[Message], str]) -> str:
    """Its name, how long it took, and how it ended: ``tool patch_file  0.120 s  failed: no_match``."""
    return "  ".join((span.name, time_words(span, translate), end_words(span, translate))).rstrip()


def time_words(span: KeptSpan, translate: Callable[[Message], str]) -> str:
    """``0.120 s``, or that it has not ended."""
    if span.seconds is None:
        return translate(msg("not finished"))
    return f"{span.seconds:.3f} s"


def end_words(span: KeptSpan, translate: Callable[[Message], str]) -> str:
    """What there is to say of its end; "" when all went well."""
    if span.status == "error":
        return translate(msg("failed: {error_type}", error_type=span.error_type))
    outcome = _OUTCOMES.get(str(span.attributes.get("outcome")))
    return translate(outcome) if outcome is not None else ""
