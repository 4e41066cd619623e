"""Items as HTML for the web page. Everything that is not ours is escaped or cleaned."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import assert_never

from domain.llm.tools.line_diff import Hunk
from presentation.narration import Narrator
from presentation.panels.conversation import words
from presentation.panels.conversation.items import (
    READING_TOOLS,
    AnswerText,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Narration,
    Note,
    OperationCard,
    SimulationCard,
    UserText,
)
from presentation.panels.conversation.margins import GoalRow, limit_text, row_of
from presentation.panels.conversation.markup import to_html
from presentation.window.icons import drawings
from shared.message import Message, msg

Translate = Callable[[Message], str]

_SHOWN_ROWS = 20


@cache
def icon(name: str) -> str:
    """A Lucide icon in the colour of the text around it."""
    text = drawings()[name]
    start = text.index("<svg")
    return text[start:].replace("<svg", f'<svg aria-hidden="true" data-icon="{name}"', 1)


class HtmlItems:
    """Renders items in one language."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate

    def __call__(self, item: Item) -> str:  # noqa: PLR0911 - one an item
        """The inside of the item's element."""
        match item:
            case UserText():
                return self._user(item)
            case AnswerText():
                return self._answer(item)
            case Narration():
                return f'<div class="prose">{html.escape(self._translate(item.text))}</div>'
            case GoalsCard():
                return self._goals(item)
            case OperationCard():
                return self._operation(item)
            case SimulationCard():
                return self._simulation(item)
            case Decision():
                return self._decision(item)
            case ErrorBlock():
                return self._error(item)
            case Interrupted():
                return self._interrupted(item)
            case DesignEnd():
                text = Narrator(self._translate)(replace(item.done, project=Path()))
                mark = "ok" if item.done.goals_met else ""
                return f'<div class="prose end {mark}">{html.escape(text)}</div>'
            case Note():
                return f'<div class="note">{icon("info")}<span>{self._text(item.text)}</span></div>'
            case _:
                assert_never(item)

    # --- what was said -------------------------------------------------------------------------------

    def _user(self, item: UserText) -> str:
        time = f"<time>{html.escape(clock_time(item.created))}</time>" if item.created else ""
        copy = self._tool("copy", "copy", msg("Copy"))
        return f'<div class="user">{html.escape(item.text)}<div class="tools">{time}{copy}</div></div>'

    def _answer(self, item: AnswerText) -> str:
        meta = " · ".join(part for part in (item.model, clock_time(item.created)) if part)
        head = f'<span class="meta">{html.escape(meta)}</span>'
        if item.is_streaming:
            return self._streaming(item, head)
        thought = self._thought(item)
        text = f'<div class="prose answer">{to_html(item.text)}</div>' if item.text else ""
        copy = self._tool("copy", "copy", msg("Copy")) if item.text else ""
        tools = f'<div class="tools">{copy}</div>' if copy else ""
        return f'<div class="line">{thought}{head}</div>{text}{tools}'

    def _thought(self, item: AnswerText) -> str:
        if not item.reasoning:
            return "<span></span>"
        if item.thought_s is None:
            title = msg("Thoughts")
        else:
            title = msg("Thought for {seconds} s", seconds=f"{max(item.thought_s, 1):.0f}")
        return (
            f'<details class="thought" data-fold="thought"><summary>{icon("chevron-right")}'
            f"<span>{self._text(title)}</span></summary>"
            f'<div class="reasoning">{html.escape(item.reasoning)}</div></details>'
        )

    def _streaming(self, item: AnswerText, head: str) -> str:
        thinking = self._text(msg("Thinking…"))
        hidden = "" if item.reasoning else " hidden"
        return (
            f'<div class="line"><details class="thought live" open{hidden}><summary>{icon("chevron-right")}'
            f"<span>{thinking}</span></summary>"
            f'<div class="reasoning">{html.escape(item.reasoning)}</div></details>{head}</div>'
            f'<div class="prose answer"><div class="done"></div><div class="tail"></div></div>'
        )

    # --- what was done -------------------------------------------------------------------------------

    def _goals(self, item: GoalsCard) -> str:
        rows = "".join(
            f'<tr><td>{html.escape(goal.metric)}<div class="expr">{html.escape(goal.expression)}</div></td>'
            f'<td class="num">{html.escape(limit_text(goal))}</td>'
            f'<td class="from">{"" if goal.stated else self._text(msg("my proposal"))}</td></tr>'
            for goal in item.goals
        )
        notes = "".join(f"<li>{self._text(text)}</li>" for text in item.assumptions)
        title = self._text(msg("Goals"))
        count = self._text(msg("{count} read from your sentence", count=len(item.goals)))
        return (
            f'<div class="card"><div class="head">{icon("target")}<b>{title}</b>'
            f'<span class="dim">{count}</span></div>'
            f'<div class="body"><table class="goals">{rows}</table>'
            f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</div></div>"
        )

    def _operation(self, item: OperationCard) -> str:
        if item.tool in READING_TOOLS:
            return self._reading(item)
        diff = item.diff
        counts = (
            f'<span class="plus">+{diff.added}</span><span class="minus">−{diff.removed}</span>'
            if diff
            else ""
        )
        undone = item.standing == "undone"
        badge = f'<span class="badge">{self._text(msg("undone"))}</span>' if undone else ""
        verb = self._text(words.verb_of(item))
        is_foldable = diff is not None and bool(diff.hunks)
        fold = icon("chevron-right") if is_foldable else ""
        lines = self._text(words.lines_of(diff)) if diff is not None and diff.hunks else ""
        tools = f"{self._undo_tool(item)}{self._view_tool(item)}{self._state(item.state)}"
        head = (
            f"{fold}{icon(words.icon_of(item))}<b>{verb}</b>{self._object(item)}{counts}{badge}"
            f'<span class="spacer"></span><span class="dim where"><span>{lines}</span></span>'
            f'<span class="group">{tools}</span>'
        )
        problem = f'<div class="problem">{self._text(item.problem)}</div>' if item.problem else ""
        failed = item.state in ("failed", "not_run") and item.summary is not None
        told = f'<div class="body">{self._text(item.summary)}</div>' if failed and item.summary else ""
        style = " undone" if undone else ""
        if not is_foldable or diff is None:
            return f'<div class="card op{style}"><div class="head">{head}</div>{told}{problem}</div>'
        opened = " open" if not undone and diff.added + diff.removed <= _SHOWN_ROWS else ""
        return (
            f'<details class="card op{style}" data-fold="diff"{opened}><summary class="head">{head}</summary>'
            f"{self._diff(diff.hunks, item.path)}</details>{problem}"
        )

    def _reading(self, item: OperationCard) -> str:
        told = self._text(item.summary) if item.summary else ""
        if told and not (item.path and item.state == "done"):
            said = f"<span>{told}</span>"
        else:
            said = f"<span>{self._text(words.verb_of(item))}</span>{self._object(item)}"
        return (
            f'<div class="read" title="{told}">{icon(words.icon_of(item))}{said}'
            f'<span class="spacer"></span>{self._seconds(item.duration_s)}{self._state(item.state)}</div>'
        )

    def _simulation(self, item: SimulationCard) -> str:
        rows = "".join(_goal_row(row_of(verdict)) for verdict in item.verdicts)
        number = item.round_number
        round_text = (
            f'<span class="dim">{self._text(msg("round {number}", number=number))}</span>' if number else ""
        )
        failed = item.state == "failed"
        verb = {
            "running": msg("Simulating"),
            "failed": msg("Simulation failed"),
            "not_run": msg("Not simulated"),
        }.get(item.state, msg("Simulated"))
        plot = self._tool("plot", "chart-line", msg("Show the waveforms")) if item.state == "done" else ""
        told = (
            f'<div class="body">{self._text(item.summary)}</div>'
            if item.summary and (failed or not rows)
            else ""
        )
        goals = f'<div class="rows">{rows}</div>' if rows else ""
        first = icon("activity") if item.state != "running" else self._state("running")
        return (
            f'<div class="card sim {item.state}"><div class="head">{first}<b>{self._text(verb)}</b>'
            f'{self._file(item.path)}{round_text}<span class="spacer"></span>{self._seconds(item.duration_s)}'
            f"{plot}{self._state(item.state) if item.state != 'running' else ''}</div>{goals}{told}</div>"
        )

    def _diff(self, hunks: Iterable[Hunk], path: str) -> str:
        rows = [row for hunk in hunks for row in _diff_rows(hunk, path)]
        shown, rest = rows[:_SHOWN_ROWS], rows[_SHOWN_ROWS:]
        more = ""
        if rest:
            label = self._text(msg("{count} more", count=len(rest)))
            more = f'<div class="rest" hidden>{"".join(rest)}</div>'
            more += f'<button class="more" data-more>{label}</button>'
        return f'<div class="diff">{"".join(shown)}{more}</div>'

    # --- what is asked -------------------------------------------------------------------------------

    def _decision(self, item: Decision) -> str:
        title, state = words.decision_texts(item)
        buttons = "".join(self._choice(item, choice, is_first=not n) for n, choice in enumerate(item.choices))
        mark = "ok" if item.goals_met else "warn"
        name = icon("flag") if item.kind == "checkpoint" else icon("history")
        return (
            f'<div class="decision {item.state} {mark}"><div class="line">{name}<b>{self._text(title)}</b>'
            f'<span class="dim">{self._text(state)}</span></div><div class="buttons">{buttons}</div></div>'
        )

    def _choice(self, item: Decision, choice: str, *, is_first: bool) -> str:
        label = self._text(words.choice_text(item, choice))
        chosen = item.state == "chosen" and item.answer == choice
        kind = words.choice_kind(item, choice, is_first=is_first) if item.state == "open" else ""
        disabled = "" if item.state == "open" else " disabled"
        mark = icon("check") if chosen else ""
        picked = " chosen" if chosen else ""
        look = f'class="{kind}{picked}"{disabled}'
        return f'<button {look} data-act="answer" data-arg="{choice}">{mark}{label}</button>'

    def _error(self, item: ErrorBlock) -> str:
        advice = f'<div class="body">{self._text(item.advice)}</div>' if item.advice else ""
        ways = ""
        if item.can_retry and not item.is_spent:
            rows = [("retry", msg("Try again")), ("model", msg("Choose another model"))]
            ways = "".join(
                f'<button class="way" data-act="{act}">{self._text(text)}</button>' for act, text in rows
            )
        return (
            f'<div class="card error"><div class="head">{icon("circle-alert")}'
            f"<b>{self._text(item.message)}</b></div>"
            f"{advice}{ways}</div>"
        )

    def _interrupted(self, item: Interrupted) -> str:
        title, detail = words.interruption_texts(item)
        time = clock_time(item.created)
        detail_text = ", ".join(part for part in (time, self._translate(detail) if detail else "") if part)
        lines = [self._text(item.note)] if item.note else []
        if item.not_run:
            lines.append(self._text(msg("Not run: {tools}.", tools=", ".join(item.not_run))))
        told = "".join(f'<div class="small">{line}</div>' for line in lines)
        go_on = self._text(msg("Continue"))
        button = (
            f'<button class="primary" data-act="go_on">{icon("play")}{go_on}</button>'
            if item.can_continue
            else ""
        )
        return (
            f'<div class="stopped"><div class="line">{icon("circle-stop")}<b>{self._text(title)}</b>'
            f'<span class="dim">{html.escape(detail_text)}</span></div>{told}'
            f"{f'<div class=buttons>{button}</div>' if button else ''}</div>"
        )

    # --- pieces --------------------------------------------------------------------------------------

    def _text(self, message: Message) -> str:
        return html.escape(self._translate(message))

    def _object(self, item: OperationCard) -> str:
        if item.path:
            return self._file(item.path, item.diff.hunks[0].new_line if item.diff and item.diff.hunks else 0)
        return f"<code>{html.escape(item.detail)}</code>" if item.detail else ""

    def _file(self, path: str, line: int = 0) -> str:
        if not path:
            return ""
        shown = html.escape(path)
        return (
            f'<a class="file" role="link" tabindex="0" data-act="open" data-arg="{shown}:{line}">{shown}</a>'
        )

    def _tool(self, act: str, name: str, text: Message) -> str:
        label = self._text(text)
        named = f'title="{label}" aria-label="{label}"'
        return f'<button class="icon" data-act="{act}" {named}>{icon(name)}</button>'

    def _undo_tool(self, item: OperationCard) -> str:
        match item.standing:
            case "stands":
                return self._tool("undo", "undo-2", msg("Undo this change"))
            case "undone":
                redo = self._text(msg("Redo"))
                return f'<button class="quiet" data-act="undo">{icon("redo-2")}{redo}</button>'
            case "undoing":
                return f'<span class="spin" role="status">{icon("loader-circle")}</span>'
            case _:
                return ""

    def _view_tool(self, item: OperationCard) -> str:
        return self._tool("open", "eye", msg("Show in the editor")) if item.diff and item.path else ""

    def _state(self, state: str) -> str:
        match state:
            case "running":
                label = self._text(msg("running"))
                return f'<span class="spin" role="status" aria-label="{label}">{icon("loader-circle")}</span>'
            case "done":
                return f'<span class="good" title="{self._text(msg("done"))}">{icon("check")}</span>'
            case "not_run":
                return f'<span class="dim">{self._text(msg("not run"))}</span>'
            case _:
                return f'<span class="bad" title="{self._text(msg("failed"))}">{icon("x")}</span>'

    def _seconds(self, duration_s: float | None) -> str:
        return "" if duration_s is None else f'<span class="dim num">{duration_s:.2f} s</span>'


def clock_time(created: str) -> str:
    """``14:02`` in local time of an ISO time; "" when it can't be read. The day too when it is another."""
    try:
        time = datetime.fromisoformat(created).astimezone()
    except ValueError:
        return ""
    today = datetime.now(UTC).astimezone().date()
    return time.strftime("%H:%M" if time.date() == today else "%Y-%m-%d %H:%M")


def _goal_row(row: GoalRow) -> str:
    mark = "good" if row.met else "bad"
    side = "right" if row.fill >= 0 else "left"
    name, value, limit = (html.escape(text) for text in (row.name, row.value, row.limit))
    return (
        f'<div class="goal {mark}"><span class="name" title="{name}">{name}</span>'
        f'<span class="value">{value}</span><span class="limit">{limit}</span>'
        f'<span class="bar"><i class="{side}" data-fill="{abs(row.fill):.3f}"></i></span>'
        f'<span class="margin">{html.escape(row.margin_text)}</span></div>'
    )


def _diff_rows(hunk: Hunk, path: str) -> list[str]:
    pairs = list(zip(hunk.removed, hunk.added, strict=False)) if len(hunk.removed) == len(hunk.added) else []
    removed = [
        _diff_row(
            "del", "−", hunk.old_line + n, _marked(line, pairs[n][1]) if pairs else html.escape(line), path
        )
        for n, line in enumerate(hunk.removed)
    ]
    added = [
        _diff_row(
            "add", "+", hunk.new_line + n, _marked(line, pairs[n][0]) if pairs else html.escape(line), path
        )
        for n, line in enumerate(hunk.added)
    ]
    return removed + added


def _diff_row(kind: str, sign: str, number: int, text: str, path: str) -> str:
    open_at = f' data-act="open" data-arg="{html.escape(path)}:{number}"' if kind == "add" else ""
    cells = f'<span class="ln"{open_at}>{number}</span><span>{sign}</span><span>{text}</span>'
    return f'<div class="row {kind}">{cells}</div>'


def _marked(line: str, other: str) -> str:
    """The line with the words that the other one does not have marked."""
    known = set(other.split())
    return "".join(
        html.escape(word) if not word.strip() or word in known else f"<mark>{html.escape(word)}</mark>"
        for word in words.split_words(line)
    )
