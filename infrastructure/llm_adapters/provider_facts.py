"""What is known of each provider without talking to it: rows of data.

Sources: docs.bigmodel.cn (chat completions, thinking, web search), docs.siliconflow.cn (chat completions),
docs.ollama.com (API), api-docs.deepseek.com (thinking mode), platform.openai.com (Responses API, chat
completions), help.aliyun.com, docs.claude.com and ai.google.dev (OpenAI compatibility), docs.vllm.ai and
llama.cpp's server README (chat_template_kwargs). Models are hints, the first is taken when none is named;
a server's own list counts. And what may be chosen of a provider, checked before anything is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from domain.llm.chat import ProviderChoice
from infrastructure.llm_adapters.dialect import Dialect, OutputLimit, ThinkingSwitch
from shared.errors import UserInputError
from shared.message import Message, msg

BUILTIN = "builtin"
OPENAI_COMPATIBLE = "openai-compatible"
OLLAMA = "ollama"
LANGCHAIN = "langchain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One row."""

    name: str
    title: str
    protocol: Literal["builtin", "openai", "responses", "ollama", "langchain"] = "openai"
    base_url: str = ""
    """Its own address; "" when the user has to give one."""
    key: Literal["needed", "optional", "none"] = "needed"
    """A server on this computer needs none in any case."""
    key_page: str = ""
    """Where one gets a key."""
    models_page: str = ""
    models: tuple[str, ...] = ()
    """Hints; the first is taken when none is named, unless the server's list has to be asked."""
    seeing_models: re.Pattern[str] | None = None
    """Names of models that see pictures; None = not known."""
    dialect: Dialect = field(default_factory=Dialect)
    completions_dialect: Dialect | None = None
    """Of the protocol "responses": how a server without it is spoken to by chat completions."""
    first_piece_s: float = 120.0
    """How long nothing may come before an answer begins, unless the user sets it."""
    note: Message

    @property
    def key_variable(self) -> str:
        """The environment variable of its key, "" when it takes none."""
        return "" if self.key == "none" else f"CIRCUIT_AI_{_word(self.name)}_API_KEY"

    @property
    def url_variable(self) -> str:
        """The environment variable of its address, "" when it has none."""
        has_none = self.protocol in ("builtin", "langchain")
        return "" if has_none else f"CIRCUIT_AI_{_word(self.name)}_BASE_URL"

    @property
    def uses_network(self) -> bool:
        """Whether it talks to a server, if only on this computer."""
        return self.protocol != "builtin"

    @property
    def is_local(self) -> bool:
        """Whether it runs on the user's own computer by default."""
        return "//127.0.0.1" in self.base_url

    @property
    def default_model(self) -> str:
        """The model taken when none is named; "" = the first that the server lists."""
        return self.models[0] if self.models else ""


def _word(name: str) -> str:
    return name.upper().replace("-", "_")


_TYPE_OBJECT = ThinkingSwitch(
    on={"thinking": {"type": "enabled"}}, off={"thinking": {"type": "disabled"}}, is_on_by_itself=True
)
_ENABLE_THINKING = ThinkingSwitch(
    on={"enable_thinking": True},
    off={"enable_thinking": False},
    level_field="thinking_budget",
    levels={"low": 1024, "medium": 4096, "high": 16384},
)
_TEMPLATE = ThinkingSwitch(
    on={"chat_template_kwargs": {"enable_thinking": True}},
    off={"chat_template_kwargs": {"enable_thinking": False}},
)

_OPENAI_REASONING = re.compile(r"^(o\d|gpt-[5-9])")
_EFFORT = {level: {"effort": level, "summary": "auto"} for level in ("low", "medium", "high")}

_ROWS = (
    Provider(
        name=BUILTIN,
        title="Built-in",
        protocol="builtin",
        key="none",
        models=(BUILTIN,),
        note=msg(
            "Works without network or key: it simulates, edits, searches and measures on command, and "
            "designs the circuits it has equations for. It is not a language model."
        ),
    ),
    Provider(
        name=OLLAMA,
        title="Ollama",
        protocol="ollama",
        base_url="http://127.0.0.1:11434",
        key="optional",
        models_page="https://ollama.com/library",
        dialect=Dialect(
            reasoning_back="tool_turns",
            reasoning_field="thinking",
            names_tool_choice=False,
            thinking=ThinkingSwitch(on={"think": True}, off={"think": False}, level_field="think"),
            max_tokens_field="num_predict",
            json_fields={"format": "json"},
        ),
        note=msg(
            "Models on your own computer through Ollama's native protocol. Start it with `ollama "
            "serve`, get a model with `ollama pull NAME`. No key needed; nothing leaves the computer."
        ),
    ),
    Provider(
        name="zhipu",
        title="Zhipu GLM",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        key_page="https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys",
        models_page="https://docs.bigmodel.cn/cn/guide/start/model-overview",
        models=("glm-4.7", "glm-5.3", "glm-4.6", "glm-4.5-air", "glm-4.6v", "glm-4.7-flash"),
        seeing_models=re.compile(r"\d(\.\d)?v(-|$)", re.IGNORECASE),
        dialect=Dialect(
            reasoning_back="always",
            asks_for_usage=False,
            tool_fields={"tool_stream": True},
            tool_fields_models=re.compile(r"glm-(4\.[67]|[5-9])(?!\d*v)", re.IGNORECASE),
            thinking=_TYPE_OBJECT,
            thinking_temperature=1.0,
            zero_temperature={"do_sample": False},
            output_limits=(
                OutputLimit(
                    models=re.compile(r"^glm-(4\.[5-7]|[5-9])(\.\d+)?(-(air|airx|x|flash))?$", re.IGNORECASE),
                    plain=32768,
                    thinking=65536,
                ),
            ),
            search_tool={
                "type": "web_search",
                "web_search": {"enable": True, "search_engine": "search_std", "search_result": True},
            },
            vision_model="glm-4.6v",
            image_side=4096,
        ),
        note=msg("Zhipu GLM in the cloud: thinking, tools, pictures, and its own web search."),
    ),
    Provider(
        name="siliconflow",
        title="SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        key_page="https://cloud.siliconflow.cn/account/ak",
        models_page="https://cloud.siliconflow.cn/models",
        models=("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3.2", "zai-org/GLM-4.6"),
        dialect=Dialect(reasoning_back="current_turn", thinking=_ENABLE_THINKING),
        note=msg("硅基流动: many open models in the cloud; any name from its list can be used as the model."),
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_page="https://platform.deepseek.com/api_keys",
        models_page="https://api-docs.deepseek.com/quick_start/pricing",
        models=("deepseek-flash", "deepseek-v4-pro"),
        seeing_models=re.compile(r"^deepseek-(v4-)?flash", re.IGNORECASE),
        dialect=Dialect(
            reasoning_back="tool_turns",
            names_missing_reasoning=True,
            thinking=ThinkingSwitch(
                on=_TYPE_OBJECT.on,
                off=_TYPE_OBJECT.off,
                level_field="reasoning_effort",
                levels={"low": "low", "medium": "high", "high": "max"},
                is_on_by_itself=True,
            ),
            thinking_temperature="left_out",
        ),
        note=msg("DeepSeek in the cloud: thinking and tools; deepseek-flash sees pictures."),
    ),
    Provider(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        key_page="https://platform.openai.com/api-keys",
        models_page="https://platform.openai.com/docs/models",
        models=("gpt-5.6-luna", "gpt-5.6-terra", "gpt-6-luna", "gpt-5-mini"),
        protocol="responses",
        first_piece_s=300.0,  # reasoning of which nothing is shown sends nothing while it goes on
        dialect=Dialect(
            max_tokens_field="max_output_tokens",
            fixed_temperature_models=_OPENAI_REASONING,
            thinking=ThinkingSwitch(
                on={"reasoning": _EFFORT["medium"]},
                off={"reasoning": {"effort": "minimal"}},
                level_field="reasoning",
                levels=_EFFORT,
            ),
            thinking_temperature="left_out",
            keeps_reasoning_items=True,
            json_fields={"text": {"format": {"type": "json_object"}}},
            search_tool={"type": "web_search"},
        ),
        completions_dialect=Dialect(
            max_tokens_field="max_completion_tokens",
            fixed_temperature_models=_OPENAI_REASONING,
            thinking=ThinkingSwitch(
                on={"reasoning_effort": "medium"},
                off={"reasoning_effort": "minimal"},
                level_field="reasoning_effort",
            ),
            thinking_temperature="left_out",
        ),
        note=msg(
            "OpenAI in the cloud through its Responses API: thinking continues across tool calls, "
            "pictures, its own web search."
        ),
    ),
    Provider(
        name="qwen",
        title="Qwen",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_page="https://bailian.console.aliyun.com/",
        models_page="https://help.aliyun.com/zh/model-studio/models",
        models=("qwen-plus", "qwen3.8-max", "qwen3-max", "qwen-flash", "qwen3-vl-plus"),
        dialect=Dialect(
            reasoning_back="current_turn",
            thinking=_ENABLE_THINKING,
            search_fields={"enable_search": True},
        ),
        note=msg("通义千问 in the cloud (Alibaba Model Studio): thinking, tools, its own web search."),
    ),
    Provider(
        name="claude",
        title="Claude",
        base_url="https://api.anthropic.com/v1",
        key_page="https://console.anthropic.com/settings/keys",
        models_page="https://docs.claude.com/en/docs/about-claude/models/overview",
        models=("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5"),
        dialect=Dialect(
            plain_schemas=True,
            json_fields={},
            thinking=ThinkingSwitch(on={"thinking": {"type": "enabled", "budget_tokens": 4096}}),
            thinking_temperature="left_out",
            output_limits=(OutputLimit(models=re.compile("claude"), plain=8192, thinking=16384),),
            image_side=1568,
        ),
        note=msg("Claude in the cloud through its OpenAI-compatible endpoint."),
    ),
    Provider(
        name="gemini",
        title="Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_page="https://aistudio.google.com/apikey",
        models_page="https://ai.google.dev/gemini-api/docs/models",
        models=("gemini-3.8-flash", "gemini-2.5-flash", "gemini-2.5-pro"),
        dialect=Dialect(
            plain_schemas=True,
            thinking=ThinkingSwitch(
                on={"reasoning_effort": "medium"},
                off={"reasoning_effort": "none"},
                level_field="reasoning_effort",
            ),
        ),
        note=msg("Gemini in the cloud through its OpenAI-compatible endpoint."),
    ),
    Provider(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        key="optional",
        models_page="https://docs.vllm.ai/en/latest/models/supported_models.html",
        dialect=Dialect(thinking=_TEMPLATE),
        note=msg(
            "A vLLM server. Native tool calls need --enable-auto-tool-choice; without it calls are written "
            "as text."
        ),
    ),
    Provider(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        key="optional",
        models_page="https://lmstudio.ai/models",
        note=msg("Models on your own computer through LM Studio's server (Developer, Start server)."),
    ),
    Provider(
        name="llama-cpp",
        title="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        key="optional",
        dialect=Dialect(thinking=_TEMPLATE),
        note=msg("Models on your own computer: llama-server -m MODEL.gguf --jinja -c 32768"),
    ),
    Provider(
        name=LANGCHAIN,
        title="LangChain",
        protocol="langchain",
        key="optional",
        models_page="https://docs.langchain.com/oss/python/integrations/chat",
        dialect=Dialect(fixed_temperature_models=_OPENAI_REASONING, image_side=1568),
        note=msg(
            "Any LangChain chat model whose Python package is installed. Reasoning is not shown by most "
            "classes. Without a base URL the class decides where requests go."
        ),
    ),
    Provider(
        name=OPENAI_COMPATIBLE,
        title="OpenAI-compatible server",
        note=msg(
            "Any server that supports OpenAI's chat completions. Its address: --base-url or "
            "{url_variable}; its key: {key_variable} (a server on this computer needs none).",
            url_variable="CIRCUIT_AI_OPENAI_COMPATIBLE_BASE_URL",
            key_variable="CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY",
        ),
    ),
)

PROVIDERS = {row.name: row for row in _ROWS}

ALIASES = {"llama.cpp": "llama-cpp", "llamacpp": "llama-cpp", "lm-studio": "lmstudio", "glm": "zhipu"}
"""Other names that people type."""


def advice_on_key(provider: Provider) -> Message:
    """How a provider gets its key."""
    if provider.key_page:
        return msg(
            "Get one at {page} and set it with `providers key set {provider}`, in the model settings of the "
            "window, or in the environment variable {variable}.",
            page=provider.key_page,
            provider=provider.name,
            variable=provider.key_variable,
        )
    return msg(
        "Set the key of that server with `providers key set {provider}`, in the model settings of the "
        "window, or in the environment variable {variable}.",
        provider=provider.name,
        variable=provider.key_variable,
    )


def known_provider(name: str) -> Provider:
    """The row of a provider, by its name or another that people type. Raises UserInputError."""
    try:
        return PROVIDERS[ALIASES.get(name.strip().lower(), name)]
    except KeyError:
        raise UserInputError(
            msg("Unknown provider {name}.", name=name),
            advice=msg("Known providers: {names}.", names=", ".join(PROVIDERS)),
        ) from None


def refuse_settings(provider: Provider, choice: ProviderChoice) -> None:
    """Raises UserInputError for a choice that says more than the built-in model takes."""
    if choice.base_url or choice.search or choice.thinking or choice.model not in ("", *provider.models):
        raise UserInputError(
            msg("The provider {name} accepts neither --model nor --base-url.", name=provider.name),
            advice=msg("For a model on a server add: --provider {name}", name=OPENAI_COMPATIBLE),
        )


def refuse_switches(provider: Provider, choice: ProviderChoice) -> None:
    """Raises UserInputError for a switch that the provider does not have."""
    if choice.search and not provider.dialect.can_search:
        able = ", ".join(row.name for row in PROVIDERS.values() if row.dialect.can_search)
        raise UserInputError(
            msg("{name} has no web search of its own.", name=provider.title),
            advice=msg("Omit it, or choose a provider that has one: {names}.", names=able),
        )
    if choice.thinking is not None and not provider.dialect.thinking.is_there:
        raise UserInputError(
            msg("The thinking mode of {name} cannot be switched here.", name=provider.title),
            advice=msg("Omit the option; the server's own settings decide."),
        )
