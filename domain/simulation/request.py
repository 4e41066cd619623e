"""What is asked of a simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.circuit.analyses import Analysis

DECK_NAME = "deck.cir"
RAW_NAME = "ngspice.raw"
TAKEN_NAMES = frozenset((DECK_NAME, RAW_NAME))
"""Names of the simulator's own files beside the deck."""


DEFAULT_RUN_BYTES = 2**30
"""A transient of ten million points with a dozen signals: beyond it is more often a mistake than a wish."""
LEAST_RUN_BYTES, MOST_RUN_BYTES = 2**20, 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """What one run may use."""

    wall_s: float = 120.0
    cpu_s: int = 600
    memory_bytes: int = 4 * 2**30
    file_bytes: int | None = None
    """What all files of the run together may take; None: what the user's settings allow a run."""
    log_bytes: int = 4 * 2**20
    """How much of stdout and of stderr is kept (head and tail)."""

    @property
    def largest(self) -> int:
        """Bytes of all files together."""
        return DEFAULT_RUN_BYTES if self.file_bytes is None else self.file_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationJob:
    """Everything a simulator needs for one run; the deck is complete and already edited."""

    deck: bytes
    """The deck exactly as ngspice shall read it. Its line numbers equal those of `deck_path`."""
    deck_path: Path
    """The user's file the deck came from: errors are reported there, and its relative includes and
    data files are found from there."""
    included_files: tuple[Path, ...] = ()
    """Files the deck needs, as found by our own parser: real paths of regular files, checked."""
    data_files: tuple[Path, ...] = ()
    """Files with numbers that models of the deck read, where the deck says they are; checked too."""
    companions: Mapping[str, bytes] = field(default_factory=dict)
    """Corrected copies of included files, put beside the deck under these plain names, which are none of
    `TAKEN_NAMES`."""
    readable_dirs: tuple[Path, ...] = ()
    """Folders the run may read besides: the project (when it has a .circuit_ai/) and libraries."""
    hidden_dirs: tuple[Path, ...] = ()
    """Folders inside `readable_dirs` the run must not see (.circuit_ai/)."""
    analyses: tuple[Analysis, ...] = ()
    """What must be in the raw file for the run to have succeeded."""
    has_control_block: bool = False
    """The deck has `.control` or `*#` lines, which may run analyses and write files themselves."""
    output_folders: tuple[str, ...] = ()
    """Folders its commands write into, relative to where it runs, outer ones first."""
    ends_with_commands: bool = False
    """Its commands run everything and quit: ngspice is not asked to run the analysis cards afterwards."""
    saved_beside: tuple[str, ...] = ()
    """Device quantities the deck was made to save besides its own signals: what the log says of them is told
    to nobody."""
    compatibility: str | None = None
    """ngspice's `ngbehavior` (``ltpsa``, ``ps`` ...), set before the circuit is read; None = not set."""
    stop_time_s: float | None = None
    """Stop time of the transient analysis (s), the denominator of progress; None when there is none."""
    output_dir: Path
    """Where the raw files and the log are put; exists and is empty."""
    limits: ResourceLimits = field(default_factory=ResourceLimits)
