"""What the editor says about a text: problems with their places and quick fixes, found off the loop."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.netlist import LIBRARY_SUFFIXES, NETLIST_SUFFIXES
from domain.llm.tools.text_files import Encoding, NotEncodableError, encode
from presentation.panels.editor.quick_fixes import Lines, QuickFix, fix_of
from presentation.panels.editor.text_changes import changed_lines
from shared.message import Message

if TYPE_CHECKING:
    from application.simulation.checking import CheckReport
    from domain.circuit.findings import Diagnostic, Severity


def is_spice(path: Path) -> bool:
    return path.suffix.lower() in NETLIST_SUFFIXES


def is_schematic(path: Path) -> bool:
    """Whether an import makes a netlist of it: a sheet of LTspice or KiCad."""
    return path.suffix.lower() in (".asc", ".kicad_sch")


def has_title(path: Path) -> bool:
    """Whether the first line of a file is a title."""
    return path.suffix.lower() not in LIBRARY_SUFFIXES


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
    lines = Lines(text)
    problems = tuple(_problem(diagnostic, report.file, path, lines) for diagnostic in report.diagnostics)
    models = frozenset(name.lower() for name in _MODEL.findall(text))
    return Examination(problems=problems, models=models, changed=changed)


def _problem(diagnostic: Diagnostic, checked: Path, shown: Path, lines: Lines) -> Problem:
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
        fix=fix_of(diagnostic, lines, has_title=has_title(shown)),
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
