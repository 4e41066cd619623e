"""What a designer hands over: an understood request, and a circuit proposed for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.simulation.goals import DesignGoal
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignIntent:
    """A sentence, understood."""

    family: str
    """Key of the circuit family: ``first_order``, ``sallen_key``, ``buck``."""
    parameters: dict[str, Any]
    """What was asked, plain JSON types, SI units in the names: ``cutoff_hz``, ``order`` ..."""
    goals: tuple[DesignGoal, ...]
    assumptions: tuple[Message, ...] = ()
    """What was not said and how it was chosen."""
    language: Literal["en", "zh"] = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A circuit for an intent."""

    file_stem: str
    """Suggested file name without suffix or figures, safe on every system: ``buck_converter``."""
    netlist: str
    values: dict[str, float] = field(default_factory=dict)
    """The sized component values by element name, SI units."""
    tuning: dict[str, Any] = field(default_factory=dict)
    """What `revise` needs to go on from here; plain JSON types."""
    notes: tuple[Message, ...] = ()
    """What was done and why, for the user."""


def netlist_hash(netlist: str) -> str:
    """The SHA-256 of a netlist's text, whatever its line ends."""
    return hashlib.sha256("\n".join(netlist.splitlines()).encode()).hexdigest()
