"""A hundred sentences a language, written before the reading was: each is understood as it was meant.

`sentences_en.txt` and `sentences_zh.txt` hold one a line: sentence | family or outcome | meaning | source.
Half of them carry the values and the form of a public question, named behind them; the rest are our own.
Outcomes: `ask` (a value is missing), `contradiction`, `refuse` (a circuit or part we do not have, by the word
behind `says`), `nonsense` (no design).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from domain.circuit.numbers import parse_number
from domain.design.catalogue import understand
from shared.errors import CircuitError

_ERRORS = {
    "ask": {"missing_goal"},
    "contradiction": {"impossible_goal", "missing_goal"},
    "refuse": {"unknown_circuit"},
    "nonsense": {"unknown_circuit", "missing_goal", "impossible_goal"},
}

_NAMES = {
    "ampl": ("amplitude_v",),
    "at": ("attenuation_hz",),
    "att": ("attenuation_db",),
    "bw": ("bandwidth_hz",),
    "c": ("capacitor_f",),
    "cd": ("diode_farad",),
    "center": ("center_hz",),
    "cutoff": ("cutoff_hz", "wanted_hz", "stated_hz"),
    "eff": ("efficiency",),
    "freq": ("frequency_hz", "unity_hz"),
    "iout": ("iout", "current_a"),
    "load": ("load_ohm",),
    "low": ("low_hz",),
    "lower": ("lower_v",),
    "q": ("q", "quality"),
    "r": ("resistor_ohm", "resistance_ohm", "impedance_ohm"),
    "rej": ("rejection_db",),
    "rf": ("transimpedance_ohm",),
    "rin": ("input_ohm",),
    "ripple": ("ripple_v",),
    "ripple_db": ("ripple_db", "loss_db"),
    "series": ("resistor_series",),
    "supply": ("supply_v",),
    "tau": ("tau_s", "time_s"),
    "tol": ("tolerance",),
    "upper": ("upper_v",),
    "vin_hi": ("vin_highest",),
    "vin_lo": ("vin_lowest",),
}
"""The short names of the lists, and what families call them."""


def _rows(language: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    path = Path(__file__).with_name(f"sentences_{language}.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            sentence, outcome, meant, *_source = (part.strip() for part in f"{line}|||".split("|"))
            yield sentence, outcome, dict(pair.split("=") for pair in meant.split())


def _is(parameters: Mapping[str, Any], name: str, wanted: str) -> bool:
    if name == "gains":
        weights = [parse_number(weight) for weight in wanted.split(",")]
        given = [parameters.get(f"weight_{index}") for index in range(1, len(weights) + 2)]
        return given == [*weights, None]
    values = [parameters[each] for each in _NAMES.get(name, (name,)) if parameters.get(each) is not None]
    if not values or isinstance(values[0], str):
        return wanted in values
    return values[0] == pytest.approx(parse_number(wanted), rel=5e-3)


def _miss(sentence: str, outcome: str, meant: dict[str, str]) -> str:
    """What was not as meant; empty when all was."""
    try:
        intent = understand(sentence)
    except CircuitError as error:
        said = f"{error.message} {error.advice}"
        if error.error_type in _ERRORS.get(outcome, ()) and meant.get("says", "").replace("_", " ") in said:
            return ""
        return f"{error.error_type}: {error.message}"
    if intent.family != outcome:
        return f"a {intent.family}"
    parameters = {"order": None, **intent.parameters}
    wrong = [f"{name} is not {value}" for name, value in meant.items() if not _is(parameters, name, value)]
    wrong += [str(note) for note in intent.assumptions if "not understood" in str(note)]
    return "; ".join(wrong)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_is_understood_as_meant_and_no_nonsense_accepted(language: str) -> None:
    rows = list(_rows(language))
    kinds = Counter("nonsense" if outcome == "nonsense" else "meant" for _, outcome, _ in rows)
    assert kinds["meant"] >= 100
    assert kinds["nonsense"] >= 30
    misses = {row[0]: miss for row in rows if (miss := _miss(*row))}
    assert not misses, "\n".join(f"{sentence}: {miss}" for sentence, miss in misses.items())
