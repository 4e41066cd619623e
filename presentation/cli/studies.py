"""`sweep`, `montecarlo`, `corners`, `worst-case`, `sensitivity`: many runs of one circuit."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from application.app import Application
from presentation.cli.study_options import add_study_arguments, study_spec
from presentation.json_output import Output
from shared.message import Message, msg

if TYPE_CHECKING:  # every command reads this module; only studies pay for numpy
    from application.ports.events import OptimizationProgressed, StudyProgressed
    from domain.studies.study import StudyResult
    from domain.studies.study_spec import StudyKind

_TOLD_EVERY_S = 2.0
E = TypeVar("E", "StudyProgressed", "OptimizationProgressed")


def arguments_of(kind: StudyKind) -> Callable[[argparse.ArgumentParser], None]:
    """What adds the options of one kind of study."""
    return lambda parser: add_study_arguments(parser, kind)


def command_of(
    kind: StudyKind,
) -> Callable[[argparse.Namespace, Application, Output], Coroutine[Any, Any, int]]:
    """The coroutine of one kind of study; exit code 1 when runs that count failed or goals are missed."""

    async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
        from application.ports.events import StudyProgressed
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
        progress = Progress(out, _words)
        unsubscribe = app.program.events.subscribe(StudyProgressed, progress.show)
        try:
            result = await app.simulation.study(
                request, on_stopped=lambda partial: _show(partial, out, progress)
            )
        finally:
            unsubscribe()
            progress.end()
        _show(result, out, progress)
        return 0 if result.ok else 1

    return run


def _show(result: StudyResult, out: Output, progress: Progress[StudyProgressed]) -> None:
    from application.studies.documents import study_document
    from presentation.cli.study_tables import print_study

    progress.end()
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


class Progress(Generic[E]):
    """The state of many runs on stderr: one line written over on a terminal, else a line now and then."""

    def __init__(self, out: Output, words: Callable[[E], Message]) -> None:
        self._out = out
        self._words: Callable[[E], Message] = words
        self._told_at = time.monotonic()
        self._is_over = False

    def show(self, event: E) -> None:
        is_due = time.monotonic() - self._told_at >= _TOLD_EVERY_S
        if self._is_over or not event.done or not (self._out.is_watched or is_due):
            return
        self._told_at = time.monotonic()
        self._out.status(self._words(event))

    def end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._out.status(None)


def _words(event: StudyProgressed) -> Message:
    return msg(
        "{done}/{total} {total:run|runs}, {rate} per second, {remaining} s left",
        done=event.done,
        total=event.total,
        rate=f"{event.rate_hz:.0f}",
        remaining=seconds_left(event),
    )


def seconds_left(event: StudyProgressed | OptimizationProgressed) -> str:
    return "?" if event.remaining_s is None else f"{event.remaining_s:.0f}"
