"""Whose work a circuit is that a design finds when it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from application.workflow.nodes.circuit import is_ours
from tests.ground.cases import for_each


@for_each(
    ("path", "state", "found", "answer"),
    [
        ("amp.cir", "done", "after", True),
        ("amp.cir", "intent", "after", True),  # killed behind the file, before its record
        ("amp.cir", "intent", "before", False),
        ("amp.cir", "abandoned", "after", False),
        ("other.cir", "done", "after", False),
    ],
)
def test_what_an_operation_wrote_is_ours(path: str, state: str, found: str, answer: bool) -> None:
    async def of_session(*, session_id: str) -> Sequence[Any]:
        return [SimpleNamespace(path=path, state=state, after_sha256="after")] if session_id == "s" else []

    operations: Any = SimpleNamespace(list=of_session)
    asked: Any = {"session_id": "s", "circuit_file_path": "amp.cir", "netlist_sha256": "older"}
    assert asyncio.run(is_ours(operations, asked, "amp.cir", found)) is answer
    assert asyncio.run(is_ours(operations, asked, "amp.cir", "older")) is True
