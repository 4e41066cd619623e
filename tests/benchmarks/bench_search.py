"""Search: a project of 10,000 files, its index, and ripgrep (else grep) on the same tree.

`BENCH_SEARCH_FILES=2000` makes it smaller. How long the first index takes, whether it held the loop, and how
soon a changed file is found is printed before the pairs: there is no peer for that.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from application.search.searching import SearchProject
from domain.search.query import SearchQuery
from infrastructure.search.project_index import SqliteProjectIndex
from shared.cpu_executor import CpuTaskExecutor
from tests.benchmarks.harness import Pair

FILES = int(os.environ.get("BENCH_SEARCH_FILES", "10000"))
WORDS = (
    "amplifier",
    "gain",
    "phase",
    "noise",
    "filter",
    "stage",
    "bias",
    "ripple",
    "相位裕度",
    "增益",
    "噪声",
)


def make_project(root: Path, count: int) -> None:
    """Netlists with a subcircuit, models and parameters, and notes with headings, in nested folders."""
    rng = random.Random(7)
    (root / ".circuit_ai").mkdir(parents=True)
    (root / ".gitignore").write_text("build/\n*.log\n")
    for number in range(count):
        folder = root / f"block{number % 100:02d}" / f"v{number // 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        if number % 5 == 4:
            sections = "\n\n".join(f"## Part {k}\n{' '.join(rng.choices(WORDS, k=40))}" for k in range(6))
            (folder / f"note{number}.md").write_text(f"# Note {number}\n\n{sections}\n")
            continue
        cards = [
            f"{rng.choice('RC')}{k} n{k} n{rng.randint(0, 60)} {rng.randint(1, 999)}k"
            for k in range(rng.randint(20, 70))
        ]
        (folder / f"cell{number}.cir").write_text(
            f"* cell {number}\n.param w{number}=2u\n.subckt cell{number} in out vdd\n"
            + "\n".join(cards)
            + f"\n.ends\n.model p{number % 7} pmos (kp=40u)\n* needle_{number:05d}\n"
        )


async def first_index(search: SearchProject, root: Path) -> None:
    """Build the index in the background while a tick on the loop is watched, then change a file."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - begin)

    watch = asyncio.create_task(tick())
    begin = time.perf_counter()
    await search.refresh(root)
    took = time.perf_counter() - begin
    watch.cancel()
    print(f"first index of {FILES} files: {took:.1f} s; the loop waited up to {longest * 1e3:.0f} ms")
    begin = time.perf_counter()
    (root / "block07" / "v0" / "cell7.cir").write_text("* changed\nR1 in out zirkonium\n")
    found = await search.exact(root, SearchQuery(text="zirkonium", kind="content"))
    print(f"a changed file is found after {time.perf_counter() - begin:.2f} s ({found.total} match)")


def pairs() -> list[Pair]:
    """Exact searches against ripgrep's, in a warm process as in the window."""
    root = Path(tempfile.mkdtemp()) / "project"
    make_project(root, FILES)
    loop = asyncio.new_event_loop()
    cpu = CpuTaskExecutor(max_workers=1)
    search = SearchProject(index=SqliteProjectIndex, cpu=cpu)
    loop.run_until_complete(first_index(search, root))

    def ours(text: str, *, is_fresh: bool, kind: str = "content") -> object:
        query = SearchQuery(text=text, kind=kind)
        return loop.run_until_complete(search.exact(root, query, is_fresh=is_fresh))

    peer = shutil.which("rg") or shutil.which("ripgrep")
    name = "ripgrep" if peer else "grep -r (no ripgrep here)"
    fixed = (
        [peer, "-i", "-F", "-n"] if peer else ["grep", "-r", "-i", "-F", "-n", "--exclude-dir=.circuit_ai"]
    )
    pattern = [peer, "-n"] if peer else ["grep", "-r", "-E", "-n", "--exclude-dir=.circuit_ai"]

    def theirs(*command: str) -> object:
        return subprocess.run([*command, str(root)], capture_output=True, check=False)

    return [
        Pair(
            name=f"{title}: {text}",
            ours=lambda text=text, kind=kind, is_fresh=is_fresh: ours(text, is_fresh=is_fresh, kind=kind),
            theirs=lambda text=text, command=command: theirs(*command, text),
            theirs_name=name,
            rounds=7,
        )
        for title, text, kind, is_fresh, command in (
            ("rare text, as typed in the window", "needle_00777", "content", True, fixed),
            ("rare text, disk looked at first", "needle_00777", "content", False, fixed),
            ("common text, as typed", "amplifier", "content", True, fixed),
            ("Chinese word of two characters", "裕度", "content", True, fixed),
            ("two letters", "R1", "content", True, fixed),
            ("no match", "nowhere_to_be_found", "content", True, fixed),
            ("symbol", "cell777", "symbol", True, fixed),
            ("pattern", "needle_0077[0-9]", "regex", True, pattern),
        )
    ]
