"""What a study assumed of the parts it varied, in a line for each kind of spread."""

from __future__ import annotations

import math
from collections.abc import Iterable

from domain.studies.sampling import mismatch_sigma
from domain.studies.statistics import normal_probability
from domain.studies.study_spec import Spread, StudyParameter
from shared.message import Message, msg

_MOST_NAMES = 12


def assumptions(parameters: Iterable[StudyParameter], *, ends_only: bool = False) -> tuple[Message, ...]:
    """How the parts scatter, those that do alike in one line; `ends_only` for a worst case, which takes the
    ends of the tolerances whatever the distribution."""
    groups: dict[Spread | None, list[str]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.spread, []).append(parameter.name)
    return tuple(
        line
        for spread, names in groups.items()
        if spread is not None
        for line in _lines(_listed(names), spread, ends_only=ends_only)
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" (+{more})" if more > 0 else "")


def _lines(names: str, spread: Spread, *, ends_only: bool) -> Iterable[Message]:
    if ends_only:
        yield msg(
            "{names}: at both tolerance limits, ±{reach}", names=names, reach=_size(spread.reach, spread)
        )
        return
    if spread.tolerance:
        yield _told(names, spread, spread.tolerance)
    if spread.lot_tolerance:
        yield msg("{assumed} (shared by the lot)", assumed=_told(names, spread, spread.lot_tolerance))
    if spread.mismatch is not None:
        sigma = _size(mismatch_sigma(spread.mismatch), spread)
        yield msg("{names}: mismatch of each device, normal, sigma {sigma}", names=names, sigma=sigma)


def _told(names: str, spread: Spread, tolerance: float) -> Message:
    size = _size(tolerance, spread)
    if spread.distribution == "uniform":
        return msg("{names}: uniform within ±{size}", names=names, size=size)
    sigma = _size(tolerance / spread.sigmas, spread)
    kind = msg("normal") if spread.distribution == "normal" else msg("lognormal")
    if spread.truncate is not None:
        cut = _size(tolerance / spread.sigmas * spread.truncate, spread)
        return msg(
            "{names}: {kind}, sigma {sigma}, cut off at ±{cut}", names=names, kind=kind, sigma=sigma, cut=cut
        )
    return msg(
        "{names}: {kind}, sigma {sigma}, not cut off: {share} % of the parts are outside ±{size}",
        names=names, kind=kind, sigma=sigma, size=size,
        share=f"{200 * normal_probability(-spread.sigmas):.3g}",
    )  # fmt: skip


def _size(size: float, spread: Spread) -> str:
    return f"{size:.4g}" if spread.is_absolute else f"{100 * size:.4g} %" if math.isfinite(size) else "?"
