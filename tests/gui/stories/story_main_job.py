"""The main job, from the first start to the morning after, with real clicks and keys."""

from __future__ import annotations

import asyncio
import statistics
from pathlib import Path

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QPoint
from PyQt6.QtWidgets import QDialog

from presentation.dialogs.goals import GoalsDialog
from presentation.dialogs.model_settings.dialog import ModelSettingsDialog
from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog
from presentation.dialogs.prompt_editor.page import _KEY
from presentation.panels.conversation.items import (
    AnswerText,
    Decision,
    DesignEnd,
    Interrupted,
    OperationCard,
    SimulationCard,
    UserText,
)
from presentation.panels.conversation.web_view import WebConversation
from presentation.panels.editor.overlay import SQUIGGLES
from presentation.panels.run_views import PROBLEMS
from presentation.ui.figure_table import FigureTable
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.stories.person import Person, program

SENTENCE = "设计一个 10 kHz 四阶巴特沃斯低通滤波器，电源 ±5 V"
HALF_AN_ANSWER = "The corner falls because the **loop gain** is gone at $f_0$ and"
ADVICE = "Quote every value with its tolerance."


@pytest.mark.timeout(180)
async def test_the_main_job_and_everything_is_found_again(hand, tmp_path, chromium, monkeypatch):
    home = tmp_path / "person"  # an example's copy stays in it
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    with FakeLLMServer() as server:
        async with program(hand, album=tmp_path) as person:
            root = await do_the_main_job(person, server)
            await switch_language_and_theme(person)
            await leave_a_layout(person, root)
        async with program(hand, album=tmp_path) as person:
            await find_everything(person, root)


async def do_the_main_job(person: Person, server: FakeLLMServer) -> Path:
    """From the welcome page to an answer by the changed prompt; gives the project's folder."""
    root = await open_the_example(person)
    await break_a_line_and_undo_it(person)
    await run_and_read_a_cursor(person)
    await design_in_chinese(person)
    await undo_the_change_by_its_card(person, root)
    await choose_the_server(person, server)
    await stop_in_mid_stream(person, server)
    await change_a_prompt(person, server)
    return root


async def open_the_example(person: Person) -> Path:
    """From the welcome page: one click on an example opens its copy; its main circuit is known."""
    assert person.window.welcome.isVisible()
    await person.looks_at("welcome")
    row = person.window.welcome.findChild(object, "example.sallen-key-filter")
    await person.clicks(row)
    root = Path.home() / "Circuits" / "sallen-key-filter"
    workspace = person.services.workspace
    await person.sees("the main circuit", lambda: workspace.main_circuit == root / "filter.cir")
    if workspace.shown_file is None:
        tree = person.window.parts.tree
        index = await person.sees(
            "the circuit in the tree",
            lambda: (at := tree.model.index_of(root / "filter.cir")).isValid() and at,
        )
        await person.clicks_row(tree.view, index, times=2)
    await person.sees("the circuit's text", lambda: workspace.shown_file == root / "filter.cir")
    assert "Sallen-Key" in person.editor.text(0)
    await person.sees_the_view_decided()
    return root


async def break_a_line_and_undo_it(person: Person) -> None:
    """A value is lost: squiggle, list, count; undone: none of them."""
    editor = person.editor
    line = next(n for n in range(editor.lines()) if editor.text(n).startswith("R1 "))
    whole = editor.text()
    await person.clicks(editor.viewport(), place_in(editor, line, 1))
    await person.presses("End")
    for _ in range(3):
        await person.presses("BackSpace")
    assert editor.text(line).rstrip() == "R1   in   a"
    problems = person.bottom.views.problems
    row = await person.sees(
        "the problem in the list",
        lambda: next((row for row in problems.rows if row.line == line + 1), None),
    )
    assert row.severity == "warning"  # ngspice takes a milliohm in its place
    start = editor.SendScintilla(editor.SCI_POSITIONFROMLINE, line)
    end = editor.SendScintilla(editor.SCI_GETLINEENDPOSITION, line)
    squiggle = 1 << SQUIGGLES["warning"]
    assert any(editor.SendScintilla(editor.SCI_INDICATORALLONFOR, at) & squiggle for at in range(start, end))
    await person.sees("the count", lambda: person.bottom.count_of(PROBLEMS) == 1)
    await person.looks_at("problem")
    for _ in range(3):
        if editor.text() != whole:
            await person.presses("ctrl+z")
    assert editor.text() == whole
    await person.sees("no problem any more", lambda: not problems.rows)


def place_in(editor: object, line: int, column: int) -> QPoint:
    """The point of a character in the editor's surface."""
    at = editor.SendScintilla(editor.SCI_POSITIONFROMLINE, line) + column
    return QPoint(
        editor.SendScintilla(editor.SCI_POINTXFROMPOSITION, 0, at) + 2,
        editor.SendScintilla(editor.SCI_POINTYFROMPOSITION, 0, at)
        + editor.SendScintilla(editor.SCI_TEXTHEIGHT, line) // 2,
    )


def as_number(text: str) -> float:
    return float(text.replace("−", "-"))


_SCALES = {"": 1.0, "k": 1e3, "M": 1e6}


def frequency_at(table: FigureTable, cursor: int) -> float:
    """What the table says of a cursor's place, Hz."""
    row = next((row for row in table.rows if row[0].text == "f"), None)
    if row is None:
        return 0.0
    number, *prefix = row[1 + cursor].text.split()  # a prefix of its own where cursors are far apart
    return as_number(number) * _SCALES[prefix[0] if prefix else row[0].unit.strip("/ ").removesuffix("Hz")]


async def run_and_read_a_cursor(person: Person) -> None:
    """F5; then the gain at 10 kHz, read with cursor A: 3 dB down, as the circuit's title says."""
    await person.presses("F5")
    waveforms = person.bottom.views.waveforms
    await person.sees("curves", lambda: waveforms.area is not None and waveforms.traces)
    await person.sees("the result in the list", lambda: person.window.parts.results.model.results)
    area, table = waveforms.area, waveforms.cursor_table
    await person.sees("cursor figures", lambda: table.isVisible() and frequency_at(table, 0) > 0)
    low, high = area.view_range
    frame = area.pane_rect(0)
    x = frame.left() + frame.width() * (4.0 - low) / (high - low)
    await person.clicks(area.viewport(), QPoint(round(x), round(frame.center().y())))
    await person.sees("cursor A at 10 kHz", lambda: 9.5e3 < frequency_at(table, 0) < 10.5e3)
    gain = next(row for row in table.rows if row[0].text.startswith("v(out)"))
    assert -4.5 < as_number(gain[1].text) < -2.0
    before = area.cursor_samples[0]
    await person.presses("Right")
    await person.sees("the cursor a sample on", lambda: area.cursor_samples[0] == before + 1)
    await person.looks_at("cursors")


async def design_in_chinese(person: Person) -> None:
    """Workflow: a sentence, its goals confirmed, the rounds, the checkpoint, accepted."""
    panel = person.panel
    await person.clicks(panel.mode_button)
    await person.sees("workflow", lambda: panel.mode == "workflow")
    await person.says(SENTENCE, preedit="she ji yi ge")
    dialog = await person.sees_dialog("goalsDialog")
    assert isinstance(dialog, GoalsDialog)
    assert "10\u00a0kHz" in dialog.limits
    await person.looks_at("goals")
    await person.clicks(dialog.start_button)
    await person.sees("a round judged", lambda: any(c.verdicts for c in person.items(SimulationCard)))
    await person.looks_at("rounds")
    decision = await person.sees(
        "the checkpoint", lambda: next((d for d in person.items(Decision) if d.state == "open"), None)
    )
    assert decision.goals_met
    card = person.items(SimulationCard)[-1]
    assert card.round_number >= 1
    assert all(verdict.met for verdict in card.verdicts)
    await person.looks_at("checkpoint")
    await person.clicks_in_conversation(
        f"[data-key='{decision.key}'] button[data-arg='accept']", act=("answer", decision.key, "accept")
    )
    await person.sees("the end of the design", lambda: person.items(DesignEnd) and not panel.is_running)
    assert person.items(DesignEnd)[-1].done.goals_met


async def undo_the_change_by_its_card(person: Person, root: Path) -> None:
    """The designed circuit is taken away again, by the button on the card that wrote it."""
    card = await person.sees(
        "a change that can be undone",
        lambda: next((c for c in person.items(OperationCard) if c.standing == "stands"), None),
    )
    path = root / card.path
    assert "butterworth" in path.read_text().lower()
    await person.clicks_in_conversation(
        f"[data-key='{card.key}'] [data-act='undo']", act=("undo", card.key, "")
    )
    await person.sees("the card undone", lambda: person.panel.model.items.get(card.key).standing == "undone")
    assert not path.exists() or "Sallen-Key, fc = 10 kHz" in path.read_text()
    await person.looks_at("undone")


async def choose_the_server(person: Person, server: FakeLLMServer) -> None:
    """Free work, with a model of the user's own."""
    await person.presses("F4")
    await person.sees("free work", lambda: person.panel.mode == "free")
    await person.chooses(person.panel.composer.model_button, "model-openai-compatible")
    dialog = await person.sees_dialog("modelSettings")
    assert isinstance(dialog, ModelSettingsDialog)
    form = await person.sees("the fields", lambda: dialog.form)
    for field, text in ((form.url, server.base_url), (form.model, "fake-model")):
        await person.clicks(field)
        await person.presses("ctrl+a")
        await person.hand.type(text)
    wanted = (server.base_url, "fake-model")
    await person.sees("the texts", lambda: (form.url.text(), form.model.currentText()) == wanted)
    await person.clicks(dialog.save_button)
    await person.sees("the dialog gone", lambda: not _is_open(dialog))
    assert person.panel.model.choice.base_url == server.base_url


async def stop_in_mid_stream(person: Person, server: FakeLLMServer) -> None:
    """Escape while the answer comes: the server is left, what came is kept and marked."""
    server.add(answer(HALF_AN_ANSWER, reasoning="Gain and bandwidth.", stall=True))
    await person.says("why does the corner fall?")
    await person.sees_in_conversation("loop gain")
    assert person.panel.is_running
    await person.looks_at("streaming")
    await person.presses("Escape")
    await person.sees("the end", lambda: not person.panel.is_running)
    await asyncio.to_thread(server.wait_until_left, len(server.completions) - 1)
    assert person.items(AnswerText)[-1].text == HALF_AN_ANSWER
    assert person.items(Interrupted)[-1].reason == "stopped"
    await person.looks_at("stopped")


async def change_a_prompt(person: Person, server: FakeLLMServer) -> None:
    """A line more in the prompt of free work; the next request says it."""
    assert ADVICE not in str(server.requests[-1])
    await person.chooses(person.window.header.settings, "prompts")
    dialog = await person.sees_dialog("promptSettings")
    assert isinstance(dialog, PromptSettingsDialog)
    await person.sees("the prompts", lambda: dialog.drafts)
    page = dialog.pages["workflow"]
    row = next(n for n in range(page.list.count()) if page.list.item(n).data(_KEY) == "FREE_WORK_SYSTEM")
    await person.clicks_row(page.list, page.list.model().index(row, 0))
    await person.sees("the text of free work", lambda: page.key == "FREE_WORK_SYSTEM")
    await person.clicks(page.editor.viewport())
    await person.presses("ctrl+End")
    await person.presses("Return")
    await person.hand.type(ADVICE)
    await person.sees("the text written", lambda: page.editor.content().endswith(ADVICE))
    await person.looks_at("prompts")
    await person.clicks(dialog.ok)
    await person.sees("the dialog gone", lambda: person.dialog("promptSettings") is None)
    server.add(answer("The corner is at 9.98 kHz."))
    await person.says("and now?")
    await person.sees_in_conversation("9.98 kHz")
    await person.sees("the end", lambda: not person.panel.is_running)
    system = server.requests[-1]["messages"][0]
    assert system["role"] == "system"
    assert ADVICE in system["content"]


def _is_open(dialog: QDialog) -> bool:
    return not sip.isdeleted(dialog) and dialog.isVisible()


async def switch_language_and_theme(person: Person) -> None:
    """Chinese and dark, at once and everywhere."""
    window = person.window
    await person.chooses(window.header.settings, "language.zh")
    await person.sees("Chinese", lambda: "运行" in window.header.run_group.run.text())
    await person.chooses(window.header.settings, "theme.dark")
    dark = person.services.theme.theme.color("surface.base")
    assert person.services.theme.theme.name == "dark"
    await person.sees_in_conversation("已由你停止")
    if isinstance(person.panel.view, WebConversation):
        assert await person.page("document.documentElement.lang") == "zh-CN"
        assert await person.page("getComputedStyle(document.body).backgroundColor") == (
            f"rgb({dark.red()}, {dark.green()}, {dark.blue()})"
        )
    picture = window.grab().toImage()
    editor = person.editor
    places = [QPoint(editor.width() * n // 20, editor.height() * n // 20) for n in range(1, 20)]
    lightness = [picture.pixelColor(editor.mapTo(window, place)).lightness() for place in places]
    assert statistics.median(lightness) < 64, "a letter may lie under some of the points"


async def leave_a_layout(person: Person, root: Path) -> None:
    """A second tab in front, the left pane hidden."""
    tree = person.window.parts.tree
    index = tree.model.index_of(root / "filter_loop.cir")
    await person.clicks_row(tree.view, index, times=2)
    await person.sees(
        "the second tab", lambda: person.services.workspace.shown_file == root / "filter_loop.cir"
    )
    await person.presses("ctrl+b")
    await person.sees("the left pane hidden", lambda: not person.window.panes.left.isVisible())


async def find_everything(person: Person, root: Path) -> None:
    """Project, tabs, layout, language, theme, conversation with its cards, results."""
    window, workspace = person.window, person.services.workspace
    await person.sees("the project", lambda: workspace.root == root)
    assert workspace.main_circuit == root / "filter.cir"
    await person.sees("the tabs", lambda: workspace.shown_file == root / "filter_loop.cir")
    assert workspace.buffers is not None
    assert root / "filter.cir" in workspace.buffers.open_files()
    assert not window.panes.left.isVisible()
    assert "运行" in window.header.run_group.run.text()
    assert person.services.theme.theme.name == "dark"

    await person.sees_in_conversation("9.98 kHz")
    shown = await person.reads_conversation()
    assert "loop gain" in shown
    assert [item.text for item in person.items(UserText)][-2:] == ["why does the corner fall?", "and now?"]
    assert SENTENCE in [item.text for item in person.items(UserText)]
    assert any(item.standing == "undone" for item in person.items(OperationCard))

    await person.presses("ctrl+b")
    await person.sees("the left pane", window.panes.left.isVisible)
    results = window.parts.results
    await person.sees("the results", lambda: len(results.model.results) >= 2)
    last = results.model.index(results.model.rowCount() - 1, 0)
    await person.clicks_row(results.view, last)
    await person.sees("its curves", lambda: person.bottom.views.waveforms.traces)
