"""The switch of the web search at the input: off, the provider's own, or the general one - never two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QToolButton

from application.groups.models import Models
from domain.llm.chat import ProviderChoice, ProviderInfo, WebSearchChoice
from domain.llm.provider_settings import BUILTIN, settled_search
from presentation.provider_words import provider_title
from presentation.ui.frame import IconButton
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg


class SearchSwitch(IconButton):
    """A button with a menu; `bind` says whose choice it shows and changes."""

    def __init__(self, services: WindowServices, models: Models) -> None:
        super().__init__(services, "globe", msg("Web search: off"), name="searchSwitch")
        self._services = services
        self._models = models
        self._choice = ProviderChoice()
        self._shown: object = None
        self._chosen: Callable[[ProviderChoice], None] = self.show_choice
        self._menu = QMenu(self)
        self._menu.setObjectName("searchMenu")
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.show_choice(self._choice)

    def bind(self, chosen: Callable[[ProviderChoice], None]) -> None:
        """`chosen` is called with the changed choice."""
        self._chosen = chosen

    def show_choice(self, choice: ProviderChoice) -> None:
        self._choice = choice
        own, general = self._state()
        # Of the built-in designer nothing was set, and at the start of a window nothing is read yet.
        is_builtin = choice.provider == BUILTIN
        kept = None if is_builtin else self._models.settings.latest.web_search
        state = (choice.provider, own, general, kept)
        if state == self._shown:
            return  # asked at each change of the conversation
        self._shown = state
        self.setEnabled(choice.provider != BUILTIN)
        self.set_icon("globe", self._words(own, general), color="accent.base" if own or general else "")

    def _state(self) -> tuple[bool, WebSearchChoice | None]:
        if self._choice.provider == BUILTIN:
            return False, None
        return settled_search(self._choice, self._models.settings.latest.of(self._choice.provider))

    def _words(self, own: bool, general: WebSearchChoice | None) -> Message:
        if self._choice.provider == BUILTIN:
            return msg("The built-in designer cannot search the web")
        if own:
            return msg("Web search: by the provider")
        if general is not None:
            return msg("Web search: {engine}", engine=self._engine(general))
        return msg("Web search: off")

    def _engine(self, general: WebSearchChoice | None) -> str:
        """The title of the engine that is, or would be, asked."""
        named = general.engine if general is not None else ""
        named = named or self._models.settings.latest.web_search.engine
        titles = {info.name: info.title for info in self._models.search_web.engines.list()}
        return titles.get(named, named)

    def _fill(self) -> None:
        self._menu.clear()
        language, (own, general) = self._services.language, self._state()
        group = QActionGroup(self._menu)
        info = self._provider()
        rows: list[tuple[str, Message, bool, Callable[[], None]]] = [
            ("search-off", msg("Off"), not own and general is None, self._switch_off)
        ]
        if info is not None and info.can_search:
            title = msg("Search of {provider}", provider=provider_title(info.name, info.title))
            rows.append(("search-own", title, own, self._choose_own))
        title = msg("General search: {engine}", engine=self._engine(general))
        rows.append(("search-general", title, general is not None, self._choose_general))
        for name, text, is_checked, act in rows:
            action = QAction(language(text), self._menu)
            action.setObjectName(name)
            action.setCheckable(True)
            action.setChecked(is_checked)
            action.triggered.connect(lambda _checked, act=act: act())
            group.addAction(action)
            self._menu.addAction(action)
        self._menu.addSeparator()
        more = QAction(language(msg("Web search settings…")), self._menu)
        more.setObjectName("search-settings")
        more.triggered.connect(lambda _checked: self.open_settings())
        self._menu.addAction(more)

    def _provider(self) -> ProviderInfo | None:
        infos = self._models.providers.list()
        return next((info for info in infos if info.name == self._choice.provider), None)

    def _switch_off(self) -> None:
        self._chosen(replace(self._choice, search=False, web_search=WebSearchChoice(is_on=False)))

    def _choose_own(self) -> None:
        self._chosen(replace(self._choice, search=True, web_search=None))

    def _choose_general(self) -> None:
        """Switch it on; where no engine is set up, that comes first."""
        search = self._models.search_web
        try:
            search.engines.checked(self._models.settings.latest.web_search)
        except CircuitAIError:
            self.open_settings(then=self._switch_on_general)
        else:
            self._switch_on_general()

    def _switch_on_general(self) -> None:
        self._chosen(replace(self._choice, search=False, web_search=WebSearchChoice()))

    def open_settings(self, *, then: Callable[[], None] | None = None) -> None:
        """The dialog; `then` is done when it was saved."""
        from presentation.dialogs.model_settings.web_search import WebSearchDialog

        dialog = WebSearchDialog(self._services, self._models, parent=self.window())
        dialog.saved.connect(then or (lambda: self.show_choice(self._choice)))
        dialog.open()
