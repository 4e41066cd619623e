"""The figures of the tones in a spectrum: a line for each trace."""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.simulation.distortion import Distortion
from presentation.panels.waveforms.beside.drawing import ToneFigures
from presentation.panels.waveforms.figures import SPACE, fixed, joined, quantity
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.workspace import WindowServices
from shared.message import msg

_MOST_ROWS = 3
"""Without scrolling."""
_LEAST_SHARE = 1e-8
"""Below it, and above as many dB, there is only the arithmetic."""
_COLUMN = 80
"""Pixels of a column, its unit included."""
_NAMES = ("f\N{SUBSCRIPT ONE}", "A\N{SUBSCRIPT ONE}", "THD", "SFDR", "SNR", "SINAD", "ENOB", "THD+N")
_FIRST_TO_GO = ("THD+N", "A\N{SUBSCRIPT ONE}", "SINAD", "ENOB", "f\N{SUBSCRIPT ONE}")
"""Columns without room; what they say is in another one, or in the drawing."""


class ToneTable(FigureTable):
    """Fundamental, THD, THD+N, SNR, SINAD, ENOB, SFDR of each trace."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "tone_figures")
        self._figures: Sequence[ToneFigures] = ()
        self._names: list[str] = []
        self.retranslate()

    def show_figures(self, figures: Sequence[ToneFigures]) -> None:
        self._figures = figures
        self.retranslate()

    def height_of_rows(self) -> int:
        return self.wanted_height(min(len(self._figures), _MOST_ROWS))

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Another room, more or fewer columns."""
        super().resizeEvent(event)
        if self._shown_names() != self._names:
            self.retranslate()

    def in_one_line(self, expression: str) -> str:
        """The figures of one trace in words, for where the table has no room; "" where it has none."""
        figures = next((each for each in self._figures if each.expression == expression), None)
        if figures is None or figures.distortion is None:
            return ""
        cells = self._cells(figures.distortion, figures.unit)
        told = {name.lower(): joined(cells[name].text, cells[name].unit) for name in ("THD", "SFDR", "SNR")}
        words = msg("{signal}: THD {thd}, SFDR {sfdr}, SNR {snr}", signal=expression, **told)
        return self._services.language(words)

    def retranslate(self) -> None:
        language = self._services.language
        self.setAccessibleName(language(msg("Figures of the spectrum")))
        self._names = names = self._shown_names()
        self.clearSpans()
        self.show_rows(
            [Column(title=""), *(Column(title=name, is_number=True) for name in names)],
            [self._row(each, names) for each in self._figures],
        )
        for number, each in enumerate(self._figures):
            if each.distortion is None:
                self.setSpan(number, 1, 1, len(names))

    def _shown_names(self) -> list[str]:
        """The columns there is room for."""
        most = max(int(self.width() / (_COLUMN * self._services.theme.theme.scale)) - 1, 3)
        lacking = len(_NAMES) - most
        gone = _FIRST_TO_GO[: max(lacking, 0)]
        return [name for name in _NAMES if name not in gone]

    def _row(self, figures: ToneFigures, names: Sequence[str]) -> list[Cell]:
        swatch = f"trace.{figures.color % 8}"
        head = Cell(text=figures.expression, style="small", swatch=swatch, tip=figures.expression)
        tone = figures.distortion
        if tone is None:
            words = "" if figures.problem is None else self._services.language(figures.problem)
            rest = [Cell(text="", style="small")] * (len(names) - 1)
            return [head, Cell(text=words, style="small", color="text.secondary", tip=words), *rest]
        cells = self._cells(tone, figures.unit)
        return [head, *(cells[name] for name in names)]

    def _cells(self, tone: Distortion, unit: str) -> dict[str, Cell]:
        at = joined(*quantity(tone.spur_hz, "Hz"))
        spur = self._services.language(msg("Largest other line at {frequency}", frequency=at))
        cells = (
            _cell(*quantity(tone.fundamental.frequency_hz, "Hz")),
            _cell(*quantity(tone.fundamental.amplitude, unit)),
            _cell(*_percent(tone.thd)),
            _cell(*_decibels(tone.sfdr_db), tip=spur),
            _cell(*_decibels(tone.snr_db)),
            _cell(*_decibels(tone.sinad_db)),
            _cell(fixed(tone.enob, 2), ""),
            _cell(*_percent(tone.thd_n)),
        )
        return dict(zip(_NAMES, cells, strict=True))


def _cell(text: str, unit: str, tip: str = "") -> Cell:
    return Cell(text=text, unit=unit, style="small", tip=tip)


def _percent(share: float) -> tuple[str, str]:
    return quantity(100 * share, "%", 3) if share >= _LEAST_SHARE else ("0", "%")


def _decibels(value: float) -> tuple[str, str]:
    most = -20 * math.log10(_LEAST_SHARE)
    return (fixed(value, 1) if value < most else f">{SPACE}{most:.0f}"), "dB"
