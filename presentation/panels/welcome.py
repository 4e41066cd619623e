"""What is shown while no project is open: what to design, examples, folders, what works here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from presentation.panels.welcome_design import DesignBox
from presentation.panels.welcome_rows import ExampleRow, Note, Part, Row
from presentation.ui.parts import SpokenName, arrange, push_button
from presentation.ui.questions import choose_item
from presentation.ui.signals import Signal, signal
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.examining import ExaminationReport
    from application.groups.models import Models
    from application.project.browsing import Example
    from domain.llm.chat import ProviderChoice

_SENTENCES: tuple[tuple[Message, Message], ...] = (
    (msg("Passive filter"), msg("RC low-pass filter with a cut-off of 1 kHz")),
    (msg("Active filter"), msg("4th-order Butterworth low-pass filter, cut-off 10 kHz, from ±5 V")),
    (msg("Amplifier"), msg("Non-inverting amplifier with a gain of 40 dB")),
    (msg("Oscillator"), msg("Wien bridge oscillator of 1 kHz")),
    (msg("DC/DC converter"), msg("Buck converter 12 V to 5 V, 2 A, 300 kHz, ripple below 30 mV")),
)
_LANGUAGES: tuple[tuple[str, Message], ...] = (("en", msg("English")), ("zh", msg("Chinese (中文)")))
_THEMES: tuple[tuple[str, Message], ...] = (
    ("light", msg("Light")),
    ("dark", msg("Dark")),
    ("system", msg("System")),
)
_MOST_RECENT = 5


class WelcomePage(QScrollArea):
    """The page. It asks the window for everything it wants done."""

    open_wanted: Signal[Path] = signal(object)
    folder_wanted = pyqtSignal()
    new_wanted = pyqtSignal()
    import_wanted = pyqtSignal()
    tutorial_wanted = pyqtSignal()
    language_wanted = pyqtSignal(str)
    """"en" or "zh\""""
    theme_wanted = pyqtSignal(str)
    """"light", "dark" or "system\""""

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._page = QWidget()
        mark_area(self._page, surface="base")
        self._title = QLabel()
        mark(self._title, role="display")
        self.box = DesignBox(services)
        self.box.model_chosen.connect(self._show_machine)
        self.text = self.box.text
        self._chips = [QPushButton() for _ in _SENTENCES]
        self.all_kinds = push_button(name="allKinds", clicked=self._ask_kind, kind="link")
        self._report: ExaminationReport | None = None
        self._examples = Part(services, msg("Examples"), msg("opens a copy"), is_lined=True)
        self._start = Part(services, msg("Start"))
        self._recent = Part(services, msg("Recent"))
        self._machine = Part(services, msg("This computer"), is_lined=True)
        self._appearance = Part(services, msg("Appearance"))
        self.language, self.theme = QComboBox(), QComboBox()
        self.language.setObjectName("welcomeLanguage")
        self.theme.setObjectName("welcomeTheme")
        SpokenName(services, self, msg("Start page"))
        SpokenName(services, self.language, msg("Language"))
        SpokenName(services, self.theme, msg("Theme"))
        self._build()
        self.set_recent(())
        self.set_report(None)
        services.dress(self)

    def _build(self) -> None:
        chips = QHBoxLayout()
        for button, (_, sentence) in zip(self._chips, _SENTENCES, strict=True):
            mark(button, small=True, chip=True)
            button.clicked.connect(lambda _checked=False, sentence=sentence: self._suggest(sentence))
            chips.addWidget(button)
        chips.addStretch(1)
        chips.addWidget(self.all_kinds)
        main = arrange(QVBoxLayout(), self._title, self.box, chips, self._examples, 1)
        side = arrange(QVBoxLayout(), self._start, self._recent, self._machine, self._appearance, 1)
        open_row = Row(self._services, "folder-open", msg("Open folder"), key="Ctrl+O")
        open_row.pressed.connect(self.folder_wanted)
        new_row = Row(self._services, "file-plus", msg("New empty project"), key="Ctrl+N")
        new_row.pressed.connect(self.new_wanted)
        import_row = Row(
            self._services,
            "download",
            msg("Import from LTspice, KiCad or Qucs"),
            detail=msg("Copies; your files stay as they are"),
        )
        import_row.setObjectName("welcomeImport")
        import_row.pressed.connect(self.import_wanted)
        tutorial_row = Row(self._services, "book-open", msg("A first hour"))
        tutorial_row.pressed.connect(self.tutorial_wanted)
        self._start.set_rows([open_row, new_row, import_row, tutorial_row])
        for box, values, wanted in (
            (self.language, _LANGUAGES, self.language_wanted),
            (self.theme, _THEMES, self.theme_wanted),
        ):
            for value, _text in values:
                box.addItem("", value)
            box.activated.connect(lambda _row, box=box, wanted=wanted: wanted.emit(box.currentData()))
        boxes = QWidget()
        row = QHBoxLayout(boxes)
        row.setContentsMargins(0, self._services.theme.theme.size("space.2"), 0, 0)
        arrange(row, (self.language, 1), (self.theme, 1))
        self._appearance.set_rows([boxes])
        grid = QGridLayout(self._page)
        self._columns = (QWidget(), QWidget())
        for widget, layout in zip(self._columns, (main, side), strict=True):
            layout.setContentsMargins(0, 0, 0, 0)
            widget.setLayout(layout)
        self._layouts = (grid, main, side, chips)
        self.setWidget(self._page)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """In a narrow window the second column comes below the first."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        theme, grid = self._services.theme.theme, self._layouts[0]
        edge = theme.size("space.6")
        grid.setContentsMargins(edge, min(theme.size("space.12") + edge, self.height() // 10), edge, edge)
        is_narrow = self.width() < theme.size("pane.right_max") + 3 * theme.size("space.12")
        main, side = self._columns
        grid.addWidget(main, 0, 1)
        grid.addWidget(side, 1 if is_narrow else 0, 1 if is_narrow else 2)
        # What is empty takes no room, and no gap either.
        for column, stretch in enumerate((1, 100, 0 if is_narrow else 50, 1)):
            grid.setColumnStretch(column, stretch)
        gap = theme.size("space.12") + theme.size("space.2")
        grid.setHorizontalSpacing(0 if is_narrow else gap)
        grid.setVerticalSpacing(edge if is_narrow else 0)

    def set_recent(self, recent: Sequence[Path]) -> None:
        rows: list[QWidget] = []
        for path in recent[:_MOST_RECENT]:
            row = Row(
                self._services,
                "folder",
                msg("{name}", name=path.name),
                detail=msg("{path}", path=path.parent),
            )
            row.pressed.connect(lambda path=path: self.open_wanted.emit(path))
            rows.append(row)
        self._recent.set_rows(rows or [Note(self._services, msg("Folders you open appear here."))])

    def set_examples(
        self,
        examples: Sequence[Example],
        open_example: Callable[[str], object],
        curves: Mapping[str, Sequence[int]],
    ) -> None:
        """The examples that come with the program, each with its small curve."""
        order = list(EXAMPLES)
        rows = []
        for example in sorted(examples, key=lambda each: order.index(each.name)):
            title, detail = EXAMPLES[example.name]
            analyses = ", ".join(example.analyses)
            row = ExampleRow(self._services, title, detail, analyses, curves.get(example.name, ()))
            row.setObjectName(f"example.{example.name}")
            row.pressed.connect(lambda name=example.name: open_example(name))
            rows.append(row)
        self._examples.set_rows(rows)

    def set_report(self, report: ExaminationReport | None) -> None:
        """What works on this machine; None while it is examined."""
        self._report = report
        self._show_machine()

    def set_models(self, models: Models, chosen: Callable[[ProviderChoice], None]) -> None:
        """What can design, with its settings loaded; `chosen` hears of another choice."""
        self.box.set_models(models, chosen)
        self._show_machine()

    def refresh(self) -> None:
        """The page comes into sight again."""
        self.box.refresh()
        self._show_machine()

    def _show_machine(self) -> None:
        report = self._report
        if report is None:
            self._machine.set_rows([Note(self._services, msg("Checking…"))])
            return
        engine = next((item for item in report.findings if item.name == "ngspice"), None)
        box = next((item for item in report.findings if item.name == "confinement"), None)
        rows: list[QWidget] = []
        if engine is not None:
            is_ok = engine.state == "ok" and (box is None or box.state == "ok")
            if is_ok:
                detail: Message | None = msg("Confined: no network, no other programs")
            else:
                detail = engine.advice if engine.state != "ok" or box is None else box.message
            name = str(engine.message).replace("ngspice-", "ngspice ")
            row = self._finding(msg("{name}", name=name) if is_ok else engine.message, detail, is_ok=is_ok)
            if box is not None:
                row.setToolTip(self._services.language(box.message))
            rows.append(row)
        rows.append(
            self._finding(msg("Built-in designer"), msg("Works offline and without a key"), is_ok=True)
        )
        rows += self._model_rows()
        self._machine.set_rows(rows)

    def _model_rows(self) -> list[QWidget]:
        """The language model that answers, else that there is none, and how one is set up."""
        choice = self.box.answering
        if choice is None:
            return []
        from domain.llm.provider_settings import BUILTIN
        from presentation.provider_words import provider_title

        if choice.provider != BUILTIN:
            name = provider_title(choice.provider)
            model = msg("{text}", text=choice.model) if choice.model else None
            return [self._finding(name, model, is_ok=True)]
        none = Row(
            self._services,
            "circle-dashed",
            msg("Language model"),
            detail=msg("None chosen. Nothing is sent anywhere."),
            color="text.tertiary",
        )
        none.setEnabled(False)
        set_up = Row(self._services, "cpu", msg("Set up a model…"))
        set_up.setObjectName("welcomeSetUp")
        set_up.pressed.connect(self.box.set_up_model)
        return [none, set_up]

    def _finding(self, text: Message, detail: Message | None, *, is_ok: bool) -> Row:
        icon, color = ("circle-check", "ok.icon") if is_ok else ("triangle-alert", "warn.icon")
        row = Row(self._services, icon, text, detail=detail, color=color)
        row.setEnabled(False)  # it says something, there is nothing to press
        return row

    def restyle(self) -> None:
        theme = self._services.theme.theme
        _grid, main, side, chips = self._layouts
        edge = theme.size("space.6")
        main.setSpacing(theme.size("space.3"))
        arrange(side, edges=(0, theme.size("space.2"), 0, 0), gap=theme.size("space.6"))
        arrange(chips, edges=(0, 0, 0, theme.size("space.3")), gap=theme.size("space.2"))
        self._columns[0].setMaximumWidth(theme.size("pane.right_max"))
        self._columns[1].setMaximumWidth(theme.size("pane.left_default") + 3 * edge)
        self._place()
        self._check_choices()

    def retranslate(self) -> None:
        language = self._services.language
        self._title.setText(language(msg("What do you want to design?")))
        self.all_kinds.setText(language(msg("All kinds of circuits…")))
        for button, (name, sentence) in zip(self._chips, _SENTENCES, strict=True):
            button.setText(language(name))
            button.setToolTip(language(sentence))
        for box, values in ((self.language, _LANGUAGES), (self.theme, _THEMES)):
            for row, (_value, words) in enumerate(values):
                box.setItemText(row, language(words))
        self._check_choices()

    def _check_choices(self) -> None:
        self.language.setCurrentIndex(self.language.findData(self._services.language.name))
        self.theme.setCurrentIndex(self.theme.findData(self._services.theme.mode))

    def _suggest(self, sentence: Message) -> None:
        self.text.setPlainText(self._services.language(sentence))
        self.text.setFocus()

    def _ask_kind(self) -> None:
        self._services.start(self._choose_kind(), kind="question")

    async def _choose_kind(self) -> None:
        """Every family of the built-in designer; a sentence of the chosen one comes into the box."""
        examples = await off_loop(_sentences, self._services.language.name)
        titles = {self._services.language(name): sentence for name, sentence in examples}
        title = await choose_item(
            self._services,
            self,
            title=msg("Circuits the built-in designer knows"),
            label=msg("A sentence that asks for it comes into the box, to be changed."),
            items=sorted(titles, key=str.casefold),
        )
        if title in titles:
            self.text.setPlainText(titles[title])
            self.text.setFocus()


def _sentences(language: str) -> list[tuple[Message, str]]:
    """Name and an example of each family. Blocking: reads them all at the first call."""
    from domain.design.catalogue import FAMILIES

    return [(family.name, family.examples[language]) for family in FAMILIES.values()]


CURVES = Path(__file__).resolve().parents[2] / "resources" / "look" / "example_curves.json"
"""Made by `scripts/draw_example_curves.py`."""

EXAMPLES: Mapping[str, tuple[Message, Message]] = {
    "sallen-key-filter": (
        msg("Sallen-Key low-pass, 4th order"),
        msg("10 kHz Butterworth, ±5 V, E24 values"),
    ),
    "miller-opamp": (
        msg("Two-stage Miller op-amp"),
        msg("81 dB, 72 MHz, 76° phase margin, level-1 models"),
    ),
    "buck-converter": (
        msg("Buck converter, 12 V to 3.3 V"),
        msg("2 A, 500 kHz, start-up and load step"),
    ),
    "wien-oscillator": (
        msg("Wien-bridge oscillator"),
        msg("1 kHz, amplitude limited by two diodes"),
    ),
    "bandgap-reference": (
        msg("Bandgap reference"),
        msg("1.21 V, −40 to 125 °C"),
    ),
    "loaded-follower": (
        msg("Step response of a loaded follower"),
        msg("Overshoot with 1 nF, isolation resistor"),
    ),
}
"""Title and detail by the example's name, in the order of the page."""


def curves() -> dict[str, list[int]]:
    """A small curve of each: heights at evenly spaced places, 0 to 1000. Blocking: called off the loop."""
    found: dict[str, list[int]] = json.loads(CURVES.read_text("utf-8"))
    return found
