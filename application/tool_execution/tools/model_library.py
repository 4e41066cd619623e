"""The tool that finds a model of the library that comes with the program."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from application.tool_execution.definition import Arguments, Number, Tool, ToolContext, unlisted
from application.tool_execution.tools._common import locate
from domain.circuit.model_library import LibraryModel, matching_models
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, failure_of
from domain.studies.spec_reader import read_number
from shared.errors import CircuitAIError
from shared.message import msg
from shared.uninterrupted import off_loop


class FindModelArguments(Arguments):
    """Arguments of find_model."""

    query: str = Field("", max_length=100, description="A part (2N3904) or words (pnp, op-amp). Omit: all.")
    length: str | None = Field(None, max_length=20, description="L (0.5u): gm/Id table of a MOS model.")
    path: str | None = unlisted(None)
    width: str = unlisted("10u", max_length=20)
    vds: Number = unlisted(1.0, gt=0, le=100)
    channel: Literal["", "nmos", "pmos"] = unlisted("")
    bulk: Number = unlisted(0.0, ge=0, le=20)
    whole: bool = unlisted(False)


async def find_model(arguments: FindModelArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """One model whole, or a line for each that fits; with a length the gm/Id table of a MOSFET model."""
    if arguments.length is not None:
        return await _table(arguments, arguments.length, context)
    models = await off_loop(lambda: context.services.model_library.models)
    found = matching_models(models, arguments.query)
    if not found:
        return failure(
            "no_such_model",
            msg("The model library has nothing like “{query}”.", query=arguments.query),
            detail="It has: " + ", ".join(model.name for model in models),
            suggestions=(msg("Write the .model card into the circuit, with its source."),),
        )
    lines = (
        [_whole(found[0])]
        if len(found) == 1
        else [_line(model, with_figures=bool(arguments.query.strip())) for model in found]
    )
    if len(found) > 1:
        lines.append("Put .include NAME.lib into the circuit. By its name a model is shown whole.")
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("Found {count} {count:model|models} in the library.", count=len(found)),
        result={
            "models": [{"name": each.name, "include": each.include, "pins": each.pins} for each in found]
        },
    )


async def _table(arguments: FindModelArguments, length: str, context: ToolContext) -> ToolResult:
    from application.simulation.device_tables import TableRequest
    from domain.design.engine.device_cards import table_text
    from domain.simulation.device_table import table_columns

    file = None if arguments.path is None else await locate(context, arguments.path)
    request = TableRequest(
        model=arguments.query,
        length_m=read_number(length, "length"),
        width_m=read_number(arguments.width, "width"),
        file=file,
        beside=file or context.view.root / "model.cir",
        channel=arguments.channel,
        bulk_v=arguments.bulk,
    )
    try:
        table = await context.services.device_tables(request)
    except CircuitAIError as error:
        return failure_of(error)
    if arguments.whole:
        return ToolResult(
            success=True,
            content=table_text(table),
            summary=msg("gm/Id table of {model}.", model=table.model),
            result={"model": table.model, "channel": table.channel},
        )
    rows = [row.cells() for row in table.rows(arguments.vds)]
    heads = [f"{name} [{unit}]" for name, unit in table_columns()]
    lines = [
        f"{table.model} ({table.channel}), L = {length}, |VDS| = {arguments.vds:g} V, simulated at "
        f"W = {arguments.width}. W = Id / (Id/W) for a wanted gm/Id; far from this W ask again with width.",
        ", ".join(heads),
        *(", ".join(f"{cell:.4g}" for cell in row) for row in rows),
    ]
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("gm/Id table of {model}, {count} rows.", model=table.model, count=len(rows)),
        result={"model": table.model, "channel": table.channel, "columns": heads, "rows": rows},
    )


def _line(model: LibraryModel, *, with_figures: bool) -> str:
    figures = f"; {model.figures}" if with_figures else ""
    return f"{model.name}: {model.title}{figures}; nodes: {model.pins}"


def _whole(model: LibraryModel) -> str:
    element = "X1 ... " if model.is_subcircuit else ""
    return (
        f"Put this card into the circuit: {model.include} (then {element}{model.name}; nodes: {model.pins}). "
        f"For use outside this program put the text itself into the circuit:\n{model.text.rstrip()}"
    )


FIND_MODEL = Tool(
    name="find_model",
    title=msg("Find a model"),
    look=ToolLook(running=msg("Finding a model"), done=msg("Found a model"), icon="book-open", card="read"),
    description=(
        "Tested models of usual parts: transistors, diodes, Zeners, op-amps, 555, MOS. Better than a .model "
        'from memory; .include 2N3904.lib brings one in. Example: {"query": "2N3904"}'
    ),
    category="search",
    effect="read",
    arguments=FindModelArguments,
    run=find_model,
)
