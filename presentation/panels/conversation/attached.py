"""Attachments in messages: their thumbnails, and their place in a row."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from presentation.panels.conversation.blocks import AttachedFile, AttachedFiles
from presentation.panels.conversation.items import AttachedItem, Item, UserText
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.agent.attachments import Attachments
    from domain.llm.attachments import Attachment

THUMBNAIL_SIDE = 240
"""Pixels; sharp also where a screen has two for one."""
_MOST_THUMBNAILS = 60
"""Of one conversation, the newest; earlier pictures are shown by their names."""


async def with_thumbnails(attachments: Attachments, root: Path, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items of a stored conversation, with small pictures of what was attached."""
    left, shown = _MOST_THUMBNAILS, list(items)
    for place in range(len(shown) - 1, -1, -1):
        item = shown[place]
        if not isinstance(item, UserText) or not item.attached or left <= 0:
            continue
        dressed = []
        for each in item.attached:
            left -= each.attachment.is_picture
            dressed.append(await _with_thumbnail(attachments, root, each))
        shown[place] = replace(item, attached=tuple(dressed))
    return tuple(shown)


async def _with_thumbnail(attachments: Attachments, root: Path, item: AttachedItem) -> AttachedItem:
    if not item.attachment.is_picture:
        return item
    try:
        return replace(item, thumbnail=await attachments.preview(root, item.attachment, THUMBNAIL_SIDE))
    except CircuitAIError:
        return replace(item, is_lost=True)  # and so it is shown


def facts_of(attachment: Attachment) -> str:
    """Size in pixels and bytes, the same in every language: ``800 × 600 · 12 kB``."""
    pixels = f"{attachment.width} × {attachment.height}" if attachment.is_picture else ""
    return " · ".join(part for part in (pixels, size_text(attachment.size)) if part)


def size_text(size: int) -> str:
    """``640 B``, ``12 kB``, ``3.4 MB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 999_500 else f"{size / 1e6:.1f} MB"


def icon_name(attachment: Attachment) -> str:
    if attachment.is_picture:
        return "image"
    return "file-text" if attachment.mime == "application/pdf" else "file-code"


def shortened_name(name: str, most: int = 28) -> str:
    """A long name without its middle; the suffix stays."""
    if len(name) <= most:
        return name
    tail = 10
    return f"{name[: most - tail - 1]}…{name[-tail:]}"


@lru_cache(maxsize=128)
def picture_address(data: bytes) -> str:
    """A small picture as an address both views can show."""
    kind = "jpeg" if data.startswith(b"\xff\xd8") else "png"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def attachments_of(item: UserText) -> AttachedFiles:
    return AttachedFiles(
        tuple(
            AttachedFile(
                number=number,
                name=shortened_name(each.attachment.name),
                facts=facts_of(each.attachment),
                told=_told(each),
                icon="circle-alert" if each.is_lost else icon_name(each.attachment),
                address=picture_address(each.thumbnail) if each.thumbnail else "",
                is_lost=each.is_lost,
            )
            for number, each in enumerate(item.attached)
        )
    )


def _told(item: AttachedItem) -> Message:
    name, facts = item.attachment.name, facts_of(item.attachment)
    if item.is_lost:
        return msg("{name} ({facts}): its file is missing or damaged", name=name, facts=facts)
    return msg("{name} ({facts})", name=name, facts=facts)
