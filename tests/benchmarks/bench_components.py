"""Components: 5,000 models as vendors write them, their index, and grep on the same files.

`BENCH_COMPONENTS=1000` makes it smaller. How long the first index takes, whether it held the loop, how soon a
changed file is found, and what each letter of a name costs as it is typed, is printed before the pairs: there
is no peer for that.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path

from application.components.finding import FindComponents
from infrastructure.components.index import SqliteComponentIndex
from shared.cpu_executor import CpuTaskExecutor
from shared.paths import MODEL_LIBRARY
from tests.benchmarks.harness import Pair
from tests.fakes.vendor_libraries import write_libraries

COUNT = int(os.environ.get("BENCH_COMPONENTS", "5000"))
_TYPED = "dual op-amp above 5 MHz"


async def first_index(find: FindComponents, folder: Path) -> None:
    """Read the libraries in the background while a tick on the loop is watched; then change one of them."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - begin)

    watch = asyncio.create_task(tick())
    begin = time.perf_counter()
    state = await find.refresh()
    took = time.perf_counter() - begin
    letters = []
    for end in range(1, len(_TYPED) + 1):
        begin = time.perf_counter()
        await find.search(_TYPED[:end], most=200)
        letters.append((time.perf_counter() - begin) * 1e3)
    watch.cancel()
    print(f"first index of {COUNT} models in {state.files} files: {took:.1f} s")
    print(f"each letter of “{_TYPED}”: {sum(letters) / len(letters):.0f} ms, at most {max(letters):.0f} ms")
    print(f"the loop waited up to {longest * 1e3:.0f} ms meanwhile")
    begin = time.perf_counter()
    (folder / "family0" / "vendor00000.lib").write_text(".model ZIRKONIUM NPN(BF=100 Vceo=65)\n")
    answer = await find("ZIRKONIUM")
    print(f"a changed file is found after {time.perf_counter() - begin:.2f} s ({answer.found.total} match)")


def pairs() -> list[Pair]:
    """Searches for names, in a warm process as in the window."""
    home = Path(tempfile.mkdtemp())
    folder = home / "vendors"
    write_libraries(folder, COUNT)
    loop = asyncio.new_event_loop()
    cpu = CpuTaskExecutor(max_workers=1)
    find = FindComponents(
        index=SqliteComponentIndex(home / "user"),
        cpu=lambda: cpu,
        shipped=MODEL_LIBRARY,
        libraries=lambda: (folder,),
    )
    loop.run_until_complete(first_index(find, folder))

    def ours(text: str) -> object:
        return loop.run_until_complete(find.search(text, most=200))

    def theirs(text: str) -> object:
        return subprocess.run(["grep", "-r", "-i", "-F", text, str(folder)], capture_output=True, check=False)

    return [
        Pair(
            name=f"a name as it is typed: {text}",
            ours=lambda text=text: ours(text),
            theirs=lambda text=text: theirs(text),
            theirs_name="grep -r",
            rounds=7,
        )
        for text in ("QV00500", "AV001", "nowhere_to_be_found")
    ]
