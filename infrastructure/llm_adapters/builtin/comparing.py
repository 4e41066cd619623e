"""What figures of a circuit become with other values, tried for a run or written, beside what they are."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

from domain.circuit.numbers import format_number
from infrastructure.llm_adapters.builtin.circuit import (
    Circuit,
    circuit_of,
    number_of,
)
from infrastructure.llm_adapters.builtin.conditions import conditions_of, resolved
from infrastructure.llm_adapters.builtin.figures import shown
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    figures_or_usual,
    measured,
    no_such_part,
    run,
    values_of,
)
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Plan,
    Speech,
    bullets,
    change_values,
    failed,
    simulation_failed,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from shared.message import Message, msg


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


_LEAST_PERCENT = 2.0
"""From here on a duty cycle is told in percent."""


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


def before_and_after(file: str, values: Sequence[tuple[str, str]], ask: Ask, speech: Speech) -> Plan:
    """New values for parts of a file, and what figures were and are."""
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return circuit
    wanted = figures_or_usual(circuit, replace(ask, file=file))
    before: list[tuple[Wanted, str, float, str]] | str = ""
    if not isinstance(wanted, Message):
        before = yield from measured(circuit, wanted, (), speech)
    plain = yield from conditions_of(circuit, values, speech)
    if isinstance(plain, str):
        return plain
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
        if name == "temp" and told:
            values.append((name, told))
            continue
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


def moved(name: str, old: float, new: float, unit: str, *, is_about_zero: bool = False) -> str:
    """A figure before and after, with the share it moved by but where it lies about nothing."""
    if old == new:
        return f"{name}: {shown(new, unit)} (=)"
    share = 100 * (new - old) / abs(old) if old else math.inf
    is_of_size = (
        not is_about_zero and unit not in ("dB", "deg") and old * new > 0 and abs(share) < _MOST_PERCENT
    )
    change = f"{share:+.3g}%" if is_of_size else f"{'+' if new > old else ''}{shown(new - old, unit)}"
    return f"{name}: {shown(old, unit)} → {shown(new, unit)}, {change}"


_MOST_PERCENT = 999
"""Beyond it what a figure was is as good as nothing: the difference is told, not its share."""
