"""`bom CIRCUIT`: its bill of materials, as a table, CSV or Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from domain.components.bill import KINDS, series_words
from presentation.cli.tables import table
from presentation.json_output import Output
from shared.message import msg

_MOST_TOLD = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """CIRCUIT, and where the table goes."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.csv|md")
    parser.add_argument("--library", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--force", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Count the parts; with -o they are written to a file."""
    target: Path | None = args.output
    bill = await app.simulation.bill(args.file, libraries=tuple(args.library))
    if target is not None:
        await app.simulation.bill.write(bill, target, title=args.file.name, overwrite=args.force)
    if out.as_json:
        out.json({
            "ok": True, "count": bill.count, "path": target,
            "lines": [
                {"count": line.count, "kind": line.kind, "value": line.value, "size": line.size,
                 "references": list(line.references), "series": line.series, "nearest": line.nearest or None,
                 "amount": line.amount}
                for line in bill.lines
            ],
            "not_parts": list(bill.left_out), "is_cut": bill.is_cut,
        })  # fmt: skip
        return 0
    rows = [
        [f"{line.count} ×", out.translate(KINDS[line.kind]), f"{line.value} {line.size}".strip(),
         out.translate(series_words(line)), ", ".join(line.references)]
        for line in bill.lines
    ]  # fmt: skip
    for text in table(rows, left=5):
        out.row(text)
    out.say(
        msg(
            "{count} {count:part|parts} in {lines} {lines:line|lines}.",
            count=bill.count,
            lines=len(bill.lines),
        )
    )
    if bill.left_out:
        names = ", ".join(bill.left_out[:_MOST_TOLD]) + (" ..." if len(bill.left_out) > _MOST_TOLD else "")
        out.note(msg("Not parts: {names}.", names=names))
    if bill.is_cut:
        out.note(msg("More parts than are counted: only the first {count}.", count=bill.count))
    if target is not None:
        out.note(msg("The bill of materials was written to {path}.", path=target))
    return 0
