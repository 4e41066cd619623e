"""A line above the curves: the assistant has simulated the shown circuit, and its run waits to be seen."""

from __future__ import annotations

from PyQt6.QtCore import QSize
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from presentation.panels.waveforms.run_overlay import RunOverlay
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.frame import IconButton
from presentation.ui.keys_back import KeysBack
from presentation.ui.parts import ElidedLabel, arrange, push_button
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg


class OfferedRun(QWidget):
    """Hidden while none waits."""

    def __init__(self, services: WindowServices, shown: ShownResult, overlay: RunOverlay) -> None:
        super().__init__()
        self._services, self._shown, self._overlay = services, shown, overlay
        self.setObjectName("offeredRun")
        mark_area(self, surface="sunken")
        self._icon, self._text = QLabel(), ElidedLabel()
        self._show = push_button(name="offeredShow", clicked=self._on_show, kind="link")
        self._behind = push_button(name="offeredOverlay", clicked=self._on_overlay, kind="link")
        self._close = IconButton(services, "x", msg("Not now"), name="offeredClose")
        self._close.clicked.connect(shown.drop_offer)
        parts = (self._icon, (self._text, 1), self._show, self._behind, self._close)
        self._row = arrange(QHBoxLayout(self), *parts)
        KeysBack(self)
        shown.offer_changed.connect(self.retranslate)
        self.retranslate()

    @property
    def text(self) -> str:
        """What it says; "" while none waits."""
        return self._text.text() if self.isVisibleTo(self.parentWidget()) else ""

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, side = theme.size("space.3"), theme.size("icon.small")
        arrange(self._row, edges=(edge, 0, theme.size("space.1"), 0), gap=theme.size("space.2"))
        icon = self._services.icons.get("activity", "info.icon", side)
        self._icon.setPixmap(icon.pixmap(QSize(side, side), self.devicePixelRatioF()))

    def retranslate(self) -> None:
        offered, language = self._shown.offered, self._services.language
        self.setVisible(offered is not None)
        if offered is not None:
            told = msg("The assistant has simulated this circuit: run {number}", number=offered.number)
            self._text.setText(language(told))
        self._show.setText(language(msg("Show")))
        self._behind.setText(language(msg("Overlay")))

    def _on_show(self, _checked: bool = False) -> None:
        if (offered := self._shown.offered) is not None:
            self._services.workspace.result_selected.emit(offered.result_path)

    def _on_overlay(self, _checked: bool = False) -> None:
        """Draw it behind the user's own."""
        if (offered := self._shown.offered) is not None:
            if offered.result_path not in self._overlay.chosen:
                self._overlay.toggle(offered.result_path)
            self._shown.drop_offer()
