"""generate_chart and export_waveform_data: files of the project from stored data, never over another."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from scipy.io import loadmat

from domain.llm.tools.result import ToolCall
from shared.ulid import new_ulid
from tests.integration.tools.conftest import Bench

RC = """RC low-pass
Vin in 0 DC 1 AC 1 PULSE(0 1 0 1n 1n 1m 2m)
R1 in out 1k
C1 out 0 159.155n
.ac dec 50 1 1meg
.tran 1u 1m
.end
"""


@pytest.fixture
async def simulated(bench: Bench) -> Bench:
    bench.write("rc.cir", RC)
    assert (await bench.call("run_simulation")).success
    return bench


async def test_charts_of_one_and_of_several_analyses(simulated: Bench) -> None:
    both = await simulated.call("generate_chart", chart_types=["bode", "tran"], signals=["v(out)"])
    assert both.success, both.content
    text = (simulated.root / both.result["path"]).read_text()
    assert both.result["path"] == "charts/rc-ac-tran.svg"
    for word in ("magnitude (dB)", "phase (°)", "time (", "frequency (Hz)", "v(out)"):
        assert word in text, word
    png = await simulated.call("generate_chart", chart_types="transient", path="pictures/step.png")
    assert (simulated.root / "pictures/step.png").read_bytes().startswith(b"\x89PNG")
    assert png.result["bytes"] == (simulated.root / "pictures/step.png").stat().st_size
    again = await simulated.call("generate_chart", chart_types=["bode", "tran"])
    assert again.result["path"] == "charts/rc-ac-tran-2.svg"


async def test_tables_hold_the_data_of_the_range_asked_for(simulated: Bench) -> None:
    made = await simulated.call(
        "export_waveform_data", signals=["db(v(out))"], range=["1k", "10k"], analysis_type="ac"
    )
    assert made.success, made.content
    assert made.result["path"] == "exports/rc-ac.csv"
    rows = list(csv.reader(io.StringIO((simulated.root / made.result["path"]).read_text())))
    assert rows[0] == ["frequency", "db(v(out))"]
    assert (float(rows[1][0]), float(rows[-1][0])) == (pytest.approx(1e3), pytest.approx(1e4))
    assert len(rows) == 52
    assert math.isclose(float(rows[1][1]), -3.0103, abs_tol=1e-3)
    for kind in ("json", "mat"):
        made = await simulated.call("export_waveform_data", format=kind)
        assert made.result["path"] == f"exports/rc-data.{kind}"
        assert {table["analysis"] for table in made.result["tables"]} == {"ac", "tran"}
    json.loads((simulated.root / "exports/rc-data.json").read_text())
    assert loadmat(simulated.root / "exports/rc-data.mat")


async def test_a_file_that_is_there_is_never_replaced_and_the_new_one_can_be_undone(simulated: Bench) -> None:
    simulated.write("mine.csv", "mine\n")
    refused = await simulated.call("export_waveform_data", path="mine.csv")
    assert refused.error_type == "file_exists"
    assert (simulated.root / "mine.csv").read_text() == "mine\n"
    call = ToolCall(call_id=new_ulid(), name="export_waveform_data", arguments={"path": "new.csv"})
    made = await simulated.repeat(call)
    assert made.success, made.content
    data = (simulated.root / "new.csv").read_bytes()
    assert (await simulated.repeat(call)).content == made.content
    await simulated.context.operations.undo(call.call_id)
    assert not (simulated.root / "new.csv").exists()
    assert len(data) > 1000


REFUSED = [
    ("generate_chart", {"chart_types": ["pie"]}, "unknown_analysis"),
    ("generate_chart", {"chart_types": ["noise"]}, "unknown_analysis"),
    ("generate_chart", {"signals": ["v(nosuch)"]}, None),
    ("generate_chart", {"path": "chart.cir"}, "suffix_not_allowed"),
    ("generate_chart", {"path": "chart.pdf"}, "suffix_not_allowed"),
    ("generate_chart", {"path": ".circuit_ai/x.svg"}, "outside_project"),
    ("generate_chart", {"iteration": 99}, "no_result"),
    ("generate_chart", {"iteration": 1, "data_source": "rc.cir"}, "bad_arguments"),
    ("generate_chart", {"range": ["5g", "6g"]}, "empty_range"),
    ("export_waveform_data", {"path": "../x.csv"}, "outside_project"),
    ("export_waveform_data", {"path": "x.json"}, "suffix_not_allowed"),
    ("export_waveform_data", {"format": "xlsx"}, "bad_arguments"),
    ("export_waveform_data", {"range": ["1", "b"]}, "bad_arguments"),
    ("export_waveform_data", {"data_source": "rc.cir.raw"}, "file_not_found"),
    ("export_waveform_data", {"signals": ["v(in)", "time"], "analysis_type": "ac"}, None),
]


async def test_what_cannot_be_made_is_typed_and_leaves_nothing(simulated: Bench) -> None:
    before = sorted(simulated.root.glob("*"))
    for tool, arguments, kind in REFUSED:
        refused = await simulated.call(tool, **arguments)
        assert not refused.success
        assert refused.error_type not in ("", "internal")
        if kind is not None:
            assert refused.error_type == kind, refused.content
    assert sorted(simulated.root.glob("*")) == before


async def test_too_many_numbers_are_refused_with_a_way_out(bench: Bench) -> None:
    bench.write("long.cir", "t\nV1 a 0 SIN(0 1 1k)\nR1 a 0 1k\n.tran 1n 260u 0 1n\n.end\n")
    assert (await bench.call("run_simulation")).success
    refused = await bench.call("export_waveform_data", signals=["v(a)", "2*v(a)", "3*v(a)", "4*v(a)"])
    assert refused.error_type == "export_too_large"
    assert (await bench.call("export_waveform_data", signals=["v(a)"], range=["0", "10u"])).success
