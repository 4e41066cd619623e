"""A plot as a file: its values as CSV, its picture as PNG or SVG, in the light theme."""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSaveFile, QSize, Qt
from PyQt6.QtGui import QImage, QPainter
from PyQt6.QtSvg import QSvgGenerator

from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.traces import Axis, Trace
from presentation.window.questions import choose_target
from presentation.window.theme import Theme
from presentation.window.workspace import WindowServices
from shared.errors import EnvironmentProblem
from shared.message import msg

_PIXEL_RATIO = 2.0
_ROWS_AT_ONCE = 20_000


async def export_plot(
    services: WindowServices, area: PlotArea, axis: Axis, traces: Sequence[Trace], *, suffix: str, name: str
) -> None:
    """Ask where, and write the plot there as "csv", "png" or "svg"; or offer it to the "conversation".

    Raises EnvironmentProblem.
    """
    if suffix == "conversation":
        theme = services.theme.theme
        picture = png_of(area, theme, Theme("light", theme.scale))
        services.workspace.picture_offered.emit(f"{_file_name(name)}.png", picture)
        return
    start = (services.workspace.root or Path.home()) / f"{_file_name(name)}.{suffix}"
    target = await choose_target(services, area.window() or area, msg("Export the plot"), start)
    if target is None:
        return
    if suffix == "csv":
        content = await asyncio.to_thread(csv_of, axis, traces)
    else:
        theme = services.theme.theme
        light = Theme("light", theme.scale)
        content = png_of(area, theme, light) if suffix == "png" else svg_of(area, theme, light, name)
    await asyncio.to_thread(write, target, content)
    services.workspace.status_changed.emit(msg("Exported {name}", name=target.name))


def _file_name(name: str) -> str:
    """``Run_4_ac`` of ``Run 4 · ac``."""
    return "_".join(name.replace("·", " ").split()) or "plot"


def csv_of(axis: Axis, traces: Sequence[Trace]) -> bytes:
    """A row for each sample in SI units, full precision; empty where a trace has no value. Slow."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    curves = [(trace, curve) for trace in traces for curve in trace.curves]
    writer.writerow(
        [
            f"{axis.name} [{axis.unit}]",
            *(f"{trace.expression} [{curve.pane.unit}]" for trace, curve in curves),
        ]
    )
    columns = np.column_stack([axis.values, *(curve.values for _, curve in curves)])
    for first in range(0, len(columns), _ROWS_AT_ONCE):
        writer.writerows(
            [repr(value) if math.isfinite(value) else "" for value in row]
            for row in columns[first : first + _ROWS_AT_ONCE].tolist()
        )
    return out.getvalue().encode()


def png_of(area: PlotArea, theme: Theme, light: Theme) -> bytes:
    """The drawing as it is shown, in twice as many pixels."""
    size = area.size()
    image = QImage(size * _PIXEL_RATIO, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_PIXEL_RATIO)
    painter = QPainter(image)
    _paint(area, painter, size, theme, light)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return data.data()


def svg_of(area: PlotArea, theme: Theme, light: Theme, title: str) -> bytes:
    """The drawing as it is shown; text stays text."""
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setSize(area.size())
    generator.setViewBox(QRectF(area.rect()))
    generator.setResolution(96)
    generator.setTitle(title)
    painter = QPainter(generator)
    _paint(area, painter, area.size(), theme, light)
    painter.end()
    return data.data()


def _paint(area: PlotArea, painter: QPainter, size: QSize, theme: Theme, light: Theme) -> None:
    whole = QRectF(0, 0, size.width(), size.height())
    area.use(light)
    area.redraw_now()
    try:
        painter.fillRect(whole, light.color("plot.background"))
        area.render(painter, whole, area.rect(), Qt.AspectRatioMode.IgnoreAspectRatio)
    finally:
        area.use(theme)
        area.redraw_now()


def write(path: Path, content: bytes) -> None:
    """Put a file on the disk, whole or not at all. Blocking. Raises EnvironmentProblem."""
    file = QSaveFile(str(path))
    is_written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(content) == len(content)
    if not is_written or not file.commit():
        raise EnvironmentProblem(
            msg("{path} could not be written: {reason}", path=path, reason=file.errorString()),
            advice=msg("Choose another folder, or make room on the disk."),
        )
