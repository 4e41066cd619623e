"""From what a guest sends to plots and a verdict, each worked out once and then looked up.

A batch has thousands of runs that say the same words and have the same vectors: the words are read by the
same rules as those of single runs (log_reader.py, verdict.py), once for each different text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from domain.simulation.batch import BatchCircuit, RunOutcome, RunState
from domain.simulation.request import ResourceLimits, SimulationJob
from domain.simulation.result import SimulationIssue
from domain.simulation.waveform import Array, Plot, Vector, canonical_name, unit_of
from domain.simulation.wiring import SOLVED
from infrastructure.ngspice.batch.guest import NUMBERED_BRANCH, SAME, TITLE
from infrastructure.ngspice.batch.wire import Layout, PlotLayout, RawResult, WireError
from infrastructure.ngspice.findings import Finding, LogReading, quoted
from infrastructure.ngspice.log_reader import read_log
from infrastructure.ngspice.verdict import Ending, judge
from shared.message import msg

# sim.h of ngspice 39: SV_NOTYPE ...; further ones are not known by a word.
_KINDS = (
    "notype", "time", "frequency", "voltage", "current", "voltage-density", "current-density",
    "voltage^2-density", "current^2-density", "voltage^2", "current^2", "pole", "zero", "s-param",
    "temp-sweep", "res-sweep", "impedance", "admittance", "power", "phase", "decibel", "capacitance",
    "charge",
)  # fmt: skip
_PLOTS = {
    "op": ("op", "Operating Point"),
    "dc": ("dc", "DC transfer characteristic"),
    "ac": ("ac", "AC Analysis"),
    "tran": ("tran", "Transient Analysis"),
    "noise": ("noise", "Noise Spectral Density Curves"),
    "tf": ("tf", "Transfer Function"),
    "sens": ("sens", "Sensitivity Analysis"),
    "pz": ("pz", "Pole-Zero Analysis"),
    "disto": ("disto", "DISTORTION"),
    "sp": ("sp", "SP Analysis"),
}
_TOTALS = ("noise_integrated", "Integrated Noise")
_WITH_AXIS = frozenset(("dc", "ac", "tran", "noise", "disto", "sp"))
_PLOT_NAME = re.compile(r"([a-z]+)\d*")
_MOST_REMEMBERED = 500
_FIGURES = re.compile(rb"(?<=No\. of Data Rows : )\d+|(?<=Doing analysis at TEMP = ).*")
"""What differs from run to run without a meaning for the verdict."""
_OF_THE_LIBRARY = re.compile(
    r"awaits to be (?:reset or )?detached|Prepared to start controls|Reset re-loads circuit"
    r"|No job \(tran, ac, op etc|unrecognized analysis type 'op' for the following \.meas"
)
"""What only the library says; it tells nothing of the circuit."""
_DISTORTION = {
    2: ("2nd harmonic", "3rd harmonic"),
    3: ("IM: f1+f2", "IM: f1-f2", "IM: 2f1-f2"),
}
"""What the plots of a `.disto` are called, by their number: of one frequency, of two."""
_BESIDES: dict[str, tuple[str, ...]] = {"noise": ("noise_integrated",), "disto": ("disto", "disto")}
"""Further plots one analysis leaves."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A vector of the layout."""

    name: str
    unit: str
    width: int
    is_real: bool
    """Kept as its real part: the axis of an AC analysis."""


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A plot of the layout, ready to be filled."""

    analysis: str
    name: str
    axis: str | None
    slots: tuple[_Slot, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """For the verdict."""

    analysis: str
    has_data: bool
    variables: Sequence[object]


def accepted_names(signals: Sequence[str] | None) -> list[str] | None:
    """ngspice's own names for canonical ones: ``v(out)`` is "out" there, ``i(v1)`` "v1#branch"."""
    if signals is None:
        return None
    names: list[str] = []
    for signal in signals:
        key = "".join(signal.split()).lower()
        names.append(key)
        if match := re.fullmatch(r"([vi])\((.*)\)", key):
            names.append(match[2] if match[1] == "v" else f"{match[2]}#branch")
    return list(dict.fromkeys(names))


def saved_names(signals: Sequence[str] | None) -> list[str]:
    """What ngspice is told to keep: quantities inside devices it keeps only so, and beside them all else.

    The current of a source or an inductor is among the unknowns it solves for (``v1#branch``); asked of the
    device as well, for every point, it made an AC analysis of an op-amp a quarter slower.
    """
    names = ["".join(signal.split()).lower() for signal in signals or ()]
    solved = {match[1] for name in names if (match := _SOLVED.fullmatch(name))}
    devices = {name: match[1] for name in names if (match := _QUANTITY.fullmatch(name))}
    inside = [name for name, device in devices.items() if device not in solved]
    return ["all", *inside] if devices else []


_QUANTITY = re.compile(r"@([\w.#:+-]+)\[\w+\]")
_SOLVED = re.compile(rf"i\(([{''.join(sorted(SOLVED))}][\w.#:+-]*)\)")


class CircuitResults:
    """Turns the raw results of one circuit into outcomes."""

    def __init__(self, circuit: BatchCircuit) -> None:
        self._circuit = circuit
        first = circuit.deck.split(b"\n", 1)[0].decode("latin-1").strip()
        self._title = first
        self._shapes: dict[int, tuple[Layout, tuple[_Shape, ...]]] = {}
        """By the identity of a guest's layout, which is kept so that no other gets it."""
        self._axes: dict[tuple[int, int], Vector] = {}
        """The last axis at a place of a layout, for results that repeat it."""
        self._verdicts: dict[object, tuple[RunState, tuple[SimulationIssue, ...]]] = {}
        self._plain_words: dict[bytes, bytes] = {}
        """What ngspice said, without figures."""
        self.loading = b""
        """What ngspice said when it loaded the circuit; its warnings are those of every run."""

    def loading_issues(self, words: bytes, *, exit_code: int = 0) -> tuple[SimulationIssue, ...]:
        """The errors that kept the circuit from being loaded; empty when it is loaded."""
        log = _log(words)
        if exit_code == 0 and not log.errors and not log.aborted:
            self.loading = words
            return ()
        ending = _ending(exit_code=exit_code or 1)
        return tuple(judge(self._job(), ending, log)[1])

    def is_judged(self, raw: RawResult) -> bool:
        """Whether ngspice said the same in a run before."""
        return self._key(raw) in self._verdicts

    def judge_words(self, raw: RawResult) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        """The verdict on what ngspice said in a run. Blocking: it may look into the included files."""
        if len(self._verdicts) > _MOST_REMEMBERED:
            self._verdicts.clear()
        verdict = self._verdicts[self._key(raw)] = self._judge(raw, self._shapes_of(raw))
        return verdict

    def _key(self, raw: RawResult) -> object:
        """What the verdict on a run depends on."""
        return (
            self._without_figures(raw.setting),
            self._without_figures(raw.said),
            id(raw.layout),
            0 in raw.lengths,
        )

    def _without_figures(self, words: bytes) -> bytes:
        """Most runs say the same, to the letter."""
        known = self._plain_words.get(words)
        if known is None:
            if len(self._plain_words) > _MOST_REMEMBERED:
                self._plain_words.clear()
            known = self._plain_words[words] = _FIGURES.sub(b"", words)
        return known

    def _shapes_of(self, raw: RawResult) -> tuple[_Shape, ...]:
        # By identity: hashing a large layout for each run would cost more than all the rest.
        known = self._shapes.get(id(raw.layout))
        if known is None:
            known = self._shapes[id(raw.layout)] = (raw.layout, _shapes(raw.layout.plots))
        return known[1]

    def outcome(self, raw: RawResult) -> RunOutcome:
        """What one run gave; what it said is judged before. Raises WireError for an axis that was never
        sent."""
        shapes = self._shapes_of(raw)
        state, issues = self._verdicts.get(self._key(raw)) or self.judge_words(raw)
        filled = _filled(raw, shapes, self._title, self._axes)
        plots = self._in_order(filled) if state == "ok" else ()
        return RunOutcome(
            run_id=raw.run_id, state=state, plots=plots, issues=issues, duration_s=raw.duration_s
        )

    def ended(self, words: bytes, status: int) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        """The verdict when ngspice itself ended during a run (a fatal error, `quit`)."""
        log = _log(self.loading + b"\n" + words)
        issues = judge(self._job(), _ending(exit_code=status or 1), log)[1]
        return "failed", tuple(issues)

    def crashed(self, exit_code: int) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        """The verdict on a run that twice ended its process."""
        log = LogReading(findings=(), quit_by_deck=False, aborted=False)
        return "crashed", tuple(judge(self._job(), _ending(exit_code=exit_code or 1), log)[1])

    def too_slow(self, limit_s: float) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        log = LogReading(findings=(), quit_by_deck=False, aborted=False)
        return "timeout", tuple(judge(self._job(limit_s), _ending(timed_out=True), log)[1])

    def wrote_too_much(self) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        """The verdict on a run that filled its folder."""
        log = LogReading(findings=(), quit_by_deck=False, aborted=False)
        return "failed", tuple(judge(self._job(), replace(_ending(), out_of_disk=True), log)[1])

    def _judge(
        self, raw: RawResult, shapes: tuple[_Shape, ...]
    ) -> tuple[RunState, tuple[SimulationIssue, ...]]:
        log = _log(b"\n".join((self.loading, raw.setting, raw.said)))
        refused = [line for line in TITLE.sub(b"", raw.setting).split(b"\n") if b"rror" in line]
        if refused and not log.errors:
            words = quoted(b" ".join(refused).decode("utf-8", "replace").replace("stderr", ""))
            finding = Finding(
                severity="error",
                code="control-command-failed",
                message=msg("ngspice did not accept a new value: {text}", text=words),
            )
            log = LogReading(
                findings=(finding, *log.findings), quit_by_deck=log.quit_by_deck, aborted=log.aborted
            )
        status, issues = judge(self._job(), _ending(plots=_seen(raw, shapes)), log)
        return ("ok" if status == "ok" else "failed"), tuple(issues)

    def _job(self, limit_s: float = 0.0) -> SimulationJob:
        circuit = self._circuit
        return SimulationJob(
            deck=circuit.deck,
            deck_path=circuit.deck_path,
            included_files=circuit.included_files,
            analyses=circuit.analyses,
            output_dir=Path(),
            limits=ResourceLimits(wall_s=limit_s),
        )

    def _in_order(self, plots: list[Plot]) -> tuple[Plot, ...]:
        """ngspice runs analyses by kind; they are given in the order of the circuit's cards."""
        if len(plots) == 1:
            return tuple(plots)
        by_kind: defaultdict[str, list[Plot]] = defaultdict(list)
        for plot in plots:
            by_kind[plot.analysis].append(plot)
        ordered: list[Plot] = []
        for analysis in self._circuit.analyses:
            for kind in (analysis.kind, *_BESIDES.get(analysis.kind, ())):
                if by_kind[kind]:
                    ordered.append(by_kind[kind].pop(0))
        return (*ordered, *(plot for rest in by_kind.values() for plot in rest))


def _ending(*, exit_code: int = 0, timed_out: bool = False, plots: tuple[_Seen, ...] = ()) -> Ending:
    return Ending(
        exit_code=exit_code,
        timed_out=timed_out,
        out_of_disk=False,
        plots=plots,
        raw_is_unreadable=False,
        has_other_raw=False,
    )


def _log(words: bytes) -> LogReading:
    """The library's words, each line marked with the stream it would have gone to."""
    streams: dict[Literal["stdout", "stderr"], list[str]] = {"stdout": [], "stderr": []}
    for line in words.decode("utf-8", "replace").split("\n"):
        stream, _, text = line.partition(" ")
        if _OF_THE_LIBRARY.search(text):
            continue
        streams["stderr" if stream == "stderr" else "stdout"].append(text)
    return read_log("\n".join(streams["stdout"]), "\n".join(streams["stderr"]))


def _seen(raw: RawResult, shapes: tuple[_Shape, ...]) -> tuple[_Seen, ...]:
    found, at = [], 0
    for shape in shapes:
        lengths = raw.lengths[at : at + len(shape.slots)]
        found.append(_Seen(shape.analysis, any(lengths), shape.slots))
        at += len(shape.slots)
    return tuple(found)


def _shapes(plots: Sequence[PlotLayout]) -> tuple[_Shape, ...]:
    shapes = list(map(_shape, plots))
    of_distortion = [index for index, shape in enumerate(shapes) if shape.analysis == "disto"]
    for index, name in zip(of_distortion, _DISTORTION.get(len(of_distortion), ()), strict=False):
        shapes[index] = replace(shapes[index], name=f"DISTORTION - {name}")
    return tuple(shapes)


def _shape(layout: PlotLayout) -> _Shape:
    match = _PLOT_NAME.match(layout.name)
    analysis, plot_name = _PLOTS.get(match[1] if match else "", ("other", layout.name))
    if analysis == "noise" and all(name.lower() != "frequency" for name, _, _ in layout.vectors):
        analysis, plot_name = _TOTALS
    slots: list[_Slot] = []
    seen: dict[str, int] = {}
    for index, (written, number, width) in enumerate(layout.vectors):
        kind = _KINDS[number] if number < len(_KINDS) else "notype"
        name = canonical_name(NUMBERED_BRANCH.sub("#branch", written), kind, analysis)
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name = f"{name}#{seen[name]}"
        is_axis = index == 0 and analysis in _WITH_AXIS
        slots.append(
            _Slot(name, unit_of(name, kind, analysis), width, is_axis or kind in ("decibel", "phase"))
        )
    axis = slots[0].name if slots and analysis in _WITH_AXIS else None
    return _Shape(analysis, plot_name, axis, tuple(slots))


def _filled(
    raw: RawResult, shapes: tuple[_Shape, ...], title: str, axes: dict[tuple[int, int], Vector]
) -> list[Plot]:
    plots: list[Plot] = []
    position = offset = 0
    is_whole = 0 not in raw.lengths
    for shape in shapes:
        vectors: dict[str, Vector] = {}
        for slot in shape.slots:
            length = raw.lengths[position]
            position += 1
            if length == SAME:
                repeated = axes.get((id(raw.layout), position))
                if repeated is None:
                    raise WireError("an axis is repeated that was never sent")
                vectors[slot.name] = repeated
                continue
            if not length:  # a quantity that this analysis does not keep
                continue
            data: Array
            if slot.width == 1:
                data = np.frombuffer(raw.data, np.float64, length, offset)
            else:
                data = np.frombuffer(raw.data, np.complex128, length, offset)
                if slot.is_real:
                    data = data.real.copy()
            offset += 8 * slot.width * length
            vector = vectors[slot.name] = Vector(name=slot.name, unit=slot.unit, data=data)
            if slot.name == shape.axis:
                data.setflags(write=False)  # what is known of it holds for every run that repeats it
                axes[id(raw.layout), position] = vector
        axis = shape.axis if shape.axis in vectors else None
        plots.append(
            Plot(
                analysis=shape.analysis,
                name=shape.name,
                title=title,
                vectors=vectors,
                axis_name=axis,
                alike=shape if is_whole else None,
            )
        )
    return plots
