"""The built-in model's plans for parts and nodes: voltages, currents, powers, losses, operating points."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from domain.simulation.operating_point import REGIONS
from infrastructure.llm_adapters.builtin.circuit import (
    Circuit,
    value_of,
)
from infrastructure.llm_adapters.builtin.conditions import load_of, resolved
from infrastructure.llm_adapters.builtin.figures import Kind, number, shown
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    across,
    analysis_for,
    lacking,
    measured,
    no_such_part,
    only_transient,
    part_of,
    run,
    signal_of,
    steady_sources,
    subjects,
    supplies_of,
    tail,
    tell,
    told_line,
    wanted_of,
)
from infrastructure.llm_adapters.builtin.plans import (
    Plan,
    Speech,
    bullets,
    simulation_failed,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.words import QUIESCENT
from shared.message import Message, msg

_DEVICE = re.compile(
    r"(?P<name>\S+) (?P<kind>npn|pnp|[np]mos|[np]jf|[np]mf|diode)(?: (?P<region>[a-z ]+))?: (?P<figures>.+)"
)


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
    loads = circuit.at_the_output("r")
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


_REJECTED_AT = (100.0, 1e3, 1e5)
"""Hz: where the rejection of the supply is told when no place is."""


def supply_rejection(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """How much less of the supply than of the input comes to the output: AC on one, then on the other.

    Of a circuit whose source has no AC value, or that only feeds it (a regulator), over the supply alone.
    """
    feeds = resolved(circuit, (("supply", "1"),))
    if isinstance(feeds, Message):
        return speech.say(feeds)
    supply, source = feeds[0][0], circuit.source
    places = [ask.at, *ask.also] if ask.at is not None else list(_REJECTED_AT)
    low, high = number(min(places) / 10), number(max(places) * 10)

    def gains(name: str) -> list[Wanted]:
        return [
            Wanted(
                name=msg("gain from {name} to the output", name=name),
                expressions=(f"db(gain(v({circuit.output}),{number(place)}))",),
                unit="dB",
                kind="ac",
                place=shown(place, "Hz"),
                sweep=f"ac dec 20 {low} {high}",
            )
            for place in places
        ]

    quiet = {f"{source.name}.ac": "0"} if source is not None and source.name != supply else {}
    of_supply = yield from measured(circuit, gains(supply), [*quiet.items(), (f"{supply}.ac", "1")], speech)
    if isinstance(of_supply, str):
        return of_supply
    of_input: list[float] = []
    if quiet and source is not None:
        found = yield from measured(circuit, gains(source.name), [(f"{source.name}.ac", "1")], speech)
        if isinstance(found, str):
            return found
        of_input = [each[2] for each in found]
    lines = []
    for at, (wanted, _, value, _) in enumerate(of_supply):
        over = of_input[at] if of_input else 0.0
        lines.append(
            speech.say(
                msg(
                    "{file}: rejection of the supply {name} at {place} = {value} "
                    "(its gain to the output {gain}, that of the input {other})",
                    file=circuit.file,
                    name=supply,
                    place=wanted.place,
                    value=shown(over - value, "dB"),
                    gain=shown(value, "dB"),
                    other=shown(over, "dB"),
                )
                if of_input
                else msg(
                    "{file}: rejection of the supply {name} at {place} = {value} "
                    "(its gain to the output {gain})",
                    file=circuit.file,
                    name=supply,
                    place=wanted.place,
                    value=shown(-value, "dB"),
                    gain=shown(value, "dB"),
                )
            )
        )
    return "\n".join(lines)


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


_NOISY = "rqmjd"
_MOST_NOISY = 5


def noise_shares(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Which parts the output noise comes from, at a frequency or over the band of the analysis."""
    if problem := lacking(circuit, "noise"):
        return speech.say(problem)
    where = ask.at if ask.at_unit == "Hz" else None
    own = (each for each in circuit.analyses if each.lower().startswith("noise"))
    card = analysis_for(circuit, "noise") or next(own)
    card = card if len(card.split()) > _WITH_PARTS else f"{card} 1"
    parts = [each for each in circuit.top if each.letter in _NOISY]
    form = "noise_total(onoise_{key})" if where is None else f"at(onoise_{{key}},{number(where)})"
    wanted = [
        Wanted(
            name=msg("noise of {name} at the output", name=each.name),
            expressions=(form.format(key=each.key),),
            unit="V" if where is None else "V/sqrt(Hz)",
            kind="noise",
            place="" if where is None else shown(where, "Hz"),
            key=each.key,
            sweep=card,
        )
        for each in parts
    ]
    found = yield from measured(circuit, wanted, ask.parameters, speech)
    if isinstance(found, str):
        return found
    known = sorted((each for each in found if not math.isnan(each[2])), key=lambda each: -each[2])
    total = sum(each[2] ** 2 for each in known)
    if not total:
        return speech.say(msg("No part of {file} makes noise.", file=circuit.file))
    rows = [
        msg(
            "{told}: {share} of the noise power",
            told=told_line(circuit, *each),
            share=f"{100 * each[2] ** 2 / total:.3g}%",
        )
        for each in known[:_MOST_NOISY]
    ]
    return bullets([speech.say(row) for row in rows])


_WITH_PARTS = 7
"""Words of a noise card that asks for the noise of each part."""


def voltage(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """At nodes."""
    if (missing := circuit.missing(ask.nodes)) is not None:
        return speech.say(missing)
    if "swing" in ask.figures and ask.at is None:
        if (problem := lacking(circuit, "tran")) is not None:
            return speech.say(problem)
        return (
            yield from tell(circuit, [_swing(circuit, node) for node in ask.nodes], ask.parameters, speech)
        )
    wanted = [
        _of_signal(circuit, ask, f"v({node.lower()})", "V", msg("voltage at {node}", node=node))
        for node in ask.nodes
    ]
    return (yield from tell(circuit, [each for some in wanted for each in some], ask.parameters, speech))


def _swing(circuit: Circuit, node: str) -> Wanted:
    """From the lowest to the highest value of a node's voltage once it has settled."""
    return Wanted(
        name=msg("{quantity}, peak to peak", quantity=msg("voltage at {node}", node=node)),
        expressions=(f"pp(v({node.lower()}),{tail(circuit)})",),
        unit="V",
        kind="tran",
    )


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


def _of_parts(circuit: Circuit, ask: Ask, speech: Speech, *, is_power: bool) -> Plan:
    if ask.names == ("load",):
        own = resolved(circuit, (("load", "1"),))
        ask = ask if isinstance(own, Message) else replace(ask, names=(own[0][0],))
    parts = subjects(circuit, replace(ask, parameters=()))
    if not parts:
        return speech.say(no_such_part(circuit, ask.names))
    devices = [] if only_transient(circuit) else [each for each in parts if each.letter in "qmjdz"]
    wanted: list[Wanted] = []
    for each in parts:
        if each in devices:
            continue
        signal = signal_of(each, is_power=is_power)
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


def _supply(circuit: Circuit, ask: Ask, speech: Speech, *, is_power: bool) -> Plan:
    """What the supplies deliver."""
    sources = supplies_of(circuit)
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
    values = [*ask.parameters]
    if QUIESCENT.search(speech.said) and any("regulator" in stage.kind for stage in circuit.stages):
        values += _no_load(circuit)  # of a regulator it is what it takes for itself
    return (yield from tell(circuit, wanted, values, speech))


def _no_load(circuit: Circuit) -> list[tuple[str, str]]:
    """The value with which a regulator's load takes no current; [] where none is known."""
    sink, resistor = load_of(circuit, "i"), load_of(circuit, "r")
    return (
        [(sink.name, "0")] if sink is not None else [(resistor.name, "1e12")] if resistor is not None else []
    )


def battery(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """How long a battery of a given charge feeds the circuit."""
    sources = steady_sources(circuit)
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
