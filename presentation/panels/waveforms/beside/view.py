"""What is drawn beside the curves: its kind, its options, the drawing, and what is read from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6 import sip
from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup, QResizeEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from presentation.panels.waveforms.beside.drawing import BesideKind, BesideOptions, Drawing, Subject
from presentation.panels.waveforms.beside.period_field import PeriodField
from presentation.panels.waveforms.beside.titles import KIND_TITLES
from presentation.panels.waveforms.cursor_table import CursorStrip
from presentation.panels.waveforms.menu_rows import MenuRows
from presentation.panels.waveforms.plot_tools import EXPORTS
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, ShortChoice, arrange, once_after, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.beside_area import BesideArea
    from presentation.panels.waveforms.plot_box import PlotPlace

_PATIENCE_MS = 120
"""After the last change of what is shown: while somebody pans, nothing is computed."""
_LEAST_DRAWING = 110
"""Pixels of height that figures and notes leave to the drawing."""
_NOTE_ROOM = 20
_DOT = " · "


Beheld = tuple[Subject | None, Sequence[BesideKind], Sequence[str]]
"""What the curves show, what can be drawn of it, and which expressions there are."""


class BesideView(QWidget):
    """The view. It is told what the curves show, and follows it while it is seen."""

    closed = pyqtSignal()
    options_changed = pyqtSignal()

    def __init__(self, services: WindowServices, look: Callable[[], Beheld]) -> None:
        """`look` tells what the curves show now."""
        super().__init__()
        self._services = services
        self._look = look
        self._subject: Subject | None = None
        self._drawing = Drawing()
        self._drawn: tuple[BesideKind, str] | None = None
        """Kind and analysis of what is drawn: a range somebody chose stays as long as these."""
        self._request = 0
        self._kinds: Sequence[BesideKind] = ()
        self._suggested: Sequence[str] = ()
        self._has_tones = False
        """The table of figures has room; else they are in the line below."""
        self.options = BesideOptions()
        self.area: BesideArea | None = None
        self._soon = once_after(self, _PATIENCE_MS, self._start)
        self.setObjectName("beside")
        self._build()
        mark_area(self, surface="base")
        self.restyle()
        self.retranslate()

    @property
    def drawing(self) -> Drawing:
        """What is shown."""
        return self._drawing

    def choose(self, kind: BesideKind, *, against: str = "", figure: str = "") -> None:
        """Show another kind of drawing."""
        options = self.options
        self._take(
            replace(options, kind=kind, against=against or options.against, figure=figure or options.figure)
        )

    def follow(self) -> None:
        """The curves show something else; it is asked for when they rest."""
        self._soon.start()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        return QSize(theme.size("space.12") * 5, theme.size("space.12") * 2)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._show_parts()

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self._bar.setFixedHeight(theme.size("row.toolbar"))
        self._row.setContentsMargins(theme.size("space.2"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(theme.size("space.1"))
        edge = theme.size("space.3")
        self._problem.setContentsMargins(edge, edge, edge, edge)
        self._foot.setContentsMargins(edge, theme.size("space.1"), edge, theme.size("space.1"))
        if self.area is not None:
            self.area.use(theme)

    def retranslate(self, _name: object = None) -> None:
        self._kind.setAccessibleName(self._services.language(msg("Drawing beside the curves")))
        self._window.setAccessibleName(self._services.language(msg("Window function")))
        self._figure.setAccessibleName(self._services.language(msg("Measurement")))
        self._across.setAccessibleName(self._services.language(msg("Across")))
        self.period.retranslate()
        self._fill()
        self.tones.retranslate()
        self.strip.retranslate()
        self._show_words()

    def _build(self) -> None:
        self._bar = QWidget()
        mark_area(self._bar, surface="base", line="bottom")
        self._kind, self._window = self._choice("kind"), self._choice("window")
        self._kind.setSizePolicy(
            QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed
        )  # the other one gives way
        self.period = PeriodField(self._services)
        self.period.chosen.connect(lambda period: self._take(replace(self.options, period=period)))
        self._across, self._figure = self._choice("across"), self._choice("figure")
        self._figure.activated.connect(
            lambda at: self._take(replace(self.options, figure=self._figure.itemData(at)))
        )
        self._kind.activated.connect(lambda at: self.choose(self._kind.itemData(at)))
        self._window.activated.connect(
            lambda at: self._take(replace(self.options, window=self._window.itemData(at)))
        )
        self._across.setEditable(True)
        self._across.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._across.textActivated.connect(lambda text: self._take(replace(self.options, against=text)))
        field = self._across.lineEdit()
        if field is not None:
            field.returnPressed.connect(
                lambda: self._take(replace(self.options, against=self._across.currentText().strip()))
            )
        self.settings = IconButton(
            self._services, "sliders-horizontal", msg("Options of this drawing"), name="beside_options"
        )
        self.settings.clicked.connect(self._show_options)
        self.cursors = IconButton(self._services, "crosshair", msg("Cursors A and B"), name="beside_cursors")
        self.cursors.setCheckable(True)
        self.cursors.toggled.connect(self._on_cursors)
        self.fit = IconButton(self._services, "scan", msg("Fit"), name="beside_fit")
        self.fit.clicked.connect(lambda: None if self.area is None else self.area.fit())
        self.close_button = IconButton(self._services, "x", msg("Close"), name="close_beside")
        self.close_button.clicked.connect(self.closed)
        self._row = arrange(
            QHBoxLayout(self._bar),
            self._kind, self._window, self._across, self._figure, self.period, 1,
            self.settings, self.cursors, self.fit, self.close_button,
        )  # fmt: skip
        self._problem = text_label(name="beside_problem", wraps=True, role="tertiary")
        self._problem.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._body = QStackedWidget()
        self._body.addWidget(self._problem)
        from presentation.panels.waveforms.beside.tone_table import ToneTable

        self.strip = CursorStrip(self._services)
        self.tones = ToneTable(self._services)
        self._notes = ElidedLabel()
        self._notes.setObjectName("beside_notes")
        self._notes.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        mark(self._notes, role="caption")
        self._foot = arrange(QHBoxLayout(), self._notes)
        arrange(
            QVBoxLayout(self), self._bar, (self._body, 1), self.strip, self.tones, self._foot,
            edges=0, gap=0,
        )  # fmt: skip

    def _choice(self, name: str) -> QComboBox:
        made = ShortChoice() if name in ("kind", "window") else QComboBox()
        made.setObjectName(f"beside_{name}")
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        mark(made, small=True)
        return made

    def _fill(self) -> None:
        from presentation.panels.waveforms.beside.kinds import KINDS, WINDOW_HELP, WINDOW_TITLES

        say, options = self._services.language, self.options
        # What is chosen stays in its list also where this plot has no such drawing: the words say why.
        kinds = [name for name in KINDS if name in self._kinds or name == options.kind]
        _refill(self._kind, [(say(KIND_TITLES[name]), name) for name in kinds], options.kind)
        _refill(self._window, [(say(text), name) for name, text in WINDOW_TITLES.items()], options.window)
        self._window.setToolTip(say(WINDOW_HELP[options.window]))
        for at, text in enumerate(WINDOW_HELP.values()):
            self._window.setItemData(at, say(text), Qt.ItemDataRole.ToolTipRole)
        for choice in (self._kind, self._window):
            choice.updateGeometry()
        _refill(self._across, [(name, name) for name in self._suggested], None)
        first = "" if self._subject is None else self._subject.first
        self._across.setEditText(options.against or first)
        self._window.setVisible(options.kind == "spectrum")
        self._across.setVisible(options.kind == "against")
        self.period.setVisible(options.kind == "eye")
        measured = () if self._subject is None else self._subject.measured
        _refill(self._figure, [(each.name, each.name) for each in measured], options.figure)
        self._figure.setVisible(options.kind == "steps" and len(measured) > 1)
        self.settings.setVisible(options.kind in ("spectrum", "harmonics"))

    def _take(self, options: BesideOptions) -> None:
        if options != self.options:
            self.options = options
            self._fill()
            self.options_changed.emit()
        self._follow_options()

    def _follow_options(self) -> None:
        self._soon.start(0)
        self._soon.setInterval(_PATIENCE_MS)

    def _show_options(self) -> None:
        self.options_menu().popup(self.settings.mapToGlobal(self.settings.rect().bottomLeft()))

    def options_menu(self) -> QMenu:
        """How levels and frequencies are shown, and what of the span is taken."""
        from presentation.panels.waveforms.beside.kinds import LEVEL_TITLES

        say, options = self._services.language, self.options
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        group = QActionGroup(menu)
        for level, title in LEVEL_TITLES.items():
            action = self._ticked(menu, f"level_{level}", say(title), is_on=level == options.level)
            action.triggered.connect(partial(self._set, level=level))
            group.addAction(action)
        if options.kind == "spectrum":
            menu.addSeparator()
            decades = self._ticked(
                menu, "log_frequency", say(msg("Logarithmic frequency")), is_on=options.is_log
            )
            decades.triggered.connect(lambda on: self._set(is_log=on))
            whole = self._ticked(
                menu,
                "whole_periods",
                say(msg("Cut the span to whole periods")),
                is_on=options.has_whole_periods,
            )
            whole.triggered.connect(lambda on: self._set(has_whole_periods=on))
        return menu

    def _ticked(self, menu: QMenu, name: str, text: str, *, is_on: bool) -> QAction:
        action = QAction(text, menu)
        action.setObjectName(name)
        action.setCheckable(True)
        action.setChecked(is_on)
        menu.addAction(action)
        return action

    def _set(self, _checked: bool = False, **changed: Any) -> None:
        self._take(replace(self.options, **changed))

    def _start(self) -> None:
        self._request += 1
        if self.isHidden():
            return
        self._subject, self._kinds, self._suggested = self._look()
        self._fill()
        if self._subject is None:  # nothing of what was there before
            self._show(Drawing(), None)
        else:
            self._services.start(
                self._make(self._subject, self.options, self._request),
                kind="draw beside",
                scope="waveforms",
            )

    async def _make(self, subject: Subject, options: BesideOptions, request: int) -> None:
        from presentation.panels.waveforms.beside.kinds import drawing_of

        drawing = await off_loop(drawing_of, subject, options)
        chosen = (options.level, options.is_log, options.figure, options.period)
        if request == self._request and not sip.isdeleted(self):
            self._show(
                drawing,
                (options.kind, f"{subject.plot.analysis} {chosen}"),
            )

    def _show(self, drawing: Drawing, what: tuple[BesideKind, str] | None) -> None:
        self._drawing = drawing
        keep_view = what == self._drawn
        self._drawn = what
        self.tones.show_figures(drawing.figures)
        self._show_parts()
        if drawing.axis is not None:
            self._make_area().show_drawing(drawing, keep_view=keep_view)

    def _make_area(self) -> BesideArea:
        if self.area is None:
            from presentation.panels.waveforms.beside.beside_area import BesideArea

            self.area = BesideArea(self._services.theme.theme, self._services.language)
            self.area.setAccessibleName(self._services.language(msg("Drawing beside the curves")))
            self._services.shortcuts.answer(self.area, {**self.area.acts, "plot.copy": self._copy})
            self.area.menu_wanted.connect(self._show_menu)
            self.area.set_cursors_shown(self.cursors.isChecked())
            self.area.cursors_moved.connect(self._on_cursors_moved)
            self._body.addWidget(self.area)
        self._body.setCurrentWidget(self.area)
        layout = self.layout()
        if layout is not None:
            layout.activate()
        return self.area

    def _show_menu(self, place: PlotPlace) -> None:
        self.menu().popup(place.on_screen)

    def menu(self) -> QMenu:
        """What can be done with the drawing."""
        area = self.area
        assert area is not None
        rows = MenuRows(self._services, self, "beside_menu")
        rows.add("fit", msg("Show everything"), area.fit, action="plot.fit")
        rows.add("fit_y", msg("Fit y"), area.fit_shown, action="plot.fit_y")
        rows.line()
        rows.add("copy", msg("Copy picture and values"), self._copy, action="plot.copy")
        export = rows.submenu("export", msg("Export"))
        for suffix, text in EXPORTS.items():
            if suffix != "even.csv":  # its samples are even, or are places of a curve
                rows.add(f"export_{suffix}", text, partial(self._export, suffix), into=export)
        rows.line()
        rows.add("close", msg("Close"), self.closed.emit)
        return rows.menu

    def _name(self) -> str:
        """Of what stands in a picture's caption."""
        traces = ", ".join(trace.shown_name for trace in self._drawing.traces)
        return f"{self._services.language(KIND_TITLES[self.options.kind])} · {traces}"

    def _copy(self) -> None:
        from presentation.panels.waveforms.export import copy_plot

        if self.area is not None and self._drawing.axis is not None:
            copying = copy_plot(
                self._services, self.area, self._drawing.axis, self._drawing.traces, name=self._name()
            )
            self._services.start(copying, kind="copy plot", scope="export")

    def _export(self, suffix: str) -> None:
        from presentation.panels.waveforms.export import export_plot

        if self.area is not None and self._drawing.axis is not None:
            saving = export_plot(
                self._services,
                self.area,
                self._drawing.axis,
                self._drawing.traces,
                suffix=suffix,
                name=self._name(),
            )
            self._services.start(saving, kind="export plot", scope="export")

    def _show_words(self) -> None:
        say = self._services.language
        problem = self._drawing.problem
        self._problem.setText("" if problem is None else say(problem))
        parts = [say(note) for note in self._drawing.notes]
        if self._drawing.figures and not self._has_tones:
            names = [each.expression for each in self._drawing.traces]
            chosen = "" if self._subject is None else self._subject.last
            parts.insert(0, self.tones.in_one_line(chosen if chosen in names else names[-1] if names else ""))
        self._notes.setText(_DOT.join(filter(None, parts)))
        if self._drawing.axis is None:
            self._body.setCurrentWidget(self._problem)

    def _show_parts(self) -> None:
        """The drawing comes first: in a low view its figures are one line, in a very low one none."""
        has_drawing = self._drawing.axis is not None
        scale = self._services.theme.theme.scale
        room = self.height() - self._bar.height() - _LEAST_DRAWING * scale
        has_tones = bool(self._drawing.figures) and has_drawing
        self._has_tones = has_tones and room >= self.tones.height_of_rows() + _NOTE_ROOM * scale
        self._show_words()
        self.tones.setFixedHeight(self.tones.height_of_rows())
        self.tones.setVisible(self._has_tones)
        self._notes.setVisible(bool(self._notes.text()) and room >= 0)
        self.strip.setVisible(has_drawing and self.cursors.isChecked())
        for button in (self.cursors, self.fit):
            button.setVisible(has_drawing)

    def _on_cursors(self, is_on: bool) -> None:
        if self.area is not None:
            self.area.set_cursors_shown(is_on)
        self._show_parts()

    def _on_cursors_moved(self, a: int, b: int) -> None:
        drawing = self._drawing
        if drawing.axis is not None and drawing.traces:
            self.strip.show_cursors(drawing.axis, (*drawing.readings, *drawing.traces), a, b)
            self.strip.setFixedHeight(self.strip.wanted_height())


def _refill(choice: QComboBox, items: Sequence[tuple[str, object]], chosen: object) -> None:
    """Other items, without a word to anybody."""
    before = [(choice.itemText(at), choice.itemData(at)) for at in range(choice.count())]
    if before != list(items):
        choice.clear()
        for text, data in items:
            choice.addItem(text, data)
    values = [data for _, data in items]
    if chosen in values:
        choice.setCurrentIndex(values.index(chosen))
