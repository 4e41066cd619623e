"""Which server gives texts their vectors; nothing is sent anywhere without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EMBEDDING_SERVERS: Mapping[str, str] = {
    "zhipu": "https://open.bigmodel.cn/api/paas/v4",
    "siliconflow": "https://api.siliconflow.cn/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openai-compatible": "",
}
"""Provider -> its address; "" = the settings have to name one."""


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


_RANGES: Mapping[str, tuple[float, float]] = {
    "dimensions": (1, 16_384),
    "batch_size": (1, 256),
    "timeout_s": (1, 600),
    "max_characters": (100, 32_000),
}


def read_embedding(value: object) -> EmbeddingSettings:
    """The settings in a JSON object; what is left out has its default. Raises ValueError, TypeError."""
    if not isinstance(value, Mapping):
        raise TypeError("an object is needed")
    texts = {name: value.get(name, "") for name in ("provider", "model", "base_url")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError("provider, model and base_url are texts")
    if texts["provider"] not in EMBEDDING_SERVERS or not texts["model"].strip():
        raise ValueError("provider or model")
    if value.keys() - texts.keys() - _RANGES.keys():
        raise ValueError("an unknown name")
    numbers: dict[str, Any] = {}
    for name, (lowest, highest) in _RANGES.items():
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
        **numbers,
    )
