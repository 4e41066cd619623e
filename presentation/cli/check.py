"""`check FILE`: diagnostics of a netlist."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from domain.circuit.simulator_settings import DIALECTS
from domain.settings import UserSettings
from presentation.json_output import Output
from shared.message import msg
from shared.setting import add_option

if TYPE_CHECKING:
    from domain.circuit.diagnostics import Diagnostic


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [--library DIR] [--dialect NAME]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    add_option(parser, UserSettings, "libraries")
    parser.add_argument("--dialect", choices=DIALECTS)


def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 only for errors."""
    report = app.simulation.check.check(args.file, tuple(args.library), dialect=args.dialect)
    if out.as_json:
        out.json(
            {"ok": not report.has_errors, "diagnostics": [_entry(item, out) for item in report.diagnostics]}
        )
        return int(report.has_errors)
    for item in report.diagnostics:
        place = f"{item.file}:{item.line}" + (f":{item.column}" if item.column else "")
        out.row(f"{place}: {item.severity}: {out.translate(item.message)} [{item.code}]")
    counts = {
        severity: sum(item.severity == severity for item in report.diagnostics)
        for severity in ("error", "warning", "info")
    }
    out.say(
        msg(
            "{file}: {errors} {errors:error|errors}, {warnings} {warnings:warning|warnings}, "
            "{infos} {infos:note|notes}.",
            file=args.file,
            errors=counts["error"],
            warnings=counts["warning"],
            infos=counts["info"],
        )
    )
    return int(report.has_errors)


def _entry(item: Diagnostic, out: Output) -> dict[str, object]:
    return {
        "severity": item.severity,
        "code": item.code,
        "message": out.translate(item.message),
        "file": item.file,
        "line": item.line,
        "column": item.column,
    }
