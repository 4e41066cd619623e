"""What has to be known of the shown run, in a line above its curves or tables; the way to run it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from domain.simulation.verdict import verdict_words
from presentation.panels.waveforms.family import MOST_DRAWN
from presentation.progress_words import step_text
from presentation.ui.keys_back import KeysBack
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.simulation import Growth
    from application.simulation.waveforms import StoredFigures
    from presentation.panels.waveforms.drawn_plot import DrawnPlot
    from presentation.panels.waveforms.preview_curves import PreviewCurves
    from presentation.panels.waveforms.run_overlay import RunOverlay
    from presentation.panels.waveforms.shown_result import ShownResult


Tone = Literal["tertiary", "warn", "error"]


class RunNote(QWidget):
    """Hidden while there is nothing to say. `circuit` is that of the shown run, whatever the editor shows."""

    def __init__(self, services: WindowServices, name: str, circuit: Callable[[], Path | None]) -> None:
        super().__init__()
        self._services, self._circuit = services, circuit
        self._icon = QLabel()
        self._text = text_label(name=f"{name}_note", wraps=True)
        self._again = push_button(name=f"{name}_again", clicked=self._run_again, kind="link")
        self._row = arrange(QHBoxLayout(self), self._icon, (self._text, 1), self._again)
        self._row.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop)
        KeysBack(self).watch(self._again)

    @property
    def text(self) -> str:
        return self._text.text()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, small, edge, small), gap=theme.size("space.2"))

    def retranslate(self) -> None:
        self._again.setText(self._services.language(msg("Run again")))

    def show_notes(self, notes: Sequence[Message], is_stale: bool, tone: Tone) -> None:
        """`is_stale`: the circuit has changed since, and may be run again."""
        self.setVisible(bool(notes))
        self._again.setVisible(is_stale)
        self._icon.setVisible(is_stale or tone == "warn")
        if notes:
            side = self._services.theme.theme.size("icon.small")
            icon, color = ("clock", "text.tertiary") if is_stale else ("triangle-alert", "warn.icon")
            self._icon.setPixmap(self._services.icons.get(icon, color, side).pixmap(QSize(side, side)))
            mark(self._text, role=tone)
            self._text.setText("   ".join(map(self._services.language, notes)))

    def _run_again(self, _checked: bool = False) -> None:
        if (circuit := self._circuit()) is not None:
            self._services.workspace.circuit_run_requested.emit(circuit)


def _verdict_of(figures: StoredFigures) -> Message:
    return verdict_words(figures.verdict, figures.status, figures.reach)


def _notes_of_growth(growth: Growth, *, is_paused: bool) -> list[Message]:
    notes = []
    if growth.steps is not None:
        notes.append(step_text(growth.steps))
    notes.append(_reach_text(growth, is_paused=is_paused))
    if growth.stride > 1:
        notes.append(msg("One point in {count} is drawn until the run ends.", count=growth.stride))
    return notes


def _reach_text(growth: Growth, *, is_paused: bool) -> Message:
    """``Running: 3.2 ms of 10 ms.``, ``Paused at 3.2 ms of 10 ms.``"""
    if growth.reach is None:
        return msg("Paused.") if is_paused else msg("Running.")
    at, of = growth.reach.figures
    if is_paused:
        return msg("Paused at {at} of {of}.", at=at, of=of) if of else msg("Paused at {at}.", at=at)
    return msg("Running: {at} of {of}.", at=at, of=of) if of else msg("Running: {at}.", at=at)


def notes_of(
    shown: ShownResult,
    now: DrawnPlot,
    overlay: RunOverlay,
    previews: PreviewCurves,
    *,
    is_reading: bool,
) -> tuple[list[Message], bool, Tone]:
    """What was refused, is being read, or lacks in the drawing; whether that is stale; the tone."""
    notes: list[Message] = []
    is_stale = False
    if now.refused is not None:
        notes = [now.refused]
    elif is_reading and now.plot is not None:
        notes = [msg("Reading the result…")]
    elif shown.error is not None and now.plot is not None:
        notes = [shown.error]
    elif now.plot is not None:
        is_stale = shown.is_stale
        notes = _of_drawing(shown, now, overlay)
        is_previewed = not previews.is_live and previews.are_beside(now.plot)
        if is_previewed:  # a line that comes would move the plot under the hand
            notes.insert(0, msg("Dashed: if undone.") if previews.is_undo else msg("Dashed: preview."))
    if shown.awaited is not None:
        notes.append(
            msg(
                "{name} is running. Its curves appear at the end: ngspice writes the results of a "
                "control block only then.",
                name=shown.awaited.name,
            )
        )
    return notes, is_stale, "error" if now.refused or shown.error else "tertiary"


def _of_drawing(shown: ShownResult, now: DrawnPlot, overlay: RunOverlay) -> list[Message]:
    """All that has to be known of the curves as they stand; none of it hides another."""
    loaded, missing, family = shown.loaded, now.missing, len(now.family)
    notes = []
    if shown.is_stale:
        notes.append(msg("The circuit has changed since this run."))
    figures = None if loaded is None else loaded.figures
    if loaded is not None and loaded.growth is not None:
        notes += _notes_of_growth(loaded.growth, is_paused=shown.is_paused)
    elif figures is not None and figures.verdict == "partial":
        notes.append(msg("This run is {verdict}.", verdict=_verdict_of(figures)))
    elif loaded is not None and loaded.is_truncated:
        notes.append(msg("The raw file ends early: it has fewer points than its header says."))
    if missing and not shown.is_loading:
        notes.append(msg("Not in this run and not drawn: {names}", names=", ".join(missing)))
    rough = [trace.shown_name for trace in now.traces if trace.is_alternating]
    if rough and figures is not None and figures.is_ours:
        notes.append(
            msg(
                "{names} jumps from one time point to the next: that is the error of trapezoidal "
                "integration, not the circuit. .options method=gear in the circuit damps it.",
                names=", ".join(rough),
            )
        )
    still = [trace.shown_name for trace in now.traces if trace.is_about_to_start]
    if still:
        notes.append(
            msg(
                "{names} has not started to oscillate: ideal parts start from rounding only. Give it a start "
                "with .ic, for example .ic v(out)=0.1, or simulate longer.",
                names=", ".join(still),
            )
        )
    if overlay.own:
        notes.append(msg("Pale: {runs}", runs=", ".join(overlay.own)))
    if overlay.foreign:
        notes.append(msg("Overlaid from another circuit: {runs}", runs=", ".join(overlay.foreign)))
    if overlay.strange:
        notes.append(msg("Overlaid, computed elsewhere: {runs}", runs=", ".join(overlay.strange)))
    if family > MOST_DRAWN:
        notes.append(
            msg(
                "{drawn} of {count} runs are drawn, evenly distributed; the list above has all of them.",
                drawn=MOST_DRAWN,
                count=family,
            )
        )
    if loaded is not None and loaded.figures is not None and not loaded.figures.is_ours:
        notes.append(msg("Computed elsewhere, not by this installation."))
    return notes
