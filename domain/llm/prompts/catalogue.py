"""The tasks a model is given: their names, titles, nodes and output formats, each in one table.

Names and tables follow the requirements' list of ten task templates and three output formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from shared.message import Message, msg

TaskName = Literal[
    "EXTRACT_DESIGN_GOALS",
    "INITIAL_DESIGN",
    "ANALYZE_SIMULATION",
    "OPTIMIZE_PARAMETERS",
    "FIX_ERROR",
    "EXECUTE_INSTRUCTION",
    "GENERAL_CONVERSATION",
    "SUMMARIZE_CONVERSATION",
    "INTENT_ANALYSIS",
    "FREE_WORK_SYSTEM",
]
FormatName = Literal["FORMAT_SPICE_OUTPUT", "FORMAT_JSON_OUTPUT", "FORMAT_ANALYSIS_OUTPUT"]

Wording = Literal["full", "small", "no_tools"]
"""For whom a text is worded: a model with room and tools; one with little room, or with its tools told in the
message; one that has none."""

TASKS: tuple[TaskName, ...] = get_args(TaskName)
FORMATS: tuple[FormatName, ...] = get_args(FormatName)

FORMAT_OF_TASK: Mapping[TaskName, FormatName] = {
    "EXTRACT_DESIGN_GOALS": "FORMAT_JSON_OUTPUT",
    "INTENT_ANALYSIS": "FORMAT_JSON_OUTPUT",
    "INITIAL_DESIGN": "FORMAT_SPICE_OUTPUT",
    "OPTIMIZE_PARAMETERS": "FORMAT_SPICE_OUTPUT",
    "FIX_ERROR": "FORMAT_SPICE_OUTPUT",
    "EXECUTE_INSTRUCTION": "FORMAT_SPICE_OUTPUT",
    "ANALYZE_SIMULATION": "FORMAT_ANALYSIS_OUTPUT",
}
"""The format that is added to a task's text; tasks that are not listed answer in plain prose."""

TASK_OF_NODE: Mapping[str, TaskName] = {
    "design_goals": "EXTRACT_DESIGN_GOALS",
    "initial_design": "INITIAL_DESIGN",
    "analysis": "ANALYZE_SIMULATION",
    "action/optimize_parameters": "OPTIMIZE_PARAMETERS",
    "action/fix_error": "FIX_ERROR",
    "action/execute_instruction": "EXECUTE_INSTRUCTION",
    "action/general_conversation": "GENERAL_CONVERSATION",
    "user_checkpoint/typed_text": "INTENT_ANALYSIS",
    "free_work": "FREE_WORK_SYSTEM",
    "summary": "SUMMARIZE_CONVERSATION",
}
"""Which task a step of the graph gives: the node, and for `action` what is done in it."""

TRUSTED_VARIABLES = frozenset(
    {
        "user_requirement",
        "user_instruction",
        "user_message",
        "user_preferences",
        "about_project",
        "user_language",
    }
)
"""The user's own words, and words of ours. Every other value is material from files and programs."""

_OF_A_ROUND = frozenset(
    {"netlist", "metrics", "failed_goals", "metric_history", "simulation_warnings", "iteration"}
)
CHANGING_VARIABLES: Mapping[TaskName, frozenset[str]] = {
    "ANALYZE_SIMULATION": _OF_A_ROUND,
    "OPTIMIZE_PARAMETERS": _OF_A_ROUND,
    "FIX_ERROR": _OF_A_ROUND | {"error_message", "error_log", "attempts"},
    "EXECUTE_INSTRUCTION": _OF_A_ROUND | {"user_instruction"},
    "GENERAL_CONVERSATION": _OF_A_ROUND | {"user_message", "context"},
    "INTENT_ANALYSIS": frozenset({"user_message", "checkpoint"}),
}
"""What is another in each step of a design: it goes into the newest message, so that what stands before the
conversation stays the same and providers need not read it again."""


def node_of(task: TaskName) -> str:
    """The step of the graph that gives a task."""
    return next(node for node, given in TASK_OF_NODE.items() if given == task)


def title_of(task: TaskName) -> Message:
    return _TITLES[task]


_TITLES: Mapping[TaskName, Message] = {
    "EXTRACT_DESIGN_GOALS": msg("Extract design goals"),
    "INITIAL_DESIGN": msg("Initial design"),
    "ANALYZE_SIMULATION": msg("Analyze simulation"),
    "OPTIMIZE_PARAMETERS": msg("Optimize parameters"),
    "FIX_ERROR": msg("Fix simulation error"),
    "EXECUTE_INSTRUCTION": msg("Carry out an instruction"),
    "GENERAL_CONVERSATION": msg("General conversation"),
    "SUMMARIZE_CONVERSATION": msg("Summarize conversation"),
    "INTENT_ANALYSIS": msg("Understand the intent"),
    "FREE_WORK_SYSTEM": msg("Free work, system"),
}
