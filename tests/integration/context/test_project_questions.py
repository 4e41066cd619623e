"""What of a project of 60 files goes with a question: the piece that answers it, and little besides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from application.app import Application
from application.conversation.project_context import project_context
from application.tool_execution.definition import ToolContext
from application.tool_execution.operations import Operations
from bootstrap import build
from domain.llm.context_block import LARGEST, context_budget
from domain.llm.tokens import count_tokens
from domain.search.query import terms_of
from domain.search.ranking import Passage, rank
from tests.fakes.sixty_files import UNRELATED, questions, write_project


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[ToolContext]:
    app: Application = build()
    await asyncio.to_thread(write_project, tmp_path)
    files = await asyncio.to_thread(app.conversations.inspect_context.projects.open, tmp_path, create=True)
    yield ToolContext(
        project=files,
        session_id="s",
        operations=Operations(log=files.operations, project=files),
        services=app.conversations.inspect_context.tools,
    )
    await asyncio.to_thread(files.close)
    await app.close()


async def text_for(context: ToolContext, words: str, budget: int = LARGEST) -> str:
    block = await project_context(context, words, main_circuit="preamp.cir", budget=budget, limit_s=30)
    return block.text


async def test_the_piece_that_answers_is_there_and_little_besides(asked: ToolContext) -> None:
    missed, largest = [], 0
    for words, answer in questions():
        text = await text_for(asked, words)
        largest = max(largest, count_tokens(text))
        if answer not in text:
            missed.append(words)
    # An 8k model has room for little else than what was asked for.
    few = [await text_for(asked, words, context_budget(8_192)) for words, _ in questions()[::2]]
    found = sum(answer in text for (_, answer), text in zip(questions()[::2], few, strict=True))
    print(f"{found} of {len(few)} at 8k, at most {max(map(count_tokens, few))} tokens")
    assert found >= len(few) * 3 // 4
    sizes = [count_tokens(await text_for(asked, words)) for words in UNRELATED]
    print(f"40 questions, at most {largest} tokens; without their answer: {missed}")
    print(f"{len(UNRELATED)} unrelated messages: {min(sizes)} to {max(sizes)} tokens")
    assert len(missed) <= 2, missed
    assert largest <= LARGEST
    assert max(sizes) <= 1500


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("How large is the source Iin in the divider?", "iin"),
        ("Who asked Hartmann about it?", "hartmann"),
        ("二极管混频器的电感 Lif 多大？", "lif"),
    ],
)
def test_words_that_are_none_of_the_language_are_names(words: str, name: str) -> None:
    assert any(term.is_name and term.spellings == (name,) for term in terms_of(words))
    assert not any(term.is_name for term in terms_of("What is the gain of the Filter?"))
    assert not any(term.is_name for term in terms_of("Which pin of the timer is the discharge?"))


@pytest.mark.parametrize(
    ("words", "circuit"),
    [
        ("What is the turns ratio of the flyback's transformer?", "sim/flyback.net"),
        ("How large is the inductor in the half bridge?", "halfbridge_v2.cir"),
        ("推挽变换器的滤波电感是多大？", "PushPull.cir"),
        ("Which load has the buck-boost?", "buckboost.net"),
        ("What does the current source experiment use?", "2_experiment.cir"),
        ("AD847 宏模型的输入电容是多少？", "ad847a.cir"),
        ("Which pin of the 3-phase rectifier is the ground?", "sim/three_phase.net"),
    ],
)
def test_a_circuit_that_is_named_is_meant(words: str, circuit: str) -> None:
    notes = Passage(
        source="notes.md", line=1, text="The transformer, its turns ratio, load and inductor: 电感"
    )
    netlist = Passage(source=circuit, line=1, text="V1 a 0 12\nR1 a 0 1k")
    other = Passage(source="boost.net", line=1, text="V1 a 0 12")
    found = rank([notes, netlist, other], terms_of(words), counts={}, total=3)
    assert [each.source for each in found if each.is_meant] == [circuit]


def test_the_unit_of_a_figure_is_nothing_that_is_asked_for() -> None:
    for words in ("把 filter.cir 的截止频率改到 12 kHz", "Move the corner of filter.cir to 12 kHz"):
        assert "khz" not in {spelling for term in terms_of(words) for spelling in term.spellings}, words
    assert terms_of("Which file speaks of kHz and V?")
