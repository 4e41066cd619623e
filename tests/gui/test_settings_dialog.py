"""The settings: every option changes what the program does or says from when on; bounds, origin, damage."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6 import sip
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QPushButton

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.llm.agent_limits import AgentLimits
from domain.llm.context_block import ContextShares
from domain.settings import ShownSetting, UserSettings, groups
from presentation.dialogs.settings.dialog import SettingsDialog
from presentation.dialogs.settings.plain_rows import LookRow
from presentation.dialogs.settings.row import SettingRow
from presentation.dialogs.settings.servers import AddServerDialog, ServersPart
from presentation.dialogs.settings.storage import StoragePart
from presentation.dialogs.settings.values import control_of, plain_of, text_of
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.errors import EnvironmentProblem
from shared.paths import user_home
from shared.setting import about, default_of, described, read_field
from tests.fakes import tool_server
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog

LEFT = Qt.MouseButton.LeftButton
Make = Callable[[], Any]


@pytest.fixture
async def make(services: WindowServices, until: Until) -> AsyncIterator[Make]:
    made: list[SettingsDialog] = []

    async def opened(**given: Any) -> SettingsDialog:
        app = services.app
        dialog = SettingsDialog(
            services,
            app.program.preferences,
            app.project.clean,
            None,
            servers=lambda: app.conversations.tool_servers,
            **given,
        )
        made.append(dialog)
        dialog.open()
        await until(lambda: dialog.rows and not app.program.tasks.handles)
        return dialog

    yield opened
    for dialog in made:
        if not sip.isdeleted(dialog):
            dialog.close()
    await until(lambda: not services.app.program.tasks.handles)


def kept(services: WindowServices) -> dict[str, Any]:
    path = services.app.program.preferences.path
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def type_in(row: SettingRow, text: str) -> None:
    """As a hand does: instead of what stands there, then on to the next field."""
    field = row.input
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


OTHER: dict[str, Any] = {
    "language": "zh",
    "libraries": ["/pdk/models", "/lib/other.lib"],
    "ngspice_path": "/opt/ngspice/bin/ngspice",
    "small_model": {"provider": "ollama", "model": "qwen3:4b"},
    "alternatives": [{"provider": "zhipu"}],
    "models": {"my-model": {"tools": "prompted", "context_tokens": 8192}},
    "prices": {"glm-4.6": {"input": 4, "output": 16, "currency": "CNY"}},
    "tool_servers": {"bench": {"command": ["no-such-bench"]}},
    "agent.currency": "CNY",
    "network.proxy": "socks5://proxy.example:1080",
    "network.certificates": "/etc/company.pem",
    "results.max_bytes": 2**30,
    "results.run_bytes": 2**31,
}
"""A value for each setting that is no plain number or flag."""


def another(shown: ShownSetting) -> Any:
    """A value of the setting that is not its default, as JSON has it."""
    if shown.name in OTHER:
        return OTHER[shown.name]
    if isinstance(shown.value, bool):
        return not shown.value
    least, most = about(shown.field).bounds or (0, 10)
    return least if shown.value != least else (most if most is not None else least + 1)


def effects(services: WindowServices) -> dict[str, Callable[[], Any]]:
    """What the program works with, by the name of the setting that it comes from."""
    app = services.app
    outside = app.program._outside
    models, simulation = outside.models, outside.simulation
    chat = app.conversations.chat
    registry = models.providers
    found: dict[str, Callable[[], Any]] = {
        "language": lambda: app.program.language,
        "watch_goals": lambda: app.program.watches_goals,
        "run_cases": lambda: app.program.runs_cases,
        "estimate_yield": lambda: app.program.estimates_yield,
        "preview_changes": lambda: app.program.previews_changes,
        "removed_days": app.conversations.sessions.kept_days,
        "small_model": lambda: chat.deps.small_model,
        "alternatives": lambda: chat.deps.alternatives().choices,
        "switch_automatically": lambda: chat.deps.alternatives().is_automatic,
        "models": lambda: registry._abilities("openai-compatible", "my-model"),
        "prices": lambda: registry._prices("zhipu", "glm-4.6", False),
        "tool_servers": app.conversations.tool_servers.shown,
        "network.proxy": lambda: registry._network().proxy,
        "network.certificates": lambda: models.vocabularies._network().certificates,
        "results.max_bytes": lambda: app.project.clean.quota().max_bytes,
        "results.keep": lambda: simulation.results._quota().keep,
        "results.run_bytes": simulation.simulator._run_bytes,
    }
    found |= {
        f"agent.{name}": lambda name=name: getattr(chat.deps.limits, name)  # type: ignore[misc]
        for name in described(AgentLimits)
    }
    found |= {
        f"context.{name}": lambda name=name: getattr(chat.deps.shares, name)  # type: ignore[misc]
        for name in described(ContextShares)
    }
    return found


async def test_every_setting_has_an_effect_or_says_that_it_has_one_at_the_next_start(
    make: Make, services: WindowServices, until: Until
) -> None:
    heard: list[str] = []
    dialog = await make(changed=lambda name, _value: heard.append(name))
    assert dialog._shown is not None
    every = [one for group in dialog._shown.groups for one in group.settings]
    seen = effects(services)
    idle = lambda: not services.app.program.tasks.handles  # noqa: E731
    for shown in every:
        row, name = dialog.rows[shown.name], shown.name
        told = " ".join(label.text() for label in row.findChildren(QLabel))
        if name.startswith("embedding."):
            assert "Set up a server first." in told
            assert not row.input.isEnabled()
            continue
        before = await asyncio.to_thread(seen[name]) if name in seen else None
        value = another(shown)
        text = text_of(shown.field, read_field(shown.field, value))
        match control_of(shown.field):
            case "flag":
                assert isinstance(row.input, QCheckBox)
                QTest.mouseClick(row.input, Qt.MouseButton.LeftButton, pos=row.input.rect().center() / 1)
                if row.input.isChecked() != value:  # beside its box on some styles
                    row.input.click()
            case "choice":
                assert isinstance(row.input, QComboBox)
                row.input.setCurrentIndex(row.input.findData(value))
                row.input.activated.emit(row.input.currentIndex())
            case "paths":
                assert isinstance(row.input, QPlainTextEdit)
                row.input.setPlainText(text)
                row._commit()
            case _:
                type_in(row, text)
        await until(idle)
        assert row.error.text() == "", name
        assert heard[-1] == name
        assert row.differs
        if about(shown.field).is_read_at_start:
            assert "Takes effect at the next start." in told, name
        else:
            assert name in seen, f"nothing is known to use {name}"
            assert await asyncio.to_thread(seen[name]) != before, f"{name} changed nothing"
        group, _, inner = name.rpartition(".")
        written = (kept(services)[group] if group else kept(services))[inner]
        assert read_field(shown.field, written) == read_field(shown.field, value), name

    count = sum(not one.name.startswith("embedding.") for one in every)
    assert dialog.differing.text() == f"{count} differ from the default"
    assert set(kept(services)["agent"]) == {n.partition(".")[2] for n in seen if n.startswith("agent.")}
    QTest.mouseClick(dialog.rows["agent.rounds"].undo, Qt.MouseButton.LeftButton)
    await until(lambda: dialog.differing.text() == f"{count - 1} differ from the default")
    assert not dialog.rows["agent.rounds"].differs

    QTest.mouseClick(dialog.reset_all, Qt.MouseButton.LeftButton)
    await until(lambda: [w for w in QApplication.topLevelWidgets() if w.objectName() == "question"])
    (question,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, SmallDialog) and w.isVisible()]
    QTest.mouseClick(question.buttons()[-1], Qt.MouseButton.LeftButton)
    await until(lambda: dialog.differing.text() == "1 differs from the default")  # servers stay
    await until(idle)
    assert kept(services).keys() <= {"schema_version", "tool_servers"}
    assert seen["agent.rounds"]() == 15
    services.language.set("en")


async def test_what_is_out_of_bounds_is_said_with_what_stays_in_force(
    make: Make, services: WindowServices, until: Until
) -> None:
    dialog = await make()
    row = dialog.rows["agent.rounds"]
    type_in(row, "900")
    assert row.error.text() == "It must be a whole number from 1 to 200. 15 stays in force."
    assert row.input.property("state") == "error"
    assert isinstance(row.input, QLineEdit)
    assert row.input.text() == "900", "nothing is corrected silently"
    for name, text in (
        ("agent.rounds", "many"),
        ("agent.rounds", "1.5"),
        ("results.keep", ""),
        ("results.run_bytes", "5 parsecs"),
        ("network.proxy", "gopher://x"),
        ("ngspice_path", "relative"),
        ("alternatives", '{"provider": '),
        ("alternatives", '[{"provider": 7}]'),
        ("prices", '{"a": 1}'),
        ("models", "[" * 5000),
    ):
        row = dialog.rows[name]
        if isinstance(row.input, QLineEdit):
            row.input.setText(text)
        row._commit()
        assert row.error.text().startswith("It must be "), (name, text)
    assert not services.app.program.tasks.handles
    assert kept(services) == {}
    type_in(dialog.rows["results.max_bytes"], "500M")
    await until(lambda: kept(services).get("results") == {"max_bytes": 500 * 2**20})
    type_in(dialog.rows["results.max_bytes"], " ")  # nothing: no limit
    await until(lambda: services.app.project.clean.quota().max_bytes == 2**62)
    assert kept(services)["results"] == {"max_bytes": None}


async def test_search_marks_counts_and_leads_to_categories(
    make: Make, services: WindowServices, until: Until, loop_watchdog: LoopWatchdog
) -> None:
    async with loop_watchdog.watching():
        dialog = await make()
        dialog.search.setText("model")
        await asyncio.sleep(0.05)
        dialog.search.clear()
        await asyncio.sleep(0.05)
    total = sum(len(part.rows) for part in dialog._sections)
    QTest.keyClicks(dialog.search, "TIME")
    assert dialog.count.text() == f"4 of {total} settings"
    row = dialog.rows["agent.model_seconds"]
    assert row.isVisible()
    assert row.title.marked == ("time",)
    assert not dialog.rows["removed_days"].isVisible()
    dialog.search.setText("agent.parallel")
    assert dialog.count.text() == f"1 of {total} settings"
    dialog.search.setText("nothing like this")
    assert dialog.count.text() == f"0 of {total} settings"
    dialog.search.clear()
    assert dialog.rows["removed_days"].isVisible()
    services.language.set("zh")
    services.theme.set_mode("dark")
    await until(
        lambda: "removed_days" in dialog.rows and dialog.rows["removed_days"].title.text() == "已移除的对话"
    )
    services.language.set("en")


async def test_origin_damage_and_another_window(
    make: Make, services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    preferences = services.app.program.preferences
    monkeypatch.setattr(
        services.app.program,
        "preferences",
        replace(preferences, environment={"HTTPS_PROXY": "http://proxy:3128"}),
    )
    one, other = await make(), await make()
    assert one.rows["network.proxy"].note.text() == "From the environment: HTTPS_PROXY."
    type_in(one.rows["agent.rounds"], "20")
    await until(lambda: "agent" in kept(services))
    type_in(other.rows["removed_days"], "7")
    await until(lambda: "removed_days" in kept(services))
    assert kept(services) == {"agent": {"rounds": 20}, "removed_days": 7, "schema_version": 1}
    await until(lambda: other._value("agent.rounds") == 20)  # what another window set is seen

    preferences.path.write_text('{"agent": {"rounds": "many"}, "removed_days": 7}')
    third = await make()
    assert "The setting agent" in third.note.text()
    assert third._value("removed_days") == 7
    preferences.path.write_text("{broken")
    fourth = await make()
    (aside,) = preferences.path.parent.glob("settings.json.broken-*")
    assert aside.name in fourth.note.text()
    assert aside.read_text() == "{broken"
    assert services.app.program.preferences.path == preferences.path


async def test_how_the_window_looks_and_what_results_take(
    make: Make, services: WindowServices, project: Path, until: Until
) -> None:
    run: list[str] = []
    services.workspace.command_wanted.connect(run.append)
    services.workspace.root = project
    (project / ".circuit_ai").mkdir(exist_ok=True)
    dialog = await make()
    theme = dialog.findChildren(LookRow)[0].choice
    theme.setCurrentIndex(theme.findData("theme.dark"))
    theme.activated.emit(theme.currentIndex())
    assert run == ["theme.dark"]
    part = dialog.findChild(StoragePart)
    assert part is not None
    await until(part.told.text)
    assert part.told.text().startswith("0 results take 0 B; 0 of them are pinned")
    assert not any(button.isEnabled() for button in (part.pin, part.unpin, part.clean_up))
    # One that is built again, in another theme, leaves a look behind that comes to nothing.
    wrong: list[object] = []
    services.workspace.error_occurred.connect(wrong.append)
    part.look()
    sip.delete(part)
    await until(lambda: not services.app.program.tasks.handles)
    assert wrong == []
    button = dialog.findChild(QPushButton, "open.modelSettings")
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert run[-1] == "modelSettings"


async def test_results_are_pinned_and_cleaned_up(
    make: Make, services: WindowServices, project: Path, until: Until
) -> None:
    results = services.app.program._outside.simulation.results

    def store() -> str:
        result_id, folder = results.new_result(project / "filter.cir")
        (folder / "ngspice.raw").write_bytes(bytes(4000))
        results.save_study(folder, {"kind": "study"}, b"rows")
        return str(result_id)

    (project / ".circuit_ai").mkdir()
    ids = [await asyncio.to_thread(store) for _ in range(4)][::-1]  # newest first
    services.workspace.root = project
    dialog = await make()
    part = dialog.findChild(StoragePart)
    assert part is not None
    await until(lambda: [row[0].text for row in part.table.rows] == ids)
    type_in(dialog.rows["results.keep"], "1")
    type_in(dialog.rows["results.max_bytes"], "1 KiB")
    await until(lambda: part.table.rows[3][2].text == "beyond the limits")
    part.table.selectRow(2)
    QTest.mouseClick(part.pin, Qt.MouseButton.LeftButton)
    await until(lambda: part.table.rows[2][2].text == "pinned")
    assert [row[2].text for row in part.table.rows] == [
        "", "beyond the limits", "pinned", "beyond the limits",
    ]  # fmt: skip
    assert "1 of them are pinned" in part.told.text()
    QTest.mouseClick(part.clean_up, Qt.MouseButton.LeftButton)
    await until(lambda: [w for w in QApplication.topLevelWidgets() if w.objectName() == "question"])
    (question,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, SmallDialog) and w.isVisible()]
    assert "2 results and what killed runs left will be deleted" in question.words.text()
    QTest.mouseClick(question.buttons()[-1], Qt.MouseButton.LeftButton)
    await until(lambda: [row[0].text for row in part.table.rows] == [ids[0], ids[2]])
    assert not part.clean_up.isEnabled()
    part.table.selectRow(1)
    QTest.mouseClick(part.unpin, Qt.MouseButton.LeftButton)
    await until(lambda: part.table.rows[1][2].text == "beyond the limits")


def test_values_are_written_and_read_again() -> None:
    for group in groups(UserSettings(), {}):
        for one in group.settings:
            value = default_of(one.field)
            if one.name in OTHER:
                value = read_field(one.field, OTHER[one.name])
            if control_of(one.field) == "flag" or value is None:
                continue
            assert read_field(one.field, plain_of(one.field, text_of(one.field, value))) == value, one.name


async def test_tool_servers_are_added_connected_turned_off_and_removed(
    make: Make, services: WindowServices, until: Until
) -> None:
    dialog = await make()
    part = dialog.findChild(ServersPart)
    assert isinstance(part, ServersPart)
    assert not part.turn.isEnabled()
    QTest.mouseClick(part.add, LEFT)
    adding = dialog.findChild(AddServerDialog)
    assert isinstance(adding, AddServerDialog)
    for name, place, words in (
        ("Bench 1", "x", "small letters"),
        ("bench", "uvx 'a", "quotation mark"),
        ("bench", "  ", ""),
    ):
        adding.name.setText(name)
        adding.place.setText(place)
        assert words in adding.told.text()
        assert not adding.add_one.isEnabled()
    adding.place.setText(f"{sys.executable} -S '{tool_server.__file__}' good")
    assert not adding.told.text()
    QTest.mouseClick(adding.add_one, LEFT)
    await until(lambda: len(part._shown) == 1)
    assert kept(services)["tool_servers"]["bench"]["command"][-1] == "good"
    QTest.mouseClick(part.connect_now, LEFT)
    await until(lambda: part._shown[0].state == "connected")
    assert part.note.text() == "bench__read_voltage"
    QTest.mouseClick(part.turn, LEFT)
    await until(lambda: part._shown[0].state == "off")
    assert part.turn.text() == "Turn on"
    QTest.mouseClick(part.remove, LEFT)
    await until(lambda: not part._shown)
    assert kept(services).get("tool_servers", {}) == {}
    await services.app.conversations.tool_servers.connect()  # what is gone from the settings is left


async def test_what_is_read_at_the_start_holds_from_the_next_one_on(tmp_path: Path) -> None:
    """A library folder is included from; another simulator is the one that is started."""
    folder, circuit = tmp_path / "models", tmp_path / "c.cir"
    folder.mkdir()
    (folder / "mine.lib").write_text(".model dmine D(IS=1f)\n")
    circuit.write_text("c\nV1 a 0 1\nD1 a 0 dmine\n.include mine.lib\n.op\n.end\n")
    user_home().mkdir(parents=True, exist_ok=True)

    def started() -> Application:
        app = bootstrap.build()
        assert app.program.language  # its settings are read
        return app

    async def ran() -> tuple[bool, str]:
        app = await asyncio.to_thread(started)
        try:
            result = await app.simulation.run(SimulationRequest(circuit=circuit))
            return result.ok, ""
        except EnvironmentProblem as error:
            return False, str(error.message.params["path"])
        finally:
            await app.close()

    settings = user_home() / "settings.json"
    assert (await ran())[0] is False
    settings.write_text(json.dumps({"libraries": [str(folder)]}))
    assert (await ran())[0] is True
    settings.write_text(json.dumps({"libraries": [str(folder)], "ngspice_path": str(tmp_path / "none")}))
    is_ok, why = await ran()
    assert (is_ok, why) == (False, str(tmp_path / "none"))
