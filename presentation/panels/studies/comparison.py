"""Two studies of one kind beside each other: which one is chosen, and what each found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy
from presentation.study_comparison import change_told, compared
from presentation.study_figures import percent, shown_or_dash
from presentation.study_words import title_of
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.local_time import local_time
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from application.project.browsing import ResultSummary

_MOST_ROWS = 6
"""That are seen without scrolling."""
_MOST_OFFERED = 20


class StudyComparison(QWidget):
    """Above what a study found: its figures beside those of another one. Hidden without one."""

    ended = pyqtSignal()
    """nobody wants it any more"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.before: StoredStudy | None = None
        self.setObjectName("study_comparison")
        mark_area(self, surface="base", line="bottom")
        self.title = ElidedLabel()
        mark(self.title, role="strong")
        close = IconButton(services, "x", msg("End the comparison"), name="end_study_comparison")
        close.clicked.connect(lambda _checked=False: self.ended.emit())
        self.table = FigureTable(services, "compared_studies")
        theme = services.theme.theme
        edge = theme.size("space.3")
        bar = arrange(QHBoxLayout(), (self.title, 1), close, edges=(edge, 2, theme.size("space.2"), 2))
        arrange(QVBoxLayout(self), bar, self.table, edges=0, gap=0)
        self.hide()

    def show_figures(self, before: StoredStudy | None, now: StoredStudy | None) -> None:
        """Those of both; None of one: there is nothing to compare."""
        self.before = before
        self.setVisible(before is not None and now is not None)
        if before is None or now is None:
            return
        language, figures = self._services.language, compared(before, now)
        titles = _titles(before, now)
        self.title.setText(
            language(
                msg("{study}: {before} and {now}", study=title_of(now.kind), before=titles[0], now=titles[1])
            )
        )
        self.table.setAccessibleName(self.title.text())
        columns = [
            Column(title=language(msg("Measurement"))),
            *(Column(title=title, is_number=True) for title in titles),
            Column(title=language(msg("Change")), is_number=True),
        ]
        rows = [
            [
                Cell(text=language(each.label)),
                Cell(text=shown_or_dash(each.before, each.unit)),
                Cell(text=shown_or_dash(each.now, each.unit)),
                Cell(text=language(change_told(each)), color="text.secondary"),
            ]
            for each in figures
        ]
        self.table.show_rows(columns, rows)
        self.table.setFixedHeight(self.table.wanted_height(min(len(rows), _MOST_ROWS)))


def _titles(*studies: StoredStudy) -> list[str]:
    """When each was run; of one day by the time alone."""
    times = [local_time(study.created) for study in studies]
    days = {None if each is None else each.date() for each in times}
    form = "%H:%M:%S" if len(days) == 1 else "%m-%d %H:%M"
    return [
        study.path.parent.name if each is None else f"{each:{form}}"
        for study, each in zip(studies, times, strict=True)
    ]


class ComparisonMenu(IconButton):
    """A button whose menu lists the stored studies that the shown one can be compared with."""

    chosen = pyqtSignal(object)
    """path of a stored study; None: no comparison"""

    def __init__(
        self,
        services: WindowServices,
        app: Application,
        circuit: Path,
        shown: Callable[[], StoredStudy | None],
    ) -> None:
        """`shown` gives the study in front."""
        super().__init__(services, "git-compare", msg("Compare with another study"), name="compare_study")
        self._app, self._circuit, self._study = app, circuit, shown
        self.clicked.connect(
            lambda _checked=False: services.start(
                self._show(), kind="read studies", scope=f"compare {id(self)}"
            )
        )

    async def _show(self) -> None:
        root, shown = self._services.workspace.root, self._study()
        if root is None:
            return
        views = self._services.workspace.views
        results = await self._app.project.browse.results(root, with_studies=True)
        others = [
            each
            for each in results
            if shown is not None
            and each.study == shown.kind
            and each.path != shown.path
            and views.place_of(each.circuit, each.created) == self._circuit
        ]
        self.menu_of(others[:_MOST_OFFERED]).popup(self.mapToGlobal(self.rect().bottomLeft()))

    def menu_of(self, studies: list[ResultSummary]) -> QMenu:
        """A row for each, and one for none of them."""
        language, menu = self._services.language, QMenu(self)
        menu.setObjectName("comparison_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in studies:
            local = local_time(each.created)
            words = [each.path.parent.name if local is None else f"{local:%m-%d %H:%M:%S}"]
            words += [] if each.yield_share is None else [percent(each.yield_share)]
            words += [each.note] if each.note else []
            action = menu.addAction(" · ".join(words).replace("&", "&&"))
            assert action is not None
            action.setObjectName(f"compare:{each.path.parent.name}")
            action.triggered.connect(partial(self._choose, each.path))
        if not studies:
            none = menu.addAction(language(msg("This circuit has no other study of this kind yet")))
            assert none is not None
            none.setEnabled(False)
            return menu
        menu.addSeparator()
        end = menu.addAction(language(msg("End the comparison")))
        assert end is not None
        end.triggered.connect(partial(self._choose, None))
        return menu

    def _choose(self, path: Path | None, _checked: bool = False) -> None:
        self.chosen.emit(path)
