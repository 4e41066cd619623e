"""Which server gives texts their vectors; nothing is sent anywhere without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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

    provider: str
    """One of EMBEDDING_SERVERS; it also names the variable of the key."""
    model: str
    base_url: str = ""
    """Up to, not including, /embeddings; "" = the provider's own."""
    dimensions: int | None = None
    """Asked of models that can give vectors of several lengths; None = the model's own."""
    batch_size: int = 32
    """Texts a request."""
    timeout_s: float = 30.0
    """For a whole answer."""
    max_characters: int = 1600
    """Of a text no more is sent: some models refuse more than 512 tokens."""
    verified_at: str = ""
    """When a test last succeeded with these settings: ISO 8601, UTC; "" = not since they were changed."""

    @property
    def identity(self) -> tuple[str, str, str, int | None]:
        """Vectors of settings that differ in this can't be compared: all are made anew."""
        return self.provider, self.base_url, self.model, self.dimensions


_TEXTS = ("provider", "model", "base_url", "verified_at")
EMBEDDING_RANGES: Mapping[str, tuple[float, float]] = {
    "dimensions": (1, 16_384),
    "batch_size": (1, 256),
    "timeout_s": (1, 600),
    "max_characters": (100, 32_000),
}


def read_embedding(value: object) -> EmbeddingSettings:
    """The settings in a JSON object; what is left out has its default. Raises ValueError, TypeError."""
    if not isinstance(value, Mapping):
        raise TypeError("an object is needed")
    texts = {name: value.get(name, "") for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError(f"texts are: {', '.join(_TEXTS)}")
    if texts["provider"] not in EMBEDDING_SERVERS or not texts["model"].strip():
        raise ValueError("provider or model")
    if value.keys() - texts.keys() - EMBEDDING_RANGES.keys():
        raise ValueError("an unknown name")
    numbers: dict[str, Any] = {}
    for name, (lowest, highest) in EMBEDDING_RANGES.items():
        number = value.get(name)
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int | float) or not lowest <= number <= highest:
            raise ValueError(name)
        if name != "timeout_s" and number != int(number):
            raise ValueError(name)
        numbers[name] = float(number) if name == "timeout_s" else int(number)
    return EmbeddingSettings(
        provider=texts["provider"],
        model=texts["model"].strip(),
        base_url=texts["base_url"].strip(),
        verified_at=texts["verified_at"],
        **numbers,
    )
