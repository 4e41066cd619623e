"""Charts as SVG in the light theme, for documents. Nothing in them runs or loads."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from presentation.charts.content import MOST_MARKS, Bar, BinsContent, Limit, Line, LinesContent, SpotsContent
from presentation.charts.plane import PlaneContent
from presentation.charts.scales import Scale
from presentation.look import hex_of, tokens

_WIDTH, _HEIGHT, _PLANE = 640.0, 210.0, 420.0
_ROW = 20.0
_EDGE, _GAP, _TICK = 8.0, 5.0, 4.0
_SIZE, _LINE = 11.0, 14.0
_LETTER = 0.6
"""The width of a letter as a share of its height: about that of a wide one."""
_BAR, _SPOT = 9.0, 4.0
_MOST_ROWS = 40
_NAME_SHARE = 0.34
_SWATCH = 18.0
_MOST_STRETCHES = 640
_At = Callable[[tuple[float, float]], tuple[float, float]]
"""From a point of a chart to its place."""


def bins_svg(content: BinsContent) -> str:
    """A histogram with its limits and its normal curve; "" without bins."""
    if len(content.edges) < 2 or not any(content.counts):
        return ""
    x, y = content.scales(7, 5)
    frame = _Frame.of(x, y)
    shapes = list(_mask_beside(frame, x, content.near))
    shapes += _grid(frame, x, y)
    for left, right, count in zip(content.edges, content.edges[1:], content.counts, strict=False):
        start, end, top = frame.x(x.share(left)), frame.x(x.share(right)), frame.y(y.share(count))
        color = "error.fill" if content.is_bad((left + right) / 2) else "trace.0"
        shapes.append(_rect(start + 0.5, top, max(end - start - 1, 1), frame.bottom - top, color))
    curve = [(frame.x(x.share(v)), frame.y(min(y.share(n), 1.0))) for v, n in content.curve(x)]
    if curve:
        shapes.append(_path(curve, "text.secondary", 1.0))
    shapes += _goal_lines(frame, x, content.near)
    return _document(shapes, _HEIGHT)


def spots_svg(content: SpotsContent) -> str:
    """Named values over one axis with the limits; "" without any."""
    spots = [each for each in content.spots if math.isfinite(each.value)][:_MOST_ROWS]
    if not spots:
        return ""
    x = content.scale(7)
    names = _column(each.name for each in spots)
    figures = _column(each.text for each in spots)
    height = len(spots) * _ROW + 2 * _LINE + _TICK
    frame = _Frame(names + 2 * _EDGE, _LINE, _WIDTH - figures - 2 * _EDGE, _LINE + len(spots) * _ROW)
    shapes = list(_mask_beside(frame, x, content.limits))
    shapes += _grid(frame, x, None)
    for row, spot in enumerate(spots):
        middle = frame.top + (row + 0.5) * _ROW
        color = "error.fill" if spot.is_bad else "trace.0"
        words = "error.text" if spot.is_bad else "text.primary"
        weight = 600 if spot.is_worst else 400
        shapes.append(_line(frame.left, middle, frame.right, middle, "plot.grid_minor"))
        at = frame.x(x.share(spot.value))
        if spot.is_worst:
            shapes.append(_ring(at, middle, _SPOT + 2.5, color))
        shapes.append(_circle(at, middle, _SPOT, color))
        name = _cut(spot.name, names)
        shapes.append(_text(frame.left - _EDGE, middle, name, words, anchor="end", weight=weight))
        shapes.append(_text(_WIDTH - _EDGE, middle, spot.text, words, anchor="end", weight=weight))
    shapes += _goal_lines(frame, x, content.limits, above=True)
    return _document(shapes, height)


def bars_svg(bars: Sequence[Bar]) -> str:
    """Names, bars and figures, the strongest on top: shares from the left, or a tornado; "" without any."""
    shown = [each for each in bars if math.isfinite(each.low) and math.isfinite(each.high)][:_MOST_ROWS]
    if not shown:
        return ""
    names, figures = _column(each.name for each in shown), _column(each.text for each in shown)
    left, right = names + 2 * _EDGE, _WIDTH - figures - 2 * _EDGE
    reach = max(max(abs(bar.low), abs(bar.high)) for bar in shown) or 1.0
    is_centered = any(bar.low < 0 for bar in shown)
    zero = (left + right) / 2 if is_centered else left
    unit = ((right - left) / 2 if is_centered else right - left) / reach
    shapes: list[str] = []
    for row, bar in enumerate(shown):
        middle = (row + 0.5) * _ROW
        start, end = sorted((zero + bar.low * unit, zero + bar.high * unit))
        if not is_centered:
            shapes.append(_rect(left, middle - _BAR / 2, right - left, _BAR, "plot.grid_minor"))
        shapes.append(_rect(start, middle - _BAR / 2, max(end - start, 1), _BAR, "trace.0"))
        shapes.append(_text(left - _EDGE, middle, _cut(bar.name, names), "text.primary", anchor="end"))
        shapes.append(_text(_WIDTH - _EDGE, middle, bar.text, "text.primary", anchor="end"))
    if is_centered:
        shapes.append(_line(zero, 0, zero, len(shown) * _ROW, "plot.axis"))
    return _document(shapes, len(shown) * _ROW)


def lines_svg(content: LinesContent) -> str:
    """Lines and dots over an axis, with limits and the names of the lines at their ends."""
    x, y = content.x(7), content.y(5)
    legend, legend_height = _legend(content.lines)
    frame = _Frame.of(x, y, above=legend_height)

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return frame.x(_within(x.share(point[0]))), frame.y(_within(y.share(point[1])))

    shapes: list[str] = []
    for limit in content.limits:
        place = frame.y(_within(y.share(limit.value)))
        top, bottom = (place, frame.bottom) if limit.is_lower else (frame.top, place)
        shapes.append(_rect(frame.left, top, frame.width, max(bottom - top, 0), "plot.mask"))
    shapes += _grid(frame, x, y)
    shapes += [_circle(*at(dot), 1.5, "text.secondary", opacity=0.55) for dot in content.dots]
    for line in content.lines:
        shapes += _curve(line, at, has_marks=content.has_marks)
    for limit in content.limits:
        if 0 <= y.share(limit.value) <= 1:
            place = frame.y(y.share(limit.value))
            shapes.append(_line(frame.left, place, frame.right, place, "plot.goal", dash="4 3"))
            beside = place - _LINE / 2 if limit.is_lower else place + _LINE / 2
            shapes.append(_text(frame.right - 2, beside, limit.text, "plot.goal", anchor="end"))
    return _document([*shapes, *legend], _HEIGHT + legend_height)


def plane_svg(content: PlaneContent) -> str:
    """A plane of two values: where all goals are met, their borders, the runs, the design as it is."""
    x, y = content.x(7), content.y(7)
    named = [Line(points=(), name=border.name, color=border.color) for border in content.borders]
    legend, legend_height = _legend(named)
    frame = _Frame.of(x, y, above=legend_height + _LINE, height=_PLANE)

    def at(place: tuple[float, float]) -> tuple[float, float]:
        return frame.x(place[0]), frame.y(place[1])

    shapes: list[str] = []
    for area in content.good:
        rings = " ".join(
            "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in map(at, ring)) + " Z" for ring in area
        )
        shapes.append(f'<path d="{rings}" fill="{_color("ok.subtle")}" fill-rule="evenodd"/>')
    shapes += _grid(frame, x, y)
    for border in content.borders:
        shapes += [_path(list(map(at, line)), border.color, 2.0) for line in border.lines]
    for run in content.runs:
        shapes.append(
            _circle(*at(run.place), 1.2, "ok.text" if run.is_met else "text.secondary", opacity=0.55)
        )
    if content.present is not None:
        shapes.append(_circle(*at(content.present), _SPOT, "text.primary"))
    below = frame.bottom + _TICK + 1.5 * _LINE
    middle = (frame.left + frame.right) / 2
    shapes.append(_text(middle, below, content.x_name, "text.primary", anchor="middle"))
    shapes.append(_text(_EDGE, frame.top - _LINE / 2 - _GAP, content.y_name, "text.primary"))
    return _document([*shapes, *legend], frame.bottom + 2 * _LINE + 2 * _TICK)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where curves belong."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, x: Scale, y: Scale, *, above: float = 0.0, height: float = _HEIGHT) -> _Frame:
        """With room for the figures of both axes, and so much more above."""
        figures = max(map(_wide, (y.unit, *(text for _, text in y.ticks))))
        right = _wide(x.unit) + _EDGE if x.unit else 3 * _GAP
        return cls(
            left=figures + 2 * _EDGE,
            top=above + _LINE + _GAP,
            right=_WIDTH - right,
            bottom=above + height - _LINE - _TICK,
        )

    @property
    def width(self) -> float:
        return self.right - self.left

    def x(self, share: float) -> float:
        return self.left + share * self.width

    def y(self, share: float) -> float:
        return self.bottom - share * (self.bottom - self.top)


def _grid(frame: _Frame, x: Scale, y: Scale | None) -> Iterator[str]:
    """Axes with their figures, and a border."""
    below, last = frame.bottom + _TICK + _LINE / 2, -math.inf
    for share, text in x.ticks:
        place, half = frame.x(share), _wide(text) / 2
        yield _line(place, frame.top, place, frame.bottom, "plot.grid_major")
        if place - half > last + _GAP and (not x.unit or place + half <= frame.right + _GAP):
            yield _text(place, below, text, "plot.axis_text", anchor="middle")
            last = place + half
    if x.unit:
        yield _text(frame.right + _GAP, below, x.unit, "plot.axis_text")
    for share, text in y.ticks if y is not None else ():
        place = frame.y(share)
        yield _line(frame.left, place, frame.right, place, "plot.grid_major")
        yield _text(frame.left - _GAP, place, text, "plot.axis_text", anchor="end")
    if y is not None and y.unit:
        yield _text(frame.left - _GAP, frame.top - _LINE, y.unit, "plot.axis_text", anchor="end")
    yield (
        f'<rect x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" '
        f'height="{frame.bottom - frame.top:.1f}" fill="none" stroke="{_color("plot.zero")}"/>'
    )


def _mask_beside(frame: _Frame, x: Scale, limits: Sequence[Limit]) -> Iterator[str]:
    for each in limits:
        at = frame.x(_within(x.share(each.value)))
        left, right = (frame.left, at) if each.is_lower else (at, frame.right)
        yield _rect(left, frame.top, max(right - left, 0), frame.bottom - frame.top, "plot.mask")


def _goal_lines(frame: _Frame, x: Scale, limits: Sequence[Limit], *, above: bool = False) -> Iterator[str]:
    """Upright limits, each with its figure beside it or above the frame."""
    for each in limits:
        share = x.share(each.value)
        if 0 <= share <= 1:
            at = frame.x(share)
            yield _line(at, frame.top, at, frame.bottom, "plot.goal", dash="4 3")
            height = frame.top - _LINE / 2 if above else frame.top + _LINE / 2 + 1
            room = _wide(each.text) + _GAP
            is_left = (each.is_lower and at - room > frame.left) or at + room > frame.right
            place, anchor = (at - _GAP, "end") if is_left else (at + _GAP, "start")
            yield _text(at if above else place, height, each.text, "plot.goal",
                        anchor="middle" if above else anchor)  # fmt: skip


def _curve(line: Line, at: _At, *, has_marks: bool) -> Iterator[str]:
    piece: list[tuple[float, float]] = []
    for point in [*_thinned(line.points), (0.0, math.nan)]:
        if math.isfinite(point[1]):
            place = at(point)
            if piece and line.is_step:
                piece.append((place[0], piece[-1][1]))
            piece.append(place)
            continue
        if len(piece) > 1:
            yield _path(piece, line.color, 1.5)
        if has_marks and not line.is_step and len(line.points) <= MOST_MARKS:
            yield from (_circle(*place, 2.5, line.color) for place in piece)
        piece = []


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """No more points than a page shows: of each stretch of a long line its least and its greatest."""
    size = len(points) // _MOST_STRETCHES
    if size < 3:
        return points
    kept: list[tuple[float, float]] = []
    for first in range(0, len(points), size):
        stretch = [each for each in points[first : first + size] if math.isfinite(each[1])]
        if stretch:
            ends = min(stretch, key=lambda each: each[1]), max(stretch, key=lambda each: each[1])
            kept += sorted(set(ends))
    return kept


def _legend(lines: Sequence[Line]) -> tuple[list[str], float]:
    """The names of the lines in rows, each behind a piece of its line; and how high they are."""
    shapes: list[str] = []
    x, row = _EDGE, 0
    for line in lines:
        if line.name:
            name = _cut(line.name, _NAME_SHARE * _WIDTH)
            width = _SWATCH + _GAP + _wide(name) + 2 * _EDGE
            if x + width > _WIDTH and x > _EDGE:
                x, row = _EDGE, row + 1
            y = (row + 0.5) * _LINE
            shapes.append(_path([(x, y), (x + _SWATCH, y)], line.color, 1.5))
            shapes.append(_text(x + _SWATCH + _GAP, y, name, "text.primary"))
            x += width
    return shapes, (row + 1) * _LINE + _GAP if shapes else 0.0


def _document(shapes: Sequence[str], height: float) -> str:
    fonts = tokens()["font"]
    family = escape(", ".join(f"'{name}'" for name in (*fonts["ui"][:-1], *fonts["ui_cjk"])) + ", sans-serif")
    inside = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH:.0f} {height:.0f}" font-family="{family}" font-size="{_SIZE:.0f}">\n'
        f"{inside}\n</svg>\n"
    )


def _color(name: str) -> str:
    return hex_of("light", name)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _wide(text: str) -> float:
    """About how wide a text is, rather too wide."""
    full = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return (_LETTER * (len(text) - full) + full) * _SIZE


def _column(texts: Iterable[str]) -> float:
    return min(max(map(_wide, texts), default=0.0), _NAME_SHARE * _WIDTH)


def _cut(text: str, room: float) -> str:
    if _wide(text) <= room + 1:
        return text
    kept = text
    while kept and _wide(kept) + _SIZE > room:
        kept = kept[:-1]
    return kept + "…"


def _rect(x: float, y: float, width: float, height: float, color: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{_color(color)}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, *, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{_color(color)}"{dashed}/>'


def _path(points: Sequence[tuple[float, float]], color: str, width: float) -> str:
    ends = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{ends}" fill="none" stroke="{_color(color)}" stroke-width="{width}"/>'


def _circle(x: float, y: float, radius: float, color: str, *, opacity: float = 1.0) -> str:
    faint = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{_color(color)}"{faint}/>'


def _ring(x: float, y: float, radius: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="none" stroke="{_color(color)}"/>'


def _text(x: float, y: float, text: str, color: str, *, anchor: str = "start", weight: int = 400) -> str:
    """Its middle at `y`; SVG wants the baseline."""
    where = f'x="{x:.1f}" y="{y + 0.36 * _SIZE:.1f}" text-anchor="{anchor}"'
    heavy = f' font-weight="{weight}"' if weight != 400 else ""
    return f'<text {where} fill="{_color(color)}"{heavy}>{_safe(text)}</text>'


def _safe(text: str) -> str:
    """For XML, which has no place for most control characters."""
    return escape("".join(char if char >= " " and char not in "\ufffe\uffff" else "\ufffd" for char in text))
