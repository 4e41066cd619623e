"""The prompt settings: two tabs, and the row of buttons that writes what was changed.

Adding a variable of one's own to the identity, and removing some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from application.conversation.prompting import Prompting
from domain.llm.prompts.fallbacks import IDENTITY_VARIABLES
from domain.llm.prompts.library import IdentityVariable
from presentation.dialogs.prompt_editor.drafts import IDENTITY, PageName, PromptDrafts
from presentation.dialogs.prompt_editor.page import ElidedLabel, PromptPage
from presentation.ui.parts import arrange
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg


class AddVariableDialog(QDialog):
    """Name and value. `added` carries the IdentityVariable."""

    added = pyqtSignal(object)

    def __init__(
        self,
        services: WindowServices,
        refused: Callable[[str], Message | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._say, self._refused = services.language, refused
        self.setObjectName("addVariableDialog")
        self.setWindowTitle(self._say(msg("Add a variable")))
        self.name, self.value = QLineEdit(self), QLineEdit(self)
        self.name.setObjectName("variableName")
        self.value.setObjectName("variableValue")
        self.is_required = QCheckBox(self._say(msg("Warn when it is empty")), self)
        self._why = QLabel(self)
        self._why.setObjectName("variableProblem")
        mark(self._why, role="error")
        paths = ", ".join(f"{{{name}}}" for name in IDENTITY_VARIABLES)
        note = QLabel(
            self._say(
                msg("Text, or a value of the program: {names}; select parts of it with dots.", names=paths)
            ),
            self,
        )
        note.setWordWrap(True)
        mark(note, role="small")
        theme = services.theme.theme
        self.name.setFont(theme.font("mono"))
        form = QFormLayout(self)
        form.setContentsMargins(*(theme.size("space.4"),) * 4)
        form.setSpacing(theme.size("space.2"))
        form.addRow(self._say(msg("Name")), self.name)
        form.addRow("", self._why)
        form.addRow(self._say(msg("Value")), self.value)
        form.addRow("", note)
        form.addRow("", self.is_required)
        self.add = _buttons(form, services, self, self._say(msg("Add")), "confirmAdd")
        self.add.clicked.connect(self._on_add)
        self.name.textChanged.connect(self._on_name)
        self.setMinimumWidth(theme.size("pane.right_default"))
        self._on_name("")

    def _on_name(self, name: str) -> None:
        why = self._refused(name) if name else None
        self._why.setText(self._say(why) if why else "")
        self.add.setEnabled(bool(name) and why is None)

    def _on_add(self) -> None:
        self.added.emit(
            IdentityVariable(
                name=self.name.text(), is_required=self.is_required.isChecked(), value=self.value.text()
            )
        )
        self.accept()


class RemoveVariablesDialog(QDialog):
    """The user's own variables with a tick each. `removed` carries a list of names."""

    removed = pyqtSignal(object)

    def __init__(
        self, services: WindowServices, variables: Sequence[IdentityVariable], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        say, theme = services.language, services.theme.theme
        self.setObjectName("removeVariablesDialog")
        self.setWindowTitle(say(msg("Remove variables")))
        form = QFormLayout(self)
        form.setContentsMargins(*(theme.size("space.4"),) * 4)
        form.setSpacing(theme.size("space.2"))
        form.addRow(QLabel(say(msg("Places in the text that use a removed variable are marked.")), self))
        self.boxes = {
            each.name: QCheckBox(f"{{{each.name}}}", self) for each in variables if each.value is not None
        }
        for name, box in self.boxes.items():
            box.setObjectName(f"remove:{name}")
            box.setFont(theme.font("mono_small"))
            box.toggled.connect(lambda _on: self._on_ticked())
            form.addRow(box)
        self.remove = _buttons(form, services, self, say(msg("Remove")), "confirmRemove")
        self.remove.clicked.connect(self._on_remove)
        self._on_ticked()

    def _on_ticked(self) -> None:
        self.remove.setEnabled(any(box.isChecked() for box in self.boxes.values()))

    def _on_remove(self) -> None:
        self.removed.emit([name for name, box in self.boxes.items() if box.isChecked()])
        self.accept()


def _buttons(
    form: QFormLayout, services: WindowServices, dialog: QDialog, text: str, name: str
) -> QPushButton:
    """Cancel and the primary button, at the right; returns the latter."""
    cancel, primary = QPushButton(services.language(msg("Cancel")), dialog), QPushButton(text, dialog)
    primary.setObjectName(name)
    primary.setDefault(True)
    mark(primary, kind="primary", wide=True)
    mark(cancel, wide=True)
    cancel.clicked.connect(dialog.reject)
    row = arrange(QHBoxLayout(), 1, cancel, primary, gap=services.theme.theme.size("space.2"))
    form.addRow(row)
    return primary


_PAGES: tuple[PageName, PageName] = ("workflow", "identity")


class PromptSettingsDialog(QDialog):
    """Open it with `open()`; it reads the prompts by itself and asks before edits are lost."""

    saved = pyqtSignal(object)
    """Keys of the texts that were written: a tuple of template names, "identity" ..."""
    loaded = pyqtSignal()
    """The texts are shown."""

    def __init__(
        self,
        services: WindowServices,
        prompting: Prompting,
        *,
        project: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._prompting = prompting
        self._project = project
        self.drafts: PromptDrafts | None = None
        self._is_writing = False
        self._trouble: Message | None = None
        self._is_asking = False
        self._is_closed = False
        self.finished.connect(self._on_finished)
        self.setObjectName("promptSettings")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._make_pages()
        self._make_footer()
        arrange(QVBoxLayout(self), self._head, (self._stack, 1), self._footer, edges=0, gap=0)
        services.dress(self)
        services.start(self._load(), kind="read prompts")

    def _make_pages(self) -> None:
        self._head = QWidget(self)
        mark(self._head, surface="raised")
        self.tabs = QTabBar(self._head)
        self.tabs.setObjectName("promptTabs")
        mark(self.tabs, kind="line")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self._head_row = QHBoxLayout(self._head)
        self._head_row.addWidget(self.tabs, 1)
        self._stack = QStackedWidget(self)
        mark(self._stack, line="top")
        self.pages: dict[PageName, PromptPage] = {}
        self._dots: dict[PageName, _Dot] = {}
        for index, name in enumerate(_PAGES):
            page = PromptPage(
                self._services, name, self._prompting, project=self._project, parent=self._stack
            )
            self.pages[name] = page
            self._stack.addWidget(page)
            self.tabs.addTab("")
            self._dots[name] = _Dot(self._services, self.tabs)
            self.tabs.setTabButton(index, QTabBar.ButtonPosition.RightSide, self._dots[name])
            page.selected.connect(lambda _key: self._refresh_footer())
        self.tabs.currentChanged.connect(self._on_tab)
        identity = self.pages["identity"].variables
        identity.add_requested.connect(self._on_add_variable)
        identity.remove_requested.connect(self._on_remove_variables)

    def _make_footer(self) -> None:
        self._footer = QWidget(self)
        mark_area(self._footer, part="footer")
        self.reset = self._button("resetPrompt", self._on_reset)
        self.state = ElidedLabel(self._footer, takes_all=True)
        self.state.setObjectName("promptState")
        self.cancel = self._button("cancelPrompts", self.reject)
        self.apply = self._button("applyPrompts", lambda: self._write(close=False))
        self.ok = self._button("okPrompts", lambda: self._write(close=True))
        mark(self.ok, kind="primary")
        self._footer_row = arrange(QHBoxLayout(self._footer), self.reset, (self.state, 1))
        for button in (self.cancel, self.apply, self.ok):
            mark(button, wide=True)
            self._footer_row.addWidget(button)

    def _button(self, name: str, on_clicked: Callable[[], None]) -> QPushButton:
        button = QPushButton(self._footer)
        button.setObjectName(name)
        # Enter belongs to the filter and the find bar, not to OK.
        button.setAutoDefault(False)
        button.clicked.connect(on_clicked)
        return button

    async def _load(self) -> None:
        library = await self._prompting.load()
        if self._is_closed:
            return
        self.drafts = PromptDrafts(library, project=self._project)
        self.drafts.on_changed = self._on_changed
        for page in self.pages.values():
            page.show_drafts(self.drafts)
        self._refresh_footer()
        self.pages[self._shown].editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.loaded.emit()

    def _on_finished(self, _result: int) -> None:
        self._is_closed = True

    @property
    def _shown(self) -> PageName:
        return _PAGES[max(self.tabs.currentIndex(), 0)]

    def show_text(self, key: str) -> None:
        """Bring a text to the front, whichever tab it is in."""
        if self.drafts is not None:
            page = self.drafts[key].page
            self.tabs.setCurrentIndex(_PAGES.index(page))
            self.pages[page].select(key)

    def reject(self) -> None:
        """Cancel, Escape, and the window's close button: ask when something would be lost."""
        if self._is_writing or self._is_asking:
            return
        if self.drafts is None or not self.drafts.modified():
            super().reject()
        else:
            self._ask(len(self.drafts.modified()))

    def _ask(self, count: int) -> None:
        """A box of its own, no task: this also happens when the program ends and its loop is gone."""
        say = self._services.language
        self._is_asking = True
        box = SmallDialog(
            self._services,
            self,
            "question",
            title=_changed(count),
            text=say(msg("Save before closing? Otherwise the changes are lost.")),
        )
        box.add_button(msg("Cancel"))
        box.add_button(msg("Don't save"), "discard")
        box.add_button(msg("Save and close"), "save", kind="primary")
        box.finished.connect(lambda _code: self._on_answer(box.chosen))
        box.open()

    def _on_answer(self, chosen: object) -> None:
        self._is_asking = False
        if chosen == "save":
            self._write(close=True)
        elif chosen == "discard":
            super().reject()

    def _write(self, *, close: bool) -> None:
        if self.drafts is None or self._is_writing:
            return
        refused = self.drafts.first_refused()
        if refused is not None:
            self.show_text(refused.key)
            self._refresh_footer()
            return
        if self.drafts.modified():
            self._is_writing = True
            self._refresh_footer()
            self._services.start(self._apply(self.drafts, close=close), kind="save prompts")
        elif close:
            self.accept()

    async def _apply(self, drafts: PromptDrafts, *, close: bool) -> None:
        keys = tuple(draft.key for draft in drafts.modified())
        changes = drafts.changes()
        try:
            library = await self._prompting.apply(changes)
        except CircuitAIError as error:
            self._trouble = error.message
            close = False
        else:
            self._trouble = None
            drafts.written(library, changes)
            self.saved.emit(keys)
        finally:
            self._is_writing = False
            self._refresh_footer()
        # What was typed while it was written is not lost by closing.
        if close and not drafts.modified():
            self.accept()

    def _on_changed(self, key: str) -> None:
        assert self.drafts is not None
        self.pages[self.drafts[key].page].refresh(key)
        self._refresh_footer()

    def _on_tab(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self._refresh_footer()

    def _on_reset(self) -> None:
        if self.drafts is not None and self.pages[self._shown].key:
            self.drafts.reset(self.pages[self._shown].key)

    def _on_add_variable(self) -> None:
        if self.drafts is not None:
            dialog = AddVariableDialog(self._services, self.drafts.refused_name, self)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.added.connect(self.drafts.add_variable)
            dialog.open()

    def _on_remove_variables(self) -> None:
        if self.drafts is not None:
            dialog = RemoveVariablesDialog(self._services, self.drafts[IDENTITY].variables, self)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.removed.connect(self._on_removed)
            dialog.open()

    def _on_removed(self, names: list[str]) -> None:
        assert self.drafts is not None
        for name in names:
            self.drafts.remove_variable(name)

    def _refresh_footer(self) -> None:
        drafts, say = self.drafts, self._services.language
        modified = drafts.modified() if drafts else []
        for index, name in enumerate(_PAGES):
            is_modified = any(draft.page == name for draft in modified)
            self._dots[name].set_on(is_modified)
            hint = say(msg("Has unsaved changes")) if is_modified else ""
            self.tabs.setTabToolTip(index, hint)
        shown = drafts[self.pages[self._shown].key] if drafts and self.pages[self._shown].key else None
        self.reset.setEnabled(shown is not None and shown.is_custom and not self._is_writing)
        can_write = drafts is not None and drafts.first_refused() is None and not self._is_writing
        self.apply.setEnabled(can_write and bool(modified))
        self.ok.setEnabled(can_write)
        self.cancel.setEnabled(not self._is_writing)
        self._refresh_state(len(modified))

    def _refresh_state(self, count: int) -> None:
        warnings = self.drafts.warnings if self.drafts else ()
        if self._trouble is not None:
            text, role = self._trouble, "error"
        elif count or not warnings:
            text, role = _changed(count), "secondary"
        else:
            text, role = warnings[0], "warn"
        shown = self._services.language(text)
        mark(self.state, role=role)
        self.state.show_text(shown)
        every = [self._services.language(warning) for warning in warnings]
        self.state.setToolTip("\n".join([shown, *(each for each in every if each != shown)]).strip())

    def restyle(self, _theme: object = None) -> None:
        """Take the theme's sizes; the dialog grows with its type, as far as the screen allows."""
        size = self._services.theme.theme.size
        screen = self.screen()
        room = screen.availableSize() if screen is not None else self.maximumSize()
        least = QSize(
            size("pane.left_min") + size("pane.right_max"), size("pane.bottom_default") + 2 * size("space.12")
        )
        usual = QSize(
            size("pane.left_default") + size("pane.conversation_text_max"),
            size("pane.bottom_default") + size("pane.left_default"),
        )
        self.setMinimumSize(least.boundedTo(room))
        if not self.isVisible():
            self.resize(usual.boundedTo(room))
        self._head_row.setContentsMargins(size("space.1"), 0, size("space.4"), 0)
        self._footer_row.setContentsMargins(
            size("space.4"), size("space.3"), size("space.4"), size("space.3")
        )
        self._footer_row.setSpacing(size("space.2"))
        for dot in self._dots.values():
            dot.restyle()

    def retranslate(self, _language: str = "") -> None:
        say = self._services.language
        self.setWindowTitle(say(msg("Prompt settings")))
        self.tabs.setTabText(0, say(msg("Workflow templates")))
        self.tabs.setTabText(1, say(msg("Identity, free work")))
        self.tabs.setAccessibleName(say(msg("Prompt settings")))
        self.reset.setText(say(msg("Reset to default")))
        self.reset.setToolTip(say(msg("Restore the built-in text; Apply or OK saves it")))
        self.cancel.setText(say(msg("Cancel")))
        self.apply.setText(say(msg("Apply")))
        self.ok.setText(say(msg("OK")))
        self._refresh_footer()


def _changed(count: int) -> Message:
    if count == 0:
        return msg("Nothing changed")
    return msg("{count} {count:text|texts} changed, not saved", count=count)


class _Dot(QWidget):
    """Marks a tab with changes that are not saved."""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self.is_on = False
        self.restyle()

    def set_on(self, is_on: bool) -> None:
        """Draw it or not; its room stays, so that tabs don't move."""
        self.is_on = is_on
        self.update()

    def restyle(self) -> None:
        size = self._services.theme.theme.size
        self.setFixedSize(size("space.3"), size("space.3"))
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        if self.is_on:
            theme = self._services.theme.theme
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.base"))
            radius = theme.size("space.1") - 1
            painter.drawEllipse(self.rect().center(), radius, radius)
