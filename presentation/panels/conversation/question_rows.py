"""The rows that ask a person: checkpoints, what words were understood as, calls that need a permission."""

from __future__ import annotations

import math
from functools import partial

from domain.llm.tools.confirmation_card import AnswerWord, CallOnCard, CardAnswer
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.confirmation_words import always_text, deed_of, facts_of, reasons_of, title_of
from presentation.goal_margins import limit_text, row_of, shown
from presentation.goal_words import name_of
from presentation.intent_words import label_of, understood_text
from presentation.panels.conversation import blocks as b
from presentation.panels.conversation import words
from presentation.panels.conversation.items import Confirmation, Decision, Understood
from presentation.panels.conversation.preview_row import previewed
from shared.message import Message, msg

_SHOWN_IN_QUESTION = 12
"""Rows of a difference that is open at first."""


def decision_row(item: Decision) -> b.Row:
    title, state = words.decision_texts(item)
    is_open = item.state in ("open", "waits")
    tone = ("ok.icon" if item.goals_met else "warn.icon") if is_open else "text.secondary"
    icon = b.Icon("flag" if item.kind == "checkpoint" else "history", tone)
    buttons = tuple(
        b.Button(
            act="answer",
            argument=choice,
            label=words.choice_text(item, choice),
            kind=words.choice_kind(item, choice, is_first=not number) if is_open else "",
            tip=words.choice_hint(item, choice) or "",
            is_enabled=is_open,
            is_chosen=item.state == "chosen" and item.chosen == choice,
        )
        for number, choice in enumerate(item.choices)
    )
    line = b.Para("line", (icon, b.Text(title, "bold"), b.Text(state, "dim")))
    mark = "ok" if item.goals_met else "warn"
    looks = "open" if is_open else item.state
    return b.Row((b.Frame(f"decision {looks} {mark}", (line, b.Buttons(buttons)), has_rule=True),))


_REMARKS = {"waits": msg("(at the next checkpoint)"), "dropped": msg("(not done)")}
"""Of chips in a state that is not seen by their looks."""


def understood_row(item: Understood) -> b.Row:
    """A chip; what it can be corrected to is behind it."""
    intent = item.intent
    text = understood_text(intent.kind, intent.round_number, changes_design=bool(intent.told))
    is_refused = intent.kind == "unclear" and isinstance(intent.asks_back, Message)  # with its reason below
    told: list[b.Said] = [msg("Not carried out") if is_refused else text]
    for number, goal in enumerate(item.changed):
        told += [msg("; ") if number else msg(": "), name_of(goal), " ", shown(limit_text(goal))]
    if item.state in _REMARKS:
        told += [" ", _REMARKS[item.state]]
    chip = (b.Text(tuple(told), "chip"),)
    if item.state in {"closed", "dropped"} or not item.others:
        return b.Row((b.Frame("understood", (b.Para("small", chip),)),))
    others = b.Buttons(
        tuple(
            b.Button(act="intent", argument=kind, label=label_of(kind, intent.round_number), kind="quiet")
            for kind in item.others
        )
    )
    if item.state != "asks" or intent.kind == "unclear":
        fold = b.Fold(part="others", head=b.Line("", chip), body=(others,), kind="correct")
        return b.Row((b.Frame("understood", (fold,)),))
    line = b.Para("line", (*chip, b.Text(msg("nothing is done before you answer"), "dim")))
    label = label_of(intent.kind, intent.round_number)
    main = b.Buttons((b.Button(act="intent", argument=intent.kind, label=label, kind="primary"),))
    head = b.Line("", (b.Text(msg("Something else was meant"), "label"),))
    fold = b.Fold(part="others", head=head, body=(others,), kind="correct")
    return b.Row(
        (b.Frame("understood asks", (line, *map(partial(_change, item), item.changed), main, fold)),)
    )


def _change(item: Understood, goal: DesignGoal) -> b.Para:
    """A goal as it is and as it would be, and how the round that is asked about then stands."""
    old = next((each for each in item.before if each.metric == goal.metric), None)
    measured = next((each.measured for each in item.verdicts if each.goal.metric == goal.metric), None)
    parts: list[b.Node] = [b.Text(name_of(goal))]
    if old is not None:
        parts += [b.Text(shown(limit_text(old)), "was"), b.Text("→", "dim")]
    parts.append(b.Text(shown(limit_text(goal)), "bold"))
    if measured is not None and not math.isnan(measured.value):
        is_met = goal.is_met_by(measured.value)
        row = row_of(GoalVerdict(goal=goal, measured=measured, met=is_met))
        told = msg("{value} then has {margin}", value=shown(row.value), margin=shown(row.margin_text))
        parts.append(b.Text(told, "won", "ok.text") if is_met else b.Text(told, "lost", "error.text"))
    return b.Para("line change", tuple(parts))


def confirmation_row(item: Confirmation) -> b.Row:
    """What it says is the computed effect; nothing of it comes from the model but the content of a file."""
    is_open, many = item.state == "open", len(item.card.calls) > 1
    mark = {"open": "shield-alert", "answered": "shield-check", "expired": "shield-x"}[item.state]
    icon = b.Icon(mark, "warn.icon" if is_open else "text.secondary")
    line = b.Para("line", (icon, b.Text(title_of(item.card), "bold"), b.Text(_state_of(item), "dim")))
    foot: b.Blocks = ()
    if is_open and many:
        all_of_them = b.Button(act="confirm", argument="allow", label=msg("Allow all"), kind="primary")
        none = b.Button(act="confirm", argument="refuse", label=msg("Refuse all"))
        foot = (b.Buttons((all_of_them, none)),)
    known = previewed(item.preview) if is_open else ()
    calls = tuple(_call(item, call, () if many else known, is_alone=not many) for call in item.card.calls)
    foot = (*known, *foot) if many else foot
    card = b.Frame(f"decision confirm {item.state} warn", (line, *calls, *foot), role="group")
    return b.Row((card,), "asks" if is_open else "card")


def _call(item: Confirmation, call: CallOnCard, known: b.Blocks, *, is_alone: bool) -> b.Frame:
    reasons = tuple(part for reason in reasons_of(call) for part in (msg("; "), reason))[1:]
    answer = item.answers.get(call.call_id)
    end: b.Blocks = ()
    diffs = tuple(
        _asked_diff(f"{call.call_id}-{number}", path.path, path.diff)
        for number, path in enumerate(call.effect.paths)
        if path.diff
    )
    if answer is not None:
        end = (b.Para("small dim", (b.Text(_answered(answer)),)),)
    elif item.state == "open":
        end = (*known, _answers(call, is_alone=is_alone))
    said = b.Para("", (b.Text(deed_of(call), "bold"), b.Text(reasons, "dim")))
    return b.Frame("deed", (said, b.Bullets(facts_of(call)), *diffs, *end), has_rule=True)


def _answers(call: CallOnCard, *, is_alone: bool) -> b.Buttons:
    one = "" if is_alone else f":{call.call_id}"
    allow = b.Button(
        act="confirm", argument=f"allow{one}", label=msg("Allow"), kind="primary" if is_alone else ""
    )
    buttons = [allow]
    if call.always:
        tip = always_text(call.always)
        buttons.append(b.Button(act="confirm", argument=f"always{one}", label=msg("Always allow"), tip=tip))
    tip = msg("The text in the message box is sent as the reason")
    buttons.append(b.Button(act="confirm", argument=f"refuse{one}", label=msg("Refuse"), tip=tip))
    return b.Buttons(tuple(buttons))


def _asked_diff(part: str, path: str, text: str) -> b.Fold:
    rows = tuple(
        b.DiffRow(
            kind="del" if line.startswith("-") else "add" if line.startswith("+") else "",
            text=line if line.startswith(("@@", "...", "\\")) else line[1:],
        )
        for line in text.splitlines()
        if not line.startswith(("--- ", "+++ "))
    )
    return b.Fold(
        part=part,
        head=b.Line("", (b.Text(msg("Changes in {path}", path=path), "title"),)),
        body=(b.Diff(rows, len(rows)),),
        is_open=len(rows) <= _SHOWN_IN_QUESTION,
        has_arrow=False,
    )


_ANSWERED: dict[AnswerWord, Message] = {
    "allow": msg("allowed"),
    "always": msg("always allowed"),
    "refuse": msg("refused"),
    "unasked": msg("not asked"),
}


def _answered(answer: CardAnswer) -> b.Said:
    text = _ANSWERED[answer.word]
    return (text, msg(": "), answer.reason) if answer.reason else text


def _state_of(item: Confirmation) -> Message:
    if item.state == "expired":
        return msg("not answered; nothing was done")
    return msg("nothing is done before you answer") if item.state == "open" else msg("answered")
