"""Items as rich text for the plain view: the rows and cards of the page, in what Qt's rich text can show.

It knows no flexible boxes, borders of spans or elements that fold: heads are tables of two cells, a button
is a link on a coloured ground, and what is folded is shown again when its link was followed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from application.simulation.failure_place import place_of
from domain.simulation.goals import GoalVerdict
from presentation.goal_margins import limit_text, row_of
from presentation.goal_words import name_of
from presentation.narration import Narrator
from presentation.panels.conversation import words
from presentation.panels.conversation.attached import attached_plain
from presentation.panels.conversation.confirming import card_plain
from presentation.panels.conversation.empty import EmptyPage
from presentation.panels.conversation.items import (
    READING_TOOLS,
    AnswerText,
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
    Retry,
    SimulationCard,
    UserText,
)
from presentation.panels.conversation.markup import to_html
from presentation.panels.conversation.moments import clock_time
from presentation.panels.conversation.netlist_card import card_plain as card_of_netlist
from presentation.panels.conversation.plain_parts import PlainParts, lines, one_line
from presentation.panels.conversation.sources import sources_plain
from presentation.ui.theme import Theme
from shared.message import Message, msg

SHOWN_ROWS = 20
_SINCE_CHARACTERS = 2000
_TABLE = re.compile(r"<table>")
_CELL = re.compile(r"<(t[hd])\b")
_CODE = re.compile(r"<pre class=\"code\"[^>]*>")
_CELL_LINE = "border-bottom: 1px solid {color}; padding: 4px 12px 4px 0px"


class Folds(Protocol):
    """Which parts of which items somebody opened or closed."""

    def is_open(self, key: str, part: str, *, from_the_start: bool) -> bool:
        """Whether a part of an item is shown."""
        ...


class PlainItems:
    """Renders items in one language and theme. `left_s` is how long a retry waits yet, in seconds."""

    def __init__(
        self,
        translate: Callable[[Message], str],
        theme: Theme,
        folds: Folds,
        left_s: Callable[[Retry], float],
    ) -> None:
        self._translate = translate
        self._parts = PlainParts(theme)
        self._folds = folds
        self._left_s = left_s

    def __call__(self, item: Item) -> str:  # noqa: PLR0911, PLR0912 - one an item
        """The rich text of an item's frame."""
        match item:
            case UserText():
                return self._user(item)
            case AnswerText() if item.is_streaming:
                return lines(item.reasoning + item.text)
            case AnswerText():
                return self._answer(item)
            case Narration():
                return self._text(item.text)
            case GoalsCard():
                return self._goals(item)
            case OperationCard():
                return self._reading(item) if item.tool in READING_TOOLS else self._operation(item)
            case SimulationCard():
                return self._simulation(item)
            case Decision():
                return self._decision(item)
            case Confirmation():
                return self._confirmation(item)
            case NetlistCard():
                return card_of_netlist(
                    item,
                    self._translate,
                    self._parts.icon("file-code"),
                    lambda act, label: self._parts.button(act, item.key, label),
                )
            case ErrorBlock():
                return self._error(item)
            case Interrupted():
                return self._interrupted(item)
            case Retry():
                return self._retry(item)
            case DesignEnd():
                text = lines(Narrator(self._translate)(replace(item.done, project=Path())))
                return f"<b>{self._parts.colored(text, 'ok.text') if item.done.goals_met else text}</b>"
            case Note():
                note = self._parts.small(self._text(item.text), "text.secondary")
                return f"{self._parts.icon('info')} {note}"

    def empty(self, page: EmptyPage) -> str:
        """What stands in a conversation without items."""
        text = self._parts.colored(self._text(page.text), "text.secondary")
        asks = "".join(
            f"<p>{self._parts.icon(name)} &nbsp;"
            f"{self._parts.link('ask', '', self._text(ask), self._translate(ask))}</p>"
            for name, ask in page.asks
        )
        return f"<p><b>{self._text(page.title)}</b><br>{text}</p>{asks}"

    # --- what was said -------------------------------------------------------------------------------

    def _user(self, item: UserText) -> str:
        files = attached_plain(
            item,
            self._translate,
            lambda number, label: self._parts.link("attachment", item.key, label, number),
        )
        return f"{files}<p>{lines(item.text)}</p>"

    def _answer(self, item: AnswerText) -> str:
        meta = self._parts.small(html.escape(words.meta_of(item)), "text.tertiary")
        copy = self._parts.quiet("copy", item.key, self._text(msg("Copy"))) if item.text else ""
        fold, thought = "", ""
        if item.reasoning:
            title = self._parts.small(self._text(words.thought_title(item)), "text.secondary")
            fold, is_open = self._fold(item.key, "thought", title, from_the_start=False)
            if is_open:
                thought = f"<p>{self._parts.small(lines(item.reasoning), 'text.secondary')}</p>"
        head = self._parts.head(fold, f"{meta} &nbsp; {copy}" if copy else meta)
        sources = sources_plain(item.sources, self._translate, self._parts.icon("globe"))
        return f"{head}{thought}{self._prose(item.text)}{sources}"

    def _prose(self, text: str) -> str:
        """Markdown, with the lines of tables and the ground of code that the page has from its style."""
        ground = self._parts.hex("surface.sunken")
        made = _TABLE.sub("<table class='data' width='100%' cellspacing='0'>", to_html(text))
        cell = _CELL_LINE.format(color=self._parts.hex("border.divider"))
        made = _CELL.sub(rf"<\1 style='{cell}'", made)
        made = _CODE.sub(
            f"<table width='100%' cellpadding='8' cellspacing='0' bgcolor='{ground}'><tr><td><pre>", made
        )
        return made.replace("</pre>", "</pre></td></tr></table>")

    # --- what was done -------------------------------------------------------------------------------

    def _goals(self, item: GoalsCard) -> str:
        stated = sum(goal.stated for goal in item.goals)
        count = self._text(
            msg("{stated} of {count} read from your sentence", stated=stated, count=len(item.goals))
        )
        head = self._parts.head(
            f"{self._parts.icon('target')} &nbsp;<b>{self._text(msg('Goals'))}</b>"
            f" &nbsp;{self._parts.small(count, 'text.tertiary')}"
        )
        proposal = self._parts.small(self._text(msg("my proposal")), "info.text")
        rows = "".join(
            f"<tr><td>{self._text(name_of(goal))}<br>"
            f"{self._parts.code(goal.expression, 'text.tertiary')}</td>"
            f"<td align='right'>{one_line(limit_text(goal))}</td>"
            f"<td align='right'>{'' if goal.stated else proposal}</td></tr>"
            for goal in item.goals
        )
        notes = "".join(
            f"<li>{self._parts.small(self._text(text), 'text.secondary')}</li>" for text in item.assumptions
        )
        return f"{head}<table cellpadding='2' width='100%'>{rows}</table>" + (
            f"<ul>{notes}</ul>" if notes else ""
        )

    def _reading(self, item: OperationCard) -> str:
        told = self._text(item.summary) if item.summary else ""
        if not told or (item.path and item.state == "done"):
            told = f"{self._text(words.verb_of(item))} &nbsp;{self._object(item)}"
        said = f"{self._parts.icon(words.icon_of(item))} &nbsp;{told}"
        return self._parts.head(said, f"{self._seconds(item.duration_s)} {self._state(item.state)}")

    def _operation(self, item: OperationCard) -> str:
        diff = item.diff
        undone = item.standing == "undone"
        is_foldable = diff is not None and bool(diff.hunks)
        small = diff is not None and diff.added + diff.removed <= SHOWN_ROWS
        title = f"<b>{self._text(words.verb_of(item))}</b>"
        fold, is_open = "", False
        if is_foldable:
            fold, is_open = self._fold(item.key, "diff", "", from_the_start=not undone and small)
        counts = ""
        if diff is not None:
            counts = self._parts.colored(f"+{diff.added}", "ok.text") + " "
            counts += self._parts.colored(f"−{diff.removed}", "error.text")
        if undone:
            title = f"<s>{title}</s>"
            counts += " &nbsp;" + self._parts.small(self._text(msg("undone")), "text.secondary")
        tools = []
        if item.standing in ("stands", "undone"):
            name, text = (
                ("undo-2", msg("Undo this change")) if item.standing == "stands" else ("redo-2", msg("Redo"))
            )
            tools.append(self._parts.tool("undo", item.key, name, self._translate(text)))
        if diff is not None and item.path and words.is_gone(item) == undone:
            tools.append(
                self._parts.tool(
                    "open", item.key, "eye", self._translate(msg("Show in the editor")), self._place(item)
                )
            )
        tools.append(self._state(item.state))
        icon = self._parts.icon(words.icon_of(item), "info.icon")
        first = f"{fold}{icon} &nbsp;{title} &nbsp;{self._object(item)} &nbsp;{counts}"
        failed = item.state in ("failed", "stopped", "not_run") and item.summary is not None
        told = f"<p>{self._text(item.summary)}</p>" if failed and item.summary else ""
        problem = self._parts.colored(self._text(item.problem), "error.text") if item.problem else ""
        shown = self._diff(item) if is_open else ""
        return (
            f"{self._parts.head(first, ' &nbsp;'.join(tools))}{told}{shown}"
            f"{f'<p>{problem}</p>' if problem else ''}{self._conflicts(item)}"
        )

    def _conflicts(self, item: OperationCard) -> str:
        """What was changed since in files an undo would change, and the ways on."""
        if not item.ways:
            return ""
        since = self._text(msg("What was changed in it since:"))
        shown = "".join(
            f"<p>{html.escape(each.path)}: {since}</p>"
            f"<pre>{html.escape(each.since.text[:_SINCE_CHARACTERS])}</pre>"
            for each in item.conflicts
        )
        ways = " &nbsp;".join(
            self._parts.button("undo", item.key, self._text(words.UNDO_WAYS[way]), way) for way in item.ways
        )
        return f"{shown}<p>{ways}</p>"

    def _diff(self, item: OperationCard) -> str:
        if item.diff is None:
            return ""
        rows = [
            self._parts.diff_row(kind, number, text)
            for hunk in item.diff.hunks
            for kind, first, texts in (
                ("del", hunk.old_line, hunk.removed),
                ("add", hunk.new_line, hunk.added),
            )
            for number, text in enumerate(texts, first)
        ]
        more = len(rows) - SHOWN_ROWS
        rest = ""
        if more > 0 and not self._folds.is_open(item.key, "rest", from_the_start=False):
            label = self._text(msg("{count} more", count=more))
            rest = f"<p>{self._parts.link('fold', item.key, label, 'rest')}</p>"
            rows = rows[:SHOWN_ROWS]
        return self._parts.diff(rows) + rest

    def _simulation(self, item: SimulationCard) -> str:
        failed = item.state == "failed"
        place = place_of(item.summary) if failed else ""
        target = place or item.path
        file = self._parts.link("open", item.key, self._parts.mono(target), place or f"{item.path}:0")
        number = item.round_number
        round_text = (
            self._parts.small(self._text(msg("round {number}", number=number)), "text.tertiary")
            if number
            else ""
        )
        color = "error.icon" if failed else "info.icon"
        verb = self._text(words.simulation_verb(item.state))
        first = (
            f"{self._parts.icon('activity', color)} &nbsp;<b>{verb}</b>"
            f" &nbsp;{file if target else ''} &nbsp;{round_text}"
        )
        plot = ""
        if item.state == "done" and item.path:
            tip = self._translate(msg("Show the waveforms"))
            plot = self._parts.tool("plot", item.key, "chart-line", tip)
        last = f"{self._seconds(item.duration_s)} &nbsp;{plot} {self._state(item.state)}"
        rows = "".join(map(self._goal_row, item.verdicts))
        goals = f"<table cellpadding='2' width='100%'>{rows}</table>" if rows else ""
        is_told = item.summary is not None and item.state != "stopped" and (failed or not rows)
        told = f"<p>{self._text(item.summary)}</p>" if item.summary and is_told else ""
        ways = "".join(
            f"<p>{self._parts.button(act, item.key, self._text(text))}</p>"
            for act, text in words.simulation_ways(item)
        )
        return f"{self._parts.head(first, last)}{goals}{told}{ways}"

    def _goal_row(self, verdict: GoalVerdict) -> str:
        row = row_of(verdict)
        color = "ok.text" if row.met else "error.text"
        limit = self._parts.small(one_line(row.limit), "text.secondary")
        return (
            f"<tr><td>{self._text(name_of(verdict.goal))}</td>"
            f"<td align='right'><b>{one_line(row.value)}</b></td><td>{limit}</td>"
            f"<td align='right' valign='middle'>{self._parts.bar(row.fill, met=row.met)}</td>"
            f"<td align='right'>{self._parts.colored(one_line(row.margin_text), color)}</td></tr>"
        )

    # --- what is asked -------------------------------------------------------------------------------

    def _decision(self, item: Decision) -> str:
        title, state = words.decision_texts(item)
        name = "flag" if item.kind == "checkpoint" else "history"
        color = "text.secondary"
        if item.state == "open":
            color = "ok.icon" if item.goals_met else "warn.icon"
        buttons = []
        for number, choice in enumerate(item.choices):
            label = self._text(words.choice_text(item, choice))
            if item.state == "open":
                kind = words.choice_kind(item, choice, is_first=not number)
                buttons.append(self._parts.button("answer", item.key, label, choice, kind))
            elif item.state == "chosen" and item.answer == choice:
                buttons.append(f"{self._parts.icon('check')} {label}")
            else:
                buttons.append(self._parts.colored(label, "text.disabled"))
        return (
            f"{self._parts.rule()}<p>{self._parts.icon(name, color)} &nbsp;<b>{self._text(title)}</b>"
            f" &nbsp;{self._parts.small(self._text(state), 'text.tertiary')}</p>"
            f"<p>{' &nbsp;'.join(buttons)}</p>"
        )

    def _confirmation(self, item: Confirmation) -> str:
        return card_plain(item, self._translate, self._parts, self._folds)

    def _error(self, item: ErrorBlock) -> str:
        time = self._parts.small(html.escape(clock_time(item.created)), "text.tertiary")
        color = "text.secondary" if item.is_spent else "text.primary"
        message = self._parts.colored(self._text(item.message), color)
        head = self._parts.head(
            f"{self._parts.icon('circle-alert', 'error.icon')} &nbsp;<b>{message}</b>", time
        )
        advice = ""
        if item.advice:
            advice = f"<p>{self._parts.colored(self._text(item.advice), 'text.secondary')}</p>"
        ways = "".join(
            self._parts.head(
                self._parts.link(way.act, item.key, self._text(way.text), way.argument),
                self._parts.small(self._text(way.remark), "text.tertiary") if way.remark else "",
            )
            for way in words.error_ways(item)
        )
        give_up = self._parts.quiet("give_up", item.key, self._text(msg("Give up"))) if ways else ""
        title = self._parts.small(self._text(msg("Details")), "text.secondary")
        fold, is_open = self._fold(item.key, "details", title, from_the_start=False)
        details = f"<pre>{html.escape(words.error_details(item))}</pre>" if is_open else ""
        return f"{head}{advice}{ways}{self._parts.head(fold, give_up)}{details}"

    def _retry(self, item: Retry) -> str:
        reason, kept = words.retry_texts(item)
        time = self._parts.small(html.escape(clock_time(item.created)), "text.tertiary")
        head = (
            f"{self._parts.icon('circle-alert', 'warn.icon')} &nbsp;<b>{self._text(reason)}</b> &nbsp;{time}"
        )
        told = f"<p>{self._parts.small(self._text(kept), 'text.secondary')}</p>" if kept else ""
        again = msg("Trying again in {seconds} s", seconds=f"{self._left_s(item):.0f}")
        attempt = self._text(msg("attempt {number}", number=item.attempt + 1))
        first = (
            f"{self._parts.colored(self._text(again), 'running.text')}"
            f" &nbsp;{self._parts.small(attempt, 'text.tertiary')}"
        )
        stop = self._parts.quiet("stop", item.key, self._text(msg("Stop trying")))
        return f"{self._parts.head(head)}{told}{self._parts.head(first, stop)}"

    def _interrupted(self, item: Interrupted) -> str:
        title, detail = words.interruption_texts(item)
        known = (clock_time(item.created), self._translate(detail) if detail else "")
        told = self._parts.small(html.escape(", ".join(filter(None, known))), "text.tertiary")
        parts = [
            f"{self._parts.icon('circle-stop', 'warn.icon')} &nbsp;<b>{self._text(title)}</b> &nbsp;{told}"
        ]
        if item.note:
            parts.append(self._parts.small(self._text(item.note), "text.secondary"))
        if item.not_run:
            not_run = msg("Not run: {tools}.", tools=", ".join(item.not_run))
            parts.append(self._parts.small(self._text(not_run), "text.secondary"))
        buttons = []
        if item.can_continue and item.reason != "unanswered":  # else there is nothing to go on from
            label = self._text(msg("Continue"))
            buttons.append(self._parts.button("go_on", item.key, label, kind="primary"))
        if item.can_continue and item.can_regenerate:
            buttons.append(self._parts.button("regenerate", item.key, self._text(msg("Regenerate"))))
        if buttons:
            parts.append(" &nbsp;".join(buttons))
        return self._parts.rule() + "".join(f"<p>{part}</p>" for part in parts)

    # --- pieces --------------------------------------------------------------------------------------

    def _text(self, message: Message) -> str:
        return lines(self._translate(message))

    def _fold(self, key: str, part: str, title: str, *, from_the_start: bool) -> tuple[str, bool]:
        is_open = self._folds.is_open(key, part, from_the_start=from_the_start)
        return self._parts.fold(key, part, title, is_open=is_open), is_open

    def _object(self, item: OperationCard) -> str:
        if item.path:
            return self._parts.link("open", item.key, self._parts.mono(item.path), self._place(item))
        return self._parts.code(item.detail) if item.detail else ""

    def _place(self, item: OperationCard) -> str:
        line = item.diff.hunks[0].new_line if item.diff and item.diff.hunks else 0
        return f"{item.path}:{line}"

    def _state(self, state: str) -> str:
        match state:
            case "done":
                return self._parts.icon("check", "ok.icon")
            case "running":
                return self._parts.small(self._text(msg("running")), "running.text")
            case "not_run":
                return self._parts.small(self._text(msg("not run")), "text.tertiary")
            case "stopped":
                return self._parts.icon("circle-stop", "text.tertiary")
            case _:
                return self._parts.icon("x", "error.icon")

    def _seconds(self, duration_s: float | None) -> str:
        return "" if duration_s is None else self._parts.small(f"{duration_s:.2f} s", "text.tertiary")
