"""The ground of tests that show widgets: Qt without a display, the fused loop, the services of a window.

A test that is a coroutine runs on the fused loop, as the program does. Inside it, wait with `until`;
`qtbot.wait*` would start a loop within the loop. Set QT_QPA_PLATFORM=xcb and DISPLAY to run
them all on a real (or virtual) X server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Chromium refuses to run as root inside its own sandbox; on a build machine that is who we are.
if hasattr(os, "geteuid") and os.geteuid() == 0:
    os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")

# As the program does (`web_probe.py`); here Chromium starts before it is asked for.
os.environ.setdefault("QT_QUICK_BACKEND", "software")
os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--js-flags=--expose-gc")
# What is kept of compiled shaders would lie in the test's home.
os.environ.setdefault("MESA_SHADER_CACHE_DISABLE", "true")
os.environ.setdefault("QSG_RHI_DISABLE_DISK_CACHE", "1")

from PyQt6.Qsci import QsciScintilla
from PyQt6.QtCore import QCoreApplication, QEvent, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QWidget

import application.tool_execution.registry  # noqa: F401 - as in the program, a card comes after its tool
import bootstrap
from application.app import Application
from presentation.ui.workspace import WindowServices
from presentation.window.application import (
    GarbageCollector,
    build_services,
    make_qt_application,
    own_top_level_widgets,
    read_catalogues,
)
from shared.async_runtime import fused_loop
from tests.gui.loop_watchdog import LoopWatchdog
from tests.gui.x_server import Hand

Until = Callable[..., Awaitable[None]]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Coroutine tests of this folder run on the fused loop."""
    return {"fused": fused_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that hangs in Qt's loop is ended from a thread (and the process with it).

    The signal that ends other tests is heard by Python only, which does not come to a turn there.
    """
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            marker = item.get_closest_marker("timeout")
            seconds = marker.args[0] if marker and marker.args else float(item.config.getini("timeout"))
            item.add_marker(pytest.mark.timeout(seconds, method="thread"), append=False)


@pytest.fixture(scope="session", autouse=True)
def no_turn_of_the_loop_outside_it() -> Iterator[None]:
    """pytest-qt lets Qt turn between the phases of a test, when asyncio's loop does not run.

    qasync's callbacks would then run without a running loop: a task that starts another one dies of it.
    """
    from pytestqt import plugin

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugin, "_process_events", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def qapp() -> QApplication:
    """The one QApplication, made as the program makes it (pytest-qt's fixtures take it from here)."""
    application = make_qt_application([])
    read_catalogues()
    # What is opened at the first painting of its kind and kept is not the first test's leak.
    for widget in (QWidget(), QsciScintilla()):
        widget.show()
        application.processEvents()
        widget.close()
        widget.deleteLater()
    flush_deletions()
    return application


@pytest.fixture(autouse=True)
def garbage_is_collected_here(qapp: QApplication) -> Iterator[None]:
    """As in the program: a thread that happens to allocate would destroy what of Qt's lies in cycles."""
    collector = GarbageCollector()
    yield
    collector.look()
    collector.end()


@pytest.fixture(autouse=True)
def no_key_is_held(qapp: QApplication) -> None:
    """A key with Shift that an earlier test pressed would let a later one choose a range of rows."""
    if qapp.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Shift)
    assert qapp.keyboardModifiers() == Qt.KeyboardModifier.NoModifier


def flush_deletions() -> None:
    """Carry out every `deleteLater`, which otherwise waits for a loop that has ended."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def until() -> Until:
    """``await until(lambda: panel.is_ready)``: wait on the loop until it holds.

    It fails after a while: much more than anything takes, even on a machine with other work.
    """

    async def wait(condition: Callable[[], Any], *, timeout_s: float = 40.0) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                while not condition():  # noqa: ASYNC110 - what is waited for has no event
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pytest.fail(f"never came true: {getattr(condition, '__name__', condition)}", pytrace=True)

    return wait


@pytest.fixture
def built_app() -> Application:
    """The application as `bootstrap` makes it, before there is a loop; its settings are read."""
    made = bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})
    assert made.program.language == "en"
    return made


@pytest.fixture
async def app(built_app: Application, qapp: QApplication) -> AsyncIterator[Application]:
    """The real application, with the test's own home."""
    built_app.program.events.bind()
    try:
        yield built_app
    finally:
        await built_app.program.stop.stop_all("app_shutdown")
        await built_app.close()


@dataclass(frozen=True, slots=True)
class Services(WindowServices):
    """What widgets are handed, and the application: tests hand each widget the groups that it names."""

    app: Application


@pytest.fixture
async def services(app: Application) -> AsyncIterator[Services]:
    """What a panel is handed: English, light, real use cases. Widgets are removed at the end."""
    built = build_services(app, mode="light", language="en")
    made = Services(**{each.name: getattr(built, each.name) for each in fields(built)}, app=app)
    yield made
    await app.program.stop.stop_all("app_shutdown")
    await app.program.tasks.shutdown()  # a timer may start a task yet, whose widgets then are gone
    for widget in own_top_level_widgets():
        widget.close()
        widget.deleteLater()
    await asyncio.sleep(0)
    flush_deletions()
    made.language.end()


@pytest.fixture
def loop_watchdog() -> Iterator[LoopWatchdog]:
    """``async with loop_watchdog.watching():`` fails when the loop is held more than 50 ms within it."""
    watchdog = LoopWatchdog()
    yield watchdog
    watchdog.stop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project: an RC low-pass with an ac analysis."""
    folder = tmp_path / "rc-filter"
    folder.mkdir()
    (folder / "filter.cir").write_text(
        "* RC low-pass, fc = 1.59 kHz\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n",
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def hand(qapp: QApplication) -> Iterator[Hand]:
    """Mouse and keyboard of the virtual screen; for stories (`stories/`), which run on one."""
    made = Hand(os.environ["DISPLAY"])
    yield made
    made.close()
