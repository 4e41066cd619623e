"""How a message names something of the project: ``@amp.cir:3-5``, ``@"my file.cir"``.

What it names is read by `application.conversation.question`.
"""

from __future__ import annotations

import re

from shared.message import one_line

_PLAIN = re.compile(r"[^\s\"'`，。；：！？、（）()<>\[\]{}@]+")


def mention(written: str) -> str:
    """What stands in the message."""
    return f"@{written}" if _PLAIN.fullmatch(written) else f'@"{written}"'


def can_be_mentioned(name: str) -> bool:
    """Whether a message that has it reads as it stands: no line end, no turned writing, no end of quotes."""
    return '"' not in name and one_line(name) == name
