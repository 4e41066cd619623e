"""Under what a question is to be answered: another load, supply, temperature or value, for its runs only.

A condition goes into every run and study of a plan (`under`), so that each plan is answered under it without
knowing of it; the file keeps its values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TypeVar

from domain.circuit.elements import Element
from domain.circuit.numbers import format_number
from infrastructure.llm_adapters.builtin.circuit import Circuit, circuit_of, number_of, value_of
from infrastructure.llm_adapters.builtin.measuring import measured, no_such_part, steady_sources, wanted_of
from infrastructure.llm_adapters.builtin.plans import Call, Outcome, Speech
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.words import OF_LETTER
from shared.message import Message, msg

_T = TypeVar("_T")
Values = Sequence[tuple[str, str]]
_NO_LOAD_OHM = "1e12"


def conditions_of(
    circuit: Circuit, asked: Values, speech: Speech, *, volts: float | None = None
) -> Generator[Call, Outcome, list[tuple[str, str]] | str]:
    """Conditions by the circuit's own names; or why one cannot be had, in words.

    A current drawn from a load that is a resistor is one of the output voltage (`volts` where that is to be
    another one) over that current.
    """
    plain = [each for each in asked if each[0] not in _OF_CURRENT]
    found = resolved(circuit, plain)
    if isinstance(found, Message):
        return speech.say(found)
    for name, text in asked:
        if name not in _OF_CURRENT:
            continue
        wished = number_of(text) or 0.0
        source, resistor = load_of(circuit, "i"), load_of(circuit, "r")
        if source is not None:
            size = wished if name == "load_i" else wished * abs(value_of(source) or 0.0)
            found.append((source.name, format_number(size, 4)))
        elif resistor is None:
            return speech.say(msg("I do not know which part of {file} is the load.", file=circuit.file))
        elif not wished:
            found.append((resistor.name, _NO_LOAD_OHM))
        elif name == "load_share":
            found.append((resistor.name, format_number((value_of(resistor) or 0.0) / wished, 4)))
        else:
            there = volts if volts is not None else (yield from _output_volts(circuit, speech))
            if isinstance(there, str):
                return there
            found.append((resistor.name, format_number(abs(there) / wished, 4)))
    return found


def with_values(circuit: Circuit, values: Values) -> Circuit:
    """The circuit as it is in runs with these values: what is told of its parts goes by them."""
    netlist = circuit.netlist
    for name, text in values:
        if circuit.element(name) is not None and "." not in name:
            netlist = netlist.with_value(name, text)
    return replace(circuit, netlist=netlist)


_OF_CURRENT = frozenset({"load_i", "load_share"})
_OF_LOAD = _OF_CURRENT | {"RL"}


def _output_volts(circuit: Circuit, speech: Speech) -> Generator[Call, Outcome, float | str]:
    wanted = wanted_of(circuit, Ask(intent="figure"), "vout")
    if isinstance(wanted, Message):
        return speech.say(wanted)
    found = yield from measured(circuit, [wanted], (), speech)
    if isinstance(found, str):
        return found
    volts = found[0][2]
    return (
        speech.say(msg("I do not know which part of {file} is the load.", file=circuit.file))
        if (math.isnan(volts) or not volts)
        else volts
    )


def load_of(circuit: Circuit, letter: str) -> Element | None:
    """The load of this kind: the one recognised, else the only one from the output to ground."""
    named = [part for name in circuit.loads if (part := circuit.element(name)) and part.letter == letter]
    there = circuit.at_the_output(letter)
    return named[0] if named else there[0] if len(there) == 1 else None


def under(plan: Generator[Call, Outcome, _T], values: Values) -> Generator[Call, Outcome, _T]:
    """The same plan with these values in all its runs."""
    own = dict(values)
    call = next(plan)
    try:
        while True:
            outcome = yield _with(call, own)
            call = plan.send(outcome)
    except StopIteration as end:
        told: _T = end.value
        return told


def _feeds(circuit: Circuit) -> list[str]:
    """The sources that may feed it: the one that is called so, where it has others for references."""
    found = [each.name for each in steady_sources(circuit)]
    named = [name for name in found if _FEEDS.fullmatch(name)]
    return named if len(named) == 1 else found


_FEEDS = re.compile(r"v_?(?:in|cc|dd|bat\w*|sup\w*|s|pos|dc)\d*", re.IGNORECASE)
_TAKES = {"run_simulation": "parameters", "run_study": "set"}
"""Where a tool takes values for its runs."""


def _with(call: Call, values: dict[str, str]) -> Call:
    key = _TAKES.get(call.tool)
    if key is None:
        return call
    return Call(tool=call.tool, arguments={**call.arguments, key: {**values, **call.arguments.get(key, {})}})


def resolved(  # noqa: PLR0911, PLR0912 - one a kind of name
    circuit: Circuit, values: Sequence[tuple[str, str]]
) -> list[tuple[str, str]] | Message:
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
            own = loads[0] if loads else _at_the_output(circuit)
            if not own:
                return msg("I do not know which part of {file} is the load.", file=circuit.file)
        if name == "supply" or (name == "input" and circuit.source is None):
            supplies = _feeds(circuit)
            if len(supplies) != 1:
                return (
                    msg("Of which source: {names}?", names=", ".join(supplies))
                    if supplies
                    else msg("I found no supply in {file}.", file=circuit.file)
                )
            own = supplies[0]
        if name == "input" and circuit.source is not None:
            own = f"{circuit.source.name}.amplitude"
        if (
            (letter := _letter_of(name))
            and circuit.element(name) is None
            and not _is_parameter(circuit, name)
        ):
            parts = [each.name for each in circuit.top if each.letter == letter and value_of(each)]
            if len(parts) != 1:
                return (
                    msg("Of which part: {names}?", names=", ".join(parts))
                    if parts
                    else no_such_part(circuit, (name.removesuffix("*"),))
                )
            own = parts[0]
        if name == "load_c":
            part = load_of(circuit, "c")
            if part is None:
                return msg("{file} has no capacitor from its output to ground.", file=circuit.file)
            own = part.name
        if name == "beta":
            models = {
                each.model.text for each in circuit.top if each.letter == "q" and each.model is not None
            }
            if len(models) != 1:
                return no_such_part(circuit, ("Q",))
            own = f"{models.pop()}.bf"
        value = text
        if text.startswith("*"):
            now = value_of(element) if (element := circuit.element(own)) is not None else None
            if now is None:
                return no_such_part(circuit, (own,))
            value = format_number(now * float(text[1:]), 4)
        found.append((own, value))
    return found


def of_its_own(
    file: str, values: Values, speech: Speech
) -> Generator[Call, Outcome, list[tuple[str, str]] | str]:
    """Values by the names of the file's own parts, where one is called by its kind; or why not, in words."""
    if not any(_letter_of(name) or name in _OF_LOAD for name, _ in values):
        return list(values)
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return circuit
    return (yield from conditions_of(circuit, values, speech))


def _letter_of(name: str) -> str:
    """Of a kind of part by which one is called: ``l*``, "the resistor"; "" for a name."""
    if len(name) == len("l*") and name.endswith("*"):
        return name[0]
    return next((letter for form, letter in OF_LETTER if re.fullmatch(form, name, re.IGNORECASE)), "")


def _is_parameter(circuit: Circuit, name: str) -> bool:
    """Of a `.param` card of its own: ``R`` may be one, or any resistor."""
    return any(each.name == name.lower() and not each.scope for each in circuit.netlist.parameters)


def _at_the_output(circuit: Circuit) -> str:
    """The resistor from the output to ground."""
    found = circuit.at_the_output("r")
    return found[0].name if len(found) == 1 else ""
