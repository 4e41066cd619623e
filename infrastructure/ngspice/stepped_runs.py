"""Several runs of one circuit put together as one: their plots in one raw file, each marked with its step.

The mark is Xyce's ("Step Analysis: Step 1 of 3 params: name = r1 value = 1000"), which other programs that
read raw files know too.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from domain.simulation.request import RAW_NAME
from domain.simulation.result import RunStatus, SimulationIssue, SimulationRun
from domain.simulation.stepped_run import SteppedRun
from infrastructure.persistence.confined import write_problem
from infrastructure.waveforms.raw_joining import append_plots
from shared.message import msg

LOG_NAME = "ngspice.log"


class StepJoiner:
    """Implements application.ports.simulation.RunJoiner."""

    def join(self, runs: Sequence[SteppedRun], folder: Path) -> SimulationRun:
        """One run with the data of all, in `folder`; the folders of the single runs are removed.

        Blocking. Raises EnvironmentProblem when the disk is full.
        """
        raw, log = folder / RAW_NAME, folder / LOG_NAME
        try:
            with raw.open("xb") as out, log.open("xb") as words:
                for run in runs:
                    for path in run.run.raw_paths[:1]:
                        append_plots(out, path, before=run.mark + " ")
                    words.write(f"==== step {run.number}/{run.count}: {run.label}\n".encode())
                    words.write(run.run.log_path.read_bytes())
            if not raw.stat().st_size:
                raw.unlink()
            for run in runs:
                shutil.rmtree(run.folder, ignore_errors=True)
        except OSError as error:
            raise write_problem(error, folder) from error
        last = runs[-1].run
        return SimulationRun(
            status=_worst(runs),
            raw_paths=(raw,) if raw.exists() else (),
            issues=_told_once(runs),
            log_path=log,
            duration_s=sum(run.run.duration_s for run in runs),
            simulator_version=last.simulator_version,
            confinement=last.confinement,
        )


def _worst(runs: Sequence[SteppedRun]) -> RunStatus:
    statuses = {run.run.status for run in runs}
    if "cancelled" in statuses:
        return "cancelled"
    if "timeout" in statuses or len(runs) < runs[0].count:
        return "timeout"
    return "failed" if "failed" in statuses else "ok"


def _told_once(runs: Sequence[SteppedRun]) -> tuple[SimulationIssue, ...]:
    """What several steps say alike is said once; so is that all of them failed."""
    told = {
        (issue.code, str(issue.message), issue.file, issue.line): issue
        for run in runs
        for issue in run.issues
    }
    failed = [issue for issue in told.values() if issue.code == "step-failed"]
    if len(failed) < max(runs[0].count, 2):
        return tuple(told.values())
    all_of_them = replace(failed[0], message=msg("All {count} steps failed to simulate.", count=len(runs)))
    return (*(issue for issue in told.values() if issue.code != "step-failed"), all_of_them)
