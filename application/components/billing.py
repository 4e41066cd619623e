"""The bill of materials of a circuit file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.prepared_circuit import prepare_circuit
from domain.components.bill import Bill, as_csv, as_markdown, bill_of
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from application.ports.simulation import SimulatorSettingsStore, SourceReaders


@dataclass(frozen=True, slots=True, kw_only=True)
class CountParts:
    """The use case; one instance serves any number of circuits."""

    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]]
    write_file: Callable[[Path, bytes], None]
    """Puts a file on the disk, whole or not at all."""

    async def __call__(
        self, circuit: Path, *, data: bytes | None = None, libraries: tuple[Path, ...] = ()
    ) -> Bill:
        """The parts of a circuit, read as a simulation would; `data` is an editor's text of it.

        Raises UserInputError for what cannot be read.
        """
        return await off_loop(self._bill, circuit, data, libraries)

    async def write(self, bill: Bill, target: Path, *, title: str, overwrite: bool = False) -> None:
        """Put the table into a `.csv` or `.md` file. Raises UserInputError for another name, and for one that
        is there already."""
        await off_loop(self._write, bill, target, title, overwrite)

    def _write(self, bill: Bill, target: Path, title: str, overwrite: bool) -> None:
        suffix = target.suffix.lower()
        if suffix not in (".csv", ".md"):
            raise UserInputError(
                msg("The end of {path} does not tell the format.", path=target),
                advice=msg("Use .csv or .md."),
                error_type="bad_usage",
            )
        if not overwrite and target.exists():
            raise UserInputError(
                msg("{path} exists already.", path=target),
                advice=msg("Choose another name."),
                file=target,
                error_type="target_exists",
            )
        # A spreadsheet takes a CSV without a mark for the system's own encoding.
        text = "\ufeff" + as_csv(bill) if suffix == ".csv" else as_markdown(bill, title)
        self.write_file(target.absolute(), text.encode())

    def _bill(self, circuit: Path, data: bytes | None, libraries: tuple[Path, ...]) -> Bill:
        prepared = prepare_circuit(
            self.sources,
            circuit,
            libraries=libraries,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(circuit),
            data=data,
        )
        return bill_of(prepared.tree)
