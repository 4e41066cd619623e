"""`models [QUERY]`: the model library that comes with the program."""

from __future__ import annotations

import argparse

from application.app import Application
from domain.circuit.model_library import matching_models
from presentation.cli.tables import table
from presentation.json_output import Output
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[QUERY]."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY")


def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """One model is printed whole, as a file that bare ngspice can include; exit code 1 when none fits."""
    found = matching_models(app.simulation.models.models, args.query)
    if out.as_json:
        out.json({"ok": bool(found), "models": [each._asdict() for each in found]})
    elif len(found) == 1:
        out.line(found[0].text.rstrip())
    elif found:
        for line in table([[each.name, out.translate(each.words)] for each in found]):
            out.row(line)
        out.note(msg("A circuit gets one with .include NAME.lib."))
    else:
        out.say(msg("The model library has nothing like “{query}”.", query=args.query))
    return 0 if found else 1
