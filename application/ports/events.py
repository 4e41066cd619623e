"""What happens during a design, as facts for whoever watches (command line, window, tests).

Frozen dataclasses in the order in which they happened; the command line prints them as the JSON
lines of the contract. `Done` is always the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from domain.llm.costs import AnswerUse, Cost
from shared.events import Event
from shared.message import Message

if TYPE_CHECKING:  # a list of operations has none of these
    from domain.design.checkpoint_intent import IntentKind
    from domain.llm.chat import ProviderChoice, WebSource
    from domain.llm.compression import Compression
    from domain.llm.tools.confirmation_card import Answers, ConfirmationCard
    from domain.simulation.goals import DesignGoal, GoalVerdict

TurnEnd = Literal["completed", "stopped", "limit", "loop", "cut", "length", "content_filter", "error"]
"""How a turn of the agent ended; "cut": the answer ended without saying why, "loop": it went in circles."""

StopReason = Literal["goals_met", "goals_not_met", "stopped", "declined", "undone", "answered", "error"]
"""answered: what was said is no design; it was answered in the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(Event):
    """A run began; `session_id` is the thread id of its checkpoints."""

    session_id: str
    resumed_text: str = ""
    """The sentence of a design that goes on after an interruption."""
    problems: tuple[Message, ...] = ()
    """What of a conversation that is gone on with could not be read, or is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWritten(Event):
    """What the user said in a chat is on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEntered(Event):
    """A design entered a node, a turn of the agent a phase (`domain.llm.agentic_loop.phases`)."""

    phase: str
    round_number: int
    tokens: int = 0
    """Of the turn so far; 0 when nobody counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWritten(Event):
    """The designer says something to the user."""

    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """An effect or a simulation begins."""

    call_id: str
    name: str
    arguments: Mapping[str, object]
    can_be_ended: bool = False
    """By itself, while the run goes on (`RunningCalls`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded(Event):
    """It ended."""

    call_id: str
    name: str
    success: bool
    summary: Message
    error_type: str = ""
    """Of a failure: the word of its kind; "stopped" and "interrupted" are no fault of the call."""
    result_path: str = ""
    """Of a simulation: where its result is, relative to the project; an earlier one's where that was used."""
    duration_s: float | None = None
    """Of a simulation: how long ngspice ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStreamed(Event):
    """A piece of the model's answer; pieces join without a seam."""

    message_id: str
    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounted(Event):
    """An answer has ended: what it took."""

    use: AnswerUse


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesFound(Event):
    """What web searches found for an answer; told when the answer has ended."""

    message_id: str
    sources: tuple[WebSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled(Event):
    """The provider did not answer; it is asked again in `wait_s` seconds."""

    attempt: int
    wait_s: float
    reason: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitsForPlace(Event):
    """As many requests to the provider are under way as it may have at a time; this one waits."""

    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeTaken(Event):
    """The model failed before anything of its answer had come, and is asked in another way."""

    kind: Literal["context", "model"]
    """context: with fewer messages; model: another model."""
    text: Message
    """What failed, and what is done."""
    kept: int = 0
    """Of kind context: how many of the newest messages are sent."""
    provider: str = ""
    """Of kind model."""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentsLeftOut(Event):
    """Attachments of the conversation that the model does not get; told once a turn."""

    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionStarted(Event):
    """Earlier messages are being summarized, before the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCompressed(Event):
    """From now on a summary is sent in place of earlier messages."""

    compression: Compression
    text: Message
    """What was done, and what is left of the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Event):
    """A turn of the agent is over; nothing follows."""

    stop_reason: TurnEnd
    usage: Mapping[str, int] = field(default_factory=dict)
    note: Message | None = None
    """For a limit or a loop: which one, and how to go on; for an answer: what is doubtful about it."""
    context_tokens: int = 0
    """What the last request and its answer filled of the model's window; 0 when nobody counted."""
    cost: Cost = field(default_factory=Cost)
    """Of this turn."""
    session_cost: Cost = field(default_factory=Cost)
    """Of the whole conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsUnderstood(Event):
    """The sentence became goals."""

    goals: tuple[DesignGoal, ...]
    assumptions: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MainCircuitRestored(Event):
    """A round was put back, and with it the main circuit there was then."""

    path: str
    """Relative to the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationFinished(Event):
    """One round was simulated and judged."""

    number: int
    metrics: Mapping[str, float]
    verdicts: tuple[GoalVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointReached(Event):
    """The run waits for (or is given) a decision."""

    number: int
    circuit: str
    goals_met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAsked(Event):
    """A question was put to the user."""

    kind: Literal["goals", "checkpoint", "pending_run"]
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationNeeded(Event):
    """Calls of the agent wait for the user's permission."""

    card: ConfirmationCard


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationGiven(Event):
    """The user (or who answers for him) has answered."""

    card_id: str
    answers: Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentRead(Event):
    """What was typed at a checkpoint was read."""

    kind: IntentKind
    text: str
    """What was typed."""
    round_number: int = 0
    """Of "go_back": to which round."""
    told: tuple[Message, ...] = ()
    """What changes of the design beside its goals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorOccurred(Event):
    """The run can't go on."""

    error_type: str
    message: Message
    advice: Message | None
    offers: tuple[ProviderChoice, ...] = ()
    """Other models of the user that could be asked instead."""


UNDO_TOOL = "undo_change"
"""Name of the call by which a design takes a round back; its argument `operations` has what it undoes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done(Event):
    """The run ended; nothing follows."""

    stop_reason: StopReason
    project: Path
    circuit: str | None = None
    """Relative to the project; None when no circuit was made."""
    goals_met: bool = False
    verdicts: tuple[GoalVerdict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 0
    round_number: int = 0
    """Of the round whose circuit is in the files; an earlier one where that was put back."""
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    """Of the run."""
    session_cost: Cost = field(default_factory=Cost)
    """Of the whole conversation."""
    context_tokens: int = 0
    """What its last answer that was counted filled of the model's window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationProgressed(Event):
    """A simulation that a call asked for came further."""

    key: str
    """The id of the call."""
    share: float
    """0 to 1, by the time that is simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgressed(Event):
    """Runs of a sweep, Monte Carlo ... ended."""

    key: str
    """The id of the call that asked, or of the result."""
    kind: str
    done: int
    total: int
    """Runs asked for so far; a worst case asks again when it knows the signs."""
    failed: int
    rate_hz: float
    """Runs per second since the first one ended; 0 until it can be told."""
    remaining_s: float | None
    """None until it can be told."""
    best: Mapping[str, float] | None = None
    """Metrics of the run nearest to the goals; None without goals."""
    best_run: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationProgressed(Event):
    """Simulations of an optimisation ended."""

    key: str
    """The id of the call that asked, or of the result."""
    done: int
    budget: int
    failed: int
    rate_hz: float
    """Simulations per second since the beginning."""
    remaining_s: float | None
    """Until the budget is used up; it may end sooner. None until it can be told."""
    restarts: int
    best_run: int | None
    """The simulation that gave the best point so far."""
    best_parameters: Mapping[str, float]
    best_metrics: Mapping[str, float]
    violation: float | None
    """By how far the best point misses the goals (0 = it meets them); None before there is one."""
    objective: float | None
    """What is minimised once the goals are met, in units of its value at the start."""


DesignEvent = (
    SessionOpened
    | PhaseEntered
    | TextWritten
    | ToolStarted
    | ToolEnded
    | GoalsUnderstood
    | MainCircuitRestored
    | IterationFinished
    | CheckpointReached
    | ConfirmationAsked
    | IntentRead
    | ErrorOccurred
    | Done
)

ChatEvent = (
    SessionOpened
    | MessageWritten
    | PhaseEntered
    | AnswerStreamed
    | AnswerCounted
    | SourcesFound
    | RetryScheduled
    | WaitsForPlace
    | AlternativeTaken
    | AttachmentsLeftOut
    | CompressionStarted
    | ConversationCompressed
    | ToolStarted
    | ToolEnded
    | ConfirmationNeeded
    | ConfirmationGiven
    | ErrorOccurred
    | TurnEnded
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOperationDone(Event):
    """A logged operation changed files of a project."""

    project: Path
    op_id: str
    tool: str
    paths: tuple[str, ...]
    """Relative to the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOperationUndone(Event):
    """An operation was taken back; of an undo: it was done again."""

    project: Path
    op_id: str
    """The operation that was taken back."""
    tool: str
    paths: tuple[str, ...]
    """Relative to the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchStarted(Event):
    """The general web search asks an engine."""

    query: str
    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchCompleted(Event):
    """It has answered."""

    query: str
    server: str
    count: int
    """Pages found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchFailed(Event):
    """It did not, or not usably."""

    query: str
    server: str
    error_type: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChanged(Event):
    """Settings have other values; what is begun from now on uses them."""

    names: tuple[str, ...]
    """As in the file: ``agent.rounds``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChanged(Event):
    """Another server or model gives the vectors of searches by meaning, or none does."""
