"""What people are told about the errors of providers: a sentence and an advice for each kind.

A server's own words are quoted, without control characters and cut to 300 characters; keys are blacked
out wherever they appear, as a server may echo what it was sent.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote as url_quote
from urllib.parse import urljoin, urlsplit

from domain.llm.chat import ProviderErrorType
from shared.message import Message, msg
from shared.redaction import redact

QUOTE_LIMIT = 300
_BLACKED_OUT = "[key]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Whom we talk to, for the texts of errors."""

    server: str
    """As people know it: host and port."""
    provider: str
    model: str = ""
    key: str = ""
    is_loopback: bool = False


def quote(text: str, key: str, *, limit: int = QUOTE_LIMIT) -> str:
    """`text` fit to be shown: no control characters, no key, at most `limit` characters."""
    text = text[: 100 * limit]
    visible = "".join(" " if unicodedata.category(char).startswith("C") else char for char in text)
    visible = _without_key(" ".join(visible.split()), key)
    return visible if len(visible) <= limit else visible[: limit - 1] + "…"


def _without_key(text: str, key: str) -> str:
    for form in {key, url_quote(key, safe=""), json.dumps(key)[1:-1]} - {""}:
        if len(form) >= 6:
            text = text.replace(form, _BLACKED_OUT)
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", _BLACKED_OUT, text)
    return redact(text)


def moved_advice(peer: Peer, location: str) -> Message:
    """What to do about a redirect: only an address of the same host is one to use.

    Another is told as what it is, since whoever answers may want the key to be sent there, or a file opened.
    """
    place = quote(location.partition("?")[0], peer.key)
    try:
        parts = urlsplit(urljoin(f"//{peer.server}/", place))
        is_near = (parts.hostname, parts.username) == (urlsplit(f"//{peer.server}").hostname, None)
    except ValueError:
        is_near = False
    if is_near and (parts.scheme in ("http", "https") or place.startswith("/")):
        near = parts.geturl().removeprefix("//")
        return msg("The server has moved to {place}; give that as the base URL.", place=near)
    return msg(
        "It redirects to {place}, which was not followed. Change the address only to one that the provider "
        "itself publishes.",
        place=place or "?",
    )


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return f"CIRCUIT_AI_{provider.upper().replace('-', '_')}_API_KEY"


_Said = str | Message
TEXTS: dict[ProviderErrorType, Callable[[Peer, _Said], Message]] = {
    "no_key": lambda peer, said: msg("{server} requires a key: {said}", server=peer.server, said=said),
    "auth": lambda peer, said: msg("{server} does not accept the key: {said}", server=peer.server, said=said),
    "forbidden": lambda peer, said: msg("{server} denied access: {said}", server=peer.server, said=said),
    "no_balance": lambda peer, said: msg(
        "The account at {server} has no balance left: {said}", server=peer.server, said=said
    ),
    "quota": lambda peer, said: msg(
        "The quota at {server} is used up: {said}", server=peer.server, said=said
    ),
    "rate_limited": lambda peer, said: msg(
        "Rate limit of {server} reached: {said}", server=peer.server, said=said
    ),
    "overloaded": lambda peer, said: msg("{server} is overloaded: {said}", server=peer.server, said=said),
    "unknown_model": lambda peer, said: msg(
        "{server} does not have the model {model}: {said}",
        server=peer.server,
        model=peer.model or "?",
        said=said,
    ),
    "context_too_long": lambda peer, said: msg(
        "The conversation is too long for the model {model}: {said}", model=peer.model or "?", said=said
    ),
    "content_blocked": lambda peer, said: msg(
        "{server} refused the content: {said}", server=peer.server, said=said
    ),
    "bad_request": lambda peer, said: msg(
        "{server} did not accept the request: {said}", server=peer.server, said=said
    ),
    "unreachable": lambda peer, said: msg(
        "{server} cannot be reached: {said}", server=peer.server, said=said
    ),
    "timeout": lambda peer, said: msg("{server} took too long: {said}", server=peer.server, said=said),
    "connection_lost": lambda peer, said: msg(
        "The connection to {server} broke: {said}", server=peer.server, said=said
    ),
    "server_error": lambda peer, said: msg("{server} failed: {said}", server=peer.server, said=said),
    "bad_response": lambda peer, said: msg(
        "{server} sent something that is not a model's answer: {said}", server=peer.server, said=said
    ),
    "empty_answer": lambda peer, _said: msg("{server} sent an empty answer.", server=peer.server),
    "service_paused": lambda peer, said: msg(
        "Requests to {server} are paused: {said}", server=peer.server, said=said
    ),
}

ADVICE: dict[ProviderErrorType, Callable[[Peer], Message]] = {
    "no_key": lambda peer: msg(
        "Set a key with `providers key set {provider}`, in the model settings of the window, or in the "
        "environment variable {variable}.",
        provider=peer.provider,
        variable=key_variable(peer.provider),
    ),
    "auth": lambda peer: msg(
        "Check that the key is right and belongs to this server; set another one with `providers key "
        "set {provider}`, in the model settings of the window, or in the environment variable "
        "{variable}, which takes precedence.",
        provider=peer.provider,
        variable=key_variable(peer.provider),
    ),
    "forbidden": lambda _: msg("Ask the provider what this account may use, or choose another model."),
    "no_balance": lambda _: msg("Top up the account, or choose another provider."),
    "quota": lambda _: msg(
        "Wait for the quota to reset, ask the provider to raise it, or choose another provider."
    ),
    "rate_limited": lambda _: msg("Wait a minute and send the message again."),
    "overloaded": lambda _: msg("Try again in a few minutes, or choose another model."),
    "unknown_model": lambda peer: msg(
        "Choose one of its models; `providers test {provider}` lists them.", provider=peer.provider
    ),
    "context_too_long": lambda _: msg(
        "Start a new conversation, send less, or choose a model with a larger context."
    ),
    "content_blocked": lambda _: msg("Reword the message; it will be refused again if unchanged."),
    "bad_request": lambda _: msg("Check the base URL, and whether the model supports what was requested."),
    "unreachable": lambda peer: (
        msg("Start the server, or correct its address.")
        if peer.is_loopback
        else msg("Check the network connection, the address of the server and the proxy settings.")
    ),
    "timeout": lambda _: msg("Try again; a slow model needs a longer timeout."),
    "connection_lost": lambda _: msg(
        'The partial answer was kept. Say "continue" to continue from there, or send the message again.'
    ),
    "server_error": lambda _: msg(
        "Try again in a moment; if it keeps failing, choose another model or provider."
    ),
    "bad_response": lambda _: msg("Check that the base URL is that of an OpenAI-compatible server."),
    "empty_answer": lambda _: msg("Send the message again in other words, or choose another model."),
    "service_paused": lambda peer: (
        msg(
            "Check that the server is running; `providers test {name}` checks it at once.", name=peer.provider
        )
        if peer.is_loopback
        else msg("Wait until then, or choose another model.")
    ),
}
