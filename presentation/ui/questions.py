"""Questions without a loop of their own: they are opened, and awaited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from PyQt6.QtCore import QFileInfo, QSize, Qt
from PyQt6.QtGui import QIcon
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QPushButton,
    QTreeView,
    QWidget,
)

from presentation.ui.parts import copy_text
from presentation.ui.small_dialog import ButtonKind, SmallDialog
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

T = TypeVar("T")
_KINDS: Mapping[str, ButtonKind] = {"": "", "primary": "primary", "danger": "danger"}
_MOST_ITEMS = 12
"""Rows of a list that are seen at once."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The value of a button, which may be None."""

    value: object


async def choose(
    services: WindowServices,
    parent: QWidget,
    *,
    title: Message,
    text: Message,
    options: Sequence[tuple[T, Message, str]],
    cancelled: T,
    about: Message | None = None,
) -> T:
    """Ask; `options` are value, text and kind ("primary", "danger", ""). Escape gives `cancelled`."""
    box = SmallDialog(services, parent, "question", title=title, text=services.language(text), about=about)
    # The filled one is at the right end, what leaves everything as it is at the left.
    backwards = list(reversed(options))
    for value, words, kind in sorted(backwards, key=lambda option: option[2] != "primary"):
        button = box.add_button(words, _Chosen(value), kind=_KINDS[kind])
        if value == cancelled and all(kind != "primary" for _, _, kind in options):
            button.setFocus()  # what cannot be undone is never one Enter away
    return await _answer_of(
        box, lambda _ok: cast(T, box.chosen.value) if isinstance(box.chosen, _Chosen) else cancelled
    )


_FILES_SIZE = QSize(760, 460)
"""Wide enough for the dates; Qt's own is not."""
_MOST_OF_SCREEN = 0.9
_LABELS = {
    QFileDialog.DialogLabel.LookIn: msg("Look in:"),
    QFileDialog.DialogLabel.FileType: msg("Files of type:"),
}


class _FileDialog(QFileDialog):
    """Qt's own, but what it says of a name that does not fit is said in our dress."""

    def __init__(self, services: WindowServices, parent: QWidget, title: Message, start: Path) -> None:
        super().__init__(parent, services.language(title), str(start))
        self._services = services
        self.setOption(QFileDialog.Option.DontConfirmOverwrite)
        scale, screen = services.theme.theme.scale, self.screen()
        wanted = QSize(round(_FILES_SIZE.width() * scale), round(_FILES_SIZE.height() * scale))
        if screen is not None:  # its frame is not known before it is shown
            wanted = wanted.boundedTo(screen.availableGeometry().size() * _MOST_OF_SCREEN)
        self.resize(wanted)
        if (rows := self.findChild(QTreeView, "treeView")) is not None and (
            columns := rows.header()
        ) is not None:
            for column in range(columns.count()):  # Qt cuts sizes and dates beside empty room
                columns.setSectionResizeMode(
                    column,
                    QHeaderView.ResizeMode.ResizeToContents if column else QHeaderView.ResizeMode.Stretch,
                )

    def accept(self) -> None:
        """Take what is chosen; a missing one is told, one that would be replaced asked about."""
        names = self.selectedFiles()
        missing = [name for name in names if not QFileInfo(os.path.expandvars(name)).exists()]
        existing = [Path(name) for name in names if QFileInfo(name).isFile()]
        if self.acceptMode() == QFileDialog.AcceptMode.AcceptSave:
            if existing:
                self._ask_to_replace(existing[0])
            else:
                super().accept()
        elif missing:
            said = msg("File or folder {path} does not exist.", path=Path(missing[0]).name)
            tell(self._services, self, title=msg("Not found"), text=self._services.language(said))
        else:
            super().accept()

    def _ask_to_replace(self, target: Path) -> None:
        said = msg("{path} already exists. Replace it?", path=target.name)
        box = SmallDialog(
            self._services, self, "question", title=msg("Replace file"), text=self._services.language(said)
        )
        box.add_button(msg("Cancel"), act=box.reject)
        box.add_button(msg("Replace"), kind="danger", act=box.accept)
        box.accepted.connect(lambda: QFileDialog.accept(self))
        box.open()


async def choose_folder(
    services: WindowServices, parent: QWidget, title: Message, start: Path
) -> Path | None:
    """A folder, None when the person thinks better of it."""
    dialog = _FileDialog(services, parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return next(iter(await _files_of(services, dialog, "folderDialog")), None)


async def choose_target(
    services: WindowServices,
    parent: QWidget,
    title: Message,
    start: Path,
    *,
    kinds: Mapping[str, str] = {},
    is_export: bool = True,
) -> Path | None:
    """Where a new file goes, with the suffix of `start`; None when the person thinks better of it.

    What is exported goes where the project's latest export went, the first one to the folder of `start`.
    `kinds` are the names of what it can be written as, by suffix (``.pdf``), that of `start` among them. The
    dialog asks before a file is replaced.
    """
    latest = services.workspace.export_folder if is_export else None
    is_there = latest is not None and await asyncio.to_thread(latest.is_dir)
    folder = latest if latest is not None and is_there else start.parent
    dialog = _FileDialog(services, parent, title, folder)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    filters = {f"{name} (*{suffix})": suffix for suffix, name in kinds.items()}
    if filters:
        dialog.setNameFilters(list(filters))
    dialog.setDefaultSuffix(start.suffix.lstrip("."))
    dialog.selectFile(start.name)
    dialog.filterSelected.connect(lambda chosen: _rename(dialog, filters[chosen]))
    target = next(iter(await _files_of(services, dialog, "targetDialog")), None)
    if is_export and target is not None:
        services.workspace.export_folder = target.parent
    return target


def _rename(dialog: QFileDialog, suffix: str) -> None:
    """The name in the field gets the suffix of the kind that was chosen."""
    dialog.setDefaultSuffix(suffix.lstrip("."))
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    if field is not None and field.text():  # selectFile leaves a field alone that has the focus
        field.setText(str(Path(field.text()).with_suffix(suffix)))


async def choose_files(
    services: WindowServices, parent: QWidget, title: Message, start: Path, *, filters: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Files that exist; none when the person thinks better of it."""
    dialog = _FileDialog(services, parent, title, start)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    if filters:
        dialog.setOption(QFileDialog.Option.HideNameFilterDetails)  # too long a list to be read
        dialog.setNameFilters(list(filters))
    return await _files_of(services, dialog, "filesDialog")


async def _files_of(services: WindowServices, dialog: QFileDialog, name: str) -> tuple[Path, ...]:
    """What is chosen in Qt's own dialog; none when the person thinks better of it."""
    for label, words in _LABELS.items():  # those that Qt's own translations lack
        dialog.setLabelText(label, services.language(words))
    dialog.setObjectName(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    _dress_buttons(dialog)
    return await _answer_of(dialog, lambda ok: tuple(map(Path, dialog.selectedFiles())) if ok else ())


async def ask_text(
    services: WindowServices,
    parent: QWidget,
    *,
    title: Message,
    label: Message,
    text: str = "",
    echo: QLineEdit.EchoMode = QLineEdit.EchoMode.Normal,
    about: Message | None = None,
) -> str | None:
    """A line of text, None when the person thinks better of it."""
    said = services.language(label)
    dialog = SmallDialog(services, parent, "textQuestion", title=title, text=said, about=about)
    edit = QLineEdit(text)
    edit.setObjectName("answer")
    edit.setEchoMode(echo)
    edit.setAccessibleName(services.language(label))
    edit.selectAll()
    dialog.add(edit)
    edit.setFocus()
    return await entered(dialog, edit.text)


async def choose_item(
    services: WindowServices, parent: QWidget, *, title: Message, label: Message, items: Sequence[str]
) -> str | None:
    """One of a list, None when the person thinks better of it."""
    dialog = SmallDialog(services, parent, "itemQuestion", title=title, text=services.language(label))
    shown = QListWidget()
    shown.setObjectName("answer")
    shown.setAccessibleName(services.language(label))
    shown.addItems(list(items))
    shown.setCurrentRow(0)  # with nothing chosen Enter would do nothing
    row = services.theme.theme.size("row.tree")
    for index in range(shown.count()):
        item = shown.item(index)
        if item is not None:
            item.setSizeHint(QSize(0, row))
    shown.setMinimumHeight(row * min(max(shown.count(), 3), _MOST_ITEMS) + 2)
    shown.itemDoubleClicked.connect(lambda _item: dialog.accept())
    dialog.add(shown)
    shown.setFocus()

    def chosen() -> str:
        item = shown.currentItem()
        return "" if item is None else item.text()

    return await entered(dialog, chosen)


async def entered(dialog: SmallDialog, read: Callable[[], str]) -> str | None:
    """Open a dialog that asks for something; what `read` says when it was accepted."""
    dialog.add_button(msg("Cancel"), act=dialog.reject)
    dialog.add_button(msg("OK"), kind="primary", act=dialog.accept)
    return await _answer_of(dialog, lambda ok: read() if ok else None)


def tell(
    services: WindowServices,
    parent: QWidget,
    *,
    title: Message,
    text: str,
    copies: bool = False,
    below: QWidget | None = None,
) -> SmallDialog:
    """Say something that needs no answer; with `copies` it can be taken along. `below` is under it."""
    box = SmallDialog(services, parent, "notice", title=title, text=text)
    if below is not None:
        box.add(below)
    if copies:
        box.add_button(msg("Copy"), act=partial(copy_text, text), is_left=True)
    box.add_button(msg("Close"), kind="primary")
    box.open()
    return box


def _dress_buttons(dialog: QDialog) -> None:
    """Without the style's own pictures, and one of them filled, as in our own dialogs."""
    for button in dialog.findChildren(QPushButton):
        button.setIcon(QIcon())
    for box in dialog.findChildren(QDialogButtonBox):
        for each in box.buttons():
            if box.buttonRole(each) == QDialogButtonBox.ButtonRole.AcceptRole:
                mark(each, kind="primary")


async def _answer_of(dialog: QDialog, read: Callable[[bool], T]) -> T:
    """Open a dialog and wait for what `read` makes of its having been accepted or not.

    A question nobody waits for any more is taken from the screen.
    """
    answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def on_finished(code: int) -> None:
        if not answer.done():
            answer.set_result(read(code == QDialog.DialogCode.Accepted))

    dialog.finished.connect(on_finished)
    dialog.open()
    try:
        return await answer
    except asyncio.CancelledError:
        dialog.reject()
        raise
