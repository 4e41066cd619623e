"""What people (and the model) are told when a search fails: a sentence and an advice for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from domain.llm.web_search import SearchErrorKind, WebSearchError
from infrastructure.llm_adapters.error_texts import Peer
from shared.message import Message, msg

_TEXTS: Mapping[SearchErrorKind, Callable[[str, object], Message]] = {
    "no_key": lambda server, said: msg(
        "The search engine {server} requires a key: {said}", server=server, said=said
    ),
    "auth": lambda server, said: msg(
        "The search engine {server} does not accept the key: {said}", server=server, said=said
    ),
    "forbidden": lambda server, said: msg(
        "The search engine {server} denied access: {said}", server=server, said=said
    ),
    "quota": lambda server, said: msg(
        "The quota at the search engine {server} is used up: {said}", server=server, said=said
    ),
    "rate_limited": lambda server, said: msg(
        "Rate limit of the search engine {server} reached: {said}", server=server, said=said
    ),
    "bad_request": lambda server, said: msg(
        "The search engine {server} did not accept the request: {said}", server=server, said=said
    ),
    "moved": lambda server, said: msg(
        "The search engine {server} redirects elsewhere: {said}", server=server, said=said
    ),
    "unreachable": lambda server, said: msg(
        "The search engine {server} cannot be reached: {said}", server=server, said=said
    ),
    "timeout": lambda server, said: msg(
        "The search engine {server} took too long: {said}", server=server, said=said
    ),
    "connection_lost": lambda server, said: msg(
        "The connection to the search engine {server} broke: {said}", server=server, said=said
    ),
    "server_error": lambda server, said: msg(
        "The search engine {server} failed: {said}", server=server, said=said
    ),
    "bad_response": lambda server, said: msg(
        "The search engine {server} sent something that is not a list of pages: {said}",
        server=server,
        said=said,
    ),
    "too_large": lambda server, said: msg(
        "The answer of the search engine {server} is too large: {said}", server=server, said=said
    ),
}
_ADVICE: Mapping[SearchErrorKind, Callable[[Peer], Message]] = {
    "no_key": lambda peer: msg("Set one: providers key set {name}.", name=peer.provider),
    "auth": lambda peer: msg("Check the key: providers key set {name} replaces it.", name=peer.provider),
    "forbidden": lambda _: msg("Check which permissions this key has, or choose another engine."),
    "quota": lambda _: msg("Wait for the quota to reset, or choose another engine."),
    "rate_limited": lambda _: msg("Wait a minute before the next search."),
    "bad_request": lambda _: msg("Check the address of the engine, and its id if it has one."),
    "moved": lambda _: msg("Check the address of the engine."),
    "unreachable": lambda _: msg(
        "Check that the server is running, its address, the network and the proxy settings."
    ),
    "timeout": lambda _: msg("Try again, or choose another engine."),
    "connection_lost": lambda _: msg("Try again, or choose another engine."),
    "server_error": lambda _: msg("Try again in a moment, or choose another engine."),
    "bad_response": lambda _: msg("Check that the address belongs to this engine."),
    "too_large": lambda _: msg("Check that the address belongs to this engine."),
}


def failure(
    peer: Peer, kind: SearchErrorKind, said: object, *, advice: Message | None = None
) -> WebSearchError:
    """The error of a kind with `said` quoted, and its usual advice or this one."""
    return WebSearchError(_TEXTS[kind](peer.server, said), kind=kind, advice=advice or _ADVICE[kind](peer))
