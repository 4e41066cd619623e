"""Tools that arrange files: move, rename, delete. Each is one operation that can be undone.

A folder is moved or deleted only when a tool may write everything in it: no links, no hidden files, no
files of other kinds. Includes that name a moved file are told, never rewritten behind the user's back.

Which includes of a project stop finding their file when files are moved or deleted.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from application.ports.project import ABSENT, FOLDER, FileChange
from application.ports.project_view import ProjectView
from application.tool_execution.definition import Arguments, Tool, ToolContext
from application.tool_execution.tools._common import (
    NETLIST_SUFFIXES,
    Locks,
    file_problem,
    in_worker,
    locks_of,
)
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.llm.tools.effect import MOST_PATHS_SHOWN, ComputedEffect, PathEffect
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import EffectClass, ToolCall, ToolResult, result_to_plain
from domain.llm.tools.text_files import version_hash
from shared.errors import CircuitError, UserInputError
from shared.message import msg
from shared.paths import walk
from shared.uninterrupted import off_loop

_MOST_SCANNED = 20_000
_MOST_NETLIST_BYTES = 2_000_000
_MOST_INCLUDES = 20


def broken_includes(view: ProjectView, moved: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The includes of the project that work now and won't when `moved` (None: deleted) is done."""
    names = {
        entry.name: entry for entry in islice(view.walk(view.root), _MOST_SCANNED) if entry.kind == "file"
    }
    found: list[dict[str, Any]] = []
    for name, entry in names.items():
        new_name = moved.get(name, name)
        is_netlist = PurePosixPath(name).suffix.lower() in NETLIST_SUFFIXES
        if not is_netlist or new_name is None or entry.size > _MOST_NETLIST_BYTES:
            continue
        try:
            with view.open(entry.path) as file:
                data = file.read(_MOST_NETLIST_BYTES)
        except OSError:
            continue
        has_title = entry.path.suffix.lower() not in LIBRARY_SUFFIXES
        for include in Netlist.parse(data, path=entry.path, has_title=has_title).includes:
            target = _beside(name, include.path)
            if target in names and _beside(new_name, include.path) != moved.get(target, target):
                found.append({"file_path": new_name, "line": include.line, "include": include.path})
                if len(found) >= _MOST_INCLUDES:
                    return found
    return found


def _beside(file: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), reference))


_MOST_FILES = 1000
_MOST_FILE_BYTES = 20_000_000
_MOST_BYTES = 100_000_000


class MoveArguments(Arguments):
    """Arguments of move_file."""

    path: str = Field(description="File or folder.")
    destination: str = Field(description="Its new path; a folder, or a path that ends in /, means into it.")


class DeleteArguments(Arguments):
    """Arguments of delete_file."""

    path: str = Field(description="File or folder.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A file or folder that an operation takes from its place."""

    path: Path
    state: str
    """SHA-256, or FOLDER."""
    mode: int | None = None
    size: int = 0
    lines: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """An arrangement that is ready to be carried out."""

    effect: EffectClass
    place: Path
    """The file or folder itself."""
    target: Path | None = None
    """Where it goes; None: it is deleted, or made."""
    items: tuple[_Item, ...] = ()
    """The place and all that is in it."""
    made: tuple[Path, ...] = ()
    """Folders that are made first."""
    was_read: frozenset[str] = field(default=frozenset())
    """Names of the items the model has seen as they are."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The operation's changes, the main path first; with absolute paths."""
        there = [
            FileChange(path=str(self._moved(item.path)), before=ABSENT, after=item.state, mode=item.mode)
            for item in (self.items if self.target is not None else ())
        ]
        gone = [
            FileChange(path=str(item.path), before=item.state, after=ABSENT, mode=item.mode)
            for item in self.items
        ]
        made = [FileChange(path=str(folder), before=ABSENT, after=FOLDER) for folder in self.made]
        return (*there, *gone, *made)

    def new_place(self, item: _Item) -> Path | None:
        """Where an item will be; None when it is deleted."""
        return None if self.target is None else self._moved(item.path)

    def _moved(self, path: Path) -> Path:
        assert self.target is not None
        return self.target / path.relative_to(self.place)


async def move_file(arguments: MoveArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    return await _moved(context, call, await _planned_move(arguments, context))


async def delete_file(arguments: DeleteArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    view, plan = context.view, await _planned_delete(arguments, context)
    name, files = view.name_of(plan.place), _files_of(plan)
    broken = await _broken_includes(context, plan)
    is_folder = plan.items[0].state == FOLDER
    said = f"Deleted the folder {name} with {files} files." if is_folder else f"Deleted {name}."
    result = ToolResult(
        success=True,
        content=f"{said} The user can take it back.{_told(broken)}",
        summary=msg("Deleted the folder {path} ({count} {count:file|files}).", path=name, count=files)
        if is_folder
        else msg("Deleted {path}.", path=name),
        result={
            "path": name,
            "operation": "delete",
            "is_folder": is_folder,
            "files": files,
            "broken_includes": broken,
        },
    )
    return await _carry_out(context, call, plan, result)


def _is_folder(path: Path) -> bool:
    """Whether there is a folder; a name no file can have is none, and refused by who locates it."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


async def _planned_move(arguments: MoveArguments, context: ToolContext) -> _Plan:
    def target(view: ProjectView, source: Path) -> str:
        text = arguments.destination
        is_folder = text.endswith("/") or _is_folder(view.root / text)
        return posixpath.join(text, source.name) if is_folder else text

    locks = await locks_of(context)
    return await off_loop(_plan_move, context, locks, arguments.path, target)


async def _planned_delete(arguments: DeleteArguments, context: ToolContext) -> _Plan:
    locks = await locks_of(context)

    def plan() -> _Plan:
        place = context.view.locate_for_moving(arguments.path)
        items, was_read = _items(context, locks, place)
        return _Plan(effect="delete", place=place, items=items, was_read=was_read)

    return await off_loop(plan)


def _plan_move(
    context: ToolContext,
    locks: Locks,
    text: str,
    target_of: Callable[[ProjectView, Path], str],
) -> _Plan:
    view = context.view
    source = view.locate_for_moving(text)
    is_folder = source.is_dir()
    target = view.locate_for_making(target_of(view, source), is_folder=is_folder, moved=source)
    if target == source:
        raise CircuitError(
            msg("{path} already has this name and place.", path=view.name_of(source)),
            advice=msg("Nothing to do."),
            error_type="no_change",
        )
    if target.is_relative_to(source):
        raise UserInputError(
            msg("{path} cannot be moved into itself.", path=view.name_of(source)),
            advice=msg("Choose a place outside it."),
            error_type="bad_path",
        )
    if os.path.lexists(target):
        raise UserInputError(
            msg("There is already something at {path}; nothing was replaced.", path=view.name_of(target)),
            advice=msg("Choose another name, or move what is there first."),
            error_type="target_exists",
        )
    items, was_read = _items(context, locks, source)
    return _Plan(
        effect="change",
        place=source,
        target=target,
        items=items,
        made=_missing_folders(view, target.parent),
        was_read=was_read,
    )


def _items(context: ToolContext, locks: Locks, place: Path) -> tuple[tuple[_Item, ...], frozenset[str]]:
    """The place and all in it; refused when it is too much, or was changed since the model read it."""
    view, seen = context.view, context.seen_versions
    items: list[_Item] = []
    was_read: set[str] = set()
    size = 0
    for path in (place, *_below(place)):
        if path.is_dir():
            items.append(_Item(path=path, state=FOLDER))
            continue
        item, data = _file_item(view, path)
        name = view.name_of(path)
        _refuse_locked(locks, path, name, data)
        if seen.get(name, item.version) != item.version:
            raise CircuitError(
                msg(
                    "{path} has been modified by another program since it was read; nothing was done.",
                    path=name,
                ),
                advice=msg("Read it again with read_file."),
                error_type="file_modified_externally",
            )
        if name in seen:
            was_read.add(name)
        items.append(item)
        size += item.size
        if len(items) > _MOST_FILES or size > _MOST_BYTES or item.size > _MOST_FILE_BYTES:
            raise CircuitError(
                msg("{path} is too large to be kept for undo.", path=view.name_of(place)),
                advice=msg(
                    "Let the user do it, or do it in parts: at most 1000 files, 20 MB each, 100 MB in total."
                ),
                error_type="content_too_large",
            )
    return tuple(items), frozenset(was_read)


def _below(place: Path) -> Iterator[Path]:
    for folder, folders, files in walk(place):
        folders.sort()
        yield from (Path(folder) / name for name in (*folders, *sorted(files)))


def _refuse_locked(locks: Locks, path: Path, name: str, data: bytes) -> None:
    """A netlist stays where it is while an element in it has to stay as it is."""
    if path.suffix.lower() not in NETLIST_SUFFIXES:
        return
    if locked := locks.changed(path, name, data, None):
        raise CircuitError(
            msg(
                "{path} contains {elements}, which must stay as it is: the user said so. Nothing was moved "
                "or deleted.",
                path=name,
                elements=", ".join(locked),
            ),
            advice=msg("Leave the file where it is, or ask the user whether it may be changed."),
            error_type="locked_element",
        )


def _file_item(view: ProjectView, path: Path) -> tuple[_Item, bytes]:
    try:
        with view.open(path) as file:
            mode = os.fstat(file.fileno()).st_mode & 0o7777
            data = file.read(_MOST_FILE_BYTES + 1)
    except OSError as error:
        raise file_problem(error, view.name_of(path)) from error
    item = _Item(
        path=path,
        state=hashlib.sha256(data).hexdigest(),
        mode=mode,
        size=len(data),
        lines=data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
        version=version_hash(data),
    )
    return item, data


def _missing_folders(view: ProjectView, folder: Path) -> tuple[Path, ...]:
    """`folder` and those it lies in, as far as there are none yet."""
    missing = [place for place in (folder, *folder.parents) if place.is_relative_to(view.root)]
    return tuple(place for place in missing if not place.is_dir())


def _files_of(plan: _Plan) -> int:
    return sum(item.state != FOLDER for item in plan.items)


async def _moved(context: ToolContext, call: ToolCall, plan: _Plan) -> ToolResult:
    assert plan.target is not None
    view = context.view
    old, new = view.name_of(plan.place), view.name_of(plan.target)
    broken = await _broken_includes(context, plan)
    result = ToolResult(
        success=True,
        content=f"Moved {old} to {new}.{_told(broken)}",
        summary=msg("Moved {path} to {target}.", path=old, target=new),
        result={
            "path": new,
            "source": old,
            "destination": new,
            "operation": "move",
            "files": _files_of(plan),
            "broken_includes": broken,
        },
        seen_versions={
            view.name_of(place): item.version
            for item in plan.items
            if view.name_of(item.path) in plan.was_read and (place := plan.new_place(item)) is not None
        },
    )
    return await _carry_out(context, call, plan, result)


async def _carry_out(context: ToolContext, call: ToolCall, plan: _Plan, result: ToolResult) -> ToolResult:
    root = context.view.root
    await context.operations.change_files(
        op_id=call.call_id,
        session_id=context.session_id,
        tool=call.name,
        changes=[
            FileChange(
                path=Path(change.path).relative_to(root).as_posix(),
                before=change.before,
                after=change.after,
                mode=change.mode,
            )
            for change in plan.changes
        ],
        result=result_to_plain(result),
    )
    return result


async def _broken_includes(context: ToolContext, plan: _Plan) -> list[dict[str, Any]]:
    """The includes that will not find their file any more."""
    view = context.view
    moved = {
        view.name_of(item.path): None if (place := plan.new_place(item)) is None else view.name_of(place)
        for item in plan.items
        if item.state != FOLDER and item.path.suffix.lower() in NETLIST_SUFFIXES
    }
    return await in_worker(context, plan.place, broken_includes, view, moved) if moved else []


def _told(broken: list[dict[str, Any]]) -> str:
    if not broken:
        return ""
    lines = [f"{item['file_path']}, line {item['line']}: {item['include']}" for item in broken]
    return "\nThese includes do not find their file any more; mend them:\n" + "\n".join(lines)


async def _preview(
    plan_of: Callable[[Any, ToolContext], Awaitable[_Plan]], arguments: Any, context: ToolContext
) -> ComputedEffect:
    plan = await plan_of(arguments, context)
    view = context.view
    return ComputedEffect(
        effect=plan.effect,
        paths=tuple(_path_effect(view, plan, item) for item in plan.items[:MOST_PATHS_SHOWN]),
        files=_files_of(plan),
    )


def _path_effect(view: ProjectView, plan: _Plan, item: _Item) -> PathEffect:
    name, place = view.name_of(item.path), plan.new_place(item)
    is_folder = item.state == FOLDER
    return PathEffect(
        path=name,
        moved_to="" if place is None else view.name_of(place),
        is_folder=is_folder,
        bytes_before=None if is_folder else item.size,
        bytes_after=None if is_folder or place is None else item.size,
        lines_lost=item.lines if place is None else 0,
        was_read=name in plan.was_read,
        version=item.version,
    )


MOVE_FILE = Tool(
    name="move_file",
    title=msg("Move a file"),
    look=ToolLook(running=msg("Moving"), done=msg("Moved"), icon="file-pen", card="change"),
    groups=frozenset({"move"}),
    description=(
        "Move or rename a file or folder inside the project. Nothing is ever replaced. "
        'Example: {"path": "opamp.lib", "destination": "models/opamp.lib"}'
    ),
    category="file",
    effect="change",
    arguments=MoveArguments,
    run=move_file,
    preview=partial(_preview, _planned_move),
)

DELETE_FILE = Tool(
    name="delete_file",
    title=msg("Delete a file"),
    look=ToolLook(running=msg("Deleting"), done=msg("Deleted"), icon="trash-2", card="delete"),
    description=(
        "Delete a file, or a folder with all in it. Only when the user asked for it. "
        'Example: {"path": "old/rc.cir"}'
    ),
    category="file",
    effect="delete",
    arguments=DeleteArguments,
    run=delete_file,
    preview=partial(_preview, _planned_delete),
)
