"""What is offered while one writes: behind @ names of the project, behind / ready sentences and acts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from PyQt6 import sip
from PyQt6.QtCore import QEvent, QObject, QPoint, Qt
from PyQt6.QtGui import QKeyEvent, QTextCursor
from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from application.groups.project import Project
from domain.circuit.netlist import NETLIST_SUFFIXES
from presentation.figures import number
from presentation.goal_margins import limit_text
from presentation.goal_words import name_of
from presentation.mentions import can_be_mentioned, mention
from presentation.panels.conversation.fields import Fields, Gap
from presentation.ready_sentences import READY_SENTENCES, ReadySentence
from presentation.study_words import title_of
from presentation.ui.hit_list import Hit, HitList
from presentation.ui.matching import score_of
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError
from shared.local_time import clock_time
from shared.message import Message, msg
from shared.paths import study_name

_NAME = re.compile(r'(?<![\w.@])@(?:"([^"\n]*)|([^\s"\'`，。；：！？、（）()<>\[\]{}@]*))$')
"""As the conversation reads a name (application.conversation.question), up to where it is written."""
_COMMAND = re.compile(r"/(\w*)$")
_WRITTEN = re.compile(r"/(\w+)(?:\s+(.+))?", re.DOTALL)
_OF_EACH_KIND = 3
_MOST = 10
_DIGITS = 3
_MOST_FILES, _MOST_NODES = 2000, 20_000
"""Looked through with each key."""

Kind = Literal["selection", "file", "node", "run", "study", "goal"]
_KINDS: Mapping[Kind, Callable[[str], Message]] = {
    "selection": lambda _: msg("Selection"),
    "file": lambda _: msg("Files"),
    "node": lambda name: msg("Nodes of {name}", name=name),
    "run": lambda _: msg("Results"),
    "study": lambda _: msg("Studies"),
    "goal": lambda name: msg("Goals of {name}", name=name),
}
"""Their headings, by the name of the circuit in front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """Something of the project that can be named."""

    kind: Kind
    text: str
    written: str
    """Behind the @."""
    detail: str = ""
    icon: str = "file-text"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A word behind a / at the beginning of a message."""

    word: str
    text: Message
    """What it does."""
    sentence: ReadySentence | None = None
    """Put in place of it, to be filled in and sent; of the circuit in front."""
    command: str = ""
    """Else the window's command that it carries out."""
    action: str = ""
    """What does the same by a key."""
    takes_text: bool = False
    """What stands behind the word is told to the command."""


COMMANDS = (
    *(SlashCommand(word=each.word, text=each.text, sentence=each) for each in READY_SENTENCES),
    SlashCommand(word="simulate", text=msg("Run the circuit in front"), command="run", action="run"),
    SlashCommand(
        word="goals",
        text=msg("Show the goals, or change them: /goals ripple below 2 mV"),
        command="goals",
        takes_text=True,
    ),
    SlashCommand(word="compress", text=msg("Compress the conversation"), command="compress"),
    SlashCommand(word="edit", text=msg("Edit your last message and send it again"), command="edit"),
    SlashCommand(word="regenerate", text=msg("Regenerate the last answer"), command="regenerate"),
    SlashCommand(word="branch", text=msg("Go on from here in a new conversation"), command="branch"),
    SlashCommand(word="model", text=msg("Choose another model"), command="model"),
    SlashCommand(
        word="mode", text=msg("Switch between free work and workflow"), command="mode", action="switchMode"
    ),
    SlashCommand(word="new", text=msg("New conversation"), command="new", action="new_conversation"),
    SlashCommand(word="history", text=msg("All conversations"), command="history", action="show_history"),
)


class Completion(QObject):
    """Offers above `edit`, inside `panel`; `acts` are what commands do, by name."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        edit: QPlainTextEdit,
        panel: QWidget,
        *,
        acts: Mapping[str, Callable[..., object]],
    ) -> None:
        super().__init__(edit)
        self._services = services
        self._project = project
        self._edit = edit
        self._panel = panel
        self._acts = acts
        self._names: tuple[Name, ...] = ()
        self._narrowed: Kind | None = None
        self._takes: tuple[Callable[[], object] | None, ...] = ()
        self._has_begun = False
        """What can be named has been asked for since the @."""
        self._is_left = False
        """Esc: what stands there is text, until another @ or / is begun."""
        self.list = HitList(services, panel)
        self.list.setObjectName("messageCompletion")
        self.list.taken.connect(self._take)
        self.list.hide()
        self.fields = Fields(services, edit)
        """Of the sentence that is written."""
        edit.textChanged.connect(self._follow)
        edit.installEventFilter(self)  # behind that of the fields, so that Tab in the list comes here
        # Of a panel that is taken down the list goes first, and the field may get the keyboard behind it.
        self.list.destroyed.connect(
            lambda _gone: None if sip.isdeleted(edit) else edit.removeEventFilter(self)
        )
        workspace = services.workspace
        workspace.project_closed.connect(self._forget)

    # --- what there is -------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._names = ()
        self.list.hide()

    async def _read(self, root: Path) -> None:
        """What can be named, as it is now; asked when an @ is begun."""
        browse, workspace = self._project.browse, self._services.workspace
        shown = workspace.shown_file or workspace.main_circuit
        names = [*self._selection(root)]
        names += [
            _name(
                "file",
                path.relative_to(root).as_posix(),
                icon="file-code" if _is_netlist(path) else "file-text",
            )
            for path in await browse.files(root, _MOST_FILES)
        ]
        if shown is not None and _is_netlist(shown):
            try:
                nodes = await browse.nodes(shown)
            except UserInputError:  # gone or not to be read: the editor tells
                nodes = {}
            volts = await self._voltages(shown)
            names += [
                _name("node", node, prefix="node:", icon="circle-dashed", detail=volts.get(node.lower(), ""))
                for node in islice(nodes, _MOST_NODES)
            ]
            for goal in await browse.goals(root, shown):
                label = self._services.language(name_of(goal))
                limit = limit_text(goal)
                names.append(_name("goal", label, written=f"goal:{goal.metric}", detail=limit, icon="target"))
        for result in await browse.results(root, with_studies=True):
            if result.study:
                text = f"{result.circuit.name} · {self._services.language(title_of(result.study))}"
                written = f"study:{study_name(result.path, result.study)}"
                names.append(
                    _name("study", text, written=written, detail=clock_time(result.created), icon="activity")
                )
                continue
            run = self._services.language(msg("Run {number}", number=result.number))
            text = f"{result.circuit.name} · {run}"
            written = f"run:{result.number}"
            names.append(
                _name("run", text, written=written, detail=clock_time(result.created), icon="chart-line")
            )
        if root == workspace.root:
            self._names = tuple(name for name in names if can_be_mentioned(name.written))
            self._follow()

    async def _voltages(self, circuit: Path) -> Mapping[str, str]:
        """Of nodes at the operating point of the circuit's newest run; said where the text was another."""
        newest = self._services.workspace.newest
        run = None if newest is None else await newest.run_of(circuit)
        if run is None or run[0].operating_point is None:
            return {}
        language, is_older = self._services.language, run[1]
        texts = {node: number(value, "V", _DIGITS) for node, value in run[0].operating_point.nodes.items()}
        return {
            node: language(msg("{value}, older text", value=text)) if is_older else text
            for node, text in texts.items()
        }

    def _selection(self, root: Path) -> Iterator[Name]:
        """The lines that are selected in the editor, as `FILE:FIRST-LAST`."""
        buffers = self._services.workspace.buffers
        found = None if buffers is None else buffers.selected_lines()
        if found is not None and found[0].is_relative_to(root):
            path, first, last = found
            lines = f"{first}-{last}" if last > first else f"{first}"
            yield _name("selection", f"{path.relative_to(root).as_posix()}:{lines}", icon="file-code")

    # --- while one types -----------------------------------------------------------------------------

    def _before(self) -> str:
        cursor = self._edit.textCursor()
        return self._edit.toPlainText()[: cursor.position()]

    def _follow(self) -> None:
        before = self._before()
        name, command = _NAME.search(before), _COMMAND.fullmatch(before)
        if name is None and command is None:
            self._is_left, self._has_begun, self._narrowed = False, False, None
            self.list.hide()
            return
        if self._is_left or not self._edit.hasFocus():
            self.list.hide()
            return
        if command is not None:
            self._offer_commands(command[1])
            return
        assert name is not None, "one of the two is there"
        wanted = name[1] if name[1] is not None else name[2]
        root = self._services.workspace.root
        if not self._has_begun and root is not None:
            self._has_begun = True
            self._services.start(self._read(root), kind="list names")
        self._offer_names(wanted, name.start())

    def _offer_names(self, wanted: str, start: int) -> None:
        shown = self._services.workspace.shown_file or self._services.workspace.main_circuit
        hits: list[Hit] = []
        kinds = [self._narrowed] if self._narrowed is not None else list(_KINDS)
        for kind in kinds:
            found = _best(wanted, [name for name in self._names if name.kind == kind])
            if not found:
                continue
            heading = _KINDS[kind](shown.name if shown is not None else "")
            hits.append(_heading(self._services.language(heading)))
            for name in found[: _MOST if len(kinds) == 1 else _OF_EACH_KIND]:
                act = partial(self._insert, start, mention(name.written))
                hits.append(Hit(text=name.text, detail=name.detail, icon=name.icon, act=act))
        if len(kinds) > 1 and sum(hit.is_heading for hit in hits) > 1:
            hits.append(_heading(self._services.language(msg("Tab: one kind only"))))
        self._show(hits)

    def _offer_commands(self, wanted: str) -> None:
        language = self._services.language
        hits = [
            Hit(
                text=f"/{each.word}",
                detail=self._services.with_key(language(each.text), each.action)
                if each.action
                else language(each.text),
                icon="terminal",
                act=partial(self._run, each),
            )
            for each in COMMANDS
            if each.word.startswith(wanted.casefold())
            and (each.sentence is not None or each.command in self._acts)
        ]
        self._show(hits)

    def _show(self, hits: Sequence[Hit]) -> None:
        if not any(not hit.is_heading for hit in hits):
            self.list.hide()
            return
        self._takes = tuple(None if hit.is_heading else hit.act for hit in hits)
        frame = self._edit.parentWidget() or self._edit
        corner = frame.mapTo(self._panel, QPoint(0, 0))
        self.list.offer(hits, above=corner, least_width=frame.width())

    def begin(self) -> None:
        """Write an @ where the caret is, as somebody who types would."""
        before = self._before()
        is_apart = not before or before[-1].isspace()
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self._edit.textCursor().insertText("@" if is_apart else " @")

    # --- keys ----------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """While something is offered: arrows choose, Enter takes, Tab narrows, Esc leaves."""
        if watched is not self._edit or event is None or not self.list.isVisible():
            return False
        if event.type() == QEvent.Type.FocusOut:
            self.list.hide()
        if not isinstance(event, QKeyEvent) or event.modifiers():
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # else it stops the answer
            return True
        return event.type() == QEvent.Type.KeyPress and self._press(event.key())

    def _press(self, key: int) -> bool:
        match key:
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                self.list.step(1 if key == Qt.Key.Key_Down else -1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._take(self.list.chosen)
            case Qt.Key.Key_Tab:
                self._narrow()
            case Qt.Key.Key_Escape:
                self._is_left = True
                self.list.hide()
            case _:
                return False
        return True

    def _narrow(self) -> None:
        """To the next kind that has something; behind the last to all again."""
        wanted = _NAME.search(self._before())
        if wanted is None:
            self._take(self.list.chosen)
            return
        kinds: list[Kind | None] = [None, *_KINDS]
        kinds = [kind for kind in kinds if kind is None or any(name.kind == kind for name in self._names)]
        self._narrowed = kinds[(kinds.index(self._narrowed) + 1) % len(kinds)]
        self._follow()

    def _take(self, row: int) -> None:
        act = self._takes[row] if 0 <= row < len(self._takes) else None
        self.list.hide()
        if act is not None:
            act()

    def _insert(self, start: int, text: str) -> None:
        cursor = self._edit.textCursor()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text + " ")
        self._narrowed = None
        self._edit.setFocus()

    def run_written(self, text: str) -> bool:
        """Carry out what is written as one of the window's commands; False for every other text."""
        written = _WRITTEN.fullmatch(text.strip())
        found = (each for each in COMMANDS if written is not None and each.word == written[1].casefold())
        command = next(found, None)
        if written is None or command is None or command.sentence is not None:
            return False
        if command.command not in self._acts or (written[2] and not command.takes_text):
            return False
        self._edit.clear()
        self._acts[command.command](*filter(None, (written[2],)))
        return True

    def _run(self, command: SlashCommand) -> None:
        sentence = command.sentence
        if sentence is None:
            self._edit.clear()
            self._acts[command.command]()
            return
        workspace = self._services.workspace
        shown, root = workspace.shown_file or workspace.main_circuit, workspace.root
        is_inside = shown is not None and root is not None and shown.is_relative_to(root)
        place = shown.relative_to(root).as_posix() if is_inside else ""  # type: ignore[union-attr, arg-type]
        circuit = mention(place) if place and can_be_mentioned(place) else ""
        named = circuit or self._services.language(msg("the circuit"))
        language = self._services.language
        gaps = {
            each.name: Gap(language(each.label), "" if each.usual is None else language(each.usual))
            for each in sentence.gaps
        }
        marked = {name: gap.marked for name, gap in gaps.items()}
        self.fields.insert(language(sentence.sentence(circuit=named, **marked)), tuple(gaps.values()))
        self._edit.setFocus()


def _heading(text: str) -> Hit:
    return Hit(text=text, detail="", icon="", act=lambda: None, is_heading=True)


def _name(kind: Kind, text: str, *, icon: str, prefix: str = "", written: str = "", detail: str = "") -> Name:
    return Name(kind=kind, text=text, written=written or prefix + text, detail=detail, icon=icon)


def _best(wanted: str, names: Sequence[Name]) -> list[Name]:
    scored = [(score, name) for name in names if (score := score_of(wanted, name.text)) is not None]
    return [name for _, name in sorted(scored, key=lambda each: each[0])]


def _is_netlist(path: Path) -> bool:
    return path.suffix.lower() in NETLIST_SUFFIXES
