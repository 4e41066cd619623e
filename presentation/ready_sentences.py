"""What people often ask of a circuit: by a word behind / in the conversation, as prompts by `mcp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from shared.message import Message, msg, template


class Gap(NamedTuple):
    """Words of a sentence that are the user's."""

    name: str
    """The parameter of the sentence."""
    label: Message
    """What belongs there."""
    usual: Message | None = None
    """What stands there as long as nobody writes something else; None: it has to be said."""


class ReadySentence(NamedTuple):
    """A sentence about one circuit."""

    word: str
    text: Message
    """What it does."""
    sentence: Callable[..., Message]
    """Takes `circuit` and the gaps by their names."""
    gaps: tuple[Gap, ...] = ()
    """In the order in which they are filled in."""


READY_SENTENCES = (
    ReadySentence(
        "fix",
        msg("Find and fix what the simulator reports"),
        template("Simulate {circuit}, find the cause of what ngspice reports, and fix it."),
    ),
    ReadySentence(
        "optimize",
        msg("Change values until the goals are met"),
        template("Optimize {circuit} until {aim}, with as few changes as possible."),
        (Gap("aim", msg("aim"), msg("its goals are met")),),
    ),
    ReadySentence(
        "sweep",
        msg("Sweep a value, then explain"),
        template("Sweep {part} of {circuit} from {start} to {stop} in {steps}, then explain {question}."),
        (
            Gap("part", msg("part")),
            Gap("start", msg("first value")),
            Gap("stop", msg("last value")),
            Gap("steps", msg("steps"), msg("E6 values")),
            Gap("question", msg("question"), msg("what it does to the goals")),
        ),
    ),
    ReadySentence(
        "explain",
        msg("Explain how the circuit works, with its figures"),
        template("Explain how {circuit} works, stage by stage, with figures from a simulation."),
    ),
    ReadySentence(
        "montecarlo",
        msg("Yield with tolerances"),
        template("Run a Monte Carlo study of {circuit}, resistors {resistors}, capacitors {capacitors}."),
        (
            Gap("resistors", msg("tolerance of resistors"), msg("1 %")),
            Gap("capacitors", msg("tolerance of capacitors"), msg("5 %")),
        ),
    ),
    ReadySentence(
        "report",
        msg("Summarize the design with its measured figures"),
        template("Summarize {circuit}: goals, topology, measured figures with margins, open questions."),
    ),
)
