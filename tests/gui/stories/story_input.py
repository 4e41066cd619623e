"""The hand itself: what it does reaches widgets the way a person's does."""

from __future__ import annotations

from PyQt6.QtGui import QKeySequence, QShortcut
from PyQt6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from tests.gui.x_server import on_a_real_screen, shown


async def test_clicks_keys_and_an_input_method_arrive(services, hand, until):
    window = QWidget()
    field, button, seen = QLineEdit(), QPushButton("Run"), []
    layout = QVBoxLayout(window)
    layout.addWidget(field)
    layout.addWidget(button)
    button.clicked.connect(lambda: seen.append("clicked"))
    QShortcut(QKeySequence("F5"), window).activated.connect(lambda: seen.append("F5"))
    QShortcut(QKeySequence("Ctrl+Shift+M"), window).activated.connect(lambda: seen.append("mode"))
    assert on_a_real_screen()
    await shown(window)
    await hand.click(button)
    await hand.press("F5")
    await hand.press("ctrl+shift+m")
    await until(lambda: seen == ["clicked", "F5", "mode"])
    await hand.click(field)
    await hand.type("R1 a 0 10Meg * v(out)")
    await hand.compose("低通", preedit="ditong")
    await until(lambda: field.text() == "R1 a 0 10Meg * v(out)低通")
    await hand.press("Tab")
    await until(lambda: button.property("kbdFocus") is True)
