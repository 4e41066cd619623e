"""`plot RAW_OR_RESULT -o FILE.svg`: vectors and expressions as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from presentation.cli.export import add_choice_of_signals, format_of
from presentation.cli.measure import told_facts
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.results.exporting import PictureFormat

_FORMATS: tuple[PictureFormat, ...] = ("svg", "png", "pdf")
_SIZES_MM = (40.0, 1000.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RAW_OR_RESULT -o FILE.svg|png|pdf [--signals EXPR...] [--analysis NAME] [--title TEXT] ..."""
    parser.add_argument("source", type=Path, metavar="RAW_OR_RESULT")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--format", choices=_FORMATS)
    add_choice_of_signals(parser)
    parser.add_argument("--title", default="", metavar="TEXT")
    parser.add_argument("--width", type=float, default=180.0, metavar="MM")
    parser.add_argument("--height", type=float, default=110.0, metavar="MM")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for a signal there is not or a result without curves."""
    from application.results.exporting import ExportRequest, PictureOptions

    form: PictureFormat = args.format or format_of(args.output, _FORMATS)
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
        ExportRequest(
            source=args.source,
            target=Path(args.output),
            signals=tuple(args.signals),
            analysis=args.analysis,
            overwrite=args.force,
        ),
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
        out.json(
            {
                "ok": True,
                **facts,
                "path": exported.path,
                "format": form,
                "tables": [
                    {"name": table.name, "signals": [column.name for column in table.columns]}
                    for table in exported.tables
                ],
                "left_out": exported.left_out,
            }
        )
    else:
        out.say(msg("Drawn: {path}", path=exported.path))
    return 0
