"""The tools there are."""

from __future__ import annotations

from typing import Any

from application.tool_execution.definition import Tool
from application.tool_execution.tools.circuits import ANALYZE_FILE, FIND_REFERENCES
from application.tool_execution.tools.edits import PATCH_FILE, REWRITE_FILE
from application.tool_execution.tools.files import LIST_PROJECT_FILES, READ_FILE
from application.tool_execution.tools.inspection import INSPECT_DATA
from application.tool_execution.tools.search import SEARCH_PROJECT
from application.tool_execution.tools.simulation import RUN_SIMULATION

TOOLS: tuple[Tool[Any], ...] = (
    LIST_PROJECT_FILES,
    READ_FILE,
    REWRITE_FILE,
    PATCH_FILE,
    RUN_SIMULATION,
    INSPECT_DATA,
    ANALYZE_FILE,
    FIND_REFERENCES,
    SEARCH_PROJECT,
)
"""In the order in which they are shown to a model."""
