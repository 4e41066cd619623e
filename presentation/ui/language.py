"""The language of the window, switched live."""

from __future__ import annotations

from typing import Literal

from PyQt6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator, pyqtSignal

from presentation.translation import Translator
from shared.message import Message, msg, visible

LanguageName = Literal["en", "zh"]


_OF_FILES = {"Size": msg("File size"), "Folder": msg("Folder"), "%1 File": msg("{suffix} file", suffix="%1")}
"""What Qt's Chinese says of files in another sense (the size as a volume) or not at all."""


class _QtWords(QTranslator):
    """Qt's own translation, with our words for columns of its file dialog."""

    def __init__(self, language: LanguageManager) -> None:
        super().__init__(language)
        self._language = language

    def translate(
        self, context: str | None, source: str | None, disambiguation: str | None = None, n: int = -1
    ) -> str:
        """As QTranslator's."""
        is_of_files = context in ("QFileSystemModel", "QAbstractFileIconProvider")
        if is_of_files and (own := _OF_FILES.get(source or "")) is not None:
            return self._language(own)
        return super().translate(context or "", source or "", disambiguation or "", n)


class LanguageManager(QObject):
    """Turns messages into the window's language; `changed` is emitted when that is another."""

    changed = pyqtSignal(str)

    def __init__(self, language: LanguageName) -> None:
        super().__init__()
        self._translator = Translator(language, "window")
        self.name: LanguageName = language
        self._qt = _QtWords(self)
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
