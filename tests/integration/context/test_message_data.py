"""What a message brings along: what others changed, what could not be found, what providers can cache."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from application.agent.request import earlier_messages
from application.app import Application
from application.conversation.project_context import COLLECTORS, Collector, project_context
from application.conversation.question import Question
from application.conversation.turn_deps import EditorState
from application.design.circuit_goals import ask_of
from application.studies.studying import StudyRequest
from application.tool_execution.definition import ToolContext
from application.tool_execution.operations import Operations
from bootstrap import build
from domain.llm.chat import ModelRoom
from domain.llm.context_block import LARGEST, USUAL, ContextBlock, ContextPart, assemble, context_budget
from domain.llm.tokens import count_tokens
from domain.simulation.goals import DesignGoal
from domain.studies.study_spec import StudyKind, read_study_spec
from shared.paths import study_name, user_home
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.agent.in_process import turn

CIRCUIT = "RC low-pass\nV1 in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 10 1 100k\n.end\n"


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


@pytest.fixture
async def context(app: Application, tmp_path: Path) -> AsyncIterator[ToolContext]:
    (tmp_path / "rc.cir").write_text(CIRCUIT)
    use_case = app.conversations.inspect_context
    files = await asyncio.to_thread(use_case.projects.open, tmp_path, create=True)
    yield ToolContext(
        project=files,
        session_id="s",
        operations=Operations(log=files.operations, project=files),
        services=use_case.tools,
    )
    await asyncio.to_thread(files.close)


def first_message(body: dict[str, Any]) -> str:
    """The user's newest message of a request."""
    texts = [str(one["content"]) for one in body["messages"] if one["role"] == "user"]
    return texts[-1]


@pytest.mark.parametrize("is_shown", [True, False], ids=["shown whole", "the difference only"])
async def test_what_the_user_changed_behind_the_model_is_told_as_a_difference(
    app: Application, tmp_path: Path, is_shown: bool
) -> None:
    circuit = tmp_path / "rc.cir"
    if not is_shown:  # two circuits, and the message names none
        (tmp_path / "other.cir").write_text(CIRCUIT)
    circuit.write_text(CIRCUIT)
    reading = answer("", calls=[call("read_file", {"path": "rc.cir"})])
    change = {"path": "rc.cir", "search": "C1 out 0 47n", "replace": "C1 out 0 33n"}
    # A bare "1.59 kHz" that no run gave would be asked about: one request more.
    formula = answer("The corner is at 1/(2*pi*R1*C1) = 1.59 kHz by calculation.")
    scripts = [reading, formula, answer("", calls=[call("patch_file", change)]), answer("So.")]
    with FakeLLMServer(scripts) as server:
        _, events = await turn(app, server, tmp_path, "What is the corner?")
        session = next(event.session_id for event in events if hasattr(event, "session_id"))
        circuit.write_text(CIRCUIT.replace("100n", "47n"))
        await turn(app, server, tmp_path, "And now?", session_id=session)
        told = first_message(server.requests[2])
    assert "rc.cir was changed since you saw it, not by you" in told
    assert "-C1 out 0 100n\n+C1 out 0 47n\n" in told
    assert (".end" in told) == is_shown
    # What the message shows whole, or tells all changes of, need not be read again before it is changed.
    assert circuit.read_text() == CIRCUIT.replace("100n", "33n")
    circuit.unlink()
    with FakeLLMServer([answer("Gone.")]) as server:
        await turn(app, server, tmp_path, "And now?", session_id=session)
        assert "rc.cir, which you have seen, is not there any more." in first_message(server.requests[-1])


class Notes:
    """A span that keeps what is noted."""

    def __init__(self) -> None:
        self.noted: dict[str, object] = {}

    def note(self, **attributes: object) -> None:
        self.noted |= attributes

    def child(self, _name: str, **_attributes: object) -> Any:
        return nullcontext(self)

    def fail(self, error_type: str) -> None:
        raise AssertionError(error_type)


async def test_a_collector_that_fails_or_is_slow_is_left_out_and_named_in_the_trace(
    context: ToolContext,
) -> None:
    async def broken(_question: Question) -> Sequence[ContextPart]:
        raise KeyError("a bug")

    async def slow(_question: Question) -> Sequence[ContextPart]:
        await asyncio.Event().wait()
        return ()

    span = Notes()
    more = (*COLLECTORS, Collector("broken", broken), Collector("slow", slow))
    block = await project_context(
        context, "Hello", main_circuit="rc.cir", budget=LARGEST, span=span, collectors=more, limit_s=2
    )
    assert span.noted["context__left_out"] == "broken,slow"
    assert "R1 in out 1k" in block.text
    assert "nothing is wrong in rc.cir" in block.text


async def test_what_is_in_front_of_the_user_and_what_he_points_at_is_there_once(context: ToolContext) -> None:
    long = "\n".join(["Long", *(f"R{at} a{at} 0 {at}k" for at in range(2000)), ".end", ""])
    await asyncio.to_thread((context.project.root / "long.cir").write_text, long)
    editor = EditorState(file="long.cir", line=7, column=3, selection="R5 a5 0 5k")
    words = "Why is @rc.cir better than @long.cir:10-12 and @gone.cir? Ask @anna."
    block = await project_context(
        context, words, main_circuit="rc.cir", budget=LARGEST, editor=editor, limit_s=30
    )
    assert "In front of the user: long.cir, cursor in line 7, column 3" in block.text
    assert '<data name="selected by the user in long.cir">\nR5 a5 0 5k\n</data>' in block.text
    assert block.text.count("C1 out 0 100n") == 1
    assert 'lines 10-12, numbered">\n10| R8 a8 0 8k\n11| R9 a9 0 9k\n12| R10 a10 0 10k\n</data>' in block.text
    assert "gone.cir" in block.text
    assert "anna" not in block.text
    # Of a long main circuit the outline goes, and the lines that are asked about.
    block = await project_context(
        context, "What is R1234?", main_circuit="long.cir", budget=LARGEST, limit_s=30
    )
    assert "elements: 2000 resistor" in block.text
    assert "R1234 a1234 0 1234k" in block.text
    assert "R700 a700" not in block.text


async def test_a_circuit_that_is_named_without_a_mark_is_the_one_the_message_is_about(
    context: ToolContext,
) -> None:
    root = context.project.root
    broken = "Another\nV1 a 0 1\nXU1 a b NOSUCH\nR2 b 0 1k\n.op\n.end\n"
    await asyncio.to_thread((root / "other.cir").write_text, broken)

    async def told(words: str) -> ContextBlock:
        return await project_context(context, words, main_circuit="rc.cir", budget=LARGEST, limit_s=30)

    for words in ("Why does Other.cir not run?", "other.cir跑不起来", "look at other.cir."):
        block = await told(words)
        assert "error: other.cir:3: Subcircuit NOSUCH is not defined" in block.text, words
        assert "meant when none is named: rc.cir" in block.text
        assert [*block.shown] == ["other.cir"]
    for words in ("Compare rc.cir with other.cir", "Why is another.cir slow?", "What is the corner?"):
        assert [*(await told(words)).shown] == ["rc.cir"], words


async def test_what_the_circuit_is_made_of_is_one_short_line_in_every_window(context: ToolContext) -> None:
    chain = "".join(
        f"RC{at} vcc collector_{at} 4k7\nRB{at} vcc base_{at} 82k\nRD{at} base_{at} 0 15k\n"
        f"QTRANSISTOR{at} collector_{at} base_{at} emitter_{at} n\nRE{at} emitter_{at} 0 1k\n"
        f"CE{at} emitter_{at} 0 100u\nCC{at} collector_{at - 1} base_{at} 1u\n"
        for at in range(1, 9)
    )
    deck = f"chain\nVCC vcc 0 12\nVIN collector_0 0 AC 1\n{chain}.model n npn\n.ac dec 5 1 1meg\n.end\n"
    root = context.project.root
    await asyncio.to_thread((root / "chain.cir").write_text, deck)
    head = "Made of: common_emitter QTRANSISTOR1 (gain -"
    for budget, end in ((LARGEST, "and 2 more"), (700, "and 5 more")):
        block = await project_context(
            context, "What is it?", main_circuit="chain.cir", budget=budget, limit_s=30
        )
        assert block.text.count(head) == 1
        line = next(each for each in block.text.splitlines() if each.startswith(head))
        assert line.endswith(end), line
        assert count_tokens(line) < 120
    long = deck.replace(".ac", "".join(f"RX{at} collector_8 0 {at}k\n" for at in range(1, 300)) + ".ac")
    await asyncio.to_thread((root / "long.cir").write_text, long)
    block = await project_context(context, "?", main_circuit="long.cir", budget=LARGEST, limit_s=30)
    assert block.text.count("made of (by its connections)") == 1  # in the outline


def test_shares_are_handed_on_and_every_cut_is_said() -> None:
    lines = tuple(f"line {at} of it" for at in range(2000))
    files = ContextPart(name="files", forms=(lines,), rest="list_project_files")
    circuit = ContextPart(name="circuit", forms=(lines, ("outline",)), source="a.cir")
    alone = assemble([files], LARGEST)
    together = assemble([circuit, files], LARGEST)
    assert alone.cut == ("files",)
    assert "more left out: list_project_files]" in alone.text
    assert dict(alone.tokens_of)["files"] > 0.9 * LARGEST  # nobody else needs anything
    assert '<data name="a.cir">\noutline\n</data>' in together.text
    for budget in (context_budget(8_000), context_budget(32_000), LARGEST):
        assert count_tokens(assemble([circuit, files], budget).text) <= budget + 30


def set_window(app: Application, tokens: int) -> None:
    """The model has a window of so many tokens."""
    user_home().mkdir(parents=True, exist_ok=True)
    own = {"models": {"m": {"context_tokens": tokens}}}
    (user_home() / "settings.json").write_text(json.dumps(own), encoding="utf-8")
    assert not app.program.warnings  # the settings are read, here and not on the loop


@pytest.mark.parametrize(
    ("window", "turns"), [(64_000, 8), pytest.param(8_000, 20, marks=pytest.mark.torture)]
)
async def test_in_many_turns_most_of_each_request_is_a_repeated_prefix(
    app: Application, tmp_path: Path, window: int, turns: int
) -> None:
    """Also where the window is small and earlier turns are left out."""
    (tmp_path / "rc.cir").write_text(CIRCUIT)
    (tmp_path / "spec.md").write_text("# Spec\n\nThe corner has to be 1.6 kHz within 5 %.\n")

    def script(body: dict[str, Any]) -> Script:
        results = sum(one["role"] == "tool" for one in body["messages"][-2:])
        question = first_message(body)[-1:]
        if not results:
            value = f"{int(question, 36) + 1}k"
            now = (tmp_path / "rc.cir").read_text().split("R1 in out ")[1].split("\n")[0]
            change = {"path": "rc.cir", "search": f"R1 in out {now}", "replace": f"R1 in out {value}"}
            reading = call("read_file", {"path": "rc.cir"}, id="b")
            return answer("", calls=[call("patch_file", change), reading])
        return answer("R1 has another value now, which moves the corner. " * 6)

    await asyncio.to_thread(set_window, app, window)
    session = ""
    with FakeLLMServer(script) as server:
        for at in range(turns):
            words = f"Change R1 so that the corner moves, step {'0123456789abcdefghij'[at]}"
            _, events = await turn(app, server, tmp_path, words, session_id=session)
            session = next(event.session_id for event in events if hasattr(event, "session_id"))
        bodies = server.requests
    share = repeated_share(bodies)
    print(f"window {window}: {share:.1%} of the tokens of {len(bodies)} requests were sent just before")
    assert len(bodies) == 2 * turns
    asked = sum(one["role"] == "user" for one in bodies[-1]["messages"])
    assert (asked < turns) == (window == 8_000)  # there earlier turns were left out
    assert share >= 0.7


def repeated_share(bodies: Sequence[dict[str, Any]]) -> float:
    """Of all tokens of the requests, those of the leading items that the request before had too."""
    repeated = whole = 0
    before: list[str] = []
    for body in bodies:
        items = [json.dumps(one, ensure_ascii=False) for one in (body.get("tools", []), *body["messages"])]
        sizes = [*map(count_tokens, items)]
        is_same = [one == other for one, other in zip(items, before, strict=False)]
        repeated += sum(sizes[: [*is_same, False].index(False)])
        whole += sum(sizes)
        before = items
    return repeated / whole


def known_share(bodies: Sequence[dict[str, Any]]) -> float:
    """The same with any earlier request: of all of them a provider still has what it read."""
    known: set[tuple[str, ...]] = set()
    repeated = whole = 0
    for body in bodies:
        items = [json.dumps(one, ensure_ascii=False) for one in (body.get("tools", []), *body["messages"])]
        sizes = [*map(count_tokens, items)]
        begins = [tuple(items[:count]) for count in range(1, len(items) + 1)]
        repeated += sum(sizes[: next((n for n, one in enumerate(begins) if one not in known), len(items))])
        whole += sum(sizes)
        known.update(begins)
    return repeated / whole


async def test_a_circuit_shown_only_with_the_message_is_told_as_changed(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "rc.cir"
    circuit.write_text(CIRCUIT)
    with FakeLLMServer([answer("An RC low-pass."), answer("Changed."), answer("Read again.")]) as server:
        _, events = await turn(app, server, tmp_path, "What is this?")
        session = next(event.session_id for event in events if hasattr(event, "session_id"))
        assert "R1 in out 1k" in first_message(server.requests[0])
        circuit.write_text(CIRCUIT.replace("100n", "47n"))
        await turn(app, server, tmp_path, "And now?", session_id=session)
        told = first_message(server.requests[1])
        assert "rc.cir was changed since you saw it, not by you" in told
        assert "-C1 out 0 100n\n+C1 out 0 47n\n" in told
        await turn(app, server, tmp_path, "And now?", session_id=session)
        assert "was changed since you saw it" not in first_message(server.requests[2])


async def test_figures_are_old_when_an_included_file_was_changed(app: Application, tmp_path: Path) -> None:
    (tmp_path / "parts.lib").write_text("R1 in out 1k\n")
    (tmp_path / "rc.cir").write_text(CIRCUIT.replace("R1 in out 1k", ".include parts.lib"))
    run = answer("", calls=[call("run_simulation", {"path": "rc.cir"})])
    with FakeLLMServer([run, answer("It ran."), answer("Yes."), answer("No.")]) as server:
        _, events = await turn(app, server, tmp_path, "Run it.")
        session = next(event.session_id for event in events if hasattr(event, "session_id"))
        await turn(app, server, tmp_path, "Is it still so?", session_id=session)
        assert "of the circuit as it is" in first_message(server.requests[-1])
        (tmp_path / "parts.lib").write_text("R1 in out 2k\n")
        await turn(app, server, tmp_path, "Is it still so?", session_id=session)
        told = first_message(server.requests[-1])
    assert "before the circuit was changed: old; changed since: parts.lib" in told


async def test_nodes_goals_and_runs_are_pointed_at_and_lines_have_numbers(
    app: Application, context: ToolContext, tmp_path: Path
) -> None:
    goal = DesignGoal(metric="gain", expression="max(vdb(out))", minimum=-3.0, unit="dB")
    await asyncio.to_thread(ask_of, context.project, tmp_path / "rc.cir", [goal])
    run = answer("", calls=[call("run_simulation", {"path": "rc.cir"})])
    with FakeLLMServer([run, answer("It ran.")]) as server:
        await turn(app, server, tmp_path, "Run it.")

    async def told(words: str) -> str:
        block = await project_context(context, words, main_circuit="rc.cir", budget=LARGEST, limit_s=30)
        return block.text

    for words in ("What hangs on @node:out?", "What hangs on @out?"):
        text = await told(words)
        assert '<data name="node out of rc.cir">\n3| R1 in out 1k\n4| C1 out 0 100n\nDC operating' in text
    (tmp_path / "amp.cir").write_text("* other\nV1 base 0 1\nR1 base out 2k\nR2 out 0 2k\n.op\n.end\n")
    in_front = EditorState(file="amp.cir", line=1, column=1)
    for node, circuit in (("base", "amp.cir"), ("out", "amp.cir"), ("in", "rc.cir")):
        block = await project_context(
            context, f"And @node:{node}?", main_circuit="rc.cir", editor=in_front, budget=LARGEST, limit_s=30
        )
        assert f'<data name="node {node} of {circuit}">' in block.text
    assert "V(out) = 0 V (of the circuit as it is)" in await told("And @node:out?")
    for words in ("Why is @goal:gain missed?", "Why is @gain missed?"):
        assert '<data name="goal gain">\nrc.cir: gain = max(vdb(out)): ' in await told(words)
    for words in ("Explain @run:1", "Explain @result", "Explain @result:1"):
        text = await told(words)
        assert '<data name="run ' in text
        assert text.count("Newest run of rc.cir: ok") == 1
        assert text.count("\nRun of rc.cir: ok") == 1
        assert "computed elsewhere" not in text
    assert "There is no such thing in this project." in await told("And @run:99?")
    assert "no such thing" not in await told("Ask @anna, please.")
    assert "3| R1 in out 1k" in await told("What does line 3 do?")
    assert "3| R1 in out 1k" in await told("What of @rc.cir:3-4?")
    assert "3| R1 in out 1k" not in await told("What is this?")
    many = " ".join(f"@file{number}.cir" for number in range(12))
    assert "[4 more that were named with @ are left out" in await told(many)


def test_shares_are_settings() -> None:
    large = replace(USUAL, circuit=5000, most=12_000)
    circuit = ContextPart(
        name="circuit", forms=(tuple(f"R{n} a b {n}k" for n in range(900)),), source="a.cir"
    )
    notes = ContextPart(name="passages", forms=(tuple(f"note {n} says so" for n in range(3000)),))
    given = {
        shares.most: dict(assemble([circuit, notes], context_budget(10**6, shares), shares).tokens_of)
        for shares in (USUAL, large)
    }
    assert given[12_000]["circuit"] > 1.3 * given[LARGEST]["circuit"]
    assert context_budget(10**6, large) == 12_000
    assert context_budget(8_000, replace(USUAL, window_percent=25)) == 2_000
    earlier = [HumanMessage(content=f"Turn {n}: " + "more words " * 40) for n in range(200)]
    room = ModelRoom(window=8_000)
    few, many = (earlier_messages(earlier, room=room, history_share=share)[0] for share in (0.2, 0.8))
    assert len(many) > 2 * len(few)


async def test_a_study_that_is_pointed_at_is_told_by_its_figures_and_worst_runs(
    app: Application, context: ToolContext, tmp_path: Path
) -> None:
    async def told(words: str) -> str:
        block = await project_context(context, words, main_circuit="rc.cir", budget=LARGEST, limit_s=30)
        start = block.text.find('<data name="study')
        return block.text if start < 0 else block.text[start : block.text.index("</data>", start)]

    assert "There is no such thing in this project." in await told("What of @study?")
    circuit = tmp_path / "rc.cir"
    spec = read_study_spec({
        "parameters": [{"name": "R1", "tolerance": "5%"}, {"name": "C1", "tolerance": "10%"}],
        "measure": {"fc": "bandwidth(v(out))"}, "goals": ["fc >= 1550"], "runs": 60,
    })  # fmt: skip
    kinds: tuple[StudyKind, ...] = ("montecarlo", "worst-case")
    found = {
        kind: await app.simulation.study(StudyRequest(circuit=circuit, kind=kind, spec=spec))
        for kind in kinds
    }
    scatter = found["montecarlo"]
    assert scatter.total_yield is not None
    text = await told(f"Why? @study:{study_name(scatter.result_path, 'montecarlo')}")
    assert f"({scatter.total_yield.passed} of 60)" in text
    assert "variance from C1" in text
    worst = min(scatter.rows, key=lambda row: row.metrics["fc"])
    assert f"{worst.run}: R1={worst.parameters['R1']:.6g}" in text
    assert "[the 12 worst of 60 runs]" in text
    assert count_tokens(text) < 1_200
    assert "worst-case of rc.cir: 9 runs" in await told("And @study?")
    assert await told("And @study:montecarlo?") != await told("And @study:worst-case?")
    circuit.write_text(CIRCUIT.replace("100n", "90n"))
    assert "The circuit was changed since this study" in await told("Still @study:worst-case?")
    (tmp_path / ".circuitaiignore").write_text("rc.cir\n")
    assert "variance from" in await told("Here, @study:montecarlo?")
    kept_back = replace(context, is_on_network=True)
    block = await project_context(kept_back, "@study:montecarlo", main_circuit="", budget=LARGEST, limit_s=30)
    assert "variance from" not in block.text
