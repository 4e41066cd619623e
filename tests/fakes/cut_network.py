"""A network that can be cut: a relay on 127.0.0.1 between a client and a server.

    with FakeLLMServer(...) as server, CutNetwork(server.port) as network:
        ...  # talk to network.base_url
        network.cut("reset")
        ...
        network.mend()

While it is cut: "reset" breaks every connection and each new one, "refuse" closes them and listens no more,
"silence" keeps them and lets nothing through, as a cable that was pulled out does.
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from typing import Literal

Cut = Literal["reset", "refuse", "silence"]
_TICK_S = 0.02


class CutNetwork:
    """The relay, in a thread of its own; start and stop it with `with`."""

    def __init__(self, port: int) -> None:
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._cut: Cut | None = None
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="network")

    def __enter__(self) -> CutNetwork:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        with self._lock:
            self._drop(is_reset=False)
            self._listener.close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def cut(self, kind: Cut) -> None:
        """Cut it; what was on its way is lost."""
        with self._lock:
            self._cut = kind
            if kind != "silence":
                self._drop(is_reset=kind == "reset")
            if kind == "refuse":
                self._listener.close()

    def mend(self) -> None:
        """It works again; connections that were silent are broken."""
        with self._lock:
            was, self._cut = self._cut, None
            self._drop(is_reset=True)
            if was == "refuse":
                self._listener = socket.create_server(("127.0.0.1", self.port))

    def _run(self) -> None:
        while not self._is_over.is_set():
            with self._lock:
                is_silent = self._cut == "silence"
                watched = [] if is_silent else [*self._pairs]
                if self._cut != "refuse":
                    watched.append(self._listener)
            with selectors.DefaultSelector() as selector:
                for one in watched:
                    if one.fileno() >= 0:
                        selector.register(one, selectors.EVENT_READ)
                ready = [key.fileobj for key, _ in selector.select(_TICK_S)]
            with self._lock:
                for one in ready:
                    assert isinstance(one, socket.socket)
                    self._serve(one)

    def _serve(self, one: socket.socket) -> None:
        if one.fileno() < 0:
            return
        if one is self._listener:
            self._accept()
        elif one in self._pairs and self._cut is None:
            other = self._pairs[one]
            try:
                data = one.recv(65536)
                if data:
                    other.sendall(data)
                    return
            except OSError:
                pass
            for side in (one, other):
                self._pairs.pop(side, None)
                side.close()

    def _accept(self) -> None:
        client = self._listener.accept()[0]
        if self._cut == "reset":
            _reset(client)
            return
        server = socket.create_connection(self._server)
        self._pairs |= {client: server, server: client}

    def _drop(self, *, is_reset: bool) -> None:
        for one in self._pairs:
            _reset(one) if is_reset else one.close()
        self._pairs.clear()


def _reset(one: socket.socket) -> None:
    """Close it with RST (SO_LINGER of no time, socket(7))."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()
