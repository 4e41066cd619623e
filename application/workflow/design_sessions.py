"""Which conversation a design runs in: a new one, or that of a run which was interrupted."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from application.workflow.journal import DesignRun, open_run
from application.workflow.refining import (
    asks_for_new_circuit,
    asks_more,
    change_of,
    design_of,
    finished_design,
    is_edited,
    refinement,
)
from domain.design.checkpoint_intent import CheckpointIntent
from domain.llm.chat import ProviderChoice
from domain.llm.provider_settings import BUILTIN
from domain.llm.transcript import problems_of
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.errors import CircuitError, UserInputError
from shared.message import Message, msg
from shared.ulid import new_ulid
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.conversation import Transcript
    from application.ports.project import ProjectFiles
    from domain.design.designer import DesignIntent
    from domain.design.likeness import KnownTexts

DEFAULT_MAX_ITERATIONS = 8
_NAMED_CIRCUIT = re.compile(r"[\w./-]+\.(?:cir|sp|spice|net|ckt)\b", re.IGNORECASE)
_LONGEST_LOOKED_AT = 2000
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRequest:
    """What a caller asks for: a new design."""

    project: Path
    text: str
    choice: ProviderChoice = field(default_factory=ProviderChoice)
    max_cost: tuple[float, str] | None = None
    """What the conversation may cost, with its currency; None = as it is set."""
    max_iterations: int | None = None
    """None = `DEFAULT_MAX_ITERATIONS`, or what a pending run that goes on was begun with."""
    session_id: str = ""
    """The conversation it goes on in; "" = one of its own. Where a design was finished there, `text` refines
    that one: its circuit, with other goals."""
    begins_from: str = ""
    """The circuit the user works on, relative to the project: it is improved, unless a new one is asked for.
    "" when none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest:
    """What a caller asks for: to go on with a design that was interrupted."""

    project: Path
    session_id: str = ""
    """"" = the newest that was interrupted."""
    choice: ProviderChoice = field(default_factory=ProviderChoice)
    max_cost: tuple[float, str] | None = None
    """As in `DesignRequest`."""
    max_iterations: int | None = None
    """None = as the design was begun with."""


Answer = Literal[
    "continue",
    "accept",
    "stop",
    "undo",
    "go_back",
    "fix",
    "instruction",
    "question",
    "decline",
    "resume",
    "anew",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with the goals that hold from now on: to "goals", or to a checkpoint that goes on."""

    answer: Answer
    goals: tuple[DesignGoal, ...] | None = None
    """None: as they are."""
    said: tuple[str, ...] = ()
    """What the user typed before it was answered; it belongs to the conversation."""
    instruction: str = ""
    """What is to be done to the circuit (instruction), or answered (question)."""
    round_number: int = 0
    """Of "go_back"."""
    meant: CheckpointIntent | None = None
    """What the words were taken for."""
    read: tuple[CheckpointIntent, ...] = ()
    """How each of the texts was read; `meant` is the last of them, where it is what was done."""
    is_new_circuit: bool = False
    """To "goals": a circuit of its own is designed, though there is one to begin from."""


def reply_of(intent: CheckpointIntent) -> Reply | None:
    """The answer that carries out what was meant at a checkpoint; None when nothing can be."""
    match intent.kind:
        case "continue" | "optimize":
            return Reply(answer="continue", meant=intent)
        case "accept" | "stop" | "undo" | "fix":
            return Reply(answer=intent.kind, meant=intent)
        case "instruction" | "question":
            return Reply(answer=intent.kind, instruction=intent.text, meant=intent)
        case "go_back" if intent.round_number:
            return Reply(answer="go_back", round_number=intent.round_number, meant=intent)
        case "goals" if intent.goals is not None:
            return Reply(answer="continue", goals=intent.goals, meant=intent)
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A decision that is the user's."""

    kind: Literal["goals", "checkpoint", "pending_run"]
    goals: tuple[DesignGoal, ...] = ()
    """Those that hold (goals, checkpoint)."""
    circuit: str = ""
    """The one that a design begins from, as round 0 (goals); "" where a new one is made."""
    can_be_new: bool = True
    """Whether a new circuit could be made for these goals in its place."""
    verdicts: tuple[GoalVerdict, ...] = ()
    """Of the round that is asked about."""
    has_failed: bool = False
    """Its simulation did not finish."""
    can_undo: bool = False
    """Whether the round can be taken back."""
    is_exhausted: bool = False
    """Another round was asked for, and there was nothing left to change."""
    rests: Message | None = None
    """Why no round follows by itself, though goals are missed; None where one does."""
    most_rounds: int = 0
    round_number: int = 0
    """Of the round whose circuit is in the files."""
    rounds: int = 0
    """How many there are: more than `round_number` after going back."""
    goals_met: bool = False
    text: str = ""
    """Of a pending run: its sentence."""
    recommended: Literal["continue", "accept", "stop", "resume", "anew"] = "continue"
    """What an automatic answer would be."""
    reread: Callable[[CheckpointIntent], Awaitable[CheckpointIntent]] | None = None
    """Asks the model what was meant by words of which the rules are not sure; None where there is none."""
    design: DesignIntent | None = None
    """Of one of our families, designed by the built-in designer (checkpoint)."""
    known: KnownTexts | None = None
    """Texts that are typed at checkpoints, with what they mean (checkpoint)."""
    context_tokens: int = 0
    """What the newest answer of the design filled of the model's window; 0 when nobody counted."""

    def read(self, text: str) -> CheckpointIntent:
        """What a text means that is typed at this checkpoint."""
        from domain.design.another_circuit import other_circuit_in
        from domain.design.checkpoint_reading import CheckpointReader
        from domain.design.demand_change import design_changed_by, is_all_goals

        assert self.known is not None
        read = CheckpointReader(self.known)(
            text,
            goals=self.goals,
            goals_met=self.goals_met,
            has_failed=self.has_failed,
            can_undo=self.can_undo,
            rounds=self.rounds,
        )
        if self.design is None or read.kind not in _MAY_BE_DEMANDS:
            return read
        if (other := other_circuit_in(self.design, text)) is not None:
            asks = msg(
                "That asks for {circuit}, not for this circuit. Finish or end this design, then ask for it.",
                circuit=other,
            )
            return CheckpointIntent(kind="unclear", text=read.text, is_sure=False, asks_back=asks)
        try:
            if read.goals is not None and is_all_goals(text, self.design, read.goals):
                return read
            changed = design_changed_by(text, self.design)
        except CircuitError as error:
            why = error.message
            if error.advice is not None:
                why = msg("{text} {advice}", text=error.message, advice=error.advice)
            return CheckpointIntent(kind="unclear", text=read.text, is_sure=False, asks_back=why)
        if changed is None or not changed[1]:
            return read
        return CheckpointIntent(kind="goals", text=read.text, goals=changed[0].goals, told=changed[1])


_MAY_BE_DEMANDS = frozenset(("goals", "instruction", "unclear"))

Ask = Callable[[Question], Awaitable[Answer | Reply]]


class RunSession:
    """The conversation of one run, held open - and locked - while the run goes on."""

    def __init__(self, files: ProjectFiles) -> None:
        self._sessions, self._files = files.sessions, files
        self._project = files.root
        self._held: Transcript | None = None
        self._goes_on_in = ""
        """The conversation a new run begins in; "" = one of its own."""
        self.is_new = False
        self.answer: Literal["resume", "anew"] | None = None
        """What was decided about a pending run, if there was one."""
        self.left_aside: DesignRun | None = None
        """The pending run that another one is begun instead of."""

    @property
    def is_wanted(self) -> bool:
        """Whether another process asks to take its conversation over; looks at the disk."""
        held = self._held
        return held is not None and held.is_wanted

    @property
    def problems(self) -> tuple[Message, ...]:
        """What of the conversation that is gone on with could not be read, or is missing."""
        return () if self._held is None else problems_of(self._held.events)

    async def resume(self, request: ResumeRequest) -> DesignRun:
        """Take up the named run, or the newest interrupted one.

        Raises UserInputError ("nothing_to_resume", "no_session", "session_in_use", "not_adopted").
        """
        return await off_loop(self._resume, request.session_id)

    async def begin(self, request: DesignRequest, ask: Ask) -> DesignRun:
        """A new run; where one is pending, `ask` decides which of the two goes on.

        Raises UserInputError ("nothing_to_refine", and what `resume` raises) for one in a given conversation.
        """
        if request.session_id:
            refining = await off_loop(self._refine, request)
            if refining is not None:
                return refining
        self._goes_on_in = request.session_id
        pending = await off_loop(self._hold_pending, request.text)
        if pending is not None:
            recommended: Literal["resume", "anew"] = "resume" if pending.text == request.text else "anew"
            question = Question(kind="pending_run", text=pending.text, recommended=recommended)
            self.answer = "resume" if await ask(question) == "resume" else "anew"
            if self.answer == "resume":
                return pending
            self.left_aside = pending
            if (
                pending.session_id == self._goes_on_in
            ):  # two that wait can't be told apart in one conversation
                self._goes_on_in = ""
        self.is_new = True
        circuit = await asyncio.to_thread(_begun_from, request, self._project)
        refines = await off_loop(self._refined_at_hand, request, circuit)
        return DesignRun(
            session_id=self._goes_on_in or new_ulid(),
            turn_id=new_ulid(),
            text=request.text,
            max_iterations=request.max_iterations or DEFAULT_MAX_ITERATIONS,
            circuit="" if refines else circuit,
            refines=refines,
        )

    async def transcript(self, run: DesignRun) -> Transcript:
        """The open conversation of `run`; a new one is made only now, when it is written to at once."""
        return await off_loop(self._transcript, run)

    async def close(self) -> None:
        """Give the conversation's lock back."""
        await off_loop(self._release)

    def _resume(self, session_id: str) -> DesignRun:
        if not session_id:
            newest = next(self._interrupted(), None) or next(self._interrupted(of_others=True), None)
            if newest is None:
                raise nothing_to_resume(self._project)
            session_id = newest.session_id
        self._held = self._sessions.open(session_id)
        # Read again under the lock: the run may have been brought to its end meanwhile.
        run = open_run(session_id, self._held.events)
        if run is None:
            raise nothing_to_resume(self._project)
        return run

    def _refine(self, request: DesignRequest) -> DesignRun | None:
        """The run that goes on from the finished design of its conversation; None where none was finished."""
        self._held = self._sessions.open(request.session_id)
        state = finished_design(self._held.events)
        if state is None:
            self._release()
            return None
        takes_any_wish = request.choice.provider != BUILTIN
        refines = refinement(
            state,
            request.text,
            takes_any_wish=takes_any_wish,
            edited=is_edited(state, self._files),
        )
        is_at_hand = request.begins_from == state["circuit_file_path"]
        if refines is None and is_at_hand and asks_more(state, request.text):
            self._release()  # it is measured of the circuit as it is, beside its goals
            return None
        if refines is None:
            raise UserInputError(
                msg("The message does not change any goal of the finished design."),
                advice=msg("Name a goal with a value, or describe another circuit."),
                error_type="nothing_to_refine",
            )
        self.is_new = True
        return DesignRun(
            session_id=request.session_id,
            turn_id=new_ulid(),
            text=request.text,
            max_iterations=request.max_iterations or DEFAULT_MAX_ITERATIONS,
            refines=refines,
        )

    def _refined_at_hand(self, request: DesignRequest, circuit: str) -> dict[str, Any] | None:
        """What a sentence without a design before it changes of the design that made the circuit at hand."""
        if request.choice.provider != BUILTIN or (state := design_of(self._files, circuit)) is None:
            return None
        return change_of(state, request.text, edited=is_edited(state, self._files))

    def _hold_pending(self, text: str) -> DesignRun | None:
        """The pending run there is a choice about, locked: the same sentence's before the newest."""
        found = [run for run in self._interrupted() if run.text == text or not run.is_set_aside]
        for run in sorted(found, key=lambda run: run.text != text):
            try:
                self._held = self._sessions.open(run.session_id)
            except UserInputError as error:
                if error.error_type in ("session_in_use", "no_session"):  # it goes on elsewhere, or is gone
                    continue
                raise
            current = open_run(run.session_id, self._held.events)
            if current is not None:
                return current
            self._release()
        return None

    def _interrupted(self, *, of_others: bool = False) -> Iterator[DesignRun]:
        """Runs that were begun and not ended, the last changed first; some may be under way right now.

        `of_others`: those of other installations, which can't be gone on with, in place of ours.
        """
        for info in self._sessions.list():
            if info.work_mode != "workflow" or not info.has_partial_response or info.is_ours is of_others:
                continue
            try:
                run = open_run(info.session_id, self._sessions.read(info.session_id).events)
            except UserInputError as error:  # deleted meanwhile, or no file to be read: not ours to mend
                _logger.info("The conversation %s is passed over: %s", info.session_id, error)
                continue
            if run is not None:
                yield run

    def _transcript(self, run: DesignRun) -> Transcript:
        if self.left_aside is not None and self._held is not None:
            self._held.append({"event": "set_aside", "turn_id": self.left_aside.turn_id})
            self._release()
        if self._held is None and run.session_id == self._goes_on_in:
            self._held = self._sessions.open(run.session_id)
        if self._held is None:
            self._held = self._sessions.create(work_mode="workflow", session_id=run.session_id)
        return self._held

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.close()


def _begun_from(request: DesignRequest, project: Path) -> str:
    """The circuit that is to be improved: one that the text names, else the one at hand."""
    if asks_for_new_circuit(request.text):
        return ""
    for name in (*_NAMED_CIRCUIT.findall(request.text[:_LONGEST_LOOKED_AT]), request.begins_from):
        try:
            place = PurePosixPath(name)
            if name and not place.is_absolute() and ".." not in place.parts and (project / name).is_file():
                return place.as_posix()
        except (OSError, ValueError):  # no name of a file
            continue
    return ""


def nothing_to_resume(project: Path) -> UserInputError:
    """What is said when no design waits to be gone on with."""
    return UserInputError(
        msg("There is no interrupted design in {project}.", project=project),
        advice=msg("Start one: design PROJECT TEXT."),
        file=project,
        error_type="nothing_to_resume",
    )
