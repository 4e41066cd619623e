"""A search engine on 127.0.0.1 that answers as scripted, faults included; it serves while it is entered.

Each request takes the next reply, the last one for ever. `pages` is a right answer of each engine there is.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What comes of one request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_silent: bool = False
    """Nothing comes until the client leaves."""
    drops: bool = False
    """The connection breaks inside the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    fields: Mapping[str, Any]
    headers: Mapping[str, str]
    """Names in lower case."""


class SearchServer:
    """Serves while it is entered."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = list(replies)
        self.asked: list[Asked] = []
        self.sent = 0
        """Bytes of bodies that were taken by the client's side."""
        self._over = threading.Event()

    def __enter__(self) -> SearchServer:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake._answer(self)

            def do_POST(self) -> None:
                fake._answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Not on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        fields: dict[str, Any] = dict(parse_qsl(parts.query))
        if length := int(request.headers.get("Content-Length") or 0):
            fields |= json.loads(request.rfile.read(length))
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(method=request.command, path=parts.path, fields=fields, headers=headers))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if reply.is_silent:
            self._over.wait(20)
            return
        with contextlib.suppress(ConnectionError):  # the client may have had enough
            request.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                request.send_header(name, value.replace("{url}", self.url))
            request.send_header("Content-Length", str(len(reply.body) + (1000 if reply.drops else 0)))
            request.end_headers()
            for at in range(0, len(reply.body), _PIECE):
                request.wfile.write(reply.body[at : at + _PIECE])
                self.sent += len(reply.body[at : at + _PIECE])


def found(payload: Any, **more: Any) -> Reply:
    """A JSON answer."""
    return Reply(body=json.dumps(payload).encode(), **more)


def pages(count: int = 2, *, text: str = "Gain bandwidth product 1 MHz.") -> Reply:
    """What SearXNG sends."""
    rows = [
        {
            "title": f"LM358 page {number}",
            "url": f"https://example.org/{number}",
            "content": text,
            "publishedDate": "2024-05-01T00:00:00",
        }
        for number in range(1, count + 1)
    ]
    return found({"query": "q", "results": rows, "unresponsive_engines": [["google", "timeout"]]})
