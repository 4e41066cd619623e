"""The command box in the header: some letters of a file, a node or element, a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QLabel, QLineEdit, QWidget

from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from presentation.ui.hit_list import Hit, HitList

_MOST_HITS = 12
_MOST_COMMANDS = 16
"""Where nothing but commands is looked for."""
HitKind = Literal["command", "file", "symbol", "content"]
_SIGNS: dict[str, HitKind] = {">": "command", "@": "symbol", "#": "content"}
"""What is typed first to look for one kind only."""
_ANYTHING = msg("File, node or command")


class CommandBox(QLineEdit):
    """Finds a file, a node or element, or a command by some of its letters."""

    focus_changed = pyqtSignal(bool)

    def __init__(self, services: WindowServices, window: QWidget) -> None:
        super().__init__()
        self._services = services
        self._window = window
        self._sources: list[tuple[HitKind, Callable[[], Sequence[Hit]]]] = []
        self._looking: list[Callable[[], bool]] = []
        self._hits: list[Hit] = []
        self.note = ""
        """What is said in place of hits; "" while there are some, or may be in a moment."""
        self.setObjectName("commandBox")
        mark(self, small=True)
        self._popup: HitList | None = None
        """Made at the first search."""
        self._lens = QLabel(self)
        self._hint = QLabel(self)
        mark(self._hint, role="caption")
        self.textEdited.connect(lambda _text: self._search())
        self.textChanged.connect(lambda _text: self._place_hint())
        services.dress(self)

    def set_folded(self, *, is_folded: bool) -> None:
        """Only its icon is shown."""
        theme = self._services.theme.theme
        widest = theme.size("pane.left_default") + theme.size("space.8")
        icon = theme.size("control.icon_button") + theme.size("space.1")
        self.setMinimumWidth(icon if is_folded else theme.size("space.12") * 3)
        self.setMaximumWidth(icon if is_folded else widest)
        self.setPlaceholderText("" if is_folded else self._services.language(_ANYTHING))

    def add_source(
        self,
        source: Callable[[], Sequence[Hit]],
        kind: HitKind,
        is_looking: Callable[[], bool] | None = None,
    ) -> None:
        """Where hits come from; asked at each search. `is_looking`: it may have more in a moment."""
        self._sources.append((kind, source))
        if is_looking is not None:
            self._looking.append(is_looking)

    @property
    def shown_hits(self) -> tuple[str, ...]:
        return tuple(hit.text for hit in self._hits)

    @property
    def kind(self) -> HitKind | None:
        """What alone is looked for; None: everything."""
        return _SIGNS.get(self.text().strip()[:1])

    @property
    def wanted(self) -> str:
        """What is looked for, without the sign of its kind."""
        text = self.text().strip()
        return text[1:].strip() if text[:1] in _SIGNS else text

    def begin(self, sign: str = "") -> None:
        """Take the keyboard; with a sign (">" commands, "@" nodes and elements, "#" lines) for one kind."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if sign:
            self.setText(sign)
        else:
            self.selectAll()
        self._search()

    def search_again(self) -> None:
        """A source has more to offer for what stands in the box; what the user chose stays chosen."""
        row = -1 if self._popup is None else self._popup.chosen
        chosen = (self._hits[row].text, self._hits[row].detail) if 0 < row < len(self._hits) else None
        self._search()
        shown = [(hit.text, hit.detail) for hit in self._hits]
        if chosen in shown:
            self._choose(shown.index(chosen))

    def dismiss(self) -> None:
        if self._popup is not None:
            self._popup.hide()
        self._hits, self.note = [], ""

    def restyle(self) -> None:
        theme = self._services.theme.theme
        side = theme.size("icon.small")
        self._lens.setPixmap(self._services.icons.get("search", "text.secondary", side).pixmap(side, side))
        self._lens.adjustSize()
        self.setTextMargins(side + theme.size("space.1"), 0, 0, 0)
        self._hint.adjustSize()
        self._place_hint()

    def retranslate(self) -> None:
        text = self._services.language(_ANYTHING)
        self.setPlaceholderText(text)
        self.setAccessibleName(text)
        self.setToolTip(self._services.with_key(text, "anything"))
        self._hint.setText(self._services.shortcuts.shown("anything"))
        self._hint.adjustSize()
        self._place_hint()
        if self._popup is not None and self._popup.isVisible():
            self.search_again()

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._place_hint()

    def focusInEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
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
        row = -1 if self._popup is None else self._popup.chosen
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
        from presentation.ui.matching import WHOLE, score_of

        wanted, only = self.wanted, self.kind
        hits = self._all_hits()
        most = _MOST_COMMANDS if only == "command" else _MOST_HITS
        scored = [
            (min(scores), position, hit)
            for position, hit in enumerate(hits)
            if not hit.is_content
            and (scores := [s for name in (hit.text, *hit.also) if (s := score_of(wanted, name)) is not None])
        ]
        scored.sort(key=lambda item: item[:2])
        contents = [hit for hit in hits if hit.is_content]
        scored = scored[: most - min(len(contents), most // 2)]
        # A line that has the very text is nearer to what is meant than a name that has its letters somewhere.
        whole = [hit for (kind, _), _, hit in scored if kind <= WHOLE]
        loose = [hit for (kind, _), _, hit in scored if kind > WHOLE]
        self._hits = (whole + contents + loose)[:most]
        self._show()

    def _all_hits(self) -> list[Hit]:
        found = [
            (kind, hit) for kind, source in self._sources if self.kind in (None, kind) for hit in source()
        ]
        if self.text().strip():
            return [hit for _, hit in found]
        # Who has just opened a folder looks for its circuits.
        files = [hit for kind, hit in found if kind == "file"]
        return files[: _MOST_HITS // 2] + [hit for kind, hit in found if kind != "file"]

    def _show(self) -> None:
        if self._popup is None:
            from presentation.ui.hit_list import HitList

            self._popup = HitList(self._services, self._window)
            self._popup.taken.connect(self._take)
        edge = self.mapTo(self._window, QPoint(0, self.height()))
        wanted = self.wanted
        is_over = wanted and not self._hits and not any(looks() for looks in self._looking)
        nothing = msg("No file, node or command matches “{text}”.", text=wanted)
        self.note = self._services.language(nothing) if is_over else ""
        self.setAccessibleDescription(self.note)
        self._popup.offer(self._hits, below=edge, least_width=self.width(), note=self.note)

    def _choose(self, row: int) -> None:
        if self._popup is not None:
            self._popup.choose(row)

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
        self._hint.setVisible(has_room and not self.text())
        self._hint.move(self.width() - self._hint.width() - gap, (self.height() - self._hint.height()) // 2)
