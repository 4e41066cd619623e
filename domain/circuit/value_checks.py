"""Checks of numbers: suffixes that mean something else than the writer thought."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from domain.circuit.analyses import has_empty_frequency_range
from domain.circuit.cards import assignments_of
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import Element
from domain.circuit.findings import Findings, Severity
from domain.circuit.hierarchy import Block, Circuit, PlacedElement
from domain.circuit.numbers import NumberText, format_number, read_number
from domain.circuit.placed import Placed
from domain.circuit.statements import Field
from shared.late_patterns import late_pattern
from shared.message import msg

_SMALL_F = 100e-12
"""Capacitors below are of macromodels and integrated circuits."""


class _Habits(NamedTuple):
    """How the writer of this netlist writes."""

    is_all_capitals: bool
    """No lower-case letter in any card: then a capital M says nothing."""
    writes_meg: bool
    """Looked for in capitals only."""
    stop_time_s: float | None
    small_capacitors: frozenset[Block] = frozenset()
    """Blocks with capacitors a macromodel or an integrated circuit has."""


def check_values(circuit: Circuit, tree: DependencyTree, findings: Findings) -> None:
    """M for mega, F for farad, characters ngspice ignores; in used blocks and the root file only."""
    blocks = tuple(circuit.top.walk())
    habits = _habits_of(tree)._replace(small_capacitors=frozenset(filter(_has_small_capacitors, blocks)))
    for block in blocks:
        for placed in block.elements:
            _check_element_numbers(placed, block, habits, findings)
        for card in block.cards:
            if card.statement.keyword == "param":
                _check_parameter_numbers(card, habits, findings)
            elif card.statement.keyword in {"ac", "noise", "disto", "sp"} and block is circuit.top:
                _check_sweep(card, habits, findings)
    for card in tree.expanded:
        if card.statement.kind in {"element", "directive"} and not card.statement.raw.isascii():
            _check_greek_mu(card, findings)


def _habits_of(tree: DependencyTree) -> _Habits:
    cards = [p.statement for p in tree.expanded if p.statement.kind in {"element", "directive"}]
    stop: float | None = None
    for card in cards:
        if card.keyword == "tran" and card.kind == "directive" and len(card.words) > 2:
            number = read_number(card.words[2].text)
            stop = number.value if number is not None else stop
    is_all_capitals = not any(c.islower() for card in cards for c in card.raw)
    return _Habits(
        is_all_capitals=is_all_capitals,
        writes_meg=is_all_capitals and any(re.search(r"\d\s*MEG", card.raw) for card in cards),
        stop_time_s=stop,
    )


def _is_capital_milli(number: NumberText, habits: _Habits) -> bool:
    """A capital M behind the number; in all-capitals decks that know MEG it is meant as milli."""
    return number.suffix == "M" and not (habits.is_all_capitals and habits.writes_meg)


def _plain_number(field: Field) -> NumberText | None:
    text = field.text
    if text[:1] + text[-1:] in {"{}", "''"}:
        text = text[1:-1].strip()
    return read_number(text)


def _has_small_capacitors(block: Block) -> bool:
    values = (
        _plain_number(placed.element.value)
        for placed in block.elements
        if placed.element.letter == "c" and placed.element.value is not None
    )
    return any(
        number is not None and 0 < number.value < _SMALL_F and number.suffix != "F" for number in values
    )


def _check_element_numbers(placed: PlacedElement, block: Block, habits: _Habits, findings: Findings) -> None:
    element = placed.element
    value = element.value
    if value is not None:
        number = _plain_number(value)
        if number is not None:
            is_small = block in habits.small_capacitors
            _check_main_value(placed, value, number, habits, findings, is_small=is_small)
    for field in _all_numbers(element):
        number = read_number(field.text)
        if number is not None and _is_raised_twice(number):
            message = msg("ngspice reads {text} as {value}: only the first factor counts. A million is meg.",
                          text=field.text, value=format_number(number.value))  # fmt: skip
            findings.add("warning", "number-tail", message, file=placed.file, at=field)
        if number is not None and _has_lost_tail(number):
            message = msg("ngspice reads {text} as {value}: it ignores “{tail}”.",
                          text=field.text, value=format_number(number.value), tail=number.rest)  # fmt: skip
            findings.add("warning", "number-tail", message, file=placed.file, at=field)
    if element.letter in "vi":
        _check_sine(placed, habits, findings)


def _all_numbers(element: Element) -> Iterator[Field]:
    if element.value is not None:
        yield element.value
    yield from element.numbers


def _is_raised_twice(number: NumberText) -> bool:
    """``1kk`` and ``2kmeg``, of which the second factor is no unit; ``1nn`` is only a slip, and
    ``1mK`` a temperature."""
    return number.suffix.lower() in {"k", "meg", "g", "t"} and number.unit.lower() in {"k", "meg"}


def _has_lost_tail(number: NumberText) -> bool:
    """The tail has a digit: ``4k7``, ``0x10``, ``1_000``, not ``1k$note`` or ``10uF/50V`` notes."""
    return re.match(r"[\w.,]*\d", number.rest) is not None


def _check_main_value(
    placed: PlacedElement,
    field: Field,
    number: NumberText,
    habits: _Habits,
    findings: Findings,
    *,
    is_small: bool,
) -> None:
    letter = placed.element.letter
    if letter == "r" and number.value != 0 and _is_capital_milli(number, habits):
        _warn_mega(field, number, placed.file, findings)
    is_farad = letter == "c" and number.suffix == "F" and not number.unit and not habits.is_all_capitals
    # 1F and 0.47F are farads to people; 3F or 128F beside picofarads are what they say
    if is_farad and not (is_small and number.value > 1.5e-15):
        message = msg("{text} is {value}F: F after a number means femto. Write {farad} for farad.",
                      text=field.text, value=format_number(number.value),
                      farad=format_number(number.value * 1e15))  # fmt: skip
        findings.add("warning", "farad-trap", message, file=placed.file, at=field)


def _warn_mega(
    field: Field, number: NumberText, file: Path | None, findings: Findings, *, severity: Severity = "warning"
) -> None:
    message = msg("{text} is {value}: M is milli in SPICE. Write {mega} for mega, or a small m for milli.",
                  text=field.text, value=format_number(number.value),
                  mega=format_number(number.value * 1e9))  # fmt: skip
    findings.add(severity, "mega-trap", message, file=file, at=field)


_GREEK_MU = late_pattern(
    r"(?<![\w.])(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\xce\xbc", re.ASCII | re.IGNORECASE
)
"""A number and the two bytes of U+03BC in the Latin-1 view."""


def _check_greek_mu(placed: Placed, findings: Findings) -> None:
    """ngspice takes the micro sign U+00B5 for u, but not the Greek letter that looks the same."""
    for match in _GREEK_MU.finditer(placed.statement.raw):
        field = placed.statement.field(*match.span())
        message = msg("ngspice reads {text} as {value}: this μ is the Greek letter. Write {micro}.",
                      text=field.text, value=match["number"], micro=match["number"] + "u")  # fmt: skip
        findings.add("warning", "number-tail", message, file=placed.file, at=field)


_TIME_NAMES = ("rise", "ramp", "ratio", "fall")


def _check_parameter_numbers(card: Placed, habits: _Habits, findings: Findings) -> None:
    """A parameter named like a resistance or frequency."""
    for pair in assignments_of(card.statement):
        number = _plain_number(pair.value)
        is_candidate = pair.name.startswith(("r", "f")) and not pair.name.startswith(_TIME_NAMES)
        if number is not None and not number.rest and is_candidate and _is_capital_milli(number, habits):
            _warn_mega(pair.value, number, card.file, findings)


def _check_sweep(card: Placed, habits: _Habits, findings: Findings) -> None:
    """Start and stop frequency: surely wrong when the stop lies below the start, or a capital M fits mega."""
    words = card.statement.words
    kinds = [i for i, word in enumerate(words) if word.key in {"dec", "oct", "lin"}]
    if not kinds or len(words) < kinds[0] + 4:
        return
    start_field, stop_field = words[kinds[0] + 2], words[kinds[0] + 3]
    start, stop = read_number(start_field.text), read_number(stop_field.text)
    if start is None or stop is None:
        return
    is_falling = stop.value < start.value
    if stop.suffix in {"m", "M"} and is_falling:
        _warn_mega(stop_field, stop, card.file, findings, severity="error")
        return
    if has_empty_frequency_range(card.statement.text.strip()[1:]):
        message = msg("This sweep has no points. Check its start, stop and step.")
        findings.add("error", "bad-analysis", message, file=card.file, at=stop_field)
        return
    if _is_capital_milli(stop, habits):
        _warn_mega(stop_field, stop, card.file, findings)
    if _is_capital_milli(start, habits) and (stop.suffix == "M" or start.value * 1e9 <= stop.value):
        _warn_mega(start_field, start, card.file, findings)


def _check_sine(placed: PlacedElement, habits: _Habits, findings: Findings) -> None:
    """The frequency of SIN(offset amplitude frequency)."""
    words = placed.element.statement.words
    position = next((i for i, word in enumerate(words) if i > 2 and word.key in ("sin", "sine")), None)
    if position is None or len(words) < position + 4:
        return
    field = words[position + 3]
    number = read_number(field.text)
    if number is None or number.suffix not in {"m", "M"} or number.value <= 0:
        return
    stop = habits.stop_time_s
    capital = _is_capital_milli(number, habits)
    # In the time simulated nothing would move, while with mega there would be at least a half-wave.
    is_still = stop is not None and number.value * stop < 1e-3 and number.value * 1e9 * stop >= 0.5
    if is_still or (capital and (stop is None or number.value * stop < 0.5)):
        _warn_mega(field, number, placed.file, findings)
