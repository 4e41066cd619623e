"""`sweep`, `montecarlo`, `corners`, `worst-case`, `sensitivity`: many runs of one circuit."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from application.app import Application
from presentation.cli.progress import Progress, progress_shown
from presentation.cli.study_options import add_study_arguments, study_spec
from presentation.json_output import Output
from shared.message import msg

if TYPE_CHECKING:  # every command reads this module; only studies pay for numpy
    from domain.studies.study import StudyResult
    from domain.studies.study_spec import StudyKind


def arguments_of(kind: StudyKind) -> Callable[[argparse.ArgumentParser], None]:
    """What adds the options of one kind of study."""
    return lambda parser: add_study_arguments(parser, kind)


def command_of(
    kind: StudyKind,
) -> Callable[[argparse.Namespace, Application, Output], Coroutine[Any, Any, int]]:
    """The coroutine of one kind of study; exit code 1 when runs that count failed or goals are missed."""

    async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
        from application.studies.studying import StudyRequest

        spec = await study_spec(args)
        request = StudyRequest(
            circuit=args.file,
            kind=kind,
            spec=spec,
            libraries=tuple(args.library),
            dialect=args.dialect,
            workers=args.workers,
            cluster=args.cluster,
        )
        with progress_shown(app.program.events, out) as progress:
            result = await app.simulation.study(
                request, on_stopped=lambda partial: _show(partial, out, progress)
            )
        _show(result, out, progress)
        return 0 if result.ok else 1

    return run


def _show(result: StudyResult, out: Output, progress: Progress) -> None:
    from application.studies.documents import study_document
    from presentation.cli.study_tables import print_study

    progress.wipe()
    if out.as_json:
        out.json(study_document(result, out.translate))
        return
    print_study(result, out)
    for row in result.rows:
        if row.reason is not None:
            out.say(msg("Run {number}: {reason}", number=row.run, reason=row.reason))
            break
    for warning in result.warnings:
        out.say(msg("Warning: {text}", text=warning))
    if result.is_stopped:
        out.say(msg("Stopped; the runs done so far were kept."))
    seconds = f"{result.duration_s:.2f}"
    out.say(
        msg("{done} of {total} {total:run|runs} in {seconds} s, {failed} failed.",
            done=len(result.rows), total=result.total, seconds=seconds, failed=result.failed)
    )  # fmt: skip
    out.say(msg("Result: {path}", path=result.result_path))
