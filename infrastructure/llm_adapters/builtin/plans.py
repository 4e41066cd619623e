"""What the plans of the built-in model are made of: a call, its outcome, how failures and figures are told.

A plan yields calls of tools, is given what they answered, and returns the text of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import PurePosixPath
from typing import Any, TypeVar

from domain.circuit.line_changes import value_changes
from domain.circuit.netlist import LIBRARY_SUFFIXES
from shared.errors import CircuitAIError
from shared.message import Message, msg

LONGEST_QUOTE = 4000
"""Characters of a tool's text that an answer repeats."""
FIGURE = re.compile(
    r"(?P<name>.+?) = (?P<figure>[-+]?\d[\d.]*(?:e[-+]?\d+)?(?: \S+)?|no value)", re.IGNORECASE
)
"""A line with a figure as run_simulation and inspect_data write it."""
_HEADER = re.compile(r"\[.*: lines (?P<ranges>\d[\d, -]*) of (?P<total>\d+)(?:, [^\]]*)?\]")
_ERROR = re.compile(r"Error \((?P<type>\w*)\): ?")

_T = TypeVar("_T")
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


_NO_FILE = re.compile(r"File (?P<path>[^\n]+) does not exist\.(?:\nSimilar names: (?P<names>[^\n]+)\.)?")

Plan = Generator[Call, Outcome, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """How the answer is worded, and what is known of the project."""

    say: Say
    circuits: Sequence[str]
    """The circuits the request lists."""
    said: str = ""
    """The sentence that is answered."""
    past: Sequence[Sequence[tuple[str, Mapping[str, Any], bool]]] = ()
    """Of each earlier turn the calls: tool, arguments, whether it succeeded."""

    def listed(self, parts: Iterable[str | Message]) -> str:
        """`R1, C1`, as the language lists names and figures."""
        told = [part if isinstance(part, str) else self.say(part) for part in parts]
        return (
            reduce(lambda one, then: self.say(msg("{one}, {then}", one=one, then=then)), told) if told else ""
        )

    def sentences(self, parts: Iterable[str]) -> str:
        """One behind the other; behind a full stop of Chinese there is no blank."""
        return re.sub(r"(?<=[。！？]) ", "", " ".join(parts))


def which_file(circuits: Sequence[str]) -> Message:
    if not circuits:
        return msg("The project has no circuit to change. Name the file, or ask me to design one.")
    names = ", ".join(circuits[:20])
    return msg("The project has several circuits: {names}. Say which one you mean.", names=names)


def failed(outcome: Outcome, speech: Speech) -> str:
    reason = outcome.reason[:LONGEST_QUOTE]
    found = _NO_FILE.fullmatch(reason)
    if found is None:
        return speech.say(msg("That did not work: {reason}", reason=reason))
    told = speech.say(msg("File {path} does not exist.", path=found["path"]))
    names = found["names"]
    return f"{told}\n{speech.say(msg('Similar names: {names}.', names=names))}" if names else told


def told(error: CircuitAIError, speech: Speech) -> str:
    parts = [error.message, *((error.advice,) if error.advice is not None else ())]
    return speech.sentences(speech.say(part) for part in parts)


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


def watched(plan: Generator[Call, Outcome, _T], seen: list[Outcome]) -> Generator[Call, Outcome, _T]:
    """The same plan; what its calls came to stands in `seen`."""
    try:
        call = next(plan)
        while True:
            seen.append((yield call))
            call = plan.send(seen[-1])
    except StopIteration as end:
        value: _T = end.value
        return value


def not_settled(seen: Iterable[Outcome], speech: Speech) -> list[str]:
    """That a figure is of a run which has not settled, where inspect_data says so."""
    if not any(_NOT_SETTLED in each.text for each in seen):
        return []
    remark = msg("The run has not settled at its end; a longer one has other figures.")
    return [speech.say(remark)]


_NOT_SETTLED = "has NOT SETTLED there"


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line.strip()}" for line in lines)


def change_values(
    file: str, values: Sequence[tuple[str, str]], speech: Speech, *, is_one: bool = False
) -> Generator[Call, Outcome, tuple[list[str], bool]]:
    """Give elements or parameters of a file new values: what was done, and whether all of it was.

    `is_one`: in one change, all of them or none.
    """
    outcome = yield Call(tool="read_file", arguments={"path": file})
    if outcome.error_type:
        return [failed(outcome, speech)], False
    text = whole_text(outcome)
    if text is None:  # too long to be shown whole: the places of the name are enough
        outcome = yield Call(tool="read_file", arguments={"path": file, "query": values[0][0]})
        if outcome.error_type:
            return [failed(outcome, speech)], False
        text = _shown_text(outcome)
    has_title = PurePosixPath(file).suffix.lower() not in LIBRARY_SUFFIXES
    begins = re.search(r": lines 1-", outcome.lines[0]) is not None
    try:
        edits = value_changes(text, values, has_title=has_title and begins)
    except CircuitAIError as error:
        return [told(error, speech)], False
    done: list[str] = []
    patches = [(edit.search, edit.replace) for edit in edits]
    if is_one and len(edits) > 1 and begins:
        changed = reduce(lambda now, edit: now.replace(edit.search, edit.replace, 1), edits, text)
        patches = [passage(text.split("\n"), changed.split("\n"))]
    for search, replace in patches:
        outcome = yield Call(
            tool="patch_file", arguments={"path": file, "search": search, "replace": replace}
        )
        if outcome.error_type:
            return [failed(outcome, speech)], False
    for edit in edits:
        before, after = (text.replace("\n", "; ") for text in (edit.before, edit.after))
        now = msg("{file}: “{before}” is now “{after}”.", file=file, before=before, after=after)
        done.append(speech.say(now))
    if not edits:
        done.append(speech.say(msg("{file} already has these values.", file=file)))
    return done, True


def passage(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """The one passage that differs, with as many lines around it as make it unique."""
    start, end = 0, 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    text = "\n".join(before)
    while True:
        search = "\n".join(before[start : len(before) - end])
        if (start == 0 and end == 0) or (search.strip() and text.count(search) == 1):
            return search, "\n".join(after[start : len(after) - end])
        start, end = max(start - 1, 0), max(end - 1, 0)


def whole_text(outcome: Outcome) -> str | None:
    """The lines read_file shows, None when they are not the whole file."""
    header = _HEADER.fullmatch(outcome.lines[0])
    if header is None or header["ranges"] != f"1-{header['total']}":
        return None
    lines = outcome.lines[1 : 1 + int(header["total"])]
    return "\n".join(lines) if len(lines) == int(header["total"]) else None


def _shown_text(outcome: Outcome) -> str:
    """The lines read_file shows, its marks between them as comments."""
    lines = ["*" if re.fullmatch(r"\[.*\]", line) else line for line in outcome.lines[1:]]
    return "\n".join(lines)
