"""Tools that know netlists: the outline of a file, and where a name is used."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from application.ports.project_view import FolderEntry, ProjectView
from application.tool_execution.definition import Arguments, Tool, ToolContext
from application.tool_execution.reading import Unreadable, facts_of
from application.tool_execution.tools._common import (
    NETLIST_SUFFIXES,
    diagnostic_line,
    found_in,
    in_worker,
    locate,
)
from application.tool_execution.tools.bill import counted
from application.tool_execution.tools.files import unreadable
from application.tool_execution.tools.result_source import changed_since, result_content
from domain.circuit.dependencies import DependencyTree, SourceReader, resolve_dependencies
from domain.circuit.figures import with_unit
from domain.circuit.netlist import CIRCUIT_SUFFIXES, LIBRARY_SUFFIXES, Netlist
from domain.circuit.outline import outline_of
from domain.circuit.recognition.recognised import MADE_OF, NEWEST_FIGURES
from domain.circuit.symbols import SymbolUse, bare_name, uses_of
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from domain.llm.tools.text_files import BinaryFileError, decode
from domain.simulation.operating_point import device_lines, stored_operating_point
from shared.message import msg, one_line
from shared.uninterrupted import off_loop

MOST_ANALYZED_BYTES = 5_000_000
_MOST_SCANNED = 20_000
_MOST_FILES = 1000
_MOST_ITEMS = 60
_MOST_USES = 200
_MOST_FIGURES = 12
"""Metrics of the newest run, and devices of its operating point."""
_PREVIEW = 120
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"^(=+|-+)\s*$")


class AnalyzeArguments(Arguments):
    """Arguments of analyze_file."""

    path: str = Field(description="Relative to the project.")
    bom: bool = Field(default=False, description="Bill of materials.")


async def analyze_file(arguments: AnalyzeArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """The outline of a netlist with its diagnostics, or of another text file."""
    view = context.view
    path = await locate(context, arguments.path)
    name = view.name_of(path)
    if arguments.bom:
        return await counted(path, context)
    reader = await off_loop(context.services.sources.for_circuit, path, view.libraries)
    outline = await in_worker(context, path, outline_file, view, path, reader)
    if isinstance(outline, Unreadable):
        if outline.reason == "file_too_large":
            return failure(
                "file_too_large",
                msg("{path} is {size} kB; files up to 5000 kB are analyzed.",
                    path=name, size=outline.total_bytes // 1000),
                suggestions=(msg("Search it with the query argument of read_file, or read it by lines."),),
                result={"path": name, "file_path": name, "file_info": {"total_bytes": outline.total_bytes}},
            )  # fmt: skip
        return unreadable(name, outline)
    if outline["kind"] == "netlist":
        outline["diagnostics"] = await found_in(context, path)
        if outline["recognised"]:
            outline["newest"] = await off_loop(_newest_figures, context, path)
    outline = {"path": name, "file_path": name, **outline}
    return ToolResult(
        success=True,
        content=_outline_content(outline),
        summary=msg("Analyzed {path} ({lines} {lines:line|lines}).", path=name, lines=outline["total_lines"]),
        result=outline,
    )


def outline_file(view: ProjectView, path: Path, reader: SourceReader) -> dict[str, Any] | Unreadable:
    """The outline as plain data; runs in a worker process. Raises OSError."""
    with view.open(path) as file:
        data = file.read(MOST_ANALYZED_BYTES + 1)
    if len(data) > MOST_ANALYZED_BYTES:
        return Unreadable(reason="file_too_large", total_bytes=path.stat().st_size)
    try:
        facts = facts_of(data)
    except BinaryFileError:
        return Unreadable(reason="binary_file", total_bytes=len(data))
    common = {"total_lines": facts.total_lines, "total_bytes": facts.total_bytes, "encoding": facts.encoding}
    if path.suffix.lower() not in NETLIST_SUFFIXES:
        return {"kind": "text", **common, "headings": _headings(decode(data).lines)}
    netlist = Netlist.parse(data, path=path, has_title=path.suffix.lower() not in LIBRARY_SUFFIXES)
    outline = asdict(outline_of(netlist))
    tree = resolve_dependencies(netlist, reader)
    for include in outline["includes"]:
        target = tree.target_of(path, include["line"])
        include["resolved"] = None if target is None else view.name_of(target)
    outline["recognised"] = _recognised(tree) if path.suffix.lower() in CIRCUIT_SUFFIXES else []
    return {"kind": "netlist", **common, **outline, **_dependencies(view, path, tree, netlist)}


def _recognised(tree: DependencyTree) -> list[str]:
    """What the circuit is made of, as lines; none where no stage is known."""
    from domain.circuit.recognition.recogniser import recognise

    found = recognise(tree)
    return found.lines()[:_MOST_ITEMS] if found.stages else []


def _dependencies(
    view: ProjectView, path: Path, tree: DependencyTree, netlist: Netlist
) -> dict[str, list[str]]:
    """The files it includes, also through others, and what of them was not found, as it is written."""
    sources = (netlist, *tree.files.values())
    includes = [(source.path or path, include) for source in sources for include in source.includes]
    found = [(include, tree.target_of(place, include.line)) for place, include in includes]
    names = dict.fromkeys(view.name_of(target) for _, target in found if target is not None)
    missing = dict.fromkeys(include.path for include, target in found if target is None)
    return {"depends_on": [*names][:_MOST_ITEMS], "not_found": [*missing][:_MOST_ITEMS]}


def _headings(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Markdown headings of both kinds."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if match := _HEADING.match(line):
            found.append({"level": len(match[1]), "text": match[2][:_PREVIEW], "line": number})
        elif number > 1 and _UNDERLINE.match(line) and lines[number - 2].strip():
            level = 1 if line.startswith("=") else 2
            found.append({"level": level, "text": lines[number - 2].strip()[:_PREVIEW], "line": number - 1})
    return found[:_MOST_ITEMS]


def _newest_figures(context: ToolContext, path: Path) -> list[str]:
    """Of the newest run: whether it still holds, its metrics, what its transistors do; none without a run."""
    newest = context.view.newest_result(path)
    if newest is None:
        return []
    content = result_content(context, newest)
    request = content.get("request")
    values = request.get("set") if isinstance(request, dict) else None
    state = (
        "of an earlier version of the circuit" if changed_since(context, path, content) else "of this circuit"
    )
    if isinstance(values, dict) and values:
        state = f"with values of its own: {', '.join(f'{name}={value}' for name, value in values.items())}"
    lines = [one_line(f"{NEWEST_FIGURES} {state}")]
    metrics = content.get("metrics")
    for name, item in islice(metrics.items(), _MOST_FIGURES) if isinstance(metrics, dict) else ():
        value, unit = (item.get("value"), item.get("unit")) if isinstance(item, dict) else (None, None)
        if isinstance(value, int | float) and math.isfinite(value):
            lines.append(one_line(f"  {name} = {with_unit(value, str(unit or '1'))}"))
    point = stored_operating_point(content)
    if point is not None:
        lines += [f"  {one_line(each)}" for each in device_lines(point)[:_MOST_FIGURES]]
    return lines


_PARTS = ("subcircuits", "includes", "models", "parameters", "sources", "analyses", "measures")


def _outline_content(outline: dict[str, Any]) -> str:
    head = f"{outline['path']}: {outline['kind']}, {outline['total_lines']} lines, {outline['encoding']}"
    return "\n".join([head, *outline_lines(outline)])


def outline_lines(outline: dict[str, Any]) -> list[str]:
    """What `outline_file` gave, and the findings beside it, as lines."""
    if outline["kind"] == "text":
        return [f"{'#' * item['level']} {item['text']} (line {item['line']})" for item in outline["headings"]]
    lines = [f"title: {outline['title'][:_PREVIEW]}"] if outline["title"] else []
    counts = ", ".join(f"{count} {kind}" for kind, count in outline["elements"].items())
    lines.append(f"elements: {counts or 'none'}")
    if outline["recognised"]:
        lines += [MADE_OF, *(f"  {line}" for line in outline["recognised"]), *outline.get("newest", ())]
    if outline["nodes"]:
        more = len(outline["nodes"]) - _MOST_ITEMS
        nodes = " ".join(outline["nodes"][:_MOST_ITEMS])
        lines.append(f"nodes: {nodes}{f' and {more} more' if more > 0 else ''}")
    if outline["has_control_block"]:
        lines.append("it has a .control block")
    for label, names in (("depends on", outline["depends_on"]), ("not found", outline["not_found"])):
        if names:
            lines.append(f"{label}: {', '.join(names)}")
    lines += [diagnostic_line(item) for item in outline.get("diagnostics", ())]
    for part in _PARTS:
        items = outline[part]
        if items:
            lines.append(f"{part}:")
            lines += [f"  {_item_line(part, item)}" for item in items[:_MOST_ITEMS]]
            if len(items) > _MOST_ITEMS:
                lines.append(f"  ... and {len(items) - _MOST_ITEMS} more")
    return lines


def _item_line(part: str, item: dict[str, Any]) -> str:
    where = (
        f"line {item['line']}"
        if item["last_line"] == item["line"]
        else f"lines {item['line']}-{item['last_line']}"
    )
    scope = f" in {item['scope']}" if item["scope"] else ""
    if part in ("analyses", "measures"):
        return f".{item['text'][:_PREVIEW]} ({where})"
    text = f" {item['text'][:_PREVIEW]}" if item["text"] else ""
    if part == "includes":
        return f"{item['name']}{text} -> {item['resolved'] or 'not found or not allowed'} ({where})"
    equals = " =" if part == "parameters" else ""
    return f"{item['name']}{equals}{text}{scope} ({where})"


async def references(context: ToolContext, symbol: str, definition_file: str | None) -> ToolResult:
    """Where a symbol is defined and used, over all netlists of the project.

    With `definition_file` only the symbol defined there: it, files that include it and those it includes.
    """
    definition = None
    if definition_file is not None:
        definition = context.view.name_of(await locate(context, definition_file))
    name = bare_name(symbol)
    view = context.view
    found = await in_worker(context, view.root, find_uses, view, name, definition)
    definitions = [use for use in found["uses"] if use["usage_type"] == "definition"]
    others = [use for use in found["uses"] if use["usage_type"] != "definition"]
    lines = [f"{name}: {len(definitions)} definitions, {len(others)} references in {found['files']} files"]
    lines += [_use_line(use) for use in found["uses"]]
    if found["left_out"]:
        lines.append(f"... and {found['left_out']} more")
    if not found["uses"]:
        lines.append("search_project looks for any text; analyze_file lists what a file defines.")
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("Found {count} {count:reference|references} to {name}.", count=len(others), name=name),
        result={
            "symbol_name": name,
            "definition": definitions[0] if definitions else None,
            "definitions": definitions,
            "references": others,
            "files_searched": found["files"],
            "left_out": found["left_out"],
        },
    )


def _use_line(use: dict[str, Any]) -> str:
    scope = f" in {use['scope']}" if use["scope"] else ""
    return (
        f"{use['file_path']}:{use['line_number']}: {use['kind']} {use['usage_type']}{scope}: {use['preview']}"
    )


def find_uses(view: ProjectView, name: str, definition: str | None) -> dict[str, Any]:
    """The uses as plain data, in the files that belong together with `definition`; in a worker process."""
    netlists = {entry.name: netlist for entry, netlist in _netlists(view)}
    if definition is not None:
        related = _related(netlists, definition)
        netlists = {file: netlist for file, netlist in netlists.items() if file in related}
    models = frozenset(model.name.lower() for netlist in netlists.values() for model in netlist.models)
    uses = [_use(file, use) for file, netlist in netlists.items() for use in uses_of(netlist, name, models)]
    if definition is not None:
        uses = _of_definition(uses, definition)
    return {"uses": uses[:_MOST_USES], "left_out": max(len(uses) - _MOST_USES, 0), "files": len(netlists)}


def _netlists(view: ProjectView) -> Iterator[tuple[FolderEntry, Netlist]]:
    wanted = (
        entry
        for entry in islice(view.walk(view.root), _MOST_SCANNED)
        if entry.kind == "file"
        and entry.size <= MOST_ANALYZED_BYTES
        and PurePosixPath(entry.name).suffix.lower() in NETLIST_SUFFIXES
    )
    for entry in islice(wanted, _MOST_FILES):
        try:
            with view.open(entry.path) as file:
                data = file.read(MOST_ANALYZED_BYTES)
        except OSError:
            continue
        has_title = entry.path.suffix.lower() not in LIBRARY_SUFFIXES
        yield entry, Netlist.parse(data, path=entry.path, has_title=has_title)


def _related(netlists: dict[str, Netlist], definition: str) -> set[str]:
    """`definition`, the files it includes and those that include it, directly or through others."""
    includes = {file: _included(file, netlist, netlists) for file, netlist in netlists.items()}
    included_by: dict[str, set[str]] = {file: set() for file in netlists}
    for file, targets in includes.items():
        for target in targets:
            included_by[target].add(file)
    related = {definition}
    for arrows in (includes, included_by):
        waiting = [definition]
        while waiting:
            for file in arrows.get(waiting.pop(), set()) - related:
                related.add(file)
                waiting.append(file)
    return related


def _included(file: str, netlist: Netlist, netlists: dict[str, Netlist]) -> set[str]:
    """Which of the project's files `file` includes: as written from its folder, or by name alone."""
    folder = PurePosixPath(file).parent
    found: set[str] = set()
    for include in netlist.includes:
        beside = (folder / include.path).as_posix()
        name = PurePosixPath(include.path).name.casefold()
        by_name = [other for other in netlists if PurePosixPath(other).name.casefold() == name]
        found.update([beside] if beside in netlists else by_name)
    return found - {file}


def _of_definition(uses: list[dict[str, Any]], definition: str) -> list[dict[str, Any]]:
    """What belongs to the symbols defined in that file: other files' definitions hide theirs in them."""
    own = {
        use["kind"] for use in uses if use["file_path"] == definition and use["usage_type"] == "definition"
    }
    if not own:
        return [use for use in uses if use["file_path"] == definition]
    hidden = {
        (use["file_path"], use["kind"])
        for use in uses
        if use["usage_type"] == "definition" and use["file_path"] != definition
    }
    return [use for use in uses if use["kind"] in own and (use["file_path"], use["kind"]) not in hidden]


def _use(file: str, use: SymbolUse) -> dict[str, Any]:
    return {
        "file_path": file,
        "line_number": use.line,
        "line_start": use.line,
        "line_end": use.last_line,
        "kind": use.kind,
        "usage_type": use.usage,
        "scope": ".".join(use.scope),
        "preview": use.text[:_PREVIEW],
    }


ANALYZE_FILE = Tool(
    name="analyze_file",
    is_core=True,
    title=msg("Analyze a file"),
    look=ToolLook(running=msg("Analyzing"), done=msg("Analyzed"), icon="file-code", card="read"),
    description=(
        "The outline of a netlist with line numbers: its stages, what it defines, its nodes and analyses, "
        "all files it depends on, and what is wrong with it, without simulating. Of other texts: headings. "
        'Example: {"path": "amp.cir"}'
    ),
    category="file",
    effect="read",
    arguments=AnalyzeArguments,
    run=analyze_file,
)
