"""What stands in a conversation in which nothing was said yet."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from presentation.panels.conversation.html_view import icon
from shared.message import Message, msg


def empty_html(
    translate: Callable[[Message], str], *, root: Path | None, main_circuit: Path | None, mode: str
) -> str:
    """One sentence, and up to three things to ask."""
    if root is None:
        title, text = msg("No project"), msg("Open a project to talk about its circuits.")
        return _page(translate(title), translate(text), "")
    if mode == "workflow":
        text = msg("Describe the circuit you need. You confirm the goals, and ngspice proves each round.")
        asks = [
            ("target", msg("Design a 10 kHz second-order low-pass filter")),
            ("target", msg("Design an amplifier with 20 dB gain and 100 kHz bandwidth")),
        ]
    else:
        text = msg("Ask about the circuit, or describe a change. Every change can be undone.")
        asks = []
        if main_circuit is not None:
            name = main_circuit.name
            asks = [
                ("activity", msg("Simulate {file}", file=name)),
                ("search", msg("Check {file}", file=name)),
            ]
    rows = "".join(_ask(name, translate(ask)) for name, ask in asks)
    return _page(translate(msg("New conversation")), translate(text), rows)


def _page(title: str, text: str, rows: str) -> str:
    asks = f'<div class="asks">{rows}</div>' if rows else ""
    return f'<div class="empty"><b>{html.escape(title)}</b>{html.escape(text)}{asks}</div>'


def _ask(name: str, text: str) -> str:
    escaped = html.escape(text)
    return f'<button data-act="ask" data-arg="{escaped}">{icon(name)}{escaped}</button>'
