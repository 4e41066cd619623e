"""What people read of a design: on the command line, and in the conversation that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import assert_never

from application.ports.events import (
    UNDO_TOOL,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    MainCircuitRestored,
    SessionOpened,
    TextWritten,
    ToolEnded,
)
from domain.simulation.goals import GoalVerdict
from presentation.goal_margins import limit_in_figures, value_and_limit
from presentation.goal_words import name_of, name_of_judged
from presentation.intent_words import understood_text
from presentation.translation import Translator, language_of
from shared.message import Message, msg, one_line


class Narrator:
    """Puts events of a design into words of one language."""

    def __init__(
        self, translate: Callable[[Message], str], *, quote: Callable[[str], str] = lambda text: text
    ) -> None:
        self._translate = translate
        self._quote = quote
        """Sets words of a model apart from the program's."""

    @classmethod
    def answering(cls, text: str) -> Narrator:
        """One that speaks the language of `text`."""
        return cls(Translator(language_of(text)))

    def __call__(self, event: DesignEvent) -> str:
        """The event in one or more lines; "" for what is not told in words."""
        return "\n".join(self._lines(event))

    def _lines(self, event: DesignEvent) -> Iterator[str]:
        match event:
            case SessionOpened(resumed_text=text, problems=problems):
                if text:
                    yield self._translate(msg("Continuing: {text}", text=text))
                yield from map(self._translate, problems)
            case GoalsUnderstood():
                yield from self._goals(event)
            case MainCircuitRestored(path=path):
                yield self._translate(msg("The main circuit is {path} again.", path=path))
            case TextWritten():
                shown = self._translate(event.text)
                yield self._quote(shown) if event.text.is_verbatim else shown
            case ToolEnded(name=name) if name != UNDO_TOOL:  # what became of an undo is said in words
                yield f"{'✓' if event.success else '✗'} {one_line(self._translate(event.summary))}"
            case IterationFinished():
                yield self._translate(msg("Round {number}:", number=event.number))
                yield from (f"  {self._verdict(verdict)}" for verdict in event.verdicts)
            case IntentRead():
                changes_design = bool(event.told)
                understood = understood_text(event.kind, event.round_number, changes_design=changes_design)
                yield self._translate(understood)
            case ErrorOccurred():
                yield from (self._translate(text) for text in (event.message, event.advice) if text)
            case Done():
                if event.stop_reason != "answered":  # the answer stands there already
                    yield self._translate(self._closing(event))
            case _:
                pass

    def _goals(self, event: GoalsUnderstood) -> Iterator[str]:
        yield self._translate(msg("Goals:"))
        for goal in event.goals:
            default = "" if goal.stated else f"  ({self._translate(msg('default'))})"
            yield f"  {one_line(self._translate(name_of(goal)))} {limit_in_figures(goal)}{default}"
        for assumption in event.assumptions:
            shown = self._translate(assumption)
            yield self._quote(f"  · {shown}") if assumption.is_verbatim else f"  · {shown}"

    def _verdict(self, verdict: GoalVerdict) -> str:
        mark = "✓" if verdict.met else "✗"
        value, limit = value_and_limit(verdict)
        shown = value if isinstance(value, str) else self._translate(value)
        return f"{mark} {one_line(self._translate(name_of_judged(verdict)))} = {shown}  ({limit})"

    def _closing(self, done: Done) -> Message:
        match done.stop_reason:
            case "goals_met":
                made = msg(
                    "Goals met; the circuit is that of round {rounds}: {circuit}",
                    rounds=done.round_number,
                    circuit=_file(done),
                )
                kept = msg("Goals met; the circuit stays as it was: {circuit}", circuit=_file(done))
                return made if done.round_number else kept
            case "goals_not_met":
                return self._missed(done)
            case "declined":
                return msg("Nothing was designed: the goals were not confirmed.")
            case "undone":
                return msg("Reverted: the project is as it was before this request.")
            case "stopped":
                return msg("Stopped.")
            case "error" | "answered":
                return msg("No circuit was finished.")
            case _:
                assert_never(done.stop_reason)

    def _missed(self, done: Done) -> Message:
        missed = [self._verdict(verdict) for verdict in done.verdicts if not verdict.met]
        told = {"rounds": done.rounds, "missed": self._translate(msg("; ")).join(missed)}
        if not done.circuit:
            return msg(
                "Goals not met after {rounds} {rounds:round|rounds} ({missed}); no circuit was written",
                **told,
            )
        return msg(
            "Goals not met after {rounds} {rounds:round|rounds} ({missed}); the circuit is in {circuit}",
            **told,
            circuit=_file(done),
        )


def _file(done: Done) -> Path | str:
    return done.project / done.circuit if done.circuit else "—"
