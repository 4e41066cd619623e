"""Which plan answers which question about a circuit that is there: one row an intent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from infrastructure.llm_adapters.builtin import looking, measuring, trials, tuning
from infrastructure.llm_adapters.builtin.circuit import Circuit, circuit_of
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.plans import (
    Plan,
    Speech,
    which_file,
)
from infrastructure.llm_adapters.builtin.questions import Ask, Intent
from shared.message import msg

_OF_CIRCUIT: Mapping[Intent, Callable[[Circuit, Ask, Speech], Plan]] = {
    "figure": measuring.figure,
    "voltage": measuring.voltage,
    "current": measuring.current,
    "power": measuring.power,
    "what_if": measuring.what_if,
    "conduction": measuring.conduction,
    "losses": measuring.losses,
    "swap": trials.swap,
    "stimulus": trials.stimulus,
    "across": measuring.across_parts,
    "output_impedance": measuring.output_impedance,
    "point": measuring.point,
    "role": looking.role,
    "count": looking.count,
    "supply": looking.supply,
    "ports": looking.ports,
    "node": looking.node,
    "compare": looking.compare,
    "set_goal": looking.set_goal,
    "limits": tuning.limits,
    "tune": tuning.tune,
    "monte_carlo": trials.monte_carlo,
    "worst_case": trials.worst_case,
    "sweep": trials.sweep,
    "clipping": trials.clipping,
    "battery": measuring.battery,
    "plot": looking.plot,
}


_OF_FILE: Mapping[Intent, Callable[[str, Speech], Plan]] = {
    "failure": looking.failure,
    "check_goals": looking.check_goals,
}


def answer(ask: Ask, speech: Speech) -> Plan:
    """The plan of a question; asks back for the circuit where none is meant."""
    if ask.intent in ("undo", "find_part"):
        plan = looking.undo(speech) if ask.intent == "undo" else looking.find_part(ask, speech)
        return (yield from plan)
    if not ask.file:
        return speech.say(which_file(speech.circuits))
    if ask.intent in _OF_FILE:
        return (yield from _OF_FILE[ask.intent](ask.file, speech))
    circuit = yield from circuit_of(ask.file, speech)
    if isinstance(circuit, str):
        return circuit
    told = yield from _OF_CIRCUIT[ask.intent](circuit, ask, speech)
    return "\n".join([*_not_taken(ask, speech), told])


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
