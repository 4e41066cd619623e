"""How well drawings read, held to limits: a rule or weight that makes them worse fails here."""

from __future__ import annotations

import pytest

from domain.circuit.schematic.drawing import FIRST, Effort, draw
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.reading_back import differences, left_out
from tests.fakes.schematic_circuits import GOLDEN
from tests.unit.schematic.test_schematic_reading_back import circuit_of, wrong_in

SEARCH = Effort(starts=1, moves=1_200)
SHORT = Effort(starts=1, moves=150)
MOST = {
    "common_emitter": (0, 1, 32),
    "differential_pair": (0, 2, 39),
    "two_transistors": (2, 8, 81),
    "bridge_rectifier": (2, 10, 85),
    "r_2r_ladder": (0, 1, 32),
    "instrumentation_amplifier": (1, 12, 95),
    "folded_cascode": (5, 14, 171),
    "audio_amplifier": (6, 20, 316),
}
"""Crossings, bends, wire in grid units: a fifth above what was drawn when they were looked at."""


@pytest.mark.timeout(120)
def test_the_golden_circuits_stay_within_their_limits_and_are_read_back() -> None:
    above, wrong = {}, {}
    for name, text in GOLDEN.items():
        if name not in MOST:
            wrong[name] = wrong_in(text.encode(), effort=SHORT)
            continue
        (page, block), *others = circuit_of(text.encode())
        drawing = draw(page, effort=SEARCH)
        score = drawing.score
        found = (score.crossings, score.bends, score.wire)
        if score.labels or any(one > limit for one, limit in zip(found, MOST[name], strict=True)):
            above[name] = (found, MOST[name])
        wrong[name] = [*differences(block, drawing), *left_out(block, drawing), *faults_of(drawing)]
        for other, inner in others:
            drawing = draw(other, effort=SHORT)
            wrong[name] += [*differences(inner, drawing), *left_out(inner, drawing), *faults_of(drawing)]
    assert above == {}
    assert {name: told for name, told in wrong.items() if told} == {}


def test_the_first_drawing_of_a_larger_circuit_is_near_what_the_search_finds() -> None:
    (page, _block), *_ = circuit_of(GOLDEN["audio_amplifier"].encode())
    score = draw(page, effort=FIRST).score
    assert score.crossings <= 4
    assert score.bends <= 16
