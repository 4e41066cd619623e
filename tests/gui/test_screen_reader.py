"""For eyes, ears and hands: names for screen readers in the language in force, zoom by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QTextBrowser,
    QWidget,
)

from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.welcome_rows import ExampleRow
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.test_main_window import MakeWindow, make, settled  # noqa: F401 - fixtures


def controls(window: QWidget) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        is_of_qt = isinstance(widget.parentWidget(), QTabBar) or (
            isinstance(widget.parentWidget(), QComboBox | QFrame) and type(widget) is QListView
        )
        is_waiting = isinstance(widget, QPushButton) and not widget.isVisibleTo(
            window
        )  # gets its words when it is shown
        if takes_keys and not (is_of_qt or is_waiting or isinstance(widget, QMenu)):
            yield widget


def name_of(widget: QWidget) -> str:
    """As Qt's bridges make it: the name set, the words on it, the label before it."""
    if widget.accessibleName():
        return widget.accessibleName()
    if isinstance(widget, QAbstractButton):
        return widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit) and widget.placeholderText():
        return widget.placeholderText()
    labels = widget.window().findChildren(QLabel)
    return next((label.text() for label in labels if label.buddy() is widget), "")


def place_of(widget: QWidget) -> str:
    """Where it is, for whoever has to give it a name."""
    chain: list[str] = []
    at: QWidget | None = widget
    while at is not None and len(chain) < 4:
        chain.append(f"{type(at).__name__}#{at.objectName()}")
        at = at.parentWidget()
    return " < ".join(chain)


async def test_every_control_has_a_name_and_keys_zoom(
    make: MakeWindow,  # noqa: F811
    services: WindowServices,
    project: Path,
    until: Until,
) -> None:
    window = await make(project)
    window.panes.show_panel("operating_point")  # it and the start page are made when they are first seen
    welcome = window.welcome
    await until(lambda: welcome.findChildren(ExampleRow) and not services.app.program.tasks.handles)
    services.language.set("en")
    english = {widget: name_of(widget) for widget in controls(window)}
    assert [place_of(widget) for widget, name in english.items() if not name.strip()] == []
    services.language.set("zh")
    same = [place_of(widget) for widget, name in english.items() if name_of(widget) == name]
    services.language.set("en")
    assert len(english) > 90
    # Rows of the start page: an example's name, the simulator's version.
    assert [place for place in same if not place.startswith("Row#")] == []

    # By steps down to 80 %, also while the editor has the keyboard; the messages follow.
    surface = window.findChild(QTextBrowser, "conversationText")
    assert surface is not None
    services.workspace.file_activated.emit(project / "filter.cir", None)
    await until(lambda: window.findChild(CodeEditor) is not None)
    editor = window.findChild(CodeEditor)
    assert editor is not None
    keys = (*(Qt.Key.Key_Equal, Qt.Key.Key_Plus, Qt.Key.Key_0), *[Qt.Key.Key_Minus] * 3)
    seen = []
    for key in keys:
        QTest.keyClick(editor, key, Qt.KeyboardModifier.ControlModifier)
        seen.append(round(100 * services.theme.theme.scale))
    assert seen == [110, 125, 100, 90, 80, 80]
    document = surface.document()
    assert document is not None
    assert document.defaultFont().pixelSize() == services.theme.theme.font("ui").pixelSize() < 13
