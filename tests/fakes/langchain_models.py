"""LangChain chat models as somebody else may write them; tests install this file under another name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import SecretStr

SEEN: list[list[BaseMessage]] = []
"""What every model of this module was asked, in order."""
OFFERED: list[list[dict[str, Any]]] = []
CLOSED: list[str] = []


class Refused(Exception):
    """As the clients of servers raise it."""

    status_code = 401
    body: ClassVar[dict[str, str]] = {"message": "sk-of-the-kiln is no key", "code": "invalid_api_key"}


class Kiln(BaseChatModel):
    """Streams; calls read_file first when it may, then answers."""

    model: str = "clay-1"
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    temperature: float | None = None
    max_retries: int = 2
    behaviour: str = "answer"
    calls: tuple[tuple[str, str], ...] = (("read_file", '{"path": "rc.cir"}'),)
    """Tool and arguments of each call of its first answer."""

    @property
    def _llm_type(self) -> str:
        return "kiln"

    def bind_tools(self, tools: Sequence[dict[str, Any]], **kwargs: Any) -> Any:
        OFFERED.append([*tools])
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        assert self.max_retries == 0, "the program tries again, not the class"
        SEEN.append(messages)
        if self.behaviour == "refuse":
            raise Refused("Error code: 401")
        while self.behaviour == "empty":
            yield _chunk(AIMessageChunk(""))
        if self.behaviour == "hang":
            try:
                yield _chunk(AIMessageChunk("Half of "))
                await asyncio.Event().wait()
            finally:
                CLOSED.append(self.model)
        if kwargs.get("tools") and messages[-1].type != "tool":
            for index, (tool, arguments) in enumerate(self.calls):
                begin = tool_call_chunk(name=tool, args=arguments[:9], id=f"c{index + 1}", index=index)
                yield _chunk(AIMessageChunk("", tool_call_chunks=[begin]))
                rest = tool_call_chunk(args=arguments[9:], index=index)
                yield _chunk(AIMessageChunk("", tool_call_chunks=[rest]))
            return
        yield _chunk(AIMessageChunk([{"type": "thinking", "thinking": "Is it baked?"}]))
        for text in ("It has ", "one ", "resistor."):
            yield _chunk(AIMessageChunk(text))
        yield _chunk(
            AIMessageChunk(
                "",
                usage_metadata={"input_tokens": 400, "output_tokens": 7, "total_tokens": 407},
                response_metadata={"stop_reason": "end_turn", "model_name": "clay-1-real"},
            )
        )


class Whole(BaseChatModel):
    """Neither streams nor takes tools; it writes calls as the system message told it to."""

    @property
    def _llm_type(self) -> str:
        return "whole"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        SEEN.append(messages)
        has_result = any("Result of read_file" in str(message.content) for message in messages)
        text = "One resistor." if has_result else '{"tool": "read_file", "arguments": {"path": "rc.cir"}}'
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)
