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
from shared.message import Message, msg, template
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

    @property
    def named(self) -> dict[str, str]:
        """What texts name of it."""
        name, variable = self.provider, key_variable(self.provider)
        model = self.model or "?"
        return {"server": self.server, "provider": name, "name": name, "model": model, "variable": variable}


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


_TEXTS: dict[ProviderErrorType, Callable[..., Message]] = {
    "no_key": template("{server} requires a key: {said}"),
    "auth": template("{server} does not accept the key: {said}"),
    "forbidden": template("{server} denied access: {said}"),
    "no_balance": template("The account at {server} has no balance left: {said}"),
    "quota": template("The quota at {server} is used up: {said}"),
    "rate_limited": template("Rate limit of {server} reached: {said}"),
    "overloaded": template("{server} is overloaded: {said}"),
    "unknown_model": template("{server} does not have the model {model}: {said}"),
    "context_too_long": template("The conversation is too long for the model {model}: {said}"),
    "content_blocked": template("{server} refused the content: {said}"),
    "bad_request": template("{server} did not accept the request: {said}"),
    "unreachable": template("{server} cannot be reached: {said}"),
    "timeout": template("{server} took too long: {said}"),
    "connection_lost": template("The connection to {server} broke: {said}"),
    "server_error": template("{server} failed: {said}"),
    "bad_response": template("{server} sent something that is not a model's answer: {said}"),
    "empty_answer": template("{server} sent an empty answer."),
    "service_paused": template("Requests to {server} are paused: {said}"),
}

_ADVICE: dict[ProviderErrorType, Callable[..., Message]] = {
    "no_key": template(
        "Set a key with `providers key set {provider}`, in the model settings of the window, or in the "
        "environment variable {variable}."
    ),
    "auth": template(
        "Check that the key is right and belongs to this server; set another one with `providers key "
        "set {provider}`, in the model settings of the window, or in the environment variable "
        "{variable}, which takes precedence."
    ),
    "forbidden": template("Ask the provider what this account may use, or choose another model."),
    "no_balance": template("Top up the account, or choose another provider."),
    "quota": template(
        "Wait for the quota to reset, ask the provider to raise it, or choose another provider."
    ),
    "rate_limited": template("Wait a minute and send the message again."),
    "overloaded": template("Try again in a few minutes, or choose another model."),
    "unknown_model": template("Choose one of its models; `providers test {provider}` lists them."),
    "context_too_long": template(
        "Start a new conversation, send less, or choose a model with a larger context."
    ),
    "content_blocked": template("Reword the message; it will be refused again if unchanged."),
    "bad_request": template("Check the base URL, and whether the model supports what was requested."),
    "unreachable": template(
        "Check the network connection, the address of the server and the proxy settings."
    ),
    "timeout": template("Try again; a slow model needs a longer timeout."),
    "connection_lost": template(
        'The partial answer was kept. Say "continue" to continue from there, or send the message again.'
    ),
    "server_error": template("Try again in a moment; if it keeps failing, choose another model or provider."),
    "bad_response": template("Check that the base URL is that of an OpenAI-compatible server."),
    "empty_answer": template("Send the message again in other words, or choose another model."),
    "service_paused": template("Wait until then, or choose another model."),
}
_AT_HOME: dict[ProviderErrorType, Callable[..., Message]] = {
    "unreachable": template("Start the server, or correct its address."),
    "service_paused": template(
        "Check that the server is running; `providers test {name}` checks it at once."
    ),
}
"""The advice of a server on this computer."""


def text_of(kind: ProviderErrorType, peer: Peer, said: str | Message) -> Message:
    return _TEXTS[kind](**peer.named, said=said)


def advice_on(kind: ProviderErrorType, peer: Peer) -> Message:
    advice = _AT_HOME.get(kind) if peer.is_loopback else None
    return (advice or _ADVICE[kind])(**peer.named)
