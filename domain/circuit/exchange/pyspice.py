"""A circuit as a script for PySpice: its parts as calls where PySpice has some, the rest as raw SPICE.

Source: PySpice 1.5, `PySpice.Spice.Netlist.Circuit` and `PySpice.Spice.Simulation.CircuitSimulator`.
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.elements import canonical_node, parse_element
from domain.circuit.exchange.written import Written, circuit_cards, commands_note, one_line
from domain.circuit.numbers import read_number
from domain.circuit.statements import Statement
from shared.message import msg

_NODES = {"r": 2, "c": 2, "l": 2, "v": 2, "i": 2, "d": 2, "q": 3, "m": 4}
"""Terminals of what has a call of its own; what follows them is given as written."""
_LEFT_OUT = frozenset(("print", "plot", "save", "probe", "meas", "four", "step"))
_SWEEP = ("variation", "number_of_points", "start_frequency", "stop_frequency")


def pyspice_script(title: str, statements: Sequence[Statement]) -> Written:
    """The script; what it leaves out is told."""
    made = Written(notes=commands_note(statements))
    calls: list[str] = []
    raw: list[str] = []
    runs: list[str] = []
    temperature = 27.0
    for each in circuit_cards(statements):
        text = one_line(each.text)
        if each.kind == "directive" and each.keyword in ANALYSIS_KINDS and not each.scope:
            run = _run(each.keyword, text.split())
            if run:
                runs.append(run)
            else:
                made.notes.append(msg("Line {line}: PySpice cannot run {card}.", line=each.line, card=text))
        elif each.kind == "directive" and each.keyword == "temp":
            number = read_number(text.split()[-1])
            temperature = temperature if number is None else number.value
        elif each.kind == "directive" and each.keyword in (
            "print",
            "plot",
            "save",
            "probe",
            "meas",
            "four",
            "step",
        ):
            made.notes.append(
                msg("Line {line}: {card} is left out.", line=each.line, card=f".{each.keyword}")
            )
        elif each.kind == "element" and not each.scope and (call := _call(each)):
            calls.append(call)
        else:
            raw.append(text)
    made.text = "\n".join(_script(one_line(title), calls, raw, runs, temperature))
    return made


def _script(
    title: str, calls: Sequence[str], raw: Sequence[str], runs: Sequence[str], temperature: float
) -> list[str]:
    lines = [
        f"# {title}",
        "from PySpice.Spice.Netlist import Circuit",
        "",
        f"circuit = Circuit({title!r})",
    ]
    if raw:
        lines += ["circuit.raw_spice += '''", *(_safe(each) for each in raw), "'''"]
    lines += [*calls, "", 'if __name__ == "__main__":']
    lines.append(
        f"    simulator = circuit.simulator(temperature={temperature:g}, nominal_temperature={temperature:g})"
    )
    lines += [f"    analysis_{number} = simulator.{run}" for number, run in enumerate(runs, 1)]
    return [*lines, ""]


def _safe(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'''", "\\'\\'\\'")


def _call(card: Statement) -> str:
    """``circuit.R('1', 'in', 'out', '1k')``; "" for what is written as it is."""
    letter, words = card.keyword, one_line(card.text).split(" ")
    count = _NODES.get(letter)
    if letter == "x":
        element = parse_element(card)
        if element.model is None or element.params:
            return ""
        nodes = [each.text for each in element.nodes]
        given = [element.name[1:], element.model.text, *map(_node, nodes)]
        return f"circuit.X({', '.join(map(repr, given))})"
    if count is None or len(words) < count + 2 or letter in "dqm":
        return ""
    if len(words) < 2 or len(words[0]) < 2:
        return ""
    given = [words[0][1:], *map(_node, words[1 : count + 1]), " ".join(words[count + 1 :])]
    return f"circuit.{letter.upper()}({', '.join(map(repr, given))})"


def _node(name: str) -> str:
    return "0" if canonical_node(name) == "0" else name


def _run(kind: str, words: list[str]) -> str:
    numbers = [
        None if (n := read_number(word)) is None or word.startswith("{") else n.value for word in words
    ]
    match kind:
        case "op":
            return "operating_point()"
        case "ac" if len(words) == 5 and None not in numbers[2:]:
            values = [repr(words[1].lower()), f"{numbers[2]:g}", f"{numbers[3]!r}", f"{numbers[4]!r}"]
            return f"ac({', '.join(f'{n}={v}' for n, v in zip(_SWEEP, values, strict=True))})"
        case "tran":
            uic = words[-1].lower() == "uic"
            given = numbers[1 : len(words) - uic]
            if not 2 <= len(given) <= 4 or None in given:
                return ""
            names = ("step_time", "end_time", "start_time", "max_time")
            told = [f"{n}={v!r}" for n, v in zip(names, given, strict=False)]
            return f"transient({', '.join([*told, *(['use_initial_condition=True'] if uic else [])])})"
        case "dc" if len(words) == 5 and None not in numbers[2:]:
            return f"dc({words[1]}=slice({numbers[2]!r}, {numbers[3]!r}, {numbers[4]!r}))"
    return ""


def _number(word: str) -> float | None:
    found = None if word.startswith("{") else read_number(word)
    return None if found is None else found.value
