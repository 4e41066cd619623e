"""`traces list|show|export PROJECT [TRACE]`: what turns did, how long it took, and what failed in them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from presentation.json_output import Output
from presentation.trace_rows import row_words, tree_rows
from shared.errors import UserInputError
from shared.local_time import local_time
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.tracing import KeptSpan
    from application.tracing import TraceFormat

_FORMATS = ("otlp", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list|show|export PROJECT [TRACE] [--session ID] [--format otlp|json] [-o FILE]."""
    parser.add_argument("action", choices=("list", "show", "export"))
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("trace", nargs="?", metavar="TRACE")
    parser.add_argument("--session", metavar="ID")
    parser.add_argument("--format", choices=_FORMATS)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 0; errors are raised."""
    _check_usage(args)
    match args.action:
        case "list":
            await _list(args, app, out)
        case "show":
            await _show(args, app, out)
        case "export":
            await _export(args, app, out)
    return 0


def _check_usage(args: argparse.Namespace) -> None:
    if args.action == "list" and args.trace is not None:
        problem = msg("`traces list` accepts a project only.")
    elif args.action != "list" and args.session is not None:
        problem = msg("--session is only used with `traces list`.")
    elif args.action != "export" and (args.format or args.output):
        problem = msg("--format and -o are only used with `traces export`.")
    else:
        return
    raise UserInputError(
        problem,
        advice=msg('TRACE is the beginning of an id from `traces list`, or "last" (the default).'),
        error_type="bad_usage",
    )


async def _list(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.tracing import plain_span

    session_id = ""
    if args.session is not None:
        session_id = (await app.conversations.sessions.find(args.project, args.session)).session_id
    turns = await app.program.traces.turns(args.project, session_id=session_id)
    if out.as_json:
        out.json({"ok": True, "traces": [plain_span(turn) for turn in turns]})
        return
    if not turns:
        out.say(msg("No turn of this project has been traced yet."))
    for turn in turns:
        began = local_time(turn.started_ns / 1e9)
        when = "?" if began is None else f"{began:%Y-%m-%d %H:%M:%S}"
        out.row(f"{turn.trace_id}  {when}  {row_words(turn, out.translate)}")


async def _show(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.tracing import plain_span

    spans = await app.program.traces.spans(args.project, args.trace or "last")
    if out.as_json:
        out.json({"ok": True, "spans": [plain_span(span) for span in spans]})
        return
    _print_tree(spans, out)


def _print_tree(spans: Sequence[KeptSpan], out: Output) -> None:
    for depth, span in tree_rows(spans):
        out.row(f"{'  ' * depth}{row_words(span, out.translate)}")
        details = "  ".join(f"{name}={value}" for name, value in span.attributes.items())
        if details:
            out.row(f"{'  ' * depth}    {details}")


async def _export(args: argparse.Namespace, app: Application, out: Output) -> None:
    kind: TraceFormat = args.format or "otlp"
    text = await app.program.traces.export(args.project, args.trace or "last", kind)
    if args.output is None:
        if out.as_json:
            out.json({"ok": True, "format": kind, "text": text})
        out.line(text)
        return
    path = await app.conversations.sessions.save(text + "\n", args.output)
    if out.as_json:
        out.json({"ok": True, "format": kind, "path": path})
    out.say(msg("Written: {path}", path=path))
