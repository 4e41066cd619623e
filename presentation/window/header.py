"""The header: menus at the left, the run group in the middle, command box and pane toggles at the right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import (
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QWidget,
)

from presentation.ui.frame import IconButton
from presentation.ui.name_cut import middle_cut
from presentation.ui.parts import arrange
from presentation.ui.pause_button import PauseButton
from presentation.ui.styles import mark_area
from presentation.ui.word_button import WordButton
from presentation.ui.workspace import WindowServices
from presentation.window.command_box import CommandBox
from presentation.window.commands import menu_titles
from shared.message import Message, msg
from shared.pausing import can_pause

PANES: tuple[tuple[str, str, Message], ...] = (
    ("left", "panel-left", msg("Project pane")),
    ("bottom", "panel-bottom", msg("Bottom pane")),
    ("right", "panel-right", msg("Conversation pane")),
)


class RunGroup(QWidget):
    """Run, the choice of an analysis, stop; and how far a run is."""

    stop_wanted = pyqtSignal()
    pause_wanted = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._analyses: tuple[tuple[str, str], ...] = ()
        self._is_asked_elsewhere = False
        self.is_running = self.is_paused = self._is_short = False
        self._progress: float | None = None
        self.run = WordButton(services, "run", weight=500)
        self.run.clicked.connect(lambda _checked: services.workspace.run_requested.emit())
        self.choice = WordButton(services, "analysisChoice")
        self.choice.set_chevron(has_chevron=True)
        self.choice.clicked.connect(self._show_choice)
        self.stop = IconButton(
            services, "square", msg("Stop the simulation"), action="stopRun", name="stopRun"
        )
        self.stop.clicked.connect(self.stop_wanted)
        self.pause = PauseButton(services, name="pauseRun")
        self.pause.clicked.connect(self.pause_wanted)
        if not can_pause():  # shown before it has a parent, it would be a window of its own
            self.pause.hide()
        self._row = QHBoxLayout(self)
        for widget in (self.run, self.choice, self.pause, self.stop):
            self._row.addWidget(widget)
        workspace = services.workspace
        workspace.run_started.connect(lambda _path: self._set_running(is_running=True))
        workspace.run_progressed.connect(self._on_progress)
        workspace.run_paused.connect(self._on_paused)
        workspace.run_finished.connect(lambda _result: self._set_running(is_running=False))
        workspace.run_target_changed.connect(lambda _path: self.retranslate())
        workspace.analysis_changed.connect(lambda _card: self.retranslate())
        services.dress(self)

    def set_analyses(self, analyses: Sequence[tuple[str, str]], is_asked_elsewhere: bool) -> None:
        """Those of the circuit that F5 means: kind ("ac") and card ("ac dec 20 1 10meg").

        `is_asked_elsewhere`: it has none, but a control block or a file it includes asks for some.
        """
        self._analyses, self._is_asked_elsewhere = tuple(analyses), is_asked_elsewhere
        workspace = self._services.workspace
        if analyses and workspace.analysis not in (None, *(card for _, card in analyses)):
            self._choose(None)
        self.retranslate()

    def wide_width(self) -> int:
        theme = self._services.theme.theme
        words = QFontMetrics(theme.font("ui")).horizontalAdvance(self._choice_text())
        around = theme.size("icon.small") + theme.size("space.2") + 2 * theme.size("control.padding_x_small")
        choice = min(max(words + around, self._least_choice), theme.size("space.12") * 5)
        run = QFontMetrics(theme.font("ui", weight=500))
        named = run.horizontalAdvance(self._run_text(named=True))
        named -= run.horizontalAdvance(self._run_text(named=False))
        return self.short_width() + named - theme.size("control.icon_button") + choice

    @property
    def _least_choice(self) -> int:
        theme = self._services.theme.theme
        return theme.size("space.12") * 2 + theme.size("space.8")

    def short_width(self) -> int:
        theme = self._services.theme.theme
        buttons = 3 if can_pause() else 2
        gaps = buttons * theme.size("space.1")
        run = QFontMetrics(theme.font("ui", weight=500))
        shorter = run.horizontalAdvance(self.run.text()) - run.horizontalAdvance(self._run_text(named=False))
        return self.run.sizeHint().width() - shorter + buttons * theme.size("control.icon_button") + gaps

    def set_short(self, *, is_short: bool) -> None:
        """Show the choice as a chevron; its words are the tooltip."""
        if is_short != self._is_short:
            self._is_short = is_short
            self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        arrange(self._row, edges=0, gap=theme.size("space.1"))
        is_running = self.is_running
        self.run.dress(
            icon="pause" if self.is_paused else "loader-circle" if is_running else "play",
            color="running.icon" if is_running else "ok.icon",
            hint="" if is_running else self._services.shortcuts.shown("run"),
        )
        least = theme.size("control.icon_button") if self._is_short else self._least_choice
        self.choice.setMinimumWidth(least)
        self.choice.setMaximumWidth(theme.size("space.12") * 5)

    def retranslate(self) -> None:
        language, workspace = self._services.language, self._services.workspace
        target = workspace.run_target
        if self.is_paused and self._progress is not None:
            self.run.setText(language(msg("Paused at {percent} %", percent=round(100 * self._progress))))
        elif self.is_paused:
            self.run.setText(language(msg("Paused")))
        elif self.is_running and self._progress is not None:
            self.run.setText(language(msg("Running {percent} %", percent=round(100 * self._progress))))
        elif self.is_running:
            self.run.setText(language(msg("Running")))
        else:
            self.run.setText(self._run_text(named=not self._is_short))
        # A file in front may be one as it stands in the editor: it is looked at once it is saved.
        may_run = workspace.has_circuits or workspace.shown_file is not None
        has_any = target is not None or (workspace.root is not None and may_run)
        self.run.setEnabled(has_any and not self.is_running)
        self.run.setToolTip(self._run_tip(may_run=may_run))
        is_in_front = workspace.front_circuit is not None
        self.choice.setEnabled((bool(self._analyses) or is_in_front) and not self.is_running)
        self.choice.setText("" if self._is_short else self._choice_text())
        self.choice.setToolTip(self._choice_text())
        self.choice.setAccessibleName(self._choice_text())
        self.pause.setEnabled(self.is_running)
        self.pause.show_paused(is_paused=self.is_paused)
        self.stop.setEnabled(self.is_running)
        self.stop.set_icon(
            "square",
            msg("Stop the simulation")
            if self.is_running
            else msg("Nothing to stop: no simulation is running"),
            color="error.icon" if self.is_running else "",
        )
        self.restyle()

    def _run_tip(self, *, may_run: bool) -> str:
        """What F5 would do, or why it does nothing."""
        language, workspace = self._services.language, self._services.workspace
        target, shown = workspace.run_target, workspace.shown_file
        if workspace.root is None:
            return language(msg("Nothing to run: no project is open"))
        if target is not None and workspace.front_circuit is not None:
            told = msg("Run {circuit}", circuit=target.name)
        elif target is not None and shown is not None:
            told = msg(
                "Run the main circuit {circuit}: {file} is not a circuit",
                circuit=target.name,
                file=shown.name,
            )
        elif target is not None:
            told = msg("Run the main circuit {circuit}", circuit=target.name)
        elif not may_run:
            return language(msg("Nothing to run: no circuit in this folder"))
        else:
            told = msg("Choose the main circuit and run it")
        return self._services.with_key(language(told), "run")

    def _run_text(self, *, named: bool) -> str:
        """What will be run, by name where there is room."""
        language, workspace = self._services.language, self._services.workspace
        target, theme = workspace.run_target, self._services.theme.theme
        if target is None or not named:
            return language(msg("Run"))
        most = theme.size("space.12") * 3
        metrics = QFontMetrics(theme.font("ui", weight=500))
        name = middle_cut(metrics, target.name, most)
        if workspace.front_circuit is None:
            return language(msg("Run {circuit} (main)", circuit=name))
        return language(msg("Run {circuit}", circuit=name))

    def _choice_text(self) -> str:
        language, workspace = self._services.language, self._services.workspace
        if workspace.run_target is None:
            if workspace.root is not None and workspace.has_circuits:
                return language(msg("No main circuit"))
            if workspace.root is not None:
                return language(msg("No circuit"))
            return language(msg("No circuit open"))
        if workspace.analysis is not None:
            return workspace.analysis
        if not self._analyses:
            return language(msg("Control block") if self._is_asked_elsewhere else msg("No analysis"))
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in self._analyses))
        return language(msg("All: {kinds}", kinds=kinds))

    def choices(self) -> QMenu:
        menu = QMenu(self)
        language, chosen = self._services.language, self._services.workspace.analysis
        rows: list[tuple[str, str | None]] = [(language(msg("All analyses")), None)] if self._analyses else []
        rows += [(card, card) for _, card in self._analyses]
        for text, card in rows:
            action = menu.addAction(text, lambda card=card: self._choose(card))
            if action is not None:
                action.setCheckable(True)
                action.setChecked(card == chosen)
        menu.addSeparator()
        add = partial(self._services.shortcuts.trigger, "editor.add_analysis")
        menu.addAction(f"{language(msg('Add or edit an analysis…'))}\t{self._key_of_adding}", add)
        return menu

    @property
    def _key_of_adding(self) -> str:
        return self._services.shortcuts.shown("editor.add_analysis")

    def _show_choice(self) -> None:
        menu = self.choices()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.choice.mapToGlobal(QPoint(0, self.choice.height())))

    def _choose(self, card: str | None) -> None:
        self._services.workspace.analysis = card
        self.retranslate()

    def _set_running(self, *, is_running: bool) -> None:
        self.is_running, self.is_paused = is_running, False
        self._progress = None
        self.retranslate()

    def _on_paused(self, is_paused: bool) -> None:
        self.is_paused = is_paused and self.is_running
        self.retranslate()

    def _on_progress(self, share: float) -> None:
        if self.is_running:
            self._progress = share
            self.retranslate()


class Header(QWidget):
    """All of it; the run group keeps to the middle of the window while there is room."""

    pane_toggled = pyqtSignal(str, bool)
    """name of the pane, whether it is wanted"""
    settings_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, window: QWidget) -> None:
        super().__init__()
        self._services = services
        mark_area(self, surface="chrome", line="bottom")
        self._logo = _Logo(services)
        self.menu_bar = QMenuBar()
        self.menu_bar.setNativeMenuBar(False)
        self.menu_bar.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        self.run_group = RunGroup(services)
        self.command_box = CommandBox(services, window)
        self.toggles: dict[str, IconButton] = {}
        for name, icon, text in PANES:
            button = IconButton(services, icon, text, action=f"pane.{name}", name=f"toggle.{name}")
            button.setCheckable(True)
            button.setChecked(True)
            button.clicked.connect(lambda checked, name=name: self.pane_toggled.emit(name, checked))
            self.toggles[name] = button
        self.menu_button = IconButton(services, "list", msg("Menu"), name="menuButton")
        self.menu_button.clicked.connect(self._show_menus)
        self.settings = IconButton(services, "settings", msg("Settings"), name="settings")
        self.settings.clicked.connect(self.settings_wanted)
        self._left, self._right = QWidget(), QWidget()
        self._build()
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(lambda _name: self._fit())
        services.workspace.run_target_changed.connect(lambda _path: self._fit())
        services.workspace.file_shown.connect(lambda _path: self.run_group.retranslate())
        self.restyle()

    def _build(self) -> None:
        left, right = QHBoxLayout(self._left), QHBoxLayout(self._right)
        left.addWidget(self._logo)
        left.addWidget(self.menu_button)
        left.addWidget(self.menu_bar, 0, Qt.AlignmentFlag.AlignVCenter)
        left.addStretch(1)
        arrange(right, 1, (self.command_box, 100))
        for button in self.toggles.values():
            right.addWidget(button)
        right.addWidget(self.settings)
        row = arrange(QHBoxLayout(self), (self._left, 1), self.run_group, (self._right, 1))
        self._rows = (left, right, row)
        self.command_box.focus_changed.connect(lambda _has_focus: self._fit())

    def show_titles(self) -> None:
        """The menus' titles alone, until `Commands.fill` puts the menus behind them."""
        for title in menu_titles(self._services):
            self.menu_bar.addAction(title)
        self._fit()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """What does not fit gives way."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """First the command box becomes an icon, then the choice of an analysis, then the menus a button.

        A box that is an icon takes the run group's place while somebody types into it.
        """
        theme = self._services.theme.theme
        icon = theme.size("control.icon_button")
        gap, edge = theme.size("space.1"), theme.size("space.3")
        fixed = self._logo.width() + (len(self.toggles) + 1) * (icon + gap) + 3 * gap + 5 * edge
        menus, run = self.menu_bar.sizeHint().width(), self.run_group.wide_width()
        box, short = theme.size("space.12") * 3, self.run_group.short_width()
        self.menu_bar.setMinimumWidth(menus)
        level = 0
        for needed in (menus + run + box, menus + run + icon, menus + short + icon):
            if fixed + needed <= self.width():
                break
            level += 1
        is_typing = level > 0 and self.command_box.hasFocus()
        self.command_box.set_folded(is_folded=level > 0 and not is_typing)
        self.run_group.set_short(is_short=level > 1)
        self.run_group.setVisible(not is_typing)
        self.menu_bar.setVisible(level < 3)
        self.menu_button.setVisible(level >= 3)

    def open_menus(self) -> None:
        """The first menu, for the keyboard; the arrows lead to the others."""
        actions = self.menu_bar.actions()
        if self.menu_bar.isVisible() and actions:
            self.menu_bar.setActiveAction(actions[0])
        else:
            self._show_menus()

    def _show_menus(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self.menu_bar.actions():
            menu.addAction(action)
        menu.popup(self.menu_button.mapToGlobal(self.menu_button.rect().bottomLeft()))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        left, right, row = self._rows
        for part in (left, right):
            part.setContentsMargins(0, 0, 0, 0)
            part.setSpacing(theme.size("space.1"))
        arrange(row, edges=(theme.size("space.3"), 0, theme.size("space.2"), 0), gap=theme.size("space.3"))
        text = QFontMetrics(theme.font("ui")).height() + theme.size("space.3")
        self.setFixedHeight(max(theme.size("row.header"), text))
        self._fit()


class _Logo(QWidget):
    """The program's mark: a waveform in the accent's colour."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        services.theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        side = self._services.theme.theme.size("icon.large")
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        icon = self._services.icons.get("audio-waveform", "accent.base", self.width())
        icon.paint(QPainter(self), self.rect())
