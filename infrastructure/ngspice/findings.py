"""What a log tells: one finding per failure or warning. The codes: docs/simulation.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.message import Message

Severity = Literal["error", "warning"]

_MAX_QUOTE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the log tells, with all that helps to find the line it is about."""

    severity: Severity
    code: str
    message: Message
    advice: Message | None = None
    element: str | None = None
    node: str | None = None
    analysis: str | None = None
    """Kind of the analysis it is about: tran, op, dc ..."""
    number: int | None = None
    """ngspice's line number; it does not say of which file."""
    card: str | None = None
    """The line ngspice quotes (lower case, rewritten); never shown, only searched for."""
    word: str | None = None
    """A word the line must contain: a parameter, a file name, a signal."""
    begins: tuple[str, ...] = ()
    """The line must begin with one of these: a directive, a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """All findings, each told once."""

    findings: tuple[Finding, ...]
    """Errors first."""
    quit_by_deck: bool
    """A control block ended ngspice itself (`quit`)."""
    aborted: bool
    """ngspice said that an analysis was aborted or the circuit not loaded."""
    begun: bool = False
    """It said that an analysis began."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")


def quoted(text: str) -> str:
    """A piece of ngspice's text short enough and printable enough to show."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _MAX_QUOTE else flat[: _MAX_QUOTE - 3] + "..."
