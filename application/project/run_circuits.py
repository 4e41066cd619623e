"""The circuit of a run of a study, or of a case, in a file of its own beside the circuit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.project.undoing import ProjectOperations
    from application.studies.written_values import WriteValues

KEEP_RUN_TOOL = "keep_run"
"""How the log names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCircuit:
    """What was written."""

    path: Path
    before: str
    """The text of the circuit it was made from."""
    line: int
    """The first one below the title that is another there, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitOfRun:
    """The use case."""

    operations: ProjectOperations
    write_values: WriteValues

    async def __call__(
        self,
        root: Path,
        circuit: Path,
        values: Mapping[str, float],
        *,
        corner: str = "",
        label: str,
        title: str,
    ) -> MadeCircuit:
        """Write the circuit with these values, and the copies of included files that belong to it.

        `label` becomes a part of its name, `title` its first line. Raises UserInputError for values the
        circuit does not have, CircuitError, EnvironmentProblem.
        """
        change, included = await self.write_values.of_run(circuit, values, corner=corner, title=title)
        folder = circuit.parent.relative_to(root)
        for name, content in included.items():
            await self._add(root, folder / name, content)
        plain = "".join(sign if sign.isalnum() or sign in "_-" else "_" for sign in label)
        path = await self._add(root, folder / f"{circuit.stem}_{plain}{circuit.suffix}", change.after)
        line = next((number for number in change.lines if number > 1), 1)
        return MadeCircuit(path=path, before=change.before.decode("utf-8", errors="replace"), line=line)

    async def _add(self, root: Path, name: Path, content: bytes) -> Path:
        record = await self.operations.add_file(root, str(name), content, session_id="", tool=KEEP_RUN_TOOL)
        return root / record.path
