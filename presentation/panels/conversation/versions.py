"""A message sent again in another version, an answer asked for again, and looking at what they replaced."""

from __future__ import annotations

from dataclasses import replace
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from presentation.panels.conversation.items import (
    END,
    AnswerText,
    AttachedItem,
    CompressedRow,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Narration,
    Note,
    OperationCard,
    RowEdit,
    ScrollPlace,
    Understood,
    UserText,
)
from presentation.panels.conversation.words import busy, with_advice
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from presentation.panels.conversation.changes import FileChanges
    from presentation.panels.conversation.shown_conversation import ShownConversation
    from presentation.panels.conversation.window import Window

_LOOKING = "looking"
_ABOVE = 12
"""Pixels over a message that was looked for."""


class Versions:
    """Of the conversation of a tab; `changes` are those of its cards."""

    def __init__(self, model: ShownConversation, window: Window, changes: FileChanges) -> None:
        self._model = model
        self._window = window
        self._changes = changes
        self._row: UserText | None = None
        """It is changed where it stands; what is written in the input is another message."""
        self._row_text = ""
        self._newest: tuple[Item, ...] = ()
        """What stands, while an earlier version is looked at."""
        self._marked = ""
        self.asked = ""
        """Sent, while it is asked what becomes of the files; it is in no transcript yet."""
        self._sent: UserText | None = None
        """Of the run under way: the message that took another's place."""

    # --- what is shown -------------------------------------------------------------------------------

    @property
    def is_looking(self) -> bool:
        return bool(self._newest)

    @property
    def row_draft(self) -> str:
        """What has been made of a message in its row, and is sent nowhere yet."""
        return self._row_text if self._row is not None and self._row_text != self._row.text else ""

    @property
    def is_editing(self) -> bool:
        """Whether a message is being changed in its row."""
        return self._row is not None

    def as_edited(self, item: Item) -> Item:
        """A row as it is to be drawn anew: with all that was written in it."""
        if self._row is None or item.key != self._row.key or not isinstance(item, UserText):
            return item
        return replace(item, edit=None if item.edit is None else replace(item.edit, text=self._row_text))

    def is_design_behind(self, key: str) -> bool:
        """Whether a design begins with or behind a message: its rounds stay as they are."""
        kinds = Decision | DesignEnd | GoalsCard | Narration | Understood
        return any(
            isinstance(row, kinds) or (isinstance(row, Interrupted) and row.of_design)
            for row in self._from(key)
        )

    def mark(self) -> None:
        """The newest answer of a chat can be asked for again; called whenever rows are another."""
        key = ""
        if not self._model.is_running and not self.is_looking:
            for row in self._model.items.backwards():
                if isinstance(row, UserText):
                    break
                if isinstance(row, AnswerText) and not key:
                    key = row.key
                if isinstance(row, Decision | DesignEnd | Narration):
                    key = ""
                    break
            else:
                key = ""
        for one, can in ((self._marked, False), (key, True)):
            answer = self._model.items.get(one)
            if isinstance(answer, AnswerText) and answer.can_regenerate is not can:
                self._model.items.put(replace(answer, can_regenerate=can))
        self._marked = key

    def forget(self) -> None:
        """Other rows are shown: nothing is looked at, and what was being changed is a draft again."""
        self._newest, self._marked = (), ""
        if changed := self._leave_row():
            self._model.draft = "\n".join(filter(None, (changed, self._model.draft)))

    def _from(self, key: str) -> tuple[Item, ...]:
        return tuple(dropwhile(lambda row: row.key != key, self._model.items))

    # --- another version -----------------------------------------------------------------------------

    def edit(self, key: str, text: str = "") -> Message | None:
        """Make the row of a message a field, with its text or another; the reason when it can't be now."""
        item = self._model.items.get(key)
        if not isinstance(item, UserText) or not item.can_edit or self.is_looking:
            return None
        if not self._model.can_change:
            return busy()
        if self._model.take_back_unwritten(key):  # nothing stands that it could take the place of
            return None
        if changed := self._leave_row():
            self._model.draft = "\n".join(filter(None, (changed, self._model.draft)))
        self._row, self._row_text = item, text or item.text
        edit = RowEdit(text=self._row_text, begins_another=self.is_design_behind(key))
        self._model.items.put(replace(item, edit=edit))
        self._model.tell()
        return None

    def edit_last(self) -> Message | None:
        """The same with the message said last."""
        rows = self._model.items.backwards()
        last = next((row for row in rows if isinstance(row, UserText) and row.can_edit), None)
        return msg("There is no message to edit.") if last is None else self.edit(last.key)

    def note_row(self, key: str, text: str) -> None:
        """What is written in a row by now."""
        if self._row is not None and self._row.key == key:
            self._row_text = text

    def send_row(self, key: str, text: str) -> Message | None:
        """Send what was written in a row in its place, with its files; the reason when it can't be now."""
        row, text = self._row, text.strip()
        if row is None or row.key != key:
            return None
        if not text:
            return msg("The message is empty.")
        if not self._model.can_change:
            return busy()
        self._leave_row()
        if self.is_design_behind(key):
            return self._begin_elsewhere(row, text, row.attached)
        self._replace(row, text, row.attached)
        return None

    def _leave_row(self) -> str:
        """The message stands as it was; what had been made of it."""
        row, changed = self._row, self.row_draft
        self._row, self._row_text = None, ""
        if row is not None and self._model.items.get(row.key) is not None:
            self._model.items.put(row)
        return changed.strip()

    def cancel(self) -> bool:
        """The row stands as it was; False when nothing was being changed."""
        if self._row is None:
            return False
        self._leave_row()
        self._model.tell()
        return True

    def _begin_elsewhere(
        self, edited: UserText, text: str, attached: tuple[AttachedItem, ...]
    ) -> Message | None:
        """The design keeps its conversation; what was changed begins another, as what it was."""
        behind = takewhile(lambda row: not isinstance(row, UserText), self._from(edited.key)[1:])
        is_design = any(isinstance(row, Decision | DesignEnd | GoalsCard | Narration) for row in behind)
        choice = self._model.choice
        problem = self._model.new_conversation()
        if problem is None:
            self._model.set_choice(choice)
            self._model.set_mode("workflow" if is_design else "free")
            problem = self._model.begin(text, attached)
        if problem is not None:
            self._model.pending.put_back(attached)
        return problem

    def regenerate(self, key: str) -> Message | None:
        """Ask again for the answer of a row, with the model that is chosen now; or why not."""
        rows = tuple(takewhile(lambda row: row.key != key, self._model.items))
        said = next((row for row in reversed(rows) if isinstance(row, UserText)), None)
        if said is None or not said.can_edit or self.is_looking:
            return None
        if not self._model.can_change:
            return busy()
        if self.is_design_behind(said.key):
            return msg("The steps of a design are not generated again. Use the buttons of its checkpoint.")
        self._replace(said, said.text, said.attached)
        return None

    def regenerate_last(self) -> Message | None:
        """The same with the answer that came last."""
        if not self._marked:
            return msg("There is no answer that could be generated again.")
        return self.regenerate(self._marked)

    def _replace(self, old: UserText, text: str, attached: tuple[AttachedItem, ...]) -> None:
        standing = tuple(
            row for row in self._from(old.key) if isinstance(row, OperationCard) and row.standing == "stands"
        )
        if standing:
            self._window.start(self._replace_after_question(old, text, attached, standing), kind="question")
        else:
            self._replace_now(old, text, attached)

    async def _replace_after_question(
        self,
        old: UserText,
        text: str,
        attached: tuple[AttachedItem, ...],
        standing: tuple[OperationCard, ...],
    ) -> None:
        """The files stay as they are, or the changes are taken back first: never unasked."""
        model, place = self._model, self._model.place
        model.is_held, self.asked = True, text if text != old.text else ""
        try:
            names = tuple(dict.fromkeys(card.path for card in standing))
            way = await self._window.ask_about_changes(names)
            is_ready = way == "keep" or (way == "undo" and await self._taken_back(standing))
        finally:
            model.is_held, self.asked = False, ""
        if is_ready and place == model.place and not model.is_running:
            self._replace_now(old, text, attached)
            return
        if way == "undo" and not is_ready and place == model.place:
            failed = msg("A change could not be undone, so nothing was sent. Its card says why.")
            model.items.put(Note(key=new_ulid(), text=failed))
        if text != old.text:  # it is the user's again
            drafts = model.shelf.drafts
            drafts[place] = "\n".join(filter(None, (text, drafts.get(place, ""))))
            if place == model.place:
                model.pending.put_back(attached)
        model.tell()

    async def _taken_back(self, standing: tuple[OperationCard, ...]) -> bool:
        """Undo changes, the newest first; False at the first that can't be."""
        root = self._model.root
        assert root is not None, "its cards are of a project"
        for card in reversed(standing):
            await self._changes.take_back(root, card)
            now = self._model.items.get(card.key)
            if not isinstance(now, OperationCard) or now.standing != "undone":
                return False
        return True

    def _replace_now(self, old: UserText, text: str, attached: tuple[AttachedItem, ...]) -> None:
        for row in self._from(old.key):
            if not (isinstance(row, CompressedRow) and row.done.until < old.key):  # a summary of what stands
                self._model.items.remove(row.key)
        key = new_ulid()
        said = UserText(key=key, text=text, attached=attached, versions=(*(old.versions or (old.key,)), key))
        self._sent = said
        self._model.begin_instead(said, old.key, is_changed=text != old.text)

    def end_run(self, *, has_failed: bool) -> None:
        """A run has ended: where its message was not even written, what it was to replace still stands."""
        said, self._sent = self._sent, None
        root = self._model.root
        if said is not None and has_failed and root is not None:
            self._window.start(self._look_what_stands(root, self._model.session_id, said), kind="sessions")

    async def _look_what_stands(self, root: Path, session_id: str, said: UserText) -> None:
        model = self._model
        try:
            stored = await model.shelf.read(root, session_id)
        except CircuitAIError:  # what is shown says enough
            return
        is_written = any(item.key == said.key for item in stored.items)
        if is_written or (root, session_id) != (model.root, model.session_id) or model.is_running:
            return
        errors = [item for item in model.items if isinstance(item, ErrorBlock) and not item.is_spent]
        model.items.become(stored.items)
        for error in errors:
            model.items.put(replace(error, can_retry=False, offers=()))
        self.forget()
        model.take_back_unwritten()  # in the place of what stands; its words are put back here
        old = model.items.get(said.versions[-2])
        if not (isinstance(old, UserText) and old.text == said.text):
            self.edit(said.versions[-2], said.text)
            if not self.is_editing:
                model.draft = "\n".join(filter(None, (said.text, model.draft)))
        model.tell()

    # --- looking -------------------------------------------------------------------------------------

    def look(self, key: str, argument: str) -> Message | None:
        """Show the version before (-1) or behind (1) that of a message; the reason when it can't be now."""
        item = self._model.items.get(key)
        if not isinstance(item, UserText) or item.key not in item.versions or argument not in ("-1", "1"):
            return None
        at = item.versions.index(item.key) + int(argument)
        if not 0 <= at < len(item.versions):
            return None
        if not self._model.can_change:
            return busy()
        if self.is_editing:
            return msg("Send or cancel the message you are editing first.")
        wanted = item.versions[at]
        if any(row.key == wanted for row in self._newest):
            self.leave(_at(wanted))
            self._model.tell()
        elif self._model.root is not None:
            self._window.start(self._look_at(self._model.root, wanted, item.versions), kind="sessions")
        return None

    async def _look_at(self, root: Path, wanted: str, versions: tuple[str, ...]) -> None:
        model = self._model
        session_id = model.session_id
        try:
            stored = await model.shelf.read(root, session_id, version=wanted)
        except CircuitAIError as error:
            self._window.told(with_advice(error), is_problem=True)
            return
        if (root, session_id) != (model.root, model.session_id) or model.is_running:
            return  # something else was opened, or begun, in the meantime
        self._newest = self._newest or tuple(model.items)
        told = msg(
            "This is an earlier version ({number} of {count}). What you send continues from the newest one.",
            number=versions.index(wanted) + 1,
            count=len(versions),
        )
        model.items.reset((*stored.items, Note(key=_LOOKING, text=told)), _at(wanted))
        model.tell()

    def leave(self, place: ScrollPlace = END) -> None:
        """Show what stands again, from a place on; a change that was undone meanwhile stays so."""
        if self._newest:
            newest, self._newest, self._marked = self._newest, (), ""
            rows = tuple(map(self._as_it_stands, newest))
            if place == END:
                self._model.items.become(rows)
            else:
                self._model.items.reset(rows, place)

    def _as_it_stands(self, row: Item) -> Item:
        now = self._model.items.get(row.key)
        if isinstance(row, AnswerText):
            return replace(row, can_regenerate=False)
        return now if isinstance(row, OperationCard) and now is not None else row


def _at(key: str) -> ScrollPlace:
    """Where a version's message is seen with its arrows, whichever is looked at."""
    return ScrollPlace(key, -_ABOVE)
