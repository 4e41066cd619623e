"""The start and the end of the program with a window, on a frame with nothing in it."""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

import bootstrap
from application.app import Application
from application.project.window_state import WindowState
from presentation.ui.log_file import log_path, log_to_file
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window.application import check_platform, delete_widgets, live
from presentation.window.application import run as run_program
from shared import async_runtime
from shared.errors import EnvironmentProblem
from shared.paths import user_home

Then = Callable[["PlainFrame"], object]


class PlainFrame(QWidget):
    """Writes down what is asked of it; once filled, it does what the test wants."""

    close_requested = pyqtSignal()

    def __init__(self, services: WindowServices, log: list[str], then: Then) -> None:
        super().__init__()
        self.services = services
        self.log = log
        self._then = then
        self.stays = 0
        """So many times the person wants to stay."""

    def paintEvent(self, event):  # noqa: N802
        if "painted" not in self.log:
            self.log.append("painted")

    def complete(self) -> None:
        assert "painted" in self.log

    async def fill(self, project: Path | None) -> None:
        self.log.append(f"filled with {project.name if project else None}")
        QTimer.singleShot(0, lambda: self._then(self))

    async def may_close(self) -> bool:
        self.log.append("asked")
        if self.stays:
            self.stays -= 1
            QTimer.singleShot(0, self.close_requested.emit)
            return False
        return True

    async def release(self) -> None:
        self.log.append("released")


def close(frame: PlainFrame) -> None:
    frame.close_requested.emit()


def run(then: Then = close, *, path: Path | None = None, app: Application | None = None, make=PlainFrame):
    log: list[str] = []
    made = app or bootstrap.build()
    assert made.program.language
    state = made.program.window_state.load()
    try:
        code = async_runtime.run_window(
            lambda: live(made, path, state, lambda services, *_: make(services, log, then))
        )
        return code, log
    except asyncio.CancelledError:
        return "stopped", log
    finally:
        delete_widgets()


def test_the_frame_is_painted_before_it_is_filled_and_asked_before_it_is_released(qapp, tmp_path):
    assert run(path=tmp_path) == (0, ["painted", f"filled with {tmp_path.name}", "asked", "released"])


def test_who_wants_to_stay_stays(qapp):
    def ask_twice(frame: PlainFrame) -> None:
        frame.stays = 1
        frame.close_requested.emit()

    assert run(ask_twice)[1] == ["painted", "filled with None", "asked", "asked", "released"]


def test_a_file_opens_its_folder_and_is_shown(qapp, project):
    shown = []

    class Watching(PlainFrame):
        def __init__(self, services, log, then):
            super().__init__(services, log, then)
            services.workspace.file_activated.connect(lambda path, line: shown.append((path, line)))

        async def fill(self, project):
            self.log.append(f"filled with {project.name}")
            QTimer.singleShot(0, lambda: self.services.start(self._close_soon(), kind="close"))

        async def _close_soon(self):
            while not shown:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            self.close_requested.emit()

    file = project / "filter.cir"
    assert run(path=file, make=Watching)[1][1] == "filled with rc-filter"
    assert shown == [(file, None)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_it_orderly(qapp, number):
    code, log = run(lambda frame: os.kill(os.getpid(), number))
    assert code == "stopped"
    assert log == ["painted", "filled with None", "released"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_stop_signal_does_not_cut_the_end_short(qapp):
    class Slow(PlainFrame):
        async def release(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.02)
            self.log.append("released")

    code, log = run(lambda frame: os.kill(os.getpid(), signal.SIGINT), make=Slow)
    assert (code, log[-1]) == ("stopped", "released")


def test_running_work_is_stopped_and_ends_by_itself(qapp):
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            ended.append("work")

    def start_and_close(frame: PlainFrame) -> None:
        frame.services.start(work(), kind="work")
        QTimer.singleShot(5, frame.close_requested.emit)

    assert run(start_and_close)[0] == 0
    assert ended == ["work"]


def test_the_end_waits_for_nothing_that_only_makes_ready(qapp):
    begun = []

    def warm_up():
        for number in range(100_000):
            begun.append(number)
            time.sleep(0.001)
            yield

    def close_while_it_warms_up(frame: PlainFrame) -> None:
        look = QTimer(frame)
        look.timeout.connect(lambda: len(begun) > 3 and frame.close_requested.emit())
        look.start(1)

    app = bootstrap.build()
    app.warm_up = warm_up  # type: ignore[method-assign]
    assert run(close_while_it_warms_up, app=app)[0] == 0
    assert 3 < len(begun) < 100_000


@pytest.mark.expects_error_log("saving the window's state failed")
def test_the_end_is_walked_to_its_end_whatever_fails(qapp):
    closed = []

    class Failing(PlainFrame):
        async def release(self) -> None:
            raise OSError("disk full")

    app = bootstrap.build()
    original = app.close

    async def close_and_tell() -> None:
        await original()
        closed.append(True)

    app.close = close_and_tell  # type: ignore[method-assign]
    assert run(app=app, make=Failing)[0] == 0
    assert closed == [True]


def fail_in_a_slot(frame: PlainFrame) -> None:
    QTimer.singleShot(0, lambda: 1 / 0)


def fail_in_a_thread(frame: PlainFrame) -> None:
    threading.Thread(target=lambda: 1 / 0).start()


def fail_on_the_loop(frame: PlainFrame) -> None:
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)


@pytest.mark.expects_error_log("not caught|Exception in callback")
@pytest.mark.parametrize("fail", [fail_in_a_slot, fail_in_a_thread, fail_on_the_loop])
def test_what_nobody_caught_is_told_and_the_program_goes_on(qapp, fail):
    told = []

    def fail_and_look(frame: PlainFrame) -> None:
        frame.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
        fail(frame)
        look = QTimer(frame)
        look.timeout.connect(lambda: see(frame, look))
        look.start(5)

    def see(frame: PlainFrame, look: QTimer) -> None:
        box = frame.findChild(SmallDialog, "lastResort")
        if box is not None:
            look.stop()
            told.append(box.words.text().split("\n")[0])
            button = next(each for each in box.buttons() if each.text() == "Close")
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            frame.close_requested.emit()

    assert run(fail_and_look) == (0, ["painted", "filled with None", "asked", "released"])
    assert len(told) == 2
    assert told[0] == told[1]
    assert "ZeroDivisionError" in told[0]


@pytest.mark.expects_error_log("not caught")
def test_the_same_error_sixty_times_a_second_is_told_once(qapp, caplog):
    def flood(frame: PlainFrame) -> None:
        def fail() -> None:
            raise RuntimeError("painting failed")

        for _ in range(60):
            QTimer.singleShot(0, fail)
        QTimer.singleShot(20, frame.close_requested.emit)

    assert run(flood)[0] == 0
    assert sum("not caught" in record.message for record in caplog.records) == 1


@pytest.mark.expects_error_log("not caught")
def test_the_dialog_of_the_last_resort_saves_and_copies(qapp):
    saved = []

    class Editors:
        def save_all(self) -> bool:
            saved.append(True)
            return True

    def fail(frame: PlainFrame) -> None:
        frame.services.workspace.buffers = Editors()
        QTimer.singleShot(0, lambda: {}["nothing"])
        QTimer.singleShot(20, lambda: press(frame))

    def press(frame: PlainFrame) -> None:
        box = frame.findChild(SmallDialog, "lastResort")
        assert box is not None
        buttons = {button.text(): button for button in box.buttons()}
        for text in ("Save all", "Copy details"):
            QTest.mouseClick(buttons[text], Qt.MouseButton.LeftButton)
            assert box.isVisible()
        assert isinstance(buttons["Close"], QPushButton)
        buttons["Close"].click()
        frame.close_requested.emit()

    assert run(fail)[0] == 0
    assert saved == [True]
    assert "KeyError: 'nothing'" in QApplication.clipboard().text()


def test_a_keyboard_interrupt_in_a_slot_asks_for_the_end(qapp):
    def interrupt() -> None:
        raise KeyboardInterrupt

    code, log = run(lambda frame: QTimer.singleShot(0, interrupt))
    assert (code, log[-2:]) == (0, ["asked", "released"])


def test_open_and_close_leave_nothing_of_the_frame(qapp):
    hooks = sys.excepthook, threading.excepthook
    counts = []
    for _ in range(4):
        assert run()[0] == 0
        gc.collect()
        counts.append(
            (
                len(QApplication.topLevelWidgets()),
                len(threading.enumerate()),
                sum(isinstance(each, QObject) for each in gc.get_objects()),
            )
        )
    assert (sys.excepthook, threading.excepthook) == hooks
    assert len(set(counts[2:])) == 1, counts


def test_the_program_tells_which_library_qt_misses(qapp, monkeypatch):
    def refuse(name: str) -> None:
        raise OSError("libxcb-icccm.so.4: cannot open shared object file")

    monkeypatch.setattr("ctypes.CDLL", refuse)
    with pytest.raises(EnvironmentProblem, match=r"libxcb-icccm\.so\.4") as caught:
        check_platform({"DISPLAY": ":0"})
    assert caught.value.error_type == "no_window"
    assert caught.value.exit_code == 3
    check_platform({"QT_QPA_PLATFORM": "offscreen"})
    check_platform({"WAYLAND_DISPLAY": "wayland-0"})


def test_warnings_go_to_a_log_though_the_terminal_shows_errors_only(tmp_path):
    root, terminal = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(terminal), root.level
    root.addHandler(handler)
    root.setLevel(logging.ERROR)
    try:
        with log_to_file(tmp_path):
            logging.getLogger("circuit").warning("something odd: %s", "Ω")
            logging.getLogger("circuit").info("nothing to keep")
        assert (root.level, handler.level) == (logging.ERROR, logging.NOTSET)
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
    text = log_path(tmp_path).read_text("utf-8")
    assert "WARNING circuit: something odd: Ω" in text
    assert "nothing to keep" not in text
    assert terminal.getvalue() == ""


def test_no_log_costs_the_log_not_the_program(tmp_path, caplog):
    (tmp_path / "logs").write_text("in the way")
    with log_to_file(tmp_path):
        pass
    assert "no log is kept" in caplog.text


def test_run_is_the_program_whole(qapp):
    log: list[str] = []
    app = bootstrap.build()
    assert app.program.language
    assert run_program(app, None, make_frame=lambda services, *_: PlainFrame(services, log, close)) == 0
    assert log == ["painted", "filled with None", "asked", "released"]
    assert log_path(user_home()).exists()


def test_theme_and_language_are_those_of_the_last_time_from_the_first_paint_on(qapp):
    app = bootstrap.build()
    assert app.program.language == "en"
    app.program.window_state.save(WindowState(theme="dark", language="zh", scale=1.5))
    seen = []

    def look(frame: PlainFrame) -> None:
        theme = frame.services.theme.theme
        seen.append((theme.name, theme.scale, frame.services.language.name))
        frame.close_requested.emit()

    assert run(look, app=app)[0] == 0
    assert seen == [("dark", 1.5, "zh")]
