"""`models [QUERY]`: components of the libraries, and the gm/Id table of a MOSFET model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from application.app import Application
from application.components.finding import ComponentAnswer
from domain.circuit.numbers import parse_number
from domain.components.component import KINDS, Component, fault_words, figure_words
from domain.components.titles import origin_of, title_of
from presentation.cli.tables import table
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import MODEL_LIBRARY, project_root_of

_MOST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[QUERY], and what a gm/Id table is asked by."""
    parser.add_argument("query", nargs="*", default=[], metavar="QUERY")
    parser.add_argument("--project", type=Path, metavar="DIR")
    parser.add_argument("--gm-id", metavar="L", dest="length")
    parser.add_argument("--file", type=Path, metavar="FILE")
    parser.add_argument("--vds", default="1", metavar="V")
    parser.add_argument("--width", default="10u", metavar="W")
    parser.add_argument("--library", type=Path, action="append", default=[], metavar="DIR")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """One component is printed whole, as a file that bare ngspice can include; exit code 1 when none fits."""
    query = " ".join(args.query)
    if args.length is not None:
        return await _table(args, query, app, out)
    root = args.project or project_root_of(Path.cwd())
    if args.project is not None and not args.project.is_dir():
        raise UserInputError(msg("{path} is not a folder.", path=args.project))
    find = app.simulation.components
    if args.library:
        find = find.with_libraries(tuple(args.library))
    answer = await find(query, root=root, most=_MOST)
    found = answer.found
    [one] = found.components if found.total == 1 and found.components[0].file else [None]
    text = None if one is None else await find.text(one)
    if out.as_json:
        out.json({
            "ok": bool(found.total), "total": found.total, "unstated": found.unstated,
            "pending_files": answer.state.pending,
            "models": [_plain(each, text) for each in found.components],
        })  # fmt: skip
        return 0 if found.total else 1
    if one is not None and text is not None:
        out.line(text.rstrip())
        if (fault := fault_words(one)) is not None:
            out.note(msg("{problem} {advice}", problem=fault[0], advice=fault[1]))
    elif found.total:
        for line in table([_row(each, out) for each in found.components], left=4):
            out.row(line)
        if any(Path(each.file).parent == MODEL_LIBRARY for each in found.components):
            out.note(msg("A circuit gets one with .include NAME.lib."))
    _tell_rest(answer, query, out)
    return 0 if found.total else 1


def _tell_rest(answer: ComponentAnswer, query: str, out: Output) -> None:
    """What the list does not say: what was cut, what could not be judged, what is not read yet."""
    found = answer.found
    if found.total > len(found.components):
        out.note(
            msg("The first {count} of {total} are shown.", count=len(found.components), total=found.total)
        )
    if not found.total:
        out.say(msg("The libraries have nothing like “{query}”.", query=query))
    if found.unstated:
        out.note(
            msg(
                "{count} more {count:does|do} not state the figures that were asked for.",
                count=found.unstated,
            )
        )
    if answer.state.pending:
        out.note(
            msg(
                "{count} {count:file|files} of the libraries could not be read in time; repeat the search.",
                count=answer.state.pending,
            )
        )


def _row(component: Component, out: Output) -> list[str]:
    fault = fault_words(component)
    return [
        component.name,
        out.translate(KINDS[component.kind]),
        out.translate(title_of(component) if fault is None else fault[0]),
        out.translate(origin_of(component)),
    ]


def _plain(component: Component, text: str | None) -> dict[str, Any]:
    fault = fault_words(component)
    plain: dict[str, Any] = {
        "name": component.name,
        "kind": component.kind,
        "title": component.title,
        "figures": figure_words(component.kind, component.figures),
        "values": dict(component.figures),
        "pins": list(component.roles or component.ports),
        "ports": list(component.ports),
        "file": component.file,
        "line": component.line,
        "fault": None if fault is None else str(fault[0]),
    }
    return plain if text is None else {**plain, "text": text}


async def _table(args: argparse.Namespace, model: str, app: Application, out: Output) -> int:
    """The gm/Id table of the model QUERY at a length."""
    from application.simulation.device_tables import TableRequest
    from domain.simulation.device_table import table_columns

    options = (("--gm-id", args.length), ("--width", args.width), ("--vds", args.vds))
    length_m, width_m, drain_v = (_positive(option, text) for option, text in options)
    request = TableRequest(
        model=model,
        length_m=length_m,
        width_m=width_m,
        file=args.file,
        beside=args.file or Path.cwd() / f"{model}.cir",
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
