"""`clean`: remove results by rules, pin them, and remove what killed runs left."""

from __future__ import annotations

import argparse
import math
import re
from datetime import timedelta
from pathlib import Path

from application.app import Application
from application.project.cleaning import CleanReport, CleanRequest, Removal
from domain.simulation.retention import ResultSettings, RetentionPolicy, StoredResult
from presentation.cli.tables import table
from presentation.json_output import Output
from shared.message import Message, msg
from shared.setting import add_option

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[kmgt]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_MOST_DAYS = 36_500
_REASONS: dict[str, Message] = {
    "unfinished": msg("left by a run that was killed"),
    "count": msg("not among the latest"),
    "age": msg("old"),
    "size": msg("over the size limit"),
}

_ELSEWHERE = msg("(computed elsewhere)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, nargs="?", metavar="PROJECT")
    add_option(parser, ResultSettings, "keep")
    parser.add_argument("--older-than", type=_days, metavar="DAYS", dest="older_than")
    add_option(parser, ResultSettings, "max_bytes", type=_bytes, metavar="2G")
    parser.add_argument("--pin", action="append", default=[], metavar="ID")
    parser.add_argument("--unpin", action="append", default=[], metavar="ID")
    parser.add_argument("--dry-run", action="store_true", dest="dry_run")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 3 when something could not be removed."""
    rules = (args.keep, args.older_than, args.max_size)
    policy = RetentionPolicy(keep=args.keep, older_than=args.older_than, max_bytes=args.max_size)
    report = await app.project.clean(
        CleanRequest(
            project=args.project,
            policy=None if all(rule is None for rule in rules) else policy,
            dry_run=args.dry_run,
            pin=tuple(args.pin),
            unpin=tuple(args.unpin),
        )
    )
    if out.as_json:
        out.json(_document(report, out))
    else:
        _print(report, out)
    return 3 if report.problems else 0


def _document(report: CleanReport, out: Output) -> dict[str, object]:
    return {
        "ok": not report.problems,
        "dry_run": report.dry_run,
        "removed": [{**_entry(item.result), "reason": item.reason} for item in report.removed],
        "kept": [_entry(result) for result in report.kept],
        "kept_bytes": sum(result.size for result in report.kept),
        "freed_bytes": report.freed_bytes,
        "scratch": [{"path": path, "bytes": size} for path, size in report.scratch],
        "undo_operations": report.undo.operations,
        "undo_bytes": report.undo.freed_bytes,
        "pinned": list(report.pinned),
        "unpinned": list(report.unpinned),
        "errors": [
            {"message": out.translate(error.message), "error_type": error.error_type, "file": error.file}
            for error in report.problems
        ],
    }


def _entry(result: StoredResult) -> dict[str, object]:
    return {
        "id": result.result_id,
        "created": result.created.isoformat(),
        "bytes": result.size,
        "finished": result.is_finished,
        "running": result.is_running,
        "pinned": result.is_pinned,
        "referenced": result.is_referenced,
        "origin": result.origin,
    }


def _print(report: CleanReport, out: Output) -> None:
    rows = [[item.result.result_id, _size(item.result.size), _why(item, out)] for item in report.removed]
    rows += [[str(path), _size(size), out.translate(_REASONS["unfinished"])] for path, size in report.scratch]
    for line in table(rows):
        out.row(line)
    if report.undo.operations:
        out.say(
            msg(
                "{count} old file {count:change|changes} can no longer be undone.",
                count=report.undo.operations,
            )
        )
    for result_id in report.pinned:
        out.say(msg("Pinned: {id}", id=result_id))
    for result_id in report.unpinned:
        out.say(msg("No longer pinned: {id}", id=result_id))
    for error in report.problems:
        out.note(error.message)
    protected = sum(result.is_protected for result in report.kept)
    freed, kept = _size(report.freed_bytes), _size(sum(result.size for result in report.kept))
    out.say(
        msg("{freed} would be freed.", freed=freed) if report.dry_run else msg("{freed} freed.", freed=freed)
    )
    out.say(
        msg("{count} {count:result was|results were} kept ({size}), {protected} of them pinned, "
            "running or referenced by a conversation.",
            count=len(report.kept), size=kept, protected=protected)
    )  # fmt: skip


def _why(item: Removal, out: Output) -> str:
    reason = out.translate(_REASONS[item.reason])
    return reason if item.result.origin != "elsewhere" else f"{reason} {out.translate(_ELSEWHERE)}"


def _size(number: int) -> str:
    power = min(int(math.log2(number) // 10), 4) if number else 0
    return f"{number / 2 ** (10 * power):.3g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def _days(text: str) -> timedelta:
    try:
        days = float(text)
    except ValueError:
        days = math.nan
    if not 0 <= days <= _MOST_DAYS:
        raise argparse.ArgumentTypeError("DAYS has to be a number of at least 0")
    return timedelta(days=days)


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError("a size is a number with k, M, G or T: 500M, 2G")
    return int(float(match["number"]) * _UNITS[match["unit"].lower()])
