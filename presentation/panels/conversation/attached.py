"""Attachments in messages: their thumbnails, and how both views show them."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

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

Translate = Callable[[Message], str]


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
    """The icon of what it is."""
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


def attached_html(item: UserText, translate: Translate, icon: Callable[[str], str]) -> str:
    """For the web view: pictures, then files; each is a button that shows it large."""
    pictures, files = [], []
    for number, each in enumerate(item.attached):
        told = html.escape(translate(_told(each)))
        label = f'title="{told}" aria-label="{told}" data-act="attachment" data-arg="{number}"'
        if each.thumbnail:
            address = picture_address(each.thumbnail)
            pictures.append(f'<button class="picture" {label}><img alt="" src="{address}"></button>')
            continue
        attachment = each.attachment
        mark = icon("circle-alert" if each.is_lost else icon_name(attachment))
        name, facts = html.escape(shortened_name(attachment.name)), html.escape(facts_of(attachment))
        lost = " lost" if each.is_lost else ""
        shown = f'{mark}<span>{name}</span><span class="dim">{facts}</span>'
        files.append(f'<button class="file{lost}" {label}>{shown}</button>')
    rows = (f'<div class="attached">{"".join(row)}</div>' for row in (pictures, files) if row)
    return "".join(rows)


def attached_plain(item: UserText, translate: Translate, link: Callable[[str, str], str]) -> str:
    """For the plain view; `link` makes one of an argument and its label."""
    lines = []
    for number, each in enumerate(item.attached):
        told = html.escape(translate(_told(each)))
        picture = f'<img src="{picture_address(each.thumbnail)}" height="96"><br>' if each.thumbnail else ""
        lines.append(f"{picture}{link(str(number), told)}")
    return f"<p>{'<br>'.join(lines)}</p>" if lines else ""


def _told(item: AttachedItem) -> Message:
    name, facts = item.attachment.name, facts_of(item.attachment)
    if item.is_lost:
        return msg("{name} ({facts}): its file is missing or damaged", name=name, facts=facts)
    return msg("{name} ({facts})", name=name, facts=facts)
