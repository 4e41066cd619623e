"""The running turn as the rules of the loop see it, read from its conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages import ToolCall as LangChainCall

from application.agent.past import Past
from domain.design.fenced_netlist import fenced_netlist
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.evidence import doubts_about
from domain.llm.agentic_loop.policy import (
    Ask,
    End,
    is_cut,
    next_move,
    out_of_money,
    out_of_tokens,
    uncounted,
    without_price,
)
from domain.llm.agentic_loop.turn import (
    READ_AGAIN,
    AnswerRecord,
    CallRecord,
    TurnRecord,
    is_refused,
    read_answer,
    signature_of,
    simulations,
)
from domain.llm.costs import FREE, Cost, Price, PriceList, cost_of, total
from domain.llm.messages import (
    get_cost,
    get_program_step,
    get_sources,
    get_text,
    get_timestamp,
    get_tool_error_type,
    get_tool_success,
    is_partial_response,
)
from domain.llm.provider_settings import BUILTIN
from shared.cpu_executor import CpuWorkerCrashed
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.conversation import ChatModels
    from application.tool_execution.executor import ToolExecutor
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.chat import ProviderChoice
    from domain.llm.conversation_record import ConversationRecord
    from domain.llm.tools.result import ToolCall
    from domain.simulation.goals import DesignGoal
    from shared.cpu_executor import CpuTaskExecutor
    from shared.message import Message

_logger = logging.getLogger(__name__)

_PATH_ARGUMENTS = ("path", "file_path")
_LEAVING_FILES = {"read", "outside", "simulate"}
"""Effects of calls that change no file."""
_LONG = 4_000
"""Characters of an answer; judging one takes a tenth of a second."""
_CLOCK_STEP_S = 0.001
"""Messages carry their time in milliseconds."""


class Pricing:
    """What the model that is asked now costs, looked up once for each model that is."""

    def __init__(self, models: ChatModels) -> None:
        self._models = models
        self._prices: PriceList = lambda _model: None
        self.choice: ProviderChoice | None = None
        """What was looked up last."""

    async def look_up(self, choice: ProviderChoice) -> None:
        """From now on this model is asked. One that can't be asked has no price; asking it says why."""
        if choice == self.choice:
            return
        try:
            self._prices = await asyncio.to_thread(self._models.prices, choice)
        except CircuitAIError as error:
            _logger.info("No price for %s: %s", choice.provider, error)
            self._prices = lambda _model: None
        self.choice = choice

    def price(self, model: str = "") -> Price | None:
        """Of the chosen model; `model` is what the server calls it."""
        return self._prices(model)

    def of_unfinished(self) -> Cost:
        """What an answer costs that is never finished: unknown, or nothing."""
        return cost_of(None, self.price())


class TurnWatch:
    """Judges the newest turn of a conversation by its transcript alone (and the clock of its state)."""

    def __init__(
        self,
        *,
        conversation: ConversationRecord,
        executor: ToolExecutor,
        limits: AgentLimits,
        goals: Callable[[str], Awaitable[Sequence[DesignGoal]]],
        root: Path,
        pricing: Pricing,
        cpu: CpuTaskExecutor,
    ) -> None:
        self._conversation = conversation
        self._cpu = cpu
        self._executor = executor
        self._goals = goals
        self._root = root
        self._known: dict[str, CallRecord] = {}
        self._judged: tuple[object, Doubts] | None = None
        """The newest doubts and what they are about: asked several times about each answer, and dear."""
        self.context = ""
        """The data that went with the turn's message."""
        self.has_tools = True
        """The model that is asked was given tools."""
        self.limits = limits
        self.pricing = pricing
        """Of the model that is asked."""

    def record(self, *, with_answer: AIMessage | None = None) -> TurnRecord:
        """The turn so far; `with_answer` is one that is not written yet (a new one, or one gone on with)."""
        conversation = self._conversation
        answers = list(conversation.answers_of_turn())
        if with_answer is not None:
            answers = [one for one in answers if one.id != with_answer.id] + [with_answer]
        messages = conversation.messages_of_turn()
        return TurnRecord(
            question=get_text(messages[0]) if messages else "",
            answers=tuple(map(self._read, answers)),
            rounds=conversation.answers_asked + (with_answer is not None),
        )

    def _read(self, message: AIMessage) -> AnswerRecord:
        results: Mapping[str, ToolMessage] = {
            call_id: result
            for call in message.tool_calls
            if (result := self._conversation.result_of(call_id := str(call["id"]))) is not None
        }
        return read_answer(
            message, results, self._executor.effect_of, self._executor.groups_of, known=self._known
        )

    async def next_move(self, seconds: float, *, with_answer: AIMessage | None = None) -> Ask | End:
        """What comes next; `seconds` is the model time used."""
        turn = self.record(with_answer=with_answer)
        last = turn.last
        # The circuit whose runs are judged: a study or another call behind them may be of another one.
        runs = [] if last is None else simulations(last.calls)
        circuit = str(runs[-1].result.get("file_path", "")) if runs else ""
        move = next_move(
            turn,
            self.limits,
            seconds=seconds,
            goals=await self._goals(circuit) if circuit else (),
            doubts=await self.doubts(with_answer=with_answer),
        )
        if isinstance(move, Ask) and (why := self.spent(with_answer)) is not None:
            return End(reason="limit", why=why)  # a whole answer stays a whole answer
        return move

    def spent(self, with_answer: AIMessage | None = None) -> Message | None:
        """Why no further request may be sent in this conversation; None when one may."""
        if self.limits.session_tokens:
            tokens = self._tokens_spent(with_answer)
            if tokens >= self.limits.session_tokens:
                return out_of_tokens(tokens, self.limits)
        if not self.limits.session_cost:
            return None
        cost = self.session_cost(with_answer).amounts.get(self.limits.currency, 0.0)
        if cost >= self.limits.session_cost:
            return out_of_money(cost, self.limits)
        return self.unpriced() or self._uncounted(with_answer)

    def _uncounted(self, with_answer: AIMessage | None) -> Message | None:
        """Why a limit in money can't be kept behind this turn's answers (but those that were stopped)."""
        answers = [*self._conversation.answers_of_turn(), *([] if with_answer is None else [with_answer])]
        whole = [answer for answer in answers if not is_partial_response(answer)]
        if self.pricing.choice is None or not total(map(get_cost, whole)).unknown:
            return None
        return uncounted(self.pricing.choice, self.limits)

    def unpriced(self) -> Message | None:
        """Why a limit in money can't be kept with the model that is asked now; None when it can."""
        choice = self.pricing.choice
        if not self.limits.session_cost or choice is None:
            return None
        price = self.pricing.price()
        if price == FREE or (price is not None and price.currency == self.limits.currency):
            return None
        return without_price(choice, price, self.limits)

    def session_cost(self, with_answer: AIMessage | None = None) -> Cost:
        """What the whole conversation has cost, its summaries included."""
        return self._conversation.spent(with_answer)[0] + self._conversation.compressions.cost

    def _tokens_spent(self, with_answer: AIMessage | None) -> int:
        return self._conversation.spent(with_answer)[1] + self._conversation.compressions.tokens

    async def doubts(self, *, with_answer: AIMessage | None = None) -> Doubts | None:
        """What of the newest answer, when it ended in words, nothing stands behind."""
        last = self.record(with_answer=with_answer).last
        if last is None or last.calls or is_cut(last):
            return None
        answers = [*self._conversation.answers_of_turn(), *([] if with_answer is None else [with_answer])]
        if answers[-1].additional_kwargs.get("provider") == BUILTIN:
            return None  # it says what its equations gave, which stand in no result
        if self._is_judged_next(last.text):
            return None  # what a design is expected to do, said before the program simulates and judges it
        # Figures may come from pages or pictures, which are not read here.
        has_other_sources = bool(get_sources(answers[-1])) or self._conversation.has_attachments
        messages, turn = self._conversation.messages, self._conversation.messages_of_turn()

        text, executor, context = last.text, self._executor, self.context
        others = tuple(message.id for message in messages if message.id != answers[-1].id)
        about = (answers[-1].id, text, others, context, self.has_tools, has_other_sources)
        if self._judged is None or self._judged[0] != about:
            evidence = await asyncio.to_thread(lambda: Past(messages, turn, context, executor).evidence)
            tools = executor.names if self.has_tools else frozenset()
            judge = partial(doubts_about, text, evidence, tools=tools, has_other_sources=has_other_sources)
            self._judged = about, await self._judge(judge, is_long=len(text) > _LONG)
        return self._judged[1]

    async def _judge(self, judge: Callable[[], Doubts], *, is_long: bool) -> Doubts:
        """In a process of its own when it takes long: a thread would keep Python's lock from the loop."""
        try:
            if is_long:
                try:
                    return await self._cpu.run(judge)
                except CpuWorkerCrashed:
                    _logger.warning("The process that judged an answer has ended; it is judged here.")
            return await asyncio.to_thread(judge)
        except Exception:  # a fault of the check must not take the answer along
            _logger.exception("An answer could not be checked; it stands as it came.")
            return Doubts()

    def _is_judged_next(self, text: str) -> bool:
        """Whether the turn is a step of a design that leaves a circuit to be simulated."""
        turn = self._conversation.messages_of_turn()
        if not turn or not get_program_step(turn[0]):
            return False
        calls = (call for answer in self._conversation.answers_of_turn() for call in answer.tool_calls)
        effects = {self._executor.effect_of(call["name"]) for call in calls if self._has_worked(call)}
        return not effects <= _LEAVING_FILES or bool(fenced_netlist(text))

    def _has_worked(self, call: LangChainCall) -> bool:
        result = self._conversation.result_of(str(call["id"]))
        return result is not None and get_tool_success(result)

    async def is_refused(self, call: ToolCall) -> bool:
        """Whether a call is not run because it failed before, and nothing it names is another since."""
        signature = signature_of(call.name, call.arguments)
        if not is_refused(self.record(), signature):
            return False
        named = [name for key in _PATH_ARGUMENTS if isinstance(name := call.arguments.get(key), str)]
        written_at = await asyncio.to_thread(_last_written, self._root, named)
        return written_at <= self._failed_at(signature) + _CLOCK_STEP_S

    def _failed_at(self, signature: str) -> float:
        """When a call of this turn failed last in a way that counts, in seconds of the clock."""
        times = [
            _seconds_of(get_timestamp(result))
            for message in self._conversation.answers_of_turn()
            for call in message.tool_calls
            if signature_of(call["name"], call["args"]) == signature
            and (result := self._conversation.result_of(str(call["id"]))) is not None
            and get_tool_error_type(result) not in READ_AGAIN
        ]
        return max(times, default=0.0)


def _last_written(root: Path, names: Sequence[str]) -> float:
    """When one of these files of the project was written last; 0 without any. Blocking."""
    times = [0.0]
    for name in names:
        try:
            path = (root / name).resolve()
            if path.is_relative_to(root.resolve()):
                times.append(path.stat().st_mtime)
        except (OSError, ValueError, RuntimeError):  # no such file, or no name of one
            continue
    return max(times)


def _seconds_of(timestamp: str) -> float:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError):
        return 0.0
