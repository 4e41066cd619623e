"""500 turns of one conversation in the window: nothing is kept of a turn but its rows."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from presentation.panels.conversation.panel import ConversationPanel
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.gui.conftest import Until, flush_deletions
from tests.gui.test_conversation_panel import type_and_send, use
from tests.gui.test_conversation_tabs import panel

__all__ = ["panel"]
TURNS, WARM_UP = 500, 100
SETTLED = 5
"""Of ten looks at the memory: from there on the view keeps as many rows as it ever does."""
OURS = ("application.", "domain.", "infrastructure.", "presentation.", "shared.", "PyQt6.", "langgraph.")
OF_ROWS = {
    "UserText", "AnswerText", "OperationCard", "AnswerUse", "RequestFacts", "Usage", "Cost", "Message",
    "QTextFrame",
}  # fmt: skip
MOST_OF_ROWS = 5
"""A turn, of a kind of which rows are made."""
MOST_RESIDENT_KB = 40
"""A turn: 4 are its items; the rest is what Python's and C's heaps cannot give back, less from hundred to
hundred (15 to 21 were measured). 310 when each turn left all that it had read of the conversation to the
collector, 130 when the view kept the rows of each turn (23 kB a row)."""


def next_answer(body: dict[str, Any]) -> Script:
    last = body["messages"][-1]
    if "memory of a conversation" in str(body["messages"][0]["content"]):
        return answer("- Task: the corner of the filter.")
    if last["role"] != "tool" and "read" in str(last["content"]).splitlines()[-1]:
        return answer("", calls=[call("read_file", {"path": "filter.cir"})])
    return answer("The corner is at 1.59 kHz, so it holds. " * 10)


def kept() -> Counter[str]:
    """Objects by their kind."""
    flush_deletions()
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)


def resident_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_five_hundred_turns_keep_their_rows_and_nothing_else(
    panel: ConversationPanel,
    until: Until,
) -> None:
    tasks = panel._services.app.program.tasks
    before, warm, resident = Counter[str](), Counter[str](), []
    with FakeLLMServer(next_answer) as server:
        use(panel, server)
        for number in range(TURNS):
            type_and_send(panel, f"{'read' if number % 3 == 0 else 'say'} {number}")
            await until(lambda: panel.is_running)
            await until(lambda: not panel.is_running and not tasks.handles)
            server.forget()
            if number == 2:
                before = kept()
            if number == WARM_UP:
                warm = kept()
            if number % (TURNS // 10) == 0:
                resident.append(resident_kb())
        grown = kept()
        grown.subtract(warm)
        a_turn = {kind: count / (TURNS - WARM_UP - 1) for kind, count in grown.most_common()}
        print(f"resident each {TURNS // 10} turns: {resident} kB")
        print("a turn keeps", {kind: round(count, 2) for kind, count in a_turn.items() if count >= 0.05})
        settled = resident[SETTLED:]
        assert settled[-1] - settled[0] < MOST_RESIDENT_KB * (len(settled) - 1) * (TURNS // 10)
        for kind, count in a_turn.items():
            if kind.startswith(OURS):
                assert count <= (MOST_OF_ROWS if kind.rpartition(".")[2] in OF_ROWS else 0.05), (kind, count)
        panel.model.new_conversation()
        await until(lambda: not tasks.handles)
    left = kept()
    left.subtract(before)
    assert not {kind: count for kind, count in left.items() if kind.startswith(OURS) and count > 20}
