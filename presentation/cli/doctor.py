"""`doctor`: what works on this machine, copyable."""

from __future__ import annotations

import argparse

from application.app import Application
from presentation.json_output import Output
from shared.message import msg


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """No options."""


async def run(_args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 3 when circuits can't be simulated here."""
    report = await app.program.examine()
    if out.as_json:
        out.json(
            {
                "ok": report.can_simulate,
                "checks": [
                    {
                        "name": finding.name,
                        "state": finding.state,
                        "message": out.translate(finding.message),
                        "advice": out.translate(finding.advice) if finding.advice else None,
                    }
                    for finding in report.findings
                ],
            }
        )
        return 0 if report.can_simulate else 3
    marks = {"ok": "✓", "warning": "!", "missing": "✗", "unused": "·"}
    for finding in report.findings:
        out.line(f"{marks[finding.state]} {finding.name}: {out.translate(finding.message)}")
        if finding.advice:
            out.line(f"    {out.translate(finding.advice)}")
    out.say(
        msg("Circuits can be simulated here.")
        if report.can_simulate
        else msg("Circuits cannot be simulated here until the items marked ✗ are fixed.")
    )
    return 0 if report.can_simulate else 3
