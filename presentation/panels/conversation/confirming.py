"""The card on which the user allows or refuses the calls of an answer: its state, and both its looks.

What it says is the computed effect (presentation.confirmation_words); nothing of it comes from the model
but the content of a file, which is shown as such.
"""

from __future__ import annotations

import asyncio
import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.llm.tools.confirmation_card import AnswerWord, CallOnCard, CardAnswer, ConfirmationCard
from presentation.confirmation_words import always_text, deed_of, facts_of, reasons_of, title_of
from presentation.panels.conversation.items import Confirmation, ItemList
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.llm.tools.confirmation_card import Answers
    from presentation.panels.conversation.plain_items import Folds
    from presentation.panels.conversation.plain_parts import PlainParts

Translate = Callable[[Message], str]
_MOST_OPEN_ROWS = 12
"""A longer change is folded at first."""

_ALLOW = ("y", "yes", "ok", "allow", "allow all", "是", "好", "可以", "允许", "全部允许", "同意")
_REFUSE = ("n", "no", "refuse", "deny", "不", "不要", "拒绝", "全部拒绝", "不行")
_ANSWERED: dict[AnswerWord, Message] = {
    "allow": msg("allowed"),
    "always": msg("always allowed"),
    "refuse": msg("refused"),
    "unasked": msg("not asked"),
}


@dataclass(frozen=True, slots=True)
class _Open:
    """A card somebody waits for."""

    key: str
    answers: asyncio.Future[Answers]


class Confirming:
    """The one card that is open, if there is one. `tell` is called when something is another."""

    def __init__(self, items: ItemList, tell: Callable[[], None]) -> None:
        self._items = items
        self._tell = tell
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls wait for the user."""
        return self._open is not None

    def forget(self) -> None:
        """Nobody waits any more."""
        self._open = None

    async def confirm(self, card: ConfirmationCard) -> Answers:
        """Show the card and wait until each of its calls is answered."""
        self._open = asked = _Open(card.card_id, asyncio.get_running_loop().create_future())
        # A card that was on the screen before an interruption moves to the end: what is asked is the newest.
        self._items.remove(card.card_id)
        self._items.put(Confirmation(key=card.card_id, card=card))
        self._tell()
        try:
            return await asked.answers
        except asyncio.CancelledError:
            self._expire(card.card_id)
            raise
        finally:
            if self._open is asked:
                self._open = None

    def answer(self, key: str, argument: str, reason: str = "") -> bool:
        """Press a button: ``allow``, ``always``, ``refuse``, with ``:CALL`` for one call alone.

        `reason` is told to the model with a refusal. False when nothing waits for it.
        """
        item = self._items.get(key)
        asked = self._open
        if asked is None or asked.key != key or not isinstance(item, Confirmation):
            return False
        word, _, call_id = argument.partition(":")
        chosen = next((known for known in ("allow", "always", "refuse") if known == word), None)
        calls = [call for call in item.left if call_id in ("", call.call_id)]
        if chosen is None or not calls:
            return False
        given = {call.call_id: _answer(chosen, call, reason) for call in calls}
        answers = {**item.answers, **given}
        is_whole = len(answers) == len(item.card.calls)
        self._items.put(replace(item, answers=answers, state="answered" if is_whole else "open"))
        if is_whole:
            self._open = None
            asked.answers.set_result(answers)
        self._tell()
        return True

    def answer_in_words(self, text: str) -> bool:
        """Take what was typed as the answer; False when it is another message, which leaves the card."""
        word = text.strip(" .!。！").lower()
        if self._open is not None and word in _ALLOW:
            return self.answer(self._open.key, "allow")
        if self._open is not None and word in _REFUSE:
            return self.answer(self._open.key, "refuse")
        return False

    def _expire(self, key: str) -> None:
        item = self._items.get(key)
        if isinstance(item, Confirmation) and item.state == "open":
            self._items.put(replace(item, state="expired"))
            self._tell()


def _answer(word: AnswerWord, call: CallOnCard, reason: str) -> CardAnswer:
    if word == "always" and not call.always:
        word = "allow"
    return CardAnswer(word=word, reason=reason if word == "refuse" else "")


# --- its looks ------------------------------------------------------------------------------------------


def card_html(item: Confirmation, translate: Translate, icon: Callable[[str], str]) -> str:
    """The inside of the card's element on the page."""
    many = len(item.card.calls) > 1
    calls = "".join(_call_html(item, call, translate, is_alone=not many) for call in item.card.calls)
    foot = ""
    if many and item.state == "open":
        foot = (
            '<div class="buttons">'
            + _button("allow", translate(msg("Allow all")), "primary")
            + _button("refuse", translate(msg("Refuse all")), "")
            + "</div>"
        )
    mark = {"open": "shield-alert", "answered": "shield-check", "expired": "shield-x"}[item.state]
    state = _text(translate(_state_of(item)))
    return (
        f'<div class="decision confirm {item.state} warn" role="group"><div class="line">{icon(mark)}'
        f'<b>{_text(translate(title_of(item.card)))}</b><span class="dim">{state}</span></div>'
        f"{calls}{foot}</div>"
    )


def _call_html(item: Confirmation, call: CallOnCard, translate: Translate, *, is_alone: bool) -> str:
    reasons = "; ".join(translate(text) for text in reasons_of(call))
    facts = "".join(f"<li>{_text(translate(text))}</li>" for text in facts_of(call))
    diffs = "".join(
        f'<details data-fold="{_text(call.call_id)}-{number}"{_opened(path.diff)}><summary>'
        f"<span>{_text(translate(msg('Changes in {path}', path=path.path)))}</span></summary>"
        f'<div class="diff">{_diff_rows(path.diff)}</div></details>'
        for number, path in enumerate(call.effect.paths)
        if path.diff
    )
    answer = item.answers.get(call.call_id)
    end = ""
    if answer is not None:
        end = f'<div class="small dim">{_text(_answered(answer, translate))}</div>'
    elif item.state == "open":
        one = "" if is_alone else f":{call.call_id}"
        buttons = [_button(f"allow{one}", translate(msg("Allow")), "primary" if is_alone else "")]
        if call.always:
            tip = translate(always_text(call.always))
            buttons.append(_button(f"always{one}", translate(msg("Always allow")), "", tip))
        tip = translate(msg("What stands in the message box is told as the reason"))
        buttons.append(_button(f"refuse{one}", translate(msg("Refuse")), "", tip))
        end = f'<div class="buttons">{"".join(buttons)}</div>'
    return (
        f'<div class="deed"><b>{_text(translate(deed_of(call)))}</b> '
        f'<span class="dim">{_text(reasons)}</span>'
        f"{f'<ul class=notes>{facts}</ul>' if facts else ''}{diffs}{end}</div>"
    )


def _button(argument: str, label: str, kind: str, tip: str = "") -> str:
    title = f' title="{_text(tip)}"' if tip else ""
    act = f'data-act="confirm" data-arg="{_text(argument)}"'
    return f'<button class="{kind}"{title} {act}>{_text(label)}</button>'


def _diff_rows(text: str) -> str:
    rows = []
    for kind, shown in _rows_of(text):
        sign = {"del": "−", "add": "+"}.get(kind, "")
        cells = f'<span class="ln"></span><span>{sign}</span><span>{_text(shown)}</span>'
        rows.append(f'<div class="row {kind}">{cells}</div>')
    return "".join(rows)


def _rows_of(text: str) -> list[tuple[str, str]]:
    """The lines of a difference by their kind (``add``, ``del``, ""), without the names of the files."""
    return [
        (
            {"-": "del", "+": "add"}.get(line[:1], ""),
            line if line.startswith(("@@", "...", "\\")) else line[1:],
        )
        for line in text.splitlines()
        if not line.startswith(("--- ", "+++ "))
    ]


def _opened(diff: str) -> str:
    return " open" if _is_short(diff) else ""


def _is_short(diff: str) -> bool:
    return len(_rows_of(diff)) <= _MOST_OPEN_ROWS


def card_plain(item: Confirmation, translate: Translate, parts: PlainParts, folds: Folds) -> str:
    """The card in the plain view."""
    mark = {"open": "shield-alert", "answered": "shield-check", "expired": "shield-x"}[item.state]
    icon = parts.icon(mark, "warn.icon" if item.state == "open" else "text.secondary")
    state = parts.small(_text(translate(_state_of(item))), "text.tertiary")
    rows = [f"<p>{icon} &nbsp;<b>{_text(translate(title_of(item.card)))}</b> &nbsp;{state}</p>"]
    many = len(item.card.calls) > 1
    for call in item.card.calls:
        reasons = parts.small(_text("; ".join(map(translate, reasons_of(call)))), "text.tertiary")
        rows.append(f"{parts.rule()}<p><b>{_text(translate(deed_of(call)))}</b> {reasons}</p>")
        facts = "".join(f"<li>{_text(translate(text))}</li>" for text in facts_of(call))
        rows.append(f"<ul>{facts}</ul>" if facts else "")
        for number, path in enumerate(call.effect.paths):
            if path.diff:
                name = f"{call.call_id}-{number}"
                title = _text(translate(msg("Changes in {path}", path=path.path)))
                is_open = folds.is_open(item.key, name, from_the_start=_is_short(path.diff))
                rows.append(parts.head(parts.fold(item.key, name, title, is_open=is_open)))
                if is_open:
                    rows.append(
                        parts.diff([parts.diff_row(kind, None, text) for kind, text in _rows_of(path.diff)])
                    )
        answer = item.answers.get(call.call_id)
        if answer is not None:
            rows.append(f"<p>{parts.small(_text(_answered(answer, translate)), 'text.tertiary')}</p>")
        elif item.state == "open":
            one = f":{call.call_id}" if many else ""
            rows.append(f"<p>{_buttons_plain(item, call, one, translate, parts)}</p>")
    if item.state == "open" and many:
        both = (("allow", msg("Allow all"), "primary"), ("refuse", msg("Refuse all"), ""))
        links = [
            parts.button("confirm", item.key, _text(translate(label)), word, kind)
            for word, label, kind in both
        ]
        rows.append(f"<p>{' &nbsp;'.join(links)}</p>")
    return "".join(rows)


def _buttons_plain(
    item: Confirmation, call: CallOnCard, one: str, translate: Translate, parts: PlainParts
) -> str:
    kinds = [("allow", msg("Allow"), "" if one else "primary", "")]
    if call.always:
        kinds.append(("always", msg("Always allow"), "", translate(always_text(call.always))))
    tip = translate(msg("What stands in the message box is told as the reason"))
    kinds.append(("refuse", msg("Refuse"), "", tip))
    return " &nbsp;".join(
        parts.button("confirm", item.key, _text(translate(label)), f"{word}{one}", kind, tip)
        for word, label, kind, tip in kinds
    )


def _state_of(item: Confirmation) -> Message:
    if item.state == "expired":
        return msg("not answered; nothing of it was done")
    if item.state == "open":
        return msg("nothing is done before you answer")
    return msg("answered")


def _answered(answer: CardAnswer, translate: Translate) -> str:
    text = translate(_ANSWERED[answer.word])
    return f"{text}: {answer.reason}" if answer.reason else text


def _text(text: str) -> str:
    return html.escape(text)
