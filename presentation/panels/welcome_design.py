"""The box of the welcome page: a sentence, what designs from it, and the folder its circuit will be in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from presentation.ui.new_project import WantedDesign, ask_new_project, default_place, free_folder, name_from
from presentation.ui.new_project import short_path as short
from presentation.ui.parts import ElidedLabel, arrange, once_after, push_button
from presentation.ui.signals import Signal, signal
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.groups.models import Models
    from domain.llm.chat import ProviderChoice

_PAUSE_MS = 150
"""Behind the last key, before it is looked whether a folder's name is free."""


class DesignText(QPlainTextEdit):
    """A sentence; Enter sends it, with Shift it begins a new line."""

    sent = pyqtSignal()
    focus_changed = pyqtSignal(bool)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """An input method keeps the Enter that ends a composition to itself: it never comes here."""
        is_enter = event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event is not None and is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.sent.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent | None) -> None:  # noqa: N802 - Qt's name
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent | None) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


class DesignBox(QWidget):
    """The card with the text, and below it where the circuit goes: by its sentence until it is changed."""

    wanted: Signal[WantedDesign] = signal(object)
    model_chosen = pyqtSignal()
    """Another one answers now."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._models: Models | None = None
        self._chosen: ProviderChoice | None = None
        self._named: tuple[str, Path] | None = None
        self._looked = 0
        self.text = DesignText()
        mark(self.text, plain=True)
        self.text.setObjectName("designText")
        self.text.setTabChangesFocus(True)
        self.text.sent.connect(self._design)
        self.text.textChanged.connect(self._follow_text)
        self.model_button = QToolButton()
        self.model_button.setObjectName("welcomeModel")
        self.model_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        mark(self.model_button, text=True)
        self.design = push_button(name="design", clicked=self._design, kind="primary")
        self._into_icon, self.into = QLabel(), ElidedLabel()
        self.into.setObjectName("designInto")
        mark(self.into, role="small")
        self.change = push_button(name="designPlace", clicked=self._ask_place, kind="link")
        room = self.change.sizePolicy()
        room.setRetainSizeWhenHidden(True)  # what stands below stays where it is at the first letter
        self.change.setSizePolicy(room)
        self._timer = once_after(self, _PAUSE_MS, self._look)
        self._build()
        services.workspace.design_requested.connect(lambda _text: self.text.clear())
        services.dress(self)
        self._follow_text()

    def _build(self) -> None:
        card, foot = QFrame(), QHBoxLayout()
        card.setObjectName("designCard")
        mark(card, card=True)
        self.text.focus_changed.connect(lambda has_focus: mark(card, active=has_focus))
        self._inside = arrange(QVBoxLayout(card), self.text, foot)
        arrange(foot, 1, self.model_button, self.design)
        self._foot = foot
        self._place = QWidget()
        self._row = arrange(QHBoxLayout(self._place), self._into_icon, self.into, self.change, 1, edges=0)
        self._column = arrange(QVBoxLayout(self), card, self._place, edges=0)

    # ---- what answers

    def set_models(self, models: Models, chosen: Callable[[ProviderChoice], None]) -> None:
        """From now on what designs can be chosen; their settings have been loaded."""
        from presentation.panels.conversation.model_choice import ModelMenu

        def choose(choice: ProviderChoice) -> None:
            chosen(choice)
            self._chosen = choice
            self._show_model()
            self.model_chosen.emit()

        self._models = models
        self.model_button.setMenu(ModelMenu(self._services, models, self._choice, choose, self))
        self._show_model()

    def refresh(self) -> None:
        """The page comes back: what was chosen elsewhere in the meantime holds."""
        self._chosen = None
        self._show_model()
        if self.text.toPlainText().strip():
            self._look()

    def set_up_model(self) -> None:
        """The list of what can answer; one that is not set up yet opens its settings."""
        self.model_button.showMenu()

    def _choice(self) -> ProviderChoice:
        if self._chosen is not None or self._models is None:
            from domain.llm.chat import ProviderChoice

            return self._chosen or ProviderChoice()
        return self._models.settings.latest.choice

    @property
    def answering(self) -> ProviderChoice | None:
        """What designs; None before that is known."""
        return None if self._models is None else self._choice()

    def _show_model(self) -> None:
        self.model_button.setVisible(self._models is not None)
        if self._models is not None:
            from presentation.panels.conversation.words import answering

            self.model_button.setText(f" {self._services.language(answering(self._choice()))}")

    # ---- where it goes

    def _follow_text(self) -> None:
        has_text = bool(self.text.toPlainText().strip())
        self.design.setEnabled(has_text)
        if has_text:
            self._timer.start()
        else:  # a folder that was chosen is that of a sentence
            self._named = None
            self._timer.stop()
            self._looked += 1
        self._show_place(self._wanted_folder())

    def _wanted_folder(self) -> Path:
        name, place = self._named or (name_from(self.text.toPlainText()), default_place())
        return place / name

    def _look(self) -> None:
        """A name that is taken gets a number behind it."""
        self._looked += 1
        self._services.start(self._find_free(self._looked, self._wanted_folder()), kind="look for a folder")

    async def _find_free(self, asked: int, folder: Path) -> None:
        found = await off_loop(free_folder, folder.name, folder.parent)
        if asked == self._looked:
            self._show_place(found)

    def _show_place(self, folder: Path) -> None:
        has_text = bool(self.text.toPlainText().strip())
        told = (
            msg("Into {path}, new", path=short(folder))
            if has_text
            else msg("Designs go into {path}", path=short(default_place()))
        )
        self.into.setText(self._services.language(told))
        self.change.setVisible(has_text)

    def _ask_place(self) -> None:
        self._services.start(self._choose_place(self._wanted_folder()), kind="question")

    async def _choose_place(self, folder: Path) -> None:
        title = msg("Folder of the design")
        found = await ask_new_project(
            self._services, self, title=title, name=folder.name, place=folder.parent
        )
        if found is not None and found[0].strip():
            self._named = found
            self._show_place(self._wanted_folder())
            self._look()

    def _design(self) -> None:
        text = self.text.toPlainText().strip()
        if text:
            folder = self._wanted_folder()
            self.wanted.emit(WantedDesign(text=text, name=folder.name, place=folder.parent))

    # ---- look

    def restyle(self) -> None:
        theme, icons = self._services.theme.theme, self._services.icons
        small = theme.size("space.2")
        arrange(self._inside, edges=small, gap=0)
        self._foot.setSpacing(small)
        self._row.setSpacing(theme.size("space.1"))
        self._column.setSpacing(small)
        self.text.setFixedHeight(QFontMetrics(theme.font("ui")).lineSpacing() * 3 + small)
        side = theme.size("icon.small")
        self.design.setIcon(icons.get("corner-down-left", "accent.on", side))
        self.design.setIconSize(QSize(side, side))
        self.design.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.model_button.setIcon(icons.get("cpu", "text.secondary", side))
        self.model_button.setIconSize(QSize(side, side))
        self.model_button.setFont(theme.font("ui"))
        self._into_icon.setPixmap(icons.get("folder", "text.secondary", side).pixmap(side, side))

    def retranslate(self) -> None:
        language = self._services.language
        self.text.setPlaceholderText(
            language(msg("A low-pass with 10 kHz corner, at least 46 dB down at 40 kHz, from ±5 V"))
        )
        self.text.setAccessibleName(language(msg("What do you want to design?")))
        self.design.setText(language(msg("Design")))
        self.change.setText(language(msg("Change")))
        self.change.setAccessibleName(language(msg("Change the folder of the design")))
        self.model_button.setToolTip(language(msg("What designs: the built-in designer or a model")))
        self._show_model()
        self._show_place(self._wanted_folder())
