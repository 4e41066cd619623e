"""Nodes and edges put together.

START -> design_goals -> confirm_goals -> initial_design -> simulation -> analysis -> user_checkpoint
user_checkpoint -> action -> simulation ...                       another round
user_checkpoint -> action -> user_checkpoint                      nothing was changed, a question was answered
user_checkpoint -> undo_round -> restore -> user_checkpoint | END the last round taken back
user_checkpoint -> go_back -> restore -> user_checkpoint          an earlier round put back
confirm_goals | user_checkpoint -> conclude -> END
                            conclude -> restore -> END            the best round put back
                            conclude -> user_checkpoint           accepted, but somebody changed it since
confirm_goals -> simulation                                       the circuit there is, as round 0
analysis -> action                                                behind it: a finished design is refined
design_goals -> END                                               no design was asked for

In `initial_design` and `action` the chosen model works with the project's tools (`model_steps.py`), be it the
built-in designer or a language model. `write_circuit` is a step of designs that an earlier version began.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from application.graph.runtime import CompiledGraph, carried
from application.graph.state import GraphState
from application.ports.project import ProjectFiles
from application.ports.tracing import Span
from application.simulation.measuring import MeasureResult
from application.simulation.simulating import RunSimulation
from application.tool_execution.operations import Operations
from application.workflow.edges import (
    route_after_action,
    route_after_analysis,
    route_after_design,
    route_after_goals,
    route_after_request,
    route_by_user_intent,
    route_to_restoring,
)
from application.workflow.goal_readers import Understand
from application.workflow.journal import DesignJournal
from application.workflow.nodes._effects import DesignNode, recorded, traced
from application.workflow.nodes.circuit import refuse_former_plan
from application.workflow.nodes.design_goals import ConfirmGoalsNode, DesignGoalsNode, GoalNotes
from application.workflow.nodes.model import ActionNode, InitialDesignNode, Steps
from application.workflow.nodes.restoring import (
    ConcludeNode,
    GoBackNode,
    RestoreNode,
    Restoring,
    UndoRoundNode,
)
from application.workflow.nodes.simulation import AnalysisNode, SimulationNode, UserCheckpointNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """What the nodes of a design work with."""

    understand: Understand
    steps: Steps
    """Of the chosen model."""
    explains: bool
    """Whether it says something of each round."""
    project: ProjectFiles
    operations: Operations
    simulate: RunSimulation
    measure: MeasureResult
    journal: DesignJournal
    span: Span
    """Of the whole design; each step is one inside it."""
    main_circuit: Callable[[], str]
    """That of the window now, relative to the project; "" for none."""


STEPS = "__design_steps"
"""Where the run of a design carries its `steps_of`."""

_NODES = (
    "design_goals", "confirm_goals", "initial_design", "write_circuit", "simulation", "analysis",
    "user_checkpoint", "undo_round", "go_back", "restore", "action", "conclude",
)  # fmt: skip


def steps_of(workflow: Workflow) -> dict[str, Callable[[GraphState], Awaitable[GraphState]]]:
    """The steps of one design by the names of their nodes."""
    return {
        name: traced(name, recorded(node, workflow.journal), workflow.span)
        for name, node in _workflow_nodes(workflow).items()
    }


@cache
def compiled_workflow() -> CompiledGraph:
    """The graph of a design; its nodes are those that the run carries."""
    graph: StateGraph[GraphState, None, GraphState, GraphState] = StateGraph(GraphState)
    for name in _NODES:
        graph.add_node(name, _step(name))
    graph.add_edge(START, "design_goals")
    graph.add_conditional_edges("design_goals", route_after_request, ["confirm_goals", END])
    graph.add_conditional_edges(
        "confirm_goals", route_after_goals, ["initial_design", "simulation", "action", "conclude"]
    )
    graph.add_conditional_edges(
        "initial_design", route_after_design, ["write_circuit", "simulation", "analysis"]
    )
    graph.add_edge("write_circuit", "simulation")
    graph.add_edge("simulation", "analysis")
    graph.add_conditional_edges("analysis", route_after_analysis, ["user_checkpoint", "action"])
    graph.add_conditional_edges(
        "user_checkpoint",
        route_by_user_intent,
        ["action", "undo_round", "go_back", "simulation", "analysis", "conclude"],
    )
    graph.add_conditional_edges("undo_round", route_to_restoring, ["restore", "user_checkpoint", END])
    graph.add_conditional_edges("go_back", route_to_restoring, ["restore", "user_checkpoint"])
    graph.add_conditional_edges("conclude", route_to_restoring, ["restore", "user_checkpoint", END])
    graph.add_conditional_edges("restore", route_to_restoring, ["user_checkpoint", END])
    graph.add_conditional_edges(
        "action", route_after_action, ["write_circuit", "simulation", "user_checkpoint"]
    )
    return graph.compile()


def _step(name: str) -> Any:
    async def run(state: GraphState, config: RunnableConfig) -> GraphState:
        found: GraphState = await carried(config, STEPS)[name](state)
        return found

    return run


def _workflow_nodes(parts: Workflow) -> dict[str, DesignNode]:
    operations, project = parts.operations, parts.project
    notes = GoalNotes(simulate=parts.simulate, project=project)
    restoring = Restoring(operations, project, parts.main_circuit)
    return {
        "design_goals": DesignGoalsNode(parts.understand, notes),
        "confirm_goals": ConfirmGoalsNode(notes),
        "initial_design": InitialDesignNode(parts.steps, project),
        "write_circuit": refuse_former_plan,
        "simulation": SimulationNode(parts.simulate, operations, project),
        "analysis": AnalysisNode(
            parts.measure,
            project,
            parts.journal,
            parts.steps if parts.explains else None,
            main_circuit=parts.main_circuit,
        ),
        "user_checkpoint": UserCheckpointNode(parts.simulate, operations, project, parts.journal),
        "undo_round": UndoRoundNode(restoring, parts.journal),
        "go_back": GoBackNode(restoring, parts.journal),
        "restore": RestoreNode(restoring),
        "action": ActionNode(parts.steps, operations, project, parts.journal),
        "conclude": ConcludeNode(restoring),
    }
