"""What is in stored simulation data, in a few figures; numpy is imported only where it is needed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.circuit.numbers import parse_number
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.late_patterns import late_pattern
from shared.message import msg

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from application.ports.simulation import WaveformReader
    from domain.simulation.signals import Signal
    from domain.simulation.waveform import Plot, RealArray, Vector


_NAMED = frozenset({"op", "dc", "ac", "tran", "noise", "disto", "tf", "sens", "pz"})
"""Analyses an expression can name."""


def simulated_plots(waveforms: WaveformReader, raw_paths: Sequence[Path], limit: int) -> list[dict[str, Any]]:
    """The analyses with their axis and the names of at most `limit` signals each. Raises UserInputError."""
    plots = [plot for path in raw_paths[:1] for plot in waveforms.read(path)]
    return [
        {**plot_outline(plot, limit), **names} for plot, names in zip(plots, plot_names(plots), strict=True)
    ]


def plot_names(plots: Sequence[Plot]) -> list[dict[str, str]]:
    """What each analysis of a result is called ("label"), and how expressions name it ("prefix")."""
    from domain.simulation.waveform import plot_labels, plot_prefixes

    named = zip(plot_labels(plots), plot_prefixes(plots), strict=True)
    return [{"label": label, "prefix": prefix} for label, prefix in named]


def naming_hint(outlines: Sequence[Mapping[str, Any]]) -> str:
    """Where a result has several analyses of one kind, how one of them is named; else ""."""
    seen: set[str] = set()
    for outline in outlines:
        if outline["analysis"] in seen and outline["analysis"] in _NAMED and outline["signals"]:
            names = list(outline["signals"])
            signal = next((name for name in names if name.startswith("v(")), names[0])
            return (
                "An expression takes the first analysis of a kind; another one is named before the signal: "
                f"max({outline['prefix']}.{signal})."
            )
        seen.add(outline["analysis"])
    return ""


def plot_outline(plot: Plot, limit: int) -> dict[str, Any]:
    """One analysis without its data."""
    names = [name for name in plot.vectors if name != plot.axis_name]
    axis = plot.axis
    outline: dict[str, Any] = {
        "analysis": plot.analysis,
        "points": plot.points,
        "axis": None if axis is None else axis.name,
        "axis_unit": "" if axis is None else axis.unit,
        "range": None,
        "signal_count": len(names),
        "signals": names[:limit],
    }
    if axis is not None and plot.points:
        outline["range"] = [float(axis.data.real.min()), float(axis.data.real.max())]
    return outline


def vector_outline(vector: Vector) -> dict[str, Any]:
    """Unit and extremes of a vector (of the magnitude of a complex one)."""
    import numpy as np

    data = np.abs(vector.data) if np.iscomplexobj(vector.data) else vector.data.real
    outline: dict[str, Any] = {"unit": vector.unit, "complex": bool(np.iscomplexobj(vector.data))}
    if len(data) == 1:
        return outline | {"value": rounded(float(data[0]))}
    return outline | _extremes(data)


def sampled(
    plots: Sequence[Plot], points: Sequence[str], *, span: tuple[float, float] | None, count: int
) -> dict[str, dict[str, Any]]:
    """Each vector expression at `count` places of its axis inside `span`; an error text where it fails."""
    from domain.simulation.expressions import evaluate_vector

    found: dict[str, dict[str, Any]] = {}
    for text in points:
        try:
            found[text] = _samples(evaluate_vector(text, plots), span, count)
        except CircuitAIError as error:
            found[text] = {"error": str(error.message)}
    return found


def _samples(signal: Signal, span: tuple[float, float] | None, count: int) -> dict[str, Any]:
    """Figures of the samples that lie in the span; complex ones by magnitude, with their phase beside."""
    import numpy as np

    inside = np.ones(len(signal.x), dtype=bool)
    if span is not None:
        inside = (signal.x >= span[0]) & (signal.x <= span[1])
    positions = np.flatnonzero(inside)
    if not len(positions):
        raise CircuitError(
            msg("No point of {axis} is in this range; it runs from {start} to {stop} {unit}.",
                axis=signal.axis_name, start=f"{signal.x.min():.6g}", stop=f"{signal.x.max():.6g}",
                unit=signal.axis_unit)
        )  # fmt: skip
    if signal.axis_unit == "s" and len(positions) > count and not np.iscomplexobj(signal.y):
        return _shape(signal, positions, count)
    chosen = positions[
        np.unique(np.linspace(0, len(positions) - 1, min(count, len(positions))).round().astype(int))
    ]
    y = signal.y
    figures: dict[str, Any] = {
        "unit": signal.unit,
        "axis": signal.axis_name,
        "axis_unit": signal.axis_unit,
        **_extremes(signal.real[positions]),
        "points": len(positions),
        "x": [rounded(float(x)) for x in signal.x[chosen]],
        "values": [rounded(float(value)) for value in signal.real[chosen]],
    }
    if np.iscomplexobj(y):
        figures["phase_deg"] = [rounded(float(angle)) for angle in np.degrees(np.angle(y[chosen]))]
    return figures


def _shape(signal: Signal, positions: NDArray[np.intp], count: int) -> dict[str, Any]:
    """A waveform in time by words and bins: points picked from it alias."""
    from domain.simulation.shape import shape_of

    part = replace(signal, x=signal.x[positions], y=signal.y[positions])
    shape = shape_of(part, max(count - 1, 1))
    return {
        "unit": signal.unit,
        "axis": signal.axis_name,
        "axis_unit": signal.axis_unit,
        **_extremes(part.real),
        "points": len(positions),
        "shape": shape.words,
        "settled": shape.is_settled,
        "bins": [[rounded(value) for value in (each.start, each.stop, each.low, each.high)]
                 for each in shape.bins],
    }  # fmt: skip


_STEADY = late_pattern(
    r"\b(?:(?P<always>ripple|thdn?|sinad|snr|sfdr|enob|harmonic)|avg|rms|pp)\(\s*"
    r"(?:tran\d*\.)?(?P<vector>[vi]\([^()]+\))(?:\s*,\s*[\w.+-]+\s*,\s*(?P<end>[\w.+-]+))?",
    re.IGNORECASE,
)
"""Figures of a steady state; an average, a swing of a window only. With the end of the window."""
_NOT_SETTLED = "NOT SETTLED ("


def unsettled(plots: Sequence[Plot], expressions: Iterable[str]) -> dict[str, str]:
    """The vectors that figures of a steady state are asked of and that still move where these end: how, in
    words, by vector."""
    in_time = [plot for plot in plots if plot.analysis == "tran"]
    found: dict[str, str] = {}
    for match in (each for text in expressions if in_time for each in _STEADY.finditer(text)):
        vector, end = match["vector"], math.inf
        if match["end"] and match["always"] in (None, "ripple"):
            with suppress(ValueError):  # an expression
                end = parse_number(match["end"])
        if vector in found or not (match["always"] or match["end"]):
            continue
        (shape,) = sampled(in_time[-1:], [vector], span=(-math.inf, end), count=2).values()
        if shape.get("settled") is False:
            found[vector] = str(shape["shape"]).partition(_NOT_SETTLED)[2].partition(")")[0]
    return found


def _extremes(data: RealArray) -> dict[str, float | None]:
    """Least and greatest finite value."""
    import numpy as np

    known = data[np.isfinite(data)]
    if not len(known):
        return {"min": None, "max": None}
    return {"min": rounded(float(known.min())), "max": rounded(float(known.max()))}


def rounded(value: float) -> float | None:
    """Six digits; None where JSON has no number."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def of_analysis(plots: Sequence[Plot], kind: str | None) -> list[Plot]:
    """The plots of one kind of analysis. Raises UserInputError when there is none."""
    chosen = [plot for plot in plots if kind is None or plot.analysis in (kind, f"{kind}_integrated")]
    if not chosen:
        has = ", ".join(dict.fromkeys(plot.analysis for plot in plots)) or "none"
        raise UserInputError(
            msg("The result has no {kind} analysis; it has: {analyses}.", kind=kind, analyses=has),
            advice=msg("Run it with run_simulation first."),
            error_type="no_such_analysis",
        )
    return chosen


def span_of(given: Sequence[str]) -> tuple[float, float] | None:
    """Start and stop of an axis. Raises UserInputError."""
    if not given:
        return None
    try:
        start, stop = (parse_number(text) for text in given)
    except ValueError as error:
        raise UserInputError(
            msg("range needs a start and a stop, as numbers."),
            advice=msg("For example {example}.", example='["1k", "10meg"]'),
            error_type="bad_arguments",
        ) from error
    return min(start, stop), max(start, stop)
