"""The settings: categories left, rows right, searched; each change holds at once and is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QModelIndex, Qt, QTimer, QUrl
from PyQt6.QtGui import QDesktopServices, QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from application.preferences import Preferences, ShownSettings
from application.project.cleaning import CleanProject
from domain.settings import ShownSetting
from presentation.dialogs.settings.plain_rows import CommandRow, look_rows
from presentation.dialogs.settings.row import Row, SettingRow
from presentation.dialogs.settings.sections import Section, sections_of
from presentation.dialogs.settings.servers import ServersChange, ServersPart
from presentation.dialogs.settings.storage import StoragePart
from presentation.ui import questions
from presentation.ui.fitting import fit
from presentation.ui.parts import SpokenName, arrange, push_button, text_label
from presentation.ui.rows import Role, RowLook, RowTree
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.setting import WrongSetting, to_plain
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.tool_execution.server_tools import ToolServers

_SIZE = (832, 868)
_LEFT = 216
"""Pixels at the scale 1."""
_MOST_OF_SCREEN = 0.9
_ROWS_AT_ONCE = 3
"""Made without a break: some 4 ms each."""


class _SectionPart(QWidget):
    """The heading of a category and its rows."""

    def __init__(self, services: WindowServices, section: Section) -> None:
        super().__init__()
        self._services = services
        self.section = section
        self.rows: list[Row] = []
        self.parts: list[QWidget] = []
        """What is no row: it is shown with the whole category only."""
        theme = services.theme.theme
        head = text_label(services.language(section.title), role="strong")
        gap = theme.size("space.3")
        self.column = arrange(QVBoxLayout(self), edges=0, gap=0)
        line = arrange(QVBoxLayout(), head, edges=(gap * 2, gap, gap, theme.size("space.1")), gap=0)
        if section.help is not None:
            line.addWidget(text_label(services.language(section.help), wraps=True, role="small"))
        self.column.addLayout(line)

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self.column.addWidget(row)

    def add_part(self, part: QWidget) -> None:
        self.parts.append(part)
        self.column.addWidget(part)

    def search(self, words: Sequence[str]) -> int:
        """Show the rows that have all words; returns how many."""
        count = 0
        for row in self.rows:
            is_hit = all(any(word in text for text in row.searched) for word in words)
            row.setVisible(is_hit)
            row.mark_words(words if is_hit else ())
            count += is_hit
        titles = (self._services.language(self.section.title), str(self.section.title))
        is_named = all(any(word in title.casefold() for title in titles) for word in words)
        for part in self.parts:
            part.setVisible(is_named)
        self.setVisible(count > 0 or (is_named and bool(self.parts)))
        return count


class SettingsDialog(QDialog):
    """Open it with `open()`."""

    def __init__(
        self,
        services: WindowServices,
        preferences: Preferences,
        clean: CleanProject,
        parent: QWidget | None,
        *,
        servers: Callable[[], ToolServers],
        changed: Callable[[str, Any], None] = lambda _name, _value: None,
    ) -> None:
        """`changed` hears of each change, by the setting's name and value."""
        super().__init__(parent)
        self._services, self._preferences, self._clean = services, preferences, clean
        self._servers, self._changed = servers, changed
        self._shown: ShownSettings | None = None
        self._fitted: float | None = None
        """The scale at which the room was taken; None before the first time."""
        self._is_building = self._is_stale = self._is_over = False
        self._sections: list[_SectionPart] = []
        self._scope = f"settings-{new_ulid()}"
        self.rows: dict[str, SettingRow] = {}
        self.setObjectName("settingsDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._make_parts()
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self._rebuild)
        self._place = 0
        self._scrolling = QTimer(self)  # once the new rows have their places
        self._scrolling.setSingleShot(True)
        self._scrolling.timeout.connect(self._scroll_back)
        for look_changed in (services.theme.changed, services.language.changed):
            look_changed.connect(self._make_again)  # a method: the connection ends with the dialog
        self.retranslate()
        self.restyle()
        self.finished.connect(lambda _result: self._on_finished())
        self._start(self._load())
        self.search.setFocus()

    # ---- parts ---------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        services = self._services
        self.search = QLineEdit()
        self.search.setObjectName("settingsSearch")
        self.search.setClearButtonEnabled(True)
        SpokenName(services, self.search, msg("Search the settings"))
        self.search.textChanged.connect(lambda _text: self._filter())
        self.count = text_label(name="settingsCount", role="small")
        self._model = QStandardItemModel(self)
        self.categories = RowTree(services, "settingsCategories", is_list=True)
        self.categories.setModel(self._model)
        SpokenName(services, self.categories, msg("Categories"))
        self.categories.clicked.connect(self._go_to)
        self.categories.activated.connect(self._go_to)
        self.differing = text_label(name="settingsDiffering", role="small")
        self._left = QWidget()
        mark_area(self._left, surface="panel", line="right")
        self._left_column = arrange(QVBoxLayout(self._left), (self.categories, 1), self.differing)
        self._view = QScrollArea()
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setWidgetResizable(True)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.note = text_label(name="settingsNote", wraps=True, role="error")
        self.note.hide()
        self._head = QWidget()
        mark_area(self._head, surface="raised", line="bottom")
        self._head_row = arrange(QHBoxLayout(self._head), (self.search, 1), self.count)
        self._foot = QWidget()
        mark_area(self._foot, part="footer")
        self.reset_all = push_button(name="resetAll", clicked=lambda: self._start(self._ask_reset()))
        self.open_file = push_button(name="openSettingsFile", clicked=self._open_file)
        self.in_force = text_label(role="small")
        self.close_button = push_button(name="closeSettings", clicked=self.accept, kind="primary")
        self._foot_row = arrange(
            QHBoxLayout(self._foot), self.reset_all, self.open_file, 1, self.in_force, self.close_button
        )
        self._right = QWidget()
        mark_area(self._right, surface="base")
        arrange(QVBoxLayout(self._right), self.note, (self._view, 1), edges=0, gap=0)
        middle = arrange(QHBoxLayout(), self._left, (self._right, 1), edges=0, gap=0)
        arrange(QVBoxLayout(self), self._head, (middle, 1), self._foot, edges=0, gap=0)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        arrange(self._head_row, edges=edge, gap=theme.size("space.3"))
        arrange(self._foot_row, edges=(edge, theme.size("space.3"), edge, theme.size("space.3")), gap=gap)
        arrange(self._left_column, edges=(0, gap, 0, gap), gap=gap)
        self.differing.setContentsMargins(edge, gap, edge, gap)
        self._left.setFixedWidth(round(_LEFT * theme.scale))
        self.note.setContentsMargins(edge, gap, edge, gap)

    def _make_again(self, _look: object) -> None:
        self._again.start(0)

    def retranslate(self) -> None:
        say = self._services.language
        self.setWindowTitle(say(msg("Settings")))
        self.search.setPlaceholderText(say(msg("Search the settings")))
        self.reset_all.setText(say(msg("Reset all")))
        self.open_file.setText(say(msg("Open as file")))
        self.in_force.setText(say(msg("In force at once")))
        self.close_button.setText(say(msg("Close")))

    def open(self) -> None:
        self._take_room()
        super().open()

    def _take_room(self) -> None:
        """As large as the screen lets it be."""
        scale, screen = self._services.theme.theme.scale, self.screen()
        width, height = (round(side * scale) for side in _SIZE)
        if screen is not None:  # its frame is not known before it is shown
            height = min(height, round(screen.availableGeometry().height() * _MOST_OF_SCREEN))
        fit(self, width, height)
        self._fitted = scale

    # ---- what is shown -------------------------------------------------------------------------

    async def _load(self) -> None:
        self._shown = await self._preferences.load()
        await self._build()

    def _rebuild(self) -> None:
        self.retranslate()
        self.restyle()
        if self._fitted not in (None, self._services.theme.theme.scale):  # its own row of the zoom was used
            self._take_room()
        if self._shown is not None:
            self._start(self._build())

    async def _build(self) -> None:
        """Make the rows, a few at a time: keys and paints come between them."""
        self._is_stale = True
        if self._is_building:
            return
        self._is_building = True
        try:
            while self._is_stale and not self._is_over:
                self._is_stale = False
                await self._build_once()
        finally:
            self._is_building = False

    async def _build_once(self) -> None:
        content = QWidget()
        mark_area(content, surface="base")
        column = arrange(QVBoxLayout(content), edges=0, gap=0)
        bar = self._view.verticalScrollBar()
        self._place = 0 if bar is None else bar.value()
        self._sections, self.rows = [], {}
        self._view.setWidget(content)  # now: laid out all at once at the end it would hold the loop
        made: list[_SectionPart] = []
        for section in sections_of(() if self._shown is None else self._shown.groups):
            part = _SectionPart(self._services, section)
            made.append(part)
            column.addWidget(part)
            for number, _ in enumerate(self._filled(part, section), 1):
                if number % _ROWS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
            if self._is_over:
                return
        column.addStretch(1)
        self._sections = made
        self.rows = {row.name: row for part in made for row in part.rows if isinstance(row, SettingRow)}
        self._order_tabs(content)
        self._refresh()
        self._filter()
        self._scrolling.start(0)

    def _on_finished(self) -> None:
        self._is_over = True

    def _order_tabs(self, content: QWidget) -> None:
        """The rows come behind the categories and before the foot, though they were made after it."""
        before: QWidget = self.categories
        for part in content.findChildren(QWidget):
            if part.window() is self and part.focusPolicy() & Qt.FocusPolicy.TabFocus:
                self.setTabOrder(before, part)
                before = part
        for part in (self.reset_all, self.open_file, self.close_button):
            self.setTabOrder(before, part)
            before = part

    def _scroll_back(self) -> None:
        bar = self._view.verticalScrollBar()
        if bar is not None:
            bar.setValue(self._place)

    def _filled(self, part: _SectionPart, section: Section) -> Iterator[None]:
        """Give a category its rows, one at each step."""
        services = self._services
        if section.is_appearance:
            for look in look_rows(services, services.workspace.command_wanted.emit):
                part.add(look)
                yield
        for shown in section.settings:
            row = SettingRow(services, shown, refusal=self._refusal(shown))
            row.changed.connect(lambda name, value: self._start(self._set(name, value)))
            row.reset.connect(lambda name: self._start(self._reset((name,))))
            part.add(row)
            yield
        for name, title, help_text in section.commands:
            part.add(CommandRow(services, name, title, help_text, self._leave_to))
            yield
        if section.has_servers:
            part.add_part(ServersPart(services, self._servers, self._set_servers))
            yield
        if section.has_storage:
            part.add_part(StoragePart(services, self._clean, services.workspace.root))
            yield

    def _refusal(self, shown: ShownSetting) -> Message | None:
        """Why a value is shown only."""
        if not shown.name.startswith("embedding."):
            return None
        if self._value("embedding.model") in (None, ""):
            return msg("Set up a server first.")
        is_of_dialog = shown.name.rpartition(".")[2] in ("provider", "model", "base_url", "dimensions")
        return msg("Changed in the dialog below, which tests it.") if is_of_dialog else None

    def _value(self, name: str) -> Any:
        every = () if self._shown is None else (one for group in self._shown.groups for one in group.settings)
        return next((one.value for one in every if one.name == name), None)

    def _refresh(self) -> None:
        """Show what holds now in the rows that are there."""
        if self._shown is None or self._is_over:
            return
        for group in self._shown.groups:
            for one in group.settings:
                if one.name in self.rows:
                    self.rows[one.name].show_setting(one, self._preferences.variables_of(one.field))
        count = len(self._shown.differing())
        words = msg("{count} {count:differs|differ} from the default", count=count)
        self.differing.setText(self._services.language(words))
        self.reset_all.setEnabled(count > 0)
        self._say(self._shown.warnings)

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        counts = [part.search(words) for part in self._sections]
        total = sum(len(part.rows) for part in self._sections)
        found = msg("{count} of {total} settings", count=sum(counts), total=total)
        self.count.setText(self._services.language(found) if words else "")
        chosen = self.categories.currentIndex().row()
        self._model.clear()
        for part, count in zip(self._sections, counts, strict=True):
            item = QStandardItem(self._services.language(part.section.title))
            color = "text.tertiary" if words and not count else "text.primary"
            values = (str(count),) if words and count else ()
            look = RowLook(icon=part.section.icon, values=values, value_style="small", color=color)
            item.setData(look, int(Role.LOOK))
            self._model.appendRow(item)
        if 0 <= chosen < self._model.rowCount():
            self.categories.setCurrentIndex(self._model.index(chosen, 0))

    def _go_to(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self._sections):
            part, bar = self._sections[index.row()], self._view.verticalScrollBar()
            if bar is not None and not part.isHidden():
                bar.setValue(part.y())

    # ---- changes -------------------------------------------------------------------------------

    async def _set(self, name: str, value: Any) -> None:
        try:
            self._shown = await self._preferences.set(name, value)
        except WrongSetting as error:
            row = None if self._is_over else self.rows.get(name)
            if row is not None:
                row.tell(error.message)
            return
        except CircuitAIError as error:
            self._say((error.message, *([] if error.advice is None else [error.advice])))
            return
        self._after((name,))

    async def _set_servers(self, change: ServersChange) -> None:
        """Change the servers as they are set now."""
        name = "tool_servers"
        await self._set(name, to_plain(change(dict(self._value(name) or {}))))

    async def _reset(self, names: Sequence[str]) -> None:
        try:
            self._shown = await self._preferences.reset(names)
        except CircuitAIError as error:
            self._say((error.message, *([] if error.advice is None else [error.advice])))
            return
        self._after(names)

    def _after(self, names: Sequence[str]) -> None:
        """What these settings concern follows them."""
        self._refresh()
        for name in names:
            self._changed(name, self._value(name))
        servers = self.findChild(ServersPart)
        if servers is not None and "tool_servers" in names:
            servers.look()
        storage = self.findChild(StoragePart)
        if storage is not None and any(name.startswith("results.") for name in names):
            storage.look()

    async def _ask_reset(self) -> None:
        names = () if self._shown is None else self._shown.differing()
        names = tuple(name for name in names if not name.startswith(("embedding.", "tool_servers")))
        agreed = await questions.choose(
            self._services,
            self,
            title=msg("Reset all settings?"),
            text=msg(
                "{count} {count:setting gets its|settings get their} default again. Models, keys, "
                "the embedding server and tool servers stay as they are.",
                count=len(names),
            ),
            options=((True, msg("Reset all"), "danger"), (False, msg("Cancel"), "")),
            cancelled=False,
        )
        if agreed:
            await self._reset(names)

    def _open_file(self) -> None:
        self._start(self._show_file())

    async def _show_file(self) -> None:
        path = self._preferences.path
        if await asyncio.to_thread(path.is_file):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
        else:
            self._say((msg("There is no file yet: everything is as it is by default."),))

    def _leave_to(self, command: str) -> None:
        """A dialog of its own takes this one's place."""
        self.accept()
        self._services.workspace.command_wanted.emit(command)

    def _say(self, messages: Sequence[Message]) -> None:
        if self._is_over:
            return
        self.note.setText("\n".join(map(self._services.language, messages)))
        self.note.setVisible(bool(messages))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._services.start(work, kind="settings", scope=self._scope)
