"""The file watch: each change told once, ours and temporary ones not at all."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from presentation.window.file_watch import FileWatch, _end
from tests.gui.conftest import Until


class Told:
    """What a watch has told, in order."""

    def __init__(self, watch: FileWatch) -> None:
        self.changed: list[Path] = []
        self.moved: list[tuple[Path, Path]] = []
        self.order: list[str] = []
        self.results = 0
        self.threads: set[int] = set()
        watch.changed.connect(self._on_changed)
        watch.moved.connect(self._on_moved)
        watch.result_stored.connect(self._on_result)

    def _on_changed(self, path: Path) -> None:
        self.changed.append(path)
        self.order.append(f"changed {path.name}")
        self.threads.add(threading.get_ident())

    def _on_moved(self, old: Path, new: Path) -> None:
        self.moved.append((old, new))
        self.order.append(f"moved {old.name} {new.name}")

    def _on_result(self) -> None:
        self.results += 1


@pytest.fixture
async def watch(qapp: object) -> AsyncIterator[FileWatch]:
    made = FileWatch()
    yield made
    await made.stop()


async def test_many_writes_of_a_file_are_one_change(watch: FileWatch, tmp_path: Path, until: Until) -> None:
    told = Told(watch)
    await watch.start(tmp_path)
    for number in range(30):
        (tmp_path / "a.cir").write_text(f"* {number}\n")
    (tmp_path / "b.cir").write_text("b")
    await until(lambda: {path.name for path in told.changed} >= {"a.cir", "b.cir"})
    assert told.changed.count(tmp_path / "a.cir") == 1
    assert told.threads == {threading.get_ident()}


async def test_an_atomic_write_is_a_change_of_its_target(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    (tmp_path / "a.cir").write_text("old")
    told = Told(watch)
    await watch.start(tmp_path)
    temporary = tmp_path / ".01ARZ3NDEKTSV4RRFFQ69G5FAV.tmp"
    temporary.write_text("new")
    temporary.replace(tmp_path / "a.cir")
    await until(lambda: told.changed)
    assert told.changed == [tmp_path / "a.cir"]
    assert told.moved == []


async def test_a_move_is_told_before_the_changes_of_its_places(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    (tmp_path / "old.cir").write_text("x")
    told = Told(watch)
    await watch.start(tmp_path)
    (tmp_path / "old.cir").rename(tmp_path / "between.cir")
    (tmp_path / "between.cir").rename(tmp_path / "new.cir")
    await until(lambda: tmp_path / "new.cir" in told.changed)
    assert told.moved == [(tmp_path / "old.cir", tmp_path / "new.cir")]
    assert told.order[0] == "moved old.cir new.cir"


async def test_a_file_that_is_at_its_old_place_again_was_set_aside_not_moved(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    (tmp_path / "a.cir").write_text("x")
    told = Told(watch)
    await watch.start(tmp_path)
    (tmp_path / "a.cir").rename(tmp_path / "a.bak")  # as programs do that keep what was there before
    (tmp_path / "a.cir").write_text("y")
    await until(lambda: {path.name for path in told.changed} == {"a.cir", "a.bak"})
    assert told.moved == []


async def test_our_own_folder_is_silent_but_for_results(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    results = tmp_path / ".circuit_ai" / "sim_results"
    results.mkdir(parents=True)
    told = Told(watch)
    await watch.start(tmp_path)
    (tmp_path / ".circuit_ai" / "operations.sqlite").write_text("x")
    (results / "r1").mkdir()
    (results / "r1" / "result.json").write_text("{}")
    (tmp_path / "rc.cir~").write_text("x")
    (tmp_path / "last.cir").write_text("x")
    await until(lambda: told.changed)
    assert told.changed == [tmp_path / "last.cir"]
    assert told.results


async def test_files_in_new_folders_are_seen(watch: FileWatch, tmp_path: Path, until: Until) -> None:
    told = Told(watch)
    await watch.start(tmp_path)
    (tmp_path / "lib").mkdir()
    await until(lambda: tmp_path / "lib" in told.changed)
    (tmp_path / "lib" / "a.lib").write_text("x")
    await until(lambda: tmp_path / "lib" / "a.lib" in told.changed)
    (tmp_path / "lib" / "a.lib").unlink()
    await until(lambda: told.changed.count(tmp_path / "lib" / "a.lib") == 2)


async def test_another_folder_takes_the_place_of_the_first(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    told = Told(watch)
    await watch.start(first)
    await watch.start(second)
    (first / "a.cir").write_text("x")
    (second / "b.cir").write_text("x")
    await until(lambda: told.changed)
    assert told.changed == [second / "b.cir"]
    await watch.stop()
    assert watch.root is None


async def test_a_folder_that_is_gone_is_told_and_nothing_runs(watch: FileWatch, tmp_path: Path) -> None:
    problems: list[object] = []
    watch.failed.connect(problems.append)
    await watch.start(tmp_path / "gone")
    assert len(problems) == 1
    await watch.stop()
    assert "InotifyFD" not in {thread.name for thread in threading.enumerate()}


def test_an_event_that_comes_while_the_watch_ends_is_no_error() -> None:
    logger = logging.getLogger("watchdog.observers.inotify")

    class Observer:
        """Reads an event while it is stopped."""

        def stop(self) -> None:
            logger.error("InotifyEmitter.queue_events() called when the thread is inactive")

        def join(self) -> None:
            """Nothing runs."""

    before = list(logger.filters)
    _end(Observer())  # type: ignore[arg-type]  # an error in the log would fail the test
    assert logger.filters == before


async def test_lines_of_a_conversation_and_its_lock_are_told_by_its_id(
    watch: FileWatch, tmp_path: Path, until: Until
) -> None:
    told: list[str] = []
    watch.conversation_stored.connect(told.append)
    folder = tmp_path / ".circuit_ai" / "conversations"
    folder.mkdir(parents=True)
    await watch.start(tmp_path)
    (folder / "sessions.json").write_text("{}")
    (folder / "01A.jsonl").write_text("{}\n")
    await until(lambda: told)
    assert set(told) == {"01A"}
    told.clear()
    (folder / "01B.lock").write_text("{}")
    (folder / "01B.lock").unlink()
    await until(lambda: "01B" in told)
