"""The fields of the general web search: engine, address, key."""

from __future__ import annotations

from dataclasses import replace

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from application.groups.models import Models
from domain.llm.chat import ProviderInfo
from domain.llm.web_search import MOST_RESULTS, SearchEngineInfo, WebSearchSettings
from presentation.dialogs.model_settings.key_field import KeyField
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class WebSearchForm(QWidget):
    """Edits a copy of the settings; `settings` is what stands in the fields."""

    changed = pyqtSignal()
    engine_changed = pyqtSignal()

    def __init__(
        self, services: WindowServices, models: Models, engines: tuple[SearchEngineInfo, ...]
    ) -> None:
        super().__init__()
        self._services = services
        self._infos = {info.name: info for info in engines}
        self._kept = WebSearchSettings()
        self._has_new_key = False
        self._entered: dict[str, str] = {}
        """Addresses by engine, for whoever looks at another one and comes back."""
        self._shown = ""
        self.engine, self.url, self.engine_id = QComboBox(), QLineEdit(), QLineEdit()
        self.results, self.note = QSpinBox(), QLabel()
        self.key = KeyField(services, models)
        for field, name in (
            (self.engine, "searchEngine"),
            (self.url, "searchUrl"),
            (self.engine_id, "searchId"),
            (self.results, "searchResults"),
        ):
            field.setObjectName(name)
        for info in engines:
            self.engine.addItem(info.title, info.name)
        self.results.setRange(1, MOST_RESULTS)
        self.results.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.note.setWordWrap(True)
        mark(self.note, role="small")
        self._make_layout()
        self.engine.currentIndexChanged.connect(self._on_engine)
        for edit in (self.url, self.engine_id):
            edit.textChanged.connect(lambda _: self.changed.emit())
        self.results.valueChanged.connect(lambda _: self.changed.emit())
        self.key.edited.connect(self.on_other_key)

    def _make_layout(self) -> None:
        self._labels: dict[str, QLabel] = {}
        self._form = QFormLayout()
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        fields: tuple[tuple[str, QWidget], ...] = (
            ("engine", self.engine),
            ("url", self.url),
            ("key", self.key),
            ("id", self.engine_id),
            ("results", self.results),
        )
        for name, field in fields:
            self._labels[name] = label = QLabel()
            label.setBuddy(field)
            self._form.addRow(label, field)
        arrange(QVBoxLayout(self), self._form, self.note, edges=0)

    @property
    def info(self) -> SearchEngineInfo:
        return self._infos[str(self.engine.currentData())]

    @property
    def server(self) -> str:
        return self.url.text().strip()

    @property
    def settings(self) -> WebSearchSettings:
        url = self.url.text().strip()
        entered = WebSearchSettings(
            engine=self.info.name,
            base_url="" if url == self.info.base_url else url,
            engine_id=self.engine_id.text().strip() if self.info.needs_id else "",
            results=self.results.value(),
            verified_at=self._kept.verified_at,
        )
        # A test tells of what was tested, and of nothing else.
        return (
            entered if entered == self._kept and not self._has_new_key else replace(entered, verified_at="")
        )

    @property
    def key_info(self) -> ProviderInfo:
        info = self.info
        return ProviderInfo(
            name=info.key_name,
            title=info.title,
            needs_key=info.needs_key,
            has_key=info.has_key,
            base_url=info.base_url,
            key_variable=info.key_variable,
            key_page=info.key_page,
        )

    def keep(self, settings: WebSearchSettings) -> None:
        """These were tested, with the key that stands there."""
        self._kept, self._has_new_key = settings, False

    def on_other_key(self) -> None:
        """The key is not the one that was tested."""
        self._has_new_key = True
        self.changed.emit()

    def show_settings(self, kept: WebSearchSettings) -> None:
        self._kept = kept
        self._entered[kept.engine] = kept.base_url
        self.results.setValue(kept.results)
        self.engine_id.setText(kept.engine_id)
        self.engine.setCurrentIndex(max(self.engine.findData(kept.engine), 0))
        self._fill()

    def _on_engine(self, _index: int) -> None:
        if self._shown:
            self._entered[self._shown] = self.url.text().strip()
        self._fill()
        self.engine_changed.emit()

    def _fill(self) -> None:
        info = self.info
        self._shown = info.name
        self.key.clear()
        self._has_new_key = False
        self.url.setText(self._entered.get(info.name) or info.base_url)
        shown = {"engine": True, "url": True, "key": info.needs_key, "id": info.needs_id, "results": True}
        for row, name in enumerate(self._labels):
            self._form.setRowVisible(row, shown[name])
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._form.setHorizontalSpacing(theme.size("space.4"))
        self._form.setVerticalSpacing(theme.size("space.3"))
        self.key.restyle()

    def retranslate(self) -> None:
        language = self._services.language
        words: dict[str, Message] = {
            "engine": msg("Search engine"),
            "url": msg("Address"),
            "key": msg("API key"),
            "id": msg("Search engine id (cx)"),
            "results": msg("Pages per search"),
        }
        for name, label in self._labels.items():
            label.setText(language(words[name]))
        for name, field in (("engine", self.engine), ("url", self.url), ("id", self.engine_id),
                            ("results", self.results)):  # fmt: skip
            field.setAccessibleName(language(words[name]))
        self.url.setPlaceholderText("http://127.0.0.1:8888")
        self.note.setText("" if self.info.note is None else language(self.info.note))
        self.note.setVisible(self.info.note is not None)
        self.key.retranslate()
