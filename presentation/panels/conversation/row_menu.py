"""The menu of a row: what its buttons do, what is done with its text, its code and its links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QMenu, QWidget

from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.items import AnswerText, Item, UserText
from presentation.panels.conversation.markup import blocks_of
from presentation.panels.conversation.rows import row_of
from presentation.panels.conversation.words import CODE_ACTS
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg, one_line

_WAYS_OF_TEXT = ("edit", "again", "branch")
"""Acts that stand first, in this order."""
_NOT_OFFERED = ("copy", "resend", "leave_edit", "row_text")
_COPIES: Mapping[type, Message] = {UserText: msg("Copy the message"), AnswerText: msg("Copy the answer")}
_COMMANDS: Mapping[tuple[type, str], str] = {
    (UserText, "edit"): "/edit",
    (AnswerText, "again"): "/regenerate",
    (AnswerText, "branch"): "/branch",
}
"""What is typed for the same, where the row is the last of its kind."""
_LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointed:
    """What a menu was asked for at."""

    key: str
    """Of the row."""
    place: QPoint
    """On the screen."""
    code: int = -1
    """Number of the code block of an answer; below 0 = none."""
    link: str = ""
    """A web address."""
    chosen: str = ""
    """The text that is selected."""
    text: str = ""
    """Of the row as it is seen."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One of the menu, for `acts.Acts`."""

    act: str
    label: b.Said
    argument: b.Said = ""
    keys: str = ""


def groups_of(
    item: Item | None, at: Pointed, *, is_last: bool, copy_key: str
) -> tuple[tuple[Entry, ...], ...]:
    """The menu of a row, in its groups; `is_last`: the commands for the last message are for this one."""
    if isinstance(item, UserText) and item.edit is not None:
        return ()
    chosen = (
        Entry("copy_text", msg("Copy selected text"), at.chosen, copy_key),
        Entry("quote", msg("Quote selected text"), at.chosen),
    )
    link = (
        Entry("link", msg("Open the address"), at.link),
        Entry("copy_text", msg("Copy the address"), at.link),
    )
    text = item.text if isinstance(item, UserText | AnswerText) else at.text
    quote = (Entry("quote", msg("Quote in the message"), text),) if text and not at.chosen else ()
    copy = (Entry("copy_text", _COPIES.get(type(item), msg("Copy text")), text),) if text else ()
    ways = () if item is None else tuple(_ways_of(item, is_last=is_last))
    of_text = tuple(way for act in _WAYS_OF_TEXT for way in ways if way.act == act)
    groups = (
        chosen if at.chosen else (),
        link if at.link else (),
        tuple(_of_code(item, at.code)),
        (*copy, *quote, *of_text),
        tuple(way for way in ways if way not in of_text),
    )
    return tuple(filter(None, groups))


def _of_code(item: Item | None, number: int) -> Iterator[Entry]:
    if number < 0 or not isinstance(item, AnswerText):
        return
    fences = [block for block in blocks_of(item.text) if block.kind == "code" and not block.is_more]
    if number < len(fences):
        for act, label in CODE_ACTS if fences[number].is_spice else CODE_ACTS[-1:]:
            yield Entry(act, msg("Copy the code") if act == "copy_code" else label, str(number))


def _ways_of(item: Item, *, is_last: bool) -> Iterator[Entry]:
    """What the buttons of the row do, each once."""
    known: list[tuple[str, b.Said]] = []
    for button in _buttons_in(row_of(item).blocks):
        way = button.act, button.argument
        if (
            button.is_enabled
            and button.kind != "name"
            and button.act not in _NOT_OFFERED
            and way not in known
        ):
            known.append(way)
            keys = _COMMANDS.get((type(item), button.act), "") if is_last else ""
            yield Entry(button.act, button.label, button.argument, keys)


def _buttons_in(node: object) -> Iterator[b.Button]:
    """Those of the row itself, as the page has them."""
    if isinstance(node, b.Button):
        yield node
    elif isinstance(node, tuple):
        for each in node:
            yield from _buttons_in(each)
    elif isinstance(node, b.Inner) or (isinstance(node, b.Only) and node.view != "page"):
        return
    elif is_dataclass(node) and not isinstance(node, type | Message):
        yield from _buttons_in(tuple(getattr(node, one.name) for one in fields(node)))


class RowMenu:
    """Shows it; `act` does what was chosen, `rows` are those of the conversation in front, `is_as_it_stands`
    whether no earlier version of it is looked at; `acts`: those that can be done, None = all."""

    def __init__(
        self,
        services: WindowServices,
        parent: QWidget,
        rows: Callable[[], Iterable[Item]],
        is_as_it_stands: Callable[[], bool],
        act: Callable[[str, str, str], None],
        *,
        acts: Collection[str] | None = None,
    ) -> None:
        self._services = services
        self._parent = parent
        self._rows = rows
        self._is_as_it_stands = is_as_it_stands
        self._act = act
        self._acts = acts

    def show(self, at: Pointed) -> None:
        """Of the row, beside the place; nothing where there is nothing to do."""
        rows = tuple(self._rows())
        item = next((row for row in rows if row.key == at.key), None)
        last = next((row for row in reversed(rows) if type(row) is type(item)), None)
        is_last = item is not None and item is last and self._is_as_it_stands()
        language, copy_key = self._services.language, self._services.shortcuts.shown("copy")
        groups = groups_of(item, at, is_last=is_last, copy_key=copy_key)
        if self._acts is not None:
            can = self._acts
            found = (tuple(entry for entry in group if entry.act in can) for group in groups)
            groups = tuple(filter(None, found))
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for group in groups:
            menu.addSeparator()
            for entry in group:
                label = one_line(b.say(entry.label, language))
                label = label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
                words = label.replace("&", "&&") + (f"\t{entry.keys}" if entry.keys else "")
                argument = b.say(entry.argument, language)
                menu.addAction(words, partial(self._act, entry.act, at.key, argument))
        if groups:
            menu.popup(at.place)
        else:
            menu.deleteLater()
