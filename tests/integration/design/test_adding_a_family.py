"""What the recipe of docs/designer.md says: one declaration and one entry make a family, whole."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType

import pytest

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import nearest
from domain.design import catalogue
from domain.design.deck import spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Family,
    GoalRow,
    Quantity,
    Sized,
    Words,
    around,
)
from domain.design.engine.declared_family import DeclaredFamily
from shared.errors import CircuitError
from shared.message import msg
from tests.integration.design.driver import rounds


def size(request, correction):
    """L = 1 mH, C = 1 / ((2 pi f)**2 L), R for the asked width: f0 / width = 2 pi f0 L / R."""
    inductor = 1e-3
    frequency = request["center_hz"] * correction["center_hz"]
    return Sized(
        parts={
            "R1": nearest(2 * math.pi * inductor * request["width_hz"], "E96"),
            "L1": inductor,
            "C1": nearest(1 / (2 * math.pi * frequency) ** 2 / inductor, "E24"),
        }
    )


def netlist(deck, request, sized):
    parts = sized.parts
    deck.part("Vin in 0 DC 0 AC 1", msg("input"))
    deck.part(f"L1 in a {spice(parts['L1'])}", msg("resonates with C1"))
    deck.part(f"C1 a out {spice(parts['C1'])}", msg("resonates with L1"))
    deck.part(f"R1 out 0 {spice(parts['R1'])}", msg("sets the width"))


FAMILY = Family(
    key="band_pass",
    name=msg("series LC band-pass filters"),
    one=msg("a series LC band-pass filter"),
    examples={"en": "band-pass 100 kHz, width 10 kHz", "zh": "100kHz带通滤波器，带宽10kHz"},
    words=Words(named=r"band[\s-]?pass|带通"),
    quantities=(
        Quantity(
            name="center_hz",
            label=msg("center frequency"),
            dimensions=("Hz",),
            words=r"pass|cent(?:er|re)|中心",
            takes_rest=True,
            within=(1e3, 1e6),
            example=100e3,
            required=True,
        ),
        Quantity(
            name="width_hz",
            label=msg("bandwidth"),
            dimensions=("Hz",),
            words=r"width|带宽",
            within=(100, 1e5),
            example=10e3,
            default=lambda request: request["center_hz"] / 10,
        ),
        TOLERANCE,
    ),
    goals=(
        GoalRow(
            metric="upper_edge",
            label=msg("Upper −3 dB frequency"),
            unit="Hz",
            quantity="center_hz",
            expression=lambda _request: "highcut(v(out))",
            bounds=lambda request: around(
                request["center_hz"] + request["width_hz"] / 2, request["tolerance"]
            ),
        ),
    ),
    title=lambda request: f"Series LC band-pass, {with_unit(request['center_hz'], 'Hz')}",
    remarks=lambda _request: (),
    analyses=lambda request, _sized, _goals: (f".ac dec 500 {spice(request['center_hz'])} 10Meg",),
    size=size,
    netlist=netlist,
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    families = MappingProxyType({**catalogue.FAMILIES, FAMILY.key: DeclaredFamily(FAMILY)})
    monkeypatch.setattr(catalogue, "FAMILIES", families)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    families = {key: family for key, family in catalogue.FAMILIES.items() if key != FAMILY.key}
    monkeypatch.setattr(catalogue, "FAMILIES", MappingProxyType(families))


@pytest.mark.usefixtures("missing")
def test_without_it_the_circuit_is_refused_by_name():
    with pytest.raises(CircuitError, match="cannot design a band-pass filter yet"):
        catalogue.understand(FAMILY.examples["en"])


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_entry_makes_it_understood_and_proved(language: str, tmp_path: Path):
    intent, proposal, judged, used = await rounds(FAMILY.examples[language], tmp_path)
    assert (intent.family, intent.language) == ("band_pass", language)
    assert all(verdict.met for verdict in judged), judged
    assert used <= 2
    assert proposal.file_stem == "series_lc_band_pass_100kHz"


@pytest.mark.usefixtures("registered")
def test_the_rest_follows_from_the_entry():
    assert "series LC band-pass filters" in str(catalogue.abilities())
    with pytest.raises(CircuitError, match="center frequency") as missing:
        catalogue.understand("band-pass filter")
    assert missing.value.error_type == "missing_goal"
    with pytest.raises(CircuitError, match="1 kHz to 1 MHz") as beyond:
        catalogue.understand("band-pass 20 MHz")
    assert beyond.value.error_type == "impossible_goal"
    with pytest.raises(CircuitError) as other:
        catalogue.understand("hello")
    assert str(FAMILY.name) in str(other.value.advice)
