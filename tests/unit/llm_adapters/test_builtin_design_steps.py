"""The built-in model in a step of a design: what it is told decides, and nothing is kept between."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from application.design.plain_state import intent_to_plain, verdict_to_plain
from domain.design import catalogue
from domain.design.designer import DesignIntent, netlist_hash
from domain.llm.chat import ChatRequest, StreamChunk, WireMessage, WireToolCall
from domain.simulation.goals import GoalVerdict
from domain.simulation.result import Quantity
from infrastructure.llm_adapters.builtin.chat import BuiltinChatClient
from presentation.translation import Translator
from shared.errors import CircuitError

INTENT = catalogue.understand("Sallen-Key low-pass 1 kHz, order 2")
TOOLS = ({"type": "function", "function": {"name": "rewrite_file"}},)


def brief(task: str = "OPTIMIZE_PARAMETERS", intent: DesignIntent = INTENT, **more: Any) -> dict[str, Any]:
    known = {
        "goals_changed": False,
        "verdicts": [],
        "circuit": "",
        "netlist": "",
        "sizing": None,
        "taken": {},
    }
    return {"task": task, "intent": intent_to_plain(intent), **known, **more}


def measured(cutoff: float) -> list[dict[str, Any]]:
    """All goals met, but the cut-off where it is."""
    judged = []
    for goal in INTENT.goals:
        bounds = (goal.target, goal.maximum, goal.minimum)
        value = cutoff if goal.metric == "cutoff" else next(each for each in bounds if each is not None)
        quantity = Quantity(value=value, unit=goal.unit)
        judged.append(GoalVerdict(goal=goal, measured=quantity, met=goal.is_met_by(value)))
    return [verdict_to_plain(verdict) for verdict in judged]


async def said(told: dict[str, Any], *outcomes: str) -> StreamChunk | str:
    """The call, or the words, of a client that was never asked before."""
    messages = [
        WireMessage(role="system", text=json.dumps(told)),
        WireMessage(role="user", text="Next round."),
    ]
    for outcome in outcomes:
        call = WireToolCall(provider_id="1", name="rewrite_file", arguments="{}")
        messages += [
            WireMessage(role="assistant", tool_calls=(call,)),
            WireMessage(role="tool", text=outcome, tool_call_id="1", name="rewrite_file"),
        ]
    stream = BuiltinChatClient(speaker=Translator).stream(ChatRequest(messages=tuple(messages), tools=TOOLS))
    chunks = [chunk async for chunk in stream]
    return chunks[-1] if chunks[-1].tool_calls else "".join(chunk.text for chunk in chunks)


async def written(told: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Path, netlist, and what went with the call."""
    chunk = await said(told)
    assert isinstance(chunk, StreamChunk)
    (call,), (item,) = chunk.tool_calls, chunk.output_items
    arguments = json.loads(call.arguments)
    return arguments["path"], arguments["content"], json.loads(json.dumps(dict(item)))


async def test_a_first_circuit_has_a_name_that_nothing_has() -> None:
    path, netlist, sizing = await written(brief("INITIAL_DESIGN"))
    taken = {path.casefold(): "", path.replace(".cir", "_2.cir").casefold(): "another"}
    assert (await written(brief("INITIAL_DESIGN", taken=taken)))[0] == path.replace(".cir", "_3.cir")
    own = {path.casefold(): netlist_hash(netlist)}
    assert (await written(brief("INITIAL_DESIGN", taken=own)))[0] == path, "the very netlist is there already"
    assert (await written(brief("INITIAL_DESIGN", circuit="mine.cir")))[:2] == ("mine.cir", netlist)
    assert sizing["of"] == netlist_hash(netlist)


async def test_rounds_are_corrected_from_what_the_circuit_was_sized_for() -> None:
    _, first, sizing = await written(brief("INITIAL_DESIGN"))
    _, second, next_sizing = await written(
        brief(circuit="a.cir", netlist=first, sizing=sizing, verdicts=measured(800))
    )
    assert second != first
    told = brief(circuit="a.cir", netlist=second, sizing=next_sizing, verdicts=measured(900))
    _, third, _ = await written(told)
    assert third not in (first, second)
    assert str(await said(told, "Changed a.cir")).endswith(
        "The values were corrected from the measured results."
    )
    unsized = brief(circuit="a.cir", netlist=second, verdicts=measured(900))
    assert (await written(unsized))[1] == first, "nobody knows what it was sized for"
    again = brief(circuit="a.cir", netlist=first, verdicts=measured(800))
    assert (await written(again))[1] == second, "the first circuit is known by itself"


async def test_changed_goals_are_sized_for_or_judged() -> None:
    _, first, sizing = await written(brief("INITIAL_DESIGN"))
    cutoff, *others = INTENT.goals
    higher = catalogue.follow(INTENT, [replace(cutoff, minimum=1.9e3, maximum=2.1e3, target=2e3), *others])
    known = {"circuit": "a.cir", "netlist": first, "sizing": sizing, "verdicts": measured(1000)}
    _, other, item = await written(brief(intent=higher, goals_changed=True, **known))
    assert (other == first, item["parameters"]["stated_hz"]) == (False, 2e3)
    looser = replace(INTENT, goals=INTENT.goals[:1])
    assert (await written(brief(intent=looser, goals_changed=True, **known)))[1] == first
    assert await said(brief(**known)) == "No remaining change would bring the goals closer."


async def test_a_write_that_is_refused_is_told() -> None:
    refused = "Error (file_modified_externally): a.cir has been modified by another program."
    told = await said(brief("INITIAL_DESIGN"), refused)
    assert told == "That did not work: a.cir has been modified by another program."


async def test_a_design_that_a_language_model_began_is_gone_on_with_by_its_values_only() -> None:
    """Its circuit is looked at; there is none to be improved where it wrote none."""
    foreign = replace(INTENT, family="", parameters={"circuit_type": "oscillator"})
    told = brief(intent=foreign, circuit="a.cir", netlist="osc\n.end\n", said=[])
    assert await said(told) == "This needs the tool analyze_file, which is not available here."
    with pytest.raises(CircuitError, match="A language model began this design"):
        await said(brief("INITIAL_DESIGN", intent=foreign))
    assert catalogue.follow(foreign, INTENT.goals[:1]).goals == INTENT.goals[:1]
