"""The fields of one provider's settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from application.groups.models import Models
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ModelAbilities, ProviderInfo
from domain.llm.provider_settings import BUILTIN, ModelSettings, ProviderSettings
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.dialogs.model_settings.words import THINKING, ability_words
from presentation.provider_words import provider_title
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError
from shared.message import Message, msg

SEARCHES: dict[str, Message] = {
    "off": msg("Off"),
    "provider": msg("By the provider"),
    "general": msg("General search (tool)"),
}
_TIMEOUTS = {"connect_s": msg("connect"), "first_piece_s": msg("answer"), "silence_s": msg("stream")}


class ProviderForm(SettingsForm):
    """Edits a copy of the settings; `settings` is what stands in the fields."""

    prefix: ClassVar[str] = "model"
    words: ClassVar[Mapping[str, Message]] = {
        "provider": msg("Provider"),
        "class": msg("Class"),
        "arguments": msg("Arguments"),
        "key": msg("API key"),
        "url": msg("Base URL"),
        "model": msg("Model"),
        "thinking": msg("Thinking mode"),
        "search": msg("Web search"),
        "times": msg("Timeouts"),
    }
    provider_changed = pyqtSignal(str)
    list_wanted = pyqtSignal()
    """The models of the server are asked for."""

    def __init__(
        self,
        services: WindowServices,
        models: Models,
        providers: tuple[ProviderInfo, ...],
        kept: ModelSettings,
    ) -> None:
        super().__init__(services, models)
        self._infos = {info.name: info for info in providers}
        self._kept = dict(kept.providers)
        self._shown = ""
        self._known: ModelAbilities | None = None
        self._make_fields()
        self._make_layout()
        self.provider.currentIndexChanged.connect(self._on_provider)
        for box in (self.thinking, self.search):
            box.currentIndexChanged.connect(self._tell)

    # --- what is in it -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return str(self.provider.currentData())

    @property
    def info(self) -> ProviderInfo:
        return self._infos[self.name]

    @property
    def settings(self) -> ProviderSettings:
        kept = self._kept.get(self.name) or ProviderSettings()
        url = self.server
        seconds = {name: float(box.value()) or None for name, box in self.timeouts.items()}
        entered = replace(
            kept,
            base_url="" if url == self.info.base_url and not kept.base_url else url,
            model=self.model.currentText().strip(),
            thinking=self.thinking.currentData() if self.info.can_think else None,
            search=self.search.currentData() == "provider",
            web_search=self.search.currentData() == "general",
            model_class=self.model_class.text().strip(),
            arguments=_object(self.arguments.text()) or {},
            **seconds,  # type: ignore[arg-type]
        )
        # A test tells of what was tested, and of nothing else.
        return entered if entered == kept and not self.has_new_key else replace(entered, verified_at="")

    def check(self) -> None:
        """Raises UserInputError for arguments that are no JSON object."""
        if _object(self.arguments.text()) is None:
            raise UserInputError(
                msg("The arguments are not a JSON object."),
                advice=msg("Write them as {example}.", example='{"temperature": 0.2}'),
            )

    @property
    def is_builtin(self) -> bool:
        return self.name == BUILTIN

    def keep(self, settings: ProviderSettings) -> None:
        """What the fields begin with when this provider is shown again; the key that stands there counts."""
        self.has_new_key = False
        self._kept[self.name] = settings

    def show_provider(self, name: str) -> None:
        index = self.provider.findData(name)
        self.provider.setCurrentIndex(max(index, 0))
        self._fill()

    def show_key(self, status: KeyStatus, stores: KeyStores) -> None:
        self.key.show_state(status, stores, self.info)

    def show_models(self, models: tuple[str, ...]) -> None:
        """What the server offers; the model that is chosen stays."""
        chosen = self.model.currentText()
        self.model.blockSignals(True)
        self.model.clear()
        self.model.addItems(list(models))
        self.model.setEditText(chosen)
        self.model.blockSignals(False)

    def show_abilities(self, found: ModelAbilities | None) -> None:
        """What is known of the model in the field; None for nothing."""
        self._known = found
        words = () if found is None else ability_words(found)
        self.abilities.setText(" · ".join(map(self._services.language, words)))
        self.abilities.setVisible(bool(words))

    # --- parts ---------------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.provider = QComboBox()
        self.provider.setObjectName("modelProvider")
        for info in self._infos.values():
            self.provider.addItem(self._services.language(provider_title(info.name, info.title)), info.name)
        self.model_class, self.arguments = QLineEdit(), QLineEdit()
        for edit, name in ((self.model_class, "modelClass"), (self.arguments, "modelArguments")):
            edit.setObjectName(name)
            edit.textChanged.connect(self._tell)
        self.model = self._model_box()
        self.model.setObjectName("modelName")
        self.reload = push_button(name="modelReload", clicked=self.list_wanted.emit, kind="quiet")
        self.abilities = text_label(name="modelAbilities", role="small")
        self.thinking = QComboBox()
        self.thinking.setObjectName("modelThinking")
        for value, _text in THINKING:
            self.thinking.addItem("", value)
        self.search = QComboBox()
        self.search.setObjectName("modelSearch")
        self.search_setup = push_button(name="modelSearchSetup", clicked=self._set_up_search, kind="quiet")
        self.timeouts: dict[str, QSpinBox] = {}
        for name in _TIMEOUTS:
            box = QSpinBox()
            box.setObjectName(f"model.{name}")
            box.setRange(0, 3600)
            self.timeouts[name] = box
        self.note = text_label(wraps=True, role="small")

    def _make_layout(self) -> None:
        model_row, search_row = QWidget(), QWidget()
        arrange(QHBoxLayout(search_row), (self.search, 1), self.search_setup, edges=0)
        arrange(QHBoxLayout(model_row), (self.model, 1), self.abilities, self.reload, edges=0)
        rows = {
            "provider": self.provider,
            "class": self.model_class,
            "arguments": self.arguments,
            "key": self.key,
            "url": self.url,
            "model": model_row,
            "thinking": self.thinking,
            "search": search_row,
            "times": self._number_row({self.timeouts[name]: words for name, words in _TIMEOUTS.items()}),
        }
        self._add_rows(rows, self.note, model=self.model, search=self.search)

    # --- filling -------------------------------------------------------------------------------------

    def _on_provider(self, _index: int) -> None:
        if self._shown and self._shown != self.name:
            self._fill()
        self.provider_changed.emit(self.name)

    def _fill(self) -> None:
        info, kept = self.info, self._kept.get(self.name) or ProviderSettings()
        self._shown = info.name
        filled = (
            self.url,
            self.model_class,
            self.arguments,
            self.model,
            self.thinking,
            self.search,
            *self.timeouts.values(),
        )
        for field in filled:
            field.blockSignals(True)
        self.key.clear()
        self.has_new_key = False
        self.url.setText(kept.base_url or info.base_url)
        self.model_class.setText(kept.model_class)
        self.arguments.setText(json.dumps(kept.arguments, ensure_ascii=False) if kept.arguments else "")
        self.model.clear()
        self.model.addItems([str(name) for name in info.models])
        self.model.setEditText(kept.model)
        self.thinking.setCurrentIndex(self.thinking.findData(kept.thinking))
        self._fill_search(info, kept)
        for name, box in self.timeouts.items():
            box.setValue(round(getattr(kept, name) or 0))
        for field in filled:
            field.blockSignals(False)
        is_server = not self.is_builtin
        self._show_rows(
            **{"class": info.takes_class, "arguments": info.takes_class},
            key=bool(info.key_variable),
            url=is_server,
            model=is_server,
            thinking=info.can_think,
            search=is_server,
            times=is_server,
        )
        self.retranslate()

    def _fill_search(self, info: ProviderInfo, kept: ProviderSettings) -> None:
        """One of them at most: the choices exclude each other."""
        self.search.clear()
        for name in ("off", "provider", "general") if info.can_search else ("off", "general"):
            self.search.addItem("", name)
        chosen = "provider" if kept.search else "general" if kept.web_search else "off"
        self.search.setCurrentIndex(max(self.search.findData(chosen), 0))

    def _set_up_search(self) -> None:
        from presentation.dialogs.model_settings.web_search import WebSearchDialog

        dialog = WebSearchDialog(self._services, self._models, parent=self.window())
        dialog.saved.connect(self.retranslate)
        dialog.open()

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        super().restyle()
        small = self._services.theme.theme.size("icon.small")
        self.reload.setIcon(self._services.icons.get("refresh-cw", "text.secondary", small))
        self.reload.setIconSize(QSize(small, small))

    def retranslate(self) -> None:
        super().retranslate()
        language = self._services.language
        for box in self.timeouts.values():
            box.setSuffix(language(msg(" s")))
            box.setSpecialValueText(language(msg("default")))
        for index, (_value, text) in enumerate(THINKING):
            self.thinking.setItemText(index, language(text))
        index = self.provider.findData(BUILTIN)
        self.provider.setItemText(index, language(msg("Built-in designer (offline)")))
        for index in range(self.search.count()):
            self.search.setItemText(index, language(SEARCHES[self.search.itemData(index)]))
        self.search.setAccessibleName(language(self.words["search"]))
        self.search_setup.setText(language(msg("Set up…")))
        self.search_setup.setAccessibleName(language(msg("Set up the general web search")))
        self.reload.setToolTip(language(msg("Get the model list from the server")))
        self.reload.setAccessibleName(language(msg("Get the model list from the server")))
        edit = self.model.lineEdit()
        if edit is not None and self._shown:
            own = self.info.models[0] if self.info.models else ""
            first, by_class = msg("empty: the first one the server lists"), msg("empty: the class's own")
            edit.setPlaceholderText(own or language(by_class if self.info.takes_class else first))
            self.url.setPlaceholderText(
                language(by_class) if self.info.takes_class else "http://127.0.0.1:8000/v1"
            )
            self.reload.setVisible(not self.info.takes_class)
            self.model_class.setPlaceholderText("langchain_openai:ChatOpenAI")
            self.arguments.setPlaceholderText('{"reasoning_effort": "low"}')
            self.note.setText("" if self.info.note is None else language(self.info.note))
        self.show_abilities(self._known)


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in a field, {} for an empty one, None for what is none."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
