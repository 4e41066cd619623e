"""The built-in model's plans of many runs: random and worst parts, growing signals, steps, another type."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from domain.design.sentence import read_sentence
from infrastructure.llm_adapters.builtin.circuit import Circuit, number_of, value_of
from infrastructure.llm_adapters.builtin.comparing import moved_line
from infrastructure.llm_adapters.builtin.conditions import resolved
from infrastructure.llm_adapters.builtin.figures import number, shown
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    figures_or_usual,
    measured,
    no_such_part,
    tell,
    wanted_of,
    wider_sweep,
)
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    failed,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.tuning import aim_of, aim_told, bounds_of, moved_by, own_analysis
from shared.message import Message, msg

ROW = re.compile(r"\d+: (?P<values>\S.*?) -> (?P<metrics>.+)")
"""A run of a study: its values, and what was measured."""
STATISTICS = re.compile(r"(?P<name>[^\[]+) \[(?P<unit>[^\]]*)\]: (?P<figures>.+)")
"""What a study says of one metric over its runs."""
_FIGURE = re.compile(r"(mean|sigma|min|median|max|nominal|cpk) ([-+\d.e]+)")
_YIELD = re.compile(r"yield (\S+) \((\d+) of (\d+)\), 95 % confidence (\S+) to (\S+)")
_SHARES = re.compile(r"^(?P<name>[^\[\n]+) \[.*\n  variance from (?P<shares>.+)$", re.MULTILINE)
_UNMEASURED = re.compile(
    r"^warning: (?P<name>\S+) could not be measured in \d+ of \d+ runs; in run \d+: (?P<reason>.+)$",
    re.MULTILINE,
)
_USUAL_TOLERANCES = (("r", 0.05), ("c", 0.1), ("l", 0.2))


# --- spread -------------------------------------------------------------------------------------------


def _tolerances(circuit: Circuit, ask: Ask) -> tuple[list[dict[str, str]], bool]:
    """What scatters by how much, and whether that was assumed."""
    letters = [
        letter for letter in "rcl" if any(each.letter == letter and value_of(each) for each in circuit.top)
    ]
    given = dict(ask.tolerances)
    named = [name for name in ask.names if circuit.element(name) is not None]
    if named:
        share = next(iter(given.values()), 0.05)
        return [{"name": name, "tolerance": f"{100 * share:g}%"} for name in named], not given
    if "" in given:
        given = {letter: given.get(letter, given[""]) for letter in letters}
    is_assumed = not given
    if is_assumed:
        given = dict(_USUAL_TOLERANCES)
    return [
        {"name": f"{letter.upper()}*", "tolerance": f"{100 * given[letter]:g}%"}
        for letter in letters
        if letter in given
    ], is_assumed


def _goals(ask: Ask, wanted: Sequence[Wanted]) -> list[str]:
    """The bounds of the sentence, of the first figure."""
    is_bound = ask.is_yield or ask.bound is not None or ask.upper is not None
    return (
        bounds_of(wanted[0].key, aim_of(ask, wanted[0]))
        if ask.value is not None and is_bound and wanted
        else []
    )


def _measures(wanted: Sequence[Wanted]) -> dict[str, str]:
    return {each.key: each.expressions[0] for each in wanted}


def figures_watched(circuit: Circuit, ask: Ask) -> list[Wanted] | Message:
    """What is watched: the figures named, else the circuit's .meas cards (none), else the usual ones."""
    if not ask.figures and circuit.measures:
        return []
    return figures_or_usual(circuit, ask)


def _watch(circuit: Circuit, wanted: Sequence[Wanted]) -> dict[str, Any]:
    kinds = {each.kind for each in wanted}
    return (
        {"measure": _measures(wanted), **(own_analysis(circuit, wanted[0]) if len(kinds) == 1 else {})}
        if wanted
        else {}
    )


def study_of(
    circuit: Circuit, wanted: Sequence[Wanted], arguments: Mapping[str, Any]
) -> Generator[Call, Outcome, Outcome]:
    """The study; once more in a wider sweep where the circuit's own ends before a figure has a value."""
    outcome = yield Call(tool="run_study", arguments={**_watch(circuit, wanted), **arguments})
    if outcome.error_type or not _UNMEASURED.search(outcome.text) or {each.kind for each in wanted} != {"ac"}:
        return outcome
    wider = [replace(each, sweep=wider_sweep(circuit, each)) for each in wanted]
    if not wider[0].sweep:
        return outcome
    again = yield Call(tool="run_study", arguments={**_watch(circuit, wider), **arguments})
    return outcome if again.error_type else again


def monte_carlo(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Random parts: how a figure scatters, and the share of good circuits."""
    return (yield from _spread(circuit, ask, speech, "monte_carlo"))


def worst_case(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """All parts at the ends of their tolerances."""
    return (yield from _spread(circuit, ask, speech, "worst_case"))


def _spread(circuit: Circuit, ask: Ask, speech: Speech, kind: str) -> Plan:
    wanted = figures_watched(circuit, ask)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    scattered, is_assumed = _tolerances(circuit, ask)
    if not scattered:
        return speech.say(
            msg(
                "{file} has no resistor, capacitor or inductor with a plain value to vary.",
                file=circuit.file,
            )
        )
    goals, measure = _goals(ask, wanted), _measures(wanted)
    if ask.is_yield and not goals and ask.near is None:
        goals, measure = yield from _own_goals(circuit, measure)
        if not goals:
            return speech.say(
                msg(
                    "What counts as good? Say it with the question "
                    "(“… if the cut-off is between 1.5k and 1.7k”), "
                    "or set a goal of {file} first.",
                    file=circuit.file,
                )
            )
    if (ask.near is not None or ask.room is not None) and wanted:
        nominal = yield from measured(circuit, wanted[:1], (), speech)
        if isinstance(nominal, str):
            return nominal
        middle = nominal[0][2]
        room = ask.room if ask.room is not None else (ask.near or 0.0) * abs(middle)
        ask = replace(ask, value=middle - room, upper=middle + room, unit=wanted[0].unit)
        goals = bounds_of(wanted[0].key, aim_of(ask, wanted[0]))
    arguments: dict[str, Any] = {"kind": kind, "path": circuit.file, "parameters": scattered}
    arguments |= {"measure": measure} if measure else {}
    arguments |= {"goals": goals} if goals else {}
    if kind == "monte_carlo" and ask.runs:
        arguments["runs"] = ask.runs
    outcome = yield from study_of(circuit, wanted, arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    told_goals = ", ".join(goals)
    if ask.value is not None and goals and wanted:
        told_goals = f"{speech.say(wanted[0].name)} {aim_told(ask, wanted[0])}"
    said = [_runs_told(outcome, circuit, scattered, speech)]
    if is_assumed:
        said.append(speech.say(msg("No tolerance was given; these are assumed.")))
    if judged := _judged(outcome, told_goals):
        said.append(speech.say(judged))
    reasons = {found["name"]: found["reason"] for found in _UNMEASURED.finditer(outcome.text)}
    rows = [line for line in outcome.lines if STATISTICS.fullmatch(line)]
    said.append(bullets([_statistics(line, wanted, reasons, speech) for line in rows]))
    if found := _SHARES.search(outcome.text):
        own = next((each.name for each in wanted if each.key == found["name"]), found["name"])
        parts = (each.partition(" ") for each in found["shares"].split(", ") if not each.endswith(" 0 %"))
        shares = speech.listed(msg("{name} {share}", name=name, share=share) for name, _, share in parts)
        said.append(
            speech.say(msg("Shares of the variance of the {name}: {shares}.", name=own, shares=shares))
        )
    return "\n".join(said)


def _runs_told(
    outcome: Outcome, circuit: Circuit, scattered: Sequence[Mapping[str, str]], speech: Speech
) -> str:
    runs = re.search(r": (\d+) runs, (\d+) failed", outcome.lines[0])
    return speech.say(
        msg(
            "{file}, {count} runs, {failed} failed; tolerances: {tolerances}.",
            file=circuit.file,
            count=runs[1] if runs else "?",
            failed=runs[2] if runs else "?",
            tolerances=speech.listed(f"{each['name']} ±{each['tolerance']}" for each in scattered),
        )
    )


def _judged(outcome: Outcome, goals: str) -> Message | None:
    """How many of the circuits are good; None where no goal was asked about."""
    if found := _YIELD.search(outcome.text):
        share, low, high = (f"{100 * float(found[at]):.3g}" for at in (1, 4, 5))
        return msg(
            "Yield: {share} % ({passed} of {count}; 95 % confidence interval {low} % to {high} %), "
            "for {goals}.",
            share=share,
            passed=found[2],
            count=found[3],
            low=low,
            high=high,
            goals=goals,
        )
    verdict = next((line for line in outcome.lines if line.startswith("goals met: ")), "")
    if not goals or not verdict:
        return None
    is_met = verdict.endswith("yes")
    return msg("Goals are met in all cases.") if is_met else msg("Goals are not met in the worst case.")


def _own_goals(
    circuit: Circuit, measure: Mapping[str, str]
) -> Generator[Call, Outcome, tuple[list[str], dict[str, str]]]:
    """The circuit's goals as bounds with what they are measured by."""
    outcome = yield Call(tool="check_goals", arguments={"path": circuit.file})
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in outcome.lines
        if line.startswith("| ")
    ][1:]
    goals: list[str] = []
    own: dict[str, str] = {}
    for row in rows:
        name = row[0].removesuffix(" (wish)")
        texts = _bounds_of(name, row[2])
        if texts:
            goals += texts
            own[name] = row[1]
    return goals, own or dict(measure)


def _bounds_of(name: str, asked: str) -> list[str]:
    """``≥ 40 dB`` as a goal of a study."""
    values = read_sentence(asked.replace("…", " to ")).mentions
    if not values:
        return []
    first = values[0]
    if first.upper is not None:
        return [f"{name} >= {number(first.value)}", f"{name} <= {number(first.upper)}"]
    sign = ">=" if asked.startswith("≥") else "<=" if asked.startswith("≤") else ""
    return [f"{name} {sign} {number(first.value)}"] if sign else []


def _statistics(line: str, wanted: Sequence[Wanted], reasons: Mapping[str, str], speech: Speech) -> str:
    """``fc [Hz]: mean 1593.84, sigma 45.9`` for people; `reasons` say why a figure has no value."""
    found = STATISTICS.fullmatch(line)
    assert found is not None
    own = next((each for each in wanted if each.key == found["name"]), None)
    unit = "" if found["unit"] == "?" else found["unit"]
    figures = {key: float(value) for key, value in _FIGURE.findall(found["figures"])}

    def told(value: float) -> str:
        return own.told(value, unit) if own is not None else shown(value, unit)

    parts: list[Message] = []
    if "mean" in figures:
        parts.append(
            msg(
                "mean {mean}, σ {sigma}",
                mean=told(figures["mean"]),
                sigma=told(figures.get("sigma", math.nan)),
            )
        )
    if "nominal" in figures:
        parts.append(msg("nominal {value}", value=told(figures["nominal"])))
    if "min" in figures:
        parts.append(msg("from {low} to {high}", low=told(figures["min"]), high=told(figures["max"])))
    label = speech.say(own.name) if own is not None else found["name"]
    if not parts:
        parts.append(msg("no value: {reason}", reason=reasons.get(found["name"], "-")))
    told_all = reduce(lambda first, second: msg("{first}, {second}", first=first, second=second), parts)
    return speech.say(msg("{label}: {figures}", label=label, figures=told_all))


# --- another type, another signal ---------------------------------------------------------------------


_CARD = re.compile(
    r"Put this card into the circuit: (?P<card>\.\w+ .+?) \(then (?P<then>.+?); nodes: (?P<nodes>.+?)\)\. "
)


def swap(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:  # noqa: PLR0911 - every return is an answer
    """Another type from the model library for a part, and the figures before and after."""
    own = [each for each in circuit.top if ask.names[0].endswith("*") and each.letter == ask.names[0][0]]
    part = (
        own[0]
        if len(own) == 1
        else circuit.element(ask.names[0])
        or next(
            (
                each
                for each in circuit.top
                if each.model is not None and each.model.key == ask.names[0].lower()
            ),
            None,
        )
    )
    if part is None or part.model is None:
        return speech.say(no_such_part(circuit, ask.names))
    if not ask.writes:
        return speech.say(
            msg(
                "I cannot try another type without writing it into the file. Say “{example}”: I "
                "compare before and after, and it can be undone.",
                example=speech.say(msg("replace {name} by {type}", name=part.name, type=ask.query)),
            )
        )
    found = yield Call(tool="find_model", arguments={"query": ask.query})
    if found.error_type:
        return failed(found, speech)
    card = _CARD.match(found.text)
    if card is None:
        return found.text.split("\n", 1)[0]
    model = card["then"].split()[-1]
    old = part.statement.text
    wanted = figures_or_usual(circuit, ask)
    before = "" if isinstance(wanted, Message) else (yield from measured(circuit, wanted, (), speech))
    text = re.sub(rf"(?<!\S){re.escape(part.model.text)}(?!\S)", model, old)
    new = (
        text
        if card["card"].lower() in circuit.netlist.to_bytes().decode(errors="replace").lower()
        else f"{card['card']}\n{text}"
    )
    outcome = yield Call(tool="patch_file", arguments={"path": circuit.file, "search": old, "replace": new})
    if outcome.error_type:
        return failed(outcome, speech)
    now = msg(
        "{file}: “{before}” is now “{after}”.", file=circuit.file, before=old, after=new.replace("\n", "; ")
    )
    if isinstance(wanted, Message) or isinstance(before, str):
        return speech.say(now)
    after = yield from measured(circuit, wanted, (), speech)
    if isinstance(after, str):
        return f"{speech.say(now)}\n{after}"
    lines = [moved_line(first, then, speech) for first, then in zip(before, after, strict=True)]
    return f"{speech.say(now)}\n{bullets(lines)}"


_WAVEFORM = re.compile(r"\b(?:sin|pulse|pwl|exp|sffm|am)\s*\([^)]*\)", re.IGNORECASE)
_PERIODS_SHOWN = 10
_POINTS_A_PERIOD = 200


def stimulus(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Another waveform at the input, written into its source, and what the output makes of it."""
    source = (circuit.source or circuit.sine_source) if ask.writes else circuit.sine_source
    if source is None and not ask.writes:
        return speech.say(_no_sine(circuit))
    if source is None or source.letter != "v":
        return speech.say(
            msg(
                "{file} has no source with an AC value, so it has no frequency response. "
                "Give the input source AC 1.",
                file=circuit.file,
            )
        )
    old = source.statement.text
    now = _WAVEFORM.search(old)
    sizes = (
        [size for word in re.findall(r"[^\s(),]+", now[0])[1:] if (size := number_of(word)) is not None]
        if now
        else []
    )
    volts = ask.value if ask.value is not None else (sizes[1] if len(sizes) > 1 else 1.0)
    hertz = ask.at or circuit.drive_hz or 1e3
    edge = number(0.001 / hertz)
    wave = {
        "sine": f"SIN(0 {number(volts)} {number(hertz)})",
        "square": f"PULSE(0 {number(volts)} 0 {edge} {edge} {number(0.499 / hertz)} {number(1 / hertz)})",
        "step": f"PULSE(0 {number(volts)} 0 {edge} {edge} 1 2)",
    }[ask.query]
    new = _WAVEFORM.sub(wave, old, count=1) if now else f"{old} {wave}"
    if new != old and ask.writes:
        outcome = yield Call(
            tool="patch_file", arguments={"path": circuit.file, "search": old, "replace": new}
        )
        if outcome.error_type:
            return failed(outcome, speech)
    card = f"tran {number(1 / hertz / _POINTS_A_PERIOD)} {number(_PERIODS_SHOWN / hertz)}"
    own = replace(circuit, analyses=(card,))
    figures = (
        ask.figures if ask.query != "step" or ask.figures != ("swing",) else ("overshoot", "settling_time")
    )
    wanted = [
        found
        for key in figures
        if isinstance(
            found := wanted_of(
                own,
                Ask(intent="figure", nodes=ask.nodes, at=hertz if key == "thd" else None),
                key,
                is_stepped=True,
            ),
            Wanted,
        )
    ]
    if "thd" not in figures and ask.query == "sine":
        wanted += [
            each
            for each in [wanted_of(own, Ask(intent="figure", nodes=ask.nodes), "vout")]
            if isinstance(each, Wanted)
        ]
    said = (
        [speech.say(msg("{file}: “{before}” is now “{after}”.", file=circuit.file, before=old, after=new))]
        if new != old and ask.writes
        else []
    )
    tried = [(f"{source.name}.amplitude", number(volts)), (f"{source.name}.frequency", number(hertz))]
    told = yield from tell(
        own, [replace(each, sweep=card) for each in wanted], () if ask.writes else tried, speech
    )
    return "\n".join([*said, told])


def _no_sine(circuit: Circuit) -> Message:
    return msg(
        "{file} has no sine at its input that could be made larger. Give its source one, for example "
        "SIN(0 10m 1k).",
        file=circuit.file,
    )


_SIZES = 41
_DECADES = 4
"""From how far below the supply on the input is made larger."""
_FALLEN = 10 ** (-1 / 20)
"""1 dB."""
_DISTORTED = 0.01
_LARGEST = 10.0
"""V at the input, where no supply says what is large."""


def clipping(circuit: Circuit, _ask: Ask, speech: Speech) -> Plan:
    """How far the output swings before it clips: a growing sine at the input, until the gain falls."""
    source, hertz = circuit.sine_source, circuit.drive_hz
    if source is None or not hertz or not circuit.output:
        return speech.say(_no_sine(circuit))
    stop = _PERIODS_SHOWN / hertz
    out, settled = f"v({circuit.output.lower()})", f"{number(stop / 2)},{number(stop)}"
    largest = circuit.supply_v or _LARGEST
    outcome = yield Call(
        tool="run_study",
        arguments={
            "kind": "sweep",
            "path": circuit.file,
            "parameters": [
                {
                    "name": f"{source.name}.amplitude",
                    "min": number(abs(largest) / 10**_DECADES),
                    "max": number(abs(largest)),
                    "points": _SIZES,
                    "scale": "log",
                }
            ],
            "measure": {
                "high": f"max({out},{settled})",
                "low": f"min({out},{settled})",
                "thd": f"thd({out},{number(hertz)})",
            },
            "analysis": f"tran {number(1 / hertz / _POINTS_A_PERIOD)} {number(stop)}",
        },
    )
    if outcome.error_type:
        return failed(outcome, speech)
    rows = [row for line in outcome.lines if (row := _driven_row(line)) is not None]
    if len(rows) < _SIZES // 2:
        return failed(outcome, speech)
    return "\n".join(map(speech.say, _clipping_told(circuit, source.name, hertz, rows)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driven:
    """What the output makes of a sine of one size."""

    size: float
    """V, peak."""
    high: float
    low: float
    thd: float

    @property
    def swing(self) -> float:
        return self.high - self.low


def _driven_row(line: str) -> _Driven | None:
    row = ROW.fullmatch(line.strip())
    if row is None:
        return None
    found = dict(each.split("=", 1) for each in row["metrics"].split() if "=" in each)
    sizes = [
        number_of(text) for text in (row["values"].partition("=")[2], *map(found.get, _OF_DRIVEN)) if text
    ]
    if len(sizes) <= len(_OF_DRIVEN) or None in sizes:
        return None
    size, high, low, thd = (each or 0.0 for each in sizes)
    return _Driven(size=size, high=high, low=low, thd=thd)


_OF_DRIVEN = ("high", "low", "thd")


def _between(one: _Driven, other: _Driven, share: float) -> _Driven:
    """What it makes of a size between two, on the straight line over the logarithm of the size."""

    def at(first: float, second: float) -> float:
        return first + share * (second - first)

    return _Driven(
        size=one.size * (other.size / one.size) ** share,
        high=at(one.high, other.high),
        low=at(one.low, other.low),
        thd=at(one.thd, other.thd),
    )


def _clipping_told(circuit: Circuit, source: str, hertz: float, rows: Sequence[_Driven]) -> list[Message]:
    small = rows[0].swing / rows[0].size
    middle = (rows[0].high + rows[0].low) / 2
    clipped = next((at for at, each in enumerate(rows) if each.swing < _FALLEN * small * each.size), None)
    said: list[Message] = []
    if clipped is None or not clipped:
        said.append(
            msg(
                "{file}: up to {input} peak at the input the gain falls by less than 1 dB: nothing clips.",
                file=circuit.file,
                input=shown(rows[-1].size, "V"),
            )
            if clipped is None
            else msg(
                "{file}: the output is full already with {input} peak at the input.",
                file=circuit.file,
                input=shown(rows[0].size, "V"),
            )
        )
    else:
        inside, outside = rows[clipped - 1], rows[clipped]
        before, after = inside.swing / inside.size / small, outside.swing / outside.size / small
        there = _between(inside, outside, (before - _FALLEN) / (before - after))
        up, down = there.high - middle, middle - there.low
        said.append(
            msg(
                "{file}: with a growing sine of {frequency} at {source} the gain has fallen by 1 dB "
                "where the output swings about {swing} peak to peak ({input} peak at the input).",
                file=circuit.file,
                frequency=shown(hertz, "Hz"),
                source=source,
                swing=shown(there.swing, "V"),
                input=shown(there.size, "V"),
            )
        )
        how = {"up": shown(up, "V"), "down": shown(down, "V")}
        said.append(
            msg("It reaches {up} up and {down} down there: the upper side is cut first.", **how)
            if up < down
            else msg("It reaches {up} up and {down} down there: the lower side is cut first.", **how)
        )
    bent = next((at for at, each in enumerate(rows) if each.thd > _DISTORTED), None)
    if bent:
        clean, dirty = rows[bent - 1], rows[bent]
        share = math.log(_DISTORTED / clean.thd) / math.log(dirty.thd / clean.thd) if clean.thd > 0 else 1.0
        there = _between(clean, dirty, share)
        said.append(
            msg(
                "Its total harmonic distortion passes 1 % at {swing} peak to peak "
                "({input} peak at the input).",
                swing=shown(there.swing, "V"),
                input=shown(there.size, "V"),
            )
        )
    return said


def load_step(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """What the output makes of a current that jumps from one size to another: as its PULSE does, once."""
    part = circuit.element(ask.names[0])
    if part is None:
        return speech.say(no_such_part(circuit, ask.names))
    found = _PULSE.search(part.statement.text)
    times = [number_of(word) for word in found["words"].split()] if found else []
    if part.letter != "i" or len(times) < _OF_PULSE or None in times or not circuit.has("tran"):
        return speech.say(
            msg(
                "{name} of {file} makes no step: give it a PULSE, for example "
                "PULSE(1m 100m 100u 1u 1u 300u 1m), and the circuit a .tran card.",
                name=part.name,
                file=circuit.file,
            )
        )
    assert ask.span is not None
    low, high = ask.span
    begin, edge, width = (times[at] or 0.0 for at in (2, 3, 5))
    end = begin + edge + width
    out = f"v({circuit.output})"
    during = f"{out},{number(begin)},{number(end)}"
    rows = (
        (msg("output voltage before the step"), f"at({out},{number(begin)})"),
        (msg("lowest output voltage during it"), f"min({during})"),
        (msg("highest output voltage during it"), f"max({during})"),
        (msg("output voltage at its end"), f"at({out},{number(end)})"),
        (
            msg("undershoot of the output"),
            f"at({out},{number(begin)})-min({out},{number(begin)},{number(end)})",
        ),
    )
    wanted = [Wanted(name=name, expressions=(text,), unit="V", kind="tran") for name, text in rows]
    values = [(f"{part.name}.low", number(low)), (f"{part.name}.high", number(high))]
    return (yield from tell(circuit, wanted, values, speech))


_PULSE = re.compile(r"\bpulse\s*\(?\s*(?P<words>[^)]+)", re.IGNORECASE)
_OF_PULSE = 6
"""Words of a PULSE up to its width."""

_INPUTS = 41
"""Of a sweep that looks for the lowest one."""
_FINE = 500
"""Steps of a sweep by which parts are told apart."""
_KEPT = 0.99
"""Share of its output that a regulator is to keep."""


def dropout(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:  # noqa: PLR0911 - one an answer
    """The lowest input at which the output is still there, and their difference, by a sweep."""
    feeds = resolved(circuit, (("supply", "1"),))
    wanted = wanted_of(circuit, Ask(intent="figure"), "vout")
    if isinstance(feeds, Message):
        return speech.say(feeds)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    name = feeds[0][0]
    part = circuit.element(name)
    volts = value_of(part) if part is not None else None
    now = yield from measured(circuit, [wanted], ask.parameters, speech)
    if isinstance(now, str):
        return now
    level = now[0][2]
    if volts is None or not 0 < level < volts:
        return speech.say(
            msg(
                "{file} has no output below its supply {name} that could be kept.",
                file=circuit.file,
                name=name,
            )
        )
    if circuit.drive_pulse is None:
        return (yield from _fine_dropout(circuit, ask, name, (level, volts), speech))
    swept = {"name": name, "min": number(level / 2), "max": number(volts), "points": _INPUTS}
    arguments = {"kind": "sweep", "path": circuit.file, "parameters": [swept]}
    outcome = yield from study_of(circuit, [wanted], arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    rows = [row for line in outcome.lines if (row := ROW.fullmatch(line.strip())) is not None]
    pairs = [
        (number_of(row["values"].partition("=")[2]), number_of(row["metrics"].split()[0].partition("=")[2]))
        for row in rows
    ]
    found = sorted((size, out) for size, out in pairs if size is not None and out is not None)
    below = [at for at, (_, out) in enumerate(found) if out < _KEPT * level]
    if not found or not below or below[-1] + 1 >= len(found):
        return speech.say(
            msg("The output of {file} is kept over the whole range of {name}.", file=circuit.file, name=name)
        )
    (low, under), (high, over) = found[below[-1]], found[below[-1] + 1]
    size = low + (high - low) * (_KEPT * level - under) / (over - under)
    return _kept_down_to(circuit, name, level, size, speech)


def _fine_dropout(circuit: Circuit, ask: Ask, feed: str, sizes: tuple[float, float], speech: Speech) -> Plan:
    """The same of a regulator that does not switch, by its DC transfer, and what it hangs on where asked.

    `sizes`: its output and its input as they are.
    """
    level, volts = sizes
    kept = f"{_KEPT:g}*max(v({circuit.output}))"
    card = f"dc {feed} {number(level / 2)} {number(volts)} {number(volts / _FINE)}"
    place = Wanted(
        name=msg("lowest input"),
        expressions=(f"cross(v({circuit.output}),{kept})",),
        unit="V",
        kind="level",
        key="lowest",
        sweep=card,
    )
    found = yield from measured(circuit, [place], ask.parameters, speech)
    if isinstance(found, str):
        return found
    size = found[0][2]
    if math.isnan(size):
        return speech.say(
            msg("The output of {file} is kept over the whole range of {name}.", file=circuit.file, name=feed)
        )
    told = _kept_down_to(circuit, feed, level, size, speech)
    if ask.query != "limits":
        return told
    own = replace(
        place, name=msg("dropout voltage"), expressions=(f"{place.expressions[0]}-{kept}",), key="dropout"
    )
    return f"{told}\n{(yield from moved_by(circuit, replace(ask, query=''), own, speech))}"


def _kept_down_to(circuit: Circuit, feed: str, level: float, size: float, speech: Speech) -> str:
    return speech.say(
        msg(
            "{file}: the output keeps {share} of its {level} down to {name} = {size}: "
            "a dropout of {difference}.",
            file=circuit.file,
            share=f"{100 * _KEPT:g}%",
            level=shown(level, "V"),
            name=feed,
            size=shown(size, "V"),
            difference=shown(size - _KEPT * level, "V"),
        )
    )
