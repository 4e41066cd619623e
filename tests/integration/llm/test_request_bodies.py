"""What each provider is sent, against recorded bodies: from the choice of a model down to the socket.

The bodies in `expected/` were written down once and checked against the providers' documentation
(infrastructure/llm_adapters/provider_facts.py names it). The fake server besides refuses what the real one
refuses.
"""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from PIL import Image

from domain.llm.chat import ProviderChoice
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.llm_adapters.registry import ModelRegistry
from tests.fakes.llm_protocols import ollama_answer, siliconflow_answer, strict, zhipu_answer
from tests.fakes.llm_responses import reasoning_item, responses_answer
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, Script, answer

EXPECTED = Path(__file__).with_name("expected")
ANSWERS = {
    "zhipu": zhipu_answer,
    "siliconflow": siliconflow_answer,
    "ollama": ollama_answer,
    "openai": responses_answer,
}
MODELS = {
    "zhipu": "glm-4.7",
    "siliconflow": "Qwen/Qwen3-8B",
    "ollama": "qwen3:4b",
    "deepseek": "deepseek-chat",
    "openai": "gpt-5-mini",
}
SCHEMA = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}
SYSTEM, QUESTION = SystemMessage("You design circuits."), HumanMessage("增益?")


def picture() -> str:
    out = io.BytesIO()
    Image.new("L", (2, 2), 255).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def round_of(number: int) -> list[BaseMessage]:
    call_id = f"call_{number}"
    call = {"name": "read_file", "args": {"path": f"{number}.cir"}, "id": call_id}
    items = [reasoning_item(number, f"hm {number}"), {"type": "function_call"}]
    extra = {"reasoning_content": f"hm {number}", "output_items": items}
    return [
        AIMessage("", tool_calls=[call], additional_kwargs=extra),
        ToolMessage(f"content {number}", tool_call_id=call_id, name="read_file"),
    ]


EARLIER = [*round_of(0), AIMessage("Done.", additional_kwargs={"reasoning_content": "done then"})]
SCENARIOS: dict[str, tuple[list[BaseMessage], dict[str, Any]]] = {
    "plain": ([SYSTEM, QUESTION], {"thinking": "off", "temperature": 0.2, "max_tokens": 500}),
    "thinking": ([SYSTEM, QUESTION], {"thinking": "high", "temperature": 0.2}),
    "tools two rounds": (
        [SYSTEM, QUESTION, *EARLIER, HumanMessage("And now?"), *round_of(1), *round_of(2)],
        {"tools": [SCHEMA]},
    ),
    "image": (
        [
            HumanMessage(
                [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture()}"}},
                ]
            )
        ],
        {},
    ),
    "json": ([SYSTEM, QUESTION], {"json_mode": True, "temperature": 0, "thinking": "off"}),
    "search": ([QUESTION], {"search": True}),
}


def server_for(provider: str) -> FakeLLMServer:
    script: Script = ANSWERS.get(provider, answer)("Yes.")
    ollama = OllamaSide(capabilities=("completion", "tools", "thinking", "vision"))
    return FakeLLMServer([strict(provider, script)], models=[MODELS[provider]], ollama=ollama)


def expected(provider: str, scenario: str) -> Any:
    text = (EXPECTED / f"{provider}.json").read_text(encoding="utf-8")
    return json.loads(text.replace("<PICTURE>", picture()))[scenario]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("provider", MODELS)
async def test_body(provider: str, scenario: str) -> None:
    messages, options = SCENARIOS[scenario]
    with server_for(provider) as server:
        base_url = server.root_url if provider == "ollama" else server.base_url
        choice = ProviderChoice(provider=provider, model=MODELS[provider], base_url=base_url)
        async with ModelRegistry(environment={}).open(choice) as model:
            if provider == "deepseek" and scenario == "image":
                with pytest.raises(Exception, match="cannot see pictures"):
                    await model.ainvoke(messages, **options)
                assert server.requests == []
                return
            told = await model.ainvoke(messages, **options)
        (body,) = server.requests
    assert told.content == "Yes."
    assert body == expected(provider, scenario)


def test_the_five_are_in_the_table() -> None:
    assert PROVIDERS.keys() >= MODELS.keys()
