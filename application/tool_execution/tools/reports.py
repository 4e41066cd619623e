"""The tool that writes a circuit's design report into the project, as one operation that can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import Field

from application.ports.project import ABSENT
from application.ports.project_view import ProjectView
from application.ports.reports import ReportContent, ReportFormat, ReportRequest
from application.tool_execution.definition import Arguments, Texts, Tool, ToolContext, unlisted
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.new_files import free_name, plain_stem, vacant
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, result_to_plain
from shared.message import msg
from shared.uninterrupted import off_loop

_FOLDER = "reports"
_PICTURE = "-1.svg"


class ReportArguments(Arguments):
    """Arguments of generate_design_report."""

    path: str | None = Field(None, description="Omit for the only circuit.")
    format: ReportFormat | None = Field(None, description="html unless given.")
    studies: Texts = Field(default_factory=list, description="Kinds or runs; none. Omit: the newest.")
    to: str | None = unlisted(None)

    @property
    def format_or_ending(self) -> ReportFormat:
        """What was asked for, else what the file's name says."""
        ending = Path(self.to or "").suffix.lower().removeprefix(".")
        known: tuple[ReportFormat, ...] = get_args(ReportFormat)
        named: ReportFormat = next((each for each in known if each == ending), "html")
        return named if self.format is None else self.format


async def generate_design_report(
    arguments: ReportArguments, context: ToolContext, call: ToolCall
) -> ToolResult:
    """Gather what there is to tell of a circuit, write it as a new file, and say what is in it."""
    form, view = arguments.format_or_ending, context.view
    circuit = await chosen_circuit(context, arguments.path)
    target = await off_loop(_place, view, arguments.to, circuit.stem, form)
    request = ReportRequest(project=view.root, circuit=circuit, studies=arguments.studies or None)
    made = await context.services.make_report.made(request, form, target.stem)
    name = view.name_of(target)
    pictures = [view.name_of(target.with_name(each)) for each in made.files if each != target.name]
    details: dict[str, Any] = {
        "path": name,
        "file_path": name,
        "bytes": sum(map(len, made.files.values())),
        "pictures": pictures,
        **_told(made.content),
    }
    result = ToolResult(
        success=True,
        content=_content(details),
        summary=msg("Created {path} ({size} kB).", path=name, size=-(-details["bytes"] // 1000)),
        result=details,
    )
    contents = {target.with_name(each).relative_to(view.root): data for each, data in made.files.items()}
    await context.operations.rewrite_files(
        op_id=call.call_id,
        session_id=context.session_id,
        tool=call.name,
        contents=contents,
        expected=dict.fromkeys(contents, ABSENT),
        result=result_to_plain(result),
    )
    return result


def _place(view: ProjectView, named: str | None, circuit: str, form: ReportFormat) -> Path:
    """The document: as it was named, else under a name that nothing has."""
    suffix = f".{form}"
    if named is not None:
        return vacant(view, named, (suffix,))
    stem = f"{_FOLDER}/{plain_stem(circuit) or 'circuit'}-report"
    return free_name(view, stem, suffix, (suffix,), beside=_PICTURE if form == "md" else "")


def _told(content: ReportContent) -> dict[str, Any]:
    """What is in it, in few words and figures."""
    return {
        "circuit": content.circuit,
        "simulated": content.is_simulated,
        "goals": content.goals,
        "goals_judged": content.goals_judged,
        "goals_met": content.goals_met,
        "schematic": content.elements if content.no_schematic is None else None,
        "no_schematic": None if content.no_schematic is None else str(content.no_schematic),
        "curves": list(content.analyses),
        "operating_point": content.has_operating_point,
        "studies": [
            {"run": each.run, "kind": each.kind, "runs": each.runs, "of_this_file": each.is_of_this_file}
            for each in content.studies
        ],
        "rounds": content.rounds,
    }


def _content(details: Mapping[str, Any]) -> str:
    lines = [f"Made {details['path']}, the design report of {details['circuit']}."]
    if details["pictures"]:
        lines.append(f"Pictures beside it: {len(details['pictures'])}, {details['pictures'][0]} first.")
    if not details["simulated"]:
        lines.append("The circuit could not be simulated; the report says why.")
    if details["goals"]:
        left = details["goals"] - details["goals_judged"]
        more = f", {left} not judged" if left else ""
        lines.append(f"Goals: {details['goals_met']} of {details['goals_judged']} met{more}.")
    parts = [] if details["schematic"] is None else [f"schematic ({details['schematic']} elements)"]
    parts += [f"{analysis} curves" for analysis in details["curves"]]
    parts += ["operating point"] if details["operating_point"] else []
    parts += [f"{details['rounds']} design rounds"] if details["rounds"] else []
    lines.append(f"In it: {', '.join([*parts, 'netlist', 'versions'])}.")
    if details["no_schematic"]:
        lines.append(f"No schematic: {details['no_schematic']}")
    for study in details["studies"]:
        old = "" if study["of_this_file"] else "; the circuit was changed since"
        lines.append(f"Study: {study['kind']}, run {study['run']}, {study['runs']} simulations{old}.")
    if not details["studies"]:
        lines.append("No study in it.")
    return "\n".join(lines)


GENERATE_DESIGN_REPORT = Tool(
    name="generate_design_report",
    title=msg("Write a design report"),
    look=ToolLook(
        running=msg("Writing the design report"),
        done=msg("Wrote the design report"),
        icon="file-text",
        card="plain",
    ),
    description=(
        "Write a circuit's design report: goals, schematic, curves, studies, rounds. "
        'Example: {"path": "amp.cir"}'
    ),
    category="report",
    effect="create",
    arguments=ReportArguments,
    run=generate_design_report,
    timeout_s=None,
)
