"""LTspice's plot settings (`.plt`): which curves stand in which pane, per analysis, in our expressions.

The file has a block in braces for each analysis, in it one for each pane: ``traces: 1 {524290,0,"V(out)"}``.
Ranges, grids and labels are left out: a view shows everything of the run it is laid over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.simulation.expressions import signals_in
from shared.errors import UserInputError

_MOST_PANES, _MOST_TRACES = 20, 60
_HEAD = re.compile(r"^\[(?P<analysis>[^\]\n]+)\]", re.MULTILINE)
_PANE = re.compile(r"^[ \t]*traces:(?P<traces>[^\n]*)(?P<rest>[^}]*)", re.MULTILINE)
_TRACE = re.compile(r'\{\s*-?\d+\s*,\s*-?\d+\s*,\s*"(?P<expression>[^"]*)"\s*\}')
_LOG = re.compile(r"^[ \t]*Log:[ \t]*(?P<x>[01])", re.MULTILINE)
_ANALYSES = {"transient": "tran", "ac": "ac", "dc": "dc", "noise": "noise", "operating": "op"}
_OF_NODES = ("tran", "ac", "dc")
_FUNCTIONS = {"d": "deriv", "re": "re", "im": "im"}
_NOISE = {"v(onoise)": "onoise", "v(inoise)": "inoise"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSettings:
    """How the curves of one analysis were looked at."""

    analysis: str
    """Its kind here: ``tran``."""
    traces: tuple[str, ...]
    """Expressions, pane after pane."""
    panes: Mapping[str, int] = field(default_factory=dict)
    """Of those that don't stand in the first pane, the number of theirs, from 1."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """``log`` of the axis ("x") where that is not usual."""


class ReadPlots(NamedTuple):
    """What a file of plot settings says."""

    plots: tuple[PlotSettings, ...]
    lost: tuple[str, ...]
    """Expressions, as written, that mean nothing here."""


def read_plots(text: str, nodes: Collection[str], elements: Collection[str]) -> ReadPlots:
    """The settings in `text` for a circuit with these nodes and elements (lower case).

    What is not of LTspice's form is passed over: nothing in it is an error.
    """
    heads = list(_HEAD.finditer(text))
    plots, lost = [], []
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        analysis = _ANALYSES.get("".join(head["analysis"].lower().split()[:1]), "")
        body = text[head.end() : end]
        panes = list(_PANE.finditer(body))[:_MOST_PANES] if analysis else []
        traces: dict[str, int] = {}
        for number, pane in enumerate(panes):
            for trace in list(_TRACE.finditer(pane["traces"]))[:_MOST_TRACES]:
                ours = translated(trace["expression"], nodes, elements)
                if ours is None:
                    lost.append(trace["expression"])
                else:
                    traces.setdefault(ours, number)
        if traces:
            # Where the first pane has lost all, the next one is the first.
            first = min(traces.values())
            log = _LOG.search(panes[0]["rest"])
            is_log = log is not None and log["x"] == "1" and analysis in ("tran", "dc")
            plots.append(
                PlotSettings(
                    analysis=analysis,
                    traces=tuple(traces),
                    panes={each: at - first for each, at in traces.items() if at > first},
                    scales={"x": "log"} if is_log else {},
                )
            )
    return ReadPlots(tuple(plots), tuple(dict.fromkeys(lost)))


def plots_of(
    outputs: Iterable[str], nodes: Collection[str], analyses: Iterable[str]
) -> tuple[PlotSettings, ...]:
    """The voltages of the `outputs` that are among the `nodes` (lower case), in each of these analyses that
    has an axis."""
    traces = tuple(dict.fromkeys(f"v({name.lower()})" for name in outputs if name.lower() in nodes))
    kinds = dict.fromkeys(kind for kind in analyses if kind in _OF_NODES) if traces else ()
    return tuple(PlotSettings(analysis=kind, traces=traces) for kind in kinds)


def translated(expression: str, nodes: Collection[str], elements: Collection[str]) -> str | None:
    """An expression of LTspice's in our terms; None where it names what the circuit does not have, or does
    what has no name here (the current into a subcircuit's pin)."""
    text = "".join(expression.split())
    if text.lower() in _NOISE:
        return _NOISE[text.lower()]

    def named(found: re.Match[str]) -> str:
        function, inside = found["function"].lower(), found["inside"]
        if function == "v":
            return f"v({','.join(_node(each, elements) for each in inside.split(','))})"
        return f"{function}({_element(inside, elements)})"

    text = re.sub(r"\b(?P<function>[vV]|[iI][a-zA-Z]?)\((?P<inside>[^()]*)\)", named, text)
    text = re.sub(
        r"\b([a-zA-Z]+)\(", lambda found: f"{_FUNCTIONS.get(found[1].lower(), found[1].lower())}(", text
    )
    text = text.replace("**", "^")
    try:
        signals = signals_in(text)
    except UserInputError:
        return None
    for signal in signals:
        if signal.kind == "v":
            known = all(name in nodes or "." in name for name in signal.names)
        elif signal.kind in ("i", "terminal", "p"):
            known = signal.names[-1 if signal.kind == "terminal" else 0] in elements
        else:
            known = signal.names[0] in ("time", "frequency", "omega", "w")
        if not known or signal.step is not None:
            return None
    return text


def _node(name: str, elements: Collection[str]) -> str:
    """``u1:x`` is the node x in the subcircuit XU1; ``0`` and the others keep their names."""
    name = name.lower()
    block, colon, inner = name.partition(":")
    return f"{_element(block, elements)}.{inner.replace(':', '.')}" if colon else name


def _element(name: str, elements: Collection[str]) -> str:
    """A name as the netlist has it: with its letter in front where the sheet's name lacks that."""
    name = name.lower()
    if name in elements:
        return name
    called = [each for each in elements if each[1:] == name or each[1:] == f"_{name}"]
    return called[0] if len(called) == 1 else name
