"""`import`: a schematic of another program as a netlist."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from presentation.json_output import Output
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE.asc [-o FILE.cir] [--force]"""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.add_argument("--force", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when a part of the schematic is not in the netlist."""
    source = args.file.absolute()
    target = (args.output or source.with_suffix(".cir")).absolute()
    made = await app.project.import_schematic(source, target, overwrite=args.force)
    if out.as_json:
        out.json(
            {
                "ok": not made.missing,
                "path": str(made.path),
                "errors": [{"message": out.translate(each)} for each in made.missing],
                "warnings": [{"message": out.translate(each)} for each in made.notes],
            }
        )
    else:
        out.say(msg("Netlist: {path}", path=made.path))
        for each in (*made.missing, *made.notes):
            out.row(out.translate(each))
    return 1 if made.missing else 0
