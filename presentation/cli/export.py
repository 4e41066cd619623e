"""Vectors and expressions of a result: `export` as tables or Touchstone, `plot` as a picture; circuits for
other programs.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from application.app import Application
from domain.circuit.exchange.suffixes import ports_of
from presentation.cli.measure import told_facts
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.results.exporting import Exported, ExportRequest, PictureFormat, TableFormat
    from application.simulation.exchanging import CircuitFormat

_FORMATS: tuple[TableFormat, ...] = ("csv", "tsv", "json", "mat")
_NETWORK = "touchstone"
_CIRCUITS = ("ltspice", "kicad", "pyspice")
_PICTURES: tuple[PictureFormat, ...] = ("svg", "png", "pdf")
_SIZES_MM = (40.0, 1000.0)
Format = TypeVar("Format", bound=str)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RESULT_OR_CIRCUIT -o FILE [--format F] [--signals EXPR...] [--analysis NAME] [--z0 OHM] ..."""
    _add_common_arguments(parser, (*_FORMATS, _NETWORK, *_CIRCUITS))
    parser.add_argument("--z0", type=float, default=50.0, metavar="OHM")
    parser.add_argument("--complex", choices=("re-im", "mag-ph", "db-ph"), default="re-im")
    parser.add_argument("--units", action=argparse.BooleanOptionalAction, default=None)


def add_plot_arguments(parser: argparse.ArgumentParser) -> None:
    """RAW_OR_RESULT -o FILE.svg|png|pdf [--signals EXPR...] [--analysis NAME] [--title TEXT] ..."""
    _add_common_arguments(parser, _PICTURES)
    parser.add_argument("--title", default="", metavar="TEXT")
    parser.add_argument("--width", type=float, default=180.0, metavar="MM")
    parser.add_argument("--height", type=float, default=110.0, metavar="MM")


def _add_common_arguments(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    parser.add_argument("source", type=Path, metavar="RAW_OR_RESULT")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--format", choices=formats)
    parser.add_argument("--signals", nargs="+", action="extend", default=[], metavar="EXPR")
    parser.add_argument("--analysis", metavar="NAME")
    parser.add_argument("--force", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for a signal there is not, 1 when the result has no data."""
    if args.format in _CIRCUITS or (args.format is None and args.output.lower().endswith(".py")):
        return await _run_circuit(args, app, out)
    if args.format == _NETWORK or (args.format is None and ports_of(args.output) is not None):
        return await _run_network(args, app, out)
    from application.results.exporting import TableOptions

    form: TableFormat = args.format or _format_of(args.output, _FORMATS)
    is_stream = args.output == "-"
    if is_stream and (form == "mat" or out.as_json):
        raise UserInputError(
            msg("Standard output supports csv, tsv and json, and not together with --json."),
            advice=msg("Specify a file with -o."),
            error_type="bad_usage",
        )
    exported = await app.simulation.export.table(
        _request(args, None if is_stream else Path(args.output)),
        TableOptions(
            format=form,
            complex_form=args.complex,
            with_units=form == "tsv" if args.units is None else args.units,
        ),
    )
    facts = await told_facts(args.source, app, out)
    if exported.left_out:
        out.note(
            msg("Only {name} was written; the result also has {others} (choose with --analysis).",
                name=exported.tables[0].name, others=", ".join(exported.left_out))
        )  # fmt: skip
    if out.as_json:
        tables = [
            {
                "name": table.name,
                "rows": table.rows,
                "steps": sum(part.step is not None for part in table.parts),
                "columns": [
                    {"name": column.name, "unit": column.unit, "complex": column.is_complex}
                    for column in table.all_columns
                ],
            }
            for table in exported.tables
        ]
        out.json(_document(facts, exported, form, tables))
    elif not is_stream:
        for table in exported.tables:
            out.say(
                msg("{name}: {columns} {columns:column|columns}, {rows} {rows:row|rows} in "
                    "{path}", name=table.name,
                    columns=len(table.all_columns), rows=table.rows, path=exported.path)
            )  # fmt: skip
    return 0


async def _run_circuit(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the other program would simulate another circuit."""
    form: CircuitFormat = args.format or "pyspice"
    target = Path(args.output)
    made = await app.simulation.export_circuit(args.source, form, target, overwrite=args.force)
    out.json_or_nothing(
        {
            "ok": not made.missing,
            "path": str(made.path),
            "format": form,
            "errors": [{"message": out.translate(each)} for each in made.missing],
            "warnings": [{"message": out.translate(each)} for each in made.notes],
        }
    )
    out.say(msg("Circuit: {path}", path=made.path))
    for each in (*made.missing, *made.notes):
        out.row(out.translate(each))
    return 1 if made.missing else 0


async def _run_network(args: argparse.Namespace, app: Application, out: Output) -> int:
    from application.results.networks import NetworkRequest

    if len(args.signals) > 1 or not args.z0 > 0:
        raise UserInputError(
            msg("A Touchstone file takes one impedance (--signals) and a reference above 0 (--z0)."),
            error_type="bad_usage",
        )
    request = NetworkRequest(
        source=args.source,
        target=Path(args.output),
        impedance=args.signals[0] if args.signals else "",
        reference_ohm=args.z0,
        overwrite=args.force,
    )
    network = await app.simulation.export_network(request)
    rows = len(network.frequencies)
    out.json_or_nothing(
        {"ok": True, "path": str(request.target), "format": _NETWORK, "ports": network.ports, "rows": rows}
    )
    out.say(
        msg("{ports} {ports:port|ports}, {rows} {rows:frequency|frequencies} in {path}",
            ports=network.ports, rows=rows, path=request.target)
    )  # fmt: skip
    return 0


async def run_plot(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for a signal there is not or a result without curves."""
    from application.results.exporting import PictureOptions

    form: PictureFormat = args.format or _format_of(args.output, _PICTURES)
    low, high = _SIZES_MM
    if not (low <= args.width <= high and low <= args.height <= high):
        raise UserInputError(
            msg("A picture must be {low} to {high} mm wide and high.", low=int(low), high=int(high)),
            error_type="bad_usage",
        )
    words = {
        "time": msg("time"),
        "frequency": msg("frequency"),
        "magnitude": msg("magnitude"),
        "phase": msg("phase"),
    }
    exported = await app.simulation.export.picture(
        _request(args, Path(args.output)),
        PictureOptions(
            format=form,
            width_mm=args.width,
            height_mm=args.height,
            title=args.title,
            words={key: out.translate(word) for key, word in words.items()},
        ),
    )
    facts = await told_facts(args.source, app, out)
    if exported.left_out:
        out.note(
            msg("Only {name} was drawn; the result also has {others} (choose with --analysis).",
                name=exported.tables[0].name, others=", ".join(exported.left_out))
        )  # fmt: skip
    if out.as_json:
        tables = [
            {"name": table.name, "signals": [column.name for column in table.columns]}
            for table in exported.tables
        ]
        out.json(_document(facts, exported, form, tables))
    else:
        out.say(msg("Drawn: {path}", path=exported.path))
    return 0


def _request(args: argparse.Namespace, target: Path | None) -> ExportRequest:
    from application.results.exporting import ExportRequest

    return ExportRequest(
        source=args.source,
        target=target,
        signals=tuple(args.signals),
        analysis=args.analysis,
        overwrite=args.force,
    )


def _document(
    facts: Mapping[str, object], exported: Exported, form: str, tables: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    return {
        "ok": True,
        **facts,
        "path": exported.path,
        "format": form,
        "tables": tables,
        "left_out": exported.left_out,
    }


def _format_of(name: str, known: tuple[Format, ...]) -> Format:
    """The format a file's name says. Raises UserInputError when it says none of `known`."""
    suffix = Path(name).suffix.lower().removeprefix(".")
    for one in known:
        if one == suffix:
            return one
    raise UserInputError(
        msg("The file name {name} does not imply a format.", name=name),
        advice=msg(
            "Use one of the extensions {known}, or give --format.", known=" ".join(f".{one}" for one in known)
        ),
        error_type="bad_usage",
    )
