"""The tool that finds out why a circuit does not converge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from application.ports.project_view import ProjectView
from application.tool_execution.definition import Arguments, Number, Switch, Tool, ToolContext, unlisted
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.edits import exchange_text
from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult
from domain.llm.tools.text_files import BinaryFileError, decode
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.simulation.convergence import Diagnosis
    from domain.simulation.convergence import Cause

_MOST_BYTES = 20_000_000


class ConvergenceArguments(Arguments):
    """Arguments of analyze_convergence."""

    path: str | None = Field(None, description="Omit for the only circuit.")
    analysis: str | None = unlisted(None, max_length=500)
    timeout_s: Number = unlisted(60.0, gt=0, le=600)
    auto_fix: Switch = Field(False, description="Put the first that helps into the file.")


async def analyze_convergence(
    arguments: ConvergenceArguments, context: ToolContext, call: ToolCall
) -> ToolResult:
    """Simulate, name the cause of convergence trouble, try remedies in copies, put one in if asked to."""
    circuit = await chosen_circuit(context, arguments.path)
    before = await off_loop(_text_of, context.view, circuit) if arguments.auto_fix else ""
    diagnosis = await context.services.analyze_convergence(
        circuit,
        analysis=arguments.analysis,
        libraries=await off_loop(_folders, context.view),
        timeout_s=arguments.timeout_s,
    )
    name = context.view.name_of(circuit)
    cause = diagnosis.cause
    if cause is None:
        return ToolResult(
            success=True,
            content=f"{name} converges, or fails for another reason than convergence: see run_simulation.",
            summary=msg("Nothing prevents this circuit from converging."),
            result={"file_path": name, "cause": None, "remedies": []},
        )
    found = _found(name, diagnosis, cause, is_asked_to_fix=arguments.auto_fix)
    if not arguments.auto_fix or diagnosis.proposal is None:
        return found
    fixed = decode(diagnosis.proposal.remedy.netlist.to_bytes()).text

    def told(change: ToolResult) -> ToolResult:
        return replace(
            change,
            content=f"{found.content}\n{change.content}",
            result={**found.result, **change.result, "fixed": True},
        )

    return await exchange_text(context, call, name, old=before, new=fixed, tell=told)


async def preview(arguments: ConvergenceArguments, context: ToolContext) -> ComputedEffect:
    """It changes one file, or only simulates it. Raises UserInputError as the call would."""
    circuit = await chosen_circuit(context, arguments.path)
    path = PathEffect(path=context.view.name_of(circuit))
    if not arguments.auto_fix:
        return ComputedEffect(effect="simulate", paths=(path,))
    return ComputedEffect(effect="change", paths=(path,), files=1)


def _folders(view: ProjectView) -> list[Path]:
    """The libraries that are folders; the others are single files."""
    return [path for path in view.libraries if path.is_dir()]


def _text_of(view: ProjectView, circuit: Path) -> str:
    """The file's text, once it is clear that it may be written."""
    path = view.locate_for_writing(view.name_of(circuit))
    try:
        with view.open(path) as file:
            return decode(file.read(_MOST_BYTES)).text
    except (OSError, BinaryFileError) as error:
        raise UserInputError(
            msg("{path} is not a text file.", path=view.name_of(path)), error_type="binary_file"
        ) from error


def _found(name: str, diagnosis: Diagnosis, cause: Cause, *, is_asked_to_fix: bool) -> ToolResult:
    return ToolResult(
        success=True,
        content=_content(name, diagnosis, is_asked_to_fix=is_asked_to_fix),
        summary=cause.message,
        result={
            "file_path": name,
            "fixed": False,
            "cause": cause.code,
            "message": str(cause.message),
            "evidence": [str(message) for message in cause.evidence],
            "elements": [item.element.name for item in cause.elements],
            "nodes": list(cause.nodes),
            "remedies": [
                {
                    "code": trial.remedy.code,
                    "edit": trial.diff,
                    "converges": trial.converges,
                    "note": str(trial.remedy.message),
                }
                for trial in diagnosis.trials
            ],
        },
    )


def _content(name: str, diagnosis: Diagnosis, *, is_asked_to_fix: bool) -> str:
    assert diagnosis.cause is not None
    lines = [f"{name}: {diagnosis.cause.message} [{diagnosis.cause.code}]"]
    for trial in diagnosis.trials:
        lines.append(f"{'converges' if trial.converges else 'does not help'}: {trial.remedy.message}")
    if diagnosis.proposal is None:
        lines.append("None of the remedies makes it converge; the file was not changed.")
    elif not is_asked_to_fix:
        lines += ["The file was not changed. This edit makes it converge:", diagnosis.proposal.diff]
    return "\n".join(lines)


ANALYZE_CONVERGENCE = Tool(
    name="analyze_convergence",
    title=msg("Analyze convergence"),
    look=ToolLook(
        running=msg("Analyzing convergence"), done=msg("Analyzed convergence"), icon="activity", card="plain"
    ),
    description=(
        "Find out why a circuit does not converge (singular matrix, time step too small) and which edit "
        "helps, tried in copies. The file changes only with auto_fix. "
        'Example: {"path": "oscillator.cir", "auto_fix": true}'
    ),
    category="simulation",
    effect="change",
    arguments=ConvergenceArguments,
    run=analyze_convergence,
    preview=preview,
    timeout_s=None,
)
