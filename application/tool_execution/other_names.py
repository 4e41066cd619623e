"""Tools under the names that models call them by: of other agents, of earlier versions, through `other_tool`.

A call is put under its tool's own name before it is judged, run and kept, so nothing else knows of this.
By `other_tool` a model with little room also reaches those tools that it is not shown.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from application.tool_execution.definition import Arguments, Tool, ToolContext
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from shared.message import msg

_Arguments = dict[str, Any]
_Rule = tuple[str, Callable[[_Arguments], _Arguments]]

OTHER_TOOL = "other_tool"
"""The tool by which a model calls those that it is not shown."""


def _same(given: _Arguments) -> _Arguments:
    return given


def _with(**fixed: object) -> Callable[[_Arguments], _Arguments]:
    return lambda given: {**fixed, **given}


def _study(kind: str, **renamed: str) -> Callable[[_Arguments], _Arguments]:
    """A study of this kind, where arguments had other names."""
    names = {"target_metrics": "measure", "fixed_values": "set", **renamed}
    gone = ("nested_levels", "sweep_range", "generate_report")

    def read(given: _Arguments) -> _Arguments:
        kept = {names.get(name, name): value for name, value in given.items() if name not in gone}
        if {"voltages", "temperatures"} & given.keys():
            axes = {"process": "corners", "voltage": "voltages", "temp": "temperatures"}
            corners = {axis: given[name] for axis, name in axes.items() if given.get(name)}
            kept = {name: value for name, value in kept.items() if name not in axes.values()}
            kept["corners"] = corners
        if isinstance(given.get("sweep_range"), dict) and isinstance(kept.get("parameters"), list):
            kept["parameters"] = [
                item if {"values", "value", "min", "max"} & item.keys() else {**given["sweep_range"], **item}
                for item in kept["parameters"]
            ]
        return {"kind": kind, **kept}

    return read


def _renamed(given: _Arguments) -> _Arguments:
    name, path = given.get("new_name"), given.get("path") or given.get("file_path") or ""
    if not isinstance(name, str) or not isinstance(path, str):
        return given
    return {"path": path, "destination": posixpath.join(posixpath.dirname(path), name)}


def _chart(given: _Arguments) -> _Arguments:
    names = {"path": "to", "data_source": "path", "chart_types": "analyses"}
    if given.get("iteration") is not None and "data_source" not in given:
        given = {**given, "data_source": f"run {given['iteration']}"}
        del given["iteration"]
    return {names.get(name, name): value for name, value in given.items()}


def _table(given: _Arguments) -> _Arguments:
    names = {"path": "to", "data_source": "path", "analysis_type": "analyses"}
    return {"format": "csv", **{names.get(name, name): value for name, value in given.items()}}


def _uses(given: _Arguments) -> _Arguments:
    names = {"symbol_name": "query", "definition_file": "path"}
    kept = {names.get(name, name): value for name, value in given.items() if name != "include_definition"}
    return {"kind": "uses", **kept}


def _part(given: _Arguments) -> _Arguments:
    """What a component was asked for by: its name or kind first, then what it has to have."""
    own = {name: value for name, value in given.items() if name in ("length", "path", "width", "vds")}
    said = [value for name, value in given.items() if name not in own]
    return {**own, "query": " ".join(word for value in said for word in _words_of(value))[:200]}


def _words_of(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name} {word}" for name, each in value.items() for word in _words_of(each)]
    if isinstance(value, list | tuple):
        return [word for each in value for word in _words_of(each)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _only_the_file(given: _Arguments) -> _Arguments:
    return {name: value for name, value in given.items() if name not in ("max_tokens", "recursive")}


def _editor(given: _Arguments) -> _Arguments:
    return {name: value for name, value in given.items() if name not in ("command", "replace_all")}


_RULES: Mapping[str, _Rule] = {
    # of earlier versions, whose calls stand in conversations
    "run_parametric_sweep": ("run_study", _study("sweep", sweep_params="parameters")),
    "run_monte_carlo": ("run_study", _study("monte_carlo", variation_config="parameters")),
    "run_pvt_analysis": ("run_study", _study("corners")),
    "run_worst_case": ("run_study", _study("worst_case", tolerance_config="parameters")),
    "run_sensitivity": ("run_study", _study("sensitivity", perturbation_ratio="perturbation")),
    "optimize_parameters": ("run_study", _study("optimize", budget="runs")),
    "rename_file": ("move_file", _renamed),
    "get_file_summary": ("analyze_file", _only_the_file),
    "get_dependencies": ("analyze_file", _only_the_file),
    "find_references": ("search_project", _uses),
    "search_exact": ("search_project", lambda given: {"kind": "content", **_kind_of_search(given)}),
    "generate_chart": ("export_result", _chart),
    "export_waveform_data": ("export_result", _table),
    # of the requirements: components and their models are found by one tool
    **dict.fromkeys(
        ("search_component", "get_component_detail", "get_spice_model", "recommend_component"),
        ("find_model", _part),
    ),
    "check_availability": ("find_model", lambda given: {**_part(given), "stock": True}),
    "analyze_bom": ("analyze_file", lambda given: {**_only_the_file(given), "bom": True}),
    # of other agents
    **dict.fromkeys(
        (
            "edit_file",
            "edit",
            "str_replace",
            "str_replace_editor",
            "replace_in_file",
            "apply_patch",
            "apply_diff",
        ),
        ("patch_file", _editor),
    ),
    **dict.fromkeys(
        ("write_file", "write_to_file", "create_file", "write", "save_file"), ("rewrite_file", _same)
    ),
    **dict.fromkeys(("view_file", "open_file", "cat", "read", "view"), ("read_file", _same)),
    **dict.fromkeys(("list_files", "list_dir", "list_directory", "ls"), ("list_project_files", _same)),
    **dict.fromkeys(("grep", "search", "search_files", "find"), ("search_project", _same)),
    **dict.fromkeys(
        ("simulate", "simulate_circuit", "run_circuit", "run_ngspice", "run_spice", "ngspice"),
        ("run_simulation", _same),
    ),
    **dict.fromkeys(("measure", "get_results", "get_measurements"), ("inspect_data", _same)),
    **dict.fromkeys(("remove_file", "rm"), ("delete_file", _same)),
    "mv": ("move_file", _same),
    "check_netlist": ("analyze_file", _same),
    "optimize": ("run_study", _with(kind="optimize")),
    "monte_carlo": ("run_study", _with(kind="monte_carlo")),
    "sweep": ("run_study", _with(kind="sweep")),
}

OTHER_NAMES = frozenset(_RULES)


def _kind_of_search(given: _Arguments) -> _Arguments:
    return {("kind" if name == "search_type" else name): value for name, value in given.items()}


def own_name(name: str) -> str:
    """The name of the tool that is meant; the same for one of no tool's."""
    return _RULES[name][0] if name in _RULES else name


def own_call(name: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool that is meant, with its arguments."""
    given = dict(arguments)
    if name == OTHER_TOOL and isinstance(given.get("arguments"), dict) and isinstance(given.get("name"), str):
        name, given = given["name"], given["arguments"]
    if name not in _RULES:
        return name, given
    own, read = _RULES[name]
    return own, read(given)


class OtherArguments(Arguments):
    """Arguments of other_tool."""

    name: str = Field(max_length=60, description="The tool's name.")
    arguments: dict[str, Any] | None = Field(None, description="Its arguments; omit them to be told.")


def other_tool(others: tuple[Tool[Any], ...]) -> Tool[OtherArguments]:
    """The tool that tells how `others` are called; a call with arguments is taken as one of that tool."""
    by_name = {tool.name: tool for tool in others}

    async def tell(arguments: OtherArguments, _context: ToolContext, _call: ToolCall) -> ToolResult:
        tool = by_name.get(own_name(arguments.name))
        if tool is None:
            return failure(
                "unknown_tool",
                msg("There is no tool named {name}.", name=arguments.name),
                suggestions=(msg("Available tools: {names}.", names=", ".join(by_name)),),
            )
        return ToolResult(
            success=True,
            content=json.dumps(tool.schema["function"], ensure_ascii=False),
            summary=msg("Looked up how {tool} is used.", tool=tool.name),
        )

    return Tool(
        name=OTHER_TOOL,
        title=msg("Another tool"),
        look=ToolLook(
            running=msg("Looking up a tool"), done=msg("Looked up a tool"), icon="list-tree", card="read"
        ),
        description=f"Call one of: {', '.join(by_name)}. Without arguments it tells what the tool takes. "
        'Example: {"name": "run_study"}',
        category="file",
        effect="read",
        arguments=OtherArguments,
        run=tell,
    )
