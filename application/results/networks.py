"""Network parameters of a result, written as a Touchstone file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.results.tables import tables_of
from domain.circuit.exchange.suffixes import ports_of
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from application.ports.simulation import ResultStore, WaveformReader
    from application.results.tables import Table
    from domain.simulation.touchstone import Network

_SCATTERING = re.compile(r"(?:v\()?s_(?P<row>\d+)_(?P<column>\d+)\)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRequest:
    """What to write, and where."""

    source: Path
    """A raw file, a result.json or a result's folder."""
    target: Path
    impedance: str = ""
    """An expression over frequency that is the impedance of one port; "" = what a `.sp` analysis found."""
    reference_ohm: float = 50.0
    overwrite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExportNetwork:
    """The use case."""

    results: ResultStore
    waveforms: WaveformReader
    write_file: Callable[[Path, bytes], None]

    async def __call__(self, request: NetworkRequest) -> Network:
        """Write the file. Raises UserInputError for what the result has not, or a target that cannot be."""
        return await off_loop(self._export, request)

    def _export(self, request: NetworkRequest) -> Network:
        from domain.simulation.touchstone import touchstone_text

        if request.target.exists() and not request.overwrite:
            raise UserInputError(
                msg("{path} exists already.", path=request.target),
                advice=msg("Choose another name."),
                file=request.target,
                error_type="target_exists",
            )
        with self.waveforms.open(self.results.raw_path_of(request.source)) as file:
            if request.impedance:
                network = _of_impedance(tables_of(file, (request.impedance,)), request)
            else:
                network = _of_scattering(tables_of(file), request)
        said = ports_of(request.target.name)
        if said != network.ports:
            raise UserInputError(
                msg(
                    "A network of {count} {count:port|ports} is written to a file that ends in .s{count}p.",
                    count=network.ports,
                ),
                error_type="bad_usage",
            )
        text = touchstone_text(network, comment=f"Circuit Design AI, {request.source.name}")
        self.write_file(request.target, text.encode("ascii", "replace"))
        return network


def _of_scattering(tables: list[Table], request: NetworkRequest) -> Network:
    import numpy as np

    from domain.simulation.touchstone import MOST_PORTS, Network

    for table in tables:
        names = [_SCATTERING.match(column.name) for column in table.columns]
        found = {(int(m["row"]), int(m["column"])): at for at, m in enumerate(names, 1) if m is not None}
        if not found:
            continue
        ports = max(map(max, found))
        wanted = [(row, column) for row in range(1, ports + 1) for column in range(1, ports + 1)]
        if ports > MOST_PORTS or any(each not in found for each in wanted) or len(table.parts) != 1:
            break
        (part,) = table.parts
        values = np.stack([np.asarray(part.whole(found[each]), dtype=complex) for each in wanted], axis=1)
        return Network(
            kind="s",
            reference_ohm=request.reference_ohm,
            frequencies=np.real(part.whole(0)),
            values=values.reshape(-1, ports, ports),
        )
    raise UserInputError(
        msg("The result has no whole set of S parameters of one run."),
        advice=msg(
            "Simulate .sp with ports (portnum, z0), or give the impedance of one port as the signal: "
            "v(in)/-i(v1)."
        ),
        error_type="no_network",
    )


def _of_impedance(tables: list[Table], request: NetworkRequest) -> Network:
    """S11 = (Z - R) / (Z + R) of an impedance over frequency."""
    import numpy as np

    from domain.simulation.touchstone import Network

    table = tables[0]
    if table.axis is None or table.axis.unit != "Hz" or len(table.parts) != 1:
        raise UserInputError(
            msg("{name} is not one curve over frequency.", name=request.impedance), error_type="no_network"
        )
    (part,) = table.parts
    impedance = np.asarray(part.whole(1), dtype=complex)
    values = (impedance - request.reference_ohm) / (impedance + request.reference_ohm)
    return Network(
        kind="s",
        reference_ohm=request.reference_ohm,
        frequencies=np.real(part.whole(0)),
        values=values.reshape(-1, 1, 1),
    )
