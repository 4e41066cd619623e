"""Nodes and edges put together.

START -> design_goals -> confirm_goals -> initial_design -> write_circuit -> simulation -> analysis
analysis -> user_checkpoint -> action -> write_circuit ...        another round
user_checkpoint -> undo_round -> user_checkpoint | END            the last round taken back
user_checkpoint -> action -> user_checkpoint                      nothing is left to change
confirm_goals | user_checkpoint -> conclude -> END
                                            conclude -> write_circuit -> END        the best round put back
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph

from application.graph.runtime import CompiledGraph
from application.graph.state import GraphState
from application.ports.conversation import Designer
from application.ports.project import ProjectFiles
from application.ports.tracing import Span
from application.simulation.measuring import MeasureResult
from application.simulation.simulating import RunSimulation
from application.tool_execution.operations import Operations
from application.workflow.edges import (
    route_after_action,
    route_after_conclude,
    route_after_goals,
    route_after_undo,
    route_after_write,
    route_by_user_intent,
)
from application.workflow.journal import DesignJournal
from application.workflow.nodes._effects import DesignNode, recorded, traced
from application.workflow.nodes.circuit import ActionNode, ConcludeNode, InitialDesignNode, WriteCircuitNode
from application.workflow.nodes.design_goals import ConfirmGoalsNode, DesignGoalsNode
from application.workflow.nodes.simulation import AnalysisNode, SimulationNode, UserCheckpointNode
from application.workflow.nodes.undo import UndoRoundNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """What the nodes of a design work with."""

    designer: Designer
    project: ProjectFiles
    operations: Operations
    simulate: RunSimulation
    measure: MeasureResult
    journal: DesignJournal
    span: Span
    """Of the whole design; each step is one inside it."""


def build_workflow(workflow: Workflow, checkpointer: BaseCheckpointSaver[str]) -> CompiledGraph:
    """The compiled graph of one design."""
    graph: StateGraph[GraphState, None, GraphState, GraphState] = StateGraph(GraphState)
    for name, node in _workflow_nodes(workflow).items():
        step = traced(name, recorded(node, workflow.journal), workflow.span)
        graph.add_node(name, cast("Any", step))
    graph.add_edge(START, "design_goals")
    graph.add_edge("design_goals", "confirm_goals")
    graph.add_conditional_edges("confirm_goals", route_after_goals, ["initial_design", "conclude"])
    graph.add_edge("initial_design", "write_circuit")
    graph.add_conditional_edges("write_circuit", route_after_write, ["simulation", END])
    graph.add_edge("simulation", "analysis")
    graph.add_edge("analysis", "user_checkpoint")
    graph.add_conditional_edges("user_checkpoint", route_by_user_intent, ["action", "undo_round", "conclude"])
    graph.add_conditional_edges("undo_round", route_after_undo, ["user_checkpoint", END])
    graph.add_conditional_edges("action", route_after_action, ["write_circuit", "user_checkpoint"])
    graph.add_conditional_edges("conclude", route_after_conclude, ["write_circuit", END])
    return graph.compile(checkpointer=checkpointer)


def _workflow_nodes(parts: Workflow) -> dict[str, DesignNode]:
    designer, project, operations = parts.designer, parts.project, parts.operations
    return {
        "design_goals": DesignGoalsNode(designer),
        "confirm_goals": ConfirmGoalsNode(designer),
        "initial_design": InitialDesignNode(designer, project),
        "write_circuit": WriteCircuitNode(operations, project),
        "simulation": SimulationNode(parts.simulate, operations, project),
        "analysis": AnalysisNode(parts.measure, project),
        "user_checkpoint": UserCheckpointNode(designer),
        "undo_round": UndoRoundNode(operations, project),
        "action": ActionNode(designer, operations, project),
        "conclude": ConcludeNode(operations, project),
    }
