"""What undoing an operation would do, also when its files were changed since; and what operations changed.

An undo leads from what is there now to what was there before the operation. Where somebody changed a file
meanwhile, that somebody decides: keep the file as it is (current), put the old content back (restore; the
present one is kept, and undoing the undo brings it back), or both (merge), where the changes don't touch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from application.ports.project import ABSENT, FOLDER, FileChange, OperationRecord, ProjectFiles
from application.tool_execution.effects import TAKEN, Effects, hash_of, moves_among
from domain.llm.tools.text_files import TEXT_LIMIT, LineDiff, diff_files
from domain.llm.tools.three_way import merge_files
from shared.errors import CircuitError
from shared.message import Message, msg

UndoChoice = Literal["current", "restore", "merge"]
"""For files that were changed since: leave all as it is, put the old back, or join both changes."""

_Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileConflict:
    """A file that an undo would change and that somebody changed since."""

    path: str
    undo: LineDiff
    """What the undo would take back: from the operation's content to the one before."""
    since: LineDiff
    """What somebody changed since: from the operation's content to the present one."""
    merged: LineDiff | None
    """From the present content to both joined; None where the changes touch."""


class UndoConflictError(CircuitError):
    """Files were changed since; nothing was undone, and `ways` are the choices there are."""

    def __init__(self, message: Message, *, advice: Message, conflicts: tuple[FileConflict, ...]) -> None:
        super().__init__(message, advice=advice, error_type="file_modified_externally")
        self.conflicts = conflicts

    @property
    def ways(self) -> tuple[UndoChoice, ...]:
        can_merge = all(conflict.merged is not None for conflict in self.conflicts)
        return ("current", "restore", "merge") if can_merge else ("current", "restore")


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """Changes that undo an operation."""

    changes: tuple[FileChange, ...]
    """In the order of the operation's; empty when all is to be left as it is."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Of merges, by their hash."""


def plan_undo(
    record: OperationRecord,
    project: ProjectFiles,
    *,
    choose: UndoChoice | None,
    advice: Callable[[str, str, bool], Message],
) -> UndoPlan:
    """How to undo a done operation; under the write lock.

    `advice` says what to do about a path in some state, which can be joined or not. Raises
    UndoConflictError when files were changed since and nothing (or a merge that is not possible) was
    chosen, EnvironmentProblem when a stored content is lost.
    """
    effects = Effects(project)
    states = {change.path: effects.state_of(change.path) for change in record.changes}
    changed = [
        change
        for change in record.changes
        if not change.is_folder and states[change.path] not in (change.after, change.before)
    ]
    # What was taken back by hand already is no conflict; a folder is made or removed if it can be.
    plain = {change.path: _reversed(change, project) for change in record.changes}
    for change in record.changes:
        if not change.is_folder and states[change.path] == change.before:
            plain[change.path] = replace(plain[change.path], before=change.before)
    if not changed:
        return UndoPlan(changes=tuple(plain.values()))
    taken = next((change.path for change in changed if states[change.path] in (TAKEN, FOLDER)), None)
    if taken is not None:
        raise _in_the_way(taken)
    merged, contents = _merged(record, changed, states, project, effects)
    if choose is None or (choose == "merge" and merged is None):
        first = changed[0]
        raise UndoConflictError(
            msg(
                "{path} has been modified since; it was not undone, so that nothing is lost.", path=first.path
            )
            if choose is None
            else msg("The changes to {path} overlap and cannot be merged.", path=first.path),
            advice=advice(first.path, states[first.path], merged is not None),
            conflicts=_conflicts(changed, merged, contents, project, effects),
        )
    if choose == "current":
        return UndoPlan(changes=())
    if choose == "merge" and merged is not None:
        return UndoPlan(changes=tuple({**plain, **merged}.values()), contents=contents)
    for change in changed:
        restored = replace(plain[change.path], before=states[change.path])
        plain[change.path] = restored
    return UndoPlan(changes=tuple(plain.values()))


def diff_of(record: OperationRecord, project: ProjectFiles) -> LineDiff:
    """What an operation changed, from the object store; empty for a simulation.

    Of several files the counts are sums and the text has them one after the other, moves told as such;
    `hunks` are there for one file only. Raises EnvironmentProblem when a stored content is lost.
    """
    read = _stored(project)
    changes = [change for change in record.changes if change.before != change.after]
    moved = moves_among([change for change in changes if not change.is_folder])
    told = {id(change) for pair in moved for change in pair}
    lines = [f"rename from {source.path}\nrename to {target.path}\n" for source, target in moved]
    lines += [
        f"{'new' if change.after == FOLDER else 'removed'} folder {change.path}/\n"
        for change in changes
        if change.is_folder
    ]
    diffs = [
        diff_files(read(change.before), read(change.after), path=change.path)
        for change in changes
        if not change.is_folder and id(change) not in told
    ]
    if len(diffs) == 1 and not lines:
        return diffs[0]
    text = "".join([*lines, *(diff.text for diff in diffs)])
    return LineDiff(
        added=sum(diff.added for diff in diffs),
        removed=sum(diff.removed for diff in diffs),
        text=text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT].rpartition("\n")[0] + "\n...\n",
        is_cut=len(text) > TEXT_LIMIT or any(diff.is_cut for diff in diffs),
        is_binary=any(diff.is_binary for diff in diffs),
    )


def _reversed(change: FileChange, project: ProjectFiles) -> FileChange:
    """The reverse; a file that goes or is replaced leaves its present mode for a redo."""
    if change.is_folder:
        return change.reverse
    mode = project.mode_of(Path(change.path))
    return replace(change.reverse, mode=change.mode if mode is None else mode)


def _stored(project: ProjectFiles) -> _Read:
    return lambda state: None if state in (ABSENT, FOLDER) else project.read_object(state)


def _merged(
    record: OperationRecord,
    changed: list[FileChange],
    states: Mapping[str, str],
    project: ProjectFiles,
    effects: Effects,
) -> tuple[dict[str, FileChange] | None, dict[str, bytes]]:
    """The changes that join both sides by path (None where they touch), and the contents they make."""
    read = _stored(project)
    moved = {
        target.path: source for source, target in moves_among([c for c in record.changes if not c.is_folder])
    }
    found: dict[str, FileChange] = {}
    contents: dict[str, bytes] = {}
    for change in changed:
        present = states[change.path]
        source = moved.get(change.path)
        if source is not None and present != ABSENT and states[source.path] == ABSENT:
            # What was moved goes back with the edits it got at its new place.
            mode = project.mode_of(Path(change.path))
            found[source.path] = FileChange(path=source.path, before=ABSENT, after=present, mode=mode)
            found[change.path] = FileChange(path=change.path, before=present, after=ABSENT, mode=mode)
            continue
        if ABSENT in (present, change.before, change.after):
            return None, {}
        now = effects.content_of(Path(change.path)) or b""
        joined = merge_files(read(change.after) or b"", now, read(change.before) or b"")
        if joined is None or hash_of(now) != present:
            return None, {}
        contents[hash_of(joined)] = joined
        mode = project.mode_of(Path(change.path))  # as it is now, for a redo, like in `_reversed`
        found[change.path] = replace(
            change, before=present, after=hash_of(joined), mode=change.mode if mode is None else mode
        )
    return found, contents


def _conflicts(
    changed: list[FileChange],
    merged: Mapping[str, FileChange] | None,
    contents: Mapping[str, bytes],
    project: ProjectFiles,
    effects: Effects,
) -> tuple[FileConflict, ...]:
    read = _stored(project)
    conflicts = []
    for change in changed:
        now = effects.content_of(Path(change.path))
        joined = None if merged is None else merged.get(change.path)
        result = None if joined is None or joined.after == ABSENT else contents.get(joined.after)
        conflicts.append(
            FileConflict(
                path=change.path,
                undo=diff_files(read(change.after), read(change.before), path=change.path),
                since=diff_files(read(change.after), now, path=change.path),
                merged=None if joined is None else diff_files(now, result, path=change.path),
            )
        )
    return tuple(conflicts)


def _in_the_way(path: str) -> CircuitError:
    return CircuitError(
        msg("What is at {path} is not a file of the project; nothing was undone.", path=path),
        advice=msg("Move it elsewhere and try again."),
        error_type="file_modified_externally",
    )
