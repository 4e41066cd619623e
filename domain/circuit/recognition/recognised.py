"""What was recognised of a circuit, as data: stages with the roles of their elements and nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from domain.circuit.figures import with_unit

MADE_OF = "made of (by its connections):"
NEWEST_FIGURES = "newest run"
"""Begin the lines of `analyze_file` with what was recognised, and with what the newest run gave."""

SMALL = frozenset({"coupling", "bypass", "decoupling"})
"""Kinds that are told together, behind the stages."""
_CHARACTERISTIC = frozenset(
    {"gain", "corner", "center", "frequency", "output_voltage", "unity_gain_frequency", "output_current"}
)
"""Figures a stage is known by, where it has several."""

NodeRole = Literal["ground", "supply", "bias", "input", "output", "internal"]


class Figure(NamedTuple):
    """What follows from the values in the deck."""

    name: str
    """``gain``, ``corner``, ``period`` ...: a key of `words.FIGURES`."""
    value: float
    """SI."""
    unit: str
    formula: str
    """In the roles of the stage's elements: ``-RF/RI``."""
    source: str = ""
    """Where the formula is published; "" = the circuit's own equations solved."""

    def __str__(self) -> str:
        cited = f"; {self.source}" if self.source else ""
        return f"{self.name} = {with_unit(self.value, self.unit)} ({self.formula}{cited})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One function block."""

    kind: str
    """A key of `words.KINDS`: ``common_emitter``."""
    elements: Mapping[str, tuple[str, ...]]
    """Names by role: ``{"transistor": ("Q1",), "load": ("RC",)}``; what a drawing keeps together."""
    nodes: Mapping[str, str] = field(default_factory=dict)
    """Nodes by role: ``in``, ``out``, ``common`` ..."""
    figures: tuple[Figure, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """All its elements, once each."""
        return tuple(dict.fromkeys(name for names in self.elements.values() for name in names))

    def __str__(self) -> str:
        parts = ", ".join(f"{role} {'+'.join(names)}" for role, names in self.elements.items())
        nodes = ", ".join(f"{role}={node}" for role, node in self.nodes.items())
        figures = "; ".join(map(str, self.figures))
        return f"{self.kind}: {parts}{f'; {nodes}' if nodes else ''}{f'; {figures}' if figures else ''}"


class Feedback(NamedTuple):
    """An element that leads a signal back around stages."""

    elements: tuple[str, ...]
    source: str
    """The node it comes from, behind the stages."""
    target: str
    around: tuple[str, ...]
    """The amplifying elements it closes the loop over."""
    sign: Literal["negative", "positive", "unknown"]

    def __str__(self) -> str:
        way = f"from {self.source} to {self.target} around {'+'.join(self.around)}"
        return f"{self.sign} {'+'.join(self.elements)} {way}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A circuit understood as far as it can be."""

    roles: Mapping[str, NodeRole]
    """Of every node at the top level."""
    supplies: Mapping[str, float]
    """Volts against ground by node."""
    inputs: Mapping[str, str]
    """Node -> the source that drives it."""
    outputs: tuple[str, ...]
    stages: tuple[Stage, ...]
    feedback: tuple[Feedback, ...]
    loads: tuple[str, ...]
    """Elements from an output to ground that belong to no stage."""
    unrecognised: tuple[str, ...]
    """Elements nothing is known about, sources left out."""

    def lines(self) -> list[str]:
        """For a model, in English: what is there, and at last what was not recognised."""
        supplies = ", ".join(f"{node} {value:+.6g} V" for node, value in self.supplies.items())
        inputs = ", ".join(f"{node} ({source})" for node, source in self.inputs.items())
        ends = [("supplies", supplies), ("inputs", inputs), ("outputs", ", ".join(self.outputs))]
        told = "; ".join(f"{label}: {text}" for label, text in ends if text)
        lines = [told] if told else []
        lines += map(str, self.stages)
        lines += [f"feedback: {each}" for each in self.feedback]
        lines += [f"load: {', '.join(self.loads)}"] if self.loads else []
        lines += [f"not recognised: {', '.join(self.unrecognised)}"] if self.unrecognised else []
        return lines

    def brief(self, most: int) -> str:
        """The stages in a line, small parts left out: ``common_emitter Q1 (gain -50), ...``; "" for none."""
        stages = [stage for stage in self.stages if stage.kind not in SMALL]
        more = [f"and {len(stages) - most} more"] if len(stages) > most else []
        return ", ".join([*(_in_brief(stage) for stage in stages[:most]), *more])


def _in_brief(stage: Stage) -> str:
    first = next(iter(stage.elements.values()), ())
    names = "+".join(first[:3]) + ("+..." if len(first) > 3 else "")
    figures = [each for each in stage.figures if each.name in _CHARACTERISTIC] or stage.figures
    told = f" ({figures[0].name} {with_unit(*figures[0][1:3])})" if figures else ""
    return f"{stage.kind} {names}{told}"
