"""How one server wants to be spoken to: rows of data for the requests, and what its complaints change.

No module branches by provider: `provider_facts` fills in a `Dialect`, and what a server objects to is
left out (or put in) from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from domain.llm.chat import ChatRequest, Thinking

_ANY = re.compile("")
_NONE = re.compile("(?!)")
_NOTHING: Mapping[str, Any] = {}

LACKS_TOOLS = re.compile(
    r"does not support (tools|tool use|function)|support tool use|enable-auto-tool-choice", re.IGNORECASE
)
"""A model (or its server) without tool calling, in the words of Ollama, OpenRouter and vLLM."""
_LEVELS: dict[str, Any] = {"low": "low", "medium": "medium", "high": "high"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingSwitch:
    """Which fields of a request switch reasoning."""

    on: Mapping[str, Any] = field(default_factory=dict)
    off: Mapping[str, Any] = field(default_factory=dict)
    level_field: str = ""
    """"" = it has no levels: any level is "on"."""
    levels: Mapping[str, Any] = field(default_factory=_LEVELS.copy)
    """Our level -> the server's word or number of tokens."""
    is_on_by_itself: bool = False
    """A request that says nothing makes the model think."""

    @property
    def is_there(self) -> bool:
        return bool(self.on or self.off or self.level_field)

    def is_on(self, thinking: Thinking | None) -> bool:
        return self.is_on_by_itself if thinking is None else thinking != "off"

    def fields(self, thinking: Thinking | None) -> Mapping[str, Any]:
        """What a request says; nothing when it leaves the choice to the server."""
        if thinking is None:
            return _NOTHING
        if thinking == "off":
            return self.off
        if self.level_field and thinking in self.levels:
            return {**self.on, self.level_field: self.levels[thinking]}
        return self.on


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLimit:
    """What to ask for as `max_tokens` of the models whose names match, when the caller says nothing."""

    models: re.Pattern[str]
    plain: int
    thinking: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one server wants to be spoken to."""

    reasoning_back: Literal["never", "current_turn", "tool_turns", "always"] = "never"
    """Of which answers the reasoning is sent back. tool_turns: of those that called tools (DeepSeek);
    current_turn: of those of them behind the user's last message."""
    reasoning_field: str = "reasoning_content"
    names_missing_reasoning: bool = False
    """Where reasoning goes back, the field is there even when there was none."""
    asks_for_usage: bool = True
    names_tool_choice: bool = True
    plain_schemas: bool = False
    """Tool schemas without `strict`, `additionalProperties` and the like."""
    tool_fields: Mapping[str, Any] = field(default_factory=dict)
    """Said when tools are offered to `tool_fields_models`."""
    tool_fields_models: re.Pattern[str] = _ANY
    writes_calls_as_text: bool = False
    """No native tool calling: the system message describes the tools, calls come as JSON in the text."""
    thinking: ThinkingSwitch = field(default_factory=ThinkingSwitch)
    sends_thinking: bool = True
    sends_temperature: bool = True
    fixed_temperature_models: re.Pattern[str] = _NONE
    """Models that refuse any temperature."""
    thinking_temperature: Literal["as_asked", "left_out"] | float = "as_asked"
    """What becomes of the temperature while the model thinks."""
    zero_temperature: Mapping[str, Any] = field(default_factory=dict)
    """Said in place of a temperature of 0, where a server takes none."""
    max_tokens_field: str = "max_tokens"
    output_limits: tuple[OutputLimit, ...] = ()
    json_fields: Mapping[str, Any] = field(default_factory={"response_format": {"type": "json_object"}}.copy)
    """Empty: only the system message asks for JSON."""
    search_tool: Mapping[str, Any] = field(default_factory=dict)
    """The entry of `tools` for the provider's own web search."""
    search_fields: Mapping[str, Any] = field(default_factory=dict)
    """The fields of the request for it."""
    images_first: bool = True
    """Pictures stand before the text of their message."""
    image_side: int = 2048
    """Pixels; larger pictures are scaled down."""
    image_bytes: int = 5_000_000
    vision_model: str = ""
    """The model that takes over from one of the same provider that can't see."""
    keeps_reasoning_items: bool = False
    """Reasoning goes back as encrypted items (OpenAI's Responses API), which have to be asked for."""
    alternates_roles: bool = False
    """Questions and answers have to take turns: the templates of several models demand it."""

    @property
    def can_search(self) -> bool:
        """Whether the provider has a web search of its own."""
        return bool(self.search_tool or self.search_fields)

    def max_tokens_of(self, request: ChatRequest, model: str) -> int | None:
        """What the request asks for, else what the provider advises for this model."""
        if request.max_tokens is not None:
            return request.max_tokens
        for limit in self.output_limits:
            if limit.models.search(model):
                return limit.thinking if self.thinking.is_on(request.thinking) else limit.plain
        return None

    def temperature_fields(self, request: ChatRequest, model: str) -> Mapping[str, Any]:
        if request.temperature is None or not self.sends_temperature:
            return _NOTHING
        if self.fixed_temperature_models.search(model):
            return _NOTHING
        if self.thinking_temperature != "as_asked" and self.thinking.is_on(request.thinking):
            fixed = self.thinking_temperature
            return _NOTHING if fixed == "left_out" else {"temperature": fixed}
        if request.temperature == 0 and self.zero_temperature:
            return self.zero_temperature
        return {"temperature": request.temperature}


@dataclass(frozen=True, slots=True)
class _Objection:
    """A server's complaint about one thing, and the dialect without it."""

    words: re.Pattern[str]
    yields: Callable[[Dialect], Dialect]


def _with_no_effort(dialect: Dialect) -> Dialect:
    switch = replace(dialect.thinking, off={"reasoning": {"effort": "none"}})
    return replace(dialect, thinking=switch)


def _without_summary(dialect: Dialect) -> Dialect:
    """OpenAI shows what its models thought only to organisations that it has verified."""
    switch = dialect.thinking

    def bare(fields: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            name: {key: part for key, part in value.items() if key != "summary"}
            if isinstance(value, Mapping)
            else value
            for name, value in fields.items()
        }

    bare_switch = replace(switch, on=bare(switch.on), off=bare(switch.off), levels=bare(switch.levels))
    return replace(dialect, thinking=bare_switch)


_OBJECTIONS = (
    # OpenAI's models from gpt-5.1 on have another word for the least reasoning
    _Objection(re.compile(r"'minimal'.*'none'", re.DOTALL), _with_no_effort),
    _Objection(LACKS_TOOLS, lambda now: replace(now, writes_calls_as_text=True)),
    _Objection(re.compile("stream_options|include_usage"), lambda now: replace(now, asks_for_usage=False)),
    _Objection(re.compile("tool_choice"), lambda now: replace(now, names_tool_choice=False)),
    _Objection(re.compile("tool_stream"), lambda now: replace(now, tool_fields={})),
    _Objection(
        re.compile(r"additionalproperties|\bstrict\b|\$schema", re.IGNORECASE),
        lambda now: replace(now, plain_schemas=True),
    ),
    # OpenAI's reasoning models
    _Objection(
        re.compile("max_completion_tokens"),
        lambda now: replace(now, max_tokens_field="max_completion_tokens"),
    ),
    _Objection(re.compile("temperature"), lambda now: replace(now, sends_temperature=False)),
    # SiliconFlow: "Json mode is not supported for this model"; Ollama names its field "format"
    _Objection(
        re.compile(
            r"response_format|json_object|json[ _-]mode|text\.format"
            r"|\bformat\b.{0,40}(?:support|invalid|unknown)|(?:unsupported|invalid|unknown).{0,40}\bformat\b",
            re.IGNORECASE,
        ),
        lambda now: replace(now, json_fields={}),
    ),
    # DeepSeek wants it back after tool calls
    _Objection(
        re.compile("reasoning_content"),
        lambda now: replace(
            now,
            reasoning_back="tool_turns" if now.reasoning_back == "never" else now.reasoning_back,
            names_missing_reasoning=True,
        ),
    ),
    # The Responses API: a model that does not reason, or items of another model or organisation
    _Objection(
        re.compile(
            r"encrypted[_ ]content|of type 'reasoning'|reasoning (input )?items?|\brs_\w+", re.IGNORECASE
        ),
        lambda now: replace(now, keeps_reasoning_items=False),
    ),
    _Objection(
        re.compile(r"reasoning[._ ]summar|generate_summary", re.IGNORECASE),
        _without_summary,
    ),
    _Objection(
        re.compile(
            r"\bthink(ing|_budget)?\b|enable_thinking|reasoning_effort|reasoning\.effort|'reasoning'"
            r"|chat_template_kwargs"
        ),
        lambda now: replace(now, sends_thinking=False),
    ),
    # Templates of Mistral, Gemma and others; the words are passed on by llama.cpp, LM Studio and vLLM
    _Objection(
        re.compile(r"roles must alternate|must alternate between user", re.IGNORECASE),
        lambda now: replace(now, alternates_roles=True),
    ),
)


def dialects_after(complaint: str, dialect: Dialect) -> Iterator[Dialect]:
    """Dialects that meet what a server complained of, one for each thing it names."""
    for objection in _OBJECTIONS:
        if objection.words.search(complaint):
            yield objection.yields(dialect)
