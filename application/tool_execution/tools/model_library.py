"""The tool that finds components in the libraries and gives their models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from application.ports.components import FoundComponents
from application.tool_execution.definition import Arguments, Number, Tool, ToolContext, unlisted
from application.tool_execution.tools._common import locate
from domain.circuit.model_library import LibraryModel
from domain.components.component import Component, fault_words, figure_words
from domain.components.placing import include_path
from domain.components.titles import is_shipped
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, failure_of
from domain.studies.spec_reader import read_number
from shared.errors import CircuitAIError
from shared.message import msg
from shared.uninterrupted import off_loop

_MOST, _MOST_OF_ALL = 12, 40
_STOCK = "Stock and price: unknown offline. No distributor is asked; what the libraries have is known."


class FindModelArguments(Arguments):
    """Arguments of find_model."""

    query: str = Field("", max_length=200, description="Name, or kind and figures.")
    length: str | None = Field(None, max_length=20, description="L (0.5u): gm/Id table of a MOS model.")
    path: str | None = unlisted(None)
    width: str = unlisted("10u", max_length=20)
    vds: Number = unlisted(1.0, gt=0, le=100)
    channel: Literal["", "nmos", "pmos"] = unlisted("")
    bulk: Number = unlisted(0.0, ge=0, le=20)
    whole: bool = unlisted(False)
    stock: bool = unlisted(False)


async def find_model(arguments: FindModelArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """One model whole, or a line for each that fits; with a length the gm/Id table of a MOSFET model."""
    if arguments.length is not None:
        return await _table(arguments, arguments.length, context)
    find = context.services.components
    is_asked = bool(arguments.query.strip())
    most = _MOST if is_asked else _MOST_OF_ALL
    answer = await find(arguments.query, root=context.view.root, most=most)
    found = answer.found
    shipped = {model.name: model for model in await off_loop(lambda: context.services.model_library.models)}
    if not found.total:
        return _nothing(arguments, tuple(shipped), found)
    lines = (
        [await _whole(found.components[0], context)]
        if found.total == 1 and found.components[0].file
        else [
            _line(each, context, shipped.get(each.name) if is_shipped(each) else None, with_figures=is_asked)
            for each in found.components
        ]
    )
    if len(lines) > 1:
        lines.append("Put .include NAME.lib into the circuit. By its name a model is shown whole.")
    if found.total > len(found.components):
        lines.append(f"{found.total - len(found.components)} more fit; add a figure or a word.")
    if found.unstated:
        lines.append(f"{found.unstated} more of this kind do not state the figures asked for.")
    if arguments.stock:
        lines.append(_STOCK)
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("Found {count} {count:model|models} in the library.", count=found.total),
        result={
            "models": [_plain(each, context) for each in found.components],
            "total": found.total,
            "unstated": found.unstated,
            **({"availability": "unknown offline"} if arguments.stock else {}),
        },
    )


def _nothing(arguments: FindModelArguments, names: Sequence[str], found: FoundComponents) -> ToolResult:
    unstated = f"{found.unstated} of this kind do not state the figures asked for. " if found.unstated else ""
    return failure(
        "no_such_model",
        msg("The model library has nothing like “{query}”.", query=arguments.query),
        detail=unstated + "It has: " + ", ".join(names) + (f"\n{_STOCK}" if arguments.stock else ""),
        suggestions=(msg("Write the .model card into the circuit, with its source."),),
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
        f"{table.model} ({table.channel}), L = {length} um, |VDS| = {arguments.vds:g} V, simulated at "
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


def _include(component: Component, context: ToolContext) -> str:
    """The card that brings it into a circuit in the project's folder; "" for a value."""
    if not component.file:
        return ""
    libraries = context.services.components.libraries()
    return component.include_card(include_path(component, context.view.root, libraries))


def _pins(component: Component) -> str:
    return " ".join(component.pin_label(at).replace(" ", "_") for at in range(len(component.ports)))


def _plain(component: Component, context: ToolContext) -> dict[str, object]:
    return {
        "name": component.name,
        "kind": component.kind,
        "include": _include(component, context),
        "pins": _pins(component),
        "figures": dict(component.figures),
    }


def _line(
    component: Component, context: ToolContext, shipped: LibraryModel | None, *, with_figures: bool
) -> str:
    fault = fault_words(component)
    if fault is not None:
        return f"{component.name}: cannot be used. {fault[0]} {fault[1]}"
    if component.card == "value":
        return f"{component.name}: {component.kind} of {component.title}"
    figures = shipped.figures if shipped is not None else figure_words(component.kind, component.figures)
    told = f"; {figures}" if with_figures and figures else ""
    origin = "" if shipped is not None else f"; {_include(component, context)}"
    title = component.title or component.kind
    return f"{component.name}: {title}{told}{origin}; nodes: {_pins(component)}"


async def _whole(component: Component, context: ToolContext) -> str:
    fault = fault_words(component)
    text = (await context.services.components.text(component)).rstrip()
    if fault is not None:
        return f"{component.name} cannot be used. {fault[0]} {fault[1]}\n{text}"
    element = "X1 ... " if component.card == "subckt" else ""
    figures = figure_words(component.kind, component.figures)
    known = f"Figures: {figures}.\n" if figures and not is_shipped(component) else ""
    return (
        f"Put this card into the circuit: {_include(component, context)} (then {element}{component.name}; "
        f"nodes: {_pins(component)}). "
        f"For use outside this program put the text itself into the circuit:\n{known}{text}"
    )


FIND_MODEL = Tool(
    name="find_model",
    title=msg("Find a model"),
    look=ToolLook(running=msg("Finding a model"), done=msg("Found a model"), icon="book-open", card="read"),
    description=(
        "Tested models of the program's and the user's libraries: transistors, diodes, op-amps. "
        'Better than a .model from memory. Example: {"query": "op-amp above 5 MHz"}'
    ),
    category="search",
    effect="read",
    arguments=FindModelArguments,
    run=find_model,
)
