"""The whole window, opened on a project and closed again, many times: nothing grows."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QApplication

import bootstrap
from application.app import Application
from presentation.window.application import run
from presentation.window.main_window import MainWindow


def make_frame(services: Any, app: Application, state: Any) -> MainWindow:
    frame = MainWindow(services, app, state)
    services.start(close_when_filled(frame, services), kind="close")
    return frame


async def close_when_filled(frame: MainWindow, services: Any) -> None:
    tasks = frame.parts.app.program.tasks
    while not (filling := [each for each in tasks.handles if each.kind == "fill window"]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await filling[0].wait()
    assert services.workspace.root is not None
    frame.close_requested.emit()


@dataclass(frozen=True)
class Held:
    threads: int
    open_files: tuple[str, ...]
    """What each descriptor leads to."""
    windows: int
    objects: int
    """Of Qt, known to Python."""


def open_files() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with contextlib.suppress(FileNotFoundError):  # the one that listed them
            yield os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115


def what_is_held() -> Held:
    gc.collect()
    return Held(
        threads=len(threading.enumerate()),
        open_files=tuple(sorted(open_files())),
        windows=len(QApplication.topLevelWidgets()),
        objects=sum(isinstance(each, QObject) for each in gc.get_objects()),
    )


def open_and_close(project: Path) -> Held:
    app = bootstrap.build()
    assert app.program.language
    assert run(app, project, make_frame=make_frame) == 0
    return what_is_held()


def check_nothing_grew(held: list[Held]) -> None:
    first, *others = held[1:]  # what is made once and kept is there after the first
    for each in others:
        assert (each.threads, each.windows) == (first.threads, 0)
        # Chromium, where an earlier test has started it in this process, may open something of its own later;
        # what is left open by each cycle is more than one.
        new = Counter(each.open_files) - Counter(first.open_files)
        assert len(each.open_files) <= len(first.open_files) + 1, new
        # A window has some three hundred; a few wait for the next collection.
        assert abs(each.objects - first.objects) < 50, held


@pytest.mark.timeout(120)
def test_open_and_close_leave_nothing(qapp, project):
    check_nothing_grew([open_and_close(project) for _ in range(4)])


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_twenty_times_open_and_close_leave_nothing_of_the_whole_window(qapp, project):
    check_nothing_grew([open_and_close(project) for _ in range(20)])
