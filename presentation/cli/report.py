"""`report`: all there is to tell of a circuit as a document."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from application.ports.reports import ReportRequest
from application.reports.making import format_of
from presentation.json_output import Output
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT -o FILE [--circuit FILE] [--studies LIST] [--force]"""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--circuit", type=Path, metavar="FILE")
    parser.add_argument("--studies", metavar="LIST")
    parser.add_argument("--force", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 when it is not clear which circuit is meant, or a study is not there; 3 when the file
    can't be made here."""
    from presentation.report.making import TranslatedPages

    studies = None if args.studies is None else args.studies.split(",")
    request = ReportRequest(project=args.project, circuit=args.circuit, studies=studies)
    target = args.output.absolute()
    files = await app.design.make_report(
        request, target, TranslatedPages(out.translate), overwrite=args.force
    )
    if out.as_json:
        out.json({"ok": True, "format": format_of(files[0]), "files": [str(path) for path in files]})
    else:
        out.say(msg("Report: {path}", path=files[0]))
    return 0
