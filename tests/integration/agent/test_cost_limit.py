"""What a conversation costs, and the limit in money: kept by known prices, refused where none is known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.chatting import ChatWithModel
from application.conversation.shown_session import ShownSession
from application.conversation.turn_deps import ChatRequest
from application.ports.events import TurnEnded
from bootstrap import build
from domain.llm.chat import ProviderChoice
from domain.llm.costs import Cost
from presentation.panels.conversation.items import Interrupted
from presentation.panels.conversation.stored import items_of
from shared.paths import user_home
from tests.fakes.llm_responses import responses_answer
from tests.fakes.llm_server import FakeLLMServer, Script, call, chunk

PRICES = {"openai gpt-5-mini": {"input": 100, "cached": 10, "output": 1000}}
ONE_ANSWER = ((90 - 64) * 100 + 64 * 10 + 37 * 1000) / 1e6
"""Of the fake server's usage, in USD."""
LIST = call("list_project_files", {})


async def say(
    server: FakeLLMServer,
    project: Path,
    *,
    session_id: str = "",
    max_cost: tuple[float, str] | None = None,
    **settings: Any,
) -> TurnEnded:
    """One turn by a program of its own, with these settings."""
    app = await asyncio.to_thread(_program, {"prices": PRICES, **settings})
    choice = ProviderChoice(provider="openai", model="gpt-5-mini", base_url=server.base_url)
    request = ChatRequest(
        project=project, text="Go.", session_id=session_id, choice=choice, max_cost=max_cost
    )
    try:
        return await app.conversations.chat(request, emit=lambda _event: None)
    finally:
        await app.close()


def _program(settings: Mapping[str, Any]) -> Application:
    user_home().mkdir(parents=True, exist_ok=True)
    (user_home() / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    app = build()
    assert isinstance(app.conversations.chat, ChatWithModel)  # made here, as it reads the settings
    return app


def session_of(project: Path) -> str:
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    return session.stem


async def shown_of(project: Path) -> ShownSession:
    app = await asyncio.to_thread(build)
    try:
        return await app.conversations.sessions.show(project, session_of(project))
    finally:
        await app.close()


async def test_a_conversation_ends_when_it_has_cost_what_it_may(tmp_path: Path) -> None:
    limit = {"agent": {"session_cost": 2.5 * ONE_ANSWER}}
    with FakeLLMServer(lambda _body: responses_answer(calls=[LIST])) as server:
        ended = await say(server, tmp_path, **limit)
        assert (ended.stop_reason, len(server.completions)) == ("limit", 3)
        assert ended.cost.amounts == ended.session_cost.amounts == {"USD": pytest.approx(3 * ONE_ANSWER)}
        assert "0.12 USD" in str(ended.note)
        ended = await say(server, tmp_path, session_id=session_of(tmp_path), **limit)
        assert (ended.stop_reason, len(server.completions)) == ("limit", 3)
        assert ended.cost == Cost()
        ended = await say(
            server, tmp_path, session_id=session_of(tmp_path), max_cost=(4.5 * ONE_ANSWER, "USD")
        )
        assert (ended.stop_reason, len(server.completions)) == ("limit", 5)
        assert ended.session_cost.amounts == {"USD": pytest.approx(5 * ONE_ANSWER)}


@pytest.mark.parametrize(
    ("prices", "max_cost", "words"),
    [({}, (5.0, "USD"), "is unknown"), (PRICES, (5.0, "CNY"), "is priced in USD")],
)
async def test_a_limit_that_can_not_be_kept_lets_nothing_out(
    prices: dict[str, Any], max_cost: tuple[float, str], words: str, tmp_path: Path
) -> None:
    with FakeLLMServer([responses_answer("Done.")]) as server:
        ended = await say(server, tmp_path, max_cost=max_cost, prices=prices)
        assert (ended.stop_reason, server.completions) == ("limit", [])
        assert words in str(ended.note)
        kept = await shown_of(tmp_path)
        (limit,) = kept.limits.values()
        assert (limit.stop_reason, limit.note) == ("limit", ended.note)
        told = items_of(kept, ())[-1]
        assert isinstance(told, Interrupted)
        assert (told.reason, told.note, told.can_continue) == ("limit", ended.note, True)
        ended = await say(server, tmp_path, session_id=session_of(tmp_path), prices=prices)
        assert ended.stop_reason == "completed"
        told = next(item for item in items_of(await shown_of(tmp_path), ()) if isinstance(item, Interrupted))
        assert not told.can_continue, "what was said since went on"
        assert ended.cost.unknown == (0 if prices else 1)


async def test_an_answer_without_a_count_of_tokens_has_no_known_cost(tmp_path: Path) -> None:
    uncounted = Script(pieces=(chunk({"content": "Hello"}), chunk({}, "stop")))
    with FakeLLMServer([uncounted]) as server:
        ended = await say(server, tmp_path)
    assert ended.cost == Cost(unknown=1)
    entry = {"index": 0, "id": "a", "function": {"name": LIST.name, "arguments": "{}"}}
    calling = Script(pieces=(chunk({"tool_calls": [entry]}), chunk({}, "tool_calls")))
    with FakeLLMServer(lambda _body: calling) as server:
        ended = await say(server, tmp_path, max_cost=(5.0, "USD"))
        assert (ended.stop_reason, len(server.completions)) == ("limit", 1)
    assert "how many tokens" in str(ended.note)


async def test_the_built_in_model_costs_nothing_under_any_limit(tmp_path: Path) -> None:
    app = build()
    chat = app.conversations.chat
    assert isinstance(chat, ChatWithModel)
    chat.deps = replace(chat.deps, limits=replace(chat.deps.limits, session_cost=0.01))
    request = ChatRequest(project=tmp_path, text="help", choice=ProviderChoice())
    try:
        ended = await chat(request, emit=lambda _event: None)
    finally:
        await app.close()
    assert (ended.stop_reason, ended.cost) == ("completed", Cost())
