"""The list of results: what ran, how many goals it met, when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QAbstractListModel, QModelIndex, QPoint, Qt, QUrl
from PyQt6.QtGui import QAction, QDesktopServices
from PyQt6.QtWidgets import QMenu, QStackedLayout, QWidget

from domain.simulation.verdict import verdict_of, verdict_words
from presentation.study_words import title_of
from presentation.ui.empty_state import EmptyNote
from presentation.ui.parts import SpokenName, once_after
from presentation.ui.rows import Role, RowLook, RowTree, joined
from presentation.ui.signals import Signal, signal
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.local_time import local_time
from shared.message import Message, msg
from shared.paths import study_name

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.project.browsing import ResultSummary
    from domain.simulation.result import SimulationResult

_DOT = " · "
"""Between a run and its circuit."""


_KEYS = {"note_result": "list.note", "overlay_result": "list.behind"}
"""Entries of the menu that have a key, and the row of the table of actions that has it."""


class ResultsModel(QAbstractListModel):
    """Results, the newest first."""

    noted: Signal[Path, str] = signal(object, str)
    """A result, and what was written about it"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.results: tuple[ResultSummary, ...] = ()

    def set_results(self, results: Sequence[ResultSummary]) -> None:
        judged = {result.path: result for result in self.results}
        self.beginResetModel()
        self.results = tuple(
            result
            if (known := judged.get(result.path)) is None
            else replace(result, goals_met=known.goals_met, goals=known.goals)
            for result in results
        )
        self.endResetModel()

    def set_goals(self, judged: Mapping[Path, tuple[int, int]]) -> None:
        """Say of results how many goals they meet."""
        self.results = tuple(
            replace(result, goals_met=judged[result.path][0], goals=judged[result.path][1])
            if result.path in judged
            else replace(result, goals_met=None, goals=0)
            for result in self.results
        )
        if self.results:
            self.dataChanged.emit(self.index(0), self.index(len(self.results) - 1))

    def row_of(self, path: Path) -> int | None:
        return next((row for row, result in enumerate(self.results) if result.path == path), None)

    def rowCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self.results)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.results):
            return None
        result = self.results[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            run = self._services.language(title_of(result.study) if result.study else _run_of(result))
            return _DOT.join(filter(None, (run, result.circuit.name, result.note)))
        if role == Qt.ItemDataRole.EditRole:
            return result.note
        if role == Role.LOOK:
            return _look_of(result, self._services.language)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._told(result)
        return None

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802
        """A note that was typed in the row."""
        if role != Qt.ItemDataRole.EditRole or not 0 <= index.row() < len(self.results):
            return False
        result = self.results[index.row()]
        if str(value).strip() != result.note:
            self.noted.emit(result.path, str(value))
        return True

    def _place_of(self, result: ResultSummary) -> str:
        root = self._services.workspace.root
        is_inside = root is not None and result.circuit.is_relative_to(root)
        return result.circuit.relative_to(root).as_posix() if is_inside and root else result.circuit.name

    def _told(self, result: ResultSummary) -> str:
        language = self._services.language
        local = local_time(result.created)
        return joined(
            [
                language(
                    title_of(result.study) if result.study else msg("Run {number}", number=result.number)
                ),
                self._place_of(result),
                "" if local is None else f"{local:%Y-%m-%d %H:%M:%S}",
                "" if result.is_ours else language(_ELSEWHERE),
                self._status_of(result),
                result.note,
                language(msg("Pinned: clean-ups keep it")) if result.is_pinned else "",
                language(result.reason) if result.reason is not None else "",
                language(
                    msg("{met} of {count} {count:goal|goals} met", met=result.goals_met, count=result.goals)
                )
                if result.goals_met is not None
                else "",
            ]
        )

    def _status_of(self, result: ResultSummary) -> str:
        language = self._services.language
        if result.study:
            is_stopped = result.status == "cancelled"
            return language(msg("The study was stopped")) if is_stopped else ""
        return language(verdict_words(result.verdict, result.status, result.reach))


class ResultsList(QWidget):
    """The list; a click shows the result in the bottom pane, its menu does more."""

    overlay_wanted: Signal[Path] = signal(object)
    """A run to be drawn behind the shown one"""
    comparison_wanted: Signal[Path] = signal(object)
    """A run to be compared with the shown one: its curves behind, its figures beside"""

    def __init__(self, services: WindowServices, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self.model = ResultsModel(services)
        self.view = RowTree(services, "resultsList", is_list=True)
        SpokenName(services, self.view, msg("Results"))
        self.view.setModel(self.model)
        self._shown: Path | None = None
        self.drawn_behind: Callable[[], Collection[Path]] = tuple
        """Which runs are drawn behind the shown one; the window says who knows."""
        """The result the bottom pane shows; its row may be read only later."""
        self._was_opened = False
        """A project was opened, and its results have not been read yet."""
        self._empty = EmptyNote(
            services,
            msg("Each simulation appears here with the goals it met."),
            [(msg("Run the main circuit"), services.workspace.main_run_requested.emit)],
        )
        services.workspace.main_circuit_changed.connect(lambda path: self._empty.offer((path is not None,)))
        self._empty.offer((services.workspace.main_circuit is not None,))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.view)
        # A run writes several files; the list is read once for all of them.
        self._timer = once_after(self, 50, self.reload)
        self._connect()

    def _connect(self) -> None:
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._on_clicked)
        self.model.noted.connect(self._on_noted)
        acts = {"list.note": self._edit_note, "list.behind": self._overlay_chosen}
        self._services.shortcuts.answer(self.view, acts)
        workspace = self._services.workspace
        workspace.project_opened.connect(self._on_opened)
        workspace.project_closed.connect(self._on_closed)
        workspace.run_finished.connect(self._on_run)
        workspace.goals_changed.connect(lambda _circuit: self.reload())
        workspace.cut_off_found.connect(lambda _found: self.reload())
        workspace.result_selected.connect(self._select)
        workspace.result_offered.connect(self._select)
        self._services.language.changed.connect(self._repaint)

    def _on_run(self, outcome: SimulationResult | CircuitAIError) -> None:
        if not isinstance(outcome, CircuitAIError) and verdict_of(outcome) != "failed":
            self._shown = outcome.result_path  # the bottom pane shows it
        self._timer.start()

    def note_stored(self) -> None:
        """A result was stored by somebody; read the list again soon."""
        self._timer.start()

    def reload(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._load(root), kind="read results")

    async def _load(self, root: Path) -> None:
        browse = self._project.browse
        results = await browse.results(root, with_studies=True)
        if root != self._services.workspace.root:
            return
        known = {each.path for each in self.model.results}
        self.model.set_results(results)
        self._stack.setCurrentWidget(self.view if results else self._empty)
        self._offer_newest(results)
        if self._shown is not None:
            self._select(self._shown)
        if known and results and results[0].path not in known:
            self.view.scrollToTop()  # the shown run may be an older one: what has just come is seen
        judged = await browse.judged(root, results)
        if root == self._services.workspace.root:
            self.model.set_goals(judged)

    def _offer_newest(self, results: Sequence[ResultSummary]) -> None:
        """A project that is opened shows what was computed last; nothing that came meanwhile is replaced."""
        was_opened, self._was_opened = self._was_opened, False
        good = [result for result in results if result.ok and not result.study]
        if was_opened and self._shown is None and good:
            newest = max(good, key=lambda result: result.created)
            self._services.workspace.result_offered.emit(newest.path)

    def _on_opened(self, _root: Path) -> None:
        self._on_closed()
        self._was_opened = True
        self.reload()

    def _on_closed(self) -> None:
        self._shown = None
        self.model.set_results(())
        self._stack.setCurrentWidget(self._empty)

    def _on_clicked(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.model.results):
            self._show(self.model.results[index.row()])

    def _show(self, result: ResultSummary) -> None:
        """A run in the bottom pane, a study on the page of its circuit."""
        workspace = self._services.workspace
        (workspace.study_wanted if result.study else workspace.result_selected).emit(result.path)

    def _overlay_chosen(self) -> None:
        """Draw the chosen run behind the shown one, or no more."""
        row = self.view.currentIndex().row()
        if 0 <= row < len(self.model.results) and self._can("overlay_result", self.model.results[row]):
            self.overlay_wanted.emit(self.model.results[row].path)

    def _edit_note(self) -> None:
        """Type what is to be known of the chosen result, in its row."""
        index = self.view.currentIndex()
        if index.isValid():
            self.view.edit(index)

    def _on_noted(self, result: Path, text: str) -> None:
        self._services.start(self._keep_note(result, text), kind="keep note")

    async def _keep_note(self, result: Path, text: str) -> None:
        await self._project.browse.write_note(result, text)
        self.reload()

    def _pin(self, result: ResultSummary) -> None:
        self._services.start(self._keep_pin(result), kind="pin result")

    async def _keep_pin(self, result: ResultSummary) -> None:
        from application.project.cleaning import CleanRequest

        root, name = self._services.workspace.root, (result.path.parent.name,)
        if root is not None:
            pin, unpin = ((), name) if result.is_pinned else (name, ())
            await self._project.clean(CleanRequest(project=root, pin=pin, unpin=unpin))
            self.reload()

    def _note(self, result: ResultSummary) -> None:
        self._select_row(result.path)
        self._edit_note()

    def menu_for(self, result: ResultSummary) -> QMenu:
        language, workspace = self._services.language, self._services.workspace
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, text, act in (
            ("show_result", msg("Show"), lambda: self._show(result)),
            (
                "overlay_result",
                self._behind(result),
                lambda: self.overlay_wanted.emit(result.path),
            ),
            (
                "compare_result",
                msg("Compare with the shown study") if result.study else msg("Compare with the shown run"),
                lambda: self._compare(result),
            ),
            ("run_result_again", msg("Run again"), lambda: self._run_again(result)),
            ("open_result_circuit", msg("Open its circuit"), lambda: self._open_circuit(result)),
            (
                "open_former_circuit",
                msg("Open its circuit as it was"),
                lambda: workspace.former_circuit_wanted.emit(result.path),
            ),
            ("attach_result", msg("Attach to the message"), lambda: self._attach(result)),
            ("note_result", msg("Note…"), lambda: self._note(result)),
            ("pin_result", msg("Unpin") if result.is_pinned else msg("Pin"), lambda: self._pin(result)),
            ("show_result_folder", msg("Show its folder"), lambda: _show_folder(result)),
        ):
            action = QAction(language(text), menu)
            action.setObjectName(name)
            action.setEnabled(self._can(name, result))
            if name in _KEYS:
                action.setText(f"{action.text()}\t{self._services.shortcuts.shown(_KEYS[name])}")
            action.triggered.connect(lambda _checked, act=act: act())
            menu.addAction(action)
        return menu

    def _attach(self, result: ResultSummary) -> None:
        """Name it in the message that is being written: the assistant is sent its figures."""
        name = f"run:{result.number}"
        if result.study:
            name = f"study:{study_name(result.path, result.study)}"
        self._services.workspace.words_offered.emit(f"@{name} ")

    def _compare(self, result: ResultSummary) -> None:
        wanted = self._services.workspace.study_comparison_wanted if result.study else self.comparison_wanted
        wanted.emit(result.path)

    def _can(self, name: str, result: ResultSummary) -> bool:
        """Whether something of the menu can be done with a result."""
        has_curves = result.verdict != "failed" and not result.study
        if name == "compare_result":
            return bool(result.study) or (
                has_curves and self._shown is not None and result.path != self._shown
            )
        if name == "overlay_result":
            return has_curves
        return name != "open_former_circuit" or not result.study

    def _behind(self, result: ResultSummary) -> Message:
        """A run of another circuit is a comparison one has to want."""
        if result.path in self.drawn_behind():
            return msg("Remove overlay")
        shown = next((each for each in self.model.results if each.path == self._shown), None)
        if shown is None or self._place_of(shown) == self._place_of(result):
            return msg("Overlay on current run")
        return msg("Overlay on {shown}, another circuit", shown=shown.circuit.name)

    def _show_menu(self, place: QPoint) -> None:
        row = self.view.indexAt(place).row()
        viewport = self.view.viewport()
        if 0 <= row < len(self.model.results) and viewport is not None:
            self.menu_for(self.model.results[row]).popup(viewport.mapToGlobal(place))

    def _run_again(self, result: ResultSummary) -> None:
        self._services.workspace.circuit_run_requested.emit(self._place_of(result))

    def _open_circuit(self, result: ResultSummary) -> None:
        self._services.workspace.file_activated.emit(self._place_of(result), None)

    def _place_of(self, result: ResultSummary) -> Path:
        return self._services.workspace.views.place_of(result.circuit, result.created)

    def _select(self, path: Path) -> None:
        self._shown = path
        self._select_row(path)

    def _select_row(self, path: Path) -> None:
        row = self.model.row_of(path)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _repaint(self) -> None:
        viewport = self.view.viewport()
        if viewport is not None:
            viewport.update()


_STUDY_ICONS = {
    "sweep": "chart-line",
    "montecarlo": "chart-column",
    "corners": "table-2",
    "worst-case": "move",
    "sensitivity": "sliders-horizontal",
    "map": "crosshair",
    "optimize": "target",
}

_ELSEWHERE = msg("from elsewhere: it came with the project and was not run here")


def _run_of(result: ResultSummary) -> Message:
    return msg("Run {number}", number=result.number)


def _show_folder(result: ResultSummary) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(_harmless(result.path.parent))))


def _harmless(folder: Path) -> Path:
    """The folder of a result, whose name may be a stranger's: one with a suffix can be a program to the
    desktop (macOS runs ``Run.app``), and the folder of all results is opened instead."""
    return folder.parent if folder.suffix else folder


def _look_of(result: ResultSummary, translate: Callable[[Message], str]) -> RowLook:
    icon, color = "circle-check", "ok.icon"
    if not result.is_ours:
        icon, color = ("circle-dashed", "text.tertiary")
    elif result.verdict == "failed":
        icon, color = ("circle-x", "error.icon")
    elif result.verdict == "partial":
        icon, color = ("triangle-alert", "warn.icon")
    elif result.goals_met is not None and result.goals_met < result.goals:
        icon, color = ("circle-dashed", "text.tertiary")
    goals = "" if result.goals_met is None else f"{result.goals_met}/{result.goals}"
    if not goals and not result.study and result.verdict != "complete":
        goals = translate(msg("partial") if result.verdict == "partial" else msg("failed"))
    if result.study:
        icon = _STUDY_ICONS.get(result.study, "activity")
        color = "text.secondary" if result.is_ours else "text.tertiary"
        goals = "" if result.yield_share is None else f"{100 * result.yield_share:.1f} %"
    return RowLook(
        icon=icon,
        icon_color=color,
        weight=600 if result.is_pinned else 400,
        values=(goals, _when(result.created)),
        widths=("00:00",),
        value_style="small",
        kept=_DOT,
    )


def _when(created: str) -> str:
    """The time of today, the day of older ones."""
    local = local_time(created)
    if local is None:
        return ""
    return f"{local:%H:%M}" if local.date() == datetime.now().astimezone().date() else f"{local:%m-%d}"
