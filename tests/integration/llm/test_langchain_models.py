"""Any LangChain chat model as a provider, through the whole application: tools, stop, errors, consent."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import AnswerStreamed, ChatEvent, TurnEnded
from bootstrap import build
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.consent import ConsentAnswer, ConsentQuestion
from domain.llm.provider_settings import ModelSettings, ProviderSettings
from infrastructure.llm_adapters import langchain_client
from shared.errors import NeedsConfirmation, Stopped, UserInputError
from tests.fakes import langchain_models
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.integration.agent.in_process import messages_of

CHOICE = ProviderChoice(provider="langchain")
KILN = ProviderSettings(model_class="someones_kiln:Kiln")


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


@pytest.fixture
def someones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of models, installed under a name of its own."""
    place = tmp_path / "installed"
    place.mkdir()
    shutil.copy(langchain_models.__file__, place / "someones_kiln.py")
    monkeypatch.syspath_prepend(str(place))
    yield importlib.import_module("someones_kiln")
    sys.modules.pop("someones_kiln", None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "rc.cir").write_text("RC\nR1 in out 1k\nC1 out 0 1n\n.end\n")
    return folder


async def keep(app: Application, settings: ProviderSettings) -> None:
    providers = {"langchain": settings}
    await asyncio.to_thread(app.models.settings.change, lambda old: replace(old, providers=providers))


async def destination(app: Application) -> str:
    return await asyncio.to_thread(app.models.providers.destination, CHOICE)


async def agreed(_question: ConsentQuestion) -> ConsentAnswer:
    return "once"


async def say(
    app: Application, project: Path, *, choice: ProviderChoice = CHOICE, emit: Any = None
) -> tuple[TurnEnded, list[ChatEvent]]:
    events: list[ChatEvent] = []
    request = ChatRequest(project=project, text="How many resistors has rc.cir?", choice=choice)
    ended = await app.conversations.chat(request, emit=emit or events.append, ask_consent=agreed)
    return ended, events


async def test_it_streams_calls_tools_and_counts(app: Application, project: Path, someones: Any) -> None:
    await keep(app, replace(KILN, arguments={"temperature": 0.5}))
    ended, events = await say(app, project)
    assert ended.stop_reason == "completed"
    told = [event for event in events if isinstance(event, AnswerStreamed)]
    assert "".join(event.text for event in told) == "It has one resistor."
    last = messages_of(project)[-1]
    assert last["content"] == "It has one resistor."
    assert last["additional_kwargs"]["reasoning_content"] == "Is it baked?"
    assert "read_file" in {tool["function"]["name"] for tool in someones.OFFERED[0]}
    result = someones.SEEN[1][-1]
    assert (result.type, result.tool_call_id) == ("tool", "c1")
    assert "R1 in out 1k" in result.content
    (service,) = app.models.providers.services()
    assert (service.provider, service.server, service.calls) == ("langchain", KILN.model_class, 2)
    counts = (await asyncio.to_thread(app.models.providers.service_counts))["langchain someones_kiln:Kiln"]
    assert counts["prompt_tokens"] == 400


async def test_one_without_tools_or_stream_writes_its_calls(
    app: Application, project: Path, someones: Any
) -> None:
    await keep(app, ProviderSettings(model_class="someones_kiln.Whole"))
    ended, _ = await say(app, project)
    assert ended.stop_reason == "completed"
    assert [message["type"] for message in messages_of(project)][-2:] == ["tool", "assistant"]
    assert messages_of(project)[-1]["content"] == "One resistor."


async def test_a_stop_ends_the_class_at_once_and_keeps_what_came(
    app: Application, project: Path, someones: Any
) -> None:
    await keep(app, replace(KILN, model="slow", arguments={"behaviour": "hang"}))
    begun = asyncio.Event()

    def emit(event: ChatEvent) -> None:
        if isinstance(event, AnswerStreamed):
            begun.set()

    task = asyncio.create_task(say(app, project, emit=emit))
    async with asyncio.timeout(20):
        await begun.wait()
        task.cancel("user")
        with pytest.raises((asyncio.CancelledError, Stopped)):
            await task
    assert someones.CLOSED == ["slow"]
    assert messages_of(project)[-1]["content"] == "Half of "


async def test_pieces_without_end_and_without_words_end(
    app: Application, project: Path, someones: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(langchain_client, "MOST_EMPTY_LINES", 500)
    await keep(app, replace(KILN, arguments={"behaviour": "empty"}))
    with pytest.raises(ProviderError) as caught:
        await say(app, project)
    assert "500 lines without any part of an answer" in str(caught.value)


async def test_what_it_raises_becomes_our_error_without_the_key(
    app: Application, project: Path, someones: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIRCUIT_AI_LANGCHAIN_API_KEY", "sk-of-the-kiln")
    await keep(app, replace(KILN, arguments={"behaviour": "refuse"}))
    with pytest.raises(ProviderError) as caught:
        await say(app, project)
    assert caught.value.kind == "auth"
    assert "sk-of-the-kiln" not in str(caught.value)
    assert len(someones.SEEN) == 1


@pytest.mark.parametrize(
    ("settings", "error_type", "words"),
    [
        (ProviderSettings(), "no_model_class", "No LangChain class"),
        (ProviderSettings(model_class="os;evil"), "no_model_class", "os;evil"),
        (ProviderSettings(model_class="not_there_at_all:Chat"), "langchain_missing", "not_there_at_all"),
        (ProviderSettings(model_class="json:JSONDecoder"), "bad_model_class", "not a LangChain chat model"),
        (replace(KILN, arguments={"api_key": "sk-1"}), "bad_model_arguments", "api_key"),
        (replace(KILN, arguments={"base_url": "http://x"}), "bad_model_arguments", "base_url"),
        (replace(KILN, arguments={"temperature": "hot"}), "bad_model_arguments", "temperature"),
        (
            ProviderSettings(model_class="someones_kiln:Whole", base_url="http://127.0.0.1:1/v1"),
            "bad_model_arguments",
            "takes no address",
        ),
    ],
)
async def test_wrong_settings_are_told(
    app: Application, project: Path, someones: Any, settings: ProviderSettings, error_type: str, words: str
) -> None:
    await keep(app, settings)
    with pytest.raises(UserInputError) as caught:
        await say(app, project)
    assert caught.value.error_type == error_type
    assert words in str(caught.value)
    assert caught.value.advice is not None


async def test_no_project_names_a_class_an_address_or_a_module(
    app: Application, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's folder is where the program was started, and has a module of the class's name."""
    (project / "someones_kiln.py").write_text("raise SystemExit('ran')\n")
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(str(project))
    await keep(app, KILN)
    with pytest.raises(UserInputError) as caught:
        await say(app, project)
    assert caught.value.error_type == "langchain_missing"
    assert "someones_kiln" not in sys.modules
    with pytest.raises(UserInputError, match="model settings only"):
        await say(app, project, choice=replace(CHOICE, base_url="http://elsewhere.example/v1"))


async def test_consent_is_asked_for_the_class_or_for_its_address(
    app: Application, project: Path, someones: Any
) -> None:
    await keep(app, KILN)
    with pytest.raises(NeedsConfirmation):
        await app.conversations.chat(
            ChatRequest(project=project, text="Go.", choice=CHOICE), emit=lambda _event: None
        )
    assert someones.SEEN == []
    question = ConsentQuestion(provider="LangChain", destination=await destination(app))
    assert (question.host, question.is_encrypted) == ("someones_kiln:Kiln", True)
    await keep(app, replace(KILN, base_url="http://models.example/v1"))
    assert await destination(app) == "http://models.example"
    await keep(app, replace(KILN, base_url="http://127.0.0.1:9/v1"))
    assert await destination(app) == ""


async def test_settings_on_trial_are_those_of_the_dialog(app: Application, someones: Any) -> None:
    settings = replace(KILN, model="clay-2")
    trial = await app.models.try_out(settings.choice("langchain"), settings=settings)
    assert (trial.model, trial.models, trial.calls_tools) == ("clay-2", (), False)
    assert await asyncio.to_thread(app.models.settings.load) == ModelSettings()


# --- langchain-openai itself, where the optional set is installed ---------------------------------------

needs_langchain_openai = pytest.mark.skipif(
    importlib.util.find_spec("langchain_openai") is None,
    reason="langchain-openai is not installed (the optional set `langchain`: make langchain)",
)


@needs_langchain_openai
async def test_chat_openai_with_tools_against_a_server(app: Application, project: Path) -> None:
    with FakeLLMServer([answer(calls=[call("read_file", {"path": "rc.cir"})]), answer("One.")]) as server:
        await keep(
            app,
            ProviderSettings(model_class="langchain_openai:ChatOpenAI", model="m", base_url=server.base_url),
        )
        ended, events = await say(app, project)
    assert ended.stop_reason == "completed"
    assert "".join(e.text for e in events if isinstance(e, AnswerStreamed)) == "One."
    assert "R1 in out 1k" in server.requests[1]["messages"][-1]["content"]
    assert server.requests[0]["stream_options"] == {"include_usage": True}
    assert server.completions[0].headers["authorization"] == "Bearer not-needed"


@needs_langchain_openai
async def test_chat_openai_is_stopped_and_fails_as_a_server_does(app: Application, project: Path) -> None:
    begun = asyncio.Event()
    with FakeLLMServer([answer("Half of it", stall=True)]) as server:
        settings = ProviderSettings(
            model_class="langchain_openai:ChatOpenAI", model="m", base_url=server.base_url
        )
        await keep(app, settings)
        task = asyncio.create_task(say(app, project, emit=lambda _event: begun.set()))
        async with asyncio.timeout(30):
            await asyncio.to_thread(server.wait_for_requests, 1)
            await begun.wait()
            task.cancel("user")
            with pytest.raises((asyncio.CancelledError, Stopped)):
                await task
            await asyncio.to_thread(server.wait_until_left)
    await keep(app, settings)  # the server is gone
    with pytest.raises(ProviderError) as caught:
        await app.models.try_out(settings.choice("langchain"), settings=settings)
    assert caught.value.kind == "unreachable"
