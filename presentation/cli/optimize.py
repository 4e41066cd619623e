"""`optimize`: the values of a circuit that meet its goals."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from presentation.cli.progress import Progress, progress_shown
from presentation.cli.study_options import add_study_arguments, study_spec
from presentation.cli.tables import table
from presentation.figures import number
from presentation.goal_margins import value_and_limit
from presentation.json_output import Output
from presentation.search_words import ENDS
from shared.message import msg

if TYPE_CHECKING:  # other commands must not pay for numpy
    from domain.studies.optimization import BestPoint, OptimizationResult
    from domain.studies.scatter import Scatter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of studies, and those of the search."""
    add_study_arguments(parser, "optimize")
    parser.add_argument("--minimize", action="append", metavar="METRIC")
    parser.add_argument("--maximize", action="append", metavar="METRIC")
    parser.add_argument("--budget", metavar="N")
    parser.add_argument("--time-limit", metavar="S", dest="time_limit")
    parser.add_argument("--seed", metavar="N")
    parser.add_argument("--runs", metavar="N")
    parser.add_argument("--yield-target", metavar="SHARE", dest="yield_target")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the goals are not met; the best is given all the same."""
    from application.optimization.optimizing import OptimizeRequest

    request = OptimizeRequest(
        circuit=args.file,
        spec=await study_spec(args),
        libraries=tuple(args.library),
        dialect=args.dialect,
        workers=args.workers,
        cluster=args.cluster,
        output=args.output,
    )
    with progress_shown(app.program.events, out) as progress:
        result = await app.design.optimize(request, on_stopped=lambda partial: _show(partial, out, progress))
    _show(result, out, progress)
    return 0 if result.ok else 1


def _show(result: OptimizationResult, out: Output, progress: Progress) -> None:
    from application.optimization.documents import optimization_document

    progress.wipe()
    if out.as_json:
        out.json(optimization_document(result, out.translate))
        return
    if result.best is None:
        out.say(msg("No simulation succeeded."))
        for row in result.rows[:1]:
            out.say(msg("Run {number}: {reason}", number=row.run, reason=row.reason or "-"))
    else:
        _print_best(result, result.best, out)
    for warning in result.warnings:
        out.say(msg("Warning: {text}", text=warning))
    out.say(ENDS[result.end])
    seconds = f"{result.duration_s:.2f}"
    out.say(
        msg("{done} {done:simulation|simulations} in {seconds} s, {failed} failed, {repeated} "
            "{repeated:point|points} repeated.",
            done=len(result.rows), seconds=seconds, failed=result.failed, repeated=result.repeated)
    )  # fmt: skip
    if result.output_path is not None:
        out.say(msg("Written: {path}", path=result.output_path))
    out.say(msg("Result: {path}", path=result.result_path))


def _print_best(result: OptimizationResult, best: BestPoint, out: Output) -> None:
    from application.optimization.documents import conflict_text

    start = {} if result.start is None else result.start.parameters
    heads = [out.translate(msg("parameter")), out.translate(msg("start")), out.translate(msg("best"))]
    for line in table([
        heads,
        *([name, number(start[name], "1", 6) if name in start else "", text]
          for name, text in best.texts.items()),
    ]):  # fmt: skip
        out.row(line)
    for name, efficiency in result.efficiencies.items():
        out.row(f"gm/Id({name}) = {efficiency:.4g} 1/V")
    out.line()
    for verdict in best.verdicts:
        goal = verdict.goal
        value, limit = value_and_limit(verdict)
        shown = value if isinstance(value, str) else out.translate(value)
        mark = "✓" if verdict.met else "!"
        wish = f" ({out.translate(msg('wish'))})" if goal.weight == "wish" else ""
        out.line(f"{mark} {goal.metric}{wish}: {shown}  ({limit})")
    from domain.studies.robustness import tolerance_in_percent

    for item in result.robustness:
        if item.decisive:
            text = msg(
                "{metric}: met with parts within ±{share} % (limited by {name})",
                metric=item.goal.metric,
                share=tolerance_in_percent(item.holds_within),
                name=item.decisive,
            )
            out.say(msg("Marginal: {text}", text=text) if item.on_edge else text)
    if any(item.decisive for item in result.robustness):
        out.say(
            msg(
                "These tolerances are estimates: each value alone was varied by ±1 % and extrapolated "
                "linearly."
            )
        )
    if result.scatter is not None:
        _print_scatter(result.scatter, out)
    for conflict in result.conflicts:
        out.say(conflict_text(conflict, result.units))
    if result.at_range_end:
        out.say(msg("At the end of the allowed range: {names}", names=", ".join(result.at_range_end)))
    judged = {verdict.goal.metric for verdict in best.verdicts}
    for name, figure in best.metrics.items():
        if name not in judged:
            out.row(f"  {name}: {number(figure, result.units.get(name, ''))}")
    if not best.is_verified:
        out.say(msg("These values come from the search; no separate run has verified them."))


def _print_scatter(scatter: Scatter, out: Output) -> None:
    """The yield with parts that scatter."""
    from presentation.cli.study_tables import print_yields

    for line in scatter.assumed:
        out.say(line)
    print_yields(scatter.yields, scatter.total, out)
    if not scatter.reaches_target:
        share = f"{100 * (scatter.target or 0):.4g}"
        out.say(msg("The yield asked for, {share} %, is not reached.", share=share))
    elif scatter.on_edge:
        out.say(msg("The best values are marginal: many circuits built with them miss a goal."))
