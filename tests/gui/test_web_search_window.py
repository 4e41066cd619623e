"""The web search in the window: set up, switched on at the input, asked about, its pages under the answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QObject, Qt, QUrl, pyqtSlot
from PyQt6.QtGui import QAction, QDesktopServices
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QMenu

from domain.llm.chat import WebSource
from domain.llm.provider_settings import ModelSettings, ProviderSettings
from domain.llm.web_search import WebSearchSettings
from presentation.dialogs.model_settings.dialog import ModelSettingsDialog
from presentation.dialogs.model_settings.web_search import WebSearchDialog
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import AnswerText, Confirmation, OperationCard
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_items import Folds, PlainItems
from presentation.panels.conversation.sources import sources_of, stored_sources
from presentation.translation import Translator
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.fakes.search_server import Reply, SearchServer, pages
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, top_dialog, type_and_send, use

LEFT = Qt.MouseButton.LeftButton


class Browser(QObject):
    """Takes what would be opened in the user's browser."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @pyqtSlot(QUrl)
    def take(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def menu_of(panel: ConversationPanel) -> dict[str, QAction]:
    menu = panel.composer.search_switch.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return {action.objectName(): action for action in menu.actions() if action.objectName()}


async def test_from_nothing_to_an_answer_with_its_pages(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    switch = panel.composer.search_switch
    assert not switch.isEnabled()  # the built-in designer can't search
    scripts = [answer(calls=[call("web_search", {"query": "lm358 gbw"})]), answer("It is 1 MHz [1].")]
    with SearchServer([Reply(status=403), pages()]) as engine, FakeLLMServer(scripts) as server:
        use(panel, server)
        assert switch.isEnabled()
        assert switch.toolTip() == switch.accessibleName() == "Web search: off"
        menu_of(panel)["search-general"].trigger()  # nothing is set up: that comes first
        await until(lambda: top_dialog("webSearchSettings") is not None)
        dialog = top_dialog("webSearchSettings")
        assert isinstance(dialog, WebSearchDialog)
        await until(dialog.test_button.isEnabled)
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "No search engine" in dialog.card.title.text())
        dialog.form.url.setFocus()
        QTest.keyClicks(dialog.form.url, engine.url)
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "denied access" in dialog.card.title.text())
        assert "settings.yml" in dialog.card.advice.text()
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "works" in dialog.card.title.text())
        QTest.keyClick(dialog.form.url, Qt.Key.Key_Return)
        await until(lambda: "SearXNG" in switch.toolTip())
        kept = services.app.models.settings.latest.web_search
        assert (kept.base_url, bool(kept.verified_at)) == (engine.url, True)
        type_and_send(panel, "How fast is the LM358?")
        await until(lambda: any(item.state == "open" for item in of(panel, Confirmation)))
        assert f"Send “lm358 gbw” to {engine.url}" in shown(panel)
        panel.view.acted.emit("confirm", of(panel, Confirmation)[-1].key, "allow")
        await until(lambda: not panel.is_running and of(panel, AnswerText))
    (card,) = of(panel, OperationCard)
    assert (card.tool, card.state) == ("web_search", "done")
    text = shown(panel)
    assert text.index("It is 1 MHz") < text.index("Sources from the web: 2") < text.index("[2] LM358 page 2")
    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    again.show()
    await until(lambda: again.session_id == panel.session_id)
    assert of(again, AnswerText)[-1].sources == of(panel, AnswerText)[-1].sources
    browser = Browser()
    QDesktopServices.setUrlHandler("https", browser.take)
    try:
        again.view.acted.emit("link", "", "https://example.org/2")
        again.view.acted.emit("link", "", "file:///etc/passwd")
    finally:
        QDesktopServices.unsetUrlHandler("https")
    assert browser.opened == ["https://example.org/2"]
    again.close_panel()


async def test_the_choices_exclude_each_other(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    kept = ModelSettings(
        providers={"zhipu": ProviderSettings(search=True)},
        web_search=WebSearchSettings(base_url="http://127.0.0.1:9"),
    )
    await asyncio.to_thread(services.app.models.settings.change, lambda _old: kept)
    panel.model.set_choice(services.app.models.settings.latest.of("zhipu").choice("zhipu"))
    assert panel.composer.search_switch.toolTip() == "Web search: by the provider"
    for name, own, general in (
        ("search-general", False, True),
        ("search-own", True, False),
        ("search-off", False, False),
    ):
        menu_of(panel)[name].trigger()
        choice = panel.model.choice
        assert (choice.search, choice.web_search is not None and choice.web_search.is_on) == (own, general)
        assert [key for key, action in menu_of(panel).items() if action.isChecked()] == [name]
    dialog = ModelSettingsDialog(services, services.app.models, provider="zhipu")
    dialog.open()
    await until(lambda: dialog.form is not None)
    assert dialog.form is not None
    combo = dialog.form.search
    assert combo.currentData() == "provider"
    combo.setCurrentIndex(combo.findData("general"))
    assert (dialog.form.settings.search, dialog.form.settings.web_search) == (False, True)
    dialog.form.provider.setCurrentIndex(dialog.form.provider.findData("deepseek"))
    assert combo.findData("provider") < 0
    dialog.reject()


async def test_both_languages_and_themes(services: WindowServices, until: Until) -> None:
    dialog = WebSearchDialog(services, services.app.models)
    dialog.open()
    await until(dialog.save_button.isEnabled)
    for language, title, label in (("zh", "联网搜索", "搜索引擎"), ("en", "Web search", "Search engine")):
        services.language.set(language)
        for theme in ("dark", "light"):
            services.theme.set_mode(theme)
            assert dialog.windowTitle() == title
            assert dialog.form.engine.accessibleName() == label
    for name in ("searxng", "brave", "google"):
        dialog.form.engine.setCurrentIndex(dialog.form.engine.findData(name))
        assert dialog.form.key.isVisible() == (name != "searxng")
        assert dialog.form.engine_id.isVisible() == (name == "google")
    assert "2027-01-01" in dialog.form.note.text()
    dialog.reject()


@pytest.mark.usefixtures("qapp")
def test_what_strangers_write_is_text() -> None:
    hostile = [
        {"title": "<script>alert(1)</script>", "url": 'https://a.example/?"onmouseover="x', "text": '"><b>'},
        {"title": "", "link": "javascript:alert(1)", "reference": "<i>1</i>"},
        {"title": "\u202egnp.exe", "url": "https://b.example/"},
    ]
    sources = stored_sources(hostile)
    said = AnswerText(key="k", text="x", sources=sources)
    page, plain = (
        HtmlItems(Translator("en"))(said),
        PlainItems(Translator("zh"), Theme("light"), Folds())(said),
    )
    for html in (page, plain):
        assert "<script" not in html
        assert "<b>" not in html
        assert 'href="javascript' not in html
        assert '"onmouseover=' not in html
        assert "\u202e" not in html
        assert html.count('href="http') == 2
    assert sources_of(()) == ()
    many = tuple(WebSource(title="t", url=f"https://a.example/{number}") for number in range(9))
    folded = HtmlItems(Translator("en"))(AnswerText(key="k", text="x", sources=many))
    assert 'data-fold="sources">' in folded  # it is long
    assert 'data-fold="sources" open>' in page
