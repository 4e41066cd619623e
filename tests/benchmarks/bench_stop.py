"""How long a stop takes from the button to an idle conversation, against closing a bare connection.

Through the real application: the turn is settled in its transcript, its checkpoint is written, its socket
closed. The peer is an httpx stream in a task that is cancelled. The aim is 150 ms, 500 ms are promised.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import httpx

from bootstrap import build
from shared.paths import USER_HOME_VARIABLE
from tests.benchmarks.harness import Pair
from tests.integration.agent.stopping import ON_THE_WIRE, Stop, peer_for, stop_at, times_of

STOPS = int(os.environ.get("BENCH_STOPS", "20"))
"""Of each moment."""
_PATIENCE_S = 0.3


def pairs() -> list[Pair]:
    """Stops in mid-stream against bare ones; the note tells the times of stops at every moment."""
    folder = Path(tempfile.mkdtemp(prefix="bench-stop-"))
    rng = random.Random(1)
    stops = _run(_stops(folder, ON_THE_WIRE, STOPS, rng))
    by_moment = [times_of([stop for stop in stops if stop.moment == moment]) for moment in ON_THE_WIRE]
    return [
        Pair(
            name="a turn in mid-stream, stopped",
            ours=lambda: _run(_stops(folder, ("stall",), 1, rng)),
            theirs=lambda: _run(_bare_stop()),
            theirs_name="a bare httpx stream, cancelled",
            rounds=7,
            note="whole turns are compared; of each only this is the stop (median / 9 of 10 / longest):\n  "
            + "\n  ".join(by_moment),
        )
    ]


def _run(work: Coroutine[Any, Any, list[Stop]]) -> list[Stop]:
    return asyncio.run(work)


async def _stops(folder: Path, moments: tuple[str, ...], count: int, rng: random.Random) -> list[Stop]:
    app = build(environment={USER_HOME_VARIABLE: str(folder / "home")})  # not the user's own settings
    app.program.events.bind()
    stops: list[Stop] = []
    try:
        for moment in moments:
            for _ in range(count):
                project = Path(tempfile.mkdtemp(dir=folder))
                with peer_for(moment) as peer:
                    stops.append(
                        await stop_at(app, peer, project, moment, rng, patience_s=_PATIENCE_S * (count > 1))
                    )
    finally:
        await app.close()
    return stops


async def _bare_stop() -> list[Stop]:
    """A stream that stalls after its first piece, given up."""
    with peer_for("stall") as peer:
        came = asyncio.Event()

        async def read() -> None:
            body = {"messages": [{"role": "user", "content": "x"}]}
            async with (
                httpx.AsyncClient(timeout=None, trust_env=False) as http,
                http.stream("POST", f"{peer.base_url}/chat/completions", json=body) as response,
            ):
                async for _ in response.aiter_bytes():
                    came.set()

        task = asyncio.create_task(read())
        await came.wait()
        began = time.perf_counter()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        idle_s = time.perf_counter() - began
        await asyncio.to_thread(peer.wait_until_left)
        return [Stop(moment="bare", events=[], idle_s=idle_s, closed_s=time.perf_counter() - began)]
