"""The kinds of drawing beside the curves: what each is called, when it is offered, and who makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.simulation.spectrum import WindowName
from presentation.panels.waveforms.beside.bars import harmonics_drawing, has_harmonics, histogram_drawing
from presentation.panels.waveforms.beside.drawing import BesideKind, BesideOptions, Drawing, Level, Subject
from presentation.panels.waveforms.beside.eyes import eye_drawing
from presentation.panels.waveforms.beside.loci import against_drawing, nyquist_drawing
from presentation.panels.waveforms.beside.spectra import spectrum_drawing
from presentation.panels.waveforms.beside.steps import steps_drawing
from shared.errors import CircuitAIError
from shared.message import Message, msg


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way to draw the same traces."""

    make: Callable[[Subject, BesideOptions], Drawing]
    axis_unit: str | None
    """Of the plots it is made of; None: of any."""


KINDS: dict[BesideKind, Kind] = {
    "spectrum": Kind(make=spectrum_drawing, axis_unit="s"),
    "harmonics": Kind(make=harmonics_drawing, axis_unit="s"),
    "nyquist": Kind(make=nyquist_drawing, axis_unit="Hz"),
    "against": Kind(make=against_drawing, axis_unit=None),
    "eye": Kind(make=eye_drawing, axis_unit="s"),
    "histogram": Kind(make=histogram_drawing, axis_unit=None),
    "steps": Kind(make=steps_drawing, axis_unit=None),
}
WINDOW_TITLES: dict[WindowName, Message] = {
    "blackman-harris": msg("Blackman–Harris"),
    "hann": msg("Hann"),
    "flat-top": msg("Flat top"),
    "rectangular": msg("Rectangular"),
}
WINDOW_HELP: dict[WindowName, Message] = {
    "blackman-harris": msg("Side lobes at \N{MINUS SIGN}92 dB: shows weak lines beside strong ones."),
    "hann": msg("Narrow lines, side lobes at \N{MINUS SIGN}31 dB: tells lines apart that are close."),
    "flat-top": msg("Wide lines whose height is right within 0.01 dB: for reading amplitudes."),
    "rectangular": msg("For a whole number of periods only: each line is one bin then."),
}
LEVEL_TITLES: dict[Level, Message] = {
    "db": msg("Amplitude in dB"),
    "dbc": msg("Relative to the fundamental, in dB"),
    "linear": msg("Linear amplitude"),
}


def kinds_for(subject: Subject) -> list[BesideKind]:
    """What can be drawn of it."""
    axis = subject.plot.axis
    return [
        name
        for name, kind in KINDS.items()
        if (name == "steps" or axis is not None)
        and kind.axis_unit in (None, "" if axis is None else axis.unit)
        and (name != "harmonics" or has_harmonics([metric for metric, _, _ in subject.metrics]))
        and (name != "steps" or subject.measured)
    ]


def drawing_of(subject: Subject, options: BesideOptions) -> Drawing:
    """The drawing somebody has chosen, or in words why there is none. Slow."""
    if not subject.traces and options.kind not in ("harmonics", "steps"):
        return Drawing(problem=msg("No trace is drawn."))
    try:
        return KINDS[options.kind].make(subject, options)
    except CircuitAIError as error:
        return Drawing(problem=error.message)
