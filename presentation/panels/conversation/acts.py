"""What a click in the messages does."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, cast

from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QDesktopServices

from application.conversation.goals_shown import GoalsNow
from application.groups.conversations import Conversations
from application.groups.project import Project
from application.tool_execution.taking_back import UndoChoice
from domain.design.checkpoint_intent import IntentKind
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.code_blocks import CodeKeeper
from presentation.panels.conversation.composer import Composer
from presentation.panels.conversation.elsewhere import take_over
from presentation.panels.conversation.goals_command import GoalsCommand
from presentation.panels.conversation.intake import show_attached
from presentation.panels.conversation.items import (
    AnswerText,
    Choice,
    Designable,
    ErrorBlock,
    Interrupted,
    Item,
    Note,
    OperationCard,
    Retry,
    SimulationCard,
    UserText,
    result_folder,
)
from presentation.panels.conversation.markup import code_in
from presentation.panels.conversation.names import Act
from presentation.panels.conversation.project_names import ProjectNames
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.panels.conversation.words import busy
from presentation.translation import GivenName
from presentation.ui.parts import copy_text
from presentation.ui.workspace import WindowServices
from shared import paths
from shared.message import Message, msg


@dataclass(frozen=True, slots=True, eq=False)
class Acts:
    """Called with the action, the key of its row and an argument; `say` tells why something was not done."""

    services: WindowServices
    model: ConversationViewModel
    composer: Composer
    say: Callable[[Message | None], None]
    _: KW_ONLY
    project: Project
    conversations: Conversations
    names: ProjectNames
    goals: GoalsCommand
    focus_field: Callable[[], None]
    """The keyboard goes to the row that is written in."""
    branch: Callable[[str], None]
    """Go on from a message in another conversation."""

    def __call__(self, act: str, key: str, argument: str) -> None:
        """Do it; an action nobody knows is none."""
        model = self.model
        ways = WaysOn(model, lambda work: self.services.start(work, kind="sessions"))
        runs: dict[str, Callable[[str], Message | None]] = {
            "undo": lambda card: model.undo(card, cast("UndoChoice", argument) if argument else None),
            "pieces": self._pieces,
            "turn_piece": lambda card: self._pieces(card, argument),
            "answer": lambda card: model.design.answer(card, cast("Choice", argument)),
            "intent": lambda chip: model.design.correct(chip, cast("IntentKind", argument)),
            "go_on": ways.go_on,
            "regenerate": ways.regenerate,
            "retry": ways.retry,
            "offline": ways.retry_offline,
            "anew": ways.ask_anew,
            "restore": model.transcript.restore,
            "edit": self.edit,
            "change_design": model.change_design,
            "resend": lambda said: model.versions.send_row(said, argument),
            "version": lambda said: model.versions.look(said, argument),
            "switch": lambda card: ways.switch(card, argument),
        }
        others: dict[str, Callable[[], object]] = {
            "confirm": lambda: self._confirm(key, argument),
            "preview": lambda: model.window.want_preview(key),
            "give_up": lambda: ways.give_up(key),
            "row_text": lambda: model.versions.note_row(key, argument),
            "leave_edit": self._leave_edit,
            "take_over": self._take_over,
            "branch": lambda: self.branch(key),
            "end_call": lambda: self.conversations.chat.deps.running.end(key),
            "skip_wait": lambda: self.conversations.chat.deps.running.end(model.session_id),
            "again": lambda: self.say(model.versions.regenerate(key)),
            "stop": model.stop,
            "model": self.composer.model_button.showMenu,
            "designable": lambda: self.services.start(self._show_designable(key), kind="designable"),
            "open": lambda: self._open_file(argument or str(getattr(model.items.get(key), "path", ""))),
            "log": lambda: self._open_of_result(key, paths.LOG_FILE),
            "table": lambda: self._open_of_result(key, paths.ROWS_FILE),
            "trace": lambda: self._show_in_results("trace", key, argument),
            "measure": lambda: self._show_in_results("measure", key, argument),
            "plot": lambda: self._show_waveforms(key),
            "run_again": lambda: self._run_again(key),
            "goals_edit": lambda: self.goals.edit(model, key),
            "goals_turn": lambda: self.goals.turn(model, key),
            "insert_code": lambda: self._keep_code(key, argument, run=False),
            "run_code": lambda: self._keep_code(key, argument, run=True),
            **{name: lambda: only_read(model.rows(), act, key, argument) for name in READING},
            "quote": lambda: self._quote(argument),
            "ask": lambda: self._ask(argument),
            "attachment": lambda: self._show_attachment(key, argument),
        }
        if act in runs:
            self.say(runs[act](key))
        elif act in others:
            others[act]()

    def edit(self, key: str = "") -> Message | None:
        """The message (the last one) is a field in its row; there is the caret."""
        versions = self.model.versions
        problem = versions.edit(key) if key else versions.edit_last()
        if versions.is_editing:
            self.focus_field()
        else:  # it was taken back, or cannot be edited now
            self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return problem

    def _leave_edit(self) -> None:
        self.model.versions.cancel()
        self.composer.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _pieces(self, key: str, number: str = "") -> Message | None:
        """The pieces of a change, or one of them taken back or put back."""
        if self.model.root is None:
            return None
        if self.model.is_running:
            return msg("A run is using the files. Stop it before undoing a change.")
        if number.isdecimal():
            self.model.pieces.turn(self.model.root, key, int(number))
        else:
            self.model.pieces.look(self.model.root, key)
        return None

    def _confirm(self, key: str, argument: str) -> None:
        """Answer a card of calls; a refusal takes what is written in the message box as its reason."""
        reason = self.composer.text.strip() if argument.startswith("refuse") else ""
        if self.model.asking.calls.answer(key, argument, reason) and reason:
            self.composer.set_text("")

    def _take_over(self) -> None:
        model = self.model
        if model.root is not None and model.session_id:
            place, sessions = (model.root, model.session_id), self.conversations.sessions
            work = take_over(self.services, self.composer, sessions, place, self.say)
            self.services.start(work, kind="question")

    def _keep_code(self, key: str, number: str, *, run: bool) -> None:
        root, session_id = self.model.root, self.model.session_id
        text = code_of(self.model.rows(), key, number)
        if root is not None and text.strip():

            def put(card: OperationCard) -> None:
                if self.model.session_id == session_id:
                    self.model.replace_item(card)

            keeper = CodeKeeper(self.services, self.project, self.composer, put, self.say)
            work = keeper.keep(text, root, session_id=session_id, answer=key, run=run)
            self.services.start(work, kind="netlist", scope=key)

    async def _show_designable(self, key: str) -> None:
        """A row, at the end, with what the built-in designer designs."""
        sentences = await asyncio.to_thread(_sentences)
        self.model.replace_item(Designable(key=f"{key}-designable", sentences=sentences))

    def _ask(self, text: str) -> None:
        self.composer.set_text(text)
        self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _quote(self, text: str) -> None:
        """Put a text into the message that is written, as a quotation, with a line below to write on."""
        quoted = "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
        before = self.composer.text.rstrip()
        self.composer.set_text("\n\n".join(filter(None, (before, quoted))) + "\n\n")
        self.composer.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _open_file(self, argument: str) -> None:
        path, _, line = argument.rpartition(":") if ":" in argument else (argument, "", "")
        root = self.model.root
        if root is None or not path or not _is_within(root, path):
            return
        at = int(line) if line.isdecimal() and int(line) > 0 else None
        self.services.workspace.file_activated.emit(root / path, at)

    def _show_in_results(self, act: Act, key: str, name: str) -> None:
        """A signal or a figure in the newest run of the circuit of the turn, else of the main one."""
        root, main = self.model.root, self.services.workspace.main_circuit
        if root is None:
            return
        wanted = [*circuits_near(tuple(self.model.items), key)]
        if main is not None and main.is_relative_to(root):
            wanted.append(main.relative_to(root).as_posix())
        circuit = self.names.names.circuit_of(act, name, tuple(wanted))
        if not circuit:
            self.say(msg("No circuit of this conversation was simulated."))
            return
        self.services.start(self._find_run(root, circuit, act, name), kind="show in results")

    async def _find_run(self, root: Path, circuit: str, act: Act, name: str) -> None:
        workspace = self.services.workspace
        results = await self.project.browse.results(root)
        place = workspace.views.place_of
        runs = (each for each in results if place(each.circuit, each.created) == root / circuit)
        newest = next((each for each in runs if each.ok), None)
        if newest is None:
            self.say(msg("{circuit} has no result yet. Run it, then click again.", circuit=circuit))
            return
        self.say(None)
        (workspace.trace_wanted if act == "trace" else workspace.measurement_wanted).emit(newest.path, name)

    def _result_folder(self, key: str) -> Path | None:
        root, card = self.model.root, self.model.items.get(key)
        if root is None or not isinstance(card, OperationCard | SimulationCard):
            return None
        return result_folder(root, card)

    def _show_waveforms(self, key: str) -> None:
        folder = self._result_folder(key)
        if folder is not None:
            self.services.workspace.result_selected.emit(folder / paths.RESULT_FILE)

    def _run_again(self, key: str) -> None:
        """The circuit of a card of goals, or of a simulation that was stopped; the main one where the call
        named none."""
        card, root = self.model.items.get(key), self.model.root
        workspace = self.services.workspace
        if isinstance(card, GoalsNow | SimulationCard) and card.path and root is not None:
            if not _is_within(root, card.path):
                return  # of a transcript that may be a stranger's
            workspace.circuit_run_requested.emit(root / card.path)
        elif isinstance(card, SimulationCard):
            workspace.main_run_requested.emit()

    def _open_of_result(self, key: str, name: str) -> None:
        folder = self._result_folder(key)
        if folder is not None:
            self.services.workspace.file_activated.emit(folder / name, None)

    def _show_attachment(self, key: str, argument: str) -> None:
        item, root = self.model.items.get(key), self.model.root
        number = int(argument) if argument.isdecimal() else -1
        if root is not None and isinstance(item, UserText) and 0 <= number < len(item.attached):
            show_attached(self.services, self.conversations, self.composer, root, item.attached[number])


READING = ("copy", "copy_text", "copy_code", "link")
"""What can be done with rows that are only looked at."""


def only_read(rows: Sequence[Item], act: str, key: str, argument: str) -> None:
    """Copy something of a row, or open an address of it: one of `READING`."""
    if act == "link":
        url = QUrl(argument)
        if url.scheme() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)
        return
    item = next((row for row in rows if row.key == key), None)
    said = item.text if isinstance(item, UserText | AnswerText) else ""
    text = {"copy": said, "copy_text": argument}.get(act) or code_of(rows, key, argument)
    if text:
        copy_text(text)


def code_of(rows: Sequence[Item], key: str, number: str) -> str:
    """The text of a code block of an answer, also of one that still comes; "" when there is none."""
    item = next((row for row in rows if row.key == key), None)
    code = code_in(item.text) if isinstance(item, AnswerText) else ()
    return code[int(number)] if number.isdecimal() and int(number) < len(code) else ""


def _is_within(root: Path, path: str) -> bool:
    return Path(os.path.normpath(root / path)).is_relative_to(root)


def _sentences() -> tuple[Message, ...]:
    """One of each family of circuits, in the language of the window."""
    from domain.design.catalogue import FAMILIES  # all families: where somebody asks for them

    return tuple(
        GivenName("{text}", {"text": each.examples["zh"]}, msg("{text}", text=each.examples["en"]))
        for each in FAMILIES.values()
    )


def circuits_near(items: Sequence[Item], key: str) -> Iterator[str]:
    """Circuits that were simulated in the turn of a row: the last before it, then those behind it."""
    place = next((number for number, item in enumerate(items) if item.key == key), len(items))
    for row in itertools.chain(
        itertools.takewhile(lambda item: not isinstance(item, UserText), reversed(items[: place + 1])),
        itertools.takewhile(lambda item: not isinstance(item, UserText), items[place + 1 :]),
    ):
        if isinstance(row, SimulationCard) and row.path:
            yield row.path


class WaysOn:
    """What the buttons of an interruption or an error do; each gives the reason when it can't be now."""

    def __init__(
        self, model: ConversationViewModel, start: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        """`start` runs what takes a while."""
        self._model = model
        self._start = start

    def go_on(self, key: str) -> Message | None:
        model = self._model
        item = model.items.get(key)
        if not isinstance(item, Interrupted) or not item.can_continue or model.root is None:
            return None
        if model.is_running:
            return busy()
        is_open = item.reason == "interrupted"  # any other turn was closed with what it had
        model.mode = "workflow" if item.of_design else "free"
        if not item.of_design and self._broke_off(item):
            model.items.remove(key)  # the answer goes on in its place, and loses the mark
            model.resume()
            return None
        if item.of_design or is_open:  # what goes on shows itself
            model.items.remove(key)
        else:
            model.items.put(replace(item, can_continue=False))
        if item.of_design or is_open:
            model.resume()
            return None
        return model.begin(msg("Continue."))

    def _broke_off(self, mark: Interrupted) -> bool:
        """Whether what was interrupted is the text of an answer; else another has to be asked for."""
        before = itertools.takewhile(lambda row: row.key != mark.key, self._model.items)
        said = [row for row in before if not isinstance(row, ErrorBlock | Note | Retry)]
        return bool(said) and isinstance(said[-1], AnswerText) and bool(said[-1].text.strip())

    def retry(self, key: str) -> Message | None:
        """Say the last message again after an error."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        return self._again(replace(item, is_spent=True))

    def retry_offline(self, key: str) -> Message | None:
        """Say the last message again, to the built-in designer."""
        if self._model.is_running:
            return busy()
        self._model.set_choice(ProviderChoice())
        return self.retry(key)

    def switch(self, key: str, argument: str) -> Message | None:
        """Say the last message again, to an offered model, which answers this conversation from now on."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        if not argument.isdecimal() or int(argument) >= len(item.offers):
            return None
        if self._model.is_running:
            return busy()
        self._model.set_choice(item.offers[int(argument)])
        return self.retry(key)

    def ask_anew(self, key: str) -> Message | None:
        """Say the last message in a conversation of its own: this one is too long for the model."""
        item = self._model.items.get(key)
        if not isinstance(item, ErrorBlock) or item.is_spent:
            return None
        model = self._model
        if model.is_running:
            return busy()
        said = next((row for row in reversed(tuple(model.items)) if isinstance(row, UserText)), None)
        if said is not None:
            self._start(model.transcript.ask_in_new(said))
        return None

    def give_up(self, key: str) -> None:
        item = self._model.items.get(key)
        if isinstance(item, ErrorBlock):
            self._model.replace_item(replace(item, is_spent=True))
            self._model.take_back_unwritten()

    def regenerate(self, key: str) -> Message | None:
        """Ask for the interrupted answer anew: the same message once more, in its place."""
        item = self._model.items.get(key)
        if not isinstance(item, Interrupted) or not item.can_continue or self._model.mode == "workflow":
            return None
        return self._model.versions.regenerate(key)

    def _again(self, settled: ErrorBlock | Interrupted) -> Message | None:
        model = self._model
        if model.is_running:
            return busy()
        if model.mode == "workflow" and model.design.is_open:
            model.items.put(settled)
            model.resume()
            return None
        said = next((row for row in reversed(tuple(model.items)) if isinstance(row, UserText)), None)
        refusal = None if said is None else model.begin(said.text, said.attached)
        if refusal is not None:  # the message and the ways on stay
            return refusal
        if model.items.get(settled.key) is not None:  # else nothing of it was written: it is said once
            model.replace_item(settled)
        return None
