"""Tools of servers the user has set up: a real process each, well-behaved, broken and hostile ones."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import ChatEvent, SessionOpened, ToolEnded
from application.tool_execution.server_tools import ShownServer
from bootstrap import build
from domain.llm.chat import ProviderChoice
from domain.llm.tool_servers import MOST_TOOLS, clean_schema, full_name
from domain.llm.tools.confirmation_card import Answers, ConfirmationCard, same_answer
from shared.paths import SETTINGS_FILE, USER_HOME_VARIABLE
from tests.fakes import tool_server
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.fakes.tool_server import served

VOLTAGE = "bench__read_voltage"
Events = list[ChatEvent]


def command(kind: str, *more: object) -> list[str]:
    return [sys.executable, "-S", tool_server.__file__, kind, *map(str, more)]


@asynccontextmanager
async def application(home: Path, **servers: dict[str, Any]) -> AsyncIterator[Application]:
    def set_up() -> Application:
        home.mkdir(exist_ok=True)
        (home / SETTINGS_FILE).write_text(json.dumps({"tool_servers": servers}))
        app = build(
            environment={USER_HOME_VARIABLE: str(home), "PATH": os.defpath, "BENCH_TOKEN": "t0ken-1234"}
        )
        assert not app.program.warnings, app.program.warnings
        return app

    app = await asyncio.to_thread(set_up)
    try:
        yield app
    finally:
        await app.close()


async def turn(
    app: Application, project: Path, scripts: list[Any], *, word: str = "allow"
) -> tuple[Events, list[ConfirmationCard], list[dict[str, Any]]]:
    """A turn of a model that does what the scripts say; what happened, was asked, and was sent to it."""
    events: Events = []
    cards: list[ConfirmationCard] = []

    async def confirm(card: ConfirmationCard) -> Answers:
        cards.append(card)
        return same_answer(card, word)  # type: ignore[arg-type]

    with FakeLLMServer(scripts) as server:
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        request = ChatRequest(project=project, text="Measure channel 2.", choice=choice)
        await app.conversations.chat(request, emit=events.append, confirm=confirm)
        return events, cards, server.requests


def ask(name: str = VOLTAGE, **arguments: Any) -> list[Any]:
    return [answer("Looking.", calls=[call(name, arguments or {"channel": 2})]), answer("Done.")]


def results_in(body: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"] if message["role"] == "tool")


def is_alive(log: Path) -> bool:
    return is_running(log.read_text().split()[0])


def is_running(process: str) -> bool:
    return Path(f"/proc/{process}").exists()


async def shown(app: Application) -> ShownServer:
    await app.conversations.tool_servers.connect()
    (found,) = app.conversations.tool_servers.shown()
    return found


async def test_a_tool_of_a_server_is_offered_asked_about_called_and_fenced(tmp_path: Path) -> None:
    log, project = tmp_path / "calls", tmp_path / "p"
    async with application(tmp_path / "home", bench={"command": command("chatty", log)}) as app:
        events, cards, requests = await turn(app, project, ask())
        tools = {tool["function"]["name"]: tool["function"] for tool in requests[0]["tools"]}
        assert "run_simulation" in tools
        told = tools[VOLTAGE]
        assert '<data name="description by the server bench">\nReads a channel' in told["description"]
        assert told["parameters"]["required"] == ["channel"]
        effect = cards[0].calls[0].effect
        assert (effect.effect, effect.sends) == ("outside", 'read_voltage {"channel": 2}')
        assert effect.destination.startswith("bench (")
        assert json.loads(log.read_text().splitlines()[1])["arguments"] == {"channel": 2}
        assert '<data name="answer of the server bench">\n6.6 V\n</data>' in results_in(requests[1])
        (ended,) = [event for event in events if isinstance(event, ToolEnded)]
        assert ended.success
        # Always allowed: not asked about any more, and the same process answers.
        _, cards, _ = await turn(app, project, ask(), word="always")
        assert len(cards) == 1
        _, cards, requests = await turn(app, project, ask(channel=3))
        assert not cards
        assert "9.9 V" in results_in(requests[1])
        assert is_alive(log)
        # Refused by a rule, a missing argument, a name nobody has.
        _, _, requests = await turn(app, project, ask("bench__write", x=1))
        assert "unknown_tool" in results_in(requests[1])
        _, cards, requests = await turn(app, project, ask(VOLTAGE, chanel=1))
        assert "channel is missing" in results_in(requests[1])
    assert not is_alive(log)


async def test_what_is_refused_is_never_sent(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    async with application(tmp_path / "home", bench={"command": command("good", log)}) as app:
        _, cards, requests = await turn(app, tmp_path / "p", ask(), word="refuse")
        assert len(cards) == 1
        assert "refused_by_user" in results_in(requests[1])
        assert len(log.read_text().splitlines()) == 1


async def test_a_project_cannot_bring_a_server(tmp_path: Path) -> None:
    project, log = tmp_path / "p", tmp_path / "started"
    own = {"tool_servers": {"bench": {"command": command("good", log)}}}
    for name in ("settings.json", ".circuit_ai/settings.json", ".mcp.json", "mcp.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(json.dumps(own))
    async with application(tmp_path / "home") as app:
        _, _, requests = await turn(app, project, ask())
        assert VOLTAGE not in {tool["function"]["name"] for tool in requests[0]["tools"]}
        assert "unknown_tool" in results_in(requests[1])
    assert not log.exists()


BAD_CALLS = {
    "large": "answer_too_large",
    "dies": "bus error on GPIB0",
    "fails": "channel 9 is not wired",
    "odd": "cannot be understood",
    "hangs": "server_timeout",
    "asks": "Sampling not supported",
}


async def test_calls_of_bad_servers_end_in_words(tmp_path: Path) -> None:
    servers = {
        kind: {"command": command(f"{kind} in calls", tmp_path / kind), "timeout_s": 1.0}
        for kind in BAD_CALLS
    }
    async with application(tmp_path / "home", **servers) as app:
        first = ""
        for kind, words in BAD_CALLS.items():
            scripts = ask(f"{kind}__read_voltage")
            _, _, requests = await turn(app, tmp_path / "p", scripts, word="always")
            assert words in results_in(requests[1])
            assert len(results_in(requests[1])) < 5000
            first = first or (kind == "dies" and (tmp_path / kind).read_text().split()[0]) or ""
        assert (tmp_path / "dies").read_text().split()[0] != first  # the next turn has a new process
        assert not is_running(first)
    assert not any(is_alive(tmp_path / kind) for kind in BAD_CALLS)


async def test_hostile_lists_and_descriptions_are_bounded_data(tmp_path: Path) -> None:
    async with application(tmp_path / "a", bench={"command": command("endless")}) as app:
        found = await shown(app)
        assert len(found.tools) == MOST_TOOLS
        assert "more than 40 tools" in str(found.left_out[-1])
    async with application(tmp_path / "b", bench={"command": command("names")}) as app:
        found = await shown(app)
        names = [tool.name for tool in found.tools]
        assert len(set(names)) == len(names) == 7  # one came twice
        assert "more than one tool named a b" in str(found.left_out[0])
        assert all(name.startswith("bench__") and len(name) <= 64 for name in names)
        assert names[0] == "bench__run_simulation"
    async with application(tmp_path / "c", bench={"command": command("inject")}) as app:
        found = await shown(app)
        assert [tool.own_name for tool in found.tools] == ["read"]
        assert "its arguments take more than" in str(found.left_out[0])
        _, _, requests = await turn(app, tmp_path / "p", ask("bench__read", text="x"))
        sent = next(t["function"] for t in requests[0]["tools"] if t["function"]["name"] == "bench__read")
        everything = json.dumps(sent, ensure_ascii=False) + results_in(requests[1])
        assert not {"\x1b", "\x07", "\u202e"} & set(everything)
        assert "</data>\nSYSTEM" not in everything
        assert len(sent["description"]) < 1600
        assert set(sent["parameters"]["properties"]) == {"text", "odd"}
        assert not any(word in json.dumps(sent["parameters"]) for word in ("pattern", "$ref", "bogus"))


NO_SERVERS = {
    "hangs": "did not answer within",
    "floods": "did not answer within",
    "lines": "cannot be used",
    "deep": "cannot be understood",
    "complains": "No module named 'visa'",
    "none": "there is no program",
}


async def test_servers_that_cannot_be_connected_hold_nothing_up(tmp_path: Path) -> None:
    servers: dict[str, dict[str, Any]] = {
        kind: {"command": command(kind, tmp_path / kind)} for kind in NO_SERVERS
    }
    for kind in ("hangs", "floods"):
        servers[kind]["start_s"] = 2.0  # the others are given all the time a busy machine may take
    servers["none"] = {"command": ["no-such-program"]}
    async with application(tmp_path / "home", good={"command": command("good")}, **servers) as app:
        events, _, requests = await turn(app, tmp_path / "p", ask("good__read_voltage"))
        opened = next(event for event in events if isinstance(event, SessionOpened))
        told = list(map(str, opened.problems))
        for words, problem in zip(NO_SERVERS.values(), told, strict=True):
            assert words in problem
        assert "6.6 V" in results_in(requests[1])
        # Told once, and not tried again with each message.
        events, _, _ = await turn(app, tmp_path / "p", [answer("Hello.")])
        assert next(event for event in events if isinstance(event, SessionOpened)).problems == ()
        logs = [tmp_path / kind for kind in NO_SERVERS if (tmp_path / kind).exists()]
        assert logs
        assert not any(map(is_alive, logs))


async def test_a_server_at_an_address(tmp_path: Path) -> None:
    with served() as (url, seen), served("large in calls") as (other, _):
        servers = {
            "bench": {"url": url, "token_variable": "BENCH_TOKEN"},
            "big": {"url": other},
            "gone": {"url": "http://127.0.0.1:9/mcp"},
            "poor": {"url": url, "token_variable": "NO_SUCH_TOKEN"},
            "off": {"url": other, "is_on": False},
        }
        async with application(tmp_path / "home", **servers) as app:
            _, cards, requests = await turn(app, tmp_path / "p", ask())
            assert cards[0].calls[0].effect.destination == f"bench ({url})"
            assert "6.6 V" in results_in(requests[1])
            assert "t0ken-1234" not in json.dumps(requests)
            assert {each.get("authorization") for each in seen} == {"Bearer t0ken-1234"}
            _, _, requests = await turn(app, tmp_path / "p", ask("big__read_voltage", channel=1))
            assert "answer_too_large" in results_in(requests[1])
            states = {
                each.name: (each.state, each.problem) for each in app.conversations.tool_servers.shown()
            }
            assert states["off"] == ("off", None)
            assert states["gone"][0] == states["poor"][0] == "failed"
            assert "NO_SUCH_TOKEN" in str(states["poor"][1])


def test_names_and_schemas_stay_apart_and_plain() -> None:
    assert full_name("bench", "read") == "bench__read"
    assert full_name("bench", "a b") != full_name("bench", "a.b")
    assert clean_schema("no schema") == {"type": "object", "properties": {}, "required": []}
    assert clean_schema({"properties": {"a": {"type": ["null", "string"]}}, "required": ["a", "b", 3]}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
