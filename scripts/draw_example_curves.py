"""Simulate the bundled examples and keep one small curve of each for the welcome page.

    python -m scripts.draw_example_curves

Writes `resources/look/example_curves.json`: by example the heights of a curve at evenly spaced places,
0 to 1000. Run after a change of an example.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.waveform import Plot

TARGET = Path(__file__).resolve().parents[1] / "resources" / "look" / "example_curves.json"
_POINTS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Which vector of an example is drawn, and over which range."""

    plot: str
    """Kind of the analysis."""
    vector: str
    first: float
    last: float
    in_db: bool = False
    """Of a magnitude, over a logarithmic axis."""


CURVES = {
    "sallen-key-filter": Curve(plot="ac", vector="v(out)", first=1e3, last=60e3, in_db=True),
    "miller-opamp": Curve(plot="ac", vector="v(out)", first=100, last=1e9, in_db=True),
    "buck-converter": Curve(plot="tran", vector="v(out)", first=0, last=1e-3),
    "wien-oscillator": Curve(plot="tran", vector="v(out)", first=0, last=16e-3),
    "bandgap-reference": Curve(plot="dc", vector="v(ref)", first=-40, last=125),
    "loaded-follower": Curve(plot="tran", vector="v(out)", first=0.8e-6, last=3e-6),
}


def heights(curve: Curve, plot: Plot) -> list[int]:
    """The curve at evenly spaced places, its lowest point 0 and its highest 1000."""
    import numpy as np

    assert plot.axis is not None
    x, data = plot.axis.data, plot.vectors[curve.vector].data
    y = 20 * np.log10(np.abs(data)) if curve.in_db else np.real(data)
    if curve.in_db:
        places = np.logspace(math.log10(curve.first), math.log10(curve.last), _POINTS)
    else:
        places = np.linspace(curve.first, curve.last, _POINTS)
    found = np.interp(places, x, y)
    low, high = float(found.min()), float(found.max())
    return [round(1000 * (float(value) - low) / (high - low)) for value in found]


async def simulated(app: Application) -> dict[str, list[int]]:
    """All of them."""
    found = {}
    for example in await app.project.browse.examples():
        with tempfile.TemporaryDirectory() as folder:
            copy = await app.project.browse.copy_example(example.name, Path(folder))
            result = await app.simulation.run(SimulationRequest(circuit=copy / example.circuit.name))
            assert result.ok, f"{example.name}: {result.issues}"
            loaded = await app.simulation.waveforms(result.result_path)
            curve = CURVES[example.name]
            plot = next(plot for plot in loaded.plots if plot.analysis == curve.plot)
            found[example.name] = heights(curve, plot)
    return found


def main() -> None:
    """Simulate and write."""
    app = bootstrap.build()

    async def work() -> dict[str, list[int]]:
        try:
            return await simulated(app)
        finally:
            await app.close()

    found = asyncio.run(work())
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    TARGET.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
