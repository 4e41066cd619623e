"""The conversation as rich text, where no web view can be had: the same rows, with links for buttons."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PyQt6.QtCore import QUrl, pyqtSignal
from PyQt6.QtGui import (
    QBrush,
    QTextCharFormat,
    QTextCursor,
    QTextFrame,
    QTextFrameFormat,
    QTextLength,
)
from PyQt6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

from application.simulation.failure_place import place_of
from presentation.goal_margins import limit_text, row_of
from presentation.goal_words import name_of
from presentation.narration import Narrator
from presentation.panels.conversation import words
from presentation.panels.conversation.attached import attached_plain
from presentation.panels.conversation.confirming import card_plain
from presentation.panels.conversation.items import (
    Added,
    AnswerText,
    Change,
    Confirmation,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Narration,
    NetlistCard,
    Note,
    OperationCard,
    Removed,
    Reset,
    Retry,
    SimulationCard,
    Streamed,
    Updated,
    UserText,
)
from presentation.panels.conversation.markup import BlockSplitter, to_html, whole_block_html
from presentation.panels.conversation.netlist_card import card_plain as card_of_netlist
from presentation.panels.conversation.sources import sources_plain
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import Message, msg

_SHOWN_ROWS = 20
_SINCE_CHARACTERS = 2000
_CARDS = (Confirmation, GoalsCard, NetlistCard, OperationCard, SimulationCard, ErrorBlock, Retry)


class PlainConversation(QWidget):
    """Shows items; `acted` tells what was clicked: action, item's key, argument."""

    acted = pyqtSignal(str, str, str)

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._frames: dict[str, QTextFrame] = {}
        self._splitters: dict[str, BlockSplitter] = {}
        """Of the answers that are coming."""
        self._browser = QTextBrowser(self)
        self._browser.setObjectName("conversationText")
        self._browser.setOpenLinks(False)
        self._browser.setUndoRedoEnabled(False)
        self._browser.setAcceptDrops(False)  # files are for the panel around it
        self._browser.anchorClicked.connect(self._on_link)
        mark(self._browser, plain=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._browser)
        self.restyle()

    @property
    def surface(self) -> QWidget:
        """What takes the keys."""
        return self._browser

    @property
    def text(self) -> str:
        """Everything shown, as plain text."""
        return self._browser.toPlainText()

    def apply(self, changes: Sequence[Change]) -> None:
        """Show what changed; the newest is kept in sight unless somebody has scrolled up."""
        bar = self._browser.verticalScrollBar()
        assert bar is not None
        follows = bar.value() >= bar.maximum() - 24
        for change in changes:
            match change:
                case Reset():
                    self._clear()
                    follows = True
                    for item in change.items:
                        self._add(item)
                case Added():
                    self._add(change.item)
                case Updated():
                    self._fill(change.item)
                case Removed():
                    self._remove(change.key)
                case Streamed():
                    self._stream(change)
        if follows:
            bar.setValue(bar.maximum())

    def show_empty(self, text: str) -> None:
        """What stands in a conversation without items."""
        self._clear()
        self._browser.setHtml(text)

    def scroll_to_end(self) -> None:
        """Show the newest."""
        bar = self._browser.verticalScrollBar()
        assert bar is not None
        bar.setValue(bar.maximum())

    def scroll_to_begin(self) -> None:
        """Show the oldest."""
        bar = self._browser.verticalScrollBar()
        assert bar is not None
        bar.setValue(0)

    def restyle(self) -> None:
        """The theme's colours and sizes; the items are shown again by whoever has them."""
        theme = self._services.theme.theme
        document = self._browser.document()
        assert document is not None
        document.setDefaultFont(theme.font("prose"))
        document.setDocumentMargin(theme.size("space.4"))
        families = ", ".join(f"'{family}'" for family in theme.font("mono_small").families())
        document.setDefaultStyleSheet(
            f"a {{ color: {theme.hex('text.link')}; text-decoration: none; }}"
            f" code, pre {{ font-family: {families}; }}"
            f" th {{ color: {theme.hex('text.secondary')}; text-align: left; }}"
        )

    def retranslate(self) -> None:
        """Nothing of its own; the items are shown again by whoever has them."""

    # --- rows ----------------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._frames.clear()
        self._browser.clear()

    def _add(self, item: Item) -> None:
        document = self._browser.document()
        assert document is not None
        cursor = QTextCursor(document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        frame = cursor.insertFrame(self._frame_format(item))
        assert frame is not None
        self._frames[item.key] = frame
        self._fill(item)

    def _frame_format(self, item: Item) -> QTextFrameFormat:
        theme = self._services.theme.theme
        made = QTextFrameFormat()
        made.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        made.setTopMargin(theme.size("space.2"))
        if isinstance(item, UserText):
            made.setBackground(QBrush(theme.color("surface.sunken")))
            made.setPadding(theme.size("space.2"))
        elif isinstance(item, _CARDS):
            made.setBorder(1)
            made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            made.setBorderBrush(QBrush(theme.color("border.default")))
            made.setPadding(theme.size("space.2"))
        return made

    def _fill(self, item: Item) -> None:
        frame = self._frames.get(item.key)
        if frame is None:
            return
        self._splitters.pop(item.key, None)
        cursor = frame.firstCursorPosition()
        cursor.setPosition(frame.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.beginEditBlock()  # laid out once, not after each of the two
        cursor.removeSelectedText()
        cursor.insertHtml(self._html(item))
        cursor.endEditBlock()

    def _remove(self, key: str) -> None:
        frame = self._frames.pop(key, None)
        if frame is not None:
            cursor = frame.firstCursorPosition()
            cursor.setPosition(frame.firstPosition() - 1)
            cursor.setPosition(frame.lastPosition() + 1, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()

    def _stream(self, change: Streamed) -> None:
        frame = self._frames.get(change.key)
        if frame is None:
            return
        # Shown plain until it is complete; what is rendered then is rendered block by block as it comes.
        for block in self._splitters.setdefault(change.key, BlockSplitter()).feed(change.text):
            whole_block_html(block)
        cursor = frame.lastCursorPosition()
        theme = self._services.theme.theme
        for text, color in ((change.reasoning, "text.secondary"), (change.text, "text.primary")):
            if text:
                look = QTextCharFormat()
                look.setForeground(theme.color(color))
                cursor.insertText(text, look)

    # --- words ---------------------------------------------------------------------------------------

    def _html(self, item: Item) -> str:  # noqa: PLR0911, PLR0912 - one an item
        match item:
            case UserText():
                files = attached_plain(
                    item,
                    self._services.language,
                    lambda number, label: self._link("attachment", item.key, label, number),
                )
                return f"{files}{_lines(item.text)}"
            case AnswerText() if item.is_streaming:
                return _lines(item.reasoning + item.text)
            case AnswerText():
                return self._answer(item)
            case Narration() | Note():
                return self._text(item.text)
            case GoalsCard():
                return self._goals(item)
            case OperationCard():
                return self._operation(item)
            case SimulationCard():
                return self._simulation(item)
            case Decision():
                return self._decision(item)
            case Confirmation():
                return self._confirmation(item)
            case NetlistCard():
                return card_of_netlist(
                    item, self._services.language, lambda act, label: self._link(act, item.key, label)
                )
            case ErrorBlock():
                return self._error(item)
            case Interrupted():
                return self._interrupted(item)
            case Retry():
                return self._retry(item)
            case DesignEnd():
                return _lines(Narrator(self._services.language)(replace(item.done, project=Path())))

    def _answer(self, item: AnswerText) -> str:
        small = self._services.theme.theme.hex("text.tertiary")
        meta = words.meta_of(item)
        thought = f"<p style='color:{small}'>{_lines(item.reasoning)}</p>" if item.reasoning else ""
        head = f"<p style='color:{small}'>{html.escape(meta)}</p>" if meta else ""
        sources = sources_plain(item.sources, self._services.language)
        return f"{head}{thought}{to_html(item.text)}{sources}"

    def _goals(self, item: GoalsCard) -> str:
        rows = "".join(
            f"<tr><td>{self._text(name_of(goal))}&nbsp;</td><td><code>{html.escape(goal.expression)}</code>&nbsp;</td>"
            f"<td align='right'>{html.escape(limit_text(goal))}</td></tr>"
            for goal in item.goals
        )
        notes = "".join(f"<li>{self._text(text)}</li>" for text in item.assumptions)
        title = self._text(msg("Goals"))
        return f"<b>{title}</b><table cellpadding='2'>{rows}</table>" + (f"<ul>{notes}</ul>" if notes else "")

    def _operation(self, item: OperationCard) -> str:
        line = item.diff.hunks[0].new_line if item.diff and item.diff.hunks else 0
        path = (
            self._link("open", item.key, html.escape(item.path), f"{item.path}:{line}") if item.path else ""
        )
        counts = f"+{item.diff.added} −{item.diff.removed}" if item.diff else ""
        state = words.state_text(item.state) if item.state != "done" else None
        tool = ""
        if item.standing in ("stands", "undone"):
            undo = msg("Undo this change") if item.standing == "stands" else msg("Redo")
            tool = self._link("undo", item.key, self._text(undo))
        undone = self._text(msg("undone")) if item.standing == "undone" else ""
        told = self._text(item.summary) if item.summary else ""
        problem = self._text(item.problem) if item.problem else ""
        head = [f"<b>{self._text(words.verb_of(item))}</b>", path or html.escape(item.detail), counts]
        head += [undone, self._text(state) if state else "", tool]
        first = " &nbsp; ".join(part for part in head if part)
        ways = " &nbsp; ".join(
            self._link("undo", item.key, self._text(words.UNDO_WAYS[way]), way) for way in item.ways
        )
        since = "".join(
            f"<pre>{html.escape(each.since.text[:_SINCE_CHARACTERS])}</pre>" for each in item.conflicts
        )
        return "<br>".join(part for part in (first, told, problem, ways) if part) + since + self._diff(item)

    def _diff(self, item: OperationCard) -> str:
        if item.diff is None:
            return ""
        theme = self._services.theme.theme
        rows = [
            f"<tr><td bgcolor='{theme.hex(f'diff.{kind}_bg')}'>"
            f"<code>{number} {sign} {_lines(text)}</code></td></tr>"
            for hunk in item.diff.hunks
            for kind, sign, first, texts in (
                ("del", "−", hunk.old_line, hunk.removed),
                ("add", "+", hunk.new_line, hunk.added),
            )
            for number, text in enumerate(texts, first)
        ]
        more = len(rows) - _SHOWN_ROWS
        rest = f"<p>{self._text(msg('{count} more', count=more))}</p>" if more > 0 else ""
        return f"<table width='100%' cellspacing='0'>{''.join(rows[:_SHOWN_ROWS])}</table>{rest}"

    def _simulation(self, item: SimulationCard) -> str:
        theme = self._services.theme.theme
        rows = "".join(
            f"<tr><td>{self._text(name_of(verdict.goal))}&nbsp;</td>"
            f"<td align='right'><b>{html.escape(row.value)}</b>&nbsp;</td>"
            f"<td>{html.escape(row.limit)}&nbsp;</td><td align='right' style='color:"
            f"{theme.hex('ok.text' if row.met else 'error.text')}'>{'✓' if row.met else '✗'}"
            f" {html.escape(row.margin_text)}</td></tr>"
            for verdict, row in ((each, row_of(each)) for each in item.verdicts)
        )
        told = self._text(item.summary) if item.summary else ""
        verb = words.simulation_verb(item.state)
        plot = ""
        if item.state == "done":
            plot = self._link("plot", item.key, self._text(msg("Show the waveforms")))
        elif item.state == "failed":
            plot = self._link("log", item.key, self._text(msg("Show log")))
        place = place_of(item.summary) if item.state == "failed" else ""
        file = f"<code>{html.escape(item.path)}</code>"
        if place:
            file = self._link("open", item.key, html.escape(place), place)
        head = f"<b>{self._text(verb)}</b> {file} &nbsp; {plot}<br>{told}"
        return f"{head}<table cellpadding='2' width='100%'>{rows}</table>"

    def _decision(self, item: Decision) -> str:
        title, state = words.decision_texts(item)
        buttons = []
        for choice in item.choices:
            label = self._text(words.choice_text(item, choice))
            if item.state == "open":
                buttons.append(self._link("answer", item.key, f"[ {label} ]", choice))
            else:
                buttons.append(f"✓ {label}" if item.state == "chosen" and item.answer == choice else label)
        return f"<b>{self._text(title)}</b> {self._text(state)}<br>{' &nbsp; '.join(buttons)}"

    def _confirmation(self, item: Confirmation) -> str:
        def link(argument: str, label: str) -> str:
            return self._link("confirm", item.key, label, argument)

        return card_plain(item, self._services.language, link)

    def _error(self, item: ErrorBlock) -> str:
        color = self._services.theme.theme.hex("error.text")
        advice = f"<br>{self._text(item.advice)}" if item.advice else ""
        links = [
            self._link(way.act, item.key, self._text(way.text), way.argument)
            for way in words.error_ways(item)
        ]
        if links:
            links.append(self._link("give_up", item.key, self._text(msg("Give up"))))
        ways = f"<br>{' &nbsp; '.join(links)}" if links else ""
        return f"<b style='color:{color}'>{self._text(item.message)}</b>{advice}{ways}"

    def _retry(self, item: Retry) -> str:
        reason, kept = words.retry_texts(item)
        again = msg("Trying again in {seconds} s", seconds=f"{item.wait_s:.0f}")
        parts = [f"<b>{self._text(reason)}</b>", self._text(kept) if kept else "", self._text(again)]
        stop = self._link("stop", item.key, self._text(msg("Stop trying")))
        return "<br>".join(part for part in parts if part) + f" &nbsp; {stop}"

    def _interrupted(self, item: Interrupted) -> str:
        title, detail = words.interruption_texts(item)
        parts = [f"<b>{self._text(title)}</b> {self._text(detail) if detail else ''}"]
        if item.note:
            parts.append(self._text(item.note))
        if item.not_run:
            parts.append(self._text(msg("Not run: {tools}.", tools=", ".join(item.not_run))))
        if item.can_continue:
            links = []
            if item.reason != "unanswered":  # there is nothing to go on from
                links.append(self._link("go_on", item.key, self._text(msg("Continue"))))
            if item.can_regenerate:
                links.append(self._link("regenerate", item.key, self._text(msg("Regenerate"))))
            parts.append(" &nbsp; ".join(links))
        return "<br>".join(parts)

    def _text(self, message: Message) -> str:
        return _lines(self._services.language(message))

    def _link(self, act: str, key: str, label: str, argument: str = "") -> str:
        url = QUrl()
        url.setScheme("act")
        url.setPath(f"{act}/{key}/{argument}")
        return (
            f'<a href="{html.escape(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))}">{label}</a>'
        )

    def _on_link(self, url: QUrl) -> None:
        if url.scheme() != "act":
            self.acted.emit("link", "", url.toString())
            return
        act, key, argument = [*url.path().split("/", 2), "", ""][:3]
        self.acted.emit(act, key, argument)


def _lines(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
