"""Above the input while a message is edited that was sent: what becomes of it, and the way back."""

from __future__ import annotations

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from presentation.panels.conversation.versions import Versions
from presentation.ui.parts import ElidedLabel, arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.local_time import clock_time
from shared.message import msg


class EditedRow(QFrame):
    """Shown only while one is edited."""

    cancelled = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("editedMessage")
        mark_area(self, surface="sunken")
        self._icon = QLabel()
        self._what, self._how = QLabel(), ElidedLabel()
        self._how.setObjectName("editedHow")
        mark(self._how, role="small")
        self._cancel = QPushButton()
        self._cancel.setObjectName("editedCancel")
        mark(self._cancel, kind="quiet")
        self._cancel.clicked.connect(self.cancelled)
        self._line = arrange(QHBoxLayout(self), self._icon, self._what, (self._how, 1), self._cancel)
        self.hide()

    def show_edited(self, versions: Versions) -> None:
        """The message that is edited, if one is."""
        edited, language = versions.edited, self._services.language
        self.setVisible(edited is not None)
        if edited is None:
            return
        time = clock_time(edited.created) if edited.created else ""
        what = msg("Editing the message of {time}", time=time) if time else msg("Editing the message")
        how = msg("replaces it and what follows; files stay")
        if versions.is_design_behind(edited.key):
            how = msg("begins a new conversation; the design is kept")
        self._what.setText(language(what))
        self._how.setText(language(how))
        self._how.setToolTip(language(how))
        self._cancel.setText(language(msg("Cancel")))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        side, gap = theme.size("icon.small"), theme.size("space.2")
        arrange(self._line, edges=(gap, 0, theme.size("space.1"), 0), gap=gap)
        icon = self._services.icons.get("pencil", "text.secondary", side)
        self._icon.setPixmap(icon.pixmap(QSize(side, side), self.devicePixelRatioF()))
        self._what.setFont(theme.font("small", weight=600))
        self._how.setFont(theme.font("small"))
