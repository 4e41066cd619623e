"""Each edge of the design's graph has a test that goes along it, and docs/workflow.md names it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import StateGraph

from application.workflow import builder
from tests.integration.design.walks import edge

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "workflow.md"


def _edges(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those on which something is decided, in the order of the graph."""
    found: list[str] = []

    class Listed(StateGraph):
        def add_conditional_edges(self, source: str, path: Any, path_map: Any = None, **more: Any) -> Any:
            found.extend(edge(source, target) for target in path_map)
            return super().add_conditional_edges(source, path, path_map, **more)

    monkeypatch.setattr(builder, "StateGraph", Listed)
    builder.compiled_workflow.__wrapped__()
    return found


def _walks() -> Iterator[tuple[str, str]]:
    """Edge and test, of each mark."""
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(f"tests.integration.design.{path.stem}")
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
                cases = mark.args[1] if mark.name == "parametrize" else ()
                for each in (mark, *(inner for case in cases for inner in getattr(case, "marks", ()))):
                    if each.name == "walks":
                        yield from ((walked, f"`{path.stem}`: {name}") for walked in each.args)


def test_each_edge_has_its_walk_and_the_page_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tests: dict[str, str] = {}
    for walked, test in _walks():
        tests.setdefault(walked, test)
    edges = _edges(monkeypatch)
    assert set(edges) == set(tests), f"without a walk, or no edge: {set(edges) ^ set(tests)}"
    table = "\n".join(f"| {each} | {tests[each]} |" for each in edges)
    assert table in PAGE.read_text("utf-8"), f"the table of docs/workflow.md is to be:\n{table}"
