"""A server on 127.0.0.1 that gives texts vectors of their meaning in OpenAI's form, faults included.

Its model knows a few concepts by their words (of two languages); each is a direction. `faults` are served
first, one a request: a status, a body, or "drop" (the connection breaks inside the answer).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CONCEPTS = (
    ("stability", "phase margin", "相位裕度", "oscillat"),
    ("noise", "噪声", "hiss"),
    ("supply", "battery", "电源"),
    ("bandwidth", "fast", "带宽"),
)

Fault = int | bytes | str


class EmbeddingServer:
    """Serves while it is entered."""

    def __init__(self, *, dimension: int = 8, key: str = "", faults: Sequence[Fault] = ()) -> None:
        self.dimension = dimension
        self.key = key
        self.faults = list(faults)
        self.requests: list[dict[str, Any]] = []
        """Bodies, in their order."""

    @property
    def texts(self) -> list[str]:
        """All texts that were sent."""
        return [text for request in self.requests for text in request["input"]]

    def __enter__(self) -> EmbeddingServer:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                fake.answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Not on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """One request."""
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        self.requests.append({**body, "path": request.path})
        fault = self.faults.pop(0) if self.faults else None
        if fault is None and self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            fault = 401
        if isinstance(fault, int):
            text = json.dumps({"error": {"message": f"status {fault}"}}).encode()
            _send(request, fault, text)
        elif isinstance(fault, bytes):
            _send(request, 200, fault)
        elif fault == "drop":
            request.send_response(200)
            request.send_header("Content-Length", "1000000")
            request.end_headers()
            request.wfile.write(b'{"data": [')
            request.close_connection = True
        else:
            dimension = body.get("dimensions", self.dimension)
            data = [
                {"object": "embedding", "index": i, "embedding": vector_of(text, dimension)}
                for i, text in enumerate(body["input"])
            ]
            # Order is the index's business.
            _send(request, 200, json.dumps({"object": "list", "data": data[::-1]}).encode())


def vector_of(text: str, dimension: int) -> list[float]:
    """The meaning of a text: its concepts, and a little that is only its own."""
    folded = text.lower()
    found = [float(any(word in folded for word in words)) for words in CONCEPTS]
    rest = [((hash_of(folded) >> i) % 7) / 100 + 0.01 for i in range(dimension - len(found))]
    return [*found, *rest]


def hash_of(text: str) -> int:
    """The same in every process."""
    return int.from_bytes(text.encode()[:64], "big") % 1_000_003


def _send(request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.send_header("Connection", "close")
    request.end_headers()
    request.wfile.write(body)
