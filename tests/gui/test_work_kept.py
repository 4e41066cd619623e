"""What comes back after an end that was none: text, tabs, layout, drafts; and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPlainTextEdit, QPushButton

from infrastructure.persistence.process_locks import ProcessLock
from infrastructure.persistence.unsaved_texts import UnsavedTextFiles
from presentation.panels.editor.editor_area import EditorArea
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window.crash_notice import CrashNotice
from presentation.window.file_watch import FileWatch
from presentation.window.main_window import MainWindow
from shared.paths import user_home
from shared.ulid import new_ulid
from tests.gui.conftest import Until
from tests.gui.whole_window import end_window, open_window, without_web_view


class Desk:
    """One window after the other on the same folder of the user."""

    def __init__(self, services: WindowServices, until: Until) -> None:
        self.services = services
        self._until = until
        self.windows: list[MainWindow] = []

    async def start(self, project: Path | None = None) -> MainWindow:
        window = await open_window(self.services, self._until, project)
        self.windows.append(window)
        return window

    async def settled(self) -> None:
        await self._until(lambda: not self.services.app.program.tasks.handles)

    async def kill(self, window: MainWindow) -> None:
        """What is on the disk afterwards is what a kill leaves: nothing is written any more."""
        await window.projects.keeper.keep_now()
        keeper = window.projects.keeper
        keeper._timer.stop()
        keeper._mine = keeper._state = None
        root = self.services.workspace.root
        assert root is not None
        await asyncio.to_thread(self.services.app.project.unsaved_texts.release, root)  # as the kernel does
        await window.desk.close()
        await self.settled()


@pytest.fixture
async def desk(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    without_web_view(monkeypatch)
    made = Desk(services, until)
    yield made
    for window in made.windows:
        await end_window(window, services, until)


def shares(sizes: list[int]) -> list[float]:
    return [size / sum(sizes) for size in sizes]


def editor_of(window: MainWindow) -> EditorArea:
    return window.parts.editor


async def typed(desk: Desk, window: MainWindow, path: Path, text: str, until: Until) -> None:
    desk.services.workspace.file_activated.emit(path, None)
    await until(lambda: desk.services.workspace.shown_file == path)
    page = editor_of(window).page_of(path)
    assert page is not None
    page.editor.go_to(page.editor.lines(), 1)
    QTest.keyClicks(page.editor, text)


async def test_everything_is_as_it_was_before_the_kill(desk: Desk, project: Path, until: Until) -> None:
    circuit, notes = project / "filter.cir", project / "notes.md"
    circuit.write_text(circuit.read_text() + "* line\n" * 200)
    notes.write_text("# Notes\n")
    first = await desk.start(project)
    await typed(desk, first, notes, "unsaved words", until)
    await typed(desk, first, circuit, "* typed", until)
    place = editor_of(first).places()[circuit]
    assert place[2] > 100, "scrolled to the end"
    first.appearance.set_theme("dark")
    first.appearance.set_language("zh")
    first.panes.left.setSizes([100, 300, 300])
    first.parts.bottom.show_tab("problems")
    zooms = {"ac": {"": (2.0, 3.5), "dB": (-40.0, 1.0)}}
    desk.services.workspace.views.of(circuit).zooms.update(zooms)
    first.parts.conversation.composer.edit.setFocus()
    QTest.keyClicks(first.parts.conversation.composer.edit, "and the gain?")
    sizes, order = first.panes.left.sizes(), editor_of(first).open_files()
    await desk.kill(first)
    assert notes.read_text() == "# Notes\n"
    first.appearance.set_language("en")
    first.appearance.set_theme("light")
    first.hide()

    told: list[str] = []
    desk.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    second = await desk.start()
    editor = editor_of(second)
    assert editor.open_files() == order
    assert set(editor.unsaved()) == {circuit, notes}
    assert editor.unsaved_text(notes).text == "# Notes\nunsaved words"
    assert editor.unsaved_text(circuit).text.endswith("* line\n* typed")
    assert editor.places()[circuit] == place
    assert desk.services.workspace.shown_file == circuit
    assert (desk.services.theme.mode, desk.services.language.name) == ("dark", "zh")
    # The screen of these tests is smaller than the window was: the second one fits it.
    assert shares(second.panes.left.sizes()) == pytest.approx(shares(sizes), abs=0.03)
    assert second.parts.bottom.shown_tab == "problems"
    assert desk.services.workspace.views.of(circuit).zooms == zooms
    assert second.parts.conversation.composer.text == "and the gain?"
    assert second.projects.state.recent == (project,)
    assert any(line.startswith("Restored, still unsaved:") for line in told)
    page = editor.page_of(notes)
    assert page is not None
    assert page.notices.notice is None
    page.editor.undo()
    assert not page.is_dirty, "coming back is one step that can be undone"
    page.editor.redo()
    assert await page.save()
    assert notes.read_text() == "# Notes\nunsaved words"


async def test_a_file_that_others_changed_meanwhile_is_asked_about(
    desk: Desk, project: Path, until: Until
) -> None:
    circuit = project / "filter.cir"
    first = await desk.start(project)
    await typed(desk, first, circuit, "* mine", until)
    await desk.kill(first)
    circuit.write_text("* theirs\n.end\n")
    second = await desk.start()
    page = editor_of(second).page_of(circuit)
    assert page is not None
    assert page.editor.text().endswith("* mine")
    assert page.is_dirty
    assert page.notices.notice is not None
    assert page.notices.notice.kind == "changed"
    assert not await page.save()
    assert circuit.read_text() == "* theirs\n.end\n"
    page.notices.findChild(QPushButton, "notice_keep").click()
    assert await page.save()
    assert circuit.read_text().endswith("* mine")


async def test_the_text_of_a_file_that_is_gone_comes_back_too(
    desk: Desk, project: Path, until: Until
) -> None:
    notes = project / "notes.md"
    notes.write_text("# Notes\r\n")
    first = await desk.start(project)
    await typed(desk, first, notes, "mine", until)
    await desk.kill(first)
    notes.unlink()
    second = await desk.start()
    page = editor_of(second).page_of(notes)
    assert page is not None
    assert page.notices.notice is not None
    assert page.notices.notice.kind == "deleted"
    assert page.is_dirty
    assert await page.save()
    assert notes.read_bytes() == b"# Notes\r\nmine"


async def _save(window: MainWindow, page) -> None:
    assert await page.save()


async def _undo(window: MainWindow, page) -> None:
    page.editor.undo()


async def _close(window: MainWindow, page) -> None:
    page.close_requested.emit()


@pytest.mark.parametrize("way", [_save, _undo, _close])
async def test_what_is_no_more_unsaved_is_not_kept(
    desk: Desk, project: Path, until: Until, way: Callable[..., Awaitable[None]]
) -> None:
    circuit = project / "filter.cir"
    window = await desk.start(project)
    await typed(desk, window, circuit, "* mine", until)
    await window.projects.keeper.keep_now()
    store = desk.services.app.project.unsaved_texts
    assert isinstance(store, UnsavedTextFiles)
    assert len(list(store.folder_of(project).glob("*.text"))) == 1
    await way(window, editor_of(window).page_of(circuit))
    await window.projects.keeper.keep_now()
    assert list(store.folder_of(project).glob("*.text")) == []


async def test_a_stop_signal_keeps_it_and_a_person_who_discards_it_does_not(
    desk: Desk, project: Path, until: Until
) -> None:
    circuit = project / "filter.cir"
    for is_discarded in (False, True):
        window = await desk.start(project)
        await until(lambda window=window: bool(editor_of(window).open_files()))
        assert len(editor_of(window).unsaved()) == is_discarded, "after the signal it is back"
        await typed(desk, window, circuit, "x", until)
        window.projects.is_discarded = is_discarded
        await window.release()
        await window.desk.close()
        await desk.settled()
        desk.windows.remove(window)
    third = await desk.start()
    assert editor_of(third).unsaved() == ()


async def test_what_was_done_right_before_the_end_is_remembered(
    desk: Desk, project: Path, until: Until
) -> None:
    notes = project / "notes.md"
    notes.write_text("# Notes\n")
    window = await desk.start(project)
    window.projects.keeper._timer.stop()  # the end comes before the next look
    desk.services.workspace.file_activated.emit(notes, None)
    await until(lambda: desk.services.workspace.shown_file == notes)
    await window.release()
    await window.desk.close()
    desk.windows.remove(window)
    memory = (await asyncio.to_thread(desk.services.app.program.window_state.load)).memory_of(project)
    assert Path(memory.shown_file) == Path("notes.md")
    assert Path("notes.md") in [Path(name) for name in memory.open_files]


async def test_a_project_that_another_window_has_is_not_kept_twice(
    desk: Desk, project: Path, until: Until
) -> None:
    store = desk.services.app.project.unsaved_texts
    assert isinstance(store, UnsavedTextFiles)
    folder = store.folder_of(project)
    folder.mkdir(parents=True)
    theirs = await asyncio.to_thread(ProcessLock, folder / "window.lock")
    told: list[str] = []
    desk.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    try:
        window = await desk.start(project)
        assert any(line.startswith("Another window has this project open") for line in told)
        await typed(desk, window, project / "filter.cir", "x", until)
        await window.projects.keeper.keep_now()
        assert list(folder.glob("*.text")) == []
        state = await asyncio.to_thread(desk.services.app.program.window_state.load)
        assert state.last_project == project
        assert state.memory_of(project).open_files == ()
    finally:
        await asyncio.to_thread(theirs.release)
    window.projects.keeper._not_before = 0.0
    await until(lambda: list(folder.glob("*.text")))


@pytest.mark.parametrize(("language", "title"), [("en", "The program ended"), ("zh", "程序上次意外结束")])
async def test_an_unexpected_end_is_told_and_its_report_can_be_copied_and_deleted(
    desk: Desk, project: Path, until: Until, language: str, title: str
) -> None:
    runs = user_home() / "runs"
    runs.mkdir(parents=True)
    name = new_ulid()
    (runs / f"{name}.run").write_text("")
    (runs / f"{name}.trace").write_text("Circuit Design AI 0\n\nFatal Python error: Segmentation fault\n")
    window = await desk.start(project)
    window.appearance.set_language(language)
    (notice,) = window.findChildren(CrashNotice)
    assert notice.isVisible()
    assert notice.label.text().startswith(title)
    QTest.mouseClick(notice.look_button, Qt.MouseButton.LeftButton)
    (dialog,) = window.findChildren(SmallDialog)
    text = dialog.findChild(QPlainTextEdit, "crashReportText")
    assert "Segmentation fault" in text.toPlainText()
    assert str(runs / f"{name}.txt") in dialog.words.text()
    delete, copy, _close = dialog.buttons()
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == text.toPlainText()
    QTest.mouseClick(delete, Qt.MouseButton.LeftButton)
    await desk.settled()
    assert list(runs.iterdir()) == []
    assert not notice.isVisible()


async def test_the_conversations_come_back_before_their_list_is_read(
    desk: Desk, project: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the project's other files take; opened by one of them it is the same project."""
    first = await desk.start(project)
    QTest.keyClicks(first.parts.conversation.composer.edit, "and the gain?")
    first.desk.set_main(project / "filter.cir")
    await desk.kill(first)
    first.hide()
    watch = FileWatch.start

    async def slow(self: FileWatch, root: Path) -> None:
        await watch(self, root)
        sessions = {"sessions"}
        await until(
            lambda: sessions.isdisjoint(each.kind for each in desk.services.app.program.tasks.handles)
        )

    monkeypatch.setattr(FileWatch, "start", slow)
    second = await desk.start(project / "filter.cir")
    talks = second.parts.conversation
    assert talks.composer.text == "and the gain?"
    assert not talks.tabs.is_bringing_back
    assert second.projects.state.memory_of(project).main_circuit == "filter.cir"
    QTest.keyClicks(talks.composer.edit, " Now?")
    second.projects.remember()
    assert second.projects.state.memory_of(project).conversations[0].draft == "and the gain? Now?"
