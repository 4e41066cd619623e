"""The variables of a prompt as chips; a click puts one into the text."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PyQt6.QtWidgets import QPushButton, QSizePolicy, QWidget

from domain.llm.prompts.library import IdentityVariable
from presentation.ui.flow_layout import FlowLayout
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg


class _Chip(QPushButton):
    """One variable; a required one has a star in the error colour, as in a form."""

    def __init__(self, services: WindowServices, variable: IdentityVariable, parent: QWidget) -> None:
        super().__init__(f"{{{variable.name}}}", parent)
        self._services = services
        self.variable = variable
        self.setObjectName(f"variable:{variable.name}")
        mark(self, kind="chip", small=True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        metrics = QFontMetrics(theme.font("mono_small"))
        width = metrics.horizontalAdvance(self.text()) + 2 * theme.size("space.2")
        if self.variable.is_required:
            width += theme.size("space.3")
        return QSize(width, max(theme.size("control.height_small"), metrics.height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """A frame, the name, the star. Drawn here: a style sheet has no place for the star."""
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        has_focus = bool(self.property("kbdFocus"))
        painter.setPen(theme.color("focus_ring" if has_focus else "border.default"))
        fill = (
            "surface.pressed" if self.isDown() else "surface.hover" if self.underMouse() else "surface.base"
        )
        painter.setBrush(theme.color(fill))
        radius = theme.size("radius.small")
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setFont(theme.font("mono_small"))
        box = self.rect().adjusted(theme.size("space.2"), 0, -theme.size("space.2"), 0)
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setPen(theme.color("text.primary"))
        painter.drawText(box, left, self.text())
        if self.variable.is_required:
            painter.setPen(theme.color("error.text"))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, "*")


class VariablePanel(QWidget):
    """The chips, and (for the identity) adding and removing."""

    insert_requested = pyqtSignal(str)
    """A variable's name."""
    add_requested = pyqtSignal()
    remove_requested = pyqtSignal()

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._chips: list[_Chip] = []
        self._flow = FlowLayout(self, gap=services.theme.theme.size("space.1"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.add = QPushButton(self)
        self.add.setObjectName("addVariable")
        self.remove = QPushButton(self)
        self.remove.setObjectName("removeVariable")
        for button in (self.add, self.remove):
            mark(button, kind="quiet", small=True)
            button.setAutoDefault(False)
            self._flow.addWidget(button)
        self.add.clicked.connect(self.add_requested.emit)
        self.remove.clicked.connect(self.remove_requested.emit)
        services.dress(self)

    def set_variables(
        self, variables: Sequence[IdentityVariable], *, may_change: bool, can_remove: bool = False
    ) -> None:
        """Show these variables; `may_change` shows the buttons for adding and removing."""
        if [chip.variable for chip in self._chips] != list(variables):
            for chip in self._chips:
                self._flow.removeWidget(chip)
                chip.hide()
                chip.deleteLater()
            for button in (self.add, self.remove):
                self._flow.removeWidget(button)
            self._chips = [self._chip(variable) for variable in variables]
            for button in (self.add, self.remove):
                self._flow.addWidget(button)
            self.restyle()
            self.retranslate()
        self.add.setVisible(may_change)
        self.remove.setVisible(may_change)
        self.remove.setEnabled(can_remove)
        self._flow.invalidate()
        self.updateGeometry()

    def _chip(self, variable: IdentityVariable) -> _Chip:
        chip = _Chip(self._services, variable, self)
        chip.setAutoDefault(False)
        chip.clicked.connect(lambda: self.insert_requested.emit(variable.name))
        self._flow.addWidget(chip)
        chip.show()
        return chip

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        for chip in self._chips:
            chip.updateGeometry()
        self.add.setIcon(self._services.icons.get("plus", size=theme.size("icon.small")))
        self._flow.invalidate()
        self.update()

    def retranslate(self, _language: str = "") -> None:
        say = self._services.language
        self.add.setText(say(msg("Add")))
        self.remove.setText(say(msg("Remove")))
        self.add.setToolTip(say(msg("Add a custom variable")))
        self.remove.setToolTip(say(msg("Remove a custom variable")))
        for chip in self._chips:
            variable = chip.variable
            if variable.value is not None:
                text = msg("Insert; its value: {value}", value=variable.value or "–")
            elif variable.is_required:
                text = msg("Insert; always has a value here")
            else:
                text = msg("Insert; left empty when it has no value")
            chip.setToolTip(say(text))
            chip.setAccessibleName(say(msg("Insert the variable {name}", name=variable.name)))
