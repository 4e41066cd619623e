"""What stands in the row of each kind of item, once for all views.

A new kind of row is a class in `items.py` and a function here, registered by its type; what it is made of is
in `blocks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import singledispatch
from pathlib import Path

from application.conversation.goals_shown import GoalsNow
from application.conversation.session_texts import compressed_words
from application.simulation.failure_place import place_of
from domain.llm.tools.text_files import Hunk, LineDiff
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.goal_margins import limit_text, shown
from presentation.goal_margins import row_of as figures_of
from presentation.goal_words import name_of, name_of_judged
from presentation.narration import Narrator
from presentation.panels.conversation import blocks as b
from presentation.panels.conversation import words
from presentation.panels.conversation.attached import attachments_of
from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.items import (
    AnswerText,
    CompressedRow,
    Confirmation,
    Decision,
    Designable,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Narration,
    Note,
    OperationCard,
    Retry,
    RowEdit,
    SimulationCard,
    Steps,
    Understood,
    UserText,
    WorkedElsewhere,
)
from presentation.panels.conversation.question_rows import confirmation_row, decision_row, understood_row
from presentation.panels.conversation.sources import sources_of
from presentation.panels.conversation.study_charts import StudyPicture
from shared.local_time import clock_time
from shared.message import msg

_SHOWN_ROWS = 20
"""Of a difference that is open at first."""
_SINCE_CHARACTERS = 2000
_BRANCH = b.Button(act="branch", label=msg("Branch from here"), kind="icon", icon="git-branch")
_BRANCH_ASIDE = replace(_BRANCH, label=msg("Branch"), kind="aside", icon="")


@singledispatch
def row_of(item: object) -> b.Row:
    """The row of an item. Raises TypeError for one of a kind nobody has written down."""
    raise TypeError(f"no row for {type(item).__name__}")


# --- what was said --------------------------------------------------------------------------------------


@row_of.register
def _user(item: UserText) -> b.Row:
    if item.edit is not None:
        return b.Row((b.Frame("user editing", (attachments_of(item), *_in_its_row(item.edit))),), "user")
    time = (b.Text(clock_time(item.created), "time"),) if item.created else ()
    copy = b.Button(act="copy", label=msg("Copy"), kind="icon", icon="copy")
    label = msg("Edit and send again")
    edit = (b.Button(act="edit", label=label, kind="icon", icon="pencil"),) if item.can_edit else ()
    branch = (_BRANCH,) if item.can_edit else ()
    tools = b.Only("page", (b.Frame("tools", (*time, *edit, *branch, copy)),))
    quiet = b.Button(act="edit", label=msg("Edit"), kind="aside", tip=label), _BRANCH_ASIDE
    text = b.Para("", (b.Text(item.text), b.Only("plain", (b.Text("   "), *quiet) if item.can_edit else ())))
    which = (b.Line("versions", _versions(item)),) if item.versions else ()
    return b.Row((b.Frame("user", (attachments_of(item), text, *which, tools)),), "user")


def _in_its_row(edit: RowEdit) -> b.Blocks:
    """The text that takes the place of a message, and what becomes of what stands behind it."""
    told = msg("Replaces it and what follows; files stay")
    if edit.begins_another:
        told = msg("Begins a new conversation; the design is kept")
    field = b.Field(act="resend", leave="leave_edit", text=edit.text, label=msg("Edit and send again"))
    send = b.Button(act="resend", argument=edit.text, label=msg("Send"), kind="primary")
    cancel = b.Button(act="leave_edit", label=msg("Cancel"), kind="quiet")
    return (field, b.Line("foot", (b.Text(told, "dim"),), (cancel, send)))


def _versions(item: UserText) -> b.Parts:
    """Which of how many versions it is, with the ways to the others."""
    number, count = item.versions.index(item.key) + 1, len(item.versions)
    before = b.Button(
        act="version", argument="-1", label=msg("Previous version"), kind="icon", icon="chevron-left"
    )
    behind = b.Button(
        act="version", argument="1", label=msg("Next version"), kind="icon", icon="chevron-right"
    )
    time = (b.Text(msg("sent {time}", time=clock_time(item.created)), "dim"),) if item.created else ()
    return (
        replace(before, is_enabled=number > 1),
        b.Text(f"{number} / {count}", "count"),
        replace(behind, is_enabled=number < count),
        *time,
    )


@row_of.register
def _answer(item: AnswerText) -> b.Row:
    meta = b.Text(words.meta_of(item), "meta", tip=words.use_tip(item.use))
    thoughts = b.Para("reasoning", (b.Text(item.reasoning),))
    if item.is_streaming:
        head = b.Line("", (b.Text(msg("Thinking…"), "label"),))
        fold = b.Fold(
            part="",
            head=head,
            body=(thoughts,),
            kind="thought live",
            is_open=True,
            is_hidden=not item.reasoning,
        )
        coming = b.Frame("prose answer", (b.Frame("done", ()), b.Frame("tail", ())))
        streaming = b.Only("page", (b.Line("line", (fold,), (meta,), has_spacer=False), coming))
        return b.Row((streaming, b.Only("plain", (b.Para("raw", (b.Text(item.reasoning),)),))))
    thought: b.Parts = (b.Text("", "title"),)
    if item.reasoning:
        title = b.Line("", (b.Text(words.thought_title(item), "label"),))
        thought = (b.Fold(part="thought", head=title, body=(thoughts,), kind="thought"),)
    copy = b.Button(act="copy", label=msg("Copy"), kind="icon", icon="copy")
    again = b.Button(act="again", label=msg("Regenerate the answer"), kind="icon", icon="refresh-cw")
    first = (again,) if item.can_regenerate else ()
    aside = tuple(replace(each, kind="aside", icon="") for each in (*first, copy))
    quiet = (b.Only("plain", (*aside[:-1], _BRANCH_ASIDE, aside[-1])),) if item.text else ()
    page = b.Only("page", (b.Frame("tools", (*first, _BRANCH, copy)),))
    tools: b.Blocks = (page,) if item.text else ()
    took = words.foot_of(item.use)
    if took:  # beside the figures there is room
        figures = b.Text(took, "dim num", tip=words.use_tip(item.use))
        tools, quiet = (b.Line("use", (figures,), (*quiet, *tools)),), ()
    line = b.Line("line", thought, (meta, *quiet), has_spacer=False)
    told, ways = words.refusal_of(item)
    return b.Row((line, b.Prose(told), *ways, *sources_of(item.sources), *tools))


@row_of.register
def _narration(item: Narration) -> b.Row:
    return b.Row((b.Para("prose", (b.Text(item.text, has_names=True),)),))


@row_of.register
def _end(item: DesignEnd) -> b.Row:
    done = replace(item.done, project=Path())
    told = b.Text(lambda translate: Narrator(translate)(done))
    return b.Row((b.Para("prose end ok" if item.done.goals_met else "prose end", (told,)),))


@row_of.register
def _note(item: Note) -> b.Row:
    icon = b.Icon("circle-help", "warn.icon") if item.is_doubt else b.Icon("info")
    kind = "note doubt" if item.is_doubt else "note"
    label = msg("Design it") if item.is_new else msg("Change the design")
    change = b.Button(act="change_design", label=label, kind="primary")
    ways = (b.Buttons((change,)),) if item.change else ()
    return b.Row((b.Para(kind, (icon, b.Text(item.text, "label", has_names=True))), *ways))


@row_of.register
def _designable(item: Designable) -> b.Row:
    ways = (b.Button(act="ask", label=each, argument=each, kind="way") for each in item.sentences)
    head = b.Line("", (b.Text(words.WHAT_CAN_BE_DESIGNED, "title"),))
    fold = b.Fold(part="sentences", head=head, body=tuple(ways), is_open=True)
    return b.Row((b.Frame("card", (fold,)),), "card")


@row_of.register
def _compressed(item: CompressedRow) -> b.Row:
    """One line where it happened; what is sent in place of the messages is behind it."""
    done = item.done
    left: list[b.Node] = [b.Icon("layers"), b.Text(compressed_words(done), "label")]
    if not item.is_in_force:
        left.append(b.Text(msg("undone"), "badge"))
    by = msg("by {model}", model=done.by) if done.by else msg("by rules")
    right: list[b.Node] = []
    if item.is_in_force and item.can_restore:
        tip = msg("Send the older messages again, as far as they fit")
        right.append(b.Button(act="restore", label=msg("Restore"), kind="aside", tip=tip))
    fold = b.Fold(
        part="summary",
        head=b.Line("head", tuple(left), tuple(right)),
        body=(b.Para("small", (b.Text(by, "dim"),)), b.Pre(done.text)),
        kind="compressed",
    )
    return b.Row((fold,))


# --- what was done --------------------------------------------------------------------------------------


@row_of.register
def _goals(item: GoalsCard) -> b.Row:
    stated = sum(goal.stated for goal in item.goals)
    count = (
        msg("{stated} of {count} read from your sentence", stated=stated, count=len(item.goals))
        if stated < len(item.goals)
        else msg("all read from your sentence")
    )
    rows = tuple(
        (
            "",
            (
                b.Cell(
                    parts=(b.Text(b.Held(name_of(goal))), b.Break(), b.Text(goal.expression, "expr")),
                    tip=goal.metric,
                ),
                b.Cell(parts=(b.Text(shown(limit_text(goal))),), kind="num"),
                b.Cell(parts=() if goal.stated else (b.Text(msg("my proposal")),), kind="from"),
            ),
        )
        for goal in item.goals
    )
    head = b.Line("head", (b.Icon("target"), b.Text(msg("Goals"), "bold"), b.Text(count, "dim")))
    body = b.Frame("body", (b.Table("goals", rows), b.Bullets(item.assumptions, "text.secondary")))
    return b.Row((b.Frame("card", (head, body)),), "card")


@row_of.register
def _goals_now(item: GoalsNow) -> b.Row:
    met = sum(verdict.met for verdict in item.verdicts)
    told = msg("{met} of {count} {count:goal|goals} met", met=met, count=len(item.verdicts))
    count: b.Parts = (b.Text(told, "dim"),)
    left: b.Parts = (b.Icon("target"), b.Text(msg("Goals"), "bold"), b.Place(path=item.path, line=0))
    run = (b.Text(msg("Run {number}", number=item.run), "dim"),) if item.run else ()
    head = b.Line("head", (*left, *(count if item.verdicts and item.run else ())), run)
    table = b.Table("rows", tuple(map(_verdict, item.verdicts)))
    notes = tuple(b.Para("body dim", (b.Text(note),)) for note in words.notes_of_goals(item))
    buttons = tuple(b.Button(act=act, label=label) for act, label in words.ways_of_goals(item))
    changes = tuple(
        b.Para("body line change", _changed_goal(old, new)) for old, new in words.changed_goals(item)
    )
    blocks: b.Blocks = (head, table, *changes, *notes, b.Buttons(buttons, "buttons foot"))
    return b.Row((b.Frame("card", blocks),), "card")


def _changed_goal(old: DesignGoal | None, new: DesignGoal | None) -> b.Parts:
    goal = new or old
    assert goal is not None, "one of the two is there"
    was = (b.Text(shown(limit_text(old)), "was"), b.Text("→", "dim")) if old is not None else ()
    now = shown(limit_text(new)) if new is not None else msg("not asked any more")
    return (b.Text(name_of(goal)), *was, b.Text(now, "bold"))


@row_of.register
def _operation(item: OperationCard) -> b.Row:
    if item.look.card == "read":
        return b.Row((_reading(item),))
    diff, is_undone = item.diff, item.standing == "undone"
    hunks = () if diff is None else diff.hunks
    look = "card op undone" if is_undone else "card op"
    below: list[b.Frame | b.Para] = [*_running(item)]
    is_told = item.look.card == "study" or item.state in ("failed", "stopped", "not_run")
    if is_told and item.summary is not None:
        below.append(b.Para("body", (b.Text(item.summary, has_names=True),)))
    if item.study is not None:
        below += _study(item.study)
    if item.problem is not None:
        below.append(b.Para("problem", (b.Text(item.problem, has_names=True),)))
    if item.ways:
        below.append(_conflicts(item))
    if diff is None or not hunks:
        return b.Row((b.Frame(look, (_head(item), *below)),), "card")
    fold = b.Fold(
        part="diff",
        head=_head(item),
        body=(_diff(diff, item.path), *_choose(item)) if item.pieces is None else _pieces(item),
        kind=look,
        is_open=item.pieces is not None or (not is_undone and diff.added + diff.removed <= _SHOWN_ROWS),
    )
    return b.Row((fold, *below), "card")


def _choose(item: OperationCard) -> tuple[b.Buttons, ...]:
    """The way to the single places of a change that has several."""
    if item.standing != "stands" or item.diff is None or len(item.diff.hunks) < 2:
        return ()
    button = b.Button(act="pieces", label=msg("Undo single changes…"), kind="quiet")
    return (b.Buttons((button,), "buttons foot"),)


_TOLD_OF_PIECE = {
    "stands": msg("stands"),
    "taken_back": msg("undone"),
    "touched": msg("The lines around it were edited since: it cannot be undone by itself."),
}


def _pieces(item: OperationCard) -> tuple[b.Frame, ...]:
    """Each place a change has, with what became of it."""
    found = []
    for number, piece in enumerate(item.pieces or ()):
        label = msg("Redo this one") if piece.standing == "taken_back" else msg("Undo this one")
        button = b.Button(act="turn_piece", argument=str(number), label=label, kind="aside")
        told = b.Text(_TOLD_OF_PIECE[piece.standing], "dim")
        line = b.Line("figures", (told,), () if piece.standing == "touched" else (button,))
        rows = b.Diff(tuple(_rows_of_hunk(piece.hunk, item.path)), _SHOWN_ROWS)
        found.append(b.Frame("piece", (rows, b.Frame("body", (line,)))))
    return tuple(found)


def _running(item: OperationCard | SimulationCard) -> tuple[b.Frame, ...]:
    """How far a call is: a bar, the count and the time left, the best run so far and those that failed."""
    now = item.progress
    if now is None:
        return ()
    failed = () if now.failed is None else (b.Text(now.failed, "warn"),)
    left = () if now.left is None else (b.Text(now.left, "dim"),)
    lines: list[b.Node] = [
        b.ProgressBar(share=now.share, label=now.done),
        b.Line("figures", (b.Text(now.done, "dim"),), left),
    ]
    if now.best is not None or failed:
        best = () if now.best is None else (b.Text(now.best, "dim"),)
        lines.append(b.Line("figures", best, failed))
    return (b.Frame("body progress", tuple(lines)),)


def _cancel(item: OperationCard | SimulationCard) -> tuple[b.Button, ...]:
    """The button that ends one call, while the turn goes on."""
    if not item.can_end or item.state != "running":
        return ()
    tip = msg("Ends this call; the model is notified and continues")
    return (b.Button(act="end_call", label=msg("Cancel"), kind="aside", tip=tip),)


@row_of.register
def _steps(item: Steps) -> b.Row:
    """One line that opens."""
    cards = tuple(each for each in item.items if not isinstance(each, AnswerText))
    head = b.Line("", (b.Icon("list"), b.Text(words.steps_text(cards), "label")))
    body = tuple(b.Inner(each.key, row_of(each)) for each in item.items)
    return b.Row((b.Fold(part="steps", head=head, body=body, kind="steps"),))


def _reading(item: OperationCard) -> b.Line:
    if item.summary is None or (item.path and item.state == "done"):
        said: b.Parts = (b.Text(words.verb_of(item), "title"), *_object(item))
    else:
        said = (b.Text(item.summary, "told", has_names=True),)
    right = (*_seconds(item.duration_s), *_cancel(item), *_state(item.state))
    return b.Line("read", (b.Icon(words.icon_of(item)), *said), right, tip=item.summary or "")


_ALREADY_SO = msg("{path} already has this content.", path="")
"""Of a call that wrote nothing."""


def _head(item: OperationCard) -> b.Line:
    """What was done to which file, how much of it changed, and the ways back."""
    diff, is_undone = item.diff, item.standing == "undone"
    left: list[b.Text] = []
    if diff is not None:
        left += [b.Text(f"+{diff.added}", "plus"), b.Text(f"−{diff.removed}", "minus")]
    if is_undone:
        left.append(b.Text(msg("undone"), "badge"))
    if item.summary is not None and item.summary.template == _ALREADY_SO.template:
        left.append(b.Text(msg("no change"), "badge"))
    is_gone = words.is_gone(item)
    where = words.lines_of(diff) if diff is not None and diff.hunks and not is_gone else ""
    tools: list[b.Button | b.Spinner] = []
    if item.standing == "stands":
        tools.append(b.Button(act="undo", label=msg("Undo this change"), kind="icon", icon="undo-2"))
    elif is_undone:
        tools.append(b.Button(act="undo", label=msg("Redo"), kind="redo", icon="redo-2"))
    elif item.standing == "undoing":
        tools.append(b.Spinner())
    if diff is not None and item.path and is_gone == is_undone:
        place = f"{item.path}:{diff.hunks[0].new_line if diff.hunks else 0}"
        tools.append(
            b.Button(act="open", argument=place, label=msg("Show in the editor"), kind="icon", icon="eye")
        )
    verb = b.Text(words.verb_of(item), "struck" if is_undone else "bold")
    group = b.Frame("group", (*tools, *_cancel(item), *_state(item.state)), is_in_line=True)
    return b.Line(
        "head",
        (b.Icon(words.icon_of(item), "info.icon"), verb, *_object(item), *left),
        (b.Only("page", (b.Text(where, "where"),)), group),
    )


def _object(item: OperationCard) -> b.Parts:
    if not item.path:
        return (b.Text(item.detail, "code"),) if item.detail else ()
    hunks = item.diff.hunks if item.diff is not None and not words.is_gone(item) else ()
    return (b.Place(path=item.path, line=hunks[0].new_line if hunks else 0, is_named_whole=False),)


def _conflicts(item: OperationCard) -> b.Frame:
    """What was changed since in files an undo would change, and the ways on."""
    since = msg("Changes to it since then:")
    shown: list[b.Para | b.Only] = []
    for each in item.conflicts:
        shown += [
            b.Para("dim", (b.Text((each.path, msg(": "), since)),)),
            b.Only("page", (_diff(each.since, each.path),)),
            b.Only("plain", (b.Pre(each.since.text[:_SINCE_CHARACTERS]),)),
        ]
    ways = tuple(b.Button(act="undo", label=words.UNDO_WAYS[way], argument=way) for way in item.ways)
    return b.Frame("body", (*shown, b.Buttons(ways, "buttons foot")))


def _diff(diff: LineDiff, path: str) -> b.Diff:
    return b.Diff(tuple(row for hunk in diff.hunks for row in _rows_of_hunk(hunk, path)), _SHOWN_ROWS)


def _rows_of_hunk(hunk: Hunk, path: str) -> Iterator[b.DiffRow]:
    is_paired = len(hunk.removed) == len(hunk.added)
    for n, line in enumerate(hunk.removed):
        other = hunk.added[n] if is_paired else None
        yield b.DiffRow(kind="del", text=line, number=hunk.old_line + n, other=other)
    for n, line in enumerate(hunk.added):
        number, other = hunk.new_line + n, hunk.removed[n] if is_paired else None
        yield b.DiffRow(kind="add", text=line, number=number, place=f"{path}:{number}", other=other)


@row_of.register
def _simulation(item: SimulationCard) -> b.Row:
    failed, is_running = item.state == "failed", item.state == "running"
    path, _, line = place_of(item.summary).rpartition(":") if failed else ("", "", "")
    if not (path and line.isdecimal()):
        path, line = item.path, "0"
    activity = b.Icon("activity", "error.icon" if failed else "info.icon")
    left: list[b.Node] = [activity]
    if is_running:
        left = [b.Only("page", _state("running")), b.Only("plain", (activity,))]
    left.append(b.Text(words.simulation_verb(item), "bold"))
    if path:
        left.append(b.Place(path=path, line=int(line)))
    if item.round_number:
        left.append(b.Text(msg("round {number}", number=item.round_number), "dim"))
    right: list[b.Node] = [*_seconds(item.duration_s)]
    if item.state == "done" and item.path and item.chart is None:  # a round told again is no run
        tip = msg("Show the waveforms")
        right.append(b.Button(act="plot", label=tip, kind="icon", icon="chart-line"))
    right += _cancel(item)
    right += (b.Only("plain", _state("running")),) if is_running else _state(item.state)
    told: b.Blocks = ()
    if item.summary and item.state != "stopped" and (failed or not item.verdicts):
        told = (b.Para("body", (b.Text(item.summary, has_names=True),)),)
    ways = (
        b.Buttons((b.Button(act=act, label=text),), "buttons foot")
        for act, text in words.simulation_ways(item)
    )
    table = b.Table("rows", tuple(map(_verdict, item.verdicts)))
    head = b.Line("head", tuple(left), tuple(right))
    picture = () if item.chart is None else _picture(item.chart)
    blocks = (head, *_running(item), table, *told, *picture, *ways)
    return b.Row((b.Frame(f"card sim {item.state}", blocks),), "card")


def _picture(chart: Chart) -> b.Blocks:
    """The first curves, their names, and the way to all of them."""
    way = b.Button(act="plot", label=msg("Open"), kind="aside", tip=msg("Show the waveforms"))
    names = _legend(chart, lambda name: b.Button(act="trace", argument=name, label=name, kind="name"))
    return (b.Frame("curves", (b.Line("legend", names, (way,)), b.Curves(chart))),)


def _legend(chart: Chart, named: Callable[[str], b.Node]) -> b.Parts:
    return tuple(
        part
        for line in chart.lines
        for part in (b.Text("━", f"trace-{line.color}", f"trace.{line.color}"), named(line.expression))
    )


def _study(found: StudyPicture) -> Iterator[b.Frame]:
    """Each metric in a line, its picture, and the way to the table of all runs."""
    rows = tuple(
        (
            "",
            (
                b.Cell(parts=(b.Text(each.name),)),
                b.Cell(parts=(b.Text(each.middle),), kind="num"),
                b.Cell(parts=(b.Text(each.span),), kind="num"),
            ),
        )
        for each in found.metrics
    )
    good = () if found.good is None else (b.Para("dim", (b.Text(found.good),)),)
    yield b.Frame("body", (b.Table("goals", rows), *good))
    tip = msg("Show the table of all runs")
    ways: b.Parts = (b.Button(act="table", label=msg("Open"), kind="aside", tip=tip),)
    for number, each in enumerate(found.metrics):
        if each.chart is not None:
            legend = b.Line("legend", _legend(each.chart, b.Text), ways)
            yield b.Frame("curves", (legend, b.Curves(each.chart, number)))
            ways = ()
    if ways:
        yield b.Frame("curves", (b.Line("legend", (), ways),))


def _verdict(verdict: GoalVerdict) -> tuple[str, tuple[b.Cell, ...]]:
    row, goal = figures_of(verdict), verdict.goal
    name = name_of_judged(verdict)
    return "good" if row.met else "bad", (
        b.Cell(
            parts=(b.Button(act="measure", argument=goal.metric, label=b.Held(name), kind="name"),),
            kind="name",
            tip=(name, f"\n{goal.metric} = {goal.expression}"),
        ),
        b.Cell(parts=(b.Text(shown(row.value)),), kind="value"),
        b.Cell(parts=(b.Text(shown(row.limit)),), kind="limit"),
        b.Cell(parts=(b.Bar(fill=row.fill, met=row.met),), kind="bar"),
        b.Cell(
            parts=(b.Text(shown(row.margin_text)),),
            kind="margin",
            tone="ok.text" if row.met else "error.text",
        ),
    )


# --- what is asked, and what went wrong ---------------------------------------------------------------------


row_of.register(Decision, decision_row)
row_of.register(Understood, understood_row)
row_of.register(Confirmation, confirmation_row)


@row_of.register
def _error(item: ErrorBlock) -> b.Row:
    color = "text.secondary" if item.is_spent else "text.primary"
    time = (b.Text(clock_time(item.created), "dim"),) if item.created else ()
    title = (b.Icon("circle-alert", "error.icon"), b.Text(item.message, "bold", color, has_names=True))
    text = None if words.lists_circuits(item) else item.advice
    advice = (b.Para("body", (b.Text(text, has_names=True),), "text.secondary"),) if text else ()
    ways = tuple(
        b.Button(act=way.act, label=way.text, argument=way.argument, kind="way", remark=way.remark or "")
        for way in words.error_ways(item)
    )
    details = b.Fold(
        part="details",
        head=b.Line("", (b.Text(msg("Details"), "label"),)),
        body=(b.Pre(words.error_details(item)),),
        kind="more-of-it",
    )
    give_up = (b.Button(act="give_up", label=msg("Give up"), kind="aside"),) if ways else ()
    blocks = (b.Line("head", title, time), *advice, *ways, b.Line("last", (details,), give_up))
    return b.Row((b.Frame("card error spent" if item.is_spent else "card error", blocks),), "card")


@row_of.register
def _retry(item: Retry) -> b.Row:
    reason = item.reason
    time = (b.Text(clock_time(item.created), "dim"),) if item.created else ()
    told = tuple(b.Para("small", (b.Text(note),)) for note in words.retry_notes(item))
    turning = b.Only("page", (b.Icon("loader-circle", kind="spin"),))
    head = b.Line("line", (b.Icon("circle-alert", "warn.icon"), b.Text(reason, "bold"), *time))
    if not item.attempt:  # nobody knows for how long
        stop = (b.Button(act="stop", label=msg("Stop"), kind="aside"),)
        turn = b.Line("line", (turning, b.Text(reason, "bold"), *time), stop)
        return b.Row((b.Frame("retry", (turn, *told)),))
    again = (
        turning,
        b.Countdown(left_s=item.left_s, text=msg("Retrying in {seconds} s", seconds="{seconds}")),
        b.Text(msg("attempt {number}", number=item.attempt + 1), "dim"),
    )
    tip = msg("Gives up this request and offers alternatives")
    ways = (b.Button(act="skip_wait", label=msg("Stop retrying"), kind="aside", tip=tip),)
    return b.Row((b.Frame("retry", (head, *told, b.Line("line again", again, ways))),))


@row_of.register
def _elsewhere(_item: WorkedElsewhere) -> b.Row:
    told = msg("Another window or command is working on this conversation; its answers appear here.")
    line = b.Line("line", (b.Icon("eye", "info.icon"), b.Text(told, "label")))
    tip = msg("The run there is stopped and saved")
    button = b.Button(act="take_over", label=msg("Take over…"), tip=tip)
    return b.Row((b.Frame("interrupted", (line, b.Buttons((button,)))),))


@row_of.register
def _interrupted(item: Interrupted) -> b.Row:
    title, far = words.interruption_texts(item)
    detail = tuple(part for text in (clock_time(item.created), far) if text for part in (msg(", "), text))[1:]
    line = (b.Icon("circle-stop", "warn.icon"), b.Text(title, "bold"), b.Text(detail, "dim"))
    lines: list[b.Said] = [item.note] if item.note else []
    if item.not_run:
        lines.append(words.unfinished(item.not_run))
    buttons = []
    if item.can_continue and item.reason != "unanswered":  # else there is nothing to go on from
        buttons.append(b.Button(act="go_on", label=msg("Continue"), kind="primary", icon="play"))
    if item.can_continue and item.can_regenerate:
        tip = msg("Asks the same again; the files stay as they are")
        buttons.append(b.Button(act="regenerate", label=msg("Regenerate"), icon="refresh-cw", tip=tip))
    told = tuple(b.Para("small", (b.Text(text, has_names=True),)) for text in lines)
    return b.Row(
        (b.Frame("stopped", (b.Para("line", line), *told, b.Buttons(tuple(buttons))), has_rule=True),)
    )


# --- pieces ---------------------------------------------------------------------------------------------


def _state(state: str) -> b.Parts:
    match state:
        case "running":
            return (b.Spinner(msg("running")),)
        case "done":
            return (b.Icon("check", "ok.icon", "good", msg("done")),)
        case "not_run":
            return (b.Text(msg("not run"), "dim"),)
        case "stopped":
            return (b.Icon("circle-stop", "text.tertiary", "dim", msg("stopped")),)
        case _:
            return (b.Icon("x", "error.icon", "bad", msg("failed")),)


def _seconds(duration_s: float | None) -> b.Parts:
    return () if duration_s is None else (b.Text(f"{duration_s:.2f} s", "dim num"),)
