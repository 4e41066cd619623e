"""The curves of a component, simulated on the spot from its library's own text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from application.components.foreign_text import read_text
from domain.circuit.netlist import Netlist
from domain.components.benches import Bench, bench_of
from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
from shared.errors import CircuitError
from shared.message import Message, msg

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from application.components.finding import FindComponents
    from application.ports.simulation import BatchSimulator
    from domain.components.component import Component

_RUN_S = 20.0
_MOST_POINTS = 600
_NO_DATA = msg("The simulator gave no data.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """What a bench gave."""

    title: Message
    across: str
    upward: str
    is_log: bool
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateComponent:
    """The use case; one instance serves any number of components."""

    batch: BatchSimulator
    find: FindComponents

    async def __call__(self, component: Component) -> Curves | None:
        """The curves; None for a kind that has no bench.

        Raises UserInputError when it is gone from its file, CircuitError when it does not simulate,
        EnvironmentProblem without a simulator.
        """
        bench = bench_of(component)
        if bench is None:
            return None
        written = await self.find.library(component)
        text = await read_text(written.encode(), component.file, self.find.cpu)
        library = text.converted.decode("utf-8", "replace")
        deck = "\n".join(
            (
                f"* {component.name.encode('ascii', 'replace').decode()}",
                library,
                *bench.cards,
                f".{bench.analysis}",
                ".end\n",
            )
        )
        data = deck.encode()
        analyses = Netlist.parse(f"t\n.{bench.analysis}\n".encode()).analyses
        circuit = BatchCircuit(
            deck=data,
            deck_path=Path("/component.cir"),
            varied=(),
            analyses=analyses,
            compatibility=text.mode,
        )
        run = BatchRun(run_id=0, circuit=0, values=())
        batch = Batch(circuits=(circuit,), runs=(run,), signals=bench.signals, timeout_s=_RUN_S)
        outcomes = cast("AsyncGenerator[RunOutcome, None]", self.batch.run(batch, workers=1))
        async with aclosing(outcomes):
            async for outcome in outcomes:
                return _curves(bench, outcome, component)
        raise _failure(component, _NO_DATA)


def _failure(component: Component, reason: Message) -> CircuitError:
    return CircuitError(
        msg("{name} does not simulate. {reason}", name=component.name, reason=reason),
        advice=msg(
            "Look at the lines that are named in its text; the library may be written for another simulator."
        ),
        error_type="simulation_failed",
    )


def _curves(bench: Bench, outcome: RunOutcome, component: Component) -> Curves:
    if outcome.state != "ok" or not outcome.plots:
        reason = next((issue.message for issue in outcome.issues), _NO_DATA)
        raise _failure(component, reason)
    plot = outcome.plots[0]
    swept = plot.axis
    if swept is None:
        raise _failure(component, _NO_DATA)
    axis = [abs(value) if bench.is_decibel else bench.sign * value for value in swept.data.real.tolist()]
    found = {name: plot.vectors[name].data for name in bench.signals if name in plot.vectors}
    if len(found) < len(bench.signals):
        raise _failure(component, _NO_DATA)
    if bench.across == "V" and bench.signals[0] == "v(a)":
        volts, amperes = (found[name].real.tolist() for name in bench.signals)
        curves: tuple[Curve, ...] = (
            Curve(name="", points=_thinned([(v, -i) for v, i in zip(volts, amperes, strict=True)])),
        )
    elif bench.is_decibel:
        gains = abs(found[bench.signals[0]]).tolist()
        points = [(f, 20 * math.log10(g)) for f, g in zip(axis, gains, strict=True) if g > 0 and f > 0]
        curves = (Curve(name="", points=_thinned(points)),)
    else:
        curves = tuple(
            Curve(
                name=name,
                points=_thinned(
                    [(x, bench.sign * y) for x, y in zip(axis, found[signal].real.tolist(), strict=True)]
                ),
            )
            for name, signal in zip(bench.names, bench.signals, strict=True)
        )
    if not any(curve.points for curve in curves):
        raise _failure(component, _NO_DATA)
    return Curves(
        title=bench.title, across=bench.across, upward=bench.upward, is_log=bench.is_decibel, curves=curves
    )


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    finite = [point for point in points if all(map(math.isfinite, point))]
    step = max(len(finite) // _MOST_POINTS, 1)
    return finite[::step]
