"""Stored studies read again, also those a stranger wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from application.studies.reading import ReadStudy
from shared.errors import UserInputError


class Stored:
    """A result store with one study."""

    def __init__(self, document: Mapping[str, Any], table: str) -> None:
        self._document, self._table = document, table

    def study_document(self, _result: Path) -> Mapping[str, Any]:
        return self._document

    def study_rows(self, _result: Path) -> bytes:
        return self._table.encode()

    def origin_of(self, _path: Path) -> str:
        return "here"


DOCUMENT = {
    "kind": "study",
    "study": "montecarlo",
    "created": "2026-01-01T10:00:00.000+00:00",
    "netlist": {"path": "/p/rc.cir", "sha256": "ab"},
    "parameters": ["R1"],
    "units": {"fc": "Hz", "gain": "1"},
    "goals": [{"metric": "fc", ">=": 900, "<=": 1100, "weight": "must"}],
    "yield": {"value": 0.5, "n": 2, "passed": 1, "low": 0.1, "high": 0.9},
}
TABLE = (
    "run,R1,fc [Hz],gain,goals_met,state,reason\r\n"
    "0,990.0,1000.0,0.5,True,ok,\r\n"
    "1,1010.0,1200.0,,False,ok,gain could not be had\r\n"
)


async def _read(document: Mapping[str, Any], table: str = TABLE):
    return await ReadStudy(results=Stored(document, table))(Path("/p/result.json"))  # type: ignore[arg-type]


async def test_rows_margins_and_parts_of_a_study():
    study = await _read(DOCUMENT)
    assert (study.kind, study.circuit, study.is_ours) == ("montecarlo", Path("/p/rc.cir"), True)
    good, bad = study.rows
    assert (dict(good.parameters), dict(good.metrics)) == ({"R1": 990.0}, {"fc": 1000.0, "gain": 0.5})
    assert (good.goals_met, bad.goals_met) == (True, False)
    assert math.isnan(bad.metrics["gain"])
    assert study.margin(good) == pytest.approx(1.0)
    assert study.margin(bad) == pytest.approx(-1.0)
    assert study.figure("yield", "passed") == 1
    assert math.isnan(study.figure("yield", "nothing", "there"))
    assert study.row(1) is bad
    assert study.row(7) is None


async def test_a_strangers_study_is_read_as_far_as_it_makes_sense():
    document = {
        **DOCUMENT,
        "parameters": "R1",
        "units": ["fc"],
        "goals": [{"metric": "fc", ">=": "much"}, 7, {"metric": "", "<=": 1}],
        "yield": {"value": True},
    }
    study = await _read(document, "run,x,state\r\n9,1e999,ok\r\nnine,1,ok\r\n2\r\n")
    assert (study.parameters, dict(study.units), study.goals) == ((), {}, ())
    assert [(row.run, dict(row.parameters), row.is_ok) for row in study.rows] == [
        (9, {}, True),
        (2, {}, False),
    ]
    assert math.isnan(study.figure("yield", "value"))
    endless = f"run,x,state\n{'9' * 5_000},1,ok\n3,1,ok\n4,{'y' * 200_000},ok\n5,1,ok\n"
    assert [row.run for row in (await _read(document, endless)).rows] == [3]
    assert (await _read(document, "y" * 200_000)).rows == ()


async def test_what_is_no_study_is_refused():
    for document in ({"kind": "run"}, {**DOCUMENT, "study": 3}, {**DOCUMENT, "netlist": None}):
        with pytest.raises(UserInputError):
            await _read(document)
