"""The built-in model's figures of a circuit's response: what each is measured by, and its run."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.circuit.elements import Element
from infrastructure.llm_adapters.builtin.circuit import (
    Circuit,
    ac_size,
    circuit_of,
    number_of,
    value_of,
)
from infrastructure.llm_adapters.builtin.figures import FIGURES, Figure, Kind, number, shown
from infrastructure.llm_adapters.builtin.plans import (
    FIGURE,
    Call,
    Outcome,
    Plan,
    Speech,
    failed,
    inspection,
    not_settled,
    simulation_failed,
    watched,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from shared.message import Message, msg

_RUN = re.compile(r": ok, run (\d+)")

_USUAL_AC = "ac dec 20 1 1g"

_WIDEST_AC = "ac dec 20 10m 10g"

_PERIODS = 10
"""Of the switch at the end of a run, over which ripple is taken."""

_TAIL = 0.8
"""Behind so much of a transient run the circuit is taken to have settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A figure of a circuit, ready to be measured."""

    name: Message
    expressions: tuple[str, ...]
    unit: str
    kind: Kind | None
    """None: of the operating point."""
    place: str = ""
    sensed: str = ""
    key: str = ""
    is_percent: bool = False
    sweep: str = ""
    """The card of a wider sweep, where the circuit's own ends before the figure has a value."""

    def told(self, value: float, unit: str = "") -> str:
        if self.is_percent:
            return f"{100 * value:.3g}%"
        return shown(value, self.unit or unit)


def wanted_of(circuit: Circuit, ask: Ask, key: str, *, is_stepped: bool = False) -> Wanted | Message:
    """A named figure at the circuit's output, or why it has none; `is_stepped`: its source makes a step."""
    figure = FIGURES[key]
    if figure.of == "*":
        return _of_part_or_supply(circuit, ask, key)
    node = ask.nodes[0] if ask.nodes else circuit.output or ("0" if figure.of else "")
    if not node:
        return msg("I do not know which node of {file} is the output. Name it: v(node).", file=circuit.file)
    kind = _kind_of(circuit, ask, figure)
    problem = lacking(circuit, kind) or (_no_step(circuit) if key == "overshoot" and not is_stepped else None)
    fields = problem or _fields(circuit, ask, key, node)
    if isinstance(fields, Message):
        return fields
    where, place = ask.at, ask.at_unit
    if where is None and figure.place:
        where = circuit.drive_hz if figure.place == "source" else number_of(figure.place)
        place = "Hz"
    of_place = _place_of(ask, figure, fields) if ask.place and figure.at else None
    if where is None and of_place is None and figure.place == "source" and circuit.has("tran"):
        of_place = FIGURES["frequency"].expressions[0].format(**fields), figure.name  # of an oscillator
    if where is None and of_place is None and not figure.expressions:
        return msg(
            "At which frequency? For example “{example}”.", example=f"{key.replace('_', ' ')} at 1 kHz"
        )
    is_there = bool(figure.at) and (where is not None or of_place is not None)
    name = msg("voltage at {node}", node=node) if key == "node" else figure.name
    if is_there:
        there, name = of_place or (number(where or 0.0), name)
        expression = figure.at.format(**fields, f=there)
        expressions: tuple[str, ...] = (
            f"mag({expression})" if place == "Hz" and figure.kind == "level" else expression,
        )
    elif kind is None:
        expressions = (figure.expressions[0].format(**fields) if figure.of else fields["out"],)
    elif figure.kind == "level" and figure.of and kind == "tran":
        expressions = tuple(f"avg({each.format(**fields)},{fields['tail']})" for each in figure.expressions)
    else:
        expressions = _own_form(circuit, ask, key, fields) or tuple(
            each.format(**fields) for each in figure.expressions
        )
    is_band = kind == "ac" and ask.span is not None and ask.intent == "figure" and ask.unit in ("Hz", "none")
    return Wanted(
        name=name,
        expressions=expressions,
        unit="V" if key == "vout" else figure.unit if "at(onoise," not in expressions[0] else "V/sqrt(Hz)",
        kind=kind,
        place=shown(where, place) if is_there and of_place is None and where is not None and place else "",
        sensed=expressions[0].replace("db(", "mag(") if is_there else figure.sensed.format(**fields),
        key=key,
        is_percent=figure.unit == "1",
        sweep=_band(ask.span) if is_band and ask.span is not None else "",
    )


def subjects(circuit: Circuit, ask: Ask) -> list[Element]:
    """The parts that are looked at: those named or called by their kind, but for what is varied."""
    varied = {name.partition(".")[0].lower() for name in (*dict(ask.parameters), *ask.removed)}
    found: list[Element] = []
    for name in ask.names:
        if name.endswith("*"):
            letters = _LETTERS.get(name[0], name[0])
            found += [each for each in circuit.top if each.letter in letters and each.key not in varied]
        elif name.startswith("role:"):
            roles = (each.elements.get(name.removeprefix("role:"), ()) for each in circuit.stages)
            found += [part for own in roles for each in own if (part := circuit.element(each)) is not None]
        elif name == "load":
            found += [each for each in circuit.top if each.name in circuit.loads]
        elif (part := circuit.element(name)) is not None and part.key not in varied:
            found.append(part)
    return list({each.key: each for each in found}.values())


_LETTERS = {"q": "qmj", "s": "sm", "m": "ms"}
"""A "transistor" may be a MOSFET, a "switch" too."""


def signals_of(circuit: Circuit, ask: Ask, key: str) -> list[str]:
    """A quantity of parts as signals to be drawn; none for a figure of the response."""
    letters = FIGURES[key].of
    named = [each for each in subjects(circuit, ask) if each.letter in letters]
    parts = named or [each for each in circuit.top if each.letter in letters]
    return [
        FIGURES[key]
        .expressions[0]
        .format(part=each.key, **{f"n{at}": pin.key for at, pin in enumerate(each.nodes)})
        for each in parts[:_MOST_PARTS]
    ]


def _of_part_or_supply(circuit: Circuit, ask: Ask, key: str) -> Wanted | Message:
    """The current or power of the part asked for, else of the supplies."""
    is_power = key == "power"
    part = next(iter(subjects(circuit, ask)), None)
    signal: str | None
    if part is not None:
        signal, label = signal_of(part, is_power=is_power), part.name
    else:
        sources = supplies_of(circuit)
        if not sources:
            return msg("I found no supply in {file}.", file=circuit.file)
        each = [f"{across(one)}*i({one.key})" if is_power else f"i({one.key})" for one in sources]
        signal, label = f"-({'+'.join(each)})", ", ".join(one.name for one in sources)
    if signal is None:
        return no_such_part(circuit, ask.names)
    is_run = only_transient(circuit) or ask.at_unit == "s"
    form = "at({signal},{at})" if ask.at_unit == "s" else "avg({signal},{tail})"
    form = form if is_run else "{signal}"
    if part is None:
        name = msg("power from {name}", name=label) if is_power else msg("current from {name}", name=label)
    else:
        name = msg("power in {name}", name=label) if is_power else msg("current through {name}", name=label)
    return Wanted(
        name=name,
        expressions=(form.format(signal=signal, tail=tail(circuit), at=number(ask.at or 0.0)),),
        unit=FIGURES[key].unit,
        kind="tran" if is_run else None,
        place=shown(ask.at, "s") if ask.at is not None and ask.at_unit == "s" else "",
        key=key,
    )


def _kind_of(circuit: Circuit, ask: Ask, figure: Figure) -> Kind | None:
    """The analysis a figure is taken from; None for the operating point."""
    if figure.kind != "level":
        return figure.kind
    if ask.at_unit == "Hz":
        return "ac"
    return "tran" if ask.at_unit == "s" or only_transient(circuit) else None


def _no_step(circuit: Circuit) -> Message | None:
    """Why a circuit has no step response."""
    source = circuit.sine_source
    if source is None:
        return None
    return msg(
        "The source {name} of {file} is a sine, so there is no step to respond to. Give it a PULSE instead, "
        "for example PULSE(0 1 0 1n 1n 5m 10m).",
        name=source.name,
        file=circuit.file,
    )


def _fields(circuit: Circuit, ask: Ask, key: str, node: str) -> dict[str, str] | Message:
    """What the forms of a figure's expressions are filled with."""
    source, out, settled = circuit.source, f"v({node})", tail(circuit)
    inwards = across(source) if source is not None else ""
    is_other_size = source is not None and source.letter == "v" and ac_size(source) != 1
    x = f"({out}/{inwards})" if is_other_size else out
    i_in = f"i({source.key})" if source is not None and source.letter == "v" else "1"
    fields = {"x": x, "out": out, "in": inwards, "tail": settled, "i_in": i_in}
    if FIGURES[key].of:
        part = part_of(circuit, ask.names, FIGURES[key].of)
        if isinstance(part, Message):
            return part
        fields |= {"part": part.key, **{f"n{at}": pin.key for at, pin in enumerate(part.nodes)}}
    if key in ("drive_duty", "drive_frequency"):
        pulse = circuit.drive_pulse
        if pulse is None and key == "drive_frequency":
            return msg("{file} has no PULSE source that drives a switch.", file=circuit.file)
        fields["drive"] = across(pulse[0]) if pulse is not None else out
    if key == "efficiency":
        powers = _in_and_out(circuit)
        if isinstance(powers, Message):
            return powers
        fields |= powers
    return fields


def _place_of(ask: Ask, figure: Figure, fields: Mapping[str, str]) -> tuple[str, Message] | None:
    """The place that is another figure's frequency: its expression, and what is looked at there."""
    factor, _, key = ask.place.rpartition("*")
    of_place, place = FIGURES[key].expressions[0].format(**fields), FIGURES[key].name
    if not factor:
        return of_place, msg("{quantity} at the {place}", quantity=figure.name, place=place)
    there = msg("{quantity} at {factor} times the {place}", quantity=figure.name, factor=factor, place=place)
    return f"{factor}*{of_place}", there


def _own_form(circuit: Circuit, ask: Ask, key: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """The expressions of figures that are measured in a way of their own here; () for any other."""
    settled = fields["tail"]
    signals = {"ripple": fields["out"], "inductor_ripple": f"i({fields.get('part', '')})"}
    period = circuit.drive_period
    if key in signals and period is not None and settled:
        stop = float(settled.partition(",")[2])
        return (f"pp({signals[key]},{number(stop - _PERIODS * period)},{number(stop)})",)
    if key == "settling_time" and ask.tolerances:
        return (f"settling_time({fields['out']},{number(ask.tolerances[0][1])})",)
    if key == "noise" and ask.span is not None:
        return (f"noise_total(onoise,{number(ask.span[0])},{number(ask.span[1])})",)
    return _pole_q(circuit, fields["x"]) if key == "quality" else ()


def _band(span: tuple[float, float]) -> str:
    return f"ac dec 40 {number(min(span))} {number(max(span))}"


def part_of(circuit: Circuit, names: Sequence[str], letters: str) -> Element | Message:
    """The part a quantity is of: the one named, else the only one of its kind."""
    of_kind = [each for each in circuit.top if letters == "*" or each.letter in letters]
    named = [each for each in of_kind if each.key in (name.lower() for name in names)]
    found = named or of_kind
    if len(found) == 1 or named:
        return found[0]
    if not found:
        return no_such_part(circuit, names or (letters.upper(),))
    return msg("Of which part: {names}?", names=", ".join(each.name for each in found))


def _in_and_out(circuit: Circuit) -> dict[str, str] | Message:
    """Powers of the loads and of the supplies as fields of an expression."""
    loads = [each.key for each in circuit.top if each.name in circuit.loads] or [
        each.key for each in circuit.at_the_output("r")
    ]
    supplies = [each.key for each in steady_sources(circuit)]
    if not supplies and circuit.source is not None and value_of(circuit.source):
        supplies = [circuit.source.key]  # "Vin in 0 DC 12 AC 1" feeds it, too
    if not loads or not supplies:
        return msg(
            "I do not know which part of {file} is the load, or which is the supply.", file=circuit.file
        )
    return {"p_load": f"p({loads[0]})", "p_in": f"p({supplies[0]})"}


def steady_sources(circuit: Circuit) -> list[Element]:
    """Voltage sources with a plain value that give no signal."""
    return [
        each for each in circuit.top if each.letter == "v" and value_of(each) and each is not circuit.source
    ]


def supplies_of(circuit: Circuit) -> list[Element]:
    """The sources of its supplies: those the recogniser names, else those with a plain value."""
    nodes = {word.split()[0].lower() for word in circuit.supplies.split(", ") if word}
    return [
        each for each in circuit.top if each.letter == "v" and each.nodes and each.nodes[0].key in nodes
    ] or steady_sources(circuit)


def signal_of(part: Element, *, is_power: bool) -> str | None:
    """Current or power of a part as an expression."""
    over, value = across(part), value_of(part)
    if part.letter == "r" and value:
        return f"{over}*{over}/{number(value)}" if is_power else f"{over}/{number(value)}"
    if part.letter == "v":
        return f"-{over}*i({part.key})" if is_power else f"i({part.key})"
    if part.letter == "l":
        return f"p({part.key})" if is_power else f"i({part.key})"
    if part.letter == "c" and value and not is_power:
        return f"{number(value)}*deriv({over})"
    return f"p({part.key})" if is_power else f"i({part.key})"


def _pole_q(circuit: Circuit, x: str) -> tuple[str, ...]:
    """The Q of two poles of a low-pass: its gain where the phase is -90°, over the one at low frequencies."""
    stages = " ".join(stage.kind for stage in circuit.stages)
    if "band" in stages or "notch" in stages:
        return ()
    return (f"mag(at({x},cross(ph({x}),-90)))/mag(dcgain({x}))",) if circuit.is_low_pass else ()


def only_transient(circuit: Circuit) -> bool:
    return circuit.has("tran") and not any(circuit.has(kind) for kind in ("op", "ac", "dc", "noise", "tf"))


def lacking(circuit: Circuit, kind: Kind | None) -> Message | None:
    """Why an analysis of this kind cannot be had."""
    if kind in ("ac", "noise") and circuit.source is None:
        return msg(
            "{file} has no source with an AC value, so it has no frequency response. "
            "Give the input source AC 1.",
            file=circuit.file,
        )
    if kind == "tran" and not circuit.has("tran"):
        return msg(
            "{file} has no transient analysis. Add a .tran card, for example .tran 1u 10m.", file=circuit.file
        )
    return None


def across(element: Element) -> str:
    """The voltage across a two-terminal element."""
    a, b = (node.key for node in element.nodes[:2])
    return f"v({a})" if b in ("0", "gnd") else f"v({a},{b})"


def tail(circuit: Circuit) -> str:
    """From where to where a transient run is taken to have settled: ``0.8m,1m``."""
    card = next((each for each in circuit.analyses if each.lower().startswith("tran")), "")
    words = card.split()
    stop = number_of(words[2]) if len(words) > 2 else None
    start = number_of(words[3]) if len(words) > 3 else None
    if stop is None:
        return ""
    begin = max(_TAIL * stop, start or 0.0)
    return f"{number(begin)},{number(stop)}"


def analysis_for(circuit: Circuit, kind: Kind | None) -> str | None:
    """The card to run where the circuit's own are not enough."""
    if kind is None:
        return None if circuit.has("op") and not circuit.has("tran") else "op"
    if kind == "ac" and not circuit.has("ac"):
        return _USUAL_AC
    if kind == "noise" and not circuit.has("noise"):
        card = next((each for each in circuit.analyses if each.lower().startswith("ac ")), _USUAL_AC)
        sweep = " ".join(card.split()[1:])
        source = circuit.source
        return f"noise v({circuit.output}) {source.name if source is not None else ''} {sweep}"
    return None


def run(
    circuit: Circuit, analysis: str | None, parameters: Sequence[tuple[str, str]]
) -> Generator[Call, Outcome, tuple[Outcome, str]]:
    """A run (or the stored one that is the same): its outcome, and how inspect_data names it."""
    arguments: dict[str, object] = {"path": circuit.file}
    if analysis:
        arguments["analysis"] = analysis
    if parameters:
        arguments["parameters"] = dict(parameters)
    outcome = yield Call(tool="run_simulation", arguments=arguments)
    return outcome, _run_name(circuit, outcome)


def _run_name(circuit: Circuit, outcome: Outcome) -> str:
    found = _RUN.search(outcome.lines[0])
    return f"run {found[1]}" if found else circuit.file


def values_of(outcome: Outcome) -> dict[str, tuple[float, str]]:
    """The figures inspect_data gave, by their expressions."""
    values: dict[str, tuple[float, str]] = {}
    for line in outcome.lines[1:]:
        found = FIGURE.fullmatch(line.strip())
        if found and found["figure"] != "no value":
            figure, _, unit = found["figure"].partition(" ")
            values[found["name"]] = (float(figure), unit)
    return values


def measured(
    circuit: Circuit,
    wanted: Sequence[Wanted],
    parameters: Sequence[tuple[str, str]],
    speech: Speech,
    *,
    at_hand: Outcome | None = None,
) -> Generator[Call, Outcome, list[tuple[Wanted, str, float, str]] | str]:
    """Each figure with the expression that gave it, its value and unit; or what went wrong, in words.

    A figure without a value is told with NaN and the reason in place of the expression. `at_hand`: of the run
    of the circuit's own analyses that was just made.
    """
    found: list[tuple[Wanted, str, float, str]] = []
    for analysis in dict.fromkeys(each.sweep or analysis_for(circuit, each.kind) for each in wanted):
        if analysis is None and at_hand is not None:
            name = _run_name(circuit, at_hand)
        else:
            outcome, name = yield from run(circuit, analysis, parameters)
            if outcome.error_type:
                return simulation_failed(outcome, speech)
        own = [each for each in wanted if (each.sweep or analysis_for(circuit, each.kind)) == analysis]
        figures = yield inspection(name, [text for each in own for text in each.expressions])
        values = (
            values_of(figures) if not figures.error_type or figures.error_type == "bad_expression" else None
        )
        if values is None:
            return failed(figures, speech)
        for each in own:
            good = next((text for text in each.expressions if text in values), None)
            if good is None:
                found.append((each, _reason(figures, each.expressions[-1]), math.nan, ""))
            else:
                found.append((each, good, *values[good]))
    for at, (each, _, value, _) in enumerate(found):
        if math.isnan(value) and (wider := wider_sweep(circuit, each)):
            again = yield from measured(circuit, [replace(each, sweep=wider)], parameters, speech)
            if isinstance(again, str):
                return again
            found[at] = again[0]
    return found


def wider_sweep(circuit: Circuit, wanted: Wanted) -> str:
    """A card that reaches further than the circuit's own; "" where that is no use."""
    if wanted.kind != "ac" or wanted.sweep or wanted.place or not circuit.has("ac"):
        return ""
    return _WIDEST_AC


def _reason(outcome: Outcome, expression: str) -> str:
    line = next((line for line in outcome.lines if line.startswith(f"{expression}: ")), outcome.reason)
    return line.removeprefix(f"{expression}: ")


def told_line(circuit: Circuit, each: Wanted, expression: str, value: float, unit: str) -> Message:
    """A figure in a sentence."""
    if math.isnan(value):
        return msg(
            "{file}: the {name} cannot be determined: {reason}",
            file=circuit.file,
            name=each.name,
            reason=expression,
        )
    figure = each.told(value, unit)
    if each.place:
        return msg(
            "{file}: {name} at {place} = {value} ({expression})",
            file=circuit.file,
            name=each.name,
            place=each.place,
            value=figure,
            expression=expression,
        )
    return msg(
        "{file}: {name} = {value} ({expression})",
        file=circuit.file,
        name=each.name,
        value=figure,
        expression=expression,
    )


def all_wanted(circuit: Circuit, ask: Ask) -> list[Wanted] | Message:
    """What the figures of a question come to in this circuit, or why one of them has no meaning there."""
    wanted: list[Wanted] = []
    for key in ask.figures:
        for own in _of_each_part(circuit, ask, key):
            each = wanted_of(circuit, own, key)
            if isinstance(each, Message):
                return each
            wanted.append(each)
            for place in ask.also:
                more = wanted_of(circuit, replace(own, at=place, also=()), key)
                wanted += [more] if isinstance(more, Wanted) and more.place else []
    return wanted


_MOST_PARTS = 8
"""Of one kind whose quantities stand in one answer."""


def _of_each_part(circuit: Circuit, ask: Ask, key: str) -> list[Ask]:
    """The question for a quantity of parts once for each of them."""
    letters = FIGURES[key].of
    parts = [each for each in subjects(circuit, ask) if letters == "*" or each.letter in letters]
    if not letters or len(parts) < 2:
        return [ask if not parts else replace(ask, names=(parts[0].name,))]
    return [replace(ask, names=(each.name,)) for each in parts[:_MOST_PARTS]]


_AS_TOLD = 0.02
"""How far a figure may be from the one it is asked to be."""


def figure(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Figures of the response; whether the first is as told, where that is asked."""
    wanted = all_wanted(circuit, ask)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    if ask.value is None and any(_is_mean(each) for each in wanted):
        wanted = [*_sizes_of_wave(circuit), *wanted]
    told = yield from tell(circuit, wanted, ask.parameters, speech)
    if ask.value is None:
        return told
    found = yield from measured(circuit, wanted[:1], ask.parameters, speech)
    if isinstance(found, str) or math.isnan(found[0][2]):
        return told
    value = found[0][2]
    if ask.bound is None:
        is_so = abs(value - ask.value) <= _AS_TOLD * abs(ask.value)
    else:
        is_so = value >= ask.value if ask.bound == "at_least" else value <= ask.value
    return speech.sentences([speech.say(msg("Yes.") if is_so else msg("No.")), told])


def usual(file: str, simulated: Outcome, speech: Speech) -> Generator[Call, Outcome, str]:
    """The usual figures of a circuit that was just `simulated`; "" where none can be had."""
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return ""
    wanted = figures_or_usual(circuit, Ask(intent="figure"))
    if isinstance(wanted, Message):
        return ""
    if any(_is_mean(each) for each in wanted):
        wanted = _sizes_of_wave(circuit) or wanted
    found = yield from measured(circuit, wanted, (), speech, at_hand=simulated)
    if isinstance(found, str):
        return ""
    return "\n".join(speech.say(told_line(circuit, *each)) for each in found if not math.isnan(each[2]))


def _is_mean(wanted: Wanted) -> bool:
    """Whether it is the mean of the output at the end of a run."""
    return wanted.key == "vout" and wanted.expressions[0].startswith("avg(")


def _sizes_of_wave(circuit: Circuit) -> list[Wanted]:
    """Of a circuit that a sine drives what its output is beside a mean, which says nothing of a wave; none
    where diodes make a direct voltage of it."""
    if circuit.drive_hz is None or any(each.letter == "d" for each in circuit.top):
        return []
    sizes = all_wanted(circuit, Ask(intent="figure", figures=("swing", "rms_out")))
    return sizes if isinstance(sizes, list) else []


def figures_or_usual(circuit: Circuit, ask: Ask) -> list[Wanted] | Message:
    """What the figures of a question come to; without any the usual ones of such a circuit."""
    return all_wanted(circuit, ask if ask.figures else replace(ask, figures=default_figures(circuit)))


def default_figures(circuit: Circuit) -> tuple[str, ...]:
    """What is looked at of a circuit when nothing is named."""
    if circuit.source is not None and circuit.has("ac"):
        return ("gain", "bandwidth") if circuit.is_active else ("cutoff",)
    return ("vout", "ripple") if circuit.has("tran") else ("vout",)


def tell(
    circuit: Circuit, wanted: Sequence[Wanted], parameters: Sequence[tuple[str, str]], speech: Speech
) -> Plan:
    """Measure, and say what came out."""
    seen: list[Outcome] = []
    found = yield from watched(measured(circuit, wanted, parameters, speech), seen)
    if isinstance(found, str):
        return found
    lines = [speech.say(told_line(circuit, *each)) for each in found]
    lines += not_settled(seen, speech)
    if parameters:
        given = ", ".join(f"{name} = {value}{' °C' if name == 'temp' else ''}" for name, value in parameters)
        lines.insert(0, speech.say(msg("For this run only: {values}.", values=given)))
    if any(each.key == "efficiency" and value > 1 for each, _, value, _ in found):
        lines.append(
            speech.say(msg("Above 100 %: it has not settled where the run ends; let it run longer."))
        )
    bands = [analysis_for(circuit, each.kind) for each in wanted if each.kind == "noise" and not each.place]
    lines += [speech.say(msg("Integrated over the band of “{card}”.", card=card)) for card in bands if card]
    return "\n".join(lines)


def no_such_part(circuit: Circuit, names: Sequence[str]) -> Message:
    has = ", ".join(each.name for each in circuit.top[:60])
    return msg(
        "{file} has no part called {name}; it has: {names}.",
        file=circuit.file,
        name=", ".join(name.removeprefix("role:") for name in names) or "?",
        names=has,
    )
