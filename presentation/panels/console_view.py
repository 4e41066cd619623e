"""The console: what was run, what came of it, and what the simulator printed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PyQt6.QtWidgets import QTextBrowser

from application.groups.simulation import Simulation
from domain.simulation.result import SimulationIssue, SimulationResult
from domain.simulation.verdict import verdict_of, verdict_words
from presentation.panels.problems_view import place_of
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun

_MOST_LINES = 5000
_MOST_LOG = 256 * 1024
"""Bytes of a simulator's log that are shown, the last."""


class ConsoleView(QTextBrowser):
    """Text as it came, newest below; places of errors are links."""

    def __init__(self, services: WindowServices, simulation: Simulation) -> None:
        super().__init__()
        self._services = services
        self._simulation = simulation
        self._places: list[tuple[Path, int | None]] = []
        self.setObjectName("console")
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        mark(self, plain=True)
        document = self.document()
        assert document is not None
        document.setMaximumBlockCount(_MOST_LINES)
        self.anchorClicked.connect(self._on_link)
        self._follows = True
        bar = self.verticalScrollBar()
        assert bar is not None
        self._bar = bar
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_grown)
        services.dress(self)

    def restyle(self, _theme: object = None) -> None:
        """Type and colours; what stands there keeps its words."""
        theme = self._services.theme.theme
        self.setFont(theme.font("mono_small"))
        document = self.document()
        assert document is not None
        document.setDefaultFont(theme.font("mono_small"))
        document.setDocumentMargin(theme.size("space.2"))
        self._recolor(document.begin())

    def retranslate(self, _name: object = None) -> None:
        """Texts of its own; lines that were written stay as they are."""
        language = self._services.language
        self.setAccessibleName(language(msg("Console")))
        self.setPlaceholderText(language(msg("Output of a run appears here.")))

    def started(self, circuit: Path) -> None:
        line = msg(
            "{time} Simulating {name}", time=f"{datetime.now().astimezone():%H:%M:%S}", name=circuit.name
        )
        self._write(self._services.language(line), "text.secondary")

    async def finished(self, outcome: SimulationResult | CircuitAIError) -> None:
        """A run has ended: its log, remarks and issues with their places, its end."""
        language = self._services.language
        if isinstance(outcome, CircuitAIError):
            self._write(language(outcome.message), "error.text", (outcome.file, outcome.line))
            if outcome.advice is not None:
                self._write(language(outcome.advice), "text.tertiary")
            return
        log = await self._simulation.waveforms.log_tail(outcome.run.log_path, _MOST_LOG)
        for line in log.splitlines():
            self._write(line.rstrip(), "text.primary")
        for note in outcome.notes:
            self._write(language(note.message), "text.secondary", (note.file, note.line))
        for issue in outcome.issues:
            self._write_issue(issue)
        seconds = f"{outcome.run.duration_s:.2f}"
        verdict = verdict_of(outcome)
        if verdict == "complete":
            layers = ", ".join(outcome.run.confinement)
            end = msg(
                "Simulated in {seconds} s with {simulator} ({confinement}).",
                seconds=seconds,
                simulator=outcome.run.simulator_version,
                confinement=layers or language(msg("not confined")),
            )
        elif verdict == "partial":
            words = verdict_words(verdict, outcome.run.status, outcome.run.reach)
            end = msg("After {seconds} s: {verdict}.", seconds=seconds, verdict=words)
        else:
            end = msg("The simulation failed after {seconds} s.", seconds=seconds)
        colors = {"complete": "ok.text", "partial": "warn.text", "failed": "error.text"}
        self._write(language(end), colors[verdict])

    def show_cases(self, runs: Sequence[CaseRun]) -> None:
        """A line for each kept case that was simulated beside the run."""
        from presentation.panels.case_verdicts import message_of

        for run in runs:
            text, color = message_of(run, self._services)
            self._write(self._services.language(text), color)

    def _write_issue(self, issue: SimulationIssue) -> None:
        language = self._services.language
        color = "error.text" if issue.severity == "error" else "warn.text"
        self._write(language(issue.message), color, (issue.file, issue.line))
        if issue.advice is not None:
            self._write(language(issue.advice), "text.tertiary")

    def _write(self, text: str, color: str, place: tuple[Path | None, int | None] = (None, None)) -> None:
        """One line at the end; it is scrolled to unless somebody is reading above."""
        document = self.document()
        assert document is not None
        cursor = QTextCursor(document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not document.isEmpty():
            cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
        file, line = place
        if file is not None:
            self._places.append((file, line))
            cursor.insertText(
                place_of(file, line), self._format("text.link", f"place:{len(self._places) - 1}")
            )
            cursor.insertText("  ", self._format(color))
        cursor.insertText(text, self._format(color))

    def _on_scrolled(self, value: int) -> None:
        self._follows = value >= self._bar.maximum() - self._bar.singleStep()

    def _on_grown(self, _least: int, most: int) -> None:
        if self._follows:
            self._bar.setValue(most)

    def _format(self, color: str, link: str = "") -> QTextCharFormat:
        form = QTextCharFormat()
        theme = self._services.theme.theme
        form.setFont(theme.font("mono_small"))
        form.setForeground(theme.color(color))
        form.setProperty(_COLOR_NAME, color)
        if link:
            form.setAnchor(True)
            form.setAnchorHref(link)
        return form

    def _recolor(self, block: object) -> None:
        """Every piece in its colour of the theme in force."""
        from PyQt6.QtGui import QTextBlock

        current = cast("QTextBlock", block)
        theme = self._services.theme.theme
        while current.isValid():
            pieces = current.begin()
            while not pieces.atEnd():
                fragment = pieces.fragment()
                name = fragment.charFormat().property(_COLOR_NAME)
                if isinstance(name, str):
                    cursor = QTextCursor(self.document())
                    cursor.setPosition(fragment.position())
                    cursor.setPosition(
                        fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor
                    )
                    change = QTextCharFormat()
                    change.setFont(theme.font("mono_small"))
                    change.setForeground(QColor(theme.color(name)))
                    cursor.mergeCharFormat(change)
                pieces += 1
            current = current.next()

    def _on_link(self, link: QUrl) -> None:
        number = link.toString().removeprefix("place:")
        if number.isdigit() and int(number) < len(self._places):
            file, line = self._places[int(number)]
            self._services.workspace.file_activated.emit(file, line)


_COLOR_NAME = QTextCharFormat.Property.UserProperty + 1
