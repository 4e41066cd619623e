"""Tables as CSV, TSV, JSON and MAT files. Text passes through in blocks, whatever its length."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from infrastructure.exports.target import missing_library, new_file
from shared.errors import UserInputError
from shared.message import msg
from shared.spreadsheets import plain_cell

if TYPE_CHECKING:
    from application.results.exporting import ComplexForm, ExportRequest, TableOptions
    from application.results.tables import Table, TablePart
    from domain.simulation.waveform import Array, RealArray

SCHEMA_VERSION = 1
_HALVES: dict[ComplexForm, tuple[str, str]] = {
    "re-im": ("re", "im"),
    "mag-ph": ("mag", "ph"),
    "db-ph": ("db", "ph"),
}
_UNITS = {"ph": "deg", "db": "dB"}
_MAX_MAT_BYTES = 2**31 - 2**16
_MAX_NAME = 63
_MATLAB_WORDS = frozenset(
    ("break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for", "function", "global",
     "if", "otherwise", "parfor", "persistent", "return", "spmd", "switch", "try", "while")
)  # fmt: skip


class TableFiles:
    """The TableWriter port."""

    def write(self, tables: Sequence[Table], request: ExportRequest, options: TableOptions) -> None:
        """Write to the request's target, whole or not at all."""
        if options.format == "mat":
            content = _mat(tables)  # before the file is begun: it may not be possible
            with new_file(request.target, overwrite=request.overwrite) as out:
                out.write(content)
            return
        with new_file(request.target, overwrite=request.overwrite) as out:
            if options.format == "json":
                _write_json(tables, request, options, out)
            else:
                _write_text(tables[0], options, out)


class _Columns:
    """The real columns of a table: a complex one becomes two."""

    def __init__(self, table: Table, form: ComplexForm) -> None:
        self._form = form
        self._columns = table.all_columns
        self.heads: list[tuple[str, str]] = []
        """(name, unit)"""
        self.sources: list[tuple[int, int]] = []
        """(column it comes from, which of its halves)"""
        for place, column in enumerate(self._columns):
            if not column.is_complex:
                self.heads.append((column.name, column.unit))
                self.sources.append((place, 0))
                continue
            for half, word in enumerate(_HALVES[form]):
                self.heads.append((f"{word}({column.name})", _UNITS.get(word, column.unit)))
                self.sources.append((place, half))

    def of(self, part: TablePart, column: int | None = None) -> Iterator[list[RealArray]]:
        """The data of all columns, or of one, in blocks of rows; in one piece where phases have to be
        unwrapped."""
        which = range(len(self._columns)) if column is None else [column]
        is_whole = self._form != "re-im" and any(self._columns[place].is_complex for place in which)
        for block in [part.read(range(part.rows), which)] if is_whole else part.blocks(which):
            yield [
                values
                for place, data in zip(which, block, strict=True)
                for values in (halves(data, self._form) if self._columns[place].is_complex else [data.real])
            ]


def halves(data: Array, form: ComplexForm) -> list[RealArray]:
    """The two real columns a complex one becomes; phases in degrees, unwrapped."""
    import numpy as np

    if form == "re-im":
        return [data.real, data.imag]
    size = np.abs(data)
    with np.errstate(divide="ignore"):
        first = 20 * np.log10(size) if form == "db-ph" else size
    return [first, np.degrees(np.unwrap(np.angle(data)))]


def _write_text(table: Table, options: TableOptions, out: BinaryIO) -> None:
    separator = "," if options.format == "csv" else "\t"
    columns = _Columns(table, options.complex_form)
    values = _step_names(table)
    heads = [*(["step", *values] if values is not None else [])]
    for name, unit in columns.heads:
        heads.append(f"{name} [{unit}]" if options.with_units and unit not in ("", "1") else name)
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="\n").writerow(map(plain_cell, heads))
    out.write(line.getvalue().encode())
    for part in table.parts:
        lead = ""
        if values is not None and part.step is not None:
            known = [part.step.values.get(name, math.nan) for name in values]
            lead = separator.join([str(part.step.number), *_texts(known)]) + separator
        for block in columns.of(part):
            rows = zip(*(_texts(column.tolist()) for column in block), strict=True)
            out.write("".join(f"{lead}{separator.join(row)}\n" for row in rows).encode())


def _step_names(table: Table) -> list[str] | None:
    """The stepped quantities of a table; None when it is not stepped."""
    steps = [part.step for part in table.parts if part.step is not None]
    return None if not steps else list(dict.fromkeys(name for step in steps for name in step.values))


def _texts(values: Sequence[float]) -> list[str]:
    """Every digit that counts; nothing for what is no number, as spreadsheets like it."""
    return [repr(value) if value == value else "" for value in values]  # noqa: PLR0124 - NaN


def _write_json(
    tables: Sequence[Table], request: ExportRequest, options: TableOptions, out: BinaryIO
) -> None:
    def put(text: str) -> None:
        out.write(text.encode())

    put(f'{{"schema_version":{SCHEMA_VERSION},"source":{_json(str(request.source.absolute()))},"tables":[')
    is_first = True
    for table in tables:
        columns = _Columns(table, options.complex_form)
        for part in table.parts:
            step = part.step
            head = {
                "name": table.name,
                "analysis": table.analysis,
                "title": table.title,
                "step": None if step is None else {"number": step.number, "values": dict(step.values)},
                "axis": None if table.axis is None else table.axis.name,
                "points": part.rows,
            }
            put(("\n" if is_first else ",\n") + _json(head)[:-1] + ',"signals":{')
            is_first = False
            for place, (name, unit) in enumerate(columns.heads):
                put(("," if place else "") + f'\n {_json(name)}:{{"unit":{_json(unit)},"data":[')
                column, half = columns.sources[place]
                for number, block in enumerate(columns.of(part, column)):
                    text = _json([value if math.isfinite(value) else None for value in block[half].tolist()])
                    put(("," if number else "") + text[1:-1])
                put("]}")
            put("}}")
    put("\n]}\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mat(tables: Sequence[Table]) -> bytes:
    """MATLAB level 5: variables of a single table stand by themselves, several tables are structs."""
    try:
        from scipy.io import savemat  # type: ignore[import-untyped]
    except ImportError as error:
        raise missing_library("SciPy", error) from error
    import numpy as np

    structs = {}
    for table in tables:
        taken: dict[str, str] = {}
        content: dict[str, Any] = {}
        for place, column in enumerate(table.all_columns):
            parts = [part.whole(place) for part in table.parts]
            data = np.concatenate(parts) if len(parts) > 1 else parts[0]
            if data.nbytes > _MAX_MAT_BYTES:
                raise UserInputError(
                    msg("{signal} is larger than the 2 GB a variable of a MAT file can have.",
                        signal=column.name),
                    advice=msg("Export fewer points, or use the format csv."),
                    error_type="too_large",
                )  # fmt: skip
            content[matlab_name(column.name, taken)] = np.ascontiguousarray(data).reshape(-1, 1)
        names, units = list(taken.values()), [column.unit for column in table.all_columns]
        if (values := _step_names(table)) is not None:
            lengths = [part.rows for part in table.parts]
            for name in ("step", *values):
                numbers = [_of_step(part, name) for part in table.parts]
                content[matlab_name(name, taken)] = np.repeat(np.array(numbers, float), lengths).reshape(
                    -1, 1
                )
                names.append(name)
                units.append("")
        content["signal_names"] = np.array(names, dtype=object).reshape(-1, 1)
        content["signal_units"] = np.array(units, dtype=object).reshape(-1, 1)
        structs[matlab_name(table.name, {})] = content
    whole = next(iter(structs.values())) if len(structs) == 1 else structs
    buffer = io.BytesIO()
    savemat(buffer, whole, long_field_names=True, oned_as="column")
    return buffer.getvalue()


def _of_step(part: TablePart, name: str) -> float:
    if part.step is None:
        return math.nan
    return float(part.step.number) if name == "step" else part.step.values.get(name, math.nan)


def matlab_name(name: str, taken: dict[str, str]) -> str:
    """A name MATLAB takes for `name`: ``v_out`` for ``v(out)``; `taken` remembers what is in use."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "signal"
    if not plain[0].isalpha() or plain in _MATLAB_WORDS:
        plain = f"x{plain}" if plain[0].isdigit() else f"x_{plain}"
    plain = plain[:_MAX_NAME]
    number, unique = 2, plain
    while unique in taken or unique in ("signal_names", "signal_units"):
        tail = f"_{number}"
        unique, number = plain[: _MAX_NAME - len(tail)] + tail, number + 1
    taken[unique] = name
    return unique
