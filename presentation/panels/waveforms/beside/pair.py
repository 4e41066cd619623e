"""The curves and what is drawn beside them: side by side in a wide pane, above each other in a high one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QSplitter, QWidget

from presentation.panels.waveforms.beside.titles import KIND_TITLES, action_of
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import BesideKind, Subject
    from presentation.panels.waveforms.beside.view import Beheld, BesideView

_WIDE = 1.3
"""Times as wide as high, and they stand side by side."""


class CurvesAndBeside(QSplitter):
    """Both. The view is made when it is first wanted."""

    shown_changed = pyqtSignal()
    """something else is drawn beside the curves, or nothing"""

    def __init__(
        self, services: WindowServices, curves: QWidget, subject: Callable[[], Subject | None]
    ) -> None:
        """`subject` tells what the curves show now; None where there are none."""
        super().__init__()
        self._services = services
        self._subject = subject
        self.view: BesideView | None = None
        self.setObjectName("curves_and_beside")
        self.setChildrenCollapsible(False)
        self.addWidget(curves)

    @property
    def kind(self) -> BesideKind | None:
        """What is drawn beside the curves; None for nothing."""
        return self.view.options.kind if self.view is not None and not self.view.isHidden() else None

    @property
    def acts(self) -> dict[str, Callable[[], object]]:
        """What keys and menus do, by the names of the table of actions; once more hides it again."""
        return {action_of(kind): partial(self.switch, kind) for kind in KIND_TITLES}

    def offered(self) -> list[tuple[BesideKind, Callable[[], object]]]:
        """What can be drawn of the curves as they are."""
        subject = self._subject()
        if subject is None:
            return []
        from presentation.panels.waveforms.beside.kinds import kinds_for

        kinds = kinds_for(subject)
        return [(kind, partial(self.show_kind, kind)) for kind in kinds]

    def of_one_trace(self) -> list[BesideKind]:
        """What is made of one trace alone."""
        return [kind for kind, _ in self.offered() if kind in ("spectrum", "nyquist", "eye", "histogram")]

    def switch(self, kind: BesideKind) -> None:
        """Draw this beside the curves, or nothing where it is there."""
        if self.kind == kind:
            self.hide_view()
        else:
            self.show_kind(kind)

    def toggle(self) -> None:
        """Show what suits the curves (a spectrum of those over time), or hide what is shown."""
        if self.kind is not None:
            self.hide_view()
            return
        subject = self._subject()
        axis = None if subject is None else subject.plot.axis
        natural: dict[str, BesideKind] = {"s": "spectrum", "Hz": "nyquist"}
        self.show_kind(natural.get("" if axis is None else axis.unit, "against"))

    def show_kind(self, kind: BesideKind, *, against: str = "", figure: str = "") -> None:
        """Draw this beside the curves."""
        view = self._made()
        was_hidden = view.isHidden()
        view.show()
        if was_hidden:
            self._share()
        view.choose(kind, against=against, figure=figure)
        self.changed()
        self.shown_changed.emit()

    @property
    def awaits_curves(self) -> bool:
        """What is open cannot be made of the shown curves, and says of which it can."""
        drawing = None if self.kind is None or self.view is None else self.view.drawing
        return drawing is not None and drawing.axis is None and drawing.problem is not None

    def restore(self, kind: str) -> None:
        """What was drawn before; "" for nothing."""
        known = next((name for name in KIND_TITLES if name == kind), None)
        if known != self.kind:
            self.hide_view() if known is None else self.show_kind(known)

    def hide_view(self) -> None:
        if self.view is not None:
            self.view.hide()
        self.shown_changed.emit()

    def changed(self, *_what: object) -> None:
        """The curves show something else."""
        if self.kind is not None and self.view is not None:
            self.view.follow()

    def _look(self) -> Beheld:
        """What the curves show now."""
        subject = self._subject()
        if subject is None:
            return None, (), ()
        from presentation.panels.waveforms.beside.kinds import kinds_for
        from presentation.panels.waveforms.traces import suggestions

        offered = kinds_for(subject)
        axis = [] if subject.plot.axis is None else [subject.plot.axis.name]
        return subject, offered, [*axis, *suggestions(subject.plot)]

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() > _WIDE * self.height()
        wanted = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            self.setOrientation(wanted)
            self._share()

    def restyle(self, theme: object = None) -> None:
        if self.view is not None:
            self.view.restyle(theme)

    def retranslate(self, name: object = None) -> None:
        if self.view is not None:
            self.view.retranslate(name)

    def _share(self) -> None:
        """Half for each."""
        whole = self.width() if self.orientation() is Qt.Orientation.Horizontal else self.height()
        self.setSizes([whole // 2, whole // 2])

    def _made(self) -> BesideView:
        if self.view is None:
            from presentation.panels.waveforms.beside.view import BesideView

            self.view = BesideView(self._services, self._look)
            self.view.hide()
            self.view.closed.connect(self.hide_view)
            self.view.options_changed.connect(self.shown_changed)
            self.addWidget(self.view)
        return self.view
