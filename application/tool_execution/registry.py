"""The tools there are."""

from __future__ import annotations

from typing import Any

from application.tool_execution.definition import Tool
from application.tool_execution.other_names import other_tool, own_name
from application.tool_execution.tools.circuits import ANALYZE_FILE
from application.tool_execution.tools.convergence import ANALYZE_CONVERGENCE
from application.tool_execution.tools.edits import PATCH_FILE, REWRITE_FILE
from application.tool_execution.tools.exports import EXPORT_RESULT
from application.tool_execution.tools.files import LIST_PROJECT_FILES, READ_FILE
from application.tool_execution.tools.goals import CHECK_GOALS, SET_GOALS
from application.tool_execution.tools.inspection import INSPECT_DATA
from application.tool_execution.tools.model_library import FIND_MODEL
from application.tool_execution.tools.moves import DELETE_FILE, MOVE_FILE
from application.tool_execution.tools.reports import GENERATE_DESIGN_REPORT
from application.tool_execution.tools.search import SEARCH_PROJECT
from application.tool_execution.tools.simulation import RUN_SIMULATION
from application.tool_execution.tools.studies import RUN_STUDY
from application.tool_execution.tools.web import WEB_SEARCH_TOOL
from domain.llm.tool_servers import is_of_server
from domain.llm.tools.look import ToolLook, server_look, unknown_look

_TOOLS: tuple[Tool[Any], ...] = (
    LIST_PROJECT_FILES,
    READ_FILE,
    REWRITE_FILE,
    PATCH_FILE,
    RUN_SIMULATION,
    INSPECT_DATA,
    ANALYZE_FILE,
    SEARCH_PROJECT,
    FIND_MODEL,
    RUN_STUDY,
    SET_GOALS,
    CHECK_GOALS,
    ANALYZE_CONVERGENCE,
    EXPORT_RESULT,
    GENERATE_DESIGN_REPORT,
    MOVE_FILE,
    DELETE_FILE,
    WEB_SEARCH_TOOL,
)
TOOLS: tuple[Tool[Any], ...] = (*_TOOLS, other_tool(_TOOLS))
"""In the order in which they are shown to a model."""


def look_of(name: str) -> ToolLook:
    """How calls of a tool are shown, also of one that does not exist any more."""
    if is_of_server(name):
        return server_look(name)
    own = own_name(name)
    return next((tool.look for tool in TOOLS if tool.name == own), None) or unknown_look(name)
