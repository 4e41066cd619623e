"""How often the designer's first circuits meet what was asked: the table in docs/designer.md.

`python -m tests.integration.design.rates [single] [KEY ...]` measures all families, or those named, and
writes it (`single`: that of circuits on a single supply): twenty requests each, drawn over its range by the
functions of the modules of campaigns, judged in plain ngspice by the bench's own formulas.
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
from tests.integration.design import single_supply
from tests.integration.design import test_declared_over_their_range as declared
from tests.integration.design import test_designs_over_a_grid as grid
from tests.integration.design.driver import rounds

COUNT, SEED = 20, 12
LEAST_FIRST, LEAST_LAST = 0.9, 0.98
"""Below these shares a family is experimental."""
PAGE = Path(__file__).parents[3] / "docs" / "designer.md"
RATES, SINGLE = "rates", "single-supply"
"""The two tables of the page."""

Draw = Callable[[random.Random], str]
DRAWS: dict[str, dict[str, Draw]] = {
    RATES: {key: getattr(declared, key, None) or getattr(grid, key) for key in FAMILIES},
    SINGLE: single_supply.DRAWS,
}


async def rate(key: str, folder: Path, which: str = RATES) -> tuple[int, int, int]:
    """Of `COUNT` requests: met by the first circuit, by the second, by the last one the designer makes."""
    draw, met = random.Random(SEED), []
    for _ in range(COUNT):
        text = DRAWS[which][key](draw)
        intent, _, judged, used = await rounds(text, folder)
        assert which == RATES or intent.parameters["rails"] == "single", text
        if all(verdict.met for verdict in judged):
            met.append(used)
    return sum(used == 1 for used in met), sum(used <= 2 for used in met), len(met)


def row(key: str, first: int, second: int, last: int) -> str:
    is_sure = first >= LEAST_FIRST * COUNT and last >= LEAST_LAST * COUNT
    return f"| `{key}` | {first} | {second} | {last} | {'' if is_sure else 'experimental'} |\n"


def table(rows: Iterable[str]) -> str:
    head = f"| family | met at first | by the second | at last, of {COUNT} | |\n|---|---|---|---|---|\n"
    return head + "".join(rows)


def _place(which: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {which} -->\n).*?(?=<!-- /{which} -->)", re.DOTALL)


def stored(which: str = RATES) -> dict[str, str]:
    """The rows of a table of the page by family."""
    found = _place(which).search(PAGE.read_text("utf-8"))
    assert found, PAGE
    return dict(re.findall(r"^\| `(\w+)` (.*\n)", found[0], re.MULTILINE))


async def _measure(which: str, named: Iterable[str]) -> None:
    rows = {key: f"| `{key}` {figures}" for key, figures in stored(which).items()}
    with tempfile.TemporaryDirectory() as folder:
        for key in list(named) or DRAWS[which]:
            rows[key] = row(key, *await rate(key, Path(folder), which))
            print(rows[key], end="", flush=True)
    shown = table(rows[key] for key in DRAWS[which] if key in rows)
    PAGE.write_text(_place(which).sub(lambda _found: shown, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    asked = sys.argv[1:]
    is_single = asked[:1] == ["single"]
    asyncio.run(_measure(SINGLE if is_single else RATES, asked[is_single:]))
