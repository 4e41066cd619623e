"""The agent loop put together:  model -> review -> confirm -> tools -> model ...

It ends with an answer that calls no tool. The model is asked in `model_node.py`; the other steps are here.

`review` judges what the calls would do and is left out when none might have to be asked about; `confirm`
asks the user, and is left out when none has to. Asking is a step of its own without any effect before its
interrupt: LangGraph runs such a node again from its start when the answer comes. One interrupt stands for all
calls of the answer, because a plain resume cannot tell parallel ones apart.

A turn that was interrupted is taken up by starting the loop with the state its transcript tells: with calls
that have no result yet it begins at their review, so that a question that was not answered is asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt

from application.graph.runtime import CompiledGraph, carried, tell
from application.graph.state import AgentState, GraphState
from application.ports.events import PhaseEntered, ToolEnded, ToolStarted
from domain.llm.agentic_loop.turn import NOT_RUN, READ_AGAIN, advice_after_failure, failures_of, signature_of
from domain.llm.chat import RESULT_LIMIT
from domain.llm.messages import (
    get_result_path,
    get_summary_message,
    get_tool_error_type,
    get_tool_success,
)
from domain.llm.service import Pace
from domain.llm.tool_servers import is_of_server
from domain.llm.tools.confirmation_card import answers_from_plain
from domain.llm.tools.result import ToolCall, ToolResult, cut_middle, duration_in, failure
from domain.llm.web_search import WEB_SEARCH
from shared.errors import UserInputError
from shared.message import msg
from shared.tasks import Breaking, RunningCalls

if TYPE_CHECKING:
    from application.agent.conversation import Conversation
    from application.agent.model_node import ModelNode
    from application.agent.turn_confirmation import TurnConfirmation
    from application.agent.watch import TurnWatch
    from application.ports.tracing import Span
    from application.tool_execution.definition import ToolContext
    from application.tool_execution.executor import ToolExecutor

_SIDE_BY_SIDE = ("read", "simulate")
"""Effect classes of which calls that follow each other may run at the same time."""

_ENDABLE = ("simulate", "outside")
"""Effect classes of calls that may take long, and that leave no file half-changed where they are ended."""
_READ_RETRIES = 2
_PACE_WINDOW_S = 3
"""A short burst is no flood."""


class ToolsNode:
    """Runs pending calls; each result is in the transcript before its checkpoint."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        executor: ToolExecutor,
        context: ToolContext,
        watch: TurnWatch,
        span: Span,
        offered: frozenset[str],
        running: RunningCalls,
    ) -> None:
        """`offered`: the tools a model has here; no other one is run."""
        self._running = running
        self._conversation = conversation
        self._executor = executor
        self._offered = offered
        self._context = context
        self._watch = watch
        self._limits = watch.limits
        self._pace = Pace(watch.limits.calls_per_second, window_s=_PACE_WINDOW_S)
        self._span = span
        """Of the loop: each call is one inside it."""

    async def __call__(self, state: AgentState) -> AgentState:
        """Run the next call, or up to `parallel` reading (or simulating) ones that follow each other."""
        group = self._next_group(state["agent_pending"])
        tell(PhaseEntered(phase="executing", round_number=state["agent_round"]))
        try:
            async with asyncio.TaskGroup() as tasks:
                for call in group:
                    tasks.create_task(self._run(call))
        except ExceptionGroup as failures:  # the log or the transcript cannot be written
            raise failures.exceptions[0] from failures
        if len(group) == len(state["agent_pending"]):
            tell(PhaseEntered(phase="aggregating", round_number=state["agent_round"]))
        return {
            "agent_pending": state["agent_pending"][len(group) :],
            "agent_steps": self._conversation.record.ids_of_turn(),
        }

    def _next_group(self, pending: Sequence[str]) -> list[ToolCall]:
        calls = [self._call(call_id) for call_id in pending]
        if self._is_too_many(calls[0]):
            return list(takewhile(self._is_too_many, calls))
        group: list[ToolCall] = []
        signatures: set[str] = set()
        for call in calls[: self._limits.parallel]:
            effect = self._executor.effect_of(call.name)
            if group and effect != self._executor.effect_of(group[0].name):
                break
            if self._is_too_many(call):
                break
            signature = signature_of(call.name, call.arguments)
            if signature in signatures:  # one after the other, so that the second knows how the first ended
                break
            group.append(call)
            signatures.add(signature)
            if effect not in _SIDE_BY_SIDE:
                break
        return group

    def _call(self, call_id: str) -> ToolCall:
        call = self._conversation.record.call(call_id)
        if call is None:
            raise UserInputError(
                msg("The saved steps of this conversation do not fit its transcript."),
                advice=msg("Send the message again; the list of operations shows the state of the files."),
                error_type="out_of_step",
            )
        return self._executor.own_call(call)  # it may have been made when its tool had another name

    async def _run(self, call: ToolCall) -> None:
        """Run the call, unless its result is there since before an interruption."""
        written = self._conversation.record.result_of(call.call_id)
        if written is None:
            tell(
                ToolStarted(
                    call_id=call.call_id,
                    name=call.name,
                    arguments=dict(call.arguments),
                    can_be_ended=self._executor.effect_of(call.name) in _ENDABLE,
                )
            )
            clock = asyncio.get_running_loop().time
            began = clock()
            result = await self._traced(call)
            written = await self._conversation.add_result(call, result, seconds=clock() - began)
        else:  # run before an interruption: whoever watches now still sees it
            tell(ToolStarted(call_id=call.call_id, name=call.name, arguments=dict(call.arguments)))
        tell(ended(written))

    async def _traced(self, call: ToolCall) -> ToolResult:
        """The call's result; the call is a span, which tells no arguments and no texts."""
        # What a model calls a tool may be anything; names of ours are no secret.
        name = call.name if call.name in self._executor.names else "unknown"
        with self._span.child(
            f"tool {name}",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=name,
            gen_ai__tool__call__id=call.call_id,
            effect=self._executor.effect_of(call.name),
            argument_characters=len(str(call.arguments)),
        ) as span:
            result = await self._result(call)
            span.note(result_characters=len(result.content))
            if not result.success:
                span.fail(result.error_type)
            return result

    async def _result(self, call: ToolCall) -> ToolResult:
        """What the call gives, or why it is not run."""
        if self._is_too_many(call):
            return _not_run(self._limits.calls_per_answer)
        is_known = call.name in self._executor.names
        if is_known and call.name not in self._offered:
            return _not_offered(call)
        if await self._watch.is_refused(call):
            return _refused(call)
        if not is_known:
            withheld = {WEB_SEARCH} if self._context.web_search is None else set[str]()
            return self._with_advice(call, self._executor.unknown(call.name, self._offered - withheld))
        return self._with_advice(call, await self._execute(call))

    async def _execute(self, call: ToolCall) -> ToolResult:
        """The call's result; reading that failed for a passing reason is tried again, a change never."""
        wait_s = self._pace.wait_s(asyncio.get_running_loop().time())
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        effect = self._executor.effect_of(call.name)
        if effect in _ENDABLE:
            return await self._endable(call)
        result = await self._executor.execute(call, self._context)
        if effect == "read":
            for _ in range(_READ_RETRIES):
                if result.success or not (result.is_environment or result.error_type == "timeout"):
                    break
                result = await self._executor.execute(call, self._context)
        return result

    async def _endable(self, call: ToolCall) -> ToolResult:
        """The result of a call that its user may end by itself; the turn goes on then."""
        end = Breaking("user")
        with self._running.known(call.call_id, end), end:
            return await self._executor.execute(call, self._context)
        kept = await self._executor.settle(call, self._context, reason="stopped")
        if not kept.success and self._executor.effect_of(call.name) == "simulate":
            results, root = self._context.services.results, self._context.project.root
            await asyncio.to_thread(results.forget, root, call.call_id)
        return _ended_by_user(call.name, kept)

    def _with_advice(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result; of a call that failed before in the same way, with a word about that."""
        if result.success or result.error_type in NOT_RUN | READ_AGAIN:
            return result
        failed = failures_of(self._watch.record(), signature_of(call.name, call.arguments)) + 1
        advice = advice_after_failure(failed)
        if not advice:
            return result
        content = cut_middle(result.content, RESULT_LIMIT - len(advice) - 1)
        return replace(result, content=f"{content}\n{advice}")

    def _is_too_many(self, call: ToolCall) -> bool:
        place = self._conversation.record.place_in_answer(call.call_id, self._executor.is_limited)
        return place >= self._limits.calls_per_answer


def ended(written: ToolMessage) -> ToolEnded:
    """What is told of a call with its result."""
    return ToolEnded(
        call_id=written.tool_call_id,
        name=str(written.name),
        success=get_tool_success(written),
        summary=get_summary_message(written),
        error_type=get_tool_error_type(written),
        result_path=get_result_path(written),
        duration_s=duration_in(written.additional_kwargs.get("result")),
    )


def _ended_by_user(tool: str, kept: ToolResult) -> ToolResult:
    """The result of a call that its user has ended; `kept` is what became of it."""
    if kept.success:  # of many runs those that were done
        told = "The user stopped this call. What was done by then is kept:"
        return ToolResult(
            success=True,
            content=f"{told}\n{kept.content}",
            summary=msg("Stopped by you. {summary}", summary=kept.summary),
            result=kept.result,
        )
    of_server = kept.summary if is_of_server(tool) else None
    return failure(
        "stopped",
        of_server or msg("{tool} was stopped by the user before it finished; it changed nothing.", tool=tool),
        suggestions=(msg("Do not repeat it unasked: continue with what is known, or ask the user."),),
        told=of_server or msg("Stopped by you before it finished; it changed nothing."),
    )


def _refused(call: ToolCall) -> ToolResult:
    """The result of a call that failed before, the same each time, and is not tried again."""
    return failure(
        "repeated_failure",
        msg("{tool} was not run: the same call has already failed twice.", tool=call.name),
        suggestions=(
            msg(
                "Change its arguments, or find out first why it failed; once a file changes it can run again."
            ),
        ),
        told=msg("Not run: the same call had already failed twice."),
    )


def _not_offered(call: ToolCall) -> ToolResult:
    """The result of a call of a tool that the model was not given in this step."""
    return failure(
        "not_offered",
        msg("{tool} is not available here.", tool=call.name),
        suggestions=(msg("Use one of the tools that are offered, or answer in words."),),
        told=msg("The assistant is not allowed to do this here."),
    )


def _not_run(limit: int) -> ToolResult:
    return ToolResult(
        success=False,
        content=f"Not run: only the first {limit} calls of an answer that change or simulate something are "
        "run. Ask again for this one.",
        summary=msg("Not run: only the first {limit} calls of an answer are run.", limit=limit),
        error_type="too_many_calls",
        error_message=msg("Only the first {limit} tool calls of an answer are run.", limit=limit),
        suggestions=(msg("Make the call again in the next answer."),),
    )


FREE_WORK = "free_work"
"""The loop's node in the graph of a session."""
CONFIRM = "confirm"
"""Kind of the interrupt's value, beside ``card_id``."""


class ReviewNode:
    """Judges the pending calls and writes the question, if there is one, to the transcript."""

    def __init__(
        self, *, confirmation: TurnConfirmation, context: ToolContext, offered: frozenset[str]
    ) -> None:
        """`offered`: the tools a model has here; nobody is asked about another one, as it is not run."""
        self._confirmation = confirmation
        self._context = context
        self._offered = offered

    async def __call__(self, state: AgentState) -> AgentState:
        """Set the card that has to be answered. Raises UserInputError for unreadable permissions."""
        card_id = await self._confirmation.review(self._run_here(state), self._context)
        if card_id:
            tell(PhaseEntered(phase="waiting", round_number=state["agent_round"]))
        return {"agent_question": card_id}

    async def is_needed(self, state: AgentState) -> bool:
        """Whether the calls might have to be asked about; else this step is saved."""
        return await self._confirmation.needs_review(self._run_here(state), self._context)

    def _run_here(self, state: AgentState) -> list[str]:
        calls = ((call_id, self._confirmation.call(call_id)) for call_id in state["agent_pending"])
        return [call_id for call_id, call in calls if call is not None and call.name in self._offered]


class ConfirmNode:
    """Waits for the answers and writes them to the transcript."""

    def __init__(self, *, confirmation: TurnConfirmation, context: ToolContext) -> None:
        self._confirmation = confirmation
        self._context = context

    async def __call__(self, state: AgentState) -> AgentState:
        """One interrupt; its answer is on the disk before the calls run."""
        given = interrupt({"kind": CONFIRM, "card_id": state["agent_question"]})
        await self._confirmation.record(state["agent_question"], answers_from_plain(given), self._context)
        return {"agent_question": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The nodes of the loop."""

    model: ModelNode
    review: ReviewNode
    confirm: ConfirmNode
    tools: ToolsNode


LoopGraph = CompiledStateGraph[AgentState, None, AgentState, AgentState]
LOOP = "__agent_loop"
"""Where a run carries the nodes of its loop."""


@cache
def compiled_loop(*, asks: bool = True) -> LoopGraph:
    """The loop as a graph that runs inside a node of another one, whose checkpointer it shares.

    Its nodes are those that the run carries. Without `asks` it runs the calls that are pending, and no model
    is asked about their results.
    """
    model = "model" if asks else END

    async def next_step(state: AgentState, config: RunnableConfig) -> str:
        if state.get("agent_ended"):
            return END
        if not state.get("agent_pending"):
            return model
        return "review" if await _nodes(config).review.is_needed(state) else "tools"

    async def after_tools(state: AgentState) -> str:
        if state.get("agent_ended"):
            return END
        return "tools" if state.get("agent_pending") else model

    def named(name: str) -> Any:
        async def run(state: AgentState, config: RunnableConfig) -> AgentState:
            found: AgentState = await getattr(_nodes(config), name)(state)
            return found

        return run

    loop: StateGraph[AgentState, None, AgentState, AgentState] = StateGraph(AgentState)
    for name in ("model", "review", "confirm", "tools"):
        loop.add_node(name, named(name))
    loop.add_conditional_edges(START, next_step, ["review", "tools", "model", END])
    loop.add_conditional_edges("model", next_step, ["review", "tools", "model", END])
    loop.add_conditional_edges("review", _after_review, ["confirm", "tools"])
    loop.add_edge("confirm", "tools")
    loop.add_conditional_edges("tools", after_tools, ["tools", "model", END])
    return loop.compile()


@cache
def compiled_agent() -> CompiledGraph:
    """The graph of a turn: the loop as one node, whose steps are saved with the graph's."""
    graph: StateGraph[GraphState, None, GraphState, GraphState] = StateGraph(GraphState)
    graph.add_node(FREE_WORK, cast("Any", compiled_loop()))
    graph.add_edge(START, FREE_WORK)
    graph.add_edge(FREE_WORK, END)
    return graph.compile()


def _nodes(config: RunnableConfig) -> Loop:
    return cast("Loop", carried(config, LOOP))


async def _after_review(state: AgentState) -> str:
    return "confirm" if state.get("agent_question") else "tools"
