"""What was done in a conversation, read from its calls: what an answer's figures and claims may rest on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from domain.llm.agentic_loop.acts import Edits
from domain.llm.agentic_loop.claims import Deeds
from domain.llm.agentic_loop.conditions import Bench, Measured
from domain.llm.agentic_loop.evidence import Evidence
from domain.llm.agentic_loop.known import Backing
from domain.llm.agentic_loop.turn import NOT_RUN
from domain.llm.context_block import FACTS
from domain.llm.messages import (
    get_program_step,
    get_text,
    get_tool_error_type,
    get_tool_result,
    get_tool_success,
)

if TYPE_CHECKING:
    from application.tool_execution.executor import ToolExecutor

AS_IT_IS = "of the circuit as it is"
BEFORE_CHANGE = "before the circuit was changed: old"
"""How the context block tells the age of the newest run."""
NEWEST_RUN = "Newest run of "
_MEASURING = frozenset({"inspect_data", "check_goals"})
_CHANGING = frozenset({"create", "change", "delete"})
_REFUSED = NOT_RUN | {"repeated_failure", "not_offered", "unknown_tool", "bad_arguments"}
"""Failures of calls that were not tried."""
_MOST_READ = 20_000
_PARTS = re.compile(
    r"(?:^|\\n|[\"'])([RCLVIEFGHDQMJSB][A-Za-z]{1,2})(?=[ \t]+\w+[ \t]+\w+[ \t]+\S)", re.MULTILINE
)
"""Names without a digit that cards of a netlist begin with: "RE e 0 680"."""
_TEXTS = (".md", ".txt", ".csv", ".pdf", ".html", ".json", ".svg", ".png")
"""A change of these changes no circuit."""


def _is_missed(verdict: dict[str, Any]) -> bool:
    return verdict.get("met") is False and verdict.get("priority") != "wish"


def _run_in(context: str) -> tuple[str, str, str]:
    """What the data of a message say before, of and behind the newest run: a line of the program's own facts.

    Files, goals and pages may say the like: it does not count.
    """
    begin = context.find(f'<data name="{FACTS}">')
    end = context.find("</data>", begin)
    at = -1 if begin < 0 else context.find(f"\n{NEWEST_RUN}", begin, end)
    return (context, "", "") if at < 0 else (context[:at], context[at:end], context[end:])


class Past:
    """The conversation up to its newest answer."""

    def __init__(
        self,
        messages: Sequence[BaseMessage],
        turn: Sequence[BaseMessage],
        context: str,
        executor: ToolExecutor,
    ) -> None:
        """`context` is the data that went with the newest turn's message."""
        self._results: list[str] = []
        """Of tools, what they were given, data of the message; in order."""
        self._runs = 0
        self._tried: list[str] = []
        self._measured: list[int] = []
        """Those of `_results` that measured something."""
        self._files: list[str] = []
        """Of `_measured`: the circuit that was measured; "" where none is told."""
        self._changed_in: dict[str, int] = {}
        """How many of `_results` there were when a file was changed last."""
        self._bench = Bench()
        self._with_conditions: list[Measured] = []
        self._words: list[str] = []
        self._changes: list[str] = []
        self._earlier: list[str] = []
        self._edits = Edits()
        self._has_run = self._has_run_earlier = self._last_failed = self._is_refused = False
        self._is_measured: bool | None = None
        """None: nothing was changed and nothing measured yet."""
        self._missed: tuple[str, ...] = ()
        self._executor = executor
        results = {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}
        of_turn = {str(message.id) for message in turn}
        is_step = False
        for message in messages:
            if isinstance(message, HumanMessage):
                is_step = bool(get_program_step(message))
                self._words.append(get_text(message))
                self._begin_turn(context if str(message.id) in of_turn else "")
            elif isinstance(message, AIMessage):
                if is_step:  # what it says the program writes into files
                    self._changes.append(get_text(message))
                for call in message.tool_calls:
                    if (result := results.get(str(call["id"]))) is not None:
                        self._take(call["name"], call["args"], result)

    def _begin_turn(self, context: str) -> None:
        self._earlier += self._changes
        self._changes = []
        self._has_run_earlier |= self._has_run
        self._has_run = self._is_refused = False
        if not context:
            return
        facts, run, rest = _run_in(context)
        if BEFORE_CHANGE in run:
            self._changed()
        if run:
            self._measured.append(len(self._results))
            self._files.append("")
            self._results.append(run)
        if BEFORE_CHANGE in run:
            self._changed_in[""] = len(self._results)
        elif AS_IT_IS in run:
            self._is_measured = True
        elif self._is_measured is False:
            self._is_measured = None  # what was simulated meanwhile is not told
        self._results.append(f"{facts}{rest}")
        self._bench.read(f"{facts}{rest}")

    def _take(self, name: str, given: dict[str, Any], result: ToolMessage) -> None:
        success = get_tool_success(result)
        effect, groups = self._executor.effect_of(name), self._executor.groups_of(name)
        is_measuring = effect == "simulate" or name in _MEASURING or "verdict" in groups
        if is_measuring:
            if success or get_tool_error_type(result) not in _REFUSED:
                self._has_run = True
                self._runs += 1
                self._tried += [str(given), get_text(result)]
            self._measured.append(len(self._results))
            self._files.append(str(given.get("path", "")))
        self._results.append(get_text(result))
        if is_measuring:
            self._with_conditions.append(self._bench.measured(get_text(result), given))
        elif success:
            self._bench.read(get_text(result))
            if isinstance(given.get("content"), str):
                self._bench.read(given["content"])
        if effect == "simulate":
            self._last_failed = not success
        if not success:
            self._is_refused |= effect in _CHANGING
            return
        self._results.append(str(given))
        if is_measuring:
            if given.get("set") is True:  # what a search found was written into the file
                self._edits = self._edits.with_call(given, get_text(result))
            if effect == "simulate" or self._is_measured is None:
                self._is_measured = True
            self._judge((get_tool_result(result) or {}).get("goals"))
        elif effect in _CHANGING:
            self._changes.append(str(given))
            path = str(given.get("path", ""))
            if "goals" not in groups and not path.lower().endswith(_TEXTS):
                self._edits = self._edits.with_call(given, get_text(result))
                self._changed(path)

    def _judge(self, verdicts: object) -> None:
        if isinstance(verdicts, list):
            judged = [each for each in verdicts if isinstance(each, dict) and each.get("met") is not None]
            known = {str(each.get("metric")) for each in judged}
            self._missed = (
                *(metric for metric in self._missed if metric not in known),  # in another condition
                *(str(each.get("metric")) for each in judged if _is_missed(each)),
            )

    def _changed(self, path: str = "") -> None:
        self._is_measured, self._missed = False, ()
        self._last_failed = False
        self._changed_in[path] = len(self._results)

    @property
    def evidence(self) -> Evidence:
        """All of it, for an answer to be held against."""
        return Evidence(
            deeds=self.deeds,
            backing=self.backing,
            before=self.before,
            now=self.now,
            measured=self._with_conditions,
        )

    @property
    def deeds(self) -> Deeds:
        """What was done, for claims."""
        return Deeds(
            changes=self._changes,
            earlier=self._earlier,
            has_run=self._has_run,
            has_run_earlier=self._has_run_earlier,
            runs=self._runs,
            tried=self._tried,
            parts=frozenset(
                each.lower() for text in self._results for each in _PARTS.findall(text[:_MOST_READ])
            ),
            is_measured=self._is_measured is True,
            last_failed=self._last_failed,
            is_refused=self._is_refused and not self._changes,
            values=self._bench.values,
            missed=self._missed,
            edits=self._edits,
        )

    @property
    def backing(self) -> Backing:
        """What figures may come from."""
        measured = [self._results[place] for place in self._measured]
        return Backing(results=self._results, words=self._words, measured=measured)

    @property
    def _old(self) -> list[int]:
        """Those of `_measured` that a change made old: of its file, or of one that was not run by itself."""
        circuits = {path for path in self._files if path}
        return [
            place
            for place, path in zip(self._measured, self._files, strict=True)
            if any(
                place < at and (not path or changed == path or changed not in circuits)
                for changed, at in self._changed_in.items()
            )
        ]

    @property
    def before(self) -> list[str]:
        """What was measured before the last change of the circuit."""
        return [self._results[place] for place in self._old]

    @property
    def now(self) -> Backing:
        """`backing` without that."""
        old = self._old
        kept = [text for place, text in enumerate(self._results) if place not in old]
        measured = [self._results[place] for place in self._measured if place not in old]
        return Backing(results=kept, words=self._words, measured=measured)
