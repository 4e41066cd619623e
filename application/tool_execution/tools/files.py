"""Tools that look: what files there are, and what stands in them."""

from __future__ import annotations

import fnmatch
import json
import logging
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from application.ports.project import ProjectFiles
from application.ports.project_view import FolderEntry, ProjectView
from application.tool_execution.definition import Arguments, Switch, Tool, ToolContext, Whole, unlisted
from application.tool_execution.reading import (
    WHOLE_FILE_BYTES,
    FileFacts,
    Reading,
    Room,
    Segment,
    Unreadable,
    read_query,
    read_range,
    read_whole,
)
from application.tool_execution.tools._common import in_worker, locate
from application.tool_execution.tools.history import changes_of_file
from application.tool_execution.tools.result_source import circuit_of_run
from domain.llm.chat import RESULT_TOKENS
from domain.llm.tokens import count_tokens
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from domain.llm.tools.text_files import BinaryFileError, decode, version_hash
from shared import paths
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

_logger = logging.getLogger(__name__)

_HINT_LINES = 500
_HINT_BYTES = 50_000
_HEADER_ROOM = 700
"""Characters of a result kept free for what stands around the lines."""
_HEADER_TOKENS = 200

_MOST_ENTRIES = 200
_MOST_SCANNED = 20_000
_PREVIEW_BYTES = 20_000
_PREVIEW_CHARACTERS = 80


class ListArguments(Arguments):
    """Arguments of list_project_files."""

    path: str = Field("", description="Only in this folder.")
    pattern: str = Field("", max_length=200, description="Only names like *.cir.")
    include_preview: Switch = unlisted(False)


class ReadArguments(Arguments):
    """Arguments of read_file."""

    path: str = Field(description="Relative to the project.")
    start_line: Whole | None = Field(None, ge=1, le=10**9, description="Line, from 1.")
    end_line: Whole | None = Field(None, ge=1, le=10**9, description="The last one.")
    query: str | None = Field(
        None,
        max_length=500,
        description="Text to find.",
    )
    changes_since: str | None = Field(None, max_length=40, description="Its edits since 1d, yesterday.")
    max_tokens: Whole | None = unlisted(None, ge=1, le=100_000)


async def list_project_files(arguments: ListArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """The files and folders of the project (or of one folder), with sizes."""
    folder = await off_loop(context.view.locate_folder, arguments.path)
    listing = await in_worker(
        context,
        folder,
        list_folder,
        context.view,
        folder,
        arguments.pattern,
        arguments.include_preview,
        context.room.tokens,
    )
    entries = listing["entries"]
    lines = [_entry_line(entry) for entry in entries]
    if not entries:
        lines.append("(no files)" if not arguments.pattern else f"(no file matches {arguments.pattern})")
    if listing["left_out"]:
        lines.append(f"... {listing['left_out']} more; name a folder or a pattern to see them.")
    count = sum(entry["kind"] == "file" for entry in entries)
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("Listed {count} {count:file|files}.", count=count),
        result={"path": context.view.name_of(folder), **listing},
    )


def list_folder(
    view: ProjectView, folder: Path, pattern: str, include_preview: bool, most: int = RESULT_TOKENS
) -> dict[str, Any]:
    """The entries as plain data; runs in a worker process."""
    found: list[dict[str, Any]] = []
    left_out = 0
    room = min(most, RESULT_TOKENS) - _HEADER_TOKENS
    for entry in islice(view.walk(folder), _MOST_SCANNED):
        if pattern and (entry.kind == "folder" or not _matches(entry.name, pattern)):
            continue
        if left_out or len(found) >= _MOST_ENTRIES:
            left_out += 1
            continue
        item: dict[str, Any] = {"path": entry.name, "kind": entry.kind, "bytes": entry.size}
        if include_preview and entry.kind == "file":
            item["preview"] = _preview(view, entry)
        room -= count_tokens(json.dumps(item, ensure_ascii=False)) + 1
        if room < 0:
            left_out += 1
            continue
        found.append(item)
    return {"entries": found, "left_out": left_out}


def _matches(name: str, pattern: str) -> bool:
    folded, wanted = name.casefold(), pattern.casefold().removeprefix("./").replace("**/", "*")
    return fnmatch.fnmatchcase(folded, wanted) or (
        "/" not in wanted and fnmatch.fnmatchcase(folded.rpartition("/")[2], wanted)
    )


def _preview(view: ProjectView, entry: FolderEntry) -> str:
    try:
        with view.open(entry.path) as file:
            start = file.read(_PREVIEW_BYTES)
        # A character may be cut at the end of what was read.
        lines = decode(start[: start.rfind(b"\n") + 1] or start).lines
    except (OSError, BinaryFileError):
        return ""
    first = next((line.strip() for line in lines if line.strip()), "")
    return first[:_PREVIEW_CHARACTERS]


def _entry_line(entry: dict[str, Any]) -> str:
    if entry["kind"] == "folder":
        return f"{entry['path']}/"
    if entry["kind"] == "file":
        preview = f"  | {entry['preview']}" if entry.get("preview") else ""
        return f"{entry['path']}  {entry['bytes']} bytes{preview}"
    return f"{entry['path']}  ({'a link, not followed' if entry['kind'] == 'link' else 'no regular file'})"


async def read_file(arguments: ReadArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    of_run = await circuit_of_run(context, arguments.path)
    path = of_run or await locate(context, arguments.path)
    name = arguments.path.strip() if of_run else context.view.name_of(path)
    if arguments.changes_since:
        return await changes_of_file(path, arguments.changes_since, context)
    first, last = arguments.start_line, arguments.end_line
    if first is not None and last is not None and last < first:
        return failure(
            "bad_arguments",
            msg("end_line {last} is before start_line {first}.", first=first, last=last),
            suggestions=(msg("Give the first line as start_line and the last as end_line."),),
        )
    room = Room(
        tokens=min(arguments.max_tokens or context.room.tokens, context.room.tokens - _HEADER_TOKENS),
        characters=context.room.characters - _HEADER_ROOM,
    )
    view = context.view
    query = (arguments.query or "").strip()
    reading: Reading | Unreadable
    if first is not None or last is not None:
        reading = await in_worker(context, path, read_range, view, path, first or 1, last, room)
    elif query:
        reading = await in_worker(context, path, read_query, view, path, query, room)
    else:
        reading = await in_worker(context, path, read_whole, view, path, room)
    if isinstance(reading, Unreadable):
        return unreadable(name, reading)
    if first is not None and first > max(reading.facts.total_lines, 1):
        return failure(
            "bad_arguments",
            msg("{path} has {lines} {lines:line|lines}; there is no line {first}.",
                path=name, lines=reading.facts.total_lines, first=first),
            result={"total_lines": reading.facts.total_lines},
        )  # fmt: skip
    if not of_run:
        await off_loop(_keep, context, path, reading.facts)
    return _reading_result(name, reading, query=query if first is None and last is None else "")


def _keep(context: ToolContext, path: Path, facts: FileFacts) -> None:
    """Keep what the model has seen, so that it can be told later what others changed in it."""
    if facts.total_bytes > WHOLE_FILE_BYTES:
        return
    try:
        with context.view.open(path) as file:
            data = file.read(WHOLE_FILE_BYTES + 1)
    except OSError as error:
        _logger.info("What was read of a file is not kept: %s", error)
        return
    if version_hash(data) == facts.version:  # else somebody writes it just now
        keep_seen(context.project, data)


def keep_seen(project: ProjectFiles, data: bytes) -> None:
    """Keep a text that a model has seen. On a full disk it is told later that it changed, not in what."""
    if len(data) > WHOLE_FILE_BYTES or not paths.is_project(project.root):
        return
    try:
        project.keep_object(data.replace(b"\r\n", b"\n"))
    except (OSError, CircuitAIError) as error:
        _logger.info("What was read of a file is not kept: %s", error)


def unreadable(name: str, problem: Unreadable) -> ToolResult:
    """The failure for a file that is no text or too large to be read whole."""
    info: dict[str, Any] = {
        "path": name,
        "file_path": name,
        "file_info": {"total_bytes": problem.total_bytes},
    }
    if problem.reason == "binary_file":
        return failure(
            "binary_file",
            msg("{path} is not a text file.", path=name),
            suggestions=(msg("Use inspect_data for simulation data."),),
            result=info,
        )
    info["file_info"]["total_lines"] = problem.total_lines
    size = problem.total_bytes // 1000
    return failure(
        "file_too_large",
        msg("{path} is {size} kB; whole files are read up to 200 kB.", path=name, size=size)
        if problem.total_lines is None
        else msg("{path} is {size} kB in {lines} {lines:line|lines}; whole files are read up to 200 kB.",
                 path=name, size=size, lines=problem.total_lines),
        suggestions=(
            msg("Read a part with start_line and end_line, or the places of a text with query."),
            msg("analyze_file gives an outline with line numbers."),
        ),
        result=info,
    )  # fmt: skip


def _reading_result(name: str, reading: Reading, *, query: str) -> ToolResult:
    facts, segments = reading.facts, reading.segments
    text = "\n".join(line for segment in segments for line in segment.lines)
    hint = _hint(reading, query)
    info = {
        "total_lines": facts.total_lines,
        "total_bytes": facts.total_bytes,
        "returned_tokens": count_tokens(text),
        "truncated": reading.is_truncated,
        "encoding": facts.encoding,
        "line_ends": facts.line_ends,
    }
    location = None
    if reading.hits and segments:
        location = {
            "start_line": segments[0].first,
            "end_line": segments[-1].last,
            "match_type": reading.match,
            "match_score": 1.0 if reading.match == "exact" else 0.5,
            "lines": list(reading.hits[:50]),
        }
    return ToolResult(
        success=True,
        content=_content(name, reading, hint),
        summary=_summary(name, reading),
        result={
            "path": name,
            "file_path": name,
            "content": _marked(reading),
            "file_info": info,
            "ranges": [[segment.first, segment.last] for segment in segments],
            "location": location,
            "semantic_available": False,
            "hint": hint,
        },
        seen_versions={name: facts.version},
    )


def _content(name: str, reading: Reading, hint: str) -> str:
    """A line that says what follows, then the exact lines: they are copied into patch_file as they are."""
    facts = reading.facts
    encoding = "" if facts.encoding == "utf-8" else f", {facts.encoding}"
    if not reading.segments:
        return f"[{name}: empty, {facts.total_bytes} bytes{encoding}]"
    ranges = ", ".join(f"{segment.first}-{segment.last}" for segment in reading.segments)
    parts = [f"[{name}: lines {ranges} of {facts.total_lines}{encoding}]", _marked(reading)]
    if hint:
        parts.append(f"[{hint}]")
    return "\n".join(parts)


def _marked(reading: Reading) -> str:
    """The segments, with a mark where lines are left out between them."""
    lines: list[str] = []
    before: Segment | None = None
    for segment in reading.segments:
        if before is not None:
            lines.append(f"[... lines {before.last + 1}-{segment.first - 1} left out ...]")
        lines.extend(segment.lines)
        before = segment
    return "\n".join(lines)


def _hint(reading: Reading, query: str) -> str:
    facts, segments = reading.facts, reading.segments
    if query and not reading.hits:
        return (
            "The query was not found; this is the beginning of the file. Try other words, analyze_file for "
            "an outline, or search_project for the whole project."
        )
    if any(segment.is_cut for segment in segments):
        return "A line is too long to be shown whole."
    if reading.hits:
        ranges = ", ".join(f"{segment.first}-{segment.last}" for segment in segments)
        more = " There are more places: ask more precisely." if reading.is_truncated else ""
        return f"Found on {len(reading.hits)} lines; shown are lines {ranges}.{more}"
    if reading.is_truncated and len(segments) == 1:
        return f"Read on with start_line={segments[-1].last + 1}."
    is_large = facts.total_lines >= _HINT_LINES or facts.total_bytes >= _HINT_BYTES
    if reading.is_truncated or is_large:
        return (
            f"The file has {facts.total_lines} lines. Read parts with start_line and end_line; analyze_file "
            "gives an outline with line numbers."
        )
    return ""


def _summary(name: str, reading: Reading) -> Message:
    if not reading.segments:
        return msg("Read {path} (empty).", path=name)
    return msg(
        "Read {path}, lines {ranges} of {total}.",
        path=name,
        ranges=", ".join(f"{segment.first}-{segment.last}" for segment in reading.segments),
        total=reading.facts.total_lines,
    )


LIST_PROJECT_FILES = Tool(
    name="list_project_files",
    is_core=True,
    title=msg("List files"),
    look=ToolLook(running=msg("Listing the files"), done=msg("Listed files"), icon="list-tree", card="read"),
    description=('List the project\'s files and folders with their sizes. Example: {"pattern": "*.cir"}'),
    category="file",
    effect="read",
    arguments=ListArguments,
    run=list_project_files,
)

READ_FILE = Tool(
    name="read_file",
    is_core=True,
    title=msg("Read a file"),
    look=ToolLook(running=msg("Reading"), done=msg("Read"), icon="search", card="read"),
    description=(
        "Read a text file whole, by lines, or around each place of a text (query). Lines come exactly as "
        "they are, to be copied into patch_file. Of a large netlist ask analyze_file first. "
        'Example: {"path": "amp.cir", "start_line": 10, "end_line": 40}'
    ),
    category="file",
    effect="read",
    arguments=ReadArguments,
    run=read_file,
)
