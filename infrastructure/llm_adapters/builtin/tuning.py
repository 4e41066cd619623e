"""The built-in model on what a figure hangs on, and on values that make it what it has to be."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from domain.circuit.elements import Element
from domain.circuit.numbers import format_number
from domain.circuit.preferred_values import SeriesName, nearest
from infrastructure.llm_adapters.builtin.circuit import Circuit, number_of, value_of
from infrastructure.llm_adapters.builtin.figures import FIGURES, number, shown
from infrastructure.llm_adapters.builtin.looking import role_words
from infrastructure.llm_adapters.builtin.measuring import (
    Wanted,
    analysis_for,
    default_figures,
    measured,
    no_such_part,
    part_of,
    told_line,
    wanted_of,
)
from infrastructure.llm_adapters.builtin.parts import noise_shares
from infrastructure.llm_adapters.builtin.plans import (
    Call,
    Outcome,
    Plan,
    Speech,
    change_values,
    failed,
    not_settled,
    watched,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.words import DOWN_TO, UP_TO
from shared.message import Message, msg

_SENSITIVITY = re.compile(r"parameter (?P<name>\S+), slope (?P<slope>\S+), normalized (?P<normalised>\S+)")
_NOMINAL = re.compile(r"\[[^\]]*\]: nominal (?P<value>[-+\d.e]+)")
_BEST = re.compile(r"best values: (?P<values>.+)")
_TELLING = 0.03
"""A part that moves a figure less (in % per %) is not told of."""
_MOST_TOLD = 4
_MOST_PARTS = 60
_BUDGET = 120
_TIME_S = 120
_MISSED = re.compile(r"MISSED (?:wish )?(.+)")
_SHORT = 5
"""Characters of a value that is written as it is."""
_MOST_MOVED = 4
"""Of parts of a filter that are moved together: each may be a change of its own."""
_JUNCTIONS = {"q": ("cjc", "cje", "tf", "bf"), "m": ("vto", "kp")}
_PARASITIC = frozenset({"winding", "series_resistance"})
_BIAS = frozenset({"bias", "reference"})
_FILTER = re.compile(r"_pass$|biquad|notch|state_variable")
_OF_FILTER = frozenset({"cutoff", "bandwidth", "lower_cutoff", "upper_cutoff", "frequency"})


# --- what a figure hangs on ---------------------------------------------------------------------------


def adjustable(circuit: Circuit) -> list[str]:
    """Parts with a plain value: R, C, L, and the widths of MOS transistors."""
    names = [each.name for each in circuit.top if each.letter in "rcl" and value_of(each)]
    names += [f"{each.name}.w" for each in circuit.top if each.letter == "m" and _width(each)]
    return names[:_MOST_PARTS]


def _width(part: Element) -> float | None:
    return number_of(part.params["w"].text) if "w" in part.params else None


def _all_names(circuit: Circuit) -> list[str]:
    """Those, the supplies and currents, and what of the transistors' models may matter."""
    names = adjustable(circuit)
    signal = circuit.source
    names += [
        each.name for each in circuit.top if each.letter in "vi" and each is not signal and value_of(each)
    ]
    models = {
        (each.letter, each.model.text)
        for each in circuit.top
        if each.letter in "q" and each.model is not None
    }
    return names + [f"{model}.{key}" for letter, model in sorted(models) for key in _JUNCTIONS[letter]]


class Sensed(dict[str, float]):
    """Change in % per % by part, the strongest first."""

    nominal: float = math.nan


def _sensitivities(
    circuit: Circuit, wanted: Wanted, names: Sequence[str], speech: Speech
) -> Generator[Call, Outcome, Sensed | str]:
    """How a figure follows the parts; or what went wrong, in words."""
    outcome = Outcome("")
    for expression in dict.fromkeys(filter(None, (wanted.sensed, *wanted.expressions))):
        for some in (list(names), adjustable(circuit)):
            arguments = {
                "kind": "sensitivity",
                "path": circuit.file,
                "parameters": [{"name": name} for name in some],
                "measure": {wanted.key: expression},
                **own_analysis(circuit, wanted),
            }
            outcome = yield Call(tool="run_study", arguments=arguments)
            if not outcome.error_type or outcome.error_type == "simulation_failed":
                break  # else a quantity that a model does not have
        found = Sensed(
            (entry["name"], float(entry["normalised"]))
            for entry in _SENSITIVITY.finditer(outcome.text)
            if entry["normalised"] != "none"
        )
        nominal = _NOMINAL.search(outcome.text)
        if found and nominal is not None:
            found.nominal = float(nominal["value"])
            return found
    return (
        failed(outcome, speech)
        if outcome.error_type
        else speech.say(
            msg(
                "The {name} of {file} has no value: {reason}",
                name=wanted.name,
                file=circuit.file,
                reason=_first_error(outcome),
            )
        )
    )


def _first_error(outcome: Outcome) -> str:
    return next((line for line in outcome.lines if line.startswith(("error", "warning"))), outcome.lines[0])


def own_analysis(circuit: Circuit, wanted: Wanted) -> dict[str, str]:
    """Only the analysis the figure is of."""
    card = wanted.sweep or analysis_for(circuit, wanted.kind)
    if card is not None:
        return {"analysis": card}
    of_kind = [each for each in circuit.analyses if each.lower().split()[0] == wanted.kind]
    return {"analysis_type": str(wanted.kind)} if len(of_kind) == 1 else {}


_MOST_FIGURES = 2
"""Of one question: each takes runs of its own."""


def limits(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Which parts figures hang on, by how much, and which way to turn them."""
    said: list[str] = []
    for key in (ask.figures or default_figures(circuit))[:_MOST_FIGURES]:
        own = replace(ask, figures=(key,))
        said.append((yield from _limits_of_one(circuit, own, speech)))
    return "\n".join(said)


def _limits_of_one(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    if FIGURES[ask.figures[0]].kind == "noise" and not ask.way and ask.value is None:
        return (yield from noise_shares(circuit, ask, speech))
    wanted = wanted_of(circuit, ask, ask.figures[0])
    if isinstance(wanted, Message):
        return speech.say(wanted)
    return (yield from moved_by(circuit, ask, wanted, speech))


def moved_by(circuit: Circuit, ask: Ask, wanted: Wanted, speech: Speech) -> Plan:
    """Which parts one figure hangs on, by how much, and which way to turn them."""
    seen: list[Outcome] = []
    now = yield from watched(_one(circuit, wanted, speech), seen)
    if isinstance(now, str):
        return now
    wanted = now.wanted
    found = yield from _sensitivities(circuit, wanted, _all_names(circuit), speech)
    if isinstance(found, str):
        return found
    strong = [
        (name, each)
        for name, each in sorted(found.items(), key=lambda item: -abs(item[1]))
        if abs(each) >= _TELLING and _is_asked(circuit, ask, name)
    ]
    value = _nominal_told(wanted, found.nominal)
    if not strong:
        return speech.say(
            msg(
                "The {name} of {file} is {value}; no part moves it by more than {least} % for 1 %.",
                name=wanted.name,
                file=circuit.file,
                value=value,
                least=_TELLING,
            )
        )
    told = strong[:_MOST_TOLD]
    parts = speech.listed(f"{_with_role(circuit, name, speech)} {each:+.2g}%" for name, each in told)
    is_low = wanted.key not in FIGURES or FIGURES[wanted.key].is_better_low
    is_up = ask.way == "raise" or (ask.way == "" and not is_low)
    if ask.way and ask.figures and re.match(r"lower|raise", ask.way):
        is_up = ask.way == "raise"
    free = [
        (name, each)
        for name, each in told
        if name[0].lower() in "rclm" and ("." not in name or name.endswith(".w"))
    ] or told
    larger = speech.listed(name for name, each in free if (each > 0) is is_up)
    smaller = speech.listed(name for name, each in free if (each > 0) is not is_up)
    head = msg(
        "The {name} of {file} is {value}. When a part grows by 1 % it changes by: {parts}.",
        name=wanted.name,
        file=circuit.file,
        value=value,
        parts=parts,
    )
    ways = [msg("make {names} larger", names=larger)] * bool(larger)
    ways += [msg("make {names} smaller", names=smaller)] * bool(smaller)
    aim = msg("To raise it") if is_up else msg("To lower it")
    way = (
        msg("{aim}: {first}, or {second}.", aim=aim, first=ways[0], second=ways[1])
        if len(ways) > 1
        else msg("{aim}: {first}.", aim=aim, first=ways[0])
    )
    said = [speech.say(head), speech.say(way), *not_settled(seen, speech)]
    if ask.value is not None and ask.bound is not None and (ask.unit in (wanted.unit, "none")):
        is_met = found.nominal <= ask.value if ask.bound == "at_most" else found.nominal >= ask.value
        if wanted.unit != "dB" or ask.unit != "dB":
            state = (
                msg("It is already {aim}.", aim=aim_told(ask, wanted))
                if is_met
                else msg("It is to be {aim}.", aim=aim_told(ask, wanted))
            )
            said.insert(0, speech.say(state))
    if models := [name for name, _ in told if "." in name and not name.endswith(".w")]:
        said.append(
            speech.say(
                msg(
                    "{names}: a property of the transistor itself; choose another type to change it.",
                    names=speech.listed(models),
                )
            )
        )
    return speech.sentences(said)


def _is_asked(circuit: Circuit, ask: Ask, name: str) -> bool:
    """Whether a part is among those that are asked for: of one kind, or two and more by name."""
    named = [each.lower() for each in ask.names if circuit.element(each) is not None]
    if len(named) > 1:
        return name.lower() in named
    return not ask.query or ("." not in name and name[0].lower() == ask.query)


def _nominal_told(wanted: Wanted, value: float) -> str:
    if wanted.sensed and wanted.unit == "dB" and value > 0:
        return f"{20 * math.log10(value):.4g} dB ({value:.4g})"
    return wanted.told(value)


def _with_role(circuit: Circuit, name: str, speech: Speech) -> str:
    told = role_words(circuit, name.partition(".")[0])
    return name if told is None else speech.say(msg("{name} ({role})", name=name, role=told))


# --- a figure made what it has to be ---


def tune(circuit: Circuit, ask: Ask, speech: Speech) -> Plan:
    """Values with which a figure is what was asked for, written into the file and proved by a run of it."""
    wanted = wanted_of(circuit, ask, ask.figures[0])
    if isinstance(wanted, Message):
        return speech.say(wanted)
    named = [name for name in ask.names if circuit.element(name) is not None and name not in ask.kept]
    if ask.names and not named and not set(ask.names) <= set(ask.kept):
        return speech.say(no_such_part(circuit, ask.names))
    if ask.share is not None:
        supply = circuit.supply_v
        if supply is None:
            return speech.say(msg("I found no supply in {file}.", file=circuit.file))
        ask = replace(ask, value=ask.share * supply, unit="V")
    if (
        ask.writes
        and len(named) == 1
        and FIGURES[wanted.key].of
        and circuit.element(named[0] if named else "") is part_of(circuit, ask.names, FIGURES[wanted.key].of)
    ):
        named = []  # it is whose figure is meant
    return (yield from _tuned(circuit, ask, wanted, named, speech))


def _tuned(  # noqa: PLR0911, PLR0912 - every return is an answer
    circuit: Circuit, ask: Ask, wanted: Wanted, named: Sequence[str], speech: Speech
) -> Plan:
    before = yield from _one(circuit, wanted, speech)
    if isinstance(before, str):
        return before
    wanted = before.wanted
    ask = _with_change(ask, before)
    low, high = aim_of(ask, wanted)
    kept = yield from _kept_figures(circuit, ask, speech)
    if isinstance(kept, str):
        return kept
    if low <= before.value <= high and all(each.is_met for each in kept):
        already = msg(
            "The {name} of {file} is {value} already ({expression}); nothing was changed.",
            name=wanted.name,
            file=circuit.file,
            value=_as_asked(ask, before),
            expression=before.expression,
        )
        return speech.say(already)
    if (beyond := _beyond(circuit, ask, before, speech)) is not None:
        return speech.say(beyond)
    whole = {} if named or ask.besides or not ask.writes else parts_of_filter(circuit, ask, wanted)
    if not whole and not named and ask.writes and wanted.key in _OF_FILTER and not ask.besides:
        whole = yield from scaled_together(circuit, ask, wanted, speech)
    seen: list[Outcome] = []
    if whole:
        done, after = yield from watched(_moved(circuit, ask, whole, before, speech), seen)
        found = yield from measured(circuit, [each.now.wanted for each in kept], (), speech)
        others = [found] if isinstance(found, str) else _kept_told(kept, found, speech)
    else:
        if (
            not named
            and wanted.key in _BY_DUTY
            and circuit.drive_pulse is not None
            and not (ask.kept or ask.only or ask.besides)
        ):
            return (yield from _by_duty(circuit, ask, before, speech))
        order = [] if named else (yield from candidates(circuit, ask, wanted, speech))
        if isinstance(order, str):
            return order
        if not (named or order):
            return speech.say(_no_part(circuit, wanted))
        free = [order[:3], order[:5]] if ask.besides else [order[:1], order[:3]]
        tries = [named] if named else free[: len(order)]
        values = yield from _searched(circuit, ask, before, tries, speech, kept=kept)
        if isinstance(values, str):
            return values
        if not ask.writes:
            return (yield from _would_do(circuit, ask, before, values, speech))
        done, is_done = yield from change_values(circuit.file, values, speech)
        if not is_done:
            return "\n".join(done)
        all_of = [wanted, *(each.now.wanted for each in kept)]
        found = yield from watched(measured(circuit, all_of, (), speech), seen)
        if isinstance(found, str) or math.isnan(found[0][2]):
            problem = found if isinstance(found, str) else speech.say(told_line(circuit, *found[0]))
            return "\n".join([*done, problem])
        after, others = _Measured(*found[0]), _kept_told(kept, found[1:], speech)
    if isinstance(after, str):
        return "\n".join(filter(None, [*done, after]))
    told = _outcome_told(ask, before, after)
    return "\n".join([*done, speech.say(told), *others, *_goals_missed(circuit, seen, speech)])


def _beyond(circuit: Circuit, ask: Ask, before: _Measured, speech: Speech) -> Message | None:
    """That a figure which is to be lowered to a value, or raised to it, is beyond it already; else None."""
    is_lowered = DOWN_TO.search(speech.said) is not None
    if ask.bound is not None or is_lowered is (UP_TO.search(speech.said) is not None):
        return None
    low, high = aim_of(ask, before.wanted)
    told = {"name": before.wanted.name, "file": circuit.file, "value": _as_asked(ask, before)}
    aim = aim_told(ask, before.wanted)
    if is_lowered and before.value < low:
        return msg(
            "The {name} of {file} is {value}, lower than {aim} already; nothing was changed.", **told, aim=aim
        )
    if not is_lowered and before.value > high:
        return msg(
            "The {name} of {file} is {value}, higher than {aim} already; nothing was changed.",
            **told,
            aim=aim,
        )
    return None


def _with_change(ask: Ask, now: _Measured) -> Ask:
    """The aim as a value, where it is told as a change of what is there."""
    if not ask.is_change or ask.value is None:
        return ask
    sign = -1 if ask.way == "lower" else 1
    if ask.unit == "%":
        value = now.value * (1 + sign * ask.value)
    elif ask.unit == "x":
        factor = ask.value**sign
        value = now.value + 20 * math.log10(factor) if now.wanted.unit == "dB" else now.value * factor
    else:
        value = now.value + sign * ask.value
    return replace(ask, value=value, unit=now.wanted.unit or "none", is_change=False)


def _outcome_told(ask: Ask, before: _Measured, after: _Measured) -> Message:
    """A figure before and after, and whether it is where it was to be."""
    low, high = aim_of(ask, before.wanted)
    values = {
        "name": before.wanted.name,
        "before": _as_asked(ask, before),
        "after": _as_asked(ask, after),
        "aim": aim_told(ask, before.wanted),
        "expression": after.expression,
    }
    if low <= after.value <= high:
        return msg(
            "New run: {name} {before} → {after} (required: {aim}; {expression}). This can be undone.",
            **values,
        )
    return msg(
        "New run: {name} {before} → {after}, which misses {aim} ({expression}). This can be undone.", **values
    )


def _kept_figures(circuit: Circuit, ask: Ask, speech: Speech) -> Generator[Call, Outcome, list[_Kept] | str]:
    """The figures that are to stay as they are or within a bound, as they are now."""
    own = [Ask(intent="figure", figures=(each[7:],)) for each in ask.kept if each.startswith("figure:")]
    found: list[_Kept] = []
    for each in (*own, *ask.besides):
        wanted = wanted_of(circuit, each, each.figures[0])
        if isinstance(wanted, Message):
            return speech.say(wanted)
        one = yield from _one(circuit, wanted, speech)
        if isinstance(one, str):
            return one
        found.append(_Kept(one, _near(one) if each.value is None else aim_of(each, wanted)))
    return found


def _kept_told(
    kept: Sequence[_Kept], now: Sequence[tuple[Wanted, str, float, str]], speech: Speech
) -> list[str]:
    """What was to stay as it was, before and after."""
    told = []
    for one, (wanted, reason, value, unit) in zip((each.now for each in kept), now, strict=True):
        after = reason if math.isnan(value) else wanted.told(value, unit)
        told.append(
            speech.say(msg("{name}: {before} → {after}", name=wanted.name, before=one.told, after=after))
        )
    return told


def _would_do(
    circuit: Circuit, ask: Ask, before: _Measured, values: Sequence[tuple[str, str]], speech: Speech
) -> Plan:
    """The values that would do, proved by a run with them; the file stays as it is."""
    found = yield from measured(circuit, [before.wanted], values, speech)
    if isinstance(found, str):
        return found
    told = msg(
        "With {values} the {name} is {after} (now {before}; required: {aim}). {file} was not changed.",
        values=", ".join(f"{name} = {value}" for name, value in values),
        name=before.wanted.name,
        after=_as_asked(ask, _Measured(*found[0])),
        before=_as_asked(ask, before),
        aim=aim_told(ask, before.wanted),
        file=circuit.file,
    )
    return speech.say(told)


def scaled_together(
    circuit: Circuit, ask: Ask, wanted: Wanted, speech: Speech
) -> Generator[Call, Outcome, dict[str, float]]:
    """All resistors, else all capacitors, where the frequency goes with one over all of them.

    All of them in one proportion move every frequency of such a circuit alike, so that Q and gain stay.
    """
    if any(each.letter in "qmj" for each in circuit.top):
        return {}
    found = yield from _sensitivities(circuit, wanted, adjustable(circuit), speech)
    if isinstance(found, str):
        return {}
    for letter in _letters_for(ask):
        own = [
            name
            for name in found
            if name[0].lower() == letter and name not in circuit.loads and abs(found[name]) >= _TELLING
        ]
        if 1 < len(own) <= _MOST_MOVED and abs(sum(found[name] for name in own) + 1) < _ALIKE:
            return {
                name: value_of(part) or 0.0 for name in own if (part := circuit.element(name)) is not None
            }
    return {}


_ALIKE = 0.05
"""How far from -1 the sum of a frequency's sensitivities may be, where it goes with one over the parts."""


def _letters_for(ask: Ask) -> list[str]:
    """Resistors before capacitors, of those that may change."""
    return [letter for letter in "rc" if letter not in ask.kept and (not ask.only or letter in ask.only)]


_BY_DUTY = frozenset({"vout"})
_MOST_DUTY = 0.98


def _by_duty(circuit: Circuit, ask: Ask, before: _Measured, speech: Speech) -> Plan:
    """A converter's output by the on-time of its drive: in proportion, then once more by what that gave."""
    pulse = circuit.drive_pulse
    assert pulse is not None
    source, words = pulse
    low, high = aim_of(ask, before.wanted)
    goal = (low + high) / 2 if math.isfinite(low + high) else high if math.isfinite(high) else low
    on_time, period = number_of(words[5]), number_of(words[6])
    if not on_time or not period or not before.value * goal > 0:
        return speech.say(_no_part(circuit, before.wanted))
    now, text, said = before, source.statement.text, list[str]()
    for _ in range(_MOST_TURNS_OF_DUTY):
        on_time *= goal / now.value
        if not 0 < on_time < _MOST_DUTY * period:
            wanted, most = f"{100 * on_time / period:.3g}%", f"{100 * _MOST_DUTY:g}%"
            beyond = msg(
                "The duty cycle of {name} would have to be {value}; at most {most} is possible.",
                name=source.name,
                value=wanted,
                most=most,
            )
            said.append(speech.say(beyond))
            return "\n".join(said)
        card = _with_on_time(text, words, on_time)
        if card == text:
            break
        outcome = yield Call(
            tool="patch_file", arguments={"path": circuit.file, "search": text, "replace": card}
        )
        if outcome.error_type:
            return "\n".join([*said, failed(outcome, speech)])
        said.append(
            speech.say(
                msg("{file}: “{before}” is now “{after}”.", file=circuit.file, before=text, after=card)
            )
        )
        text, words = card, [*words[:5], format_number(on_time, 4), *words[6:]]
        after = yield from _one(circuit, before.wanted, speech)
        if isinstance(after, str):
            return "\n".join([*said, after])
        now = after
        if low <= now.value <= high:
            break
    said.append(speech.say(_outcome_told(ask, before, now)))
    return "\n".join(said)


_MOST_TURNS_OF_DUTY = 3


def _with_on_time(text: str, words: Sequence[str], on_time: float) -> str:
    """The card of a pulse source with another on-time; `words` are those of its PULSE."""
    return text.replace(" ".join(words), " ".join([*words[:5], format_number(on_time, 4), *words[6:]]))


def on_time_of(pulse: tuple[Element, list[str]], factor: float) -> str | None:
    """So many times the on-time of a converter's drive; None where that cannot be."""
    on_time, period = (number_of(word) for word in pulse[1][5:7])
    if not on_time or not period or not 0 < on_time * factor < _MOST_DUTY * period:
        return None
    return format_number(on_time * factor, 4)


def _no_part(circuit: Circuit, wanted: Wanted) -> Message:
    return msg(
        "No part of {file} moves the {name} noticeably; name one.", file=circuit.file, name=wanted.name
    )


def _goals_missed(circuit: Circuit, seen: Sequence[Outcome], speech: Speech) -> Iterator[str]:
    """That goals which were asked before are missed with the new values, and stay as they are."""
    line = next((line for each in reversed(seen) for line in each.lines if line.startswith("Goals (")), "")
    missed = [found[1] for each in line.split("; ") if (found := _MISSED.search(each))]
    if missed:
        yield speech.say(
            msg(
                "An older goal of {file} is missed now: {goals}. The goal was not changed; if it should "
                "follow, say for example “{example}”.",
                file=circuit.file,
                goals=speech.listed(missed),
                example=speech.say(msg("set a goal: gain > 30 dB")),
            )
        )


def parts_of_filter(circuit: Circuit, ask: Ask, wanted: Wanted) -> dict[str, float]:
    """The resistors, else the capacitors, of the filters whose frequency it is; {} where one part sets it.

    All of them in one proportion move the frequency and leave Q, gain and the kind of response as they are.
    """
    names = [name for stage in circuit.stages if _FILTER.search(stage.kind) for name in stage.members]
    parts = [circuit.element(name) for name in dict.fromkeys(names)] if wanted.key in _OF_FILTER else []
    for letter in _letters_for(ask):
        own = {
            part.name: value_of(part) or 0.0 for part in parts if part is not None and part.letter == letter
        }
        if 1 < len(own) <= _MOST_MOVED and all(own.values()):
            return own
    return {}


def _moved(
    circuit: Circuit,
    ask: Ask,
    parts: Mapping[str, float],
    before: _Measured,
    speech: Speech,
) -> Generator[Call, Outcome, tuple[list[str], _Measured | str]]:
    """A filter moved as a whole: with values of E96, and where these miss with exact ones."""
    low, high = aim_of(ask, before.wanted)
    goal = math.sqrt(low * high) if low > 0 and high < math.inf else 1.02 * low if low > 0 else 0.98 * high
    done: list[str] = []
    factor, now = 1.0, before
    for is_series in (True,) if ask.series else (True, False):
        factor *= now.value / goal
        values = [
            (
                name,
                format_number(
                    nearest(value * factor, cast(SeriesName, ask.series or "E96"))
                    if is_series
                    else value * factor,
                    4,
                ),
            )
            for name, value in parts.items()
        ]
        told, is_done = yield from change_values(circuit.file, values, speech, is_one=True)
        after = (yield from _one(circuit, before.wanted, speech)) if is_done else ""
        done += told
        if isinstance(after, str) or low <= after.value <= high:
            return done, after
        now = after
    return done, now


@dataclass(frozen=True, slots=True)
class _Measured:
    """A figure as it is."""

    wanted: Wanted
    expression: str
    value: float
    unit: str

    @property
    def told(self) -> str:
        return self.wanted.told(self.value, self.unit)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A figure that has to be within bounds while another one is brought to its aim."""

    now: _Measured
    aim: tuple[float, float]

    @property
    def is_met(self) -> bool:
        return self.aim[0] <= self.now.value <= self.aim[1]


def _as_asked(ask: Ask, one: _Measured) -> str:
    """A figure, as a factor too when it was asked for as one."""
    if ask.unit == "x" and one.wanted.unit == "dB":
        return f"{10 ** (one.value / 20):.4g} ({one.told})"
    return one.told


def _one(circuit: Circuit, wanted: Wanted, speech: Speech) -> Generator[Call, Outcome, _Measured | str]:
    """A figure of the circuit as its file is; or why there is none, in words."""
    found = yield from measured(circuit, [wanted], (), speech)
    if isinstance(found, str):
        return found
    one = _Measured(*found[0])
    return speech.say(told_line(circuit, *found[0])) if math.isnan(one.value) else one


def _searched(
    circuit: Circuit,
    ask: Ask,
    now: _Measured,
    tries: Sequence[Sequence[str]],
    speech: Speech,
    *,
    kept: Sequence[_Kept] = (),
) -> Generator[Call, Outcome, list[tuple[str, str]] | str]:
    """The values that reach the aim; or how far the parts go, in words."""
    aim, best, reached = aim_of(ask, now.wanted), "", ""
    for names, is_series in _with_series(tries):
        if ask.series and not is_series and any(name[0].lower() == "r" for name in names):
            continue
        search = _search(circuit, now, names, aim, is_series=is_series, kept=kept, series=ask.series)
        outcome = yield Call(tool="run_study", arguments=search)
        if outcome.error_type:
            return failed(outcome, speech)
        found = _BEST.search(outcome.text)
        best = found["values"] if found is not None else ""
        if best and "MISSED" not in outcome.text:
            return values_found(outcome)
        missed = re.search(r"^MISSED.*? = (.+?) \(goal", outcome.text, re.MULTILINE)
        reached = missed[1] if missed is not None else reached
    cannot = msg(
        "I could not reach {aim}: with {names} the {name} comes to {value} at best ({values}). "
        "{file} was not changed.",
        aim=aim_told(ask, now.wanted),
        names=", ".join(tries[-1]),
        name=now.wanted.name,
        value=reached or "-",
        values=best,
        file=circuit.file,
    )
    return speech.say(cannot)


def _with_series(tries: Sequence[Sequence[str]]) -> list[tuple[Sequence[str], bool]]:
    """Each try with resistors of a series first, and where these are too coarse with exact ones."""
    found: list[tuple[Sequence[str], bool]] = []
    for names in tries:
        has_resistors = any(name[0].lower() == "r" for name in names)
        found += [(names, True), (names, False)] if has_resistors else [(names, False)]
    return found


def _short(text: str) -> str:
    """A value with four digits: more cannot be bought, and the run that proves it has these."""
    value = number_of(text)
    return text if value is None or len(text) <= _SHORT else format_number(value, 4)


def aim_of(ask: Ask, wanted: Wanted) -> tuple[float, float]:
    """From where to where the figure has to be."""
    assert ask.value is not None
    value, upper = ask.value, ask.upper
    if wanted.unit == "dB" and ask.unit == "x":
        value = 20 * math.log10(abs(value)) if value else -math.inf
        upper = 20 * math.log10(abs(upper)) if upper else None
    if upper is not None:
        return value, upper
    if ask.bound == "at_most":
        return -math.inf, value
    if ask.bound == "at_least":
        return value, math.inf
    room = 0.2 if wanted.unit == "dB" else 1.0 if wanted.unit == "deg" else 0.01 * abs(value)
    return value - room, value + room


def aim_told(ask: Ask, wanted: Wanted) -> str:
    assert ask.value is not None
    unit = "" if ask.unit == "x" else wanted.unit
    value = f"{100 * ask.value:.3g}%" if wanted.is_percent else shown(ask.value, unit)
    if ask.upper is not None:
        return f"{value} … {shown(ask.upper, unit)}"
    return {"at_most": f"≤ {value}", "at_least": f"≥ {value}"}.get(ask.bound or "", value)


def candidates(
    circuit: Circuit, ask: Ask, wanted: Wanted, speech: Speech
) -> Generator[Call, Outcome, list[str] | str]:
    """Which parts to turn, those that move the figure most and are there for it first; or what failed."""
    found = yield from _sensitivities(circuit, wanted, adjustable(circuit), speech)
    if isinstance(found, str):
        return found
    loads = {each.lower() for each in circuit.loads}

    def rank(name: str) -> float:
        head = name.partition(".")[0]
        role = circuit.role_of(head)
        doubt = (
            0.1
            if role is not None and role[1] in _BIAS
            else 0.02
            if role is not None and role[1] in _PARASITIC
            else 1.0
        )
        doubt *= (
            0.0
            if head.lower() in loads
            or (role is not None and role[1] == "load" and role[0].kind.endswith("converter"))
            else 1.0
        )
        ease = {"r": 1.0, "c": 0.8, "l": 0.5}.get(head[0].lower(), 0.9)
        return min(abs(found[name]), 1.0) * doubt * ease

    return sorted(
        (
            name
            for name in found
            if abs(found[name]) >= _TELLING and rank(name) > 0 and _may_change(ask, name)
        ),
        key=rank,
        reverse=True,
    )


def _may_change(ask: Ask, name: str) -> bool:
    head = name.partition(".")[0].lower()
    if head in (each.lower() for each in ask.kept) or head[0] in ask.kept:
        return False
    return not ask.only or head[0] in ask.only


def _search(
    circuit: Circuit, now: _Measured, names: Sequence[str], aim: tuple[float, float], *, is_series: bool,
    kept: Sequence[_Kept] = (), series: str = "",
) -> dict[str, Any]:  # fmt: skip
    """The arguments of the search for values."""
    kinds = {each.wanted.kind for each in (now, *(one.now for one in kept))}
    return {
        **search_of(circuit, names, series=(series or "E96") if is_series else ""),
        "measure": {each.wanted.key: each.expression for each in (now, *(one.now for one in kept))},
        "goals": [
            *bounds_of(now.wanted.key, aim),
            *(bound for each in kept for bound in bounds_of(each.now.wanted.key, each.aim)),
        ],
        **(own_analysis(circuit, now.wanted) if len(kinds) == 1 else {}),
    }


def search_of(circuit: Circuit, names: Sequence[str], *, series: str) -> dict[str, Any]:
    """What every search for values of these parts has; `series` of the resistors, "" for any value."""
    return {
        "kind": "optimize",
        "path": circuit.file,
        "parameters": [_range(circuit, name, series) for name in names],
        "runs": _BUDGET,
        "time_limit_s": _TIME_S,
    }


def values_found(outcome: Outcome) -> list[tuple[str, str]]:
    """The best values of a search, with as many digits as can be bought."""
    found = _BEST.search(outcome.text)
    pairs = (each.partition("=") for each in found["values"].split(", ")) if found is not None else ()
    return [(name, _short(text)) for name, _, text in pairs]


def _near(one: _Measured) -> tuple[float, float]:
    """From where to where a figure counts as kept."""
    room = 0.2 if one.wanted.unit == "dB" else 1.0 if one.wanted.unit == "deg" else 0.02 * abs(one.value)
    return one.value - room, one.value + room


def _range(circuit: Circuit, name: str, series: str) -> dict[str, Any]:
    """A part's range: resistors of E96, others within the same two decades."""
    part = circuit.element(name)
    value = (_width(part) if "." in name else value_of(part)) if part is not None else None
    value = value or 1.0
    scale = series if series and part is not None and part.letter == "r" else "log"
    return {"name": name, "min": number(value / 20), "max": number(value * 20), "scale": scale}


def bounds_of(key: str, aim: tuple[float, float]) -> list[str]:
    """Where a figure has to be, as goals of a study."""
    signs = zip((">=", "<="), aim, strict=True)
    return [f"{key} {sign} {number(limit)}" for sign, limit in signs if math.isfinite(limit)]
