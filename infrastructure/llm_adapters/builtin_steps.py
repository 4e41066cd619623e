"""The parts of the built-in model's plans: a call, its outcome, and how failures and figures are told."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.errors import CircuitAIError
from shared.message import Message, msg

LONGEST_QUOTE = 4000
"""Characters of a tool's text that an answer repeats."""
FIGURE = re.compile(
    r"(?P<name>.+?) = (?P<figure>[-+]?\d[\d.]*(?:e[-+]?\d+)?(?: \S+)?|no value)", re.IGNORECASE
)
"""A line with a figure as run_simulation and inspect_data write it."""
_ERROR = re.compile(r"Error \((?P<type>\w*)\): ?")

Say = Callable[[Message], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool to be called."""

    tool: str
    arguments: Mapping[str, Any]
    sizing: Mapping[str, Any] | None = None
    """What goes with it of a circuit it writes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool answered."""

    text: str

    @property
    def error_type(self) -> str:
        """The kind of its failure; "" when it succeeded."""
        found = _ERROR.match(self.text)
        return found["type"] if found else ""

    @property
    def reason(self) -> str:
        return _ERROR.sub("", self.text, count=1).strip()

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


Plan = Generator[Call, Outcome, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """How the answer is worded, and what is known of the project."""

    say: Say
    circuits: Sequence[str]
    """The circuits the request lists."""


def abilities() -> Message:
    from domain.design.catalogue import abilities as designed_circuits  # the families: only who tells of them

    return msg(
        "I am the built-in designer, not a language model: I follow plain commands. From one sentence "
        "I design {circuits}. I also simulate a circuit; change a value (“set R1 to 2k in amp.cir and "
        "simulate”); measure (“measure bandwidth(v(out)) of amp.cir”); list, show, search, analyze and "
        "delete files. For anything else choose a language model: below the message box in the window, "
        "or with `providers` on the command line.",
        circuits=designed_circuits(),
    )


def failed(outcome: Outcome, speech: Speech) -> str:
    return speech.say(msg("That did not work: {reason}", reason=outcome.reason[:LONGEST_QUOTE]))


def told(error: CircuitAIError, speech: Speech) -> str:
    parts = [error.message, *((error.advice,) if error.advice is not None else ())]
    return " ".join(speech.say(part) for part in parts)


def simulation_failed(outcome: Outcome, speech: Speech) -> str:
    if outcome.error_type != "simulation_failed":
        return failed(outcome, speech)
    errors = [line.removeprefix("error: ") for line in outcome.lines if line.startswith("error: ")]
    said = speech.say(msg("The simulation failed:"))
    return f"{said}\n{bullets(errors or [outcome.reason[:LONGEST_QUOTE]])}"


def inspection(file: str, expressions: Sequence[str]) -> Call:
    """The call for figures of a circuit's newest result ("" = of the only circuit)."""
    arguments: dict[str, Any] = {"file_path": file} if file else {}
    return Call(tool="inspect_data", arguments={**arguments, "expressions": list(expressions)})


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line.strip()}" for line in lines)
