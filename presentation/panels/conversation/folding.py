"""Many cards of one answer as one line that opens; those that failed, or ask for something, stay outside.

A view's matter alone: the items of a conversation stay as they are. What belongs to a run that is under way
is not folded, so that nothing that is being read moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from presentation.panels.conversation.items import (
    AnswerText,
    Change,
    Item,
    Removed,
    Reset,
    SimulationCard,
    Step,
    Steps,
    Updated,
    UserText,
)

_MOST = 5
"""Cards in a row that are shown each by itself."""


class Folding:
    """What a view is shown, for what happens to the items."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}
        self._steps: dict[str, Steps] = {}

    def rows(self, items: Sequence[Item], *, is_live: bool) -> tuple[Item, ...]:
        """All of them, as they are shown from now on."""
        asked = [number for number, item in enumerate(items) if isinstance(item, UserText)] if is_live else []
        end = asked[-1] if asked else 0 if is_live else len(items)
        shown = (*_folded(items[:end]), *items[end:])
        self._steps = {item.key: item for item in shown if isinstance(item, Steps)}
        self._holders = {item.key: key for key, steps in self._steps.items() for item in steps.items}
        return shown

    def changes(self, changes: Iterable[Change], *, is_live: bool) -> list[Change]:
        """The same changes, of what is shown."""
        return [self._change(change, is_live=is_live) for change in changes]

    def would_fold(self, items: Sequence[Item]) -> bool:
        """Whether there are cards to be folded that are not."""
        return any(isinstance(item, Steps) and item.key not in self._steps for item in _folded(items))

    def _change(self, change: Change, *, is_live: bool) -> Change:
        if isinstance(change, Reset):
            return replace(change, items=self.rows(change.items, is_live=is_live))
        key = (
            change.item.key
            if isinstance(change, Updated)
            else change.key
            if isinstance(change, Removed)
            else ""
        )
        if key not in self._holders:
            return change
        steps = self._steps[self._holders[key]]
        if isinstance(change, Updated) and isinstance(change.item, Step):
            new = change.item
            steps = replace(steps, items=tuple(new if old.key == key else old for old in steps.items))
        else:
            del self._holders[key]
            steps = replace(steps, items=tuple(old for old in steps.items if old.key != key))
        self._steps[steps.key] = steps
        return Updated(item=steps) if steps.items else Removed(key=steps.key)


def _folded(items: Iterable[Item]) -> Iterator[Item]:
    group: list[Step] = []
    for item in items:
        if isinstance(item, Step) and not (isinstance(item, AnswerText) and _says(item)):
            group.append(item)
            continue
        yield from _of_group(group)
        group = []
        yield item
    yield from _of_group(group)


def _of_group(group: list[Step]) -> Iterator[Item]:
    quiet = [item for item in group if _is_quiet(item)]
    if sum(not isinstance(item, AnswerText) for item in quiet) <= _MOST:
        yield from group
        return
    yield Steps(key=f"steps-{group[0].key}", items=tuple(quiet))
    yield from (item for item in group if not _is_quiet(item))


def _is_quiet(item: Step) -> bool:
    """Whether nobody needs to see it by itself: it ended well, and no goals were judged by it."""
    if isinstance(item, AnswerText):
        return True
    if item.state != "done":
        return False
    return not (item.verdicts if isinstance(item, SimulationCard) else item.problem or item.ways)


def _says(item: AnswerText) -> bool:
    """Whether an answer is more than thoughts between two calls."""
    return bool(item.text.strip() or item.sources or item.is_streaming)
