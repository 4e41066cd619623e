"""Stored conversations: the list, one opened, words searched in all; goals 100, 300 and 200 ms.

1,000 of 200 messages; `BENCH_CONVERSATIONS=100` makes fewer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
import time
from pathlib import Path

import bootstrap
from infrastructure.persistence.project import ProjectFolders
from presentation.panels.conversation.stored import items_of
from shared.paths import USER_HOME_VARIABLE
from shared.ulid import new_ulid
from tests.benchmarks.bench_search import WORDS
from tests.benchmarks.harness import Pair

COUNT = int(os.environ.get("BENCH_CONVERSATIONS", "1000"))
MESSAGES = 200


def make_conversations(root: Path) -> list[Path]:
    """Questions and answers of some 50 words; returns the transcripts."""
    rng = random.Random(7)
    project = ProjectFolders().open(root, create=True)
    try:
        for _ in range(COUNT):
            transcript = project.sessions.create(work_mode="free_work")
            messages = [
                {
                    "id": new_ulid(),
                    "type": "user" if number % 2 == 0 else "assistant",
                    "content": " ".join(rng.choices(WORDS, k=50)),
                    "additional_kwargs": {},
                }
                for number in range(MESSAGES)
            ]
            transcript.append(*({"event": "message", "message": message} for message in messages))
            transcript.close()
    finally:
        project.close()
    return sorted((root / ".circuit_ai" / "conversations").glob("*.jsonl"))


def pairs() -> list[Pair]:
    """In a warm process, as in the window; the floor reads the same files and no more."""
    os.environ[USER_HOME_VARIABLE] = tempfile.mkdtemp()
    root = Path(tempfile.mkdtemp()) / "project"
    files = make_conversations(root)
    loop = asyncio.new_event_loop()
    app = bootstrap.build()
    sessions, search = app.conversations.sessions, app.conversations.search
    begin = time.perf_counter()
    loop.run_until_complete(sessions.list(root))
    listed = time.perf_counter()
    loop.run_until_complete(search(root, "needle"))
    print(
        f"{len(files)} conversations of {MESSAGES} messages: the first list {listed - begin:.1f} s, "
        f"the index of their words {time.perf_counter() - listed:.1f} s"
    )

    async def opened() -> object:
        session = await sessions.show(root, files[-1].stem)
        return await asyncio.to_thread(items_of, session, await app.project.operations.list(root))

    def looked_at() -> object:
        return [entry.stat() for entry in os.scandir(files[0].parent)]

    def parsed() -> object:
        return [json.loads(line) for line in files[-1].read_bytes().splitlines()]

    def read() -> object:
        return sum(WORDS[0].encode() in path.read_bytes() for path in files)

    return [
        Pair(
            name="list",
            ours=lambda: loop.run_until_complete(sessions.list(root)),
            theirs=looked_at,
            theirs_name="stat of each file",
            note="at most 100 ms is the aim",
        ),
        Pair(
            name="open",
            ours=lambda: loop.run_until_complete(opened()),
            theirs=parsed,
            theirs_name="its JSON",
            note="at most 300 ms is the aim",
        ),
        *(
            Pair(
                name=f"search: {words}",
                ours=lambda words=words: loop.run_until_complete(search(root, words)),
                theirs=read,
                theirs_name="all files read",
                rounds=7,
                note="at most 200 ms is the aim",
            )
            for words in ("phase gain", "needle", "裕度", "gain noise bias")
        ),
    ]
