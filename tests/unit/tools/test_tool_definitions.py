"""Schemas that every server understands, and arguments that are checked with helpful words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from application.tool_execution.definition import BadArgumentsError, Tool
from application.tool_execution.executor import ToolExecutor
from application.tool_execution.registry import TOOLS

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


def test_the_tools_of_the_contract_are_there_once_each() -> None:
    assert [tool.name for tool in TOOLS] == [
        "list_project_files",
        "read_file",
        "rewrite_file",
        "patch_file",
        "run_simulation",
        "run_parametric_sweep",
        "run_monte_carlo",
        "run_pvt_analysis",
        "run_worst_case",
        "run_sensitivity",
        "optimize_parameters",
        "analyze_convergence",
        "inspect_data",
        "analyze_file",
        "find_references",
        "search_project",
    ]
    executor = ToolExecutor(TOOLS)
    assert executor.names == set(BY_NAME)
    assert {tool.name: executor.effect_of(tool.name) for tool in TOOLS if tool.effect != "read"} == {
        "rewrite_file": "change",
        "patch_file": "change",
        "run_simulation": "simulate",
        "run_parametric_sweep": "simulate",
        "run_monte_carlo": "simulate",
        "run_pvt_analysis": "simulate",
        "run_worst_case": "simulate",
        "run_sensitivity": "simulate",
        "optimize_parameters": "simulate",
    }
    assert executor.effect_of("nosuch") == "read"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_plain(tool: Tool[Any]) -> None:
    schema = tool.schema
    assert set(schema) == {"type", "function"}
    function = schema["function"]
    assert set(function) == {"name", "description", "parameters"}
    assert json.loads(json.dumps(schema)) == schema
    parameters = function["parameters"]
    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert set(parameters["required"]) <= set(parameters["properties"])
    for name, node in parameters["properties"].items():
        assert node["type"] in PLAIN_TYPES, name
        assert len(node["description"]) > 10
    for node in nodes(parameters):
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title", "const", "nullable"} & set(node)
        assert not {"ge", "gt", "le", "lt"} & set(node)  # pydantic's words for minimum and maximum
        assert node.get("default", "") is not None
        assert node.get("type") != "array" or node["items"]["type"] in PLAIN_TYPES


def test_limits_of_optional_arguments_are_in_the_words_of_json_schema() -> None:
    line = BY_NAME["read_file"].schema["function"]["parameters"]["properties"]["start_line"]
    assert (line["type"], line["minimum"]) == ("integer", 1)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_descriptions_tell_when_to_use_which_and_their_examples_are_valid(tool: Tool[Any]) -> None:
    text, _, example = tool.description.partition("Example: ")
    assert len(text) > 80
    tool.read_arguments(json.loads(example))


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("list_project_files", []),
        ("read_file", ["path"]),
        ("rewrite_file", ["path", "content"]),
        ("patch_file", ["path", "search", "replace"]),
        ("run_simulation", []),
        ("inspect_data", []),
        ("analyze_file", ["file_path"]),
        ("find_references", ["symbol_name"]),
        ("search_project", ["query"]),
    ],
)
def test_required_arguments(name: str, required: list[str]) -> None:
    assert BY_NAME[name].schema["function"]["parameters"]["required"] == required


@pytest.mark.parametrize(
    ("name", "given", "field", "value"),
    [
        ("read_file", {"path": "a", "start_line": "5"}, "start_line", 5),
        ("read_file", {"path": "a", "start_line": 5.0}, "start_line", 5),
        ("read_file", {"path": "a", "start_line": None, "query": None}, "start_line", None),
        ("read_file", {"path": "a", "max_tokens": None}, "max_tokens", 2000),
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


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("read_file", {}, ["path is missing"]),
        (
            "read_file",
            {"file_path": "a"},
            ["file_path is not an argument of read_file", "did you mean path?"],
        ),
        ("analyze_file", {"path": "a"}, ["did you mean file_path?", "file_path is missing"]),
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
