"""Where new projects go: one folder of the user's own, a name asked for or made of a sentence."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtWidgets import QLineEdit, QWidget

from domain.design.file_names import kind_named
from presentation.ui import questions
from presentation.ui.parts import push_button, text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.uninterrupted import off_loop

_LONGEST = 32
_LITTLE = frozenset(
    {"a", "an", "the", "with", "at", "of", "for", "from", "and", "to", "in", "my", "me", "least", "most",
     "than", "down", "below", "above", "i", "need", "want", "please", "design"}
)  # fmt: skip


def default_place() -> Path:
    """The folder that holds new projects; it is made with the first one."""
    return Path.home() / "Circuits"


def name_from(sentence: str) -> str:
    """A folder's name of a wish: ``low-pass`` of "A low-pass with 10 kHz corner ...".

    The figures change with the goals, and the folder stays: they are in its name only where no kind of
    circuit is named. Words that say little are left out then. It ends with a whole clause or, where the first
    is too long, with a whole word, not with a number without its unit.
    """
    if kind := kind_named(sentence):
        return _as_far_as_it_goes(kind)
    name = ""
    for clause in re.split(r"[,;:!?，；：。！？、]|\.(?!\d)", sentence):
        longer = _with_words(name, clause)
        if longer is None:
            return name or _as_far_as_it_goes(clause)
        name = longer
    return name or "design"


def _words(clause: str) -> list[str]:
    words = re.findall(r"(?:\w|(?<=\d)\.(?=\d))+", clause)
    before = ["", *words[:-1]]
    return [
        word for last, word in zip(before, words, strict=False)
        if (word == "A" and last[:1].isdigit()) or word.lower() not in _LITTLE  # amperes
    ]  # fmt: skip


def _with_words(name: str, clause: str) -> str | None:
    longer = "-".join([*([name] if name else []), *_words(clause)])
    return longer if _room(longer) <= _LONGEST else None


def _as_far_as_it_goes(clause: str) -> str:
    first, *words = _words(clause)
    while _room(first) > _LONGEST:
        first = first[:-1]
    name = first
    for word in words:
        if _room(f"{name}-{word}") > _LONGEST:
            break
        name = f"{name}-{word}"
    return re.sub(r"(-\d+)+$", "", name)


def _room(name: str) -> int:
    """Letters; a Chinese one is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDesign:
    """A sentence, and the folder its circuit is to be made in."""

    text: str
    name: str
    place: Path


async def ask_new_project(
    services: WindowServices, parent: QWidget, *, title: Message, name: str, place: Path
) -> tuple[str, Path] | None:
    """Name and place of a new project, None when the person thinks better of it; these are offered."""
    language = services.language
    dialog = SmallDialog(
        services, parent, "newProject", title=title, text=language(msg("Name of the project"))
    )
    edit = QLineEdit(name)
    edit.setObjectName("answer")
    edit.setAccessibleName(language(msg("Name of the project")))
    edit.selectAll()
    where = text_label(wraps=True, role="tertiary")
    change = push_button(language(msg("Change folder…")), name="changePlace", kind="link")

    def show() -> None:
        where.setText(language(msg("Will be created: {path}", path=short_path(place / edit.text().strip()))))

    async def choose() -> None:
        nonlocal place
        start = place if await off_loop(place.is_dir) else Path.home()
        found = await questions.choose_folder(services, dialog, msg("Folder for the new project"), start)
        if found is not None:
            place = found
            show()

    edit.textChanged.connect(show)
    change.clicked.connect(lambda _checked: services.start(choose(), kind="question"))
    for widget in (edit, where, change):
        dialog.add(widget)
    edit.setFocus()
    show()
    entered = await questions.entered(dialog, edit.text)
    return None if entered is None else (entered, place)


def free_folder(name: str, place: Path) -> Path:
    """The folder that a new project of this name gets: with a number behind it while the name is taken.
    Blocking."""
    target, number = place / name, 1
    while target.exists():
        number += 1
        target = place / f"{name}-{number}"
    return target


def short_path(path: Path) -> str:
    """With ~ for the user's own folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
