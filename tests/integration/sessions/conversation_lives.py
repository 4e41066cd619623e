"""Lives of a program with conversations, in forks that can be killed: the view model without widgets.

    python -m tests.integration.sessions.conversation_lives

Reads orders, a line of JSON each, and answers each with a line: {"project", "home", "journal", "base_url",
"steps", "end"}. A fork opens the project as the window does, keeps what was typed as the window does, carries
the steps out and ends: by itself, or killed within its last step. What happened is in the journal, a line of
JSON each, written at once.

A step is [kind, number]; `Life` has a method for each kind. The end is {} (by itself) or {"kind", "after"}:
"kill" = SIGKILL right before the nth moment of the last step at which something becomes durable, "torn" = in
the middle of its nth write to a transcript.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bootstrap
from application.agent import conversation
from application.agent.loop import compiled_agent
from application.app import Application
from application.conversation.goals_shown import GoalsNow
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.acts import WaysOn
from presentation.panels.conversation.items import (
    AnswerText,
    CompressedRow,
    Confirmation,
    ErrorBlock,
    Interrupted,
    Item,
    OperationCard,
    UserText,
)
from presentation.panels.conversation.shelf import Shelf
from presentation.panels.conversation.tabs import ConversationTabs
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.panels.conversation.window import Window
from presentation.translation import Translator
from shared.errors import CircuitAIError
from shared.message import Message
from shared.paths import USER_HOME_VARIABLE, is_project
from shared.tasks import TaskFailed
from shared.ulid import new_ulid
from tests.ground.forked_commands import import_everything, watch_moments
from tests.integration.design.resume_driver import in_fork

KEEP_S = 0.03
"""The window looks ten times less often; what is written here in between is as much."""
FILLER = "filler"
_PIECE = 1 << 16
_NUMBERS = itertools.count()
"""Of the tasks of all tabs."""


def shape(item: Item) -> list[Any] | None:
    """What a person sees of a row and a restart may not change; None for what only tells of the program."""
    match item:
        case UserText():
            return ["user", item.text]
        case AnswerText():
            return ["answer", item.text, item.reasoning]
        case OperationCard():
            # A call without a result has not run; the next turn settles it as stopped.
            state = "stopped" if item.state == "not_run" else item.state
            return ["card", item.tool, item.path, state, item.standing]
        case Confirmation():
            return ["asked", [call.name for call in item.card.calls], item.state]
        case GoalsNow():
            return ["goals", item.path, item.run, item.is_undone]
        case CompressedRow():
            return ["compressed", item.done.messages, item.is_in_force]
        case Interrupted():
            # A message whose turn was not written has no answer; behind the next one it broke off.
            same = {"stopped": "user", "unanswered": "interrupted"}
            return ["interrupted", same.get(item.reason, item.reason), item.can_continue]
        case ErrorBlock():
            return ["error", item.error_type]
    return None


def shapes(items: Iterable[Item]) -> list[Any]:
    found = [shape(item) for item in items]
    return [each for each in found if each is not None]


class Journal:
    """Lines that outlive the process."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._write = os.write  # the real one

    def __call__(self, what: str, **more: Any) -> None:
        self._write(self._descriptor, json.dumps({"what": what, **more}).encode() + b"\n")


class Surroundings:
    """Stands for `presentation.panels.conversation.window.Window`: the window around a conversation."""

    has_question = False
    is_in_front = True

    def __init__(self, app: Application, changed: Callable[[], None], look_after: Callable[[], None]) -> None:
        self._app = app
        self._changed = changed
        self.state_changed = look_after
        self._translator = Translator("en", "window")
        self.at_work: Callable[[], tuple[str, ...]] = tuple

    def start(self, coroutine: Coroutine[Any, Any, object], *, kind: str, scope: str = "window") -> object:
        name = f"{kind}-{next(_NUMBERS)}"
        return self._app.program.tasks.submit(kind, name, coroutine, scope=scope)

    def later(self, delay_ms: int, call: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(delay_ms / 1000, call)

    def goals_changed(self, _circuit: Path) -> None:
        """Nobody here looks at them."""

    def items_changed(self, _changes: object) -> None:
        self._changed()

    def translate(self, message: Message) -> str:
        return self._translator(message)

    async def save_buffers(self) -> bool:
        return True

    async def ask_about_changes(self, _names: object) -> str:
        return "keep"

    async def unlock_keys(self, _choice: object) -> bool:
        return True

    def circuit_at_hand(self, _root: Path) -> str:
        return ""

    def main_circuit(self, _root: Path) -> str:
        return ""

    def _nothing(self, *_: object, **__: object) -> None:
        return None

    editor_state = change_made = file_changed = file_made = result_made = design_accepted = _nothing
    told = come_to_front = close = main_circuit_restored = begin_preview = end_preview = want_preview = (
        _nothing
    )

    async def _never(self, *_: object, **__: object) -> None:
        raise AssertionError("nothing in a life of conversations asks this")

    confirm_goals = confirm_accept = ask_consent = _never


def check_surroundings() -> None:
    """A new method of the window would else be missed only by the lives that come to it."""
    wanted = {name for name in vars(Window) if not name.startswith("_")}
    missing = sorted(wanted - vars(Surroundings).keys())
    if missing:
        raise SystemExit(f"Surroundings stands for Window, and has no {', '.join(missing)}")


class Life:
    """One life of the program."""

    def __init__(self, order: dict[str, Any], app: Application, tell: Journal) -> None:
        self._app = app
        self._tell = tell
        self._root = Path(order["project"])
        self._changes = 0
        self._typed = 0
        self._turn = asyncio.Lock()
        self._start: Callable[..., object] = partial(
            Surroundings(app, self._on_change, lambda: None).start, kind="sessions"
        )
        self._tabs = ConversationTabs(
            app,
            self._make_tab,
            start=self._start,
            leave=lambda _tab: None,
            front_changed=lambda: None,
            changed=lambda: None,
            listed=lambda: None,
            told=lambda _message, _is_problem: None,
        )
        self._choice = ProviderChoice(
            provider="openai-compatible", model="m", base_url=order["base_url"], web_search=None
        )

    # --- as the window does it -----------------------------------------------------------------------

    def _make_tab(self, shelf: Shelf, root: Path | None) -> ConversationViewModel:
        made: list[ConversationViewModel] = []

        def look_after() -> None:
            if made and made[0] is not self._tabs.front:
                self._tabs.look_after(made[0])

        window: Any = Surroundings(self._app, self._on_change, look_after)
        made.append(ConversationViewModel(self._app, window, shelf, root, flush_ms=5))
        return made[0]

    async def begin(self) -> None:
        """Open the project with what was kept of it."""
        self._state = await asyncio.to_thread(self._app.program.window_state.load)
        memory = self._state.memory_of(self._root)
        tabs = memory.conversations, memory.front_conversation
        self._tabs.bring_back(self._root, *tabs, memory.drafts)
        self._tabs.set_project(self._root)
        if is_project(self._root):
            await self._app.project.tidy_undo_data(self._root)
        await asyncio.to_thread(self._app.program.unclean_ends.untold, self._root / "none.log")
        await self.rest()
        sessions = self._tabs.shelf.sessions
        everything = {info.session_id: await self._stored(info.session_id) for info in sessions}
        self._tell("opened", **self._seen(), all=everything)

    async def keep(self) -> None:
        """Write what was typed and which conversation is shown, if it is another than is kept."""
        async with self._turn:
            await self._keep()

    async def _keep(self) -> None:
        typed = self._typed
        before = self._state
        tabs, front = self._tabs.memory()
        memory = replace(
            before.memory_of(self._root),
            drafts=self._tabs.drafts(),
            conversations=tabs,
            front_conversation=front,
        )
        after = before.with_memory(self._root, memory)
        if after != before:
            await asyncio.to_thread(self._app.program.window_state.update, before, after)
            self._state = after
        self._tell("kept", typed=typed)

    async def keep_regularly(self) -> None:
        while True:
            await asyncio.sleep(KEEP_S)
            with contextlib.suppress(Exception):  # a full disk: it tries again
                await self.keep()

    async def end(self) -> None:
        await self._app.program.stop.stop_all("app_shutdown")
        await self.keep()
        self._tell("closed", **self._seen())
        self._tabs.close()

    async def rest(self) -> None:
        """Until nothing is under way."""
        tabs = self._tabs
        while any(tab.is_running for tab in tabs.all) or self._app.program.tasks.handles:  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    async def _stored(self, session_id: str) -> list[Any]:
        stored = await self._tabs.shelf.read(self._root, session_id)
        return shapes(stored.items)

    @property
    def _model(self) -> ConversationViewModel:
        """The conversation in front."""
        return self._tabs.front

    def _seen(self) -> dict[str, Any]:
        begun = [tab for tab in self._tabs.all if not tab.transcript.is_unread]
        # By their order, not by their place: a tab in which nothing stands is not brought back.
        new = [tab.unsent for tab in self._tabs.all if not tab.session_id and tab.unsent]
        return {
            "tabs": [tab.session_id or tab.unsent for tab in self._tabs.all],
            "front": self._model.session_id or self._model.unsent,
            "known": [info.session_id for info in self._tabs.shelf.sessions],
            "rows": {tab.session_id: shapes(tab.rows()) for tab in begun if tab.session_id},
            "drafts": self._tabs.drafts() | {f"new tab {at}": text for at, text in enumerate(new)},
        }

    def _on_change(self) -> None:
        self._changes += 1
        for tab in self._tabs.all:
            for card in tab.items:
                if isinstance(card, Confirmation) and card.state == "open":
                    asyncio.get_running_loop().call_soon(tab.asking.calls.answer, card.key, "allow")

    # --- steps ---------------------------------------------------------------------------------------

    async def step(self, kind: str, number: int) -> None:
        self._tell("step", kind=kind, number=number)
        await getattr(self, kind)(number)
        await self.rest()
        await self.keep_or_fail()
        seen = self._seen()
        self._tell("rested", **seen, stored={key: await self._stored(key) for key in seen["rows"]})

    async def keep_or_fail(self) -> None:
        """What the next look of the window would write; on a full disk it would try again."""
        with contextlib.suppress(Exception):
            await self.keep()

    def _written(self, words: str) -> str:
        """What stands in the message box when these words are typed behind what is there."""
        self._model.draft = f"{self._model.draft}\n{words}".strip()
        self._typed += 1
        self._tell("typed", text=words)
        return self._model.draft

    def _send(self, words: str) -> None:
        text = self._written(words)
        self._model.set_choice(self._choice)
        if self._model.send(text) is not None:
            self._model.draft = text  # refused: it stays in the box

    async def _until_changes(self, count: int) -> None:
        wanted = self._changes + count
        while self._model.is_running and self._changes < wanted:  # noqa: ASYNC110 - or its end
            await asyncio.sleep(0.001)

    async def type(self, number: int) -> None:
        self._written(f"typed #{number}")

    async def say(self, number: int) -> None:
        self._send(f"say #{number}")

    async def write(self, number: int) -> None:
        self._send(f"write #{number}")

    async def fail(self, number: int) -> None:
        self._send(f"fail #{number}")

    async def say_and_stop(self, number: int) -> None:
        self._send(f"slow #{number}")
        await self._until_changes(number % 9)
        self._model.stop()

    async def queue(self, number: int) -> None:
        self._send(f"slow #{number}")
        await self._until_changes(1)
        for other in range(1 + number % 3):
            self._send(f"say #{number}.{other}")
        await self._until_changes(number % 5)
        entries = self._model.queue.entries
        if entries and number % 4 == 1:
            self._model.queue.move(entries[-1].key, -1)
        elif entries and number % 4 == 2:
            self._model.queue.edit(entries[0].key)
            self._typed += 1
            words = f"say #{number}.edited"
            self._tell("typed", text=words)
            self._tell("gone", text=entries[0].text)
            self._model.queue.keep(entries[0].key, words)
        elif entries and number % 4 == 3:
            self._tell("gone", text=entries[0].text)
            self._model.queue.remove(entries[0].key)
        if number % 2:
            await self._until_changes(number % 7)
            self._model.stop()

    async def new(self, _number: int) -> None:
        self._model.new_conversation()

    async def new_tab(self, _number: int) -> None:
        self._tabs.new()

    async def next_tab(self, number: int) -> None:
        self._tabs.step(1 if number % 2 else -1)

    async def close_tab(self, _number: int) -> None:
        self._tabs.remove(self._model)

    async def side_by_side(self, number: int) -> None:
        """Two answers stream at the same time; one may be stopped, or its tab closed."""
        self._send(f"slow #{number}")
        first = self._model
        if len(self._tabs.all) > 1:
            self._tabs.step(1)
        else:
            self._tabs.new()
        self._send(f"slow #{number}.b")
        await self._until_changes(number % 9)
        if number % 3 == 0:
            first.stop()
        elif number % 3 == 1 and first is not self._model:
            self._tell("left", session=first.session_id)
            self._tabs.remove(first, goes_on=bool(number % 2))

    async def open(self, number: int) -> None:
        if sessions := self._tabs.shelf.sessions:
            self._tabs.open_session(sessions[number % len(sessions)].session_id)

    async def rename(self, number: int) -> None:
        if sessions := self._tabs.shelf.sessions:
            chosen = sessions[number % len(sessions)].session_id
            (self._tabs.holder(chosen) or self._model).transcript.rename(chosen, f"name {number}")

    async def delete(self, number: int) -> None:
        if sessions := self._tabs.shelf.sessions:
            chosen = sessions[number % len(sessions)].session_id
            said = [row[1] for row in await self._stored(chosen) if row[0] == "user"]
            self._tell("deleted", session=chosen, text="\n".join(said))
            (self._tabs.holder(chosen) or self._model).transcript.delete(chosen)

    async def compress(self, number: int) -> None:
        if self._model.transcript.can_compress:
            await self._model.transcript.compress(keep=1 + number % 2, pinned=(), prepared=None)

    async def restore(self, _number: int) -> None:
        rows = [item for item in self._model.items if isinstance(item, CompressedRow) and item.can_restore]
        if rows:
            self._model.transcript.restore(rows[-1].key)

    async def undo(self, _number: int) -> None:
        cards = [item for item in self._model.items if isinstance(item, OperationCard)]
        if cards:
            self._model.undo(cards[-1].key)

    async def go_on(self, _number: int) -> None:
        marks = [item for item in self._model.items if isinstance(item, Interrupted) and item.can_continue]
        if marks and marks[-1].reason != "unanswered":  # its row has no such button
            self._model.set_choice(self._choice)
            WaysOn(self._model, self._start).go_on(marks[-1].key)

    async def again(self, number: int) -> None:
        """The button of an error, of an answer that was broken off, or of the newest one."""
        marks = [item for item in self._model.items if isinstance(item, Interrupted | ErrorBlock)]
        self._model.set_choice(self._choice)
        ways = WaysOn(self._model, self._start)
        said = [item for item in self._model.items if isinstance(item, UserText)]
        if said:
            self._replaces(said[-1])
        if number % 2:
            self._model.versions.regenerate_last()
        elif marks and isinstance(marks[-1], ErrorBlock):
            ways.retry(marks[-1].key)
        elif marks:
            ways.regenerate(marks[-1].key)

    async def edit(self, number: int) -> None:
        """Say something else in the place of an earlier message, and of all that came behind it."""
        said = [item for item in self._model.items if isinstance(item, UserText) and item.can_edit]
        chosen = said[number % len(said)] if said else None
        if chosen is None or self._model.versions.edit(chosen.key) is not None:
            return
        if not self._model.versions.is_editing:  # it was in no transcript, and stands in the input again
            return
        self._replaces(chosen)
        words = f"{'slow' if number % 2 else 'say'} #{number}.v"
        self._model.versions.note_row(chosen.key, words)
        self._typed += 1
        self._tell("typed", text=words)
        self._model.set_choice(self._choice)
        self._model.versions.send_row(chosen.key, words)
        if number % 3:
            await self._until_changes(number % 9)
            self._model.stop()

    async def goals(self, number: int) -> None:
        """See how goals stand, or take back what the newest card about them has changed; half of the time
        while an answer comes."""
        if number % 2:
            self._send(f"slow #{number}")
            await self._until_changes(number % 9)
        model = self._model
        known = next((item for item in model.items.backwards() if isinstance(item, GoalsNow)), None)
        card = GoalsNow(key=new_ulid(), path="f.cir", run=number)
        if known is not None and not number % 3:
            card = replace(known, is_undone=not known.is_undone)
        is_at_rest = model.can_change
        is_written = bool(model.session_id) and not model.outbox.unwritten
        problem = await model.transcript.keep_goals(card)
        if problem is None and (is_at_rest or (is_written and self._streams(model))):
            self._tell("carded", session=model.session_id, key=card.key, row=shape(card))

    @staticmethod
    def _streams(model: ConversationViewModel) -> bool:
        """Whether an answer is under way, so that its run has the conversation open."""
        return any(isinstance(row, AnswerText) and row.is_streaming for row in model.rows())

    async def branch(self, number: int) -> None:
        """Go on from the end, or from a message, in a tab beside."""
        said = [item for item in self._model.items if isinstance(item, UserText | AnswerText)]
        chosen = said[number % len(said)] if said and number % 3 else None
        found = await self._model.transcript.branch("" if chosen is None else chosen.key)
        if isinstance(found, str):
            if isinstance(chosen, UserText):
                self._model.shelf.drafts[self._root, found] = chosen.text
            self._tabs.open_session(found, beside=True)

    async def look(self, number: int) -> None:
        """See an earlier version of a message, with what stood behind it, and then what stands again."""
        said = [item for item in self._model.items if isinstance(item, UserText) and len(item.versions) > 1]
        if said:
            chosen = said[number % len(said)]
            self._model.versions.look(chosen.key, "-1")
            await self.rest()
            self._model.versions.leave()
            self._model.tell()

    async def taken_over(self, number: int) -> None:
        """Somebody else asks for the conversation while an answer comes."""
        self._send(f"slow #{number}")
        await self._until_changes(1 + number % 9)
        if self._model.session_id:
            with contextlib.suppress(CircuitAIError):  # it ended by itself before
                await self._app.conversations.sessions.take_over(self._root, self._model.session_id)

    def _replaces(self, said: UserText) -> None:
        self._tell("replaces", session=self._model.session_id, text=said.text)

    async def fill(self, _number: int) -> None:
        """The disk is full from here on."""
        await asyncio.to_thread(fill, self._root.parent / FILLER)

    async def free(self, _number: int) -> None:
        (self._root.parent / FILLER).unlink(missing_ok=True)


def fill(path: Path) -> None:
    """Take all the room of the file system."""
    piece = _PIECE
    with path.open("ab") as file:
        while piece:
            try:
                os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, piece)
            except OSError:
                piece //= 2


class Reaper:
    """Ends the process at a moment of its own choosing, once it is armed."""

    def __init__(self, end: dict[str, Any]) -> None:
        self._kind, self._left = end.get("kind", ""), end.get("after", 0)
        self.is_armed = False
        if self._kind == "kill":
            watch_moments(self._count)
        elif self._kind == "torn":
            real = os.write

            def write(descriptor: int, data: Any) -> int:
                if self.is_armed and Path(f"/proc/self/fd/{descriptor}").readlink().suffix == ".jsonl":
                    self._left -= 1
                    if self._left <= 0:
                        real(descriptor, bytes(data)[: len(data) // 2])
                        os.kill(os.getpid(), signal.SIGKILL)
                return real(descriptor, data)

            os.write = write

    def _count(self) -> None:
        if self.is_armed:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def end(self) -> None:
        """The last step had fewer moments: now, then."""
        if self._kind:
            os.kill(os.getpid(), signal.SIGKILL)


async def live(order: dict[str, Any]) -> dict[str, Any]:
    tell = Journal(order["journal"])
    app = bootstrap.build(environment=os.environ | {USER_HOME_VARIABLE: order["home"]})
    app.program.events.bind()
    app.program.events.subscribe(TaskFailed, lambda event: tell("failed", error=repr(event.error)))
    reaper = Reaper(order["end"])
    life = Life(order, app, tell)
    await life.begin()
    keeping = asyncio.create_task(life.keep_regularly())
    try:
        for place, (kind, number) in enumerate(order["steps"]):
            reaper.is_armed = place == len(order["steps"]) - 1
            await life.step(kind, number)
        reaper.end()
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await life.end()
        await app.close()
    left = [str(path) for path in left_behind(order)]
    if order.get("forgets"):
        for place in ("project", "home"):
            shutil.rmtree(order[place])
    return {"left": left}


def left_behind(order: dict[str, Any]) -> list[Path]:
    """Temporary files, and locks of conversations that are gone."""
    files = [path for place in ("project", "home") for path in Path(order[place]).rglob("*")]
    temporary = [path for path in files if path.suffix == ".tmp"]
    locks = [path for path in files if path.suffix == ".lock" and path.parent.name == "conversations"]
    return temporary + [path for path in locks if path.with_suffix(".jsonl") not in files]


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    (Path(order["project"]).parent / FILLER).unlink(missing_ok=True)  # killed while it made room
    for path in left_behind(order):  # it was killed more than an hour ago
        dots = "." if path.suffix == ".tmp" else ""
        path.rename(path.with_name(f"{dots}01J{path.name[len(dots) + 3 :]}"))
    for transcript in Path(order["project"]).glob(".circuit_ai/conversations/*.jsonl"):
        if order.get("zeros"):  # a power cut: the file has its new length, and not its new content
            with transcript.open("ab") as file:
                file.write(b"\0" * order["zeros"])
    conversation.DELTA_INTERVAL_S = 0.02  # what streams in is written several times in a short answer
    try:
        return asyncio.run(live(order))
    except BaseException:
        traceback.print_exc()
        raise


def main() -> None:
    check_surroundings()
    import_everything()
    compiled_agent()  # else each life compiles the graph again
    gc.freeze()  # what is shared with the children stays so
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(in_fork(lambda order=order: carry_out(order))), flush=True)


if __name__ == "__main__":
    main()
