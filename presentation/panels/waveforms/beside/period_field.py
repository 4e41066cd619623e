"""Where the unit interval of an eye is typed; empty, it is found from the edges."""

from __future__ import annotations

import math

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QLineEdit

from domain.circuit.numbers import parse_number
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

_WIDE = 132


class PeriodField(QLineEdit):
    """One number in s, as in a netlist: ``1n``, ``250p``."""

    chosen = pyqtSignal(float)
    """s; 0: to be found"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("beside_period")
        mark(self, small=True)
        self.setFixedWidth(round(_WIDE * services.theme.theme.scale))
        self.returnPressed.connect(self._on_entered)
        self.textEdited.connect(lambda _text: mark(self, state=""))

    def retranslate(self) -> None:
        say = self._services.language
        self.setPlaceholderText(say(msg("Unit interval, s")))
        self.setAccessibleName(say(msg("Unit interval, s")))
        self.setToolTip(say(msg("The time of one bit, for example 1n; empty: found from the edges.")))

    def _on_entered(self) -> None:
        text = self.text().strip().removesuffix("s")
        try:
            period = parse_number(text) if text else 0.0
        except (CircuitAIError, ValueError):
            period = math.nan
        is_right = math.isfinite(period) and (period > 0 or not text)
        mark(self, state="" if is_right else "error")
        if is_right:
            self.chosen.emit(period)
