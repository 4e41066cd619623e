"""Changing values in a netlist: which lines become what, as calls of patch_file."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from infrastructure.llm_adapters.builtin_commands import Call, Outcome, Speech, failed, told
from shared.errors import CircuitAIError, CircuitError
from shared.message import msg

_HEADER = re.compile(r"\[.*: lines (?P<ranges>\d[\d, -]*) of (?P<total>\d+)(?:, [^\]]*)?\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """Neighbouring lines of a file and what they become."""

    before: str
    after: str
    search: str
    replace: str


def change_values(
    file: str, values: Sequence[tuple[str, str]], speech: Speech
) -> Generator[Call, Outcome, tuple[list[str], bool]]:
    """Give elements or parameters of a file new values: what was done, and whether all of it was."""
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
    for edit in edits:
        patch = {"path": file, "search": edit.search, "replace": edit.replace}
        outcome = yield Call(tool="patch_file", arguments=patch)
        if outcome.error_type:
            return [*done, failed(outcome, speech)], False
        now = msg("{file}: “{before}” is now “{after}”.", file=file, before=edit.before, after=edit.after)
        done.append(speech.say(now))
    if not edits:
        done.append(speech.say(msg("{file} already has these values.", file=file)))
    return done, True


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


def value_changes(text: str, values: Sequence[tuple[str, str]], *, has_title: bool) -> list[_Edit]:
    """The lines of a netlist that have to change to give elements or parameters new values.

    `has_title`: the first line is a title. Raises UserInputError for an unknown name or value, CircuitError
    ("ambiguous_element") for a name that several subcircuits have and the top level has not.
    """
    old = text.split("\n")
    new = list(old)
    for name, value in values:
        netlist = Netlist.parse("\n".join(new).encode(errors="replace"), has_title=has_title)
        first, last = _lines_of(netlist, name)
        lines = "\n".join(new[first:last]).encode(errors="replace")
        part = Netlist.parse(lines, has_title=has_title and first == 0)
        new[first:last] = part.with_value(name, value).to_bytes().decode().split("\n")
    changed = [at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    return [_edit(old, new, first, last) for first, last in _runs(changed)]


def _lines_of(netlist: Netlist, name: str) -> tuple[int, int | None]:
    """The lines to look at: all of them, or the one card of an element that only a subcircuit has."""
    named = [element for element in netlist.elements if element.key == name.lower()]
    if not named or any(not element.scope for element in named):
        return 0, None
    if len(named) > 1:
        raise CircuitError(
            msg("{name} appears in several subcircuits (lines {lines}).",
                name=name, lines=", ".join(str(element.line) for element in named)),
            advice=msg("Change it in the file itself, or use a language model."),
            error_type="ambiguous_element",
        )  # fmt: skip
    statements = netlist.statements
    following = [statement.line for statement in statements if statement.line > named[0].line]
    return named[0].line - 1, (following[0] - 1 if following else None)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _edit(old: Sequence[str], new: Sequence[str], first: int, last: int) -> _Edit:
    """The change of some lines, quoted with as many lines around as make the quotation unique."""
    text = "\n".join(old)
    low, high = first, last + 1
    while text.count("\n".join(old[low:high])) > 1 and high - low < len(old):
        low, high = max(low - 1, 0), min(high + 1, len(old))
    return _Edit(
        before="\n".join(old[first : last + 1]),
        after="\n".join(new[first : last + 1]),
        search="\n".join(old[low:high]),
        replace="\n".join([*old[low:first], *new[first : last + 1], *old[last + 1 : high]]),
    )
