"""The agent loop put together:  model -> review -> confirm -> tools -> model ...

It ends with an answer that calls no tool.

`review` is left out when no call might have to be asked about, `confirm` when none has to. A turn that was
interrupted is taken up by starting it with the state its transcript tells: with calls that have no result
yet it begins at their review, so that a question that was not answered is asked again.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from application.agent.confirm_node import ConfirmNode, ReviewNode
from application.agent.model_node import ModelNode
from application.agent.state import AgentState
from application.agent.tools_node import ToolsNode

CompiledAgent = CompiledStateGraph[AgentState, None, AgentState, AgentState]


def build_agent(
    *, model: ModelNode, review: ReviewNode, confirm: ConfirmNode, tools: ToolsNode
) -> CompiledAgent:
    """The compiled sub-graph; it saves its steps with the checkpointer of the graph it is a node of."""

    async def next_step(state: AgentState) -> str:
        if state.get("agent_ended"):
            return END
        if not state.get("agent_pending"):
            return "model"
        return "review" if await review.is_needed(state) else "tools"

    graph: StateGraph[AgentState, None, AgentState, AgentState] = StateGraph(AgentState)
    nodes: dict[str, Any] = {"model": model, "review": review, "confirm": confirm, "tools": tools}
    for name, node in nodes.items():
        # LangGraph asks whether the callable itself is a coroutine function; an instance is not.
        graph.add_node(name, node.__call__)
    graph.add_conditional_edges(START, next_step, ["review", "tools", "model", END])
    graph.add_conditional_edges("model", next_step, ["review", "tools", "model", END])
    graph.add_conditional_edges("review", _after_review, ["confirm", "tools"])
    graph.add_edge("confirm", "tools")
    graph.add_conditional_edges("tools", _after_tools, ["tools", "model", END])
    return graph.compile()


def _after_review(state: AgentState) -> str:
    return "confirm" if state.get("agent_question") else "tools"


def _after_tools(state: AgentState) -> str:
    if state.get("agent_ended"):
        return END
    return "tools" if state.get("agent_pending") else "model"
