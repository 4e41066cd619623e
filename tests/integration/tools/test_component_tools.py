"""What a model is told of components: from the libraries only, also under the names of the requirements."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.vendor_libraries import write_libraries
from tests.integration.tools.conftest import Bench


async def test_a_dual_op_amp_and_a_bill_come_from_the_library_only(bench: Bench) -> None:
    made = write_libraries(bench.root / "lib", 200)
    wanted = {part.name for part in made if part.is_dual and part.figures.get("f", 0) > 5e6}
    assert wanted
    own = {"NE5532", "OPA2134"}
    found = await bench.call("search_component", query="find me a dual op-amp above 5 MHz")
    assert {each["name"] for each in found.result["models"]} <= wanted | own
    assert found.result["total"] == len(wanted | own)
    assert ".include lib/family0/" in found.content
    one = min(wanted)
    detail = await bench.call("get_component_detail", component=one)
    assert "Put this card into the circuit: .include lib/family0/vendor00" in detail.content
    assert "non-inverting_input inverting_input" in detail.content
    assert ".subckt " + one in (await bench.call("get_spice_model", name=one)).content
    chosen = await bench.call("recommend_component", type="npn", requirements={"vceo": ">= 60 V"})
    assert {each["figures"]["v"] for each in chosen.result["models"]} <= {60, 80}
    stock = await bench.call("check_availability", part_number="2N3904")
    assert stock.result["availability"] == "unknown offline"
    assert "unknown offline" in stock.content
    assert (await bench.call("check_availability", part="EL84")).error_type == "no_such_model"
    value = await bench.call("find_model", query="4.99k resistor")
    assert "4.99 kOhm, E96" in value.content
    none = await bench.call("find_model", query="dual op-amp above 5 GHz")
    assert none.error_type == "no_such_model"


async def test_a_bill_of_materials(bench: Bench, tmp_path: Path) -> None:
    (bench.root / "amp.cir").write_text(
        "amp\n.include TL072.lib\nV1 in 0 1\nR1 in a 10k\nR2 a out 10k\nR3 a 0 4.87k\n"
        "X1 0 a p n out TL072\n.op\n"
    )
    told = await bench.call("analyze_bom", path="amp.cir")
    assert told.result["count"] == 4
    lines = {line["value"]: line for line in told.result["lines"]}
    assert lines["10 kOhm"]["references"] == ["R1", "R2"]
    assert (lines["4.87 kOhm"]["series"], lines["TL072"]["count"]) == ("E48", 1)
    assert "unknown offline" in told.content
    assert (await bench.call("analyze_file", path="amp.cir", bom=True)).result == told.result
