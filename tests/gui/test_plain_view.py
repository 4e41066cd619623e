"""The conversation without a web view: the rows and cards of the page, their ways on, and what folds."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QTextDocument, QTextImageFormat
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QTextBrowser

from presentation.panels.conversation.empty import empty_page
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    Added,
    AnswerText,
    Removed,
    Reset,
    Retry,
    ScrollPlace,
    Steps,
    Streamed,
    Updated,
    UserText,
)
from presentation.panels.conversation.plain_document import numbered_lines
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.gui.conftest import Until
from tests.gui.row_states import row_states
from tests.gui.stories.token_stream import LAST_WORDS, text_of

ITEMS = row_states()


@pytest.fixture
def view(services: WindowServices) -> Iterator[PlainConversation]:
    made = PlainConversation(services)
    made.resize(440, 900)
    made.apply([Reset(items=ITEMS)])
    while made._older:
        made._show_slice()
    made.show()
    yield made
    made.close()


def browser(view: PlainConversation) -> QTextBrowser:
    assert isinstance(view.surface, QTextBrowser)
    return view.surface


def document(view: PlainConversation) -> QTextDocument:
    found = browser(view).document()
    assert found is not None
    return found


def links(view: PlainConversation) -> set[str]:
    """The addresses of every link, in their decoded form."""
    found, block = set(), document(view).begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            if address := place.fragment().charFormat().anchorHref():
                found.add(QUrl(address).path() if address.startswith("act:") else address)
            place += 1
        block = block.next()
    return found


def pictures(view: PlainConversation) -> set[str]:
    found, block = set(), document(view).begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            look = place.fragment().charFormat()
            if look.isImageFormat():
                found.add(QTextImageFormat(look.toImageFormat()).name())
            place += 1
        block = block.next()
    return found


def follow(view: PlainConversation, path: str) -> None:
    url = QUrl()
    url.setScheme("act")
    url.setPath(path)
    browser(view).anchorClicked.emit(url)


def test_every_act_of_the_page_can_be_done_in_the_plain_view(
    view: PlainConversation, services: WindowServices
) -> None:
    page = HtmlItems(services.language)
    plain = {tuple(path.split("/", 2)[:2]) for path in links(view)}
    for item in ITEMS:
        tags = re.findall(r'<[a-z]+( [^>]*data-act="([^"]*)"[^>]*)>', page(item))
        wanted = {act for tag, act in tags if " disabled" not in tag}
        if isinstance(item, UserText):
            wanted.discard("copy")  # marked and copied, as any text
        if isinstance(item, Steps):  # folded here: tests/gui/test_folded_steps.py opens it
            continue
        missing = {act for act in wanted if (act, item.key) not in plain}
        assert not missing, (item.key, missing)
    assert "https://example.org/rc" in links(view)


def test_cards_say_what_the_page_says(view: PlainConversation) -> None:
    for words in (
        "1 of 2 read from your sentence", "my proposal", "round 1", "0.12 s", "attempt 3", "Thought for 3 s",
        "Sources from the web: 1", "−7 lines, +1 line", "+100 %", "−60 %", "after 82 characters",
    ):  # fmt: skip
        assert words in view.text, words
    drawn = pictures(view)
    assert {"icon:flag?warn.icon", "icon:target?text.secondary", "bar:-1.000?error"} <= drawn
    for name in drawn:  # each is a real picture
        assert (
            not browser(view)
            .loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name))
            .isNull()
        )


def test_the_keyboard_goes_from_link_to_link_with_a_ring_around_it(view: PlainConversation) -> None:
    surface = view.surface
    view.activateWindow()
    surface.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.qWait(20)
    assert surface.hasFocus()
    assert surface.ringed() == []
    places = []
    for _ in range(3):
        QTest.keyClick(surface, Qt.Key.Key_Tab)
        (ring,) = surface.ringed()
        places.append((ring.top() + view.surface.bar.value(), ring.left()))
        x, y = ring.left() - 3, ring.center().y()
        viewport = surface.viewport()
        assert viewport is not None
        ratio = viewport.devicePixelRatioF()
        drawn = viewport.grab().toImage().pixelColor(round(x * ratio), round(y * ratio))
        assert drawn == view._services.theme.theme.color("focus_ring")
    assert len(set(places)) == 3
    chosen = surface.textCursor()
    chosen.setPosition(chosen.selectionStart() + 1)
    chosen.movePosition(chosen.MoveOperation.Right, chosen.MoveMode.KeepAnchor)
    surface.setTextCursor(chosen)
    assert surface.ringed() == [], "a text that was selected is no link"


def test_what_is_folded_opens_and_closes_in_place(view: PlainConversation) -> None:
    acted: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *what: acted.append(what))
    assert "thinking of R and C" not in view.text
    follow(view, "fold/a/thought")
    assert "thinking of R and C" in view.text
    follow(view, "fold/a/thought")
    assert "thinking of R and C" not in view.text
    assert "R41 in out 41k" not in view.text
    follow(view, "fold/big/diff")  # a long change is folded, and its rest once more
    assert "R2 in out 2k" in view.text
    assert "R41 in out 41k" not in view.text
    follow(view, "fold/big/rest")
    assert "R41 in out 41k" in view.text
    assert not acted
    follow(view, "answer/d/continue")
    assert acted == [("answer", "d", "continue")]


def test_nothing_of_a_stranger_becomes_markup_or_is_loaded(view: PlainConversation) -> None:
    assert "<script>alert(1)</script>" in view.text
    kind = QTextDocument.ResourceType.ImageResource.value
    assert browser(view).loadResource(kind, QUrl("https://example.org/x.png")) is None
    assert browser(view).loadResource(kind, QUrl("file:///etc/passwd")) is None


def test_a_retry_counts_down_and_ends_with_its_row(view: PlainConversation) -> None:
    assert "Retrying in" in view.text
    began = time.monotonic() - 4  # as if four seconds had gone by
    view.apply([Updated(item=Retry(key="t", reason=msg("No answer received"), attempt=2, ends=began + 9.4))])
    assert "Retrying in 5 s" in view.text
    view.retranslate()  # another theme, another language: the wait is what it was
    assert re.search("Retrying in [45] s", view.text)
    assert view._countdown.isActive()
    later = time.monotonic() + 30.4
    view.apply([Updated(item=Retry(key="t", reason=msg("No answer received"), attempt=3, ends=later))])
    assert "Retrying in 30 s" in view.text
    view.apply([Removed(key="t")])
    view._count_down()
    assert not view._countdown.isActive()


def test_an_empty_conversation_has_its_questions(view: PlainConversation) -> None:
    view.show_empty(empty_page(root=Path("project"), main_circuit=None, mode="workflow"))
    assert "Design a 10 kHz second-order low-pass filter" in view.text
    acted: list[tuple[str, str, str]] = []
    view.acted.connect(lambda *what: acted.append(what))
    asked = next(path for path in links(view) if path.startswith("ask/"))
    follow(view, asked)
    assert acted[0][0] == "ask"
    assert acted[0][2] in view.text


@pytest.mark.parametrize(
    "piece", ["A line of a long answer.\n", "words without an end of line ", "oneWordWithoutAnEndEither,"]
)
async def test_a_long_answer_that_comes_is_whole_in_its_parts_and_when_it_has_come(
    services: WindowServices, piece: str
) -> None:
    """Each part is laid out by itself: what comes costs the same behind 1 kB and behind 200."""
    view = PlainConversation(services)
    coming = AnswerText(key="a", text="", model="m", is_streaming=True)
    view.apply([Added(item=coming), Added(item=UserText(key="b", text="behind"))])
    words = "".join(piece.split())
    for _ in range(700):
        view.apply([Streamed(key="a", text=piece)])
    assert "".join(view.text.split()).count(words) == 700
    assert view.text.splitlines()[-1].startswith("behind")
    assert max(map(len, view.text.splitlines())) < 1_100
    frames = [view._frames["a"], *(part.frame for part in view._parts["a"])]
    assert max(each.lastPosition() - each.firstPosition() for each in frames) < 8_200  # a block
    view.apply([Updated(item=replace(coming, text=piece * 700, is_streaming=False))])
    assert "".join(view.text.split()).count(words) == 700
    assert max(map(len, view.text.splitlines())) < 1_100
    assert not view._coming
    assert all(part.what for part in view._parts.get("a", ()))
    view.apply([Streamed(key="a", text=piece * 700), Streamed(key="a", text=piece), Removed(key="a")])
    assert piece.strip() not in view.text
    assert "behind" in view.text
    view.close()
    view.deleteLater()


def test_an_answer_that_came_is_drawn_already_when_it_ends(services: WindowServices) -> None:
    """However long it is: its head, what stood as it came, and no more; the rest is what it would be."""
    view, again = PlainConversation(services), PlainConversation(services)
    coming = AnswerText(key="a", text="", model="m", is_streaming=True)
    text, drawn = text_of(9_000), list[int]()
    view.apply([Added(item=coming), Streamed(key="a", text="", reasoning="A thought. ")])
    for at in range(0, len(text), 90):
        view.apply([Streamed(key="a", text=text[at : at + 90])])
    assert "Stage 5: where the corner goes" in view.text
    assert "## Stage" not in view.text
    write, frames = view._write, [part.frame for part in view._parts["a"]]
    view._write = lambda frame, piece: (drawn.append(len(piece.html())), write(frame, piece))[-1]  # type: ignore[method-assign]
    done = replace(coming, text=text, reasoning="A thought. ", is_streaming=False)
    view.apply([Updated(item=done)])
    assert sum(drawn) < 6_000
    assert sum(part.frame in frames for part in view._parts["a"]) >= len(view._parts["a"]) - 2
    again.apply([Reset(items=(done,))])
    assert LAST_WORDS in again.text
    assert "Stage 1:" not in again.text, "it was drawn in one turn of the loop"
    while again._slices.isActive():
        again._show_slice()
    assert view.text == again.text
    assert links(view) == links(again)
    view.apply([Streamed(key="a", text="It goes on.")])
    line = view._parts["a"][-1].frame.firstCursorPosition().blockFormat()
    assert line.lineHeight() != 1, "what stands as it comes lies over the line before"
    wide = (
        "```\n"
        + "a long line of code " * 20
        + "\n```\n\n"
        + "|a" * 4
        + "|\n"
        + "|-" * 4
        + "|\n"
        + "|10 k" * 4
        + "|\n"
    )
    again.apply([Reset(items=(replace(done, text=wide),))])
    again.show()
    for width in (360, 361):
        again.resize(width, 100)
        assert not again.surface.horizontalScrollBar().maximum(), "a row is wider than the view"
    for each in (view, again):
        each.close()
        each.deleteLater()


def test_an_answer_that_is_coming_when_its_tab_is_shown_is_drawn_from_its_end(
    services: WindowServices,
) -> None:
    """Another tab's answer has come far meanwhile: a turn of the loop draws some of it, not all."""
    view, again = PlainConversation(services), PlainConversation(services)
    coming = AnswerText(key="a", text=text_of(30_000), model="m", is_streaming=True)
    stages = coming.text.count("## Stage")
    view.apply([Reset(items=(coming,))])
    assert f"Stage {stages}:" in view.text
    assert "Stage 2:" not in view.text, "it was drawn in one turn of the loop"
    view.apply([Streamed(key="a", text="\n\nIt goes on.\n\nAnd on")])
    while view._slices.isActive():
        view._show_slice()
    shown = [int(each) for each in re.findall(r"Stage (\d+):", view.text)]
    assert shown == list(range(1, stages + 1))
    assert view.text.rstrip().endswith("And on")
    done = replace(coming, text=f"{coming.text}\n\nIt goes on.\n\nAnd on", is_streaming=False)
    view.apply([Updated(item=done)])
    again.apply([Reset(items=(done,))])
    for each in (view, again):
        while each._slices.isActive():
            each._show_slice()
    assert view.text == again.text
    for each in (view, again):
        each.close()
        each.deleteLater()


async def test_of_ten_thousand_rows_those_far_above_come_when_somebody_scrolls_up_to_them(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presentation.panels.conversation.plain_view._UNASKED", 48)
    view = PlainConversation(services)
    view.resize(440, 600)
    view.show()
    view.apply([Reset(items=tuple(UserText(key=str(n), text=f"message {n}") for n in range(10_000)))])
    await until(lambda: not view._slices.isActive())
    shown = len(view._frames)
    assert 88 <= shown < 300
    bar = view.surface.verticalScrollBar()
    assert bar is not None
    bar.setValue(0)
    await until(lambda: len(view._frames) >= shown + 72 and not view._slices.isActive())
    assert len(view._frames) < 500
    assert abs(view._top_of(str(10_000 - shown)) - bar.value()) < 50  # where somebody reads stays where it is
    # At the end again, rows far above go as new ones come, and come again to whoever scrolls up to them.
    monkeypatch.setattr("presentation.panels.conversation.plain_view._MOST_SHOWN", 100)
    view.scroll_to_end()
    for number in range(10_000, 10_010):
        view.apply([Added(item=UserText(key=str(number), text=f"message {number}"))])
    assert len(view._frames) < 100
    assert bar.value() == bar.maximum()
    few = len(view._frames)
    bar.setValue(0)
    await until(lambda: len(view._frames) >= few + 72 and not view._slices.isActive())
    told = [int(line.split()[1]) for line in view.text.split("\n") if "message" in line]
    assert told == [*range(10_010 - len(told), 10_010)]
    assert len(told) == len(view._frames)
    view.close()
    view.deleteLater()


@pytest.mark.parametrize("number", [7, 370])
async def test_a_row_that_was_looked_for_is_in_sight_and_stands_out_for_a_moment(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Also where it is far above what is shown at first."""
    monkeypatch.setattr("presentation.panels.conversation.plain_view.MARKED_MS", 500)
    view = PlainConversation(services)
    view.resize(440, 600)
    view.show()
    rows = tuple(UserText(key=str(each), text=f"message {each}") for each in range(400))
    looks: set[str] = set()
    view._marking.timeout.connect(lambda: looks.add("over"))
    view.apply([Reset(items=rows, place=ScrollPlace(str(number), is_marked=True))])
    await until(lambda: view._marked == str(number))
    bar = view.surface.verticalScrollBar()
    assert bar is not None
    await until(lambda: not view._slices.isActive())
    top = view._top_of(str(number)) - bar.value()
    assert -2 <= top <= view.surface.height() - 20
    await until(lambda: looks)
    background = view._frames[str(number)].frameFormat().background().color()
    assert background == services.theme.theme.color("surface.sunken")
    view.close()
    view.deleteLater()


async def test_lines_of_longer_code_have_numbers_that_no_copy_has(services: WindowServices) -> None:
    long = "\n".join(f"R{n} a b {n}k" if n % 7 else "" for n in range(900))  # the first line is empty
    text = f"```spice\n{long}\n```\nand\n```spice\nC1 a 0 1n\n```\n"
    view = PlainConversation(services)
    view.resize(440, 900)
    view.apply([Added(item=AnswerText(key="a", text=text))])
    while view._unwritten:
        view._show_slice()
    view.show()
    layout = document(view).documentLayout()
    assert layout is not None
    drawn = list(numbered_lines(document(view).begin(), layout, math.inf))
    shown = [(line.number, line.block.text()) for line in drawn]
    assert shown == list(enumerate(long.split("\n"), start=1))
    for line, below in pairwise(drawn):  # where the layout has them, an empty one as high as the others
        assert line.before.top() == pytest.approx(layout.blockBoundingRect(line.block).top())
        assert below.before.top() - line.before.top() > 10
    assert "\nR1 a b 1k\nR2 a b 2k\n" in view.text
    view.close()


@pytest.mark.parametrize("is_shown", [True, False])
async def test_the_newest_stays_in_sight_when_what_is_below_takes_room(
    services: WindowServices, is_shown: bool
) -> None:
    view = PlainConversation(services)
    view.resize(440, 600)
    view.setVisible(is_shown)
    view.apply([Reset(items=tuple(UserText(key=str(n), text=f"message {n}") for n in range(30)))])
    view.show()  # what is filled before is laid out only now
    bar = view.surface.bar
    assert bar.value() == bar.maximum() > 0
    for height in (500, 560):  # a message waits, and is sent
        view.resize(440, height)
        assert bar.value() == bar.maximum()
    bar.triggerAction(bar.SliderAction.SliderPageStepSub)  # somebody reads above
    place = bar.value()
    view.resize(440, 400)
    assert bar.value() == place
    view.close()
    view.deleteLater()


async def test_thoughts_that_come_stand_line_below_line(services: WindowServices) -> None:
    view = PlainConversation(services)
    view.resize(440, 600)
    view.show()
    view.apply([Added(item=AnswerText(key="a", text="", model="m", is_streaming=True))])
    for _ in range(20):
        view.apply([Streamed(key="a", reasoning="I think about the corner. ")])
    layout = view._frames["a"].lastCursorPosition().block().layout()
    assert layout is not None
    assert layout.lineCount() > 3
    tops = [layout.lineAt(number).y() for number in range(layout.lineCount())]
    assert all(below - above >= layout.lineAt(0).height() - 1 > 8 for above, below in pairwise(tops))
    view.close()
    view.deleteLater()


async def test_of_long_code_no_more_than_one_block_is_drawn_in_a_turn_of_the_loop(
    services: WindowServices,
) -> None:
    """It takes a tenth of a second."""
    view = PlainConversation(services)
    block = "```spice\n" + "R1 a b 1k\n" * 700 + "```\n"
    view.apply([Reset(items=(AnswerText(key="a", text=block * 4),))])
    drawn = [view.text.count("R1 a b 1k")]
    while view._unwritten:
        view._show_slice()
        drawn.append(view.text.count("R1 a b 1k"))
    assert drawn == [700, 1_400, 2_100, 2_800]
    view.close()
    view.deleteLater()


async def test_of_a_long_answer_that_comes_the_document_holds_its_end(
    services: WindowServices, until: Until
) -> None:
    """All of it is there for whoever scrolls up, and when it has come."""
    view, text = PlainConversation(services), text_of(60_000)
    view.resize(440, 900)
    view.show()
    view.apply([Reset(items=(AnswerText(key="a", text="", is_streaming=True),))])

    def stages() -> list[int]:
        return [int(number) for number in re.findall(r"Stage (\d+):", view.text)]

    for at in range(0, len(text), 2_000):
        view.apply([Streamed(key="a", text=text[at : at + 2_000])])
        while view._unwritten:
            view._show_slice()
    count = text.count("## Stage")
    assert stages()[-1] == count
    assert len(stages()) < count / 2
    at_end = view.surface.bar.maximum()
    view.surface.bar.setValue(at_end - 400)
    await until(lambda: not view._unwritten and len(stages()) == count)
    assert stages() == list(range(1, count + 1))
    below = view.surface.bar.maximum() - view.surface.bar.value()
    assert below == pytest.approx(400, abs=30)  # what was seen stayed where it was
    view.scroll_to_end()
    view.apply([Streamed(key="a", text="\n\nMore.\n\nAnd more.\n\n")])
    assert len(stages()) < count / 2
    view.apply([Updated(item=AnswerText(key="a", text=text))])
    await until(lambda: not view._unwritten)
    assert stages() == list(range(1, count + 1))
    whole = PlainConversation(services)
    whole.apply([Reset(items=(AnswerText(key="a", text=text),))])
    while whole._unwritten:
        whole._show_slice()
    assert view.text == whole.text
    view.close()
    whole.close()
