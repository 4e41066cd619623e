"""The tools there are."""

from __future__ import annotations

from typing import Any

from application.tool_execution.definition import Tool
from application.tool_execution.tools.circuits import ANALYZE_FILE, FIND_REFERENCES
from application.tool_execution.tools.convergence import ANALYZE_CONVERGENCE
from application.tool_execution.tools.edits import PATCH_FILE, REWRITE_FILE
from application.tool_execution.tools.exports import EXPORT_WAVEFORM_DATA, GENERATE_CHART
from application.tool_execution.tools.file_facts import GET_DEPENDENCIES, GET_FILE_SUMMARY
from application.tool_execution.tools.files import LIST_PROJECT_FILES, READ_FILE
from application.tool_execution.tools.goals import CHECK_GOALS, SET_GOALS
from application.tool_execution.tools.inspection import INSPECT_DATA
from application.tool_execution.tools.moves import CREATE_FOLDER, DELETE_FILE, MOVE_FILE, RENAME_FILE
from application.tool_execution.tools.optimization import OPTIMIZE_PARAMETERS
from application.tool_execution.tools.search import SEARCH_EXACT, SEARCH_PROJECT
from application.tool_execution.tools.simulation import RUN_SIMULATION
from application.tool_execution.tools.studies import (
    RUN_MONTE_CARLO,
    RUN_PARAMETRIC_SWEEP,
    RUN_PVT_ANALYSIS,
    RUN_SENSITIVITY,
    RUN_WORST_CASE,
)
from application.tool_execution.tools.web import WEB_SEARCH_TOOL
from domain.llm.tools.look import ToolLook, unknown_look

TOOLS: tuple[Tool[Any], ...] = (
    LIST_PROJECT_FILES,
    READ_FILE,
    REWRITE_FILE,
    PATCH_FILE,
    CREATE_FOLDER,
    MOVE_FILE,
    RENAME_FILE,
    DELETE_FILE,
    RUN_SIMULATION,
    SET_GOALS,
    CHECK_GOALS,
    RUN_PARAMETRIC_SWEEP,
    RUN_MONTE_CARLO,
    RUN_PVT_ANALYSIS,
    RUN_WORST_CASE,
    RUN_SENSITIVITY,
    OPTIMIZE_PARAMETERS,
    ANALYZE_CONVERGENCE,
    INSPECT_DATA,
    GENERATE_CHART,
    EXPORT_WAVEFORM_DATA,
    ANALYZE_FILE,
    GET_FILE_SUMMARY,
    GET_DEPENDENCIES,
    FIND_REFERENCES,
    SEARCH_PROJECT,
    SEARCH_EXACT,
    WEB_SEARCH_TOOL,
)
"""In the order in which they are shown to a model."""


def look_of(name: str) -> ToolLook:
    """How calls of a tool are shown, also of one that does not exist any more."""
    return next((tool.look for tool in TOOLS if tool.name == name), None) or unknown_look(name)
