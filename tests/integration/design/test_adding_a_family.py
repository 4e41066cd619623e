"""What the recipe of docs/designer.md says: one file and its name among the modules make a family, whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from domain.design import catalogue, kit
from domain.design.kit import nearest, spice
from shared.errors import CircuitError
from shared.message import msg
from tests.integration.design.driver import rounds

# --- the family's file ----------------------------------------------------------------------------------


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Vout / Vsupply = dR / (4 R + 2 dR): three arms R, one R + dR."""
    share = request["out_v"] * correction["out_v"] / request["supply_v"]
    arm = nearest(request["arm_ohm"], "E192")
    return kit.Sized(parts={"R": arm, "R1": arm * (1 + 4 * share / (1 - 2 * share))})


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    deck.part(f"Vsupply top 0 {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"R1 a 0 {spice(sized.parts['R1'])}", msg("the sensor at full scale"))
    for name, ends in (("R2", "top a"), ("R3", "top b"), ("R4", "b 0")):
        deck.part(f"{name} {ends} {spice(sized.parts['R'])}", msg("an arm"))


FAMILY = kit.Family(
    key="wheatstone_bridge",
    name=msg("Wheatstone bridges"),
    one=msg("a Wheatstone bridge"),
    examples={"en": "Wheatstone bridge with 350 Ohm arms, supply 5 V, output 10 mV",
              "zh": "惠斯通电桥，桥臂350Ω，供电5V，输出10mV"},
    words=kit.Words(named="wheatstone|惠斯通"),
    quantities=(
        kit.Quantity(name="out_v", label=msg("output voltage"), dimensions=("V",), words="output|输出",
                     within=(1e-3, 0.5), example=10e-3, required=True),
        kit.Quantity(name="supply_v", label=msg("supply voltage"), dimensions=("V",), words="supply|供电",
                     within=(1, 30), example=5.0, default=5.0),
        kit.Quantity(name="arm_ohm", label=msg("resistance"), dimensions=("Ω",), words="arm|桥臂",
                     takes_rest=True, within=(10, 1e6), example=350.0, default=350.0),
        kit.TOLERANCE,
    ),
    goals=(
        kit.GoalRow(metric="vout", label=msg("Output voltage"), unit="V", quantity="out_v",
                    expression=lambda request: f"at(v(a)-v(b),{spice(request['supply_v'])})"),
    ),
    title="Wheatstone bridge, {out_v:V} at full scale",
    remarks=(),
    analyses=lambda request, _sized, _goals: (f".dc Vsupply 0 {spice(request['supply_v'])} "
                                              f"{spice(request['supply_v'] / 50)}",),
    size=size,
    netlist=netlist,
)  # fmt: skip

# --- its name among the modules, and what follows from both ---------------------------------------------


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "domain.design.families.wheatstone_bridge", sys.modules[__name__])
    families = catalogue.families_of((*catalogue._MODULES, "wheatstone_bridge"))
    monkeypatch.setattr(catalogue, "FAMILIES", families)


def test_without_it_nothing_is_designed():
    with pytest.raises(CircuitError) as unknown:
        catalogue.understand(FAMILY.examples["en"])
    assert unknown.value.error_type == "unknown_circuit"


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_entry_makes_it_understood_and_proved(language: str, tmp_path: Path):
    intent, proposal, judged, used = await rounds(FAMILY.examples[language], tmp_path)
    assert (intent.family, intent.language) == ("wheatstone_bridge", language)
    assert all(verdict.met for verdict in judged), judged
    assert used <= 2
    assert proposal.file_stem == "wheatstone_bridge"


@pytest.mark.usefixtures("registered")
def test_the_rest_follows_from_the_entry():
    assert "Wheatstone bridges" in str(catalogue.abilities())
    with pytest.raises(CircuitError, match="output voltage") as missing:
        catalogue.understand("Wheatstone bridge with 350 Ohm arms")
    assert missing.value.error_type == "missing_goal"
    with pytest.raises(CircuitError, match="1 mV to 500 mV") as beyond:
        catalogue.understand("Wheatstone bridge, output 20 V")
    assert beyond.value.error_type == "impossible_goal"
    with pytest.raises(CircuitError) as other:
        catalogue.understand("hello")
    assert str(FAMILY.name) in str(other.value.advice)
