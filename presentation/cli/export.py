"""`export RAW_OR_RESULT`: vectors and expressions as CSV, TSV, JSON or MAT."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from application.app import Application
from presentation.cli.measure import told_facts
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.results.exporting import TableFormat

_FORMATS: tuple[TableFormat, ...] = ("csv", "tsv", "json", "mat")
Format = TypeVar("Format", bound=str)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RAW_OR_RESULT -o FILE [--format F] [--signals EXPR...] [--analysis NAME] ..."""
    parser.add_argument("source", type=Path, metavar="RAW_OR_RESULT")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--format", choices=_FORMATS)
    add_choice_of_signals(parser)
    parser.add_argument("--complex", choices=("re-im", "mag-ph", "db-ph"), default="re-im")
    parser.add_argument("--units", action=argparse.BooleanOptionalAction, default=None)


def add_choice_of_signals(parser: argparse.ArgumentParser) -> None:
    """What `export` and `plot` have in common."""
    parser.add_argument("--signals", nargs="+", action="extend", default=[], metavar="EXPR")
    parser.add_argument("--analysis", metavar="NAME")
    parser.add_argument("--force", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for a signal there is not, 1 when the result has no data."""
    from application.results.exporting import ExportRequest, TableOptions

    form: TableFormat = args.format or format_of(args.output, _FORMATS)
    is_stream = args.output == "-"
    if is_stream and (form == "mat" or out.as_json):
        raise UserInputError(
            msg("Standard output supports csv, tsv and json, and not together with --json."),
            advice=msg("Specify a file with -o."),
            error_type="bad_usage",
        )
    exported = await app.simulation.export.table(
        ExportRequest(
            source=args.source,
            target=None if is_stream else Path(args.output),
            signals=tuple(args.signals),
            analysis=args.analysis,
            overwrite=args.force,
        ),
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
        out.json(
            {
                "ok": True,
                **facts,
                "path": exported.path,
                "format": form,
                "tables": [
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
                ],
                "left_out": exported.left_out,
            }
        )
    elif not is_stream:
        for table in exported.tables:
            out.say(
                msg("{name}: {columns} {columns:column|columns}, {rows} {rows:row|rows} in "
                    "{path}", name=table.name,
                    columns=len(table.all_columns), rows=table.rows, path=exported.path)
            )  # fmt: skip
    return 0


def format_of(name: str, known: tuple[Format, ...]) -> Format:
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
