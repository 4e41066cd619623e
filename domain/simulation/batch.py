"""Many runs of one circuit: what is varied in each, and what each gave.

A batch has one or more circuits (one a process corner, say) and any number of runs. A run names its
circuit and gives every varied quantity of that circuit its value, in the circuit's order, so that no run
can inherit a value from the one before it, on whatever worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from domain.circuit.analyses import Analysis
from domain.simulation.result import SimulationIssue
from domain.simulation.waveform import Plot

ChangeWay = Literal["alter", "altermod", "alterparam"]
"""How a loaded circuit takes a new value, cheapest first.

``alter`` sets one device's principal value or parameter, ``altermod`` one parameter of a `.model`; both leave
the rest of the circuit as it is and are only right where nothing else was computed from that number.
``alterparam`` sets a `.param` and expands the circuit again (`reset`), which undoes every ``alter`` before
it: parameters are therefore set first.
"""

RunState = Literal["ok", "failed", "timeout", "crashed", "cancelled"]
"""``crashed``: the simulator's process ended during this run, twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """One quantity that changes from run to run."""

    name: str
    """As the user wrote it: ``R1``, ``m1.w``, ``x1.r2``, ``rload``, ``temp``."""
    way: ChangeWay
    targets: tuple[str, ...]
    """What ngspice is told to change, lower case: ``r1``, ``@m1[w]``, all that have the value of a `.param`;
    or the name of one `.param`."""
    nominal: float
    """Its value in the circuit as written, in SI units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCircuit:
    """One deck that workers load once; everything it needs is named, as in a `SimulationJob`."""

    deck: bytes
    deck_path: Path
    varied: tuple[Varied, ...]
    analyses: tuple[Analysis, ...]
    """What every run has to give to have succeeded."""
    included_files: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    companions: Mapping[str, bytes] = field(default_factory=dict)
    readable_dirs: tuple[Path, ...] = ()
    hidden_dirs: tuple[Path, ...] = ()
    compatibility: str | None = None
    """ngspice's `ngbehavior` (``ltpsa``, ``ps`` ...), set before the circuit is read; None = not set."""
    random_seed: int = 0
    """Random functions of the deck (``agauss``) draw in each run by this and the run's number."""
    has_control_block: bool = False
    """`.control` and `*#` lines are not run in a batch: the runs' own analyses are."""

    def beginning_with(self, values: Sequence[float]) -> BatchCircuit:
        """The circuit with these values, one for each of `varied`, in the parameters `alterparam` sets."""
        deck = self.deck
        for varied, value in zip(self.varied, values, strict=True):
            if varied.way == "alterparam":
                card = f".param {varied.targets[0]}="
                deck = re.sub(rf"(?m)^{re.escape(card)}\S*".encode(), f"{card}{value!r}".encode(), deck)
        return replace(self, deck=deck)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """One run."""

    run_id: int
    """Unique in its batch, from 0; results are keyed to it."""
    circuit: int
    """Index into the batch's circuits."""
    values: tuple[float, ...]
    """One for each of the circuit's `varied`, in its order, in SI units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Runs to be done, in any order and on any number of workers."""

    circuits: tuple[BatchCircuit, ...]
    runs: tuple[BatchRun, ...]
    signals: tuple[str, ...] | None = None
    """Canonical names of the vectors that are wanted beside the axis (``v(out)``, ``i(v1)``,
    ``@m1[id]``); None for all. A name that an analysis does not have is left out of its plot."""
    timeout_s: float = 60.0
    """Wall time of one run; its worker is replaced when it is over."""
    memory_bytes: int = 2 * 2**30
    """Address space of one worker."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunOutcome:
    """What one run gave."""

    run_id: int
    state: RunState
    plots: tuple[Plot, ...]
    """One per analysis, in the order of the circuit's analyses; empty unless `state` is ok."""
    issues: tuple[SimulationIssue, ...] = ()
    duration_s: float = 0.0
    """Wall time in the worker."""
