"""The bar over the messages: the name, which is edited in place, the mode, new, list, delete."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QStackedLayout, QWidget

from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, push_button
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg


class EditableTitle(QWidget):
    """A name; a double click or F2 makes it a field, Enter keeps what is written, Escape does not."""

    renamed = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._can_edit = False
        self.is_editing = False
        self._label = ElidedLabel()
        self._label.setObjectName("conversationTitle")
        mark(self._label, role="strong")
        self.edit = QLineEdit()
        self.edit.setObjectName("conversationName")
        mark(self.edit, small=True)
        self.edit.returnPressed.connect(self._keep)
        self.edit.installEventFilter(self)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._label)
        self._stack.addWidget(self.edit)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_name(self, name: str, *, hint: str, can_edit: bool) -> None:
        """Another name (not while it is being written), and what its tooltip says."""
        self._can_edit = can_edit
        self._label.setText(name)
        self._label.setToolTip(f"{name}\n{hint}" if can_edit else name)
        self.setAccessibleName(name)

    def begin(self) -> None:
        if not self._can_edit or self.is_editing:
            return
        self.is_editing = True
        self.edit.setText(self._label.text())
        self._stack.setCurrentWidget(self.edit)
        self.edit.selectAll()
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        super().mouseDoubleClickEvent(event)
        self.begin()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """F2 edits."""
        if event is not None and event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Return) and not self.is_editing:
            self.begin()
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: object, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Escape leaves the name as it was; leaving the field keeps what is written."""
        if watched is self.edit and event is not None and self.is_editing:
            if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                if event.key() == Qt.Key.Key_Escape:  # not the panel's, which stops the run
                    event.accept()
                    return True
            elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                if event.key() == Qt.Key.Key_Escape:
                    self._show_label()
                    return True
            elif event.type() == QEvent.Type.FocusOut:
                self._keep()
        return False

    def _show_label(self) -> None:
        self.is_editing = False  # first: the field loses the focus while it is being hidden
        self._stack.setCurrentWidget(self._label)

    def _keep(self) -> None:
        if not self.is_editing:
            return
        self._show_label()
        name = " ".join(self.edit.text().split())
        if name and name != self._label.text():
            self.renamed.emit(name)


class TitleBar(QWidget):
    """Says what was clicked; the panel says what is shown."""

    mode_clicked = pyqtSignal()
    new_clicked = pyqtSignal()
    list_clicked = pyqtSignal()
    delete_clicked = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._mode = ("free", False)
        mark_area(self, line="bottom")
        self.title = EditableTitle()
        self.mode_button = push_button(name="modeButton", small=True)
        self._new = IconButton(services, "plus", msg("New conversation"), name="newConversation")
        self._list = IconButton(services, "history", msg("Conversations"), name="conversationHistory")
        self._clear = IconButton(
            services, "trash-2", msg("Delete this conversation"), name="deleteConversation"
        )
        for button, signal in (
            (self.mode_button, self.mode_clicked),
            (self._new, self.new_clicked),
            (self._list, self.list_clicked),
            (self._clear, self.delete_clicked),
        ):
            button.clicked.connect(lambda _checked, signal=signal: signal.emit())
        self._row = arrange(
            QHBoxLayout(self), (self.title, 1), self.mode_button, self._new, self._list, self._clear
        )

    def show_state(
        self, name: str, *, mode: str, is_running: bool, can_switch: bool, is_stored: bool, has_project: bool
    ) -> None:
        language = self._services.language
        self.title.show_name(
            " ".join(name.split()) or language(msg("New conversation")),
            hint=language(msg("Double click to rename")),
            can_edit=is_stored and not is_running,
        )
        self._new.setEnabled(not is_running and has_project)
        self._list.setEnabled(has_project)
        self._clear.setEnabled(is_stored and not is_running)
        self._mode = (mode, not can_switch)
        self._dress_mode()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(
            max(theme.size("row.header"), theme.size("control.height_small") + 2 * theme.size("space.1"))
        )
        self._row.setContentsMargins(theme.size("space.4"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(theme.size("space.1"))
        self._dress_mode()

    def _dress_mode(self) -> None:
        mode, is_held = self._mode
        language, icons, theme = self._services.language, self._services.icons, self._services.theme.theme
        is_workflow = mode == "workflow"
        word = language(msg("Workflow") if is_workflow else msg("Free work"))
        self.mode_button.setText(f" {word}")  # Qt leaves no room between icon and word
        size = theme.size("icon.small")
        name = "lock" if is_held else "workflow" if is_workflow else "message-square"
        self.mode_button.setIcon(icons.get(name, "text.secondary", size))
        self.mode_button.setIconSize(QSize(size, size))
        tip = (
            msg("The mode can be changed when the run has finished (Ctrl+Shift+M)")
            if is_held
            else msg("Switch between workflow and free work (Ctrl+Shift+M)")
        )
        self.mode_button.setToolTip(language(tip))
