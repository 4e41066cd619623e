"""Files that a netlist or a library includes, as far as they lie beside it or below."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from domain.circuit.cards import include_of
from domain.circuit.dialects import plain_text
from domain.circuit.foreign_cards import FILE, names_a_section
from domain.circuit.foreign_pwl import file_of_points
from domain.circuit.netlist import NETLIST_SUFFIXES, Netlist
from shared.errors import UserInputError

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView

MOST_BYTES = 20_000_000
"""Of one file."""
_MOST_FILES = 500
"""Looked at, for one netlist: what it names beyond is for the run to find."""
_WAVE = ".wav"
_KINDS = NETLIST_SUFFIXES | frozenset(
    (".txt", ".dat", ".prm", ".par", ".l", ".pm", ".phy", ".hsp", ".typ", ".bjt", ".dio", ".jft", ".mos",
     ".cap", ".ind", ".res", ".bead", ".csv", ".tsv", ".pwl", ".prn")
)  # fmt: skip
"""What files of models and of points are called, beside numbers (``LTC3.301``). A file of another
kind, or a hidden one, does not come along: a program may run what is called so (`Makefile`, `conftest.py`,
`.spiceinit`)."""


def leans_on(data: bytes, view: ProjectView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of `view` that a netlist and what it includes name, and names that lie elsewhere.

    Only what lies in the folder or below counts as beside, and is called as models are.
    LTspice's own lists of standard models are neither: what the netlist needs of them is said when it runs.
    """
    inside: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    to_read = [(Netlist(data), PurePosixPath())]
    while to_read and len(inside) < _MOST_FILES:
        netlist, beside = to_read.pop()
        for written in (*_included(netlist), *_files_of_sources(netlist)):
            name = PurePosixPath(written.replace("\\", "/"))
            relative = (beside / name).as_posix()
            if not written or name.name.lower().startswith("standard.") or relative in inside:
                continue
            if len(inside) + len(elsewhere) >= _MOST_FILES:
                break
            found = content(view, relative) if _can_come_along(name) else None
            if found is None:
                elsewhere[written] = None
                continue
            inside[relative] = None
            if name.suffix.lower() != _WAVE:
                to_read.append((Netlist(plain_text(found), has_title=False), PurePosixPath(relative).parent))
    return tuple(inside), tuple(elsewhere)


def _included(netlist: Netlist) -> list[str]:
    """What it includes, as written. ``.include my models.lib`` and ``.lib my models.lib`` are whole files in
    LTspice and PSpice, blanks and all; in a library of sections a word alone begins one."""
    has_sections = bool(netlist.directives("endl"))
    found = []
    for card in (*netlist.directives("include"), *netlist.directives("lib")):
        match = FILE.match(card.raw)
        written = (match and (match["double"] or match["single"] or match["bare"])) or ""
        include = include_of(card)
        if card.keyword == "lib" and include is not None:
            if has_sections or names_a_section(written, card):
                written = include.path
        elif card.keyword == "lib" and has_sections:
            continue
        found.append((card.line, written.strip()))
    return [path for _, path in sorted(found)]


def _files_of_sources(netlist: Netlist) -> list[str]:
    """Points and wave files that its sources play."""
    found = (file_of_points(each.statement.raw) for each in netlist.elements if each.letter in "vi")
    return [file for file in found if file is not None]


def _can_come_along(name: PurePosixPath) -> bool:
    if name.is_absolute() or any(part.startswith(".") for part in name.parts):
        return False
    suffix = name.suffix.lower()
    return suffix in _KINDS or suffix == _WAVE or suffix[1:].isdecimal()


def content(view: ProjectView, name: str) -> bytes | None:
    """The bytes of a file; None for what is not there, or not to be read from there."""
    try:
        with view.open(place_of(view, name)) as file:
            data = file.read(MOST_BYTES + 1)
    except (UserInputError, OSError):  # told as lying elsewhere
        return None
    return data if len(data) <= MOST_BYTES else None


def place_of(view: ProjectView, name: str) -> Path:
    """The path of a file, else of one that differs in letter case only: Windows takes it for the same.

    Raises UserInputError as `ProjectView.locate`, OSError.
    """
    try:
        return view.locate(name)
    except UserInputError as error:
        wanted = PurePosixPath(name)
        folder = view.locate_folder(wanted.parent.as_posix())
        named = [each for each in folder.iterdir() if each.name.casefold() == wanted.name.casefold()]
        if error.error_type != "file_not_found" or len(named) != 1:
            raise
        return view.locate((wanted.parent / named[0].name).as_posix())
