"""The bar over the messages: the round and how long it runs, or when it was changed; the mode, delete."""

from __future__ import annotations

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, push_button
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_READS = {
    False: msg("Read only: off. The model may change files and simulate"),
    True: msg("Read only: on. The model reads, and changes nothing"),
}


class TitleBar(QWidget):
    """Says what was clicked; the panel says what is shown."""

    mode_clicked = pyqtSignal()
    reads_clicked = pyqtSignal()
    delete_clicked = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._mode = ("free", False)
        mark_area(self, line="bottom")
        self._round, self._time = QLabel(), ElidedLabel()
        self._round.setObjectName("conversationRound")
        self._time.setObjectName("conversationTime")
        mark(self._time, role="small")
        self.mode_button = push_button(name="modeButton", small=True)
        self._clear = IconButton(
            services, "trash-2", msg("Delete this conversation"), name="deleteConversation"
        )
        self._reads = IconButton(services, "eye", _READS[False], name="readOnly")
        for button, signal in (
            (self._reads, self.reads_clicked),
            (self.mode_button, self.mode_clicked),
            (self._clear, self.delete_clicked),
        ):
            button.clicked.connect(lambda _checked, signal=signal: signal.emit())
        self._row = arrange(
            QHBoxLayout(self), self._round, (self._time, 1), self._reads, self.mode_button, self._clear
        )

    def show_state(
        self, *, mode: str, is_running: bool, can_switch: bool, is_stored: bool, reads_only: bool
    ) -> None:
        self._clear.setEnabled(is_stored and not is_running)
        self._reads.set_icon("eye", _READS[reads_only], color="accent.base" if reads_only else "")
        self._mode = (mode, not can_switch)
        self._dress_mode()

    def show_time(self, round_words: Message | None, time: Message | None) -> None:
        """Which round, and how long it runs or when it was changed; None: nothing is said."""
        language = self._services.language
        self._round.setText("" if round_words is None else language(round_words))
        self._round.setVisible(round_words is not None)
        self._time.setText("" if time is None else language(time))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(theme.size("control.height_small") + 3 * theme.size("space.half"))
        self._row.setContentsMargins(theme.size("space.4"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(theme.size("space.1"))
        palette = self._round.palette()
        palette.setColor(palette.ColorRole.WindowText, theme.color("running.text"))
        self._round.setPalette(palette)
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
            msg("The mode can be changed when the run has finished")
            if is_held
            else msg("Switch between workflow and free work")
        )
        self.mode_button.setToolTip(self._services.with_key(language(tip), "switchMode"))
