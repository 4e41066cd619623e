"""Random requirements over the whole range of each family: how many are met, within how many rounds.

The normal run takes a seeded sample; `make torture` the whole. A refusal counts as a failure here:
every sentence drawn is within what the families promise.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.integration.design.driver import rounds

SAMPLE, WHOLE = 12, 400


def _log(draw: random.Random, low: float, high: float) -> float:
    return low * (high / low) ** draw.random()


def first_order(draw: random.Random) -> str:
    parts = draw.choice(["RC", "RL"])
    cutoff = _log(draw, 1.0 if parts == "RC" else 100.0, 1e6)
    text = f"first-order {parts} {draw.choice(['low', 'high'])}-pass, cutoff {cutoff:.4g} Hz"
    if draw.random() < 0.3:
        text += f", source resistance {_log(draw, 10, 1e3):.3g} ohm"
    if draw.random() < 0.3:
        text += f", load {_log(draw, 5e3, 5e5):.3g} ohm"
    if draw.random() < 0.3:
        text += f", tolerance {draw.choice([1, 2, 10])}%"
    return text


def sallen_key(draw: random.Random) -> str:
    response = draw.choice(["Butterworth", "Bessel", "Chebyshev"])
    order, kind = draw.randint(1, 8), draw.choice(["low", "high"])
    text = f"Sallen-Key {kind}-pass, order {order}, {response}, cutoff {_log(draw, 1, 1e6):.4g} Hz"
    if response == "Chebyshev":
        text += f", ripple {draw.choice([0.1, 0.25, 0.5, 1, 2, 3])} dB"
    if draw.random() < 0.4:
        text += f", gain {draw.choice([1.5, 2, 3, 5])}"
    if draw.random() < 0.2:
        text += ", tolerance 1%"
    return text


def buck(draw: random.Random) -> str:
    vin = draw.choice([5, 12, 15, 24, 36, 48])
    vout, iout, fsw = vin * draw.uniform(0.1, 0.8), _log(draw, 0.1, 15), _log(draw, 50e3, 1.5e6)
    text = f"buck converter {vin} V to {vout:.3g} V, {iout:.3g} A, {fsw:.3g} Hz"
    if draw.random() < 0.5:
        text += f", ripple below {draw.choice([0.3, 0.5, 1, 2, 5])} %"
    if draw.random() < 0.4:
        text += f", inductor ripple {draw.choice([20, 30, 40, 60])} %"
    if draw.random() < 0.4:
        text += ", synchronous"
    if draw.random() < 0.3:
        text += ", tolerance 1 %"
    return text


FAMILIES = pytest.mark.parametrize("sentence", [first_order, sallen_key, buck], ids=lambda f: f.__name__)


async def _campaign(sentence, count: int, folder: Path) -> tuple[int, list[str]]:
    """(designs met at the first shot, descriptions of those not met)."""
    draw = random.Random(20)
    at_once, missed = 0, []
    for _ in range(count):
        text = sentence(draw)
        _, _, judged, used = await rounds(text, folder)
        unmet = [(v.goal.metric, v.measured.value) for v in judged if not v.met]
        at_once += not unmet and used == 1
        if unmet:
            missed.append(f"{text}: {unmet} after {used} rounds")
    return at_once, missed


@FAMILIES
async def test_sample_of_the_grid_is_met(sentence, tmp_path: Path):
    at_once, missed = await _campaign(sentence, SAMPLE, tmp_path)
    assert not missed
    assert at_once >= 0.75 * SAMPLE


@pytest.mark.torture
@pytest.mark.timeout(900)
@FAMILIES
async def test_whole_grid_is_met(sentence, tmp_path: Path):
    at_once, missed = await _campaign(sentence, WHOLE, tmp_path)
    print(
        f"{sentence.__name__}: {WHOLE - len(missed)}/{WHOLE} met, {at_once} at the first shot",
        *missed,
        sep="\n  ",
    )
    assert len(missed) <= 0.01 * WHOLE
