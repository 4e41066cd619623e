"""Plots made of formulas, for tests without a simulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from domain.simulation.waveform import Array, Plot, Vector

Signals = dict[str, tuple[Array, str]]


def plot(analysis: str, axis: tuple[str, Array, str] | None, signals: Signals) -> Plot:
    """A plot of vectors: ``plot("tran", ("time", t, "s"), {"v(out)": (y, "V")})``."""
    named = {
        name: Vector(name=name, unit=unit, data=np.asarray(data)) for name, (data, unit) in signals.items()
    }
    if axis is not None:
        name, data, unit = axis
        named = {name: Vector(name=name, unit=unit, data=np.asarray(data, dtype=float)), **named}
    return Plot(
        analysis=analysis,
        name=analysis,
        title="*",
        vectors=named,
        axis_name=None if axis is None else axis[0],
    )


def operating_point(**voltages: float) -> Plot:
    """An operating point with these node voltages."""
    return plot("op", None, {f"v({node})": (np.array([value]), "V") for node, value in voltages.items()})


def transient(wave: Callable[[Array], Array], stop: float = 1e-3, points: int = 2001) -> Plot:
    """v(out) over 0 ... stop."""
    t = np.linspace(0, stop, points)
    return plot("tran", ("time", t, "s"), {"v(out)": (wave(t), "V")})


def response(
    transfer: Callable[[Array], Array], start: float = 1.0, stop: float = 1e6, per_decade: int = 50
) -> Plot:
    """v(out) = transfer(j 2 pi f), v(in) = 1."""
    f = np.logspace(np.log10(start), np.log10(stop), round(per_decade * np.log10(stop / start)) + 1)
    return plot(
        "ac",
        ("frequency", f, "Hz"),
        {
            "v(in)": (np.ones(len(f), complex), "V"),
            "v(out)": (np.asarray(transfer(2j * np.pi * f), complex), "V"),
        },
    )
