"""What stands in a conversation in which nothing was said yet."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from presentation.panels.conversation.html_view import icon
from shared.message import Message, msg


@dataclass(frozen=True, slots=True)
class EmptyPage:
    """One sentence, and up to three things to ask: each an icon and its words."""

    title: Message
    text: Message
    asks: tuple[tuple[str, Message], ...] = ()


def empty_page(*, root: Path | None, main_circuit: Path | None, mode: str) -> EmptyPage:
    """What is said where nothing was said yet."""
    if root is None:
        return EmptyPage(msg("No project"), msg("Open a project to talk about its circuits."))
    title = msg("New conversation")
    if mode == "workflow":
        return EmptyPage(
            title,
            msg("Describe the circuit you need. You confirm the goals, and ngspice proves each round."),
            (
                ("target", msg("Design a 10 kHz second-order low-pass filter")),
                ("target", msg("Design an amplifier with 20 dB gain and 100 kHz bandwidth")),
            ),
        )
    text = msg("Ask about the circuit, or describe a change. Every change can be undone.")
    if main_circuit is None:
        return EmptyPage(title, text)
    name = main_circuit.name
    return EmptyPage(
        title,
        text,
        (("activity", msg("Simulate {file}", file=name)), ("search", msg("Check {file}", file=name))),
    )


def empty_html(page: EmptyPage, translate: Callable[[Message], str]) -> str:
    """The page for the web view."""
    rows = "".join(_ask(name, translate(ask)) for name, ask in page.asks)
    asks = f'<div class="asks">{rows}</div>' if rows else ""
    title, text = html.escape(translate(page.title)), html.escape(translate(page.text))
    return f'<div class="empty"><b>{title}</b>{text}{asks}</div>'


def _ask(name: str, text: str) -> str:
    escaped = html.escape(text)
    return f'<button data-act="ask" data-arg="{escaped}">{icon(name)}{escaped}</button>'
