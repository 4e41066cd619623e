"""The program's window in a process of its own, with somebody typing in it, or looking at what came back.

    python -m tests.gui.editing_session type PROJECT SEED     tells what is there and types until it is killed
    python -m tests.gui.editing_session look PROJECT          tells what is there and ends

Each line of the standard output (a file: nobody has to read it meanwhile) is a JSON object: what was done,
with the moment (CLOCK_MONOTONIC, the same
in every process) at which the window had taken it in.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from PyQt6.QtCore import QTimer
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QWidget

import bootstrap
from application.app import Application
from application.project.window_state import WindowState
from presentation.panels.conversation import panel as conversation_panel
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.editor_area import EditorArea
from presentation.ui.workspace import WindowServices
from presentation.window.application import run
from presentation.window.main_window import MainWindow

FILES = ("filter.cir", "notes.md")
Kind = TypeVar("Kind", bound="Session")


class _NoWebView:
    """Starting a web view is not what is looked at."""

    async def works(self) -> bool:
        return False


def tell(what: str, **more: Any) -> None:
    """One line, at once and whole: the process may be killed in the next moment."""
    line = json.dumps({"what": what, "at": time.monotonic(), **more}, ensure_ascii=True)
    os.write(1, f"{line}\n".encode())


class Session:
    """What is done in the window."""

    def __init__(self, window: MainWindow, services: WindowServices, root: Path) -> None:
        self.window = window
        self.services = services
        self.root = root

    @property
    def editor(self) -> EditorArea:
        """The text tabs."""
        return self.window.parts.editor

    @property
    def conversation(self) -> ConversationPanel:
        """Where messages are written."""
        return self.window.parts.conversation

    async def filled(self) -> None:
        """Wait until the project is open with all its tabs, those of its conversations too."""
        while not ("editor" in vars(self.window.parts) and self.services.workspace.root):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        while self.window.projects.is_restoring or self.conversation.tabs.is_bringing_back:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def show(self, name: str) -> None:
        """Bring a file to the front."""
        path = self.root / name
        self.services.workspace.file_activated.emit(path, None)
        while self.services.workspace.shown_file != path or self.editor.current_editor() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    async def type(self, rng: random.Random) -> None:
        """Type for ever: words with numbers, at the end of both files and into the message box."""
        await self.filled()
        self._tell_state()
        for name in FILES:
            await self.show(name)
        tell("begins")
        number = 0
        while True:
            number += 1
            choice = rng.random()
            if choice < 0.06:
                await self.show(rng.choice(FILES))
            elif choice < 0.08:
                await self._save()
            elif choice < 0.1:
                sizes = self.window.panes.left.sizes()
                self.window.panes.left.setSizes([sizes[0] + rng.randrange(-40, 40), *sizes[1:]])
            elif choice < 0.11:
                mode = rng.choice(("light", "dark"))
                self.window.appearance.set_theme(mode)
                tell("theme", text=mode)
            elif choice < 0.2:
                QTest.keyClicks(self.conversation.composer.edit, f"m{number} ")
                tell("message", text=f"m{number} ")
            else:
                self._word(f"w{number} ")
            await asyncio.sleep(rng.choice((0.0, 0.01, 0.03, 0.1, 0.3)))

    def _word(self, word: str) -> None:
        page, editor = self.editor.current_page(), self.editor.current_editor()
        assert page is not None
        assert editor is not None
        editor.go_to(editor.lines(), 10_000)
        QTest.keyClicks(editor, word)
        assert editor.text().endswith(word)
        tell("word", file=page.path.name, text=word)

    async def _save(self) -> None:
        page = self.editor.current_page()
        assert page is not None
        text = page.editor.text()
        if await page.save():
            tell("saved", file=page.path.name, text=text)

    async def look(self) -> None:
        """Tell what is there and end the program."""
        await self.filled()
        self._tell_state()
        self.window.close_requested.emit()
        await asyncio.sleep(3600)

    def _tell_state(self) -> None:
        panes, state = self.window.panes, self.window.projects.state
        tell(
            "state",
            texts={path.name: self.editor.unsaved_text(path).text for path in self.editor.open_files()},
            unsaved=[path.name for path in self.editor.unsaved()],
            places={path.name: place for path, place in self.editor.places().items()},
            shown=self.services.workspace.shown_file and self.services.workspace.shown_file.name,
            draft=self.conversation.model.draft,
            theme=self.services.theme.mode,
            language=self.services.language.name,
            left=panes.left.sizes(),
            recent=[str(path) for path in state.recent],
        )


def live(
    place: Path,
    kind: Callable[[MainWindow, WindowServices, Path], Kind],
    work: Callable[[Kind], Coroutine[Any, Any, None]],
    *,
    asks_at_end: bool,
) -> int:
    """The program with somebody at work in its window, to its end."""
    conversation_panel.WebProbe = _NoWebView  # type: ignore[misc,assignment]
    app = bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})
    app.warm_up = lambda: iter(())  # type: ignore[method-assign]  # a second of imports that no typing needs

    def make_frame(services: WindowServices, app: Application, state: WindowState) -> MainWindow:
        window = MainWindow(services, app, state, first="project")
        session = kind(window, services, place)
        if not asks_at_end:  # what is unsaved stays kept
            window.may_close = _yes  # type: ignore[method-assign]
        QTimer.singleShot(0, lambda: services.start(work(session), kind="session"))
        assert isinstance(window, QWidget)
        return window

    # The last project, as a person starts it again; the first time it is named.
    known = app.program.window_state.load().last_project
    return run(app, None if known else place, make_frame=make_frame)


def main() -> int:
    """See the module."""
    what, place, *rest = sys.argv[1:]

    def work(session: Session) -> Coroutine[Any, Any, None]:
        return session.look() if what == "look" else session.type(random.Random(rest[0]))

    return live(Path(place), Session, work, asks_at_end=what != "look")


async def _yes() -> bool:
    return True


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
