"""No text of a dialog is cut, and none is left in the other language: every dialog there is, at 1280x720,
in both languages, as large as usual and twice as large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QPoint, QRect, QSize
from PyQt6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTabBar,
    QWidget,
)

from application.ports.events import GoalsUnderstood
from application.project.importing import FoundImport
from domain.llm.prompts.library import IdentityVariable
from presentation.dialogs.goals import GoalsDialog
from presentation.dialogs.import_file import ImportDialog
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.dialogs.model_settings.web_search import WebSearchDialog
from presentation.dialogs.prompt_editor.dialog import AddVariableDialog, RemoveVariablesDialog
from presentation.dialogs.report_studies import ReportStudiesDialog
from presentation.dialogs.settings.servers import AddServerDialog
from presentation.panels.conversation.attachment_dialog import AttachmentDialog
from presentation.panels.conversation.compress_dialog import CompressDialog
from presentation.translation import CATALOGUES
from presentation.ui.language import LanguageName
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from shared.message import msg
from tests.gui.conftest import Until
from tests.gui.test_main_window import MakeWindow, make  # noqa: F401 - fixtures
from tests.gui.test_small_dialogs import kept_study
from tests.unit.test_translations import read_catalogue

BASES = {TriedSettingsDialog}
"""Never shown themselves."""
ELSEWHERE = {AttachmentDialog, CompressDialog}
"""They need a conversation, or a file in it."""
SCREEN = QSize(1280, 720)
_WORDS = re.compile(r"[A-Za-z]{3,}[a-z]* [a-z]{2,}")
_EXAMPLE = re.compile(r"[/{}]|::")
"""What the other language has too: an address, a path, JSON."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def texts(dialog: QWidget) -> Iterator[tuple[QWidget, str]]:
    """What is shown, by the widget that shows it."""
    for widget in dialog.findChildren(QWidget):
        if not widget.isVisibleTo(dialog):
            continue
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget, widget.text()
        elif isinstance(widget, QComboBox):
            yield widget, widget.currentText()
        elif isinstance(widget, QLineEdit):
            yield widget, widget.text() or widget.placeholderText()
        elif isinstance(widget, QTabBar):
            for index in range(widget.count()):
                yield widget, widget.tabText(index)


def is_cut(widget: QWidget, text: str) -> bool:
    """Whether a part of the text is not drawn and is not to be had by resting on it either."""
    if widget.toolTip() and text.rstrip("…").replace("&", "") in widget.toolTip():
        return False
    metrics = widget.fontMetrics()
    plain = re.sub(r"<[^>]*>", "", text).replace("&&", "&")
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + 2
        return widget.sizeHint().width() > widget.width() + 2
    if isinstance(widget, QAbstractButton):
        longest = max(
            (metrics.horizontalAdvance(line.replace("&", "")) for line in plain.splitlines()), default=0
        )
        icon = 0 if widget.icon().isNull() else widget.iconSize().width()
        return longest + icon > widget.width()
    if isinstance(widget, QComboBox):
        return metrics.horizontalAdvance(plain) > widget.width() - widget.height() // 2
    if isinstance(widget, QLineEdit) and not widget.text():
        return metrics.horizontalAdvance(plain) > widget.width()
    return False


def is_outside(widget: QWidget, dialog: QWidget) -> bool:
    """Whether a part of it is out of reach: beside the dialog, or beside what scrolls upright only."""
    at: QWidget | None = widget
    while at is not None and at is not dialog:
        above = at.parentWidget()
        grand = None if above is None else above.parentWidget()
        if isinstance(grand, QScrollArea):
            bar = grand.horizontalScrollBar()
            seen = QRect(widget.mapTo(grand.viewport(), widget.rect().topLeft()), widget.size())
            if (bar is None or bar.maximum() == 0 or not bar.isVisibleTo(dialog)) and (
                seen.left() < -1 or seen.right() > grand.viewport().width() + 1
            ):
                return True
            return is_outside(grand, dialog)
        at = above
    seen = QRect(widget.mapTo(dialog, widget.rect().topLeft()), widget.size())
    return not dialog.rect().adjusted(-1, -1, 1, 1).contains(seen)


def faults(dialog: QDialog, language: str, ours: dict[str, str]) -> list[str]:
    found = []
    name = type(dialog).__name__ + ":" + dialog.objectName()
    if dialog.width() > SCREEN.width() + 1 or dialog.height() > SCREEN.height() + 1:
        found.append(f"{name} is {dialog.width()}x{dialog.height()}")
    for widget, text in texts(dialog):
        where = f"{name} {type(widget).__name__} {widget.objectName()} “{text[:60]}”"
        if text.strip() and is_cut(widget, text):
            found.append(f"cut: {where} {widget.width()}x{widget.height()} hint {widget.sizeHint().width()}")
        elif text.strip() and is_outside(widget, dialog):
            found.append(f"outside: {where}")
        if isinstance(widget, QLineEdit) and widget.text():
            continue  # the user's, or a proposal for a name
        plain = re.sub(r"<[^>]*>", "", text).replace("&", "")
        if (
            language == "zh"
            and not _EXAMPLE.search(plain)
            and (ours.get(plain, plain) != plain or (_WORDS.search(plain) and not _CHINESE.search(plain)))
        ):
            found.append(f"English: {where}")
    return found


def shown() -> list[QDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]


@pytest.fixture
def all_words() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((CATALOGUES / "zh").glob("*.json")):
        found |= read_catalogue(path.read_text("utf-8"))
    return found


BY_MENU = (
    "newProject", "newCircuit", "openExample", "settings", "chooseMain", "billOfMaterials",
    "editor.add_analysis", "editor.rename", "editor.replace_in_project", "show_history", "prompts",
    "modelSettings", "embedding", "permissions", "guide", "tutorial", "keys", "doctor", "about",
)  # fmt: skip


def by_hand(window: MainWindow, services: WindowServices) -> Iterator[QDialog]:
    """Dialogs that something else than a menu opens."""
    app = services.app
    yield GoalsDialog(services, GoalsUnderstood(goals=(), assumptions=()), window)
    found = FoundImport(
        source=Path("/home/ada/from elsewhere/amplifier.asc"),
        data=b"* amplifier\nR1 a 0 1k\n.end\n",
        missing=(msg("Bus taps are not read: {count} of them leave nodes unconnected.", count=3),),
        libraries=("models/opamp.lib",),
        elsewhere=("standard.bjt",),
    )
    yield ImportDialog(services, found, "amplifier.cir", window)
    yield WebSearchDialog(services, app.models, window)
    yield AddVariableDialog(services, lambda _name: None, window)
    yield RemoveVariablesDialog(services, [IdentityVariable(name="lab", value="bench 4")], window)
    yield AddServerDialog(services, (), window)
    kept = [kept_study(3, "corners"), kept_study(2, "montecarlo", is_ours=False)]
    yield ReportStudiesDialog(services, Path("filter.cir"), kept, window)


class Screen:
    """The smallest one the window is made for."""

    def availableGeometry(self) -> QRect:  # noqa: N802 - Qt's name
        return QRect(QPoint(), SCREEN)

    def availableSize(self) -> QSize:  # noqa: N802 - Qt's name
        return SCREEN

    geometry, size = availableGeometry, availableSize


async def settled(until: Until) -> None:
    """Until nothing of what the dialogs show changes any more."""
    before: list[tuple[str, QSize]] = []

    def same() -> bool:
        nonlocal before
        now = [(text, widget.size()) for dialog in shown() for widget, text in texts(dialog)]
        is_same, before = bool(now) and now == before, now
        return is_same

    for _ in range(2):
        await until(same)


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_no_text_of_a_dialog_is_cut_or_in_the_other_language(
    make: MakeWindow,  # noqa: F811
    services: WindowServices,
    project: Path,
    until: Until,
    all_words: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    language: LanguageName,
    scale: float,
) -> None:
    window = await make(project, size=(SCREEN.width(), SCREEN.height()))
    monkeypatch.setattr(QWidget, "screen", lambda _widget: Screen())
    window.appearance.set_language(language)
    window.appearance.set_scale(scale)
    window.parts.editor.show_file(project / "filter.cir", 2, 4)
    found: list[str] = []
    seen: set[type[QDialog]] = set()

    async def look() -> None:
        await settled(until)
        for dialog in shown():
            seen.add(type(dialog))
            found.extend(faults(dialog, language, all_words))
            dialog.close()
        await until(lambda: not shown())

    for name in BY_MENU:
        window.commands.action(name).trigger()
        await until(shown)
        await look()
    for dialog in by_hand(window, services):
        dialog.open()
        await look()
    services.language.set("en")
    assert not found, "\n".join(found)
    ours = {
        each
        for each in kinds_of(QDialog)
        if each.__module__.startswith("presentation.") and not issubclass(each, QFileDialog)  # Qt's own
    }
    assert ours - seen - BASES == ELSEWHERE, "a dialog that is not looked at"


def kinds_of(base: type[QDialog]) -> set[type[QDialog]]:
    found = set(base.__subclasses__())
    return found | {inner for each in found for inner in kinds_of(each)}
