"""gm/Id tables of MOSFET models, simulated on the spot and kept in the project's archive."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from application.simulation.circuit_files import read_circuit_file
from application.simulation.prepared_circuit import prepare_circuit
from domain.circuit.netlist import CIRCUIT_SUFFIXES, Netlist
from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome, Varied
from domain.simulation.device_table import (
    DRAIN_V,
    FREQUENCY_HZ,
    GATE_V,
    SIGNALS,
    WIDTH_M,
    DeviceBench,
    DeviceTable,
    PlacedCard,
    device_bench,
    table_of,
)
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import ROWS_FILE
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from application.ports.simulation import (
        BatchSimulator,
        ModelLibrary,
        ResultStore,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
    )

_HEAD = ("vds", "vgs", "id", "gm", "gds", "cgg", "vth", "vdsat")
_RUN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """Which device."""

    model: str
    length_m: float
    width_m: float = WIDTH_M
    """Of the device that is simulated: figures for a metre of width are those of about this one."""
    file: Path | None = None
    """The circuit or library that has the model; None: the library that comes with the program."""
    beside: Path
    """A file of the project that keeps the table."""
    channel: str = ""
    """``nmos`` or ``pmos``: what it has to be; then `model` may be "", for the only one of these."""
    bulk_v: float = 0.0
    """By how much the source stands above the bulk (of a PMOS: below)."""
    libraries: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTables:
    """The use case; one instance serves any number of tables."""

    batch: BatchSimulator
    simulator: Simulator
    sources: SourceReaders
    results: ResultStore
    models: ModelLibrary
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    async def __call__(self, request: TableRequest) -> DeviceTable:
        """The table of a model at one length: the archive's, else that of one batch of operating points.

        Raises UserInputError for a model that is not there or doesn't simulate, EnvironmentProblem without a
        simulator.
        """
        for size_m in (request.length_m, request.width_m):
            if not 1e-9 <= size_m <= 1e-1:
                raise UserInputError(
                    msg("{size} m is not the size of a transistor.", size=f"{size_m:g}"),
                    advice=msg("Write it with its unit: 0.5u."),
                )
        version = await self.simulator.version()
        bench = await off_loop(self._bench, request)
        key = hashlib.sha256(f"gm/Id 1 {version}\n{bench.deck}".encode()).hexdigest()
        known = await off_loop(self._archived, request, bench, key)
        if known is not None:
            return known
        figures = await self._simulated(bench)
        table = await off_loop(table_of, bench, figures)
        await off_loop(self._keep, request, figures, key)
        return table

    def _bench(self, request: TableRequest) -> DeviceBench:
        return device_bench(
            self._cards(request), request.model, request.length_m, request.width_m,
            channel=request.channel, bulk_v=request.bulk_v,
        )  # fmt: skip

    def _cards(self, request: TableRequest) -> Sequence[PlacedCard]:
        if request.file is None:
            model = next((m for m in self.models.models if m.name.lower() == request.model.lower()), None)
            if model is None:
                raise UserInputError(
                    msg("The model library has nothing like “{query}”.", query=request.model),
                    advice=msg("Name the circuit or library file that has the model."),
                    error_type="no_such_model",
                )
            parsed = Netlist.parse(f"* library\n{model.text}".encode())
            return [(each, f"{model.name}.lib", each.line) for each in parsed.statements]
        data = None
        if request.file.suffix.lower() not in CIRCUIT_SUFFIXES:  # a library has no title line
            folders = (*request.libraries, *self.libraries())
            data = b"* library\n" + read_circuit_file(self.sources, request.file, folders)[0]
        prepared = prepare_circuit(
            self.sources,
            request.file,
            libraries=request.libraries,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(request.file),
            data=data,
        )
        title = 0 if data is None else 1
        cards: list[PlacedCard] = []
        for placed in prepared.tree.expanded:
            file, line = placed.file or request.file, placed.statement.line
            cards.append(
                (placed.statement, file.name, line - title if file.name == request.file.name else line)
            )
        return cards

    async def _simulated(self, bench: DeviceBench) -> list[list[float]]:
        circuit = BatchCircuit(
            deck=bench.deck.encode(),
            deck_path=Path("/device.cir"),
            varied=tuple(
                Varied(name=name, way="alter", targets=(name,), nominal=0.0) for name in ("vg", "vd")
            ),
            analyses=Netlist.parse(bench.deck.encode()).analyses,
        )
        places = [(gate, drain) for drain in DRAIN_V for gate in GATE_V]
        runs = tuple(
            BatchRun(run_id=number, circuit=0, values=(bench.sign * gate, bench.sign * drain))
            for number, (gate, drain) in enumerate(places)
        )
        figures = [[math.nan] * 6 for _ in places]
        batch = Batch(circuits=(circuit,), runs=runs, signals=SIGNALS, timeout_s=_RUN_S)
        outcomes = cast("AsyncGenerator[RunOutcome, None]", self.batch.run(batch, workers=1))
        async with aclosing(outcomes):
            async for outcome in outcomes:
                if outcome.state == "ok":
                    figures[outcome.run_id] = _figures(outcome, bench.sign)
        return figures

    # ---- the archive -----------------------------------------------------------------------------

    def _archived(self, request: TableRequest, bench: DeviceBench, key: str) -> DeviceTable | None:
        for _, table in self.results.former_searches(request.beside, key):
            rows = list(csv.reader(io.StringIO(table.decode("utf-8"))))[1:]
            if len(rows) == len(DRAIN_V) * len(GATE_V):
                return table_of(bench, [[float(cell) for cell in row[2:]] for row in rows])
        return None

    def _keep(self, request: TableRequest, figures: Sequence[Sequence[float]], key: str) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_HEAD)
        places = [(drain, gate) for drain in DRAIN_V for gate in GATE_V]
        writer.writerows([*place, *map(repr, row)] for place, row in zip(places, figures, strict=True))
        name, folder = self.results.new_result(request.beside)
        document = {
            "id": name,
            "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "kind": "study",
            "search_key": key,
            "status": "ok",
            "netlist": {"path": str(request.file or request.beside), "sha256": ""},
            "study": "gm_id",
            "ok": True,
            "model": request.model,
            "length": request.length_m,
            "width": request.width_m,
            "rows_path": ROWS_FILE,
            "metrics": {},
        }
        self.results.save_study(folder, document, text.getvalue().encode())


def _figures(outcome: RunOutcome, sign: int) -> list[float]:
    """Id, gm, gds, Cgg, threshold and VDSsat of one operating point; NaN for what the model doesn't tell."""
    by_kind = {plot.analysis: plot.vectors for plot in outcome.plots}
    point, response = by_kind["op"], by_kind["ac"]

    def of(*names: str) -> float:
        return next((float(point[f"@m1[{n}]"].data.real[0]) for n in names if f"@m1[{n}]" in point), math.nan)

    gate_f = -float(response["i(vg)"].data.imag[0]) / (2 * math.pi * FREQUENCY_HZ)
    # BSIM tells VTH of either kind as positive, the older levels von as it is.
    threshold = of("vth") if "@m1[vth]" in point else sign * of("von")
    return [abs(of("id")), abs(of("gm")), abs(of("gds")), gate_f, threshold, abs(of("vdsat"))]
