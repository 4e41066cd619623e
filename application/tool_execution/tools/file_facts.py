"""Tools that tell about one file without its text: a summary, and what it depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from application.ports.project_view import ProjectView
from application.tool_execution.definition import Arguments, Switch, Tool, ToolContext, Whole
from application.tool_execution.reading import Unreadable
from application.tool_execution.tools._common import NETLIST_SUFFIXES, in_thread, in_worker, locate
from application.tool_execution.tools.circuits import outline_file
from application.tool_execution.tools.files import unreadable
from domain.circuit.dependencies import SourceReader, resolve_dependencies
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.llm.tokens import count_tokens
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from domain.llm.tools.text_files import BinaryFileError, decode
from shared.message import msg

_LARGEST = 5_000_000
_MOST_DEPENDENCIES = 60
_MOST_NAMES = 12
_MOST_HEADINGS = 20
_OPENING = 300
"""Characters of a text's beginning."""


class SummaryArguments(Arguments):
    """Arguments of get_file_summary."""

    file_path: str = Field(description="File to describe, relative to the project.")
    max_tokens: Whole = Field(300, ge=50, le=1500, description="Most tokens of the summary.")


class DependenciesArguments(Arguments):
    """Arguments of get_dependencies."""

    file_path: str = Field(description="Netlist, relative to the project.")
    recursive: Switch = Field(default=True, description="Also what the included files include.")


async def get_file_summary(arguments: SummaryArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """What a file is, in a few lines."""
    view = context.view
    path = await locate(context, arguments.file_path)
    name = view.name_of(path)
    reader = await in_thread(context, context.services.sources.for_circuit, path, view.libraries)
    outline = await in_worker(context, path, outline_file, view, path, reader)
    if isinstance(outline, Unreadable):
        return _unreadable(name, outline)
    opening = "" if outline["kind"] == "netlist" else await in_worker(context, path, _opening, view, path)
    lines = [f"{name}: {outline['kind']}, {outline['total_lines']} lines, {outline['total_bytes']} bytes"]
    lines += _of_netlist(outline) if outline["kind"] == "netlist" else _of_text(outline, opening)
    kept: list[str] = []
    budget = arguments.max_tokens
    for line in lines:
        budget -= count_tokens(line)
        if kept and budget < 0:
            break
        kept.append(line)
    summary = "\n".join(kept)
    return ToolResult(
        success=True,
        content=summary,
        summary=msg("Summarized {path}.", path=name),
        result={
            "file_path": name,
            "kind": outline["kind"],
            "total_lines": outline["total_lines"],
            "summary": summary,
            "truncated": len(kept) < len(lines),
        },
    )


def _of_netlist(outline: dict[str, Any]) -> list[str]:
    def names(part: str, label: str) -> list[str]:
        found = [str(item["name"]) for item in outline[part]]
        more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
        return [f"{label}: {', '.join(found[:_MOST_NAMES])}{more}"] if found else []

    counts = ", ".join(f"{count} {kind}" for kind, count in outline["elements"].items())
    analyses = [str(item["text"]) for item in outline["analyses"]][:_MOST_NAMES]
    lines = [f"title: {outline['title']}"] if outline["title"] else []
    lines.append(f"elements: {counts or 'none'}")
    lines += names("subcircuits", "defines subcircuits")
    lines += [f"analyses: {'; '.join(analyses)}"] if analyses else []
    lines += names("sources", "sources")
    lines += names("includes", "includes")
    lines += names("models", "models")
    lines += names("parameters", "parameters")
    lines += names("measures", "measurements")
    if outline["nodes"]:
        nodes = outline["nodes"]
        more = f" and {len(nodes) - _MOST_NAMES} more" if len(nodes) > _MOST_NAMES else ""
        lines.append(f"nodes: {' '.join(nodes[:_MOST_NAMES])}{more}")
    return [*lines, "it has a .control block"] if outline["has_control_block"] else lines


def _of_text(outline: dict[str, Any], opening: str) -> list[str]:
    headings = [f"{'#' * item['level']} {item['text']}" for item in outline["headings"][:_MOST_HEADINGS]]
    return [*([f"begins: {opening}"] if opening else []), *headings]


def _opening(view: ProjectView, path: Path) -> str:
    """The beginning of a text in one line; in a worker process. Raises OSError."""
    with view.open(path) as file:
        data = file.read(_LARGEST)
    try:
        return " ".join(decode(data).text[: 4 * _OPENING].split())[:_OPENING]
    except BinaryFileError:
        return ""


async def get_dependencies(
    arguments: DependenciesArguments, context: ToolContext, _call: ToolCall
) -> ToolResult:
    """The files a netlist includes, and what could not be found."""
    view = context.view
    path = await locate(context, arguments.file_path)
    name = view.name_of(path)
    if path.suffix.lower() not in NETLIST_SUFFIXES:
        return failure(
            "not_a_netlist",
            msg("{path} is not a netlist, so it includes nothing.", path=name),
            suggestions=(msg("Specify a file such as {suffixes}.", suffixes=".cir .sp .net .inc .lib"),),
        )
    reader = await in_thread(context, context.services.sources.for_circuit, path, view.libraries)
    found = await in_worker(context, path, _dependencies, view, path, reader)
    if isinstance(found, Unreadable):
        return _unreadable(name, found)
    edges = [edge for edge in found if arguments.recursive or edge["from"] == name]
    files = list(dict.fromkeys(edge["to"] for edge in edges if edge["to"] is not None))
    missing = [edge for edge in edges if edge["to"] is None]
    lines = [f"{name} depends on {len(files)} files" + (f", {len(missing)} not found" if missing else "")]
    lines += [_edge_line(edge) for edge in edges[:_MOST_DEPENDENCIES]]
    if len(edges) > _MOST_DEPENDENCIES:
        lines.append(f"... and {len(edges) - _MOST_DEPENDENCIES} more")
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("{path} depends on {count} {count:file|files}.", path=name, count=len(files)),
        result={
            "file_path": name,
            "dependencies": files[:_MOST_DEPENDENCIES],
            "graph": edges[:_MOST_DEPENDENCIES],
            "missing": [edge["as_written"] for edge in missing][:_MOST_DEPENDENCIES],
            "left_out": max(len(edges) - _MOST_DEPENDENCIES, 0),
        },
    )


def _edge_line(edge: dict[str, Any]) -> str:
    section = f" section {edge['section']}" if edge["section"] else ""
    target = edge["to"] or f"{edge['as_written']} (not found or not allowed)"
    return f"{edge['from']}:{edge['line']}: {edge['kind']} {target}{section}"


def _dependencies(view: ProjectView, path: Path, reader: SourceReader) -> list[dict[str, Any]] | Unreadable:
    """Each include directive with what it resolved to; in a worker process. Raises OSError."""
    with view.open(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        return Unreadable(reason="file_too_large", total_bytes=path.stat().st_size)
    netlist = Netlist.parse(data, path=path, has_title=path.suffix.lower() not in LIBRARY_SUFFIXES)
    tree = resolve_dependencies(netlist, reader)
    cycles = {(cycle.file, cycle.line) for cycle in tree.cycles}
    edges = []
    for source in (netlist, *tree.files.values()):
        for include in source.includes:
            target = tree.target_of(source.path, include.line)
            edges.append(
                {
                    "from": view.name_of(source.path or path),
                    "line": include.line,
                    "kind": include.kind,
                    "as_written": include.path,
                    "to": None if target is None else view.name_of(target),
                    "section": include.section,
                    "is_cycle": (source.path, include.line) in cycles,
                }
            )
    return edges


def _unreadable(name: str, problem: Unreadable) -> ToolResult:
    if problem.reason != "file_too_large":
        return unreadable(name, problem)
    return failure(
        "file_too_large",
        msg("{path} is {size} kB; files up to 5000 kB are analyzed.",
            path=name, size=problem.total_bytes // 1000),
        suggestions=(msg("Search it with the query argument of read_file, or read it by lines."),),
        result={"file_path": name},
    )  # fmt: skip


GET_FILE_SUMMARY = Tool(
    name="get_file_summary",
    title=msg("Summarize a file"),
    look=ToolLook(running=msg("Summarizing the file"), done=msg("Summarized"), icon="file-text", card="read"),
    description=(
        "A few lines about a file: of a netlist its title, counts of elements, subcircuits, analyses, "
        "includes and main names; of a text its beginning and headings. Use it to decide whether a file is "
        "worth reading; for line numbers and what is wrong use analyze_file. "
        'Example: {"file_path": "amp.cir"}'
    ),
    category="file",
    effect="read",
    arguments=SummaryArguments,
    run=get_file_summary,
)

GET_DEPENDENCIES = Tool(
    name="get_dependencies",
    title=msg("List dependencies"),
    look=ToolLook(
        running=msg("Listing dependencies"), done=msg("Listed dependencies"), icon="link", card="read"
    ),
    description=(
        "Which files a netlist includes (.include, .lib), directly and through others, with the line of each "
        "directive and what could not be found. Use it before moving or changing a file others may include; "
        "who uses a name is told by find_references. "
        'Example: {"file_path": "top.cir", "recursive": true}'
    ),
    category="file",
    effect="read",
    arguments=DependenciesArguments,
    run=get_dependencies,
)
