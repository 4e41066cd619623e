"""LangChain's messages, under our own call ids, as the messages of a request under the provider's ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from domain.llm.chat import Role, WireImage, WireMessage, WireToolCall
from domain.llm.messages import get_output_items

_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_IMAGE_PARTS = frozenset({"image_url", "image"})


def wire_messages(messages: Sequence[BaseMessage]) -> tuple[WireMessage, ...]:
    """LangChain messages as a request's.

    A call goes out under the provider's id, as long as that is unique in the request; else (several
    servers number calls anew in every answer) under our own. Answers with nothing in them are left
    out: servers refuse them.
    """
    wire: list[WireMessage] = []
    wire_id_of: dict[str, str] = {}
    taken: set[str] = set()
    for message in messages:
        role = _ROLES.get(message.type.removesuffix("MessageChunk").lower())
        if role is None:
            raise TypeError(f"a {message.type} message cannot be sent to a model")
        text = _text_of(message)
        if isinstance(message, AIMessage):
            calls = tuple(_wire_calls(message, wire_id_of, taken))
            if text or calls:
                reasoning = str(message.additional_kwargs.get("reasoning_content") or "")
                items = get_output_items(message)
                wire.append(
                    WireMessage(
                        role=role, text=text, reasoning=reasoning, tool_calls=calls, output_items=items
                    )
                )
        elif isinstance(message, ToolMessage):
            call_id = wire_id_of.get(message.tool_call_id, message.tool_call_id)
            wire.append(WireMessage(role=role, text=text, tool_call_id=call_id, name=message.name or ""))
        else:
            wire.append(WireMessage(role=role, text=text, images=_images_of(message)))
    return tuple(wire)


def _wire_calls(message: AIMessage, wire_id_of: dict[str, str], taken: set[str]) -> list[WireToolCall]:
    provider_ids: Mapping[str, str] = message.additional_kwargs.get("provider_ids") or {}
    calls = []
    for call in message.tool_calls:
        own_id = call["id"] or ""
        wire_id = provider_ids.get(own_id) or own_id
        if wire_id in taken:
            wire_id = own_id
        taken.add(wire_id)
        wire_id_of[own_id] = wire_id
        arguments = json.dumps(call["args"], ensure_ascii=False)
        calls.append(WireToolCall(provider_id=wire_id, name=call["name"], arguments=arguments))
    return calls


def _text_of(message: BaseMessage) -> str:
    """The text of a message, its parts joined. Raises TypeError for parts that are not text."""
    if isinstance(message.content, str):
        return message.content
    parts = []
    for part in message.content:
        if isinstance(part, str):
            parts.append(part)
        elif part.get("type") == "text":
            parts.append(str(part.get("text", "")))
        elif message.type == "human" and part.get("type") in _IMAGE_PARTS:
            continue
        else:
            raise TypeError(f"a part of type {part.get('type')!r} cannot be sent to this model")
    return "".join(parts)


def _images_of(message: BaseMessage) -> tuple[WireImage, ...]:
    """The pictures of a message: bytes, data URLs in OpenAI's form, or LangChain's own blocks.

    Raises TypeError for an address: what is sent has to be at hand.
    """
    if isinstance(message.content, str):
        return ()
    return tuple(
        _image(part)
        for part in message.content
        if isinstance(part, Mapping) and part.get("type") in _IMAGE_PARTS
    )


def _image(part: Mapping[str, Any]) -> WireImage:
    if part.get("type") == "image":
        mime, encoded = str(part.get("mime_type") or "image/png"), part.get("base64") or part.get("data")
        if isinstance(encoded, bytes):  # as this program itself puts them: encoded where they are sent
            return WireImage(data=encoded, mime=mime)
    else:
        address = part.get("image_url")
        url = str(address.get("url") if isinstance(address, Mapping) else address)
        head, found, encoded = url.partition(";base64,")
        mime = head.removeprefix("data:")
        if not found or not url.startswith("data:"):
            encoded = None
    if not isinstance(encoded, str):
        raise TypeError("a picture has to be given as data")
    try:
        return WireImage(data=base64.b64decode(encoded, validate=True), mime=mime)
    except ValueError as error:
        raise TypeError(f"a picture's data can't be read: {error}") from error
