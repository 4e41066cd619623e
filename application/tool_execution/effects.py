"""The files behind an operation: what is there, carrying changes out, and what an interruption left.

Everything here happens under the project's write lock. An operation is a set of changes, a path each;
it comes to be wholly there or not at all, whatever ends the process in between: the intent names every
path with its state before and after, so that the next one who holds the lock can tell from the files
alone how far it came, and go on or back.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from application.ports.project import ABSENT, FOLDER, FileChange, ProjectFiles
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    Outcome = Literal["done", "undone", "unclear"]

_logger = logging.getLogger(__name__)

TAKEN = ""
"""State of a path where something stands that is neither a file nor a folder of the project."""


def hash_of(content: bytes | None) -> str:
    """The state of a file of this content; None = there is no file."""
    return ABSENT if content is None else hashlib.sha256(content).hexdigest()


class Effects:
    """Changes of one project's files."""

    def __init__(self, project: ProjectFiles) -> None:
        self._project = project

    def content_of(self, path: Path) -> bytes | None:
        """The file's bytes, None when there is no file. Raises UserInputError for what is no file."""
        try:
            return self._project.read(path)
        except UserInputError as error:
            if error.error_type != "file_not_found":
                raise
            return None

    def state_of(self, path: str) -> str:
        """SHA-256 of the file there, ABSENT, FOLDER, or TAKEN."""
        try:
            if self._project.is_folder(Path(path)):
                return FOLDER
            return hash_of(self.content_of(Path(path)))
        except CircuitAIError:  # a link to the outside has taken its place, a pipe; it can't be read ...
            return TAKEN

    def folders_made_by(self, change: FileChange) -> tuple[FileChange, ...]:
        """The folders that are made for a new file, as changes."""
        if change.before != ABSENT:
            return ()
        folders = map(str, PurePosixPath(change.path).parents)
        missing = [path for path in folders if path != "." and self.state_of(path) == ABSENT]
        return tuple(FileChange(path=path, before=ABSENT, after=FOLDER) for path in missing)

    def apply(self, changes: Sequence[FileChange], contents: Mapping[str, bytes] | None = None) -> None:
        """Bring each path from its state before to that after, those that are there already left alone.

        The contents are in the object store; `contents` has some at hand. New files come first and
        removals last, so that at every moment each content is somewhere. Right before a file is touched it
        is looked at once more. Raises CircuitError ("file_modified_externally") when it has neither state,
        and what the project's files raise.
        """
        files = [change for change in changes if not change.is_folder]
        waiting = [change for change in files if change.before != change.after and not self._is_there(change)]
        for folder in sorted(change.path for change in changes if change.after == FOLDER):
            self._project.make_folder(Path(folder))
        for source, target in moves_among(waiting):
            self._check(source)
            self._check(target)
            self._move(source.path, target.path)
            waiting = [change for change in waiting if change is not source and change is not target]
        for change in sorted(waiting, key=lambda item: item.after == ABSENT):
            self._check(change)
            if change.after == ABSENT:
                self._project.remove(Path(change.path))
            else:
                content = (contents or {}).get(change.after)
                if content is None:
                    content = self._project.read_object(change.after)
                self._project.write(Path(change.path), content, mode=change.mode)
        gone = [change.path for change in changes if change.before == FOLDER and change.after == ABSENT]
        for folder in sorted(gone, reverse=True):
            self._project.remove_folder(Path(folder))

    def _move(self, source: str, target: str) -> None:
        """A circuit takes its goals along: at no moment they are nowhere."""
        from application.design.circuit_goals import (
            begin_move,
            end_move,
        )  # a list of operations moves nothing

        begin_move(self._project, source, target)
        self._project.move(Path(source), Path(target))
        end_move(self._project, source)

    def settle(self, changes: Sequence[FileChange], *, may_write: bool = True) -> Outcome:
        """Make an interrupted set of changes whole or none, and say which it is now.

        The steps of `apply` come in one order, so an interruption leaves the first so many done. None:
        "undone". Some or all: it is gone on with, "done"; what can't be gone on with is taken back. Where
        anything else is found somebody changed files since, and what is there stays. When it can be told all
        the same that a step was done (a move, of which one place was changed then), that counts; else the
        steps that were surely ours are taken back, "unclear". Where a tool may not write nothing is done,
        whatever was recorded, nor without `may_write`: the files are only looked at.
        """
        if not may_write or self.forbidden(changes):
            return self._outcome(changes)
        for path in {Path(change.path).parent / "_" for change in changes}:
            with contextlib.suppress(CircuitAIError):  # its folder is no place of the project any more
                self._project.clear_leftovers(path)
        states = self._states(changes)
        if all(states[change.path] == change.after for change in changes):
            return "done"
        steps = [_how_far(step, states) for step in _steps(changes)]
        if TAKEN not in steps and steps == sorted(steps):  # "after" comes before "before"
            folders = [_where(change, states) for change in changes if change.is_folder]
            if "after" not in (*steps, *folders):
                if TAKEN not in folders:
                    return "undone"
            # Folders alone say nothing where files are to change: somebody may have taken that away again.
            elif ("after" in steps or not steps) and self._tried(
                [change for change in changes if _where(change, states) != TAKEN]
            ):
                return "done"
            states = self._states(changes)
        self._tried(_ours(changes, states))
        return self._outcome(changes)

    def _outcome(self, changes: Sequence[FileChange]) -> Outcome:
        states = self._states(changes)
        if all(states[change.path] == change.after for change in changes):
            return "done"
        return "undone" if all(states[change.path] == change.before for change in changes) else "unclear"

    def forbidden(self, changes: Iterable[FileChange]) -> str:
        """The first place among them where tools may not write; "" when there is none."""
        for change in changes:
            if not self._project.is_for_tools(change.path, is_folder=change.is_folder):
                return change.path
        return ""

    def _states(self, changes: Sequence[FileChange]) -> dict[str, str]:
        return {change.path: self.state_of(change.path) for change in changes}

    def _tried(self, changes: Sequence[FileChange]) -> bool:
        """Whether changes could be carried out; what was in the way is logged."""
        try:
            self.apply(changes)
        except CircuitAIError as error:
            _logger.warning("An interrupted operation could not be settled: %s", error)
            return False
        return True

    def _is_there(self, change: FileChange) -> bool:
        return self.state_of(change.path) == change.after

    def _check(self, change: FileChange) -> None:
        if self.state_of(change.path) != change.before:
            raise changed_meanwhile(Path(change.path))


def _steps(changes: Sequence[FileChange]) -> list[tuple[FileChange, ...]]:
    """What `apply` does with files, in its order; the two places of a move change together."""
    files = [change for change in changes if not change.is_folder and change.before != change.after]
    pairs = moves_among(files)
    moved = {id(change) for pair in pairs for change in pair}
    single = [change for change in files if id(change) not in moved]
    return [*pairs, *((change,) for change in sorted(single, key=lambda item: item.after == ABSENT))]


def _where(change: FileChange, states: Mapping[str, str]) -> str:
    state = states[change.path]
    return "after" if state == change.after else "before" if state == change.before else TAKEN


def _how_far(step: tuple[FileChange, ...], states: Mapping[str, str]) -> str:
    """Whether a step was done ("after") or not ("before"); TAKEN when that cannot be told."""
    places = {_where(change, states) for change in step}
    if len(places) == 1:
        return places.pop()
    # A move is one step on the disk too: done, and then one of its two places was changed.
    return "after" if places == {"after", TAKEN} else TAKEN


def _ours(changes: Sequence[FileChange], states: Mapping[str, str]) -> list[FileChange]:
    """The way back from an interrupted set that somebody disturbed: reverses of what was surely our doing."""
    back: list[FileChange] = []
    for step in _steps(changes):
        if _how_far(step, states) == "before":
            break  # it had come no further: what is as after behind this was done by somebody else
        if all(_where(change, states) == "after" for change in step):
            back += [change.reverse for change in step]
    return back + [change.reverse for change in changes if change.is_folder]


def moves_among(changes: Iterable[FileChange]) -> list[tuple[FileChange, FileChange]]:
    """Pairs of a removal and a new file of the same content: the file is moved, as it is, in one step."""
    made = [change for change in changes if change.before == ABSENT]
    pairs = []
    for source in (change for change in changes if change.after == ABSENT):
        same = [target for target in made if target.after == source.before]
        if same:  # of twins the one that is most alike
            target = max(same, key=lambda item: (item.mode == source.mode, _name(item) == _name(source)))
            made.remove(target)
            pairs.append((source, target))
    return pairs


def _name(change: FileChange) -> str:
    return change.path.rpartition("/")[2]


def changed_meanwhile(path: Path) -> CircuitError:
    """The error when a file is not what a change was made for."""
    return CircuitError(
        msg("{path} was modified by another program in the meantime; it was not written.", path=path),
        advice=msg("Read the file again and base the change on its present content."),
        error_type="file_modified_externally",
    )
