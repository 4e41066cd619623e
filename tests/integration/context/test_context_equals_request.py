"""The tab Context tells what is sent: report and body of the next request agree, for every provider."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.project_context import project_context
from application.conversation.turn_deps import ChatRequest, EditorState
from application.ports.events import SessionOpened
from application.workflow.designing import Answer, Question, Reply
from domain.design.checkpoint_intent import read_checkpoint_text
from domain.llm.chat import ProviderChoice
from tests.fakes.designing_model import read, says
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, answer, call
from tests.integration.context.test_fences import ANSWERS, MODELS, app, layers
from tests.integration.design.test_design_by_model import TEXT, Bench

__all__ = ["app"]

UNCLEAR = "hmm, the collector"
INSTRUCTION = "Change Re to 480"
CIRCUIT = "RC low-pass\nV1 in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 10 1 100k\n.end\n"
LONG = "".join(
    f"* line {number} of a file that does not go twice into a small window\n" for number in range(700)
)


@pytest.mark.parametrize(
    ("provider", "window"), [*((name, 65_536) for name in MODELS), ("ollama", 8_192), ("prompted", 8_192)]
)
async def test_the_report_is_the_next_request(
    app: Application, tmp_path: Path, provider: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A collector that is slow on a busy machine is left out: of the one or of the other.
    patient = {**project_context.__kwdefaults__, "limit_s": 20.0}
    monkeypatch.setattr(project_context, "__kwdefaults__", patient)
    (tmp_path / "main.cir").write_text(CIRCUIT)
    (tmp_path / "long.cir").write_text(f"long\n{LONG}.end\n")
    said = ANSWERS.get(provider, answer)
    reads = call("read_file", {"path": "long.cir"}, id="a")
    as_text = f'```json\n{{"name": "read_file", "arguments": {json.dumps(reads.arguments)}}}\n```\n'
    abilities = ("completion",) if provider == "prompted" else ("completion", "tools")
    first = said(as_text) if provider == "prompted" else said("", calls=[reads])
    side = OllamaSide(capabilities=abilities, context_length=window)
    real = "ollama" if provider == "prompted" else provider
    editor = EditorState(file="main.cir", line=3, column=1, selection="R1 in out 1k")
    sessions: list[str] = []

    def note(event: Any) -> None:
        sessions.extend([event.session_id] if hasattr(event, "session_id") else [])

    with FakeLLMServer(
        [first, said("Read."), said("Again.")], models=[MODELS[provider]], ollama=side
    ) as server:
        base_url = server.root_url if real == "ollama" else server.base_url
        choice = ProviderChoice(provider=real, model=MODELS[provider], base_url=base_url)
        for words in ("Read long.cir.", "What does R1 of main.cir do?"):
            session = sessions[0] if sessions else ""
            report = await app.conversations.inspect_context(
                tmp_path,
                session_id=session,
                choice=choice,
                main_circuit="main.cir",
                editor=editor,
                words=words,
            )
            before = len(_asked(server))
            request = ChatRequest(
                project=tmp_path, text=words, session_id=session, choice=choice, main_circuit="main.cir",
                editor=editor,
            )  # fmt: skip
            await app.conversations.chat(request, emit=note)
            _agrees(report, _asked(server)[before], words, is_prompted=provider == "prompted")


@pytest.mark.parametrize(
    "provider",
    [
        "openai-compatible",
        "ollama",
        *(pytest.param(name, marks=pytest.mark.torture) for name in ("zhipu", "siliconflow")),
    ],
)
async def test_in_workflow_mode_it_is_the_request_of_the_step_that_comes(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goals, the first circuit, another round, words the rules are not sure of, and an instruction."""
    patient = {**project_context.__kwdefaults__, "limit_s": 20.0}
    monkeypatch.setattr(project_context, "__kwdefaults__", patient)
    bench, bodies = Bench(tmp_path / "project", tmp_path / "home"), []
    model = bench.model
    bench.model = lambda body: (bodies.append(body), model(body))[1]  # type: ignore[assignment]
    model.acts["instruction"] = says("Noted.")
    bench.root.mkdir()
    looking = bench.build()
    awaited: list[tuple[Any, int, str]] = []
    steps = iter(["", "", INSTRUCTION, "", ""])

    async def look(words: str, session: str) -> None:
        choice = ProviderChoice(provider=provider, model="m", base_url=bench.base_url)
        report = await looking.conversations.inspect_context(
            bench.root, session_id=session, choice=choice, main_circuit="", words=words, in_design=True
        )
        awaited.append((report, len(bodies), words))

    async def ask(question: Question) -> Answer | Reply:
        session, words = bench.told(SessionOpened)[0].session_id, next(steps)
        if words:
            assert question.reread is not None
            await look(UNCLEAR, session)
            at = {"goals_met": False, "has_failed": False, "can_undo": True, "rounds": 2}
            await question.reread(read_checkpoint_text(UNCLEAR, goals=question.goals, **at))
        await look(words, session)
        if words:
            return Reply(answer="instruction", said=(words,), instruction=words)
        return "continue" if len(awaited) < 6 else "stop"

    try:
        with bench.server(provider):
            await look(TEXT, "")
        await bench.design(TEXT, ask=ask, provider=provider)
    finally:
        await looking.close()
    tasks = []
    for report, number, words in awaited:
        if number == len(bodies):
            continue
        newest = read(bodies[number]).newest
        said = words or newest.rpartition("</data>\n\n")[2]  # what the program says in the user's place
        _agrees(report, bodies[number], said, is_prompted=False)
        tasks.append(read(bodies[number]).task)
    assert tasks[:5] == ["goals", "design", "optimize", "intent", "instruction"]


def _asked(server: FakeLLMServer) -> list[dict[str, Any]]:
    return [body for body in server.requests if body.get("messages") or body.get("input")]


def _agrees(report: Any, body: dict[str, Any], words: str, *, is_prompted: bool) -> None:
    """Nothing of the body is missing in the report, and the reverse."""
    parts = {part.kind: [entry.text for entry in part.entries] for part in report.parts}
    said = [(role, text) for role, text in layers(body) if text]
    tools = [json.dumps(each, sort_keys=True) for each in body.get("tools", [])]
    system = "\n".join(
        text for role, text in said[:4] if role in ("system", "developer") and not text.startswith("[")
    )
    (told,) = parts["system"]
    if is_prompted:  # the tools stand behind the text, in words
        assert system.startswith(told)
        assert all(json.loads(text)["function"]["name"] in system for text in parts["tools"])
    else:
        assert system.strip() == told.strip()
        names = [json.loads(text)["function"]["name"] for text in parts.get("tools", [])]
        assert names == [_name(json.loads(each)) for each in tools]
        for text, each in zip(parts.get("tools", []), tools, strict=True):
            ours = json.loads(text)["function"]
            theirs = json.loads(each)
            assert ours["description"] == theirs.get("function", theirs)["description"]
    others = [text for role, text in said if role not in ("system", "developer")]
    (project,) = parts.get("project", [""])
    assert others[-1] == (f"{project}\n\n{words}" if project else words)
    history = parts.get("history", [])
    if "messages" not in body or is_prompted:  # calls and results stand there in other words
        sent = "\n".join(others[:-1])
        lines = [line for text in history for line in text.split("\n") if "read_file(" not in line]
        assert all(line in sent for line in lines)
        assert bool(history) == (len(others) > 1)
        return
    earlier = [text for role, text in list(layers(body))[2:-1] if role != "system"]
    assert len(earlier) == len(history)
    for said_text, entry in zip(earlier, history, strict=True):
        text = "" if said_text == "None" else said_text  # an answer that is a call alone
        assert entry.startswith(text)
        rest = entry[len(text) :].strip()
        assert re.match(r"$|\w+\(", rest), rest  # a call, which has a field of its own


def _name(tool: dict[str, Any]) -> str:
    return str(tool.get("function", tool)["name"])
