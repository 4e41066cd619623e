"""The command box, and what it finds: files of the project, rows of the outline, commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QObject, QPoint, QRect, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from presentation.panels.project.outline import OutlinePane
from presentation.panels.project.rows import Role, RowLook, RowTree
from presentation.window.commands import Commands
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import msg

_MOST_HITS = 12
_MOST_FILES = 2000
_ANYTHING = msg("File, node or command")
_NETLISTS = frozenset({".cir", ".sp", ".spice", ".net", ".ckt", ".lib", ".inc", ".mod", ".sub"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line the command box offers."""

    text: str
    detail: str
    icon: str
    act: Callable[[], object]


class CommandBox(QLineEdit):
    """Finds a file, a node or element, or a command by some of its letters."""

    focus_changed = pyqtSignal(bool)

    def __init__(self, services: WindowServices, window: QWidget) -> None:
        super().__init__()
        self._services = services
        self._window = window
        self._sources: list[Callable[[], Sequence[Hit]]] = []
        self._hits: list[Hit] = []
        self.setObjectName("commandBox")
        mark(self, small=True)
        self._rows = QStandardItemModel(self)
        self._popup = QWidget(window)
        self._popup.setObjectName("commandHits")
        self._popup.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        mark(self._popup, card=True)
        self._list = RowTree(services, "commandRows", is_list=True)
        self._list.setModel(self._rows)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.clicked.connect(lambda index: self._take(index.row()))
        column = QVBoxLayout(self._popup)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(self._list)
        self._popup.hide()
        self._lens = QLabel(self)
        self._hint = QLabel("Ctrl+P", self)
        mark(self._hint, role="caption")
        self.textEdited.connect(lambda _text: self._search())
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.retranslate()

    def set_folded(self, *, is_folded: bool) -> None:
        """Only its icon is shown."""
        theme = self._services.theme.theme
        widest = theme.size("pane.left_default") + theme.size("space.8")
        icon = theme.size("control.icon_button") + theme.size("space.1")
        self.setMinimumWidth(icon if is_folded else theme.size("space.12") * 3)
        self.setMaximumWidth(icon if is_folded else widest)
        self.setPlaceholderText("" if is_folded else self._services.language(_ANYTHING))

    def add_source(self, source: Callable[[], Sequence[Hit]]) -> None:
        """Where hits come from; asked at each search."""
        self._sources.append(source)

    @property
    def shown_hits(self) -> tuple[str, ...]:
        """Texts of what is offered."""
        return tuple(hit.text for hit in self._hits)

    def begin(self) -> None:
        """Take the focus and offer what there is."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()
        self._search()

    def dismiss(self) -> None:
        """Offer nothing."""
        self._popup.hide()
        self._hits = []

    def restyle(self) -> None:
        """Icon and sizes."""
        theme = self._services.theme.theme
        side = theme.size("icon.small")
        self._lens.setPixmap(self._services.icons.get("search", "text.secondary", side).pixmap(side, side))
        self._lens.adjustSize()
        self.setTextMargins(side + theme.size("space.1"), 0, 0, 0)
        self._hint.adjustSize()
        self._place_hint()

    def retranslate(self) -> None:
        """Its placeholder and name."""
        text = self._services.language(_ANYTHING)
        self.setPlaceholderText(text)
        self.setAccessibleName(text)
        self.setToolTip(f"{text} (Ctrl+P)")
        self._place_hint()

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Keep the key's hint at the right end."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._place_hint()

    def focusInEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """The header makes room."""
        super().focusInEvent(event)  # type: ignore[arg-type]
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Nothing is offered to somebody who looks elsewhere."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.dismiss()
        self.focus_changed.emit(False)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Offer at once."""
        super().mousePressEvent(event)
        self._search()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Up and down choose, Enter takes, Escape leaves."""
        if event is None:
            return
        row = self._list.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Down:
                self._choose(min(row + 1, len(self._hits) - 1))
            case Qt.Key.Key_Up:
                self._choose(max(row - 1, 0))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._take(row)
            case Qt.Key.Key_Escape:
                self.clear()
                self.dismiss()
                self.clearFocus()
            case _:
                super().keyPressEvent(event)

    def _search(self) -> None:
        wanted = self.text().strip()
        scored = [
            (score, position, hit)
            for position, hit in enumerate(hit for source in self._sources for hit in source())
            if (score := _score(wanted, hit.text)) is not None
        ]
        scored.sort(key=lambda item: item[:2])
        self._hits = [hit for _, _, hit in scored[:_MOST_HITS]]
        self._show()

    def _show(self) -> None:
        theme = self._services.theme.theme
        self._rows.clear()
        for hit in self._hits:
            row = QStandardItem(hit.text)
            values = (hit.detail,) if hit.detail else ()
            row.setData(RowLook(icon=hit.icon, values=values, value_style="small"), int(Role.LOOK))
            self._rows.appendRow(row)
        self._choose(0)
        edge = self.mapTo(self._window, QPoint(0, self.height()))
        width = max(self.width(), theme.size("pane.left_default") * 2)
        height = self._list.sizeHintForRow(0) * len(self._hits) + 2
        left = min(edge.x(), self._window.width() - width - theme.size("space.2"))
        self._popup.setGeometry(QRect(left, edge.y() + theme.size("space.1"), width, height))
        self._popup.setVisible(bool(self._hits))
        self._popup.raise_()

    def _choose(self, row: int) -> None:
        self._list.setCurrentIndex(self._rows.index(row, 0))

    def _take(self, row: int) -> None:
        if 0 <= row < len(self._hits):
            hit = self._hits[row]
            self.clear()
            self.dismiss()
            self.clearFocus()
            hit.act()

    def _place_hint(self) -> None:
        gap = self._services.theme.theme.size("space.2")
        self._lens.move(gap, (self.height() - self._lens.height()) // 2)
        words = QFontMetrics(self.font()).horizontalAdvance(self.placeholderText())
        has_room = self.width() > words + self._hint.width() + self._lens.width() + 4 * gap
        self._hint.setVisible(has_room)
        self._hint.move(self.width() - self._hint.width() - gap, (self.height() - self._hint.height()) // 2)


def _score(wanted: str, text: str) -> tuple[int, int] | None:
    """How well the letters of `wanted` are met, smaller is better; None when not all are there in order."""
    if not wanted:
        return (0, 0)
    low, text = wanted.casefold(), text.casefold()
    place = text.find(low)
    if place >= 0:
        return (0 if place == 0 else 1, place)
    position = -1
    for letter in low:
        position = text.find(letter, position + 1)
        if position < 0:
            return None
    return (2, position)


class Finder(QObject):
    """Feeds the box."""

    def __init__(
        self, services: WindowServices, box: CommandBox, commands: Commands, outline: OutlinePane
    ) -> None:
        super().__init__(box)
        self._services = services
        self._commands = commands
        self._outline = outline
        self._files: tuple[Path, ...] = ()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(300)
        self._timer.timeout.connect(self._list_files)
        for source in (self._command_hits, self._file_hits, self._outline_hits):
            box.add_source(source)
        workspace = services.workspace
        workspace.project_opened.connect(lambda _root: self._list_files())
        workspace.project_closed.connect(self._forget)
        workspace.file_changed.connect(lambda _path: self._timer.start())

    def _forget(self) -> None:
        self._timer.stop()
        self._files = ()

    def _list_files(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._read_files(root), kind="list files")

    async def _read_files(self, root: Path) -> None:
        files = await self._services.app.browse.files(root, _MOST_FILES)
        if root == self._services.workspace.root:
            self._files = files

    def _file_hits(self) -> Sequence[Hit]:
        root, workspace = self._services.workspace.root, self._services.workspace
        if root is None:
            return ()
        return [
            Hit(
                text=path.name,
                detail="" if path.parent == root else path.parent.relative_to(root).as_posix(),
                icon="file-code" if path.suffix.lower() in _NETLISTS else "file-text",
                act=partial(workspace.file_activated.emit, path, None),
            )
            for path in self._files
        ]

    def _outline_hits(self) -> Sequence[Hit]:
        shown = self._services.workspace.shown_file
        if shown is None:
            return ()
        return [
            Hit(text=name, detail=shown.name, icon="list-tree", act=self._goer(shown, name))
            for name in self._outline.names
        ]

    def _goer(self, shown: Path, name: str) -> Callable[[], object]:
        return lambda: self._services.workspace.file_activated.emit(shown, self._outline.line_of(name))

    def _command_hits(self) -> Sequence[Hit]:
        language = self._services.language
        return [
            Hit(text=language(command.text), detail=command.key, icon="terminal", act=command.act)
            for command in self._commands.all
            if command.in_box and self._commands.action(command.name).isEnabled()
        ]
