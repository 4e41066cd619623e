"""The built-in model's plans that look: at parts and nodes, two runs, a failure, goals, the library."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from domain.circuit.elements import Element
from domain.circuit.model_library import pin_words, title_words
from domain.circuit.recognition.words import KINDS, ROLES, UNNAMED
from infrastructure.llm_adapters.builtin.circuit import Circuit, circuit_of, number_of
from infrastructure.llm_adapters.builtin.figures import FIGURES, number, shown
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    across,
    all_wanted,
    analysis_for,
    lacking,
    no_such_part,
    run,
    signals_of,
    subjects,
    tell,
    wanted_of,
)
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    failed,
    simulation_failed,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.words import PARTS
from shared.message import Message, msg

_SIGNS = {"negative": msg("negative feedback"), "positive": msg("positive feedback")}
_PLAIN_ROLES = UNNAMED | {"resistor", "capacitor"}
"""They say no more than the part's letter."""
_DOES: Mapping[str, Message] = {
    "load": msg("the signal current makes the output voltage across it"),
    "bias": msg("it sets the operating point"),
    "foot": msg("it stabilizes the operating point and provides feedback"),
    "degeneration": msg("it provides feedback, which lowers the gain and the distortion"),
    "bypass": msg("it shorts the signal there, so that the gain is not reduced"),
    "input_coupling": msg("it passes the signal and keeps the bias from the source"),
    "output_coupling": msg("it passes the signal and keeps the DC voltage from the load"),
    "tail": msg("it sets the current that both transistors share"),
    "switch": msg("its duty cycle sets the output voltage"),
    "diode": msg("it carries the current while the switch is off"),
    "inductor": msg("it sets the ripple of the current"),
    "output_capacitor": msg("it smooths the output voltage"),
    "series_resistance": msg("it adds to the ripple"),
    "compensation": msg("it makes the amplifier stable, and with it the bandwidth smaller"),
    "winding": msg("it dissipates power"),
}
"""What a part of a stage does, where its role does not say it."""


def _role_name(kind: str, role: str) -> Message:
    return ROLES.get(f"{kind}.{role}") or ROLES.get(role) or msg("{text}", text=role.replace("_", " "))


def role_words(circuit: Circuit, name: str) -> Message | None:
    """What a part is there for, in a few words; None where its letter says as much."""
    found = circuit.role_of(name)
    if found is not None:
        stage, role = found
        return None if role in _PLAIN_ROLES else _role_name(stage.kind, role)
    for sign, names, _ in circuit.feedback:
        if name.lower() in map(str.lower, names):
            return _SIGNS.get(sign, msg("feedback"))
    return msg("load at the output") if name.lower() in map(str.lower, circuit.loads) else None


def role(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """What parts do."""
    yield from ()
    parts = subjects(circuit, ask)
    if not parts:
        return speech.say(no_such_part(circuit, ask.names))
    return "\n".join(_part_told(circuit, part, speech) for part in parts)


def _part_told(circuit: Circuit, part: Element, speech: Speech) -> str:
    """A part's stages, feedback and load, behind its card."""
    told: list[Message] = []
    if (found := circuit.role_of(part.name)) is not None:
        stage, as_what = found
        others = ", ".join(name for name in stage.members if name.lower() != part.key)
        kind = KINDS.get(stage.kind)
        name = kind.name if kind is not None else stage.kind
        told.append(
            msg(
                "{role} of the {stage} with {others}",
                role=_role_name(stage.kind, as_what),
                stage=name,
                others=others,
            )
            if others
            else msg("{role} of the {stage}", role=_role_name(stage.kind, as_what), stage=name)
        )
        told += [_DOES[as_what]] if as_what in _DOES else []
        told += (
            [msg("the stage: {purpose}", purpose=kind.purpose)]
            if kind is not None and kind.purpose is not None
            else []
        )
    told += [
        _feedback_told(sign, names, way)
        for sign, names, way in circuit.feedback
        if part.key in map(str.lower, names)
    ]
    if part.key in map(str.lower, circuit.loads):
        told.append(msg("the load at the output"))
    if part.letter in "vi" and not told:
        told.append(msg("the source of the input signal") if part.name in circuit.inputs else msg("a source"))
    if not told:
        nodes = ", ".join(node.text for node in part.nodes)
        told.append(msg("its role is not recognized; it is connected between {nodes}", nodes=nodes))
    return f"{part.name} ({' '.join(part.statement.text.split())}): " + speech.say(msg("; ")).join(
        map(speech.say, told)
    )


def _feedback_told(sign: str, names: Sequence[str], way: str) -> Message:
    """``from out to o1 around M6``, in a sentence."""
    words = way.split()
    start, end, around = words[1], words[3], words[5].replace("+", ", ")
    return msg(
        "{sign}: {parts} from {start} to {end}, around {around}",
        sign=_SIGNS.get(sign, msg("feedback")),
        parts=", ".join(names),
        start=start,
        end=end,
        around=around,
    )


def count(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """How many parts of a kind there are."""
    yield from ()
    if ask.query == "node":
        nodes = [node for node in circuit.nodes if node != "0"]
        return speech.say(
            msg(
                "{file} has {count} nodes besides ground: {names}.",
                file=circuit.file,
                count=len(nodes),
                names=", ".join(nodes),
            )
        )
    kinds = [
        kind
        for kind in circuit.counts
        if not ask.query or any(kind.endswith(each) for each in ask.query.split("|"))
    ]
    total = sum(circuit.counts[kind] for kind in kinds)
    told = ", ".join(f"{circuit.counts[kind]} {kind}" for kind in kinds)
    if not total:
        return speech.say(msg("{file} has none.", file=circuit.file))
    names = _names_of(circuit, kinds)
    return speech.say(
        msg("{file} has {total}: {kinds} ({names}).", file=circuit.file, total=total, kinds=told, names=names)
    )


_LETTER_OF = {
    "resistor": "r",
    "capacitor": "c",
    "inductor": "l",
    "diode": "d",
    "bipolar transistor": "q",
    "MOSFET": "m",
    "JFET": "j",
    "voltage source": "v",
    "current source": "i",
}


def _port(kind: str, key: str) -> Message:
    """What a node is to a stage: ``input of the common-emitter stage``."""
    stage = KINDS[kind].name if kind in KINDS else kind
    what = msg("input") if key.startswith("in") else msg("output") if key.startswith("out") else key
    return msg("{port} of the {stage}", port=what, stage=stage)


def _names_of(circuit: Circuit, kinds: Sequence[str]) -> str:
    letters = {_LETTER_OF.get(kind, "") for kind in kinds}
    names = [each.name for each in circuit.top if each.letter in letters or "" in letters]
    return ", ".join(names[:60])


def supply(circuit: Circuit, _ask: Ask, speech: Speech) -> Plan:
    yield from ()
    if not circuit.supplies:
        return speech.say(msg("I found no supply in {file}.", file=circuit.file))
    return speech.say(msg("Supplies of {file}: {supplies}.", file=circuit.file, supplies=circuit.supplies))


def ports(circuit: Circuit, _ask: Ask, speech: Speech) -> Plan:
    yield from ()
    outputs = ", ".join(circuit.outputs) or circuit.output or "-"
    return speech.say(
        msg(
            "{file}: input {inputs}; output {outputs}.",
            file=circuit.file,
            inputs=circuit.inputs or "-",
            outputs=outputs,
        )
    )


def node(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """What hangs on nodes, and what the stages call them."""
    yield from ()
    lines = []
    for name in ask.nodes:
        at = [
            each.name
            for each in circuit.top
            if name.lower() in (pin.key for pin in (*each.nodes, *each.control_nodes))
        ]
        if not at:
            lines.append(
                speech.say(
                    msg(
                        "{file} has no node {name}; it has: {names}.",
                        file=circuit.file,
                        name=name,
                        names=", ".join(circuit.nodes[:40]),
                    )
                )
            )
            continue
        roles = [
            speech.say(_port(stage.kind, key))
            for stage in circuit.stages
            for key, at_node in stage.nodes.items()
            if at_node.lower() == name.lower()
        ]
        roles += (
            [speech.say(msg("supply"))]
            if re.search(rf"(?:^|, ){re.escape(name)} [+-]", circuit.supplies, re.IGNORECASE)
            else []
        )
        roles += (
            [speech.say(msg("output"))] if name.lower() in (each.lower() for each in circuit.outputs) else []
        )
        roles += (
            [speech.say(msg("input"))]
            if re.search(rf"(?:^|, ){re.escape(name)} \(", circuit.inputs, re.IGNORECASE)
            else []
        )
        said = msg("Node {name} connects {parts}.", name=name, parts=speech.listed(at))
        told = [msg("It is: {roles}.", roles=speech.listed(dict.fromkeys(roles)))] if roles else []
        lines.append(speech.sentences(map(speech.say, [said, *told])))
    return "\n".join(lines)


# --- runs ---------------------------------------------------------------------------------------------


def failure(circuit_file: str, speech: Speech) -> Plan:
    """Why a circuit cannot be simulated: by simulating it."""
    outcome = yield Call(tool="run_simulation", arguments={"path": circuit_file})
    if not outcome.error_type:
        return speech.say(msg("{file} was simulated just now without errors.", file=circuit_file))
    if outcome.error_type != "simulation_failed":
        return failed(outcome, speech)
    said = simulation_failed(outcome, speech)
    if not re.search(r"converge|singular|timestep|time step", outcome.text, re.IGNORECASE):
        return said
    advice = yield Call(tool="analyze_convergence", arguments={"path": circuit_file})
    return said if advice.error_type else f"{said}\n{advice.text}"


def longer(file: str, stop: str, speech: Speech) -> Plan:
    """A transient run until another time than the circuit's card says; the card stays."""
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return circuit
    if problem := lacking(circuit, "tran"):
        return speech.say(problem)
    card = next(each for each in circuit.analyses if each.lower().startswith("tran")).split()
    analysis = " ".join([*card[:2], stop, *card[3:]])
    own = replace(circuit, analyses=(analysis,))
    told = yield from tell(own, [replace(each, sweep=analysis) for each in _usual_of_run(own)], (), speech)
    return "\n".join([speech.say(msg("For this run only: {values}.", values=f".{analysis}")), told])


_PERIODS_DRAWN = 5
_POINTS_A_PERIOD = 200


def plot(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """A picture of curves: over frequency where that is asked or nothing else is there, else over time."""
    there = {node.lower() for node in circuit.nodes}
    parts = tuple(name for name in ask.nodes if name.lower() not in there and circuit.element(name))
    ask = replace(  # a part has a current to be drawn
        ask, names=(*ask.names, *parts), nodes=tuple(name for name in ask.nodes if name not in parts)
    )
    drawn = [signal for key in ask.figures for signal in signals_of(circuit, ask, key)]
    is_output = "vout" in ask.figures or not (ask.nodes or ask.names or drawn)
    nodes = (*ask.nodes, *([circuit.output] if is_output and circuit.output else []))
    if (missing := circuit.missing(nodes)) is not None:
        return speech.say(missing)
    hertz = circuit.drive_hz
    kind = ask.query or (
        "tran" if circuit.has("tran") else "dc" if circuit.has("dc") else "ac" if not hertz else "tran"
    )
    card: str | None = None
    if kind in ("ac", "noise"):
        if problem := lacking(circuit, "ac"):
            return speech.say(problem)
        card = analysis_for(circuit, "noise" if kind == "noise" else "ac")
        card = (
            f"ac dec 40 {number(min(ask.span))} {number(max(ask.span))}"
            if ask.span and kind == "ac"
            else card
        )
    elif kind == "tran" and not circuit.has("tran") and hertz:
        card = f"tran {number(1 / hertz / _POINTS_A_PERIOD)} {number(_PERIODS_DRAWN / hertz)}"
    signals = ["onoise_spectrum"] if kind == "noise" else _curves(nodes, ask.figures)
    signals = [*(signals if nodes or not drawn else []), *drawn] if kind != "noise" else signals
    signals += [f"i({name})" for name in _branches(circuit, ask.names)] if kind != "noise" else []
    if not signals:
        unknown_output = msg(
            "I do not know which node of {file} is the output. Name it: v(node).", file=circuit.file
        )
        return speech.say(no_such_part(circuit, ask.names) if ask.names else unknown_output)
    sources = {f"run {each}": str(each) for each in ask.numbered}
    if not sources:
        outcome, name = yield from run(circuit, card, ())
        if outcome.error_type:
            return simulation_failed(outcome, speech)
        sources = {name: ""}
    said: list[str] = []
    for name, numbered in sources.items():
        arguments: dict[str, object] = {"format": "svg", "path": name, "signals": signals, "analyses": [kind]}
        if kind == "tran" and (window := _window(circuit, ask, card)) is not None:
            arguments["range"] = [number(each) for each in window]
        made = yield Call(tool="export_result", arguments=arguments)
        if made.error_type:
            return "\n".join([*said, failed(made, speech)])
        path = _MADE.match(made.text)
        drawn_of = {"signals": speech.listed(signals), "picture": path["path"] if path else "?"}
        said.append(
            speech.say(
                msg("{file}, run {number}: the curve of {signals} is drawn in {picture}.",
                    file=circuit.file, number=numbered, **drawn_of)
                if numbered
                else msg("{file}: the curve of {signals} is drawn in {picture}.",
                         file=circuit.file, **drawn_of)
            )
        )  # fmt: skip
    return "\n".join(said)


def _window(circuit: Circuit, ask: Ask, card: str | None) -> tuple[float, float] | None:
    """The part of a transient run that is drawn: that asked for, or its last periods; None for all of it."""
    own = card or next((each for each in circuit.analyses if each.lower().startswith("tran ")), "")
    stop = number_of(own.split()[2]) if len(own.split()) > 2 else None
    period = circuit.drive_period or (1 / circuit.drive_hz if circuit.drive_hz else None)
    if ask.span is not None:
        return min(ask.span), max(ask.span)
    if not ask.runs or stop is None or period is None:
        return None
    return max(0.0, stop - ask.runs * period), stop


def _branches(circuit: Circuit, names: Sequence[str]) -> list[str]:
    """Parts whose currents a run keeps: inductors and sources of voltage; ``l*`` stands for all of a kind."""
    wanted = {name.lower() for name in names}
    return [
        each.key for each in circuit.top if each.letter in "lv" and wanted & {each.key, f"{each.letter}*"}
    ]


_CURVE_OF = {"gain": "db({x})", "phase": "ph({x})", "group_delay": "group_delay({x})"}


def _curves(nodes: Sequence[str], figures: Sequence[str]) -> list[str]:
    """What is drawn: the voltages of nodes, or the figures of them that are asked for."""
    forms = [_CURVE_OF[key] for key in figures if key in _CURVE_OF] or ["{x}"]
    return [form.format(x=f"v({node.lower()})") for node in nodes for form in forms]


_MADE = re.compile(r"Made (?P<path>.+?) \(\d+ bytes\)")


def _usual_of_run(circuit: Circuit) -> list[Wanted]:
    """The mean and the swing of the output at the end of a transient run."""
    found = all_wanted(circuit, Ask(intent="figure", figures=("vout", "swing")))
    return found if isinstance(found, list) else []


# --- goals and the library ----------------------------------------------------------------------------


def set_goal(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """A figure's bounds as a goal of the circuit."""
    key = ask.figures[0]
    if ask.query == "error":
        return speech.say(
            msg(
                "From which value may the {name} differ so much? Say both ends, for example “{example}”.",
                name=FIGURES[key].name,
                example=speech.say(msg("set a goal: gain from -0.1 dB to 0.1 dB")),
            )
        )
    wanted = wanted_of(circuit, ask, key)
    if isinstance(wanted, Message):
        return speech.say(wanted)
    outcome = yield Call(
        tool="set_goals", arguments={"path": circuit.file, "goals": [goal_entry(circuit, wanted, ask)]}
    )
    if outcome.error_type:
        return failed(outcome, speech)
    lines = [_asked_of_it(line, speech) for line in outcome.lines if line.startswith("- ")]
    return f"{speech.say(msg('Goals of {file}:', file=circuit.file))}\n{bullets(lines)}"


def goal_entry(circuit: Circuit, wanted: Wanted, ask: Ask) -> dict[str, Any]:
    """A figure with what it has to come to, as set_goals and EXTRACT_DESIGN_GOALS have it."""
    is_factor = ask.unit == "x" and bool(wanted.sensed)
    expression, unit = (
        (_as_ratio(circuit, wanted.sensed), "1") if is_factor else (wanted.expressions[0], wanted.unit)
    )
    goal: dict[str, Any] = {"metric": wanted.key, "expression": expression, "unit": unit}
    match ask:
        case Ask(upper=float()):
            goal |= {"minimum": ask.value, "maximum": ask.upper}
        case Ask(bound="at_most"):
            goal["maximum"] = ask.value
        case Ask(bound="at_least"):
            goal["minimum"] = ask.value
        case _:
            goal |= {"target": ask.value, "tolerance": 0.5 if unit == "dB" else 2 if unit == "deg" else 0.05}
    return goal


def _as_ratio(circuit: Circuit, expression: str) -> str:
    """A gain as a factor of the input voltage: with a source of 1 V its number is that of a voltage."""
    source = circuit.source
    if source is None or source.letter != "v":
        return expression
    return re.sub(r"mag\((v\([^()]*\))\)", rf"mag(\1/{across(source)})", expression)


def _asked_of_it(line: str, speech: Speech) -> str:
    """A line of set_goals in the words of the answer."""
    found = re.fullmatch(r"- (?P<name>.+?) \((?P<weight>must|wish)\): (?P<asked>.*)", line)
    if found is None:
        return line.removeprefix("- ")
    weight = msg("must") if found["weight"] == "must" else msg("wish")
    told = msg(
        "{name} ({weight}): {asked}",
        name=_label(found["name"]),
        weight=weight,
        asked=_limits(found["asked"], speech),
    )
    return speech.say(told)


def _label(metric: str) -> Message | str:
    return FIGURES[metric].name if metric in FIGURES else metric


def _limits(asked: str, speech: Speech) -> str:
    """What a goal asks for: `980 Hz … 1.02 kHz, aim 1 kHz`."""
    bounds, mark, aim = asked.partition(", aim ")
    return speech.say(msg("{bounds}, aim {value}", bounds=bounds, value=aim)) if mark else asked


def check_goals(file: str, speech: Speech) -> Plan:
    """The circuit's goals, held against a fresh run."""
    outcome = yield Call(tool="run_simulation", arguments={"path": file})
    if outcome.error_type:
        return simulation_failed(outcome, speech)
    verdicts = yield Call(tool="check_goals", arguments={"path": file})
    if verdicts.error_type:
        return failed(verdicts, speech)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in verdicts.lines
        if line.startswith("| ")
    ][1:]
    if not rows:
        return speech.say(msg("{file} has no goals yet. For example: “set a goal: gain > 40 dB”.", file=file))
    judged = [row for row in rows if not row[5].startswith("not judged")]
    met = sum(row[5] == "met" for row in judged)
    head = msg("{met} of {count} {count:goal|goals} of {file} met.", met=met, count=len(judged), file=file)
    if not judged:
        head = msg("The newest run of {path} cannot judge its goals.", path=file)
    return f"{speech.say(head)}\n{bullets([_goal_told(row, speech) for row in rows])}"


_STATES: Mapping[str, Message] = {
    "met": msg("met"),
    "MISSED": msg("missed"),
    "not measured": msg("not measured"),
    "not judged": msg("not judged"),
}


def _goal_told(row: Sequence[str], speech: Speech) -> str:
    name, _, asked, value, margin, verdict = row
    metric = name.removesuffix(" (wish)")
    label = _label(metric)
    head, _, reason = verdict.partition(": ")
    state: Message | str = _STATES.get(head, head)
    if reason:
        state = msg("{problem} ({reason})", problem=state, reason=reason)
    return speech.say(
        msg(
            "{name}: {value} (required {asked}), {state}, margin {margin}",
            name=label if metric == name else msg("{name} (wish)", name=label),
            value=value,
            asked=_limits(asked, speech),
            state=state,
            margin=margin,
        )
    )


_FIGURE_OF = {
    "Hz": re.compile(r"GBW ([\d.]+) (k|M|G)?Hz|fT >? ?([\d.]+) (k|M|G)?Hz"),
    "V": re.compile(r"VZ ([\d.]+) ?V|(?:^|[ ,:])([\d.]+) V\b"),
    "A": re.compile(r"(?:^|[ ,:])([\d.]+) (m)?A\b"),
}
_SCALE = {"k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, None: 1.0, "": 1.0}


def find_part(ask: Ask, speech: Speech) -> Plan:
    """Models of the library of a kind, and with the figure asked for."""
    if ask.names:
        kind = yield from _kind_of_part(ask.names[0])
        if not kind:
            return speech.say(msg("The model library has no {kind}.", kind=ask.names[0]))
        ask = replace(ask, names=(), query=f"{kind} {ask.query}".strip())
    return _models_told((yield Call(tool="find_model", arguments={"query": ask.query})), ask, speech)


def _models_told(outcome: Outcome, ask: Ask, speech: Speech) -> str:
    """What the library has of a kind, as people read it."""
    if " " in ask.query and not re.search(r"; nodes: |^Put this", outcome.text):
        return speech.say(msg("The model library has no {kind}.", kind=ask.query))
    if outcome.error_type:
        return failed(outcome, speech)
    first = outcome.text.split("\n", 1)[0]
    if (whole := _ALONE.match(first)) is not None:  # shown with the text of its file
        is_fit = all(
            any(_has(line, each) for line in outcome.lines[1:])
            for each in (ask, *ask.besides)
            if each.value is not None
        )
        return _used_so(whole, speech) if is_fit else speech.say(_none_fits(ask))
    lines = [line for line in outcome.lines if "; nodes: " in line]
    if not lines:
        return first
    if ask.value is not None:
        lines = [line for line in lines if all(_has(line, each) for each in (ask, *ask.besides))]
        if not lines:
            return speech.say(_none_fits(ask))
    head = speech.say(
        msg("The model library has {count} {count:model|models} of this kind:", count=len(lines))
    )
    return f"{head}\n{bullets([_model_told(line, speech) for line in lines])}"


def _kind_of_part(name: str) -> Generator[Call, Outcome, str]:
    """What the part of this name is, in the words of the library: ``npn``; "" for one that it has not."""
    known = yield Call(tool="find_model", arguments={"query": name})
    title = _TITLE.search(known.text)
    return next((kind for form, kind in PARTS if title and re.search(form, title[1], re.IGNORECASE)), "")


def _none_fits(ask: Ask) -> Message:
    """That no model of the kind has the figure asked for."""
    bounds: list[Message] = []
    for each in (ask, *ask.besides):
        value = shown(each.value or 0.0, each.unit)
        is_most = each.bound == "at_most"
        bounds.append(
            msg("at most {value}", value=value) if is_most else msg("at least {value}", value=value)
        )
    told = reduce(lambda one, then: msg("{one}, {then}", one=one, then=then), bounds)
    return msg("The model library has no {kind} with {figure}.", kind=ask.query, figure=told)


def _model_told(line: str, speech: Speech) -> str:
    """A line of find_model; its figures are a data sheet's, with signs for the words between them."""
    name, _, rest = line.partition(": ")
    body, _, pins = rest.rpartition("; nodes: ")
    title, _, figures = body.partition("; ")
    said = speech.say(
        msg("{name}: {title}; nodes: {pins}", name=name, title=title_words(title), pins=pin_words(pins))
    )
    figures = re.sub(r"\btypically\b", speech.say(msg("typ.")), figures.replace("+-", "±"))
    figures = re.sub(r" at (?=[\d.])", " @ ", re.sub(r" and (?=\w+(?:\(\w+\))? [<>\d])", ", ", figures))
    return f"{said}; {figures}" if figures else said


_TITLE = re.compile(r"^\* \S+: (.+)", re.MULTILINE)
"""What a model's file says of itself."""
_ALONE = re.compile(r"Put this card into the circuit: (.+?) \(then (.+?); nodes: (.+?)\)\. ")


def _used_so(whole: re.Match[str], speech: Speech) -> str:
    """How the one model that was found is used."""
    card, element, pins = whole.groups()
    told = msg(
        "Put this card into the circuit: {card} (then {element}; nodes: {pins}).",
        card=card,
        element=element,
        pins=pin_words(pins),
    )
    return speech.say(told)


def _has(line: str, ask: Ask) -> bool:
    """Whether a model's figures have the value asked for: near it, where no bound was said."""
    assert ask.value is not None
    for found in _FIGURE_OF[ask.unit].finditer(line):
        size, *prefix = [group for group in found.groups() if group is not None]
        value = float(size) * _SCALE[prefix[0] if prefix else ""]
        if ask.bound == "at_least":
            return value >= ask.value
        if ask.bound == "at_most":
            return value <= ask.value
        return math.isclose(value, ask.value, rel_tol=0.1) or (
            ask.query not in ("zener",) and value >= ask.value
        )
    return False


def undo(speech: Speech, steps: int = 1) -> Plan:
    """The changes of the last turns that made any, taken back."""
    lines: list[str] = []
    for calls in reversed(speech.past):
        done = [(call, arguments) for call, arguments, is_done in calls if is_done]
        if any(tool == "rewrite_file" for tool, _ in done):
            return "\n".join([*lines, speech.say(msg("That was a whole file. Undo it on its card."))])
        patches = [arguments for tool, arguments in done if tool == "patch_file"]
        if not patches:
            continue
        for each in reversed(patches):
            path, before, after = str(each["path"]), str(each["search"]), str(each["replace"])
            outcome = yield Call(
                tool="patch_file", arguments={"path": path, "search": after, "replace": before}
            )
            if outcome.error_type:
                return "\n".join([*lines, failed(outcome, speech)])
            was, now = (text.replace("\n", "; ") for text in (after, before))
            told = msg("{file}: “{before}” is “{after}” again.", file=path, before=was, after=now)
            lines.append(speech.say(told))
        steps -= 1
        if not steps:
            break
    if not lines:
        return speech.say(msg("Nothing was changed in this conversation that I could undo."))
    if steps:
        lines.append(speech.say(msg("There are no earlier changes in this conversation.")))
    return "\n".join(lines)


def arguments_of(text: str) -> dict[str, Any]:
    """The arguments of an earlier call; {} when they cannot be read."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
