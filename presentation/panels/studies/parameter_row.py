"""One row of a set-up: which parameters, how they are changed, which parts that are, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from PyQt6.QtCore import QStringListModel, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from domain.studies.setup import (
    MAP_SCALES,
    SCATTERED,
    CircuitOffer,
    Meaning,
    RowDistribution,
    RowScale,
    SetupKind,
    SetupRow,
    fitting,
    percent,
    row_problem,
    usual_ends,
)
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_MEANINGS: Sequence[tuple[Meaning, Message]] = (("bound", msg("bound")), ("sigma", msg("1 σ")))
_DISTRIBUTIONS: Sequence[tuple[RowDistribution, Message]] = (
    ("uniform", msg("uniform")),
    ("normal", msg("normal")),
    ("lognormal", msg("lognormal")),
)
_SCALE_WORDS: dict[RowScale, Message] = {"lin": msg("linear"), "log": msg("log"), "list": msg("list")}
_MOST_PARTS = 24
"""Parts with a box of their own; of a pattern that fits more the others are counted."""
_PARTS_IN_A_ROW = 3
_HINTS = {
    "bound": msg("bound: no part is outside the tolerance"),
    "sigma": msg("1 σ: the tolerance is one standard deviation; some parts are outside it"),
}


class ParameterRow(QWidget):
    """Edits a `SetupRow`; tells `changed` at each key."""

    changed = pyqtSignal()
    remove_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, kind: SetupKind, row: SetupRow, offer: CircuitOffer) -> None:
        super().__init__()
        self._services = services
        self._kind = kind
        self._offer = offer
        self._without = set(row.without)
        self.setObjectName("parameter_row")
        self.pattern = QLineEdit(row.pattern)
        self.pattern.setObjectName("parameter_pattern")
        self.pattern.setCompleter(self._completer())
        self.tolerance = QLineEdit(row.tolerance)
        self.tolerance.setObjectName("parameter_tolerance")
        self.meaning, self.distribution, self.scale = QComboBox(), QComboBox(), QComboBox()
        self.low, self.high = QLineEdit(row.low), QLineEdit(row.high)
        self.points, self.values = QLineEdit(row.points), QLineEdit(row.values)
        for name, field in (("low", self.low), ("high", self.high), ("points", self.points),
                            ("values", self.values)):  # fmt: skip
            field.setObjectName(f"parameter_{name}")
        for name, box in (("meaning", self.meaning), ("distribution", self.distribution),
                          ("scale", self.scale)):  # fmt: skip
            box.setObjectName(f"parameter_{name}")
            mark(box, small=True)
        for word, _ in _MEANINGS:
            self.meaning.addItem("", word)
        for distribution, _ in _DISTRIBUTIONS:
            self.distribution.addItem("", distribution)
        for scale in MAP_SCALES if kind == "map" else get_args(RowScale):
            self.scale.addItem(scale, scale)
        self.meaning.setCurrentIndex(self.meaning.findData(row.meaning))
        self.distribution.setCurrentIndex(self.distribution.findData(row.distribution))
        self.scale.setCurrentIndex(max(self.scale.findData(row.scale), 0))
        self._remove = IconButton(services, "x", msg("Remove"), name="parameter_remove")
        self._remove.clicked.connect(lambda _checked=False: self.remove_wanted.emit())
        self.parts: list[QCheckBox] = []
        self._grid = QGridLayout()
        self._more = text_label(role="tertiary", name="parameter_more")
        self._value = text_label(role="secondary", name="parameter_value")
        self._problem = text_label(role="error", name="parameter_problem", wraps=True)
        self._lay_out()
        self._connect()
        self._show_parts()
        services.dress(self)

    @property
    def problem(self) -> Message | None:
        return row_problem(self._kind, self.row, self._offer)

    @property
    def row(self) -> SetupRow:
        """As it is filled in now."""
        return SetupRow(
            pattern=self.pattern.text().strip(),
            without=tuple(sorted(self._without)),
            tolerance=self.tolerance.text().strip(),
            meaning=cast("Meaning", self.meaning.currentData()),
            distribution=cast("RowDistribution", self.distribution.currentData()),
            low=self.low.text().strip(),
            high=self.high.text().strip(),
            scale=cast("RowScale", self.scale.currentData()),
            points=self.points.text().strip(),
            values=self.values.text().strip(),
        )

    def set_offer(self, offer: CircuitOffer) -> None:
        """The circuit is another than before."""
        self._offer = offer
        self.pattern.setCompleter(self._completer())
        self._show_parts()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        for field in (self.pattern, self.tolerance, self.low, self.high, self.points, self.values):
            field.setFont(theme.tabular("ui") if field is self.tolerance else theme.font("mono_small"))
            mark(field, small=True)
        unit = theme.scale
        for field, width in (
            (self.pattern, 44 if self._kind in SCATTERED else 56),
            (self.tolerance, 56),
            (self.low, 54),
            (self.high, 54),
            (self.points, 34),
        ):
            field.setFixedWidth(round(width * unit))
        for box, width in ((self.meaning, 84), (self.distribution, 94), (self.scale, 70)):
            box.setFixedWidth(round(width * unit))
        self._grid.setHorizontalSpacing(theme.size("space.2"))
        self._grid.setVerticalSpacing(theme.size("space.half"))

    def retranslate(self) -> None:
        language = self._services.language
        for box, words in ((self.meaning, _MEANINGS), (self.distribution, _DISTRIBUTIONS)):
            for index, (_, word) in enumerate(words):
                box.setItemText(index, language(word))
        for index in range(self.scale.count()):
            scale = self.scale.itemData(index)
            if scale in _SCALE_WORDS:
                self.scale.setItemText(index, language(_SCALE_WORDS[scale]))
        names = {
            self.pattern: msg("Parameter, or a pattern such as R*"),
            self.tolerance: msg("Tolerance"),
            self.meaning: msg("Meaning of the tolerance"),
            self.distribution: msg("Distribution"),
            self.scale: msg("Scale"),
            self.low: msg("Lower value"),
            self.high: msg("Upper value"),
            self.points: msg("Number of points"),
            self.values: msg("Values, separated by commas"),
        }
        for widget, name in names.items():
            widget.setAccessibleName(language(name))
            widget.setToolTip(language(name))
        self.meaning.setToolTip("\n".join(language(text) for text in _HINTS.values()))
        self._say()

    def _lay_out(self) -> None:
        is_scattered = self._kind in SCATTERED
        line = arrange(QHBoxLayout(), self.pattern, edges=0, gap=4)
        if is_scattered:
            arrange(line, self.tolerance, self.meaning, self.distribution)
        else:
            arrange(line, self.low, self.high, (self.values, 1), self.scale)
            if self._kind == "sweep":
                arrange(line, self.points)
        arrange(line, 1, self._remove)
        arrange(QVBoxLayout(self), line, self._value, self._grid, self._more, self._problem, edges=0, gap=2)
        self._show_range()

    def _connect(self) -> None:
        self.pattern.textChanged.connect(self._on_pattern)
        for field in (self.tolerance, self.low, self.high, self.points, self.values):
            field.textChanged.connect(self._tell)
        for box in (self.meaning, self.distribution, self.scale):
            box.activated.connect(self._tell)
        self.scale.activated.connect(self._show_range)
        self.tolerance.editingFinished.connect(self._tidy_tolerance)

    def _completer(self) -> QCompleter:
        names = [item.name for item in self._offer.adjustables]
        completer = QCompleter(QStringListModel(names, self), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        return completer

    def _tidy_tolerance(self) -> None:
        """What the figure means is always there to be read."""
        share = percent(self.tolerance.text())
        if share is not None:
            self.tolerance.setText(f"{100 * share:.6g} %")

    def _on_pattern(self) -> None:
        self._show_parts()
        self._tell()

    def _tell(self, _value: object = None) -> None:
        self._say()
        self.changed.emit()

    def _show_range(self, _index: int = 0) -> None:
        is_list = self.scale.currentData() == "list"
        if self._kind not in SCATTERED:
            for field in (self.low, self.high):
                field.setVisible(not is_list)
            self.values.setVisible(is_list)
            if self._kind == "sweep":
                self.points.setVisible(not is_list)

    def _show_parts(self) -> None:
        for box in self.parts:
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        found = fitting(self.pattern.text(), self._offer)
        self.parts = []
        self._value.setText(f"{found[0].name} = {found[0].text}" if len(found) == 1 else "")
        self._value.setVisible(len(found) == 1)
        for number, item in enumerate(found[:_MOST_PARTS] if len(found) > 1 else ()):
            box = QCheckBox(f"{item.name}  {item.text}".replace("&", "&&"))
            box.setObjectName(f"part:{item.name}")
            box.setToolTip(f"{item.name} = {item.text}")
            box.setChecked(item.name not in self._without)
            box.toggled.connect(lambda is_on, name=item.name: self._on_part(name, is_on=is_on))
            self._grid.addWidget(box, number // _PARTS_IN_A_ROW, number % _PARTS_IN_A_ROW)
            self.parts.append(box)
        for column in range(_PARTS_IN_A_ROW):
            self._grid.setColumnStretch(column, 1)
        beyond = len(found) - _MOST_PARTS
        self._more.setVisible(beyond > 0)
        if beyond > 0:
            self._more.setText(self._services.language(msg("and {count} more", count=beyond)))
        ends = usual_ends(found[0]) if found else ("", "")
        for field, text in zip((self.low, self.high), ends, strict=True):
            field.setPlaceholderText(text)

    def _on_part(self, name: str, *, is_on: bool) -> None:
        (self._without.discard if is_on else self._without.add)(name)
        self._tell()

    def _say(self) -> None:
        problem = self.problem
        self._problem.setText("" if problem is None else self._services.language(problem))
        self._problem.setVisible(problem is not None)
        is_wrong = not fitting(self.pattern.text(), self._offer)
        mark(self.pattern, state="error" if is_wrong else "")
        mark(self.tolerance, state="error" if percent(self.tolerance.text()) is None else "")
