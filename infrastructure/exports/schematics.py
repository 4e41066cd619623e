"""Schematics as pictures: SVG written here, PNG and PDF by matplotlib, in the window's colours."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from infrastructure.exports.target import missing_library, new_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from application.simulation.schematics import SchematicTarget
    from domain.circuit.schematic.display import Drawing, Text
    from domain.circuit.schematic.symbols import Stroke

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"
_UNIT = 16
"""Pixels of a grid unit at 100 %."""
_MARGIN = 1.5
_WIRE, _SYMBOL, _BAR, _DOT = 1.5, 1.6, 2.5, 3.0
_SIZE = 12
_DPI = 200


class _Colors(NamedTuple):
    background: str
    wire: str
    symbol: str
    name: str
    value: str
    net: str
    quiet: str


@dataclass(frozen=True, slots=True)
class _Look:
    colors: _Colors
    ui: str
    mono: str


class SchematicFiles:
    """The SchematicWriter port."""

    def __init__(self, *, cache: Path) -> None:
        """`cache`: a folder where matplotlib may keep its list of fonts."""
        self._cache = cache

    @cached_property
    def _tokens(self) -> dict[str, Any]:
        tokens: dict[str, Any] = json.loads((_RESOURCES / "look" / "tokens.json").read_text("utf-8"))
        return tokens

    def write(self, drawing: Drawing, target: SchematicTarget) -> None:
        look = self._look(is_dark=target.is_dark)
        if target.format == "svg":
            content = svg_of(drawing, look).encode("utf-8", "replace")
        else:
            content = self._printed(drawing, look, target.format)
        with new_file(target.file, overwrite=target.overwrite) as out:
            out.write(content)

    def _look(self, *, is_dark: bool) -> _Look:
        theme = self._tokens["theme"]["dark" if is_dark else "light"]
        fonts = self._tokens["font"]
        return _Look(
            colors=_Colors(
                background=theme["surface"]["base"],
                wire=theme["text"]["primary"],
                symbol=theme["text"]["primary"],
                name=theme["text"]["primary"],
                value=theme["syntax"]["value"],
                net=theme["syntax"]["element"],
                quiet=theme["text"]["secondary"],
            ),
            ui=", ".join([*fonts["ui"], *fonts["ui_cjk"], "sans-serif"]),
            mono=", ".join([*fonts["mono"], "monospace"]),
        )

    def _printed(self, drawing: Drawing, look: _Look, form: str) -> bytes:
        os.environ.setdefault("MPLCONFIGDIR", str(self._cache))
        self._cache.mkdir(parents=True, exist_ok=True)
        try:
            import matplotlib as mpl
            from matplotlib import font_manager
            from matplotlib.figure import Figure
        except ImportError as error:
            raise missing_library("matplotlib", error) from error
        for name in ("Inter-Regular.ttf", "Inter-SemiBold.ttf", "JetBrainsMono-Regular.ttf"):
            if (_RESOURCES / "fonts" / name).is_file():
                font_manager.fontManager.addfont(str(_RESOURCES / "fonts" / name))
        known = set(font_manager.get_font_names())
        fonts = self._tokens["font"]
        families = [name for name in (*fonts["ui"], *fonts["ui_cjk"]) if name in known]
        settings = {"font.family": [*families, "DejaVu Sans"], "text.parse_math": False, "pdf.fonttype": 42}
        left, top, right, bottom = drawing.bounds
        wide, high = (right - left + 2 * _MARGIN), (bottom - top + 2 * _MARGIN)
        inches = _UNIT / 96
        with mpl.rc_context(settings):  # type: ignore[arg-type]
            dpi = min(_DPI, 12_000 / (max(wide, high) * inches))
            figure = Figure(figsize=(wide * inches, high * inches), dpi=dpi)
            axes = figure.add_axes((0, 0, 1, 1))
            axes.set_xlim(left - _MARGIN, right + _MARGIN)
            axes.set_ylim(bottom + _MARGIN, top - _MARGIN)
            axes.set_axis_off()
            figure.set_facecolor(look.colors.background)
            _paint(axes, drawing, look)
            out = BytesIO()
            metadata: dict[str, Any] = {"png": {}, "pdf": {"CreationDate": None}}[form]
            figure.savefig(out, format=form, metadata=metadata, facecolor=look.colors.background)
        return out.getvalue()


def _paint(axes: Axes, drawing: Drawing, look: _Look) -> None:
    points = 72 / 96
    for wire in drawing.wires:
        xs, ys = zip(*wire.points, strict=True)
        axes.plot(xs, ys, color=look.colors.wire, linewidth=_WIRE * points, solid_capstyle="round")
    for strokes in (each.strokes for group in (drawing.symbols, drawing.marks) for each in group):
        for stroke in strokes:
            xs, ys = zip(*stroke.points, strict=True)
            if stroke.is_filled:
                axes.fill(xs, ys, color=look.colors.symbol, linewidth=0)
            else:
                width = (_BAR if stroke.is_bar else _SYMBOL) * points
                axes.plot(xs, ys, color=look.colors.symbol, linewidth=width, solid_capstyle="round")
    for dot in drawing.dots:
        axes.plot(*dot.at, "o", color=look.colors.wire, markersize=2 * _DOT * points, markeredgewidth=0)
    for text in drawing.texts:
        axes.text(
            *text.at, text.text, color=_color(text, look), fontsize=_SIZE * points, va="center_baseline",
            ha={"start": "left", "middle": "center", "end": "right"}[text.anchor],
            fontweight=600 if text.role in ("name", "title") else 400,
        )  # fmt: skip


def _color(text: Text, look: _Look) -> str:
    colors = look.colors
    return {
        "name": colors.name, "value": colors.value, "net": colors.net, "flag": colors.net, "rail": colors.net,
        "title": colors.name,
    }.get(text.role, colors.quiet)  # fmt: skip


def svg_of(drawing: Drawing, look: _Look) -> str:
    """The drawing as a document of its own: each element a group with its name, each wire with its net."""
    left, top, right, bottom = (each * _UNIT for each in drawing.bounds)
    margin = _MARGIN * _UNIT
    x, y = left - margin, top - margin
    width, height = right - left + 2 * margin, bottom - top + 2 * margin
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{x:.1f} {y:.1f} {width:.1f} {height:.1f}">',
        f"<title>{_safe(drawing.title)}</title>",
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{look.colors.background}"/>',
        *_svg_wires(drawing, look),
        *_svg_symbols(drawing, look),
        *_svg_texts(drawing, look),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_wires(drawing: Drawing, look: _Look) -> Iterator[str]:
    yield f'<g fill="none" stroke="{look.colors.wire}" stroke-width="{_WIRE}" stroke-linecap="round">'
    for wire in drawing.wires:
        yield f'<polyline data-net="{_safe(wire.net)}" points="{_points(wire.points)}"/>'
    yield "</g>"
    yield f'<g fill="{look.colors.wire}">'
    for dot in drawing.dots:
        x, y = dot.at[0] * _UNIT, dot.at[1] * _UNIT
        yield f'<circle data-net="{_safe(dot.net)}" cx="{x}" cy="{y}" r="{_DOT}"/>'
    yield "</g>"


def _svg_symbols(drawing: Drawing, look: _Look) -> Iterator[str]:
    yield (
        f'<g fill="none" stroke="{look.colors.symbol}" stroke-width="{_SYMBOL}" '
        'stroke-linejoin="round" stroke-linecap="round">'
    )
    for symbol in drawing.symbols:
        yield f'<g data-element="{_safe(symbol.element)}" data-line="{symbol.line}">'
        yield f"<title>{_safe(symbol.hint)}</title>"
        yield from _svg_strokes(symbol.strokes, look)
        yield "</g>"
    for mark in drawing.marks:
        yield f'<g data-net="{_safe(mark.net)}">'
        yield from _svg_strokes(mark.strokes, look)
        yield "</g>"
    yield "</g>"


def _svg_strokes(strokes: Sequence[Stroke], look: _Look) -> Iterator[str]:
    for stroke in strokes:
        fill = f' fill="{look.colors.symbol}" stroke="none"' if stroke.is_filled else ""
        wide = f' stroke-width="{_BAR}"' if stroke.is_bar else ""
        yield f'<polyline points="{_points(stroke.points)}"{fill}{wide}/>'


def _svg_texts(drawing: Drawing, look: _Look) -> Iterator[str]:
    for text in drawing.texts:
        x, y = text.at[0] * _UNIT, text.at[1] * _UNIT + 0.35 * _SIZE
        font = look.mono if text.role in ("value", "net", "flag", "rail") else look.ui
        size = _SIZE - 1 if font == look.mono else _SIZE
        weight = ' font-weight="600"' if text.role in ("name", "title") else ""
        yield (
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="{_safe(font)}" font-size="{size}"{weight} '
            f'text-anchor="{text.anchor}" fill="{_color(text, look)}">{_safe(text.text)}</text>'
        )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x * _UNIT:.5g},{y * _UNIT:.5g}" for x, y in points)


def _safe(text: str) -> str:
    """For XML, which has no place for most control characters."""
    return escape("".join(char if char >= " " and char not in "\ufffe\uffff" else "\ufffd" for char in text))
