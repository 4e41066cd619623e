"""What the convergence doctor found, as JSON and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presentation.json_output import Output
from shared.message import msg

if TYPE_CHECKING:
    from application.simulation.convergence import Diagnosis, Trial


def document(diagnosis: Diagnosis, out: Output) -> dict[str, object]:
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


def show(diagnosis: Diagnosis, out: Output) -> None:
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
