"""The client for servers that speak OpenAI's chat completions."""

from __future__ import annotations

from domain.llm.chat import ChatRequest
from infrastructure.llm_adapters.answer_reader import AnswerReader
from infrastructure.llm_adapters.openai_request import render_request
from infrastructure.llm_adapters.sse import BodyReader
from infrastructure.llm_adapters.wire_client import WireClient


class OpenAICompatibleClient(WireClient):
    """`base_url` goes up to, not including, ``/chat/completions``."""

    _chat_path = "/chat/completions"
    _list_path = "/models"

    def _root_of(self, base_url: str) -> str:
        return base_url.removesuffix(self._chat_path).rstrip("/")

    def _render(self, request: ChatRequest, model: str) -> bytes:
        return render_request(request, model, self._dialect)

    def _new_answer(self, known_tools: frozenset[str]) -> AnswerReader:
        return AnswerReader(self._peer, known_tools)

    def _new_reader(self, content_type: str) -> BodyReader:
        return BodyReader(content_type)
