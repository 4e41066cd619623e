"""Decides how a run ended: exit code, log, and what the raw files really hold.

Exit code 0 is not success: ngspice ends many failed runs with it, some without any data. A run has
succeeded when ngspice ended by itself with 0, no known failure text was printed, and there is a
plot with points for every analysis that was asked for.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from domain.simulation.request import SimulationJob
from domain.simulation.result import RunStatus, SimulationIssue
from infrastructure.ngspice.card_locator import CardLocator
from infrastructure.ngspice.findings import Finding, LogReading
from infrastructure.ngspice.sandbox import LAUNCHER_FAILED
from shared.message import Message, msg

# Kinds of cards that leave a plot in the raw file; .four and .meas do not (ngspice skips them with -r).
_PLOTTED = frozenset(("op", "dc", "ac", "tran", "noise", "tf", "sens", "pz", "disto", "sp"))
_NAMES = frozenset(("element", "name", "node", "section", "value", "command"))
_SOLVER_CODES = frozenset(("no-convergence", "singular-matrix", "timestep-too-small"))
_OF_COMMANDS = frozenset((
    "control-command-failed", "file-not-opened", "nothing-saved", "osdi-unavailable"
))  # fmt: skip
"""Failures of single commands of a control block."""
_ENDS = frozenset(("time-limit", "file-size-limit", "cpu-limit", "simulator-crashed", "simulator-killed"))
_CRASHES = frozenset(
    128 + number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)
)


class SeenPlot(Protocol):
    """What the verdict asks of a plot, wherever its data are."""

    @property
    def analysis(self) -> str: ...

    @property
    def has_data(self) -> bool: ...

    @property
    def variables(self) -> Sequence[object]:
        """Its vectors; only whether there are any counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the process ended and what it left."""

    exit_code: int
    timed_out: bool
    out_of_disk: bool
    """We ended it because its files together passed the size limit."""
    is_halted: bool = False
    """We ended it because its user asked for that."""
    plots: tuple[SeenPlot, ...]
    """The plots of the deck's analysis cards and of its control block."""
    raw_is_unreadable: bool
    """There is such a file, but it cannot be read."""
    has_other_raw: bool
    """A control block wrote raw files with data."""


def judge(job: SimulationJob, ending: Ending, log: LogReading) -> tuple[RunStatus, list[SimulationIssue]]:
    """Status of the run and its issues, errors first."""
    locator = CardLocator(job.deck, job.deck_path, job.included_files)
    findings = [_at_what_ran(each, job, ending, locator) for each in _of_the_process(job, ending, log)]
    findings += _of_the_log(job, ending, log)
    if not ending.is_halted and not any(finding.severity == "error" for finding in findings):
        findings += _of_the_data(job, ending, log)
    issues = [_as_issue(finding, locator) for finding in findings]
    issues.sort(key=lambda issue: issue.severity != "error")
    if ending.timed_out:
        return "timeout", issues
    if ending.is_halted:
        return "cancelled", issues
    return ("failed" if any(issue.severity == "error" for issue in issues) else "ok"), issues


def _at_what_ran(finding: Finding, job: SimulationJob, ending: Ending, locator: CardLocator) -> Finding:
    """An end from outside, or a crash, said of the analysis that ran then, as far as that is known."""
    if finding.code not in _ENDS:
        return finding
    kinds = locator.analysis_kinds(_PLOTTED)
    if not kinds and job.has_control_block:
        return replace(finding, begins=(".control",))
    if finding.code == "simulator-crashed" and not ending.plots:
        return finding  # it may be a card that ngspice could not read
    last = ending.plots[-1] if ending.plots else None
    running = [last.analysis] if last is not None and last.analysis in kinds else kinds
    if finding.code == "simulator-crashed" and last is not None and last.has_data:
        done = {plot.analysis for plot in ending.plots}
        running = [kind for kind in kinds if kind not in done] or running
    if len(running) != 1:  # whichever of them it was, this command began it
        return replace(finding, begins=("run",)) if job.has_control_block else finding
    return replace(finding, analysis=running[0])


def _of_the_log(job: SimulationJob, ending: Ending, log: LogReading) -> list[Finding]:
    """What ngspice said. A failed command of the circuit does not undo what the others computed."""
    findings = _without_consequences(log.findings)
    if job.has_control_block and (ending.has_other_raw or any(plot.has_data for plot in ending.plots)):
        return [
            replace(finding, severity="warning") if finding.code in _OF_COMMANDS else finding
            for finding in findings
        ]
    return findings


def _without_consequences(findings: Sequence[Finding]) -> list[Finding]:
    """A missing data file explains that nothing converged; where no Verilog-A can be loaded there is none; a
    circuit that was not loaded whole runs no analysis, also where its control block has one."""
    codes = {finding.code for finding in findings}
    explained: frozenset[str] = _SOLVER_CODES if "missing-data-file" in codes else frozenset()
    if "osdi-unavailable" in codes:
        explained |= {"osdi-missing"}
    if codes & {"osdi-unavailable", "missing-include"}:
        explained |= {"no-analysis"}
    left = [finding for finding in findings if finding.code not in explained]
    if not any(finding.code == "no-convergence" for finding in left):
        return left
    # A formula without a value is why there is no operating point.
    formulas = [replace(finding, severity="error") for finding in left if finding.code == "math-domain"]
    return [*formulas, *(finding for finding in left if finding.code != "math-domain")]


def _error(code: str, message: Message, advice: Message | None = None) -> Finding:
    return Finding(severity="error", code=code, message=message, advice=advice)


def _of_the_process(job: SimulationJob, ending: Ending, log: LogReading) -> Iterable[Finding]:
    """What the exit code alone says; at most one finding."""
    limits, code = job.limits, ending.exit_code
    if ending.timed_out:
        yield _error(
            "time-limit",
            msg("The run was stopped after {seconds} s.", seconds=f"{limits.wall_s:.3g}"),
            msg("Data computed until then were kept. Raise the time limit or shorten the analysis."),
        )
    elif ending.is_halted:
        yield Finding(
            severity="warning",
            code="stopped",
            message=msg("The run was stopped before its end; what it had computed was kept."),
        )
    elif ending.out_of_disk or code == 128 + signal.SIGXFSZ:
        yield _error(
            "file-size-limit",
            msg(
                "The run wrote more than the {megabytes} MB allowed.",
                megabytes=limits.largest // 2**20,
            ),
            msg(
                "Data written until then were kept. Save fewer signals with .save, use a larger time "
                "step, or raise run_bytes under results in settings.json."
            ),
        )
    elif code == 128 + signal.SIGXCPU:
        yield _error(
            "cpu-limit",
            msg("The run used up its {seconds} s of processor time.", seconds=limits.cpu_s),
            msg("Data computed until then were kept. Raise the limit or shorten the analysis."),
        )
    elif code == LAUNCHER_FAILED and not log.quit_by_deck:
        yield _error(
            "box-failed", msg("The protected environment for ngspice could not be set up; see the log.")
        )
    elif code in _CRASHES:
        yield _error(
            "simulator-crashed",
            msg("ngspice crashed ({name}).", name=signal.Signals(code - 128).name),
            msg("This circuit triggers a fault in ngspice; the log shows how far it got."),
        )
    elif code > 128 and code - 128 in {int(known) for known in signal.Signals}:
        yield _error(
            "simulator-killed",
            msg("ngspice was ended from outside ({name}).", name=signal.Signals(code - 128).name),
            msg("The system may have run out of memory."),
        )
    elif code != 0 and not log.errors:
        yield _failed_without_words(job, code, log)


def _failed_without_words(job: SimulationJob, code: int, log: LogReading) -> Finding:
    if log.quit_by_deck:
        return _error(
            "control-quit",
            msg("The control block ended ngspice with exit code {code}.", code=code),
            msg("quit with a number other than 0 reports a failure."),
        )
    if _is_empty(job.deck):
        return _empty_circuit()
    words = [finding for finding in log.findings if finding.code == "ngspice-message"]
    if log.aborted and words:
        reason = words[0].message.params["text"]
        return _error("circuit-not-loaded", msg("The circuit could not be loaded: {reason}", reason=reason))
    if log.aborted:
        return _error("circuit-not-loaded", msg("ngspice could not load the circuit; see the log."))
    return _error("simulator-failed", msg("ngspice ended with exit code {code}; see the log.", code=code))


def _of_the_data(job: SimulationJob, ending: Ending, log: LogReading) -> Iterable[Finding]:
    """What is missing from the raw file of a run that otherwise looks healthy."""
    wanted = Counter(analysis.kind for analysis in job.analyses if analysis.kind in _PLOTTED)
    there = Counter(plot.analysis for plot in ending.plots if plot.has_data)
    missing = [kind for kind in wanted if there[kind] < wanted[kind]]
    if log.aborted:
        yield _error("analysis-failed", msg("ngspice aborted an analysis; see the log."))
    elif ending.raw_is_unreadable:
        yield _error("output-unreadable", msg("The run's raw file cannot be read."))
    elif not wanted and not there and not ending.has_other_raw:
        yield from _no_data_at_all(job, log)
    elif missing and job.has_control_block and log.quit_by_deck:
        if there or ending.has_other_raw:
            yield Finding(
                severity="warning",
                code="analysis-skipped",
                message=msg("The control block ended the run before the circuit's own analyses."),
            )
        else:
            yield from _no_data_at_all(job, log)
    else:
        for kind in missing:
            yield Finding(
                severity="error",
                code="no-data",
                message=msg("The analysis .{kind} produced no data.", kind=kind),
                analysis=kind,
                advice=msg("The log may show why."),
            )
    if any(_has_many_frequencies(analysis.text) for analysis in job.analyses if analysis.kind == "sens"):
        yield Finding(
            severity="warning",
            code="first-frequency-only",
            message=msg("ngspice computes sensitivities at the first frequency only; the others read 0."),
            analysis="sens",
            advice=msg("Request one frequency at a time: {example}.", example=".sens v(out) ac lin 1 1k 1k"),
        )
    if any(plot.analysis == "pz" and not plot.variables for plot in ending.plots):
        yield Finding(
            severity="warning",
            code="nothing-found",
            message=msg("The pole-zero analysis found neither poles nor zeros."),
            analysis="pz",
        )


def _has_many_frequencies(card: str) -> bool:
    """An AC sensitivity over more than one frequency."""
    words = card.lower().split()
    return "ac" in words[1:] and words[words.index("ac", 1) + 1 :][:2] != ["lin", "1"]


def _no_data_at_all(job: SimulationJob, log: LogReading) -> Iterable[Finding]:
    destroys = b"destroy" in job.deck.lower()
    if job.has_control_block and log.begun:
        yield Finding(
            severity="error",
            code="no-data",
            message=msg("The control block ran analyses and kept none of their data."),
            advice=msg("Remove destroy, or save the data before it with write.") if destroys else None,
            begins=("destroy",) if destroys else (".control",),
        )
    elif job.has_control_block:
        yield Finding(
            severity="error",
            code="no-data",
            message=msg("The run produced no data: the control block ran no analysis."),
            advice=msg(
                "Add an analysis line such as .tran, or a command such as run or tran in the control block."
            ),
            begins=(".control",),
        )
    elif _is_empty(job.deck):
        yield _empty_circuit()
    else:
        yield _error(
            "no-analysis",
            msg("The netlist contains no analysis."),
            msg("Add a line such as .op, .ac or .tran."),
        )


def _is_empty(deck: bytes) -> bool:
    """Nothing that begins like an element after the title."""
    return not any(line.lstrip()[:1].isalpha() for line in deck.splitlines()[1:])


def _empty_circuit() -> Finding:
    return _error(
        "empty-circuit",
        msg("The file contains no circuit."),
        msg("The first line is the title; elements begin on the second."),
    )


def _as_issue(finding: Finding, locator: CardLocator) -> SimulationIssue:
    place = locator.place_of(finding) if finding.card or finding.element or finding.number else None
    if place is None and finding.analysis is not None:
        place = locator.analysis_line(finding.analysis)
    place = place or locator.place_of(finding)
    return SimulationIssue(
        severity=finding.severity,
        code=finding.code,
        message=_as_written(finding.message, locator),
        file=None if place is None else place.file,
        line=None if place is None else place.line,
        element=locator.as_written(finding.element) if finding.element else None,
        node=locator.as_written(finding.node) if finding.node else None,
        advice=finding.advice,
    )


def _as_written(message: Message, locator: CardLocator) -> Message:
    """The names of the circuit in a message, in the user's letter case."""
    params = {
        key: locator.as_written(value) if key in _NAMES and isinstance(value, str) else value
        for key, value in message.params.items()
    }
    return Message(message.template, MappingProxyType(params))
