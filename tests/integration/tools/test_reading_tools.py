"""Tools that look: list_project_files, read_file, analyze_file, find_references, search_project."""

from __future__ import annotations

import hashlib

import pytest

from domain.llm.chat import RESULT_LIMIT
from tests.integration.tools.conftest import Bench

RC = "RC low-pass\nVin in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 159.155n\n.ac dec 20 1 1meg\n.end\n"
AMP = """* amplifier
.param gain=10
.subckt amp in out k=1
E1 out 0 in 0 {k*gain}
R1 in 0 1meg
.ends amp
"""
TOP = """two stages
.include parts/amp.inc
V1 a 0 AC 1
X1 a b amp k={gain}
X2 b out AMP
D1 out 0 dx
.model dx d
.dc V1 0 1 0.1
.meas dc top max v(out)
.end
"""


async def test_lists_what_there_is_without_our_own_and_hidden_files(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    bench.write("parts/amp.inc", AMP)
    bench.write(".hidden/x.cir", RC)
    (bench.root / "data").symlink_to("/etc")

    listing = await bench.call("list_project_files", include_preview=True)
    named = {entry["path"]: entry for entry in listing.result["entries"]}
    assert set(named) == {"data", "parts", "parts/amp.inc", "rc.cir"}
    assert named["rc.cir"]["bytes"] == len(RC)
    assert named["rc.cir"]["preview"] == "RC low-pass"
    assert named["data"]["kind"] == "link"

    only = await bench.call("list_project_files", pattern="*.INC")
    assert [entry["path"] for entry in only.result["entries"]] == ["parts/amp.inc"]
    below = await bench.call("list_project_files", path="parts/", pattern="parts/*.inc")
    assert [entry["path"] for entry in below.result["entries"]] == ["parts/amp.inc"]


async def test_long_listings_are_cut_and_say_so(bench: Bench) -> None:
    for number in range(250):
        bench.write(f"many/{number:03}.cir", "t\n")
    listing = await bench.call("list_project_files", pattern="*.cir")
    shown, left_out = len(listing.result["entries"]), listing.result["left_out"]
    assert shown > 60
    assert shown + left_out == 250
    assert f"... {left_out} more" in listing.content
    assert "249.cir" not in listing.content
    assert len(listing.content) <= RESULT_LIMIT


async def test_a_small_file_is_read_exactly(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    read = await bench.call("read_file", path="rc.cir")
    assert read.content == "[rc.cir: lines 1-6 of 6]\n" + RC.rstrip("\n")
    assert read.result["content"] == RC.rstrip("\n")
    assert read.result["file_info"] == {
        "total_lines": 6,
        "total_bytes": len(RC),
        "returned_tokens": read.result["file_info"]["returned_tokens"],
        "truncated": False,
        "encoding": "utf-8",
        "line_ends": "lf",
    }
    assert read.seen_versions == {"rc.cir": hashlib.sha256(RC.encode()).hexdigest()}


@pytest.mark.parametrize("path", ["./rc.cir", "rc.cir", "a//../rc.cir", "/rc.cir"])
async def test_one_file_has_one_name(bench: Bench, path: str) -> None:
    bench.write("rc.cir", RC)
    text = str(bench.root / "rc.cir") if path == "/rc.cir" else path
    read = await bench.call("read_file", path=text)
    if ".." in path:
        assert read.error_type == "outside_project"
    else:
        assert read.result["path"] == "rc.cir"


async def test_an_empty_file_and_one_without_a_last_line_end(bench: Bench) -> None:
    bench.write("empty.cir", "")
    bench.write("open.cir", "title\nR1 a 0 1")
    assert (await bench.call("read_file", path="empty.cir")).content == "[empty.cir: empty, 0 bytes]"
    assert (await bench.call("read_file", path="open.cir")).result["content"] == "title\nR1 a 0 1"


async def test_a_long_file_shows_head_and_tail_of_whole_lines(bench: Bench) -> None:
    lines = [f"R{number} n{number} 0 {number}k" for number in range(1, 1001)]
    bench.write("long.cir", "\n".join(lines) + "\n")
    read = await bench.call("read_file", path="long.cir")
    info = read.result["file_info"]
    (first, head), (tail, last) = read.result["ranges"]
    assert (first, last) == (1, 1000)
    assert info["truncated"]
    assert "analyze_file" in read.result["hint"]
    shown = read.result["content"].split("\n")
    assert shown == [*lines[:head], f"[... lines {head + 1}-{tail - 1} left out ...]", *lines[tail - 1 :]]
    assert len(read.content) <= RESULT_LIMIT
    assert head > 1.5 * (last - tail)


async def test_the_token_budget_counts_chinese_by_character(bench: Bench) -> None:
    bench.write("notes.md", "放大器增益偏置\n" * 400)
    read = await bench.call("read_file", path="notes.md", max_tokens=200)
    assert 100 < read.result["file_info"]["returned_tokens"] <= 230


async def test_whole_files_over_the_limit_are_refused_but_parts_are_read(bench: Bench) -> None:
    lines = [f"R{number} n{number} 0 {number}k ; résistance" for number in range(1, 60_001)]
    bench.write("big.cir", "\r\n".join(lines) + "\r\n")
    refused = await bench.call("read_file", path="big.cir")
    assert refused.error_type == "file_too_large"
    assert refused.result["file_info"]["total_lines"] == 60_000

    part = await bench.call("read_file", path="big.cir", start_line=59_999)
    assert part.result["content"] == "\n".join(lines[-2:])
    assert part.result["file_info"]["line_ends"] == "crlf"

    hit = await bench.call("read_file", path="big.cir", query="r41234 N41234")
    assert hit.result["ranges"] == [[41_229, 41_239]]
    assert hit.result["location"]["lines"] == [41_234]
    assert hit.result["location"]["match_type"] == "exact"
    assert hit.seen_versions == part.seen_versions


async def test_files_too_large_for_memory_at_once_are_streamed(bench: Bench) -> None:
    line = "* " + "x" * 98 + "\n"
    text = line * 50_000 + "R1 in out 4.7k µ\n" + line * 10 + "tail without end"
    bench.write("huge.txt", text)
    assert len(text) > 4_000_000
    read = await bench.call("read_file", path="huge.txt", query="4.7k")
    assert read.result["ranges"] == [[49_996, 50_006]]
    assert read.result["file_info"]["total_lines"] == 50_012
    assert read.seen_versions["huge.txt"] == hashlib.sha256(text.encode()).hexdigest()
    last = await bench.call("read_file", path="huge.txt", start_line=50_012, end_line=10**9)
    assert last.result["content"] == "tail without end"


async def test_a_range_wins_over_a_query(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    read = await bench.call("read_file", path="rc.cir", start_line=3, end_line=3, query="Vin")
    assert read.result["content"] == "R1 in out 1k"
    assert read.result["location"] is None


async def test_a_query_without_a_hit_says_so_and_gives_the_head(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    read = await bench.call("read_file", path="rc.cir", query="no such thing at all")
    assert read.success
    assert read.result["location"] is None
    assert "not found" in read.result["hint"]
    assert read.result["content"].startswith("RC low-pass")


async def test_hits_are_widened_by_five_lines_and_joined(bench: Bench) -> None:
    lines = [f"line {number}" for number in range(1, 101)]
    lines[19] = lines[27] = lines[79] = "needle here"
    bench.write("notes.txt", "\n".join(lines))
    read = await bench.call("read_file", path="notes.txt", query="here needle")
    assert read.result["location"]["match_type"] == "words"
    assert read.result["ranges"] == [[15, 33], [75, 85]]


async def test_lines_that_do_not_exist_are_refused_with_the_count(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    beyond = await bench.call("read_file", path="rc.cir", start_line=7)
    assert (beyond.error_type, beyond.result["total_lines"]) == ("bad_arguments", 6)
    backwards = await bench.call("read_file", path="rc.cir", start_line=5, end_line=2)
    assert backwards.error_type == "bad_arguments"


async def test_a_line_that_is_too_long_is_cut(bench: Bench) -> None:
    bench.write("one.json", "{" + "1," * 50_000 + "}")
    read = await bench.call("read_file", path="one.json")
    assert read.result["file_info"]["truncated"]
    assert len(read.content) <= RESULT_LIMIT
    assert "too long" in read.result["hint"]


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-8-sig", "utf-8-sig"), ("utf-16-le", "utf-16-le"), ("gbk", "gbk"), ("latin-1", "latin-1")],
)
async def test_encodings_are_recognised(bench: Bench, encoding: str, named: str) -> None:
    text = "Filter für 10µF\nR1 a 0 1k\n" if encoding == "latin-1" else "低通滤波器\nR1 a 0 1k\n"
    bom = "\ufeff" if encoding == "utf-16-le" else ""
    bench.write("x.cir", (bom + text).encode(encoding))
    read = await bench.call("read_file", path="x.cir")
    assert read.result["content"] == text.rstrip("\n")
    assert read.result["file_info"]["encoding"] == named


async def test_a_missing_file_comes_with_near_names(bench: Bench) -> None:
    bench.write("filters/lowpass.cir", RC)
    missing = await bench.call("read_file", path="lowpas.cir")
    assert missing.error_type == "file_not_found"
    assert "filters/lowpass.cir" in missing.content


async def test_library_folders_can_be_read(bench: Bench, library: object) -> None:
    by_name = await bench.call("read_file", path="diodes.lib")
    by_path = await bench.call("read_file", path=f"{library}/diodes.lib")
    assert by_name.result["content"] == by_path.result["content"] == ".model dfast d(is=1n)"
    refused = await bench.call("rewrite_file", path=f"{library}/diodes.lib", content="* no\n")
    assert refused.error_type == "outside_project"


async def test_an_outline_has_lines_and_diagnostics(bench: Bench) -> None:
    bench.write("parts/amp.inc", AMP)
    bench.write("top.cir", TOP)
    top = (await bench.call("analyze_file", file_path="top.cir")).result
    assert top["title"] == "two stages"
    assert top["elements"] == {"subcircuit": 2, "voltage source": 1, "diode": 1}
    assert [(item["name"], item["line"], item["resolved"]) for item in top["includes"]] == [
        ("parts/amp.inc", 2, "parts/amp.inc")
    ]
    assert top["nodes"] == ["a", "0", "b", "out"]
    assert [item["text"] for item in top["analyses"]] == ["dc V1 0 1 0.1"]
    assert [item["severity"] for item in top["diagnostics"] if item["severity"] != "info"] == []

    amp = await bench.call("analyze_file", file_path="parts/amp.inc")
    assert [(item["name"], item["line"], item["last_line"]) for item in amp.result["subcircuits"]] == [
        ("amp", 3, 6)
    ]
    assert "amp in out (lines 3-6)" in amp.content


async def test_mistakes_are_in_the_outline(bench: Bench) -> None:
    bench.write("bad.cir", "title\nV1 a 0 1\nR1 a 0 1k\nR1 a 0 2k\n.op\n.end\n")
    outline = await bench.call("analyze_file", file_path="bad.cir")
    assert ("duplicate-element", 4) in {(d["code"], d["line"]) for d in outline.result["diagnostics"]}


async def test_other_texts_have_headings(bench: Bench) -> None:
    bench.write("notes.md", "# Top\n\ntext\n\nSecond\n------\n\n### Deep ###\n")
    outline = (await bench.call("analyze_file", file_path="notes.md")).result
    assert [(item["level"], item["text"], item["line"]) for item in outline["headings"]] == [
        (1, "Top", 1),
        (2, "Second", 5),
        (3, "Deep", 8),
    ]


async def test_files_over_five_megabytes_are_not_analyzed(bench: Bench) -> None:
    bench.write("huge.cir", "* x\n" * 1_300_000)
    assert (await bench.call("analyze_file", file_path="huge.cir")).error_type == "file_too_large"


async def uses(bench: Bench, symbol: str, **more: object) -> set[tuple[str, int, str, str]]:
    found = await bench.call("find_references", symbol_name=symbol, **more)
    items = [*found.result["definitions"], *found.result["references"]]
    return {(use["file_path"], use["line_number"], use["kind"], use["usage_type"]) for use in items}


async def test_references_of_every_kind(bench: Bench) -> None:
    bench.write("parts/amp.inc", AMP)
    bench.write("top.cir", TOP)
    assert await uses(bench, "AMP") == {
        ("parts/amp.inc", 3, "subcircuit", "definition"),
        ("parts/amp.inc", 6, "subcircuit", "read"),
        ("top.cir", 4, "subcircuit", "call"),
        ("top.cir", 5, "subcircuit", "call"),
    }
    assert await uses(bench, "gain") == {
        ("parts/amp.inc", 2, "parameter", "definition"),
        ("parts/amp.inc", 4, "parameter", "read"),
        ("top.cir", 4, "parameter", "read"),
    }
    assert await uses(bench, "k") >= {
        ("parts/amp.inc", 4, "parameter", "read"),
        ("top.cir", 4, "parameter", "write"),
    }
    assert await uses(bench, "v1") == {
        ("top.cir", 3, "element", "definition"),
        ("top.cir", 8, "element", "read"),
    }
    assert await uses(bench, "v(out)", definition_file="top.cir") == {
        ("top.cir", 5, "node", "connection"),
        ("top.cir", 6, "node", "connection"),
        ("top.cir", 9, "node", "read"),
    }
    assert await uses(bench, "dx") == {
        ("top.cir", 6, "model", "read"),
        ("top.cir", 7, "model", "definition"),
    }


async def test_a_definition_file_leaves_out_strangers_of_the_same_name(bench: Bench) -> None:
    bench.write("parts/amp.inc", AMP)
    bench.write("top.cir", TOP)
    bench.write("other.cir", "other\n.subckt amp a b\nR1 a b 1\n.ends\nX1 1 0 amp\n.end\n")
    found = await uses(bench, "amp", definition_file="parts/amp.inc")
    assert {file for file, *_ in found} == {"parts/amp.inc", "top.cir"}


async def test_a_symbol_nobody_has_has_no_references(bench: Bench) -> None:
    bench.write("top.cir", TOP)
    assert await uses(bench, "nowhere") == set()


async def test_search_finds_symbols_first_then_names_then_contents(bench: Bench) -> None:
    bench.write("parts/amp.inc", AMP)
    bench.write("top.cir", TOP)
    bench.write("notes.md", "The amp has a gain of 10.\n")
    bench.write("picture.txt", b"\x89PNG\0\0\0")
    found = (await bench.call("search_project", query="amp")).result
    kinds = [match["match_type"] for match in found["exact_matches"]]
    assert kinds == sorted(kinds, key=["symbol", "name", "exact"].index)
    assert found["exact_matches"][0]["line_number"] == 3
    assert found["exact_matches"][0]["source"] == "parts/amp.inc"
    assert found["semantic_matches"] == []
    assert found["semantic_available"] is False
    assert found["files_skipped"] == {"binary": 1}


@pytest.mark.parametrize(
    ("arguments", "sources"),
    [
        ({"query": "gain", "scope": "docs"}, {"notes.md"}),
        ({"query": "gain", "scope": "code"}, {"amp.inc"}),
        ({"query": "/ga[iy]n of \\d+/"}, {"notes.md"}),
        ({"query": "/^E1\\b/"}, {"amp.inc"}),
        ({"query": "nothing like that"}, set()),
    ],
)
async def test_search_by_scope_and_pattern(bench: Bench, arguments: dict, sources: set[str]) -> None:
    bench.write("amp.inc", AMP)
    bench.write("notes.md", "The amp has a gain of 10.\n")
    found = await bench.call("search_project", **arguments)
    assert found.success
    assert {match["source"] for match in found.result["exact_matches"]} == sources


async def test_search_keeps_to_its_budgets(bench: Bench) -> None:
    bench.write("notes.md", "gain and more gain\n" * 500)
    few = (await bench.call("search_project", query="gain", max_results=3)).result
    assert len(few["exact_matches"]) == 3
    small = (await bench.call("search_project", query="gain", max_results=100, token_budget=60)).result
    assert small["token_usage"]["total_tokens"] <= 60
    assert few["total_matches"] == small["total_matches"] == 20


async def test_a_pattern_that_would_never_end_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("application.search.searching._PATTERN_S", 1.0)
    bench.write("evil.txt", "a" * 60 + "!\n")
    slow = await bench.call("search_project", query="/(a+)+$/")
    assert slow.error_type == "search_too_slow"
    assert (await bench.call("search_project", query="aaa")).success


@pytest.mark.parametrize("pattern", ["/(/", "/[z-a]/", "/(?P<a>.)(?P<a>.)/", "/a{99999999999}/", "/*/"])
async def test_patterns_that_cannot_be_read_are_refused(bench: Bench, pattern: str) -> None:
    assert (await bench.call("search_project", query=pattern)).error_type == "bad_pattern"


async def test_what_was_changed_since_a_time_is_told_with_who_did_it(bench: Bench) -> None:
    path = bench.write("rc.cir", "rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 5 1 1meg\n.end\n")
    nothing = await bench.call("read_file", path="rc.cir", changes_since="2d")
    assert nothing.content.startswith("rc.cir: no known edits since ")
    await bench.call("patch_file", path="rc.cir", search="R1 in out 1k", replace="R1 in out 2k")
    path.write_text(path.read_text().replace("C1 out 0 1n", "C1 out 0 3n"))
    told = await bench.call("read_file", path="rc.cir", changes_since="yesterday")
    assert told.content.startswith("rc.cir: 2 known edits since ")
    by_tool, by_hand = told.content.split("seen now, by hand")
    assert "patch_file of this conversation:" in by_tool
    assert "-R1 in out 1k\n+R1 in out 2k\n" in by_tool
    assert by_hand.endswith("-C1 out 0 1n\n+C1 out 0 3n")
    later = await bench.call("read_file", path="rc.cir", changes_since="2126-01-01")
    assert "1 known edit " in later.content
    wrong = await bench.call("read_file", path="rc.cir", changes_since="when it was warm")
    assert wrong.error_type == "bad_arguments"
