"""What the built-in model knows of a circuit: its outline with the recogniser's findings, and its netlist.

Both come from the answers of analyze_file and read_file; nothing else is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from domain.circuit.elements import Element
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Speech,
    failed,
    whole_text,
)
from shared.errors import CircuitError
from shared.message import Message, msg

_STAGE = re.compile(r"(?P<kind>[a-z_0-9]+): (?P<parts>.+)")
_ROLE = re.compile(r"(?P<role>[a-z_0-9]+) (?P<names>[^\s,;=]+)")
_NODE = re.compile(r"(?P<role>[a-z_0-9]+)=(?P<node>[^\s,;]+)")
_FEEDBACK = re.compile(r"feedback: (?P<sign>\w+) (?P<names>\S+) (?P<way>from .+)")
_AC = re.compile(r"\bac\s*=?\s*(?P<size>[\d.][\w.+-]*)?", re.IGNORECASE)
_SINE = re.compile(r"\bsin\s*\(\s*\S+\s+\S+\s+(?P<frequency>\S+?)[\s)]", re.IGNORECASE)
_PULSE = re.compile(r"\bpulse\s*\(?\s*(?P<words>[^)]+)", re.IGNORECASE)
_OUTPUT = re.compile(r"(?i)v?_?o(?:ut(?:put)?)?_?\d*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A function block as analyze_file tells it."""

    kind: str
    elements: Mapping[str, tuple[str, ...]]
    nodes: Mapping[str, str]

    @property
    def members(self) -> list[str]:
        """All its elements, once each."""
        return list(dict.fromkeys(name for names in self.elements.values() for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """A circuit that is there."""

    file: str
    netlist: Netlist
    supplies: str
    inputs: str
    outputs: tuple[str, ...]
    stages: tuple[Stage, ...]
    loads: tuple[str, ...]
    feedback: tuple[tuple[str, tuple[str, ...], str], ...]
    """(sign, elements, the way in words) of each."""
    counts: Mapping[str, int]
    """Elements by kind: ``{"resistor": 5}``."""
    nodes: tuple[str, ...]
    analyses: tuple[str, ...]
    """Its cards, without the dot."""
    measures: tuple[str, ...]

    def has(self, kind: str) -> bool:
        """Whether it has an analysis of this kind of its own."""
        return any(card.lower().startswith(f"{kind} ") or card.lower() == kind for card in self.analyses)

    def missing(self, nodes: Sequence[str]) -> Message | None:
        """What to say of the first node that is not there, whatever the letter case; None: all are."""
        there = {node.lower() for node in self.nodes}
        unknown = next((node for node in nodes if node.lower() not in there), None)
        if unknown is None:
            return None
        names = ", ".join(self.nodes[:40])
        return msg("{file} has no node {name}; it has: {names}.", file=self.file, name=unknown, names=names)

    def element(self, name: str) -> Element | None:
        """An element of the top level, whatever the letter case; ``U1`` may be ``XU1``, as in schematics."""
        head = name.partition(".")[0].lower()
        names = (head, f"x{head}") if head.startswith("u") else (head,)
        return next((each for each in self.netlist.elements if each.key in names and not each.scope), None)

    @property
    def top(self) -> list[Element]:
        return [each for each in self.netlist.elements if not each.scope]

    @property
    def output(self) -> str:
        """The node of its output; "" when that is not known."""
        named = [node for node in (*self.outputs, *self.nodes) if _OUTPUT.fullmatch(node)]
        return next(iter((*named, *self.outputs)), "")

    def at_the_output(self, letter: str) -> list[Element]:
        """The elements of a kind from the output to ground, an ammeter (a source of 0 V) between or not."""
        grounds = {"0", *(name for each in self.top if (name := _above_ammeter(each)))}
        between = [{self.output.lower(), ground} for ground in grounds]
        return [
            each
            for each in self.top
            if each.letter == letter and {pin.key for pin in each.nodes[:2]} in between
        ]

    @property
    def source(self) -> Element | None:
        """The source of its signal: one with an AC value."""
        sources = [each for each in self.top if each.letter in "vi"]
        with_ac = [each for each in sources if _AC.search(each.statement.text) and ac_size(each) != 0]
        return with_ac[0] if with_ac else None

    @property
    def drive_hz(self) -> float | None:
        """The frequency of its sine source."""
        for each in self.top:
            found = _SINE.search(each.statement.text)
            if each.letter in "vi" and found is not None:
                return number_of(found["frequency"])
        return None

    @property
    def drive_period(self) -> float | None:
        """The shortest period of its pulse sources: that of a converter's switch."""
        found = (_PULSE.search(each.statement.text) for each in self.top if each.letter in "vi")
        last = (
            number_of(match["words"].split()[6])
            for match in found
            if match and len(match["words"].split()) > 6
        )
        return min((period for period in last if period), default=None)

    @property
    def drive_pulse(self) -> tuple[Element, list[str]] | None:
        """The source that drives its switch, and the words of its PULSE; None where nothing switches."""
        if not any(each.letter in "sm" for each in self.top) or not any(
            each.letter == "l" for each in self.top
        ):
            return None
        for each in self.top:
            found = _PULSE.search(each.statement.text)
            words = found["words"].split() if found else []
            if each.letter in "vi" and len(words) > 6 and number_of(words[6]) == self.drive_period:
                return each, words
        return None

    @property
    def supply_v(self) -> float | None:
        """The voltage of its only supply."""
        found = re.findall(r"(?:^|, )\S+ \+?(-?[\d.]+)", self.supplies)
        return float(found[0]) if len(found) == 1 else None

    @property
    def sine_source(self) -> Element | None:
        """Its sine source, where nothing in it steps or switches."""
        sources = [each for each in self.top if each.letter in "vi"]
        if any(
            re.search(r"\b(?:pulse|pwl|exp)\s*\(?", each.statement.text, re.IGNORECASE) for each in sources
        ):
            return None
        return next((each for each in sources if _SINE.search(each.statement.text)), None)

    @property
    def is_low_pass(self) -> bool:
        """Whether its output follows its input at zero frequency: no capacitor stands in the way."""
        reached, source = (
            {node.key for node in self.source.nodes[:1]} if self.source is not None else set(),
            "",
        )
        while source != (source := " ".join(sorted(reached))):
            for each in self.top:
                ends = {node.key for node in each.nodes if node.key != "0"}
                if each.letter in "rlxqmjeg" and ends & reached:
                    reached |= ends
        return self.output.lower() in reached

    @property
    def is_active(self) -> bool:
        """Whether something in it amplifies."""
        return any(each.letter in "qmjzegxb" for each in self.top)

    def role_of(self, name: str) -> tuple[Stage, str] | None:
        """The stage an element belongs to, and as what."""
        for stage in self.stages:
            for role, names in stage.elements.items():
                if name.lower() in (each.lower() for each in names):
                    return stage, role
        return None


def ac_size(source: Element) -> float:
    """The magnitude of a source's AC value, 1 when it says none."""
    found = _AC.search(source.statement.text)
    if found is None:
        return 0.0
    size = number_of(found["size"]) if found["size"] else 1.0
    return 1.0 if size is None else size


def number_of(text: str) -> float | None:
    """A plain number of a netlist, None for anything else."""
    try:
        return parse_number(text)
    except ValueError:
        return None


def _above_ammeter(element: Element) -> str:
    """The node that a source of 0 V holds at ground; "" of any other element."""
    ends = [pin.key for pin in element.nodes[:2]]
    words = element.statement.text.split()[len(ends) + 1 :]
    is_none = element.letter == "v" and [each for each in words if each.lower() != "dc"] in ([], ["0"])
    return next((end for end in ends if end != "0"), "") if is_none and "0" in ends else ""


def value_of(element: Element) -> float | None:
    return number_of(element.value.text) if element.value is not None else None


def circuit_of(file: str, speech: Speech) -> Generator[Call, Outcome, Circuit | str]:
    """Look at a circuit: what is known of it, or what to say when it cannot be read."""
    outline = yield Call(tool="analyze_file", arguments={"path": file})
    if outline.error_type:
        return failed(outline, speech)
    shown = yield Call(tool="read_file", arguments={"path": file})
    if shown.error_type:
        return failed(shown, speech)
    text = whole_text(shown)
    if text is None:
        reason = msg("{file} is too long for me to answer questions about it.", file=file)
        return speech.say(reason)
    try:
        netlist = Netlist.parse(text.encode())
    except CircuitError as error:
        return speech.say(error.message)
    return read_outline(file, outline.lines, netlist)


def read_outline(file: str, lines: Sequence[str], netlist: Netlist) -> Circuit:
    """From the lines of analyze_file."""
    found: dict[str, str] = {}
    stages: list[Stage] = []
    loads: list[str] = []
    returned: list[tuple[str, tuple[str, ...], str]] = []
    section = ""
    cards: dict[str, list[str]] = {"analyses": [], "measures": []}
    for line in lines:
        if not line.startswith(" "):
            label, _, rest = line.partition(":")
            section = label
            found[label] = rest.strip()
            continue
        text = line.strip()
        if section in cards:
            cards[section].append(re.sub(r" \(lines? [\d-]+\)$", "", text).removeprefix("."))
        elif section.startswith("made of"):
            if text.startswith(("supplies: ", "inputs: ", "outputs: ")):
                found |= dict(part.split(": ", 1) for part in text.split("; ") if ": " in part)
            elif feedback := _FEEDBACK.fullmatch(text):
                returned.append((feedback["sign"], tuple(feedback["names"].split("+")), feedback["way"]))
            elif text.startswith("load: "):
                loads = text.removeprefix("load: ").split(", ")
            elif (stage := _STAGE.fullmatch(text)) and not text.startswith("not recognised: "):
                stages.append(_stage(stage["kind"], stage["parts"]))
    return Circuit(
        file=file,
        netlist=netlist,
        supplies=found.get("supplies", ""),
        inputs=found.get("inputs", ""),
        outputs=tuple(filter(None, found.get("outputs", "").split(", "))),
        stages=tuple(stages),
        loads=tuple(loads),
        feedback=tuple(returned),
        counts={kind: int(count) for count, kind in re.findall(r"(\d+) ([^,]+)", found.get("elements", ""))},
        nodes=tuple(found.get("nodes", "").split()),
        analyses=tuple(cards["analyses"]),
        measures=tuple(text.split()[2] for text in cards["measures"] if len(text.split()) > 2),
    )


def _stage(kind: str, text: str) -> Stage:
    """``common_emitter: transistor Q1, load RC; in=b, out=out; gain = ...``."""
    parts, _, rest = text.partition("; ")
    elements = {found["role"]: tuple(found["names"].split("+")) for found in _ROLE.finditer(parts)}
    nodes = {found["role"]: found["node"] for found in _NODE.finditer(rest.partition("; ")[0])}
    return Stage(kind=kind, elements=elements, nodes=nodes)
