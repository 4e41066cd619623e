"""The mark of a test that goes along edges of the design's graph; `test_edges_walked.py` wants one each."""

from __future__ import annotations

import pytest


def edge(source: str, target: str) -> str:
    """As an edge is called in marks and in docs/workflow.md."""
    return f"{source} → {target.strip('_')}"


def walks(*edges: str) -> pytest.MarkDecorator:
    """The test goes along these edges, or fails (`conftest.edges_walked`)."""
    return pytest.mark.walks(*edges)
