"""A conversation of 10,000 rows of every kind, from its items to its last row painted, in both views.

Against one of 40 rows: a view that draws what is seen, and no more, comes near a ratio of 1. The goal is
under a second.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import bootstrap
from presentation.panels.conversation.items import Item, Reset, UserText
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_probe import prepare_environment
from presentation.panels.conversation.web_view import WebConversation
from presentation.window.application import build_services, make_qt_application, read_catalogues
from shared.paths import USER_HOME_VARIABLE
from tests.benchmarks.harness import Pair
from tests.gui.row_states import row_states

MANY, FEW = 10_000, 40
_PATIENCE_S = 60.0


def rows(count: int) -> tuple[Item, ...]:
    """Rows of every kind in turn, each with a key of its own."""
    states = row_states()
    return tuple(_with_key(states[number % len(states)], f"row-{number}") for number in range(count))


def _with_key(item: Item, key: str) -> Item:
    if isinstance(item, UserText) and item.versions:  # it is one of its versions itself
        return replace(item, key=key, versions=("earlier", key))
    return replace(item, key=key)


def pairs() -> list[Pair]:
    """Both views show the one conversation, then the other, in turns."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ[USER_HOME_VARIABLE] = tempfile.mkdtemp()
    prepare_environment()
    application = make_qt_application([])
    read_catalogues()
    services = build_services(bootstrap.build(), mode="light", language="en")
    plain, web = PlainConversation(services), WebConversation(services)
    kept.extend((application, plain, web))
    for view in (plain, web):
        view.resize(440, 800)
        view.show()
    _wait(lambda: web.is_ready)
    many, few = rows(MANY), rows(FEW)

    def in_plain(items: tuple[Item, ...]) -> None:
        plain.apply([Reset(items=items)])
        plain.surface.grab()

    def in_web(items: tuple[Item, ...]) -> None:
        web.apply([Reset(items=items)])
        _wait_for_page(web, items[-1].key)
        web.grab()

    return [
        Pair(
            name=f"{MANY} rows, {name} view",
            ours=partial(show, many),
            theirs=partial(show, few),
            theirs_name=f"{FEW} rows",
            before_each=partial(show, ()) if name == "plain" else partial(_emptied, web),
            rounds=5,
            note="under 1 s is the aim",
        )
        for name, show in (("plain", in_plain), ("web", in_web))
    ]


def _emptied(web: WebConversation) -> None:
    web.apply([Reset(items=())])
    _wait_for(web, "document.querySelectorAll('[data-key]').length === 0")


def _wait_for_page(web: WebConversation, key: str) -> None:
    _wait_for(
        web, f"(document.querySelector('[data-key=\"{key}\"]')?.getBoundingClientRect().height ?? 0) > 0"
    )


def _wait_for(web: WebConversation, condition: str) -> None:
    answers: list[object] = []
    asked = time.monotonic()
    while True not in answers:
        got = len(answers)
        web.page.runJavaScript(condition, answers.append)
        _wait(lambda got=got: len(answers) > got)
        assert time.monotonic() - asked < _PATIENCE_S, condition


def _wait(condition: Callable[[], object]) -> None:
    application, begin = kept[0], time.monotonic()
    while not condition():
        application.processEvents()  # type: ignore[attr-defined]
        assert time.monotonic() - begin < _PATIENCE_S, "the page never answered"


kept: list[object] = []
"""The application first, as long as there are widgets."""
