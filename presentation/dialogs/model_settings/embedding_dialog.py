"""Which server gives the vectors of searches by meaning, with a test that tells their dimension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from PyQt6.QtWidgets import QWidget

from application.groups.models import Models
from application.groups.project import Project
from application.ports.credentials import KeyStatus
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingSettings
from presentation.dialogs.model_settings.embedding_form import EmbeddingForm
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.dialogs.model_settings.words import milliseconds
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg


class EmbeddingDialog(TriedSettingsDialog):
    """What is saved is used by the next search."""

    title: ClassVar[Message] = msg("Search by meaning")
    prefix: ClassVar[str] = "embedding"

    def __init__(
        self, services: WindowServices, models: Models, project: Project, parent: QWidget | None = None
    ) -> None:
        super().__init__(services, models, parent)
        self._project = project
        self._kept: EmbeddingSettings | None = None
        self.is_loaded = False
        self.setObjectName("embeddingSettings")
        self.form = EmbeddingForm(services, models)
        self.form.provider_changed.connect(self._on_provider)
        self.form.changed.connect(self._on_changed)
        self.form.key.remove_wanted.connect(self.remove_key)
        self.notice = self._label("Notice", role="secondary")
        self._add_form(self.form)
        for part in (self.card, self.notice, self.error):
            self._body.addWidget(part)
        self._body.addStretch(1)
        self.retranslate()
        self.restyle()
        self._start(self._load(), "read embedding settings")

    @property
    def _form(self) -> EmbeddingForm:
        return self.form

    @property
    def _key_name(self) -> str:
        return EMBEDDING_SERVERS[self.form.name].key_name

    async def _load(self) -> None:
        kept = await self._project.embedding.load()
        if self._is_closed:
            return
        self._kept = kept
        self.form.show_settings(kept)
        self.is_loaded = True
        self.save_button.setEnabled(True)
        self._on_provider()
        self.form.provider.setFocus()
        await self._look_for_stores()

    # --- what changes --------------------------------------------------------------------------------

    def _on_provider(self) -> None:
        self._cancel_trial()
        self._show_key()
        self._on_changed()

    def _on_changed(self) -> None:
        """What was verified is not what stands there now."""
        self._say(None)
        settings = self.form.settings
        self.card.setVisible(settings is not None)
        self.test_button.setEnabled(self.is_loaded and settings is not None)
        if self._trial is None:
            self.card.show_untested("" if settings is None else settings.verified_at)
        self._show_notice()
        self._fit()

    def _show_key(self) -> None:
        server = EMBEDDING_SERVERS.get(self.form.name)
        if server is not None and server.key_name:
            variable = self.form.key_info.key_variable
            self.form.show_key(self._models.keys.status(server.key_name, variable), self._stores)
        else:
            self.form.show_key(KeyStatus(), self._stores)
        self._fit()

    def _show_notice(self) -> None:
        """Where texts go, and what a change costs."""
        language, settings, kept = self._services.language, self.form.settings, self._kept
        lines: list[Message] = []
        if settings is not None and not self._stays_here(settings):
            lines.append(
                msg(
                    "The circuits and documents of every project you open are sent to this server, as "
                    "is each question; never data, results, or ignored files."
                )
            )
        if kept is not None and settings is None:
            lines.append(msg("Search by meaning is off; projects are then searched by text only."))
        elif kept is not None and settings is not None and kept.identity != settings.identity:
            lines.append(
                msg(
                    "The model or dimension has changed: all embeddings are rebuilt in the background; "
                    "until then there is no search by meaning."
                )
            )
        self.notice.setText("\n".join(language(line) for line in lines))
        self.notice.setVisible(bool(lines))

    def _stays_here(self, settings: EmbeddingSettings) -> bool:
        try:
            return self._project.embedding.is_local(settings)
        except CircuitAIError:  # half an address yet; saving and testing say what is wrong
            return True

    # --- testing and saving --------------------------------------------------------------------------

    async def _attempt(self) -> Callable[[], None]:
        settings = self.form.settings
        assert settings is not None, "the button works when there is something to test"
        trial = await self._project.embedding.try_out(settings, key=self.form.key.text)

        def show() -> None:
            if self.form.settings != settings:
                return
            self.form.keep(replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds")))
            rows = (
                (msg("Dimension"), msg("{text}", text=str(trial.dimension))),
                (msg("Server responds"), milliseconds(trial.answered_s)),
            )
            title = msg("Embeddings come from {model}", model=settings.model)
            self.card.show_works(title, rows, f"{datetime.now().astimezone():%H:%M}")

        return show

    async def _keep(self) -> None:
        settings = self.form.settings
        if self.form.problem is not None:
            raise self.form.problem
        if settings is not None:
            self._project.embedding.is_local(settings)  # says what is wrong with the address
            keep_key = self._typed_key()
            await self._unlock()
            await keep_key()
        await self._project.embedding.save(settings)

    # --- looks ---------------------------------------------------------------------------------------

    def retranslate(self) -> None:
        super().retranslate()
        self._show_notice()
