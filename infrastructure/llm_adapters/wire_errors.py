"""Turns whatever a server or the network does instead of answering into a `ProviderError` with advice."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from http import HTTPStatus
from typing import Any

import httpx

from domain.llm.chat import ProviderError, ProviderErrorType
from infrastructure.llm_adapters import interim
from infrastructure.llm_adapters.dialect import LACKS_TOOLS
from infrastructure.llm_adapters.error_codes import (
    CODES,
    VAGUE_TYPES,
    Verdict,
    verdict_of_status,
    verdict_of_text,
)
from infrastructure.llm_adapters.error_texts import Peer, advice_on, moved_advice, quote, text_of
from infrastructure.llm_adapters.sse import FrameTooLarge, SSEReader
from shared.message import Message, msg

_PAGE_LIMIT = 100_000
_RENEWED = re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?\b")
"""When a quota comes back: Zhipu's 1308 and 1310 say it in their text."""
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a server says is wrong."""

    text: str = ""
    code: str = ""
    type: str = ""


# What servers send


def error_of_response(peer: Peer, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error of an HTTP answer with a status other than 2xx."""
    complaint = read_complaint(body)
    return _refusal(peer, complaint, status=status, headers=headers)


def error_of_payload(peer: Peer, payload: Any) -> ProviderError:
    """The error a server sent with HTTP 200: in mid-stream, or as the whole body."""
    complaint = _complaint_of(payload)
    # Several servers put the status they would have sent into the code.
    code = complaint.code
    status = int(code) if code.isdecimal() and len(code) == 3 and 400 <= int(code) < 600 else None
    return _refusal(peer, complaint, status=status, headers={})


def is_error_payload(payload: Any, event: str = "") -> bool:
    """Whether a frame (or a body) is an error and no piece of an answer."""
    if isinstance(payload, list) and payload and isinstance(payload[0], Mapping):
        payload = payload[0]
    if not isinstance(payload, Mapping):
        return event == "error"
    if payload.get("error"):
        return True
    if "choices" in payload:
        return False
    if event == "error" or payload.get("object") == "error" or payload.get("error_code"):
        return True
    says = any(isinstance(payload.get(name), str | list) for name in ("message", "detail", "msg"))
    return says and "usage" not in payload and payload.get("type") != "ping"


def read_complaint(body: bytes) -> Complaint:
    """What an error body says: JSON of any shape, an event stream, HTML, text or nothing."""
    text = body.decode(errors="replace").removeprefix("\ufeff").strip()
    if text.startswith(("data:", "event:", ":")):
        text = _first_data(body) or text
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return Complaint(text=text_of_page(text) if text.startswith("<") else text)
    return _complaint_of(payload)


def _first_data(body: bytes) -> str:
    reader = SSEReader()
    try:
        frames = [*reader.feed(body), *reader.end()]
    except FrameTooLarge:
        return ""
    return frames[0].data if frames else ""


def text_of_page(html: str) -> str:
    """What an HTML page says in short: its title, else its heading, else its text."""
    html = html[:_PAGE_LIMIT]
    found = (_inside(html, tag) for tag in ("title", "h1", "body"))
    return next((text for text in found if text), "")


def _inside(html: str, tag: str) -> str:
    """The text of the first element with this tag."""
    folded = html.lower()
    begin = folded.find(">", max(folded.find(f"<{tag}"), 0)) + 1 if f"<{tag}" in folded else 0
    end = folded.find(f"</{tag}", begin)
    if not begin or end < 0:
        return ""
    return " ".join(unescape(_TAG.sub(" ", html[begin:end])).split())


def _complaint_of(payload: Any) -> Complaint:
    if isinstance(payload, list) and payload and isinstance(payload[0], Mapping):
        payload = payload[0]  # Google wraps its errors in a list
    if not isinstance(payload, Mapping):
        return Complaint(text=payload if isinstance(payload, str) else _dump(payload))
    error = payload.get("error")
    if isinstance(error, Mapping):
        inner = _fields(error)
        return inner if inner.text else Complaint(text=_dump(error), code=inner.code, type=inner.type)
    outer = _fields(payload)
    if isinstance(error, str) and error:
        return Complaint(text=outer.text or error, code=outer.code or error, type=outer.type)
    return outer if outer.text else Complaint(text=_dump(payload), code=outer.code, type=outer.type)


def _fields(source: Mapping[str, Any]) -> Complaint:
    texts = (source.get(name) for name in ("message", "msg", "detail", "text", "title", "reason"))
    text = next((found for found in texts if found), "")
    code = next((source[name] for name in ("code", "error_code") if source.get(name) is not None), "")
    kind = source.get("type") or source.get("status") or ""
    return Complaint(
        text=text if isinstance(text, str) else _dump(text),
        code=str(code) if isinstance(code, str | int) else "",
        type=kind if isinstance(kind, str) else "",
    )


def _dump(value: Any) -> str:
    return "" if value in (None, {}, []) else json.dumps(value, ensure_ascii=False)


def _refusal(
    peer: Peer, complaint: Complaint, *, status: int | None, headers: Mapping[str, str]
) -> ProviderError:
    verdict = _classify(complaint, status)
    kind: ProviderErrorType = verdict.kind
    if kind == "auth" and not peer.key:
        kind = "no_key"
    said = _said(peer, complaint.text, status)
    return ProviderError(
        text_of(kind, peer, said),
        kind=kind,
        advice=_advice_on_refusal(peer, kind, complaint, status, headers),
        retryable=verdict.is_retryable,
        retry_after_s=read_retry_after(headers),
        status=status,
        provider_code=quote(complaint.code or complaint.type, peer.key, limit=64),
    )


def _classify(complaint: Complaint, status: int | None) -> Verdict:
    for word in (complaint.code, complaint.type):
        if found := CODES.get(word.lower()):
            return found
    if found := verdict_of_text(complaint.text, status):
        return found
    if status is not None:
        return verdict_of_status(status)
    for word in (complaint.code, complaint.type):
        if found := VAGUE_TYPES.get(word.lower()):
            return found
    return Verdict("server_error", True)


def _said(peer: Peer, text: str, status: int | None) -> str:
    words = quote(text, peer.key)
    if status is None:
        return words or "-"
    try:
        phrase = f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = f"HTTP {status}"
    return f"{words} (HTTP {status})" if words else phrase


def _advice_on_refusal(
    peer: Peer,
    kind: ProviderErrorType,
    complaint: Complaint,
    status: int | None,
    headers: Mapping[str, str],
) -> Message:
    if (advice := _advice_to_wait(kind, complaint, headers)) is not None:
        return advice
    if LACKS_TOOLS.search(complaint.text):
        return msg("Choose a model that can call tools.")
    if status is not None and 300 <= status < 400:
        return moved_advice(peer, headers.get("location", ""))
    if kind == "bad_request" and status in {404, 405}:
        return msg(
            "Check the base URL: it goes up to, not including, /chat/completions and often ends in /v1."
        )
    if status == 407:
        return msg("The proxy requires a user name and password: add them to its address.")
    return advice_on(kind, peer)


def _advice_to_wait(
    kind: ProviderErrorType, complaint: Complaint, headers: Mapping[str, str]
) -> Message | None:
    """Until when, where the server says it."""
    wait_s = read_retry_after(headers)
    if kind == "rate_limited" and wait_s:
        return msg(
            "The server asks to wait {seconds} s; send the message again after that.", seconds=f"{wait_s:.0f}"
        )
    if kind == "quota" and (renewed := _RENEWED.search(complaint.text)):
        return msg(
            "It resets at {time} (server time): wait until then, ask the provider to raise it, or "
            "choose another provider.",
            time=renewed[0].replace("T", " "),
        )
    return None


def _base_url_advice() -> Message:
    return msg("Check the base URL: it goes up to, not including, /chat/completions and often ends in /v1.")


_LONGEST_WAIT_S = 30 * 24 * 3600.0
"""Quotas are renewed each month; who asks for more asks for nothing that can be waited for."""


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """How long the server asks us to wait, in seconds; None when it does not.

    Read from `retry-after-ms`, or `Retry-After` as a number or a date; a date is measured against the
    server's own clock where it sends one. `headers` compare without case.
    """
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return min(seconds, _LONGEST_WAIT_S)
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return None
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return min(max((until - now).total_seconds(), 0.0), _LONGEST_WAIT_S)


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
        # A zone of thousands of hours is a number too large, one at the ends of the calendar no date.
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# What the network does


def error_of_transport(peer: Peer, error: Exception) -> ProviderError:
    """The error of a request that got no (complete) answer."""
    said = quote(_words_of(error), peer.key)
    if isinstance(error, httpx.TimeoutException):
        return failure(
            peer,
            "timeout",
            msg("no connection in time"),
            is_retryable=True,
            advice=advice_on("unreachable", peer),
        )
    match error:
        case httpx.ProxyError():
            return failure(peer, "unreachable", said, advice=msg("Check the proxy settings."))
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return failure(peer, "bad_request", said, advice=_base_url_advice())
        case httpx.ConnectError():
            return _not_connected(peer, error, said)
        case httpx.NetworkError() | httpx.RemoteProtocolError() if _is_lost(error):
            return connection_lost(peer, said)
    return failure(peer, "bad_response", _endless(error) or said or "-")


def _endless(error: Exception) -> Message | None:
    if not any(isinstance(cause, interim.EndlessInterim) for cause in _causes(error)):
        return None
    return msg("more than {count} interim responses (HTTP 1xx) and no final one", count=interim.MOST)


def _words_of(error: Exception) -> str:
    """What it says itself, else what the system said below it, else its name."""
    below = (cause.strerror for cause in _causes(error) if isinstance(cause, OSError))
    return str(error) or next((words for words in below if words), type(error).__name__)


def _is_lost(error: Exception) -> bool:
    return isinstance(error, httpx.NetworkError) or bool(_CLOSED.search(str(error)))


_CLOSED = re.compile("disconnected|peer closed")
"""In h11's words: the server closed the connection; its other complaints mean that it speaks no HTTP."""


def _not_connected(peer: Peer, error: Exception, said: str) -> ProviderError:
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "SSL" in said:
        return failure(
            peer,
            "unreachable",
            said,
            advice=msg(
                "No secure connection: check whether the address should begin with http or https, and "
                "that the server's certificate is valid."
            ),
        )
    unknown = next((cause for cause in causes if isinstance(cause, socket.gaierror)), None)
    if unknown is not None:
        is_passing = unknown.errno == socket.EAI_AGAIN
        return failure(peer, "unreachable", unknown.strerror or said, is_retryable=is_passing)
    refusal = next((cause for cause in causes if isinstance(cause, OSError) and cause.strerror), None)
    return failure(peer, "unreachable", (refusal and refusal.strerror) or said, is_retryable=True)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, and the members of groups among them."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _causes(member)
    below = error.__cause__ or error.__context__
    if below is not None:
        yield from _causes(below)


def timeout(peer: Peer, what: Message) -> ProviderError:
    """The server took too long; `what` says for what, as a part of a sentence."""
    return failure(peer, "timeout", what, is_retryable=True)


def packed(peer: Peer, headers: Mapping[str, str]) -> ProviderError | None:
    """The error of an answer whose body is packed (`Content-Encoding`), None when it is not.

    We ask for plain bodies: a few kilobytes that are packed can become gigabytes.
    """
    named = headers.get("content-encoding", "")
    kinds = [kind.strip() for kind in named.split(",")]
    if all(kind.lower() in {"", "identity"} for kind in kinds):
        return None
    return failure(
        peer,
        "bad_response",
        msg("compressed as {kind}, which was not requested", kind=quote(named, peer.key)),
        advice=msg("Disable response compression at the server, or at the proxy in front of it."),
    )


def bad_response(peer: Peer, text: str) -> ProviderError:
    """An answer that can't be read; `text` is a piece of it, or says why."""
    return failure(peer, "bad_response", quote(text, peer.key) or "-")


def too_large(peer: Peer, what: Message) -> ProviderError:
    """An answer beyond what any model writes; `what` says in which way."""
    return failure(
        peer,
        "bad_response",
        what,
        advice=msg("The model seems to repeat itself: reword the message, or choose another model."),
    )


def wordless(peer: Peer, lines: int) -> ProviderError:
    """So many lines came, and not a piece of an answer in them."""
    return failure(peer, "bad_response", msg("{count} lines without any part of an answer", count=lines))


def connection_lost(peer: Peer, text: str) -> ProviderError:
    return failure(peer, "connection_lost", quote(text, peer.key), is_retryable=True)


def empty_answer(peer: Peer) -> ProviderError:
    return failure(peer, "empty_answer", "")


def no_model(what: Message) -> ProviderError:
    return ProviderError(
        what, kind="unknown_model", advice=msg("Specify a model, on the command line with --model.")
    )


def unusable_key(peer: Peer) -> ProviderError:
    return failure(peer, "auth", msg("it contains invalid characters"))


def unusable_proxy(peer: Peer, error: Exception) -> ProviderError:
    """The proxy settings of the environment can't be used."""
    said = quote(str(error), peer.key)
    return failure(
        peer,
        "unreachable",
        said,
        advice=msg("Check the proxy settings: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."),
    )


def failure(
    peer: Peer,
    kind: ProviderErrorType,
    said: str | Message,
    *,
    is_retryable: bool = False,
    advice: Message | None = None,
) -> ProviderError:
    """The error of a kind in its own words, with `said` quoted and its usual advice (or this one)."""
    return ProviderError(
        text_of(kind, peer, said), kind=kind, advice=advice or advice_on(kind, peer), retryable=is_retryable
    )
