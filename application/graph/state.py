"""GraphState: pointers, counters and small summaries of one session, in plain types only.

Data live in files of the project, what was said in the transcript; a checkpoint row stays small (at most
20 kB) whatever the circuit and however long a turn gets. Everything here survives strict msgpack.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

UserIntent = Literal[
    "continue",
    "accept",
    "stop",
    "decline",
    "undo",
    "go_back",
    "fix",
    "instruction",
    "question",
    "answered",
    "look_again",
]


class JudgedRound(TypedDict):
    """A round as it was judged: the best so far, and the last two, so that one can be taken back."""

    number: int
    shortfall: float
    netlist_sha256: str
    sim_result_path: str
    metrics: dict[str, float | None]
    verdicts: list[dict[str, Any]]
    intent: dict[str, Any]
    """With the goals it was judged by."""
    write_id: str
    """The operation that put its circuit into the file."""
    write_ids: NotRequired[list[str]]
    """Of a round in which a model worked: all its operations, in order."""
    files: NotRequired[dict[str, str]]
    """The files of its circuit by depth and all that the design wrote, relative to the project (others
    absolute), with the SHA-256 of what they held; ABSENT for one that is named, but not there."""
    circuit: NotRequired[str]
    main: NotRequired[str]
    """The main circuit of the window then; absent where there was none."""
    error: NotRequired[str]
    """Why its simulation failed."""
    count: NotRequired[int]
    """Of a round that was gone back to: how many rounds there are."""


class PlannedRestoring(TypedDict):
    """The files of an earlier round that are to be put back, as one operation: all of them or none."""

    call_id: str
    """Our own ULID: the key of its operation and, unless it is an undo, of its call in the transcript."""
    number: int
    """Of the round; 0 when nothing is left."""
    changes: list[tuple[str, str, str]]
    """Path, state before and after: SHA-256 or ABSENT. The contents are in the object store."""
    undoes: list[str]
    """Operations that are undone by it."""
    aside: dict[str, str]
    """Files that somebody changed: where what they held is kept."""
    then: dict[str, Any]
    """How the state changes when it is done."""


class ConditionRun(TypedDict):
    """A run in which single goals have to hold."""

    settings: list[list[str]]
    """Names and values."""
    result_path: str
    """Relative to the project; "" for none."""
    problem: NotRequired[dict[str, Any]]
    """Why there is none."""


class AgentState(TypedDict, total=False):
    """The agent loop's part: ids and counters of the running turn. Shared by name with the whole graph's."""

    session_id: str
    turn_id: str
    agent_round: int
    """Answers accepted in this turn."""
    agent_steps: list[str]
    """Ids of the turn's messages in the transcript's order, the user's first."""
    agent_pending: list[str]
    """Our ids of the calls of the newest answer that have no result yet."""
    agent_question: str
    """Id of the card the user has to answer before they run; "" when there is none."""
    agent_ended: str
    """How the turn ended (`application.ports.events.TurnEnd`); "" while it goes on."""
    agent_seconds: float
    """Model time used, in seconds."""
    agent_usage: dict[str, int]
    """Tokens used, by the field names of `domain.llm.chat.Usage`."""


class GraphState(AgentState, total=False):
    """The single truth about a session's run."""

    step: str
    """Id of the last finished step, under which it stands in the transcript; "" at the start."""
    step_number: int
    """How many steps the run has finished."""
    planned_change: dict[str, Any] | None
    """What an earlier version had planned to write; None in a design of today."""
    planned_restoring: PlannedRestoring | None
    planned_simulation: str
    """Call id of the simulation that comes next; "" when none does."""
    work_mode: Literal["workflow", "free_work"]
    project_root: str
    user_input: str
    user_intent: UserIntent
    instruction: str
    """What the user said at the checkpoint, of the intents "instruction" and "question"."""
    instruction_waits: Literal["", "new", "begun"]
    """The instruction is carried out behind a round of what somebody changed; "begun": it was before."""
    go_back_to: int
    """Of the intent "go_back": the round."""
    current_node: str
    left_by_user: str
    """SHA-256 of the circuit as somebody changed it while the design waited, or of the round gone back to:
    never overwritten at the end."""
    rests: dict[str, Any]
    """Why no further round was asked for, as a plain message; {} where the user said so."""
    is_completed: bool
    termination_reason: str

    circuit_file_path: str
    """Relative to the project root, with forward slashes."""
    netlist_sha256: str
    sim_result_path: str
    """Relative to the project root, with forward slashes: a project may be moved before a run goes on."""
    design_goals_path: str
    condition_runs: list[ConditionRun]
    """Those of the last simulation, where goals have conditions."""
    lacking_corners: list[str]
    """Corners of goals that the libraries of the circuit do not have, at the last simulation."""

    refined_goals: list[dict[str, Any]]
    """Of a run that goes on from a finished design: its goals now. [] when they are taken over."""
    demand: str
    """The words by which more than goals of it is changed; "" when they are taken over."""
    refined_from: dict[str, Any]
    """The intent of that design."""
    design_goals_summary: list[dict[str, Any]]
    design_intent: dict[str, Any]
    last_metrics: dict[str, float | None]
    last_verdicts: list[dict[str, Any]]
    error_context: str
    error_places: list[tuple[str, int]]
    """Files (relative to the project) and lines that the errors of the last run name."""
    best_round: JudgedRound | None
    """None before the first round, and after the goals were changed."""
    last_round: JudgedRound | None
    previous_round: JudgedRound | None
    """The one before, to which an undo leads; None for none."""
    last_write: str
    """Id of the operation that wrote the circuit."""
    last_writes: list[str]
    """Of a round in which a model worked: all its operations, in order."""
    circuit_files: dict[str, str]
    """The files of the circuit, as in JudgedRound."""
    is_exhausted: bool
    """At the last action the designer found nothing left to change."""
    goals_changed: bool
    """At the last checkpoint: the next round is judged by others, whether or not the circuit changes."""

    max_iterations: int
    iteration_count: int
    checkpoint_count: int
    stagnation_count: int
    consecutive_fix_attempts: int
