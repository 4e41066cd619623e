"""The studies of one circuit: for each kind its set-up at the left and its results at the right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from application.app import Application
from application.studies.reading import StoredStudy
from domain.studies.setup import (
    CircuitOffer,
    SetupKind,
    SetupRow,
    StudySetup,
    UsualSetups,
    document_of,
    row_for,
    with_measurements,
)
from presentation.panels.editor.centre_page import CentrePage
from presentation.panels.studies.case_menu import CaseMenu
from presentation.panels.studies.circuit_acts import CircuitActs
from presentation.panels.studies.comparison import ComparisonMenu, StudyComparison
from presentation.panels.studies.knob import Knob
from presentation.panels.studies.map_view import MapView
from presentation.panels.studies.parameter_row import ParameterRow
from presentation.panels.studies.result_parts import ResultView
from presentation.panels.studies.search_view import SearchView
from presentation.panels.studies.setup_menu import SetupMenu, SetupsInFront
from presentation.panels.studies.setup_pane import SetupPane
from presentation.panels.studies.study_work import StudyWork
from presentation.panels.studies.tune_view import TuneView
from presentation.panels.studies.tune_work import TuneWork
from presentation.panels.studies.value_at_hand import ValueAtHand
from presentation.progress_words import Progress
from presentation.study_figures import nominals_of
from presentation.study_words import KINDS, PURPOSES, TITLES, title_of
from presentation.ui.empty_state import EmptyNote
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import DragPhase, WindowServices
from shared.errors import CircuitAIError
from shared.local_time import local_time
from shared.message import Message, msg
from shared.paths import study_name

if TYPE_CHECKING:
    from application.optimization.tuning import TunedPoint
    from domain.studies.study_spec import StudySpec


class KindView(QWidget):
    """One kind of study: set-up, and what it found last."""

    def __init__(self, services: WindowServices, setup: SetupPane, result: ResultView) -> None:
        super().__init__()
        self.setup_pane = setup
        self.result = result
        self.study: StoredStudy | None = None
        self._kept: tuple[StoredStudy, Mapping[str, float]] | None = None
        """What is shown again when a study that is under way fails."""
        self.results = QStackedWidget()
        self._note = EmptyNote(services, PURPOSES[setup.kind])
        self.results.addWidget(self._note)
        self.results.addWidget(result)
        mark_area(self.results, surface="base")
        self.comparison = StudyComparison(services)
        self.comparison.ended.connect(lambda: self.compare_with(None))
        found = arrange(QVBoxLayout(), self.comparison, (self.results, 1), edges=0, gap=0)
        self._row = arrange(QHBoxLayout(self), setup, (found, 1), edges=0, gap=0)

    def replace_setup(self, setup: SetupPane) -> None:
        """Another one is filled in from now on."""
        former, self.setup_pane = self.setup_pane, setup
        self._row.replaceWidget(former, setup)
        former.hide()
        former.deleteLater()

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        self.study = study
        if not study.is_under_way:
            self._kept = (study, nominals)
        self.result.show_study(study, nominals)
        self.results.setCurrentWidget(self.result)
        self.compare_with(self.comparison.before)

    def compare_with(self, study: StoredStudy | None) -> None:
        """Show its figures beside those of the study in front; None, or this one itself: no more."""
        is_other = study is not None and self.study is not None and study.path != self.study.path
        self.comparison.show_figures(study if is_other else None, self.study)

    def show_kept(self) -> None:
        """Nothing of the study that was under way stays."""
        if self._kept is not None:
            self.show_study(*self._kept)
        else:
            self.study = None
            self.results.setCurrentWidget(self._note)
            self.compare_with(None)


class StudiesPage(CentrePage):
    """Tabs, progress, one `KindView` for each kind that was looked at."""

    icon = "chart-column"
    difference_wanted = pyqtSignal(str, str, str)
    """name, text before, text after"""
    ended = pyqtSignal()
    """its tab is closed"""
    left = pyqtSignal(object)
    """path: the text from which somebody came for a value is to be in front again"""
    run_opened = pyqtSignal(object, str, int)
    """path, what its changes are counted from, line: a circuit was made of a run"""

    def __init__(self, services: WindowServices, app: Application, circuit: Path) -> None:
        super().__init__()
        self._services = services
        self._app = app
        self.circuit = circuit
        self.offer: CircuitOffer | None = None
        self.views: dict[SetupKind, KindView] = {}
        self._wanted: tuple[SetupKind, str] | None = None
        """A kind, and the name of a quantity that is to be in its set-up, until the circuit is known."""
        self.came_from: Path | None = None
        """The text that somebody left for a value of it."""
        self.setObjectName("studies_page")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        mark_area(self, surface="base")
        self.work = StudyWork(services, app, circuit, self)
        self.tuning = TuneWork(services, app, circuit, self)
        self.value_at_hand = ValueAtHand(self._knob, self._take_out)
        self._begun: SetupKind | None = None
        """What runs as soon as the files are saved."""
        self.acts = CircuitActs(services, app.project, app.simulation, circuit, self)
        self.tabs = TabStrip(services, [TITLES[kind] for kind in KINDS], "studyKinds")
        self.setups = SetupMenu(services, app.project, circuit, self._setups_in_front)
        self.cases = CaseMenu(services, app, circuit)
        self.cases.run_opened.connect(self.run_opened)
        self.attach = IconButton(
            services, "paperclip", msg("Attach the shown study to the message"), name="attach_study"
        )
        self.attach.clicked.connect(lambda _checked=False: self._attach())
        self.compare = ComparisonMenu(
            services, app, circuit, lambda: None if self.view is None else self.view.study
        )
        self._last_run = text_label(name="last_run")
        self._last_run.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        mark(self._last_run, role="secondary")
        self.bar = QProgressBar()
        self.bar.setObjectName("study_bar")
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.progress = ElidedLabel()
        self.progress.setObjectName("study_progress")
        mark(self.progress, role="secondary")
        self.error = text_label(role="error", name="study_error", wraps=True)
        self.error.hide()
        self.stack = QStackedWidget()
        self._lay_out()
        self._connect()
        kept = services.workspace.views.of(circuit).study
        self.tabs.setCurrentIndex(KINDS.index(kept) if kept in KINDS else 1)
        services.dress(self)
        self._show_work()
        self._services.start(self._load(), kind="read studies")

    # ---- CentrePage ------------------------------------------------------------------------------

    def tab_title(self) -> str:
        return self._services.language(msg("Studies, {name}", name=self.circuit.name))

    def end(self) -> None:
        self.ended.emit()
        self.work.stop()
        self.tuning.stop()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        arrange(self._head_row, edges=(0, 0, edge, 0), gap=edge)
        arrange(self._progress_row, edges=(edge, theme.size("space.1"), edge, theme.size("space.1")))
        self.bar.setFixedHeight(theme.size("space.1"))
        self.error.setContentsMargins(edge, theme.size("space.1"), edge, theme.size("space.1"))

    def retranslate(self) -> None:
        self.tabs.setAccessibleName(self._services.language(msg("Kinds of studies")))
        for view in self.views.values():
            if view.study is not None:
                view.result.show_study(view.study, self._nominals(view.study))
                view.compare_with(view.comparison.before)
            elif isinstance(view.result, TuneView):
                view.result.retranslate()
        self._show_last()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """What the editor needs, so that the panes around can be moved as before."""
        theme = self._services.theme.theme
        return QSize(theme.size("pane.editor_min"), theme.size("pane.bottom_min"))

    # ---- what is shown ---------------------------------------------------------------------------

    @property
    def kind(self) -> SetupKind:
        return KINDS[max(self.tabs.currentIndex(), 0)]

    @property
    def view(self) -> KindView | None:
        """Of the kind in front; None until the circuit was read."""
        return self.views.get(self.kind)

    def show_kind(self, kind: SetupKind, quantity: str = "") -> None:
        """Bring a kind to the front, with a quantity of the circuit among its parameters."""
        self.tabs.setCurrentIndex(KINDS.index(kind))
        self._wanted = (kind, quantity)
        if self.offer is not None:
            self._take_wanted()

    def follow_hand(self, quantity: str, share: float, phase: DragPhase) -> None:
        """A value is dragged in the text; see `Workspace.value_dragged`."""
        self.value_at_hand.follow(quantity, share, phase)
        if phase == "given up":
            if self._wanted is not None and self._wanted[1].lower() == quantity.lower():
                self._wanted = None
            self._leave_to_text()

    def _knob(self, quantity: str) -> Knob | None:
        """The slider of a quantity, by its name in lower case."""
        knobs = () if self._tuned is None else self._tuned.knobs
        return next((each for each in knobs if each.name.lower() == quantity), None)

    @property
    def _tuned(self) -> TuneView | None:
        view = self.views.get("tune")
        return view.result if view is not None and isinstance(view.result, TuneView) else None

    async def show_result(self, path: Path) -> None:
        """Show a stored study of this circuit. Raises UserInputError when it cannot be read."""
        study = await self._app.simulation.read_study(path)
        kind = next((each for each in KINDS if each == study.kind), None)
        if kind is None:
            return
        if self.offer is None:
            await self._load(is_first=False)
        self.tabs.setCurrentIndex(KINDS.index(kind))
        self._show_kind()
        view = self.views.get(kind)
        if view is not None:
            view.show_study(study, self._nominals(study))
            self._show_last()

    async def compare_with(self, path: Path | None) -> None:
        """Show a stored study beside the one in front, which is of the same kind; None: no more."""
        view = self.view
        if path is None or view is None:
            if view is not None:
                view.compare_with(None)
            return
        try:
            study = await self._app.simulation.read_study(path)
        except CircuitAIError as error:  # removed meanwhile
            self._say_error(error)
            return
        shown = view.study
        if shown is None or shown.kind != study.kind or shown.path == study.path:
            name = title_of(study.kind)
            self._say(msg("Show another study of the same kind ({study}) first, then compare.", study=name))
            return
        self.error.hide()
        view.compare_with(study)

    async def compare_result(self, path: Path) -> None:
        """The same for a study that may be of a kind that is not in front. Raises UserInputError when it
        cannot be read."""
        study = await self._app.simulation.read_study(path)
        kind = next((each for each in KINDS if each == study.kind), None)
        if kind is None:
            return
        if self.offer is None:
            await self._load()
        self.tabs.setCurrentIndex(KINDS.index(kind))
        self._show_kind()
        await self.compare_with(path)

    def _take_wanted(self) -> None:
        (kind, quantity), self._wanted = self._wanted or (self.kind, ""), None
        self._show_kind()
        view = self.views.get(kind)
        if quantity and view is not None and self.offer is not None:
            pane = view.setup_pane
            item = next((i for i in self.offer.adjustables if i.name.lower() == quantity.lower()), None)
            added = None
            if not any(row.row.pattern.lower() == quantity.lower() for row in pane.rows):
                if kind == "map":
                    pane.keep_rows(1)  # a plane has two values: the other one stays
                added = pane.add_row(row_for(item, kind) if item is not None else SetupRow(pattern=quantity))
            if kind == "tune":
                was_live = self.tuning.is_running
                self.value_at_hand.come(quantity, added, was_live=was_live)
                if was_live and self._knob(quantity.lower()) is not None:
                    self.value_at_hand.meet()
                else:
                    self.run(kind)

    def _lay_out(self) -> None:
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        self._head_row = arrange(
            QHBoxLayout(head),
            (self.tabs, 3),
            (self._last_run, 1),
            self.compare,
            self.attach,
            self.cases,
            self.setups,
            edges=0,
        )
        self._progress_line = QWidget()
        self._progress_row = arrange(QHBoxLayout(self._progress_line), self.progress, edges=0)
        arrange(
            QVBoxLayout(self),
            head,
            self.bar,
            self._progress_line,
            self.error,
            (self.stack, 1),
            edges=0,
            gap=0,
        )

    def _connect(self) -> None:
        workspace = self._services.workspace
        self.tabs.currentChanged.connect(lambda _index: self._show_kind())
        self.work.state_changed.connect(self._show_work)
        self.work.progressed.connect(self._show_progress)
        self.work.seen.connect(self._on_seen)
        self.work.kept.connect(self._on_kept)
        self.work.failed.connect(self._on_failed)
        self.tuning.begun.connect(self._on_tuning)
        self.tuning.evaluated.connect(self._on_tuned)
        self.tuning.ended.connect(self._show_work)
        self.tuning.failed.connect(self._on_tuning_failed)
        self.compare.chosen.connect(
            lambda path: self._services.start(
                self.compare_with(path), kind="read study", scope=f"compare {id(self)}"
            )
        )
        self.setups.chosen.connect(self.fill_in)
        self.setups.run_wanted.connect(self._run_again)
        self.acts.changed.connect(self._show_applied)
        self.acts.difference_wanted.connect(self.difference_wanted)
        self.acts.run_opened.connect(self.run_opened)
        workspace.file_changed.connect(lambda _path: self._look_again())
        workspace.cut_off_found.connect(
            lambda _found: self._services.start(self._show_newest(), kind="read studies")
        )
        workspace.goals_changed.connect(
            lambda circuit: self._look_again() if circuit == self.circuit else None
        )

    async def _load(self, *, is_first: bool = True) -> None:
        await self._read_offer()
        if self.offer is None:
            return
        if is_first:
            await self._show_newest()
        self._take_wanted()

    async def _read_offer(self) -> None:
        """What the circuit has now; why it cannot be read is said."""
        root, before = self._services.workspace.root, self.offer
        try:
            goals = await self._app.project.browse.goals(root, self.circuit) if root is not None else ()
            found = await self._app.simulation.study_offer(self.circuit, goals)
            added = self._services.workspace.views.of(self.circuit).measurements
            self.offer = with_measurements(found, added)
        except CircuitAIError as error:
            self._say_error(error)
            return
        self.error.hide()
        for view in self.views.values():
            view.setup_pane.set_offer(self.offer)
            if isinstance(view.result, MapView) and view.study is not None:
                view.result.show_present(self._nominals(view.study))
        if self.tuning.is_running and before is not None and before != self.offer:
            self._tune()  # what is loaded is not the circuit any more
        self._show_last()

    def _look_again(self) -> None:
        if self.offer is not None or self.error.isVisible():
            self._services.start(self._read_offer(), kind="read circuit", scope=f"studies {id(self)}")

    async def _show_newest(self) -> None:
        """The newest study of each kind that was run on this circuit."""
        root = self._services.workspace.root
        if root is None:
            return
        results = await self._app.project.browse.results(root, with_studies=True)
        views = self._services.workspace.views
        for kind in KINDS:
            path = next(
                (
                    result.path
                    for result in results
                    if result.study == kind and views.place_of(result.circuit, result.created) == self.circuit
                ),
                None,
            )
            if path is not None:
                try:
                    study = await self._app.simulation.read_study(path)
                except CircuitAIError:  # removed meanwhile
                    continue
                view = self._view_of(kind)
                if view is not None and view.study is None:
                    view.show_study(study, self._nominals(study))

    def _show_kind(self) -> None:
        view = self._view_of(self.kind)
        if view is not None:
            self.stack.setCurrentWidget(view)
            shown = self._services.workspace.views.of(self.circuit)
            if shown.study != self.kind:
                shown.study = self.kind
                self._services.workspace.views.tell()
        self._show_last()
        self._show_work()

    def _view_of(self, kind: SetupKind) -> KindView | None:
        if kind in self.views or self.offer is None:
            return self.views.get(kind)
        setup = self._services.workspace.views.of(self.circuit).studies.get(kind)
        if setup is None:
            former = self._services.workspace.views.of(self.circuit).studies
            setup = UsualSetups(offer=self.offer, former=former).of(kind)
        pane = self._pane_of(kind, setup, self.offer)
        view = KindView(self._services, pane, _result_view(kind, self._services))
        self.views[kind] = view
        self.stack.addWidget(view)
        if isinstance(view.result, TuneView):
            view.result.wanted.connect(self._on_moved)
        view.result.run_wanted.connect(lambda run: self._open_run(kind, run))
        view.result.keep_wanted.connect(lambda run: self._keep_case(kind, run))
        view.result.values_wanted.connect(self.acts.apply)
        view.result.undo_wanted.connect(self.acts.undo)
        view.result.diff_wanted.connect(self.acts.show_difference)
        view.result.next_wanted.connect(self.show_kind)
        view.result.file_wanted.connect(lambda: self._export(kind))
        return view

    def _pane_of(self, kind: SetupKind, setup: StudySetup, offer: CircuitOffer) -> SetupPane:
        pane = SetupPane(self._services, kind, setup, offer, self.circuit.name)
        pane.changed.connect(lambda: self._keep(kind, pane.setup))
        pane.run_wanted.connect(lambda: self.run(kind))
        pane.stop_wanted.connect(self.tuning.stop if kind == "tune" else self.work.stop)
        pane.goals_wanted.connect(self.acts.edit_goals)
        return pane

    def _setups_in_front(self) -> SetupsInFront | None:
        from application.project.saved_setups import setup_of

        view, study = self.view, None if self.view is None else self.view.study
        if view is None:
            return None
        return SetupsInFront(
            kind=self.kind,
            filled_in=view.setup_pane.setup,
            shown=None if study is None or study.is_under_way else setup_of(study.kind, study.document),
            can_run=self.work.running is None,
        )

    def fill_in(self, kind: SetupKind, setup: StudySetup) -> None:
        """Show a set-up in place of what is filled in."""
        view = self.views.get(kind)
        if view is not None and self.offer is not None:
            view.replace_setup(self._pane_of(kind, setup, self.offer))
            self._keep(kind, setup)
            corners = self._corners()
            if setup.at_corners and kind != "corners" and corners is not None:
                self.fill_in("corners", corners.with_corners_of(setup))
            self._show_work()

    def _run_again(self, kind: SetupKind, setup: StudySetup) -> None:
        self.fill_in(kind, setup)
        view = self.views.get(kind)
        if view is not None and view.setup_pane.refusal is None:  # else the pane tells why
            self.run(kind)

    def _keep(self, kind: SetupKind, setup: StudySetup) -> None:
        self._services.workspace.views.of(self.circuit).studies[kind] = setup
        self._services.workspace.views.tell()

    # ---- running ---------------------------------------------------------------------------------

    def run(self, kind: SetupKind) -> None:
        """Save what is written in the editor, and run what is filled in."""
        self.error.hide()
        focused = QApplication.focusWidget()
        if focused is None or not self.isAncestorOf(focused):
            self.setFocus()  # where Escape ends it
        self._begun = kind
        self._services.start(self._save_and_run(kind), kind="begin study", scope=f"studies {id(self)}")

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Escape ends the study, and what came is kept; else it leaves the sliders as if nobody had come."""
        is_escape = event is not None and event.key() == Qt.Key.Key_Escape
        if is_escape and self.work.running is not None:
            self.work.stop()
        elif not (is_escape and self._leave_sliders()):
            super().keyPressEvent(event)

    def _leave_sliders(self) -> bool:
        """The file's values again, and the text in front from which somebody came; whether there was any.
        Where a value is being typed the key means the typing."""
        is_typing = isinstance(QApplication.focusWidget(), QLineEdit)
        tuned = self._tuned if self.kind == "tune" and not is_typing else None
        if tuned is None or (self.came_from is None and not tuned.values):
            return False
        tuned.go_back()
        self._leave_to_text()
        return True

    def _leave_to_text(self) -> None:
        origin, self.came_from = self.came_from, None
        if origin is not None:
            self.left.emit(origin)

    async def _save_and_run(self, kind: SetupKind) -> None:
        buffers = self._services.workspace.buffers
        if buffers is not None and not await buffers.save_unsaved():
            self._say(msg("Not run: a changed file could not be saved."))
            self._refuse_value(kind)
            return
        await self._read_offer()
        if self._begun != kind:
            return  # given up meanwhile
        view = self.views.get(kind)
        if self.offer is None or view is None or view.setup_pane.refusal is not None:
            self._refuse_value(kind)
            return
        setup = view.setup_pane.setup
        self._keep(kind, setup)
        if kind == "tune":
            self._tune()
            return
        if setup.at_corners and (corners := self._corners()) is not None:
            setup = setup.with_corners_of(corners)
        self.work.start(kind, document_of(kind, setup, self.offer), setup)

    def _refuse_value(self, kind: SetupKind) -> None:
        """The value that somebody came for cannot be tuned: why is said in place of its row, which stays
        where something is to be filled in."""
        row = self.value_at_hand.row if kind == "tune" else None
        names = () if self.offer is None else [item.name.lower() for item in self.offer.adjustables]
        lacks = row is not None and row.problem is not None and row.row.pattern.lower() in names
        if row is not None and row.problem is not None and not lacks:
            self._say(row.problem)
        if kind == "tune":
            self.value_at_hand.refuse(keeps_row=lacks)

    def _take_out(self, row: ParameterRow | None, was_live: bool) -> None:
        """Nothing came of a value: its row goes, and the circuit is loaded as it was before."""
        view = self.views.get("tune")
        if view is not None and row is not None and row in view.setup_pane.rows:
            focused = QApplication.focusWidget()
            if focused is not None and row.isAncestorOf(focused):
                self.setFocus()  # where Escape leads back to the text
            view.setup_pane.remove_row(row)
        is_loaded = row is not None and self._knob(row.row.pattern.lower()) is not None
        if self._begun == "tune":
            self._begun = None
        if not was_live:
            self.tuning.stop()
        elif is_loaded or not self.tuning.is_running:
            self._tune()

    def _tune(self) -> None:
        """Load the circuit with what is filled in; values that were moved stay where they are."""
        view = self.views.get("tune")
        if view is not None and self.offer is not None and view.setup_pane.refusal is None:
            self.tuning.start(document_of("tune", view.setup_pane.setup, self.offer))
            self._show_work()

    def _on_tuning(self, spec: StudySpec, written: Mapping[str, float], point: TunedPoint | None) -> None:
        view = self.views.get("tune")
        if view is not None and isinstance(view.result, TuneView):
            view.results.setCurrentWidget(view.result)
            view.result.begin(spec, written, point, self.tuning.run_s)
            self.value_at_hand.meet()
        self._show_work()

    def _on_moved(self, values: Mapping[str, float]) -> None:
        """A slider is elsewhere: its figures follow; where tuning was stopped it begins again there."""
        if self.tuning.is_running:
            self.tuning.want(values)
        else:
            self._tune()

    def _on_tuned(self, point: TunedPoint) -> None:
        if self._tuned is not None:
            self._tuned.show_point(point, self.tuning.run_s)

    def _on_tuning_failed(self, error: CircuitAIError) -> None:
        self.value_at_hand.refuse()
        self._say_error(error)
        self._show_work()

    def _corners(self) -> StudySetup | None:
        """What is filled in on the page of corners."""
        kept = self._services.workspace.views.of(self.circuit).studies.get("corners")
        return kept or (UsualSetups(offer=self.offer).of("corners") if self.offer is not None else None)

    def _show_work(self) -> None:
        running = self.work.running
        for kind, view in self.views.items():
            is_tuning = kind == "tune" and self.tuning.is_running
            others = kind != "tune" and running not in (None, kind)
            view.setup_pane.set_running(is_running=is_tuning or running == kind, other_runs=others)
            if isinstance(view.result, TuneView):
                view.result.set_live(is_live=is_tuning)
        if running is None:
            self.bar.setValue(0)
        elif not self._progress_line.isVisible():
            name = self._services.language(TITLES[running])
            self.progress.setText(self._services.language(msg("{study}: starting…", study=name)))
        self.bar.setVisible(running is not None)
        self._progress_line.setVisible(running is not None)

    def _show_progress(self, progress: Progress) -> None:
        language = self._services.language
        self.bar.setValue(round(1000 * progress.share))
        texts = [progress.done, progress.left, progress.failed, progress.best]
        self.progress.setText(" · ".join(language(text) for text in texts if text is not None))
        running = self.work.running
        if running is not None:
            named = {"study": TITLES[running], "name": self.circuit.name, "progress": progress.done}
            said = msg("{study} of {name}: {progress}", **named)
            if progress.left is not None:
                said = msg("{study} of {name}: {progress}, {left}", left=progress.left, **named)
            self._services.workspace.status_changed.emit(said)

    def _on_seen(self, kind: SetupKind, study: StoredStudy) -> None:
        """Runs have come: their rows and charts, as those of a study that is over."""
        view = self.views.get(kind)
        if view is not None and self.work.running == kind:
            view.show_study(study, self._nominals(study))
            self._show_last()

    def _on_kept(self, kind: SetupKind, path: Path) -> None:
        self._services.start(self._show_kept(kind, path), kind="read study", scope=f"studies {id(self)}")

    async def _show_kept(self, kind: SetupKind, path: Path) -> None:
        study = await self._app.simulation.read_study(path)
        view = self.views.get(kind)
        if view is not None:
            view.show_study(study, self._nominals(study))
        self.acts.forget()
        self._show_last()
        count, name = len(study.rows), self.circuit.name
        told = msg("{study} of {name}: {count} {count:run|runs}", study=TITLES[kind], name=name, count=count)
        if study.is_stopped:
            told = msg("{study} of {name} stopped; {count} {count:run was|runs were} kept.",
                       study=TITLES[kind], name=name, count=count)  # fmt: skip
        self._services.workspace.status_changed.emit(told)
        self._say_trouble(study)

    def _say_trouble(self, study: StoredStudy) -> None:
        """Why runs failed: the first reason."""
        errors = study.texts("errors")
        if errors and study.failed:
            told = msg("{count} {count:run|runs} failed: {reason}", count=study.failed, reason=errors[0])
            self._say(told)

    def _on_failed(self, kind: SetupKind, error: CircuitAIError) -> None:
        view = self.views.get(kind)
        if view is not None and view.study is not None and view.study.is_under_way:
            view.show_kept()
            self._show_applied()
            self._show_last()
        self._say_error(error)

    def _say_error(self, error: CircuitAIError) -> None:
        language = self._services.language
        advice = "" if error.advice is None else f" {language(error.advice)}"
        self.error.setText(language(error.message) + advice)
        self.error.show()

    def _say(self, text: Message) -> None:
        self.error.setText(self._services.language(text))
        self.error.show()

    # ---- results ---------------------------------------------------------------------------------

    def _nominals(self, study: StoredStudy) -> Mapping[str, float]:
        offer = self.offer or CircuitOffer()
        written = {item.name: item.value for item in offer.adjustables if not math.isnan(item.value)}
        return nominals_of(study, written) if study.kind not in ("map", "optimize") else written

    def _show_last(self) -> None:
        """When the shown study was run, or that the circuit has changed since."""
        view, language = self.view, self._services.language
        study = None if view is None else view.study
        if study is None:
            self._last_run.setText("")
            return
        local = local_time(study.created)
        when = "" if local is None else f"{local:%H:%M}"
        is_old = self.offer is not None and self.offer.sha256 != study.netlist_sha256
        text = msg("last run {time}", time=when)
        if study.is_under_way:
            text = msg("under way: {count} {count:run|runs} so far", count=len(study.rows))
        elif study.is_stopped and not is_old:
            text = msg("stopped at {time}, {count} {count:run|runs} kept", time=when, count=len(study.rows))
        elif is_old:
            text = msg("circuit changed since {time}", time=when)
        if not study.is_ours:
            text = msg("from elsewhere: it came with the project and was not run here")
        self._last_run.setText(language(text))
        mark(self._last_run, role="warn" if is_old or not study.is_ours else "secondary")

    def _open_run(self, kind: SetupKind, run: int) -> None:
        view = self.views.get(kind)
        row = None if view is None or view.study is None else view.study.row(run)
        if row is not None and view is not None and view.study is not None:
            title = self._services.language(title_of(view.study.kind))
            self.acts.open_run(view.study, row, title)

    def _keep_case(self, kind: SetupKind, run: int) -> None:
        from application.project.named_cases import FoundCase

        study = None if kind not in self.views else self.views[kind].study
        row = None if study is None else study.row(run)
        if study is not None and row is not None:
            self.acts.keep_case(FoundCase(study=study, row=row, nominals=self._nominals(study)))

    def _attach(self) -> None:
        """Name it in the message that is being written: the assistant is sent its figures."""
        study = None if self.view is None else self.view.study
        if study is not None and not study.is_under_way:
            self.error.hide()
            self._services.workspace.words_offered.emit(f"@study:{study_name(study.path, study.kind)} ")
        else:
            self._say(msg("No finished study is shown."))

    def _export(self, kind: SetupKind) -> None:
        view = self.views.get(kind)
        if view is not None and view.study is not None and view.study.is_under_way:
            self._say(msg("The table can be exported when the study is over or stopped."))
        elif view is not None and view.study is not None:
            self.acts.export(view.study, self)

    def _show_applied(self) -> None:
        for view in self.views.values():
            if isinstance(view.result, MapView | SearchView | TuneView):
                view.result.set_applied(is_applied=self.acts.is_applied)
        tuned = self._tuned
        is_stopped = not self.tuning.is_running  # else it is loaded again when the file is seen to be another
        if is_stopped and self.acts.is_applied and tuned is not None and tuned.values:
            self._tune()


def _result_view(kind: SetupKind, services: WindowServices) -> ResultView:
    from presentation.panels.studies import extremes_view, scatter_view, sweep_view

    made: Mapping[SetupKind, type[ResultView]] = {
        "sweep": sweep_view.SweepView,
        "montecarlo": scatter_view.ScatterView,
        "corners": extremes_view.CornersView,
        "worst-case": extremes_view.WorstCaseView,
        "sensitivity": extremes_view.SensitivityView,
        "map": MapView,
        "optimize": SearchView,
        "tune": TuneView,
    }
    return made[kind](services)
