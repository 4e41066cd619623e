"""Menus by letters, small dialogs in our own dress, the window on its screen, weights of Chinese faces."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QFileInfo, QMargins, QSettings, Qt
from PyQt6.QtGui import QFileSystemModel, QGuiApplication
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFileIconProvider,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QWidget,
)

from application.project.browsing import ResultSummary
from presentation.dialogs.report_studies import ReportStudiesDialog
from presentation.ui.questions import ask_text, choose, choose_folder, choose_target
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import style_sheet
from presentation.ui.theme import Theme, ThemeManager
from presentation.ui.workspace import WindowServices
from presentation.window.about import show_about
from presentation.window.commands import with_letter
from presentation.window.layout_state import KeepOnScreen, frame_of, on_a_screen
from presentation.window.main_window import MainWindow
from shared.message import msg
from tests.gui.conftest import Until


def shown() -> SmallDialog | None:
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, SmallDialog)]
    return next((each for each in found if each.isVisible()), None)


async def test_every_menu_and_entry_has_a_letter_of_its_own(services: WindowServices) -> None:
    window = MainWindow(services, services.app)
    for language in ("en", "zh", "en"):
        window.appearance.set_language(language)
        bar = window.header.menu_bar
        menus: list[QWidget] = [bar, *(menu for menu in bar.findChildren(QMenu) if menu.actions())]
        for menu in menus:
            texts = [action.text().split("\t")[0] for action in menu.actions() if not action.isSeparator()]
            letters = [text[text.index("&") + 1].lower() for text in texts]
            assert len(set(letters)) == len(letters), (menu.objectName(), texts)
    assert bar.actions()[0].text() == "&File"
    assert with_letter("新建电路...", "C") == "新建电路(&C)..."
    assert with_letter("R&D", "") == "R&&D"


async def test_a_question_has_its_safe_answer_left_and_one_filled_button(
    services: WindowServices, until: Until
) -> None:
    parent = QWidget()
    parent.show()
    options = (
        ("save", msg("Save"), "primary"),
        ("drop", msg("Don't save"), "danger"),
        (None, msg("Cancel"), ""),
    )
    asking = asyncio.ensure_future(
        choose(
            services, parent, title=msg("Unsaved changes"), text=msg("Save"), options=options, cancelled=None
        )
    )
    await until(shown)
    box = shown()
    assert box is not None
    assert [button.text() for button in box.buttons()] == ["Cancel", "Don't save", "Save"]
    assert [button.property("kind") for button in box.buttons()] == ["secondary", "danger-text", "primary"]
    assert box.head.width() >= box.head.fontMetrics().horizontalAdvance("Unsaved changes")
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert await asking is None
    deleting = asyncio.ensure_future(
        choose(
            services,
            parent,
            title=msg("Delete"),
            text=msg("Delete"),
            options=((True, msg("Delete"), "danger"), (False, msg("Keep it"), "")),
            cancelled=False,
        )
    )
    await until(shown)
    box = shown()
    assert box is not None
    keep, delete = box.buttons()
    assert (keep.text(), delete.property("kind"), delete.isDefault()) == ("Keep it", "danger", False)
    QTest.mouseClick(delete, Qt.MouseButton.LeftButton)
    assert await deleting is True


def test_what_stands_below_a_text_is_there_before_the_size_is_found(
    services: WindowServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    monkeypatch.setattr(
        SmallDialog, "open", lambda box: found.extend(each.text() for each in box.findChildren(QPushButton))
    )
    show_about(services, QWidget())
    assert set(found) == {"Copy", "Close", "Read the license"}


async def test_a_field_is_as_wide_as_the_dialog_and_enter_takes_it(
    services: WindowServices, until: Until
) -> None:
    parent = QWidget()
    parent.show()
    asking = asyncio.ensure_future(
        ask_text(services, parent, title=msg("Rename"), label=msg("Name"), text="a")
    )
    await until(shown)
    box = shown()
    assert box is not None
    edit = box.findChild(QLineEdit, "answer")
    assert edit is not None
    assert edit.width() > 300
    QTest.keyClicks(edit, "b")  # the old name is selected
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert await asking == "b"


async def test_a_missing_folder_and_a_file_that_is_there_are_told_in_our_own_dress(
    services: WindowServices, until: Until, tmp_path: Path
) -> None:
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(tmp_path))
    parent = QWidget()
    parent.show()
    (tmp_path / "plot.svg").write_text("")

    async def typed(text: str, button: str) -> SmallDialog:
        await until(lambda: any(each.isVisible() for each in parent.findChildren(QFileDialog)))
        dialog = next(each for each in parent.findChildren(QFileDialog) if each.isVisible())
        edit = dialog.findChild(QLineEdit, "fileNameEdit")
        assert edit is not None
        edit.setText(text)
        dialog.accept()
        assert not dialog.findChildren(QMessageBox)
        box = shown()
        assert box is not None
        assert text in box.words.text()
        next(each for each in box.buttons() if each.text() == services.language(msg(button))).click()
        return box

    services.language.set("zh")
    # Qt's Chinese calls a file's size a volume, and a folder Folder.
    assert QFileSystemModel().headerData(1, Qt.Orientation.Horizontal) == "大小"
    assert QFileIconProvider().type(QFileInfo(str(tmp_path))) == "文件夹"
    asking = asyncio.ensure_future(choose_folder(services, parent, msg("Open folder"), tmp_path))
    box = await typed("gone", "Close")
    assert "不存在" in box.words.text()
    assert not asking.done()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    start = tmp_path / "plot.svg"
    saving = asyncio.ensure_future(choose_target(services, parent, msg("Export the plot"), start))
    await typed("plot.svg", "Cancel")
    assert not saving.done()
    await typed("plot.svg", "Replace")
    assert await saving == start
    assert services.workspace.export_folder == tmp_path
    # The next one begins where the latest went, whatever it is of.
    services.workspace.export_folder = tmp_path / "for the review"
    services.workspace.export_folder.mkdir()
    # Where there are several kinds, the name follows the one that is chosen.
    kinds = {".svg": "SVG", ".png": "PNG"}
    saving = asyncio.ensure_future(
        choose_target(services, parent, msg("Export the plot"), start, kinds=kinds)
    )
    await until(lambda: any(each.isVisible() for each in parent.findChildren(QFileDialog)))
    dialog = next(each for each in parent.findChildren(QFileDialog) if each.isVisible())
    dialog.filterSelected.emit("PNG (*.png)")
    dialog.accept()
    assert await saving == tmp_path / "for the review" / "plot.png"


def test_a_window_and_its_frame_are_on_the_screen(qapp: QApplication) -> None:
    screen = QGuiApplication.primaryScreen()
    assert screen is not None
    room, frame = screen.availableGeometry(), QMargins(1, 20, 1, 5)
    for wanted in ((0, 0, 5000, 5000), (-90, -90, 200, 100), (room.right() - 5, room.bottom() - 5, 200, 100)):
        assert room.contains(on_a_screen(wanted, frame).marginsAdded(frame))
    window = QWidget()
    KeepOnScreen(window)
    window.setGeometry(0, 0, room.width() + 50, room.height() + 50)
    window.show()
    QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    window.findChild(KeepOnScreen)._fit()
    assert room.contains(window.geometry().marginsAdded(frame_of(window)))
    window.close()


def test_chinese_has_no_weight_between_regular_and_bold(qapp: QApplication) -> None:
    manager = ThemeManager("light")
    assert manager.theme.font("ui", weight=500).weight() == 500
    manager.speak("zh")
    assert manager.theme.font("ui", weight=500).weight() == 400
    assert "font-weight: 500" not in style_sheet(manager.theme)
    assert manager.theme.font("ui_strong").weight() == 600
    manager.speak("en")
    assert manager.theme == Theme("light")


def kept_study(number: int, kind: str, *, is_ours: bool = True) -> ResultSummary:
    return ResultSummary(
        path=Path(f"{number}/result.json"), number=number, created="2026-03-04T10:00:00Z", ok=True,
        status="ok", verdict="complete", circuit=Path("rc.cir"), netlist_sha256="", study=kind,
        is_ours=is_ours,
    )  # fmt: skip


async def test_the_studies_of_a_report_are_chosen(services: WindowServices, until: Until) -> None:
    services.language.set("zh")
    kinds = ("corners", "montecarlo", "sweep")
    kept = [kept_study(n, kinds[n % 3], is_ours=n != 38) for n in range(40, 0, -1)]
    parent = QWidget()
    dialog = ReportStudiesDialog(services, Path("rc.cir"), kept, parent)
    asking = asyncio.ensure_future(dialog.ask())
    await until(dialog.isVisible)
    assert len(dialog.boxes) == 30
    # The newest of each kind that was run here: 38 came with the project.
    assert [n for n, box in dialog.boxes.items() if box.isChecked()] == [40, 39, 35]
    assert dialog.boxes[39].text().startswith("角点，仿真 #39，2026-03-04")
    assert "不是由本机安装运行的" in dialog.boxes[38].text()
    filled = dialog.buttons()[-1]
    for box in dialog.boxes.values():
        box.setChecked(True)
    assert not filled.isEnabled()  # more than a report has
    for number, box in dialog.boxes.items():
        box.setChecked(number == 38)
    assert filled.isEnabled()
    filled.click()
    assert await asking == ["38"]
    again = ReportStudiesDialog(services, Path("rc.cir"), kept[:1], parent)
    asking = asyncio.ensure_future(again.ask())
    await until(again.isVisible)
    again.boxes[40].setChecked(False)
    assert again.chosen_runs == ["none"]
    QTest.keyClick(again, Qt.Key.Key_Escape)
    assert await asking is None
