"""The language of the window, switched live."""

from __future__ import annotations

from typing import Literal

from PyQt6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator, pyqtSignal

from presentation.translation import Translator
from shared.message import Message, visible

LanguageName = Literal["en", "zh"]


class LanguageManager(QObject):
    """Turns messages into the window's language; `changed` is emitted when that is another."""

    changed = pyqtSignal(str)

    def __init__(self, language: LanguageName) -> None:
        super().__init__()
        self._translator = Translator(language, "window")
        self.name: LanguageName = language
        self._qt = QTranslator(self)
        """Qt's own words (dialogs for files, menus of text fields); its English ones are built in."""
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        self._is_qt_translated = self._qt.load("qtbase_zh_CN", folder)
        self._teach_qt()

    def __call__(self, message: Message) -> str:
        """The text of a message: ``language(msg("Run"))``, with signs for characters that are not seen."""
        return visible(self._translator(message))

    def figure(self, text: str) -> str:
        """A figure as the language writes it: ``12 %``, in Chinese ``12%``."""
        return self._translator.figure(text)

    @property
    def locale(self) -> QLocale:
        """For fonts: Han shapes differ between languages."""
        return QLocale("zh_CN" if self.name == "zh" else "en_US")

    def set(self, language: LanguageName) -> None:
        """Switch; every label, title and tooltip listens to `changed` and asks again."""
        if language != self.name:
            self.name = language
            self._translator = Translator(language, "window")
            self._teach_qt()
            self.changed.emit(language)

    def end(self) -> None:
        """Take its words from Qt, which belongs to the whole process."""
        QCoreApplication.removeTranslator(self._qt)

    def _teach_qt(self) -> None:
        if self.name == "zh" and self._is_qt_translated:
            QCoreApplication.installTranslator(self._qt)
        else:
            QCoreApplication.removeTranslator(self._qt)
