"""`measure RAW_OR_RESULT EXPR...`: the expression language on stored data."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from domain.simulation.result import Quantity
from presentation.figures import figure
from presentation.json_output import Output
from shared.errors import CircuitError
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="RAW_OR_RESULT")
    parser.add_argument("expressions", nargs="+", metavar="EXPR")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the data do not hold a quantity, 2 for a wrong expression."""
    values = await app.simulation.measure(args.source, args.expressions)
    facts = await told_facts(args.source, app, out)
    failures = {text: value for text, value in values.items() if isinstance(value, CircuitError)}
    if out.as_json:
        document: dict[str, object] = {
            "ok": not failures,
            **facts,
            "values": {
                expression: None if isinstance(value, CircuitError) else _entry(value)
                for expression, value in values.items()
            },
        }
        if failures:
            document["errors"] = [
                {"expression": expression, "message": out.translate(error.message)}
                for expression, error in failures.items()
            ]
        out.json(document)
    for expression, value in values.items():
        if isinstance(value, CircuitError):
            out.row(f"{expression}: {out.translate(value.message)}")
        else:
            out.row(f"{expression} = {figure(value, digits=6)}")
    return 1 if failures else 0


async def told_facts(source: Path, app: Application, out: Output) -> dict[str, object]:
    """Who computed the data and whether they are whole; a note says what to be careful of."""
    origin = await app.simulation.measure.origin_of(source)
    if origin == "elsewhere":
        out.note(msg("These data were computed elsewhere, not by this installation."))
    return {"origin": origin, "is_truncated": await told_whether_cut_off(source, app, out)}


async def told_whether_cut_off(source: Path, app: Application, out: Output) -> bool:
    """Whether the data end before what their header promises; a note says it."""
    is_truncated = await app.simulation.measure.is_cut_off(source)
    if is_truncated:
        out.note(msg("The raw file ends early: it has fewer points than its header says."))
    return is_truncated


def _entry(quantity: Quantity) -> dict[str, object]:
    return {"value": quantity.value, "unit": quantity.unit}
