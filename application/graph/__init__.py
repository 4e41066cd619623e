"""LangGraph as the agent and the workflow run on it: the state and the runtime.

It takes about a second of CPU and of file reading to load: who enters loads what is named here in pieces
(`in_pieces(imported(AGENT))`), so that who ends meanwhile waits for one piece only.
"""

from __future__ import annotations

_LIBRARIES = (
    "pydantic",
    "pydantic.main",
    "pydantic.v1",
    "langsmith.schemas",
    "langsmith.types",
    "langsmith.run_trees",
    "langchain_core.callbacks",
    "langchain_core.tracers.event_stream",
    "langgraph.types",
    "httpx",
    "langgraph_sdk.schema",
    "langgraph.pregel",
    "langgraph.graph",
    "domain.llm.messages",
    "application.graph.runtime",
    "application.tool_execution.definition",
    "application.tool_execution.registry",
)

"""And before it what it imports: each a piece of a tenth of the whole at most."""
AGENT = (*_LIBRARIES, "application.agent.loop", "application.conversation.turn")
WORKFLOW = (*_LIBRARIES, "application.agent.loop", "application.workflow.builder")
