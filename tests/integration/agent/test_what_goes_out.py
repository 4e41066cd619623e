"""Consent before a project goes to the network, files that are kept back, and the limit of a conversation."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.conversation.chatting import ChatWithModel
from application.conversation.turn_deps import ChatRequest
from application.ports.events import TurnEnded
from bootstrap import build
from domain.llm.chat import ProviderChoice
from domain.llm.consent import ConsentAnswer, ConsentQuestion
from infrastructure.persistence.permissions import PermissionFile
from shared.errors import NeedsConfirmation, UserInputError
from shared.paths import user_home
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.integration.agent.in_process import messages_of, turn

HOST = "http://models.example"
REMOTE = ProviderChoice(provider="openai-compatible", model="m", base_url=f"{HOST}/v1")


@pytest.fixture
async def app(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Application]:
    monkeypatch.setenv("CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY", "sk-of-the-test")
    application = build()
    yield application
    await application.close()


def consents_after_another_decision(project: Path) -> tuple[str, ...]:
    """Something else is decided, then the consent is taken back; what there was in between."""
    store = PermissionFile(user_home=user_home())
    store.protect(project, "a.cir", is_protected=True)
    consents = store.of_project(project).consents
    store.consent(project, HOST, is_given=False)
    return consents


class Person:
    """Answers what is asked."""

    def __init__(self, *answers: ConsentAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[ConsentQuestion] = []

    async def __call__(self, question: ConsentQuestion) -> ConsentAnswer:
        self.asked.append(question)
        return self.answers.pop(0)


async def say(
    app: Application, project: Path, person: Person | None, *, session_id: str = "", text: str = "Go."
) -> TurnEnded:
    request = ChatRequest(project=project, text=text, session_id=session_id, choice=REMOTE)
    return await app.conversations.chat(request, emit=lambda _event: None, ask_consent=person)


def through_proxy(server: FakeLLMServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{server.port}")


async def refused(app: Application, project: Path, person: Person | None) -> str:
    with pytest.raises(NeedsConfirmation) as caught:
        await say(app, project, person)
    return caught.value.error_type


async def test_nothing_is_sent_before_the_user_agrees(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "p"
    project.mkdir()
    with FakeLLMServer(lambda _body: answer("Done.")) as server:
        through_proxy(server, monkeypatch)
        assert await refused(app, project, None) == "needs_confirmation"
        assert await refused(app, project, Person("no")) == "refused_by_user"
        assert server.connections == 0
        assert not list((project / ".circuit_ai").glob("conversations/*.jsonl"))
        once = Person("once")
        assert (await say(app, project, once)).stop_reason == "completed"
        assert (once.asked[0].destination, once.asked[0].is_encrypted) == (HOST, False)
        (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
        await say(app, project, Person(), session_id=session.stem)  # the same conversation: not asked again
        always = Person("always")
        await say(app, project, always)
        await say(app, project, None)
        assert len(server.completions) == 4
        # Decided for this project and this server: a copy of the folder does not bring it along.
        other = tmp_path / "copy"
        shutil.copytree(project, other)
        assert await refused(app, other, None) == "needs_confirmation"
    assert await asyncio.to_thread(consents_after_another_decision, project) == (HOST,)
    assert await refused(app, project, None) == "needs_confirmation"


async def test_this_computer_needs_no_consent(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer([answer("Done.")]) as server:
        assert (await turn(app, server, tmp_path))[0].stop_reason == "completed"
    for url in ("http://127.0.0.1:1/v1", "http://localhost:1/v1", "http://[::1]:1/v1"):
        assert app.models.providers.destination(replace(REMOTE, base_url=url)) == ""
    for url in ("http://192.168.1.5:1/v1", "https://127.0.0.1.evil.example/v1", "https://10.0.0.1/v1"):
        assert app.models.providers.destination(replace(REMOTE, base_url=url)) == url.removesuffix("/v1")
    with pytest.raises(UserInputError):
        app.models.providers.destination(replace(REMOTE, base_url="https://127.0.0.1@evil.example/v1"))


async def test_ignored_files_are_kept_back_from_the_network_only(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "plan.cir").write_text("* the hidden plan\nR1 1 0 1\n.end\n")
    (tmp_path / "own.lib").write_text("* bought model\n")
    (tmp_path / "link.cir").symlink_to(tmp_path / "secret" / "plan.cir")
    (tmp_path / "open.cir").write_text("* open\n.end\n")
    (tmp_path / ".circuitaiignore").write_text("secret/\n*.lib\n!open.cir\n")
    calls = [
        call("read_file", {"path": "secret/plan.cir"}, id="a"),
        call("read_file", {"path": "link.cir"}, id="b"),
        call("read_file", {"path": "secret/../own.lib"}, id="c"),
        call("search_exact", {"query": "hidden plan"}, id="d"),
        call("read_file", {"path": "open.cir"}, id="e"),
    ]
    more = [
        call("run_simulation", {"file_path": "secret/plan.cir"}, id="f"),
        call("rewrite_file", {"path": "own.lib", "content": "x\n"}, id="g"),
        call("list_project_files", {}, id="h"),
    ]
    with FakeLLMServer([answer("", calls=calls), answer("", calls=more), answer("Done.")]) as server:
        through_proxy(server, monkeypatch)
        await say(app, tmp_path, Person("once"))
        sent = "".join(str(body) for body in server.requests)
    results = [message for message in messages_of(tmp_path) if message["type"] == "tool"]
    errors = [result["artifact"]["error_type"] if "artifact" in result else None for result in results]
    assert sent.count("not sent: it is listed in .circuitaiignore") >= 4, errors
    assert "the hidden plan" not in sent
    assert "bought model" not in sent
    assert "* open" in sent
    assert (tmp_path / "own.lib").read_text() == "* bought model\n"
    local = tmp_path / "local"
    local.mkdir()
    shutil.copytree(tmp_path / "secret", local / "secret")
    (local / ".circuitaiignore").write_text("secret/\n")
    with FakeLLMServer([answer("", calls=calls[:1]), answer("Done.")]) as server:
        await turn(app, server, local)
        assert "the hidden plan" in str(server.requests[-1])


async def test_a_conversation_ends_at_its_token_limit(app: Application, tmp_path: Path) -> None:
    chat = app.conversations.chat
    assert isinstance(chat, ChatWithModel)
    chat.deps = replace(chat.deps, limits=replace(chat.deps.limits, session_tokens=25))
    usage = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
    with FakeLLMServer(
        lambda _body: answer("", calls=[call("list_project_files", {})], usage=usage)
    ) as server:
        ended, _ = await turn(app, server, tmp_path)
        assert (ended.stop_reason, len(server.completions)) == ("limit", 3)
        assert "30" in str(ended.note)
        assert "25" in str(ended.note)
        (session,) = (tmp_path / ".circuit_ai" / "conversations").glob("*.jsonl")
        ended, _ = await turn(app, server, tmp_path, "continue", session_id=session.stem)
        assert (ended.stop_reason, len(server.completions)) == ("limit", 3)
