"""Items as HTML for the web page. Everything that is not ours is escaped or cleaned."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import assert_never

from application.simulation.failure_place import place_of
from domain.llm.tools.line_diff import Hunk
from domain.simulation.goals import GoalVerdict
from presentation.goal_margins import limit_text, row_of
from presentation.goal_words import name_of
from presentation.narration import Narrator
from presentation.panels.conversation import netlist_card, words
from presentation.panels.conversation.attached import attached_html
from presentation.panels.conversation.confirming import card_html
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
from presentation.panels.conversation.sources import sources_html
from presentation.ui.icons import drawings
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

    def __call__(self, item: Item) -> str:  # noqa: PLR0911, PLR0912 - one an item
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
            case Confirmation():
                return card_html(item, self._translate, icon)
            case NetlistCard():
                return netlist_card.card_html(item, self._translate, icon)
            case ErrorBlock():
                return self._error(item)
            case Interrupted():
                return self._interrupted(item)
            case Retry():
                return self._retry(item)
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
        attached = attached_html(item, self._translate, icon)
        return (
            f'<div class="user">{attached}{html.escape(item.text)}<div class="tools">{time}{copy}</div></div>'
        )

    def _answer(self, item: AnswerText) -> str:
        head = f'<span class="meta">{html.escape(words.meta_of(item))}</span>'
        if item.is_streaming:
            return self._streaming(item, head)
        thought = self._thought(item)
        text = f'<div class="prose answer">{to_html(item.text)}</div>' if item.text else ""
        copy = self._tool("copy", "copy", msg("Copy")) if item.text else ""
        tools = f'<div class="tools">{copy}</div>' if copy else ""
        sources = sources_html(item.sources, self._translate, icon)
        return f'<div class="line">{thought}{head}</div>{text}{sources}{tools}'

    def _thought(self, item: AnswerText) -> str:
        if not item.reasoning:
            return "<span></span>"
        title = words.thought_title(item)
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
            f'<tr><td title="{html.escape(goal.metric)}">{self._text(name_of(goal))}'
            f'<div class="expr">{html.escape(goal.expression)}</div></td>'
            f'<td class="num">{html.escape(limit_text(goal))}</td>'
            f'<td class="from">{"" if goal.stated else self._text(msg("my proposal"))}</td></tr>'
            for goal in item.goals
        )
        notes = "".join(f"<li>{self._text(text)}</li>" for text in item.assumptions)
        title = self._text(msg("Goals"))
        stated = sum(goal.stated for goal in item.goals)
        count = self._text(
            msg("{stated} of {count} read from your sentence", stated=stated, count=len(item.goals))
        )
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
        has_place = is_foldable and not words.is_gone(item)
        lines = self._text(words.lines_of(diff)) if diff is not None and has_place else ""
        tools = f"{self._undo_tool(item)}{self._view_tool(item)}{self._state(item.state)}"
        head = (
            f"{fold}{icon(words.icon_of(item))}<b>{verb}</b>{self._object(item)}{counts}{badge}"
            f'<span class="spacer"></span><span class="dim where"><span>{lines}</span></span>'
            f'<span class="group">{tools}</span>'
        )
        problem = f'<div class="problem">{self._text(item.problem)}</div>' if item.problem else ""
        problem += self._conflicts(item)
        failed = item.state in ("failed", "stopped", "not_run") and item.summary is not None
        told = f'<div class="body">{self._text(item.summary)}</div>' if failed and item.summary else ""
        style = " undone" if undone else ""
        if not is_foldable or diff is None:
            return f'<div class="card op{style}"><div class="head">{head}</div>{told}{problem}</div>'
        opened = " open" if not undone and diff.added + diff.removed <= _SHOWN_ROWS else ""
        return (
            f'<details class="card op{style}" data-fold="diff"{opened}><summary class="head">{head}</summary>'
            f"{self._diff(diff.hunks, item.path)}</details>{problem}"
        )

    def _conflicts(self, item: OperationCard) -> str:
        """What was changed since in files an undo would change, and the ways on."""
        if not item.ways:
            return ""
        ways = "".join(
            f'<button data-act="undo" data-arg="{way}">{text}</button>'
            for way, text in ((way, self._text(words.UNDO_WAYS[way])) for way in item.ways)
        )
        since = self._text(msg("What was changed in it since:"))
        shown = "".join(
            f'<div class="dim">{html.escape(each.path)}: {since}</div>'
            f"{self._diff(each.since.hunks, each.path)}"
            for each in item.conflicts
        )
        return f'<div class="body">{shown}<div class="buttons foot">{ways}</div></div>'

    def _reading(self, item: OperationCard) -> str:
        told = self._text(item.summary) if item.summary else ""
        if told and not (item.path and item.state == "done"):
            said = f'<span class="told">{told}</span>'
        else:
            said = f"<span>{self._text(words.verb_of(item))}</span>{self._object(item)}"
        return (
            f'<div class="read" title="{told}">{icon(words.icon_of(item))}{said}'
            f'<span class="spacer"></span>{self._seconds(item.duration_s)}{self._state(item.state)}</div>'
        )

    def _simulation(self, item: SimulationCard) -> str:
        rows = "".join(map(self._goal_row, item.verdicts))
        number = item.round_number
        round_text = (
            f'<span class="dim">{self._text(msg("round {number}", number=number))}</span>' if number else ""
        )
        failed = item.state == "failed"
        verb = words.simulation_verb(item.state)
        has_curves = item.state == "done" and item.path  # a round told again is no run of its own
        plot = self._tool("plot", "chart-line", msg("Show the waveforms")) if has_curves else ""
        told = (
            f'<div class="body">{self._text(item.summary)}</div>'
            if item.summary and item.state != "stopped" and (failed or not rows)
            else ""
        )
        goals = f'<div class="rows">{rows}</div>' if rows else ""
        tools = "".join(
            f'<div class="buttons foot"><button data-act="{act}">{self._text(text)}</button></div>'
            for act, text in words.simulation_ways(item)
        )
        first = icon("activity") if item.state != "running" else self._state("running")
        last = self._state(item.state) if item.state != "running" else ""
        path, _, line = place_of(item.summary).rpartition(":") if failed else ("", "", "")
        file = self._file(path, int(line)) if path and line.isdecimal() else self._file(item.path)
        head = (
            f'{first}<b>{self._text(verb)}</b>{file}{round_text}<span class="spacer"></span>'
            f"{self._seconds(item.duration_s)}{plot}{last}"
        )
        return f'<div class="card sim {item.state}"><div class="head">{head}</div>{goals}{told}{tools}</div>'

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
        hint = words.choice_hint(item, choice)
        tip = f' title="{self._text(hint)}"' if hint is not None else ""
        picked = " chosen" if chosen else ""
        look = f'class="{kind}{picked}"{disabled}{tip}'
        return f'<button {look} data-act="answer" data-arg="{choice}">{mark}{label}</button>'

    def _error(self, item: ErrorBlock) -> str:
        advice = f'<div class="body">{self._text(item.advice)}</div>' if item.advice else ""
        ways = "".join(
            f'<button class="way" data-act="{way.act}" data-arg="{way.argument}">'
            f"<span>{self._text(way.text)}</span>"
            f'<span class="dim">{self._text(way.remark) if way.remark else ""}</span></button>'
            for way in words.error_ways(item)
        )
        give_up = (
            f'<button class="quiet" data-act="give_up">{self._text(msg("Give up"))}</button>' if ways else ""
        )
        details = (
            f'<details class="more-of-it" data-fold="details"><summary>{icon("chevron-right")}'
            f"<span>{self._text(msg('Details'))}</span></summary>"
            f"<pre>{html.escape(words.error_details(item))}</pre></details>"
        )
        spent = " spent" if item.is_spent else ""
        time = f'<span class="dim">{html.escape(clock_time(item.created))}</span>' if item.created else ""
        return (
            f'<div class="card error{spent}"><div class="head">{icon("circle-alert")}'
            f'<b>{self._text(item.message)}</b><span class="spacer"></span>{time}</div>'
            f'{advice}{ways}<div class="last">{details}<span class="spacer"></span>{give_up}</div></div>'
        )

    def _retry(self, item: Retry) -> str:
        reason, kept = words.retry_texts(item)
        time = f'<span class="dim">{html.escape(clock_time(item.created))}</span>' if item.created else ""
        told = f'<div class="small">{self._text(kept)}</div>' if kept else ""
        again = self._text(msg("Trying again in {seconds} s", seconds="{seconds}"))
        attempt = self._text(msg("attempt {number}", number=item.attempt + 1))
        stop = self._text(msg("Stop trying"))
        return (
            f'<div class="retry"><div class="line">{icon("circle-alert")}<b>{self._text(reason)}</b>{time}'
            f'</div>{told}<div class="line again"><span class="spin">{icon("loader-circle")}</span>'
            f'<span class="running" data-countdown="{item.left_s:.1f}" data-text="{again}"></span>'
            f'<span class="dim">{attempt}</span><span class="spacer"></span>'
            f'<button class="quiet" data-act="stop">{stop}</button></div></div>'
        )

    def _interrupted(self, item: Interrupted) -> str:
        title, detail = words.interruption_texts(item)
        time = clock_time(item.created)
        detail_text = ", ".join(part for part in (time, self._translate(detail) if detail else "") if part)
        lines = [self._text(item.note)] if item.note else []
        if item.not_run:
            lines.append(self._text(msg("Not run: {tools}.", tools=", ".join(item.not_run))))
        told = "".join(f'<div class="small">{line}</div>' for line in lines)
        buttons = ""
        if item.can_continue:
            go_on, anew = self._text(msg("Continue")), self._text(msg("Regenerate"))
            tip = self._text(msg("Asks the same again; the files stay as they are"))
            if item.reason != "unanswered":  # there is nothing to go on from
                buttons = f'<button class="primary" data-act="go_on">{icon("play")}{go_on}</button>'
            if item.can_regenerate:
                buttons += f'<button data-act="regenerate" title="{tip}">{icon("refresh-cw")}{anew}</button>'
        return (
            f'<div class="stopped"><div class="line">{icon("circle-stop")}<b>{self._text(title)}</b>'
            f'<span class="dim">{html.escape(detail_text)}</span></div>{told}'
            f"{f'<div class=buttons>{buttons}</div>' if buttons else ''}</div>"
        )

    # --- pieces --------------------------------------------------------------------------------------

    def _text(self, message: Message) -> str:
        return html.escape(self._translate(message))

    def _object(self, item: OperationCard) -> str:
        if item.path:
            is_there = item.diff is not None and bool(item.diff.hunks) and not words.is_gone(item)
            return self._file(item.path, item.diff.hunks[0].new_line if item.diff and is_there else 0)
        return f"<code>{html.escape(item.detail)}</code>" if item.detail else ""

    def _file(self, path: str, line: int = 0) -> str:
        if not path:
            return ""
        shown = html.escape(path)
        words = f"{shown}:{line}" if line else shown
        return (
            f'<a class="file" role="link" tabindex="0" data-act="open" data-arg="{shown}:{line}">{words}</a>'
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
        has_file = words.is_gone(item) == (item.standing == "undone")
        is_there = item.diff is not None and item.path and has_file
        return self._tool("open", "eye", msg("Show in the editor")) if is_there else ""

    def _state(self, state: str) -> str:
        match state:
            case "running":
                label = self._text(msg("running"))
                return f'<span class="spin" role="status" aria-label="{label}">{icon("loader-circle")}</span>'
            case "done":
                return f'<span class="good" title="{self._text(msg("done"))}">{icon("check")}</span>'
            case "not_run":
                return f'<span class="dim">{self._text(msg("not run"))}</span>'
            case "stopped":
                return f'<span class="dim" title="{self._text(msg("stopped"))}">{icon("circle-stop")}</span>'
            case _:
                return f'<span class="bad" title="{self._text(msg("failed"))}">{icon("x")}</span>'

    def _seconds(self, duration_s: float | None) -> str:
        return "" if duration_s is None else f'<span class="dim num">{duration_s:.2f} s</span>'

    def _goal_row(self, verdict: GoalVerdict) -> str:
        row, goal = row_of(verdict), verdict.goal
        mark = "good" if row.met else "bad"
        side = "right" if row.fill >= 0 else "left"
        name, tip = self._text(name_of(goal)), html.escape(f"{goal.metric} = {goal.expression}")
        return (
            f'<div class="goal {mark}"><span class="name" title="{name}&#10;{tip}">{name}</span>'
            f'<span class="value">{html.escape(row.value)}</span>'
            f'<span class="limit">{html.escape(row.limit)}</span>'
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
