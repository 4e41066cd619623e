"""What is asked before a message goes to a server: consent, and the passphrase of the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PyQt6.QtWidgets import QLineEdit, QWidget

from application.groups.models import Models
from domain.llm.chat import ProviderChoice
from domain.llm.consent import PARTS_KEPT, PARTS_SENT, ConsentAnswer, ConsentQuestion
from presentation.ui.questions import ask_text, choose
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg


async def ask_consent(
    services: WindowServices, parent: QWidget, question: ConsentQuestion, *, about: Message | None = None
) -> ConsentAnswer:
    """The question with its three answers; Escape is no."""
    language = services.language
    lines = [
        language(msg("{destination} is on the network (set up as {provider}). This will be sent:",
                     provider=question.provider, destination=question.destination)),
        *(f"  •  {language(part)}" for part in PARTS_SENT),
        "",
        language(msg("Not sent:")),
        *(f"  •  {language(part)}" for part in PARTS_KEPT),
    ]  # fmt: skip
    if not question.is_encrypted:
        warning = msg(
            "The connection is not encrypted: everything sent, including the key, can be read in transit."
        )
        lines += ["", language(warning)]
    return await choose(
        services,
        parent,
        title=msg("Send this project to {host}?", host=question.host),
        text=msg("{text}", text="\n".join(lines)),
        options=(
            ("once", msg("For this conversation"), "primary"),
            ("always", msg("Always for this project"), ""),
            ("no", msg("Do not send"), ""),
        ),
        cancelled="no",
        about=about,
    )


async def unlock_keys(
    services: WindowServices,
    models: Models,
    parent: QWidget,
    choice: ProviderChoice,
    *,
    before: Callable[[], Awaitable[Message | None]],
) -> bool:
    """Ask for the passphrase when the key of `choice` needs it; False when the user thinks better of it.

    `before` is awaited before it is asked, and gives what the question is about.
    """
    keys = models.keys
    infos = await asyncio.to_thread(models.providers.list)  # looks up the places of keys on the disk
    info = next((info for info in infos if info.name == choice.provider), None)
    if info is None or not info.key_variable:
        return True
    label: Message = msg("The key of {name} is in the encrypted file. Passphrase:", name=info.title)
    while (await asyncio.to_thread(keys.status, info.name, info.key_variable)).needs_passphrase:
        about = await before()
        passphrase = await ask_text(
            services,
            parent,
            title=msg("Passphrase"),
            label=label,
            echo=QLineEdit.EchoMode.Password,
            about=about,
        )
        if passphrase is None:
            return False
        try:
            await asyncio.to_thread(keys.unlock, passphrase)
        except CircuitAIError as error:
            label = error.message
    return True
