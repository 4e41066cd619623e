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

from domain.circuit.netlist import CIRCUIT_SUFFIXES
from domain.design.engine.device_cards import CARDS
from domain.design.sentence import LONGEST_REQUEST
from domain.llm.chat import ChatRequest, StreamChunk, Usage, WireMessage, WireToolCall
from domain.llm.context_block import MAIN_CIRCUIT
from domain.llm.netlists_in_text import QUOTED
from infrastructure.llm_adapters.builtin.command import (
    Analyze,
    Change,
    Command,
    Delete,
    Design,
    ListFiles,
    Measure,
    References,
    Search,
    Several,
    Show,
    Simulate,
    SmallTalk,
    Unclear,
)
from infrastructure.llm_adapters.builtin.commands import abilities, language_of, understand_command
from infrastructure.llm_adapters.builtin.figures import FIGURES, number, shown
from infrastructure.llm_adapters.builtin.looking import arguments_of
from infrastructure.llm_adapters.builtin.plans import (
    FIGURE,
    LONGEST_QUOTE,
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    change_values,
    failed,
    inspection,
    simulation_failed,
    which_file,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from shared.message import Message, msg

if TYPE_CHECKING:
    from infrastructure.llm_adapters.builtin.design import Decided

_HEADER = re.compile(r"\[.*: lines (?P<ranges>\d[\d, -]*) of (?P<total>\d+)(?:, [^\]]*)?\]")


def plan_of(command: Command, speech: Speech) -> Plan:
    match command:
        case Change():
            plan = _change(command, speech)
        case Simulate():
            plan = _simulate(command, speech)
        case Measure():
            plan = _measure(command, speech)
        case Ask():
            from infrastructure.llm_adapters.builtin.answers import answer  # with the recogniser's words

            plan = answer(command, speech)
        case Several():
            plan = _in_turn(command, speech)
        case Design():
            from infrastructure.llm_adapters.builtin.design import design  # with all families of circuits

            plan = design(command, speech)
        case Unclear():
            plan = _ask_back(command, speech)
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


def _in_turn(command: Several, speech: Speech) -> Plan:
    """One command after the other."""
    said: list[str] = []
    for each in command.commands:
        said.append((yield from plan_of(each, speech)))
    return "\n\n".join(said)


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
        case "families":
            from domain.design.catalogue import FAMILIES  # only who tells of them

            head = msg(
                "From one sentence I design {count} kinds of circuits, for example:", count=len(FAMILIES)
            )
            rows = [
                msg("{label}: {names}", label=each.name, names=each.examples[command.language])
                for each in FAMILIES.values()
            ]
            return f"{speech.say(head)}\n{bullets([*map(speech.say, rows)])}"


def _ask_back(command: Unclear, speech: Speech) -> Plan:
    """What of a request keeps it from being carried out."""
    yield from ()
    if command.why == "vague":
        example = speech.say(msg("make the gain 20 dB"))
        return speech.say(
            msg(
                "What is to change, and what is it to become? Name a figure and a value, for example "
                "“{example}”.",
                example=example,
            )
        )
    parts = speech.listed(f"“{part}”" for part in command.parts)
    if command.why == "unmeasured":
        return speech.say(
            msg(
                "I have no measurement for {parts}, so I leave this unanswered. Choose a language model "
                "for it (`providers` lists them).",
                parts=parts,
            )
        )
    return speech.say(
        msg(
            "I do not know what {parts} is to mean here, so I did nothing. Say it in another way, or leave "
            "it out.",
            parts=parts,
        )
    )


def _show(command: Show, speech: Speech) -> Plan:
    arguments: dict[str, Any] = {"path": command.file}
    if command.first is not None:
        arguments |= {"start_line": command.first, "end_line": command.last}
    outcome = yield Call(tool="read_file", arguments=arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    return _quoted(f"{command.file}:", outcome.text)


def _delete(command: Delete, speech: Speech) -> Plan:
    said = []
    for file in command.files:
        outcome = yield Call(tool="delete_file", arguments={"path": file})
        if outcome.error_type == "refused_by_user":
            said.append(speech.say(msg("{file} was kept.", file=file)))
        elif outcome.error_type:
            said.append(failed(outcome, speech))
        else:
            said.append(speech.say(msg("{file} was deleted. This can be undone.", file=file)))
    return "\n\n".join(said)


def _look_up(command: ListFiles | Search | References | Analyze, speech: Speech) -> Plan:
    """One question to one tool, whose answer is shown as it is."""
    arguments: dict[str, Any]
    if isinstance(command, Analyze) and not command.file:
        if len(speech.circuits) != 1:
            return speech.say(which_file(speech.circuits))
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
    if isinstance(command, Analyze) and command.is_check:
        return _checked(command.file, outcome.lines, speech)
    if isinstance(command, Analyze) and not command.as_outline:
        from infrastructure.llm_adapters.builtin.explain import explained  # with the words of all stages

        if answer := explained(command.file, outcome.lines, speech.say):
            return answer
    return _quoted(speech.say(lead_in), outcome.text)


def _checked(file: str, outline: Sequence[str], speech: Speech) -> str:
    """What is wrong with a file, by the lines of its outline."""
    found = [line for line in outline if line.startswith(("error: ", "warning: ", "info: "))]
    if not found:
        return speech.say(msg("The checks find nothing wrong in {file}.", file=file))
    return _quoted(speech.say(msg("The checks find this in {file}:", file=file)), "\n".join(found))


def _quoted(lead_in: str, text: str) -> str:
    """A tool's text in a block that nothing in it can close, marked as no proposal of a netlist."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{lead_in}\n{fence}{QUOTED}\n{text[:LONGEST_QUOTE]}\n{fence}"


# --- simulating and measuring ------------------------------------------------------------------------


def _simulate(command: Simulate, speech: Speech) -> Plan:
    if command.stop:
        from infrastructure.llm_adapters.builtin.looking import longer  # with the recogniser's words

        if not command.file:
            return speech.say(which_file(speech.circuits))
        return (yield from longer(command.file, command.stop, speech))
    arguments: dict[str, Any] = {"file_path": command.file} if command.file else {}
    if command.band is not None:
        low, high, points = command.band
        arguments["analysis"] = f"ac dec {points} {number(low)} {number(high)}"
    elif command.analysis_type:
        arguments["analysis_type"] = command.analysis_type
    if command.parameters:
        arguments["parameters"] = dict(command.parameters)
    return (yield from _run(arguments, command.expressions, speech))


def _run(arguments: Mapping[str, Any], expressions: Sequence[str], speech: Speech) -> Plan:
    outcome = yield Call(tool="run_simulation", arguments=arguments)
    if outcome.error_type:
        return simulation_failed(outcome, speech)
    file = outcome.lines[0].partition(":")[0]
    if not expressions and not arguments.keys() - {"file_path"} and not _metrics_of(outcome):
        from infrastructure.llm_adapters.builtin.measuring import usual  # with the recogniser's words

        if told := (yield from usual(file, outcome, speech)):
            head = speech.say(msg("{file} was simulated without errors.", file=file))
            return "\n".join([head, told, *_warnings_told(outcome, speech)])
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
    metrics = _metrics_of(outcome)
    parts = [speech.say(msg("{file} was simulated without errors.", file=name))]
    if metrics:
        parts.append(bullets(metrics))
    else:
        example = f"max(v(out)) of {name}"
        hint = msg(
            "It has no .meas cards; ask for a measurement, for example “measure {example}”.", example=example
        )
        parts.append(speech.say(hint))
    return "\n".join([*parts, *_warnings_told(outcome, speech)])


def _metrics_of(outcome: Outcome) -> list[str]:
    """What a run's .meas cards gave."""
    return [
        _as_told(line)
        for line in outcome.lines[1:]
        if FIGURE.fullmatch(line) and not line.startswith(("warning: ", "error: "))
    ]


def _warnings_told(outcome: Outcome, speech: Speech) -> list[str]:
    warnings = [line.removeprefix("warning: ") for line in outcome.lines if line.startswith("warning: ")]
    # behind a blank line: else they would be part of the list's last item
    return [f"\n{speech.say(msg('Warnings:'))}", bullets(warnings)] if warnings else []


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
    return [_as_told(line) for line in outcome.lines[1:] if line.strip()]


def _as_told(line: str) -> str:
    """A tool's figure as people write it: ``73.43 uV`` for ``7.34255e-05 V``; other lines as they are."""
    found = FIGURE.fullmatch(line)
    if found is None or found["figure"] == "no value":
        return line
    value, _, unit = found["figure"].partition(" ")
    return f"{found['name']} = {shown(float(value), unit or '1')}"


# --- changing values ---------------------------------------------------------------------------------


def _change(command: Change, speech: Speech) -> Plan:
    file = command.file
    if not file:
        if len(speech.circuits) != 1:
            return speech.say(which_file(speech.circuits))
        file = speech.circuits[0]
    if command.ask is not None:
        from infrastructure.llm_adapters.builtin.comparing import (
            before_and_after,  # with the recogniser's words
        )

        return (yield from before_and_after(file, command.values, command.ask, speech))
    from infrastructure.llm_adapters.builtin.conditions import of_its_own  # with the recogniser's words

    values = yield from of_its_own(file, command.values, speech)
    if isinstance(values, str):
        return values
    done, is_done = yield from change_values(file, values, speech)
    if is_done and command.simulates:
        done.append((yield from _run({"file_path": file}, command.expressions, speech)))
    return "\n".join(done)


MOST_ROUNDS = 24
"""The longest plan: a figure brought to a value by several parts, and proved."""

_MOST_TURNS = 20
"""Earlier turns a sentence may lean on, each on the one before it."""
_MODEL = "builtin"
_PIECE = re.compile(r"\s*\S+|\s+", re.DOTALL)
_DATA = re.compile(r"<data\b[^<>]*>(?P<text>[^<]*+(?:<(?!/?data\b)[^<]*+)*+)</data>\s*")
_CIRCUIT_LINE = re.compile(r"^- (?P<path>.+\.(?:cir|sp|spice|net|ckt))$", re.MULTILINE | re.IGNORECASE)
_MAIN_LINE = re.compile(rf"^{re.escape(MAIN_CIRCUIT)}(?P<path>.+)$", re.MULTILINE)
_OPEN_LINE = re.compile(
    r"^In front of the user: (?P<path>.+?\.(?:cir|sp|spice|net|ckt))(?=, cursor|, with changes|$)",
    re.MULTILINE | re.IGNORECASE,
)
_THIS = re.compile(
    r"\bthis (?:circuit|netlist|schematic|file|one)\b|(?:这个|此|该|当前|本)(?:电路|网表|文件)", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]{3,}")
_MICRO = re.compile(r"(?<=\d )u(?=(?:[AVWFHSsΩ]|Ohm)\b)")
_LAST_OF_LIST = re.compile(r"^(- .*)\n(?=[^-\s])", re.MULTILINE)
_HAN = re.compile(r"[\u3400-\u9fff]")
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
        said, circuits, shown, since = _turn_of(request.messages)
        brief = request.messages[0].text if request.messages[0].role == "system" else ""
        if brief.startswith("{"):
            language: Literal["en", "zh"] = json.loads(brief)["intent"]["language"]
            say = self._speaker(language)
            told = json.loads(brief)
            if told["task"] == "EXTRACT_DESIGN_GOALS":
                from infrastructure.llm_adapters.builtin.improving import goals_told  # with the recogniser's

                return goals_told(told, said, Speech(say=say, circuits=circuits))
            plan = self._design_step(brief, Speech(say=say, circuits=circuits))
        else:
            say = self._speaker(language_of(said))
            if not said.strip():
                return say(abilities())
            past = _past(request.messages[: len(request.messages) - len(since) - 1])
            named, rest = in_words(said, circuits)
            command = _understood(rest, circuits, past)
            if named and isinstance(command, Design):
                command = _understood(said, circuits, past)
            command = _about(command, lambda: named or _meant(said, past, shown, circuits))
            turns = [turn.calls for turn in _standing(past)]
            plan = plan_of(command, Speech(say=say, circuits=circuits, said=rest, past=turns))
        outcomes = _outcomes(since)
        try:
            call = next(plan)
            for outcome in outcomes:
                call = plan.send(outcome)
        except StopIteration as end:
            answer: str = end.value
            answer = _LAST_OF_LIST.sub(r"\1\n\n", answer)  # what follows is no part of its last row
            return _MICRO.sub("µ", answer)
        if len(outcomes) >= MOST_ROUNDS:
            return say(msg("Stopped after {count} {count:step|steps}.", count=len(outcomes)))
        if call.tool not in _offered(request):
            return say(msg("This needs the tool {tool}, which is not available here.", tool=call.tool))
        return call

    def _design_step(self, brief: str, speech: Speech) -> Plan:
        """Of a step of a design, told by its system message (`application.workflow.model_steps`)."""
        from infrastructure.llm_adapters.builtin.design import carry_out, decide, step_of

        told = json.loads(brief)
        if not told["intent"]["family"] and told["task"] != "INITIAL_DESIGN":
            from infrastructure.llm_adapters.builtin.improving import improve  # with the recogniser's words

            return improve(told, speech)
        if told["intent"]["parameters"].get(CARDS):
            return step_of(told, speech)
        if self._decided is None or self._decided[0] != brief:
            self._decided = brief, decide(told, speech.say)
        return carry_out(self._decided[1], speech)


def _about(command: Command, file: Callable[[], str]) -> Command:
    """The command with the circuit that is meant, where it names none."""
    if isinstance(command, Several):
        return Several(commands=tuple(_about(each, file) for each in command.commands))
    if isinstance(command, Analyze | Change | Simulate | Measure | Ask) and not command.file:
        return replace(command, file=file())
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What the user works on; "" when it is not known."""

    front: str = ""
    """The circuit in front of him."""
    main: str = ""


def _turn_of(messages: Sequence[WireMessage]) -> tuple[str, tuple[str, ...], _Shown, Sequence[WireMessage]]:
    """What the user said last, the circuits listed with it, what he works on, and the messages since."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role == "user" and not message.text.startswith(_PROGRAM_NOTE):
            data = "\n".join(block["text"] for block in _DATA.finditer(message.text))
            circuits = tuple(found["path"] for found in _CIRCUIT_LINE.finditer(data))
            front, main = _OPEN_LINE.search(data), _MAIN_LINE.search(data)
            shown = _Shown(front=front["path"] if front else "", main=main["path"] if main else "")
            return _DATA.sub("", message.text), circuits, shown, messages[at + 1 :]
    return "", (), _Shown(), ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """An earlier turn of the conversation."""

    said: str
    calls: tuple[tuple[str, Mapping[str, Any], bool], ...]


def _past(messages: Sequence[WireMessage]) -> list[_Turn]:
    """The earlier turns, the newest last."""
    turns: list[_Turn] = []
    starts = [
        at
        for at, each in enumerate(messages)
        if each.role == "user" and not each.text.startswith(_PROGRAM_NOTE)
    ]
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=False):
        since = messages[start + 1 : end]
        asked = [call for each in since if each.role == "assistant" for call in each.tool_calls]
        calls = [
            (call.name, arguments_of(call.arguments), not outcome.error_type)
            for call, outcome in zip(asked, _outcomes(since), strict=True)
        ]
        turns.append(_Turn(said=_DATA.sub("", messages[start].text), calls=tuple(calls)))
    return turns


def _standing(past: Sequence[_Turn]) -> list[_Turn]:
    """The earlier turns without those that were undone: a second "undo" goes one step further back."""
    standing: list[_Turn] = []
    for turn in past:
        command = understand_command(turn.said, (), None)
        if not (isinstance(command, Ask) and command.intent == "undo"):
            standing.append(turn)
        elif _has_patched(turn):
            patched = [at for at, each in enumerate(standing) if _has_patched(each)]
            undone = patched[-(command.runs or 1) :]
            standing = [each for at, each in enumerate(standing) if at not in undone]
    return standing


def _has_patched(turn: _Turn) -> bool:
    return any(tool == "patch_file" and is_done for tool, _, is_done in turn.calls)


def _understood(said: str, circuits: Sequence[str], past: Sequence[_Turn]) -> Command:
    """The command of a sentence that may lean on those before."""
    previous: Command | None = None
    for turn in past[-_MOST_TURNS:]:
        command = understand_command(turn.said, circuits, previous)
        if isinstance(command, Several):
            command = command.commands[-1]
        if not isinstance(command, SmallTalk) and not (isinstance(command, Ask) and command.intent == "undo"):
            file = _circuit_of(turn)
            unnamed = isinstance(command, Ask | Change | Simulate) and not command.file
            previous = replace(command, file=file) if unnamed else command  # type: ignore[arg-type]
    return understand_command(said, circuits, previous)


def _circuit_of(turn: _Turn) -> str:
    """The circuit a turn was about; "" when it was about none."""
    places = (
        str(arguments.get("path") or arguments.get("file_path") or "") for _, arguments, _ in turn.calls
    )
    return next((place for place in places if PurePosixPath(place).suffix.lower() in CIRCUIT_SUFFIXES), "")


def _meant(said: str, past: Sequence[_Turn], shown: _Shown, circuits: Sequence[str]) -> str:
    """The circuit meant when none is named: the one spoken of, else the one in front, the main, the only.

    One is spoken of from the turn that names or makes it until one means "this circuit", which is the one in
    front; where nothing is in front, the circuit of the last turn.
    """
    earlier = next(filter(None, map(_circuit_of, reversed(past))), "")
    if shown.front:
        for words in (said, *(turn.said for turn in reversed(past))):
            if _THIS.search(words):
                return shown.front
            if words is not said and (in_words(words, circuits)[0] or _names(words, circuits)):
                return earlier
        if not any(tool == "rewrite_file" for turn in past for tool, _, _ in turn.calls):
            return shown.front
    return earlier or shown.front or shown.main or (circuits[0] if len(circuits) == 1 else "")


def _names(said: str, circuits: Sequence[str]) -> bool:
    """Whether a file is named."""
    return any(PurePosixPath(name).name.lower() in said.lower() for name in circuits)


def in_words(said: str, circuits: Sequence[str]) -> tuple[str, str]:
    """The one circuit whose name or kind the sentence says ("the buck", "共射放大器"), and the rest of it.

    "" and the whole where none is said, several could be meant, or a file is named ("rc低通.cir").
    """
    if len(circuits) < 2 or len(said) > LONGEST_REQUEST or _names(said, circuits):
        return "", said
    words = set(_WORD.findall(said.lower()))
    shared = {name: len(words & _names_of(name)) for name in circuits}
    most = max(shared.values())
    found = [name for name, count in shared.items() if count == most > 0]
    pattern = "|".join(_names_of(found[0])) if found else ""
    rest = re.sub(
        rf"\s*\b(?:of|in|for|on)?\s*\b(?:the|my|this|that|our)(?:\s+(?:{pattern}))+"
        r"(?:\s+(?:circuit|amplifier|converter|filter|regulator|stage))?\b",
        "",
        said,
        flags=re.IGNORECASE,
    )
    if not found and _HAN.search(said):
        from domain.design.catalogue import FAMILIES, named_in  # all families of circuits

        kinds = named_in(said)
        found = [name for name in circuits if kinds & named_in(PurePosixPath(name).stem.replace("_", " "))]
        pattern = "|".join(FAMILIES[kind].family.words.named for kind in sorted(kinds))
        rest = re.sub(rf"(?:这个|那个|该)?(?:{pattern})(?:电路)?的?", "", said, flags=re.IGNORECASE)
    return (found[0], rest if rest.strip() else said) if len(found) == 1 else ("", said)


def _names_of(circuit: str) -> set[str]:
    """The words of a file's name that are no figure's."""
    words = _WORD.findall(PurePosixPath(circuit).stem.lower())
    return {
        word
        for word in words
        if not any(re.fullmatch(figure.words, word, re.IGNORECASE) for figure in FIGURES.values())
    }


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
