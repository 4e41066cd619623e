"""Rows are written once for both views: what a new kind takes, and that every kind has its row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, get_args

import pytest
from PyQt6.QtTest import QTest

from presentation.panels.conversation.blocks import Button, Buttons, Frame, Icon, Line, Row, Text
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import Added, Item, Note, Removed, Reset, Updated, UserText
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.rows import row_of
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.benchmarks.bench_rows import rows
from tests.gui.row_states import row_states
from tests.gui.test_plain_view import document, follow, links

# --- what stands in items.py ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    key: str
    question: str


# --- what stands in rows.py -----------------------------------------------------------------------------


@row_of.register
def _poll(item: Poll) -> Row:
    head = Line("head", (Icon("flag"), Text(item.question, "bold")), (Text(msg("done"), "dim"),))
    ways = Buttons((Button(act="copy", label=msg("Copy"), argument="all"),), "buttons foot")
    return Row((Frame("card poll", (head, ways)),), "card")


# --- what follows from both -----------------------------------------------------------------------------


def test_two_functions_make_a_row_in_both_views(services: WindowServices) -> None:
    poll: Any = Poll(key="p", question="<b>Which</b> filter?")
    services.language.set("zh")
    page = HtmlItems(services.language)(poll)
    assert '<div class="card poll"><div class="head">' in page
    assert "<b>&lt;b&gt;Which&lt;/b&gt; filter?</b>" in page
    assert '<button data-act="copy" data-arg="all">复制</button>' in page
    view, acted = PlainConversation(services), []
    view.acted.connect(lambda *what: acted.append(what))
    view.apply([Reset(items=(poll,))])
    assert "<b>Which</b> filter?" in view.text
    assert "复制" in view.text
    assert links(view) == {"copy/p/all"}
    follow(view, "copy/p/all")
    assert acted == [("copy", "p", "all")]


@pytest.mark.parametrize("kind", get_args(Item), ids=lambda kind: kind.__name__)
def test_every_kind_of_item_has_a_row(kind: type) -> None:
    assert row_of.dispatch(kind) is not row_of.dispatch(object)


def test_the_rows_that_the_benchmark_shows_can_be_shown() -> None:
    """Each state under a key of its own, as in a long conversation."""
    shown = rows(2 * len(row_states()))
    assert len({item.key for item in shown}) == len(shown)
    assert all(row_of(item).blocks for item in shown)


def test_an_item_without_a_row_is_named() -> None:
    with pytest.raises(TypeError, match="no row for int"):
        row_of(3)


def _rows(count: int) -> tuple[Item, ...]:
    return tuple(
        UserText(key=str(number), text=f"message {number}", can_edit=False) for number in range(count)
    )


def _shown(view: PlainConversation) -> int:
    root = document(view).rootFrame()
    assert root is not None
    return len(root.childFrames())


def _show_all(services: WindowServices, count: int) -> tuple[PlainConversation, float]:
    """The view with all rows, and the CPU time of each of them, in seconds."""
    view = PlainConversation(services)
    view.resize(440, 900)
    view.show()
    rows = _rows(count)
    began = time.thread_time()
    view.apply([Reset(items=rows)])
    while _shown(view) < count:
        QTest.qWait(15)
    return view, (time.thread_time() - began) / count


def test_a_row_costs_the_same_in_a_long_conversation(
    services: WindowServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presentation.panels.conversation.plain_view._UNASKED", 10_000)
    _show_all(services, 100)[0].close()  # icons, fonts
    short, each_of_few = _show_all(services, 250)
    long, each_of_many = _show_all(services, 1500)
    assert each_of_many < 3.5 * each_of_few, (each_of_few, each_of_many)  # 1.2 alone, 2.8 on a busy machine
    lines = [line for line in long.text.split("\n") if line.strip()]
    assert lines == [f"message {number}" for number in range(1500)]
    short.close()
    long.close()


def test_what_changes_before_it_is_shown_is_shown_changed(services: WindowServices) -> None:
    view = PlainConversation(services)
    view.apply([Reset(items=_rows(90))])
    assert _shown(view) < 90
    view.apply(
        [
            Updated(item=Note(key="3", text=msg("done"))),
            Removed(key="4"),
            Added(item=UserText(key="new", text="the newest", can_edit=False)),
        ]
    )
    while _shown(view) < 90:
        QTest.qWait(15)
    lines = [line.replace("\ufffc", "").strip() for line in view.text.split("\n")]
    lines = [line for line in lines if line]
    assert lines[2:5] == ["message 2", "done", "message 5"]
    assert lines[-2:] == ["message 89", "the newest"]
