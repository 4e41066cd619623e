"""Which analysis an expression means, and which vector of it a name means.

The rule. All signals of one measurement come from one plot: the first, in the order below, that holds
all their names and has the axis the measurement needs. ``tran.v(out)`` or ``ac2.v(out)`` names the
analysis outright: of plots that a circuit's own commands have made the one ngspice calls ac2, else the
second ac.

    frequency measurements     ac, then any other plot over frequency
    noise_total                noise, then any other plot over frequency
    time measurements          tran, then any other plot over time
    at(x, position)            time, sweep, frequency, operating point; the first whose axis reaches
                               the position (frequency first around db, ph, re, im, mag)
    max min pp avg rms cross   time, sweep, frequency, operating point (frequency first for peak and
                               around db, ph, re, im, mag)
    a vector by itself         operating point and other single values first, for then it is a value
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from domain.circuit.numbers import format_number
from domain.simulation.expression_syntax import SignalRef, StepRef
from domain.simulation.signals import Signal
from domain.simulation.vector_functions import Scalar, Value
from domain.simulation.waveform import Plot, Vector, canonical_name, own_name
from shared.errors import CircuitError, UserInputError
from shared.message import msg

AxisKind = Literal["time", "frequency", "sweep", "none"]
Preference = Literal["time", "frequency", "noise", "any", "any_frequency", "value", "vector"]
"""What the context of some signals needs ("time", "frequency", "noise") or likes best."""

_KIND_ORDER: dict[str, tuple[AxisKind, ...]] = {
    "time": ("time",),
    "frequency": ("frequency",),
    "noise": ("frequency",),
    "any": ("time", "sweep", "frequency", "none"),
    "any_frequency": ("frequency", "time", "sweep", "none"),
    "value": ("none", "time", "sweep", "frequency"),
    "vector": ("time", "sweep", "frequency", "none"),
}
_AXIS_OF: dict[str, AxisKind] = {
    "tran": "time",
    "dc": "sweep",
    "ac": "frequency",
    "noise": "frequency",
    "disto": "frequency",
    "sp": "frequency",
}
"""By the kind of a card; the others give single values."""
_ANALYSIS_ORDER = (
    "op",
    "tran",
    "dc",
    "ac",
    "other",
    "noise",
    "noise_integrated",
    "tf",
    "disto",
    "sp",
    "pz",
    "sens",
)
_ALIKE = 5e-4
_MOST_STEPS_NAMED = 12
_GROUND = frozenset({"0", "gnd"})
_OF_ELEMENTS = frozenset({"i", "terminal", "p"})
"""Kinds of signals that a circuit's wiring tells where the data have no vector of the name."""
_NOISE_ALIASES = {"onoise": "onoise_spectrum", "inoise": "inoise_spectrum"}


def axis_kind(plot: Plot) -> AxisKind:
    if plot.axis is None:
        return "none"
    if plot.axis.unit == "s":
        return "time"
    return "frequency" if plot.axis.unit == "Hz" else "sweep"


class PlotChoice:
    """`candidates` for the same references in thousands of results: of plots that are alike chosen once."""

    def __init__(self, references: Sequence[SignalRef]) -> None:
        self._references = references
        self._known: dict[tuple[object, ...], tuple[int, ...]] = {}

    def of(self, plots: Sequence[Plot], preference: Preference) -> list[Plot]:
        """As `candidates`."""
        alike = [None if plot.elements is not None else plot.alike for plot in plots]
        if None in alike:
            return candidates(plots, self._references, preference)
        key = (preference, *alike)
        order = self._known.get(key)
        if order is None:
            chosen = candidates(plots, self._references, preference)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            places = {id(plot): place for place, plot in enumerate(plots)}
            order = self._known[key] = tuple(places[id(plot)] for plot in chosen)
        return [plots[place] for place in order]


_MOST_REMEMBERED = 64


def candidates(plots: Sequence[Plot], references: Sequence[SignalRef], preference: Preference) -> list[Plot]:
    """The plots that can serve all references, best first; never empty.

    Raises UserInputError for an unknown name or when no analysis suits, CircuitError when the analysis
    that suits has no data.
    """
    known = [plot for plot in plots if _serves_all(plots, plot, references)]
    if not known:
        raise _unknown(plots, references)
    order = _KIND_ORDER[preference]
    fitting = [plot for plot in known if axis_kind(plot) in order]
    if not fitting:
        raise _no_such_axis(plots, references, preference)
    filled = [plot for plot in fitting if plot.points]
    if not filled:
        raise CircuitError(
            msg("The {analysis} analysis has no data: the simulation failed.", analysis=fitting[0].analysis)
        )
    if len(filled) == 1:
        return filled
    return sorted(filled, key=lambda plot: (order.index(axis_kind(plot)), _rank(plot, preference)))


def is_first_choice(card: str, preference: Preference) -> bool:
    """Whether no other analysis would be preferred to that of a card (``ac dec 20 1 1meg``, ``op``)."""
    return _AXIS_OF.get(card.lower().lstrip(".").split()[0], "none") == _KIND_ORDER[preference][0]


def _rank(plot: Plot, preference: Preference) -> int:
    if preference == "noise" and plot.analysis == "noise":
        return -1
    return _ANALYSIS_ORDER.index(plot.analysis) if plot.analysis in _ANALYSIS_ORDER else 99


def _serves_all(plots: Sequence[Plot], plot: Plot, references: Iterable[SignalRef]) -> bool:
    for reference in references:  # a loop: a search asks this of thousands of runs
        if not _has(plot, reference) or not _is_from(plots, plot, reference):
            return False
    return True


def _is_from(plots: Sequence[Plot], plot: Plot, reference: SignalRef) -> bool:
    if reference.step is not None:
        return reference.analysis in (None, plot.analysis) and is_step(plot, reference.step)
    if reference.analysis is None:
        return True
    name = f"{reference.analysis}{reference.number}"
    named = [other for other in plots if own_name(other) == name]
    if named:
        return named[0] is plot
    of_kind = [other for other in plots if other.analysis == reference.analysis]
    return 1 <= reference.number <= len(of_kind) and of_kind[reference.number - 1] is plot


def is_step(plot: Plot, step: StepRef) -> bool:
    """Whether a plot is of the run that is meant."""
    if plot.step is None:
        return False
    if step.number:
        return plot.step.number == step.number
    value = plot.step.values.get(step.name)
    # Names of runs have four digits: what is read there has to be found.
    return value is not None and math.isclose(value, step.value, rel_tol=_ALIKE, abs_tol=1e-300)


def value_of(plot: Plot, reference: SignalRef) -> Value:
    """The signal a reference means in a plot; a number where the plot has no axis."""
    found = _find(plot, reference)
    assert found is not None
    data, unit = found
    axis = plot.axis
    if axis is None:
        return Scalar(value=complex(data[0]), unit=unit)
    if len(data) != len(axis.data):
        raise CircuitError(
            msg("{signal} has {count} {count:point|points}, its axis {axis_count}.",
                signal=reference.text, count=len(data), axis_count=len(axis.data))
        )  # fmt: skip
    return Signal(x=axis.data.real, y=data, unit=unit, axis_name=axis.name, axis_unit=axis.unit)


def vector_names(reference: SignalRef) -> Iterator[str]:
    """The canonical names of vectors that can stand for a reference, likeliest first; each node's for a
    difference, none for ground."""
    if reference.kind == "v":
        yield from (f"v({node})" for node in reference.names if node not in _GROUND)
    else:
        yield from dict.fromkeys(_spellings(reference))


def _find(plot: Plot, reference: SignalRef) -> tuple[np.ndarray, str] | None:
    if reference.kind == "v":
        return _voltage(plot, reference.names)
    for name in _spellings(reference):
        if (vector := plot.vectors.get(name)) is not None:
            return vector.data, vector.unit
    if plot.elements is not None and reference.kind in _OF_ELEMENTS:
        return plot.elements.find(plot, reference)
    is_axis = reference.kind == "plain" and reference.names[0].endswith("-sweep")
    if is_axis and plot.axis is not None and axis_kind(plot) == "sweep":
        return plot.axis.data, plot.axis.unit
    return None


def _has(plot: Plot, reference: SignalRef) -> bool:
    """Whether `_find` has an answer; the data of elements are not worked out for it."""
    if plot.elements is None or reference.kind not in _OF_ELEMENTS:
        return _find(plot, reference) is not None
    return any(name in plot.vectors for name in _spellings(reference)) or plot.elements.tells(plot, reference)


def _voltage(plot: Plot, nodes: tuple[str, ...]) -> tuple[np.ndarray, str] | None:
    if len(nodes) == 1:
        vector = _node(plot, nodes[0])
        return (vector.data, vector.unit) if isinstance(vector, Vector) else None
    found = [_node(plot, node) for node in nodes]
    if any(vector is None for vector in found) or not any(isinstance(vector, Vector) for vector in found):
        return None
    first_data, second_data = (vector.data if isinstance(vector, Vector) else np.zeros(1) for vector in found)
    return np.subtract(first_data, second_data), "V"


def _node(plot: Plot, node: str) -> Vector | Literal["ground"] | None:
    vector = plot.vectors.get(f"v({node})") or plot.vectors.get(node)
    if vector is None and node in _GROUND and any(name.startswith("v(") for name in plot.vectors):
        return "ground"
    return vector


def _spellings(reference: SignalRef) -> Iterator[str]:
    if reference.kind == "p":
        return
    if reference.kind == "i":
        if len(reference.names) > 1:
            return
        device = reference.names[0]
        yield f"i({device})"
        for terminal in ("i", "id", "ic"):
            yield f"@{device}[{terminal}]"
    elif reference.kind == "terminal":
        terminal, device = reference.names[0], reference.names[-1]
        yield f"@{device}[{terminal}]"
    else:
        name = reference.names[0]
        yield canonical_name(name)
        yield f"v({name})"
        yield _NOISE_ALIASES.get(name, name)


def _unknown(plots: Sequence[Plot], references: Sequence[SignalRef]) -> UserInputError:
    for reference in references:
        homes = [plot for plot in plots if _is_from(plots, plot, reference)]
        if not homes and reference.step is not None:
            return UserInputError(
                msg("{signal} refers to a run that is not in this result; it has {runs}.",
                    signal=reference.text, runs=_runs(plots)),
                error_type="missing_analysis",
            )  # fmt: skip
        if not homes:
            return UserInputError(
                msg("{signal} refers to an analysis that is not in this result; it has {analyses}.",
                    signal=reference.text, analyses=_analyses(plots)),
                error_type="missing_analysis",
            )  # fmt: skip
        if not any(_has(plot, reference) for plot in homes):
            if reference.kind in _OF_ELEMENTS and (problem := _element_problem(homes, reference)) is not None:
                return problem
            return UserInputError(
                msg("There is no signal {signal} in this result.", signal=reference.text),
                advice=msg("Similar names: {names}", names=_near(plots, reference)),
                error_type="unknown_signal",
            )
    return UserInputError(
        msg("No single analysis of this result has all of {signals}.",
            signals=", ".join(dict.fromkeys(reference.text for reference in references))),
        advice=msg("Measure them one by one; the measured numbers can be combined."),
        error_type="unknown_signal",
    )  # fmt: skip


def _element_problem(plots: Sequence[Plot], reference: SignalRef) -> UserInputError | None:
    """Why a current or power is not there; None for a name that nothing but a vector can have."""
    told = next((plot for plot in plots if plot.elements is not None and plot.points), None)
    if told is not None and told.elements is not None:
        message, advice = told.elements.why_not(told, reference)
        return UserInputError(message, advice=advice, error_type="unknown_signal")
    if reference.kind != "p" and any(name.startswith("i(") for plot in plots for name in plot.vectors):
        return None
    return UserInputError(
        msg(
            "This result has no {signal}: the currents of its elements were not saved.", signal=reference.text
        ),
        advice=msg("Simulate the circuit again; a control block has to save them itself: save all @r1[i]."),
        error_type="unknown_signal",
    )


def _near(plots: Sequence[Plot], reference: SignalRef) -> str:
    names = list(dict.fromkeys(name for plot in plots for name in plot.vectors))
    wanted = "".join(reference.text.split()).lower()
    close = difflib.get_close_matches(wanted, names, n=5, cutoff=0.5)
    return ", ".join(close or names[:8]) or "-"


def _no_such_axis(
    plots: Sequence[Plot], references: Sequence[SignalRef], preference: Preference
) -> UserInputError:
    signals = ", ".join(dict.fromkeys(reference.text for reference in references))
    if preference == "time":
        message = msg("A transient analysis with {signals} is needed, but the result has {analyses}.",
                      signals=signals, analyses=_analyses(plots))  # fmt: skip
        advice = msg("Add .tran to the circuit, or simulate with --analysis.")
    else:
        message = msg("An analysis over frequency with {signals} is needed, but the result has {analyses}.",
                      signals=signals, analyses=_analyses(plots))  # fmt: skip
        advice = msg("Add .ac or .noise to the circuit, or simulate with --analysis.")
    return UserInputError(message, advice=advice, error_type="missing_analysis")


def _analyses(plots: Sequence[Plot]) -> str:
    return ", ".join(dict.fromkeys(plot.analysis for plot in plots)) or "-"


def _runs(plots: Sequence[Plot]) -> str:
    """``1 (rload=1k), 2 (rload=10k)``; "-" where nothing is stepped."""
    found: dict[int, str] = {}
    for plot in plots:
        if plot.step is not None:
            values = ", ".join(
                f"{name}={format_number(value, 4)}" for name, value in plot.step.values.items()
            )
            found[plot.step.number] = f"{plot.step.number} ({values})" if values else f"{plot.step.number}"
    named = [found[number] for number in sorted(found)]
    if len(named) > _MOST_STEPS_NAMED:
        named[_MOST_STEPS_NAMED:] = ["..."]
    return ", ".join(named) or "-"
