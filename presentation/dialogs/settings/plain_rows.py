"""Rows of the settings that are no values of the file: how the window looks, and dialogs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QCheckBox, QComboBox

from presentation.actions.window_rows import ZOOMS
from presentation.dialogs.settings.row import Row
from presentation.ui.parts import push_button
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class CommandRow(Row):
    """A button that opens a dialog of the window."""

    def __init__(
        self,
        services: WindowServices,
        name: str,
        title: Message,
        help_text: Message,
        run: Callable[[str], None],
    ) -> None:
        super().__init__(services, title, help_text)
        button = push_button(
            services.language(msg("Open…")), name=f"open.{name}", clicked=lambda: run(name), small=True
        )
        self.controls.addWidget(button, alignment=Qt.AlignmentFlag.AlignRight)
        button.setAccessibleName(services.language(title))


class LookRow(Row):
    """A choice of how the window looks, carried out by the actions of the View menu."""

    def __init__(
        self,
        services: WindowServices,
        title: Message,
        help_text: Message,
        choices: Sequence[tuple[str, Message]],
        *,
        chosen: str,
        run: Callable[[str], None],
    ) -> None:
        """`choices` are names of actions with their words."""
        super().__init__(services, title, help_text)
        self.choice = QComboBox()
        for name, words in choices:
            self.choice.addItem(services.language(words), name)
        self.choice.setCurrentIndex(max(self.choice.findData(chosen), 0))
        self.choice.setAccessibleName(services.language(title))
        self.choice.activated.connect(lambda _at: run(str(self.choice.currentData())))
        self.controls.addWidget(self.choice)


class ContrastRow(Row):
    """High contrast, on or off."""

    def __init__(self, services: WindowServices, run: Callable[[str], None]) -> None:
        super().__init__(
            services,
            msg("High contrast"),
            msg("Quiet texts as strong as others, stronger outlines; also where the system asks for it."),
        )
        box = QCheckBox()
        box.setAccessibleName(services.language(msg("High contrast")))
        box.setChecked(services.theme.wants_contrast)
        box.clicked.connect(lambda _is_on: run("contrast"))
        self.controls.addWidget(box, alignment=Qt.AlignmentFlag.AlignRight)


def look_rows(services: WindowServices, run: Callable[[str], None]) -> list[Row]:
    """Theme, size and contrast."""
    zooms = [(f"scale.{percent}", msg("{percent} %", percent=percent)) for percent in ZOOMS]
    size = f"scale.{round(services.theme.theme.scale * 100)}"
    return [
        LookRow(
            services,
            msg("Theme"),
            msg("Light, dark, or as the system."),
            (
                ("theme.light", msg("Light theme")),
                ("theme.dark", msg("Dark theme")),
                ("theme.system", msg("System theme")),
            ),
            chosen=f"theme.{services.theme.mode}",
            run=run,
        ),
        LookRow(services, msg("Zoom"), msg("Size of all type and rows."), zooms, chosen=size, run=run),
        ContrastRow(services, run),
    ]
