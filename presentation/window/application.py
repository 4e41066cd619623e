"""The program with a window: how it starts, what is told when something fails, how it ends.

In this order: QApplication, fused loop, services, the frame's first paint, and only then the panels and
the slow imports. The end: nothing new, a question about unsaved text, stop what runs, save the layout,
release the project, close the application. Every step of the end is taken even when one before it failed.

The window's end has a limit: what still runs then is left to its fate.

A thread in a loop of C holds the interpreter: no timer, no signal handler and no other thread of Python runs
any more. The watch is therefore a thread of C's own (`faulthandler`), which needs none of it.

Python's cyclic garbage is collected on the window's thread only.

Python collects on whichever thread happens to allocate, as one that imports a library does. Qt's objects that
lie in a cycle (graphics items, pixmaps, rows of lists) would be destroyed there, beside the thread that draws
them: Qt's classes for the screen are to be used on one thread alone (Qt's page "Thread Support in GUI
Modules"), anything else is a fault now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import faulthandler
import gc
import itertools
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, get_args

from PyQt6 import sip
from PyQt6.QtCore import (
    PYQT_VERSION_STR,
    QCoreApplication,
    QEvent,
    QLibraryInfo,
    QObject,
    QSize,
    Qt,
    QTimer,
    pyqtBoundSignal,
    qVersion,
)
from PyQt6.QtWidgets import QApplication, QWidget

from application.app import Application
from application.project.window_state import WindowState
from presentation import VERSION
from presentation.actions.shortcuts import Shortcuts
from presentation.look import drawings, tokens
from presentation.translation import Translator
from presentation.ui.icons import Icons
from presentation.ui.language import LanguageManager, LanguageName
from presentation.ui.late_imports import import_qt
from presentation.ui.log_file import log_path, log_to_file
from presentation.ui.styles import ApplicationStyle, load_fonts, templates
from presentation.ui.theme import Mode, ThemeManager
from presentation.ui.workspace import WindowServices, Workspace
from presentation.window.errors import ErrorNotice, LastResort, text_of
from presentation.window.layout_state import KeepOnScreen, first_place
from shared import async_runtime
from shared.errors import EnvironmentProblem
from shared.events import has_running_loop
from shared.message import msg
from shared.paths import project_root_of, user_home
from shared.stop_signals import StopSignals
from shared.tasks import TaskFailed, TaskHandle
from shared.uninterrupted import in_pieces, uninterrupted

LOOK_MS = 500
"""So often it is looked whether there is something to collect."""


class GarbageCollector(QObject):
    """Collects in place of Python, by Python's own thresholds, from now until `end`."""

    def __init__(self) -> None:
        super().__init__()
        self._was_python_collecting = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation that is due, and with it the younger ones."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation] > 0:
                gc.collect(generation)
                if generation == 2:
                    _give_back()
                return

    def end(self) -> None:
        """Collect no more; Python does again if it did before.

        Where the window is the program (`application.run`) it did not, and does not to the last moment: while
        the loop waits for the end of the pool's threads, those work on, and the widgets are still there.
        """
        self._timer.stop()
        if self._was_python_collecting:
            gc.enable()


MOST_S = 4.5
"""From the moment the window closes to the end of its process."""


@contextmanager
def ends_within(seconds: float, log: Path) -> Iterator[None]:
    """Within it the process ends after `seconds`, whatever runs; where every thread was goes into `log`.

    What is to be kept is on the disk by then, or as after a loss of power: nothing is written half.
    """
    with contextlib.ExitStack() as stack:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(log.open("a", encoding="utf-8"))
        except OSError:  # no log is kept there
            file = stack.enter_context(Path(os.devnull).open("a", encoding="utf-8"))
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)
        stack.callback(faulthandler.cancel_dump_traceback_later)
        yield


_logger = logging.getLogger(__name__)

WINDOW_SCOPE: Hashable = "window"

_FIRST_SIZE = QSize(1440, 900)

# What the panels are built on; what pyqtgraph imports is named, so that no turn of the loop takes it all.
_PLAIN_LIBRARIES = (
    "numpy",
    "markdown",
    "nh3",
    "watchdog.observers",
    "multiprocessing.shared_memory",
    "pydoc",
    "importlib.resources",
    "xml.etree.ElementTree",
)
_QT_LIBRARIES = (
    "PyQt6.Qsci",
    "PyQt6.QtSvg",
    "PyQt6.QtOpenGLWidgets",
    "PyQt6.QtTest",
    "PyQt6.uic",
    "pyqtgraph",
)


class Frame(Protocol):
    """What the main window does for its start and end."""

    @property
    def close_requested(self) -> pyqtBoundSignal:
        """Emitted by `closeEvent` (which ignores the event) and by File > Quit."""

    def show(self) -> None:
        """Show the bare frame: header, the page that is seen first, status bar. No panel is imported yet."""

    def complete(self) -> None:
        """Right after the first paint: make the rest of the frame, which the first paint did not need."""

    async def fill(self, project: Path | None) -> None:
        """After the first paint: make the panels, put back layout and project (None: the last one)."""

    async def may_close(self) -> bool:
        """Ask about unsaved text and running work; False when the person wants to stay."""

    async def release(self) -> None:
        """Save layout and open files, end the file watch. No question any more."""


MakeFrame = Callable[[WindowServices, Application, WindowState], Frame]


_M_ARENA_MAX, _MOST_ARENAS = -8, 2
"""Of glibc's mallopt(3). By itself it gives a heap to nearly each thread, whose free parts no other uses:
after 200 turns of a conversation 22 MB lay idle in them, with two 7 MB."""


def _share_heaps() -> None:
    """Have the threads of the process share few heaps."""
    _of_glibc("mallopt", _M_ARENA_MAX, _MOST_ARENAS)


def _give_back() -> None:
    """Let the system have what lies free between what is used: of the rows of a long conversation in the
    plain view, 70 MB in 9 ms; a tenth of a millisecond where there is nothing."""
    _of_glibc("malloc_trim", 0)


def _of_glibc(name: str, *arguments: int) -> None:
    """Call this function of the C library, where it has it."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(AttributeError):  # another C library
            getattr(ctypes.CDLL(None), name)(*arguments)


def make_qt_application(argv: Sequence[str]) -> QApplication:
    """The process's QApplication, made at the first call.

    The attribute has to be set before: the web view is loaded late, and shares its OpenGL contexts.
    """
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    _share_heaps()
    # Other bindings a user's shell may name for other programs would be taken by qasync and pyqtgraph.
    os.environ["QT_API"] = "pyqt6"
    os.environ["PYQTGRAPH_QT_LIB"] = "PyQt6"
    if sys.platform.startswith("linux") and os.geteuid() == 0:
        os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")  # Chromium refuses root otherwise
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    # The style by name: as an object in Python it costs 5 ms before the first paint.
    application = QApplication(["circuit-design-ai", "-style", "fusion", *argv])
    application.setApplicationName("Circuit Design AI")
    application.setDesktopFileName("circuit-design-ai")
    application.setQuitOnLastWindowClosed(False)
    for path in load_fonts():
        _logger.warning("Qt does not take the typeface %s; the system's serves", path.name)
    # Read now, before there is a loop that must not wait for a disk.
    for read in (tokens, templates, drawings):
        read()
    return application


def build_services(
    app: Application, *, mode: Mode = "system", language: LanguageName | None = None, scale: float = 1.0
) -> WindowServices:
    """What every panel is handed. Needs a QApplication; its style follows theme and language."""
    services, style = _services_and_style(app, mode=mode, language=language, scale=scale)
    style.dress()
    style.complete()
    return services


def _services_and_style(
    app: Application, *, mode: Mode, language: LanguageName | None, scale: float
) -> tuple[WindowServices, ApplicationStyle]:
    theme = ThemeManager(mode, scale=scale)
    spoken = LanguageManager(language or ("zh" if app.program.language == "zh" else "en"))
    theme.speak(spoken.name)
    spoken.changed.connect(theme.speak)
    workspace = Workspace()
    style = ApplicationStyle(theme, spoken)
    style.setParent(theme)
    services = WindowServices(
        theme=theme,
        language=spoken,
        icons=Icons(theme),
        workspace=workspace,
        shortcuts=Shortcuts(),
        start=_TaskStarter(app, workspace).start,
    )
    return services, style


class _TaskStarter:
    """Runs coroutines for panels; an error that nobody took is shown in the status bar."""

    def __init__(self, app: Application, workspace: Workspace) -> None:
        self._app = app
        self._workspace = workspace
        self._numbers = itertools.count(1)
        app.program.events.subscribe(TaskFailed, self._on_failed)

    def start(
        self, coroutine: Coroutine[Any, Any, Any], *, kind: str, scope: Hashable = WINDOW_SCOPE
    ) -> TaskHandle[Any] | None:
        """Run it as a task of `scope`; its error is shown, not lost. At the end nothing new begins."""
        if not has_running_loop() or self._app.program.tasks.is_shut_down:
            coroutine.close()
            return None
        name = f"{kind}-{next(self._numbers)}"
        return self._app.program.tasks.submit(kind, name, _WhileThereIsALoop(coroutine), scope=scope)

    def _on_failed(self, event: TaskFailed) -> None:
        self._workspace.status_changed.emit(text_of(event.error))


class _WhileThereIsALoop(Coroutine[Any, Any, Any]):
    """At the end Qt's timers fire, and first steps of tasks come, also when asyncio's loop runs no more."""

    def __init__(self, inner: Coroutine[Any, Any, Any]) -> None:
        self._inner = inner

    def __await__(self) -> Generator[Any, Any, Any]:
        if not has_running_loop():
            self._inner.close()
            return None
        return (yield from self._inner.__await__())

    def send(self, value: Any) -> Any:
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        return self._inner.throw(*error)

    def close(self) -> None:
        """The inner one is closed too, also when it has not begun."""
        self._inner.close()


def _main_window(
    services: WindowServices, app: Application, state: WindowState, *, opens_project: bool
) -> Frame:
    from presentation.window.main_window import MainWindow

    return MainWindow(services, app, state, first="project" if opens_project else "welcome")


def run(
    app: Application,
    path: Path | None,
    signals: StopSignals | None = None,
    *,
    make_frame: MakeFrame | None = None,
    owns_process: bool = False,
) -> int:
    """Show the window until it is closed; returns the exit code.

    `path` is a project's folder or a file in it, None the project that was open last. With `owns_process`
    the process ends `MOST_S` after the window was closed, whatever still runs in it. Raises
    EnvironmentProblem when Qt cannot use the display.
    """
    check_platform(os.environ)
    application = make_qt_application([])  # Python's to keep: it ends with the last reference
    state = app.program.window_state.load()
    with log_to_file(user_home()), contextlib.ExitStack() as ending:

        def begin_end() -> None:
            if owns_process:
                ending.enter_context(ends_within(MOST_S, log_path(user_home())))

        app.program.unclean_ends.begin(_facts())
        was_collecting = gc.isenabled()
        gc.disable()  # up to the last widget's end: a thread must not collect what is Qt's, see `garbage`
        try:
            return async_runtime.run_window(
                lambda: live(app, path, state, make_frame, begin_end), signals=signals
            )
        finally:
            delete_widgets()
            application.processEvents()
            app.program.unclean_ends.end()  # behind everything that Qt could still fault in
            if was_collecting:  # not in a program of its own: main.py switched it off
                gc.enable()


def _facts() -> str:
    """What a report of a fault says of the machine."""
    python = ".".join(map(str, sys.version_info[:3]))
    qt = f"Qt {qVersion()}, PyQt {PYQT_VERSION_STR}"
    return f"Circuit Design AI {VERSION}, Python {python}, {qt}, {sys.platform}"


def check_platform(environment: Mapping[str, str]) -> None:
    """Raise EnvironmentProblem where Qt would abort the process: a library of the system is missing.

    Qt's own message blames xcb-cursor0 whichever it is; the dynamic linker names it.
    """
    named = environment.get("QT_QPA_PLATFORM", "").split(":")[0]
    if not sys.platform.startswith("linux") or named not in ("", "xcb") or environment.get("WAYLAND_DISPLAY"):
        return
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms" / "libqxcb.so"
    try:
        ctypes.CDLL(str(plugins))
    except OSError as error:
        raise EnvironmentProblem(
            msg("Qt cannot use the display: {reason}", reason=str(error)),
            advice=msg("Try: {command}", command="python3 scripts/setup.py window"),
            error_type="no_window",
        ) from error


async def live(
    app: Application,
    path: Path | None,
    state: WindowState,
    make_frame: MakeFrame | None = None,
    begin_end: Callable[[], None] = lambda: None,
) -> int:
    """From the first paint to the last file closed; `begin_end` is called when the end begins."""
    closing = asyncio.Event()
    last_resort = LastResort(on_interrupt=closing.set)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(last_resort.on_loop_error)
    app.program.events.bind()
    with last_resort.installed():
        language = None if state.language == "auto" else state.language
        services, style = _services_and_style(app, mode=state.theme, language=language, scale=state.scale)
        services.theme.set_contrast(is_high=state.high_contrast)
        opened = path or state.last_project
        opens_project = opened is not None
        services.workspace.set_opening(opened)
        make_frame = make_frame or partial(_main_window, opens_project=opens_project)
        frame = make_frame(services, app, state)
        # Widgets put together under a style sheet would be styled anew at each change of their parent.
        style.dress()
        frame.close_requested.connect(closing.set)
        widget = frame if isinstance(frame, QWidget) else None
        ErrorNotice(last_resort, services, widget, log_path(user_home()))
        garbage: GarbageCollector | None = None
        try:
            if widget is not None and state.geometry is None:
                widget.setGeometry(first_place(widget, _FIRST_SIZE))
            if widget is not None:
                KeepOnScreen(widget)
            frame.show()
            await first_paint(frame)
            style.complete()
            frame.complete()
            garbage = GarbageCollector()
            services.start(_fill(app, frame, path, services), kind="fill window")
            await _until_closed(frame, closing)
        finally:
            begin_end()
            # A stop signal cancels us, perhaps twice; the way down is walked to its end all the same.
            await uninterrupted(_walk_down(app, frame))
            services.language.end()
            gc.unfreeze()
            if garbage is not None:
                garbage.end()
    return 0


async def _fill(app: Application, frame: Frame, path: Path | None, services: WindowServices) -> None:
    project, file = await asyncio.to_thread(_project_and_file, path)
    await asyncio.to_thread(read_catalogues)
    await import_qt(_QT_LIBRARIES, without_qt=_PLAIN_LIBRARIES)
    await frame.fill(project)
    if file is not None:
        services.workspace.file_activated.emit(file, None)
    # The graph takes a second to import: after the panels, off the loop, and no longer than until the end.
    await in_pieces(app.warm_up())
    # A full collection would visit every object of the imported libraries: 60 ms and more for nothing.
    gc.freeze()


def read_catalogues() -> None:
    """Read the texts of every language, so that the switch to another touches no disk."""
    for language in get_args(LanguageName):
        Translator(language, "window")


def _project_and_file(path: Path | None) -> tuple[Path | None, Path | None]:
    if path is None or path.is_dir():
        return path, None
    return project_root_of(path) or path.parent, path


async def _until_closed(frame: Frame, closing: asyncio.Event) -> None:
    while True:
        await closing.wait()
        closing.clear()
        if await frame.may_close():
            return


async def _walk_down(app: Application, frame: Frame) -> None:
    steps: tuple[tuple[str, Callable[[], Coroutine[Any, Any, None]]], ...] = (
        ("stopping the work", lambda: app.program.stop.stop_all("app_shutdown")),
        ("saving the window's state", frame.release),
        ("closing the application", app.close),
    )
    for name, step in steps:
        try:
            await step()
        except Exception:  # each step is taken, whatever became of the one before
            _logger.exception("%s failed at the end of the program", name)


class _PaintSeen(QObject):
    """Sets an event when a widget has been painted once."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.seen = asyncio.Event()
        self._widget = widget
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        if event is not None and event.type() == QEvent.Type.Paint:
            self.seen.set()
        return False

    def end(self) -> None:
        self._widget.removeEventFilter(self)


async def first_paint(frame: object, *, timeout_s: float = 2.0) -> None:
    """Wait until the frame is on the screen (or nobody paints it: started minimised)."""
    if not isinstance(frame, QWidget):
        return
    watcher = _PaintSeen(frame)
    try:
        async with asyncio.timeout(timeout_s):
            await watcher.seen.wait()
    except TimeoutError:
        _logger.info("the window was not painted within %g s", timeout_s)
    finally:
        watcher.end()


def own_top_level_widgets() -> list[QWidget]:
    """The top-level widgets that we made: Qt's own (a completer's popup) it deletes itself, and only once."""
    return [widget for widget in QApplication.topLevelWidgets() if sip.ispycreated(widget)]


def delete_widgets() -> None:
    """Delete every top-level widget now, children and all, while Python is still whole."""
    for widget in own_top_level_widgets():
        widget.close()
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
