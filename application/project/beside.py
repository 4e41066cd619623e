"""What a drawing of another program leans on: files in its folder, below, and in library folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from application.included_files import MOST_BYTES
from domain.circuit.dialects import plain_text
from domain.llm.tools.text_files import BinaryFileError, decode
from shared.errors import UserInputError

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView

_MOST_LOOKED_AT = 60_000
"""Files and folders of one folder tree."""
_MOST_READ = 500
"""Files that are read for one drawing."""


@dataclass(slots=True)
class _Tree:
    """The files of one folder tree by their names in lower case."""

    view: ProjectView
    is_library: bool
    _names: dict[str, list[str]] | None = None

    def named(self, name: str) -> Sequence[str]:
        """Paths of the files of this name, the least deep first."""
        if self._names is None:
            self._names = {}
            walked = islice(self.view.walk(self.view.root), _MOST_LOOKED_AT)
            found = (entry.name for entry in walked if entry.kind == "file")
            for path in sorted(found, key=lambda path: (path.count("/"), path)):
                self._names.setdefault(PurePosixPath(path).name.lower(), []).append(path)
        return self._names.get(name, ())


@dataclass(slots=True)
class Beside:
    """Finds the files a drawing names, in any letter case.

    The drawing's own folder goes first, then the folders below it, then the library folders. A name that
    several files have is found by the folders it is named with (``Logic/and.asy``); where that leaves
    several which differ it is not found: a symbol of another's would make a wrong circuit.
    """

    view: ProjectView
    libraries: Sequence[ProjectView] = ()
    _trees: list[_Tree] = field(default_factory=list)
    _homes: dict[str, tuple[_Tree, PurePosixPath]] = field(default_factory=dict)
    """Where a symbol was found, by its name without suffix: the sheet behind it lies there too."""
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Names with folders that were found in the drawing's own folder instead, and the files taken."""
    _left: int = _MOST_READ

    def find(self, name: str) -> str | None:
        """The text of the file called `name` (``half.asc``, ``Logic/and.asy``); None where there is none."""
        wanted = _wanted(name)
        home = self._homes.get(wanted.stem)
        if home is not None:
            tree, folder = home
            near = [path for path in tree.named(wanted.name) if PurePosixPath(path).parent == folder]
            if near:
                return self._read(tree.view, near[0])
        for tree in self._all():
            place = self._choose(tree, wanted)
            if place is not None:
                return self._take(tree, wanted, place)
        return None

    def find_beside(self, name: str) -> str | None:
        """The text of the file called `name` in the drawing's own folder, whatever folders it names.

        One in those folders, below the drawing's or in a library, is meant rather than one of the same name
        in the drawing's own.
        """
        wanted, tree = _wanted(name), self._all()[0]
        near = [path for path in tree.named(wanted.name) if "/" not in path]
        if not near:
            return None
        if len(wanted.parts) > 1:
            meant = _in_its_folders(tree, wanted)
            if meant or self._is_in_library(wanted):
                is_sure = meant and self._are_alike(tree.view, meant)
                return self._take(tree, wanted, meant[0]) if is_sure else None
            self.elsewhere[name] = near[0]
        return self._take(tree, wanted, near[0])

    def _is_in_library(self, wanted: PurePosixPath) -> bool:
        """Whether a library folder has the file in the folders it is named with: that one is meant."""
        return any(_in_its_folders(tree, wanted) for tree in self._all() if tree.is_library)

    def find_at(self, path: str) -> str | None:
        """The text of the file at this path from the drawing's folder, else of one of its name as `find`."""
        return self._read(self.view, path) or self.find(path)

    def read(self, name: str) -> str | None:
        """The text of the file at this path from the drawing's folder."""
        return self._read(self.view, name)

    def _all(self) -> Sequence[_Tree]:
        if not self._trees:
            self._trees += [_Tree(self.view, is_library=False)]
            self._trees += [_Tree(view, is_library=True) for view in self.libraries]
        return self._trees

    def _take(self, tree: _Tree, wanted: PurePosixPath, place: str) -> str | None:
        self._homes.setdefault(wanted.stem, (tree, PurePosixPath(place).parent))
        return self._read(tree.view, place)

    def _choose(self, tree: _Tree, wanted: PurePosixPath) -> str | None:
        paths = tree.named(wanted.name)
        is_elsewhere = len(wanted.parts) > 1 and not tree.is_library and self._is_in_library(wanted)
        fitting = _in_its_folders(tree, wanted)
        is_meant = len(wanted.parts) > 1 and fitting
        if not tree.is_library and not is_elsewhere and not is_meant and paths and "/" not in paths[0]:
            return paths[0]
        if not fitting and not tree.is_library and not is_elsewhere:
            fitting = list(paths)
        return fitting[0] if fitting and self._are_alike(tree.view, fitting) else None

    def _are_alike(self, view: ProjectView, paths: Iterable[str]) -> bool:
        texts = [self._read(view, path) for path in paths]
        return all(text == texts[0] for text in texts)

    def _read(self, view: ProjectView, name: str) -> str | None:
        if self._left == 0:
            return None
        self._left -= 1
        try:
            with view.open(view.locate(name)) as file:
                data = file.read(MOST_BYTES + 1)
            return None if len(data) > MOST_BYTES else decode(plain_text(data)).text
        except (UserInputError, OSError, BinaryFileError):  # told as missing by who looks for it
            return None


def _wanted(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/").lower())


def _in_its_folders(tree: _Tree, wanted: PurePosixPath) -> list[str]:
    """The files of a tree that lie in the folders the name has."""
    depth = len(wanted.parts)
    paths = tree.named(wanted.name)
    return [path for path in paths if PurePosixPath(path.lower()).parts[-depth:] == wanted.parts]
