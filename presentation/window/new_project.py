"""Where new projects go: one folder of the user's own, a name asked for or made of a sentence."""

from __future__ import annotations

import re
from pathlib import Path

from PyQt6.QtWidgets import QLineEdit, QWidget

from presentation.ui import questions
from presentation.ui.parts import push_button, text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import msg

_LONGEST = 32
_LITTLE = frozenset({"a", "an", "the", "with", "at", "of", "for", "from", "and", "to", "in", "my", "me"})


def default_place() -> Path:
    """The folder that holds new projects; it is made with the first one."""
    return Path.home() / "Circuits"


def name_from(sentence: str) -> str:
    """A folder's name of a wish: ``low-pass-10-kHz`` of "A low-pass with 10 kHz corner ...".

    Words that say little are left out; it ends with a whole word.
    """
    words = [word for word in re.findall(r"\w+", sentence) if word.lower() not in _LITTLE]
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:_LONGEST]
        if len(longer) > _LONGEST:
            break
        name = longer
    return name or "design"


async def ask_new_project(services: WindowServices, parent: QWidget) -> tuple[str, Path] | None:
    """Name and place of a new project, None when the person thinks better of it."""
    language = services.language
    place = default_place()
    dialog = SmallDialog(
        services, parent, "newProject", title=msg("New project"), text=language(msg("Name of the project"))
    )
    edit = QLineEdit("circuit")
    edit.setObjectName("answer")
    edit.setAccessibleName(language(msg("Name of the project")))
    edit.selectAll()
    where = text_label(wraps=True, role="tertiary")
    change = push_button(language(msg("Change folder…")), name="changePlace", kind="link")

    def show() -> None:
        where.setText(language(msg("Will be created: {path}", path=_short(place / edit.text().strip()))))

    async def choose() -> None:
        nonlocal place
        found = await questions.choose_folder(
            services, dialog, msg("Folder for the new project"), place if place.is_dir() else Path.home()
        )
        if found is not None:
            place = found
            show()

    edit.textChanged.connect(show)
    change.clicked.connect(lambda _checked: services.start(choose(), kind="question"))
    for widget in (edit, where, change):
        dialog.add(widget)
    edit.setFocus()
    show()
    name = await questions.entered(dialog, edit.text)
    return None if name is None else (name, place)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
