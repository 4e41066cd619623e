"""What of a conversation's attachments a model is sent: pictures and texts, read from where they are kept.

Those of the running turn go whole. Of earlier turns pictures go again while they fit into a budget, the
newest first, texts shortened; what does not go is named in a sentence, so that the model knows of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, HumanMessage

from application.agent.attachments import read_text
from domain.llm.attachments import (
    EARLIER_PICTURE_TOKENS,
    EARLIER_TEXT_SENT,
    TEXT_SENT,
    Attachment,
    attachments_from_plain,
    name_in_fence,
)
from domain.llm.chat import ModelAbilities, ProviderChoice, WireImage
from domain.llm.context_block import fence_data
from domain.llm.messages import get_attachments, get_text
from domain.llm.tools.result import cut_middle
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.conversation import ChatModels
    from application.ports.project import ProjectFiles

_SHARE_OF_CONTEXT = 4
"""Pictures of earlier turns take at most this part of a model's context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What goes with one message."""

    images: tuple[WireImage, ...] = ()
    text: str = ""
    """Before the user's words: texts as data blocks, and what is said of pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """What goes with the messages of one request."""

    of_message: Mapping[str, Material]
    """By the message's id."""
    sent_again: int = 0
    """Pictures of earlier turns among them."""
    unseen: tuple[str, ...] = ()
    """Names of pictures of earlier turns that this model can't see."""
    kept_back: tuple[str, ...] = ()
    """Names of what ``.circuitaiignore`` keeps from a model on the network."""


def with_material(message: BaseMessage, material: Material | None) -> BaseMessage:
    """A user's message with what goes with it, in LangChain's parts; pictures as bytes."""
    if material is None or not isinstance(message, HumanMessage):
        return message
    text = "\n\n".join(part for part in (material.text, get_text(message)) if part)
    if not material.images:
        return message.model_copy(update={"content": text})
    # Bytes, not base64: a picture is encoded once, where its request is written, off the loop.
    parts = [{"type": "image", "mime_type": image.mime, "data": image.data} for image in material.images]
    return message.model_copy(update={"content": [*parts, {"type": "text", "text": text}]})


class Attached:
    """Reads the attachments of one conversation, for one turn; each content once."""

    def __init__(self, project: ProjectFiles, models: ChatModels, *, is_on_network: bool) -> None:
        self._project = project
        self._models = models
        self._is_on_network = is_on_network
        self._abilities: dict[ProviderChoice, ModelAbilities] = {}
        self._contents: dict[str, bytes | None] = {}
        self._texts: dict[str, str | None] = {}

    async def of(
        self,
        messages: Sequence[BaseMessage],
        *,
        running: Sequence[BaseMessage],
        choice: ProviderChoice,
        is_short: bool,
    ) -> Materials:
        """What goes with these messages; `is_short`: the context is, no earlier picture goes again.

        A content that is lost is said in its place.
        """
        found = {
            str(message.id): attachments_from_plain(get_attachments(message))
            for message in messages
            if isinstance(message, HumanMessage) and get_attachments(message)
        }
        if not any(found.values()):
            return Materials(of_message={})
        now = {str(message.id) for message in running}
        sees, budget = True, 0 if is_short else EARLIER_PICTURE_TOKENS
        if any(each.is_picture for attachments in found.values() for each in attachments):
            if choice not in self._abilities:
                self._abilities[choice] = await self._models.abilities(choice)
            abilities = self._abilities[choice]
            sees = abilities.vision is not False
            if abilities.context_tokens is not None:
                budget = min(budget, abilities.context_tokens // _SHARE_OF_CONTEXT)
        return await asyncio.to_thread(self._gather, found, now, sees=sees, budget=budget)

    def _gather(
        self, found: Mapping[str, Sequence[Attachment]], now: set[str], *, sees: bool, budget: int
    ) -> Materials:
        materials: dict[str, Material] = {}
        unseen: list[str] = []
        kept_back: list[str] = []
        sent: set[str] = set()
        sent_again = 0
        for message_id, attachments in reversed(tuple(found.items())):  # the newest is served first
            is_now = message_id in now
            images: list[WireImage] = []
            texts: list[str] = []
            for attachment in attachments:
                if self._is_kept_back(attachment):
                    kept_back.append(attachment.name)
                    texts.append(_said(attachment, "is kept from models on the network"))
                elif not attachment.is_picture:
                    texts.append(self._text(attachment, is_now=is_now))
                elif attachment.sha256 in sent:
                    texts.append(_said(attachment, "is the same as one of a later message"))
                elif not sees and not is_now:
                    unseen.append(attachment.name)
                    texts.append(_said(attachment, "can't be seen by this model"))
                elif not is_now and attachment.tokens > budget:
                    texts.append(_said(attachment, "is not sent again, to keep the request short"))
                elif (content := self._content(attachment.stored_name)) is None:
                    texts.append(_said(attachment, "is lost: its file is missing or damaged"))
                else:
                    if not is_now:
                        budget -= attachment.tokens
                        sent_again += 1
                    sent.add(attachment.sha256)
                    images.append(WireImage(data=content, mime=attachment.mime))
                    texts.append(_said(attachment, f"is picture {len(images)} of this message"))
            materials[message_id] = Material(images=tuple(images), text="\n\n".join(texts))
        return Materials(
            of_message=materials,
            sent_again=sent_again,
            unseen=tuple(unseen),
            kept_back=tuple(kept_back),
        )

    def _is_kept_back(self, attachment: Attachment) -> bool:
        return (
            self._is_on_network and bool(attachment.source) and self._project.is_kept_back(attachment.source)
        )

    def _text(self, attachment: Attachment, *, is_now: bool) -> str:
        name = attachment.stored_text_name
        if name not in self._texts:
            content = self._content(name)
            self._texts[name] = None if content is None else _decoded(content)
        text = self._texts[name]
        if text is None:
            return _said(attachment, "is lost: its file is missing or damaged")
        most = TEXT_SENT if is_now else EARLIER_TEXT_SENT
        return fence_data(f"attached file {name_in_fence(attachment.name)}", cut_middle(text, most, most))

    def _content(self, name: str) -> bytes | None:
        if name not in self._contents:
            try:
                self._contents[name] = self._project.attachments.read(name)
            except CircuitAIError:  # told to the model in its place; the window shows it as missing
                self._contents[name] = None
        return self._contents[name]


def _decoded(content: bytes) -> str | None:
    try:
        return read_text(content)
    except ValueError:
        return None


def _said(attachment: Attachment, what: str) -> str:
    kind = "picture" if attachment.is_picture else "file"
    size = f" ({attachment.width} x {attachment.height})" if attachment.is_picture else ""
    return f"(The attached {kind} {name_in_fence(attachment.name)}{size} {what}.)"
