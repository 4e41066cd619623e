"""How often the designer's first circuits meet what was asked: the table in docs/designer.md.

`python -m tests.integration.design.rates [KEY ...]` measures all families, or those named, and writes it:
twenty requests each, drawn over its range by the functions of the two modules of campaigns, judged in plain
ngspice by the bench's own formulas.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from domain.design.catalogue import FAMILIES
from tests.integration.design import test_declared_over_their_range as declared
from tests.integration.design import test_designs_over_a_grid as grid
from tests.integration.design.driver import rounds

COUNT, SEED = 20, 12
LEAST_FIRST, LEAST_LAST = 0.9, 0.98
"""Below these shares a family is experimental."""
PAGE = Path(__file__).parents[3] / "docs" / "designer.md"
_TABLE = re.compile(r"(?<=<!-- rates -->\n).*?(?=<!-- /rates -->)", re.DOTALL)

Draw = Callable[[random.Random], str]
DRAWS: dict[str, Draw] = {key: getattr(declared, key, None) or getattr(grid, key) for key in FAMILIES}


async def rate(key: str, folder: Path) -> tuple[int, int, int]:
    """Of `COUNT` requests: met by the first circuit, by the second, by the last one the designer makes."""
    draw, met = random.Random(SEED), []
    for _ in range(COUNT):
        _, _, judged, used = await rounds(DRAWS[key](draw), folder)
        if all(verdict.met for verdict in judged):
            met.append(used)
    return sum(used == 1 for used in met), sum(used <= 2 for used in met), len(met)


def row(key: str, first: int, second: int, last: int) -> str:
    is_sure = first >= LEAST_FIRST * COUNT and last >= LEAST_LAST * COUNT
    return f"| `{key}` | {first} | {second} | {last} | {'' if is_sure else 'experimental'} |\n"


def table(rows: Iterable[str]) -> str:
    head = f"| family | met at first | by the second | at last, of {COUNT} | |\n|---|---|---|---|---|\n"
    return head + "".join(rows)


def stored() -> dict[str, str]:
    """The rows of the page by family."""
    found = _TABLE.search(PAGE.read_text("utf-8"))
    assert found, PAGE
    return dict(re.findall(r"^\| `(\w+)` (.*\n)", found[0], re.MULTILINE))


async def _measure(named: Iterable[str]) -> None:
    rows = {key: f"| `{key}` {figures}" for key, figures in stored().items()}
    with tempfile.TemporaryDirectory() as folder:
        for key in list(named) or FAMILIES:
            rows[key] = row(key, *await rate(key, Path(folder)))
            print(rows[key], end="", flush=True)
    shown = table(rows[key] for key in FAMILIES if key in rows)
    PAGE.write_text(_TABLE.sub(lambda _found: shown, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    asyncio.run(_measure(sys.argv[1:]))
