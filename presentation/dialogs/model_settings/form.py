"""The fields of one provider's settings."""

from __future__ import annotations

from dataclasses import replace

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from application.groups.models import Models
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ModelAbilities, ProviderInfo
from domain.llm.provider_settings import BUILTIN, ModelSettings, ProviderSettings
from presentation.dialogs.model_settings.key_field import KeyField
from presentation.dialogs.model_settings.words import THINKING, ability_words
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

SEARCHES: dict[str, Message] = {
    "off": msg("Off"),
    "provider": msg("By the provider"),
    "general": msg("General search (tool)"),
}
_TIMEOUTS = ("connect_s", "first_piece_s", "silence_s")


class ProviderForm(QWidget):
    """Edits a copy of the settings; `settings` is what stands in the fields."""

    provider_changed = pyqtSignal(str)
    changed = pyqtSignal()
    """Something that a test would depend on."""
    list_wanted = pyqtSignal()
    """The models of the server are asked for."""

    def __init__(
        self,
        services: WindowServices,
        models: Models,
        providers: tuple[ProviderInfo, ...],
        kept: ModelSettings,
    ) -> None:
        super().__init__()
        self._services = services
        self._models = models
        self._infos = {info.name: info for info in providers}
        self._kept = dict(kept.providers)
        self._shown = ""
        self._known: ModelAbilities | None = None
        self.has_new_key = False
        """Another key than at the last test: one was typed, or the kept one removed."""
        self.setObjectName("providerForm")
        self._make_fields()
        self._make_layout()
        self.provider.currentIndexChanged.connect(self._on_provider)
        for signal in (
            self.url.textChanged,
            self.model.editTextChanged,
            self.thinking.currentIndexChanged,
            self.search.currentIndexChanged,
        ):
            signal.connect(lambda *_: self.changed.emit())
        self.key.edited.connect(self.on_other_key)
        for box in self.timeouts.values():
            box.valueChanged.connect(lambda _: self.changed.emit())

    # --- what is in it -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return str(self.provider.currentData())

    @property
    def info(self) -> ProviderInfo:
        return self._infos[self.name]

    @property
    def server(self) -> str:
        return self.url.text().strip()

    @property
    def settings(self) -> ProviderSettings:
        kept = self._kept.get(self.name) or ProviderSettings()
        url = self.url.text().strip()
        seconds = {name: float(box.value()) or None for name, box in self.timeouts.items()}
        entered = replace(
            kept,
            base_url="" if url == self.info.base_url and not kept.base_url else url,
            model=self.model.currentText().strip(),
            thinking=self.thinking.currentData() if self.info.can_think else None,
            search=self.search.currentData() == "provider",
            web_search=self.search.currentData() == "general",
            **seconds,  # type: ignore[arg-type]
        )
        # A test tells of what was tested, and of nothing else.
        return entered if entered == kept and not self.has_new_key else replace(entered, verified_at="")

    @property
    def is_builtin(self) -> bool:
        return self.name == BUILTIN

    def keep(self, settings: ProviderSettings) -> None:
        """What the fields begin with when this provider is shown again; the key that stands there counts."""
        self.has_new_key = False
        self._kept[self.name] = settings

    def on_other_key(self) -> None:
        """The key is not the one that was tested."""
        self.has_new_key = True
        self.changed.emit()

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
        self.abilities.setText(", ".join(map(self._services.language, words)))
        self.abilities.setVisible(bool(words))

    # --- parts ---------------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.provider = QComboBox()
        self.provider.setObjectName("modelProvider")
        for info in self._infos.values():
            self.provider.addItem(info.title, info.name)
        self.key = KeyField(self._services, self._models)
        self.url = QLineEdit()
        self.url.setObjectName("modelUrl")
        self.model = QComboBox()
        self.model.setObjectName("modelName")
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
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
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
            self.timeouts[name] = box
        self.note = text_label(wraps=True, role="small")

    def _make_layout(self) -> None:
        self._labels: dict[str, QLabel] = {}
        self._form = QFormLayout()
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._model_row, self._times_row, self._search_row = QWidget(), QWidget(), QWidget()
        arrange(QHBoxLayout(self._search_row), (self.search, 1), self.search_setup, edges=0)
        arrange(QHBoxLayout(self._model_row), (self.model, 1), self.abilities, self.reload, edges=0)
        times = QHBoxLayout(self._times_row)
        times.setContentsMargins(0, 0, 0, 0)
        self._time_labels: dict[str, QLabel] = {}
        for name, box in self.timeouts.items():
            self._time_labels[name] = QLabel()
            mark(self._time_labels[name], role="small")
            arrange(times, self._time_labels[name], (box, 1))
        for name, field in (
            ("provider", self.provider),
            ("key", self.key),
            ("url", self.url),
            ("model", self._model_row),
            ("thinking", self.thinking),
            ("search", self._search_row),
            ("times", self._times_row),
        ):
            label = QLabel()
            label.setBuddy({"model": self.model, "search": self.search}.get(name, field))
            self._labels[name] = label
            self._form.addRow(label, field)
        arrange(QVBoxLayout(self), self._form, self.note, edges=0)

    # --- filling -------------------------------------------------------------------------------------

    def _on_provider(self, _index: int) -> None:
        if self._shown and self._shown != self.name:
            self._fill()
        self.provider_changed.emit(self.name)

    def _fill(self) -> None:
        info, kept = self.info, self._kept.get(self.name) or ProviderSettings()
        self._shown = info.name
        for field in (self.url, self.model, self.thinking, self.search, *self.timeouts.values()):
            field.blockSignals(True)
        self.key.clear()
        self.has_new_key = False
        self.url.setText(kept.base_url or info.base_url)
        self.model.clear()
        self.model.addItems([str(name) for name in info.models])
        self.model.setEditText(kept.model)
        self.thinking.setCurrentIndex(self.thinking.findData(kept.thinking))
        self._fill_search(info, kept)
        for name, box in self.timeouts.items():
            box.setValue(round(getattr(kept, name) or 0))
        for field in (self.url, self.model, self.thinking, self.search, *self.timeouts.values()):
            field.blockSignals(False)
        self._show_rows()
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

    def _show_rows(self) -> None:
        info = self.info
        shown = {
            "provider": True,
            "key": bool(info.key_variable),
            "url": not self.is_builtin,
            "model": not self.is_builtin,
            "thinking": info.can_think,
            "search": not self.is_builtin,
            "times": not self.is_builtin,
        }
        for row, name in enumerate(self._labels):
            self._form.setRowVisible(row, shown[name])

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._form.setHorizontalSpacing(theme.size("space.4"))
        self._form.setVerticalSpacing(theme.size("space.3"))
        small = theme.size("icon.small")
        self.reload.setIcon(self._services.icons.get("refresh-cw", "text.secondary", small))
        self.reload.setIconSize(QSize(small, small))
        self.key.restyle()

    def retranslate(self) -> None:
        language = self._services.language
        words: dict[str, Message] = {
            "provider": msg("Provider"),
            "key": msg("API key"),
            "url": msg("Base URL"),
            "model": msg("Model"),
            "thinking": msg("Thinking mode"),
            "search": msg("Web search"),
            "times": msg("Timeouts"),
        }
        for name, label in self._labels.items():
            label.setText(language(words[name]))
        times = {"connect_s": msg("connect"), "first_piece_s": msg("answer"), "silence_s": msg("stream")}
        for name, box in self.timeouts.items():
            self._time_labels[name].setText(language(times[name]))
            box.setSuffix(language(msg(" s")))
            box.setSpecialValueText(language(msg("default")))
            box.setAccessibleName(language(times[name]))
        for index, (_value, text) in enumerate(THINKING):
            self.thinking.setItemText(index, language(text))
        index = self.provider.findData(BUILTIN)
        self.provider.setItemText(index, language(msg("Built-in designer (offline)")))
        for index in range(self.search.count()):
            self.search.setItemText(index, language(SEARCHES[self.search.itemData(index)]))
        self.search.setAccessibleName(language(words["search"]))
        self.search_setup.setText(language(msg("Set up…")))
        self.search_setup.setAccessibleName(language(msg("Set up the general web search")))
        self.reload.setToolTip(language(msg("Get the model list from the server")))
        self.reload.setAccessibleName(language(msg("Get the model list from the server")))
        edit = self.model.lineEdit()
        if edit is not None and self._shown:
            own = self.info.models[0] if self.info.models else ""
            edit.setPlaceholderText(own or language(msg("empty: the first one the server lists")))
            self.url.setPlaceholderText("http://127.0.0.1:8000/v1")
            self.note.setText("" if self.info.note is None else language(self.info.note))
        self.key.retranslate()
        self.show_abilities(self._known)
