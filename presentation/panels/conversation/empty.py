"""What stands in a conversation in which nothing was said yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from presentation.panels.conversation.blocks import Break, Button, Frame, Para, Row, Text
from shared.message import Message, msg


@dataclass(frozen=True, slots=True)
class EmptyPage:
    """One sentence, and up to three things to ask: each an icon and its words."""

    title: Message
    text: Message
    asks: tuple[tuple[str, Message], ...] = ()


def empty_page(
    *, root: Path | None, main_circuit: Path | None, mode: str, improved: Path | None = None
) -> EmptyPage:
    """What is said where nothing was said yet; `improved`: the circuit that a design would begin from."""
    if root is None:
        return EmptyPage(msg("No project"), msg("Open a project to talk about its circuits."))
    title = msg("New conversation")
    if mode == "workflow":
        text = msg("Describe the circuit you need. You confirm the goals, and ngspice verifies each round.")
        if improved is not None:
            text = msg(
                "Say what {file} has to reach, or describe a new circuit. You confirm the goals, and ngspice "
                "verifies each round.",
                file=improved.name,
            )
        return EmptyPage(
            title,
            text,
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


def row_of_page(page: EmptyPage) -> Row:
    asks = tuple(Button(act="ask", label=ask, argument=ask, kind="ask", icon=name) for name, ask in page.asks)
    text = Para("", (Text(page.title, "bold"), Break(), Text(page.text, "", "text.secondary")))
    return Row((Frame("empty", (text, *((Frame("asks", asks),) if asks else ()))),))
