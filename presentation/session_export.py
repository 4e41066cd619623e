"""A stored conversation as the text of a file: JSON, plain text or Markdown.

As a page it is made by `presentation.panels.conversation.document`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from presentation.json_output import plain
from shared.message import Message, in_json
from shared.redaction import redact_known

if TYPE_CHECKING:
    from application.conversation.sessions import TextFormat
    from application.conversation.shown_session import ShownSession


def export_text(session: ShownSession, kind: TextFormat, translate: Callable[[Message], str]) -> str:
    """The conversation in a format, in the words of `translate`'s language."""
    from application.conversation.session_texts import json_document, markdown, plain_text, with_versions

    match kind:
        case "json":
            return document_text(json_document(session))
        case "txt":
            return redact_known(plain_text(with_versions(session), translate))
        case _:
            return redact_known(markdown(with_versions(session), translate))


def document_text(document: Mapping[str, Any]) -> str:
    """A document as the text of a file; keys that are known are left out."""
    return redact_known(_json_text(document))


def _json_text(document: Mapping[str, Any]) -> str:
    """Indented JSON that is valid in UTF-8 (a lone surrogate makes it ASCII) and safe on a terminal."""
    text = json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(plain(document), allow_nan=False, indent=2)
    return in_json(text) + "\n"
