"""Simulation data: vectors over an axis, grouped in plots, and how both are named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from domain.simulation.expression_syntax import SignalRef
    from shared.message import Message

RealArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Array = RealArray | ComplexArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vector:
    """One named vector of a plot."""

    name: str
    """Lower case, in canonical form: ``v(out)``, ``i(v1)``, ``@m1[id]``, ``frequency``, ``time``."""
    unit: str
    """SI unit: "V", "A", "Hz", "s", "deg", "1", "" when not known."""
    data: Array
    """(n,) float64 or complex128."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Which run of a stepped simulation (`.step`) a plot is of."""

    number: int
    """From 1."""
    count: int
    """Of the runs that are there."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The stepped quantities, by lower-case name, in SI units; empty when the files do not tell."""
    place: float | None = None
    """Of a run while others are still to come: where its values stand among those of all, 0 (the least) to
    1, so that it is drawn from the beginning as it is in the end."""


class ElementSignals(Protocol):
    """What tells the currents and powers of a circuit's elements from the vectors of a plot."""

    def find(self, plot: Plot, reference: SignalRef) -> tuple[Array, str] | None:
        """The data and unit of a current or power; None when the plot does not tell it."""

    def tells(self, plot: Plot, reference: SignalRef) -> bool:
        """Whether `find` has an answer, without reading data."""

    def why_not(self, plot: Plot, reference: SignalRef) -> tuple[Message, Message]:
        """Why `find` has none, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plot:
    """The vectors of one analysis."""

    analysis: str
    """op, dc, ac, tran, noise (spectrum), noise_integrated, tf, sens, pz, disto, sp, or "other"."""
    name: str
    """The simulator's own plot name ("AC Analysis")."""
    title: str
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """By canonical name, in file order, the axis included. Of a file that is open they are read when
    they are first asked for."""
    axis_name: str | None = None
    """Name of the axis vector (frequency, time, the swept source); None for op."""
    step: Step | None = None
    """Of a stepped simulation, whose runs are plots of their own."""
    elements: ElementSignals | None = None
    """What tells the currents and powers of the circuit's elements; None where only the vectors are known."""
    alike: object = None
    """Plots that have the same have vectors of the same names, none of them empty, and the same kind of axis:
    those of a batch, where what is found out of one holds for all. None says nothing."""

    @property
    def axis(self) -> Vector | None:
        """The independent vector (real), or None when the plot has none."""
        return None if self.axis_name is None else self.vectors[self.axis_name]

    @property
    def points(self) -> int:
        return 0 if not self.vectors else len(next(iter(self.vectors.values())).data)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalOutline:
    """What is known of a vector without its data."""

    name: str
    """Canonical, as in `Plot.vectors`."""
    unit: str
    is_complex: bool
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotOutline:
    """What is known of a plot without its data."""

    analysis: str
    name: str
    title: str
    points: int
    axis_name: str | None
    signals: tuple[SignalOutline, ...]
    """In file order, the axis included."""
    is_truncated: bool
    """The run or the copy ended early."""
    step: Step | None = None

    def signal(self, name: str) -> SignalOutline | None:
        """The signal of this canonical name, if there is one."""
        return next((signal for signal in self.signals if signal.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Envelope:
    """A vector cut down for a plot: the least and the greatest value of each stretch of its samples."""

    x: RealArray
    """(m,) where each stretch begins on the axis."""
    low: RealArray
    """(m,) NaN where a stretch has no number."""
    high: RealArray
    """(m,)"""
    is_exact: bool
    """Each stretch is one sample: `low` and `high` are the vector itself."""


_UNITS = {
    "time": "s",
    "frequency": "Hz",
    "voltage": "V",
    "current": "A",
    "device_current": "A",
    "subckt_current": "A",
    "voltage-density": "V/sqrt(Hz)",
    "current-density": "A/sqrt(Hz)",
    "voltage^2-density": "V^2/Hz",
    "current^2-density": "A^2/Hz",
    "temperature": "degC",
    "temp-sweep": "degC",
    "res-sweep": "Ohm",
    "impedance": "Ohm",
    "admittance": "S",
    "power": "W",
    "phase": "rad",
    "decibel": "dB",
    "capacitance": "F",
    "charge": "C",
}

_ANALYSES = (
    ("operating point", "op"),
    ("dc transfer", "dc"),
    ("ac analysis", "ac"),
    ("transient analysis", "tran"),
    ("noise spectral density", "noise"),
    ("integrated noise", "noise_integrated"),
    ("transfer function", "tf"),
    ("sensitivity", "sens"),
    ("pole-zero", "pz"),
    ("distortion", "disto"),
    ("sp analysis", "sp"),
    ("frequency response analysis", "ac"),
)

_KEPT = re.compile(
    r"(?P<name>.*?)(?: \((?P<how>linearized)\))? \((?P<plot>[a-z_]+\d+)(?:: (?P<altered>[^()]*))?\)",
    re.IGNORECASE,
)
"""The name of a plot that a circuit's own commands have made: ``AC Analysis (ac3)``, ``... (ac3: r1=2k)``."""
_SHORT = {"noise_integrated": "noise total"}

_WITHOUT_NODES = frozenset({"noise", "noise_integrated", "tf", "sens", "pz"})
"""Analyses whose vectors are no node voltages, although ngspice writes them as ``v(...)``."""

_MISLABELLED = frozenset({"tf", "sens", "pz"})

_TWO_PORT = re.compile(r"v\(([syz])_\d+_\d+\)")
_WRAPPED = re.compile(r"([vi])\((.*)\)", re.DOTALL)


def analysis_of_plot(plot_name: str) -> str:
    """The analysis behind a simulator's plot name ("Transient Analysis (linearized)" -> tran)."""
    lowered = plot_name.strip().lower()
    return next((kind for start, kind in _ANALYSES if lowered.startswith(start)), "other")


def own_name(plot: Plot | PlotOutline) -> str:
    """What ngspice calls a plot that a circuit's own commands have made: ``ac3``; "" for any other."""
    kept = _KEPT.fullmatch(plot.name) if plot.name.endswith(")") else None
    return "" if kept is None else kept["plot"].lower()


def plot_labels(plots: Sequence[Plot | PlotOutline]) -> list[str]:
    """A short name for each plot of a result, no two alike: ``tran``, ``ac 2``; of plots that a circuit's own
    commands have made with what ngspice calls them there and what they had altered: ``ac 2 (ac3, r1=2k)``,
    ``tran 2 (tran5, linearized)``."""
    labels: list[str] = []
    counts: dict[str, int] = {}
    for plot in plots:
        kept = _KEPT.fullmatch(plot.name)
        kind = _SHORT.get(plot.analysis, plot.analysis)
        if kind == "other" and kept is not None:
            kind = kept["name"].strip().lower() or kind
        counts[kind] = counts.get(kind, 0) + 1
        label = kind if counts[kind] == 1 else f"{kind} {counts[kind]}"
        if kept is not None and len(plots) > 1:
            label += f" ({', '.join(filter(None, kept.group('plot', 'how', 'altered')))})"
        labels.append(label)
    return labels


def plot_prefixes(plots: Sequence[Plot | PlotOutline]) -> list[str]:
    """How expressions name each plot: ``ac3`` in ``ac3.v(out)``, ngspice's own name, or a kind and number."""
    counts: dict[str, int] = {}
    prefixes: list[str] = []
    for plot in plots:
        counts[plot.analysis] = counts.get(plot.analysis, 0) + 1
        prefixes.append(own_name(plot) or f"{plot.analysis}{counts[plot.analysis]}")
    return prefixes


def unit_of(name: str, kind: str, analysis: str) -> str:
    """SI unit of a vector with this canonical name and ngspice type ("voltage" -> "V"), "" when not known.

    ngspice calls everything in a transfer function, pole-zero or sensitivity plot a voltage, and the
    two-port parameters too.
    """
    if analysis in _MISLABELLED and not name.startswith("@") and kind != "frequency":
        if "impedance" in name:
            return "Ohm"
        return "rad/s" if analysis == "pz" else ""
    if analysis == "noise" and kind in ("voltage", "current"):  # LTspice
        return _UNITS[f"{kind}-density"]
    if analysis == "sp" and (parameter := _TWO_PORT.fullmatch(name)):
        return {"s": "1", "y": "S", "z": "Ohm"}[parameter[1]]
    return _UNITS.get(kind.strip().lower(), "")


def canonical_name(name: str, kind: str = "notype", analysis: str = "other") -> str:
    """One spelling for each vector, whatever wrote the file.

    ngspice writes branch currents as ``v1#branch`` or ``i(v1)``, device quantities as ``@m1[gm]`` or
    ``i(@m1[id])``, sweeps as ``v(v-sweep)``, noise totals as ``v(onoise_total)``; other programs
    write bare node names. `kind` is the type word of the file, `analysis` that of the plot.
    """
    plain = "".join(name.split()).lower()
    wrapped = _WRAPPED.fullmatch(plain)
    if wrapped:
        inner = wrapped[2]
        is_no_node = inner.startswith("@") or inner.endswith("-sweep") or "(" in inner
        if is_no_node or analysis in _WITHOUT_NODES:
            return inner
        if inner.endswith("#branch"):
            return f"i({inner.removesuffix('#branch')})"
        return plain
    if plain.endswith("#branch"):
        return f"i({plain.removesuffix('#branch')})"
    is_bare_node = kind.strip().lower() == "voltage" and analysis not in _WITHOUT_NODES
    if is_bare_node and not plain.startswith("@") and not plain.endswith("-sweep") and "(" not in plain:
        return f"v({plain})"
    return plain
