"""Who turns a sentence into goals: the rules of the built-in designer, or the chosen model by one call.

Goals by one structured call: the model is asked once for JSON, and once more with the checker's words.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from application.workflow.journal import Said
from application.workflow.wording import LANGUAGE_NAMES, in_words, language_of
from domain.design import catalogue
from domain.design.designer import DesignIntent
from domain.design.goal_extraction import GoalsRead, read_answer
from domain.design.goal_words import in_words_of
from domain.design.goals_meant import goals_beside
from domain.design.known_requests import KnownRequests
from domain.design.locked_elements import speaks_of_locks
from domain.design.sentence import LONGEST_REQUEST, read_sentence
from domain.llm.context_block import fence_data
from domain.simulation.goals import DesignGoal
from shared.errors import CircuitError
from shared.late_patterns import late_pattern
from shared.message import Message, msg

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, SystemMessage

    from application.workflow.model_steps import ModelSteps

AskOnce = Callable[[Sequence["BaseMessage"]], Awaitable[str]]
"""Asks the model once, with JSON wanted (`json_mode`); gives the text of its answer."""

_SHOWN_AGAIN = 12_000
"""Characters of a refused answer that the model sees again."""


async def read_goals(ask: AskOnce, *, system: str, text: str) -> GoalsRead:
    """What a model makes of a user's `text`, told its task by `system` (EXTRACT_DESIGN_GOALS, filled).

    An answer that is not accepted is given back once with what is wrong. However that ends there is something
    to go on with: goals, questions or a `reply`; `problems` and `left_out` tell what was not understood even
    then. Nothing a model answers raises; what `ask` raises goes through.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    asked: list[BaseMessage] = [SystemMessage(system), HumanMessage(text)]
    answer = await ask(asked)
    first = read_answer(answer)
    if not first.problems:
        return first
    asked += [AIMessage(answer[:_SHOWN_AGAIN].strip() or "(nothing)"), HumanMessage(_correction(first))]
    second = read_answer(await ask(asked))
    return _with_reply(_better(first, second))


def _correction(refused: GoalsRead) -> str:
    lines = "\n".join(f"- {problem}" for problem in refused.problems)
    return (
        f"This answer cannot be used as it is:\n{fence_data('problems', lines)}\nSend the whole JSON object "
        "again, with this put right and everything else as it was. Nothing but the object."
    )


def _better(first: GoalsRead, second: GoalsRead) -> GoalsRead:
    """The second answer, unless it lost goals of the first one; a goal that it dropped is left out."""
    if second.problems and len(second.goals) < len(first.goals):
        return first
    if second.problems or len(second.goals) >= len(first.goals) + len(first.left_out):
        return second
    said = {word for goal in second.goals for word in (goal.words, goal.metric)}
    dropped = tuple(name for name in first.left_out if name not in said)
    return replace(second, left_out=dropped)


def _with_reply(found: GoalsRead) -> GoalsRead:
    """With our own words to the user where the model has none for what was not understood."""
    if found.reply:
        return found
    reply: str | Message = ""
    if found.left_out and (found.goals or not found.questions):
        reply = msg(
            "These requirements could not be turned into figures that a simulation measures: {names}. Say "
            "them differently, or continue without them.",
            names="; ".join(found.left_out),
        )
    elif not found.goals and not found.questions:
        reply = msg(
            "No goals could be read from the model's answer. Send the sentence again, choose another "
            "model, or give figures with units, for example “low-pass, cut-off 10 kHz, ripple below 0.1 "
            "dB”."
        )
    return replace(found, reply=reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A sentence that was read."""

    intent: DesignIntent | None
    """None when it asks for no circuit: it is answered by `reply`."""
    reply: Message | None = None
    said: Said = field(default_factory=Said)
    """What the reading took."""
    is_new_circuit: bool = False
    """A circuit of its own is to be designed, though there is one to begin from."""


_IMPROVES = late_pattern(
    r"(?:^|[.,;!:]\s*|\b(?:please|now|and)\s+)(?:improve|optimi[sz]e|tune|raise|increase|decrease|reduce|adjust|"
    r"change|modify|bring|make\s+(?:the|its|this|it)\b)"
    r"|\b(?:this|my|the)\s+(?:[\w-]+\s+){0,3}(?:circuit|amplifier|filter|converter|stage|buck|boost|regulator|divider)\b"
    r"|\b(?:stage|circuit|amplifier|filter|converter)\s+of\s+mine\b"
    r"|改进|优化|改善|提高|降低|调整|[把将].{0,12}(?:改|调|提|降)"
    r"|(?:这个?|该|本|此|当前|现有的?|已有的?|我的)[^，。,]{0,8}(?:电路|放大器?|滤波器?|变换器|转换器|电源)",
    re.IGNORECASE,
)
"""How a change of the circuit there is wanted, not another one of the kind it names."""
_NAMES_A_KIND = late_pattern(
    r"\b(?:filter|low-?\s?pass|high-?\s?pass|band-?\s?(?:pass|stop)|notch|amplifier|stage|follower|converter|regulator|"
    r"oscillator|mirror|divider|trigger|comparator|rectifier|buck|boost|mixer|driver|inverter|ladder)s?\b"
    r"|滤波|低通|高通|带通|带阻|陷波|放大(?:器|电路)|跟随|变换器|转换器|稳压|振荡|电流镜|分压|触发|比较器|整流|降压|升压|驱动|反相器",
    re.IGNORECASE,
)
"""Words for a kind of circuit; without one figures are those of the circuit there is."""
_ASKS = late_pattern(r"\b(?:design|build|make|create|draw)\b|设计|[做搭画](?:出|一?[个下])", re.IGNORECASE)
_MOST_ANSWERS = 3
"""Answers to what a request lacks that are read with it."""
_MOST_BEFORE = 8
"""Messages before a request that are read with it."""

Understand = Callable[[str], Awaitable[Understood]]
"""Reads a sentence. Raises CircuitError ("unknown_circuit", "missing_goal", "impossible_goal"),
ProviderError."""


class RuleGoals:
    """What the rules of the built-in designer read."""

    def __init__(
        self,
        said_before: Callable[[], Sequence[str]],
        *,
        circuit: str = "",
        ask_about: Callable[[str, str], Awaitable[str]] | None = None,
        goals_of: Callable[[str], Sequence[DesignGoal]] = lambda _circuit: (),
        known: Callable[[], KnownRequests],
    ) -> None:
        """`said_before`: what the user said before in this conversation, oldest first. `known` gives the
        known requests, in a thread; beside a circuit they are asked last.

        `ask_about(circuit, text)` gives the goals that a text asks of the circuit to begin from, as JSON;
        `goals_of(circuit)` those that it has, in a thread: they stand beside what else is asked.
        """
        self._said_before = said_before
        self._circuit = circuit
        self._ask_about = ask_about
        self._goals_of = goals_of
        self._known = known

    async def __call__(self, text: str) -> Understood:
        """A kind of circuit that is named means a new one, unless a change of the one there is wanted."""
        is_of_circuit = bool(self._circuit) and self._is_of_circuit(text)
        if is_of_circuit and (found := await self._of_circuit(text)) is not None:
            return found
        try:
            known = None if self._circuit else self._known
            intent = await asyncio.to_thread(understand_built_in, text, self._said_before(), known)
        except CircuitError as error:
            is_unnamed = error.error_type == "unknown_circuit" or not _NAMES_A_KIND.search(text)
            may_be = bool(self._circuit) and is_unnamed and not is_of_circuit
            if may_be and (found := await self._of_circuit(text)) is not None:
                return found
            if not (self._circuit and is_unnamed):
                raise
            intent = await asyncio.to_thread(understand_built_in, text, (), self._known)
        return Understood(intent=intent, is_new_circuit=bool(self._circuit))

    def _is_of_circuit(self, text: str) -> bool:
        """Whether a text speaks of the circuit there is: by its name, its parts, or a change of it."""
        if len(text) > LONGEST_REQUEST:
            return False
        if self._circuit in text or speaks_of_locks([text]) or _IMPROVES.search(text):
            return True
        return _NAMES_A_KIND.search(text) is None

    async def _of_circuit(self, text: str) -> Understood | None:
        """What is asked of the circuit there is; None where that is nothing."""
        if len(text) > LONGEST_REQUEST:
            return None
        assert self._ask_about is not None
        read = read_answer(await self._ask_about(self._circuit, text))
        if not (read.goals or read.reply or read.left_out):
            return None
        understood = await _understood(_with_reply(read), text, Said())
        return await _beside(understood, text, partial(self._goals_of, self._circuit))


def names_a_kind(text: str) -> bool:
    """Whether a sentence has a word for a kind of circuit."""
    return _NAMES_A_KIND.search(text) is not None


def wants_improvement(text: str) -> bool:
    """Whether a message may ask something of the circuit there is: it has a figure."""
    return bool(read_sentence(text[:LONGEST_REQUEST]).mentions)


def understand_built_in(
    text: str, before: Sequence[str], known: Callable[[], KnownRequests] | None
) -> DesignIntent:
    """The request by itself; one that has not all of its figures, or gives those another lacks, with what was
    said before it.

    No more of that than is needed, the newest first. Without `known` requests by the rules alone. Raises
    CircuitError.
    """
    try:
        return catalogue.understand(text, known and known())
    except CircuitError as error:
        is_part = error.error_type in ("unknown_circuit", "missing_goal")
        if not is_part or not (_ASKS.search(text) or _lacks_a_figure(before, known)):
            raise
        for count in range(1, min(len(before), _MOST_BEFORE) + 1):
            with contextlib.suppress(CircuitError):
                intent = catalogue.understand(". ".join([*before[-count:], text]))
                return replace(intent, language=language_of(text))
        raise


def _lacks_a_figure(before: Sequence[str], known: Callable[[], KnownRequests] | None) -> bool:
    """Whether the last request, with the answers behind it, was refused because a figure is missing."""
    for count in range(1, min(len(before), _MOST_ANSWERS) + 1):
        try:
            catalogue.understand(". ".join(before[-count:]), known and known())
        except CircuitError as error:
            if error.error_type == "missing_goal":
                return True
        else:
            return False
    return False


class ModelGoals:
    """One structured call to the chosen model, checked by our own language of expressions."""

    def __init__(
        self,
        steps: Callable[[], Awaitable[ModelSteps]],
        system_message: Callable[[Mapping[str, Any]], Awaitable[SystemMessage]],
        *,
        goals_there: Callable[[], Sequence[DesignGoal]] = tuple,
    ) -> None:
        """`goals_there` gives the goals that the circuit to begin from has, in a thread: they stand beside
        what else is asked."""
        self._steps = steps
        self._system_message = system_message
        """Made of the values of its template."""
        self._goals_there = goals_there

    async def __call__(self, text: str) -> Understood:
        steps = await self._steps()
        system = await self._system_message(goals_values(text))
        read = await read_goals(steps.ask, system=str(system.content), text=text)
        understood = await _understood(read, text, steps.take_spent())
        return await _beside(understood, text, self._goals_there)


async def _beside(understood: Understood, text: str, stand: Callable[[], Sequence[DesignGoal]]) -> Understood:
    """What was read with the goals that stand, which those read take the place of or come beside."""
    if understood.intent is None or not (there := await asyncio.to_thread(stand)):
        return understood
    goals = await asyncio.to_thread(goals_beside, text, there, understood.intent.goals)
    return replace(understood, intent=replace(understood.intent, goals=goals))


async def _understood(read: GoalsRead, text: str, said: Said) -> Understood:
    """What was read of a text: goals of no family of ours, or what is said back."""
    if not read.goals:
        words = [str(read.reply), *read.questions]
        reply = read.reply if isinstance(read.reply, Message) else in_words("\n".join(words))
        return Understood(intent=None, reply=reply, said=said)
    intent = DesignIntent(
        family="",
        parameters={"circuit_type": read.circuit_type, "summary": read.summary},
        goals=await asyncio.to_thread(in_words_of, read.goals, text),
        assumptions=_notes(read),
        language=language_of(text),
    )
    return Understood(intent=intent, said=said)


def goals_values(text: str) -> dict[str, str]:
    """What EXTRACT_DESIGN_GOALS is filled with, but for its context."""
    return {"user_requirement": text, "user_language": LANGUAGE_NAMES[language_of(text)]}


def _notes(read: GoalsRead) -> tuple[Message, ...]:
    """What was not understood, and what the model asks beside the goals it read."""
    replied = read.reply if isinstance(read.reply, Message) else in_words(read.reply)
    return tuple(note for note in (replied, *map(in_words, read.questions)) if str(note).strip())
