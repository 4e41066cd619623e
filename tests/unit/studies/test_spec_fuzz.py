"""Specifications written by anybody: read, or refused in words."""

from __future__ import annotations

import copy
import random
from typing import Any

from domain.studies.sampling import sweep_values
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from tests.ground.campaign import Campaign, campaigns

SPEC: dict[str, Any] = {
    "analysis": ["ac dec 20 1 1g", "op"],
    "parameters": [
        {"name": "R1", "min": "1k", "max": "10k", "scale": "log", "points": 5, "tolerance": 0.01},
        {"name": "C1", "values": ["1n", 2e-9], "distribution": "lognormal", "tolerance": "5%", "truncate": 3},
        {"name": "m1.delvto", "mismatch": {"a": 3e-9, "w": "1u", "l": 1e-6}, "absolute": True, "lot": 1e-3},
    ],
    "measure": {"bw": "bandwidth(v(out))"},
    "goals": [{"metric": "bw", ">=": 1e6, "<=": "2Meg"}, "g <= 3",
              {"metric": "f", "target": 1, "tolerance": 0.1}],
    "set": {"R2": "2k", "R3": 3},
    "corners": {"process": ["TT", {"lib": "a.lib", "section": "ss"}], "voltage": {"vdd": ["-10%", 1.8]},
                "temp": 27},
    "processes": {"FF": {"nch.vto": 0.4}, "SS": "slow"},
    "runs": 10,
    "seed": 3,
    "sampling": "lhs",
    "method": "rss",
    "yield_target": "99%",
    "timeout": 5,
}  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1e300, float("nan"), float("inf"), 10**400, "", " ", "1k", "5%", "%", "+%", "-",
    "x" * 5000, "TT", "\ud800", [], [[]], [None], {}, {"a": {}}, {"": ""}, {"name": None}, ["1k", {}],
    "R1\n.end", "*",
)  # fmt: skip


def places(node: Any) -> list[tuple[Any, Any]]:
    items = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
    found = [(node, key) for key, _ in items]
    for _, value in items:
        if isinstance(value, dict | list):
            found += places(value)
    return found


def spoilt(rng: random.Random) -> Any:
    document = copy.deepcopy(SPEC)
    for _ in range(rng.randint(1, 3)):
        options = places(document)
        if not options:
            break
        node, key = rng.choice(options)
        match rng.randrange(4):
            case 0:
                node[key] = copy.deepcopy(rng.choice(ODD))  # else cases spoil those that come later
            case 1 if isinstance(node, dict):
                node[rng.choice(("min", "x", "values", "lot", "name", "process"))] = copy.deepcopy(
                    rng.choice(ODD)
                )
            case 2:
                del node[key]
            case _:
                node[key] = [node[key]]
    return document


@campaigns(fast=400, whole=20_000)
def test_any_specification_is_read_or_refused(campaign: Campaign) -> None:
    for rng in campaign.cases():
        problem = None
        try:
            spec = read_study_spec(spoilt(rng))
            for parameter in spec.parameters:
                sweep_values(parameter)
        except UserInputError as error:
            problem = error
        if problem is not None:
            assert 0 < len(str(problem.message)) < 8000
