"""An operating point as lines beside nets and elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from domain.circuit.elements import canonical_node
from domain.circuit.schematic.annotating import Annotations
from domain.simulation.operating_point import REGIONS
from presentation.panels.waveforms.figures import joined, quantity

if TYPE_CHECKING:
    from domain.simulation.operating_point import OperatingPoint
    from shared.message import Message

_DIGITS = 3
_CURRENTS, _DROPS = ("ic", "id"), ("vce", "vds", "vd")


def figures_of(point: OperatingPoint, language: Callable[[Message], str]) -> Annotations:
    """Voltages by net; of transistors and diodes current, voltage and region."""
    elements: dict[str, list[str]] = {}
    for device in point.devices:
        lines = []
        for keys, unit in ((_CURRENTS, "A"), (_DROPS, "V")):
            key = next((each for each in keys if each in device.figures), None)
            if key is not None:
                value = joined(*quantity(device.figures[key], unit, _DIGITS))
                lines.append(f"{key.capitalize()} {value}")
        if device.region:
            lines.append(language(REGIONS[device.region]))
        elements[device.name] = lines
    nets = {
        canonical_node(name): joined(*quantity(volts, "V", _DIGITS)) for name, volts in point.nodes.items()
    }
    return Annotations(elements, nets)
