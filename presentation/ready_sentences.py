"""What people often ask of a circuit: by a word behind / in the conversation, as prompts by `mcp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from shared.message import Message, msg, template


class ReadySentence(NamedTuple):
    """A sentence about one circuit."""

    word: str
    text: Message
    """What it does."""
    sentence: Callable[..., Message]
    """Takes `circuit`."""


READY_SENTENCES = (
    ReadySentence(
        "fix",
        msg("Find and fix what the simulator reports"),
        template("Simulate {circuit}, find the cause of what ngspice reports, and fix it."),
    ),
    ReadySentence(
        "optimize",
        msg("Change values until the goals are met"),
        template("Optimize {circuit} until its goals are met, with as few changes as possible."),
    ),
    ReadySentence(
        "explain",
        msg("Explain how the circuit works, with its figures"),
        template("Explain how {circuit} works, stage by stage, with figures from a simulation."),
    ),
    ReadySentence(
        "montecarlo",
        msg("Yield with tolerances"),
        template("Run a Monte Carlo study of {circuit}, resistors 1 %, capacitors 5 %."),
    ),
    ReadySentence(
        "report",
        msg("Summarize the design with its measured figures"),
        template("Summarize {circuit}: goals, topology, measured figures with margins, open questions."),
    ),
)
