"""What the model settings say of keys, thinking and trials."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from domain.llm.chat import ModelAbilities, ProviderInfo, Thinking
from presentation.figures import short_count
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.trying import ModelTrial
    from application.ports.credentials import KeyPlace, KeyStatus, KeyStores

KeepIn = Literal["keyring", "file", "session"]

THINKING: tuple[tuple[Thinking | None, Message], ...] = (
    (None, msg("Model's choice")),
    ("off", msg("Off")),
    ("on", msg("On")),
    ("low", msg("Low")),
    ("medium", msg("Medium")),
    ("high", msg("High")),
)
KEEP_IN: dict[KeepIn, Message] = {
    "keyring": msg("System keyring"),
    "file": msg("Encrypted file with a passphrase"),
    "session": msg("Only until the program ends"),
}
_STORED: dict[KeyPlace, Message] = {
    "environment": msg("set in the environment"),
    "keyring": msg("stored in the system keyring"),
    "file": msg("stored in the encrypted file"),
    "session": msg("kept until the program ends"),
}


def key_placeholder(status: KeyStatus, info: ProviderInfo) -> Message:
    """In the empty field of the key: whether there is one, never a part of it."""
    if status.place is not None:
        return _STORED[status.place]
    return msg("not stored") if info.needs_key else msg("not needed")


def key_note(status: KeyStatus, stores: KeyStores, info: ProviderInfo) -> Message:
    """Under the field: where a key goes."""
    if status.place == "environment":
        return msg(
            "The variable {variable} takes precedence over a key stored here.", variable=info.key_variable
        )
    if status.needs_passphrase:
        return msg("The encrypted file is locked: enter its passphrase.")
    if stores.keyring:
        return msg("Stored in the system keyring, never in plain text.")
    if stores.no_keyring is None:
        return msg("Looking for the system keyring…")
    return msg("There is no keyring here ({reason}).", reason=stores.no_keyring)


def trial_rows(trial: ModelTrial) -> tuple[tuple[Message, Message], ...]:
    """Names and values of a trial that succeeded."""
    speed = trial.tokens_per_s
    return (
        (msg("Server responds"), milliseconds(trial.listed_s)),
        (msg("First token"), milliseconds(trial.first_piece_s)),
        (
            msg("Streaming"),
            msg("in one piece") if speed is None else msg("{count} tokens/s", count=round(speed)),
        ),
        (msg("Tool call"), msg("works") if trial.calls_tools else msg("not used; calls may come as text")),
    )


def verified_text(moment: str) -> Message:
    """When a test last succeeded; `moment` is ISO 8601 in UTC, "" for never."""
    try:
        when = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return msg("Not tested with these settings")
    return msg("Last worked {moment}", moment=f"{when:%Y-%m-%d %H:%M}")


def ability_words(found: ModelAbilities) -> tuple[Message, ...]:
    """What is known of a model, in a few words each; none for one that is in no list."""
    tools = {"yes": msg("tools"), "prompted": msg("tools as text"), "no": msg("no tools")}
    words = [
        None if found.context_tokens is None else msg("{count} in", count=short_count(found.context_tokens)),
        None if found.output_tokens is None else msg("{count} out", count=short_count(found.output_tokens)),
        None if found.tools is None else tools[found.tools],
        msg("can see pictures") if found.vision else None,
    ]
    return tuple(word for word in words if word is not None)


def milliseconds(seconds: float) -> Message:
    return msg("{count} ms", count=round(seconds * 1000))
