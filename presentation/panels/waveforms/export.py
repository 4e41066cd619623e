"""A plot as a file: its values as CSV, its picture as PNG or SVG, in the light theme."""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QGuiApplication, QImage, QPainter
from PyQt6.QtSvg import QSvgGenerator

from domain.simulation.waveform import RealArray
from presentation.panels.waveforms.drawn_in_turns import PixelCanvas, SvgCanvas
from presentation.panels.waveforms.even_steps import at_even_steps
from presentation.panels.waveforms.panes import TRACE_COLORS
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.traces import Axis, Trace
from presentation.ui.questions import choose_target
from presentation.ui.theme import Theme
from presentation.ui.whole_file import write
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.spreadsheets import plain_cell
from shared.uninterrupted import off_loop

_PIXEL_RATIO = 2.0
_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class Caption:
    """What stands above an exported picture: who sees only the picture knows what it is of."""

    title: str
    """Circuit, run and analysis."""
    traces: tuple[tuple[str, int], ...]
    """Expression and colour of each curve."""
    behind: tuple[str, ...] = ()
    """Runs that are drawn pale."""


async def export_plot(
    services: WindowServices,
    area: PlotArea,
    axis: Axis,
    traces: Sequence[Trace],
    *,
    suffix: str,
    name: str,
    folder: Path | None = None,
    behind: Sequence[str] = (),
    others: Callable[[], Sequence[Trace]] = tuple,
) -> None:
    """Ask where, and write the plot there as "csv", "png" or "svg"; or offer it to the "conversation".

    "csv" and "even.csv", the shown part at equal steps, are of a family all its runs (`others`, called off
    the loop: those that are not read).
    `folder` is that of the circuit, `name` says circuit, run and analysis, `behind` the older runs that are
    drawn too. Raises EnvironmentProblem.
    """
    caption = Caption(name, _legend_of(services, traces), tuple(behind))
    if suffix == "conversation":
        theme = services.theme.theme
        picture = await png_of(area, Theme("light", theme.scale), caption)
        services.workspace.picture_offered.emit(f"{_file_name(name)}.png", picture)
        return
    start = (folder or services.workspace.root or Path.home()) / f"{_file_name(name)}.{suffix}"
    target = await choose_target(services, area.window() or area, msg("Export the plot"), start)
    if target is None:
        return
    told = msg("Exported {name}", name=target.name)
    if suffix in ("csv", "even.csv"):
        runs = await asyncio.to_thread(others)
        if count := len({trace.step.number for trace in (*traces, *runs) if trace.step is not None}):
            told = msg("Exported {name}: {count} {count:run|runs}", name=target.name, count=count)
        if suffix == "csv":
            content = await asyncio.to_thread(csv_of, axis, traces, runs)
        else:
            shown = area.view_range or (axis.low, axis.high)
            content = await asyncio.to_thread(even_csv_of, axis, traces, runs, shown)
    else:
        light = Theme("light", services.theme.theme.scale)
        content = await (png_of if suffix == "png" else svg_of)(area, light, caption)
    await asyncio.to_thread(write, target, content)
    services.workspace.status_changed.emit(told)


def _legend_of(services: WindowServices, traces: Sequence[Trace]) -> tuple[tuple[str, int], ...]:
    """What each curve is called, and at which axis it is read, with its colour."""
    right = msg("right axis")
    return tuple(
        (
            f"{trace.shown_name} ({services.language(right)})" if trace.is_right else trace.shown_name,
            trace.color,
        )
        for trace in traces
    )


def _file_name(name: str) -> str:
    """``rc_Run_4_ac`` of ``rc.cir · Run 4 · ac``."""
    circuit, separator, run = name.partition(" · ")
    words = f"{Path(circuit).stem} {run.replace('#', '')}" if separator and Path(circuit).suffix else name
    return "_".join(words.replace("·", " ").replace(" = ", "=").split()) or "plot"


def csv_of(axis: Axis, traces: Sequence[Trace], others: Sequence[Trace] = ()) -> bytes:
    """A row for each sample in SI units, full precision; empty where a trace has no value. Slow.

    Of a family the runs one after the other, each row with its run, as the command `export` writes them.
    """
    steps = {trace.step.number: trace.step for trace in (*traces, *others) if trace.step is not None}
    if not steps:
        return _table(axis, traces, slice(None), ",").encode()
    names = list(dict.fromkeys(name for step in steps.values() for name in step.values))
    columns = [(trace, at, curve.pane.unit) for trace in traces for at, curve in enumerate(trace.curves)]
    read = next((trace.step.number for trace in traces if trace.step is not None), None)
    out = io.StringIO()
    heads = [f"{trace.shown_name} [{unit}]" for trace, _, unit in columns]
    head = ["step", *names, f"{axis.name} [{axis.unit}]", *heads]
    csv.writer(out, lineterminator="\n").writerow(map(plain_cell, head))
    for number, step in sorted(steps.items()):
        # v(out)@2 is of the run it names, at the samples of that which is read.
        here = traces if number == read else [each for each in others if each.step == step]
        own = {each.expression: each for each in here}
        samples = next((each.samples for each in here if each.samples is not None), axis.values)
        nothing = np.full(len(samples), math.nan)
        values = [
            own[trace.expression].curves[at].values
            if trace.expression in own and at < len(own[trace.expression].curves)
            else nothing
            for trace, at, _ in columns
        ]
        known = [step.values.get(name, math.nan) for name in names]
        _write_rows(out, [samples, *values], ",", [str(number), *map(_text, known)])
    return out.getvalue().encode()


def even_csv_of(
    axis: Axis, traces: Sequence[Trace], others: Sequence[Trace], shown: tuple[float, float]
) -> bytes:
    """The shown part at equal steps. Slow."""
    table = at_even_steps(axis, traces, others, shown)
    return _written(table.head, table.columns, ",").encode()


def _table(axis: Axis, traces: Sequence[Trace], rows: slice, delimiter: str) -> str:
    curves = [(trace, curve) for trace in traces for curve in trace.curves]
    head = [
        f"{axis.name} [{axis.unit}]",
        *(f"{trace.shown_name} [{curve.pane.unit}]" for trace, curve in curves),
    ]
    return _written(head, [axis.values[rows], *(curve.values[rows] for _, curve in curves)], delimiter)


def _written(head: Sequence[str], columns: Sequence[RealArray], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", delimiter=delimiter).writerow(map(plain_cell, head))
    _write_rows(out, columns, delimiter)
    return out.getvalue()


def _write_rows(
    out: io.StringIO, columns: Sequence[RealArray], delimiter: str, lead: Sequence[str] = ()
) -> None:
    """`lead` begins each row."""
    writer = csv.writer(out, lineterminator="\n", delimiter=delimiter)
    table = np.column_stack(columns)
    for first in range(0, len(table), _ROWS_AT_ONCE):
        writer.writerows([*lead, *map(_text, row)] for row in table[first : first + _ROWS_AT_ONCE].tolist())


def _text(value: float) -> str:
    """Every digit that counts; nothing for what is no number."""
    return repr(value) if math.isfinite(value) else ""


def _rows_between(axis: Axis, low: float, high: float) -> slice:
    """The samples of the first sweep between two places of the axis (its coordinates)."""
    places = axis.coordinates[axis.usable]
    least = 1e-9 * (high - low)  # a decade's end is on it
    inside = np.flatnonzero((places >= low - least) & (places <= high + least))
    if not len(inside):
        return slice(0, 0)
    return slice(int(axis.usable.start) + int(inside[0]), int(axis.usable.start) + int(inside[-1]) + 1)


async def copy_plot(
    services: WindowServices,
    area: PlotArea,
    axis: Axis,
    traces: Sequence[Trace],
    *,
    name: str,
    has_picture: bool = True,
) -> None:
    """Put the picture, and the values of the shown part as a table, to the clipboard.

    Of more than `_MOST_COPIED` rows the picture alone: no program takes a table of millions well.
    """
    shown = area.view_range or (axis.low, axis.high)
    rows = await asyncio.to_thread(_rows_between, axis, *shown)
    count = rows.stop - rows.start
    content = QMimeData()
    has_values = 0 < count <= _MOST_COPIED
    if has_values:
        content.setText(await asyncio.to_thread(_table, axis, traces, rows, "\t"))
    if has_picture:
        light = Theme("light", services.theme.theme.scale)
        content.setImageData(await image_of(area, light, Caption(name, _legend_of(services, traces))))
    clipboard = QGuiApplication.clipboard()
    if clipboard is None or not (has_values or has_picture):
        return
    clipboard.setMimeData(content)
    told = msg("Copied {count} {count:row|rows} of values", count=count)
    if not has_values:
        told = msg("Copied the picture; {count} rows are too many: zoom in, or export them.", count=count)
    services.workspace.status_changed.emit(told)


_MOST_COPIED = 100_000


async def image_of(area: PlotArea, light: Theme, caption: Caption) -> QImage:
    """The drawing as it is shown under its caption, in twice as many pixels."""
    curves = await area.curves_for(light, _PIXEL_RATIO, PixelCanvas)
    above = _caption_height(area, light, caption)
    size = area.size() + QSize(0, above)
    image = QImage(size * _PIXEL_RATIO, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_PIXEL_RATIO)
    painter = QPainter(image)
    with area.instead(curves, light):
        _paint(area, painter, light, above, caption)
    painter.end()
    return image


async def png_of(area: PlotArea, light: Theme, caption: Caption) -> bytes:
    """The same as a file."""
    image = await image_of(area, light, caption)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    await off_loop(image.save, buffer, "PNG")  # a tenth of a second
    return data.data()


async def svg_of(area: PlotArea, light: Theme, caption: Caption) -> bytes:
    """The drawing as it is shown under its caption; text stays text."""
    curves = await area.curves_for(light, area.devicePixelRatioF(), SvgCanvas)
    above = _caption_height(area, light, caption)
    size = area.size() + QSize(0, above)
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setResolution(96)
    generator.setTitle(caption.title)
    painter = QPainter(generator)
    with area.instead(curves, light):
        _paint(area, painter, light, above, caption)
    painter.end()
    document = data.data().decode()
    for canvas in curves:
        document = canvas.placed_in(document)
    return document.encode()


def _paint(area: PlotArea, painter: QPainter, light: Theme, above: int, caption: Caption) -> None:
    drawing = QRectF(0, above, area.width(), area.height())
    painter.fillRect(QRectF(0, 0, area.width(), above + area.height()), light.color("plot.background"))
    _paint_caption(painter, area.width(), light, caption)
    area.render(painter, drawing, area.rect(), Qt.AspectRatioMode.IgnoreAspectRatio)


def _legend(width: int, light: Theme, caption: Caption) -> list[list[tuple[str, int | None, int]]]:
    """The lines of the legend: of each entry its words, its colour (None: pale) and where it begins."""
    metrics = QFontMetrics(light.font("small"))
    edge, sample, gap = (light.size(name) for name in ("space.3", "space.6", "space.4"))
    lines: list[list[tuple[str, int | None, int]]] = [[]]
    x = edge
    entries: list[tuple[str, int | None]] = [*caption.traces, *((run, None) for run in caption.behind)]
    for words, color in entries:
        wide = sample + metrics.horizontalAdvance(words) + gap
        if x > edge and x + wide > width - edge:
            lines.append([])
            x = edge
        lines[-1].append((words, color, x))
        x += wide
    return lines


def _caption_height(area: PlotArea, light: Theme, caption: Caption) -> int:
    title, small = QFontMetrics(light.font("ui", weight=600)), QFontMetrics(light.font("small"))
    lines = len(_legend(area.width(), light, caption))
    return int(title.height() + lines * small.height() + 2 * light.size("space.2"))


def _paint_caption(painter: QPainter, width: int, light: Theme, caption: Caption) -> None:
    title, small = light.font("ui", weight=600), light.font("small")
    sample, space = light.size("space.4"), light.size("space.2")
    painter.setFont(title)
    painter.setPen(light.color("text.primary"))
    y = space + QFontMetrics(title).ascent()
    painter.drawText(light.size("space.3"), y, caption.title)
    y += QFontMetrics(title).descent()
    painter.setFont(small)
    metrics = QFontMetrics(small)
    for line in _legend(width, light, caption):
        for words, color, x in line:
            known = "text.tertiary" if color is None else f"trace.{color % TRACE_COLORS}"
            middle = y + metrics.height() // 2
            painter.fillRect(QRectF(x, middle - 1, sample, 2), light.color(known))
            painter.setPen(light.color("text.secondary"))
            painter.drawText(x + light.size("space.6"), y + metrics.ascent(), words)
        y += metrics.height()
