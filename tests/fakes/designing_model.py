"""A scripted language model for designs: what it answers follows from the request alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

GOALS = {
    "circuit_type": "common emitter amplifier",
    "summary": "A common-emitter stage",
    "goals": [
        {
            "metric": "gain",
            "expression": "at(db(v(out)), 10k)",
            "analysis": "ac",
            "minimum": 20,
            "maximum": None,
            "target": None,
            "unit": "dB",
            "stated": True,
            "words": "gain of at least 20 dB",
        }
    ],
    "questions": [],
}


def amplifier(collector: str) -> str:
    """A common-emitter stage; 1k gives about 10 dB less than 4.7k."""
    return (
        "Common-emitter amplifier\nVcc vcc 0 12\nVin in 0 DC 0 AC 1\nC1 in b 10u\nR1 vcc b 47k\nR2 b 0 10k\n"
        f"Rc vcc c {collector}\nRe e 0 470\nRd e f 47\nCe f 0 100u\nQ1 c b e qn\nC2 c out 10u\n"
        "Rl out 0 100k\n.model qn npn(bf=200 is=1e-14)\n.ac dec 20 10 1meg\n.end\n"
    )


@dataclass(frozen=True)
class Reply:
    """What the model says: words, calls (name, arguments)."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


Act = Callable[["Request"], Reply]


@dataclass(frozen=True)
class Request:
    """A request in neutral form."""

    system: str
    messages: Sequence[Mapping[str, Any]]
    tools: frozenset[str]
    json_wanted: bool
    answers: int
    """Answers of the running step that the request knows."""

    @property
    def newest(self) -> str:
        """The newest message in the user's place."""
        return next((text_of(each) for each in reversed(self.messages) if is_said(each)), "")

    @property
    def given(self) -> str:
        """What the step is told: its task, and the values that stand in the newest message."""
        return f"{self.system}\n{self.newest}"

    @property
    def task(self) -> str:
        """The template in the system message, told by a sentence of it."""
        marks = {
            "goals": "You turn an engineer's request",
            "design": "You design the first version",
            "optimize": "You improve element values",
            "fix": "You mend a netlist",
            "instruction": "You carry out one instruction",
            "question": "You answer a question about a circuit",
            "intent": "The design waits at a checkpoint",
            "analysis": "You check a simulation",
        }
        return next((name for name, mark in marks.items() if mark in self.system), "chat")


@dataclass
class DesigningModel:
    """Answers by task; what a test does not name is done as a good model would."""

    acts: dict[str, Act] = field(default_factory=dict)
    seen: list[Request] = field(default_factory=list)

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        request = read(body)
        self.seen.append(request)
        return (self.acts.get(request.task) or _USUAL.get(request.task) or _small_talk)(request)

    @property
    def tasks(self) -> list[str]:
        """The tasks that were given, in order, repeated ones once."""
        found: list[str] = []
        for request in self.seen:
            if not found or request.task != found[-1]:
                found.append(request.task)
        return found


def read(body: Mapping[str, Any]) -> Request:
    messages = body["messages"] if "messages" in body else _of_responses(body["input"])
    answers = 0
    for message in messages:
        if is_said(message):
            answers = 0
        elif message["role"] == "assistant":
            answers += 1
    return Request(
        system="\n".join(text_of(each) for each in messages if each["role"] == "system"),
        messages=messages,
        tools=frozenset(tool.get("function", tool)["name"] for tool in body.get("tools") or ()),
        json_wanted=bool(body.get("response_format") or body.get("format") or body.get("text")),
        answers=answers,
    )


def _of_responses(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items of OpenAI's other form as messages; an answer is one, whatever it is made of."""
    messages: list[dict[str, Any]] = []
    for item in items:
        if item.get("type") == "function_call_output":
            messages.append({"role": "tool", "content": item["output"]})
        elif "role" not in item or item["role"] == "assistant":
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            messages[-1]["content"] += text_of(item)
        else:
            role = "system" if item["role"] == "developer" else item["role"]
            messages.append({"role": role, "content": text_of(item)})
    return messages


def is_said(message: Mapping[str, Any]) -> bool:
    """Whether a message in the user's place begins a step: no note, and no result of a call in words."""
    is_other = text_of(message).startswith(("(A note of the program", "Result of "))
    return message["role"] == "user" and not is_other


def text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def writes(path: str, netlist: str, words: str = "Done.") -> Act:
    """One call that writes a file, then a closing sentence."""

    def act(request: Request) -> Reply:
        if request.answers == 0:
            return Reply(calls=[("rewrite_file", {"path": path, "content": netlist})])
        return Reply(words)

    return act


def says(text: str) -> Act:
    return lambda _request: Reply(text)


def in_turn(*acts: Act) -> Act:
    """Another act for each step with this task; the last one stays."""
    steps: list[str] = []

    def act(request: Request) -> Reply:
        key = request.newest
        if request.answers == 0:
            steps.append(key)
        return acts[min(len(steps), len(acts)) - 1](request)

    return act


def _small_talk(_request: Request) -> Reply:
    return Reply("Hello.")


_USUAL: dict[str, Act] = {
    "goals": says(json.dumps(GOALS)),
    "design": writes("amp.cir", amplifier("470"), "A common-emitter stage with 470 ohm."),
    "optimize": writes("amp.cir", amplifier("4.7k"), "Rc is 4.7k now: the gain grows with it."),
    "analysis": says("The gain is set by Rc."),
    "question": says("Because the collector resistor sets the gain."),
    "intent": says('{"intent": "unclear", "confidence": 0.2, "instruction": "", "question": "What?"}'),
}
FIGURE = re.compile(r"\d")
