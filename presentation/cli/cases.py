"""`cases FILE`: what is kept with a circuit and simulated with every run of it; kept, listed, deleted."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import project_root_of

if TYPE_CHECKING:
    from application.project.named_cases import FoundCase
    from domain.studies.named_case import NamedCase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [--keep NAME --from RESULT [--run N]] [--delete NAME]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--keep", metavar="NAME")
    parser.add_argument("--from", type=Path, metavar="RESULT", dest="study")
    parser.add_argument("--run", type=int, metavar="N", dest="number")
    parser.add_argument("--delete", metavar="NAME")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Change what is asked for, then list the cases of the circuit."""
    circuit = args.file.resolve()
    root = project_root_of(circuit)
    if (args.keep is None) != (args.study is None):
        raise UserInputError(
            msg("--keep and --from belong together: a name, and the study that found the case."),
            advice=msg("For example: --keep hot --from RESULT --run 17. Without --run it is the worst one."),
        )
    if root is None:
        if args.keep is not None or args.delete is not None:
            raise UserInputError(
                msg("{path} is in no project.", path=args.file),
                advice=msg("A study or a run of the circuit makes its folder one."),
                file=args.file,
            )
        found: tuple[NamedCase, ...] = ()
    else:
        if args.delete is not None:
            await app.project.cases.delete(root, circuit, args.delete)
        if args.keep is not None:
            case = await _found(args.study, args.number, circuit, app)
            await app.project.cases.keep(root, circuit, args.keep, case)
        found = await app.project.cases.of(root, circuit)
    if out.as_json:
        from domain.studies.named_case import case_to_plain

        out.json(
            {"ok": True, "cases": [case_to_plain(each) | {"conditions": each.conditions} for each in found]}
        )
        return 0
    for each in found:
        out.row(f"{each.name}: {each.conditions}")
    if not found:
        out.say(msg("No case is kept with {name}.", name=circuit.name))
    return 0


async def _found(result: Path, number: int | None, circuit: Path, app: Application) -> FoundCase:
    """The run of a study that is meant: the named one, or the worst."""
    from application.project.named_cases import FoundCase

    study = await app.simulation.read_study(result)
    row = next(iter(study.worst_first), None) if number is None else study.row(number)
    if row is None:
        raise UserInputError(
            msg("The study has no run {number}.", number="" if number is None else number), file=result
        )
    offer = await app.simulation.study_offer(circuit, ())
    written = {item.name: item.value for item in offer.adjustables if not math.isnan(item.value)}
    nominals: Mapping[str, float] = {**written, **_figures(study.document.get("nominal_parameters"))}
    return FoundCase(study=study, row=row, nominals=nominals)


def _figures(value: object) -> dict[str, float]:
    from application.studies.reading import figures_of

    return figures_of(value)
