"""What several tools need: work off the loop, files found with a hint at near names, problems of files,
and what `check` says of a circuit.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from application.tool_execution.definition import ToolContext
from domain.circuit.netlist import LIBRARY_SUFFIXES
from domain.design.locked_elements import (
    locked_changes,
    locked_changes_of_circuit,
    said_about,
    speaks_of_locks,
)
from domain.llm.tools.result import ToolResult, failure
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView

P = ParamSpec("P")
T = TypeVar("T")

NETLIST_SUFFIXES = frozenset({".cir", ".sp", ".spice", ".net", ".ckt", ".inc", ".lib", ".mod", ".sub"})
CIRCUIT_SUFFIXES = frozenset({".cir", ".sp", ".spice", ".net", ".ckt"})
"""Of these a project may have a main circuit; the other netlists are made to be included."""

_NAMES_COMPARED = 2000


async def in_worker(
    context: ToolContext, path: Path, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Longer work on the file (or folder) `path`, in a process that a stop ends at once."""
    try:
        return await context.services.cpu.run(function, *args, **kwargs)
    except OSError as error:
        raise file_problem(error, context.view.name_of(path)) from error


async def locate(context: ToolContext, text: str) -> Path:
    """The file a tool may read. Raises what `located` raises."""
    return await off_loop(located, context.view, text)


def located(view: ProjectView, text: str) -> Path:
    """The file a tool may read; for a missing one the error lists near names. Raises UserInputError."""
    try:
        return view.locate(text)
    except UserInputError as error:
        if error.error_type != "file_not_found":
            raise
        raise _with_near_names(error, view, text) from error


def _with_near_names(error: UserInputError, view: ProjectView, text: str) -> UserInputError:
    names = [entry.name for entry in islice(view.walk(view.root), _NAMES_COMPARED) if entry.kind == "file"]
    folded = {name.casefold(): name for name in names}
    by_name = {name.casefold().rpartition("/")[2]: name for name in names}
    wanted = text.casefold()
    near = [folded[key] for key in difflib.get_close_matches(wanted, folded, n=3, cutoff=0.5)]
    near += [
        by_name[key] for key in difflib.get_close_matches(wanted.rpartition("/")[2], by_name, n=3, cutoff=0.6)
    ]
    if not near:
        return error
    names_text = ", ".join(dict.fromkeys(near))
    return UserInputError(
        error.message, advice=msg("Similar names: {names}.", names=names_text), error_type=error.error_type
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Locks:
    """What the user said of elements to be left alone, and what a change would do to them."""

    said: tuple[str, ...]
    main: Path | None
    """The main circuit, where any element is locked."""
    files: frozenset[str] | None
    """What it consists of, relative to the project; None when that cannot be told."""
    context: ToolContext
    """Of the call; the circuit is read with its simulation's settings, once an element is locked."""

    def said_of(self, name: str) -> list[str]:
        """What of it concerns a file."""
        return said_about(self.said, name, is_main=self.files is None or name in self.files)

    def changed(self, path: Path, name: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
        """The locked elements that a file's new content would make others (None: it goes); blocking.

        In the file itself, or in the main circuit: a value may stand in a parameter, a model or another file.
        """
        if before is not None:
            has_title = path.suffix.lower() not in LIBRARY_SUFFIXES
            if found := locked_changes(self.said_of(name), before, after or b"", has_title=has_title):
                return found
        if self.main is None or self.files is None or name not in self.files:
            return ()
        try:
            read = self.context.services.simulate.tree_with
            trees = [read(self.main, {path: text}) for text in (before, after)]
        except UserInputError:  # no circuit before or behind it
            return ()
        about = said_about(self.said, self.main.name, is_main=True)
        return locked_changes_of_circuit(about, *trees)


async def locks_of(context: ToolContext) -> Locks:
    """Those of the conversation."""
    said, main = tuple(context.said()), context.main_circuit()
    files: frozenset[str] | None = None  # all of them
    is_locked = bool(main) and speaks_of_locks(said)
    if is_locked:
        with contextlib.suppress(UserInputError):  # it can't be read: all the more is kept
            used = await context.services.simulate.files_of(context.project.root / main)
            root = await off_loop(os.path.realpath, context.project.root)
            files = frozenset(each.relative_to(root).as_posix() for each in used if each.is_relative_to(root))
    return Locks(
        said=said,
        main=context.project.root / main if is_locked else None,
        files=files,
        context=context,
    )


def locked_failure(names: Sequence[str], file: str) -> ToolResult:
    """Elements that the user wants left as they are were to be changed."""
    return failure(
        "locked_element",
        msg(
            "{elements} must stay as it is: the user said so. Nothing was changed.",
            elements=f"{', '.join(names)} ({file})",
        ),
        suggestions=(msg("Work with other elements, or ask the user whether it may be changed."),),
    )


def file_problem(error: OSError, name: str) -> CircuitAIError:
    """The error to raise when a located file could not be opened."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return UserInputError(
                msg("File {path} does not exist.", path=name),
                advice=msg("Look up the name with list_project_files; names are case-sensitive."),
                error_type="file_not_found",
            )
        case errno.EISDIR | errno.EINVAL | errno.ELOOP | errno.ENXIO:
            return UserInputError(
                msg("{path} is not a regular file.", path=name),
                advice=msg("Specify a text file; folders, pipes and devices cannot be used."),
                error_type="not_a_file",
            )
        case errno.ESTALE:
            return UserInputError(
                msg("{path} was replaced while it was being opened.", path=name),
                advice=msg("Try again when nothing else is changing the folder."),
                error_type="outside_project",
            )
        case _:
            return CircuitError(
                msg("{path} cannot be read ({reason}).", path=name, reason=error.strerror or str(error)),
                advice=msg("Check the file's permissions."),
                error_type="cannot_read",
            )


_MOST_ITEMS = 60
_MOST_BYTES = 200_000
"""Of a text that is checked along with being written."""
_MOST_TOLD = 5


async def found_in(context: ToolContext, path: Path, data: bytes | None = None) -> list[dict[str, Any]]:
    """The findings in the netlist at `path`, or in `data`, as plain data. Raises UserInputError."""
    report = await context.services.check(path, data=data)
    return [
        {
            "severity": item.severity,
            "code": item.code,
            "message": str(item.message),
            "file": None if item.file is None else context.view.name_of(item.file),
            "line": item.line,
        }
        for item in report.diagnostics[:_MOST_ITEMS]
    ]


def diagnostic_line(item: Mapping[str, Any]) -> str:
    """``error: amp.cir:6: Model QX is not defined. [undefined-model]``."""
    place = f"{item['file']}:{item['line']}" if item["file"] else f"line {item['line']}"
    return f"{item['severity']}: {place}: {item['message']} [{item['code']}]"


async def brief_findings(
    context: ToolContext,
    path: Path,
    data: bytes | None = None,
    told: Collection[tuple[str | None, int | None]] = (),
) -> list[str]:
    """The first errors and warnings in a netlist as lines, those at places already `told` left out; [] for
    what is not a netlist, or a large one."""
    if path.suffix.lower() not in NETLIST_SUFFIXES or (data is not None and len(data) > _MOST_BYTES):
        return []
    try:
        found = await found_in(context, path, data)
    except CircuitAIError:  # it cannot be read: whoever asks says so
        return []
    serious = [
        item for item in found if item["severity"] != "info" and (item["file"], item["line"]) not in told
    ]
    lines = [diagnostic_line(item) for item in serious[:_MOST_TOLD]]
    return [*lines, f"... and {len(serious) - _MOST_TOLD} more"] if len(serious) > _MOST_TOLD else lines
