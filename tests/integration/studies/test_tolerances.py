"""What 5 % of a part means: Monte Carlo, worst case, a hand calculation and bare ngspice agree."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import re
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.studies.conftest import Study

SHARE = 0.05


@dataclass(frozen=True)
class Case:
    cards: str
    metric: str
    parts: dict[str, float]
    formula: Callable[..., float]


CASES = {
    "divider": Case("V1 in 0 10\nR1 in out 1k\nR2 out 0 2k\n.op\n", "v(out)", {"R1": 1e3, "R2": 2e3},
                    lambda r1, r2: 10 * r2 / (r1 + r2)),
    "low-pass": Case("V1 in 0 AC 1\nR1 in out 1k\nC1 out 0 159.154943n\n.ac dec 40 10 10k\n",
                     "bandwidth(v(out))", {"R1": 1e3, "C1": 159.154943e-9},
                     lambda r, c: 1 / (2 * math.pi * r * c)),
    "amplifier": Case("V1 in 0 1\nR1 in n 1k\nR2 n out 10k\nE1 out 0 0 n 1e7\n.op\n", "v(out)",
                      {"R1": 1e3, "R2": 1e4}, lambda r1, r2: -r2 / r1),
    "bridge": Case("V1 t 0 5\nR1 t a 1k\nR2 a 0 1k\nR3 t b 1k\nR4 b 0 1k\n.op\n", "v(a,b)",
                   dict.fromkeys(("R1", "R2", "R3", "R4"), 1e3),
                   lambda r1, r2, r3, r4: 5 * (r2 / (r1 + r2) - r4 / (r3 + r4))),
    "delay": Case("V1 in 0 PULSE(0 1 0 1n 1n 1)\nR1 in out 1k\nC1 out 0 1u\n.tran 2u 2m\n",
                  "cross(v(out),0.5)", {"R1": 1e3, "C1": 1e-6}, lambda r, c: math.log(2) * r * c),
    "resonance": Case("V1 in 0 AC 1\nL1 in a 1m\nR1 a out 100\nC1 out 0 1u\n.ac dec 100 1k 100k\n",
                      "at(mag(v(out)),5032.92)", {"R1": 100.0, "C1": 1e-6},
                      lambda r, c: abs(1 / (1 - (2 * math.pi * 5032.92) ** 2 * 1e-3 * c
                                            + 2j * math.pi * 5032.92 * r * c))),
}  # fmt: skip


def drawn_by_hand(case: Case, share: float) -> list[float]:
    rng = random.Random(1)
    return [
        case.formula(*(value * rng.uniform(1 - share, 1 + share) for value in case.parts.values()))
        for _ in range(20_000)
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_the_same_five_percent_everywhere(study: Study, case: Case) -> None:
    parameters = [{"name": name, "tolerance": "5%"} for name in case.parts]
    ends = [
        case.formula(*(value * factor for value, factor in zip(case.parts.values(), factors, strict=True)))
        for factors in itertools.product((1 - SHARE, 1 + SHARE), repeat=len(case.parts))
    ]
    deck, measure = f"t\n{case.cards}.end\n", {"m": case.metric}
    worst = await study("worst-case", deck, parameters=parameters, measure=measure, method="eva")
    found = worst.worst_cases["m"]
    assert found.minimum is not None
    assert found.maximum is not None
    close = 0.01 * (max(ends) - min(ends))
    assert found.minimum.value == pytest.approx(min(ends), abs=close)
    assert found.maximum.value == pytest.approx(max(ends), abs=close)

    scattered = await study("montecarlo", deck, parameters=parameters, measure=measure, runs=200)
    values = [row.metrics["m"] for row in scattered.rows]
    assert min(ends) - close <= min(values) <= max(values) <= max(ends) + close
    by_hand = statistics.stdev(drawn_by_hand(case, SHARE))
    assert scattered.statistics["m"].sigma == pytest.approx(by_hand, rel=0.15)
    for name, value in case.parts.items():
        off = [abs(row.parameters[name] / value - 1) for row in scattered.rows]
        assert 0.9 * SHARE < max(off) <= SHARE
    names = ", ".join(case.parts)
    assert [str(line) for line in scattered.assumed] == [f"{names}: uniform within ±5 %"]
    assert [str(line) for line in worst.assumed] == [f"{names}: at both tolerance limits, ±5 %"]


LOOPS = {
    "divider": ("op\nprint v(out)\n", r"v\(out\) = (\S+)", (6.5, 6.8)),
    "low-pass": ("ac dec 40 10 10k\nlet db = vdb(out)\nmeas ac bw when db=-3.0103\n",
                 r"bw\s+=\s+(\S+)", (970.0, 1030.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
async def test_the_yield_is_that_of_a_loop_in_bare_ngspice(study: Study, tmp_path: Path, name: str) -> None:
    case, (commands, pattern, (low, high)) = CASES[name], LOOPS[name]
    cards = "\n".join(line for line in case.cards.splitlines() if not line.startswith("."))
    alter = "".join(
        f"let p = {value!r}*(1+{SHARE}*sunif(0))\nalter {part} = p\n" for part, value in case.parts.items()
    )
    loop = f"t\n{cards}\n.control\nsetseed 5\nrepeat 400\n{alter}{commands}end\n.endc\n.end\n"

    def bare() -> list[float]:
        (tmp_path / "loop.cir").write_text(loop)
        done = subprocess.run(["ngspice", "-b", "loop.cir"], cwd=tmp_path, capture_output=True, text=True,
                              check=False)  # fmt: skip
        return [float(value) for value in re.findall(pattern, done.stdout)]

    values = await asyncio.to_thread(bare)
    assert len(values) == 400
    share = sum(low <= value <= high for value in values) / 400
    parameters = [{"name": part, "tolerance": "5%"} for part in case.parts]
    result = await study(
        "montecarlo", f"t\n{case.cards}.end\n", parameters=parameters, measure={"m": case.metric}, runs=400,
        goals=[f"{low} <= m <= {high}"],
    )  # fmt: skip
    assert result.total_yield is not None
    assert 0.3 < share < 0.95
    assert result.total_yield.value == pytest.approx(share, abs=4 * math.sqrt(2 * share * (1 - share) / 400))


async def test_who_says_sigma_gets_sigma_and_is_told(study: Study) -> None:
    deck = f"t\n{CASES['divider'].cards}.end\n"
    parameters = [
        {"name": "R1", "sigma": "5%"},
        {"name": "R2", "tolerance": "6%", "distribution": "normal"},
    ]
    result = await study("montecarlo", deck, parameters=parameters, measure={"m": "v(out)"}, runs=300)
    assert [str(line) for line in result.assumed] == [
        "R1: normal, sigma 5 %, not cut off: 31.7 % of the parts are outside ±5 %",
        "R2: normal, sigma 2 %, cut off at ±6 %",
    ]
    off = [abs(row.parameters["R2"] / 2e3 - 1) for row in result.rows]
    assert max(off) <= 0.06
    # The same sensitivity, so the variance is shared as 5² to 2².
    shares = result.statistics["m"].contributions
    assert list(shares) == ["R1", "R2"]
    assert shares["R1"] == pytest.approx(25 / 29, abs=0.06)
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)
