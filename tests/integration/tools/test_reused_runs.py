"""A run that was made before is given back, and said to be; whatever could change it makes a new one."""

from __future__ import annotations

from domain.llm.tools.result import ToolResult
from tests.integration.tools.conftest import Bench

RC = "rc\nV1 in 0 DC 1\n.include parts.inc\n.op\n.meas op x find v(out)\n.end\n"
PARTS = "R1 in out 1k\nR2 out 0 1k\n"


async def run(bench: Bench, **arguments: object) -> ToolResult:
    result = await bench.call("run_simulation", **{"file_path": "rc.cir", **arguments})
    assert result.success, result.content
    return result


def results(bench: Bench) -> int:
    return len(list((bench.root / ".circuit_ai/sim_results").glob("*/result.json")))


async def test_the_same_run_is_given_back_and_anything_else_is_run(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    bench.write("parts.inc", PARTS)
    first = await run(bench)
    assert first.result["reused"] is False
    again = await run(bench)
    assert again.result["reused"] is True
    assert "Not simulated again" in again.content
    assert "unchanged" in str(again.summary)
    same = ("metrics", "result_path", "analyses", "warnings", "status")
    assert [again.result[key] for key in same] == [first.result[key] for key in same]
    assert results(bench) == 1

    assert (await run(bench, force=True)).result["reused"] is False
    assert (await run(bench, parameters={"V1": "2"})).result["reused"] is False
    assert (await run(bench, analysis="tran 1u 10u")).result["reused"] is False
    bench.write("parts.inc", PARTS.replace("R2 out 0 1k", "R2 out 0 3k"))
    assert (await run(bench)).result["reused"] is False
    bench.write("rc.cir", RC.replace("DC 1", "DC 4"))
    assert (await run(bench)).result["reused"] is False
    assert results(bench) == 6
    # Every one of them is there again, also when a value is back where it was.
    bench.write("rc.cir", RC)
    bench.write("parts.inc", PARTS)
    back = await run(bench)
    assert back.result["reused"] is True
    assert (await run(bench, parameters={"V1": "2"})).result["reused"] is True
    assert results(bench) == 6


async def test_the_circuit_is_read_as_a_run_had_it(bench: Bench) -> None:
    bench.write("parts.inc", PARTS)
    for text in (RC, RC.replace("DC 1", "DC 8")):
        bench.write("rc.cir", text)
        await run(bench)
    read = await bench.call("read_file", path="run 1")
    assert read.content == "[run 1: lines 1-6 of 6]\n" + RC.rstrip("\n")
    newest = next(iter(sorted((bench.root / ".circuit_ai/sim_results").glob("*/circuit.txt"), reverse=True)))
    newest.write_text("another\n")
    refused = await bench.call("read_file", path="run 2")
    assert (refused.success, refused.error_type) == (False, "no_result")


async def test_what_is_looked_at_next_is_the_run_that_was_given_back(bench: Bench) -> None:
    bench.write("parts.inc", PARTS)
    for text in (RC, RC.replace("DC 1", "DC 8"), RC):
        bench.write("rc.cir", text)
        await run(bench)
    seen = await bench.call("inspect_data", file_path="rc.cir", expressions=["v(out)"])
    assert seen.result["values"]["v(out)"]["value"] == 0.5
    assert seen.result["is_stale"] is False


async def test_a_stored_run_that_is_damaged_or_cut_short_is_none(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    bench.write("parts.inc", PARTS)
    for damage in ("cut raw", "no raw", "linked raw", "bad json", "other figures"):
        folder = (bench.root / (await run(bench, force=True)).result["result_path"]).parent
        for other in folder.parent.iterdir():
            if other != folder:  # only the damaged one is left
                for file in other.iterdir():
                    file.unlink()
                other.rmdir()
        raw = next(folder.glob("*.raw"))
        if damage == "cut raw":
            raw.write_bytes(raw.read_bytes()[:-8])
        elif damage == "no raw":
            raw.unlink()
        elif damage == "linked raw":
            moved = raw.rename(bench.root / "elsewhere.raw")
            raw.symlink_to(moved)
        elif damage == "bad json":
            (folder / "result.json").write_text((folder / "result.json").read_text()[:-20])
        else:
            text = (folder / "result.json").read_text()
            (folder / "result.json").write_text(text.replace('"metrics": {', '"metrics": {"y": "z",'))
        assert (await run(bench)).result["reused"] is False, damage


async def test_chance_commands_and_failures_are_always_run(bench: Bench) -> None:
    random = "t\n.param r=agauss(1k,100,3)\nV1 a 0 1\nR1 a 0 {r}\n.op\n.end\n"
    control = "t\nV1 a 0 1\nR1 a 0 1k\n.op\n.control\nrun\nwrite\n.endc\n.end\n"
    broken = "t\nV1 a 0 1\nR1 a 0 1k\nX1 a nosuch\n.op\n.end\n"
    for text in (random, control, broken):
        bench.write("t.cir", text)
        for _ in range(2):
            result = await bench.call("run_simulation", file_path="t.cir")
            assert result.result["reused"] is False, (text, result.content)
