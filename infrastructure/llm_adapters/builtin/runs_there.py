"""Plans about runs that are there: compared, told one by one, and a run's circuit put back as it was."""

from __future__ import annotations

import difflib
import re
from collections.abc import Generator, Mapping, Sequence

from infrastructure.llm_adapters.builtin.circuit import Circuit
from infrastructure.llm_adapters.builtin.comparing import moved
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    all_wanted,
    default_figures,
    tail,
    values_of,
)
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    failed,
    inspection,
    passage,
    whole_text,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from shared.message import Message, msg

_NUMBERED = re.compile(r"Data of run (?P<number>\d+)(?: of (?P<file>[^(]+?))?(?: \((?P<remarks>.*)\))?$")
_OWN_VALUES = re.compile(r"with other values than the file's: ([^;]+)")
_OTHER_RUN = re.compile(r"^other newest run of this circuit: run (\d+)$", re.MULTILINE)


def compare(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Two runs of a circuit, figure by figure: the newest two, or those that are named by their numbers."""
    wanted = all_wanted(
        circuit, ask if ask.figures else Ask(intent="figure", figures=default_figures(circuit))
    )
    if ask.query.startswith("of "):
        return (yield from _of_one_run(circuit, ask.query.removeprefix("of "), wanted, speech))
    runs = yield from _runs_meant(circuit, ask.query, speech)
    if isinstance(runs, str):
        return runs
    (found, other), (newest, head) = runs
    own: list[Wanted] = wanted if isinstance(wanted, list) else []
    wave = _of_wave(circuit) if any(each.key == "vout" for each in own) else []
    before, after = values_of(found), values_of(newest)
    expressions = [text for each in (*own, *wave) for text in each.expressions]
    if expressions:
        before |= values_of((yield inspection(f"run {other['number']}", expressions)))
        after |= values_of((yield inspection(f"run {head['number']}", expressions)))
    is_wave = _is_wave(wave, before, after, own)
    passed_over = wave if not is_wave else [] if ask.figures else own
    left = {text for each in passed_over for text in each.expressions}
    for each in own:  # the first that has a value counts
        there = [text for text in each.expressions if text in before and text in after]
        left |= set(there[1:])
    means = {text for each in own if is_wave and each.key == "vout" for text in each.expressions}
    lines = []
    for name in (each for each in after if each in before and each not in left):
        (old, unit), (new, _) = before[name], after[name]
        label = next((speech.say(each.name) for each in (*wave, *own) if name in each.expressions), "")
        told = f"{label} ({name})" if label else name
        lines.append(moved(told, old, new, unit, is_about_zero=name in means))
    first, second = f"{other['number']}", f"{head['number']}"
    said = [
        speech.say(msg("{file}, run {first} → run {second}:", file=circuit.file, first=first, second=second)),
        bullets(lines) if lines else speech.say(msg("They have no figure in common.")),
    ]
    if not ask.figures:
        changes = yield from _changes_between(circuit, first, second, speech)
        said.append(changes)
    for name, match in ((first, other), (second, head)):
        if values := _OWN_VALUES.search(match["remarks"] or ""):
            own_values = msg("Run {number} had values of its own: {values}.", number=name, values=values[1])
            said.append(speech.say(own_values))
    return "\n".join(filter(None, said))


def _changes_between(
    circuit: Circuit, first: str, second: str, speech: Speech
) -> Generator[Call, Outcome, str]:
    """Which lines of the circuit the two runs had differently; "" where one was not kept."""
    texts = []
    for number in (first, second):
        shown = yield Call(tool="read_file", arguments={"path": f"run {number}"})
        texts.append(None if shown.error_type else whole_text(shown))
    before, after = texts
    if before is None or after is None:
        return ""
    if before == after:
        return speech.say(msg("Both had the same text of {file}.", file=circuit.file))
    head = speech.say(msg("What changed in the circuit:"))
    return head + "\n" + bullets(_line_changes(before.split("\n"), after.split("\n"), speech))


def _of_wave(circuit: Circuit) -> list[Wanted]:
    """The size of the output's wave, first from its lowest to its highest value; none without a transient."""
    signal, settled = f"v({circuit.output.lower()})", tail(circuit)
    if not circuit.output or not settled:
        return []
    rows = (
        (FIGURES["swing"].name, "pp"),
        (FIGURES["peak_out"].name, "max"),
        (msg("lowest output voltage"), "min"),
    )
    return [
        Wanted(name=name, expressions=(f"{function}({signal},{settled})",), unit="V", kind="tran")
        for name, function in rows
    ]


def _is_wave(
    wave: Sequence[Wanted], before: Mapping[str, _Value], after: Mapping[str, _Value], own: Sequence[Wanted]
) -> bool:
    """Whether the output is a wave in one of the runs, of which the mean says nothing."""
    means = [text for each in own if each.key == "vout" for text in each.expressions]
    return any(
        values[text][0] > abs(values[mean][0])
        for each in wave[:1]
        for text in each.expressions
        for mean in means
        for values in (before, after)
        if text in values and mean in values
    )


_Value = tuple[float, str]
_Run = tuple[Outcome, re.Match[str]]
"""What inspect_data says of a run, and its heading."""


def _runs_meant(
    circuit: Circuit, query: str, speech: Speech
) -> Generator[Call, Outcome, tuple[_Run, _Run] | str]:
    """The two runs that are compared, the older one first; or why there are not two."""
    numbers = re.findall(r"\d+", query)
    newest = yield from _run_there(circuit, f"run {numbers[-1]}" if len(numbers) > 1 else "", speech)
    if isinstance(newest, str):
        return newest
    named = _OTHER_RUN.search(newest[0].text)
    number = numbers[0] if numbers else "1" if named is not None and query == "first" else ""
    number = number or (named[1] if named is not None else newest[1]["number"])
    none = speech.say(msg("{file} has no two runs to compare.", file=circuit.file))
    if number == newest[1]["number"]:
        return none
    other = yield from _run_there(circuit, f"run {number}", speech)
    if isinstance(other, str):
        return other if numbers else none
    return other, newest


def _run_there(circuit: Circuit, name: str, speech: Speech) -> Generator[Call, Outcome, _Run | str]:
    """A run of the circuit by its name, "" its newest; or why there is none."""
    outcome = yield inspection(name or circuit.file, [])
    if outcome.error_type:
        return failed(outcome, speech)
    head = _NUMBERED.match(outcome.lines[0])
    if head is None:
        return speech.say(msg("{file} has no two runs to compare.", file=circuit.file))
    other = (head["file"] or "").strip()
    if name and other and other != circuit.file:
        number = head["number"]
        told = msg(
            "Run {number} is one of {other}, not of {file}.", number=number, other=other, file=circuit.file
        )
        return speech.say(told)
    return outcome, head


def _of_one_run(circuit: Circuit, number: str, wanted: Sequence[Wanted] | Message, speech: Speech) -> Plan:
    """Figures of a run that is there."""
    if isinstance(wanted, Message):
        return speech.say(wanted)
    there = yield from _run_there(circuit, f"run {number}", speech)
    if isinstance(there, str):
        return there
    outcome = yield inspection(f"run {number}", [text for each in wanted for text in each.expressions])
    values = values_of(outcome)
    lines = [
        f"{speech.say(each.name)} ({text}): {each.told(*values[text])}"
        for each in wanted
        for text in [next((text for text in each.expressions if text in values), "")]
        if text
    ]
    if outcome.error_type or not lines:
        return failed(outcome, speech)
    head = speech.say(msg("{file}, run {number}:", file=circuit.file, number=number))
    return f"{head}\n{bullets(lines)}"


def restore(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """The circuit as a run had it, written over what it is now in one change that can be undone."""
    [number] = ask.numbered
    there = yield from _run_there(circuit, f"run {number}", speech)
    if isinstance(there, str):
        return there
    _, head = there
    former = yield Call(tool="read_file", arguments={"path": f"run {number}"})
    if former.error_type:
        return failed(former, speech)
    present = yield Call(tool="read_file", arguments={"path": circuit.file})
    before, after = whole_text(present), whole_text(former)
    if before is None or after is None:
        return speech.say(msg("{file} is too long for me to answer questions about it.", file=circuit.file))
    said = []
    if before == after:
        said.append(speech.say(msg("{file} is as run {number} had it.", file=circuit.file, number=number)))
    else:
        search, replace = passage(before.split("\n"), after.split("\n"))
        outcome = yield Call(
            tool="patch_file", arguments={"path": circuit.file, "search": search, "replace": replace}
        )
        if outcome.error_type:
            return failed(outcome, speech)
        told = msg(
            "{file} is again as run {number} had it. This can be undone.", file=circuit.file, number=number
        )
        said += [speech.say(told), bullets(_line_changes(before.split("\n"), after.split("\n"), speech))]
    if values := _OWN_VALUES.search(head["remarks"] or ""):
        own = msg("Run {number} had values of its own: {values}.", number=number, values=values[1])
        said.append(speech.say(own))
    return "\n".join(said)


_MOST_TOLD = 12
"""Changed lines in one answer."""


def _line_changes(before: Sequence[str], after: Sequence[str], speech: Speech) -> list[str]:
    """Which lines became which."""
    told: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        old, new = ("; ".join(lines) for lines in (before[i:j], after[k:m]))
        told.append(speech.say(msg("“{before}” is now “{after}”.", before=old, after=new)))
    return told if len(told) <= _MOST_TOLD else [*told[:_MOST_TOLD], "..."]
