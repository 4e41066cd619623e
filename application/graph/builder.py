"""Nodes and edges put together.

design_goals -> confirm_goals -> initial_design -> simulation -> analysis -> user_checkpoint
                     |                                ^                        |
                     v                                └──────── action <───────┤
                  conclude <───────────────────────────────────────┴──────────┘
"""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from application.graph.edges import route_after_action, route_after_goals, route_by_user_intent
from application.graph.nodes.circuit import ActionNode, ConcludeNode, InitialDesignNode
from application.graph.nodes.design_goals import ConfirmGoalsNode, DesignGoalsNode
from application.graph.nodes.simulation import AnalysisNode, SimulationNode, UserCheckpointNode
from application.graph.state import GraphState
from application.measuring import MeasureResult
from application.ports import Designer, ProjectFiles
from application.simulating import RunSimulation

CompiledGraph = CompiledStateGraph[GraphState, None, GraphState, GraphState]


def build_graph(
    *,
    designer: Designer,
    project: ProjectFiles,
    simulate: RunSimulation,
    measure: MeasureResult,
    checkpointer: BaseCheckpointSaver[str],
) -> CompiledGraph:
    """The compiled workflow of one project."""
    graph: StateGraph[GraphState, None, GraphState, GraphState] = StateGraph(GraphState)
    nodes: dict[str, Any] = {
        "design_goals": DesignGoalsNode(designer),
        "confirm_goals": ConfirmGoalsNode(project),
        "initial_design": InitialDesignNode(designer, project),
        "simulation": SimulationNode(simulate, project),
        "analysis": AnalysisNode(measure),
        "user_checkpoint": UserCheckpointNode(),
        "action": ActionNode(designer, project),
        "conclude": ConcludeNode(project),
    }
    for name, node in nodes.items():
        # LangGraph asks whether the callable itself is a coroutine function; an instance is not.
        graph.add_node(name, node.__call__)
    graph.add_edge(START, "design_goals")
    graph.add_edge("design_goals", "confirm_goals")
    graph.add_conditional_edges("confirm_goals", route_after_goals, ["initial_design", "conclude"])
    graph.add_edge("initial_design", "simulation")
    graph.add_edge("simulation", "analysis")
    graph.add_edge("analysis", "user_checkpoint")
    graph.add_conditional_edges("user_checkpoint", route_by_user_intent, ["action", "conclude"])
    graph.add_conditional_edges("action", route_after_action, ["simulation", "conclude"])
    graph.add_edge("conclude", END)
    return graph.compile(checkpointer=checkpointer)
