"""`schematic FILE -o FILE.svg`: the circuit drawn from its netlist."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from domain.settings import UserSettings
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import project_root_of
from shared.setting import add_option

if TYPE_CHECKING:
    from application.simulation.schematics import SchematicFormat
    from domain.circuit.schematic.placing import Place

_FORMATS: tuple[SchematicFormat, ...] = ("svg", "png", "pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE -o FILE.svg|png|pdf [--symbols iec|us] [--subcircuit NAME] [--theme light|dark] [--tidy]
    [--force]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    parser.add_argument("--format", choices=_FORMATS)
    parser.add_argument("--symbols", choices=("iec", "us"), default="iec")
    parser.add_argument("--subcircuit", default="", metavar="NAME")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--tidy", action="store_true")
    parser.add_argument("--force", action="store_true")
    add_option(parser, UserSettings, "libraries")


def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for a file that is no circuit, has nothing to draw, or a target that cannot be."""
    from application.simulation.schematics import SchematicTarget

    form = args.format or _format_of(args.output)
    use = app.simulation.schematic
    pages = use.pages(args.file, scope=args.subcircuit, libraries=tuple(args.library))
    places = {} if args.tidy else _places_by_hand(app, args.file, pages.page.scope)
    drawing = use.draw(pages.page, symbols=args.symbols, places=places)
    use.write(
        drawing,
        SchematicTarget(file=args.output, format=form, overwrite=args.force, is_dark=args.theme == "dark"),
    )
    score = drawing.score
    if out.as_json:
        out.json(
            {
                "ok": True,
                "path": args.output.resolve(),
                "format": form,
                "elements": len(drawing.elements),
                "nets": len(drawing.nets),
                "crossings": score.crossings,
                "bends": score.bends,
                "wire": score.wire,
                "labels": score.labels,
                "subcircuits": list(pages.scopes),
                "undrawn": [
                    {"line": each.line, "message": out.translate(each.message)} for each in drawing.undrawn
                ],
            }
        )
        return 0
    for each in drawing.undrawn:
        out.note(each.message)
    out.say(msg("Drawn: {path}", path=args.output))
    return 0


def _places_by_hand(app: Application, file: Path, scope: str) -> Mapping[str, Place]:
    """Where the window was told to put the parts of this page."""
    from application.simulation.schematics import places_by_hand

    root = project_root_of(file)
    if root is None:
        return {}
    views = app.program.window_state.load().memory_of(root).views
    view = views.get(file.absolute().relative_to(root).as_posix())
    return {} if view is None else places_by_hand(view.schematic.get(scope, {}))


def _format_of(path: Path) -> SchematicFormat:
    suffix = path.suffix.lower().removeprefix(".")
    for form in _FORMATS:
        if form == suffix:
            return form
    raise UserInputError(
        msg("The file name {name} does not imply a format.", name=path.name),
        advice=msg(
            "Use one of the extensions {known}, or give --format.",
            known=" ".join(f".{one}" for one in _FORMATS),
        ),
        error_type="bad_usage",
    )
