"""A pan and a zoom frame of long curves, eight and twenty dense ones, against plain pyqtgraph down-sampling.

Both draw the same arrays into windows of one size; a frame is computed and painted (grabbed).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import cycle

import numpy as np

from tests.benchmarks.harness import Pair

POINTS = int(float(os.environ.get("BENCH_PLOT_POINTS", "2e6")))
_FEW = 20_000
_TRACES = 8
_SIZE = (1000, 500)
_kept: list[object] = []


def pairs() -> list[Pair]:
    """Ten frames in each run; ours against theirs, and ours of many points against ours of few."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from presentation.window.application import make_qt_application

    _kept.append(make_qt_application([]))
    x, curves = _data(POINTS)
    ours, theirs, few = _ours(x, curves), _theirs(x, curves), _ours(*_data(_FEW))
    made: list[Pair] = []
    for name, ranges in (("pan", _pans()), ("zoom", _zooms())):
        made.append(
            Pair(
                name=f"10 {name} frames, {POINTS:,} points x {_TRACES}",
                ours=partial(_frames, ours, ranges),
                theirs=partial(_frames, theirs, ranges),
                theirs_name="plain pyqtgraph, auto down-sampling, clipped",
                rounds=5,
                note="16 ms a frame and a tenth of theirs are the aim",
            )
        )
        made.append(
            Pair(
                name=f"10 {name} frames, {POINTS:,} points x {_TRACES}",
                ours=partial(_frames, ours, ranges),
                theirs=partial(_frames, few, ranges),
                theirs_name=f"ours, {_FEW:,} points",
                rounds=5,
                note="flat in points is the aim",
            )
        )
    x, runs = _oscillations(POINTS // 4)
    made.append(
        Pair(
            name=f"10 zoom frames, a family of {len(runs)} oscillations",
            ours=partial(_frames, _ours(x, runs), _zooms()),
            theirs=partial(_frames, _theirs(x, runs), _zooms()),
            theirs_name="plain pyqtgraph, auto down-sampling, clipped",
            rounds=5,
            note="from an area to single periods; 50 ms a frame is the most",
        )
    )
    return made


Show = Callable[[float, float], object]


def _frames(show: Show, ranges: list[tuple[float, float]]) -> None:
    for low, high in ranges:
        show(low, high)


def _pans() -> list[tuple[float, float]]:
    """Half of the axis, a hundredth further each time."""
    return [(0.2 + 0.01 * step, 0.7 + 0.01 * step) for step in range(10)]


def _zooms() -> list[tuple[float, float]]:
    """From the whole axis to a thousandth of it."""
    return [(0.5 - width / 2, 0.5 + width / 2) for width in np.geomspace(1.0, 1e-3, 10)]


def _data(points: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """One axis of 1 s; waves with some noise."""
    chance = np.random.default_rng(1)
    x = np.linspace(0, 1, points)
    noise = 0.02 * chance.standard_normal(points)
    return x, [np.sin(2 * np.pi * (3 + number) * x) + noise + 0.2 * number for number in range(_TRACES)]


def _oscillations(points: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """One axis of 1 s; the runs of a stepped amplitude, each with 20,000 periods."""
    x = np.linspace(0, 1, points)
    wave = np.sin(2 * np.pi * 20_000 * x)
    return x, [(1 + number / 20) * wave for number in range(20)]


def _ours(x: np.ndarray, curves: list[np.ndarray]) -> Show:
    from presentation.panels.waveforms.plot_area import PlotArea
    from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Stretch, Trace
    from presentation.ui.theme import Theme

    area = PlotArea(Theme("light", 1.0))
    area.resize(*_SIZE)
    area.show()
    axis = Axis(
        name="time",
        unit="s",
        is_log=False,
        values=x,
        coordinates=x,
        parts=(slice(0, len(x)),),
        usable=slice(0, len(x)),
        low=0.0,
        high=1.0,
    )
    traces = [
        Trace(
            expression=f"v({number})",
            color=number % 8,
            curves=(Curve(pane=PaneKind("V"), stretches=(Stretch(x, y),), values=y),),
        )
        for number, y in enumerate(curves)
    ]
    area.show_traces(axis, traces)
    _kept.append(area)

    def show(low: float, high: float) -> None:
        area.show_range((low, high))
        area.redraw(at_once=True)
        area.grab()

    return show


def _theirs(x: np.ndarray, curves: list[np.ndarray]) -> Show:
    import pyqtgraph as pg  # type: ignore[import-untyped]

    plot = pg.PlotWidget()
    plot.resize(*_SIZE)
    plot.setDownsampling(auto=True, mode="peak")
    plot.setClipToView(True)
    for color, y in zip(cycle("rgbcmyk"), curves, strict=False):
        plot.plot(x, y, pen=color)
    plot.show()
    _kept.append(plot)

    def show(low: float, high: float) -> None:
        plot.setXRange(low, high, padding=0)
        plot.grab()

    return show
