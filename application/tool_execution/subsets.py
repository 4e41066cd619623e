"""Which tools a model has in which node of the workflow: by what they can do, so a new tool has its place.

free_work is a conversation, where the user may ask for anything. The other nodes have one task each: who
understands goals or judges results changes nothing, and nobody in a workflow deletes or moves files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from application.tool_execution.definition import Category, Tool
    from domain.llm.tools.result import EffectClass

WorkflowNode = Literal["free_work", "design_goals", "initial_design", "simulation", "analysis", "action"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Tools of these categories whose effect is one of these."""

    categories: frozenset[Category]
    effects: frozenset[EffectClass]
    without: frozenset[str] = frozenset()
    """Names of tools that would be right by their class but not for this node's task."""


_ALL: frozenset[Category] = frozenset({"file", "search", "simulation", "report"})
_MOVES = frozenset({"move_file", "rename_file"})
_STUDIES = frozenset(
    {"run_parametric_sweep", "run_monte_carlo", "run_pvt_analysis", "run_worst_case", "run_sensitivity",
     "optimize_parameters"}
)  # fmt: skip

SUBSETS: dict[WorkflowNode, Subset] = {
    "free_work": Subset(
        categories=_ALL,
        effects=frozenset({"read", "create", "change", "delete", "simulate", "outside"}),
    ),
    "design_goals": Subset(categories=frozenset({"file", "search"}), effects=frozenset({"read"})),
    "initial_design": Subset(
        categories=frozenset({"file", "search", "simulation"}),
        effects=frozenset({"read", "create", "change", "simulate"}),
        without=_MOVES | _STUDIES,
    ),
    "simulation": Subset(
        categories=frozenset({"simulation", "search"}), effects=frozenset({"read", "simulate"})
    ),
    "analysis": Subset(
        categories=_ALL,
        effects=frozenset({"read", "simulate", "create"}),
        without=frozenset({"create_folder"}),
    ),
    "action": Subset(
        categories=frozenset({"file", "search", "simulation"}),
        effects=frozenset({"read", "create", "change", "simulate"}),
        without=_MOVES,
    ),
}


def tools_of(node: WorkflowNode, tools: Iterable[Tool[Any]]) -> tuple[Tool[Any], ...]:
    """Those of `tools` a model has in this node, in the same order."""
    subset = SUBSETS[node]
    return tuple(
        tool
        for tool in tools
        if tool.category in subset.categories
        and tool.effect in subset.effects
        and tool.name not in subset.without
    )
