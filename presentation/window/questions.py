"""Questions without a loop of their own: they are opened, and awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QIcon
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)

from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import Message, msg

T = TypeVar("T")


async def choose(
    services: WindowServices,
    parent: QWidget,
    *,
    title: Message,
    text: Message,
    options: Sequence[tuple[T, Message, str]],
    cancelled: T,
) -> T:
    """Ask; `options` are value, text and kind ("primary", "danger", ""). Escape gives `cancelled`."""
    box = QMessageBox(parent)
    box.setObjectName("question")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(services.language(title))
    box.setText(services.language(title))
    box.setInformativeText(services.language(text))
    buttons = []
    for value, words, kind in options:
        role = QMessageBox.ButtonRole.RejectRole if value == cancelled else QMessageBox.ButtonRole.AcceptRole
        button = box.addButton(services.language(words), role)
        buttons.append((button, value))
        if button is not None:
            mark(button, kind=kind)
            if value == cancelled:
                box.setEscapeButton(button)
            if kind == "primary":
                box.setDefaultButton(button)
    answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def on_finished(_code: int) -> None:
        pressed = box.clickedButton()
        found = next((value for button, value in buttons if button is pressed), cancelled)
        if not answer.done():
            answer.set_result(found)

    box.finished.connect(on_finished)
    box.open()
    return await _answered(answer, box)


async def choose_folder(
    services: WindowServices, parent: QWidget, title: Message, start: Path
) -> Path | None:
    """A folder, None when the person thinks better of it."""
    dialog = QFileDialog(parent, services.language(title), str(start))
    dialog.setObjectName("folderDialog")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    _dress_buttons(dialog)
    answer: asyncio.Future[Path | None] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        files = dialog.selectedFiles() if code == QDialog.DialogCode.Accepted else []
        if not answer.done():
            answer.set_result(Path(files[0]) if files else None)

    dialog.finished.connect(on_finished)
    dialog.open()
    return await _answered(answer, dialog)


async def choose_target(
    services: WindowServices, parent: QWidget, title: Message, start: Path
) -> Path | None:
    """Where a new file goes, with the suffix of `start`; None when the person thinks better of it.

    The dialog asks before a file is replaced.
    """
    dialog = QFileDialog(parent, services.language(title), str(start.parent))
    dialog.setObjectName("targetDialog")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(start.suffix.lstrip("."))
    dialog.selectFile(start.name)
    _dress_buttons(dialog)
    answer: asyncio.Future[Path | None] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        files = dialog.selectedFiles() if code == QDialog.DialogCode.Accepted else []
        if not answer.done():
            answer.set_result(Path(files[0]) if files else None)

    dialog.finished.connect(on_finished)
    dialog.open()
    return await _answered(answer, dialog)


async def choose_files(
    services: WindowServices, parent: QWidget, title: Message, start: Path, *, filters: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Files that exist; none when the person thinks better of it."""
    dialog = QFileDialog(parent, services.language(title), str(start))
    dialog.setObjectName("filesDialog")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    if filters:
        dialog.setNameFilters(list(filters))
    _dress_buttons(dialog)
    answer: asyncio.Future[tuple[Path, ...]] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        files = dialog.selectedFiles() if code == QDialog.DialogCode.Accepted else []
        if not answer.done():
            answer.set_result(tuple(map(Path, files)))

    dialog.finished.connect(on_finished)
    dialog.open()
    return await _answered(answer, dialog)


async def ask_text(
    services: WindowServices,
    parent: QWidget,
    *,
    title: Message,
    label: Message,
    text: str = "",
    echo: QLineEdit.EchoMode = QLineEdit.EchoMode.Normal,
) -> str | None:
    """A line of text, None when the person thinks better of it."""
    dialog = QInputDialog(parent)
    dialog.setObjectName("textQuestion")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(services.language(title))
    dialog.setLabelText(services.language(label))
    dialog.setTextEchoMode(echo)
    dialog.setTextValue(text)
    dialog.setOkButtonText(services.language(msg("OK")))
    dialog.setCancelButtonText(services.language(msg("Cancel")))
    _dress_buttons(dialog)
    answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        if not answer.done():
            answer.set_result(dialog.textValue() if code == QDialog.DialogCode.Accepted else None)

    dialog.finished.connect(on_finished)
    dialog.open()
    return await _answered(answer, dialog)


async def choose_item(
    services: WindowServices, parent: QWidget, *, title: Message, label: Message, items: Sequence[str]
) -> str | None:
    """One of a list, None when the person thinks better of it."""
    dialog = QInputDialog(parent)
    dialog.setObjectName("itemQuestion")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setOption(QInputDialog.InputDialogOption.UseListViewForComboBoxItems)
    dialog.setWindowTitle(services.language(title))
    dialog.setLabelText(services.language(label))
    dialog.setComboBoxItems(list(items))
    if items:
        dialog.setTextValue(items[0])  # with nothing chosen Enter would do nothing
    dialog.setOkButtonText(services.language(msg("OK")))
    dialog.setCancelButtonText(services.language(msg("Cancel")))
    _dress_buttons(dialog)
    answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        if not answer.done():
            answer.set_result(dialog.textValue() if code == QDialog.DialogCode.Accepted else None)

    dialog.finished.connect(on_finished)
    dialog.open()
    return await _answered(answer, dialog)


def tell(services: WindowServices, parent: QWidget, *, title: Message, text: str) -> None:
    """Say something that needs no answer."""
    box = QMessageBox(parent)
    box.setObjectName("notice")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(services.language(title))
    box.setText(services.language(title))
    box.setInformativeText(text)
    box.addButton(services.language(msg("Close")), QMessageBox.ButtonRole.RejectRole)
    box.open()


def _dress_buttons(dialog: QDialog) -> None:
    """Without the style's own pictures, and one of them filled, as in our own dialogs."""
    for button in dialog.findChildren(QPushButton):
        button.setIcon(QIcon())
    for box in dialog.findChildren(QDialogButtonBox):
        for each in box.buttons():
            if box.buttonRole(each) == QDialogButtonBox.ButtonRole.AcceptRole:
                mark(each, kind="primary")


async def _answered(answer: asyncio.Future[T], dialog: QDialog) -> T:
    """Wait; a question nobody waits for any more is taken from the screen."""
    try:
        return await answer
    except asyncio.CancelledError:
        dialog.reject()
        raise
