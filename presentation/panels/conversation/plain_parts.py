"""What rows of the plain view are made of: links that act, icons, bars, lines of a difference.

Icons and bars are pictures of the document, named by an address (``icon:flag?warn.icon``, ``bar:0.5?ok``)
that the view draws when Qt asks for it.
"""

from __future__ import annotations

import html
from collections.abc import Collection

from PyQt6.QtCore import QByteArray, QRectF, QUrl
from PyQt6.QtGui import QColor, QFontMetrics, QPainter, QPixmap
from PyQt6.QtSvg import QSvgRenderer

from presentation.panels.conversation.charts import HEIGHT, WIDTH, Chart, svg_of
from presentation.ui.theme import Theme

ICON_SIDE = 16
BAR_WIDTH = 48
BAR_HEIGHT = 6
CHART_WIDTH = 288
"""Fits into a card of the narrowest panel."""
CODE_PADDING = 8
NUMBER_GAP = 12
"""Pixels between the number of a line of code and the line."""
LINE_MARK = "line:"
FIELD_ROOM = "field:"


def lines(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def one_line(text: str) -> str:
    """Escaped, and never wrapped."""
    return html.escape(text).replace(" ", "\u00a0")


class PlainParts:
    """Pieces of rich text in the colours and sizes of a theme; `acts`: those that can be done here, None =
    all. What would do another is a text."""

    def __init__(self, theme: Theme, acts: Collection[str] | None = None) -> None:
        self._theme = theme
        self._acts = acts
        self._small_px = theme.font("small").pixelSize()

    def can(self, act: str) -> bool:
        """Whether it can be done where this is shown."""
        return self._acts is None or act in self._acts or act == "fold"

    def hex(self, name: str) -> str:
        return self._theme.hex(name)

    def colored(self, text: str, color: str) -> str:
        return f"<span style='color:{self.hex(color)}'>{text}</span>"

    def small(self, text: str, color: str) -> str:
        if not text:
            return ""
        return f"<span style='color:{self.hex(color)}; font-size:{self._small_px}px'>{text}</span>"

    def escaped(self, text: str) -> str:
        """A plain text with all its blanks and line ends."""
        return html.escape(text)

    def mono(self, text: str) -> str:
        """A plain text in the fixed pitch, in the colour around it."""
        return f"<code>{html.escape(text)}</code>"

    def icon(self, name: str, color: str = "text.secondary") -> str:
        size = f"width='{ICON_SIDE}' height='{ICON_SIDE}' style='vertical-align: middle'"
        return f"<img src='icon:{name}?{color}' {size}>"

    def bar(self, fill: float, *, met: bool) -> str:
        """The margin of a goal, from -1 to 1."""
        kind = "ok" if met else "error"
        return f"<img src='bar:{fill:.3f}?{kind}' width='{BAR_WIDTH}' height='{BAR_HEIGHT + 4}'>"

    def progress(self, share: float) -> str:
        """A bar over the whole width, `share` of it (0 to 1) full."""
        parts = ((share, "running.icon"), (1 - share, "border.subtle"))
        cells = "".join(
            f"<td width='{100 * part:.0f}%' bgcolor='{self.hex(color)}' style='font-size:1px'>&nbsp;</td>"
            for part, color in parts
            if round(100 * part)
        )
        return f"<table width='100%' cellspacing='0' cellpadding='1'><tr>{cells}</tr></table>"

    def chart(self, key: str, told: str) -> str:
        """The small picture of the run of an item."""
        size = f"width='{CHART_WIDTH}' height='{round(HEIGHT * CHART_WIDTH / WIDTH)}'"
        return f"<div><img src='chart:{html.escape(key)}' {size} alt='{html.escape(told)}'></div>"

    def link(
        self, act: str, key: str, label: str, argument: str = "", *, style: str = "", tip: str = ""
    ) -> str:
        """A link that acts; `label` is rich text."""
        if not self.can(act):
            return label
        url = QUrl()
        url.setScheme("act")
        url.setPath(f"{act}/{key}/{argument}")
        address = html.escape(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        look = f' style="{style}"' if style else ""
        title = f' title="{html.escape(tip)}"' if tip else ""
        return f'<a href="{address}"{look}{title}>{label}</a>'

    def web_link(self, url: str, label: str, tip: str = "") -> str:
        """A link that leaves the program; its texts are plain."""
        title = f' title="{html.escape(tip)}"' if tip else ""
        return f'<a href="{html.escape(url)}"{title}>{html.escape(label)}</a>'

    def quiet(self, act: str, key: str, label: str) -> str:
        """A link that does not ask to be followed."""
        style = f"color:{self.hex('text.secondary')}; font-size:{self._small_px}px"
        return self.link(act, key, label, style=style)

    def tool(self, act: str, key: str, name: str, tip: str, argument: str = "") -> str:
        """An icon that acts; its tip says what it does."""
        return self.link(act, key, self.icon(name), argument, tip=tip)

    def button(  # noqa: PLR0917 - as of the page's buttons
        self, act: str, key: str, label: str, argument: str = "", kind: str = "", tip: str = ""
    ) -> str:
        """A link that looks like a button: ``primary``, ``ok``, ``warn``, ``quiet`` or "" as on the page."""
        ground, ink = {
            "primary": ("accent.base", "accent.on"),
            "ok": ("ok.fill", "ok.on"),
            "warn": ("warn.subtle", "warn.text"),
            "quiet": ("", "text.secondary"),
        }.get(kind, ("surface.pressed", "text.primary"))
        style = f"color:{self.hex(ink)}"
        if ground:
            style += f"; background-color:{self.hex(ground)}"
        held = label.replace(" ", "\u00a0")
        return self.link(act, key, f"\u00a0\u00a0{held}\u00a0\u00a0", argument, style=style, tip=tip)

    def fold(self, key: str, part: str, title: str, *, is_open: bool) -> str:
        """The arrow (and title) that shows or hides a part of an item."""
        arrow = self.icon("chevron-down" if is_open else "chevron-right")
        return self.link("fold", key, f"{arrow} {title}", part)

    def code(self, inside: str, *, last: int = 0) -> str:
        """Code on its ground; with room before its lines for their numbers, up to the `last`."""
        before = CODE_PADDING + self._wide(str(last)) + NUMBER_GAP
        room = f" style='padding-left: {before}px'" if last else ""
        return (
            f"<table width='100%' cellpadding='{CODE_PADDING}' cellspacing='0'"
            f" bgcolor='{self.hex('surface.sunken')}'><tr><td{room}>{inside}</td></tr></table>"
        )

    def field_room(self) -> str:
        """What a field is laid over (`plain_field.py`), which makes it as high as itself."""
        return f"<div><img src='{FIELD_ROOM}' width='1' height='1'></div>"

    def line_number(self, number: int) -> str:
        """A mark before a line of code that has this number: `plain_document.Browser` draws it, and those of
        the lines around it, so that no copy has them."""
        return f"<a name='{LINE_MARK}{number}'></a>"

    def _wide(self, text: str) -> int:
        return QFontMetrics(self._theme.font("mono_small")).horizontalAdvance(text)

    def head(self, left: str, right: str = "") -> str:
        end = f"<td align='right' valign='middle' style='white-space: nowrap'>{right}</td>" if right else ""
        return (
            "<table width='100%' cellspacing='0' cellpadding='1'>"
            f"<tr><td valign='middle'>{left}</td>{end}</tr></table>"
        )

    def rule(self) -> str:
        return (
            f"<table width='100%' cellspacing='0' cellpadding='0'><tr>"
            f"<td style='border-top: 1px solid {self.hex('border.divider')}; font-size:1px'></td>"
            "</tr></table>"
        )

    def diff_row(self, kind: str, number: int | None, text: str) -> str:
        """A line that was added (``add``), removed (``del``) or neither."""
        sign = {"del": "−", "add": "+"}.get(kind, "\u00a0")
        ground, ink = "", self.hex("text.secondary")
        if kind:
            ground, ink = f" bgcolor='{self.hex(f'diff.{kind}_bg')}'", self.hex(f"diff.{kind}_text")
        place = "" if number is None else str(number)
        shown = html.escape(text).replace("  ", " \u00a0")
        # Else the text's column takes all there is, and a number stands one digit below the other.
        wide = self._wide(place) + 4
        return (
            f"<tr><td{ground} align='right' width='{wide}' style='color:{ink}'><code>{place}</code></td>"
            f"<td{ground} style='color:{ink}'><code>{sign}</code></td>"
            f"<td{ground} width='100%' style='color:{ink}'><code>{shown}</code></td></tr>"
        )

    def diff(self, rows: list[str]) -> str:
        return f"<table width='100%' cellspacing='0' cellpadding='1'>{''.join(rows)}</table>"


def chart_picture(theme: Theme, chart: Chart, ratio: float) -> QPixmap:
    """The small picture of a run in the colours of a theme."""
    height = HEIGHT * CHART_WIDTH / WIDTH
    picture = QPixmap(round(CHART_WIDTH * ratio), round(height * ratio))
    picture.fill(QColor(0, 0, 0, 0))
    with QPainter(picture) as painter:
        painter.setFont(theme.font("caption"))
        QSvgRenderer(QByteArray(svg_of(chart, theme.hex).encode())).render(painter)
    picture.setDevicePixelRatio(ratio)
    return picture


def bar_picture(theme: Theme, fill: float, kind: str, ratio: float) -> QPixmap:
    """The margin of a goal: the limit at a third, what is spare to its right, what lacks to its left.

    `fill` is from -1 to 1, `kind` ``ok`` or ``error``, `ratio` the pixels of the screen for one of ours.
    """
    height = BAR_HEIGHT + 4
    picture = QPixmap(round(BAR_WIDTH * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(QColor(0, 0, 0, 0))
    limit = BAR_WIDTH / 3
    width = fill * (BAR_WIDTH - limit) if fill >= 0 else -fill * limit
    with QPainter(picture) as painter:
        painter.fillRect(QRectF(0, 2, BAR_WIDTH, BAR_HEIGHT), theme.color("border.subtle"))
        left = limit if fill >= 0 else limit - width
        painter.fillRect(QRectF(left, 2, width, BAR_HEIGHT), theme.color(f"{kind}.fill"))
        painter.fillRect(QRectF(limit, 0, 1, height), theme.color("border.strong"))
    return picture
