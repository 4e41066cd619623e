"""Events of the wrong shape: whatever stands where, an answer or a ProviderError comes of it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from domain.llm.chat import ProviderError
from infrastructure.llm_adapters.answer_reader import AnswerReader
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.ollama import OllamaAnswer
from infrastructure.llm_adapters.responses import ResponsesAnswer
from infrastructure.llm_adapters.sse import Frame
from tests.fakes.llm_quirks import QUIRKS
from tests.fakes.llm_quirks_providers import PROVIDER_QUIRKS
from tests.fakes.llm_quirks_responses import RESPONSES_QUIRKS
from tests.ground.campaign import Campaign, campaigns

READERS = {"openai": AnswerReader, "ollama": OllamaAnswer, "responses": ResponsesAnswer}
PEER = Peer(server="s", provider="openai", key="k", is_loopback=True)
JUNK: tuple[Any, ...] = (
    None, True, -1, 1.5, 1e999, 10**400, "", "x", "\ud800", [], {}, [None], [[1]], {"a": 1}, [{}],
    {"type": "function_call"}, {"type": "message", "content": [{"text": "t", "annotations": 5}]},
)  # fmt: skip


def events_of(protocol: str) -> list[Any]:
    """What the known servers of a protocol send."""
    rows = {**QUIRKS, **PROVIDER_QUIRKS, **RESPONSES_QUIRKS}.values()
    found: list[Any] = []
    for piece in (piece for row in rows if row.protocol == protocol for piece in row.script.pieces):
        for line in piece.splitlines():
            try:
                found.append(json.loads(line.removeprefix(b"data:")))
            except ValueError:
                continue
    return [event for event in found if isinstance(event, dict)]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in an event with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from places(inner)


def mutated(rng: random.Random, event: Any) -> Any:
    event = copy.deepcopy(event)
    for _ in range(rng.randint(1, 3)):
        if found := list(places(event)):
            container, key = rng.choice(found)
            if isinstance(container, dict) and rng.random() < 0.2:
                del container[key]
            else:
                container[key] = copy.deepcopy(rng.choice(JUNK))
    return event


@campaigns(fast=300, whole=60_000)
def test_every_reader_survives_events_of_the_wrong_shape(campaign: Campaign) -> None:
    known = {protocol: events_of(protocol) for protocol in READERS}
    ends = 0
    for rng in campaign.cases():
        protocol = rng.choice(list(READERS))
        reader = READERS[protocol](PEER, frozenset({"run_sim"}))
        try:
            for _ in range(rng.randint(1, 6)):
                event = rng.choice(known[protocol])
                event = mutated(rng, event) if rng.random() < 0.7 else event
                for chunk in reader.take(Frame(data=json.dumps(event)), event):
                    assert isinstance(chunk.text + chunk.reasoning, str)
            *_, last = reader.finish()
        except ProviderError:
            continue
        ends += 1
        json.dumps([dict(item) for item in last.output_items])
        str(last.usage)
    assert campaign.only is not None or ends > campaign.count / 4
