"""A design report as a document, in the reader's language."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from application.design.rounds import DesignRounds, edited_since
from application.reports.circuit_report import CircuitReport
from application.reports.drawn_schematic import DrawnSchematic
from application.simulation.judging import JudgedGoal
from domain.design.opamp import MACRO_MODEL
from domain.simulation.operating_point import REGIONS, DevicePoint, OperatingPoint
from domain.simulation.result import SimulationResult
from presentation import VERSION
from presentation.figures import figure, number
from presentation.goal_margins import row_of, shown, typeset
from presentation.goal_words import name_of_judged
from presentation.report.blocks import Block, Cell, Code, Heading, Paragraph, Picture, Table, Translate
from presentation.report.goals import goal_table
from presentation.report.strips import strips_of
from presentation.report.studies import study_blocks
from presentation.round_words import change_of
from shared.message import Message, msg, one_line

WORDS: Mapping[str, Message] = {
    "time": msg("time"),
    "frequency": msg("frequency"),
    "magnitude": msg("magnitude"),
    "phase": msg("phase"),
}
"""The words in pictures."""
_ANALYSES: Mapping[str, Message] = {
    "ac": msg("Frequency response"),
    "tran": msg("Transient response"),
    "dc": msg("DC sweep"),
    "noise": msg("Noise"),
}
_MOST_NODES = 120
_NODES_BESIDE = 3
"""Pairs of node and voltage in a row."""
_MOST_ISSUES = 20
_UNITS = {"i": "A", "v": "V", "g": "S", "p": "W"}
_POWER = "power"
_NOT_COUNTED = msg(
    "The model of the op-amps draws no supply current: what they take themselves and give their loads is not "
    "in it."
)

_BLANK = (Cell(""), Cell("", is_number=True))


def _name_of(analysis: str) -> Message:
    kind = analysis.rstrip("0123456789")
    number = analysis.removeprefix(kind)
    return msg("{analysis} {number}", analysis=_ANALYSES[kind], number=number) if number else _ANALYSES[kind]


def document_of(report: CircuitReport, translate: Translate, *, now: datetime) -> tuple[Block, ...]:
    """The report's blocks, top to bottom. `now`: when it is made, in local time."""
    return tuple(_blocks(report, translate, now))


def _blocks(report: CircuitReport, say: Translate, now: datetime) -> Iterator[Block]:
    yield Heading(1, report.circuit)
    told = msg("Project {project} · {time}", project=report.project, time=f"{now:%Y-%m-%d %H:%M}")
    yield Paragraph(one_line(say(told)))
    yield _summary(report, say)
    if report.goals:
        yield Heading(2, say(msg("Goals")))
        yield goal_table(report.goals, say)
        yield from _unjudged(report.goals, say)
    yield from _schematic(report.schematic, say)
    yield from _measurements(report.result, say)
    yield from _issues(report.result, say)
    for picture in report.pictures:
        yield Heading(2, say(_name_of(picture.analysis)))
        yield Picture(picture.svg, ", ".join(picture.signals))
    for analysis, reason in report.undrawn.items():
        why = msg("{analysis}: not drawn. {reason}", analysis=_name_of(analysis), reason=reason)
        yield Paragraph(say(why), "error")
    if report.result.operating_point is not None:
        yield from operating_point_blocks(report.result.operating_point, say, report.netlist)
    for found in report.studies:
        yield from study_blocks(found, report.result.netlist_sha256, say)
    if report.rounds is not None:
        yield from _rounds(report.rounds, say)
        last = report.rounds.rounds[-1]
        if (edited := edited_since(last, report.netlist.encode())) is not None:
            change = change_of(edited, last)
            yield Paragraph(say(msg("Edited since, outside the design: {change}", change=change)))
    yield Heading(2, say(msg("Versions")))
    yield Paragraph(
        say(
            msg(
                "Simulated by {simulator} on {time}; report by Circuit Design AI {version}.",
                simulator=report.result.run.simulator_version,
                time=report.result.created[:16].replace("T", " ") + " UTC",
                version=VERSION,
            )
        )
    )
    digest = report.result.netlist_sha256[:16]
    yield Paragraph(say(msg("SHA-256 of the netlist: {digest}…", digest=digest)))
    yield Heading(2, say(msg("Netlist")))
    yield Code(report.netlist.rstrip("\n"))
    if report.included:
        yield Paragraph(say(msg("Included files: {names}", names=", ".join(report.included))))


def _summary(report: CircuitReport, say: Translate) -> Paragraph:
    if not report.result.ok:
        return Paragraph(say(msg("The circuit could not be simulated.")), "error")
    judged = [each for each in report.goals if each.is_judged]
    if not report.goals:
        return Paragraph(say(msg("The circuit was simulated; no goals are set for it.")))
    met = sum(each.verdict.met for each in judged)
    told = msg("{met} of {count} {count:goal|goals} met.", met=met, count=len(judged))
    others = len(report.goals) - len(judged)
    if others:
        told = msg("{told} {count} {count:goal|goals} cannot be judged by this run.", told=told, count=others)
    return Paragraph(say(told), "ok" if met == len(judged) and not others else "error")


def _schematic(found: DrawnSchematic, say: Translate) -> Iterator[Block]:
    yield Heading(2, say(msg("Schematic")))
    if found.reason is not None:
        yield Paragraph(say(msg("Not drawn: {reason}", reason=found.reason)), "warn")
        if found.advice is not None:
            yield Paragraph(say(found.advice))
        return
    yield from _drawing(found, say)
    for name, block in found.blocks:
        yield Heading(3, say(msg("Subcircuit {name}", name=name)))
        if block.reason is not None:
            yield Paragraph(say(msg("Not drawn: {reason}", reason=block.reason)), "warn")
        else:
            yield from _drawing(block, say)
    if found.left_out:
        more = msg("{count} further {count:subcircuit is|subcircuits are} not drawn.", count=found.left_out)
        yield Paragraph(say(more))


def _drawing(found: DrawnSchematic, say: Translate) -> Iterator[Block]:
    """One page of the schematic, in parts where it is wide."""
    whole = msg("{count} {count:element|elements}", count=found.elements)
    strips = strips_of(found.svg)
    for place, svg in enumerate(strips, 1):
        part = msg("{whole}, part {number} of {count} from the left",
                   whole=whole, number=place, count=len(strips))  # fmt: skip
        yield Picture(svg, say(whole if len(strips) == 1 else part), is_own=True)
    for reason in found.undrawn[:_MOST_ISSUES]:
        yield Paragraph(one_line(say(msg("Not drawn: {reason}", reason=reason))), "warn")
    if len(found.undrawn) > _MOST_ISSUES:
        yield Paragraph(say(msg("and {count} more", count=len(found.undrawn) - _MOST_ISSUES)))


def _unjudged(goals: Sequence[JudgedGoal], say: Translate) -> Iterator[Block]:
    for each in goals:
        if each.reason is not None:
            reason = msg("{name}: {reason}", name=name_of_judged(each.verdict), reason=each.reason)
            yield Paragraph(one_line(say(reason)))


def _measurements(result: SimulationResult, say: Translate) -> Iterator[Block]:
    if result.metrics:
        yield Heading(2, say(msg("Measurements")))
        rows = tuple(
            (Cell(one_line(name)), Cell(typeset(figure(quantity, 5)), is_number=True))
            for name, quantity in result.metrics.items()
        )
        yield Table((say(msg("Name")), say(msg("Value"))), rows)


def _issues(result: SimulationResult, say: Translate) -> Iterator[Block]:
    if not result.issues:
        return
    yield Heading(2, say(msg("Errors and warnings of the simulation")))
    rows = []
    for issue in result.issues[:_MOST_ISSUES]:
        place = "" if issue.file is None else issue.file.name
        if place and issue.line is not None:
            place = f"{place}:{issue.line}"
        kind = msg("error") if issue.severity == "error" else msg("warning")
        mood = "error" if issue.severity == "error" else ""
        rows.append((Cell(say(kind), mood), Cell(one_line(place)), Cell(one_line(say(issue.message)))))
    yield Table((say(msg("Kind")), say(msg("Place")), say(msg("Message"))), tuple(rows))
    left = len(result.issues) - _MOST_ISSUES
    if left > 0:
        yield Paragraph(say(msg("and {count} more", count=left)))


def operating_point_blocks(point: OperatingPoint, say: Translate, netlist: str) -> Iterator[Block]:
    """Powers, devices and voltages at rest; `netlist` tells whether its op-amps take current at all."""
    yield Heading(2, say(msg("Operating point")))
    if point.sources:
        yield Paragraph(say(msg("The sources deliver {power} in total.", power=_text(point.power, "W"))))
        if MACRO_MODEL in netlist:
            yield Paragraph(say(_NOT_COUNTED))
        head = (msg("Source"), msg("Voltage"), msg("Current"), msg("Power delivered"))
        yield Table(
            tuple(map(say, head)),
            tuple(
                (
                    Cell(one_line(each.name)),
                    *(
                        _figure(value, unit)
                        for value, unit in ((each.voltage, "V"), (each.current, "A"), (each.power, "W"))
                    ),
                )
                for each in point.sources
            ),
        )
    if point.devices:
        yield _devices(point.devices, say)
        if point.left_out:
            yield Paragraph(say(msg("and {count} more", count=point.left_out)))
    if point.nodes:
        pairs = list(point.nodes.items())
        cells = [(Cell(one_line(name)), _figure(value, "V")) for name, value in pairs[:_MOST_NODES]]
        lines = -(-len(cells) // _NODES_BESIDE)
        columns = [cells[first : first + lines] for first in range(0, len(cells), lines)]
        rows = tuple(
            tuple(part for column in columns for part in (column[line] if line < len(column) else _BLANK))
            for line in range(lines)
        )
        yield Table((say(msg("Node")), say(msg("Voltage"))) * len(columns), rows)
        if len(pairs) > _MOST_NODES:
            yield Paragraph(say(msg("and {count} more", count=len(pairs) - _MOST_NODES)))


def _devices(devices: Sequence[DevicePoint], say: Translate) -> Table:
    """A row a device; each names its own figures, as those of a MOSFET are not those of a diode."""
    rows = []
    for each in devices:
        region = REGIONS.get(each.region)
        told = ", ".join(
            f"{name.upper() if name[0] != 'g' else name}\u00a0=\u00a0{_text(value, _UNITS[name[0]])}"
            for name, value in each.figures.items()
            if name != _POWER and name[0] in _UNITS and math.isfinite(value)
        )
        power = each.figures.get(_POWER, math.nan)
        is_told = region is not None
        rows.append(
            (
                Cell(one_line(each.name)),
                Cell(say(msg("diode")) if each.kind == "diode" else each.kind),
                Cell(say(region) if is_told and region is not None else "—"),
                Cell(told),
                _figure(power, "W"),
            )
        )
    head = (msg("Device"), msg("Kind"), msg("Region"), msg("Figures"), msg("Power"))
    return Table(tuple(map(say, head)), tuple(rows))


def _rounds(found: DesignRounds, say: Translate) -> Iterator[Block]:
    yield Heading(2, say(msg("Iterations")))
    designs = [found]
    while designs[0].refines is not None:
        designs.insert(0, designs[0].refines)
    for each in designs:
        yield from _rounds_of(each, say)


def _rounds_of(found: DesignRounds, say: Translate) -> Iterator[Block]:
    if found.text:
        yield Paragraph(say(msg("“{text}”", text=one_line(found.text))))
    head = tuple(map(say, (msg("Round"), msg("Change"), msg("Figures"), msg("Met"))))
    rows: list[tuple[Cell, ...]] = []
    before = found.begins_from
    colon = say(msg(": "))
    for each in found.rounds:
        if each.said:  # what changed the wish stands before what came of it
            if rows:
                yield Table(head, tuple(rows))
            rows = []
            yield Paragraph(say(msg("“{text}”", text=one_line(each.said))))
        met = say(msg("failed")) if each.has_failed else f"{each.goals_met}/{len(each.verdicts)}"
        figures = say(msg("; ")).join(
            f"{say(name_of_judged(verdict))}{colon}{say(shown(row_of(verdict).value))}"
            for verdict in each.verdicts
        )
        rows.append(
            (
                Cell(str(each.number), is_number=True),
                Cell(one_line(say(change_of(each, before)))),
                Cell(one_line(figures)),
                Cell(met, "error" if each.has_failed else "", is_number=True),
            )
        )
        before = each
    yield Table(head, tuple(rows))


def _figure(value: float, unit: str) -> Cell:
    return Cell(_text(value, unit), is_number=True)


def _text(value: float, unit: str) -> str:
    return typeset(number(value + 0.0, unit, 4))  # no negative zero
