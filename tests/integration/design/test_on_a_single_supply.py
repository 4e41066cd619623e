"""Circuits on a single supply: drawn requests and an output of nearly the supply, in plain ngspice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from domain.design import catalogue
from tests.integration.design import bench, rates, single_supply
from tests.integration.design.driver import rounds


@pytest.mark.parametrize("key", single_supply.DRAWS)
async def test_a_drawn_request_is_met_by_the_second_circuit(key: str, tmp_path: Path) -> None:
    text = single_supply.DRAWS[key](random.Random(5))
    intent, proposal, judged, used = await rounds(text, tmp_path)
    assert intent.parameters["rails"] == "single"
    assert all(verdict.met for verdict in judged), text
    assert used <= 2
    assert "vee" not in proposal.netlist.partition(".subckt")[0]


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.parametrize("key", single_supply.DRAWS)
async def test_the_rates_on_the_page_are_measured(key: str, tmp_path: Path) -> None:
    measured = rates.row(key, *await rates.rate(key, tmp_path, rates.SINGLE))
    assert f"| `{key}` {rates.stored(rates.SINGLE)[key]}" == measured


def test_the_page_has_a_rate_for_each() -> None:
    assert list(rates.stored(rates.SINGLE)) == list(single_supply.DRAWS)


def test_an_output_as_large_as_the_supply_leaves_is_not_clipped(tmp_path: Path) -> None:
    """A rail-to-rail part of the library at 3.3 V: 3 V peak to peak about the mid-rail, and the gain."""
    text = "inverting amplifier, gain 10, bandwidth 5 kHz, output 3 Vpp, MCP6002, 3.3 V"
    proposal = catalogue.propose(catalogue.understand(text), str)
    plots = bench.run_all(proposal.netlist, tmp_path)
    (wave,) = (plot["v(out)"] for plot in plots if plot.name.startswith("Tran"))
    assert float(wave.max() - wave.min()) == pytest.approx(3.0, rel=0.02)
    assert float(wave.max() + wave.min()) / 2 == pytest.approx(1.65, abs=0.06)
