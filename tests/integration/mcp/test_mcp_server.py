"""`mcp PROJECT` as others meet it: by the protocol's own client in both its forms, and as bare lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

import bootstrap
from application.app import Application
from presentation.mcp.server import ProjectServer
from presentation.translation import Translator
from tests.ground.forked_commands import ForkedCommands

RC = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 159.155n\n.ac dec 20 1 1meg\n.end\n"
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
Reply = Callable[[Any, types.ElicitRequestParams], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "circuits"
    (made / "notes").mkdir(parents=True)
    (made / "rc.cir").write_text(RC)
    (made / "notes" / "to do.md").write_text("# 待办\n")
    (made / "secret.lib").write_text("* kept back\n")
    (made / ".circuitaiignore").write_text("secret.lib\n")
    (made / ".netrc").write_text("password")
    return made


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    made = await asyncio.to_thread(bootstrap.build)
    made.program.events.bind()
    yield made
    await made.close()


@pytest.fixture
async def server(app: Application, folder: Path) -> ProjectServer:
    return await asyncio.to_thread(lambda: ProjectServer(app, folder, Translator("en")))


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def circuits_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.cir"))


def answering(*replies: types.ElicitResult) -> tuple[Reply, list[str]]:
    asked: list[str] = []
    left = list(replies)

    async def reply(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return left.pop(0)

    return reply, asked


ALLOW = types.ElicitResult(action="accept", content={"allow": True})
NOT_ALLOWED = (
    types.ElicitResult(action="accept", content={"allow": False}),
    types.ElicitResult(action="accept", content={}),
    types.ElicitResult(action="decline"),
    types.ElicitResult(action="cancel"),
)


@MODES
async def test_tools_have_schemas_and_simulate(server: ProjectServer, mode: str) -> None:
    async with Client(server.server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"read_file", "run_simulation", "run_study", "delete_file"} <= set(tools)
        assert "other_tool" not in tools
        assert tools["read_file"].annotations.read_only_hint
        assert tools["delete_file"].annotations.destructive_hint
        assert "path" in tools["read_file"].input_schema["properties"]
        ran = await client.call_tool("run_simulation", {"path": "rc.cir"})
        assert not ran.is_error
        measured = await client.call_tool("inspect_data", {"expressions": ["highcut(v(out))"]})
        assert "highcut(v(out)) = 1000" in text_of(measured)
        assert measured.structured_content["success"]


@MODES
async def test_what_can_destroy_is_asked_about(server: ProjectServer, folder: Path, mode: str) -> None:
    async with Client(server.server, mode=mode) as client:  # one that cannot ask
        refused = await client.call_tool("delete_file", {"path": "rc.cir"})
        assert refused.structured_content["error_type"] == "needs_confirmation"
        assert "--yes" not in text_of(refused)
    reply, asked = answering(*NOT_ALLOWED, ALLOW)
    async with Client(server.server, mode=mode, elicitation_callback=reply) as client:
        for number, _ in enumerate(NOT_ALLOWED, 1):
            refused = await client.call_tool("delete_file", {"path": "rc.cir"})
            assert refused.structured_content["error_type"] == "refused_by_user"
            assert len(asked) == number
            assert (folder / "rc.cir").is_file()
        assert not (await client.call_tool("delete_file", {"path": "rc.cir"})).is_error
    assert not (folder / "rc.cir").exists()
    assert asked[-1].startswith("Delete rc.cir?")


async def test_an_answer_is_good_once_and_for_its_question(server: ProjectServer, folder: Path) -> None:
    (folder / "other.cir").write_text(RC)
    async with Client(server.server, mode="auto", elicitation_callback=answering()[0]) as client:
        call = client.session.call_tool

        async def ask(name: str) -> types.InputRequiredResult:
            asked = await call("delete_file", {"path": name}, allow_input_required=True)
            assert isinstance(asked, types.InputRequiredResult)
            return asked

        async def send(name: str, state: str | None) -> object:
            more = {
                "input_responses": {"confirm": ALLOW},
                "request_state": state,
                "allow_input_required": True,
            }
            return await call("delete_file", {"path": name}, **more)

        state = (await ask("rc.cir")).request_state
        for name, made_up in (
            ("other.cir", state),
            ("rc.cir", state),
            ("rc.cir", "made up"),
            ("rc.cir", None),
        ):
            # Used for another call (and thereby spent), used again, forged, left out: asked about anew.
            assert isinstance(await send(name, made_up), types.InputRequiredResult)
        state = (await ask("rc.cir")).request_state
        (folder / "rc.cir").write_text(RC + "* changed since\n")  # what was allowed is not what it would do
        assert isinstance(await send("rc.cir", state), types.InputRequiredResult)
        assert circuits_in(folder) == ["other.cir", "rc.cir"]
        done = await send("other.cir", (await ask("other.cir")).request_state)
        assert isinstance(done, types.CallToolResult)
    assert circuits_in(folder) == ["rc.cir"]


async def test_rules_of_the_project_and_its_borders_hold(
    server: ProjectServer, app: Application, folder: Path
) -> None:
    async with Client(server.server) as client:

        async def error_of(name: str, **arguments: object) -> str:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            return result.structured_content["error_type"]

        assert await error_of("read_file", path="../../etc/passwd") == "outside_project"
        assert await error_of("read_file", path="secret.lib") == "ignored"
        assert await error_of("read_file", path=".netrc") == "protected_path"
        assert await error_of("read_file", line=3) == "bad_arguments"
        assert await error_of("format_disk") == "unknown_tool"
        # A file that was never read is not written over unasked; one that was changed since is read again.
        assert await error_of("rewrite_file", path="rc.cir", content="* mine\n") == "needs_confirmation"
        await client.call_tool("read_file", {"path": "rc.cir"})
        (folder / "rc.cir").write_text(RC.replace("1k", "3k"))
        patch = {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 2k"}
        assert await error_of("patch_file", **patch) == "file_modified_externally"
        (folder / "rc.cir").write_text(RC)
        await client.call_tool("read_file", {"path": "rc.cir"})
        assert not (await client.call_tool("patch_file", patch)).is_error
    (operation,) = await app.project.operations.list(folder)
    await app.project.operations.undo(folder, operation.record.op_id)
    assert (folder / "rc.cir").read_text() == RC


async def test_texts_and_runs_are_resources(server: ProjectServer) -> None:
    async with Client(server.server) as client:
        await client.call_tool("run_simulation", {"path": "rc.cir"})
        listed = {str(each.uri): each for each in (await client.list_resources()).resources}
        assert set(listed) == {"circuit:///rc.cir", "circuit:///notes/to%20do.md", "run:///1"}

        async def read(uri: str) -> str:
            (content,) = (await client.read_resource(uri)).contents
            return content.text

        assert await read("circuit:///rc.cir") == RC
        assert await read("circuit:///notes/to%20do.md") == "# 待办\n"
        assert "v(out)" in await read("run:///1")
        for uri in (
            "circuit:///../rc.cir",
            "circuit:///secret.lib",
            "run:///9",
            "run:///x",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as refused:
                await read(uri)
            assert "Traceback" not in str(refused.value)


async def test_ready_sentences_are_prompts(server: ProjectServer) -> None:
    async with Client(server.server) as client:
        assert "explain" in {each.name for each in (await client.list_prompts()).prompts}
        prompt = await client.get_prompt("explain", {"circuit": "rc.cir"})
        assert "rc.cir" in prompt.messages[0].content.text
        given = {"circuit": "rc.cir", "part": "R1", "start": "1k", "stop": "2k"}
        prompt = await client.get_prompt("sweep", given)
        assert "Sweep R1 of rc.cir from 1k to 2k in E6 values" in prompt.messages[0].content.text
        for name, arguments in (
            ("explain", {}),
            ("nix", {"circuit": "rc.cir"}),
            ("sweep", {"circuit": "rc.cir"}),
        ):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)


def test_bare_lines_on_the_command(forked_commands: ForkedCommands, folder: Path) -> None:
    with forked_commands.start("mcp", folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(text: str) -> None:
            process.stdin.write(f"{text}\n")
            process.stdin.flush()

        def ask(number: int, method: str, **params: object) -> dict[str, Any]:
            send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            while (found := json.loads(process.stdout.readline())).get("id") != number:
                pass
            return found["result"]

        client = {"name": "bare", "version": "1"}
        begun = ask(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert begun["serverInfo"]["name"] == "circuit-design-ai"
        send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        read = ask(2, "tools/call", name="read_file", arguments={"path": "rc.cir"})
        assert "R1 in out 1k" in read["content"][0]["text"]
        send("no JSON at all")
        assert ask(3, "tools/list")["tools"]
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_place_that_is_none(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    assert forked_commands.run("mcp", tmp_path / "nix").exit_code == 2
