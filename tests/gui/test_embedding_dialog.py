"""The settings of the search by meaning: clicks and keys against a real server of vectors on the loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from application.ports.events import EmbeddingChanged
from domain.search.query import SearchQuery
from presentation.dialogs.model_settings.embedding_dialog import EmbeddingDialog
from presentation.ui.workspace import WindowServices
from shared.paths import SETTINGS_FILE, user_home
from tests.fakes.embedding_server import EmbeddingServer
from tests.gui.conftest import Until

LEFT = Qt.MouseButton.LeftButton
KEY = "sk-canary-embedding-42"


async def opened(services: WindowServices, until: Until) -> EmbeddingDialog:
    dialog = EmbeddingDialog(services, services.app.models, services.app.project)
    dialog.open()
    await until(lambda: dialog.is_loaded)
    return dialog


async def test_a_server_is_set_up_tested_used_and_changed(
    services: WindowServices, project: Path, until: Until, tmp_path: Path
) -> None:
    home = user_home()
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    (home / SETTINGS_FILE).write_text('{"language": "en", "of a later version": 7}')
    changes: list[EmbeddingChanged] = []
    services.app.program.events.subscribe(EmbeddingChanged, changes.append)
    with EmbeddingServer(dimension=8, key=KEY) as server:
        dialog = await opened(services, until)
        assert dialog.form.settings is None
        assert not dialog.test_button.isEnabled()
        dialog.form.provider.setCurrentIndex(dialog.form.provider.findData("zhipu"))
        assert dialog.form.model.currentText() == "embedding-3"
        assert "are sent to this server" in dialog.notice.text()
        dialog.form.provider.setCurrentIndex(dialog.form.provider.findData("openai-compatible"))
        QTest.keyClicks(dialog.form.url, server.base_url)
        dialog.form.model.setEditText("m")
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "key" in dialog.card.title.text())  # 401 in words
        QTest.keyClicks(dialog.form.key.edit, KEY)
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "Embeddings come from m" in dialog.card.title.text())
        assert ("Dimension", "8") in dialog.card.figures
        dialog.form.key.place.setCurrentIndex(dialog.form.key.place.findData("session"))
        QTest.mouseClick(dialog.save_button, LEFT)
        await until(lambda: changes)
        kept = json.loads((home / SETTINGS_FILE).read_text())
        assert kept["of a later version"] == 7
        assert kept["embedding"]["provider"] == "openai-compatible"
        assert kept["embedding"]["verified_at"]
        assert KEY not in (home / SETTINGS_FILE).read_text()

        # The next search uses it, with the key that was typed.
        (project / ".circuit_ai").mkdir(exist_ok=True)
        (project / "loop.md").write_text("# Loop\n\nThe phase margin has to be above 60 degrees.\n")
        answer = await services.app.project.search(project, SearchQuery(text="stability"))
        assert answer.is_semantic_available, answer.semantic_note
        assert answer.semantic[0].source == "loop.md"

        # Another dimension is another index: said before it is saved, and tested.
        dialog = await opened(services, until)
        assert "Last worked" in dialog.card.title.text()
        dialog.form.dimension.setValue(16)
        assert "all embeddings are rebuilt" in dialog.notice.text()
        assert "Not tested" in dialog.card.title.text()
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: ("Dimension", "16") in dialog.card.figures)
        for language, word in (("zh", "保存"), ("en", "Save")):
            services.language.set(language)
            assert dialog.save_button.text() == word
            for theme in ("light", "dark"):
                services.theme.set_mode(theme)
                assert dialog.grab().save(str(tmp_path / f"{language}-{theme}.png"))
        dialog.form.provider.setCurrentIndex(0)
        assert "is off" in dialog.notice.text()
        QTest.mouseClick(dialog.save_button, LEFT)
        await until(lambda: len(changes) == 2)
    answer = await services.app.project.search(project, SearchQuery(text="stability"))
    assert "not set up" in str(answer.semantic_note)
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_test_is_stopped_and_a_bad_address_refused(services: WindowServices, until: Until) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    asked = asyncio.Event()
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        dialog = await opened(services, until)
        dialog.form.provider.setCurrentIndex(dialog.form.provider.findData("openai-compatible"))
        dialog.form.model.setEditText("m")
        dialog.form.url.setText(f"http://127.0.0.1:{port}/v1")
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(asked.is_set)
        assert dialog.is_testing
        QTest.mouseClick(dialog.test_button, LEFT)
        await until(lambda: "stopped" in dialog.card.title.text())
        dialog.form.url.setText("ftp://x")
        QTest.mouseClick(dialog.save_button, LEFT)
        await until(dialog.error.text)
        assert dialog.isVisible()
        dialog.reject()
        await until(lambda: not services.app.program.tasks.handles)
    assert not (user_home() / SETTINGS_FILE).exists()
