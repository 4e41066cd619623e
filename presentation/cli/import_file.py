"""`import`: a schematic, netlist or network data of another program."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from domain.settings import UserSettings
from presentation.json_output import Output
from shared.message import Message, msg
from shared.setting import add_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [-o FILE] [--force] [--library DIR]"""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.add_argument("--force", action="store_true")
    add_option(parser, UserSettings, "libraries")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when a part of the file is not in what was made."""
    from application.project.importing import target_of

    source = args.file.absolute()
    target = (args.output or target_of(source)).absolute()
    made = await app.project.import_file(
        source, target, overwrite=args.force, libraries=tuple(each.absolute() for each in args.library)
    )
    if out.as_json:
        out.json(
            {
                "ok": not made.missing,
                "path": str(made.path),
                "copied": [str(each) for each in made.copied],
                "plots": {plot.analysis: list(plot.traces) for plot in made.plots},
                "errors": [{"message": out.translate(each)} for each in made.missing],
                "warnings": [{"message": out.translate(each)} for each in made.notes],
            }
        )
    else:
        out.say(_made(made.path))
        for copied in made.copied:
            out.say(msg("Library: {path}", path=copied))
        for plot in made.plots:
            names = ", ".join(plot.traces)
            out.say(msg("Its plot of {analysis}: {names}", analysis=plot.analysis, names=names))
        for each in (*made.missing, *made.notes):
            out.row(out.translate(each))
    return 1 if made.missing else 0


def _made(path: Path) -> Message:
    return msg("Curves: {path}", path=path) if path.suffix == ".raw" else msg("Netlist: {path}", path=path)
