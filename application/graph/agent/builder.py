"""The agent loop put together:  model -> tools -> model ... until an answer calls no tool.

A turn that was interrupted is taken up by starting it with the state its transcript tells: with calls
that have no result yet it begins at the tools.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from application.graph.agent.model_node import ModelNode
from application.graph.agent.state import AgentState
from application.graph.agent.tools_node import ToolsNode

CompiledAgent = CompiledStateGraph[AgentState, None, AgentState, AgentState]


def build_agent(model: ModelNode, tools: ToolsNode) -> CompiledAgent:
    """The compiled sub-graph; it saves its steps with the checkpointer of the graph it is a node of."""
    graph: StateGraph[AgentState, None, AgentState, AgentState] = StateGraph(AgentState)
    nodes: dict[str, Any] = {"model": model, "tools": tools}
    for name, node in nodes.items():
        # LangGraph asks whether the callable itself is a coroutine function; an instance is not.
        graph.add_node(name, node.__call__)
    graph.add_conditional_edges(START, _after_tools, ["tools", "model"])
    graph.add_conditional_edges("model", _after_model, ["tools", END])
    graph.add_conditional_edges("tools", _after_tools, ["tools", "model"])
    return graph.compile()


def _after_model(state: AgentState) -> str:
    return END if state.get("agent_ended") else "tools"


def _after_tools(state: AgentState) -> str:
    return "tools" if state.get("agent_pending") else "model"
