"""Sentences become circuits that plain ngspice proves; judged with nothing of the product."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from domain.design.catalogue import propose, understand
from domain.simulation.expressions import evaluate
from infrastructure.waveforms.raw_file import read_raw
from shared.errors import CircuitError
from tests.integration.design import bench
from tests.integration.design.conftest import Design
from tests.integration.design.sentences import BUCKS, FILTERS, REFUSALS, BuckCase, FilterCase

_E24 = "10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91".split()  # noqa: SIM905
_E96 = [round(100 * 10 ** (i / 96)) for i in range(96)]


def _ids(cases):
    return [case.text for case in cases]


@pytest.mark.parametrize("case", FILTERS, ids=_ids(FILTERS))
async def test_filter_does_what_the_sentence_says(case: FilterCase, design: Design, tmp_path: Path):
    proposal = await design(case.text)
    assert proposal.family == case.family
    plot = bench.run(proposal.netlist, tmp_path, "judged")
    assert abs(bench.half_power(plot, case.kind) / case.cutoff_hz - 1) <= case.cutoff_tolerance
    passing = case.cutoff_hz * (0.011 if case.kind == "lowpass" else 15)
    passed = bench.gain_at(plot, passing)
    assert abs(passed / case.gain - 1) <= case.gain_tolerance
    for frequency, decibels in case.at_least:
        assert -20 * np.log10(bench.gain_at(plot, frequency) / passed) >= decibels
    for frequency, decibels in case.at_most:
        assert -20 * np.log10(bench.gain_at(plot, frequency) / passed) <= decibels
    if case.peaking_db is not None:
        peaking = 20 * np.log10(np.abs(plot["v(out)"]).max() / passed)
        low, high = case.peaking_db
        assert low - 0.02 <= peaking <= high


@pytest.mark.parametrize("case", BUCKS, ids=_ids(BUCKS))
async def test_converter_does_what_the_sentence_says(case: BuckCase, design: Design, tmp_path: Path):
    proposal = await design(case.text)
    assert proposal.family == "buck"
    plot = bench.run(proposal.netlist, tmp_path, "judged")
    # Ten whole periods at the end, on an even grid: the mean of ngspice's own steps would be biased.
    end = plot.axis[-1]
    grid = np.linspace(end - 10 / case.fsw, end, 20001)
    assert grid[0] >= plot.axis[0] - 1 / case.fsw / 50
    vout, vin, source, inductor = (
        np.interp(grid, plot.axis, plot[n]) for n in ("v(out)", "v(in)", "i(vin)", "i(l1)")
    )
    assert abs(vin.mean() - case.vin) < 1e-6 * case.vin
    assert abs(vout.mean() / case.vout - 1) <= case.tolerance
    assert vout.max() - vout.min() <= case.ripple_v
    # Steady state: the first and the second half have the same mean.
    assert abs(vout[:10000].mean() - vout[10000:20000].mean()) < 1e-3 * case.vout
    load = bench.number(re.search(r"^Rload \S+ \S+ (\S+)", proposal.netlist, re.MULTILINE)[1])
    assert abs(case.vout / load / case.iout - 1) < 1e-3
    if case.inductor_ripple_a is not None:
        assert inductor.max() - inductor.min() <= case.inductor_ripple_a
    if case.efficiency is not None:
        assert (vout**2).mean() / load / (vin * -source).mean() >= case.efficiency


@pytest.mark.parametrize("case", [*FILTERS, *BUCKS], ids=_ids([*FILTERS, *BUCKS]))
async def test_circuit_is_right_under_other_analyses(
    case: FilterCase | BuckCase, design: Design, tmp_path: Path
):
    """The same netlist under .op, .ac, .dc and .tran in place of its own cards."""
    proposal = await design(case.text)
    deck = proposal.netlist
    bias = bench.run(bench.with_analysis(deck, ".op"), tmp_path, "op")
    assert len(bias.axis) == 1
    bench.run(bench.with_analysis(deck, ".ac dec 5 10 1Meg"), tmp_path, "ac")
    bench.run(bench.with_analysis(deck, ".dc Vin 0 1 0.5"), tmp_path, "dc")
    if isinstance(case, BuckCase):
        # A plain .tran without uic starts at .ic and must come to the same output.
        period = 1 / case.fsw
        card = re.search(r"^\.tran (\S+) (\S+) (\S+) (\S+) uic", deck, re.MULTILINE)
        step, stop, start, largest = card.groups()
        assert bench.number(start) > 10 * period
        cold = bench.run(
            bench.with_analysis(deck, f".tran {step} {stop} {start} {largest}"), tmp_path, "tran"
        )
        assert abs(bench.average(cold, "v(out)") / case.vout - 1) < case.tolerance + 0.01
        return
    cutoff = case.cutoff_hz
    sine = bench.run(
        bench.with_analysis(deck, f".tran {0.01 / cutoff:.4g} {12 / cutoff:.4g}"), tmp_path, "tran"
    )
    late = sine.axis > 8 / cutoff
    # Near its -3 dB frequency, where the source has its sine, the filter passes about 0.707 of it.
    seen = (sine["v(out)"][late].max() - sine["v(out)"][late].min()) / 2
    drive = (sine["v(in)"][late].max() - sine["v(in)"][late].min()) / 2
    assert 0.3 * case.gain < seen / drive < 6 * case.gain


@pytest.mark.parametrize("case", [*FILTERS, *BUCKS], ids=_ids([*FILTERS, *BUCKS]))
async def test_circuit_keeps_the_convention(case: FilterCase | BuckCase, design: Design):
    """Input, output, comments, preferred values, no control block, ASCII outside comments."""
    proposal = await design(case.text)
    lines = proposal.netlist.splitlines()
    assert re.fullmatch(r"[ -~]+", lines[0])
    assert not re.match(r"[.*]", lines[0])
    assert re.search(r"^Vin in 0 .*AC 1\b", proposal.netlist, re.MULTILINE)
    assert lines[-1] == ".end"
    assert ".control" not in proposal.netlist
    assert ".include" not in proposal.netlist
    assert not any(line.startswith("*#") for line in lines)
    assert {"* Goals:", "* 目标：", "* 目标:"} & set(lines)
    given = {bench.number(m) for m in re.findall(r"(?<=[RC] = )\d+k?n?", case.text)} | {50.0}
    for line in lines[1:]:
        if line.startswith("*"):
            continue  # in the user's language
        code, _, role = line.partition(" ; ")
        code.encode("ascii")
        if re.match(r"[A-Za-z]", code):
            assert role.strip(), line
        if match := re.match(r"([RC]\d[abfg]?|L\d) \S+ \S+ (\S+)", code):
            value = bench.number(match[2])
            mantissa = value / 10 ** np.floor(np.log10(value * (1 + 1e-9)))
            is_e24 = f"{round(mantissa * 10)}" in _E24 and abs(mantissa * 10 - round(mantissa * 10)) < 1e-6
            is_e96 = (
                match[1][0] == "R"
                and round(mantissa * 100) in _E96
                and abs(mantissa * 100 - round(mantissa * 100)) < 1e-6
            )
            assert is_e24 or is_e96 or any(np.isclose(value, g) for g in given), line


@pytest.mark.parametrize(("text", "error_type"), REFUSALS, ids=[text for text, _ in REFUSALS])
async def test_what_cannot_be_designed_is_refused(text: str, error_type: str, design: Design, tmp_path: Path):
    with pytest.raises(CircuitError) as caught:
        await design(text)
    assert caught.value.error_type == error_type
    assert caught.value.exit_code == 1
    assert caught.value.advice is not None
    assert list((tmp_path / "project").glob("*")) in ([], [tmp_path / "project" / ".circuit_ai"])


def test_a_converter_keeps_its_output_at_a_load_step(tmp_path: Path) -> None:
    """The current that is taken off in the second record lets the output move as far as was said, no more."""
    intent = understand("buck 12 V to 5 V, load step from 0.5 to 1 A with less than 500 mV dip")
    steady, stepped = bench.run_all(propose(intent, str).netlist, tmp_path, "judged")
    mean = steady["v(out)"].mean()
    assert abs(mean / 5 - 1) < 0.02
    moved = stepped["v(out)"] - mean
    assert 0.1 < moved.max() < 0.5
    assert -0.5 < moved.min() < -0.02
    told = read_raw(tmp_path / "judged.raw")
    rise = next(goal.expression for goal in intent.goals if goal.metric == "load_step_rise")
    assert evaluate(rise, told).value == pytest.approx(moved.max(), rel=0.01)
