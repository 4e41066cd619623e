"""Schemas that every server understands, and arguments that are checked with helpful words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from application.tool_execution.definition import BadArgumentsError, Tool
from application.tool_execution.executor import SUBSETS, ToolExecutor, tools_of
from application.tool_execution.mcp_form import result_to_mcp, tool_to_mcp
from application.tool_execution.registry import TOOLS, look_of
from domain.llm.tools.look import CardKind
from domain.llm.tools.result import ToolGroup, ToolResult, failure
from presentation.translation import Translator
from shared.message import msg
from tests.ground.cases import for_each

ICONS = Path(__file__).parents[3] / "resources" / "icons"
BY_NAME = {tool.name: tool for tool in TOOLS}
PLAIN_TYPES = {"string", "integer", "number", "boolean", "array", "object"}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from nodes(item)


EFFECTS = {
    "list_project_files": "read",
    "read_file": "read",
    "rewrite_file": "change",
    "patch_file": "change",
    "move_file": "change",
    "delete_file": "delete",
    "run_simulation": "simulate",
    "inspect_data": "read",
    "analyze_file": "read",
    "search_project": "read",
    "find_model": "read",
    "run_study": "simulate",
    "set_goals": "change",
    "check_goals": "read",
    "analyze_convergence": "change",
    "export_result": "create",
    "generate_design_report": "create",
    "web_search": "outside",
    "other_tool": "read",
}
"""Every tool of the contract with the worst it can do."""


def test_the_tools_of_the_contract_are_there_once_each() -> None:
    assert sorted(tool.name for tool in TOOLS) == sorted(EFFECTS)
    executor = ToolExecutor(TOOLS)
    assert {name: executor.effect_of(name) for name in executor.names} == EFFECTS
    assert executor.effect_of("nosuch") == "read"


def test_each_node_of_the_workflow_has_the_tools_of_its_task() -> None:
    given = {node: {tool.name for tool in tools_of(node, TOOLS)} for node in SUBSETS}
    assert given["free_work"] == set(BY_NAME)
    for node in ("design_goals", "simulation", "analysis"):
        assert {EFFECTS[name] for name in given[node]} <= {"read", "simulate", "create"}
    assert not any("delete_file" in names for node, names in given.items() if node != "free_work")
    assert {"read_file", "rewrite_file", "run_simulation"} <= given["initial_design"]
    assert {"patch_file", "run_simulation", "run_study", "inspect_data"} <= given["action"]
    assert {"inspect_data", "export_result", "run_study"} <= given["analysis"]
    assert "run_simulation" not in given["design_goals"]
    known = {group for tool in TOOLS for group in tool.groups}
    assert all(subset.without <= known for subset in SUBSETS.values())
    executor = ToolExecutor(TOOLS)
    named = {schema["function"]["name"] for schema in executor.schemas("design_goals")}
    assert named == given["design_goals"] - {"other_tool"}
    assert executor.schemas("design_goals", tool_set="none") == ()


@for_each("tool", TOOLS)
def test_every_tool_has_a_name_for_people_in_both_languages(tool: Tool[Any]) -> None:
    english, chinese = str(tool.title), Translator("zh")(tool.title)
    assert english
    assert "_" not in english
    assert re.search(r"[\u4e00-\u9fff]", chinese), chinese


@for_each("tool", TOOLS)
def test_every_tool_says_how_its_calls_are_shown(tool: Tool[Any]) -> None:
    look = look_of(tool.name)
    assert look is tool.look
    assert (ICONS / f"{look.icon}.svg").is_file()
    assert look.card in get_args(CardKind)
    assert tool.groups <= set(get_args(ToolGroup))
    for text in (look.running, look.done):
        assert str(text)[0].isupper()
        assert tool.name not in str(text)
        assert re.search(r"[\u4e00-\u9fff]", Translator("zh")(text))
    assert look.running != look.done
    assert not (look.writes and tool.effect in ("read", "simulate", "outside"))
    assert (look.card == "delete") == (tool.effect == "delete")
    assert look.card != "read" or tool.effect in ("read", "outside")


def test_a_tool_that_is_gone_is_named_in_stored_conversations() -> None:
    look = look_of("grep_everything")
    assert str(look.done) == "Ran grep_everything"
    assert (ICONS / f"{look.icon}.svg").is_file()
    assert look.card == "plain"


@for_each("tool", TOOLS)
def test_the_form_of_the_model_context_protocol(tool: Tool[Any]) -> None:
    form = tool_to_mcp(tool)
    assert set(form) == {"name", "title", "description", "inputSchema", "annotations"}
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", form["name"])
    assert form["inputSchema"] == tool.schema["function"]["parameters"]
    assert form["inputSchema"]["type"] == "object"
    hints = form["annotations"]
    assert hints["readOnlyHint"] == (EFFECTS[tool.name] == "read")
    assert hints["destructiveHint"] == (EFFECTS[tool.name] in ("change", "delete", "outside"))
    assert hints["openWorldHint"] == (EFFECTS[tool.name] == "outside")
    assert json.loads(json.dumps(form)) == form


def test_results_in_the_form_of_the_model_context_protocol() -> None:
    good = ToolResult(success=True, content="read", summary=msg("{text}", text="x"), result={"n": 1})
    assert result_to_mcp(good) == {
        "content": [{"type": "text", "text": "read"}],
        "structuredContent": {"success": True, "error_type": None, "n": 1},
        "isError": False,
    }
    bad = result_to_mcp(failure("no_circuit", msg("{text}", text="none")))
    assert bad["isError"]
    assert bad["structuredContent"]["error_type"] == "no_circuit"


@for_each("tool", TOOLS)
def test_schemas_are_plain(tool: Tool[Any]) -> None:
    schema = tool.schema
    assert set(schema) == {"type", "function"}
    function = schema["function"]
    assert set(function) == {"name", "description", "parameters"}
    assert json.loads(json.dumps(schema)) == schema
    parameters = function["parameters"]
    assert parameters["type"] == "object"
    assert set(parameters["required"]) <= set(parameters["properties"])
    for name, node in parameters["properties"].items():
        assert node["type"] in PLAIN_TYPES, name
        assert len(node["description"]) > 10
    for node in nodes(parameters):
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "const", "nullable"} & set(node)
        assert not {"ge", "gt", "le", "lt"} & set(node)  # pydantic's words for minimum and maximum
        assert node.get("default", "") is not None
        assert node.get("type") != "array" or node["items"]["type"] in PLAIN_TYPES


@for_each("tool", TOOLS)
def test_descriptions_tell_when_to_use_which_and_their_examples_are_valid(tool: Tool[Any]) -> None:
    text, _, example = tool.description.partition("Example: ")
    assert len(text) > 40
    tool.read_arguments(json.loads(example))


@for_each(
    ("name", "required"),
    [
        ("list_project_files", []),
        ("read_file", ["path"]),
        ("rewrite_file", ["path", "content"]),
        ("patch_file", ["path", "search", "replace"]),
        ("run_simulation", []),
        ("inspect_data", []),
        ("analyze_file", ["path"]),
        ("run_study", ["kind"]),
        ("search_project", ["query"]),
    ],
)
def test_required_arguments(name: str, required: list[str]) -> None:
    assert BY_NAME[name].schema["function"]["parameters"]["required"] == required


@for_each(
    ("name", "given", "field", "value"),
    [
        ("read_file", {"path": "a", "start_line": "5"}, "start_line", 5),
        ("read_file", {"path": "a", "start_line": 5.0}, "start_line", 5),
        ("read_file", {"path": "a", "start_line": None, "query": None}, "start_line", None),
        ("read_file", {"file_path": "a"}, "path", "a"),
        ("analyze_file", {"filename": "a"}, "path", "a"),
        ("move_file", {"source": "a", "destination": "b"}, "path", "a"),
        ("patch_file", {"file": "a", "old_string": "x", "new_string": "y"}, "search", "x"),
        ("patch_file", {"path": "a", "search": "x", "replace": "y", "fuzzy": "True"}, "fuzzy", True),
        ("patch_file", {"path": "a", "search": "x", "replace": "y"}, "occurrence", None),
        ("inspect_data", {"expressions": "max(v(out))"}, "expressions", ["max(v(out))"]),
        ("inspect_data", {"expressions": '["a", "b"]'}, "expressions", ["a", "b"]),
        ("run_simulation", {"parameters": {"R1": 2200}}, "parameters", {"R1": "2200"}),
        ("run_simulation", {"parameters": '{"R1": 2.2e3}'}, "parameters", {"R1": "2200.0"}),
        ("run_simulation", {"timeout_s": "5"}, "timeout_s", 5.0),
    ],
)
def test_what_has_one_meaning_is_understood(name: str, given: dict, field: str, value: object) -> None:
    assert getattr(BY_NAME[name].read_arguments(given), field) == value


@for_each(
    ("name", "given", "words"),
    [
        ("read_file", {}, ["path is missing"]),
        ("read_file", {"path": "a", "file_path": "b"}, ["file_path is not an argument of read_file"]),
        ("read_file", {"path": "a", "startline": 3}, ["did you mean start_line?"]),
        ("read_file", {"path": "a", "start_line": "x"}, ["start_line should be a whole number, got x"]),
        ("read_file", {"path": "a", "start_line": 0}, ["greater than or equal to 1, got 0"]),
        ("read_file", {"path": 7}, ["path should be a text, got 7"]),
        ("run_simulation", {"analysis_type": "acc"}, ["'ac'", "got acc"]),
        ("inspect_data", {"options": {"point": 3}}, ["options.point is not an argument"]),
        ("read_file", {"path": "a", "start_line": 10**40}, ["start_line", "a huge number"]),
    ],
)
def test_refusals_name_the_argument_and_what_is_allowed(name: str, given: dict, words: list[str]) -> None:
    with pytest.raises(BadArgumentsError) as caught:
        BY_NAME[name].read_arguments(given)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 1000
