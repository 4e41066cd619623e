"""The conversation without a web view: the rows and cards of the page, their ways on, and what folds."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QTextDocument, QTextImageFormat
from PyQt6.QtWidgets import QTextBrowser

from domain.llm.chat import WebSource
from domain.llm.tools.line_diff import diff_texts
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.panels.conversation.empty import empty_page
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    AnswerText,
    Confirmation,
    Decision,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Note,
    OperationCard,
    Removed,
    Reset,
    Retry,
    SimulationCard,
    Updated,
    UserText,
)
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.gui.test_confirmation_card import card_of_everything

OLD = "* RC\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 10n\n.end\n"
LONG = OLD + "".join(f"R{n} in out {n}k\n" for n in range(2, 42))
GOALS = (
    DesignGoal(metric="cutoff", expression="bandwidth(v(out))", unit="Hz", minimum=9.5e3, maximum=10.5e3),
    DesignGoal(metric="peaking", expression="max(v(out))", unit="dB", maximum=0.5, stated=False),
)
ITEMS: tuple[Item, ...] = (
    UserText(key="u", text="a low-pass\nof 10 kHz"),
    GoalsCard(key="g", goals=GOALS),
    OperationCard(key="r", tool="read_file", path="rc.cir", state="done", duration_s=0.02),
    OperationCard(
        key="o", tool="rewrite_file", path="rc.cir", state="done", standing="stands",
        diff=diff_texts(OLD, OLD.replace("1k", "1.59k"), path="rc.cir"),
    ),
    OperationCard(
        key="big", tool="rewrite_file", path="big.cir", state="done", standing="stands",
        diff=diff_texts(OLD, LONG, path="big.cir"),
    ),
    SimulationCard(
        key="s", path="rc.cir", state="done", duration_s=0.12, round_number=1,
        verdicts=tuple(
            GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=met)
            for goal, value, met in zip(GOALS, (1e4, 0.8), (True, False), strict=True)
        ),
    ),
    Decision(key="d", kind="checkpoint", number=1, met=1, total=2, can_undo=True),
    AnswerText(
        key="a", text="| part | value |\n|---|---|\n| R1 | 1.59k |\n\n```spice\nR1 in out 1k\n```",
        reasoning="thinking of R and C", model="qwen3", thought_s=3.0,
        sources=(WebSource(title="RC filter", url="https://example.org/rc"),),
    ),
    Confirmation(key="c", card=card_of_everything()),
    ErrorBlock(key="e", message=msg("No answer received"), error_type="connection", model="qwen3"),
    Retry(key="t", reason=msg("No answer received"), attempt=2, ends=time.monotonic() + 9),
    Interrupted(key="i", reason="user", characters=120),
    Note(key="no", text=msg("No project is open.")),
)  # fmt: skip


@pytest.fixture
def view(services: WindowServices) -> Iterator[PlainConversation]:
    made = PlainConversation(services)
    made.resize(440, 900)
    made.apply([Reset(items=ITEMS)])
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
        wanted = {part.split('"')[0] for part in page(item).split('data-act="')[1:]}
        if isinstance(item, UserText):
            wanted.discard("copy")  # marked and copied, as any text
        missing = {act for act in wanted if (act, item.key) not in plain}
        assert not missing, (item.key, missing)
    assert "https://example.org/rc" in links(view)


def test_cards_say_what_the_page_says(view: PlainConversation) -> None:
    for words in (
        "1 of 2 read from your sentence", "my proposal", "round 1", "0.12 s", "attempt 3", "Thought for 3 s",
        "Sources from the web: 1", "−7 lines, +1 line", "+100 %", "−60 %", "after 120 characters",
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
