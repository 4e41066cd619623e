"""`models [QUERY]`: the model library that comes with the program, and the gm/Id table of a MOSFET model."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from domain.circuit.model_library import matching_models
from domain.circuit.numbers import parse_number
from presentation.cli.tables import table
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[QUERY], and what a gm/Id table is asked by."""
    parser.add_argument("query", nargs="?", default="", metavar="QUERY")
    parser.add_argument("--gm-id", metavar="L", dest="length")
    parser.add_argument("--file", type=Path, metavar="FILE")
    parser.add_argument("--vds", default="1", metavar="V")
    parser.add_argument("--width", default="10u", metavar="W")
    parser.add_argument("--library", type=Path, action="append", default=[], metavar="DIR")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """One model is printed whole, as a file that bare ngspice can include; exit code 1 when none fits."""
    if args.length is not None:
        return await _table(args, app, out)
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


async def _table(args: argparse.Namespace, app: Application, out: Output) -> int:
    """The gm/Id table of the model QUERY at a length."""
    from application.simulation.device_tables import TableRequest
    from domain.simulation.device_table import table_columns

    options = (("--gm-id", args.length), ("--width", args.width), ("--vds", args.vds))
    length_m, width_m, drain_v = (_positive(option, text) for option, text in options)
    request = TableRequest(
        model=args.query,
        length_m=length_m,
        width_m=width_m,
        file=args.file,
        beside=args.file or Path.cwd() / f"{args.query}.cir",
        libraries=tuple(args.library),
    )
    found = await app.simulation.device_tables(request)
    rows = found.rows(drain_v)
    if out.as_json:
        out.json({
            "ok": True, "model": found.model, "channel": found.channel, "length": found.length_m,
            "width": found.width_m, "vds": drain_v,
            "rows": [{name: cell for (name, _), cell in zip(table_columns(), row.cells(), strict=True)}
                     for row in rows],
        })  # fmt: skip
        return 0
    out.say(
        msg(
            "{model} ({channel}), L = {length} um, VDS = {volts} V, simulated with W = {width} um:",
            model=found.model,
            channel=found.channel.upper(),
            length=f"{1e6 * length_m:.4g}",
            volts=f"{drain_v:g}",
            width=f"{1e6 * width_m:.4g}",
        )
    )
    heads = [f"{name} [{unit}]" for name, unit in table_columns()]
    for line in table([heads, *([f"{cell:.4g}" for cell in row.cells()] for row in rows)]):
        out.row(line)
    return 0


def _positive(option: str, text: str) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        value = 0.0
    if value <= 0:
        raise UserInputError(
            msg("{option} needs a number greater than 0, not {value}.", option=option, value=text),
            advice=msg("Write it with its unit: 0.5u."),
            error_type="bad_usage",
        )
    return value
