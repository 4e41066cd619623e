"""What leaves the computer when a model on the network is asked, and the user's word on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.message import Message, msg
from shared.origin import host_of

ConsentAnswer = Literal["once", "always", "no"]
"""once: this conversation, until the program ends; always: this project and this server."""

PARTS_SENT: tuple[Message, ...] = (
    msg("your messages, and the earlier ones of the conversation"),
    msg("the project's name, the names of its circuits, and its design goals"),
    msg("what tools read on the model's behalf: files, passages that searches find, diagnostics"),
    msg("values from simulations and measurements"),
    msg("pictures and files that you attach"),
)
PARTS_KEPT: tuple[Message, ...] = (
    msg("files listed in .circuitaiignore"),
    msg("hidden files, and everything outside the project and your libraries"),
    msg("keys, except the server's own"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentQuestion:
    """Asked before the first request of a project to a server on the network."""

    provider: str
    """Its title."""
    destination: str
    """Scheme, host and port; of a LangChain class without an address its name."""

    @property
    def host(self) -> str:
        """What the question is about: a name anybody can give himself, a host not."""
        return host_of(self.destination) or self.destination

    @property
    def is_encrypted(self) -> bool:
        """Whether what is sent, and the key with it, can't be read on the way."""
        return not self.destination.startswith("http://")
