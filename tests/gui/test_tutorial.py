"""What docs/tutorial.md says is done with mouse and keys, with its lines; its figures are what comes out.

With TUTORIAL_PICTURES (a folder) and TUTORIAL_LANGUAGE its pictures are taken (`scripts/screenshots.py`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QListWidget, QPushButton, QWidget

from domain.circuit.numbers import parse_number
from domain.circuit.schematic.judging import spans_of
from domain.simulation.result import SimulationResult
from presentation.panels.schematic.hit import Hit
from presentation.panels.schematic.panel import SchematicPanel
from presentation.panels.waveforms import export
from presentation.panels.waveforms.span_card import SpanCard
from presentation.panels.welcome import EXAMPLES
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from tests.gui.conftest import Until
from tests.gui.test_plot_hands import _at, _drag
from tests.gui.whole_window import end_window, open_window, without_web_view

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"en": ROOT / "docs" / "tutorial.md", "zh": ROOT / "docs" / "tutorial.zh.md"}
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
Key = Qt.Key


def blocks(page: str) -> dict[str, str]:
    """The netlist lines of a page by their names."""
    return {
        name: text.rstrip("\n") for name, text in re.findall(r"```spice (\S+)\n(.*?)```", page, re.DOTALL)
    }


def tables(page: str) -> list[list[list[str]]]:
    """Rows of figures, without their heads; names without their signs."""
    found = re.findall(r"^(?:\|.*\|\n)+", page, re.MULTILINE)
    return [
        [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
        for table in found
    ]


def value_of(figure: str) -> tuple[float, float]:
    """What a figure of the page says in SI, and one unit of its last digit."""
    number, unit = re.fullmatch(r"([\d.]+) ?(\S+)", figure).groups()
    scale = 0.01 if unit == "%" else (parse_number(f"1{unit}") or 1.0)
    decimals = len(number.partition(".")[2])
    return float(number) * scale, 10.0**-decimals * scale


class Learner:
    """Sits at the window and does what the page says."""

    def __init__(self, window: MainWindow, services: WindowServices, until: Until, page: str) -> None:
        self.window, self.services, self.until = window, services, until
        self.blocks, self.tables = blocks(page), tables(page)
        self.ends: list[Any] = []
        services.workspace.run_finished.connect(self.ends.append)

    @property
    def editor(self) -> Any:
        return self.window.parts.editor.current_editor()

    @property
    def panel(self) -> Any:
        return self.window.parts.runs.waveforms

    @property
    def shown(self) -> Any:
        return self.window.parts.runs.shown

    def line_of(self, start: str) -> int:
        lines = self.editor.text().splitlines()
        return next(at for at, line in enumerate(lines, 1) if line.split(" ")[0] == start)

    def go_to(self, start: str, *, at_end: bool = False) -> None:
        self.editor.go_to(self.line_of(start))
        self.editor.setFocus()
        QTest.keyClick(self.editor, Key.Key_End if at_end else Key.Key_Home)

    def replace_line(self, start: str, text: str) -> None:
        """By hand: to its beginning, to its end with Shift, write."""
        self.go_to(start)
        QTest.keyClick(self.editor, Key.Key_End, SHIFT)
        self.writes(text)

    def writes(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                QTest.keyClick(self.editor, Key.Key_Escape)  # the list, if it is there
                QTest.keyClick(self.editor, Key.Key_Return)
            QTest.keyClicks(self.editor, line)
        QTest.keyClick(self.editor, Key.Key_Escape)

    async def runs(self) -> None:
        count = len(self.ends)
        self.window.activateWindow()
        await self.until(self.window.isActiveWindow)
        QTest.keyClick(self.window, Key.Key_F5)
        await self.until(lambda: len(self.ends) > count)
        assert isinstance(self.ends[-1], SimulationResult), self.ends[-1]
        loaded = lambda: self.shown.loaded and self.shown.loaded.source == self.ends[-1].result_path  # noqa: E731
        await self.until(lambda: loaded() and not self.shown.is_loading and self.panel.traces)
        await self.settled()

    async def settled(self) -> None:
        """Nothing is being done but the schematic, which is improved for seconds."""
        tasks = self.services.app.program.tasks
        await self.until(lambda: all(handle.kind == "draw schematic" for handle in tasks.handles))

    def drawn(self) -> list[str]:
        return [trace.expression for trace in self.panel.traces]

    def figures_agree(self, table: int) -> None:
        """The rows of a table of the page are what the window has measured."""
        measured = {item.shown_name: item for item in self.shown.measurements}
        for name, figure in self.tables[table]:
            value, digit = value_of(figure)
            assert measured[name].value is not None, name
            assert measured[name].value.value == pytest.approx(value, abs=digit), name


Look = Callable[[str, QWidget], None]


async def walk(learner: Learner, look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page from its first section to its last."""
    window, until, services = learner.window, learner.until, learner.services

    # 1. Open
    window.commands.action("openExample").trigger()
    box = await shown_box(window, until)
    listed = box.findChild(QListWidget, "answer")
    title = services.language(EXAMPLES["wien-oscillator"][0])
    (row,) = listed.findItems(title, Qt.MatchFlag.MatchExactly)
    listed.setCurrentItem(row)
    QTest.keyClick(listed, Key.Key_Return)
    await until(lambda: services.workspace.shown_file is not None and learner.editor is not None)
    await learner.settled()
    assert services.workspace.root == tmp_path / "Circuits" / "wien-oscillator"

    # 2. Complete
    wanted = learner.blocks["load"]
    learner.go_to("XU1", at_end=True)
    QTest.keyClick(learner.editor, Key.Key_Return)
    QTest.keyClicks(learner.editor, wanted[:4])
    completer = window.parts.editor.current_page().completer
    await until(lambda: [each.text for each in completer.shown] == ["out"])
    QTest.keyClick(learner.editor, Key.Key_Tab)
    QTest.keyClicks(learner.editor, wanted.removeprefix("RL out"))
    line = learner.line_of("RL")
    assert learner.editor.text().splitlines()[line - 1] == wanted

    # 3. Fix an error
    await until(lambda: learner.editor.problem_at_caret() is not None)
    await learner.settled()
    look("1-fix", window.parts.editor)
    QTest.keyClick(learner.editor, Key.Key_Period, CONTROL)
    await until(lambda: learner.editor.text().splitlines()[line - 1] == learner.blocks["fixed"])

    # 4. Run
    await learner.runs()
    assert learner.drawn() == ["v(out)"]
    learner.figures_agree(0)

    # 5. Probe: from the text, and from the schematic
    learner.go_to("D1")
    QTest.keyClick(learner.editor, Key.Key_P, ALT)
    await until(lambda: learner.drawn() == ["v(out)", "i(d1)"])
    QTest.keyClick(window, Key.Key_5, CONTROL)
    await until(lambda: (view := window.findChild(SchematicPanel)) is not None and view.canvas.pointing.is_on)
    canvas = window.findChild(SchematicPanel).canvas
    QTest.mouseClick(canvas, LEFT, pos=wire_of(canvas, "p"))
    await until(lambda: "v(p)" in learner.drawn())
    await learner.settled()

    # 6. Measure
    area = learner.panel.area
    since, until_ms = 50e-3 / 60e-3, 0.999
    await _drag(area, until, (_at(area, since, 0.5), _at(area, until_ms, 0.505)))
    assert area.view_range == pytest.approx((50e-3, 60e-3), abs=0.5e-3)
    await learner.settled()
    look("2-probe", window)
    QTest.mouseClick(chip(learner, "v(out)"), LEFT, CONTROL)
    await until(lambda: (card := area.findChild(SpanCard)) is not None and card.isVisible())
    card = area.findChild(SpanCard)
    QTest.mouseClick(card.findChild(QPushButton, "keep:rms"), LEFT)
    await until(lambda: any(each.name.startswith("rms(") for each in learner.shown.measurements))
    card.close_card()
    learner.panel.chips.menu_wanted.emit("v(out)", QPoint(5, 5))
    menu = learner.panel.findChild(QWidget, "chip_menu")
    action = menu.findChild(object, "frequency({x})")
    action.trigger()
    menu.close()
    await until(lambda: any(each.name.startswith("frequency(") for each in learner.shown.measurements))
    await learner.settled()
    learner.figures_agree(1)

    # 7. Spectrum
    area.setFocus()
    QTest.keyClick(area, Key.Key_F, SHIFT)
    await until(lambda: learner.panel.beside.kind == "spectrum" and learner.panel.beside.view.drawing.figures)
    await learner.settled()
    look("3-spectrum", window)
    (_, figure), *_ = learner.tables[2]
    value, digit = value_of(figure)
    tones = {each.expression: each for each in learner.panel.beside.view.drawing.figures}
    assert tones["v(out)"].distortion.thd == pytest.approx(value, abs=digit)
    QTest.keyClick(area, Key.Key_F, SHIFT)
    assert learner.panel.beside.kind is None

    # 8. Compare
    learner.replace_line("R5", learner.blocks["less-gain"])
    await learner.runs()
    learner.figures_agree(3)
    results = window.parts.results
    await until(lambda: len(results.model.results) == 2)
    menu = results.menu_for(results.model.results[1])
    menu.findChild(object, "compare_result").trigger()
    menu.close()
    await until(lambda: learner.shown.previous_number == 1 and learner.panel.overlay.chosen)
    await learner.settled()
    amplitude = next(each for each in learner.shown.measurements if each.name == "amp")
    assert amplitude.previous.value == pytest.approx(value_of(learner.tables[0][0][1])[0], abs=1e-3)
    menu = results.menu_for(results.model.results[1])
    menu.findChild(object, "overlay_result").trigger()
    menu.close()
    await until(lambda: not learner.panel.overlay.chosen)

    # 9. Step
    learner.replace_line("R5", learner.blocks["parameter"])
    learner.go_to(".tran")
    learner.writes(learner.blocks["step"] + "\n")
    await learner.runs()
    assert len({trace.run for trace in learner.panel.area._shown}) == 3
    measured = {each.shown_name: each for each in learner.shown.measurements}
    for at, (label, *figures) in enumerate(learner.tables[4]):
        for name, figure in zip(("amp", "four_v(out)_thd"), figures, strict=True):
            step = measured[name].steps[at]
            assert step.label == f"rg = {label}"
            value, digit = value_of(figure)
            assert step.value.value == pytest.approx(value, abs=digit)
    assert window.parts.runs.measurements.select("four_v(out)_thd")
    menu = window.parts.runs.measurements.table.menu()
    menu.findChild(object, "against_steps").trigger()
    menu.close()
    await until(lambda: (axis := learner.panel.beside.view.drawing.axis) is not None and axis.name == "rg")
    assert learner.panel.beside.kind == "steps"
    await learner.settled()
    look("4-steps", window)

    # 10. Export
    target = tmp_path / "waves.csv"

    async def chosen(*_arguments: object) -> Path:
        return target

    monkeypatch.setattr(export, "choose_target", chosen)
    learner.panel.tools.export_asked.emit("csv")
    await until(target.exists)
    await learner.settled()
    assert target.read_text().splitlines()[0].startswith("step,rg,time [s],v(out) [V]")
    learner.panel.area.setFocus()
    QTest.keyClick(learner.panel.area, Key.Key_C, CONTROL)
    clipboard = QGuiApplication.clipboard()
    await until(lambda: "v(out)" in clipboard.text() and not clipboard.image().isNull())
    for name in ("export.ltspice", "export.kicad", "export.pyspice"):
        assert window.commands.action(name).isEnabled()


async def shown_box(window: MainWindow, until: Until) -> SmallDialog:
    await until(lambda: any(box.isVisible() for box in window.findChildren(SmallDialog)))
    return next(box for box in window.findChildren(SmallDialog) if box.isVisible())


def chip(learner: Learner, expression: str) -> QWidget:
    return next(each for each in learner.panel.chips.chips if each.text() == expression)


def wire_of(canvas: Any, net: str) -> QPoint:
    """A place of a net where nothing else is."""
    spans = [span for name, span in spans_of(canvas.drawing.wires) if name == net]
    places = [
        canvas._pixel(x1 + part * (x2 - x1), y1 + part * (y2 - y1))
        for part in (0.5, 0.25, 0.75)
        for x1, y1, x2, y2 in spans
    ]
    return next(place for place in places if canvas.hit(place) == Hit("", net)).toPoint()


@pytest.fixture
async def learner(
    services: WindowServices, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Learner]:
    without_web_view(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    language = os.environ.get("TUTORIAL_LANGUAGE", "en")
    services.language.set(language)
    window = await open_window(services, until, None, size=(1280, 800))
    window.activateWindow()
    await until(window.isActiveWindow)
    yield Learner(window, services, until, PAGES[language].read_text("utf-8"))
    await end_window(window, services, until)


@pytest.mark.timeout(180)
async def test_the_tutorial_is_true(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = os.environ.get("TUTORIAL_PICTURES")
    suffix = ".zh" if learner.services.language.name == "zh" else ""

    def look(name: str, widget: QWidget) -> None:
        if folder is not None:
            QApplication.processEvents()
            assert widget.grab().save(str(Path(folder) / f"tutorial-{name}{suffix}.png"))

    await walk(learner, look, tmp_path, monkeypatch)


def test_both_pages_say_the_same() -> None:
    english, chinese = (page.read_text("utf-8") for page in PAGES.values())
    assert blocks(english) == blocks(chinese)
    numbers = [
        [
            [re.findall(r"[\d.]+ ?\S*", cell.replace(" %", "%")) for cell in row]
            for table in tables(page)
            for row in table
        ]
        for page in (english, chinese)
    ]
    assert numbers[0] == numbers[1]
    assert re.findall(r"pictures/[\w.-]+png", chinese) == [
        name.replace(".png", ".zh.png") for name in re.findall(r"pictures/[\w.-]+png", english)
    ]
    for page in (english, chinese):
        for name in re.findall(r"pictures/[\w.-]+png", page):
            assert 10_000 < (ROOT / "docs" / name).stat().st_size < 120_000, name


def test_what_the_pages_call_buttons_and_menus_is_called_so() -> None:
    words: dict[str, str] = {}
    for file in (ROOT / "resources" / "translations" / "zh").glob("*.json"):
        words |= json.loads(file.read_text("utf-8"))
    english, chinese = (page.read_text("utf-8") for page in PAGES.values())
    quoted = (
        (re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", english), set(words)),
        (re.findall(r"“([^”]+)”", chinese), set(words.values())),
    )
    for texts, known in quoted:
        assert len(texts) > 9
        for text in texts:
            for part in text.split(" > "):
                assert known & {part, f"{part}…"}, part
