"""What a user attaches to a message: pictures, and files of which the text is sent.

A message names its attachments (`Attachment.to_plain`, under "attachments" of its extra fields); their
contents lie in the project's ``.circuit_ai/attachments/``, named by their SHA-256, never in the transcript.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from domain.llm.tokens import count_tokens, image_tokens
from domain.llm.tools.result import cut_middle

AttachmentKind = Literal["image", "file"]

LARGEST_ATTACHMENT = 10 << 20
"""Bytes of one."""
MOST_ATTACHMENTS = 8
"""Of one message."""
MOST_PIXELS = 50_000_000
"""Of a picture: more than any camera or screen needs; a file that claims more is made to fill memory."""
TEXT_SENT = 60_000
"""Characters of an attached text that a model is sent; of a longer one head and tail."""
EARLIER_TEXT_SENT = 4_000
"""The same, of a text that was attached in an earlier turn."""
EARLIER_PICTURE_TOKENS = 8_000
"""For the pictures of earlier turns together, the newest first; the others become a sentence."""

_SUFFIXES: Mapping[str, str] = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
}
_HASH = re.compile(r"[0-9a-f]{64}")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]+")
_MARKUP = re.compile(r'[<>"&]')
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What a message keeps of an attachment."""

    kind: AttachmentKind
    """file: its text is sent."""
    name: str
    """For people; on one line, at most 120 characters."""
    mime: str
    size: int
    """Bytes."""
    sha256: str
    width: int = 0
    """Of a picture, in pixels."""
    height: int = 0
    characters: int = 0
    """Of a file's text."""
    tokens: int = 0
    """About what it costs."""
    text_sha256: str = ""
    """Where what is sent is kept, if it is not the whole file (a PDF, a long text); "" = the file is it."""
    source: str = ""
    """Where it was taken from, relative to the project; "" = from elsewhere."""

    @property
    def is_picture(self) -> bool:
        """Whether the model has to see to get it."""
        return self.kind == "image"

    @property
    def is_shortened(self) -> bool:
        """Whether a model is sent head and tail of its text only."""
        return self.characters > TEXT_SENT

    @property
    def characters_left_out(self) -> int:
        """Of its text, in the turn it is sent with."""
        return max(self.characters - TEXT_SENT, 0)

    @property
    def stored_name(self) -> str:
        """The file in the project's folder of attachments."""
        return self.sha256 + _SUFFIXES.get(self.mime, "")

    @property
    def stored_text_name(self) -> str:
        """The file there that holds its text."""
        return self.text_sha256 + ".txt" if self.text_sha256 else self.stored_name

    @property
    def path(self) -> str:
        """Where its content is, relative to the project."""
        return f".circuit_ai/attachments/{self.stored_name}"

    def to_plain(self) -> dict[str, Any]:
        """As JSON; what is not known is left out."""
        plain: dict[str, Any] = {
            "type": self.kind,
            "path": self.path,
            "name": self.name,
            "mime_type": self.mime,
            "size": self.size,
            "sha256": self.sha256,
            "width": self.width,
            "height": self.height,
            "characters": self.characters,
            "tokens": self.tokens,
            "text_sha256": self.text_sha256,
            "source": self.source,
        }
        return {key: value for key, value in plain.items() if value not in ("", 0) or key == "size"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedAttachment:
    """An attachment that is about to be sent."""

    attachment: Attachment
    content: bytes | None = None
    """None: the project has it already (a message that is said again)."""
    text: bytes | None = None
    """What is sent of it, UTF-8; None = the content is that."""


def attachment_from_plain(plain: Mapping[str, Any]) -> Attachment | None:
    """An attachment as a message keeps it; None for what is none (another version's, or hand-made)."""
    kind, sha256 = plain.get("type"), plain.get("sha256")
    if kind not in ("image", "file") or not isinstance(sha256, str) or not _HASH.fullmatch(sha256):
        return None
    text_sha256 = _word(plain, "text_sha256")
    return Attachment(
        kind=kind,
        name=clean_name(_word(plain, "name")),
        mime=_word(plain, "mime_type"),
        size=_count(plain, "size"),
        sha256=sha256,
        width=_count(plain, "width"),
        height=_count(plain, "height"),
        characters=_count(plain, "characters"),
        tokens=_count(plain, "tokens"),
        text_sha256=text_sha256 if _HASH.fullmatch(text_sha256) else "",
        source=_word(plain, "source"),
    )


def attachments_from_plain(plain: Sequence[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    found = (attachment_from_plain(item) for item in plain)
    return tuple(item for item in found if item is not None)


def _word(plain: Mapping[str, Any], key: str) -> str:
    value = plain.get(key)
    return value if isinstance(value, str) else ""


def _count(plain: Mapping[str, Any], key: str) -> int:
    value = plain.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def clean_name(name: str) -> str:
    """A file's name on one line, without what would turn text around; a long one loses its middle."""
    name = " ".join(_UNPRINTABLE.sub(" ", name).split()) or "file"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 21]}…{name[-20:]}"


def name_in_fence(name: str) -> str:
    """A file's name as the name of a data block, which it cannot close."""
    return _MARKUP.sub("_", name)


def tokens_of_picture(width: int, height: int) -> int:
    return image_tokens(width, height)


def prepared_text(name: str, content: bytes, mime: str, text: str) -> PreparedAttachment:
    """A file that goes as `text`; what is sent of it is kept apart where that is not all of the file.

    So a turn never decodes ten megabytes to send their beginning and their end.
    """
    is_whole = mime == "text/plain" and len(text) <= TEXT_SENT
    sent = cut_middle(text, TEXT_SENT, TEXT_SENT)
    data = b"" if is_whole else sent.encode("utf-8", "replace")
    attachment = Attachment(
        kind="file",
        name=name,
        mime=mime,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        characters=len(text),
        tokens=count_tokens(sent),
        text_sha256=hashlib.sha256(data).hexdigest() if data else "",
    )
    return PreparedAttachment(attachment=attachment, content=content, text=data or None)
