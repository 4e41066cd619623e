"""Facts in groups, name beside value, as text that can be read, selected and copied."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PyQt6.QtGui import QTextOption
from PyQt6.QtWidgets import QTextBrowser

from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message

FactState = Literal["plain", "ok", "warning", "missing", "unused"]
_MARKS: dict[FactState, tuple[str, str]] = {
    "plain": ("", "text.primary"),
    "ok": ("✓", "ok.text"),
    "warning": ("!", "warn.text"),
    "missing": ("✗", "error.text"),
    "unused": ("·", "text.tertiary"),
}
_NAME_WIDTH = 132
"""So that values stand below each other through all groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line."""

    name: Message
    value: Message
    state: FactState = "plain"
    advice: Message | None = None
    """What to do about it; below the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactGroup:
    """Lines under a heading."""

    title: Message
    facts: tuple[Fact, ...]


class FactSheet(QTextBrowser):
    """Groups of facts. What has not changed is not touched, so that a selection and the place stay."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__()
        self._services = services
        self._groups: Sequence[FactGroup] = ()
        self._shown = ""
        self.setObjectName(name)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)  # paths have no blanks
        mark(self, plain=True)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()

    @property
    def plain_text(self) -> str:
        """All of it, a line a fact: for the clipboard."""
        language, lines = self._services.language, []
        for group in self._groups:
            lines += ["", language(group.title)]
            for fact in group.facts:
                sign = _MARKS[fact.state][0]
                lines.append(f"{sign} {language(fact.name)}: {language(fact.value)}".strip())
                if fact.advice is not None:
                    lines.append(f"    {language(fact.advice)}")
        return "\n".join(lines[1:])

    def show_groups(self, groups: Sequence[FactGroup]) -> None:
        self._groups = groups
        self._render()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        document = self.document()
        assert document is not None
        document.setDefaultFont(theme.font("ui"))
        document.setDocumentMargin(theme.size("space.3"))
        self._shown = ""
        self._render()

    def retranslate(self) -> None:
        self._render()

    def _render(self) -> None:
        text = "".join(map(self._group, self._groups))
        if text == self._shown:
            return
        bar = self.verticalScrollBar()
        place = 0 if bar is None else bar.value()
        self._shown = text
        self.setHtml(text)
        if bar is not None:
            bar.setValue(place)

    def _group(self, group: FactGroup) -> str:
        theme, language = self._services.theme.theme, self._services.language
        rows = "".join(map(self._row, group.facts))
        head = f"<p style='color:{theme.hex('text.primary')}; margin-bottom:{theme.size('space.1')}px'>"
        return (
            f"{head}<b>{html.escape(language(group.title))}</b></p>"
            f"<table cellspacing='0' cellpadding='{theme.size('space.half')}'>{rows}</table>"
        )

    def _row(self, fact: Fact) -> str:
        theme, language = self._services.theme.theme, self._services.language
        sign, color = _MARKS[fact.state]
        shown = f"<span style='color:{theme.hex(color)}'>{sign}</span> " if sign else ""
        advice = ""
        if fact.advice is not None:
            advice = html.escape(language(fact.advice))
            advice = f"<br/><span style='color:{theme.hex('text.secondary')}'>{advice}</span>"
        return (
            f"<tr><td width='{round(_NAME_WIDTH * theme.scale)}' style='color:{theme.hex('text.secondary')}'>"
            f"{html.escape(language(fact.name))}</td>"
            f"<td style='color:{theme.hex('text.primary')}'>"
            f"{shown}{html.escape(language(fact.value))}{advice}</td></tr>"
        )


def size_text(count: int) -> str:
    """Bytes for people: ``340 B``, ``12.4 kB``, ``3.1 MB``."""
    value, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
