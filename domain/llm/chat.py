"""One request to a language model and what streams back, the same for every provider; a model's room.

A provider's client turns its own wire format into these types; nothing above it knows the wire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shared.errors import EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.setting import setting

if TYPE_CHECKING:
    from domain.llm.prompts.catalogue import Wording

Role = Literal["system", "user", "assistant", "tool"]

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "cut"]
"""Why an answer ended; "cut": the stream ended without saying why, so it may be incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or several calls; what a provider does not tell is 0."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )

    def to_plain(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class WireToolCall:
    """A complete tool call as the provider sent it."""

    provider_id: str
    """The provider's id, "" when it sent none; may repeat, so nothing of ours is keyed by it."""
    name: str
    arguments: str
    """The arguments' text, as sent; not necessarily valid JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireImage:
    """A picture as it is sent."""

    data: bytes
    """The file: PNG, JPEG, WebP or GIF."""
    mime: str = "image/png"


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """One message of a request."""

    role: Role
    text: str = ""
    reasoning: str = ""
    """The model's own reasoning of that answer; sent back only where a provider wants it."""
    tool_calls: tuple[WireToolCall, ...] = ()
    """Of an assistant message."""
    tool_call_id: str = ""
    """Of a tool message: the `provider_id` of the call it answers."""
    name: str = ""
    """Of a tool message: the tool's name."""
    images: tuple[WireImage, ...] = ()
    """Of a user message."""
    output_items: tuple[Mapping[str, Any], ...] = ()
    """Of an assistant message: `StreamChunk.output_items` of that answer."""


Thinking = Literal["off", "on", "low", "medium", "high"]
"""Whether, and how much, a model reasons before it answers."""
THINKING_LEVELS: tuple[Thinking, ...] = ("off", "on", "low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAbilities:
    """What a model can do; None = not known, so it is tried."""

    tools: Literal["yes", "prompted", "no"] | None = None
    """prompted: it writes calls as JSON in its text, as the system message then tells it to."""
    vision: bool | None = None
    thinking: bool | None = None
    context_tokens: int | None = setting(None, bounds=(1, None))
    output_tokens: int | None = setting(None, bounds=(1, None))
    loaded_tokens: int | None = None
    """Of a model in a local server's memory: the context it is loaded with now, which may be less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked."""

    messages: tuple[WireMessage, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """Function schemas in OpenAI's form: ``{"type": "function", "function": {...}}``."""
    temperature: float | None = None
    max_tokens: int | None = None
    thinking: Thinking | None = None
    """None = as the provider does by itself."""
    json_mode: bool = False
    """The answer has to be one JSON object."""
    search: bool = False
    """The provider's own web search may be used, where it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSource:
    """A page that a web search found."""

    title: str
    url: str
    text: str = ""
    site: str = ""
    reference: str = ""
    """How the answer refers to it, as "[ref_1]"."""
    date: str = ""
    """When it was published, ISO 8601 where that is known."""

    def to_plain(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNotice:
    """The client is about to try again; nothing of the answer has been shown yet."""

    attempt: int
    """The attempt that failed, from 1."""
    wait_s: float
    error: ProviderError
    """Of the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceNotice:
    """The service has as many requests under way as it may have: this one waits, or has waited."""

    running: int
    """Requests under way; 0 = the wait is over."""
    waited_s: float = 0.0
    """Seconds it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChunk:
    """A piece of an answer, in order. The last one, and only it, has `finish_reason`.

    Tool calls come complete, in the last chunk.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[WireToolCall, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    model: str = ""
    place: PlaceNotice | None = None
    retry: RetryNotice | None = None
    sources: tuple[WebSource, ...] = ()
    """What a web search of the provider found; in the last chunk."""
    output_items: tuple[Mapping[str, Any], ...] = ()
    """What the provider wants back with this answer exactly as it came (the reasoning items of OpenAI's
    Responses API), in the answer's order; the others are there as {"type": "message"} and
    {"type": "function_call"}. In the last chunk, JSON types only."""


ProviderErrorType = Literal[
    "no_key",
    "auth",
    "forbidden",
    "no_balance",
    "quota",
    "rate_limited",
    "overloaded",
    "unknown_model",
    "context_too_long",
    "content_blocked",
    "bad_request",
    "unreachable",
    "timeout",
    "connection_lost",
    "server_error",
    "bad_response",
    "empty_answer",
    "service_paused",
]


class ProviderError(EnvironmentProblem):
    """A provider refused, failed, or sent what cannot be read; `advice` says what to do.

    What had been streamed before it stays valid: the consumer keeps it as a partial answer.
    """

    def __init__(
        self,
        message: Message,
        *,
        kind: ProviderErrorType,
        advice: Message,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        provider_code: str = "",
        file: Path | None = None,
    ) -> None:
        super().__init__(message, advice=advice, file=file, error_type=kind)
        self.kind: ProviderErrorType = kind
        self.retryable = retryable
        """Whether the same request may succeed a moment later."""
        self.retry_after_s = retry_after_s
        """How long the server asked us to wait, in seconds."""
        self.status = status
        """HTTP status, None when there was no answer."""
        self.provider_code = provider_code
        """The provider's own code, as text."""
        self.has_begun = False
        """Something of the answer had come, shown or not: the request may not be sent again by itself."""
        self.usage: Usage | None = None
        """What the failed request cost, where the server told."""
        self.offered: tuple[ProviderChoice, ...] = ()
        """Other models of the user that could be asked instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchChoice:
    """The general web search in a conversation; what is empty is as it was set."""

    is_on: bool = True
    engine: str = ""
    base_url: str = ""
    engine_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """Which model to talk to."""

    provider: str = "builtin"
    model: str = ""
    """"" = the provider's default (an OpenAI-compatible server: the only or first model it lists)."""
    base_url: str = ""
    """Up to, not including, ``/chat/completions`` (Ollama: the server's root); "" = the provider's own."""
    thinking: Thinking | None = None
    """None = as the provider does by itself."""
    search: bool | None = None
    """Use the provider's own web search; None = as it was set for the provider."""
    web_search: WebSearchChoice | None = None
    """Offer the general web search, never together with the provider's own; None = as it was set."""

    def __post_init__(self) -> None:
        if self.search and self.web_search is not None and self.web_search.is_on:
            raise UserInputError(
                msg("The provider's own web search and the general one cannot both be on."),
                advice=msg("Choose one of them: --search or --web-search."),
                error_type="bad_usage",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderInfo:
    """One provider as `providers list` shows it."""

    name: str
    title: str
    needs_key: bool
    has_key: bool
    base_url: str
    models: Sequence[str] = ()
    """Known without asking; a server may have others."""
    note: Message | None = None
    key_variable: str = ""
    """The environment variable of its key, "" when it takes none."""
    url_variable: str = ""
    key_page: str = ""
    """Where one gets a key."""
    models_page: str = ""
    """Where its models are listed for people."""
    is_local: bool = False
    """Runs on the user's own computer by default."""
    can_think: bool = False
    """Thinking can be switched."""
    can_search: bool = False
    """Has a web search of its own."""
    takes_class: bool = False
    """Its model is made by a class that the user's settings name."""


RESULT_LIMIT = 5000
"""Characters of a result's content; more is cut to its head and tail."""
RESULT_TOKENS = 2000
"""Tokens (`domain.llm.tokens`) of a result's content, and of its structured form as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRoom:
    """How much of a result's content a model is sent."""

    tokens: int
    characters: int


USUAL_ROOM = ResultRoom(tokens=RESULT_TOKENS, characters=RESULT_LIMIT)
"""For people, scripts, and models of whose window nothing is known."""


ToolSet = Literal["all", "core", "none"]

LEAST_FOR_TOOLS = 6_000
"""Tokens of a window below which no turn with tools comes to an end."""
RECOMMENDED_WINDOW = 8_192
LEAST_FOR_ALL_TOOLS = 32_000
ASSUMED_WINDOW = 65_536
"""Of a model of whose window nothing is known."""
_ESTIMATE = 0.92
"""Our count of tokens is within 8 % of a model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoom:
    """How much a model takes in at once."""

    window: int = ASSUMED_WINDOW
    """Tokens of request and answer together."""
    is_prompted: bool = False
    """It has no calling of its own: the tools stand in the system message."""
    can_call: bool = True
    """False: it can't call tools in any form."""

    @property
    def tool_set(self) -> ToolSet:
        """The tools it is shown."""
        if self.window < LEAST_FOR_TOOLS or not self.can_call:
            return "none"
        return "core" if self.is_prompted or self.window < LEAST_FOR_ALL_TOOLS else "all"

    @property
    def wording(self) -> Wording:
        """How the texts of its system message are worded."""
        if self.tool_set == "none":
            return "no_tools"
        return "small" if self.tool_set == "core" else "full"

    @property
    def request_tokens(self) -> int:
        """Most tokens of a request, by our count; the rest is for the answer."""
        answer = min(max(self.window // 8, 700), 8_000)
        return int((self.window - answer) * _ESTIMATE)

    @property
    def result(self) -> ResultRoom:
        """Most of one result."""
        tokens = min(max(self.window // 8, 600), 24_000)
        return ResultRoom(tokens=tokens, characters=3 * tokens)

    @property
    def old_result(self) -> int:
        """Most characters of a result, or of a long argument, of an earlier turn."""
        return min(max(self.window // 16, 300), 8_000)


def room_of(abilities: ModelAbilities) -> ModelRoom:
    """The room of a model, as far as it is known."""
    return ModelRoom(
        window=abilities.context_tokens or ASSUMED_WINDOW,
        is_prompted=abilities.tools == "prompted",
        can_call=abilities.tools != "no",
    )
