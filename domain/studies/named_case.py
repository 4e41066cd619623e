"""A case with a name: what is different in it from the circuit as written, kept and simulated with every run.

A value that scatters is kept as a factor of what is written, so that the case follows when the value is
changed; a temperature, a supply and a load of a range are kept as they are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from domain.circuit.numbers import format_number
from domain.studies.corners import TEMPERATURE, Corner, Process, Setting

MOST_CASES = 20
"""Of one circuit: each is a run beside every run."""
LONGEST_NAME = 60
_MOST_SETTINGS = 200
_HUGE = 1e300
_MOST_TOLD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCase:
    """One of them."""

    name: str
    section: str = ""
    """The library section of its process corner; "" = that of the circuit."""
    settings: tuple[Setting, ...] = ()

    @property
    def corner(self) -> Corner:
        """The same as a study simulates it."""
        process = Process(name=self.section, sections=(("", self.section),)) if self.section else None
        return Corner(name=self.name, process=process, settings=self.settings)

    @property
    def conditions(self) -> str:
        """What is different in it, the first of it: ``ss, temp = 125 °C, R1 −5 %``."""
        told = [*([self.section] if self.section else []), *map(_told, self.settings[:_MOST_TOLD])]
        more = len(self.settings) - _MOST_TOLD
        return ", ".join(told) + (f" (+{more})" if more > 0 else "")


def case_of_run(
    name: str,
    values: Mapping[str, float],
    *,
    section: str,
    nominals: Mapping[str, float],
    scattering: Collection[str],
) -> NamedCase:
    """The case of a study's run in which these values were set.

    `nominals`: what the circuit was written with; `scattering`: names of values whose deviation is a share of
    it. Values that were as written are left out.
    """
    written = {key.lower(): value for key, value in nominals.items()}
    shares = {key.lower() for key in scattering}
    settings = []
    for key, value in values.items():
        nominal = written.get(key.lower(), math.nan)
        if value == nominal or not math.isfinite(value):
            continue
        is_factor = key.lower() in shares and math.isfinite(nominal) and nominal != 0
        settings.append(Setting(name=key, value=value / nominal if is_factor else value, is_factor=is_factor))
    return NamedCase(name=name, section=section, settings=tuple(settings))


def case_to_plain(case: NamedCase) -> dict[str, Any]:
    """As it is stored: ``{"name", "section", "set": {"temp": 125.0, "R1": {"times": 0.95}}}``."""
    values = {each.name: {"times": each.value} if each.is_factor else each.value for each in case.settings}
    return {"name": case.name, "section": case.section, "set": values}


def case_from_plain(item: object) -> NamedCase | None:
    """A stored one; None for what is none: the file may have come with somebody's project."""
    if not isinstance(item, Mapping):
        return None
    name, section, values = item.get("name"), item.get("section", ""), item.get("set")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not isinstance(section, str):
        return None
    if not isinstance(values, Mapping) or len(values) > _MOST_SETTINGS:
        return None
    settings = []
    for key, value in values.items():
        is_factor = isinstance(value, Mapping)
        figure = _figure(value.get("times") if isinstance(value, Mapping) else value)
        if figure is None:
            return None
        settings.append(Setting(name=str(key), value=figure, is_factor=is_factor))
    return NamedCase(name=name, section=section, settings=tuple(settings))


def _figure(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _HUGE:
        return None
    return float(value)


def _told(setting: Setting) -> str:
    if setting.is_factor:
        share = f"{100 * (setting.value - 1):+.3g}".replace("-", "−")
        return f"{setting.name} {share} %"
    unit = " °C" if setting.name.lower() == TEMPERATURE else ""
    return f"{setting.name} = {format_number(setting.value, 4)}{unit}".replace("-", "−")
