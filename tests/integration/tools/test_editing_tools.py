"""rewrite_file and patch_file: what is written, in which bytes, and what is refused."""

from __future__ import annotations

import asyncio
import os

import pytest

from domain.llm.chat import RESULT_LIMIT
from domain.llm.tools.result import ToolCall
from shared.ulid import new_ulid
from tests.integration.tools.conftest import Bench

RC = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 20 1 1meg\n.end\n"


async def test_a_new_file_is_made_with_its_folders(bench: Bench) -> None:
    made = await bench.call("rewrite_file", path="filters/low/rc.cir", content=RC.replace("\n", "\r\n"))
    assert made.success
    assert made.result["created"] is True
    assert str(made.summary) == "Created filters/low/rc.cir (6 lines)."
    assert (bench.root / "filters/low/rc.cir").read_bytes() == RC.encode()
    (record,) = await bench.context.operations.list()
    assert (record.state, record.path, record.tool) == ("done", "filters/low/rc.cir", "rewrite_file")


async def test_equal_content_is_a_success_without_an_operation(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    same = await bench.call("rewrite_file", path="rc.cir", content=RC)
    assert same.success
    assert same.result["changed"] is False
    assert await bench.context.operations.list() == ()


async def test_a_patch_changes_its_place_and_tells(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    done = await bench.call("patch_file", path="rc.cir", search="R1 in out 1k", replace="R1 in out 2.2k")
    assert done.success
    assert (bench.root / "rc.cir").read_text() == RC.replace("out 1k", "out 2.2k")
    assert (done.result["added"], done.result["removed"], done.result["first_changed_line"]) == (1, 1, 3)
    assert str(done.summary) == "Changed rc.cir (+1 −1 lines)."
    assert "-R1 in out 1k\n+R1 in out 2.2k" in done.content


async def test_what_is_written_is_checked_and_hints_are_not_told(bench: Bench) -> None:
    hint = RC.replace(".ac", ".subckt spare a\nR9 a 0 1k\n.ends\n.ac")
    assert (
        "Check of the new text" not in (await bench.call("rewrite_file", path="a.cir", content=hint)).content
    )
    wrong = hint.replace("R1 in out 1k", "R1 in out 1k\nD1 out 0 missing")
    told = (await bench.call("rewrite_file", path="a.cir", content=wrong)).content
    (line,) = told.partition("Check of the new text:\n")[2].splitlines()
    assert line.startswith("error: a.cir:4: ")
    assert line.endswith("[undefined-model]")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tool", ["patch_file", "rewrite_file"])
async def test_encoding_and_line_ends_stay(bench: Bench, encoding: str, end: str, tool: str) -> None:
    head = "Filter für 10µF é" if encoding == "latin-1" else "低通滤波器，增益"
    if encoding == "gb18030":
        head += "\U00020087"
    old = f"{head}\nR1 in out 1k\n.end\n"
    new = old.replace("1k", "2k")
    path = bench.write("x.cir", old.replace("\n", end).encode(encoding))
    if tool == "patch_file":
        done = await bench.call(tool, path="x.cir", search="R1 in out 1k\n", replace="R1 in out 2k\n")
    else:
        done = await bench.call(tool, path="x.cir", content=new)
    assert done.success, done.content
    assert path.read_bytes() == new.replace("\n", end).encode(encoding)


@pytest.mark.parametrize(("encoding", "character"), [("gbk", "😀"), ("latin-1", "Ω")])
async def test_a_character_the_encoding_lacks_is_named_and_nothing_written(
    bench: Bench, encoding: str, character: str
) -> None:
    text = "低通滤波器\nR1 a 0 1k\n" if encoding == "gbk" else "für é\nR1 a 0 1k\n"
    path = bench.write("x.cir", text.encode(encoding))
    refused = await bench.call("patch_file", path="x.cir", search="1k", replace=f"1k ; {character}")
    assert refused.error_type == "encoding"
    assert refused.result["character"] == character
    assert refused.result["line"] == 2
    assert path.read_bytes() == text.encode(encoding)


async def test_mixed_line_ends_survive_a_patch_and_a_rewrite_takes_the_commoner(bench: Bench) -> None:
    path = bench.write("x.cir", b"t\r\nR1 a 0 1k\r\n* lone\nR2 b 0 1k\r\n")
    await bench.call("patch_file", path="x.cir", search="R1 a 0 1k", replace="R1 a 0 3k")
    assert path.read_bytes() == b"t\r\nR1 a 0 3k\r\n* lone\nR2 b 0 1k\r\n"
    await bench.call("rewrite_file", path="x.cir", content="t\nR1 a 0 1\n")
    assert path.read_bytes() == b"t\r\nR1 a 0 1\r\n"


async def test_a_search_text_that_is_not_there_comes_with_the_nearest(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    failed = await bench.call("patch_file", path="rc.cir", search="R1 IN out 1K", replace="R1 in out 2k")
    assert failed.error_type == "search_not_found"
    assert failed.result["context"]["similar_line"] == 3
    assert "R1 in out 1k" in failed.result["context"]["similar_content"]
    assert failed.suggestions


async def test_a_replacement_that_is_there_already_is_told(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    failed = await bench.call("patch_file", path="rc.cir", search="R1 in out 9k", replace="R1 in out 1k")
    assert failed.error_type == "search_not_found"
    assert failed.result["context"]["already_there_lines"] == [3]


async def test_several_places_need_an_occurrence(bench: Bench) -> None:
    text = "t\nR1 a 0 1k\nR2 b 0 1k\n* 1k\n"
    path = bench.write("x.cir", text)
    failed = await bench.call("patch_file", path="x.cir", search="0 1k", replace="0 2k")
    assert (failed.error_type, failed.result["context"]["lines"]) == ("ambiguous_match", [2, 3])
    beyond = await bench.call("patch_file", path="x.cir", search="0 1k", replace="0 2k", occurrence=3)
    assert beyond.error_type == "occurrence_not_found"
    assert (
        await bench.call("patch_file", path="x.cir", search="0 1k", replace="0 2k", occurrence="2")
    ).success
    assert path.read_text() == "t\nR1 a 0 1k\nR2 b 0 2k\n* 1k\n"
    await bench.call("rewrite_file", path="x.cir", content=text)
    everywhere = await bench.call("patch_file", path="x.cir", search="0 1k", replace="0 3k", occurrence=0)
    assert everywhere.result["replaced"] == 2
    assert path.read_text() == "t\nR1 a 0 3k\nR2 b 0 3k\n* 1k\n"


async def test_a_file_that_is_not_there_cannot_be_patched(bench: Bench) -> None:
    bench.write("lowpass.cir", RC)
    failed = await bench.call("patch_file", path="lowpas.cir", search="a", replace="b")
    assert failed.error_type == "file_not_found"
    assert "lowpass.cir" in failed.content
    assert "rewrite_file" in failed.content


@pytest.mark.parametrize("tool", ["patch_file", "rewrite_file"])
async def test_a_file_changed_since_it_was_read_is_not_written(bench: Bench, tool: str) -> None:
    path = bench.write("rc.cir", RC)
    await bench.call("read_file", path="rc.cir", start_line=1, end_line=2)
    path.write_text(RC.replace("1n", "2n"))
    arguments = (
        {"content": "x\n"}
        if tool == "rewrite_file"
        else {"search": "R1 in out 1k", "replace": "R1 in out 2k"}
    )
    stale = await bench.call(tool, path="rc.cir", **arguments)
    assert stale.error_type == "file_modified_externally"
    assert "read_file" in stale.content
    assert path.read_text() == RC.replace("1n", "2n")

    await bench.call("read_file", path="./rc.cir")
    assert (await bench.call(tool, path="rc.cir", **arguments)).success


async def test_a_change_of_line_ends_alone_is_no_other_version(bench: Bench) -> None:
    path = bench.write("rc.cir", RC)
    await bench.call("read_file", path="rc.cir")
    path.write_bytes(RC.replace("\n", "\r\n").encode())
    assert (
        await bench.call("patch_file", path="rc.cir", search="R1 in out 1k", replace="R1 in out 2k")
    ).success


async def test_a_file_never_read_has_no_guard_and_own_writes_are_known(bench: Bench) -> None:
    path = bench.write("rc.cir", RC)
    assert (await bench.call("patch_file", path="rc.cir", search="out 1k", replace="out 2k")).success
    assert (await bench.call("patch_file", path="rc.cir", search="out 2k", replace="out 3k")).success
    path.write_text(RC)
    assert (
        await bench.call("patch_file", path="rc.cir", search="out 1k", replace="out 4k")
    ).error_type == "file_modified_externally"
    bench.context = bench.new_session()
    assert (await bench.call("patch_file", path="rc.cir", search="out 1k", replace="out 4k")).success


async def test_a_call_repeated_under_its_id_happens_once(bench: Bench) -> None:
    path = bench.write("x.cir", "t\n1k\n")
    call = ToolCall(
        call_id=new_ulid(),
        name="patch_file",
        arguments={"path": "x.cir", "search": "1k", "replace": "1k\n1k\n"},
    )
    first = await bench.repeat(call)
    assert first.success
    after = path.read_bytes()
    bench.context = bench.new_session()
    second = await bench.repeat(call)
    assert (second.content, str(second.summary)) == (first.content, str(first.summary))
    assert path.read_bytes() == after
    assert bench.context.seen_versions == first.seen_versions
    assert await bench.executor.settle(call, bench.context, reason="stopped") == second


async def test_a_call_that_never_ran_settles_as_such(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    for name, reason in (("patch_file", "stopped"), ("read_file", "interrupted"), ("nosuch", "stopped")):
        call = ToolCall(call_id=new_ulid(), name=name, arguments={"path": "rc.cir"})
        settled = await bench.executor.settle(call, bench.context, reason=reason)
        assert (settled.success, settled.error_type) == (False, reason)
    assert await bench.context.operations.list() == ()


async def test_a_stop_leaves_the_whole_effect_or_none(bench: Bench) -> None:
    """Cancelled after any number of the loop's turns: file and log agree, and the call can be settled."""
    for turns in range(60):
        name = f"f{turns}.cir"
        call = ToolCall(call_id=new_ulid(), name="rewrite_file", arguments={"path": name, "content": RC})
        task = asyncio.ensure_future(bench.repeat(call))
        for _ in range(turns):
            await asyncio.sleep(0 if turns % 2 else 0.0005)
        task.cancel()
        await asyncio.wait([task])
        path = bench.root / name
        settled = await bench.executor.settle(call, bench.context, reason="stopped")
        assert settled.success is path.exists()
        assert not path.exists() or path.read_text() == RC
        assert [item.name for item in bench.root.iterdir() if item.name.endswith(".tmp")] == []


async def test_a_tool_that_takes_too_long_is_ended(bench: Bench) -> None:
    from dataclasses import replace

    from application.tool_execution.executor import ToolExecutor
    from application.tool_execution.registry import TOOLS

    hasty = ToolExecutor([replace(tool, timeout_s=0.0) for tool in TOOLS])
    bench.write("rc.cir", RC)
    for name, arguments in (
        ("read_file", {"path": "rc.cir"}),
        ("search_project", {"query": "R1"}),
        ("rewrite_file", {"path": "new.cir", "content": RC}),
    ):
        call = ToolCall(call_id=new_ulid(), name=name, arguments=arguments)
        ended = await hasty.execute(call, bench.context)
        assert ended.error_type == "timeout"
    assert not (bench.root / "new.cir").exists()


@pytest.mark.expects_error_log("list_project_files failed")
async def test_a_tool_that_crashes_says_so_without_its_traceback(bench: Bench) -> None:
    from dataclasses import replace

    from application.tool_execution.executor import ToolExecutor
    from application.tool_execution.registry import TOOLS

    async def crash(*_args: object) -> object:
        raise ZeroDivisionError("boom")

    broken = ToolExecutor([replace(tool, run=crash) for tool in TOOLS])
    call = ToolCall(call_id=new_ulid(), name="list_project_files", arguments={})
    result = await broken.execute(call, bench.context)
    assert result.error_type == "internal"
    assert "Traceback" not in result.content
    assert "ZeroDivisionError" in result.content


async def test_modes_and_hard_links(bench: Bench, tmp_path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("R1 a 0 1k\n")
    os.link(outside, bench.root / "linked.txt")
    for tool, more in (
        ("patch_file", {"search": "1k", "replace": "2k"}),
        ("rewrite_file", {"content": "x"}),
        ("read_file", {}),
    ):
        assert (await bench.call(tool, path="linked.txt", **more)).error_type == "outside_project"
    assert outside.read_text() == "R1 a 0 1k\n"
    own = bench.write("own.txt", "R1 a 0 1k\n")
    own.chmod(0o640)
    os.link(own, bench.root / "twin.txt")  # both names in the project: a write parts them
    assert (await bench.call("patch_file", path="own.txt", search="1k", replace="2k")).success
    assert (bench.root / "twin.txt").read_text() == "R1 a 0 1k\n"
    assert own.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
async def test_the_mode_of_a_file_stays(bench: Bench, mode: int) -> None:
    path = bench.write("m.cir", RC)
    path.chmod(mode)
    assert (await bench.call("patch_file", path="m.cir", search="out 1k", replace="out 2k")).success
    assert path.stat().st_mode & 0o7777 == mode
    assert (await bench.call("rewrite_file", path="m.cir", content=RC)).success
    assert path.stat().st_mode & 0o7777 == mode


async def test_a_write_protected_file_is_left_alone(bench: Bench) -> None:
    path = bench.write("m.cir", RC)
    path.chmod(0o444)
    for tool, more in (
        ("patch_file", {"search": "out 1k", "replace": "x"}),
        ("rewrite_file", {"content": "x"}),
    ):
        refused = await bench.call(tool, path="m.cir", **more)
        assert refused.error_type == "read_only"
        assert "write-protected" in refused.content
    assert path.read_text() == RC
    assert path.stat().st_mode & 0o7777 == 0o444


async def test_a_link_inside_the_project_is_written_through(bench: Bench) -> None:
    real = bench.write("parts/real.cir", RC)
    (bench.root / "alias.cir").symlink_to(real)
    done = await bench.call("patch_file", path="alias.cir", search="out 1k", replace="out 2k")
    assert done.result["path"] == "parts/real.cir"
    assert (bench.root / "alias.cir").is_symlink()
    assert real.read_text() == RC.replace("out 1k", "out 2k")


async def test_long_diffs_stay_within_the_limit(bench: Bench) -> None:
    bench.write("long.cir", "".join(f"R{n} a 0 1k\n" for n in range(3000)))
    done = await bench.call(
        "rewrite_file", path="long.cir", content="".join(f"R{n} a 0 2k\n" for n in range(3000))
    )
    assert done.success
    assert (done.result["added"], done.result["removed"]) == (3000, 3000)
    assert len(done.content) <= RESULT_LIMIT


async def test_too_much_is_not_written(bench: Bench) -> None:
    refused = await bench.call("rewrite_file", path="x.cir", content="x" * 2_000_001)
    assert refused.error_type == "content_too_large"
    assert not (bench.root / "x.cir").exists()


async def test_a_text_no_tool_could_read_again_is_not_written(bench: Bench) -> None:
    refused = await bench.call("rewrite_file", path="new.cir", content="a\0b")
    assert refused.error_type == "bad_arguments"
    assert not (bench.root / "new.cir").exists()
    bench.write("rc.cir", "t\nR1 a b 1k\n")
    refused = await bench.call("patch_file", path="rc.cir", search="1k", replace="1\0k")
    assert refused.error_type == "bad_arguments"
    assert (bench.root / "rc.cir").read_text() == "t\nR1 a b 1k\n"


async def test_a_letter_with_an_accent_has_one_file_however_it_is_spelled(bench: Bench) -> None:
    stored, asked = "re\u0301sonateur.cir", "r\u00e9sonateur.cir"  # as macOS stores it, as models write it
    bench.write(stored, "t\nR1 a b 1k\n")
    assert (await bench.call("read_file", path=asked)).success
    assert (await bench.call("rewrite_file", path=asked, content="t\n")).success
    assert [item.name for item in bench.root.glob("*.cir")] == [stored]
    assert (bench.root / stored).read_text() == "t\n"
