"""A bar above a text that asks or tells something about its file, without stopping the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from presentation.ui.keys_back import KeysBack
from presentation.ui.parts import arrange, push_button
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message

NoticeKind = Literal["changed", "deleted", "not_saved", "closing", "replaced", "review", "large", "schematic"]
_TELLING = ("replaced", "review", "large", "schematic")
"""Kinds that warn of nothing."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way out: its words and what it does."""

    name: str
    """For tests and style: ``keep``, ``take``."""
    text: Message
    act: Callable[[], object]
    action: str = ""
    """The row of the table of actions that does the same: its key is told."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a bar says."""

    kind: NoticeKind
    text: Message
    ways: tuple[Way, ...]


class NoticeBar(QWidget):
    """One notice at a time; hidden when there is none."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.notice: Notice | None = None
        self._icon = QLabel()
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self._label, 1)
        self._buttons: list[tuple[QPushButton, Way]] = []
        self._keys = KeysBack(self)
        self.setObjectName("noticeBar")
        mark_area(self, surface="panel", line="bottom")
        self.restyle()
        self.hide()

    def tell(self, notice: Notice | None) -> None:
        """Say something else, or nothing."""
        self.notice = notice
        self._make_buttons(notice.ways if notice is not None else ())
        self.retranslate()
        self.restyle()
        self.setVisible(notice is not None)

    def _make_buttons(self, ways: Sequence[Way]) -> None:
        for button, _ in self._buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        for way in ways:
            button = push_button(
                name=f"notice_{way.name}", clicked=lambda _checked=False, act=way.act: act(), small=True
            )
            self._row.addWidget(button)
            self._keys.watch(button)
            self._buttons.append((button, way))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        kind = self.notice.kind if self.notice is not None else "changed"
        token = {"not_saved": "error.icon"} | dict.fromkeys(_TELLING, "info.icon")
        picture = "git-compare" if kind == "review" else "info" if kind in _TELLING else "triangle-alert"
        size = theme.size("icon.default")
        self._icon.setPixmap(
            self._services.icons.get(picture, token.get(kind, "warn.icon"), size).pixmap(size, size)
        )

    def retranslate(self) -> None:
        language = self._services.language
        self._label.setText(language(self.notice.text) if self.notice is not None else "")
        for button, way in self._buttons:
            button.setText(language(way.text))
            if way.action:
                button.setToolTip(self._services.shortcuts.shown(way.action))
