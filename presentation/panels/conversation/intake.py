"""Ways files and pictures come into a message: buttons, pasting, dropping; and their being looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PyQt6.QtWidgets import QWidget

from application.groups.conversations import Conversations
from presentation.panels.conversation.composer import Composer
from presentation.panels.conversation.items import AttachedItem
from presentation.panels.conversation.taking_in import TakenIn, can_take_in, take_in
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.ui import questions
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

PASTED_NAME = "pasted.txt"
_PICTURES = "*.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff"


class Intake(QObject):
    """Takes in what is offered to a conversation; `say` tells why it is not."""

    def __init__(
        self,
        services: WindowServices,
        conversations: Conversations,
        model: Callable[[], ConversationViewModel],
        say: Callable[[Message | None], None],
        panel: QWidget,
    ) -> None:
        super().__init__(panel)
        self._services = services
        self._conversations = conversations
        self._of = model
        self._say = say
        self._panel = panel
        self._composer: Composer | None = None
        services.workspace.picture_offered.connect(self._take_picture)
        services.workspace.words_offered.connect(self._take_words)
        panel.setAcceptDrops(True)
        panel.installEventFilter(self)

    @property
    def _model(self) -> ConversationViewModel:
        """The conversation in front."""
        return self._of()

    def listen_to(self, composer: Composer) -> None:
        """Its buttons, its chips, and what is pasted there."""
        self._composer = composer
        composer.offered.connect(self._take)
        composer.attach_asked.connect(self._ask)
        composer.chips.removed.connect(self._remove)
        composer.chips.opened.connect(self._show)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Files dropped anywhere on the conversation."""
        if watched is not self._panel or self._model.root is None:
            return False
        match event:
            case QDragEnterEvent() | QDragMoveEvent() if can_take_in(event.mimeData()):
                self._mark(is_over=True)
                event.acceptProposedAction()
                return True
            case QDragLeaveEvent():
                self._mark(is_over=False)
            case QDropEvent():
                self._mark(is_over=False)
                found = take_in(event.mimeData())
                if found is not None:
                    self._take(found)
                    event.acceptProposedAction()
                    return True
        return False

    def _mark(self, *, is_over: bool) -> None:
        """The frame of the message shows where it will be."""
        composer = self._composer
        style = composer.style() if composer is not None else None
        if composer is not None and style is not None and composer.property("dropping") != is_over:
            composer.setProperty("dropping", is_over)
            style.unpolish(composer)
            style.polish(composer)

    def _take(self, found: TakenIn) -> None:
        self._say(None)
        if self._model.root is None:
            self._say(msg("Open a project first: the conversation works on its files."))
        elif found.paths:
            self._model.pending.attach_paths(found.paths)
        elif found.picture is not None:
            self._model.pending.attach_bytes(found.picture_name, found.picture)
        elif found.text:
            self._services.start(self._offer_file(found.text), kind="question")

    def _take_picture(self, name: str, content: bytes) -> None:
        self._take(TakenIn(picture=lambda: content, picture_name=name))
        self._services.workspace.status_changed.emit(msg("{name} is attached to the message", name=name))

    def _take_words(self, words: str) -> None:
        """Write them where one writes, and go on there; what the message names already is not named again."""
        if self._composer is not None and self._model.root is not None:
            self._services.workspace.command_wanted.emit("conversation")
            edit = self._composer.edit
            text, name = edit.toPlainText(), words.strip()
            before = text[: edit.textCursor().position()]
            if not (name.startswith("@") and f" {name} " in f" {' '.join(text.split())} "):
                edit.insertPlainText(words if not before or before[-1].isspace() else f" {words}")
            edit.setFocus()

    def _ask(self, is_picture: bool) -> None:
        if self._model.root is not None:
            self._services.start(self._choose(self._model.root, is_picture=is_picture), kind="question")

    async def _choose(self, root: Path, *, is_picture: bool) -> None:
        language, model = self._services.language, self._model
        pictures = f"{language(msg('Pictures'))} ({_PICTURES})"
        title = msg("Attach a picture") if is_picture else msg("Attach a file")
        filters = (pictures,) if is_picture else (f"{language(msg('All files'))} (*)",)
        paths = await questions.choose_files(self._services, self._panel, title, root, filters=filters)
        if paths and root == self._model.root:
            model.pending.attach_paths(paths)
        if self._composer is not None:
            self._composer.edit.setFocus()

    async def _offer_file(self, text: str) -> None:
        """A long text that was pasted: a file beside the message, or all of it in the message."""
        model = self._model  # another may be in front when it is answered
        wish = await questions.choose(
            self._services,
            self._panel,
            title=msg("Attach the long text as a file?"),
            text=msg(
                "{count} characters would fill the message; a file can be removed again.", count=len(text)
            ),
            options=(
                ("attach", msg("Attach as a file"), "primary"),
                ("paste", msg("Paste as text"), ""),
                ("none", msg("Cancel"), ""),
            ),
            cancelled="none",
        )
        if wish == "attach":
            model.pending.attach_bytes(PASTED_NAME, lambda: text.encode("utf-8", "replace"))
        elif wish == "paste" and model is not self._model:
            model.draft += text
        elif wish == "paste" and self._composer is not None:
            self._composer.edit.insertPlainText(text)

    def _remove(self, key: str) -> None:
        self._model.pending.remove(key)

    def _show(self, key: str) -> None:
        root = self._model.root
        for file in self._model.pending.files:
            if file.key == key and file.item is not None and root is not None:
                show_attached(self._services, self._conversations, self._panel, root, file.item)


def show_attached(
    services: WindowServices, conversations: Conversations, parent: QWidget, root: Path, item: AttachedItem
) -> None:
    """A picture, or the text of a file, in a window of its own."""
    from presentation.panels.conversation.attachment_dialog import AttachmentDialog

    dialog = AttachmentDialog(services, conversations, root, item, parent)
    dialog.open()
