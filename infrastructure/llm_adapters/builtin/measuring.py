"""The built-in model's plans for figures of a circuit: its response, its parts, its operating point."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.circuit.elements import Element
from domain.circuit.numbers import format_number
from domain.simulation.operating_point import REGIONS
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
    bullets,
    change_values,
    failed,
    inspection,
    simulation_failed,
)
from infrastructure.llm_adapters.builtin.questions import Ask
from shared.message import Message, msg

_RUN = re.compile(r": ok, run (\d+)")
_DEVICE = re.compile(
    r"(?P<name>\S+) (?P<kind>npn|pnp|[np]mos|[np]jf|[np]mf|diode)(?: (?P<region>[a-z ]+))?: (?P<figures>.+)"
)
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
    node = ask.nodes[0] if ask.nodes else circuit.output
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
    of_kind = [each for each in circuit.top if each.letter in letters]
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
        each.key
        for each in circuit.top
        if each.letter == "r" and {node.key for node in each.nodes[:2]} == {circuit.output.lower(), "0"}
    ]
    supplies = [each.key for each in _steady_sources(circuit)]
    if not loads or not supplies:
        return msg(
            "I do not know which part of {file} is the load, or which is the supply.", file=circuit.file
        )
    return {"p_load": f"p({loads[0]})", "p_in": f"p({supplies[0]})"}


def _steady_sources(circuit: Circuit) -> list[Element]:
    """Voltage sources with a plain value that give no signal."""
    return [
        each for each in circuit.top if each.letter == "v" and value_of(each) and each is not circuit.source
    ]


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
        return "op"
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
        each = wanted_of(circuit, ask, key)
        if isinstance(each, Message):
            return each
        wanted.append(each)
        for place in ask.also:
            more = wanted_of(circuit, replace(ask, at=place, also=()), key)
            wanted += [more] if isinstance(more, Wanted) and more.place else []
    return wanted


def figure(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Figures of the response; whether the first is as told, where that is asked."""
    wanted = all_wanted(circuit, ask)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    told = yield from tell(circuit, wanted, ask.parameters, speech)
    if ask.value is None or ask.bound is None:
        return told
    found = yield from measured(circuit, wanted[:1], ask.parameters, speech)
    if isinstance(found, str) or math.isnan(found[0][2]):
        return told
    value = found[0][2]
    is_so = value >= ask.value if ask.bound == "at_least" else value <= ask.value
    return f"{speech.say(msg('Yes.') if is_so else msg('No.'))} {told}"


def what_if(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Figures with other values, or without parts, beside those of the circuit as it is."""
    wanted = figures_or_usual(circuit, ask)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    if ask.query == "bias" and (bias := _of_bias(circuit)):
        wanted = [*(wanted if ask.figures else []), *bias]
    values = _tried_values(circuit, ask)
    if isinstance(values, Message):
        return speech.say(values)
    if not ask.figures and ask.query != "bias" and circuit.measures:
        return (yield from _own_measures(circuit, values, speech))
    before = yield from measured(circuit, wanted, (), speech)
    if isinstance(before, str):
        return before
    after = yield from measured(circuit, wanted, values, speech)
    if isinstance(after, str):
        return after
    told = ", ".join(f"{name} = {value}" for name, value in values)
    head = [speech.say(msg("For this run only: {values}.", values=told))]
    if ask.removed:
        names = speech.listed(ask.removed)
        head.append(speech.say(msg("So extreme a value stands for no {names} at all.", names=names)))
    return "\n".join(
        [*head, bullets([moved_line(old, new, speech) for old, new in zip(before, after, strict=True)])]
    )


_MOST_BIASED = 4
"""Transistors whose operating points stand in one answer."""


def _of_bias(circuit: Circuit) -> list[Wanted]:
    """How the transistors stand without a signal: their currents, and the voltages across them."""
    found: list[Wanted] = []
    for each in [part for part in circuit.top if part.letter in "qm"][:_MOST_BIASED]:
        first, _, third = (pin.key for pin in each.nodes[:3])
        current = "ic" if each.letter == "q" else "id"
        found += [
            Wanted(
                name=msg("current of {name}", name=each.name),
                expressions=(f"{current}({each.key})",),
                unit="A",
                kind=None,
            ),
            Wanted(
                name=msg("voltage across {name}", name=each.name),
                expressions=(f"v({first},{third})" if third not in ("0", "gnd") else f"v({first})",),
                unit="V",
                kind=None,
            ),
        ]
    return found


def resolved(circuit: Circuit, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]] | Message:
    """Values by the names of the circuit's own load and supply, and as times what they are now."""
    found: list[tuple[str, str]] = []
    for name, text in values:
        own = name
        if circuit.element(name) is None and name in ("RL", "load"):
            loads = [
                *circuit.loads,
                *(
                    each
                    for stage in circuit.stages
                    for each in stage.elements.get("load", ())
                    if each[:1] in "rR"
                ),
            ]
            own = loads[0] if loads else _at_the_output(circuit) or name
        if name == "supply" or (name == "input" and circuit.source is None):
            supplies = [each.name for each in _steady_sources(circuit)]
            if len(supplies) != 1:
                return (
                    msg("Of which source: {names}?", names=", ".join(supplies))
                    if supplies
                    else msg("I found no supply in {file}.", file=circuit.file)
                )
            own = supplies[0]
        if name == "beta":
            models = {
                each.model.text for each in circuit.top if each.letter == "q" and each.model is not None
            }
            if len(models) != 1:
                return no_such_part(circuit, ("Q",))
            own = f"{models.pop()}.bf"
        value = text
        if text.startswith("*"):
            part = circuit.element(own)
            now = value_of(part) if part is not None else None
            if now is None:
                return no_such_part(circuit, (own,))
            value = format_number(now * float(text[1:]), 4)
        found.append((own, value))
    return found


_LEAST_PERCENT = 2.0
"""From here on a duty cycle is told in percent."""


def _at_the_output(circuit: Circuit) -> str:
    """The resistor from the output to ground."""
    ends = {circuit.output.lower(), "0"}
    found = [
        each for each in circuit.top if each.letter == "r" and {pin.key for pin in each.nodes[:2]} == ends
    ]
    return found[0].name if len(found) == 1 else ""


def _changed(
    circuit: Circuit, values: Sequence[tuple[str, str]], speech: Speech
) -> Generator[Call, Outcome, tuple[list[str], bool]]:
    """Values written into the file, a duty cycle into the PULSE of its drive."""
    duty = next((text for name, text in values if name == "duty"), "")
    if not duty:
        return (yield from change_values(circuit.file, values, speech))
    pulse, share = circuit.drive_pulse, number_of(duty)
    share = share / 100 if share is not None and share >= _LEAST_PERCENT else share
    if pulse is None or share is None or not 0 < share < 1:
        reason = (
            msg("{file} has no PULSE source that drives a switch.", file=circuit.file)
            if pulse is None
            else msg("A duty cycle is between 0 and 1, for example 0.45 or 45 %.")
        )
        return [speech.say(reason)], False
    source, words = pulse
    period = number_of(words[6]) or 0.0
    text = source.statement.text
    card = text.replace(" ".join(words), " ".join([*words[:5], format_number(share * period, 4), *words[6:]]))
    outcome = yield Call(tool="patch_file", arguments={"path": circuit.file, "search": text, "replace": card})
    if outcome.error_type:
        return [failed(outcome, speech)], False
    return [
        speech.say(msg("{file}: “{before}” is now “{after}”.", file=circuit.file, before=text, after=card))
    ], True


def _own_measures(circuit: Circuit, values: Sequence[tuple[str, str]], speech: Speech) -> Plan:
    """What the circuit's own .meas cards give as it is, and with other values."""
    found: list[dict[str, tuple[float, str]]] = []
    for own in ((), values):
        outcome, _ = yield from run(circuit, None, own)
        if outcome.error_type:
            return simulation_failed(outcome, speech)
        found.append(values_of(outcome))
    before, after = found
    told = ", ".join(f"{name} = {value}" for name, value in values)
    lines = [
        moved(name, before[name][0], *after[name])
        for name in circuit.measures
        if name in before and name in after
    ]
    return "\n".join([speech.say(msg("For this run only: {values}.", values=told)), bullets(lines)])


def usual(file: str, simulated: Outcome, speech: Speech) -> Generator[Call, Outcome, str]:
    """The usual figures of a circuit that was just `simulated`; "" where none can be had."""
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return ""
    wanted = figures_or_usual(circuit, Ask(intent="figure"))
    if isinstance(wanted, Message):
        return ""
    found = yield from measured(circuit, wanted, (), speech, at_hand=simulated)
    if isinstance(found, str):
        return ""
    return "\n".join(speech.say(told_line(circuit, *each)) for each in found if not math.isnan(each[2]))


def before_and_after(file: str, values: Sequence[tuple[str, str]], ask: Ask, speech: Speech) -> Plan:
    """New values for parts of a file, and what figures were and are."""
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return circuit
    wanted = figures_or_usual(circuit, replace(ask, file=file))
    before: list[tuple[Wanted, str, float, str]] | str = ""
    if not isinstance(wanted, Message):
        before = yield from measured(circuit, wanted, (), speech)
    plain = resolved(circuit, values)
    if isinstance(plain, Message):
        return speech.say(plain)
    done, is_done = yield from _changed(circuit, plain, speech)
    if not is_done:
        return "\n".join(done)
    if isinstance(wanted, Message) or isinstance(before, str):
        return "\n".join([*done, speech.say(wanted) if isinstance(wanted, Message) else str(before)])
    after = yield from measured(circuit, wanted, (), speech)
    if isinstance(after, str):
        return "\n".join([*done, after])
    lines = [moved_line(old, new, speech) for old, new in zip(before, after, strict=True)]
    return "\n".join([*done, bullets(lines)])


_OPEN = {"r": "1e12", "l": "1e6", "c": "1e-18"}
"""Values with which a part is as good as not there."""


def _tried_values(circuit: Circuit, ask: Ask) -> list[tuple[str, str]] | Message:
    values: list[tuple[str, str]] = []
    plain = resolved(circuit, ask.parameters)
    if isinstance(plain, Message):
        return plain
    for name, told in (*plain, *((name, "") for name in ask.removed)):
        part = circuit.element(name)
        if part is None:
            return no_such_part(circuit, (name,))
        text = told
        if not text and part.letter not in _OPEN:
            return msg(
                "I can try a circuit without a resistor, a capacitor or an inductor, not without {name}.",
                name=part.name,
            )
        values.append((part.name, text or _OPEN[part.letter]))
    return values


def figures_or_usual(circuit: Circuit, ask: Ask) -> list[Wanted] | Message:
    """What the figures of a question come to; without any the usual ones of such a circuit."""
    return all_wanted(circuit, ask if ask.figures else replace(ask, figures=default_figures(circuit)))


def default_figures(circuit: Circuit) -> tuple[str, ...]:
    """What is looked at of a circuit when nothing is named."""
    if circuit.source is not None and circuit.has("ac"):
        return ("gain", "bandwidth") if circuit.is_active else ("cutoff",)
    return ("vout", "ripple") if circuit.has("tran") else ("vout",)


def moved_line(
    before: tuple[Wanted, str, float, str], after: tuple[Wanted, str, float, str], speech: Speech
) -> str:
    """A figure before and after; why it has no value, where it has none."""
    (wanted, expression, old, unit), (_, reason, new, _) = before, after
    label = (
        speech.say(msg("{name} at {place}", name=wanted.name, place=wanted.place))
        if wanted.place
        else speech.say(wanted.name)
    )
    if math.isnan(old) or math.isnan(new):
        cause = expression if math.isnan(old) else reason
        return speech.say(
            msg("{label}: {figures}", label=label, figures=msg("no value: {reason}", reason=cause))
        )
    if wanted.is_percent:
        return f"{label} ({expression}): {wanted.told(old)} → {wanted.told(new)}"
    return moved(f"{label} ({expression})", old, new, wanted.unit or unit)


def moved(name: str, old: float, new: float, unit: str) -> str:
    """A figure before and after."""
    if old == new:
        return f"{name}: {shown(new, unit)} (=)"
    change = (
        f", {100 * (new - old) / abs(old):+.3g}%"
        if old and unit not in ("dB", "deg")
        else f", {'+' if new > old else ''}{shown(new - old, unit)}"
    )
    return f"{name}: {shown(old, unit)} → {shown(new, unit)}{change}"


def losses(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """What each part takes up, the most first; loads apart."""
    loads = {each.lower() for each in circuit.loads}
    loads |= {
        name.lower()
        for stage in circuit.stages
        if stage.kind.endswith("converter")
        for name in stage.elements.get("load", ())
    }
    parts = [each for each in circuit.top if each.letter in "rlsdqmjzx" and each.key not in loads]
    if not parts:
        return speech.say(no_such_part(circuit, ask.names))
    is_switched = circuit.has("tran") and (only_transient(circuit) or circuit.drive_pulse is not None)
    form = f"avg(p({{part}}),{tail(circuit)})" if is_switched else "p({part})"
    kind: Kind | None = "tran" if is_switched else None
    wanted = [
        Wanted(
            name=msg("power in {name}", name=each.name),
            expressions=(form.format(part=each.key),),
            unit="W",
            kind=kind,
        )
        for each in parts
    ]
    efficient = wanted_of(circuit, ask, "efficiency") if is_switched else None
    wanted = [*([efficient] if isinstance(efficient, Wanted) else []), *wanted]
    found = yield from measured(circuit, wanted, ask.parameters, speech)
    if isinstance(found, str):
        return found
    known = [each for each in found if not math.isnan(each[2])]
    known.sort(key=lambda each: (each[0].key != "efficiency", -each[2]))
    return bullets([speech.say(told_line(circuit, *each)) for each in known[:_MOST_LOSSES]])


_MOST_LOSSES = 8


def across_parts(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Voltages over parts."""
    parts = [element for name in ask.names if (element := circuit.element(name)) is not None]
    if not parts:
        return speech.say(no_such_part(circuit, ask.names))
    wanted = [
        each
        for part in parts
        for each in _of_signal(
            circuit,
            ask,
            across(part),
            "V",
            msg("voltage across {name}", name=part.name),
            peak=ask.query == "peak",
        )
    ]
    if problem := next((text for each in wanted if (text := lacking(circuit, each.kind))), None):
        return speech.say(problem)
    return (yield from tell(circuit, wanted, ask.parameters, speech))


_OPEN_OHM = "1e12"


def output_impedance(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """From the output with the load and without it: |Z| = |V without / V with - 1| R."""
    loads = [
        each
        for each in circuit.top
        if each.letter == "r" and {pin.key for pin in each.nodes[:2]} == {circuit.output.lower(), "0"}
    ]
    load = loads[0] if len(loads) == 1 else None
    if load is None or not value_of(load) or circuit.source is None:
        return speech.say(
            msg(
                "For the output impedance {file} needs one load resistor from its output to ground, "
                "and a source with an AC value: I compare the output with and without that load.",
                file=circuit.file,
            )
        )
    where = ask.at if ask.at is not None and ask.at_unit == "Hz" else 1e3
    expressions = [f"{part}(at(v({circuit.output}),{number(where)}))" for part in ("re", "im")]
    wanted = [
        Wanted(name=msg("output voltage"), expressions=(text,), unit="V", kind="ac") for text in expressions
    ]
    values: list[complex] = []
    for parameters in ((), ((load.name, _OPEN_OHM),)):
        found = yield from measured(circuit, wanted, parameters, speech)
        if isinstance(found, str):
            return found
        values.append(complex(found[0][2], found[1][2]))
    loaded, free = values
    if not loaded or math.isnan(abs(free)):
        return speech.say(
            msg("The output of {file} is zero at {place}.", file=circuit.file, place=shown(where, "Hz"))
        )
    size = abs((free / loaded - 1) * (value_of(load) or 0.0))
    return speech.say(
        msg(
            "{file}: output impedance at {place} = {value} (from the output with {load} and without it)",
            file=circuit.file,
            place=shown(where, "Hz"),
            value=shown(size, "Ohm"),
            load=load.name,
        )
    )


def conduction(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Whether a converter's inductor current goes down to zero in each period."""
    part = part_of(circuit, ask.names, "l")
    if isinstance(part, Message):
        return speech.say(part)
    if problem := lacking(circuit, "tran"):
        return speech.say(problem)
    settled = tail(circuit)
    names = (
        msg("least current of {name}", name=part.name),
        msg("greatest current of {name}", name=part.name),
    )
    wanted = [
        Wanted(name=name, expressions=(f"{kind}(i({part.key}),{settled})",), unit="A", kind="tran")
        for name, kind in zip(names, ("min", "max"), strict=True)
    ]
    found = yield from measured(circuit, wanted, ask.parameters, speech)
    if isinstance(found, str):
        return found
    least, greatest = found[0][2], found[1][2]
    verdict = (
        msg("Continuous conduction: the current of {name} does not come down to zero.", name=part.name)
        if least > _ZERO_SHARE * greatest
        else msg("Discontinuous conduction: the current of {name} comes down to zero.", name=part.name)
    )
    given = ", ".join(f"{name} = {value}" for name, value in ask.parameters)
    head = [speech.say(msg("For this run only: {values}.", values=given))] if given else []
    return "\n".join([*head, speech.say(verdict), *(speech.say(told_line(circuit, *each)) for each in found)])


_ZERO_SHARE = 0.02
"""Of the greatest current: below it a converter's inductor is taken to be empty."""


def tell(
    circuit: Circuit, wanted: Sequence[Wanted], parameters: Sequence[tuple[str, str]], speech: Speech
) -> Plan:
    """Measure, and say what came out."""
    found = yield from measured(circuit, wanted, parameters, speech)
    if isinstance(found, str):
        return found
    lines = [speech.say(told_line(circuit, *each)) for each in found]
    if parameters:
        given = ", ".join(f"{name} = {value}{' °C' if name == 'temp' else ''}" for name, value in parameters)
        lines.insert(0, speech.say(msg("For this run only: {values}.", values=given)))
    bands = [analysis_for(circuit, each.kind) for each in wanted if each.kind == "noise" and not each.place]
    lines += [speech.say(msg("Integrated over the band of “{card}”.", card=card)) for card in bands if card]
    return "\n".join(lines)


# --- parts and nodes ----------------------------------------------------------------------------------


def voltage(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """At nodes."""
    if (missing := circuit.missing(ask.nodes)) is not None:
        return speech.say(missing)
    wanted = [
        _of_signal(circuit, ask, f"v({node.lower()})", "V", msg("voltage at {node}", node=node))
        for node in ask.nodes
    ]
    return (yield from tell(circuit, [each for some in wanted for each in some], ask.parameters, speech))


def _of_signal(
    circuit: Circuit, ask: Ask, signal: str, unit: str, name: Message, *, peak: bool = False
) -> list[Wanted]:
    """A signal at a place, at the operating point, or where there is only a transient run at its end."""
    if ask.at is not None:
        kind: Kind = "tran" if ask.at_unit == "s" else "ac"
        at = f"at({signal},{number(ask.at)})"
        return [
            Wanted(
                name=name,
                expressions=(f"mag({at})" if kind == "ac" else at,),
                unit=unit,
                kind=kind,
                place=shown(ask.at, ask.at_unit),
            )
        ]
    if not only_transient(circuit) and not peak:
        return [
            Wanted(name=msg("{quantity} (DC)", quantity=name), expressions=(signal,), unit=unit, kind=None)
        ]
    settled = tail(circuit)
    rows = [] if peak else [(msg("{quantity}, mean", quantity=name), f"avg({signal},{settled})")]
    rows.append((msg("{quantity}, maximum", quantity=name), f"max({signal},{settled})"))
    if peak:
        rows.append((msg("{quantity}, maximum from the start on", quantity=name), f"max({signal})"))
    else:
        rows.append((msg("{quantity}, minimum", quantity=name), f"min({signal},{settled})"))
    return [Wanted(name=told, expressions=(text,), unit=unit, kind="tran") for told, text in rows]


def current(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    if ask.query == "supply":
        return (yield from _supply(circuit, ask, speech, is_power=False))
    return (yield from _of_parts(circuit, ask, speech, is_power=False))


def power(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    if ask.query == "supply":
        return (yield from _supply(circuit, ask, speech, is_power=True))
    return (yield from _of_parts(circuit, ask, speech, is_power=True))


_LETTERS = {"q": "qmj", "s": "sm", "m": "ms"}
"""A "transistor" may be a MOSFET, a "switch" too."""


def _of_parts(circuit: Circuit, ask: Ask, speech: Speech, *, is_power: bool) -> Plan:
    names = ask.names
    if names == ("load",):
        own = resolved(circuit, (("load", "1"),))
        names = names if isinstance(own, Message) else (own[0][0],)
    if len(names) == 1 and names[0].endswith("*"):
        letters = _LETTERS.get(names[0][0], names[0][0])
        names = tuple(each.name for each in circuit.top if each.letter in letters)
    parts = [element for name in names if (element := circuit.element(name)) is not None]
    if not parts:
        return speech.say(no_such_part(circuit, ask.names))
    devices = [] if only_transient(circuit) else [each for each in parts if each.letter in "qmjdz"]
    wanted: list[Wanted] = []
    for each in parts:
        if each in devices:
            continue
        signal = _signal(each, is_power=is_power)
        if signal is None:
            what = msg(
                "I cannot give that for {name}; I can for resistors, inductors, sources, transistors and "
                "diodes.",
                name=each.name,
            )
            return speech.say(what)
        name = (
            msg("power in {name}", name=each.name)
            if is_power
            else msg("current through {name}", name=each.name)
        )
        is_direct = ask.at is None and not only_transient(circuit) and ask.query != "rms"
        if each.letter == "c" and is_direct:
            return speech.say(
                msg("No direct current flows through {name}: it is a capacitor.", name=each.name)
            )
        if ask.query == "rms" and circuit.has("tran"):
            wanted.append(_rms(circuit, name, signal))
            continue
        wanted += _of_signal(circuit, ask, signal, "W" if is_power else "A", name, peak=ask.query == "peak")
    if problem := next((text for each in wanted if (text := lacking(circuit, each.kind))), None):
        return speech.say(problem)
    said: list[str] = []
    if wanted:
        said.append((yield from tell(circuit, wanted, ask.parameters, speech)))
    if devices:
        said.append(
            (
                yield from point(
                    circuit,
                    Ask(
                        intent="point", names=tuple(each.name for each in devices), parameters=ask.parameters
                    ),
                    speech,
                )
            )
        )
    return "\n".join(said)


def _rms(circuit: Circuit, name: Message, signal: str) -> Wanted:
    """Of a current at the end of a transient run."""
    return Wanted(
        name=msg("{quantity}, rms", quantity=name),
        expressions=(f"rms({signal},{tail(circuit)})",),
        unit="A",
        kind="tran",
    )


def _signal(part: Element, *, is_power: bool) -> str | None:
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


def _supply(circuit: Circuit, ask: Ask, speech: Speech, *, is_power: bool) -> Plan:
    """What the supplies deliver."""
    nodes = {word.split()[0].lower() for word in circuit.supplies.split(", ") if word}
    sources = [
        each for each in circuit.top if each.letter == "v" and each.nodes and each.nodes[0].key in nodes
    ] or _steady_sources(circuit)
    if not sources:
        return speech.say(msg("I found no supply in {file}.", file=circuit.file))
    wanted: list[Wanted] = []
    for each in sources:
        over = across(each)
        signal = f"-{over}*i({each.key})" if is_power else f"-i({each.key})"
        name = (
            msg("power from {name}", name=each.name)
            if is_power
            else msg("current from {name}", name=each.name)
        )
        wanted += _of_signal(circuit, ask, signal, "W" if is_power else "A", name)
    return (yield from tell(circuit, wanted, ask.parameters, speech))


def battery(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """How long a battery of a given charge feeds the circuit."""
    sources = _steady_sources(circuit)
    values = resolved(circuit, ask.parameters)
    if isinstance(values, Message) or not sources:
        return speech.say(
            values if isinstance(values, Message) else msg("I found no supply in {file}.", file=circuit.file)
        )
    told = yield from _supply(circuit, replace(ask, parameters=tuple(values)), speech, is_power=True)
    wanted = [
        Wanted(
            name=msg("current from {name}", name=each.name),
            expressions=(f"-i({each.key})",),
            unit="A",
            kind=None,
        )
        for each in sources[:1]
    ]
    found = yield from measured(circuit, wanted, values, speech)
    if isinstance(found, str):
        return found
    current = found[0][2]
    if ask.value is None or not current > 0:
        return "\n".join(
            [
                told,
                speech.say(told_line(circuit, *found[0])),
                speech.say(msg("For how long a battery lasts I need its charge, for example 500 mAh.")),
            ]
        )
    lasts = msg(
        "{name} delivers {current}: {charge} last {hours} h, if the battery gives its whole charge at this "
        "voltage.",
        name=sources[0].name,
        current=shown(current, "A"),
        charge=f"{1e3 * ask.value:g} mAh",
        hours=f"{ask.value / current:.3g}",
    )
    return f"{told}\n{speech.say(lasts)}"


def no_such_part(circuit: Circuit, names: Sequence[str]) -> Message:
    has = ", ".join(each.name for each in circuit.top[:60])
    return msg(
        "{file} has no part called {name}; it has: {names}.",
        file=circuit.file,
        name=", ".join(names) or "?",
        names=has,
    )


_ASKED_STATES: Sequence[tuple[str, Mapping[str, bool]]] = (
    (r"saturat|饱和", {"saturation": True}),
    (r"active|放大", {"active": True, "saturation": True}),
    (r"triode|linear|线性|三极管区", {"triode": True}),
    (r"cut-?off|\boff\b|截止", {"off": True}),
    (
        r"\bon\b|conduct|导通",
        {"on": True, "active": True, "saturation": True, "triode": True, "weak inversion": True},
    ),
)


def point(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """What transistors and diodes do at the operating point."""
    outcome, _ = yield from run(circuit, "op", ask.parameters)
    if outcome.error_type:
        return simulation_failed(outcome, speech)
    devices = [found for line in outcome.lines if (found := _DEVICE.fullmatch(line.strip()))]
    wanted = {name.lower() for name in ask.names}
    told = [each for each in devices if not wanted or each["name"].lower() in wanted]
    if not told:
        if not devices and not ask.names and any(line.startswith("nodes: ") for line in outcome.lines):
            text = next(line for line in outcome.lines if line.startswith("nodes: ")).removeprefix("nodes: ")
            return speech.say(msg("Node voltages: {nodes}", nodes=text))
        if not devices:
            return speech.say(msg("{file} has no transistor and no diode.", file=circuit.file))
        return speech.say(
            msg(
                "{file} has no transistor or diode called {name}; it has: {names}.",
                file=circuit.file,
                name=", ".join(ask.names),
                names=", ".join(each["name"] for each in devices),
            )
        )
    lines = []
    for each in told:
        region = (each["region"] or "").strip()
        said = msg(
            "{name} ({kind}): {region}; {figures}",
            name=each["name"],
            kind=each["kind"],
            region=REGIONS.get(region, msg("state not known")),
            figures=each["figures"],
        )
        verdict = _verdict(ask.query, each["kind"], region)
        lines.append(
            speech.say(said if verdict is None else msg("{verdict} {told}", verdict=verdict, told=said))
        )
    nodes = next((line.strip() for line in outcome.lines if line.startswith("nodes: ")), "")
    if ask.parameters:
        given = ", ".join(f"{name} = {value}" for name, value in ask.parameters)
        lines.insert(0, speech.say(msg("For this run only: {values}.", values=given)))
    if not wanted and nodes:
        lines.append(speech.say(msg("Node voltages: {nodes}", nodes=nodes.removeprefix("nodes: "))))
    return bullets(lines) if len(lines) > 1 else lines[0]


def _verdict(asked: str, kind: str, region: str) -> Message | None:
    """Yes or no, where a state was asked for."""
    found = [states for words, states in _ASKED_STATES if re.search(words, asked, re.IGNORECASE)]
    if re.search(r"\bor\b|还是", asked, re.IGNORECASE):  # one of two: the region says which
        return None
    states = found[0] if found else None
    if states is None or not region:
        return None
    is_so = states.get(region, False)
    if re.search(r"active|放大", asked, re.IGNORECASE) and kind in ("npn", "pnp"):
        is_so = region == "active"
    return msg("Yes.") if is_so else msg("No.")
