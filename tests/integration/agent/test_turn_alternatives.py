"""A model that fails before it has said anything: less is sent, another model is asked, or offered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.ports.events import AlternativeTaken, AnswerStreamed, ChatEvent, ErrorOccurred
from bootstrap import build
from domain.llm.chat import ProviderError
from shared.paths import SETTINGS_FILE, USER_HOME_VARIABLE
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.integration.agent.in_process import messages_of, turn

TOO_LONG = error(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded")
NO_MONEY = error(402, "Insufficient Balance")


def _set_up(home: Path, settings: object) -> Application:
    home.mkdir()
    (home / SETTINGS_FILE).write_text(json.dumps(settings))
    app = build(environment={USER_HOME_VARIABLE: str(home)})
    assert not app.program.warnings
    return app


@asynccontextmanager
async def application(home: Path, **settings: object) -> AsyncIterator[Application]:
    app = await asyncio.to_thread(_set_up, home, settings)
    try:
        yield app
    finally:
        await app.close()


def at(server: FakeLLMServer, model: str = "other") -> dict[str, str]:
    return {"provider": "openai-compatible", "model": model, "base_url": server.base_url}


def taken(events: list[ChatEvent]) -> list[AlternativeTaken]:
    return [event for event in events if isinstance(event, AlternativeTaken)]


def shape(request: dict[str, Any]) -> list[str]:
    return [message["role"] for message in request["messages"]]


async def test_too_long_a_conversation_is_sent_shorter_twice(tmp_path: Path) -> None:
    project = tmp_path / "p"
    with FakeLLMServer([answer(f"Answer {number}.") for number in range(8)]) as server:
        async with application(tmp_path / "home") as app:
            ended, events = await turn(app, server, project, "Question 0")
            session = next(event.session_id for event in events if hasattr(event, "session_id"))
            for number in range(1, 8):
                await turn(app, server, project, f"Question {number}", session_id=session)
            with FakeLLMServer([TOO_LONG, TOO_LONG, answer("Short.")]) as small:
                ended, events = await turn(app, small, project, "Last", session_id=session)
    assert ended.stop_reason == "completed"
    assert [event.kind for event in taken(events)] == ["context", "context"]
    whole, less, least = (shape(request) for request in small.requests)
    assert len(whole) == 18  # the system message, 16 messages and the question
    assert len(whole) > len(less) >= len(least)
    assert least[:2] == ["system", "user"]
    words = small.requests[2]["messages"][1]["content"]
    assert "left out" in words  # and what the user said in them stands there
    assert "Question 0" in words
    assert "Last" in small.requests[2]["messages"][-1]["content"]
    # Nothing was lost on this side.
    assert len(messages_of(project)) == 18


async def test_a_long_turn_keeps_its_question_and_whole_pairs(tmp_path: Path) -> None:
    project = tmp_path / "p"
    listing = [call("list_project_files", {}, id=f"c{number}") for number in range(3)]
    scripts = [answer(calls=listing) for _ in range(3)]
    async with application(tmp_path / "home") as app:
        with FakeLLMServer([*scripts, TOO_LONG, TOO_LONG, answer("Done."), answer("More.")]) as server:
            ended, events = await turn(app, server, project, "Look around.")
    assert ended.stop_reason == "completed"
    assert [event.kind for event in taken(events)] == ["context", "context"]
    for request in server.requests[4:]:
        calls = {one["id"] for message in request["messages"] for one in message.get("tool_calls") or ()}
        results = [message["tool_call_id"] for message in request["messages"] if message["role"] == "tool"]
        assert sorted(calls) == sorted(results)
        assert "Look around." in request["messages"][1]["content"]
    whole, less, least = (len(json.dumps(request["messages"])) for request in server.requests[3:6])
    assert whole > less >= least


async def test_what_is_too_long_by_itself_is_said(tmp_path: Path) -> None:
    async with application(tmp_path / "home") as app:
        with FakeLLMServer([TOO_LONG]) as server, pytest.raises(ProviderError) as caught:
            await turn(app, server, tmp_path / "p", "One question.")
    assert caught.value.error_type == "context_too_long"
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", [NO_MONEY, error(401, "bad key"), TOO_LONG], ids=["402", "401", "long"])
async def test_another_model_takes_over_by_itself(tmp_path: Path, script: Script) -> None:
    with FakeLLMServer([script]) as server, FakeLLMServer([answer("From the other.")]) as other:
        home = tmp_path / "home"
        rows = [{"provider": "zhipu", "model": "glm-4.6"}, at(other)]  # the first has no key here
        async with application(home, alternatives=rows, switch_automatically=True) as app:
            ended, events = await turn(app, server, tmp_path / "p")
    assert ended.stop_reason == "completed"
    (event,) = taken(events)
    assert (event.kind, event.provider, event.model) == ("model", "openai-compatible", "other")
    assert other.requests[0]["messages"] == server.requests[0]["messages"]
    last = messages_of(tmp_path / "p")[-1]
    assert "From the other." in json.dumps(last)


async def test_without_leave_another_model_is_only_offered(tmp_path: Path) -> None:
    with FakeLLMServer([NO_MONEY]) as server, FakeLLMServer([answer("no")]) as other:
        async with application(tmp_path / "home", alternatives=[at(other)]) as app:
            events: list[ChatEvent] = []
            with pytest.raises(ProviderError) as caught:
                await turn(app, server, tmp_path / "p", emit=events.append)
    assert not other.requests
    assert "openai-compatible other" in str(caught.value.advice)
    assert str(caught.value.advice).startswith("Top up the account")
    (told,) = [event for event in events if isinstance(event, ErrorOccurred)]
    assert told.advice == caught.value.advice
    assert [(offer.provider, offer.model) for offer in told.offers] == [("openai-compatible", "other")]
    # Kept for whoever opens the conversation again, the advice in its own words and parameters.
    kept = await app.conversations.sessions.show(tmp_path / "p", "last")
    (failure,) = kept.failures.values()
    assert (failure.message, failure.offers, failure.asked) == (told.message, told.offers, "m")
    assert str(failure.advice) == str(told.advice)


@pytest.mark.parametrize(
    "script",
    [answer("Half of", drop=True), error(400, "blocked", code="content_filter")],
    ids=["shown already", "content"],
)
async def test_what_another_model_cannot_mend_is_not_sent_there(tmp_path: Path, script: Script) -> None:
    with FakeLLMServer([script]) as server, FakeLLMServer([answer("no")]) as other:
        async with application(tmp_path / "home", alternatives=[at(other)], switch_automatically=True) as app:
            events: list[ChatEvent] = []
            with pytest.raises(ProviderError):
                await turn(app, server, tmp_path / "p", emit=events.append)
    assert not other.requests
    assert not taken(events)
    text = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    assert text in ("Half of", "")


async def test_what_is_on_this_computer_stays_on_it(tmp_path: Path) -> None:
    far = {"provider": "openai-compatible", "model": "m", "base_url": "http://192.0.2.1:9/v1"}
    with FakeLLMServer([NO_MONEY]) as server:
        async with application(tmp_path / "home", alternatives=[far], switch_automatically=True) as app:
            with pytest.raises(ProviderError) as caught:
                await turn(app, server, tmp_path / "p")
    assert caught.value.error_type == "no_balance"


async def test_the_state_of_services_is_there_for_the_window(tmp_path: Path) -> None:
    async with application(tmp_path / "home") as app:
        with FakeLLMServer([answer("ok")]) as server:
            await turn(app, server, tmp_path / "p")
        (report,) = app.models.providers.services()
    assert (report.provider, report.calls, report.state) == ("openai-compatible", 1, "closed")
    assert report.last_first_piece_s is not None


async def test_what_cannot_fit_is_not_sent_and_shortened_at_once(tmp_path: Path) -> None:
    project = tmp_path / "p"
    own = {"m": {"context_tokens": 40_000}}
    long = "gain and phase of the loop, " * 1200
    async with application(tmp_path / "home", models=own) as app:
        with FakeLLMServer([answer("One."), answer("Two."), answer("Three.")]) as server:
            _, events = await turn(app, server, project, long)
            session = next(event.session_id for event in events if hasattr(event, "session_id"))
            await turn(app, server, project, "Two?", session_id=session)
            small = "What does R1 do? " * 1000
            with pytest.raises(ProviderError) as caught:
                await turn(app, server, project, small * 10, session_id=session)
    assert caught.value.error_type == "context_too_long"
    assert "at most 40000 are accepted" in str(caught.value)
    assert len(server.requests) == 2


async def test_what_answers_tell_of_their_tokens_is_learned(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with application(home) as app:
        with FakeLLMServer(
            [answer("One.", usage={"prompt_tokens": 10_000, "completion_tokens": 2})]
        ) as server:
            await turn(app, server, tmp_path / "p")
    kept = json.loads(await asyncio.to_thread((home / "token_factors.json").read_text))
    assert kept["openai-compatible m"]["answers"] == 1
    counts = json.loads(await asyncio.to_thread((home / "services.json").read_text))
    assert [row["calls"] for row in counts.values()] == [1]
