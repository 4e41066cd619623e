"""Search by meaning with a server of vectors on loopback: what it finds, what is sent, and every fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.search.searching import Answer, SearchProject
from domain.llm.chat import ProviderError
from domain.search.embedding import EmbeddingSettings
from domain.search.query import SearchQuery
from infrastructure.llm_adapters.embeddings import EmbeddingClient
from infrastructure.llm_adapters.timing import RetryPolicy
from infrastructure.search.project_index import SqliteProjectIndex
from shared.cpu_executor import CpuTaskExecutor
from tests.fakes.embedding_server import EmbeddingServer, Fault, vector_of

NOTES = {
    "docs/loop.md": "# Loop\n\nThe phase margin has to be above 60 degrees.\n",
    "docs/hiss.md": "# Input\n\nThe hiss of the first stage decides.\n",
    "power.cir": "power\n* battery of the board\nV1 vdd 0 9\n.end\n",
    "rows.csv": "phase margin,1\n",
}


class ThreadsInPlaceOfProcesses(CpuTaskExecutor):
    """Starting a worker process for each test would take longer than the test."""

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(function, *args, **kwargs)


async def _no_pause(_seconds: float) -> None:
    return None


class Desk:
    """A project and the searches in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cpu = ThreadsInPlaceOfProcesses()
        self.searches: list[SearchProject] = []

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def search(
        self, server: EmbeddingServer, *, model: str = "m", key: str = "", **settings: int
    ) -> SearchProject:
        chosen = EmbeddingSettings(
            provider="openai-compatible", model=model, base_url=server.base_url, **settings
        )
        made = SearchProject(
            index=SqliteProjectIndex,
            cpu=self.cpu,
            embedder=lambda: EmbeddingClient(
                chosen,
                environment={"CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY": key},
                retries=RetryPolicy(sleep=_no_pause),
            ),
        )
        self.searches.append(made)
        return made

    async def ask(self, search: SearchProject, text: str, **options: object) -> Answer:
        return await search(self.root, SearchQuery(text=text, **options))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    (tmp_path / ".circuit_ai").mkdir()
    made = Desk(tmp_path)
    made.write(NOTES)
    yield made
    for search in made.searches:
        await search.close()
    await made.cpu.shutdown()


async def test_finds_what_is_meant_and_sends_each_text_once(desk: Desk) -> None:
    desk.write({".circuitaiignore": "private/\n", "private/plan.md": "stability of the secret plan\n"})
    with EmbeddingServer() as server:
        search = desk.search(server, batch_size=2)
        answer = await desk.ask(search, "stability")
        assert answer.is_semantic_available
        assert answer.semantic[0].source == "docs/loop.md"
        assert answer.semantic[0].section == "Loop"
        assert answer.found.total == 0
        assert answer.fused[0] is answer.semantic[0]
        assert (await desk.ask(search, "电源", scope="code")).semantic[0].source == "power.cir"
        # Nothing that is ignored, nothing that is data, and nothing twice.
        assert not any("secret" in text or ",1" in text for text in server.texts)
        assert len(server.texts) == len(set(server.texts)) == 3 + 2
        assert max(len(request["input"]) for request in server.requests) == 2
        desk.write({"docs/loop.md": "# Loop\n\nIt oscillates.\n", "docs/hiss.md": NOTES["docs/hiss.md"]})
        assert (await desk.ask(search, "相位裕度")).semantic[0].text.endswith("It oscillates.")
        assert len(server.texts) == 5 + 2


async def test_a_line_found_both_ways_comes_first_and_once(desk: Desk) -> None:
    desk.write({"a.md": "noise is a word here\n", "b.md": "hiss\n"})
    with EmbeddingServer() as server:
        answer = await desk.ask(desk.search(server), "noise")
    assert (answer.fused[0].source, answer.fused[0].kind) == ("a.md", "exact")
    places = [(match.source, match.line) for match in answer.fused]
    assert len(places) == len(set(places))
    assert {"b.md", "docs/hiss.md"} <= {match.source for match in answer.fused[:4]}


async def test_another_model_or_dimension_means_all_is_embedded_anew(desk: Desk) -> None:
    with EmbeddingServer() as server:
        await desk.ask(desk.search(server), "stability")
        sent = len(server.texts)
        answer = await desk.ask(desk.search(server, model="other"), "stability")
        assert answer.is_semantic_available
        assert len(server.texts) == 2 * sent
        # The same name gives vectors of another length all at once.
        server.dimension = 12
        changed = desk.search(server, model="other")
        first = await desk.ask(changed, "battery")
        assert not first.is_semantic_available
        assert "changed" in str(first.semantic_note)
        second = await desk.ask(changed, "battery")
        assert second.is_semantic_available
        assert second.semantic[0].source == "power.cir"


def _answer(*vectors: Sequence[object]) -> bytes:
    return json.dumps({"data": [{"embedding": v, "index": i} for i, v in enumerate(vectors)]}).encode()


@pytest.mark.parametrize(
    ("faults", "word"),
    [
        ([401], "key"),
        ([429, 429, 429], "429"),
        ([500, 500, 500], "500"),
        (["drop", "drop", "drop"], ""),
        ([b"<html>no</html>"], "html"),
        ([b'{"error": {"message": "quota used up"}}'] * 3, "quota"),
        ([_answer([1.0, 2.0])], "1 vectors for"),
        ([_answer([1.0], [1.0, 2.0], [1.0])], "1, 2"),
        ([_answer([0.0], [1.0], [1.0])], "direction"),
        ([_answer(["x"], [1.0], [1.0])], "direction"),
        ([b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}, {"embedding": [1]}]}'], "direction"),
        ([b"[" * 100_000], ""),
    ],
)
async def test_a_server_that_fails_leaves_the_exact_results_and_is_told(
    desk: Desk, faults: list[Fault], word: str
) -> None:
    with EmbeddingServer(faults=faults) as server:
        search = desk.search(server)
        answer = await desk.ask(search, "margin")
        assert {match.source for match in answer.found.matches} == {"docs/loop.md", "rows.csv"}
        assert answer.fused == answer.found.matches
        assert not answer.is_semantic_available
        assert answer.semantic_note is not None
        assert word in str(answer.semantic_note).lower()
        # It recovers by itself.
        assert (await desk.ask(search, "margin")).is_semantic_available


@pytest.mark.parametrize("fault", [429, 503, "drop"])
async def test_passing_faults_are_tried_again(desk: Desk, fault: Fault) -> None:
    with EmbeddingServer(faults=[fault, fault]) as server:
        assert (await desk.ask(desk.search(server), "stability")).is_semantic_available


async def test_keys_are_sent_and_a_wrong_length_is_refused(desk: Desk) -> None:
    with EmbeddingServer(key="abcdef123") as server:
        assert not (await desk.ask(desk.search(server, key="wrong"), "margin")).is_semantic_available
        assert (await desk.ask(desk.search(server, key="abcdef123"), "margin")).is_semantic_available
        server.faults = [_answer(*[vector_of("x", 8)] * 3)]
        short = await desk.ask(desk.search(server, key="abcdef123", model="n", dimensions=16), "margin")
        assert "not 16" in str(short.semantic_note)


async def test_nobody_listening_and_no_settings(desk: Desk) -> None:
    with EmbeddingServer() as server:
        pass
    answer = await desk.ask(desk.search(server), "margin")
    assert answer.found.total == 2
    assert not answer.is_semantic_available
    plain = SearchProject(index=SqliteProjectIndex, cpu=desk.cpu)
    unset = await desk.ask(plain, "margin")
    assert "not set up" in str(unset.semantic_note)


async def test_the_background_embeds_all_and_a_broken_run_goes_on(desk: Desk) -> None:
    desk.write({f"n{i}.md": f"note {i} about noise\n" for i in range(20)})
    with EmbeddingServer(faults=[b"{}"]) as server:
        search = desk.search(server, batch_size=4)
        await search.refresh(desk.root)
        assert len(server.requests) == 1
        server.faults = []
        state = await search.refresh(desk.root)
        assert state.pending == ()
        sent = len(server.requests)
        await search.refresh(desk.root)
        assert len(server.requests) == sent


async def test_long_texts_are_cut_and_an_answer_is_waited_for_as_long_as_is_set() -> None:
    with EmbeddingServer() as server:
        settings = EmbeddingSettings(
            provider="openai-compatible", model="m", base_url=server.base_url, max_characters=100
        )
        patient, hasty = (
            EmbeddingClient(each, environment={}, retries=RetryPolicy(sleep=_no_pause))
            for each in (settings, replace(settings, timeout_s=1e-6))
        )
        await patient.embed(["hiss " * 100])
        assert [len(text) for text in server.texts] == [100]
        with pytest.raises(ProviderError) as caught:
            await hasty.embed(["hiss"])
        assert "1e-06" in str(caught.value.message.params)
        for client in (patient, hasty):
            await client.close()
