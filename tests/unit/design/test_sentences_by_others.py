"""Three hundred and thirty-eight sentences by authors who were shown no rules: what each is understood as.

`sentences_by_others.txt` holds one a line: the sentence | family and what it stated, or the kind of refusal.
A figure that a family has no place for is told as having had no effect; that is not listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.design.catalogue import understand
from domain.design.engine.declaration import STATED
from domain.design.known_requests import KnownRequests
from shared.errors import CircuitError
from tests.ground.cases import for_each

_LINES = Path(__file__).with_name("sentences_by_others.txt").read_text(encoding="utf-8").splitlines()
_NONSENSE = "unknown_circuit"


def in_short(sentence: str, known: KnownRequests | None = None) -> str:
    """``buck fsw=300000 iout=3 vin=12 vout=5``, or the kind of error."""
    try:
        intent = understand(sentence, known)
    except CircuitError as error:
        return error.error_type
    values: Mapping[str, Any] = intent.parameters
    told = (f"{name}={_shown(values[name])}" for name in values[STATED])
    return " ".join([intent.family, *told])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_shown, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@for_each(("sentence", "meant"), [tuple(line.rsplit(" | ", 1)) for line in _LINES])
def test_a_sentence_is_understood_as_meant(sentence: str, meant: str) -> None:
    assert in_short(sentence) == meant


def test_most_are_designed_and_no_nonsense_is() -> None:
    outcomes = [line.rsplit(" | ", 1)[1] for line in _LINES]
    assert outcomes.count(_NONSENSE) == 30  # the nonsense ones
    assert sum(" " in outcome for outcome in outcomes) >= 170
