"""What a conversation shows, one frozen object a row. Texts are messages: the view puts them into words."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeGuard

from application.conversation.goals_shown import GoalsNow
from application.ports.events import Done
from domain.llm.attachments import Attachment, PreparedAttachment
from domain.llm.chat import ProviderChoice, WebSource
from domain.llm.tools.confirmation_card import CallOnCard, CardAnswer, ConfirmationCard
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared import paths
from shared.message import Message, shortened

if TYPE_CHECKING:
    from application.tool_execution.taking_back import FileConflict, UndoChoice
    from domain.design.checkpoint_intent import CheckpointIntent, IntentKind
    from domain.llm.compression import Compression
    from domain.llm.costs import AnswerUse
    from domain.llm.tools.look import ToolLook
    from domain.llm.tools.pieces import Piece
    from domain.llm.tools.text_files import LineDiff
    from presentation.panels.conversation.charts import Chart
    from presentation.panels.conversation.study_charts import StudyPicture
    from presentation.progress_words import Progress
    from presentation.ui.previews import Preview

CardState = Literal["running", "done", "failed", "stopped", "not_run"]
"""stopped: by its user, or by an end of the program; nothing is wrong with it."""
Standing = Literal["none", "stands", "undoing", "undone"]
"""Of a change of a file: nothing to undo, it stands, it is being taken back, it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedItem:
    """A file or picture that goes, or went, with a message."""

    attachment: Attachment
    thumbnail: bytes = b""
    """Of a picture: PNG or JPEG, small."""
    prepared: PreparedAttachment | None = field(default=None, repr=False)
    """Its content, of one that was attached in this run of the program."""
    is_lost: bool = False
    """Its stored content is missing or damaged."""

    @classmethod
    def of(cls, attachment: Attachment) -> AttachedItem:
        return cls(attachment=attachment)

    @property
    def to_send(self) -> PreparedAttachment:
        """As it goes with a message; stored content is not needed again."""
        return self.prepared or PreparedAttachment(attachment=self.attachment)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEdit:
    """What is written in the place of a message, in its row."""

    text: str
    begins_another: bool = False
    """A design is at or behind the message: sent, it begins a conversation of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """What the user said."""

    key: str
    text: str
    created: str = ""
    """ISO 8601, UTC."""
    attached: tuple[AttachedItem, ...] = ()
    versions: tuple[str, ...] = ()
    """The ids of all versions at its place, the oldest first; () = there is only this one."""
    can_edit: bool = True
    """It can be sent again in another version."""
    edit: RowEdit | None = None
    """It is being changed where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """What the model said; while it streams the pieces are with the view and this holds what came first."""

    key: str
    text: str
    reasoning: str = ""
    model: str = ""
    created: str = ""
    is_streaming: bool = False
    thought_s: float | None = None
    """None when it was not measured (a stored answer)."""
    sources: tuple[WebSource, ...] = ()
    """Pages that web searches found for it."""
    use: AnswerUse | None = None
    """What it took; None while it comes."""
    can_regenerate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Narration:
    """What the designer said."""

    key: str
    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsCard:
    """The goals read from the sentence."""

    key: str
    goals: tuple[DesignGoal, ...]
    assumptions: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCard:
    """A tool that ran; `key` is the call's id, which is that of its operation too."""

    key: str
    tool: str
    path: str = ""
    """Relative to the project."""
    detail: str = ""
    """What it looked for, when it has no file."""
    state: CardState = "running"
    summary: Message | None = None
    duration_s: float | None = None
    can_end: bool = False
    """It can be ended by itself while it runs."""
    progress: Progress | None = None
    """How far it is, while it runs."""
    diff: LineDiff | None = None
    standing: Standing = "none"
    pieces: tuple[Piece, ...] | None = None
    """What became of each place it changed; None until somebody wants to see that."""
    is_new_file: bool = False
    problem: Message | None = None
    """Why an undo was refused."""
    conflicts: tuple[FileConflict, ...] = ()
    """Files that were changed since the operation, with what an undo would do and what was changed."""
    ways: tuple[UndoChoice, ...] = ()
    """What can be chosen about them."""
    tip: str = ""
    """The operation to undo next: this one, the undo of it, the undo of that ..."""
    study: StudyPicture | None = None
    """What a study found; put there by the view."""

    @property
    def look(self) -> ToolLook:
        return _look_of(self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationCard:
    """A run of the simulator, with the goals it was held against."""

    key: str
    tool: str = ""
    """What ran it; "" of a round that is told without a call."""
    path: str = ""
    state: CardState = "running"
    summary: Message | None = None
    duration_s: float | None = None
    can_end: bool = False
    progress: Progress | None = None
    """Both as in OperationCard."""
    result_path: str = ""
    """Where its result is, relative to the project; "" = where one of this call's own is."""
    verdicts: tuple[GoalVerdict, ...] = ()
    round_number: int = 0
    chart: Chart | None = None
    """Of its first curves; put there by the view."""

    @property
    def look(self) -> ToolLook:
        return _look_of(self.tool)


def charts_of(card: object) -> tuple[Chart | None, ...]:
    """The small pictures on a card."""
    if isinstance(card, OperationCard) and card.study is not None:
        return tuple(metric.chart for metric in card.study.metrics)
    return (card.chart,) if isinstance(card, SimulationCard) else ()


def has_result(item: object) -> TypeGuard[OperationCard | SimulationCard]:
    """Whether a card tells of a stored result that can be shown."""
    if isinstance(item, OperationCard):
        return item.state == "done" and item.look.card == "study"
    return isinstance(item, SimulationCard) and item.state == "done" and item.path != ""


def result_folder(root: Path, card: OperationCard | SimulationCard) -> Path:
    """The folder of the result a card tells of; it need not exist."""
    if isinstance(card, OperationCard):
        return paths.result_folder(root, card.key)
    told = PurePosixPath(card.result_path)  # of a transcript that may be a stranger's
    is_result = told.name == paths.RESULT_FILE and ".." not in told.parts
    if is_result and told.parent.parent == PurePosixPath(paths.PROJECT_FOLDER, paths.RESULTS_FOLDER):
        return root / told.parent
    return paths.result_folder(root, card.key)


def judged_apart(key: str, verdicts: tuple[GoalVerdict, ...]) -> SimulationCard:
    """The card of a round without a run of its own: told again, or there was nothing to be simulated."""
    is_measured = any(not math.isnan(verdict.measured.value) for verdict in verdicts)
    return SimulationCard(key=key, state="done" if is_measured else "not_run")


Choice = Literal["accept", "continue", "fix", "until", "goals", "undo", "stop", "resume", "anew"]
"""goals: go on with changed ones; until: go on without asking, as long as that is worth while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A question with buttons: a checkpoint, or a design that was interrupted."""

    key: str
    kind: Literal["checkpoint", "pending_run"]
    number: int = 0
    met: int = 0
    total: int = 0
    has_failed: bool = False
    """The last simulation did not finish."""
    text: str = ""
    """Of a design that waits: its sentence."""
    can_undo: bool = False
    is_exhausted: bool = False
    """Another round was asked for, and nothing could be gained."""
    rests: Message | None = None
    """Why no round follows by itself, though goals are missed."""
    all_met: bool = False
    """All that have to be; a wish may be missed."""
    state: Literal["open", "waits", "chosen", "expired"] = "open"
    """waits: no run is under way; a button takes the design up again and answers with it."""
    answer: str = ""
    is_behind_chip: bool = False
    """What was typed last is asked about; until that is answered no button of this card stands out."""

    @property
    def goals_met(self) -> bool:
        return self.all_met

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The buttons in order; the first is the filled one."""
        if self.kind == "pending_run":
            return ("resume", "anew")
        undo: tuple[Choice, ...] = ("undo",) if self.can_undo else ()
        if self.has_failed:  # there is nothing to be improved, or accepted, before it runs
            return ("fix", "until", "goals", *undo, "stop")
        if self.goals_met:
            further: tuple[Choice, ...] = (
                ("goals", "continue") if self.is_exhausted else ("continue", "goals")
            )
            return ("accept", *further, *undo, "stop")
        if self.is_exhausted:
            return ("goals", "continue", "accept", *undo, "stop")
        return ("continue", "until", "goals", "accept", *undo, "stop")

    def others(self, intent: CheckpointIntent) -> tuple[IntentKind, ...]:
        """What else a text may have meant here, what is harmless first."""
        kinds: list[IntentKind] = ["fix" if self.has_failed else "optimize", "continue", "goals"]
        kinds += ["instruction", "question", "accept"]
        kinds += ["undo"] if self.can_undo else []
        kinds += ["go_back", "stop"] if intent.round_number else ["stop"]
        return tuple(kind for kind in kinds if kind != intent.kind)

    @property
    def chosen(self) -> str:
        """The button of the answer; "" when it was answered in words that none of them stands for."""
        word = "continue" if self.answer in ("optimize", "until", "fix") else self.answer
        word = "fix" if word == "continue" and self.has_failed else word
        return word if word in self.choices else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a text typed at a checkpoint was taken."""

    key: str
    intent: CheckpointIntent
    state: Literal["asks", "taken", "waits", "closed", "dropped"] = "taken"
    """asks: nothing is done before a click; taken: it was carried out, and can still be corrected; waits: the
    next checkpoint is answered with it; closed: nothing of it can be chosen any more; dropped: nor was it
    done."""
    others: tuple[IntentKind, ...] = ()
    """What it can be corrected to."""
    changed: tuple[DesignGoal, ...] = ()
    """The goals that it changes."""
    before: tuple[DesignGoal, ...] = ()
    """Those that hold while it asks."""
    verdicts: tuple[GoalVerdict, ...] = ()
    """Of the round that is asked about: with its figures the changed goals are met or missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Calls of an answer that wait for the user's permission, or had it; `key` is the card's id."""

    key: str
    card: ConfirmationCard
    answers: Mapping[str, CardAnswer] = field(default_factory=dict)
    """By call, as far as they are given."""
    state: Literal["open", "answered", "expired"] = "open"
    preview: Preview | None = None
    """What the calls would do to circuits, while they wait."""

    @property
    def left(self) -> tuple[CallOnCard, ...]:
        return tuple(call for call in self.card.calls if call.call_id not in self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBlock:
    """Why it did not go on, and the ways out."""

    key: str
    message: Message
    advice: Message | None = None
    error_type: str = ""
    model: str = ""
    """What did not answer, for people; "" = the built-in designer."""
    created: str = ""
    can_retry: bool = True
    can_begin_anew: bool = False
    """The question may fit into a conversation of its own: this one has become too long."""
    offers: tuple[ProviderChoice, ...] = ()
    """Other models of the user that could be asked instead."""
    is_spent: bool = False
    """A way out was taken, or something else was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """A turn that did not come to its end."""

    key: str
    reason: str
    """A stop reason: "user", "interrupted", "limit" ...; "unanswered": an error came instead of an answer."""
    created: str = ""
    characters: int = 0
    not_run: tuple[OperationCard | SimulationCard, ...] = ()
    """Its calls without a result."""
    can_continue: bool = True
    can_regenerate: bool = True
    """Of an answer; a design goes on, or another is begun."""
    of_design: bool = False
    """It was at work and not at its question; a chat meanwhile leaves it as it is."""
    note: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedElsewhere:
    """Another process has a run under way in this conversation; it is followed, and can be taken over."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The provider did not answer and is asked again after a while; gone when it does."""

    key: str
    reason: Message
    attempt: int
    """The one that failed, from 1; 0: it waits for its turn behind other requests, nobody knows how long."""
    ends: float
    """When the wait is over, on the clock of `time.monotonic`."""
    created: str = ""
    characters: int = 0
    """What has come of the answer so far, and is kept."""
    at_work: tuple[str, ...] = ()
    """Conversations whose requests it waits for, as far as they are known."""

    @property
    def left_s(self) -> float:
        """Seconds the wait takes yet, however often it was put on the screen."""
        return max(0.0, self.ends - time.monotonic())


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignEnd:
    """How a design ended."""

    key: str
    done: Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A line about the conversation itself."""

    key: str
    text: Message
    is_doubt: bool = False
    """It says what of the answer above is doubtful, or which goals its turn lost."""
    change: str = ""
    """A sentence that the button below gives to the design of this conversation, as a change of it."""
    is_new: bool = False
    """It asks for a circuit of its own instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Designable:
    """What the built-in designer designs: of each family a sentence that asks for a circuit."""

    key: str
    sentences: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedRow:
    """Older messages stand above it as they were; in what is sent a summary stands for them."""

    key: str
    done: Compression
    is_in_force: bool = True
    can_restore: bool = True


Step = AnswerText | OperationCard | SimulationCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Cards of one answer behind one line (`folding.py`), with the thoughts between them."""

    key: str
    items: tuple[Step, ...]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(item.key for item in self.items)


Item = (
    UserText
    | AnswerText
    | Narration
    | GoalsCard
    | GoalsNow
    | OperationCard
    | SimulationCard
    | Decision
    | Understood
    | Confirmation
    | ErrorBlock
    | Interrupted
    | Retry
    | WorkedElsewhere
    | DesignEnd
    | CompressedRow
    | Designable
    | Note
    | Steps
)


@dataclass(frozen=True, slots=True)
class ScrollPlace:
    """Which row is the first that is seen, and how far its upper edge is above the view's, in pixels."""

    key: str = ""
    """"" = the end is seen, and kept in sight."""
    above: int = 0
    is_marked: bool = False
    """It was looked for: the row stands out for a moment."""


END = ScrollPlace()
MARKED_MS = 2_500
"""So long a row that was looked for stands out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Everything is another conversation's now."""

    items: tuple[Item, ...]
    place: ScrollPlace = ScrollPlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """An item behind all others."""

    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """An item of a known key is another."""

    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """An item is gone."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """An answer under way has grown; the pieces of one flush joined."""

    key: str
    text: str = ""
    reasoning: str = ""


Change = Reset | Added | Updated | Removed | Streamed

_AT_ONCE = 6_000
"""Characters of rows that are drawn in one turn of the loop; each row counts as some."""


def count_at_once(items: Sequence[Item], most: int) -> int:
    """How many of the last of these are drawn at once: `most`, or fewer long ones, one at least."""
    drawn = 0
    for count, item in enumerate(reversed(items[-most:]), 1):
        text = getattr(item, "text", "")
        drawn += 100 + (len(text) if isinstance(text, str) else 0)
        if drawn >= _AT_ONCE:
            return count
    return min(most, len(items))


_LONGEST_NAME = 4_096
"""Characters of what a call is about; no path is longer (PATH_MAX)."""
NO_FAULT = frozenset(("stopped", "interrupted"))
"""Kinds of a call's failure (`error_type`) that say only that it was not let finish."""


def end_state(*, success: bool, error_type: str) -> CardState:
    """The state of the card of a call that has ended."""
    if success:
        return "done"
    return "stopped" if error_type in NO_FAULT else "failed"


def card_of(call_id: str, tool: str, arguments: Mapping[str, object]) -> OperationCard | SimulationCard:
    path = _first_text(arguments, ("path", "file_path", "result_path", "source"))
    if _look_of(tool).card == "simulate":
        return SimulationCard(key=call_id, tool=tool, path=path)
    detail = _first_text(arguments, ("query", "symbol_name", "pattern", "directory"))
    return OperationCard(key=call_id, tool=tool, path=path, detail=detail)


def _look_of(tool: str) -> ToolLook:
    """Imported late: the tools are slow to import, and are there (`warm_up`) before the first card."""
    from application.tool_execution.registry import look_of

    return look_of(tool)


def _first_text(arguments: Mapping[str, object], names: tuple[str, ...]) -> str:
    found = (arguments.get(name) for name in names)
    return shortened(next((value for value in found if isinstance(value, str) and value), ""), _LONGEST_NAME)


@dataclass(slots=True)
class ItemList:
    """The items in order, and what changed since somebody looked."""

    _items: dict[str, Item] = field(default_factory=dict)
    _changes: list[Change] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        return iter(tuple(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: str) -> Item | None:
        return self._items.get(key)

    def backwards(self) -> Iterator[Item]:
        """The newest first."""
        return reversed(self._items.values())

    def last(self) -> Item | None:
        return next(reversed(self._items.values()), None)

    def reset(self, items: tuple[Item, ...] = (), place: ScrollPlace = ScrollPlace()) -> None:
        self._items = {item.key: item for item in items}
        self._changes = [Reset(items=items, place=place)]

    def become(self, items: tuple[Item, ...]) -> None:
        """Be these; what was there already keeps its place, unless they are others or in another order."""
        wanted = {item.key: item for item in items}
        kept = [key for key in self._items if key in wanted]
        if not kept or kept + [key for key in wanted if key not in self._items] != list(wanted):
            self.reset(items)
            return
        for key in [key for key in self._items if key not in wanted]:
            self.remove(key)
        for item in items:
            self.put(item)

    def put(self, item: Item) -> None:
        """Add an item, or replace the one of its key."""
        is_known = item.key in self._items
        if is_known and self._items[item.key] == item:
            return
        self._items[item.key] = item
        self._changes.append(Updated(item=item) if is_known else Added(item=item))

    def remove(self, key: str) -> None:
        if self._items.pop(key, None) is not None:
            self._changes.append(Removed(key=key))

    def streamed(self, key: str, text: str, reasoning: str) -> None:
        self._changes.append(Streamed(key=key, text=text, reasoning=reasoning))

    def take_changes(self) -> list[Change]:
        changes, self._changes = self._changes, []
        newest = {change.item.key: at for at, change in enumerate(changes) if isinstance(change, Updated)}
        return [
            change
            for at, change in enumerate(changes)
            if not isinstance(change, Updated) or newest[change.item.key] == at
        ]
