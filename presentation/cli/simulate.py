"""`simulate FILE`: one confined run."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from domain.circuit.simulator_settings import DIALECTS
from domain.settings import UserSettings
from domain.simulation.notes import SimulationNote
from domain.simulation.operating_point import (
    REGIONS,
    OperatingPoint,
    figure_texts,
    operating_point_to_plain,
)
from domain.simulation.reach import reach_to_plain
from domain.simulation.result import Quantity, SimulationIssue, SimulationResult, StepResult
from domain.simulation.verdict import verdict_of, verdict_words
from presentation.cli.measure import told_whether_cut_off
from presentation.figures import figure, number
from presentation.json_output import Output
from shared.errors import Stopped, UserInputError
from shared.message import msg
from shared.paths import project_root_of
from shared.setting import add_option

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun
    from application.simulation.convergence import Diagnosis, Trial
    from application.simulation.simulating import SimulationRequest

_MOST_DEVICES = 40
_MOST_NODES = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [--analysis TEXT] [--set NAME=VALUE] [--dialect D] [--fix-convergence] [--no-cases] [--timeout S]
    [--library DIR]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--analysis", metavar="TEXT")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments")
    parser.add_argument("--dialect", choices=DIALECTS)
    parser.add_argument("--fix-convergence", action="store_true")
    parser.add_argument("--no-cases", action="store_true")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S")
    add_option(parser, UserSettings, "libraries")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the circuit did not simulate; what a stopped run has computed is told, and kept."""
    from application.simulation.simulating import SimulationRequest

    if not args.timeout > 0:
        raise UserInputError(msg("--timeout must be more than 0 seconds."))
    request = SimulationRequest(
        circuit=args.file,
        analysis=args.analysis,
        assignments=tuple(_assignment(text) for text in args.assignments),
        timeout_s=args.timeout,
        libraries=tuple(args.library),
        dialect=args.dialect,
    )
    result, is_stopped = await _run_or_what_came(request, app, out)
    diagnosis = None
    if args.fix_convergence and not is_stopped:
        diagnosis = await app.simulation.analyze_convergence(
            request.circuit,
            analysis=request.analysis,
            assignments=request.assignments,
            libraries=request.libraries,
            dialect=request.dialect,
            timeout_s=request.timeout_s,
            on_progress=out.progress,
        )
    wants_cases = app.program.runs_cases and not args.no_cases and not is_stopped and result.ok
    cases = await _cases_of(request, app) if wants_cases else ()
    out.progress(1.0)
    is_truncated = bool(result.run.raw_paths) and await told_whether_cut_off(result.result_path, app, out)
    if out.as_json:
        document = _document(result, out) | {"is_truncated": is_truncated}
        if cases:
            document["cases"] = [_case(each, out) for each in cases]
        if is_stopped:
            document |= {"ok": False, "errors": [out.entry_of(Stopped(msg("Stopped.")))]}
        if diagnosis is not None:
            document["convergence"] = diagnosis_document(diagnosis, out)
        out.json(document)
    else:
        _print(result, out)
        for case in cases:
            from presentation.case_words import verdict_of_case

            out.say(verdict_of_case(case, out.translate))
        if diagnosis is not None:
            show_diagnosis(diagnosis, out)
    if is_stopped:
        raise asyncio.CancelledError
    return 0 if result.ok else 1


async def _run_or_what_came(
    request: SimulationRequest, app: Application, out: Output
) -> tuple[SimulationResult, bool]:
    """Its result, and whether it was stopped: then it is what had been computed until then."""
    from application.ports.simulation import RunWatch

    halt = asyncio.Event()
    work = app.simulation.run(request, on_progress=out.progress, watch=RunWatch(halt=halt))
    running = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(running), False
    except asyncio.CancelledError:
        halt.set()
        try:
            return await running, True
        except Stopped:
            raise asyncio.CancelledError from None


async def _cases_of(request: SimulationRequest, app: Application) -> tuple[CaseRun, ...]:
    """How the goals stand in the cases that are kept with the circuit."""
    root = project_root_of(request.circuit)
    return () if root is None else await app.project.run_cases(root, request)


def _case(run: CaseRun, out: Output) -> dict[str, object]:
    return {
        "name": run.case.name,
        "conditions": run.case.conditions,
        "problem": None if run.problem is None else out.translate(run.problem),
        "goals_met": None if not run.judged else not run.missed,
        "goals": [
            {"metric": each.goal.metric, "value": each.value, "unit": each.goal.unit,
             ">=": each.goal.minimum, "<=": each.goal.maximum, "met": each.is_met}
            for each in run.goals
        ],
    }  # fmt: skip


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise UserInputError(
            msg("--set expects NAME=VALUE, not {text}.", text=text),
            advice=msg("For example: --set R1=2k or --set m1.w=10u."),
        )
    return name.strip(), value.strip()


def _document(result: SimulationResult, out: Output) -> dict[str, object]:
    return {
        "ok": result.ok,
        "status": result.run.status,
        "verdict": verdict_of(result),
        "reach": reach_to_plain(result.run.reach),
        "result_path": result.result_path,
        "raw_path": result.run.raw_paths[0] if result.run.raw_paths else None,
        "raw_paths": result.run.raw_paths,
        "metrics": _metrics(result.metrics),
        "operating_point": operating_point_to_plain(result.operating_point),
        "dialect": result.dialect,
        "notes": [_note(note, out) for note in result.notes],
        "steps": [_step(step) for step in result.steps],
        "errors": [_entry(issue, out) for issue in result.issues if issue.severity == "error"],
        "warnings": [_entry(issue, out) for issue in result.issues if issue.severity == "warning"],
        "simulator": result.run.simulator_version,
        "confinement": result.run.confinement,
        "duration_s": result.run.duration_s,
    }


def _metrics(metrics: Mapping[str, Quantity]) -> dict[str, object]:
    return {name: {"value": quantity.value, "unit": quantity.unit} for name, quantity in metrics.items()}


def _step(step: StepResult) -> dict[str, object]:
    return {
        "number": step.number,
        "values": step.values,
        "status": step.status,
        "metrics": _metrics(step.metrics),
    }


def _note(note: SimulationNote, out: Output) -> dict[str, object]:
    return {"message": out.translate(note.message), "file": note.file, "line": note.line}


def _entry(issue: SimulationIssue, out: Output) -> dict[str, object]:
    return {
        "code": issue.code,
        "message": out.translate(issue.message),
        "file": issue.file,
        "line": issue.line,
        "element": issue.element,
        "node": issue.node,
        "advice": out.translate(issue.advice) if issue.advice else None,
    }


def _print(result: SimulationResult, out: Output) -> None:
    for note in result.notes:
        out.say(note.message)
    for issue in result.issues:
        place = ""
        if issue.file is not None:
            place = f"{issue.file}:{issue.line}: " if issue.line else f"{issue.file}: "
        out.row(f"{place}{issue.severity}: {out.translate(issue.message)} [{issue.code}]")
        if issue.advice:
            out.row(f"  {out.translate(issue.advice)}")
    for name, quantity in result.metrics.items():
        out.row(f"{name} = {figure(quantity)}")
    if result.operating_point is not None:
        _print_operating_point(result.operating_point, out)
    seconds = f"{result.run.duration_s:.2f}"
    verdict = verdict_of(result)
    if verdict == "complete":
        out.say(
            msg(
                "Simulated in {seconds} s with {simulator} ({confinement}).",
                seconds=seconds,
                simulator=result.run.simulator_version,
                confinement=", ".join(result.run.confinement) or msg("not confined"),
            )
        )
    elif verdict == "partial":
        words = verdict_words(verdict, result.run.status, result.run.reach)
        out.say(msg("After {seconds} s: {verdict}.", seconds=seconds, verdict=words))
    else:
        out.say(msg("The simulation failed after {seconds} s.", seconds=seconds))
    out.say(msg("Result: {path}", path=result.result_path))


def _print_operating_point(point: OperatingPoint, out: Output) -> None:
    out.say(msg("Operating point:"))
    for device in point.devices[:_MOST_DEVICES]:
        region = out.translate(REGIONS[device.region]) if device.region in REGIONS else device.region
        figures = "  ".join(figure_texts(device))
        out.row(f"  {device.name:<8} {device.kind:<6} {region:<10} {figures}")
    more = max(len(point.devices) - _MOST_DEVICES, 0) + point.left_out
    if more:
        out.say(msg("  and {count} {count:device|devices} more", count=more))
    nodes = list(point.nodes.items())
    shown = "  ".join(f"{name} {number(value, 'V')}" for name, value in nodes[:_MOST_NODES])
    out.row(f"  {shown}{' ...' if len(nodes) > _MOST_NODES else ''}")
    if point.power:
        out.say(msg("  The sources deliver {power}.", power=number(point.power, "W")))


def diagnosis_document(diagnosis: Diagnosis, out: Output) -> dict[str, object]:
    """``{"cause", "message", "evidence", "elements", "nodes", "remedies"}``; cause null = it converges."""
    cause = diagnosis.cause
    if cause is None:
        return {"cause": None, "message": None, "evidence": [], "elements": [], "nodes": [], "remedies": []}
    return {
        "cause": cause.code,
        "message": out.translate(cause.message),
        "evidence": [out.translate(message) for message in cause.evidence],
        "elements": [item.element.name for item in cause.elements],
        "nodes": list(cause.nodes),
        "remedies": [_trial(trial, out) for trial in diagnosis.trials],
    }


def _trial(trial: Trial, out: Output) -> dict[str, object]:
    return {
        "code": trial.remedy.code,
        "edit": trial.diff,
        "converges": trial.converges,
        "note": out.translate(trial.remedy.message),
    }


def show_diagnosis(diagnosis: Diagnosis, out: Output) -> None:
    """The cause, then what was tried; the edit of the first remedy that converges in full."""
    if diagnosis.cause is None:
        out.say(msg("Nothing prevents this circuit from converging."))
        return
    out.row(f"{out.translate(diagnosis.cause.message)} [{diagnosis.cause.code}]")
    for trial in diagnosis.trials:
        mark = "+" if trial.converges else "-"
        out.row(f"  {mark} {out.translate(trial.remedy.message)} [{trial.remedy.code}]")
    if diagnosis.proposal is None:
        out.say(msg("None of the remedies tried makes it converge."))
        return
    out.say(msg("This edit makes it converge (your file was not changed):"))
    out.line(diagnosis.proposal.diff)
