"""The files of the message under way: a chip each above the text, with a cross to take it away."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QIcon, QKeyEvent, QPainter, QPainterPath, QPixmap
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from presentation.panels.conversation.attached import facts_of, icon_name, shortened_name
from presentation.panels.conversation.pending import PendingFile
from presentation.ui.flow_layout import FlowLayout
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_DELETE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)


class AttachmentChip(QFrame):
    """One of them. A click shows it large, Delete or the cross takes it away."""

    opened = pyqtSignal(str)
    removed = pyqtSignal(str)

    def __init__(self, services: WindowServices, file: PendingFile) -> None:
        super().__init__()
        self._services = services
        self.file = file
        self.setObjectName("attachmentChip")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.button = QToolButton()
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.setObjectName("attachmentName")
        self.button.clicked.connect(lambda: self.opened.emit(file.key))
        mark(self.button, text=True)
        self.cross = IconButton(services, "x", self._remove_text(), name="removeAttachment")
        self.cross.clicked.connect(lambda: self.removed.emit(file.key))
        self._row = arrange(QHBoxLayout(self), self.button, self.cross, edges=0, gap=0)
        services.dress(self)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Delete takes it away, wherever in it the keyboard is."""
        if event is not None and event.key() in _DELETE:
            self.removed.emit(self.file.key)
            return
        super().keyPressEvent(event)

    def restyle(self) -> None:
        """Height, frame, icon or thumbnail."""
        theme = self._services.theme.theme
        side = theme.size("icon.default")
        self.button.setFont(theme.font("small"))
        self.button.setIconSize(QSize(side, side))
        self.button.setIcon(self._icon(side))
        height = max(theme.size("control.send"), self.button.fontMetrics().height() + 4)
        self.cross.setFixedSize(height, height)
        self.cross.setIconSize(QSize(theme.size("icon.small"), theme.size("icon.small")))
        self.button.setFixedHeight(height)
        self.setFixedHeight(height + 2)

    def retranslate(self) -> None:
        """What it is called, and the facts in its tooltip."""
        language, item = self._services.language, self.file.item
        name = self.file.name
        if item is None:
            self.button.setText(f" {shortened_name(name)}")
            told = language(msg("Reading {name}", name=name))
        else:
            facts = facts_of(item.attachment)
            self.button.setText(f" {shortened_name(name)}  {facts.rpartition(' · ')[2]}")
            told = language(self._told(name, facts, item.attachment.tokens))
        self.button.setToolTip(told)
        self.button.setAccessibleName(told)

    def _told(self, name: str, facts: str, tokens: int) -> Message:
        item = self.file.item
        if item is not None and item.attachment.is_shortened:
            return msg(
                "{name} ({facts}, about {tokens} {tokens:token|tokens}): its beginning and end are sent",
                name=name,
                facts=facts,
                tokens=tokens,
            )
        return msg(
            "{name} ({facts}, about {tokens} {tokens:token|tokens})", name=name, facts=facts, tokens=tokens
        )

    def _remove_text(self) -> Message:
        return msg("Remove {name}", name=self.file.name)

    def _icon(self, side: int) -> QIcon:
        item, icons = self.file.item, self._services.icons
        if item is None:
            return icons.get("loader-circle", "text.secondary", side)
        picture = QPixmap()
        if item.thumbnail and picture.loadFromData(item.thumbnail):
            return QIcon(_rounded(picture, side, self.devicePixelRatioF()))
        return icons.get(icon_name(item.attachment), "text.secondary", side)


def _rounded(picture: QPixmap, side: int, scale: float) -> QPixmap:
    """The middle square of a picture, with round corners."""
    pixels = round(side * scale)
    filled = picture.scaled(
        pixels,
        pixels,
        Qt.AspectRatioMode.KeepAspectRatioByExpanding,
        Qt.TransformationMode.SmoothTransformation,
    )
    made = QPixmap(pixels, pixels)
    made.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.addRoundedRect(0, 0, pixels, pixels, 2 * scale, 2 * scale)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipPath(path)
    painter.drawPixmap((pixels - filled.width()) // 2, (pixels - filled.height()) // 2, filled)
    painter.end()
    made.setDevicePixelRatio(scale)
    return made


class AttachmentChips(QWidget):
    """All of them, in as many rows as they need; hidden when there is none."""

    opened = pyqtSignal(str)
    removed = pyqtSignal(str)
    emptied = pyqtSignal()
    """The one that had the keyboard is gone, and there is no other."""

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._shown: tuple[PendingFile, ...] = ()
        self._flow = FlowLayout(self, gap=services.theme.theme.size("space.1"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setObjectName("attachmentChips")
        self.setAccessibleName(services.language(msg("Attached files")))
        self.hide()

    @property
    def chips(self) -> tuple[AttachmentChip, ...]:
        found = (self._flow.itemAt(at) for at in range(self._flow.count()))
        widgets = (item.widget() for item in found if item is not None)
        return tuple(widget for widget in widgets if isinstance(widget, AttachmentChip))

    def show_files(self, files: Sequence[PendingFile]) -> None:
        """What is attached; a chip that stays keeps the keyboard."""
        if tuple(files) == self._shown:
            return
        self._shown = tuple(files)
        old = {chip.file: chip for chip in self.chips}
        had_focus = next(
            (n for n, chip in enumerate(self.chips) if chip.isAncestorOf(self.focusWidget())), -1
        )
        while self._flow.count():
            self._flow.takeAt(0)
        for file in files:
            chip = old.pop(file, None) or self._made(file)
            self._flow.addWidget(chip)
            chip.show()
        for chip in old.values():
            chip.hide()
            chip.deleteLater()
        self.setVisible(bool(files))
        self.updateGeometry()
        if had_focus >= 0:
            self._refocus(had_focus)

    def _refocus(self, place: int) -> None:
        chips = self.chips
        if chips:
            chips[min(place, len(chips) - 1)].cross.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.emptied.emit()

    def _made(self, file: PendingFile) -> AttachmentChip:
        chip = AttachmentChip(self._services, file)
        chip.setParent(self)
        chip.opened.connect(self.opened)
        chip.removed.connect(self.removed)
        return chip

    def retranslate(self) -> None:
        self.setAccessibleName(self._services.language(msg("Attached files")))
