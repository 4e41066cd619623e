"""Kept studies in a report: what is stored, as tables and charts; what is damaged or strange is left out."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from application.reports.kept_studies import ReportStudy
from application.studies.reading import StoredRow, StoredStudy, arranged
from domain.simulation.goals import DesignGoal
from presentation.report.blocks import Block, Paragraph, Picture, Table
from presentation.report.strips import strips_of
from presentation.report.studies import study_blocks
from presentation.report.writing import as_markdown, as_page, pictures_of
from presentation.translation import Translator
from tests.ground.cases import for_each

SHA = "ab" * 32
GOAL = DesignGoal(metric="bw", expression="", unit="Hz", minimum=9e3)
STRANGE = "<b>a|`b`</b>\n# _x_ \x07"


def blocks_of(
    kind: str,
    document: Mapping[str, Any],
    rows: Sequence[StoredRow],
    *,
    units: Mapping[str, str] | None = None,
    goals: Sequence[DesignGoal] = (GOAL,),
    parameters: Sequence[str] = ("R1",),
    language: str = "en",
    **facts: Any,
) -> tuple[Block, ...]:
    known: dict[str, Any] = {"is_stopped": False, "is_ours": True, "netlist_sha256": SHA} | facts
    study = StoredStudy(
        path=Path("result.json"), kind=kind, circuit=Path("rc.cir"), created="2026-01-02T03:04:05Z",
        parameters=tuple(parameters), units=units or {"bw": "Hz"}, goals=tuple(goals), rows=tuple(rows),
        document=document, **known,
    )  # fmt: skip
    found = ReportStudy(number=7, study=arranged(study))
    blocks = tuple(study_blocks(found, SHA, Translator(language)))
    for svg in pictures_of(blocks):
        ET.fromstring(svg)
    names = [f"{n}.svg" for n, _ in enumerate(pictures_of(blocks))]
    assert as_page(blocks, language=language)
    assert as_markdown(blocks, pictures=names)
    return blocks


def row(run: int, value: float, **more: Any) -> StoredRow:
    known: dict[str, Any] = {"parameters": {"R1": 1e3 + run}, "metrics": {"bw": value}, "is_ok": True} | more
    return StoredRow(run=run, **known)


def said(blocks: Sequence[Block]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, Paragraph)).replace("\u00a0", " ")


def tables(blocks: Sequence[Block]) -> list[list[list[str]]]:
    return [
        [list(block.head), *([cell.text.replace("\u00a0", " ") for cell in line] for line in block.rows)]
        for block in blocks
        if isinstance(block, Table)
    ]


def test_corners_ring_the_worst_and_mark_what_is_missed() -> None:
    values = {"-40C": 12e3, "27C": 10e3, "125C": 8e3}
    rows = [row(n, value, corner=name) for n, (name, value) in enumerate(values.items())]
    span = {"min": 8e3, "min_corner": "125C", "max": 12e3, "max_corner": "-40C", "worst_corner": "125C"}
    blocks = blocks_of("corners", {"corners": {"bw": span}, "goals_met": False, "runs": {"total": 3}}, rows)
    spans, runs = tables(blocks)
    assert spans[1] == ["bw", "≥ 9 kHz", "8 kHz", "125C", "12 kHz", "-40C", "125C"]
    assert [line[0] for line in runs[1:]] == ["125C", "27C", "-40C"]  # the least margin first
    assert "Goals are missed" in said(blocks)
    (picture,) = (block for block in blocks if isinstance(block, Picture))
    ring = re.findall(r'<circle [^>]*fill="none"', picture.svg)
    heavy = re.findall(r'font-weight="600">([^<]*)<', picture.svg)
    assert len(ring) == 1
    assert [text.replace("\u00a0", " ") for text in heavy] == ["125C", "8 kHz"]


def test_where_a_study_comes_from_is_told_in_both_languages() -> None:
    facts = {"seed": 5, "runs": {"total": 80}, "simulator": "ngspice-39"}
    told = {
        "en": ("Run 7", "stopped after 2 of 80 runs", "1 failed", "seed 5",
               "was not run by this installation", "was changed after"),
        "zh": ("仿真 #7", "80 次仿真在第 2 次后停止", "失败", "随机种子 5",
               "不是由本机安装运行的", "电路文件已改动"),
    }  # fmt: skip
    rows = [row(0, 1e4), row(1, math.nan, is_ok=False, reason="no convergence")]
    for language, words in told.items():
        blocks = blocks_of("montecarlo", facts, rows, language=language, is_stopped=True, is_ours=False,
                           netlist_sha256="cd" * 32)  # fmt: skip
        for each in words:
            assert each in said(blocks), each


BINS = {"edges": [1.0, 2.0, 3.0], "counts": [1, 2]}


@for_each(
    ("document", "pictures"),
    [
        ({"statistics": {"bw": {"histogram": BINS, "mean": 2.0, "sigma": 0.5}}}, 1),
        ({"statistics": {"bw": {"histogram": BINS, "mean": math.nan, "sigma": 0}}}, 1),
        ({"statistics": {"bw": {"histogram": BINS | {"edges": [1.0, math.nan, 3.0]}}}}, 0),
        ({"statistics": {"bw": {"histogram": BINS | {"edges": [3.0, 2.0, 1.0]}}}}, 0),
        ({"statistics": {"bw": {"histogram": BINS | {"counts": [1, 2, 3]}}}}, 0),
        ({"statistics": {"bw": {"histogram": BINS | {"counts": ["1", None]}}}}, 0),
        ({"statistics": {"bw": {"histogram": BINS | {"counts": [-1, 2]}}}}, 0),
        ({"statistics": {"bw": []}, "yield": {"n": "x"}, "texts": {"assumed": 5}}, 0),
        ({"statistics": None, "yield": {"n": 0, "passed": 1, "goals": [1]}}, 0),
    ],
)
def test_what_is_damaged_is_not_drawn(document: Mapping[str, Any], pictures: int) -> None:
    blocks = blocks_of("montecarlo", document, [row(0, 2.0)])
    assert len(pictures_of(blocks)) == pictures


def test_every_kind_bears_strange_names_and_no_figures() -> None:
    unit, goal = {STRANGE: "V"}, DesignGoal(metric=STRANGE, expression="", unit="V", maximum=1.0)
    strange = [row(n, 0, corner=STRANGE, label=STRANGE, reason=STRANGE, parameters={STRANGE: 1.0 + n},
                   metrics={STRANGE: 0.5 * n}) for n in range(3)]  # fmt: skip
    effects = {
        "effects": {STRANGE: 1.0}, "contributions": {STRANGE: 0.7}, "histogram": BINS, "nominal": 1.0,
        "not_monotonic": [STRANGE], "eva": {"min": {"value": 0.0}, "max": {"value": 2.0}},
        "sensitivities": [{"parameter": STRANGE, "slope": 1.0, "normalized": -1.0, "per_tolerance": 0.1}, 5],
    }  # fmt: skip
    full = {
        "statistics": {STRANGE: effects}, "corners": {STRANGE: {"worst_corner": STRANGE}},
        "simulator": STRANGE,
        "best": {"values": {STRANGE: STRANGE}, "goals": [{"metric": STRANGE, "<=": 1.0, "value": 0.5}]},
        "robustness": [{"metric": STRANGE, "holds_within": 0.1, "decisive": STRANGE}], "end": "budget",
        "yield": {"n": 3, "passed": 2, "low": 0.1, "high": 0.9, "goals": {STRANGE: {"passed": 2}, "x": {}}},
    }  # fmt: skip
    for kind in ("montecarlo", "corners", "worst-case", "sensitivity", "sweep", "optimize", "a stranger's"):
        for rows, document in ((strange, full), (strange[:1], {}), ((), {})):
            blocks = blocks_of(kind, document, rows, units=unit, goals=(goal,), parameters=(STRANGE,))
            page = as_page(blocks, language="en")
            assert "<b>a" not in page
            assert "\x07" not in page


def test_a_large_sweep_is_told_in_part() -> None:
    rows = [row(n, 1e4 / (n + 1), parameters={"R1": 10.0**n, "C1": c}) for c in range(30) for n in range(50)]
    blocks = blocks_of("sweep", {}, rows, parameters=("C1", "R1"), goals=())
    (picture,) = pictures_of(blocks)
    assert picture.count("<polyline") == 2 * 24  # a line and its piece in the legend
    assert "R1" in next(block.caption for block in blocks if isinstance(block, Picture))
    assert len(tables(blocks)[-1]) == 1 + 40
    assert "and 1460 more" in said(blocks)
    assert "6 more lines are in the table" in said(blocks)


def test_a_wide_drawing_is_cut_where_parts_overlap() -> None:
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="90" viewBox="-20.0 -5.0 {w}.0 90.0">\n'
        "<g/></svg>"
    )
    assert strips_of(drawn.format(w=900)) == [drawn.format(w=900)]
    assert strips_of("<svg>") == ["<svg>"]
    for width, count in ((2_000, 2), (5_000, 5), (60_000, 8)):
        views = [ET.fromstring(each).attrib["viewBox"].split() for each in strips_of(drawn.format(w=width))]
        spans = [(float(x), float(x) + float(wide)) for x, _y, wide, _high in views]
        assert len(spans) == count
        assert spans[0][0] == -20
        assert abs(spans[-1][1] - (width - 20)) < 0.5
        assert all(before[1] - after[0] > 60 for before, after in pairwise(spans))


def test_chosen_values_have_no_mean_and_no_empty_column_stands() -> None:
    told = {"mean": 1.5e4, "min": 1e4, "max": 2e4}
    swept = tables(blocks_of("sweep", {"statistics": {"bw": told}}, [row(0, 1e4), row(1, 2e4)], goals=()))[0]
    assert swept == [["Measurement", "Least", "Greatest"], ["bw", "10 kHz", "20 kHz"]]
    item = {"parameter": "R1", "slope": 1.0, "normalized": -1.0}
    for more, columns in (({}, 3), ({"per_tolerance": 50.0}, 4)):
        document = {"statistics": {"bw": {"sensitivities": [item | more]}}}
        assert len(tables(blocks_of("sensitivity", document, [row(0, 1e4)]))[0][1]) == columns


def test_how_far_parts_may_be_off_is_told_once_a_figure() -> None:
    bounds = [
        {"metric": "gain", "holds_within": 0.0075, "decisive": "R1", "on_edge": True},
        {"metric": "gain", "holds_within": 0.0099, "decisive": "R2"},
        {"metric": "upper_cutoff", "holds_within": 1.4, "decisive": "R1"},
    ]
    goals = [
        DesignGoal(metric=name, expression="", unit="dB", minimum=1.0) for name in ("gain", "upper_cutoff")
    ]
    best = {"values": {"R1": "1k"}, "goals": [{"metric": g.metric, ">=": 1.0, "value": 2.0} for g in goals]}
    told = said(blocks_of("optimize", {"best": best, "robustness": bounds}, [row(0, 1e4)], goals=goals))
    assert "Gain: met with parts within ±0.75 % (limited by R1)" in told
    assert "Upper cut-off: met with parts within ±140 % (limited by R1)" in told
    assert told.count("Gain: met") == 1
