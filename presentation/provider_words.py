"""What providers are called for people: products by their names, what is no product in words."""

from __future__ import annotations

from collections.abc import Mapping

from shared.message import Message, msg

_TITLES: Mapping[str, Message] = {
    "zhipu": msg("Zhipu GLM"),
    "siliconflow": msg("SiliconFlow"),
    "qwen": msg("Qwen"),
    "openai-compatible": msg("OpenAI-compatible server"),
}


def provider_title(name: str, title: str = "") -> Message:
    """The title of the provider `name`; `title` is what it is called everywhere."""
    return _TITLES.get(name, msg("{text}", text=title or name))
