"""Tables as pictures: time plots, and gain above phase over frequency, in the light theme of the window.

Only what the page needs goes into the file: a long curve as the least and greatest values of so many
stretches as can be told apart. SVG keeps its text as text.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infrastructure.exports.tables import halves
from infrastructure.exports.target import missing_library, new_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from application.results.exporting import ExportRequest, PictureOptions
    from application.results.tables import Table, TablePart
    from domain.simulation.waveform import Array, RealArray

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"
_FONT = _RESOURCES / "fonts" / "Inter-Regular.ttf"
_DPI = 200
_POINTS_PER_PIXEL = 0.75
_STRETCHES = 2_000
_MOST_LEGENDS = 12
_LOG_SPAN = 20.0
"""An axis of frequencies that spans more than this ratio is logarithmic."""
_SHOWN = {"deg": "°", "degC": "°C", "Ohm": "Ω", "V/sqrt(Hz)": "V/√Hz", "A/sqrt(Hz)": "A/√Hz",
          "V^2/Hz": "V²/Hz", "A^2/Hz": "A²/Hz", "1": ""}  # fmt: skip
_WITHOUT_PREFIX = frozenset(("", "1", "dB", "deg", "rad", "degC", "V^2/Hz", "A^2/Hz"))
_DENSITIES = frozenset(("V/sqrt(Hz)", "A/sqrt(Hz)", "V^2/Hz", "A^2/Hz"))
"""Noise, which spans decades: drawn on a logarithmic axis."""
_PREFIXES = {-18: "a", -15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_ORDER = ("dB", "deg")


@dataclass(slots=True)
class _Curve:
    """One line to draw, SI units."""

    label: str
    x: RealArray
    y: RealArray
    color: int
    """Which of the theme's colours for traces."""


@dataclass(slots=True)
class _Pane:
    """Lines of one unit, one below the other over one axis."""

    unit: str
    curves: list[_Curve] = field(default_factory=list)


class PictureFiles:
    """The PictureWriter port, by matplotlib."""

    def __init__(self, *, cache: Path) -> None:
        """`cache`: a folder where matplotlib may keep its list of fonts."""
        self._cache = cache

    @cached_property
    def _tokens(self) -> dict[str, Any]:
        """The window's colours and sizes; read when the first picture is drawn, off the loop."""
        tokens: dict[str, Any] = json.loads((_RESOURCES / "look" / "tokens.json").read_text("utf-8"))
        return tokens

    def draw(self, tables: Sequence[Table], request: ExportRequest, options: PictureOptions) -> None:
        """Draw into the request's target, whole or not at all."""
        os.environ.setdefault("MPLCONFIGDIR", str(self._cache))
        self._cache.mkdir(parents=True, exist_ok=True)
        try:
            import matplotlib as mpl
            from matplotlib.figure import Figure
        except ImportError as error:
            raise missing_library("matplotlib", error) from error
        with mpl.rc_context(self._settings()):  # type: ignore[arg-type]
            figure = Figure(
                figsize=(options.width_mm / 25.4, options.height_mm / 25.4), dpi=_DPI, layout="constrained"
            )
            self._fill(figure, tables, options)
            with new_file(request.target, overwrite=request.overwrite) as out:
                # Without a date the same data give the same file.
                metadata: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[
                    options.format
                ]
                figure.savefig(out, format=options.format, metadata=metadata)

    def _settings(self) -> dict[str, Any]:
        from matplotlib import font_manager

        font_manager.fontManager.addfont(str(_FONT))
        known = set(font_manager.get_font_names())
        fonts = self._tokens["font"]
        families = [name for name in (*fonts["ui"][:1], *fonts["ui_cjk"]) if name in known]
        theme, style = self._tokens["theme"]["light"], self._tokens["plot_style"]
        return {
            "font.family": [*families, "DejaVu Sans"],
            "font.size": self._points("caption"),
            "axes.titlesize": self._points("ui"),
            "axes.labelsize": self._points("small"),
            "text.color": theme["text"]["primary"],
            "axes.labelcolor": theme["plot"]["axis_text"],
            "xtick.color": theme["plot"]["axis_text"],
            "ytick.color": theme["plot"]["axis_text"],
            "axes.edgecolor": theme["plot"]["zero"],
            "axes.facecolor": theme["plot"]["background"],
            "figure.facecolor": theme["plot"]["background"],
            "grid.color": theme["plot"]["grid_major"],
            "lines.linewidth": style["line_width"] * _POINTS_PER_PIXEL,
            "axes.linewidth": style["grid_width"] * _POINTS_PER_PIXEL,
            "grid.linewidth": style["grid_width"] * _POINTS_PER_PIXEL,
            "xtick.major.size": 0,
            "ytick.major.size": 0,
            "xtick.minor.size": 0,
            "ytick.minor.size": 0,
            "text.parse_math": False,  # names may hold a $
            "svg.fonttype": "none",
            "svg.hashsalt": "circuit",
            "pdf.fonttype": 42,
            "axes.unicode_minus": True,
            "path.simplify_threshold": 0.1,
        }

    def _points(self, style: str) -> float:
        return float(self._tokens["type"][style]["px"]) * _POINTS_PER_PIXEL

    def _fill(self, figure: Figure, tables: Sequence[Table], options: PictureOptions) -> None:
        columns = [_panes(table) for table in tables]
        if options.title:
            figure.suptitle(options.title, fontsize=self._points("ui"), x=0.01, ha="left")
        below = figure.subfigures(len(columns), 1, squeeze=False)
        for part, table, panes in zip(below[:, 0], tables, columns, strict=True):
            axes = part.subplots(len(panes), 1, sharex=True, squeeze=False)[:, 0]
            for pane, place in zip(panes, axes, strict=True):
                self._draw_pane(place, pane, options)
            _label_axis(axes, table, panes, options)

    def _draw_pane(self, axes: Axes, pane: _Pane, options: PictureOptions) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator, NullFormatter

        colors = self._tokens["theme"]["light"]["trace"]
        dash = self._tokens["plot_style"]["dash"]
        factor, unit = _scale([curve.y for curve in pane.curves], pane.unit)
        for curve in pane.curves:
            is_dashed = dash["order"][curve.color % len(dash["order"])] == "dash"
            axes.plot(
                curve.x,
                curve.y / factor,
                color=colors[curve.color % len(colors)],
                linestyle=(0, dash["dash_pattern"]) if is_dashed else "solid",
                label=curve.label,
                solid_joinstyle="round",
            )
        axes.grid(visible=True, which="major")
        axes.margins(x=0)
        word = {"dB": options.words.get("magnitude", ""), "deg": options.words.get("phase", "")}.get(
            pane.unit
        )
        axes.set_ylabel(" ".join(piece for piece in (word, f"({unit})" if word and unit else unit) if piece))
        low, high = axes.get_ylim()
        if pane.unit in _DENSITIES and _is_positive(pane):
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(NullFormatter())
        elif pane.unit == "deg" and high - low > 60:
            step = next((step for step in (15, 30, 45, 90, 180, 360) if (high - low) / step <= 7), 720)
            axes.yaxis.set_major_locator(MultipleLocator(step))
        else:
            axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        if 1 < len(pane.curves) <= _MOST_LEGENDS or (len(pane.curves) == 1 and pane.unit not in ("deg",)):
            axes.legend(
                loc="lower left",  # above the pane: nothing is hidden
                bbox_to_anchor=(0, 1),
                frameon=False,
                borderaxespad=0.2,
                fontsize=self._points("caption"),
                ncols=min(len(pane.curves), 4),
            )


def _label_axis(axes: Sequence[Axes], table: Table, panes: Sequence[_Pane], options: PictureOptions) -> None:
    import numpy as np
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    assert table.axis is not None
    last = axes[-1]
    xs = [curve.x for pane in panes for curve in pane.curves if len(curve.x)]
    low = min((float(np.nanmin(x)) for x in xs), default=0.0)
    high = max((float(np.nanmax(x)) for x in xs), default=1.0)
    name = {"time": "time", "frequency": "frequency"}.get(table.axis.name)
    word = options.words.get(name, table.axis.name) if name else table.axis.name
    if table.axis.unit == "Hz" and low > 0 and high / low > _LOG_SPAN:
        last.set_xscale("log")
        last.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
        last.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _prefixed(value)))
        last.xaxis.set_minor_formatter(NullFormatter())
        for place in axes:
            place.grid(visible=True, which="minor", axis="x", alpha=0.5)
        unit = "Hz"
    else:
        factor, unit = _scale(xs, table.axis.unit)
        last.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]))
        last.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _even(value, last, factor)))
    last.set_xlabel(f"{word} ({unit})" if unit else word)


def _panes(table: Table) -> list[_Pane]:
    """What to draw: gains in dB and phases of complex columns, everything else by its unit."""
    panes: dict[str, _Pane] = {}
    color = 0
    for place, column in enumerate(table.columns, start=1):
        for part in table.parts:
            label = column.name + _step_text(part)
            data = part.whole(place)
            axis = part.whole(0).real
            lines: list[tuple[str, Array]] = [(column.unit, data)]
            if column.is_complex:
                lines = list(zip(_ORDER, halves(data, "db-ph"), strict=True))
            for unit, values in lines:
                x, y = _cut(axis, values.real)
                panes.setdefault(unit, _Pane(unit)).curves.append(_Curve(label, x, y, color))
            color += 1
    return sorted(panes.values(), key=lambda pane: _ORDER.index(pane.unit) if pane.unit in _ORDER else 9)


def _cut(axis: RealArray, values: RealArray) -> tuple[RealArray, RealArray]:
    """No more points than the page can show: of each stretch its least and its greatest value."""
    import numpy as np

    from infrastructure.waveforms.pyramid import envelope, is_monotonic

    values = np.where(np.isfinite(values), values, np.nan)
    if len(values) <= 2 * _STRETCHES or not is_monotonic(axis):
        return axis, values
    found = envelope(axis, values, None, start=float(axis[0]), stop=float(axis[-1]), max_points=_STRETCHES)
    return np.repeat(found.x, 2), np.column_stack((found.low, found.high)).ravel()


def _step_text(part: TablePart) -> str:
    if part.step is None:
        return ""
    values = [f"{name}={_prefixed(value).replace(' ', '')}" for name, value in part.step.values.items()]
    return "  " + (", ".join(values) or f"#{part.step.number}")


def _is_positive(pane: _Pane) -> bool:
    return all(len(curve.y) and bool((curve.y > 0).all()) for curve in pane.curves)


def _scale(values: Sequence[RealArray], unit: str) -> tuple[float, str]:
    """(what to divide by, unit then), so that the largest has one to three digits before the point."""
    import numpy as np

    peak = max((float(np.nanmax(np.abs(value))) for value in values if np.isfinite(value).any()), default=0.0)
    shown = _SHOWN.get(unit, unit)
    if unit in _WITHOUT_PREFIX or not math.isfinite(peak) or peak <= 0:
        return 1.0, shown
    exponent = min(max(3 * math.floor(math.log10(peak * (1 + 1e-12)) / 3), min(_PREFIXES)), max(_PREFIXES))
    return 10.0**exponent, _PREFIXES[exponent] + shown


def _prefixed(value: float) -> str:
    """``10 k``, ``1 M``, ``500``."""
    if value == 0 or not math.isfinite(value):
        return "0"
    exponent = min(max(3 * math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3), -18), 12)
    return f"{_number(value / 10.0**exponent)} {_PREFIXES[exponent]}".rstrip()


def _even(value: float, axes: Axes, factor: float) -> str:
    """A tick with as many decimals as the others have: 1.20 between 1.19 and 1.21."""
    decimals = max((len(_number(tick / factor).partition(".")[2]) for tick in axes.get_xticks()), default=0)
    is_even = value and decimals < 5
    return f"{value / factor:.{decimals}f}".replace("-", "\u2212") if is_even else _number(value / factor)


def _number(value: float) -> str:
    text = f"{value:.6g}"
    return "0" if text in ("-0", "0") else text.replace("-", "\u2212")
