"""The accumulator beyond what tests/fakes/llm_quirks.py has: shapes, names, cost, random interleavings."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from infrastructure.llm_adapters.tool_call_accumulator import ToolCallAccumulator
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

KNOWN = ("read", "read_file", "rewrite_file", "run_sim")


def calls_of(*entries: Any, known: tuple[str, ...] = KNOWN) -> list[tuple[str, str, str]]:
    accumulator = ToolCallAccumulator(known)
    for entry in entries:
        accumulator.add_delta({"tool_calls": entry if isinstance(entry, list) else [entry]})
    return [(call.provider_id, call.name, call.arguments) for call in accumulator.calls()]


def piece(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


@for_each(
    ("names", "expected"),
    [
        (["rewrite", "_file"], "rewrite_file"),
        (["re", "write", "_", "file"], "rewrite_file"),
        (["read", "_file"], "read"),  # the first piece is a tool itself
        (["fly", "_away"], "fly"),
        (["run_sim"] * 4, "run_sim"),
        (["fly"] * 4, "fly"),
        ([" run_sim "], "run_sim"),
        (["functions.run_sim"], "run_sim"),
        (["tools.default_api.run_sim"], "run_sim"),
        (["run_sim<|channel|>json"], "run_sim"),
        (["functions.fly"], "functions.fly"),
        (["xrun_sim"], "xrun_sim"),
    ],
)
def test_names(names: list[str], expected: str) -> None:
    entries = [piece(name, "", index=0, id="a") for name in names]
    assert calls_of(*entries, piece(None, "{}", index=0)) == [("a", expected, "{}")]


def test_without_known_tools_the_first_name_counts() -> None:
    assert calls_of(piece("f", "{", index=0), piece("f", "}", index=0), known=()) == [("", "f", "{}")]


@pytest.mark.parametrize("entries", [None, [], {}, "x", 3, [None, "x", 4]])
def test_odd_shapes_are_no_calls(entries: Any) -> None:
    accumulator = ToolCallAccumulator(KNOWN)
    assert not accumulator.add_delta({"tool_calls": entries, "function_call": None})
    assert accumulator.calls() == ()


@pytest.mark.parametrize("entry", [{}, {"index": 0}, {"function": None}, {"function": {}, "id": "a"}])
def test_a_call_of_which_nothing_came_is_none(entry: dict[str, Any]) -> None:
    assert calls_of([entry]) == []


def test_a_single_entry_without_its_list() -> None:
    accumulator = ToolCallAccumulator(KNOWN)
    assert accumulator.add_delta({"tool_calls": piece("run_sim", {"n": 1}, index=0, id=7)})
    (call,) = accumulator.calls()
    assert (call.provider_id, call.name, call.arguments) == ("7", "run_sim", '{"n": 1}')


def test_index_as_text() -> None:
    assert calls_of(piece("run_sim", "{", index="0"), piece(None, "}", index=0)) == [("", "run_sim", "{}")]


def test_an_index_that_comes_late() -> None:
    entries = (piece("run_sim", "", id="a"), piece(None, '{"n"', index=0), piece(None, ":1}", index=0))
    assert calls_of(*entries) == [("a", "run_sim", '{"n":1}')]


def test_an_id_that_comes_late() -> None:
    assert calls_of(piece("run_sim", "{", index=0), piece(None, "}", index=0, id="a")) == [
        ("a", "run_sim", "{}")
    ]


def test_same_index_and_pieces_addressed_by_id() -> None:
    assert calls_of(
        piece("run_sim", "", index=0, id="a"),
        piece("read", "", index=0, id="b"),
        piece(None, "[1]", index=0, id="a"),
        piece(None, "[2]", index=0, id="b"),
    ) == [("a", "run_sim", "[1]"), ("b", "read", "[2]")]


def test_an_object_inside_an_object_is_no_new_call() -> None:
    """A named piece that begins with a brace belongs to arguments that are not complete."""
    entries = [piece("run_sim", part, index=0, id="a") for part in ('{"a":', '{"b":1}', "}")]
    assert calls_of(*entries) == [("a", "run_sim", '{"a":{"b":1}}')]


def test_pieces_that_equal_all_before_them() -> None:
    entries = [piece("run_sim", '{"a":', index=0), piece(None, '{"a":', index=0), piece(None, "1}}", index=0)]
    assert calls_of(*entries) == [("", "run_sim", '{"a":{"a":1}}')]


def test_a_different_id_with_a_name_opens_a_call_even_of_the_same_tool() -> None:
    assert calls_of(
        piece("run_sim", '{"n":1}', index=0, id="a"),
        piece("run_sim", "", index=0, id="b"),
        piece(None, '{"n":1}', index=0),
    ) == [("a", "run_sim", '{"n":1}'), ("b", "run_sim", '{"n":1}')]


def test_complete_calls_of_a_message_never_merge() -> None:
    accumulator = ToolCallAccumulator(KNOWN)
    assert accumulator.add_message(
        {"tool_calls": [piece("read", {"a": 1}, id="x"), piece("read", {"a": 1}, id="x")]}
    )
    assert len(accumulator.calls()) == 2


def test_many_pieces_cost_no_more_than_their_length() -> None:
    """The name in each of 50 000 pieces, many of which end in a brace."""
    accumulator = ToolCallAccumulator(KNOWN)
    text = json.dumps({"content": "{}" * 50_000})
    for at in range(0, len(text), 2):
        entry = piece("rewrite_file", text[at : at + 2], index=0, id="a")
        accumulator.add_delta({"tool_calls": [entry]})
    (call,) = accumulator.calls()
    assert call.arguments == text


@campaigns(fast=300, whole=50_000)
def test_random_calls_in_random_pieces_and_order(campaign) -> None:
    for rng in campaign.cases():
        expected = [
            (
                f"call_{number}",
                rng.choice(KNOWN),
                json.dumps(
                    {"n": number, "deep": {"x": rng.choice(["{", "}", '{"n":1}', "增"])}}, ensure_ascii=False
                ),
            )
            for number in range(rng.randrange(1, 5))
        ]
        queues = [_pieces(rng, number, *call) for number, call in enumerate(expected)]
        deltas = []
        while any(queues):
            # Calls are opened in order; after that their pieces come in any order.
            fresh = next((queue for queue in queues if queue and "name" in queue[0]["function"]), None)
            started = [queue for queue in queues if queue and "name" not in queue[0]["function"]]
            queue = fresh if fresh and (not started or rng.random() < 0.4) else rng.choice(started)
            deltas.append(queue.pop(0))
        assert calls_of(*deltas) == expected, deltas


def _pieces(rng: Any, number: int, call_id: str, name: str, arguments: str) -> list[dict[str, Any]]:
    cuts = sorted(rng.randrange(len(arguments) + 1) for _ in range(rng.randrange(6)))
    edges = [0, *cuts, len(arguments)]
    by_index = rng.random() < 0.5
    address = {"index": number} if by_index else {"id": call_id}
    opening = {"id": call_id, "function": {"name": name, "arguments": ""}}
    rest = [{**address, "function": {"arguments": arguments[begin:end]}} for begin, end in pairwise(edges)]
    return [{**opening, "index": number} if by_index else opening, *rest]
