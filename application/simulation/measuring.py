"""Measure a stored result or a raw file with the expression language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shared.errors import CircuitError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import ResultStore, WaveformReader
    from domain.simulation.result import Quantity
    from domain.simulation.retention import Origin


class MeasureResult:
    """The use case: expressions in, quantities out."""

    def __init__(self, *, results: ResultStore, waveforms: WaveformReader) -> None:
        self._results = results
        self._waveforms = waveforms

    async def __call__(self, source: Path, expressions: Sequence[str]) -> dict[str, Quantity | CircuitError]:
        """Each expression's value on `source` (a raw file, a result.json or a result's folder).

        An expression the data can't answer (no crossing, say) has its CircuitError as value. Raises
        UserInputError for a source or an expression that can't be read.
        """
        return await off_loop(self._evaluate, source, tuple(expressions))

    async def set_by_commands(self, source: Path, expressions: Sequence[str]) -> dict[str, str]:
        """The expressions that read a voltage, current or power that a command set, and which one.

        Raises UserInputError for a source that can't be read.
        """
        assigned = await off_loop(self._results.assigned_in, source)
        if not assigned:
            return {}
        from domain.simulation.expressions import set_by

        found = {expression: set_by(expression, assigned) for expression in expressions}
        return {expression: name for expression, name in found.items() if name}

    async def origin_of(self, source: Path) -> Origin:
        """Who computed the data of `source`; never raises."""
        return await off_loop(self._results.origin_of, source)

    async def is_cut_off(self, source: Path) -> bool:
        """Whether the data of `source` end before what their header promises. Raises UserInputError when they
        cannot be read."""
        return await off_loop(self._is_cut_off, source)

    def _is_cut_off(self, source: Path) -> bool:
        with self._waveforms.open(self._results.raw_path_of(source)) as file:
            return any(outline.is_truncated for outline in file.outlines)

    def _evaluate(self, source: Path, expressions: Sequence[str]) -> dict[str, Quantity | CircuitError]:
        from domain.simulation.expressions import evaluate

        values: dict[str, Quantity | CircuitError] = {}
        with self._waveforms.open(self._results.raw_path_of(source)) as file:
            plots = file.plots  # of a large file only what the expressions name is read
            for expression in expressions:
                try:
                    values[expression] = evaluate(expression, plots)
                except CircuitError as error:
                    values[expression] = error
        return values
