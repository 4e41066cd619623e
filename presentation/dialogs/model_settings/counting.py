"""How the tokens of the model in the field are counted, and getting what counts them exactly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PyQt6 import sip
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout

from presentation.ui.parts import arrange, push_button
from presentation.ui.questions import choose
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.model_settings import TokenVocabularies, VocabularyState


class CountingSection(QFrame):
    """Shown for models whose vocabulary is published (OpenAI's)."""

    fetch_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, vocabularies: TokenVocabularies) -> None:
        super().__init__()
        self._services = services
        self._vocabularies = vocabularies
        self._found: VocabularyState | None = None
        self._is_installed = self._is_fetching = False
        self._problem: CircuitAIError | None = None
        self.setObjectName("modelCounting")
        mark(self, card=True)
        self.state, self.advice = QLabel(), QLabel()
        for label, role in ((self.state, "strong"), (self.advice, "small")):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            mark(label, role=role)
        self.button = push_button(name="modelVocabulary", clicked=self.fetch_wanted.emit, kind="quiet")
        self._column = arrange(QVBoxLayout(self), self.state, self.advice, self.button)
        self.hide()

    async def look(self, model: str) -> None:
        """Say how the tokens of a model are counted."""
        self._is_installed = self._vocabularies.is_installed
        found = await asyncio.to_thread(self._vocabularies.state_of, model)
        if sip.isdeleted(self):  # the dialog was closed meanwhile
            return
        self._found, self._problem = found, None
        self.retranslate()

    async def fetch(self) -> None:
        """Ask whether the vocabulary may be fetched, and fetch it."""
        found = self._found
        if found is None or self._is_fetching:
            return
        language = self._services.language
        answer = await choose(
            self._services,
            self,
            title=msg("Get the vocabulary {name}?", name=found.name),
            text=msg(
                "A file of some MB comes from {host} and is kept for all projects. Nothing of yours is sent.",
                host=found.host,
            ),
            options=(("yes", msg("Get it"), "primary"), ("no", msg("Cancel"), "")),
            cancelled="no",
        )
        if answer != "yes":
            return
        self._is_fetching, self._problem = True, None
        self.retranslate()
        try:
            await self._vocabularies.fetch(found.name)
        except CircuitAIError as error:
            self._problem = error
        finally:
            self._is_fetching = False
        if self._problem is None:
            self._found = await asyncio.to_thread(self._vocabularies.state_of, found.model)
        if sip.isdeleted(self):
            return
        self.retranslate()
        self.setAccessibleDescription(language(self._words()))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._column.setContentsMargins(edge, gap, edge, gap)

    def retranslate(self) -> None:
        language, found = self._services.language, self._found
        self.setVisible(found is not None)
        if found is None:
            return
        is_missing = self._is_installed and not found.is_here
        self.state.setText(language(self._words()))
        advice = self._problem.advice if self._problem is not None else None
        if self._problem is None and not self._is_installed:
            advice = msg("Exact counts need the optional package tiktoken.")
        self.advice.setText("" if advice is None else language(advice))
        self.advice.setVisible(advice is not None)
        self.button.setText(language(msg("Get the vocabulary…")))
        self.button.setVisible(is_missing)
        self.button.setEnabled(not self._is_fetching)

    def _words(self) -> Message:
        found = self._found
        if self._problem is not None:
            return self._problem.message
        if found is None or not (found.is_here and self._is_installed):
            estimated = msg("Tokens are estimated, within 8 %.")
            return msg("Getting the vocabulary…") if self._is_fetching else estimated
        return msg("Tokens are counted exactly ({name}).", name=found.name)
