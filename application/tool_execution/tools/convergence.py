"""The tool that finds out why a circuit does not converge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from application.tool_execution.context import ToolCall, ToolContext
from application.tool_execution.definition import Arguments, Number, Tool
from application.tool_execution.tools.circuit_choice import chosen_circuit
from domain.llm.tools.result import ToolResult
from shared.message import msg

if TYPE_CHECKING:
    from application.simulation.convergence import Diagnosis


class ConvergenceArguments(Arguments):
    """Arguments of analyze_convergence."""

    file_path: str | None = Field(
        None, description="Circuit to examine. Omit it when the project has one circuit only."
    )
    analysis: str | None = Field(
        None, max_length=500, description="A complete analysis card that replaces those of the circuit."
    )
    timeout_s: Number = Field(60.0, gt=0, le=600, description="Most seconds for the circuit as it is.")


async def analyze_convergence(
    arguments: ConvergenceArguments, context: ToolContext, _call: ToolCall
) -> ToolResult:
    """Simulate, name the cause of convergence trouble, try remedies in copies."""
    circuit = await chosen_circuit(context, arguments.file_path)
    diagnosis = await context.services.analyze_convergence(
        circuit,
        analysis=arguments.analysis,
        libraries=[path for path in context.view.libraries if path.is_dir()],
        timeout_s=arguments.timeout_s,
    )
    name = context.view.name_of(circuit)
    cause = diagnosis.cause
    if cause is None:
        return ToolResult(
            success=True,
            content=f"{name} converges, or fails for another reason than convergence: see run_simulation.",
            summary=msg("Nothing keeps this circuit from converging."),
            result={"file_path": name, "cause": None, "remedies": []},
        )
    return ToolResult(
        success=True,
        content=_content(name, diagnosis),
        summary=cause.message,
        result={
            "file_path": name,
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


def _content(name: str, diagnosis: Diagnosis) -> str:
    assert diagnosis.cause is not None
    lines = [f"{name}: {diagnosis.cause.message} [{diagnosis.cause.code}]"]
    for trial in diagnosis.trials:
        lines.append(f"{'converges' if trial.converges else 'does not help'}: {trial.remedy.message}")
    if diagnosis.proposal is not None:
        lines += ["The file was not changed. This edit makes it converge:", diagnosis.proposal.diff]
    return "\n".join(lines)


ANALYZE_CONVERGENCE = Tool(
    name="analyze_convergence",
    title=msg("Analyze convergence"),
    description=(
        "Find out why a circuit does not converge (singular matrix, no operating point, time step too "
        "small) and which edit makes it converge. Remedies are tried in copies; the file is not changed. "
        "Use it when run_simulation reports such an error, then apply the edit with patch_file. "
        'Example: {"file_path": "oscillator.cir"}'
    ),
    category="simulation",
    effect="read",
    arguments=ConvergenceArguments,
    run=analyze_convergence,
    timeout_s=None,
)
