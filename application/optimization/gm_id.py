"""A search over gm/Id of a transistor: the range of its width at a current, by a table of its own model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from application.simulation.device_tables import DeviceTables, TableRequest
from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.plan import value_in
from domain.circuit.parameters import resolve_parameters
from domain.simulation.device_table import DeviceTable
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import Range, StudyParameter
from shared.message import msg

_BISECTIONS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """One gm/Id that is searched by a width."""

    device: str
    parameter: str
    """What is searched: ``m1.w``, or the `.param` its width is."""
    table: DeviceTable
    current: float
    drain_v: float
    within: tuple[float, float]
    """Of gm/Id (1/V)."""

    def width(self, efficiency: float) -> float:
        return self.table.at(efficiency, self.drain_v).width(self.current)

    def efficiency(self, width: float) -> float:
        """gm/Id (1/V) at a width (m): it rises with the width."""
        low, high = self.within
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.width(middle) < width else (low, middle)
        return (low + high) / 2


async def inversions_of(
    parameters: Sequence[StudyParameter], prepared: PreparedCircuit, libraries: tuple[Path, ...],
    tables: DeviceTables,
) -> tuple[tuple[StudyParameter, ...], tuple[Inversion, ...]]:  # fmt: skip
    """The parameters with widths in the place of each ``gmid(M1)``, and what each stands for.

    Raises UserInputError for a transistor or model that is not there, and a gm/Id the model does not reach.
    """
    found: list[Inversion] = []
    changed: list[StudyParameter] = []
    for number, parameter in enumerate(parameters):
        if parameter.bias is None:
            changed.append(parameter)
            continue
        inversion = await _inversion(parameter, f"parameters[{number}]", prepared, libraries, tables)
        low, high = (inversion.width(each) for each in inversion.within)
        found.append(inversion)
        span = Range(minimum=low, maximum=high, scale="log")
        changed.append(replace(parameter, name=inversion.parameter, range=span, bias=None))
    return tuple(changed), tuple(found)


async def _inversion(
    parameter: StudyParameter, place: str, prepared: PreparedCircuit, libraries: tuple[Path, ...],
    tables: DeviceTables,
) -> Inversion:  # fmt: skip
    bias, span = parameter.bias, parameter.range
    assert bias is not None, "only a gm/Id has a bias"
    elements = {element.key: element for element in prepared.netlist.elements if not element.scope}
    element = elements.get(bias.device.lower())
    if element is None or element.letter != "m" or element.model is None or "w" not in element.params:
        raise spec_error(
            f"{place}.name",
            msg("refers to {name}, but the circuit has no MOSFET of that name with W=...", name=bias.device),
        )
    if span is None:
        raise spec_error(f"{place}.min", msg("is missing: a range needs min and max"))
    written = element.params["w"].text.strip("{}' ").lower()
    is_parameter = any(each.name == written and not each.scope for each in prepared.netlist.parameters)
    length = element.params.get("l")
    length_m = None if length is None else value_in(length.text, resolve_parameters(prepared.tree))
    if length_m is None:
        raise spec_error(
            f"{place}.name", msg("refers to {name}, whose length the circuit does not give", name=bias.device)
        )
    request = TableRequest(
        model=element.model.text, length_m=length_m, file=prepared.circuit, beside=prepared.circuit,
        libraries=libraries,
    )  # fmt: skip
    inversion = Inversion(
        device=element.name,
        parameter=written if is_parameter else f"{element.name}.w",
        table=await tables(request),
        current=bias.current,
        drain_v=bias.drain_v,
        within=(span.minimum, span.maximum),
    )
    # A model with effects of narrow channels is looked at again at about the width it comes to.
    middle = math.sqrt(inversion.width(span.minimum) * inversion.width(span.maximum))
    table = await tables(replace(request, width_m=float(f"{middle:.2g}")))
    return replace(inversion, table=table)
