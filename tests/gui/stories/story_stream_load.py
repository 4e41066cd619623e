"""While a model streams 500 tokens a second and simulations run, the loop is never held over 50 ms.

In the real window on a real screen, with the web view and with the plain one. What the watchdog counts
is explained in `loop_watchdog.py`: time that this thread used or waited, not the time in which it was
ready and the machine gave its cores to others. The server is a process of its own, like ngspice.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from application.project.window_state import ProjectMemory, WindowState
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import AnswerText
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.web_view import WebConversation
from tests.gui.stories.person import Person, program
from tests.gui.stories.token_stream import LAST_WORDS, TOKENS_PER_S, token_stream

REASONING_S, ANSWER_S = 0.6, 2.4
CIRCUIT = """* RC low-pass, many points
V1 in 0 AC 1 SIN(0 1 1k)
R1 in out 1k
C1 out 0 100n
.ac dec 500 1 100meg
.tran 0.2u 40m
.end
"""


class NoWebView:
    """A machine without a web view."""

    async def works(self) -> bool:
        return False


@pytest.fixture
def circuit(tmp_path: Path) -> Path:
    folder = tmp_path / "load"
    folder.mkdir()
    (folder / "filter.cir").write_text(CIRCUIT)
    return folder


@pytest.mark.timeout(180)
@pytest.mark.parametrize("view", ["web", "plain"])
async def test_a_fast_stream_beside_a_simulation_never_holds_the_loop(
    view, circuit, hand, loop_watchdog, monkeypatch, chromium
):
    if view == "plain":
        monkeypatch.setattr("presentation.panels.conversation.panel.WebProbe", NoWebView)
    state = WindowState(
        language="en", theme="light", geometry=(0, 0, 1440, 900), last_project=circuit
    ).with_memory(circuit, ProjectMemory(main_circuit="filter.cir"))
    with token_stream(reasoning_s=REASONING_S, answer_s=ANSWER_S) as base_url:
        async with program(hand, circuit, state=state) as person:
            kind = WebConversation if view == "web" else PlainConversation
            await person.sees("the view", lambda: isinstance(person.panel.view, kind))
            choice = ProviderChoice(provider="openai-compatible", model="fake", base_url=base_url)
            person.panel.model.set_choice(choice)
            await once(person, "explain briefly")  # what is imported at its first use is imported
            async with loop_watchdog.watching():
                await once(person, "explain")
                await person.sees_in_conversation(LAST_WORDS)
            print(f"{view}: held at most {loop_watchdog.longest}")
            answer = person.items(AnswerText)[-1]
            assert answer.text.endswith(LAST_WORDS)
            assert len(answer.reasoning) >= REASONING_S * TOKENS_PER_S * 4 - 4


async def once(person: Person, question: str) -> None:
    """Ask; while the answer comes, run the circuit again and again."""
    finished: list[object] = []
    workspace = person.services.workspace
    began = time.monotonic()
    workspace.run_finished.connect(finished.append)
    try:
        await person.says(question)
        await person.sees("a running answer", lambda: person.panel.is_running)
        while person.panel.is_running:
            count = len(finished)
            workspace.run_requested.emit()
            await person.sees("the end of a run", lambda count=count: len(finished) > count)
            await person.sees("its curves", lambda: person.bottom.views.waveforms.traces)
    finally:
        workspace.run_finished.disconnect(finished.append)
    assert finished
    assert all(getattr(result, "ok", False) for result in finished), finished
    print(f"{len(finished)} runs in {time.monotonic() - began:.1f} s")
