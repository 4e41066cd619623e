"""What conversations and designs need from the outside: models, transcripts, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # quick commands must not pay for numpy because they name a port
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from domain.llm.chat import ChatRequest, ModelAbilities, ProviderChoice, ProviderInfo, StreamChunk
    from domain.llm.costs import PriceList
    from domain.llm.local_server import LocalServerStatus
    from domain.llm.provider_settings import ProviderSettings
    from domain.llm.service import ServiceReport


class Checkpointers(Protocol):
    """Opens the database in which LangGraph keeps its checkpoints."""

    def __call__(self, path: Path, thread_id: str) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """A saver for one thread that is closed when the context ends.

        Of what another installation has written there nothing is used.
        """

    async def prune(self, saver: BaseCheckpointSaver[str], thread_id: str) -> None:
        """Forget the steps of a thread that nothing needs any more: all but the newest."""


class ChatClient(Protocol):
    """A language model behind one provider's protocol."""

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamChunk]:
        """The answer in pieces; the last chunk has the finish reason. Closing the iterator ends the call.

        Raises ProviderError; what was yielded before it stays valid. Retries only before the first
        piece of text, reasoning or tool call.
        """

    async def models(self) -> tuple[str, ...]:
        """Names of the models it offers. Raises ProviderError."""

    async def close(self) -> None:
        """Close connections."""


class ChatModels(Protocol):
    """Opens language models by provider name."""

    def open(self, choice: ProviderChoice) -> AbstractAsyncContextManager[BaseChatModel]:
        """A model that is closed when the context ends.

        Raises UserInputError for an unknown provider or a missing URL, ProviderError ("no_key").
        """

    def list(self) -> tuple[ProviderInfo, ...]:
        """Every provider, with what is set up."""

    def services(self) -> tuple[ServiceReport, ...]:
        """How the services that were asked since the program started do: breakers, failures, times."""

    def service_counts(self) -> Mapping[str, Mapping[str, float]]:
        """The counts of all runs (`domain.llm.service.SUMS`), by ``"provider server"``.

        Blocking: called off the loop.
        """

    async def examine(self, choice: ProviderChoice) -> tuple[str, ...]:
        """Talk to the provider; returns its models. Raises UserInputError, ProviderError with advice."""

    def connect(
        self, choice: ProviderChoice, *, key: str = "", settings: ProviderSettings | None = None
    ) -> AbstractAsyncContextManager[ChatClient]:
        """The provider's client, to try it: asked once, no retry. `key` and `settings` (of which only those
        that no choice can name are taken) in place of those that are kept.

        Raises as `open` does.
        """

    async def local_server(self, choice: ProviderChoice) -> LocalServerStatus | None:
        """How the provider's server on this computer does; None for one that is no Ollama.

        Raises UserInputError for an address that can't be read.
        """

    async def abilities(self, choice: ProviderChoice) -> ModelAbilities:
        """What the chosen model can do, as far as it is known; an Ollama server is asked, for a few seconds.

        `vision` is also true where the provider has a model of its own that takes over for pictures.
        Raises UserInputError for an unknown provider or an address that can't be read.
        """

    def prices(self, choice: ProviderChoice) -> PriceList:
        """What the provider's models cost at the address of this choice.

        Blocking: called off the loop. Raises UserInputError as `open` does.
        """

    def destination(self, choice: ProviderChoice, settings: ProviderSettings | None = None) -> str:
        """Scheme, host and port that a conversation goes to (a LangChain class that alone knows it: its
        name); "" when it stays on this computer. `settings` in place of those that are kept.

        Blocking: called off the loop. Raises UserInputError as `open` does.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One conversation as a list shows it."""

    session_id: str
    name: str
    work_mode: Literal["free_work", "workflow"]
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    message_count: int
    """Messages of the user and the assistant."""
    preview: str
    """The first 50 characters of the user's first message."""
    has_partial_response: bool
    """Its last turn was interrupted."""
    is_ours: bool = True
    """This installation wrote, or the user adopted, all of it; else it is history to be read."""
    is_cut: bool = False
    """Lines that were written here are missing at its end."""
    size: int = 0
    """Bytes of its transcript, to which lines are only ever added; 0 when it cannot be read."""
    stored_at: float = 0.0
    """When its file last changed, Unix time; of one that was removed: when that was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTranscript:
    """What stands in a conversation's file."""

    events: Sequence[Mapping[str, Any]]
    is_ours: bool
    """As in SessionInfo."""
    is_in_use: bool = False
    """Another process works on it just now."""


class Transcript(Protocol):
    """One conversation's file, open for writing; this process holds its lock.

    Events are plain JSON objects with an ``"event"`` word; the first is the header. An append is on
    the disk when it returns. Blocking: called off the loop.
    """

    @property
    def session_id(self) -> str:
        """The session's id (also the thread id of its checkpoints)."""

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """Everything read at opening and appended since, in order."""

    @property
    def is_ours(self) -> bool:
        """Whether this installation wrote, or the user adopted, all of it."""

    @property
    def is_wanted(self) -> bool:
        """Whether another process asks to take the conversation over."""

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write the events, flush and fsync. Raises EnvironmentProblem (disk full, read-only)."""

    def close(self) -> None:
        """Give the lock back."""


class SessionStore(Protocol):
    """The conversations of one project. Blocking: called off the loop."""

    def create(
        self, *, work_mode: Literal["free_work", "workflow"], name: str = "", session_id: str = ""
    ) -> Transcript:
        """A new conversation; an empty name becomes "Chat <date and time>"."""

    def open(self, session_id: str, *, to_adopt: bool = False) -> Transcript:
        """An existing one, for writing.

        Raises UserInputError ("no_session", "session_in_use"; "not_adopted" for one that another
        installation wrote, or changed, but `to_adopt`).
        """

    def list(self) -> tuple[SessionInfo, ...]:
        """All, the last changed first; heals its index from the files."""

    def read(self, session_id: str) -> ReadTranscript:
        """One as it stands, without its lock. Raises UserInputError ("no_session")."""

    def is_in_use(self, session_id: str) -> bool:
        """Whether another process works on one just now."""

    def delete(self, session_id: str) -> None:
        """Remove one for good. Raises UserInputError ("no_session", "session_in_use")."""

    @property
    def removed(self) -> SessionStore:
        """Those that were set aside."""

    def set_aside(self, session_id: str) -> None:
        """Move one to `removed`. Raises as `delete` does, UserInputError ("session_exists")."""

    def put_back(self, session_id: str) -> None:
        """Move one of `removed` back. Raises as `set_aside` does."""

    def add_history(self, session_id: str, events: Sequence[Mapping[str, Any]]) -> str:
        """Write one that came from elsewhere, to be read; returns its id: another where that is taken.

        Raises EnvironmentProblem, UserInputError ("session_too_large").
        """

    def take_over(self, session_id: str, *, give_up: Callable[[], bool]) -> None:
        """Ask the process that works on one to stop and save, and wait until it has.

        Raises UserInputError ("no_session"; "session_in_use" when `give_up` says so, or another process asks
        already).
        """
