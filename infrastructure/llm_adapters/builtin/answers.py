"""Which plan answers which question about a circuit that is there: one row an intent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from infrastructure.llm_adapters.builtin import (
    comparing,
    looking,
    measuring,
    parts,
    runs_there,
    sweeps,
    trials,
    tuning,
)
from infrastructure.llm_adapters.builtin.circuit import Circuit, circuit_of
from infrastructure.llm_adapters.builtin.conditions import conditions_of, under, with_values
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.plans import (
    Plan,
    Speech,
    which_file,
)
from infrastructure.llm_adapters.builtin.reading import Ask, Intent, things_in
from infrastructure.llm_adapters.builtin.words import THINGS
from shared.message import Message, msg

_OF_CIRCUIT: Mapping[Intent, Callable[[Circuit, Ask, Speech], Plan]] = {
    "figure": measuring.figure,
    "voltage": parts.voltage,
    "current": parts.current,
    "power": parts.power,
    "what_if": comparing.what_if,
    "conduction": parts.conduction,
    "losses": parts.losses,
    "swap": trials.swap,
    "stimulus": trials.stimulus,
    "across": parts.across_parts,
    "output_impedance": parts.output_impedance,
    "point": parts.point,
    "role": looking.role,
    "count": looking.count,
    "supply": looking.supply,
    "ports": looking.ports,
    "node": looking.node,
    "compare": runs_there.compare,
    "restore": runs_there.restore,
    "set_goal": looking.set_goal,
    "limits": tuning.limits,
    "tune": tuning.tune,
    "monte_carlo": trials.monte_carlo,
    "worst_case": trials.worst_case,
    "sweep": sweeps.sweep,
    "corners": sweeps.corners,
    "clipping": trials.clipping,
    "battery": parts.battery,
    "plot": looking.plot,
    "load_step": trials.load_step,
    "dropout": trials.dropout,
    "supply_rejection": parts.supply_rejection,
}


_OF_FILE: Mapping[Intent, Callable[[str, Speech], Plan]] = {
    "failure": looking.failure,
    "check_goals": looking.check_goals,
}


def answer(ask: Ask, speech: Speech) -> Plan:  # noqa: PLR0911 - every return is an answer
    """The plan of a question; asks back for the circuit where none is meant."""
    if ask.intent in ("undo", "find_part"):
        plan = looking.undo(speech, ask.runs or 1) if ask.intent == "undo" else looking.find_part(ask, speech)
        told = yield from plan
        return "\n".join([*_not_taken(ask, speech), told])
    if not ask.file:
        return speech.say(which_file(speech.circuits))
    if ask.intent in _OF_FILE:
        return (yield from _OF_FILE[ask.intent](ask.file, speech))
    circuit = yield from circuit_of(ask.file, speech)
    if isinstance(circuit, str):
        return circuit
    if (lacking := _not_there(circuit, ask, speech.said)) is not None:
        return speech.say(lacking)
    strange = [name for name in ask.names if _is_of_no_part(circuit, name)]
    if ask.intent in ("figure", "limits") and strange:
        return speech.say(measuring.no_such_part(circuit, strange))
    told = yield from _under_conditions(circuit, ask, speech)
    return "\n".join([*_not_taken(ask, speech), told])


def _is_of_no_part(circuit: Circuit, name: str) -> bool:
    """Whether a name is a designator that the circuit has not: ``Q7``."""
    there = {node.lower() for node in circuit.nodes}
    is_designator = re.fullmatch(r"[A-Za-z]{1,2}\d{1,3}", name) is not None
    return is_designator and circuit.element(name) is None and name.lower() not in there


_OF_OTHERS = frozenset({"swap", "count", "compare", "restore"})
"""Intents whose sentences may speak of things that are not in the circuit."""
_FEW = 4
"""Transistors that may make an op-amp."""


def _not_there(circuit: Circuit, ask: Ask, said: str) -> Message | None:
    """What to say of a thing the sentence takes to be in the circuit, and that is not."""
    there = {each.letter for each in circuit.netlist.elements}
    if sum(each.letter in "qmj" for each in circuit.top) >= _FEW:
        there.add("x")
    if ask.intent in _OF_OTHERS:
        return None
    meant = things_in(said)
    for name, _, letters in THINGS:
        if name in meant and not there & set(letters):
            return msg("{file} has no {thing}.", file=circuit.file, thing=_THING_NAMES[name])
    return None


_THING_NAMES: Mapping[str, Message] = {
    "op-amp": msg("op-amp"),
    "MOSFET": msg("MOSFET"),
    "bipolar transistor": msg("bipolar transistor"),
    "transistor": msg("transistor"),
    "diode": msg("diode"),
    "inductor": msg("inductor"),
    "transformer": msg("transformer"),
    "switch": msg("switch"),
    "crystal": msg("crystal"),
    "relay": msg("relay"),
    "comparator": msg("comparator"),
}


def _under_conditions(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """The answer, with the values the question is asked under by the circuit's own names."""
    plan = _OF_CIRCUIT[ask.intent]
    ask = _of_its_kind(circuit, ask)
    aim = ask.value if ask.intent == "tune" and ask.figures[:1] == ("vout",) and ask.unit == "V" else None
    own = yield from conditions_of(circuit, ask.parameters, speech, volts=aim)
    if isinstance(own, str):
        return own
    if own and ask.intent not in _TRY_VALUES:
        circuit = with_values(circuit, own)
    if not own or ask.intent in _TAKE_VALUES:
        return (yield from plan(circuit, replace(ask, parameters=tuple(own)), speech))
    given = ", ".join(f"{name} = {value}{' °C' if name == 'temp' else ''}" for name, value in own)
    told = yield from under(plan(circuit, replace(ask, parameters=()), speech), own)
    return f"{speech.say(msg('For these runs only: {values}.', values=given))}\n{told}"


def _of_its_kind(circuit: Circuit, ask: Ask) -> Ask:
    """The question by what its words mean of such a circuit."""
    is_free = circuit.source is None and circuit.drive_period is None and circuit.drive_hz is None
    if not is_free:
        kept = tuple("figure:cutoff" if each == "figure:frequency" else each for each in ask.kept)
        ask = replace(ask, kept=kept)
    if ask.is_bare and is_free and circuit.has("tran"):
        return replace(ask, figures=("frequency",))  # nothing drives it: the frequency is its own
    if circuit.source is not None and any(name == "input" for name, _ in ask.parameters):
        return replace(ask, figures=tuple("swing" if key == "vout" else key for key in ask.figures))
    return ask


_TRY_VALUES = frozenset({"what_if", "battery"})
"""Intents that set what is with other values against what is."""
_TAKE_VALUES = frozenset(
    {*_TRY_VALUES, "figure", "voltage", "current", "power", "point", "losses", "across", "conduction"}
)
"""Intents whose plans take values for their runs themselves, and tell them."""


def _not_taken(ask: Ask, speech: Speech) -> list[str]:
    """What of the sentence was not understood."""
    if ask.unanswered:
        return [speech.say(msg("This I did not understand: “{text}”.", text=ask.unanswered))]
    if not ask.is_nearest:
        return []
    names = speech.listed([FIGURES[key].name for key in ask.figures] or ask.names)
    return [
        speech.say(
            msg(
                "I understood only that this is about: {names}. What else you asked I cannot answer.",
                names=names,
            )
        )
    ]
