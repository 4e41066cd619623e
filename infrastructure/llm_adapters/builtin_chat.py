"""The built-in chat model: follows plain commands with the same tools as any model, without a network.

It is deterministic and keeps nothing: each request tells it the whole turn, so a restart changes
nothing. It never calls a tool that the request does not offer, and never more than `MOST_ROUNDS` in a turn.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from domain.llm.chat import ChatRequest, StreamChunk, Usage, WireMessage, WireToolCall
from domain.llm.context_block import MAIN_CIRCUIT
from infrastructure.llm_adapters.builtin_commands import (
    Change,
    Measure,
    Simulate,
    language_of,
    understand_command,
)
from infrastructure.llm_adapters.builtin_plans import plan_of
from infrastructure.llm_adapters.builtin_steps import Call, Outcome, Plan, Speech, abilities
from shared.message import Message, msg

if TYPE_CHECKING:
    from infrastructure.llm_adapters.builtin_design import Decided

MOST_ROUNDS = 8
"""The longest plan: list, write, simulate and measure a design, then once more with corrected values."""

_MODEL = "builtin"
_PIECE = re.compile(r"\s*\S+|\s+", re.DOTALL)
_DATA = re.compile(r"<data\b[^>]*>(?P<text>.*?)</data>\s*", re.DOTALL)
_CIRCUIT_LINE = re.compile(r"^- (?P<path>.+\.(?:cir|sp|spice|net|ckt))$", re.MULTILINE | re.IGNORECASE)
_MAIN_LINE = re.compile(rf"^{re.escape(MAIN_CIRCUIT)}(?P<path>.+)$", re.MULTILINE)
_PROGRAM_NOTE = "(A note of the program"
_NO_OUTCOME = Outcome("Error (interrupted): The call was interrupted.")


def _english(_language: Literal["en", "zh"]) -> Callable[[Message], str]:
    return str


class BuiltinChatClient:
    """Implements application.ports.conversation.ChatClient.

    `speaker(language)` gives the function that puts texts into that language; without it they are English.
    """

    def __init__(
        self, *, speaker: Callable[[Literal["en", "zh"]], Callable[[Message], str]] = _english
    ) -> None:
        self._speaker = speaker
        self._decided: tuple[str, Decided] | None = None
        """The newest step of a design and what it comes to: the same for both of its requests."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer in pieces, or the next tool call."""
        step = await asyncio.to_thread(self._next_step, request)
        if isinstance(step, Call):
            call = WireToolCall(
                provider_id="", name=step.tool, arguments=json.dumps(step.arguments, ensure_ascii=False)
            )
            yield StreamChunk(
                tool_calls=(call,),
                finish_reason="tool_calls",
                usage=Usage(),
                model=_MODEL,
                output_items=() if step.sizing is None else (step.sizing,),
            )
            return
        for piece in _PIECE.findall(step):
            yield StreamChunk(text=piece, model=_MODEL)
            await asyncio.sleep(0)
        yield StreamChunk(finish_reason="stop", usage=Usage(), model=_MODEL)

    async def models(self) -> tuple[str, ...]:
        return (_MODEL,)

    async def close(self) -> None:
        """Nothing is open."""

    def _next_step(self, request: ChatRequest) -> Call | str:
        """The next call of the turn's plan, or the answer. Pure, up to a tenth of a second of CPU."""
        said, circuits, main, since = _turn_of(request.messages)
        brief = request.messages[0].text if request.messages[0].role == "system" else ""
        if brief.startswith("{"):
            language: Literal["en", "zh"] = json.loads(brief)["intent"]["language"]
            say = self._speaker(language)
            plan = self._design_step(brief, Speech(say=say, circuits=circuits))
        else:
            say = self._speaker(language_of(said))
            if not said.strip():
                return say(abilities())
            command = understand_command(said, circuits)
            if isinstance(command, Change | Simulate | Measure) and not command.file:
                command = replace(command, file=main)
            plan = plan_of(command, Speech(say=say, circuits=circuits))
        outcomes = _outcomes(since)
        try:
            call = next(plan)
            for outcome in outcomes:
                call = plan.send(outcome)
        except StopIteration as end:
            answer: str = end.value
            return answer
        if len(outcomes) >= MOST_ROUNDS:
            return say(msg("Stopped after {count} {count:step|steps}.", count=len(outcomes)))
        if call.tool not in _offered(request):
            return say(msg("This needs the tool {tool}, which is not available here.", tool=call.tool))
        return call

    def _design_step(self, brief: str, speech: Speech) -> Plan:
        """Of a step of a design, told by its system message (`application.workflow.model_steps`)."""
        from infrastructure.llm_adapters.builtin_design import carry_out, decide

        if self._decided is None or self._decided[0] != brief:
            self._decided = brief, decide(json.loads(brief), speech.say)
        return carry_out(self._decided[1], speech)


def _turn_of(messages: Sequence[WireMessage]) -> tuple[str, tuple[str, ...], str, Sequence[WireMessage]]:
    """What the user said last, the circuits listed with it, the main one of them, and the messages since."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role == "user" and not message.text.startswith(_PROGRAM_NOTE):
            data = "\n".join(block["text"] for block in _DATA.finditer(message.text))
            circuits = tuple(found["path"] for found in _CIRCUIT_LINE.finditer(data))
            named = _MAIN_LINE.search(data)
            main = named["path"] if named is not None else ""
            return _DATA.sub("", message.text), circuits, main, messages[at + 1 :]
    return "", (), "", ()


def _outcomes(messages: Sequence[WireMessage]) -> list[Outcome]:
    """The outcome of each call since, in the order of the calls."""
    outcomes: list[Outcome] = []
    for at, message in enumerate(messages):
        if message.role != "assistant":
            continue
        results = _results_behind(messages, at)
        for call in message.tool_calls:
            own = next((result for result in results if result.tool_call_id == call.provider_id), None)
            own = own or (results[0] if results else None)
            if own is not None:
                results.remove(own)
            outcomes.append(Outcome(own.text) if own is not None else _NO_OUTCOME)
    return outcomes


def _results_behind(messages: Sequence[WireMessage], at: int) -> list[WireMessage]:
    results = []
    for message in messages[at + 1 :]:
        if message.role == "assistant":
            break
        if message.role == "tool":
            results.append(message)
    return results


def _offered(request: ChatRequest) -> frozenset[str]:
    return frozenset(str(tool.get("function", {}).get("name", "")) for tool in request.tools)
