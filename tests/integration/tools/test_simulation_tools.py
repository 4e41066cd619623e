"""run_simulation and inspect_data with the real simulator."""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
from pathlib import Path

import pytest

from domain.llm.chat import RESULT_LIMIT
from domain.llm.tools.result import ToolCall
from infrastructure.llm_adapters.builtin.explain import explained
from infrastructure.persistence.stored_results import ResultSeals
from presentation.translation import Translator
from shared.ulid import new_ulid
from tests.integration.tools.conftest import Bench

CHINESE = Translator("zh")

RC = """RC low-pass
Vin in 0 DC 1 AC 1 PULSE(0 1 0 1n 1n 1m 2m)
R1 in out 1k
C1 out 0 159.155n
.op
.ac dec 50 1 1meg
.tran 1u 1m
.meas ac g1k find vdb(out) at=1k
.end
"""


async def test_metrics_signals_and_no_vectors(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    run = await bench.call("run_simulation", file_path="rc.cir")
    assert run.success, run.content
    assert math.isclose(run.result["metrics"]["g1k"]["value"], -3.0103, abs_tol=0.001)
    plots = {plot["analysis"]: plot for plot in run.result["analyses"]}
    assert set(plots) == {"op", "ac", "tran"}
    ac = plots["ac"]
    assert ac["range"] == [1.0, pytest.approx(1e6)]
    assert {"v(in)", "v(out)", "i(vin)"} == set(ac["signals"])
    assert run.result["result_path"].startswith(".circuit_ai/sim_results/")
    assert (bench.root / run.result["result_path"]).is_file()
    assert len(run.content) <= RESULT_LIMIT
    assert len(json.dumps(run.result)) < 4000


async def test_the_only_circuit_is_the_main_one(bench: Bench) -> None:
    assert (await bench.call("run_simulation")).error_type == "no_circuit"
    bench.write("rc.cir", "rc\n.include parts.cir\nV1 in 0 1\nX1 in out r\n.op\n.end\n")
    bench.write("parts.cir", ".subckt r a b\nR1 a b 1k\nR2 b 0 1k\n.ends\n")
    bench.write("models.lib", ".model d d\n")
    run = await bench.call("run_simulation")
    assert run.success, run.content
    assert run.result["file_path"] == "rc.cir"
    bench.write("other.cir", RC)
    ambiguous = await bench.call("run_simulation")
    assert ambiguous.error_type == "ambiguous_circuit"
    assert "rc.cir" in ambiguous.content
    assert "other.cir" in ambiguous.content
    assert "parts.cir" not in ambiguous.content


async def test_one_analysis_values_and_cards(bench: Bench) -> None:
    path = bench.write("rc.cir", RC)
    only = await bench.call("run_simulation", analysis_type="ac", parameters={"R1": 2000})
    assert [plot["analysis"] for plot in only.result["analyses"]] == ["ac"]
    assert math.isclose(only.result["metrics"]["g1k"]["value"], -10 * math.log10(5), abs_tol=0.01)
    card = await bench.call("run_simulation", analysis="dc Vin 0 1 0.5")
    assert [plot["points"] for plot in card.result["analyses"]] == [3]
    missing = await bench.call("run_simulation", analysis_type="noise")
    assert missing.error_type == "no_such_analysis"
    assert "noise v(out)" in missing.content
    assert path.read_text() == RC


async def test_data_of_a_run_with_other_values_are_marked_as_such(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    run = await bench.call("run_simulation", analysis="ac dec 5 1 1k", parameters={"R1": "2k"})
    found = await bench.call("inspect_data", expressions=["max(v(in))"])
    assert found.result["result_path"] == run.result["result_path"]
    assert (found.result["parameters"], found.result["analysis"]) == ({"R1": "2k"}, "ac dec 5 1 1k")
    first = found.content.splitlines()[0]
    assert "R1=2k" in first
    assert "ac dec 5 1 1k" in first
    await bench.call("run_simulation")
    plain = await bench.call("inspect_data")
    assert (plain.result["parameters"], plain.result["analysis"], plain.result["ok"]) == ({}, None, True)
    assert "(" not in plain.content.splitlines()[0]


async def test_data_of_a_run_that_failed_on_its_way_are_marked_as_such(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    run = await bench.call("run_simulation")
    stored = bench.root / run.result["result_path"]
    content = {**json.loads(stored.read_text()), "ok": False, "status": "timeout"}
    sealed = await asyncio.to_thread(ResultSeals().sealed, content, stored.parent)
    stored.write_text(json.dumps(sealed))
    found = await bench.call("inspect_data")
    assert found.result["ok"] is False
    assert "a run that failed" in found.content.splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [
        {"analysis": "fly me"},
        {"analysis": "."},
        {"analysis": "ac dec 20 1 1meg\n.control"},
        {"analysis": "tran 1u 1m", "analysis_type": "ac"},
        {"parameters": {"R9": "1k"}},
        {"parameters": {"R1": "1k\nshell rm"}},
        {"parameters": {"": "1k"}},
        {"timeout_s": 0},
        {"file_path": "none.cir"},
    ],
)
async def test_what_cannot_be_asked_is_typed_and_leaves_no_result(bench: Bench, arguments: dict) -> None:
    bench.write("rc.cir", RC)
    refused = await bench.call("run_simulation", **{"file_path": "rc.cir"} | arguments)
    assert not refused.success
    assert refused.error_type not in ("", "internal", "simulation_failed")
    results = bench.root / ".circuit_ai" / "sim_results"
    assert not results.exists() or list(results.iterdir()) == []
    assert all(record.state == "done" for record in await bench.context.operations.list())


async def test_a_failed_run_is_a_typed_failure_with_file_and_line(bench: Bench) -> None:
    bench.write("bad.cir", "title\nV1 a 0 1\nR1 a b 1k\nD1 b 0 nomodel\n.op\n.end\n")
    failed = await bench.call("run_simulation", file_path="bad.cir")
    assert failed.error_type == "simulation_failed"
    assert (failed.result["errors"][0]["file"], failed.result["errors"][0]["line"]) == ("bad.cir", 4)
    assert "nomodel" in failed.content
    (record,) = await bench.context.operations.list()
    assert (record.kind, record.state) == ("simulation", "done")


async def test_a_run_repeated_under_its_id_runs_once(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    call = ToolCall(call_id=new_ulid(), name="run_simulation", arguments={"analysis_type": "op"})
    first = await bench.repeat(call)
    assert first.success
    second = await bench.repeat(call)
    assert second.content == first.content
    assert len(list((bench.root / ".circuit_ai" / "sim_results").iterdir())) == 1


async def test_figures_of_the_newest_result(bench: Bench) -> None:
    path = bench.write("rc.cir", RC)
    assert (await bench.call("inspect_data", file_path="rc.cir")).error_type == "no_result"
    await bench.call("run_simulation", parameters={"R1": "2k"})
    run = await bench.call("run_simulation")
    values = await bench.call(
        "inspect_data", expressions=["highcut(v(out))", "max(v(nosuch))", "ugf(v(out))"]
    )
    assert values.success
    assert values.result["result_path"] == run.result["result_path"]
    assert math.isclose(values.result["values"]["highcut(v(out))"]["value"], 1000, rel_tol=0.002)
    assert values.result["values"]["highcut(v(out))"]["unit"] == "Hz"
    assert "nosuch" in values.result["values"]["max(v(nosuch))"]["error"]
    assert values.result["is_stale"] is False
    path.write_text(RC.replace("1k", "3k"))
    stale = await bench.call("inspect_data", expressions="max(v(out))")
    assert stale.result["is_stale"] is True
    named = await bench.call("inspect_data", file_path=run.result["result_path"], expressions=["max(v(out))"])
    assert named.success


async def test_an_expression_is_taken_from_the_analysis_asked_for(bench: Bench) -> None:
    bench.write("rc.cir", RC.replace(".end", ".dc Vin 0 5 1\n.noise v(out) Vin dec 5 1 1k\n.end"))
    await bench.call("run_simulation")
    found = await bench.call("inspect_data", analysis_type="dc", expressions=["max(v(out))", "max(v(in)+0)"])
    assert {text: item["value"] for text, item in found.result["values"].items()} == {
        "max(v(out))": 5,
        "max(v(in)+0)": 5,
    }
    noise = await bench.call(
        "inspect_data", analysis_type="noise", observation_points=["onoise_spectrum", "onoise"]
    )
    assert all(item["unit"] == "V/sqrt(Hz)" for item in noise.result["samples"].values())


async def test_samples_and_overview(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    await bench.call("run_simulation")
    samples = await bench.call(
        "inspect_data",
        analysis_type="ac",
        observation_points=["out", "db(v(out))", "v(none)"],
        range=["100", "10k"],
        options={"points": 5},
    )
    out = samples.result["samples"]["v(out)"]
    assert (len(out["x"]), out["x"][0], out["x"][-1]) == (5, 100, pytest.approx(10_000, rel=0.05))
    assert out["max"] < 1
    assert len(out["phase_deg"]) == 5
    assert samples.result["samples"]["db(v(out))"]["unit"] == "dB"
    assert "none" in samples.result["samples"]["v(none)"]["error"]

    overview = await bench.call("inspect_data")
    kinds = {plot["analysis"]: plot for plot in overview.result["analyses"]}
    assert kinds["op"]["signals"]["v(in)"]["value"] == 1.0
    assert kinds["tran"]["axis_unit"] == "s"
    assert "g1k" in overview.result["metrics"]
    none = await bench.call("inspect_data", analysis_type="noise")
    assert none.error_type == "no_such_analysis"
    outside = await bench.call("inspect_data", observation_points=["v(out)"], range=[1e9, 2e9])
    assert outside.error_type == "bad_expression"


async def test_only_results_are_reached_in_our_own_folder(bench: Bench, tmp_path: Path) -> None:
    bench.write("rc.cir", RC)
    run = await bench.call("run_simulation", analysis_type="op")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for item in (bench.root / run.result["result_path"]).parent.iterdir():
        (foreign / item.name).write_bytes(item.read_bytes())
    results = bench.root / ".circuit_ai" / "sim_results"
    (results / "99999999T000000000Z-FOREIGN0").symlink_to(foreign)
    for path, kind in (
        (".circuit_ai/operations.sqlite", "outside_project"),
        (".circuit_ai/sim_results", "outside_project"),
        (".circuit_ai/sim_results/99999999T000000000Z-FOREIGN0", "outside_project"),
        (".circuit_ai/sim_results/../operations.sqlite", "outside_project"),
        (".circuit_ai/sim_results/none", "file_not_found"),
        ("rc.raw", "file_not_found"),
    ):
        refused = await bench.call("inspect_data", file_path=path)
        assert refused.error_type == kind, path
    newest = await bench.call("inspect_data", file_path="rc.cir")
    assert newest.result["result_path"] == run.result["result_path"]


async def test_a_remedy_is_put_in_only_when_asked_for_and_can_be_undone(bench: Bench) -> None:
    deck = (Path(__file__).parents[2] / "corpus/convergence/parallel_sources.cir").read_bytes()
    path = bench.write("bad.cir", deck)
    told = await bench.call("analyze_convergence", file_path="bad.cir")
    assert (told.result["cause"], told.result["fixed"]) == ("voltage-source-loop", False)
    assert path.read_bytes() == deck
    call = ToolCall(call_id=new_ulid(), name="analyze_convergence", arguments={"auto_fix": True})
    fixed = await bench.repeat(call)
    assert fixed.result["fixed"] is True, fixed.content
    assert path.read_bytes() != deck
    assert (await bench.call("run_simulation", file_path="bad.cir")).success
    await bench.context.operations.undo(call.call_id)
    assert path.read_bytes() == deck


async def test_a_plot_of_the_circuits_own_commands_goes_by_the_name_ngspice_gave_it(bench: Bench) -> None:
    head = RC.partition(".op")[0]
    commands = "tran 10u 1m\ntran 20u 2m\nac dec 10 1 1meg\nalter r1 = 10k\nac dec 10 1 1meg"
    bench.write("rc.cir", f"{head}.control\n{commands}\n.endc\n.end\n")
    run = await bench.call("run_simulation", file_path="rc.cir")
    assert run.success, run.content
    assert [plot["label"] for plot in run.result["analyses"]] == [
        "tran (tran1)", "tran 2 (tran2)", "ac (ac2)", "ac 2 (ac3, r1=10k)",
    ]  # fmt: skip
    assert "max(tran2.v(in))" in run.content
    shown = await bench.call("inspect_data", file_path="rc.cir", analysis_type="ac")
    assert "ac (ac2): over frequency" in shown.content
    assert "ac 2 (ac3, r1=10k): over frequency" in shown.content
    assert "max(ac3.v(in))" in shown.content
    names = ("ac2", "ac3", "ac1", "ac")  # ac1 is none of ngspice's names here: the first
    values = await bench.call("inspect_data", expressions=[f"highcut({name}.v(out))" for name in names])
    found = [item["value"] for item in values.result["values"].values()]
    assert found == pytest.approx([1e3, 100, 1e3, 1e3], rel=0.01)


async def test_a_study_of_a_control_block_says_why_and_what_to_give(bench: Bench) -> None:
    head = RC.partition(".op")[0]
    bench.write("rc.cir", f"{head}.control\nac dec 10 1 1meg\n.endc\n.end\n")
    study = {"variation_config": {"R1": "5%"}, "measure": {"fc": "highcut(v(out))"}, "runs": 4}
    refused = await bench.call("run_monte_carlo", **study)
    assert ".control block" in refused.content
    assert "ac dec 20 1 10meg" in refused.content
    goals = ["fc >= 1k", "fc <= 10k"]
    done = await bench.call("run_monte_carlo", **study, analysis="ac dec 10 1 1meg", goals=goals)
    assert done.success, done.content
    assert "fc <= 10000: met in 4 of 4" in done.content


async def test_runs_have_short_numbers_and_name_what_is_wrong_once(bench: Bench) -> None:
    faulty = RC.replace("R1 in out 1k", "R1 in out {rx}\nR2 out 0 1M").replace(
        ".end", ".meas ac b max v(out)\n.end"
    )
    written = await bench.call("rewrite_file", path="rc.cir", content=faulty)
    assert "error: rc.cir:3: " in written.content
    assert "[mega-trap]" in written.content
    failed = await bench.call("run_simulation", file_path="rc.cir")
    assert failed.error_type == "simulation_failed"
    lines = failed.content.splitlines()
    assert lines[1] == "rc.cir: failed, run 1"
    assert [line.split(":")[0] for line in lines[2:]] == ["error", "warning"]
    await bench.call("patch_file", path="rc.cir", search="{rx}", replace="1k")
    other = await bench.call("run_simulation", file_path="rc.cir", analysis="op")
    assert other.content.count("not measured:") == 1
    assert "nodes: in 1 V" in other.content
    whole = await bench.call("run_simulation", file_path="rc.cir")
    assert whole.result["run"] == 3
    second = await bench.call("inspect_data", file_path="run 2")
    assert {plot["analysis"] for plot in second.result["analyses"]} == {"op"}
    shape = await bench.call(
        "inspect_data", file_path="run 3", observation_points=["v(out)"], analysis_type="tran"
    )
    assert shape.result["samples"]["v(out)"]["settled"] is True
    assert (await bench.call("inspect_data", file_path="run 9")).error_type == "no_result"


async def test_a_model_of_the_library_is_found_included_and_run(bench: Bench) -> None:
    amplifier = (
        "amp\n.include 2N3904.lib\nVCC vcc 0 12\nR1 vcc b 47k\nR2 b 0 10k\nRC vcc c 4.7k\nRE e 0 1k\n"
        "Q1 c b e 2N3904\n.op\n.end\n"
    )
    without = amplifier.replace(".include 2N3904.lib\n", "")
    refused = await bench.call("rewrite_file", path="amp.cir", content=without)
    assert "add .include 2N3904.lib" in refused.content
    failed = await bench.call("run_simulation", path="amp.cir")
    assert "add .include 2N3904.lib" in failed.content
    found = await bench.call("find_model", query="2N3904")
    assert "Put this card into the circuit: .include 2N3904.lib" in found.content
    assert ".model 2N3904 NPN" in found.content
    several = await bench.call("find_model", query="pnp")
    assert {item["name"] for item in several.result["models"]} == {"2N3906", "2N2907", "BC557"}
    assert (await bench.call("find_model", query="EL84")).error_type == "no_such_model"
    await bench.call("rewrite_file", path="amp.cir", content=amplifier)
    run = await bench.call("run_simulation", path="amp.cir")
    assert run.success, run.content
    assert "Q1 npn active: IC 1.3" in run.content
    # The file's own text in place of the include, as bare ngspice needs it, is the same circuit.
    text = found.content.split("\n", 1)[1]
    await bench.call("rewrite_file", path="own.cir", content=amplifier.replace(".include 2N3904.lib", text))
    own = await bench.call("run_simulation", path="own.cir")
    assert own.result["operating_point"] == run.result["operating_point"]
    # Who writes it from memory need not know how the file's name is written.
    small = amplifier.replace(".include 2N3904.lib", ".INC '2n3904.LIB'")
    await bench.call("rewrite_file", path="small.cir", content=small)
    again = await bench.call("run_simulation", path="small.cir")
    assert again.success, again.content
    assert again.result["operating_point"] == run.result["operating_point"]
    outline = await bench.call("analyze_file", path="amp.cir")
    # The built-in model says it with the currents of the run, and that they are old once the file is changed.
    told = explained("amp.cir", outline.content.split("\n"), CHINESE)
    assert "射放大级 Q1" in told
    assert "最近一次仿真中 Q1 IC 1.3" in told
    assert "旧值" not in told
    changed = amplifier.replace("*", "* changed:", 1) if "*" in amplifier else f"{amplifier}* changed\n"
    await bench.call("rewrite_file", path="amp.cir", content=changed)
    outline = await bench.call("analyze_file", path="amp.cir")
    assert "旧值" in explained("amp.cir", outline.content.split("\n"), CHINESE)
    assert [item["code"] for item in outline.result["diagnostics"]] == ["library-model"]


async def test_a_gm_id_table_sizes_a_transistor_as_bare_ngspice_has_it(bench: Bench) -> None:
    cards = (
        ".model n4 nmos level=14 version=4.8.1 toxe=4n vth0={0.4+dv} u0=0.035 vsat=9e4 k1=0.5 nfactor=1.2\n"
        ".model p4 pmos level=14 version=4.8.1 toxe=4n vth0=-0.42 u0=0.009 vsat=8e4 nfactor=1.3 k3=0\n"
        ".model p3 pmos(level=3 vto=-0.7 uo=200 tox=15n nsub=2e16 theta=0.08 vmax=1e5 kappa=0.3)\n"
    )
    bench.write("cards.inc", cards)
    bench.write("models.lib", ".param dv=0.02\n.include cards.inc\n")
    deck, expected = f"t\n.param dv=0.02\n{cards}", {}
    for model in ("n4", "p4", "p3"):
        found = await bench.call("find_model", query=model, path="models.lib", length="0.5u", vds=0.7)
        assert found.success, found.content
        if model == "n4":  # BSIM4's narrow-channel effect: a second look at about the width it comes to
            width = f"{50 / found.result['rows'][7][1]}u"
            found = await bench.call(
                "find_model", query=model, path="models.lib", length="0.5u", vds=0.7, width=width
            )
        for row in found.result["rows"][1:]:
            point = dict(zip((head.split(" ")[0] for head in found.result["columns"]), row, strict=True))
            if point["gm/Id"] not in ((10,) if model == "n4" else (16, 10, 5)):
                continue
            name, sign = f"m{model}_{point['gm/Id']}", 1 if model[0] == "n" else -1
            width = 50e-6 / point["Id/W"]
            deck += f"{name} d{name} g{name} 0 0 {model} W={width} L=0.5u\nvd{name} d{name} 0 {sign * 0.7}\n"
            deck += f"vg{name} g{name} 0 dc {sign * point['VGS']} ac 1\n"
            expected[name] = (point, width)
    keys = ("id", "gm", "gds", "vdsat")
    asked = "".join(f"print @{name}[{key}]\n" for name in expected for key in keys)
    asked += "ac lin 1 1k 1k\n" + "".join(f"print imag(i(vg{name}))\n" for name in expected)
    bare = bench.write("bare/bare.cir", f"{deck}.control\nop\n{asked}quit\n.endc\n.end\n")
    run = await asyncio.to_thread(
        subprocess.run, ["ngspice", "-b", bare], capture_output=True, text=True, check=False
    )
    told = {name: float(value) for name, value in re.findall(r"^(\S+) = (\S+)", run.stdout, re.MULTILINE)}
    assert len(expected) == 7, run.stdout
    for name, (point, width) in expected.items():
        current, gm, gds, knee = (abs(told[f"@{name}[{key}]"]) for key in keys)
        gate_f = abs(told[f"imag(i(vg{name}))"]) / 2e3 / math.pi
        assert current == pytest.approx(50e-6, rel=0.02), name
        assert gm / current == pytest.approx(point["gm/Id"], rel=0.01), name
        assert gm / gds == pytest.approx(point["gm/gds"], rel=0.05), name
        assert knee == pytest.approx(point["VDSsat"], rel=0.02), name
        assert gate_f == pytest.approx(point["Cgg/W"] * width, rel=0.02), name
    # The table is kept: it is found again by its content, and another card is another table.
    kept = list((bench.project.private / "home").rglob("rows.csv")) + list(bench.root.rglob("rows.csv"))
    again = await bench.call("find_model", query="P3", path="models.lib", length="0.5u", vds=0.7)
    assert again.content == found.content
    assert len(list(bench.root.rglob("rows.csv"))) == len(set(kept))
    bench.write("cards.inc", cards.replace("uo=200", "uo=400"))
    other = await bench.call("find_model", query="p3", path="models.lib", length="0.5u", vds=0.7)
    assert other.result["rows"][3][1] == pytest.approx(2 * found.result["rows"][3][1], rel=0.2)
    missing = await bench.call("find_model", query="nx", path="models.lib", length="0.5u")
    assert missing.error_type == "no_such_model"
    assert "n4, p4, p3" in missing.content


async def test_a_figure_of_a_steady_state_says_where_there_is_none_yet(bench: Bench) -> None:
    deck = "slow\nV1 in 0 PULSE(0 1 0 1u 1u 50u 100u)\nR1 in out 1k\nC1 out 0 1u\n.tran 2u {} \n.end\n"
    asked = ["ripple(v(out),1.5m,2m)", "max(v(out))"]
    bench.write("d.cir", deck.format("2m"))
    await bench.call("run_simulation", path="d.cir")
    early = await bench.call("inspect_data", path="d.cir", expressions=asked)
    assert "v(out) has NOT SETTLED there (last" in early.content
    assert (await bench.call("inspect_data", path="d.cir", expressions=["max(v(out))"])).content.count(
        "\n"
    ) == 1
    bench.write("d.cir", deck.format("20m"))
    await bench.call("run_simulation", path="d.cir")
    late = await bench.call("inspect_data", path="d.cir", expressions=["ripple(v(out),19m,20m)", *asked[1:]])
    assert "NOT SETTLED" not in late.content
    assert "NOT SETTLED" in (await bench.call("inspect_data", path="d.cir", expressions=asked)).content
