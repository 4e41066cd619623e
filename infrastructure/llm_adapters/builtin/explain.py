"""The built-in model's words on a circuit: what it is made of, what each part does, what the newest run gave.

It reads the lines `analyze_file` writes (`Recognised.lines`, the figures of the newest run) and says them in
the user's language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice

from domain.circuit.recognition.recognised import MADE_OF, NEWEST_FIGURES, SMALL
from domain.circuit.recognition.words import BIASING, FIGURES, KINDS, ROLES, UNNAMED
from domain.simulation.operating_point import REGIONS
from infrastructure.llm_adapters.builtin.plans import (
    Say,
    bullets,
)
from shared.message import Message, msg

_MOST_STAGES = 8
_MOST_FEEDBACK = 2
_FIGURE = re.compile(r"(?P<name>[a-z_]+?)(?P<number>\d*) = (?P<value>\S+(?: [^\s(]+)?) \((?P<formula>.*)")
_NODES = re.compile(r"\w+=\S+(?:, \w+=\S+)*")
_ENDS = {"supplies": msg("supplies"), "inputs": msg("inputs"), "outputs": msg("outputs")}
_SIGNS = {"negative": msg("negative feedback"), "positive": msg("positive feedback")}
_FEEDBACK = re.compile(
    r"feedback: (?P<sign>\w+) (?P<parts>\S+) from (?P<start>\S+) to (?P<end>\S+) around (?P<around>.+)"
)
_DEVICE = re.compile(r"(?P<name>\S+) (?P<kind>\w+)(?: (?P<region>[A-Za-z ]+))?: (?P<figures>.+)")
_WORD = re.compile(r"[a-z]{3}")
_TELLING = ("IC ", "ID ", "VCE ", "VDS ", "gm ")


@dataclass(frozen=True, slots=True)
class _Stage:
    """One line of a stage, read back."""

    kind: str
    elements: Mapping[str, str]
    """Names with commas between, by role."""
    nodes: Mapping[str, str] = field(default_factory=dict)
    figures: Sequence[tuple[str, str, str, str]] = ()
    """Name, number behind it, value with its unit, formula."""

    @property
    def inputs(self) -> list[str]:
        return [node for role, node in self.nodes.items() if re.fullmatch(r"in\d*", role)]


def explained(file: str, outline: Sequence[str], say: Say) -> str:
    """The answer; "" where the outline tells of no stage."""
    made_of, newest = _block(outline, MADE_OF), _block(outline, NEWEST_FIGURES)
    found = [stage for line in made_of if (stage := _read(line)) is not None]
    if not found:
        return ""
    points = {device["name"]: device for line in newest if (device := _DEVICE.fullmatch(line))}
    stages = [stage for stage in _in_order(found) if stage.kind not in SMALL]
    lines = [_told(stage, points) for stage in stages[:_MOST_STAGES]]
    if rest := stages[_MOST_STAGES:]:
        kinds = dict.fromkeys(stage.kind for stage in rest)
        lines.append(msg("further: {names}", names=_listed(KINDS[kind].name for kind in kinds)))
    small = [_named(stage) for stage in found if stage.kind in SMALL]
    lines += [_joined(small)] if small else []
    ways = [way for line in made_of if (way := _FEEDBACK.fullmatch(line))]
    lines += [
        msg("{sign}: {parts} from {start} to {end}, around {around}",
            sign=_SIGNS.get(way["sign"], _SIGNS["negative"]), parts=_names(way["parts"]),
            start=way["start"], end=way["end"], around=_names(way["around"]))
        for way in islice(ways, _MOST_FEEDBACK)
    ]  # fmt: skip
    lines += [msg("load: {names}", names=names) for names in _behind(made_of, "load: ")]
    lines += [msg("not recognized: {names}", names=names) for names in _behind(made_of, "not recognised: ")]
    head = msg("What {file} is made of, judged by its connections:", file=file)
    ends = [
        msg("{label}: {names}", label=_ENDS[label], names=names)
        for label, _, names in (each.partition(": ") for each in made_of[0].split("; "))
        if label in _ENDS
    ]
    lines[:0] = [_joined(ends)] if ends else []
    return "\n".join([say(head), bullets([say(line) for line in (*lines, *_measured(outline, newest))])])


def _behind(lines: Sequence[str], head: str) -> list[str]:
    return [line.removeprefix(head) for line in lines if line.startswith(head)]


def _block(outline: Sequence[str], head: str) -> list[str]:
    """The indented lines below the one that begins so."""
    at = next((at for at, line in enumerate(outline) if line.startswith(head)), None)
    block = []
    for line in outline[at + 1 :] if at is not None else ():
        if not line.startswith("  "):
            break
        block.append(line[2:])
    return block


def _read(line: str) -> _Stage | None:
    kind, _, rest = line.partition(": ")
    if kind not in KINDS:
        return None
    first, *others = rest.split("; ")
    elements = {role: _names(names) for role, _, names in (part.partition(" ") for part in first.split(", "))}
    nodes = dict(pair.split("=", 1) for each in others if _NODES.fullmatch(each) for pair in each.split(", "))
    found = [match for each in others if (match := _FIGURE.match(each))]
    figures = [(m["name"], m["number"], m["value"], _symbols(m["formula"])) for m in found]
    return _Stage(kind, elements, nodes, figures)


def _symbols(formula: str) -> str:
    """A formula without its bracket's end and its remarks; "" where it is words."""
    closes = formula.count(")") > formula.count("(")
    formula = (formula[:-1] if closes else formula).removeprefix("f0 = ").partition(", ")[0]
    return "" if _WORD.search(formula.replace("sqrt", "")) else formula


def _names(text: str) -> str:
    return text.replace("+", ", ")


def _in_order(stages: Sequence[_Stage]) -> list[_Stage]:
    """As the signal goes: each behind those whose output it reads, as far as that can be told."""
    waiting, ordered = sorted(stages, key=lambda stage: stage.kind in BIASING), list[_Stage]()
    while waiting:
        outputs = {at: stage for stage in waiting for role, at in stage.nodes.items() if "out" in role}
        ready = next(
            (s for s in waiting if all(outputs.get(node, s) is s for node in s.inputs) and s.inputs),
            waiting[0],
        )
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def _told(stage: _Stage, points: Mapping[str, re.Match[str]]) -> Message:
    """``common-emitter stage Q1: amplifies ...; load RC; from b to out; gain -51``."""
    kind = KINDS[stage.kind]
    facts = [kind.purpose] if kind.purpose is not None else []
    roles = [*stage.elements.items()]
    roles = [each for at, each in enumerate(roles) if at and not _is_plain(stage, each[0])]
    if roles:
        facts.append(_listed(_role(stage.kind, *each) for each in roles))
    if stage.inputs and "out" in stage.nodes:
        facts.append(msg("{start} → {end}", start=", ".join(stage.inputs), end=stage.nodes["out"]))
    facts += [_figure(*each) for each in stage.figures]
    members = ", ".join(stage.elements.values()).split(", ")
    facts += [_point(points[name]) for name in members if name in points]
    return msg("{stage}: {facts}", stage=_named(stage), facts=_joined(facts)) if facts else _named(stage)


def _named(stage: _Stage) -> Message:
    roles = [*stage.elements.items()]
    own = ", ".join(names for at, (role, names) in enumerate(roles) if not at or _is_plain(stage, role))
    return msg("{stage} {names}", stage=KINDS[stage.kind].name, names=own)


def _is_plain(stage: _Stage, role: str) -> bool:
    """Whether its elements stand beside the stage's name without a word."""
    return role in UNNAMED or (role in ("upper", "lower") and stage.kind.endswith("_divider"))


def _role(kind: str, role: str, names: str) -> Message:
    return msg("{role} {names}", role=ROLES.get(f"{kind}.{role}") or ROLES[role], names=names)


def _figure(name: str, number: str, value: str, formula: str) -> Message:
    label = FIGURES[name]
    label = Message(label.template, {"number": number}) if number else label
    if formula in (value, ""):
        return msg("{label} {value}", label=label, value=value)
    return msg("{label} {value} = {formula}", label=label, value=value, formula=formula)


def _point(device: re.Match[str]) -> Message:
    """What a transistor does in the operating point of the newest run."""
    figures = [each for each in device["figures"].split(", ") if each.startswith(_TELLING)]
    text = f"{device['name']} {', '.join(figures)}"
    region = REGIONS.get((device["region"] or "").lower())
    if region is None:
        return msg("in the newest run {figures}", figures=text)
    return msg("in the newest run {figures} ({region})", figures=text, region=region)


def _measured(outline: Sequence[str], newest: Sequence[str]) -> list[Message]:
    head = next((line for line in outline if line.startswith(NEWEST_FIGURES)), "")
    if not head:
        return [msg("There is no result yet: “simulate” adds the currents and gains of a run.")]
    figures = [line for line in newest if " = " in line]
    told = [msg("measured in the newest run: {figures}", figures=", ".join(figures))] if figures else []
    state = head.removeprefix(NEWEST_FIGURES)
    if state.startswith(" with "):
        told.append(msg("That run used values of its own: {values}", values=state.partition(": ")[2]))
    elif "earlier" in state:
        told.append(msg("The circuit was changed since that run: its figures are old."))
    return told


def _joined(parts: Iterable[Message]) -> Message:
    return reduce(lambda first, second: msg("{first}; {second}", first=first, second=second), parts)


def _listed(parts: Iterable[Message]) -> Message:
    return reduce(lambda first, second: msg("{first}, {second}", first=first, second=second), parts)
