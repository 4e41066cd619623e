"""What the kinds of studies are called."""

from __future__ import annotations

from collections.abc import Mapping

from domain.studies.setup import SETUP_KINDS, SetupKind
from shared.message import Message, msg

KINDS: tuple[SetupKind, ...] = SETUP_KINDS
"""In the order of their tabs."""
TITLES: Mapping[SetupKind, Message] = {
    "sweep": msg("Sweep"),
    "montecarlo": msg("Monte Carlo"),
    "corners": msg("Corners"),
    "worst-case": msg("Worst case"),
    "sensitivity": msg("Sensitivity"),
    "map": msg("Map"),
    "optimize": msg("Optimize"),
    "tune": msg("Tune"),
}
BUTTONS: Mapping[SetupKind, Message] = {
    "sweep": msg("Run sweep"),
    "montecarlo": msg("Run Monte Carlo"),
    "corners": msg("Run corners"),
    "worst-case": msg("Run worst case"),
    "sensitivity": msg("Run sensitivity"),
    "map": msg("Run map"),
    "optimize": msg("Run optimization"),
    "tune": msg("Start tuning"),
}
PURPOSES: Mapping[SetupKind, Message] = {
    "sweep": msg("A sweep goes through values of parameters and shows how each measurement follows."),
    "montecarlo": msg(
        "A Monte Carlo builds many circuits whose parts scatter within their tolerances, and counts how many "
        "meet the goals."
    ),
    "corners": msg("Corners run the circuit at each combination of process, supply voltage and temperature."),
    "worst-case": msg("A worst case finds how far measurements go when parts use up their tolerances."),
    "sensitivity": msg("A sensitivity shows how strongly each parameter moves each measurement."),
    "map": msg(
        "A map shows on the plane of two values where each goal is met: its border as a line, the present "
        "design as a dot."
    ),
    "optimize": msg("An optimization searches for values that meet the goals, and verifies the best."),
    "tune": msg("Tuning changes values by sliders while curves and measurements follow."),
}


def title_of(study: str) -> Message:
    """Of a stored study by its kind; a stranger's kind as it is called there."""
    found = {str(kind): title for kind, title in TITLES.items()}
    return found.get(study, msg("{name}", name=study))
