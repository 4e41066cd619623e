"""Views of a plot kept by name: traces, zoom, panes, scales, cursors, of one circuit and analysis."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint

from application.project.window_state import NamedView
from presentation.panels.waveforms.menu_rows import MenuRows
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import changed_look, look_of
from presentation.ui.field_card import FieldCard
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QMenu

    from presentation.panels.waveforms.plot_area import PlotArea


class PlotViews(QObject):
    """Of one panel; what is kept stays with the circuit from run to run."""

    def __init__(self, services: WindowServices, panel: PlotHost) -> None:
        super().__init__(panel.widget)
        self._services, self._panel = services, panel
        self._card: FieldCard | None = None

    def attach(self, area: PlotArea) -> None:
        self._card = FieldCard(self._services, area, name="view")

    @property
    def kept(self) -> Mapping[str, NamedView]:
        """Those of the shown analysis, in the order in which they were kept."""
        return look_of(self._panel.view, self._panel.analysis).views

    def ask_to_keep(self) -> None:
        """Ask for the name under which what is seen is to be kept."""
        if self._card is not None and self._panel.has_drawing:
            number = len(self.kept) + 1
            say = self._services.language
            while (name := say(msg("View {number}", number=number))) in self.kept:
                number += 1
            self._card.ask(msg("Name of the view"), name, self.keep, check=partial(_problem, ()))

    def ask_to_rename(self, name: str) -> None:
        if self._card is not None and name in self.kept:
            taken = [each for each in self.kept if each != name]
            self._card.ask(
                msg("Name of the view"), name, partial(self.rename, name), check=partial(_problem, taken)
            )

    def keep(self, name: str) -> None:
        """What is seen now; a view of this name is replaced."""
        area, panel = self._panel.area, self._panel
        if area is None or not panel.has_drawing:
            return
        look = changed_look(panel.view, panel.analysis)
        look.views[name] = NamedView(
            traces=[trace.expression for trace in panel.traces],
            zoom=area.zoom,
            cursors=area.cursor_places,
            scales=dict(look.scales),
            panes=dict(look.panes),
            right=dict(look.right),
        )
        self._services.workspace.views.tell()
        self._services.workspace.status_changed.emit(msg("Kept the view {name}", name=name))

    def show(self, name: str) -> None:
        """Look at the plot as it was kept."""
        view, analysis = self._panel.view, self._panel.analysis
        found = self.kept.get(name)
        if found is None:
            return
        look = changed_look(view, analysis)
        look.scales, look.panes, look.right = dict(found.scales), dict(found.panes), dict(found.right)
        look.hides_cursors = found.cursors is None
        look.cursors = found.cursors or look.cursors
        view.traces[analysis] = list(found.traces)
        view.zooms.pop(analysis, None)
        if found.zoom:
            view.zooms[analysis] = dict(found.zoom)
        self._panel.draw_as_kept()

    def rename(self, old: str, new: str) -> None:
        """Its place among the others stays."""
        look = changed_look(self._panel.view, self._panel.analysis)
        look.views = {new if name == old else name: kept for name, kept in look.views.items()}
        self._services.workspace.views.tell()

    def delete(self, name: str) -> None:
        look = changed_look(self._panel.view, self._panel.analysis)
        if look.views.pop(name, None) is not None:
            self._services.workspace.views.tell()
            self._services.workspace.status_changed.emit(msg("Deleted the view {name}", name=name))

    def fill(self, rows: MenuRows, menu: QMenu) -> None:
        """What can be done with views: each by its name, and to keep what is seen."""
        say = self._services.language
        for number, name in enumerate(self.kept):
            words = name.replace("&", "&&").replace("\t", " ")
            rows.add(f"view_{number}", words, partial(self.show, name), into=menu)
        if self.kept:
            menu.addSeparator()
        rows.add("keep_view", msg("Keep as view…"), self.ask_to_keep, action="plot.keep_view", into=menu)
        for key, title, act in (
            ("rename_view", msg("Rename view"), self.ask_to_rename),
            ("delete_view", msg("Delete view"), self.delete),
        ):
            if self.kept:
                inner = menu.addMenu(say(title))
                assert inner is not None
                inner.setObjectName(key)
                for number, name in enumerate(self.kept):
                    words = name.replace("&", "&&").replace("\t", " ")
                    rows.add(f"{key}_{number}", words, partial(act, name), into=inner)

    def open_menu(self) -> None:
        """The same by key, over the plot."""
        area = self._panel.area
        if area is not None and self._panel.has_drawing:
            rows = MenuRows(self._services, self._panel.widget, "views_menu")
            self.fill(rows, rows.menu)
            place = area.pane_rect(0).topLeft().toPoint() if area.panes else QPoint()
            rows.menu.popup(area.mapToGlobal(place))


def _problem(taken: Collection[str], name: str) -> Message | None:
    """Why it can be no name of a view."""
    if not name:
        return msg("Type a name.")
    return msg("{name} is taken: type another name.", name=name) if name in taken else None
