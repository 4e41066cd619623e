"""The page in a real web view: streams without a seam, formulas, folds, and nothing that runs or loads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QEventLoop, QPoint, Qt, QTimer, QUrl
from PyQt6.QtTest import QTest
from PyQt6.QtWebEngineCore import QWebEnginePage
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication, QWidget

from domain.llm.tools.text_files import diff_texts
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.panels.conversation import web_view
from presentation.panels.conversation.items import (
    Added,
    AnswerText,
    Confirmation,
    OperationCard,
    Removed,
    Reset,
    ScrollPlace,
    SimulationCard,
    Steps,
    Streamed,
    Updated,
    UserText,
)
from presentation.panels.conversation.markup import code_in
from presentation.panels.conversation.names import CircuitNames, Names
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.web_probe import WebProbe
from presentation.panels.conversation.web_view import WebConversation
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until, flush_deletions
from tests.gui.test_confirmation_card import card_of_everything

PAGE = Path(__file__).resolve().parents[2] / "resources" / "web" / "conversation.html"
Script = Callable[[str], Awaitable[Any]]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module", autouse=True)
def chromium(qapp: QApplication) -> None:
    """Chromium's helper processes start with the first page and end with the program: no test's leak."""
    page, loop = QWebEnginePage(), QEventLoop()
    loaded: list[bool] = []
    page.loadFinished.connect(loaded.append)
    page.loadFinished.connect(loop.quit)
    QTimer.singleShot(60_000, loop.quit)  # no signal of Python's could end this loop
    page.load(QUrl.fromLocalFile(str(PAGE)))
    loop.exec()
    page.deleteLater()
    assert loaded == [True]
    flush_deletions()


@pytest.fixture
async def view(services: WindowServices, until: Until) -> AsyncIterator[WebConversation]:
    assert await WebProbe().works()
    made = WebConversation(services)
    made.resize(440, 600)
    made.show()
    await until(lambda: made.is_ready, timeout_s=30)
    yield made
    made.close_page()
    made.close()
    made.deleteLater()
    await asyncio.sleep(0.05)


@pytest.fixture
def script(view: WebConversation, until: Until) -> Script:
    async def run(source: str) -> Any:
        await until(lambda: view.is_up_to_date, timeout_s=30)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        view.page.runJavaScript(source, answer.set_result)
        async with asyncio.timeout(20):
            return await answer

    return run


async def toggle(script: Script, row: str) -> None:
    """Click the head of a row's details and wait until the page was told, which comes with a later frame."""
    found = f"document.querySelector('{row}')"
    await script(
        f"window.toggled = false; {found}.closest('details')"
        f".addEventListener('toggle', () => {{ window.toggled = true; }}, {{once: true}}); {found}.click(); 1"
    )
    while not await script("window.toggled"):  # noqa: ASYNC110 - the page tells nobody but itself
        await asyncio.sleep(0.01)


TEXT = """First *paragraph* with $f_0 = 1/RC$.

| a | b |
|---|---|
| 1 | 2 |

- one
- two

```spice
R1 in out 1k
```
The **end**."""


async def test_a_streamed_answer_looks_as_if_it_had_come_at_once(
    view: WebConversation, script: Script
) -> None:
    view.apply([Reset(items=()), Added(item=AnswerText(key="s", text="", is_streaming=True))])
    for at in range(0, len(TEXT), 3):
        if at == 30:  # its row is made anew: an answer that was stopped is gone on with
            view.apply([Updated(item=AnswerText(key="s", text=TEXT[:at]))])
            view.apply([Updated(item=AnswerText(key="s", text=TEXT[:at], is_streaming=True))])
        view.apply([Streamed(key="s", text=TEXT[at : at + 3])])
    streamed = await script("document.querySelector('[data-key=s] .answer').innerText")
    view.apply([Updated(item=AnswerText(key="s", text=TEXT))])
    whole = await script("document.querySelector('[data-key=s] .answer').innerText")
    assert streamed.split() == whole.split()
    assert await script("document.querySelectorAll('[data-key=s] .katex').length") == 1
    assert await script("document.querySelector('[data-key=s] td').innerText") == "1"


async def test_what_becomes_known_of_an_answer_leaves_its_prose_as_it_stands(
    view: WebConversation, script: Script
) -> None:
    long = "```spice\n" + "R1 in out 1k\n" * 40 + "```\n\nBehind it."
    answer = AnswerText(key="a", text=long, model="m")
    view.apply([Added(item=answer)])
    await script(
        "document.querySelector('[data-unfold]').click(); document.querySelector('.answer').mine = 1; 1"
    )
    told: list[str] = []
    run = view.page.runJavaScript
    view.page.runJavaScript = lambda source, *more: (told.append(source), run(source, *more))[1]
    view.apply([Updated(item=replace(answer, can_regenerate=True))])
    assert await script(
        "[document.querySelector('.answer').mine, !document.querySelector('.folded'),"
        " document.querySelectorAll('[data-act=again]').length, document.querySelectorAll('.answer').length]"
    ) == [1, True, 1, 1]
    assert "R1" not in told[0]  # nor is it told again to those who hear the page
    view.apply([Updated(item=replace(answer, text=f"{long} More."))])
    assert "R1" in told[-1]
    assert "Behind it. More." in await script("document.querySelector('.answer').innerText")
    view.names = Names(files=frozenset({"it.cir"}))  # other links may stand in it
    view.apply([Updated(item=replace(answer, text=f"{long} More."))])
    assert "R1" in told[-1]


async def test_a_page_that_is_behind_is_told_the_rest_at_once(
    view: WebConversation, script: Script, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_view, "_BEHIND_S", 0.0)
    await until(lambda: view.is_up_to_date)
    view.page.runJavaScript("const end = performance.now() + 600; while (performance.now() < end);")
    view.apply([Added(item=AnswerText(key="a", text="", is_streaming=True))])
    told: list[str] = []
    run = view.page.runJavaScript
    view.page.runJavaScript = lambda source, *more: (told.append(source), run(source, *more))[1]
    for number in range(50):
        view.apply([Streamed(key="a", text=f"{number} ")])
    view.apply([Added(item=UserText(key="u", text="next"))])
    assert not told
    await until(lambda: view.is_up_to_date, timeout_s=30)
    assert len(told) == 1
    assert "48 49" in await script("document.querySelector('.answer').innerText")
    assert await script("document.querySelector('#items').lastElementChild.dataset.key") == "u"


async def test_a_list_of_many_shows_its_numbers_whole(view: WebConversation, script: Script) -> None:
    many = "\n".join(f"{number}. x" for number in range(1, 121))
    view.apply([Added(item=AnswerText(key="a", text=f"1. a\n2. b\n\nText\n\n{many}\n\nText\n\n98. z"))])
    rooms = await script(
        "[...document.querySelectorAll('.answer ol')].map(each => {"
        " const pen = document.createElement('canvas').getContext('2d'); const look = getComputedStyle(each);"
        " pen.font = look.font; const last = each.start + each.children.length - 1;"
        " return parseFloat(look.paddingLeft) - pen.measureText(`${last}. `).width; })"
    )
    assert len(rooms) == 3
    assert all(room >= 0 for room in rooms), rooms


@pytest.mark.parametrize("width", [300, 360, 402, 440, 482])
async def test_no_figure_of_a_goal_is_cut_in_a_narrow_page(
    view: WebConversation, script: Script, width: int
) -> None:
    name = "output_voltage_ripple_of_the_second_regulator"
    goal = DesignGoal(metric=name, expression="v", unit="V", minimum=4.913, maximum=5.226)
    judged = GoalVerdict(goal=goal, measured=Quantity(value=5.0713, unit="V"), met=True)
    view.resize(width, 600)
    card = SimulationCard(key="s", state="done", path="a.cir", verdicts=(judged,))
    view.apply([Added(item=card)])
    beyond = await script(
        "[...document.querySelectorAll('.goal')].map(row => {"
        " const end = row.parentElement.getBoundingClientRect().right;"
        " const figures = [...row.querySelectorAll('.value, .limit, .margin')];"
        " return figures.map(e => Math.max(e.getBoundingClientRect().right - end, e.scrollWidth -"
        " e.clientWidth)); })"
    )
    assert [max(each) <= 0 for each in beyond] == [True], beyond


async def test_the_page_collects_what_it_no_longer_shows(view: WebConversation, script: Script) -> None:
    """Its process would else grow by 400 kB with each turn, whatever is shown."""
    assert await script("typeof window.gc") == "function"
    await script("window.collected = 0; window.gc = () => { window.collected += 1; }; 1")
    view.apply([Reset(items=()), Added(item=AnswerText(key="s", text="", is_streaming=True))])
    for number in range(4):
        assert await script("window.collected") == 0
        view.apply([Updated(item=AnswerText(key="s", text=f"{number} " + "words " * 25_000))])
    assert await script("window.collected") == 1


async def test_reasoning_is_open_while_it_comes_and_folds_afterwards(
    view: WebConversation, script: Script
) -> None:
    view.apply([Added(item=AnswerText(key="s", text="", is_streaming=True))])
    view.apply([Streamed(key="s", reasoning="Let me think.")])
    box = "document.querySelector('[data-key=s] details.thought')"
    assert await script(f"{box}.open && !{box}.hidden")
    view.apply([Streamed(key="s", text="So.")])
    assert not await script(f"{box}.open")
    view.apply([Updated(item=AnswerText(key="s", text="So.", reasoning="Let me think.", thought_s=6.0))])
    assert await script(f"{box}.innerText.trim()") == "Thought for 6\u00a0s"  # a figure is not torn apart


async def test_thoughts_that_come_cost_the_same_behind_many(view: WebConversation, script: Script) -> None:
    """They stand in parts of some lines, and in their words."""
    lines = [f"Thought {number}: the corner lies where the reactance equals R1." for number in range(400)]
    text = "\n".join(lines) + "\n\n" + "word " * 4_000 + "\nend"
    view.apply([Added(item=AnswerText(key="a", text="", is_streaming=True))])
    for at in range(0, len(text), 37):
        view.apply([Streamed(key="a", reasoning=text[at : at + 37])])
    shown, parts = await script(
        "(() => { const box = document.querySelector('.reasoning');"
        " return [box.innerText, [...box.children].map(each => each.textContent.length)]; })()"
    )
    assert shown.split() == text.split()
    assert shown.startswith("\n".join(lines))
    assert max(parts) < 8_100
    assert len(parts) > 10


async def test_nothing_of_a_model_runs_or_is_loaded(view: WebConversation, script: Script) -> None:
    hostile = (
        "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>\n\n"
        "[click](javascript:window.ran=3) ![x](http://127.0.0.1:9/a.png) "
        "<iframe src='http://127.0.0.1:9'></iframe>\n\n"
        "$\\href{javascript:window.ran=4}{x}$ $\\htmlData{act=undo}{y}$ "
        "`</code><script>window.ran=5</script>`\n\n"
        "```spice\n</code></pre><script>window.ran = 6</script>\n```\n"
        "<a data-act='undo' href='file:///etc/passwd'>z</a>"
    )
    view.apply([Added(item=UserText(key="u", text=hostile)), Added(item=AnswerText(key="a", text=hostile))])
    view.apply([Added(item=AnswerText(key="s", text="", is_streaming=True)), Streamed(key="s", text=hostile)])
    assert await script("window.ran === undefined")
    assert await script("document.querySelectorAll('#items img, #items iframe, #items script').length") == 0
    assert await script("document.querySelectorAll('.answer [data-act]').length") == 0
    links = await script(
        "[...document.querySelectorAll('.answer a')].map(a => a.getAttribute('href')).join(' ')"
    )
    assert "javascript" not in links
    assert "file:" not in links
    # Even a script of the page's own could reach nothing outside its folder.
    await script(
        "window.reached = 'pending'; fetch('http://127.0.0.1:9/').then(() => window.reached = 'yes',"
        " () => window.reached = 'no'); 1"
    )
    for _ in range(200):
        if await script("window.reached") != "pending":
            break
        await asyncio.sleep(0.01)
    assert await script("window.reached") == "no"
    await script("eval && (() => { try { eval('window.ran = 7') } catch (refused) {} })(); 1")
    assert await script("window.ran === undefined")


async def test_a_click_on_undo_tells_the_window_and_a_fold_stays_as_it_was_left(
    view: WebConversation, script: Script, until: Until
) -> None:
    told: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *what: told.append(what))
    diff = diff_texts("R1 a b 1k\n", "R1 a b 2k\n", path="a.cir")
    card = OperationCard(
        key="c", tool="patch_file", path="a.cir", state="done", diff=diff, standing="stands", tip="c"
    )
    view.apply([Added(item=card)])
    assert await script("document.querySelector('[data-key=c] details').open")
    assert await script(
        "[...document.querySelectorAll('[data-key=c] mark')].map(m => m.innerText).join()"
    ) == ("1k,2k")
    await script("document.querySelector('[data-act=undo]').click(); 1")
    await until(lambda: told)
    assert told == [("undo", "c", "")]
    assert await script("document.querySelector('[data-key=c] details').open")  # not folded by the click
    await toggle(script, "[data-key=c] summary")
    view.apply([Updated(item=card)])
    assert not await script("document.querySelector('[data-key=c] details').open")
    await script("document.querySelector('[data-key=c] a.file').click(); 1")
    await until(lambda: len(told) == 2)
    assert told[1] == ("open", "c", "a.cir:1")


async def test_what_changes_before_it_is_shown_is_shown_changed(
    view: WebConversation, script: Script, until: Until
) -> None:
    coming = AnswerText(key="c", text="Each stage loses", is_streaming=True)
    said = tuple(UserText(key=str(n), text=f"message {n}") for n in range(60))
    view.apply([Reset(items=(coming, *said))])
    view.apply([Updated(item=UserText(key="3", text="another")), Removed(key="4")])
    await until(lambda: not view._older)
    assert "Each stage" in await script("document.querySelector('[data-key=c]').textContent")
    shown = "[...document.querySelectorAll('.item .user')].map(e => e.firstChild.textContent)"
    assert await script(f"{shown}.slice(2, 5).join()") == "message 2,another,message 5"
    assert await script(f"{shown}.length") == 59


@pytest.mark.parametrize(("number", "marked_ms"), [(7, 500), (370, 60_000)])
async def test_a_row_that_was_looked_for_is_in_sight_and_stands_out_for_a_moment(
    view: WebConversation,
    script: Script,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    marked_ms: int,
) -> None:
    """It stays where it is while the rows above it come."""
    monkeypatch.setattr("presentation.panels.conversation.web_view.MARKED_MS", marked_ms)
    rows = tuple(UserText(key=str(each), text=f"message {each}") for each in range(400))
    view.apply([Reset(items=rows, place=ScrollPlace(str(number), is_marked=True))])
    await until(lambda: not view._slices.isActive())
    row = f"document.querySelector('[data-key=\"{number}\"]')"
    box = f"{row}.getBoundingClientRect()"
    assert await script(f"{box}.top >= -1 && {box}.bottom <= innerHeight + 1")
    is_marked = f"{row}.classList.contains('found')"
    if marked_ms > 1_000:
        assert await script(is_marked)
        return
    while await script(is_marked):  # noqa: ASYNC110 - the page tells nobody
        await asyncio.sleep(0.02)


async def test_of_ten_thousand_rows_those_far_above_come_when_somebody_scrolls_up_to_them(
    view: WebConversation, script: Script, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presentation.panels.conversation.web_view._UNASKED", 24)
    view.apply([Reset(items=tuple(UserText(key=str(n), text=f"message {n}") for n in range(10_000)))])
    count = "document.querySelectorAll('.item').length"
    await until(lambda: not view._slices.isActive())
    shown = await script(count)
    assert 64 <= shown < 300
    first = f"document.querySelector('[data-key=\"{10_000 - shown}\"]').getBoundingClientRect().top"
    log = "document.getElementById('log')"
    await script(f"{log}.dispatchEvent(new WheelEvent('wheel', {{deltaY: -1}})); {log}.scrollTop = 0; 1")
    await until(lambda: len(view._older) < 10_000 - shown)
    await until(lambda: not view._slices.isActive())
    assert shown + 60 <= await script(count) < 500
    assert await script(f"Math.abs({first})") < 50  # where somebody reads stays where it is
    # At the end again, rows far above go as new ones come, and come again to whoever scrolls up to them.
    monkeypatch.setattr("presentation.panels.conversation.web_view._MOST_SHOWN", 80)
    view.scroll_to_end()
    await until(lambda: not view.place.key)
    for number in range(10_000, 10_012):
        view.apply([Added(item=UserText(key=str(number), text=f"message {number}"))])
    assert await script(count) == len(view._shown) <= 80
    few = len(view._shown)
    await script(f"{log}.dispatchEvent(new WheelEvent('wheel', {{deltaY: -1}})); {log}.scrollTop = 0; 1")
    await until(lambda: len(view._shown) >= few + 60 and not view._slices.isActive())
    texts = "[...document.querySelectorAll('.item .user')].map(e => e.firstChild.textContent).join()"
    assert await script(texts) == ",".join(f"message {number}" for number in map(int, view._shown))
    assert [*view._shown] == [str(number) for number in range(10_012 - len(view._shown), 10_012)]


async def test_the_newest_is_kept_in_sight_until_somebody_scrolls_up(
    view: WebConversation, script: Script, until: Until
) -> None:
    view.apply([Reset(items=tuple(UserText(key=str(n), text=f"message {n}") for n in range(60)))])
    await until(lambda: not view._older)
    at_end = (
        "document.getElementById('log').scrollHeight - document.getElementById('log').scrollTop - "
        "document.getElementById('log').clientHeight < 30"
    )
    assert await script(at_end)
    assert await script("document.querySelectorAll('.item').length") == 60
    assert await script("document.querySelector('.item .user').firstChild.textContent") == "message 0"
    await script(
        "document.getElementById('log').dispatchEvent(new WheelEvent('wheel', {deltaY: -50}));"
        "document.getElementById('log').scrollTop = 100; 1"
    )
    view.apply([Added(item=UserText(key="new", text="news"))])
    assert await script("document.getElementById('log').scrollTop < 200")
    assert await script("document.getElementById('newer').innerText") == "1 new"
    await script("document.getElementById('newer').click(); 1")
    assert await script(at_end)
    assert await script("document.getElementById('newer').hidden")


async def test_theme_and_language_reach_the_page(
    view: WebConversation, script: Script, services: WindowServices
) -> None:
    view.restyle()
    assert await script("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    services.theme.set_mode("dark")
    view.restyle()
    dark = services.theme.theme.color("surface.base")
    assert await script("getComputedStyle(document.body).backgroundColor") == (
        f"rgb({dark.red()}, {dark.green()}, {dark.blue()})"
    )
    services.language.set("zh")
    view.retranslate()
    assert await script("document.documentElement.lang") == "zh-CN"
    loaded = await script("document.fonts.load('13px Inter').then(found => window.faces = found.length); 1")
    assert loaded == 1
    for _ in range(200):
        if await script("window.faces ?? -1") >= 0:
            break
        await asyncio.sleep(0.01)
    assert await script("window.faces") == 1


async def test_the_panel_brings_the_page_and_a_mouse_click_undoes(
    services: WindowServices, project: Path, until: Until
) -> None:
    before = (project / "filter.cir").read_text()
    services.workspace.root = project
    panel = ConversationPanel(services, services.app)
    panel.resize(440, 700)
    panel.show()
    await until(lambda: isinstance(panel.view, WebConversation) and panel.view.is_ready, timeout_s=30)
    view = panel.view
    assert isinstance(view, WebConversation)
    panel.composer.set_text("set R1 to 2k in filter.cir")
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(lambda: not panel.is_running and "2k" in (project / "filter.cir").read_text())

    async def box(selector: str) -> list[float] | None:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        view.page.runJavaScript(
            f"(() => {{ const e = document.querySelector('{selector}'); if (!e) return null;"
            " const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;"
            " return e.contains(document.elementFromPoint(x, y)) ? [x, y] : null; })()",
            answer.set_result,
        )
        async with asyncio.timeout(20):
            return await answer

    target = view.findChild(QWebEngineView).focusProxy()
    # Chromium drops a click that comes before it has painted, and rows move while others are added: as a
    # person would, click where the button has come to rest, again as long as nothing is begun.
    place: list[float] | None = None
    for _ in range(400):
        last, place = place, await box("[data-act=undo]")
        if any(getattr(item, "standing", "") in ("undoing", "undone") for item in panel.model.items):
            break
        if place is not None and place == last:
            QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=QPoint(round(place[0]), round(place[1])))
        await asyncio.sleep(0.05)
    await until(lambda: (project / "filter.cir").read_text() == before)
    await until(lambda: any(getattr(item, "standing", "") == "undone" for item in panel.model.items))

    # From the message box Shift+Tab leads to the page's last button, as what stands above it.
    before_input: QWidget | None = panel.composer.edit
    while before_input := before_input.previousInFocusChain() if before_input else None:
        if before_input.isVisible() and before_input.focusPolicy() & Qt.FocusPolicy.TabFocus:
            break
    assert before_input is target
    panel.close_panel()
    panel.close()


async def test_a_message_is_changed_in_its_row_by_keys(
    services: WindowServices, project: Path, until: Until
) -> None:
    services.workspace.root = project
    panel = ConversationPanel(services, services.app)
    panel.resize(440, 700)
    panel.show()
    await until(lambda: isinstance(panel.view, WebConversation) and panel.view.is_ready, timeout_s=30)
    view = panel.view
    assert isinstance(view, WebConversation)

    async def run(source: str) -> Any:
        told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        view.page.runJavaScript(source, told.set_result)
        async with asyncio.timeout(20):
            return await told

    async def comes(source: str, wanted: object) -> None:
        async with asyncio.timeout(20):
            while await run(source) != wanted:  # noqa: ASYNC110 - the page has no event
                await asyncio.sleep(0.02)

    def said() -> list[UserText]:
        return [item for item in panel.model.items if isinstance(item, UserText)]

    panel.composer.set_text("list the files")
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(lambda: not panel.is_running and panel.session_id)
    target = view.findChild(QWebEngineView).focusProxy()
    edit = "document.querySelector('[data-act=edit]').click(); 1"
    field = "document.querySelector('textarea')"
    await run(edit)
    await comes(f"document.activeElement === {field} && {field}.value", "list the files")
    await until(target.hasFocus)
    QTest.keyClicks(target, ", please")
    await comes(f"{field}.value", "list the files, please")
    await until(lambda: panel.model.versions.row_draft == "list the files, please")
    services.language.set("zh")  # drawn anew, with what was written
    await comes(f"{field}?.value", "list the files, please")
    services.language.set("en")
    await comes(f"{field}?.value", "list the files, please")
    await run(f"{field}.focus(); 1")
    QTest.keyClick(target, Qt.Key.Key_Escape)
    await comes("document.querySelectorAll('textarea').length", 0)
    assert [item.text for item in said()] == ["list the files"]
    await run(edit)
    await comes(f"document.activeElement === {field}", True)
    QTest.keyClicks(target, " again")
    QTest.keyClick(target, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    await comes(f"{field}.value", "list the files again\n")
    QTest.keyClick(target, Qt.Key.Key_Return)
    await until(lambda: [item.text for item in said()] == ["list the files again"])
    await until(lambda: not panel.is_running)
    assert len(said()[0].versions) == 2
    await comes("document.querySelectorAll('textarea').length", 0)
    panel.close_panel()
    panel.close()


async def test_a_probe_that_was_answered_well_and_confirmed_asks_no_child_again(tmp_path: Path) -> None:
    def state() -> str:
        return json.loads((tmp_path / "webview.json").read_text())["state"]

    first = WebProbe(tmp_path)
    assert await first.works()
    assert state() == "trying"  # until a page was shown: a start that crashes here leaves this word
    await first.confirm()
    assert state() == "works"
    assert await WebProbe(tmp_path, ask_child=refuse).works()
    (tmp_path / "webview.json").write_text("{broken")
    assert not await WebProbe(tmp_path, ask_child=refuse).works()
    assert state() == "fails"


async def refuse() -> bool:
    return False


async def test_a_card_of_calls_is_answered_by_keys(
    view: WebConversation, services: WindowServices, script: Script, until: Until
) -> None:
    acted: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *told: acted.append(told))
    asked = Confirmation(key="card", card=card_of_everything())
    view.apply([Reset(items=()), Added(item=asked)])
    labels = "[...document.querySelectorAll('[data-key=card] button')].map(b => b.innerText).join('|')"
    assert await script(labels) == "Allow|Always allow|Refuse|Allow|Refuse|Allow all|Refuse all"
    assert await script("document.querySelector('[data-key=card] details').open") is True  # it is short
    assert await script("document.querySelectorAll('[data-key=card] script').length") == 0
    # Tab reaches the buttons in their order; the page's own keys press them.
    await script("document.querySelector('[data-arg=\"refuse:2\"]').focus()")
    assert await script("document.activeElement.tabIndex") == 0
    await script("document.activeElement.click()")
    await until(lambda: bool(acted))
    assert acted == [("confirm", "card", "refuse:2")]
    view.apply([Updated(item=replace(asked, state="expired"))])
    assert await script("document.querySelectorAll('[data-key=card] button').length") == 0


async def test_what_can_be_done_with_code_knows_its_block_while_it_comes_and_afterwards(
    view: WebConversation, script: Script, until: Until
) -> None:
    acted: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *what: acted.append(what))
    long = "".join(f"R{n} a b {n}k\n" for n in range(1, 900))  # longer than one block: more than one element
    text = f"```python\nx\n```\nThen\n```spice\n{long}```\nand\n```spice\nC1 a 0 1n\n```\nEnd."
    view.apply([Reset(items=()), Added(item=AnswerText(key="s", text="", is_streaming=True))])
    view.apply([Streamed(key="s", text=text)])
    labels = "[...document.querySelectorAll('.answer button')].map(b => b.innerText || b.title).join('|')"
    wanted = "Copy|Insert as file…|Run…|Copy|Show 7{} more lines|Copy|Insert as file…|Run…|Copy"
    for _ in range(2):
        found = await script(labels)
        assert found.split("|")[:4] == wanted.split("|")[:4]
        assert found.split("|")[-3:] == wanted.split("|")[-3:]
        acted.clear()
        await script("[...document.querySelectorAll('[data-code]')].forEach(button => button.click()); 1")
        await until(lambda: len(acted) == 8)
        # The second part of the long netlist is copied whole, as its first.
        numbers = ["0", "1", "1", "1", "1", "2", "2", "2"]
        assert [what[1:] for what in acted] == [("s", number) for number in numbers]
        assert code_in(text)[1] == long
        view.apply([Updated(item=AnswerText(key="s", text=text))])


async def test_lines_of_longer_code_have_numbers_that_no_copy_has(
    view: WebConversation, script: Script
) -> None:
    long = "".join(f"R{n} a b {n}k\n" for n in range(1, 900))  # longer than one block: more than one element
    text = f"```spice\n{long}```\nand\n```spice\nC1 a 0 1n\n```\n"
    shown = (
        "[...document.querySelectorAll('pre.code > code')].map(code => ["
        "code.dataset.lines?.split('\\n').map(Number) ?? [], code.textContent.trim().split('\\n').length])"
    )
    view.apply([Added(item=AnswerText(key="a", text=text))])
    *parts, short = json.loads(await script(f"JSON.stringify({shown})"))
    assert len(parts) > 1
    assert [number for numbers, _ in parts for number in numbers] == list(range(1, 900))
    assert all(len(numbers) == lines for numbers, lines in parts)
    assert short == [[], 1]
    select = "getSelection().selectAllChildren(document.querySelector('pre.code')); getSelection().toString()"
    assert (await script(select)).startswith("R1 a b 1k\nR2 a b 2k\n")
    # Each number stands beside its line: the drawn column is as high as the text.
    heights = (
        "(() => { const code = document.querySelector('pre.code > code');"
        " const drawn = getComputedStyle(code, '::before').height;"
        " return `${parseFloat(drawn)},${code.getBoundingClientRect().height}`; })()"
    )
    drawn, text_height = map(float, (await script(heights)).split(","))
    assert drawn == pytest.approx(text_height, abs=1)
    assert text_height > 100


async def test_a_name_acts_by_the_enter_key_and_a_card_within_a_line_by_its_own_key(
    view: WebConversation, script: Script, until: Until
) -> None:
    acted: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *what: acted.append(what))
    view.names = Names(circuits={"a.cir": CircuitNames(nodes=frozenset({"out"}))})
    change = OperationCard(
        key="c", tool="rewrite_file", path="a.cir", state="done", standing="stands", tip="c"
    )
    steps = Steps(key="steps", items=(change,))
    view.apply([Reset(items=(AnswerText(key="a", text="See v(out)."), steps))])
    await script(
        "(() => { const name = document.querySelector('[data-key=a] .name'); name.focus();"
        " const key = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true });"
        " document.activeElement.dispatchEvent(key);"
        " document.querySelector('[data-act=undo]').click(); })(); 1"
    )
    await until(lambda: len(acted) == 2)
    assert acted == [("trace", "a", "v(out)"), ("undo", "c", "")]
    await toggle(script, "details.steps > summary")
    view.apply([Updated(item=steps)])
    assert await script("document.querySelector('details.steps').open")


async def test_the_place_of_a_tab_is_told_and_found_again(
    view: WebConversation, script: Script, until: Until
) -> None:
    rows = tuple(UserText(key=f"r{number}", text=f"Row {number}") for number in range(200))
    log, row = "document.getElementById('log')", "document.querySelector('[data-key=r20]')"
    above = f"{log}.getBoundingClientRect().top - {row}.getBoundingClientRect().top"
    view.apply([Reset(items=rows)])
    assert view.place == ScrollPlace()
    view.apply([Reset(items=rows, place=ScrollPlace("r20", 7))])
    await until(lambda: not view._slices.isActive())
    async with asyncio.timeout(20):
        while abs(await script(above) - 7) > 1:  # noqa: ASYNC110 - rows that come near get their height
            await asyncio.sleep(0.02)
    await until(lambda: view.place == ScrollPlace("r20", 7))  # the page tells it a while later
    await script(f"{log}.dispatchEvent(new WheelEvent('wheel', {{deltaY: -1}}))")
    await script(f"{log}.scrollTop -= 400")
    await until(
        lambda: view.place.key in {f"r{number}" for number in range(20)}
    )  # rows out of sight have no height of their own yet
    view.apply([Reset(items=(UserText(key="other", text="Another tab"),))])
    assert view.place == ScrollPlace()
    view.apply([Reset(items=rows, place=ScrollPlace("gone", 7))])  # of a row that is no more: the end
    assert await script(f"{log}.scrollHeight - {log}.scrollTop - {log}.clientHeight") < 2
