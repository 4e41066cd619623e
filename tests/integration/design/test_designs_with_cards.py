"""MOS stages sized by the tables of a named model card: twenty drawn requests each, judged in plain ngspice.

`python -m tests.integration.design.test_designs_with_cards` prints the table of docs/designer.md.
"""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import bootstrap
from application.simulation.device_tables import TableRequest
from domain.design import catalogue
from domain.design.designer import Proposal
from domain.design.engine.device_cards import CARDS, CardTable, TablesNeeded, TableWish, table_text
from shared.errors import CircuitError
from tests.integration.design.driver import ROUNDS, verdicts

COUNT, SEED = 20, 12
FILES = {
    "bsim4.lib": (
        ".model nch nmos level=54 version=4.8 toxe=3n vth0=0.42 u0=0.035\n"
        ".model pch pmos level=54 version=4.8 toxe=3n vth0=-0.42 u0=0.012\n"
    ),
    "level3.lib": (
        ".model n3 nmos(level=3 vto=0.6 uo=460 tox=15n nsub=6e16 theta=0.08 vmax=1.6e5 kappa=0.3 cgso=0.3n"
        " cgdo=0.3n)\n"
        ".model p3 pmos(level=3 vto=-0.7 uo=160 tox=15n nsub=4e16 theta=0.1 vmax=1e5 kappa=0.4 cgso=0.3n"
        " cgdo=0.3n)\n"
    ),
}
Draw = Callable[[random.Random], str]


def _log(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def _stage(name: str, chinese: str, most: float) -> Draw:
    def text(draw: random.Random) -> str:
        supply = draw.choice([2.5, 3.3, 5])
        gain = _log(draw, 2, most * supply)
        said = [f"{name}, gain {gain:.3g}, {supply} V supply", f"增益{gain:.3g}倍的{chinese}，电源{supply}V"]
        return draw.choice(said) + draw.choice(["", ", lower corner 20 Hz"])

    return text


def _follower(draw: random.Random) -> str:
    return f"source follower, {draw.choice([2.5, 3.3, 5])} V supply, load {_log(draw, 2e3, 200e3):.3g} ohm"


def _mirror(draw: random.Random) -> str:
    text = f"NMOS current mirror {_log(draw, 5, 1000):.3g} uA, {draw.choice([3.3, 5])} V supply"
    return text + draw.choice(["", ", cascode"])


def _active_load(draw: random.Random) -> str:
    supply = draw.choice([2.5, 3.3, 5])
    if draw.random() < 0.5:
        kind, gain = "diode-connected", _log(draw, 2, 5)
    else:
        kind, gain = "current-source", _log(draw, 25, 70)
    return f"common-source amplifier with {kind} load, gain {gain:.3g}, {supply} V supply"


def _pair(draw: random.Random) -> str:
    supply = draw.choice([1.25, 1.65, 2.5])
    more = f", bandwidth {_log(draw, 2e3, 500e3):.3g} Hz, ±{supply} V"
    if draw.random() < 0.4:
        return f"differential pair with resistor load, gain {_log(draw, 3, 4 * supply):.3g}{more}"
    return f"differential pair with mirror load, gain {_log(draw, 45, 120):.3g}{more}"


def _op_amp(name: str, most_db: float, most_hz: float) -> Draw:
    def text(draw: random.Random) -> str:
        more = draw.choice(["", ", phase margin 65", ", load 20 pF", ", load 3 pF"])
        said = (
            f"{name} op-amp, gain {draw.uniform(55, most_db):.3g} dB, GBW {_log(draw, 1e5, most_hz):.3g} Hz"
        )
        return said + more + draw.choice(["", ", ±2.5 V"])

    return text


DRAWS: dict[str, Draw] = {
    "common_source": _stage("common-source amplifier", "共源放大电路", 3),
    "common_gate": _stage("common-gate amplifier", "共栅放大电路", 3),
    "mos_cascode": _stage("MOS cascode amplifier", "共源共栅放大电路", 2),
    "source_follower": _follower,
    "mos_current_mirror": _mirror,
    "active_load_stage": _active_load,
    "differential_pair": _pair,
    "two_stage_opamp": _op_amp("two-stage Miller", 75, 6e6),
    "telescopic_opamp": _op_amp("telescopic cascode", 72, 3e7),
    "folded_cascode": _op_amp("folded cascode", 68, 3e7),
}


async def rate(key: str, file: str, folder: Path) -> tuple[int, int, int, int]:
    """Of `COUNT` requests: met by the first circuit, by the second, by the last; refused in words."""
    app = bootstrap.build()
    (folder / file).write_text(f"* models\n{FILES[file]}", "utf-8")
    tables: dict[TableWish, CardTable] = {}

    async def sized(step: Callable[[], Proposal | None]) -> Proposal | None:
        while True:
            try:
                return step()
            except TablesNeeded as needed:
                wish = needed.wish
            table = await app.simulation.device_tables(
                TableRequest(
                    model="", length_m=wish.length_m, file=folder / file, beside=folder / file,
                    channel=wish.channel, bulk_v=wish.bulk_v,
                )
            )  # fmt: skip
            tables[wish] = CardTable.read(table_text(table))

    async def designed(text: str) -> int:
        """Rounds until met; 0 when refused, `ROUNDS` + 1 when not met."""
        intent = catalogue.understand(text)
        assert (intent.family, intent.parameters[CARDS]["file"]) == (key, file)
        try:
            proposal = await sized(lambda: catalogue.propose(intent, str, tables))
        except CircuitError:
            return 0
        for count in range(1, ROUNDS + 1):
            assert proposal is not None
            last, judged = proposal, await asyncio.to_thread(verdicts, intent, proposal.netlist, folder)
            if all(verdict.met for verdict in judged):
                return count
            proposal = await sized(lambda: catalogue.revise(intent, last, judged, str, tables))  # noqa: B023
            if proposal is None:
                break
        return ROUNDS + 1

    draw = random.Random(SEED)
    try:
        used = [await designed(f"{DRAWS[key](draw)}, with models from {file}") for _ in range(COUNT)]
    finally:
        await app.close()
    return (
        used.count(1), sum(1 <= each <= 2 for each in used), sum(1 <= each <= ROUNDS for each in used),
        used.count(0),
    )  # fmt: skip


@pytest.mark.torture
@pytest.mark.parametrize("key", DRAWS)
async def test_what_a_named_model_can_do_is_designed(tmp_path: Path, key: str) -> None:
    for file in FILES:
        first, _, last, refused = await rate(key, file, tmp_path)
        assert first + refused >= 0.9 * COUNT, file
        assert last + refused >= COUNT - 1, file
        assert refused <= 1, file


async def _print() -> None:
    print("| family | model | met at first | by the second | at last, of 20 | refused |")
    print("|---|---|---|---|---|---|")
    for key in DRAWS:
        for file in FILES:
            with tempfile.TemporaryDirectory() as folder:
                figures = await rate(key, file, Path(folder))
            print(f"| `{key}` | {file[:-4]} | {' | '.join(map(str, figures))} |", flush=True)


if __name__ == "__main__":
    asyncio.run(_print())
