"""A hundred and twenty questions and wishes by an author who was shown no rules: what each is taken for.

`plain_questions.txt` holds one a line: the sentence | what is done about it, in short. They were put beside a
common-emitter stage, a buck converter and a Sallen-Key filter. "not understood" stands where nothing is done.
"""

from __future__ import annotations

from pathlib import Path

from infrastructure.llm_adapters.builtin.commands import (
    Change,
    Command,
    Design,
    Several,
    Simulate,
    understand_command,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from tests.ground.cases import for_each

_LINES = Path(__file__).with_name("plain_questions.txt").read_text(encoding="utf-8").splitlines()
_MOST_NOT_UNDERSTOOD = len(_LINES) // 20
"""One of twenty."""


def in_short(command: Command) -> str:
    """``tune cutoff of R1 = 2000 Hz, keeps c``; the parts of a sentence with "then" between."""
    match command:
        case Several(commands=commands):
            return " then ".join(map(in_short, commands))
        case Change(values=values, ask=ask):
            told = " ".join(f"{name}={value}" for name, value in values)
            return f"change {told}" + (f", before and after: {in_short(ask)}" if ask is not None else "")
        case Simulate(stop=stop):
            return f"simulate until {stop}" if stop else "simulate"
        case Design():
            return "not understood"
        case Ask():
            return _ask_in_short(command)
        case _:
            return type(command).__name__.lower()


def _ask_in_short(ask: Ask) -> str:
    words = [ask.intent, *ask.figures]
    names = (*ask.names, *ask.nodes) if ask.intent != "find_part" else (ask.query,)
    words += [f"of {' '.join(names)}"] if any(names) else []
    words += [f"at {ask.at:g} {ask.at_unit}".rstrip()] if ask.at is not None else []
    words += [f"and {place:g}" for place in ask.also]
    words += [f"at {ask.place}"] if ask.place else []
    words += [f"from {ask.span[0]:g} to {ask.span[1]:g}"] if ask.span is not None else []
    if ask.value is not None and ask.span is None:
        sign = {"at_least": ">=", "at_most": "<="}.get(ask.bound or "", "=")
        words.append(f"{sign} {ask.value:g} {ask.unit}".rstrip())
    words += [f"{letter or 'all'} {100 * share:g}%" for letter, share in ask.tolerances]
    words += [f"with {name}={value}" for name, value in ask.parameters]
    words += [f"{ask.runs} runs"] if ask.runs else []
    words += [f"within {100 * ask.near:g}%"] if ask.near else []
    words += [f"{ask.share:.3g} of the supply"] if ask.share else []
    words += [f"without {' '.join(ask.removed)}"] if ask.removed else []
    words += [f"keeps {' '.join(ask.kept)}"] if ask.kept else []
    words += [ask.series] if ask.series else []
    return " ".join(words + ([] if ask.writes else ["not written"]))


@for_each(("sentence", "meant"), [tuple(line.rsplit(" | ", 1)) for line in _LINES])
def test_a_plain_question_is_taken_as_meant(sentence: str, meant: str) -> None:
    assert in_short(understand_command(sentence, ("circuit.cir",))) == meant


def test_at_most_one_of_twenty_is_not_understood() -> None:
    lost = [line for line in _LINES if line.endswith(" | not understood")]
    assert len(lost) <= _MOST_NOT_UNDERSTOOD, lost
