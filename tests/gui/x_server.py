"""A virtual screen (Xvfb) and a hand in front of it: clicks and keys that come from the X server.

`Hand` speaks to the server by XTEST, through the same libraries that WebEngine needs, so Qt gets
what it would get from a mouse and a keyboard. What an input method writes is sent as Qt's own event.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PyQt6.QtCore import QCoreApplication, QPoint
from PyQt6.QtGui import QGuiApplication, QInputMethodEvent
from PyQt6.QtWidgets import QApplication, QWidget

_MODIFIERS = {"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L"}
_KEYSYMS = {
    " ": "space", "\n": "Return", "\t": "Tab", ".": "period", ",": "comma", "-": "minus", "/": "slash",
    "=": "equal", "*": "asterisk", "(": "parenleft", ")": "parenright", "_": "underscore", "+": "plus",
    ":": "colon", "?": "question",
}  # fmt: skip
_SHIFTED = frozenset('*()_+:?!"{}<>|~@#$%^&')


@contextmanager
def virtual_screen(size: str = "1440x900") -> Iterator[str]:
    """Start Xvfb on a free display; gives its name."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(writer,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as answer:
            number = answer.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class Hand:
    """Moves the pointer, presses buttons and keys on the X display of this process."""

    def __init__(self, display: str) -> None:
        self._x11 = ctypes.CDLL("libX11.so.6")
        self._test = ctypes.CDLL("libXtst.so.6")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XStringToKeysym.restype = ctypes.c_ulong
        self._x11.XKeysymToKeycode.restype = ctypes.c_ubyte
        self._x11.XKeysymToKeycode.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
        self._display = ctypes.c_void_p(self._x11.XOpenDisplay(display.encode()))
        assert self._display.value, f"no X server at {display}"

    def close(self) -> None:
        """Leave the display."""
        self._x11.XCloseDisplay(self._display)

    async def click(self, widget: QWidget, at: QPoint | None = None, *, times: int = 1) -> None:
        """Move to the middle of a widget (or `at` in it) and click."""
        where = widget.mapToGlobal(widget.rect().center() if at is None else at)
        ratio = widget.devicePixelRatioF()
        x, y = round(where.x() * ratio), round(where.y() * ratio)
        self._test.XTestFakeMotionEvent(self._display, -1, x, y, 0)
        await self._let_it_arrive()
        for _ in range(times):
            for is_down in (1, 0):
                self._test.XTestFakeButtonEvent(self._display, 1, is_down, 0)
        await self._let_it_arrive()

    async def scroll(self, steps: int) -> None:
        """Turn the wheel where the pointer is: up for positive steps."""
        button = 4 if steps > 0 else 5
        for _ in range(abs(steps)):
            for is_down in (1, 0):
                self._test.XTestFakeButtonEvent(self._display, button, is_down, 0)
        await self._let_it_arrive()

    async def press(self, keys: str) -> None:
        """A key with its modifiers: ``F5``, ``ctrl+shift+m``, ``Escape``."""
        self._strike(keys)
        await self._let_it_arrive()

    def _strike(self, keys: str) -> None:
        *modifiers, key = keys.split("+") if len(keys) > 1 else [keys]
        codes = [self._code(_MODIFIERS[each]) for each in modifiers] + [self._code(_KEYSYMS.get(key, key))]
        for code in codes:
            self._test.XTestFakeKeyEvent(self._display, code, 1, 0)
        for code in reversed(codes):
            self._test.XTestFakeKeyEvent(self._display, code, 0, 0)

    async def type(self, text: str) -> None:
        """Plain ASCII text, key by key, ten to a wait: faster than anybody, in the order of the keys."""
        for number, char in enumerate(text, 1):
            needs_shift = char.isupper() or char in _SHIFTED
            self._strike(f"shift+{char.lower()}" if needs_shift and char != "+" else char)
            if number % 10 == 0 or number == len(text):
                await self._let_it_arrive()

    async def compose(self, text: str, *, preedit: str = "") -> None:
        """What an input method does: shows `preedit`, then commits `text` to the focused widget."""
        target = QGuiApplication.focusObject()
        assert target is not None, "nothing has the focus"
        if preedit:
            QCoreApplication.sendEvent(target, QInputMethodEvent(preedit, []))
            await self._let_it_arrive()
        event = QInputMethodEvent("", [])
        event.setCommitString(text)
        QCoreApplication.sendEvent(target, event)
        await self._let_it_arrive()

    def _code(self, name: str) -> int:
        symbol = self._x11.XStringToKeysym(name.encode())
        code = self._x11.XKeysymToKeycode(self._display, symbol)
        assert code, f"the keyboard has no key {name}"
        return int(code)

    async def _let_it_arrive(self) -> None:
        """The server has taken it; Qt's own connection gets it within the next turns of the loop."""
        self._x11.XSync(self._display, 0)
        for _ in range(3):
            await asyncio.sleep(0.01)


async def shown(window: QWidget) -> None:
    """Show a window, and wait until it is on the screen and has the keyboard."""
    window.show()
    await in_front(window)


async def in_front(window: QWidget) -> None:
    """Give a shown window the keyboard: what a window manager does, and the virtual screen has none."""
    try:
        async with asyncio.timeout(20):
            while not (window.windowHandle() and window.windowHandle().isExposed()):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            while QApplication.activeWindow() is not window:
                window.activateWindow()
                await asyncio.sleep(0.01)
    except TimeoutError:
        others = [each for each in QApplication.topLevelWidgets() if each.isVisible()]
        raise AssertionError(f"{window} never got the keyboard; on the screen: {others}") from None


def on_a_real_screen() -> bool:
    """Whether this process shows its windows on an X server."""
    return bool(QGuiApplication.platformName() == "xcb")


def environment_for(display: str, **more: Any) -> dict[str, str]:
    """The environment of a program that shows itself on `display`."""
    kept = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
    return {**kept, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", **more}
