"""Design goals by one structured call: through each client, in the server's JSON mode or without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from application.workflow.goal_readers import read_goals
from domain.design.goal_extraction import GoalsRead
from domain.llm.chat import ProviderChoice
from infrastructure.llm_adapters.registry import ModelRegistry
from shared.message import Message
from tests.fakes.llm_protocols import (
    ollama_answer,
    ollama_error,
    openai_error,
    siliconflow_answer,
    zhipu_answer,
)
from tests.fakes.llm_protocols import zhipu_error as zhipu_refusal
from tests.fakes.llm_responses import responses_answer
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, Script, answer, json_answer

SYSTEM = "You turn a request into goals. The object has these entries: ..."
GOAL = {
    "metric": "cutoff",
    "expression": "bandwidth(v(out))",
    "target": 10000,
    "tolerance": 0.02,
    "unit": "Hz",
}
GOOD = json.dumps({"goals": [GOAL], "circuit_type": "low-pass"})
BAD = json.dumps({"goals": [{**GOAL, "expression": "cutoff(v(out))", "words": "corner at 10 kHz"}]})
MODELS = {
    "zhipu": "glm-4.7",
    "siliconflow": "Qwen/Qwen3-8B",
    "ollama": "qwen3:4b",
    "deepseek": "deepseek-chat",
    "openai": "gpt-5-mini",
    "openai-compatible": "some-model",
}
ANSWERS = {
    "zhipu": zhipu_answer,
    "siliconflow": siliconflow_answer,
    "ollama": ollama_answer,
    "openai": responses_answer,
}
REFUSALS = {
    "zhipu": zhipu_refusal("1210", "API 调用参数有误：response_format", 400),
    "siliconflow": json_answer(
        {"code": 20024, "message": "Json mode is not supported for this model.", "data": None}, 400
    ),
    "ollama": ollama_error(400, "invalid format: expected a JSON schema"),
    "openai": openai_error("Unsupported parameter: 'text.format' is not supported with this model."),
    "deepseek": openai_error("This response_format type is unavailable now"),
    "openai-compatible": openai_error("'response_format.type' must be 'json_schema' or 'text'"),
}


def json_wanted(body: Any) -> bool:
    """Whether a request switches on the server's JSON mode, in the field of its protocol."""
    kinds = (body.get("response_format"), body.get("text", {}).get("format"), body.get("format"))
    return {"type": "json_object"} in kinds or "json" in kinds


async def asked(provider: str, *scripts: Script) -> tuple[GoalsRead, list[Any]]:
    """What is read from a server's answers, and the bodies it was sent."""
    side = OllamaSide(capabilities=("completion", "tools", "thinking"))
    with FakeLLMServer([*scripts], models=[MODELS[provider]], ollama=side) as server:
        base_url = server.root_url if provider == "ollama" else server.base_url
        choice = ProviderChoice(provider=provider, model=MODELS[provider], base_url=base_url)
        async with ModelRegistry(environment={}).open(choice) as model:

            async def ask(messages: Sequence[BaseMessage]) -> str:
                chunks = [chunk async for chunk in model.bind(json_mode=True).astream([*messages])]
                return "".join(str(chunk.content) for chunk in chunks)

            found = await read_goals(ask, system=SYSTEM, text="A low-pass, corner at 10 kHz")
        return found, server.requests


@pytest.mark.parametrize("provider", MODELS)
async def test_a_wrong_goal_is_put_right_in_one_more_call(provider: str) -> None:
    said = ANSWERS.get(provider, answer)
    found, bodies = await asked(provider, said(BAD), said(GOOD))
    assert found.problems == ()
    assert [(goal.expression, goal.minimum, goal.maximum) for goal in found.goals] == [
        ("bandwidth(v(out))", 9800, 10200)
    ]
    assert [json_wanted(body) for body in bodies] == [True, True]
    assert "Send the whole JSON object again" in json.dumps(bodies[1])


@pytest.mark.parametrize("provider", MODELS)
async def test_a_server_without_json_mode_is_asked_without_it(provider: str) -> None:
    said = ANSWERS.get(provider, answer)
    found, bodies = await asked(provider, REFUSALS[provider], said(f"Sure:\n```json\n{GOOD}\n```"))
    assert [goal.metric for goal in found.goals] == ["cutoff"]
    assert [json_wanted(body) for body in bodies] == [True, False]


SENTENCES = {
    "nonsense twice": (["#%$ {", "[[["], (), "No goals could be read"),
    "prose twice": (["Hello!", "Hello again! What shall it do?"], (), "Hello again! What shall it do?"),
    "a greeting": (['{"goals": [], "reply": "Hi! Which circuit?"}'], (), "Hi! Which circuit?"),
    "nothing twice": (["", ""], (), "No goals could be read"),
    "worse the second time": ([json.dumps({"goals": [GOAL, {"metric": "x"}]}), "no"], ("cutoff",), "x"),
    "dropped the second time": (
        [json.dumps({"goals": [GOAL, {"metric": "thd", "expression": "bad(", "words": "clean"}]}), GOOD],
        ("cutoff",),
        "clean",
    ),
    "only a question": (['{"goals": [], "questions": ["Which supply?"]}'], (), ""),
}


@pytest.mark.parametrize("name", SENTENCES)
async def test_there_is_always_something_to_go_on_with(name: str) -> None:
    answers, metrics, reply = SENTENCES[name]
    left = list(answers)

    async def ask(_messages: Sequence[BaseMessage]) -> str:
        return left.pop(0)

    found = await read_goals(ask, system=SYSTEM, text="hello")
    assert left == []
    assert tuple(goal.metric for goal in found.goals) == metrics
    assert reply in str(found.reply)
    assert bool(found.reply) == bool(reply)
    is_ours = name.startswith(("nonsense", "nothing", "worse", "dropped"))
    assert isinstance(found.reply, Message) == is_ours
