"""`.four` cards: the harmonics of a waveform and its distortion, as numbers with names.

ngspice prints its `.four` and, with a raw file asked for, not even that; these are computed from the data.
Amplitudes are peak values over whole periods, the distortion that of `thd` (harmonics 2 to 9, or as many as
the card asks for).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.circuit.numbers import parse_number
from domain.circuit.statements import Statement
from domain.simulation.expressions import evaluate_vector
from domain.simulation.result import Quantity
from domain.simulation.time_response import THD_HARMONICS, harmonics_of
from domain.simulation.waveform import Plot
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg

_MOST_DIGITS = 9
"""Of a number of harmonics that is looked at; at most 100 are computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FourierCard:
    """``.four 1k v(out) v(in)``; LTspice's with a number of harmonics in front of the signals."""

    fundamental_hz: float
    signals: tuple[str, ...]
    """As written, without blanks."""
    harmonics: int
    line: int


def parse_four(card: Statement) -> FourierCard:
    """Read a `.four` card. Raises UserInputError when it has no frequency or no signal."""
    words = _words(card.text)
    try:
        numbers = [parse_number(words[1])] if len(words) > 1 else []
    except ValueError:
        numbers = []
    rest = words[2:]
    harmonics = THD_HARMONICS
    counts: list[int] = []
    while rest and rest[0].isascii() and rest[0].isdigit() and len(counts) < 2:
        counts.append(int(rest.pop(0)[:_MOST_DIGITS]))
    if counts:
        harmonics = max(counts[0], 2)
    if not numbers or not numbers[0] > 0 or not rest:
        raise UserInputError(
            msg("“{card}” is missing a frequency or a signal.", card=card.text.strip()),
            advice=msg("Write it like {example}.", example=".four 1k v(out)"),
        )
    return FourierCard(
        fundamental_hz=numbers[0], signals=tuple(rest), harmonics=min(harmonics, 100), line=card.line
    )


def _words(text: str) -> list[str]:
    """Words, those in parentheses kept together."""
    words, depth, word = [], 0, ""
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character.isspace() or (character == "," and depth == 0):
            if depth == 0 and word:
                words.append(word)
                word = ""
        else:
            word += character
    return [*words, word] if word else words


def evaluate_four(
    cards: Sequence[FourierCard], plots: Sequence[Plot]
) -> tuple[dict[str, Quantity], list[tuple[FourierCard, Message]]]:
    """The numbers of all cards, and what could not be had and why.

    They are named ``four_v(out)_thd`` (a fraction), ``four_v(out)_dc``, ``four_v(out)_h1`` ...; a second card
    with the same signal gives ``four2_...``.
    """
    metrics: dict[str, Quantity] = {}
    failures: list[tuple[FourierCard, Message]] = []
    times: dict[str, int] = {}
    for card in cards:
        for signal in card.signals:
            times[signal.lower()] = times.get(signal.lower(), 0) + 1
            number = times[signal.lower()]
            name = f"four{number if number > 1 else ''}_{signal.lower()}"
            try:
                wave = evaluate_vector(f"tran.{signal}", plots)
                spectrum = harmonics_of(wave, card.fundamental_hz)
            except CircuitAIError as error:
                failures.append((card, error.message))
                metrics[f"{name}_thd"] = Quantity(value=math.nan, unit="1")
                continue
            top = min(card.harmonics, len(spectrum) - 1)
            distortion = float(np.linalg.norm(spectrum[2 : top + 1]) / spectrum[1])
            metrics[f"{name}_thd"] = Quantity(value=distortion, unit="1")
            metrics[f"{name}_dc"] = Quantity(value=float(spectrum[0]), unit=wave.unit)
            for order in range(1, top + 1):
                metrics[f"{name}_h{order}"] = Quantity(value=float(spectrum[order]), unit=wave.unit)
    return metrics, failures
