"""The bridge as LangGraph's source of tokens: in a node, in a sub-graph, and stopped in mid-stream."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph

from domain.llm.answers import accept_calls, wire_calls_of
from domain.llm.chat import ProviderError, StreamChunk
from infrastructure.llm_adapters.chat_model import ClientChatModel
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.fakes.scripted_chat_client import ScriptedChatClient

DONE = StreamChunk(finish_reason="stop", model="m1")


QUESTION = {"question": "hello"}


class State(TypedDict, total=False):
    question: str
    answer: str


def graph_of(model: ClientChatModel, *, nested: bool) -> Any:
    """A graph whose one node (or the node of its sub-graph) asks the model."""

    async def ask(state: State) -> State:
        pieces = [chunk.content async for chunk in model.astream([HumanMessage(state["question"])])]
        return {"answer": "".join(map(str, pieces))}

    def around(node: Any) -> Any:
        graph = StateGraph(State)
        graph.add_node("agent", node)
        graph.add_edge(START, "agent")
        graph.add_edge("agent", END)
        return graph.compile()

    return around(around(ask)) if nested else around(ask)


async def tokens(graph: Any) -> list[tuple[str, str]]:
    """(kind, text) of everything that streams."""
    found = []
    async for _namespace, (message, _metadata) in graph.astream(
        QUESTION, stream_mode="messages", subgraphs=True
    ):
        if reasoning := message.additional_kwargs.get("reasoning_content"):
            found.append(("reasoning", reasoning))
        if message.content:
            found.append(("text", message.content))
    return found


@pytest.mark.parametrize("nested", [False, True])
async def test_tokens_come_out_of_the_graph(nested: bool) -> None:
    script = [StreamChunk(reasoning="hm"), StreamChunk(text="It is"), StreamChunk(text=" 1k."), DONE]
    model = ClientChatModel(client=ScriptedChatClient(script), merge_window_s=60)
    assert await tokens(graph_of(model, nested=nested)) == [("reasoning", "hm"), ("text", "It is 1k.")]


@pytest.mark.parametrize("nested", [False, True])
async def test_tokens_come_while_the_model_still_writes(nested: bool) -> None:
    more = asyncio.Event()
    client = ScriptedChatClient([StreamChunk(text="first"), more, StreamChunk(text=" second"), DONE])
    graph = graph_of(ClientChatModel(client=client), nested=nested)
    stream = graph.astream(QUESTION, stream_mode="messages", subgraphs=True)
    _, (message, _) = await anext(stream)
    assert (message.content, client.ended) == ("first", 0)
    more.set()
    assert [message.content async for _, (message, _) in stream if message.content] == [" second"]
    assert client.ended == 1


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("reads_on", [False, True])
async def test_a_stop_in_mid_stream_leaves_nothing(nested: bool, reads_on: bool) -> None:
    client = ScriptedChatClient([StreamChunk(text="first"), asyncio.Event(), DONE])
    graph = graph_of(ClientChatModel(client=client), nested=nested)
    shown = asyncio.Event()

    async def watch() -> None:
        stream = graph.astream(QUESTION, stream_mode="messages", subgraphs=True)
        async with aclosing(stream):
            async for _ in stream:
                shown.set()
                if not reads_on:
                    await asyncio.Event().wait()

    task = asyncio.create_task(watch())
    await shown.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert client.ended == 1
    assert len(asyncio.all_tasks()) == 1


async def test_an_error_comes_after_what_was_shown() -> None:
    with FakeLLMServer([answer("half an answer", drop=True)]) as server:
        client = OpenAICompatibleClient(base_url=server.base_url, model="m")
        graph = graph_of(ClientChatModel(client=client), nested=True)
        shown: list[str] = []

        async def watch() -> None:
            async for _, (message, _) in graph.astream(QUESTION, stream_mode="messages", subgraphs=True):
                shown.append(message.content)

        with pytest.raises(ProviderError):
            await watch()
        await client.close()
    assert "".join(shown) == "half an answer"


async def test_calls_of_a_server_arrive_as_sent() -> None:
    broken = '{"path": "amp.cir", "search": "R1'
    calls = [call("read_file", {"path": "放大器.cir"}, id="call_1"), call("patch_file", broken, id="call_1")]
    with FakeLLMServer([answer("I read.", reasoning="Which one?", calls=calls)]) as server:
        client = OpenAICompatibleClient(base_url=server.base_url, model="m")
        chunks = [chunk async for chunk in ClientChatModel(client=client).astream("read it")]
        await client.close()
    assert "".join(str(chunk.content) for chunk in chunks) == "I read."
    first, second = accept_calls(wire_calls_of(chunks[-1]), lambda: "01")
    assert (first.name, first.arguments, first.problem) == ("read_file", {"path": "放大器.cir"}, "")
    assert (second.name, second.text, "cut off" in second.problem) == ("patch_file", broken, True)
    assert chunks[-1].response_metadata["finish_reason"] == "tool_calls"
    assert chunks[-1].usage_metadata is not None
