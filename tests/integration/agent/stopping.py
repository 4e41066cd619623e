"""Stopping a chat at a random moment of a kind, through the real application: for tests and the benchmark."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import AnswerStreamed, ChatEvent, RetryScheduled, ToolStarted
from domain.llm.chat import ProviderChoice
from shared.errors import Stopped
from tests.fakes.llm_server import PATIENCE_S, FakeLLMServer, Script, answer, call, error
from tests.integration.agent.scripted_turn import NEXT_QUESTION, QUESTION, answers_so_far, next_answer

SLOW_DECK = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 100\n.end\n"
SCOPE = "tab"
ON_THE_WIRE = ("stream", "thinking", "stall", "silent", "retry", "connect", "handshake")
"""Moments of a request: pieces of the answer or of reasoning come; nothing comes any more, or nothing has
come; the pause before a retry; the server takes no connection, or is silent in the TLS handshake."""
MOMENTS = (*ON_THE_WIRE, "tool", "simulation", "any")
_SYN_SENT = "02"


@dataclass(slots=True, kw_only=True)
class Stop:
    """One stop: what had been shown, and how long it took."""

    moment: str
    events: list[ChatEvent]
    idle_s: float = 0.0
    """Until the conversation was idle again."""
    closed_s: float = 0.0
    """Until the server had seen that nobody listens any more."""
    was_stopped: bool = True
    """False: the turn had ended by itself before."""


@dataclass(slots=True, kw_only=True)
class Peer:
    """Whom the chat talks to: a server, or a port that never answers."""

    base_url: str
    has_come: Callable[[], bool] | None = None
    """Blocks until the moment is there; None: the turn's events tell."""
    wait_until_left: Callable[[], None]
    server: FakeLLMServer | None = None


def request(base_url: str, project: Path, text: str, session_id: str = "") -> ChatRequest:
    """A message to the model at `base_url`."""
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=base_url)
    return ChatRequest(project=project, text=text, session_id=session_id, choice=choice)


def session_of(project: Path) -> Path:
    """The transcript of the project's only conversation."""
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    return session


@contextmanager
def peer_for(moment: str) -> Iterator[Peer]:
    """Somebody with whom a turn comes to `moment`."""
    if moment in ("connect", "handshake"):
        with _full_port() if moment == "connect" else _silent_port() as peer:
            yield peer
        return
    with FakeLLMServer(lambda body: _answer_until(moment, body)) as server:

        def wait_until_left() -> None:
            server.wait_for(lambda: server.open_answers == 0)

        def has_come() -> bool:
            server.wait_for_requests(1)
            return True

        yield Peer(
            base_url=server.base_url,
            server=server,
            has_come=has_come if moment == "silent" else None,
            wait_until_left=wait_until_left,
        )


async def stop_at(
    app: Application, peer: Peer, project: Path, moment: str, rng: random.Random, *, patience_s: float = 0.3
) -> Stop:
    """Begin a turn, and stop it at a random instant of `moment`."""
    await asyncio.to_thread(_make_project, project)
    events: list[ChatEvent] = []
    reached = asyncio.Event()

    def emit(event: ChatEvent) -> None:
        events.append(event)
        if _is_moment(moment, event):
            reached.set()

    handle = app.program.tasks.submit(
        "chat", "1", app.conversations.chat(request(peer.base_url, project, QUESTION), emit=emit), scope=SCOPE
    )
    if peer.has_come is not None:
        assert await asyncio.to_thread(peer.has_come)
    elif moment != "any":
        await asyncio.wait_for(reached.wait(), PATIENCE_S)
    # Not waited for anything: the stop shall come at an instant that nothing marks.
    await asyncio.sleep(rng.uniform(0, 1.0 if moment == "any" else patience_s))
    clock = asyncio.get_running_loop().time
    stop = Stop(moment=moment, events=events)
    leaving = asyncio.create_task(asyncio.to_thread(peer.wait_until_left))
    began = clock()
    leaving.add_done_callback(lambda _: setattr(stop, "closed_s", clock() - began))
    await app.program.stop.stop("user", scope=SCOPE)
    stop.idle_s = clock() - began
    await leaving
    try:
        await handle.result()
    except Stopped:
        return stop
    stop.was_stopped = False
    return stop


def _make_project(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "slow.cir").write_text(SLOW_DECK)


def times_of(stops: Sequence[Stop]) -> str:
    """What stops of one moment took: median, nine of ten, and the longest."""
    idle, closed = (sorted(getattr(stop, name) for stop in stops) for name in ("idle_s", "closed_s"))
    if not stops:
        return ""
    places = (len(stops) // 2, len(stops) * 9 // 10, len(stops) - 1)
    told = (" / ".join(f"{times[place] * 1000:.0f}" for place in places) for times in (idle, closed))
    return "{}: {} stops, idle after {} ms, closed after {} ms".format(stops[0].moment, len(stops), *told)


async def ask_on(app: Application, peer: Peer, project: Path) -> str:
    """Send the next message of the conversation, if the stop left it time to begin; how its turn ended."""
    stored = [path.stem for path in (project / ".circuit_ai" / "conversations").glob("*.jsonl")]
    assert len(stored) <= 1
    with ExitStack() as stack:
        server = peer.server or stack.enter_context(FakeLLMServer([answer("Nothing else.")]))
        turn = app.conversations.chat(
            request(server.base_url, project, NEXT_QUESTION, "".join(stored)), emit=lambda _: None
        )
        return (await turn).stop_reason


def _is_moment(moment: str, event: ChatEvent) -> bool:
    match moment:
        case "stream" | "stall" | "thinking":
            return isinstance(event, AnswerStreamed)
        case "retry":
            return isinstance(event, RetryScheduled)
        case "tool":
            return isinstance(event, ToolStarted)
        case "simulation":
            return isinstance(event, ToolStarted) and event.name == "run_simulation"
        case _:
            return False


def _answer_until(moment: str, body: dict[str, Any]) -> Script:
    if "NEXT" in json.dumps(body["messages"][-1]):
        return answer("Nothing else.")
    long_text = "A long answer that goes on and on. " * 100  # not over where the machine is busy, either
    match moment:
        case "stream":
            return replace(answer(long_text), piece_delay_s=0.01)
        case "thinking":
            return replace(answer("x", reasoning=long_text), piece_delay_s=0.01)
        case "stall":
            return answer("A beginning, then nothing", stall=True)
        case "silent":
            return replace(answer("x"), ending="silent")
        case "retry":
            return error(503, "overloaded")
        case "simulation" if answers_so_far(body) == 0:
            return answer("", calls=[call("run_simulation", {"file_path": "slow.cir"})])
        case _:
            return next_answer(body)


@contextmanager
def _full_port() -> Iterator[Peer]:
    """A port that somebody listens at whose queue is full: connections are neither taken nor refused."""
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for _ in range(2):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        mine = len(_connecting_to(port))
        pause = threading.Event()

        def wait_for(is_there: bool) -> bool:
            for _ in range(int(PATIENCE_S / 0.002)):
                if (len(_connecting_to(port)) > mine) == is_there:
                    return True
                pause.wait(0.002)
            raise TimeoutError(f"nobody {'connects' if is_there else 'gives the connection up'}")

        yield Peer(
            base_url=f"http://127.0.0.1:{port}/v1",
            has_come=lambda: wait_for(True),
            wait_until_left=lambda: wait_for(False) and None,
        )


def _connecting_to(port: int) -> list[str]:
    """Sockets that wait for a connection to be taken there (proc(5): net/tcp)."""
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    fields = (line.split() for line in lines)
    return [place[1] for place in fields if place[3] == _SYN_SENT and place[2].endswith(f":{port:04X}")]


@contextmanager
def _silent_port() -> Iterator[Peer]:
    """A port for https whose connections are taken, and then nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
        listener.settimeout(PATIENCE_S)
        peers: list[socket.socket] = []

        def has_come() -> bool:
            peers.append(stack.enter_context(listener.accept()[0]))
            peers[0].settimeout(PATIENCE_S)
            return bool(peers[0].recv(65536))  # the client's hello

        def wait_until_left() -> None:
            try:
                while peers[0].recv(65536):
                    pass
            except ConnectionError:
                pass

        yield Peer(
            base_url=f"https://127.0.0.1:{listener.getsockname()[1]}/v1",
            has_come=has_come,
            wait_until_left=wait_until_left,
        )
