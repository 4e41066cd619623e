"""What may help a circuit that does not converge: edits of its netlist, the least intrusive first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.hierarchy import PlacedElement
from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement
from domain.simulation.convergence import DEFAULTS, Cause, model_numbers
from shared.message import Message, msg

Edit = tuple[int, int, str]
_ENDLESS = frozenset({"voltage-source-loop", "inductor-loop"})
"""Causes of wiring that no option mends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One edit, to be tried in a copy."""

    code: str
    """Stable kebab-case word: series-resistance, rshunt, gear ..."""
    message: Message
    """What is done and what it costs."""
    netlist: Netlist
    """The user's file with it."""


def remedies_for(cause: Cause, written: Netlist) -> tuple[tuple[Remedy, ...], tuple[Remedy, ...]]:
    """(made for this cause, general ones); the general ones are worth trying when none of the first helps.

    `written` is the file as the user wrote it. Elements of included files are left alone.
    """
    editor = _Editor(written)
    own = tuple(_own(cause, editor))
    general = () if cause.code in _ENDLESS else tuple(_general(cause, editor))
    return own, general


def _own(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    match cause.code:
        case "voltage-source-loop" | "inductor-loop":
            yield from _series_resistances(cause, editor)
        case "no-dc-path" | "current-source-without-path":
            yield from _paths(cause, editor)
        case "tolerances-too-tight":
            yield from editor.options_reset(cause.options)
        case "ideal-switch":
            yield from _softer_switches(cause, editor)
        case "discontinuous-source":
            yield from _smoother_sources(cause, editor)
        case "out-of-range-function":
            yield from _guarded_functions(cause, editor)
        case "no-series-resistance":
            yield from _model_resistances(cause, editor)
        case "steep-source" | "no-charge-storage":
            yield editor.options(
                "cshunt",
                "cshunt=1p",
                msg("A 1 pF capacitor from every node to ground limits its slew rate."),
            )
        case _:
            return


def _general(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    yield editor.options("gear", "method=gear", msg("Gear integration damps ringing between time steps."))
    yield editor.options(
        "iterations", "itl1=500 itl2=200 itl4=100", msg("Allow more iterations before a step is rejected.")
    )
    if cause.code != "steep-source":
        yield editor.options(
            "cshunt",
            "cshunt=1p",
            msg("A 1 pF capacitor from every node to ground limits its slew rate."),
        )
    yield editor.options(
        "rshunt", "rshunt=1T", msg("A 1 TΩ resistor from every node to ground gives each a DC path.")
    )
    yield editor.options(
        "tolerances",
        "reltol=0.005 abstol=1n vntol=10u",
        msg("Looser tolerances: results are accurate to half a percent."),
    )
    yield editor.options("gmin", "gmin=1n", msg("A larger conductance across every junction: 1 nS."))
    yield from editor.with_uic()


# ---- one cause each ------------------------------------------------------------------------------


def _series_resistances(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    elements = {item.element.key: item for item in cause.elements}.values()
    for ohms, text in (("1m", "1 mOhm"), ("100m", "100 mOhm")):
        edits = [edit for item in elements for edit in editor.in_series(item, ohms)]
        if edits:
            yield editor.remedy(
                "series-resistance",
                msg("{ohms} in series with {name}, as in every real part.", ohms=text,
                    name=", ".join(item.element.name for item in elements)),
                edits,
            )  # fmt: skip


def _paths(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    chief = cause.elements[0] if cause.elements else None
    for ohms, text in (("1T", "1 TOhm"), ("1G", "1 GOhm")):
        if chief is None or not editor.is_here(chief):
            break
        scope = chief.element.scope
        cards = [f"Rpath_{node} {node} 0 {ohms}" for node in cause.paths]
        yield editor.remedy(
            "path-to-ground",
            msg(
                "{ohms} from {node} to ground: a DC path, too large to affect the result.",
                ohms=text,
                node=", ".join(cause.paths),
            ),
            editor.added(cards, scope),
        )
    yield editor.options(
        "rshunt", "rshunt=1T", msg("A 1 TΩ resistor from every node to ground gives each a DC path.")
    )


def _softer_switches(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    for item in cause.elements[:1]:
        model = editor.model(item)
        if model is None:
            continue
        key, threshold = ("ih", "it") if item.element.letter == "w" else ("vh", "vt")
        values = model_numbers_of(model)
        for part in (0.01, 0.1):
            width = part * (abs(values.get(threshold, 0.0)) or 1.0)
            yield editor.remedy(
                "hysteresis",
                msg("A hysteresis of {part} % of the threshold in the model of {name}, so that it does "
                    "not switch back immediately.", part=f"{part:.0%}".rstrip("%"), name=item.element.name),
                editor.parameter(model, key, f"{width:g}"),
            )  # fmt: skip


_SIGN = re.compile(r"\b(?P<name>sgn|sign|u|stp)\s*\(", re.IGNORECASE)


def _smoother_sources(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    for item in cause.elements[:1]:
        for sharpness in ("1k", "100"):
            text = smooth(item.element.statement.raw, sharpness)
            edits = editor.rewritten(item, text)
            if edits:
                yield editor.remedy(
                    "smooth-step",
                    msg("The jump of {name} as a tanh with a transition of about {width}.",
                        name=item.element.name, width="1 mV" if sharpness == "1k" else "10 mV"),
                    edits,
                )  # fmt: skip
    yield editor.options(
        "cshunt", "cshunt=1p", msg("A 1 pF capacitor from every node to ground limits its slew rate.")
    )


def smooth(raw: str, sharpness: str) -> str:
    """Steps of an expression as hyperbolic tangents: ``sgn(x)``, ``u(x)`` and ``(a>b) ? x : y``."""
    at = 0
    while match := _SIGN.search(raw, at):
        end = _closing(raw, match.end() - 1)
        inner = raw[match.end() : end - 1]
        tangent = f"tanh({sharpness}*({inner}))"
        new = tangent if match["name"].lower() in ("sgn", "sign") else f"(0.5+0.5*{tangent})"
        raw = raw[: match.start()] + new + raw[end:]
        at = match.start() + len(new)
    choice = re.search(
        r"(?P<head>=\s*[{'\"]?\s*)\(?(?P<left>[^?<>=]+)(?P<sign>[<>])=?(?P<right>[^?<>=]+?)\)?\s*\?\s*"
        r"(?P<yes>[^:?]+):(?P<no>[^:?}'\"]+)",
        raw,
    )
    if choice is None:
        return raw
    left, right = choice["left"].strip(), choice["right"].strip()
    left += ")" * (left.count("(") - left.count(")"))
    right = right + ")" * (right.count("(") - right.count(")"))
    ahead, behind = (left, right) if choice["sign"] == ">" else (right, left)
    yes, no = choice["yes"].strip(), choice["no"].strip()
    step = f"(0.5+0.5*tanh({sharpness}*(({ahead})-({behind}))))"
    new = f"{choice['head']}({no})+(({yes})-({no}))*{step}"
    return raw[: choice.start()] + new + raw[choice.end() :]


_ROOT = re.compile(r"\b(?P<name>sqrt|ln|log|log10)\s*\(", re.IGNORECASE)


def _guarded_functions(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    for item in cause.elements[:1]:
        raw, at = item.element.statement.raw, 0
        while match := _ROOT.search(raw, at):
            end = _closing(raw, match.end() - 1)
            new = f"{match['name']}(max({raw[match.end() : end - 1]},0)+1u)"
            raw = raw[: match.start()] + new + raw[end:]
            at = match.start() + len(match["name"]) + 5
        edits = editor.rewritten(item, raw)
        if edits:
            yield editor.remedy(
                "guarded-function",
                msg("The functions of {name} limited to their range, 1u from where their slope becomes "
                    "infinite.", name=item.element.name),
                edits,
            )  # fmt: skip


def _model_resistances(cause: Cause, editor: _Editor) -> Iterator[Remedy]:
    for item in cause.elements[:1]:
        model = editor.model(item)
        for ohms in ("0.1", "1"):
            edits = editor.parameter(model, "rs", ohms) if model is not None else []
            if edits:
                yield editor.remedy(
                    "series-resistance",
                    msg("A series resistance of {ohms} Ohm in the model of {name}.", ohms=ohms,
                        name=item.element.name),
                    edits,
                )  # fmt: skip


# ---- editing ------------------------------------------------------------------------------------


def model_numbers_of(statement: Statement) -> dict[str, float]:
    """As `model_numbers`, of the card itself."""
    from domain.circuit.cards import model_of

    model = model_of(statement)
    return {} if model is None else model_numbers(model)


class _Editor:
    """Makes edits of the user's file; nothing stands behind `.end` and no line before an edit moves."""

    def __init__(self, written: Netlist) -> None:
        self._written = written
        self._path: Path | None = written.path
        self._cards = {
            (statement.line, statement.keyword): statement
            for statement in written.statements
            if statement.kind in ("element", "directive")
        }

    def remedy(self, code: str, message: Message, edits: list[Edit]) -> Remedy:
        return Remedy(code=code, message=message, netlist=self._written.edited(edits))

    def options(self, code: str, text: str, message: Message) -> Remedy:
        return self.remedy(code, message, self.added([f".options {text}"], ()))

    def is_here(self, item: PlacedElement) -> bool:
        """The element stands in the user's file, where he wrote it."""
        return item.file == self._path and (item.element.line, item.element.letter) in self._cards

    def added(self, cards: list[str], scope: tuple[str, ...]) -> list[Edit]:
        """Cards in front of `.end`, or of the `.ends` of their subcircuit."""
        line = self._written.end_line
        if scope:
            line = next((sub.end_line for sub in self._written.subcircuits if sub.path == scope), None)
        ending = self._written.line_ending
        text = "".join(card + ending for card in cards)
        if line is None:
            data = self._written.to_bytes()
            start = "" if data.endswith((b"\n", b"\r")) else ending
            return [(len(data), len(data), start + text)]
        at = self._written.source.lines[line - 1].start
        return [(at, at, text)]

    def in_series(self, item: PlacedElement, ohms: str) -> list[Edit]:
        """The element moved to a node of its own behind a resistor."""
        element: Element = item.element
        if not self.is_here(item) or len(element.nodes) < 2:
            return []
        field = element.nodes[0]
        if canonical_node(field.text) == GROUND:
            field = element.nodes[1]
        inner = f"{field.text}_{element.name}"
        start, end = field.spans[0][0], field.spans[-1][1]
        card = f"Rser_{element.name} {field.text} {inner} {ohms}"
        return [(start, end, inner), *self.added([card], element.scope)]

    def model(self, item: PlacedElement) -> Statement | None:
        """The `.model` card of an element, when it is in the user's file."""
        name = item.element.model.key if item.element.model is not None else ""
        return next((m.statement for m in self._written.models if m.name.lower() == name), None)

    def parameter(self, model: Statement, name: str, value: str) -> list[Edit]:
        """A parameter of a model card given a value."""
        match = re.search(rf"\b{name}\s*=\s*(?P<value>[^\s(),=]+)", model.raw, re.IGNORECASE)
        if match is not None:
            first, last = model.span_of(match.start("value"), match.end("value"))[0]
            return [(first, last, value)]
        stop = len(model.raw.rstrip())
        stop = stop - 1 if model.raw.rstrip().endswith(")") else stop
        at = model.span_of(stop - 1, stop)[0][1]
        return [(at, at, f" {name.upper()}={value}")]

    def rewritten(self, item: PlacedElement, raw: str) -> list[Edit]:
        """An element's card with another text; [] when it spans lines, is elsewhere or is the same."""
        statement = self._cards.get((item.element.line, item.element.letter))
        if not self.is_here(item) or statement is None or len(statement.chunks) != 1:
            return []
        if raw == statement.raw:
            return []
        chunk = statement.chunks[0]
        return [(chunk.start, chunk.start + chunk.length, self._written.source.decode(raw))]

    def options_reset(self, names: tuple[str, ...]) -> Iterator[Remedy]:
        """The options back to ngspice's own values."""
        edits: list[Edit] = []
        for card in self._written.directives("options"):
            for match in re.finditer(r"\b(?P<name>\w+)\s*=\s*(?P<value>[^\s,]+)", card.raw):
                if match["name"].lower() in names:
                    first, last = card.span_of(match.start("value"), match.end("value"))[0]
                    edits.append((first, last, f"{DEFAULTS[match['name'].lower()]:g}"))
        if edits:
            yield self.remedy("default-tolerances", msg("ngspice's own tolerances."), edits)

    def with_uic(self) -> Iterator[Remedy]:
        """Every transient analysis started from the initial conditions."""
        edits = [
            (card.span_of(0, len(card.raw))[-1][1], card.span_of(0, len(card.raw))[-1][1], " uic")
            for card in self._written.directives("tran")
            if card.words[-1].key != "uic"
        ]
        if edits:
            yield self.remedy(
                "initial-conditions",
                msg("The transient analysis starts from .ic and zero, without an operating point."),
                edits,
            )


def _closing(text: str, opening: int) -> int:
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)
