"""The model settings, driven by clicks and keys against a real server on the loopback."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
import sys
from pathlib import Path

import pytest
from PyQt6 import sip
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from domain.llm.chat import ProviderChoice
from domain.llm.consent import ConsentQuestion
from infrastructure.llm_adapters.vocabularies import VOCABULARIES, Vocabularies, Vocabulary
from infrastructure.persistence.credentials import Credentials
from presentation.dialogs.model_settings.asking import ask_consent, unlock_keys
from presentation.dialogs.model_settings.dialog import ModelSettingsDialog
from presentation.dialogs.model_settings.form import ProviderForm
from presentation.panels.conversation.model_choice import ModelMenu
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.paths import user_home
from tests.fakes import langchain_models
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.gui.conftest import Until

LEFT = Qt.MouseButton.LeftButton
KEY = "sk-canary-0123456789"


async def opened(
    services: WindowServices, until: Until, provider: str
) -> tuple[ModelSettingsDialog, ProviderForm]:
    dialog = ModelSettingsDialog(services, services.app.models, provider=provider)
    dialog.open()
    await until(lambda: dialog.form is not None)
    assert dialog.form is not None
    return dialog, dialog.form


async def _at_once() -> None:
    """Nothing to wait for."""


async def test_what_has_no_room_on_the_screen_scrolls_and_the_buttons_stay(
    services: WindowServices, until: Until
) -> None:
    services.theme.set_mode("light", scale=2.0)
    dialog, form = await opened(services, until, "openai-compatible")
    await until(lambda: not services.app.program.tasks.handles)
    screen = dialog.screen()
    assert screen is not None
    assert dialog.height() <= screen.availableGeometry().height()
    foot = dialog.save_button.mapTo(dialog, dialog.save_button.rect().bottomRight())
    assert dialog.rect().contains(foot)
    bar = dialog._scroll.verticalScrollBar()
    assert bar.maximum() > 0
    form.setFocus()
    for _ in range(40):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        seen = dialog.focusWidget()
        if dialog._scroll.isAncestorOf(seen):
            place = seen.mapTo(dialog._scroll.viewport(), seen.rect().center())
            assert dialog._scroll.viewport().rect().contains(place), seen
    dialog.reject()


def type_into(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


async def test_set_up_test_and_use_a_server(services: WindowServices, until: Until) -> None:
    chosen: list[ProviderChoice] = []
    with FakeLLMServer([answer("", calls=[call("report_ready", {"word": "ready"})])]) as server:
        dialog, form = await opened(services, until, "openai-compatible")
        dialog.saved.connect(chosen.append)
        type_into(form.url, server.base_url)
        type_into(form.key.edit, KEY)
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "works" in dialog.card.title.text())
        assert server.completions[0].headers["authorization"] == f"Bearer {KEY}"
        assert form.settings.verified_at
        form.key.edit.setText(KEY + "0")
        assert not form.settings.verified_at, "another key than the one that was tested"
        form.key.edit.setText(KEY)
        model = form.model.itemText(0)
        assert model
        form.model.setEditText(model)
        form.key.place.setCurrentIndex(form.key.place.findData("file"))
        type_into(form.key.passphrase, "a long passphrase")
        QTest.keyClick(form.url, Qt.Key.Key_Return)
        await until(lambda: bool(chosen))
        assert chosen == [ProviderChoice(provider="openai-compatible", model=model, base_url=server.base_url)]
        await until(lambda: sip.isdeleted(dialog) or not dialog.isVisible())
        # A key that was kept is told of, and never shown.
        dialog, form = await opened(services, until, "openai-compatible")
        assert (form.url.text(), form.key.edit.text()) == (server.base_url, "")
        assert "encrypted" in form.key.edit.placeholderText()
        server.add(answer("ready"))
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "works" in dialog.card.title.text())
        assert server.completions[-1].headers["authorization"] == f"Bearer {KEY}"
        QTest.mouseClick(form.key.remove, LEFT)
        await until(lambda: form.key.edit.placeholderText() == "not needed")
    settings = services.app.models.settings
    assert settings.latest.chosen == "openai-compatible"
    panel = QWidget()
    menu = ModelMenu(services, services.app.models, ProviderChoice, chosen.append, panel)
    for name in ("builtin", "openai-compatible"):  # the next start begins with it
        menu.aboutToShow.emit()
        next(action for action in menu.actions() if action.objectName() == f"model-{name}").trigger()
        await until(lambda name=name: settings.latest.chosen == name)
        assert chosen[-1].provider == name
    kept = b"".join(path.read_bytes() for path in user_home({}).rglob("*") if path.is_file())
    assert KEY.encode() not in kept


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([error(401, f"Incorrect API key provided: {KEY}")], "accept the key"),
        ([error(403)], "denied access"),
        ([error(429, "slow down")], "Rate limit"),
    ],
)
async def test_what_is_wrong_is_said_in_the_dialog(
    services: WindowServices, until: Until, script: list[Script], words: str
) -> None:
    with FakeLLMServer(script) as server:
        dialog, form = await opened(services, until, "openai-compatible")
        type_into(form.url, server.base_url)
        form.model.setEditText("fake-model")
        type_into(form.key.edit, KEY)
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: words in dialog.card.title.text())
        assert dialog.card.advice.text()
        assert KEY not in dialog.card.title.text()


async def test_a_test_is_stopped_and_nothing_is_lost(services: WindowServices, until: Until) -> None:
    with FakeLLMServer([answer("a", stall=True)]) as server:
        dialog, form = await opened(services, until, "openai-compatible")
        type_into(form.url, server.base_url)
        form.model.setEditText("fake-model")
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: bool(server.completions))
        assert dialog.is_testing
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "stopped" in dialog.card.title.text())
        assert (form.url.text(), dialog.test_button.text()) == (server.base_url, "Test")


async def test_what_is_known_of_the_model_stands_beside_it(services: WindowServices, until: Until) -> None:
    dialog, form = await opened(services, until, "zhipu")
    form.model.setEditText("glm-4.6")
    await until(lambda: form.abilities.text() == "200k in · 128k out · tools · can see pictures")
    services.language.set("zh")
    assert form.abilities.text().startswith("输入 200k · 输出 128k")
    form.model.setEditText("nobody-knows-it")
    await until(lambda: "200k" not in form.abilities.text())
    dialog.reject()
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_bad_address_is_refused_in_place(services: WindowServices, until: Until) -> None:
    dialog, form = await opened(services, until, "openai-compatible")
    type_into(form.url, "ftp://x")
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: "no address" in dialog.error.text() or "not a server address" in dialog.error.text())
    assert dialog.isVisible()
    assert not (user_home({}) / "models.json").exists()


async def test_both_languages_and_themes(services: WindowServices, until: Until, tmp_path: Path) -> None:
    dialog, form = await opened(services, until, "zhipu")
    for language, word in (("zh", "保存"), ("en", "Save")):
        services.language.set(language)
        assert dialog.save_button.text() == word
        for theme in ("light", "dark"):
            services.theme.set_mode(theme)
            picture = dialog.grab()
            assert picture.save(str(tmp_path / f"{language}-{theme}.png"))
    before = dialog.focusWidget()
    visited: set[QWidget | None] = set()
    while (now := dialog.focusWidget()) not in visited:
        visited.add(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    assert before in visited
    assert {form.url, form.key.edit, dialog.test_button, dialog.save_button} <= visited


async def test_ollama_says_whether_it_runs(services: WindowServices, until: Until) -> None:
    dialog, form = await opened(services, until, "openai-compatible")
    form.provider.setCurrentIndex(form.provider.findData("ollama"))
    await until(lambda: "Ollama is" in dialog.local.state.text())


async def test_consent_and_passphrase_are_asked_by_the_window(services: WindowServices, until: Until) -> None:
    question = ConsentQuestion(provider="Zhipu GLM", destination="http://models.example")
    parent = QWidget()
    for name, expected in (("For this conversation", "once"), ("Do not send", "no")):
        asking = asyncio.ensure_future(ask_consent(services, parent, question))
        await until(lambda: parent.findChild(SmallDialog) is not None)
        box = parent.findChild(SmallDialog)
        assert "what tools read" in box.words.text()
        assert "not encrypted" in box.words.text()
        QTest.mouseClick(next(each for each in box.buttons() if each.text() == name), LEFT)
        assert await asking == expected
        await until(lambda: parent.findChild(SmallDialog) is None)
    keys = Credentials(user_home=user_home(), environment={})
    await asyncio.to_thread(keys.unlock, "a long passphrase")
    await asyncio.to_thread(keys.set, "zhipu", KEY, place="file")
    await asyncio.to_thread(services.app.models.providers.list)
    await asyncio.to_thread(services.app.models.keys.stores)
    unlocking = asyncio.ensure_future(
        unlock_keys(services, services.app.models, parent, ProviderChoice(provider="zhipu"), before=_at_once)
    )
    for text in ("wrong", "a long passphrase"):
        await until(lambda: any(each.isVisible() for each in parent.findChildren(SmallDialog)))
        (dialog,) = (each for each in parent.findChildren(SmallDialog) if each.isVisible())
        edit = dialog.findChild(QLineEdit, "answer")
        assert edit.echoMode() == QLineEdit.EchoMode.Password
        edit.setText(text)
        dialog.accept()
        await until(lambda asked=dialog: sip.isdeleted(asked) or not asked.isVisible())
    assert await unlocking
    assert await asyncio.to_thread(services.app.models.keys.find, "zhipu") == KEY
    parent.deleteLater()


async def test_a_langchain_class_is_set_up_tested_and_kept(
    services: WindowServices, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(langchain_models.__file__, tmp_path / "window_kiln.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "window_kiln", raising=False)
    dialog, form = await opened(services, until, "openai-compatible")
    assert form.model_class.isHidden()
    form.show_provider("langchain")
    assert not form.model_class.isHidden()
    assert not form.arguments.isHidden()
    type_into(form.model_class, "window_kiln:Kiln")
    type_into(form.arguments, "{temperature: 1}")
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: "not a JSON object" in dialog.error.text())
    type_into(form.arguments, '{"temperature": 0.5}')
    form.model.setEditText("clay-2")
    QTest.mouseClick(dialog.test_button, LEFT)
    await until(lambda: "works" in dialog.card.title.text())
    assert form.settings.verified_at
    QTest.mouseClick(dialog.save_button, LEFT)
    await until(lambda: services.app.models.settings.latest.chosen == "langchain")
    kept = services.app.models.settings.latest.of("langchain")
    assert (kept.model_class, kept.arguments, kept.model) == (
        "window_kiln:Kiln",
        {"temperature": 0.5},
        "clay-2",
    )


async def test_the_vocabulary_of_a_model_is_fetched_after_asking(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"aGVsbG8= 0\n"
    monkeypatch.setattr(Vocabularies, "is_installed", True)
    with FakeLLMServer() as server:
        row = Vocabulary(
            f"{server.root_url}/chat/completions", hashlib.sha256(content).hexdigest(), re.compile("gpt-4o")
        )
        monkeypatch.setitem(VOCABULARIES, "o200k_base", row)
        server.add(Script(status=503), Script(pieces=(content,)))
        dialog, form = await opened(services, until, "openai-compatible")
        form.model.setEditText("gpt-4o-mini")
        await until(lambda: not dialog.counting.isHidden())
        assert "estimated" in dialog.counting.state.text()
        for wanted, times in (("no", 0), ("yes", 1), ("yes", 2)):
            QTest.mouseClick(dialog.counting.button, LEFT)
            await until(lambda: bool(dialog.counting.findChildren(SmallDialog)))
            (asked,) = dialog.counting.findChildren(SmallDialog)
            assert row.url.split("/")[2] in " ".join(each.text() for each in asked.findChildren(QLabel))
            (button,) = (
                each
                for each in asked.findChildren(QPushButton)
                if (each.text() == "Download") == (wanted == "yes")
            )
            QTest.mouseClick(button, LEFT)
            await until(
                lambda count=times: len(server.completions) == count and dialog.counting.button.isEnabled()
            )
            await until(lambda: not dialog.counting.findChildren(SmallDialog))
            if times == 1:
                await until(lambda: "503" in dialog.counting.state.text())
                assert "network" in dialog.counting.advice.text()
        await until(lambda: "exactly" in dialog.counting.state.text())
        assert dialog.counting.button.isHidden()
        dialog.reject()
