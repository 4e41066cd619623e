"""Which server gives texts their vectors; nothing is sent anywhere without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass

from shared.message import msg
from shared.setting import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingServer:
    """What is known of a provider of vectors."""

    title: str
    base_url: str = ""
    """"" = the settings have to name one."""
    models: tuple[str, ...] = ()
    """Some that it has, for a list to choose from; the first is proposed."""
    key_name: str = ""
    """Under which its key is kept; that of a provider of models where it is the same account."""
    key_variable: str = ""
    """The environment variable that comes before it."""
    key_page: str = ""


EMBEDDING_SERVERS: Mapping[str, EmbeddingServer] = {
    "zhipu": EmbeddingServer(
        title="智谱 Zhipu",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        models=("embedding-3", "embedding-2"),
        key_name="zhipu",
        key_variable="CIRCUIT_AI_ZHIPU_API_KEY",
        key_page="https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys",
    ),
    "siliconflow": EmbeddingServer(
        title="硅基流动 SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        models=("BAAI/bge-m3", "Qwen/Qwen3-Embedding-0.6B", "Qwen/Qwen3-Embedding-8B"),
        key_name="siliconflow",
        key_variable="CIRCUIT_AI_SILICONFLOW_API_KEY",
        key_page="https://cloud.siliconflow.cn/account/ak",
    ),
    "ollama": EmbeddingServer(
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        models=("bge-m3", "nomic-embed-text", "qwen3-embedding:0.6b"),
    ),
    # Another server than the one for answers may be behind it: its key is one of its own.
    "openai-compatible": EmbeddingServer(
        title="OpenAI-compatible",
        key_name="openai-compatible-embedding",
        key_variable="CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY",
    ),
}
"""By the name of the provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """The setting ``embedding``."""

    # fmt: off
    provider: str = setting(MISSING, msg("Provider"), choices=tuple(EMBEDDING_SERVERS),
        help=msg("Whose server computes the embeddings; it also selects the key."))
    model: str = setting(MISSING, msg("Model"), option="--model",
        help=msg("The name the server knows it by."))
    base_url: str = setting("", msg("Base URL"), option="--base-url",
        help=msg("Up to, but not including, /embeddings; empty = the provider's own."))
    dimensions: int | None = setting(None, msg("Dimensions"), bounds=(1, 16_384),
        help=msg("For models that offer several lengths of vectors; none = the model's own."))
    batch_size: int = setting(32, msg("Texts per request"), bounds=(1, 256),
        help=msg("Some servers accept only a few at a time."))
    timeout_s: float = setting(30.0, msg("Timeout"), bounds=(1, 600), unit="s",
        help=msg("For a complete answer."))
    max_characters: int = setting(1600, msg("Characters per text"), bounds=(100, 32_000),
        help=msg("Longer texts are cut: some models refuse more than 512 tokens."))
    # fmt: on
    verified_at: str = ""
    """When a test last succeeded with these settings: ISO 8601, UTC; "" = not since they were changed."""

    @property
    def identity(self) -> tuple[str, str, str, int | None]:
        """Vectors of settings that differ in this can't be compared: all are made anew."""
        return self.provider, self.base_url, self.model, self.dimensions
