"""What the drawings beside the curves are called: menus need no more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import BesideKind

KIND_TITLES: dict[BesideKind, Message] = {
    "spectrum": msg("Spectrum"),
    "harmonics": msg(".four harmonics"),
    "nyquist": msg("Nyquist plot"),
    "against": msg("Trace against trace"),
    "eye": msg("Eye diagram"),
    "histogram": msg("Histogram"),
    "steps": msg("Measurement against the steps"),
}


def action_of(kind: BesideKind) -> str:
    """Its name in the table of actions."""
    return "plot.measured_steps" if kind == "steps" else f"plot.{kind}"
