"""Every bundled example simulates in the box, and does what its notes say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bootstrap
from application.simulation.simulating import SimulationRequest
from domain.simulation.result import SimulationResult
from scripts.draw_example_curves import CURVES, TARGET

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"

STATED = {
    "sallen-key-filter/filter.cir": {"fc": (9.9e3, 10.1e3), "pk": (0.0, 0.1), "a40k": (-49, -46)},
    "sallen-key-filter/filter_loop.cir": {"fu": (8.5e6, 9.5e6)},
    "miller-opamp/opamp.cir": {"a0": (80, 82), "ugf": (70e6, 75e6), "ph_u": (-1.85, -1.78)},
    "miller-opamp/opamp_step.cir": {"vmax": (1.095, 1.11), "t50": (3e-9, 12e-9)},
    "buck-converter/buck.cir": {
        "vout1": (3.25, 3.35),
        "vout2": (3.25, 3.35),
        "rip": (0.015, 0.025),
        "ipk": (2.1, 2.3),
    },
    "wien-oscillator/oscillator.cir": {"amp": (5.2, 5.6), "per": (0.99e-3, 1.01e-3)},
    "bandgap-reference/bandgap.cir": {"vref": (1.205, 1.22), "spread": (0.0, 3e-3)},
    "loaded-follower/follower.cir": {"vmax": (0.3, 0.33), "pk": (9, 10.5)},
}
"""By circuit and `.meas`: between what the figure lies."""


def test_every_circuit_of_the_examples_is_stated_here():
    circuits = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.cir")}
    assert circuits == set(STATED)


@pytest.mark.parametrize("name", sorted(STATED))
async def test_it_simulates_and_measures_what_is_stated(name, tmp_path):
    app = bootstrap.build()
    folder, circuit = name.split("/")
    try:
        copy = await app.project.browse.copy_example(folder, tmp_path)
        report = await app.simulation.check(copy / circuit)
        assert [item for item in report.diagnostics if item.severity != "info"] == []
        result: SimulationResult = await app.simulation.run(SimulationRequest(circuit=copy / circuit))
    finally:
        await app.close()
    assert result.ok
    assert [issue for issue in result.issues if issue.severity == "error"] == []
    for metric, (low, high) in STATED[name].items():
        assert low <= result.metrics[metric].value <= high, metric


def test_the_welcome_page_has_a_curve_of_each():
    curves = json.loads(TARGET.read_text("utf-8"))
    folders = {path.name for path in EXAMPLES.iterdir()}
    assert set(curves) == set(CURVES) == folders
    assert all(len(set(curve)) > 20 and min(curve) == 0 and max(curve) == 1000 for curve in curves.values())
    assert all((EXAMPLES / name / "notes.md").is_file() for name in folders)
