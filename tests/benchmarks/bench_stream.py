"""A piece of an answer on its way into both views, behind 200 kB of it and behind 1 kB.

A run is 100 flushes of 40 characters each, laid out in the plain view and rendered for the page (the page
itself is a process of its own). Flat is a ratio of 1.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator

import bootstrap
from application.ports.events import AnswerStreamed
from presentation.panels.conversation.feed import RunFeed
from presentation.panels.conversation.items import ItemList, Streamed
from presentation.panels.conversation.names import Names
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_view import _Stream
from presentation.window.application import build_services, make_qt_application, read_catalogues
from shared.paths import USER_HOME_VARIABLE
from tests.benchmarks.harness import Pair
from tests.gui.stories.token_stream import text_of

PIECE, PIECES = 40, 100
LONG, SHORT = 200_000, 1_000
ONE_LINE = "word " * 40


class Coming:
    """An answer that comes, in a conversation of its own; what was sent goes round and round."""

    def __init__(self, services: object, text: str) -> None:
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
        self._text: Iterator[str] = itertools.cycle(pieces)
        self._items = ItemList()
        self._feed = RunFeed(self._items, model="m")
        self._page, self._names = _Stream(), Names()
        self._view = PlainConversation(services)  # type: ignore[arg-type]
        self._view.resize(440, 800)
        self._view.show()

    def come(self, characters: int) -> None:
        """So many characters more."""
        for _ in range(characters // 1_000):
            self._show("".join(itertools.islice(self._text, 1_000 // PIECE)))

    def go_on(self) -> None:
        for _ in range(PIECES):
            self._show(next(self._text))

    def _show(self, text: str) -> None:
        self._feed(AnswerStreamed(message_id="a", text=text))
        self._feed.flush()
        changes = self._items.take_changes()
        self._view.apply(changes)
        self._view.surface.grab()
        for change in changes:
            if isinstance(change, Streamed):
                self._page.take(change.text, self._names)


def pairs() -> list[Pair]:
    """A ratio above 1.5 would say that an update pays for what has come before it."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ[USER_HOME_VARIABLE] = tempfile.mkdtemp()
    kept.append(make_qt_application([]))
    read_catalogues()
    services = build_services(bootstrap.build(), mode="light", language="en")
    found = []
    for name, text in (("sections", text_of(20_000)), ("one endless line", ONE_LINE)):
        long, short = Coming(services, text), Coming(services, text)
        long.come(LONG)
        short.come(SHORT)
        found.append(
            Pair(
                name=f"{PIECES} updates behind {LONG // 1000} kB: {name}",
                ours=long.go_on,
                theirs=short.go_on,
                theirs_name=f"behind {SHORT // 1000} kB and what the runs add",
                rounds=3,
                most_cpu=1.5,
            )
        )
    return found


kept: list[object] = []
"""The application, as long as there are widgets."""
