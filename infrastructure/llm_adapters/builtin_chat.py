"""The built-in chat model: follows plain commands with the same tools as any model, without a network.

It is deterministic and keeps nothing: each request tells it the whole turn, so a restart changes nothing. It
never calls a tool that the request does not offer, and never more than `MOST_ROUNDS` in a turn.

What it does about a command is a plan: a generator that yields tool calls, gets their outcomes, and returns
the answer. It is run anew for every request with the outcomes the conversation holds so far: the first call
without an outcome is the next one to make. What it says comes from outcomes only.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, assert_never

from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.llm.chat import ChatRequest, StreamChunk, Usage, WireMessage, WireToolCall
from domain.llm.context_block import MAIN_CIRCUIT
from domain.llm.netlists_in_text import QUOTED
from infrastructure.llm_adapters.builtin_commands import (
    FIGURE,
    LONGEST_QUOTE,
    Analyze,
    Call,
    Change,
    Command,
    Delete,
    Design,
    ListFiles,
    Measure,
    Outcome,
    Plan,
    References,
    Search,
    Show,
    Simulate,
    SmallTalk,
    Speech,
    abilities,
    bullets,
    failed,
    inspection,
    language_of,
    simulation_failed,
    told,
    understand_command,
)
from shared.errors import CircuitAIError, CircuitError
from shared.message import Message, msg

if TYPE_CHECKING:
    from infrastructure.llm_adapters.builtin_design import Decided

_HEADER = re.compile(r"\[.*: lines (?P<ranges>\d[\d, -]*) of (?P<total>\d+)(?:, [^\]]*)?\]")


def plan_of(command: Command, speech: Speech) -> Plan:
    match command:
        case Change():
            plan = _change(command, speech)
        case Simulate():
            plan = _simulate(command, speech)
        case Measure():
            plan = _measure(command, speech)
        case Design():
            from infrastructure.llm_adapters.builtin_design import design  # with all families of circuits

            plan = design(command, speech)
        case SmallTalk():
            plan = _small_talk(command, speech)
        case Delete():
            plan = _delete(command, speech)
        case Show():
            plan = _show(command, speech)
        case ListFiles() | Search() | References() | Analyze():
            plan = _look_up(command, speech)
        case _:
            assert_never(command)
    return plan


# --- talking and looking -----------------------------------------------------------------------------


def _small_talk(command: SmallTalk, speech: Speech) -> Plan:
    yield from ()
    match command.kind:
        case "greeting":
            return speech.say(msg("Hello! Which circuit would you like to work on?"))
        case "thanks":
            return speech.say(msg("You're welcome."))
        case "help":
            return speech.say(abilities())


def _show(command: Show, speech: Speech) -> Plan:
    arguments: dict[str, Any] = {"path": command.file}
    if command.first is not None:
        arguments |= {"start_line": command.first, "end_line": command.last}
    outcome = yield Call(tool="read_file", arguments=arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    return _quoted(f"{command.file}:", outcome.text)


def _delete(command: Delete, speech: Speech) -> Plan:
    outcome = yield Call(tool="delete_file", arguments={"path": command.file})
    if outcome.error_type == "refused_by_user":
        return speech.say(msg("{file} was kept.", file=command.file))
    if outcome.error_type:
        return failed(outcome, speech)
    return speech.say(msg("{file} was deleted. This can be undone.", file=command.file))


def _look_up(command: ListFiles | Search | References | Analyze, speech: Speech) -> Plan:
    """One question to one tool, whose answer is shown as it is."""
    arguments: dict[str, Any]
    if isinstance(command, Analyze) and not command.file:
        if len(speech.circuits) != 1:
            return speech.say(_which_file(speech.circuits))
        command = Analyze(file=speech.circuits[0])
    match command:
        case ListFiles():
            tool, arguments, lead_in = "list_project_files", {}, msg("The project contains:")
        case Search():
            tool, arguments = "search_project", {"query": command.query}
            lead_in = msg("Here is what I found:")
        case References():
            tool, arguments = "search_project", {"query": command.symbol, "kind": "uses"}
            lead_in = msg("{name} appears here:", name=command.symbol)
        case Analyze():
            tool, arguments = "analyze_file", {"file_path": command.file}
            lead_in = msg("The outline of {file}:", file=command.file)
    outcome = yield Call(tool=tool, arguments=arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    if isinstance(command, Analyze) and not command.as_outline:
        from infrastructure.llm_adapters.builtin_explain import explained  # with the words of all stages

        if answer := explained(command.file, outcome.lines, speech.say):
            return answer
    return _quoted(speech.say(lead_in), outcome.text)


def _quoted(lead_in: str, text: str) -> str:
    """A tool's text in a block that nothing in it can close, marked as no proposal of a netlist."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{lead_in}\n{fence}{QUOTED}\n{text[:LONGEST_QUOTE]}\n{fence}"


# --- simulating and measuring ------------------------------------------------------------------------


def _simulate(command: Simulate, speech: Speech) -> Plan:
    arguments: dict[str, Any] = {"file_path": command.file} if command.file else {}
    if command.analysis_type:
        arguments["analysis_type"] = command.analysis_type
    if command.parameters:
        arguments["parameters"] = dict(command.parameters)
    return (yield from _run(arguments, command.expressions, speech))


def _run(arguments: Mapping[str, Any], expressions: Sequence[str], speech: Speech) -> Plan:
    outcome = yield Call(tool="run_simulation", arguments=arguments)
    if outcome.error_type:
        return simulation_failed(outcome, speech)
    report = _simulation_report(outcome, speech)
    if not expressions:
        return report
    file = arguments.get("file_path", "")
    figures = yield inspection(file, expressions)
    if figures.error_type:
        return f"{report}\n{failed(figures, speech)}"
    return f"{report}\n{bullets(_values_of(figures))}"


def _simulation_report(outcome: Outcome, speech: Speech) -> str:
    name = outcome.lines[0].partition(":")[0]
    warnings = [line.removeprefix("warning: ") for line in outcome.lines if line.startswith("warning: ")]
    metrics = [
        line
        for line in outcome.lines[1:]
        if FIGURE.fullmatch(line) and not line.startswith(("warning: ", "error: "))
    ]
    parts = [speech.say(msg("{file} was simulated without errors.", file=name))]
    if metrics:
        parts.append(bullets(metrics))
    else:
        example = f"max(v(out)) of {name}"
        hint = msg(
            "It has no .meas cards; ask for a measurement, for example “measure {example}”.", example=example
        )
        parts.append(speech.say(hint))
    if warnings:  # behind a blank line: else they would be part of the list's last item
        parts += [f"\n{speech.say(msg('Warnings:'))}", bullets(warnings)]
    return "\n".join(parts)


def _measure(command: Measure, speech: Speech) -> Plan:
    """Figures of the newest result; after a run when there is none or the tool has a remark on it.

    Such as that the circuit was changed since.
    """
    outcome = yield inspection(command.file, command.expressions)
    is_remarked = not outcome.error_type and " (" in outcome.lines[0]
    if is_remarked or outcome.error_type == "no_result":
        arguments = {"file_path": command.file} if command.file else {}
        return (yield from _run(arguments, command.expressions, speech))
    if outcome.error_type:
        return failed(outcome, speech)
    return f"{speech.say(msg('Measured:'))}\n{bullets(_values_of(outcome))}"


def _values_of(outcome: Outcome) -> list[str]:
    """The lines of inspect_data behind its heading."""
    return [line for line in outcome.lines[1:] if line.strip()]


# --- changing values ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """Neighbouring lines of a file and what they become."""

    before: str
    after: str
    search: str
    replace: str


def _change(command: Change, speech: Speech) -> Plan:
    file = command.file
    if not file:
        if len(speech.circuits) != 1:
            return speech.say(_which_file(speech.circuits))
        file = speech.circuits[0]
    outcome = yield Call(tool="read_file", arguments={"path": file})
    if outcome.error_type:
        return failed(outcome, speech)
    text = _whole_text(outcome)
    if text is None:  # too long to be shown whole: the places of the name are enough
        outcome = yield Call(tool="read_file", arguments={"path": file, "query": command.values[0][0]})
        if outcome.error_type:
            return failed(outcome, speech)
        text = _shown_text(outcome)
    has_title = PurePosixPath(file).suffix.lower() not in LIBRARY_SUFFIXES
    begins = re.search(r": lines 1-", outcome.lines[0]) is not None
    try:
        edits = value_changes(text, command.values, has_title=has_title and begins)
    except CircuitAIError as error:
        return told(error, speech)
    done: list[str] = []
    for edit in edits:
        patch = {"path": file, "search": edit.search, "replace": edit.replace}
        outcome = yield Call(tool="patch_file", arguments=patch)
        if outcome.error_type:
            return "\n".join([*done, failed(outcome, speech)])
        now = msg("{file}: “{before}” is now “{after}”.", file=file, before=edit.before, after=edit.after)
        done.append(speech.say(now))
    if not edits:
        done.append(speech.say(msg("{file} already has these values.", file=file)))
    if command.simulates:
        done.append((yield from _run({"file_path": file}, command.expressions, speech)))
    return "\n".join(done)


def _which_file(circuits: Sequence[str]) -> Message:
    if not circuits:
        return msg("The project has no circuit to change. Name the file, or ask me to design one.")
    names = ", ".join(circuits[:20])
    return msg("The project has several circuits: {names}. Say which one you mean.", names=names)


def _whole_text(outcome: Outcome) -> str | None:
    """The lines read_file shows, None when they are not the whole file."""
    header = _HEADER.fullmatch(outcome.lines[0])
    if header is None or header["ranges"] != f"1-{header['total']}":
        return None
    lines = outcome.lines[1 : 1 + int(header["total"])]
    return "\n".join(lines) if len(lines) == int(header["total"]) else None


def _shown_text(outcome: Outcome) -> str:
    """The lines read_file shows, its marks between them as comments."""
    lines = ["*" if re.fullmatch(r"\[.*\]", line) else line for line in outcome.lines[1:]]
    return "\n".join(lines)


def value_changes(text: str, values: Sequence[tuple[str, str]], *, has_title: bool) -> list[_Edit]:
    """The lines of a netlist that have to change to give elements or parameters new values.

    `has_title`: the first line is a title. Raises UserInputError for an unknown name or value, CircuitError
    ("ambiguous_element") for a name that several subcircuits have and the top level has not.
    """
    old = text.split("\n")
    new = list(old)
    for name, value in values:
        netlist = Netlist.parse("\n".join(new).encode(errors="replace"), has_title=has_title)
        first, last = _lines_of(netlist, name)
        lines = "\n".join(new[first:last]).encode(errors="replace")
        part = Netlist.parse(lines, has_title=has_title and first == 0)
        new[first:last] = part.with_value(name, value).to_bytes().decode().split("\n")
    changed = [at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    return [_edit(old, new, first, last) for first, last in _runs(changed)]


def _lines_of(netlist: Netlist, name: str) -> tuple[int, int | None]:
    """The lines to look at: all of them, or the one card of an element that only a subcircuit has."""
    named = [element for element in netlist.elements if element.key == name.lower()]
    if not named or any(not element.scope for element in named):
        return 0, None
    if len(named) > 1:
        raise CircuitError(
            msg("{name} appears in several subcircuits (lines {lines}).",
                name=name, lines=", ".join(str(element.line) for element in named)),
            advice=msg("Change it in the file itself, or use a language model."),
            error_type="ambiguous_element",
        )  # fmt: skip
    statements = netlist.statements
    following = [statement.line for statement in statements if statement.line > named[0].line]
    return named[0].line - 1, (following[0] - 1 if following else None)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _edit(old: Sequence[str], new: Sequence[str], first: int, last: int) -> _Edit:
    """The change of some lines, quoted with as many lines around as make the quotation unique."""
    text = "\n".join(old)
    low, high = first, last + 1
    while text.count("\n".join(old[low:high])) > 1 and high - low < len(old):
        low, high = max(low - 1, 0), min(high + 1, len(old))
    return _Edit(
        before="\n".join(old[first : last + 1]),
        after="\n".join(new[first : last + 1]),
        search="\n".join(old[low:high]),
        replace="\n".join([*old[low:first], *new[first : last + 1], *old[last + 1 : high]]),
    )


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
            if isinstance(command, Analyze | Change | Simulate | Measure) and not command.file:
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
