"""Whatever can be clicked in a row is reached by the Tab key, in both views, and it is seen where one is."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QTextBrowser

from presentation.panels.conversation.items import Reset
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_view import WebConversation
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.row_states import NAMES, row_states
from tests.gui.test_conversation_web_view import (  # noqa: F401 - fixtures
    Script,
    chromium,
    script,
    view,
)
from tests.gui.test_plain_view import links

pytestmark = pytest.mark.timeout(120)

_CLICKABLE = """
(() => {
  const all = document.querySelectorAll(
    "#items :is([data-act], [data-code], [data-unfold], [data-more], a[href], summary):not(:disabled)");
  const isNext = each => each.matches(".row:has(.ln[data-act]) + .row > .ln"); // only the first line
  window.wanted = [...all].filter(each => each.checkVisibility() && !isNext(each));
  window.met = new Map();
  document.addEventListener("focusin", () => {
    const at = document.activeElement, look = getComputedStyle(at);
    const shown = [...function* () { for (let up = at; up; up = up.parentElement) yield up; }()];
    const seen = shown.every(each => getComputedStyle(each).opacity > 0);
    window.met.set(at, seen && look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0);
  });
  document.querySelector("#log").focus();
  return window.wanted.length;
})()
"""
_LEFT = """
[...window.wanted].filter(each => !window.met.has(each)).map(each => each.outerHTML.slice(0, 200))
"""
_UNSEEN = """
[...window.met].filter(([each, seen]) => !seen).map(([each]) => each.outerHTML.slice(0, 200))
"""


async def test_every_row_of_the_page_is_walked_by_keys(
    view: WebConversation,  # noqa: F811
    script: Script,  # noqa: F811
    until: Until,
) -> None:
    view.names = NAMES
    view.apply([Reset(items=row_states())])
    await script("document.documentElement.style.setProperty('--duration_ms-hover', '0ms')")
    await script("for (const each of document.querySelectorAll('details')) each.open = true")
    ways = "[...document.querySelectorAll('[data-act=version]')].map(each => each.disabled)"
    assert await script(ways) == [False, True]  # there is none behind the newest
    count = await script(_CLICKABLE)
    assert count > 100
    surface: Any = view._view.focusProxy()
    surface.setFocus()
    for _ in range(count + 40):  # tables and code that scroll are places too
        QTest.keyClick(surface, Qt.Key.Key_Tab)
    for _ in range(200):
        if not (left := await script(_LEFT)):
            break
    assert left == []
    assert await script(_UNSEEN) == []


async def test_every_link_of_the_plain_view_is_walked_by_keys(services: WindowServices) -> None:
    view = PlainConversation(services)  # noqa: F811
    view.names = NAMES
    view.apply([Reset(items=row_states())])
    view.show()
    there = links(view)
    assert len(there) > 80
    surface = view.surface
    assert isinstance(surface, QTextBrowser)
    surface.setFocus()
    met: set[str] = set()
    for _ in range(3 * len(there)):  # one address may stand at several places
        QTest.keyClick(surface, Qt.Key.Key_Tab)
        cursor = surface.textCursor()
        if (address := cursor.charFormat().anchorHref()) and cursor.hasSelection():  # drawn as chosen: seen
            met.add(QUrl(address).path() if address.startswith("act:") else address)
    assert there - met == set()
    view.close()
