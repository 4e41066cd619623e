"""Asks a search engine: one request, ten seconds, one megabyte, no redirect to another host.

Failures are told in words of what to do; a server's own words are quoted short, keys blacked out.

What an engine found, made safe: no markup, no invisible characters, addresses that can be opened.

Titles and excerpts are written by strangers who know that models read them.
"""

from __future__ import annotations

import asyncio
import html
import json
import re
import time
import unicodedata
import zlib
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

import httpx

from domain.llm.chat import ProviderError, WebSource
from domain.llm.service import NetworkSettings
from domain.llm.web_search import MOST_RESULTS, SearchAnswer, SearchErrorKind, WebSearchError
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.connections import bytes_of, new_connections, no_socket_left
from infrastructure.llm_adapters.error_texts import Peer, moved_advice, quote
from infrastructure.llm_adapters.timing import Timeouts
from infrastructure.llm_adapters.wire_errors import (
    error_of_transport,
    read_complaint,
    read_retry_after,
    unusable_proxy,
)
from infrastructure.web_search.engines import Names, SearchEngine
from shared.message import Message, msg, template

LONGEST_TITLE = 120
LONGEST_TEXT = 400
_LONGEST_URL = 500
_LONGEST_WORD = 40
_LONGEST_READ = 4_000
"""Characters of a field that are looked at at all."""

_ELEMENTS = (
    "a|abbr|address|applet|area|article|aside|audio|b|base|bdi|bdo|big|blockquote|body|br|button|canvas|"
    "center|code|col|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|figure|font|footer|form|"
    "frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|"
    "main|map|mark|math|meta|nav|noscript|object|ol|option|p|param|picture|pre|q|s|samp|script|section|"
    "select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    "tfoot|th|thead|time|title|tr|u|ul|var|video|wbr"
)
"""Names of elements of HTML; what else stands between angle brackets is text."""
_HIDDEN = re.compile(r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.I | re.S)
_TAG = re.compile(rf"</?(?:{_ELEMENTS})(?=[\s/>])[^<>]*(?:>|(?=<)|$)", re.IGNORECASE)
_ROUNDS = 4
"""Tags may be hidden in entities, and in each other."""


def sources_of(payload: Any, engine: SearchEngine, *, count: int) -> tuple[WebSource, ...]:
    """The first `count` pages of an answer that have a usable address, each address once.

    Raises ValueError when the answer has no list of pages where the engine has one.
    """
    found: dict[str, WebSource] = {}
    for item in _items(payload, engine):
        if not isinstance(item, Mapping):
            continue
        url = _url(_field(item, engine.url_field))
        if not url or url in found:
            continue
        found[url] = WebSource(
            title=plain_text(_field(item, engine.title_field), LONGEST_TITLE) or urlsplit(url).netloc,
            url=url,
            text=plain_text(_field(item, engine.text_field), LONGEST_TEXT),
            site=plain_text(_field(item, engine.site_field), _LONGEST_WORD),
            date=_date(_field(item, engine.date_field)),
        )
        if len(found) == count:
            break
    return tuple(found.values())


def _items(payload: Any, engine: SearchEngine) -> list[Any]:
    if not isinstance(payload, Mapping):
        raise ValueError("no JSON object")
    place: Any = payload
    for name in engine.results:
        # Without a hit some engines leave the list out, or the object around it.
        place = place.get(name) if isinstance(place, Mapping) else None
    if place is None and (engine.results[0] in payload or len(engine.results) > 1 or engine.id_field):
        return []
    if not isinstance(place, list):
        raise ValueError(f"no list “{'.'.join(engine.results)}”")
    return place


def _field(item: Mapping[str, Any], names: Names) -> str:
    found = (item.get(name) for name in names)
    return next((value[:_LONGEST_READ] for value in found if isinstance(value, str) and value.strip()), "")


def plain_text(text: str, longest: int) -> str:
    """One line without markup and without characters nobody sees, at most `longest` characters."""
    for _ in range(_ROUNDS):
        before = text
        seen = "".join(char for char in html.unescape(text) if not _is_invisible(char))
        text = _TAG.sub(" ", _HIDDEN.sub(" ", seen))
        if text == before:
            break
    else:  # packed more often than anybody does by mistake
        text = text.replace("<", " ").replace("&", " ")
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _is_invisible(char: str) -> bool:
    """Control characters, marks of writing direction, tag characters, halves of characters."""
    return not char.isspace() and unicodedata.category(char).startswith("C")


def _url(text: str) -> str:
    """The address, if it is one of a page that may be opened; else ""."""
    text = text.strip()
    if len(text) > _LONGEST_URL or any(char.isspace() or _is_invisible(char) for char in text):
        return ""
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return ""
    is_page = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and has_port
    # A name in front of the host serves to look like another host.
    return text if is_page and parts.username is None and not set(text) & set("<>\"'`\\{}|^") else ""


def _date(text: str) -> str:
    """The day where it can be told, else the engine's words ("3 days ago")."""
    words = plain_text(text, _LONGEST_WORD)
    try:
        return datetime.fromisoformat(words).date().isoformat()
    except ValueError:
        return words


_TEXTS: Mapping[SearchErrorKind, Callable[..., Message]] = {
    "no_key": template("The search engine {server} requires a key: {said}"),
    "auth": template("The search engine {server} does not accept the key: {said}"),
    "forbidden": template("The search engine {server} denied access: {said}"),
    "quota": template("The quota at the search engine {server} is used up: {said}"),
    "rate_limited": template("Rate limit of the search engine {server} reached: {said}"),
    "bad_request": template("The search engine {server} did not accept the request: {said}"),
    "moved": template("The search engine {server} redirects elsewhere: {said}"),
    "unreachable": template("The search engine {server} cannot be reached: {said}"),
    "timeout": template("The search engine {server} took too long: {said}"),
    "connection_lost": template("The connection to the search engine {server} broke: {said}"),
    "server_error": template("The search engine {server} failed: {said}"),
    "bad_response": template("The search engine {server} sent something that is not a list of pages: {said}"),
    "too_large": template("The answer of the search engine {server} is too large: {said}"),
}
_ADVICE: Mapping[SearchErrorKind, Callable[..., Message]] = {
    "no_key": template("Set one: providers key set {name}."),
    "auth": template("Check the key: providers key set {name} replaces it."),
    "forbidden": template("Check which permissions this key has, or choose another engine."),
    "quota": template("Wait for the quota to reset, or choose another engine."),
    "rate_limited": template("Wait a minute before the next search."),
    "bad_request": template("Check the address of the engine, and its id if it has one."),
    "moved": template("Check the address of the engine."),
    "unreachable": template(
        "Check that the server is running, its address, the network and the proxy settings."
    ),
    "timeout": template("Try again, or choose another engine."),
    "connection_lost": template("Try again, or choose another engine."),
    "server_error": template("Try again in a moment, or choose another engine."),
    "bad_response": template("Check that the address belongs to this engine."),
    "too_large": template("Check that the address belongs to this engine."),
}


def failure(
    peer: Peer, kind: SearchErrorKind, said: object, *, advice: Message | None = None
) -> WebSearchError:
    """The error of a kind with `said` quoted, and its usual advice or this one."""
    told = _TEXTS[kind](**peer.named, said=said)
    return WebSearchError(told, kind=kind, advice=advice or _ADVICE[kind](**peer.named))


TOTAL_S = 10.0
LARGEST_ANSWER = 2**20
_MOST_REDIRECTS = 3
_MOST_SILENT = 8
_LONGEST_PAUSE_S = 3600.0

_KINDS_OF_STATUS: Mapping[int, SearchErrorKind] = {
    401: "auth",
    402: "quota",
    403: "forbidden",
    432: "quota",  # Tavily: of the plan
    433: "quota",  # and of pay as you go
}
_ENCODING = re.compile(
    r"utf-?(?:8|16|32)|gb(?:k|2312|18030)|big5|shift_jis|euc-(?:jp|kr)|iso-8859-\d+|windows-125\d|us-ascii"
)
"""Encodings of texts that are taken from a server; Python knows others that are none, or slow."""
_KINDS: Mapping[str, SearchErrorKind] = {"connection_lost": "connection_lost", "timeout": "timeout"}


@dataclass(frozen=True, slots=True)
class _Reply:
    """A whole answer."""

    status: int
    headers: httpx.Headers
    body: bytes
    took_s: float = 0.0


class SearchClient:
    """One engine at one address."""

    def __init__(
        self,
        engine: SearchEngine,
        *,
        base_url: str,
        key: str = "",
        engine_id: str = "",
        network: NetworkSettings | None = None,
        pauses: dict[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
        total_s: float = TOTAL_S,
    ) -> None:
        """`pauses` remembers until when a server wants to be left alone, by the clock's time."""
        self._engine = engine
        self._address = base_url + engine.path
        self._key = key
        self._engine_id = engine_id
        self._network = network
        self._pauses = {} if pauses is None else pauses
        self._clock = clock
        self._total_s = total_s
        self._peer = Peer(
            server=urlsplit(base_url).netloc,
            provider=engine.key_name or engine.name,
            key=key,
            is_loopback=is_loopback(base_url),
        )

    async def search(self, query: str, *, count: int) -> SearchAnswer:
        left_s = self._pauses.get(self._peer.server, 0.0) - self._clock()
        if left_s > 0:
            raise self._pause_error(left_s, msg("it asked for a pause"))
        sent = query[: self._engine.longest_query]
        try:
            async with asyncio.timeout(self._total_s):
                reply = await self._ask(sent, min(count, MOST_RESULTS))
        except TimeoutError:
            raise self._failure(
                "timeout", msg("no answer in {seconds} s", seconds=f"{self._total_s:g}")
            ) from None
        if not 200 <= reply.status < 300:
            raise self._refusal(reply)
        # Some tens of kilobytes as a rule; the largest that is taken is read in 10 ms.
        return await asyncio.to_thread(self._read, reply, sent, count)

    async def _ask(self, query: str, count: int) -> _Reply:
        engine = self._engine
        fields: dict[str, Any] = {
            engine.query_field: query.encode("utf-8", "replace").decode(),
            **engine.fields,
        }
        if engine.count_field:
            fields[engine.count_field] = count
        if engine.id_field:
            fields[engine.id_field] = self._engine_id
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "circuit-design-ai",
        }
        if engine.key_header and self._key:
            headers[engine.key_header] = engine.key_prefix + self._key
        try:
            async with aclosing(cast("Any", await asyncio.to_thread(self._connections))) as http:
                if engine.method == "POST":
                    body = json.dumps(fields, ensure_ascii=False).encode()
                    headers["Content-Type"] = "application/json"
                    return await self._fetch(
                        http, http.build_request("POST", self._address, content=body, headers=headers)
                    )
                request = http.build_request("GET", self._address, params=fields, headers=headers)
                return await self._fetch(http, request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._of_provider(error_of_transport(self._peer, error)) from error

    def _connections(self) -> httpx.AsyncClient:
        """Blocking: it reads the certificates from the disk."""
        try:
            return new_connections(
                Timeouts(connect_s=self._total_s), is_local=self._peer.is_loopback, network=self._network
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise self._of_provider(unusable_proxy(self._peer, error)) from error

    async def _fetch(self, http: httpx.AsyncClient, request: httpx.Request) -> _Reply:
        began = time.perf_counter()
        for _ in range(_MOST_REDIRECTS + 1):
            async with no_socket_left(request):
                response = await http.send(request, stream=True)
                body = await self._body(response)
            reply = _Reply(response.status_code, response.headers, body, time.perf_counter() - began)
            if not response.is_redirect:
                return reply
            request = http.build_request(
                "GET", self._moved_to(str(request.url), reply), headers=dict(request.headers)
            )
        raise self._failure("moved", msg("it keeps redirecting"))

    def _moved_to(self, address: str, reply: _Reply) -> str:
        """Where a redirect leads; only for a server of the user's own, and only within it.

        So neither a query nor a key goes to a host that nobody has chosen, and no answer can make the program
        ask an address inside the user's network.
        """
        named: str = reply.headers.get("location", "")
        try:
            target = urljoin(address, named)
            is_near = _is_same_server(address, target)
        except ValueError:
            target, is_near = named, False
        if not (self._engine.follows_redirects and is_near):
            place = quote(target.partition("?")[0], self._key)
            raise failure(
                self._peer,
                "moved",
                msg("to {place}", place=place),
                advice=moved_advice(self._peer, target),
            )
        return target

    async def _body(self, response: httpx.Response) -> bytes:
        """The body, unpacked, of at most `LARGEST_ANSWER` bytes; more is not read."""
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        unpack = zlib.decompressobj(wbits=47) if packing in ("gzip", "x-gzip", "deflate") else None
        data = bytearray()
        taken = 0
        async with bytes_of(response) as pieces:
            if response.is_redirect:
                return b""
            if unpack is None and packing not in ("", "identity"):
                said = msg("compressed as {kind}, which was not requested", kind=quote(packing, ""))
                raise self._failure("bad_response", said)
            async for piece in pieces:
                room = LARGEST_ANSWER + 1 - len(data)
                taken += len(piece)  # of what is packed much may come that gives nothing
                try:
                    data += piece if unpack is None else unpack.decompress(piece, room)
                except zlib.error as error:
                    raise self._failure("bad_response", quote(str(error), "")) from error
                if max(len(data), taken) > LARGEST_ANSWER:
                    raise self._failure("too_large", msg("more than {size} MB", size=LARGEST_ANSWER >> 20))
        return bytes(data)

    def _read(self, reply: _Reply, query: str, count: int) -> SearchAnswer:
        text = _decoded(reply)
        try:
            payload = json.loads(text, strict=False)
            sources = sources_of(payload, self._engine, count=count)
        except (ValueError, RecursionError):
            raise self._no_json(reply) from None
        return SearchAnswer(
            query=query,
            server=self._peer.server,
            sources=sources,
            took_s=reply.took_s,
            silent=_silent(payload),
        )

    def _no_json(self, reply: _Reply) -> WebSearchError:
        """Something else than an answer; of a SearXNG that sends pages, what to do."""
        said = quote(read_complaint(reply.body).text, self._key, limit=120)
        advice = None
        if self._engine.follows_redirects and reply.body.lstrip()[:1] == b"<":
            advice = _json_advice()
        return failure(self._peer, "bad_response", said or "-", advice=advice)

    def _refusal(self, reply: _Reply) -> WebSearchError:
        said = quote(read_complaint(reply.body).text, self._key)
        told = f"{said} (HTTP {reply.status})" if said else f"HTTP {reply.status}"
        if reply.status == 429:
            return self._rate_limited(reply, told)
        if reply.status == 403 and self._engine.follows_redirects:
            return failure(self._peer, "forbidden", told, advice=_json_advice())
        if reply.status == 401 and not self._engine.key_header:
            advice = msg(
                "It requires a password, which this program does not have for such a server. Ask its "
                "administrator for an address without one, or use another server."
            )
            return failure(self._peer, "forbidden", told, advice=advice)
        return self._failure(self._kind_of(reply.status), told)

    def _kind_of(self, status: int) -> SearchErrorKind:
        if status == 401 and not self._key:
            return "no_key"
        return _KINDS_OF_STATUS.get(status, "bad_request" if 400 <= status < 500 else "server_error")

    def _rate_limited(self, reply: _Reply, told: str) -> WebSearchError:
        wait_s = read_retry_after(reply.headers)
        if not wait_s:
            return self._failure("rate_limited", told)
        self._pauses[self._peer.server] = self._clock() + min(wait_s, _LONGEST_PAUSE_S)
        return self._pause_error(wait_s, told)

    def _pause_error(self, wait_s: float, said: object) -> WebSearchError:
        advice = msg("It asks to wait {seconds} s; no request is sent until then.", seconds=f"{wait_s:.0f}")
        return failure(self._peer, "rate_limited", said, advice=advice)

    def _failure(self, kind: SearchErrorKind, said: object) -> WebSearchError:
        return failure(self._peer, kind, said)

    def _of_provider(self, error: ProviderError) -> WebSearchError:
        """What the network did, as it is told of model servers."""
        said = error.message.params.get("said", error.message)
        kind = _KINDS.get(error.kind, "unreachable" if error.kind == "unreachable" else "bad_response")
        return failure(self._peer, kind, said, advice=error.advice if kind == "unreachable" else None)


def _json_advice() -> Message:
    return msg(
        "This server does not return JSON to programs: its settings.yml must list json under search: "
        "formats:, and its limiter must let you through. Contact its administrator, or use another "
        "server."
    )


def _is_same_server(address: str, target: str) -> bool:
    """Whether both are of one server, by http and https at their own ports too. Raises ValueError."""
    old, new = urlsplit(address), urlsplit(target)
    if old.hostname != new.hostname or new.username is not None:
        return False
    ports = (_port(old.scheme, old.port), _port(new.scheme, new.port))
    is_upgrade = (old.scheme, new.scheme) == ("http", "https") and ports == (80, 443)
    return is_upgrade or (old.scheme == new.scheme and ports[0] == ports[1])


def _port(scheme: str, port: int | None) -> int:
    return port or {"http": 80, "https": 443}.get(scheme, 0)


def _decoded(reply: _Reply) -> str:
    """The text, in the encoding that the server names; what does not fit becomes U+FFFD."""
    content_type = reply.headers.get("content-type", "")
    named = content_type.lower().partition("charset=")[2].split(";")[0].strip(" \"'")
    is_known = _ENCODING.fullmatch(named) is not None and named not in ("utf-8", "utf8")
    return reply.body.decode(named if is_known else "utf-8-sig", "replace")


def _silent(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """SearXNG's list of engines that did not answer: pairs of a name and a reason."""
    rows = payload.get("unresponsive_engines")
    names = [row[0] for row in rows if isinstance(row, list) and row] if isinstance(rows, list) else []
    return tuple(plain_text(name, 30) for name in names[:_MOST_SILENT] if isinstance(name, str))
