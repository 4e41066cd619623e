"""What the editor says about a text: problems with their places and quick fixes, found off the loop."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.netlist import LIBRARY_SUFFIXES, NETLIST_SUFFIXES
from domain.circuit.numbers import split_suffix
from domain.llm.tools.text_files import Encoding, NotEncodableError, encode, split_lines
from presentation.panels.editor.text_changes import changed_lines
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.simulation.checking import CheckReport
    from domain.circuit.findings import Diagnostic, Severity


def is_spice(path: Path) -> bool:
    return path.suffix.lower() in NETLIST_SUFFIXES


def has_title(path: Path) -> bool:
    """Whether the first line of a file is a title."""
    return path.suffix.lower() not in LIBRARY_SUFFIXES


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickFix:
    """One edit that mends a problem."""

    title: Message
    reason: Message
    """The problem in a few words, for the end of its line."""
    start: int
    end: int
    """Bytes of the UTF-8 text."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of a check, for squiggle, margin, hover and list."""

    file: Path
    line: int
    """From 1, as ngspice counts."""
    column: int | None
    """From 1, in characters; None when the whole line is meant."""
    severity: Severity
    code: str
    message: Message
    start: int = 0
    end: int = 0
    """Bytes of the UTF-8 text of the checked file; 0, 0 for a problem in another file."""
    fix: QuickFix | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything that was found out about one state of a text."""

    problems: tuple[Problem, ...] = ()
    models: frozenset[str] = frozenset()
    """Lower-case names of the models it defines."""
    changed: tuple[tuple[int, int], ...] = ()
    """Lines, first and last from 1, that differ from what the buffer began with."""

    def count(self, severity: Severity) -> int:
        """How many problems of a severity there are."""
        return sum(problem.severity == severity for problem in self.problems)


_MODEL = re.compile(r"^[ \t]*\.model[ \t]+([^\s(]+)", re.IGNORECASE | re.MULTILINE)


def bytes_of(text: str, encoding: Encoding) -> bytes:
    """The text as the check gets it; what its encoding cannot hold is said when it is saved."""
    try:
        return encode(text, encoding)
    except NotEncodableError:
        return text.encode()


def examine(report: CheckReport | None, path: Path, text: str, *, baseline: str) -> Examination:
    """What a check of the unsaved `text` of `path` means for the editor; None: it is no circuit.

    `baseline` is the text its changes are counted from. For a thread: some milliseconds.
    """
    changed = changed_lines(baseline, text) if baseline != text else ()
    if report is None:
        return Examination(changed=changed)
    lines = _Lines(text)
    problems = tuple(_problem(diagnostic, report.file, path, lines) for diagnostic in report.diagnostics)
    models = frozenset(name.lower() for name in _MODEL.findall(text))
    return Examination(problems=problems, models=models, changed=changed)


class _Lines:
    """Lines as ngspice counts them, with the bytes where they begin in the UTF-8 text."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _texts(self) -> Sequence[str]:
        return split_lines(self._text)

    @property
    def end(self) -> str:
        """What its lines end with."""
        if "\r" not in self._text:
            return "\n"
        return "\r\n" if "\r\n" in self._text else "\n" if "\n" in self._text else "\r"

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for piece in self._text.split(self.end[-1]):
            starts.append(starts[-1] + len(piece.encode()) + 1)
        return starts

    def text(self, line: int) -> str:
        return self._texts[line - 1] if 0 < line <= len(self._texts) else ""

    def byte(self, line: int, column: int) -> int:
        """Byte of a character, both from 1."""
        return self._starts[min(line, len(self._starts)) - 1] + len(self.text(line)[: column - 1].encode())


def _problem(diagnostic: Diagnostic, checked: Path, shown: Path, lines: _Lines) -> Problem:
    is_here = diagnostic.file is None or diagnostic.file == checked
    problem = Problem(
        file=shown if is_here else diagnostic.file or shown,
        line=diagnostic.line,
        column=diagnostic.column,
        severity=diagnostic.severity,
        code=diagnostic.code,
        message=diagnostic.message,
    )
    if not is_here:
        return problem
    first, last = _extent(lines.text(diagnostic.line), diagnostic)
    return replace(
        problem,
        start=lines.byte(diagnostic.line, first),
        end=lines.byte(diagnostic.line, last),
        fix=_fix(diagnostic, lines)
        or _include(diagnostic, lines, has_title=has_title(shown))
        or _renaming(diagnostic, lines),
    )


def _extent(line: str, diagnostic: Diagnostic) -> tuple[int, int]:
    """First column of a finding and the one behind it."""
    if diagnostic.column is None or diagnostic.column > len(line):
        body = line.rstrip()
        return len(body) - len(body.lstrip()) + 1, max(len(body) + 1, 2)
    rest = line[diagnostic.column - 1 :]
    said = str(diagnostic.message.params.get("text", ""))
    if said and rest.startswith(said):
        return diagnostic.column, diagnostic.column + len(said)
    word = re.match(r"\{[^}]*\}?|'[^']*'?|\"[^\"]*\"?|[^\s=(),;]+|.", rest)
    return diagnostic.column, diagnostic.column + (word.end() if word else 1)


_UNITS = {"r": "Ω", "c": "F"}


def _fix(diagnostic: Diagnostic, lines: _Lines) -> QuickFix | None:
    """The mending of a number that reads otherwise than it was meant."""
    params = diagnostic.message.params
    written = str(params.get("text", ""))
    number = written.strip("{}' ")
    line = lines.text(diagnostic.line)
    # Without a column the line was rewritten before it was read: what stands there is not what was found.
    column = diagnostic.column
    place = line.find(number, column - 1) if number and column is not None else -1
    new = _mended(diagnostic.code, number, params) if place >= 0 else None
    if new is None:
        return None
    unit = _UNITS.get(line.lstrip()[:1].lower(), "")
    value = _spaced(str(params["value"]), unit)
    start = lines.byte(diagnostic.line, place + 1)
    return QuickFix(
        title=msg("Change to {text}", text=new),
        reason=msg("{text} is {value} in SPICE", text=number, value=value),
        start=start,
        end=start + len(number.encode()),
        text=new,
    )


def _include(diagnostic: Diagnostic, lines: _Lines, *, has_title: bool) -> QuickFix | None:
    """The card that brings an undefined model in, where the model library has it."""
    params = diagnostic.message.params
    if diagnostic.code not in ("undefined-model", "undefined-subcircuit") or "file" not in params:
        return None
    card = f".include {params['file']}"
    start = lines.byte(2 if has_title else 1, 1)
    return QuickFix(
        title=msg("Add {card}", card=card),
        reason=msg("{name} is in the model library", name=params["name"]),
        start=start,
        end=start,
        text=card + lines.end,
    )


def _renaming(diagnostic: Diagnostic, lines: _Lines) -> QuickFix | None:
    """The name that was probably meant, in place of one that nothing has."""
    name, near = (diagnostic.message.params.get(key) for key in ("name", "near"))
    column, line = diagnostic.column, lines.text(diagnostic.line)
    if column is None or not isinstance(name, str) or not isinstance(near, str):
        return None
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(line, column - 1)
    if word is None:
        return None
    return QuickFix(
        title=msg("Change to {text}", text=near),
        reason=msg("There is no {name}", name=word[0]),
        start=lines.byte(diagnostic.line, word.start() + 1),
        end=lines.byte(diagnostic.line, word.end() + 1),
        text=near,
    )


def _mended(code: str, number: str, params: Mapping[str, object]) -> str | None:
    if code == "mega-trap":
        try:
            mantissa, _suffix, unit = split_suffix(number)
        except ValueError:
            return str(params.get("mega", "")) or None
        return f"{mantissa}Meg{unit}"
    if code == "farad-trap":
        return str(params.get("farad", "")) or None
    if code == "number-tail":
        return str(params.get("micro", "")) or None
    return None


def _spaced(value: str, unit: str) -> str:
    """``10m`` and ``Ω`` as ``10 mΩ``, joined so that a line is not broken there."""
    match = re.fullmatch(r"(-?[\d.]+(?:e-?\d+)?)([A-Za-z]*)", value)
    if match is None:
        return value
    prefix = {"Meg": "M", "u": "µ"}.get(match[2], match[2])
    return f"{match[1]}\N{NO-BREAK SPACE}{prefix}{unit}" if prefix or unit else match[1]
