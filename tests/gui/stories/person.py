"""A person in front of the program: the program itself, and what eyes and hands do with it.

What is seen is read from the widgets (and from the page of the conversation, where that is a web page);
what is done comes from the X server, event by event.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from PyQt6.QtCore import QModelIndex, QPoint
from PyQt6.QtWidgets import QAbstractItemView, QApplication, QDialog, QMenu, QWidget

import bootstrap
from application.app import Application
from application.project.window_state import WindowState
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_view import WebConversation
from presentation.panels.editor.code_editor import CodeEditor
from presentation.ui.workspace import WindowServices
from presentation.window.application import delete_widgets, live
from presentation.window.main_window import MainWindow
from tests.gui.x_server import Hand, in_front

PATIENCE_S = float(os.environ.get("STORY_PATIENCE_S", "60"))
_STILL_S = 0.15
"""How long something has stood still before it is clicked."""
"""For one thing to come true; only a failing story waits so long."""

Kind = TypeVar("Kind")
Look = Callable[["Person", str], Awaitable[None]]
"""Called with the name of each state of a story when it is on the screen (`scripts/screenshots.py`)."""


@asynccontextmanager
async def program(
    hand: Hand,
    place: Path | None = None,
    *,
    state: WindowState | None = None,
    album: Path | None = None,
    look: Look | None = None,
) -> AsyncIterator[Person]:
    """The program from its first paint to its last file closed; it has ended when the block is left.

    `place` and `state` are what the command line and the user's folder would give; `album` and `look` as
    for Person.
    """
    app = await asyncio.to_thread(bootstrap.build, environment={**os.environ, "LANG": "en_US.UTF-8"})
    remembered = state or await asyncio.to_thread(app.program.window_state.load)
    made: list[MainWindow] = []

    def make_frame(services: WindowServices, app: Application, state: WindowState) -> MainWindow:
        made.append(MainWindow(services, app, state))
        return made[-1]

    running = asyncio.create_task(live(app, place, remembered, make_frame), name="the program")
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not made and not running.done():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.005)
        if running.done():
            await running
        person = Person(made[0], hand, album, look)
        await person.sees_the_window_filled()
        yield person
        if not running.done():
            await person.quits()
        async with asyncio.timeout(PATIENCE_S):
            assert await running == 0
    finally:
        if not running.done():
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        made.clear()
        delete_widgets()


class Person:
    """Sees the window and works with it."""

    def __init__(
        self, window: MainWindow, hand: Hand, album: Path | None = None, look: Look | None = None
    ) -> None:
        """`album`: a folder for the picture of what was shown when something was not seen."""
        self.window = window
        self.hand = hand
        self.album = album
        self._look = look

    # ---- what there is ---------------------------------------------------------------------------

    @property
    def services(self) -> WindowServices:
        """What the window is made with."""
        return self.window.services

    @property
    def panel(self) -> ConversationPanel:
        """The conversation."""
        return self.window.parts.conversation

    @property
    def bottom(self) -> BottomPane:
        """Waveforms, measurements, problems, console."""
        return self.window.parts.bottom

    @property
    def editor(self) -> CodeEditor:
        """The text in the front tab."""
        found = self.window.parts.editor.current_editor()
        assert found is not None, "no file is open"
        return found

    def items(self, kind: type[Kind]) -> list[Kind]:
        """The conversation's rows of one kind."""
        return [item for item in self.panel.model.items if isinstance(item, kind)]

    def dialog(self, name: str) -> QDialog | None:
        """An open dialog by its object name."""
        found = (each for each in QApplication.topLevelWidgets() if each.objectName() == name)
        return next((each for each in found if isinstance(each, QDialog) and each.isVisible()), None)

    # ---- eyes ------------------------------------------------------------------------------------

    async def sees(self, what: str, condition: Callable[[], Any]) -> Any:
        """Wait until it is so; gives what `condition` gave."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (found := condition()):  # noqa: ASYNC110 - what is seen has no event
                    await asyncio.sleep(0.005)
        except TimeoutError:
            self._keep_what_is_shown()
            raise AssertionError(f"the person never saw {what}; status: {self._status()}") from None
        return found

    async def looks_at(self, state: str) -> None:
        """A state of the story is on the screen."""
        if self._look is not None:
            await self._look(self, state)

    def _keep_what_is_shown(self) -> None:
        """A picture of the screen, for whoever looks into a failure."""
        screen = self.window.screen()
        if self.album is not None and screen is not None:
            screen.grabWindow(0).save(str(self.album / "never-seen.png"))

    def _status(self) -> str:
        return self.window.status_bar.state.text

    async def sees_the_window_filled(self) -> None:
        """The panels are there, the project is open, nothing is being made any more."""
        tasks = self.window.parts.app.program.tasks
        busy = {"fill window", "open project", "web view", "examine"}
        await self.sees(
            "the window filled",
            lambda: (
                "conversation" in vars(self.window.parts)
                and not any(handle.kind in busy for handle in tasks.handles)
            ),
        )
        await in_front(self.window)

    async def sees_the_view_decided(self) -> None:
        """Messages are shown by the web view, or it is known that there is none here."""
        tasks = self.window.parts.app.program.tasks
        await self.sees(
            "what shows the messages",
            lambda: (
                not any(handle.kind == "web view" for handle in tasks.handles)
                and (isinstance(self.panel.view, PlainConversation) or self.panel.view.is_ready)
            ),
        )

    async def sees_dialog(self, name: str) -> QDialog:
        """A dialog on the screen, with the keyboard."""
        dialog: QDialog = await self.sees(f"the dialog {name}", lambda: self.dialog(name))
        await in_front(dialog)
        return dialog

    async def sees_in_conversation(self, text: str) -> None:
        """A text in the conversation as it is shown, not as it is known."""
        shown = ""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while text not in (shown := await self.reads_conversation()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        except TimeoutError:
            self._keep_what_is_shown()
            raise AssertionError(f"{text!r} never came; the conversation shows:\n{shown}") from None

    async def reads_conversation(self) -> str:
        """All that is shown of it; a blank at which no line breaks looks like any other."""
        view = self.panel.view
        if isinstance(view, WebConversation):
            shown = str(await self.page("document.getElementById('items')?.innerText ?? ''"))
            return shown.replace("\u00a0", " ")
        assert isinstance(view, PlainConversation)
        return view.text.replace("\u00a0", " ")

    async def page(self, source: str) -> Any:
        """What a script in the conversation's page finds."""
        view = self.panel.view
        assert isinstance(view, WebConversation)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        view.page.runJavaScript(source, lambda found: answer.done() or answer.set_result(found))
        async with asyncio.timeout(PATIENCE_S):
            return await answer

    # ---- hands -----------------------------------------------------------------------------------

    async def clicks(self, widget: QWidget, at: QPoint | None = None, *, times: int = 1) -> None:
        """Click a widget of any window, where it stands still: fields that are filled late move others."""
        await in_front(widget.window())
        place, since = None, 0.0
        async with asyncio.timeout(PATIENCE_S):
            while time.monotonic() - since < _STILL_S:
                await asyncio.sleep(0.01)
                if (now := widget.mapToGlobal(widget.rect().topLeft())) != place:
                    place, since = now, time.monotonic()
        await self.hand.click(widget, at, times=times)

    async def presses(self, keys: str) -> None:
        """A key, in the window that has the keyboard; the main window when none has."""
        if QApplication.activeWindow() is None and QApplication.activePopupWidget() is None:
            await in_front(QApplication.activeModalWidget() or self.window)
        await self.hand.press(keys)

    async def clicks_row(self, view: QAbstractItemView, index: QModelIndex, *, times: int = 1) -> None:
        """Click a row of a list, table or tree."""
        view.scrollTo(index)
        viewport = view.viewport()
        assert viewport is not None
        await self.clicks(viewport, view.visualRect(index).center(), times=times)

    async def chooses(self, button: QWidget, *names: str) -> None:
        """Open a button's menu and click the action of that object name (through submenus)."""
        await self.clicks(button)
        for name in names:
            menu = await self.sees(f"a menu with {name}", lambda name=name: _popup_with(name))
            action = next(each for each in menu.actions() if each.objectName() == name)
            await self.hand.click(menu, menu.actionGeometry(action).center())
        await self.sees("the menu gone", lambda: QApplication.activePopupWidget() is None)

    async def clicks_in_conversation(self, selector: str, *, act: Sequence[str]) -> None:
        """Click something on the conversation's page; on a machine without one, its link `act`."""
        view = self.panel.view
        if isinstance(view, PlainConversation):
            view.acted.emit(*act)
            return
        assert isinstance(view, WebConversation)
        target = await self.sees("the page's surface", lambda: _surface_of(view))
        place = await self._still_place(selector)
        await self.clicks(target, place)

    async def _still_place(self, selector: str) -> QPoint:
        """Where it is, when it has been brought into sight and does not move any more."""
        source = (
            f"(() => {{ const e = [...document.querySelectorAll({selector!r})].pop(); if (!e) return null;"
            " const log = document.getElementById('log').getBoundingClientRect();"
            " let r = e.getBoundingClientRect();"
            " if (r.top < log.top || r.bottom > log.bottom) {"
            "  e.scrollIntoView({block: 'center'}); r = e.getBoundingClientRect(); }"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        before: object = None
        async with asyncio.timeout(PATIENCE_S):
            while True:
                place = await self.page(source)
                if place is not None and place == before:
                    return QPoint(round(place[0]), round(place[1]))
                before = place
                await asyncio.sleep(0.05)

    async def says(self, text: str, *, preedit: str = "") -> None:
        """Write to the assistant and press Enter; with `preedit` through an input method."""
        await self.clicks(self.panel.composer.edit)
        await self.sees("the cursor in the input", self.panel.composer.edit.hasFocus)
        if preedit:
            await self.hand.compose(text, preedit=preedit)
        else:
            await self.hand.type(text)
        await self.sees("the text in the input", lambda: self.panel.composer.text == text)
        await self.presses("Return")

    async def quits(self) -> None:
        """Close the program with its key."""
        await in_front(self.window)
        await self.presses("ctrl+q")


def _popup_with(name: str) -> QMenu | None:
    popup = QApplication.activePopupWidget()
    if isinstance(popup, QMenu) and any(each.objectName() == name for each in popup.actions()):
        return popup
    return None


def _surface_of(view: WebConversation) -> QWidget | None:
    """The widget Chromium draws on and takes the mouse from."""
    page_view = view.findChild(QWidget, "conversationPage")
    return None if page_view is None else page_view.focusProxy()
