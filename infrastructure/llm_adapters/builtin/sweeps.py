"""Plans over values: of a part, the supply, the load, the temperature, and of corners of these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from infrastructure.llm_adapters.builtin.circuit import Circuit, number_of, value_of
from infrastructure.llm_adapters.builtin.conditions import load_of, resolved
from infrastructure.llm_adapters.builtin.figures import number, shown
from infrastructure.llm_adapters.builtin.measuring import Wanted, measured, no_such_part, supplies_of
from infrastructure.llm_adapters.builtin.plans import Call, Plan, Speech, bullets, failed
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.trials import ROW, STATISTICS, figures_watched, study_of
from shared.message import Message, msg

_PART_UNITS = {"r": "Ohm", "c": "F", "l": "H", "v": "V", "i": "A"}


def sweep(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:  # noqa: PLR0911, PLR0912 - one an answer
    """Figures over values of a part, or over temperature."""
    name = ask.names[0] if ask.names else "temp"
    if name in ("supply", "beta", "load"):
        own = _swept_name(circuit, name)
        if isinstance(own, Message):
            return speech.say(own)
        name = own
    is_heat = name.lower() == "temp"
    part = None if is_heat or "." in name else circuit.element(name)
    if part is None and not is_heat and "." not in name:
        return speech.say(no_such_part(circuit, ask.names))
    wanted = figures_watched(circuit, replace(ask, names=ask.names[1:]))
    if isinstance(wanted, Message):
        return speech.say(wanted)
    if ask.points:
        return (yield from _one_by_one(circuit, name, ask.points, wanted, speech))
    span, is_assumed = ask.span, ask.span is None
    of_model = _own_of_model(circuit, name) if "." in name else None
    if span is None and of_model:
        span = (of_model / 2, of_model * 2)
    if span is None:
        value = None if part is None else value_of(part)
        span = (-40.0, 125.0) if value is None else (value / 10, value * 10)
    low, high = sorted(span)
    is_one = low == high
    if is_one:  # beside the one the circuit has
        low, high = sorted((low, _own_of_model(circuit, name) or low))
    if "." in name:
        wanted = [_by_resistor(circuit, each) for each in wanted]
    swept = _swept(name, (low, high), ask.runs, is_one=is_one)
    outcome = yield from study_of(
        circuit, wanted, {"kind": "sweep", "path": circuit.file, "parameters": [swept]}
    )
    if outcome.error_type == "unknown_signal" and wanted:  # a sweep keeps no currents of parts
        steps = (ask.runs or _ONE_BY_ONE) - 1
        points = [low + (high - low) * at / steps for at in range(steps + 1)]
        return (yield from _one_by_one(circuit, name, points, wanted, speech))
    if outcome.error_type:
        return failed(outcome, speech)
    units = {found["name"]: found["unit"] for line in outcome.lines if (found := STATISTICS.fullmatch(line))}

    def told(value: float) -> str:
        return f"{value:g} °C" if is_heat else shown(value, _PART_UNITS.get(name[0].lower(), ""))

    rows = [row for line in outcome.lines if (row := ROW.fullmatch(line.strip())) is not None]
    valued = {
        text.partition("=")[0]
        for row in rows
        for text in row["metrics"].split()
        if ask.figures or number_of(text.partition("=")[2]) is not None
    }  # of the figures that nobody named, one that no run has says nothing
    lines = []
    for row in rows:
        value = number_of(row["values"].partition("=")[2]) or 0.0
        lines.append(
            f"{name} = {told(value)}: "
            + ", ".join(
                _metric(text, wanted, units, speech)
                for text in row["metrics"].split()
                if text.partition("=")[0] in valued
            )
        )
    head = msg(
        "{file}, {name} from {low} to {high}:",
        file=circuit.file,
        name=name,
        low=told(low),
        high=told(high),
    )
    said = [speech.say(head), bullets(lines)]
    if is_assumed and of_model:
        told_range = msg("No range was given; half to twice the present value is assumed.")
        said.append(speech.say(told_range))
    elif is_assumed:
        said.append(
            speech.say(
                msg("No range was given; one decade to either side is assumed.")
                if not is_heat
                else msg("No range was given; -40 to 125 °C is assumed.")
            )
        )
    return "\n".join(said)


_DECADE = 8
"""Ends so many times apart are swept over in equal ratios."""


def _swept(name: str, span: tuple[float, float], runs: int | None, *, is_one: bool) -> dict[str, Any]:
    """The parameter of a sweep; `is_one`: only its ends."""
    low, high = span
    if is_one:
        return {"name": name, "values": [number(each) for each in sorted({low, high})]}
    is_heat = name.lower() == "temp"
    points = runs or (7 if is_heat else 11)
    is_wide = not is_heat and low > 0 and high / low >= _DECADE
    swept: dict[str, Any] = {"name": name, "min": number(low), "max": number(high), "points": points}
    return {**swept, "scale": "log"} if is_wide else swept


def _own_of_model(circuit: Circuit, name: str) -> float | None:
    """What a model's card in the file gives a parameter: ``qn.bf``."""
    model, _, parameter = name.partition(".")
    text = circuit.netlist.to_bytes().decode(errors="replace")
    card = re.search(rf"(?im)^\s*\.model\s+{re.escape(model)}\b.*(?:\n\+.*)*", text)
    found = re.search(rf"(?i)\b{re.escape(parameter)}\s*=\s*([\w.+-]+)", card[0]) if card else None
    return number_of(found[1]) if found else None


def _by_resistor(circuit: Circuit, wanted: Wanted) -> Wanted:
    """A collector current as that of the only resistor there: studies keep no currents of parts."""
    found = re.fullmatch(r"ic\((\w+)\)", wanted.expressions[0])
    part = circuit.element(found[1]) if found else None
    if part is None:
        return wanted
    node = part.nodes[0].key
    others = [
        each
        for each in circuit.top
        if each is not part and each.letter != "c" and node in (pin.key for pin in each.nodes)
    ]
    if len(others) != 1 or others[0].letter != "r" or not (value := value_of(others[0])):
        return wanted
    ends = [pin.key for pin in others[0].nodes[:2]]
    far = next((each for each in ends if each != node), node)
    drop = f"(v({far})-v({node}))" if far not in ("0", "gnd") else f"v({node})"
    return replace(wanted, expressions=(f"{drop}/{number(value)}",))


_ONE_BY_ONE = 5


def _swept_name(circuit: Circuit, name: str) -> str | Message:
    """The only supply, the load, or the current gain of the only type of transistor."""
    if name == "load" and (sink := load_of(circuit, "i")) is not None:
        return sink.name
    found = resolved(circuit, ((name, "1"),))
    return found if isinstance(found, Message) else found[0][0]


def _one_by_one(
    circuit: Circuit, name: str, points: Sequence[float], wanted: Sequence[Wanted], speech: Speech
) -> Plan:
    """A sweep as runs of their own."""
    is_heat = name.lower() == "temp"
    unit = "" if is_heat else _PART_UNITS.get(name[0].lower(), "")

    def told(value: float) -> str:
        return f"{value:g} °C" if is_heat else shown(value, unit)

    lines = []
    for value in points:
        found = yield from measured(circuit, wanted, [(name, number(value))], speech)
        if isinstance(found, str):
            return found
        figures = ", ".join(
            f"{speech.say(each.name)} = {each.told(figure, of)}" for each, _, figure, of in found
        )
        lines.append(f"{name} = {told(value)}: {figures}")
    head = msg(
        "{file}, {name} from {low} to {high}:",
        file=circuit.file,
        name=name,
        low=told(points[0]),
        high=told(points[-1]),
    )
    return "\n".join([speech.say(head), bullets(lines)])


def _metric(text: str, wanted: Sequence[Wanted], units: Mapping[str, str], speech: Speech) -> str:
    """``bandwidth=159.1`` for people."""
    name, _, figure = text.partition("=")
    own = next((each for each in wanted if each.key == name), None)
    value = number_of(figure)
    label = speech.say(own.name) if own is not None else name
    if value is None:
        return f"{label}: {speech.say(msg('no value'))}"
    unit = units.get(name, "")
    return f"{label} = {own.told(value, unit) if own is not None else shown(value, unit)}"


_SUPPLY_SHARE = 0.1
_CORNER_HEAT = (-40.0, 27.0, 125.0)
_CORNER = re.compile(r"\d+ (?P<corner>\S.*?): .*? -> (?P<metrics>.+)")


def corners(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Figures at all combinations of the ends of the supply and of the temperature; of the process where the
    models have such corners."""
    wanted = figures_watched(circuit, replace(ask, names=()))
    if isinstance(wanted, Message):
        return speech.say(wanted)
    given = dict(ask.tolerances)
    share = next(iter(given.values()), _SUPPLY_SHARE)
    supplies = [each.name for each in supplies_of(circuit)]
    feeds = [name for name in supplies if name.lower() in {each.lower() for each in ask.names}] or supplies
    heat = ask.points or ask.span or _CORNER_HEAT
    said, process = [], {}
    if ask.query == "process":
        own = yield Call(tool="run_study", arguments={"kind": "corners", "path": circuit.file})
        names = [] if own.error_type else sorted(set(_PROCESS.findall(own.text)))
        process = {"process": names} if names else {}
        if not names:
            none = msg("The models of {file} have no process corners: these are left out.", file=circuit.file)
            said.append(speech.say(none))
    ends = [f"-{100 * share:g}%", f"+{100 * share:g}%"]
    varied: dict[str, Any] = {**process, "temp": [number(each) for each in heat]}
    if feeds:
        varied["voltage"] = dict.fromkeys(feeds, ends)
    arguments = {"kind": "corners", "path": circuit.file, "corners": varied}
    outcome = yield from study_of(circuit, wanted, arguments)
    if outcome.error_type:
        return "\n".join([*said, failed(outcome, speech)])
    units = {found["name"]: found["unit"] for line in outcome.lines if (found := STATISTICS.fullmatch(line))}
    rows = [found for line in outcome.lines if (found := _CORNER.fullmatch(line.strip())) is not None]
    told_heat = speech.listed(f"{each:g} °C" for each in heat)
    head = (
        msg("{file} at corners: {supplies} ±{share} %, {heat}.", file=circuit.file,
            supplies=speech.listed(feeds), share=f"{100 * share:g}", heat=told_heat)
        if feeds
        else msg("{file} at corners: {heat}.", file=circuit.file, heat=told_heat)
    )  # fmt: skip
    lines = [
        f"{row['corner'].replace('_', ', ')}: "
        + ", ".join(_metric(text, wanted, units, speech) for text in row["metrics"].split())
        for row in rows
    ]
    return "\n".join([*said, speech.say(head), bullets(lines)])


_PROCESS = re.compile(r"\b(TT|FF|SS|FS|SF)\b")
