"""Writing a generated circuit down: title, notes, goals, one element a line with its role, cards.

Every deck follows one convention: input source `Vin` with `AC 1` at node `in`, output node `out`,
models in the same file, no control block; names and values are ASCII, comments may be in the
user's language (UTF-8). A comment never begins with `*#`, which ngspice would run as a command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.circuit.figures import with_unit
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

Say = Callable[[Message], str]
"""Turns a message into the user's language; `str` gives English."""

_COMMENT_COLUMN = 34


def spice(value: float) -> str:
    """A number as SPICE reads it, short: six digits are more than any part keeps."""
    return format_number(value, 6)


class Deck:
    """A netlist in the making."""

    def __init__(self, title: str, say: Say = str) -> None:
        self._say = say
        self._lines = [_one_line(title)]

    def note(self, message: Message) -> None:
        self._lines.append(f"* {_one_line(self._say(message))}")

    def rule(self) -> None:
        """An empty comment line between groups."""
        self._lines.append("*")

    def part(self, line: str, role: Message) -> None:
        """An element or card and, behind it, what it is for."""
        self._lines.append(f"{line:<{_COMMENT_COLUMN}} ; {_one_line(self._say(role))}")

    def outputs(self, letter: str) -> list[str]:
        """The last node of each element of a kind written so far: of an op-amp its output."""
        return [line.split()[-2] for text in self._lines if (line := text.split(";")[0]).startswith(letter)]

    def cards(self, *lines: str) -> None:
        self._lines.extend(lines)

    def goals(self, goals: Sequence[DesignGoal]) -> None:
        """The goals, one comment line each, in the words of the expression language."""
        self.note(msg("Goals:"))
        self._lines.extend(f"*   {goal.metric}: {_bounds(goal)}" for goal in goals)

    def text(self) -> str:
        """The whole deck, `.end` included."""
        return "\n".join([*self._lines, ".end", ""])


def _bounds(goal: DesignGoal) -> str:
    low = "" if goal.minimum is None else f"{_amount(goal.minimum, goal.unit)} <= "
    high = "" if goal.maximum is None else f" <= {_amount(goal.maximum, goal.unit)}"
    return f"{low}{goal.expression}{high}"


def _amount(value: float, unit: str) -> str:
    return f"{value:.6g}" if unit == "1" else with_unit(value, unit, 6)


def _one_line(text: str) -> str:
    return " ".join(text.split())
