"""The whole window, opened on a project and closed again, many times: nothing grows."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QApplication

import bootstrap
from presentation.window.application import run
from presentation.window.main_window import MainWindow


def make_frame(services: Any, state: Any) -> MainWindow:
    frame = MainWindow(services, state)
    services.start(close_when_filled(frame, services), kind="close")
    return frame


async def close_when_filled(frame: MainWindow, services: Any) -> None:
    while not (filling := [each for each in services.app.tasks.handles if each.kind == "fill window"]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await filling[0].wait()
    assert services.workspace.root is not None
    frame.close_requested.emit()


@dataclass(frozen=True)
class Held:
    threads: int
    open_files: int
    windows: int
    objects: int
    """Of Qt, known to Python."""


def what_is_held() -> Held:
    gc.collect()
    return Held(
        threads=len(threading.enumerate()),
        open_files=len(os.listdir("/proc/self/fd")),  # noqa: PTH208
        windows=len(QApplication.topLevelWidgets()),
        objects=sum(isinstance(each, QObject) for each in gc.get_objects()),
    )


def open_and_close(project: Path) -> Held:
    app = bootstrap.build()
    assert app.language
    assert run(app, project, make_frame=make_frame) == 0
    return what_is_held()


def check_nothing_grew(held: list[Held]) -> None:
    first, *others = held[1:]  # what is made once and kept is there after the first
    for each in others:
        assert (each.threads, each.open_files, each.windows) == (first.threads, first.open_files, 0)
        # A window has some three hundred; a few wait for the next collection.
        assert abs(each.objects - first.objects) < 50, held


@pytest.mark.timeout(120)
def test_open_and_close_leave_nothing(qapp, project):
    check_nothing_grew([open_and_close(project) for _ in range(4)])


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_twenty_times_open_and_close_leave_nothing_of_the_whole_window(qapp, project):
    check_nothing_grew([open_and_close(project) for _ in range(20)])
