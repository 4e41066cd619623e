"""Folders made, files moved, renamed and deleted by tools: one operation each, undone byte for byte."""

import os
from dataclasses import replace

import pytest

from application.ports.project import FOLDER
from application.tool_execution.other_names import own_name
from tests.integration.tools.conftest import Bench

RC = "RC\n.include models/d.lib\nR1 in out 1k\n.end\n"


def tree(bench: Bench) -> dict[str, object]:
    return {
        path.relative_to(bench.root).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o777)
        if path.is_file()
        else FOLDER
        for path in bench.root.rglob("*")
        if ".circuit_ai" not in path.parts
    }


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("move_file", {"source": "rc.cir", "destination": "old/rc1.cir"}),
        ("move_file", {"source": "models", "destination": "lib/models/"}),
        ("rename_file", {"path": "rc.cir", "new_name": "RC.cir"}),
        ("rename_file", {"path": "models", "new_name": "parts"}),
        ("delete_file", {"path": "rc.cir"}),
        ("delete_file", {"path": "models"}),
    ],
)
async def test_each_is_one_operation_and_comes_back(bench: Bench, tool: str, arguments: dict) -> None:
    bench.write("rc.cir", RC).chmod(0o755)
    bench.write("models/d.lib", ".model d d\r\n".encode("utf-8-sig")).chmod(0o600)
    bench.write("models/deep/d.lib", ".model d d\r\n")
    bench.write("models/empty/x.lib", "").unlink()
    before = tree(bench)
    result = await bench.call(tool, **arguments)
    assert result.success, result.content
    after = tree(bench)
    assert after != before
    (record,) = await bench.context.operations.list()
    assert (record.tool, record.state) == (own_name(tool), "done")
    undo = await bench.context.operations.undo(record.op_id)
    assert tree(bench) == before
    await bench.context.operations.undo(undo.op_id)
    assert tree(bench) == after


async def test_a_file_with_an_element_that_has_to_stay_as_it_is_stays_where_it_is(bench: Bench) -> None:
    bench.write("a.cir", "RC\nR1 in out 1k\n.end\n")
    bench.write("parts/b.inc", "Q1 c b e q\n")
    bench.write("notes.md", "R1 and Q1\n")
    said = ["keep R1 at 1k", "Q1 不要动"]
    bench.context = replace(bench.context, said=lambda: said)
    before = tree(bench)
    for tool, arguments, name in (
        ("move_file", {"path": "a.cir", "destination": "b.cir"}, "a.cir contains R1, which must stay"),
        ("delete_file", {"path": "a.cir"}, "a.cir contains R1, which must stay"),
        ("delete_file", {"path": "parts"}, "parts/b.inc contains Q1, which must stay"),
    ):
        refused = await bench.call(tool, **arguments)
        assert (refused.success, refused.error_type) == (False, "locked_element")
        assert name in refused.content
        assert tree(bench) == before
    assert (await bench.call("delete_file", path="notes.md")).success
    said.append("you may change R1 now")
    assert (await bench.call("delete_file", path="a.cir")).success


async def test_a_lock_is_of_the_main_circuit_and_what_it_includes_or_of_the_file_that_is_named(
    bench: Bench,
) -> None:
    bench.write("a.cir", "RC\nV1 in 0 AC 1\nR1 in out 1k\n.include b.inc\n.ac dec 5 1 1k\n.end\n")
    for name in ("b.inc", "bench.cir"):
        bench.write(name, f"{'' if name == 'b.inc' else '* T'}\nR1 out 0 1k\nR2 out 0 1k\n")
    said = ["Don't touch R1."]
    bench.context = replace(bench.context, said=lambda: said, main_circuit=lambda: "a.cir")

    async def change(name: str, element: str) -> str:
        assert (await bench.call("read_file", path=name)).success
        lines = (bench.root / name).read_text().splitlines()
        line = next(each for each in lines if each.startswith(element))
        edited = await bench.call("patch_file", path=name, search=line, replace=f"{line}5")
        return "" if edited.success else str(edited.summary)

    for name in ("a.cir", "b.inc"):
        assert (
            await change(name, "R1")
            == f"R1 ({name}) must stay as it is: the user said so. Nothing was changed."
        )
    assert [await change("bench.cir", "R1"), await change("b.inc", "R2")] == ["", ""]
    said += ["R2 in bench.cir must not be changed; 也不要动 V1。"]
    assert "R2 (bench.cir) must stay" in await change("bench.cir", "R2")
    assert [await change("b.inc", "R2"), await change("bench.cir", "R1")] == ["", ""]
    assert "V1 (a.cir) must stay" in await change("a.cir", "V1")


async def test_includes_that_break_are_told_and_left(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    bench.write("models/d.lib", ".include deep/e.lib\n")
    bench.write("models/deep/e.lib", ".model d d\n")
    moved = await bench.call("move_file", source="models", destination="parts")
    assert moved.result["broken_includes"] == [
        {"file_path": "rc.cir", "line": 2, "include": "models/d.lib"}
    ]  # those that moved together still find each other
    assert "rc.cir, line 2: models/d.lib" in moved.content
    assert (bench.root / "rc.cir").read_text() == RC
    moved = await bench.call("move_file", source="parts/d.lib", destination="d.lib")
    assert [item["file_path"] for item in moved.result["broken_includes"]] == ["d.lib"]


@pytest.mark.parametrize(
    ("tool", "arguments", "error_type"),
    [
        ("move_file", {"source": "rc.cir", "destination": "b.cir"}, "target_exists"),
        ("move_file", {"source": "rc.cir", "destination": "B.cir"}, "target_exists"),
        ("move_file", {"source": "rc.cir", "destination": "caf\u00e9.cir"}, "target_exists"),
        ("move_file", {"source": "rc.cir", "destination": "../x.cir"}, "outside_project"),
        ("move_file", {"source": "../outside.cir", "destination": "x.cir"}, "outside_project"),
        ("move_file", {"source": "rc.cir", "destination": "out/x.cir"}, "outside_project"),
        ("move_file", {"source": "rc.cir", "destination": ".circuit_ai/x.cir"}, "outside_project"),
        ("move_file", {"source": "rc.cir", "destination": "rc.cir/x.cir"}, "not_a_file"),
        ("move_file", {"source": "rc.cir", "destination": "run.sh"}, "suffix_not_allowed"),
        ("move_file", {"source": "tools", "destination": "t2"}, "suffix_not_allowed"),
        ("move_file", {"source": "good", "destination": "good/inside"}, "bad_path"),
        ("move_file", {"source": "link.cir", "destination": "x.cir"}, "not_a_file"),
        ("move_file", {"source": "rc.cir", "destination": "rc.cir"}, "no_change"),
        ("rename_file", {"path": "rc.cir", "new_name": ".."}, "outside_project"),
        ("rename_file", {"path": "rc.cir", "new_name": ".env"}, "protected_path"),
        ("delete_file", {"path": "."}, "bad_path"),
        ("delete_file", {"path": ".circuit_ai"}, "outside_project"),
        ("delete_file", {"path": "out"}, "outside_project"),
        ("delete_file", {"path": "git"}, "protected_path"),
        ("delete_file", {"path": "pipe"}, "not_a_file"),
        ("delete_file", {"path": "nothing.cir"}, "file_not_found"),
        ("delete_file", {"path": "linked"}, "not_a_file"),
        ("delete_file", {"path": "hard.cir"}, "outside_project"),
    ],
)
async def test_what_is_refused_changes_nothing(
    bench: Bench, tmp_path, tool: str, arguments: dict, error_type: str
) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "outside.cir").write_text("secret")
    (tmp_path / "away" / "kept.cir").write_text("kept")
    for name in ("rc.cir", "b.cir", "cafe\u0301.cir", "good/a.cir", "tools/run.sh", "git/.git/config"):
        bench.write(name, name)
    bench.write("linked/a.cir", "a")
    (bench.root / "linked" / "b.cir").symlink_to(tmp_path / "outside.cir")
    (bench.root / "link.cir").symlink_to("rc.cir")
    (bench.root / "out").symlink_to(tmp_path / "away")
    os.link(tmp_path / "outside.cir", bench.root / "hard.cir")
    os.mkfifo(bench.root / "pipe")
    before = sorted(bench.root.iterdir())
    result = await bench.call(tool, **arguments)
    assert (result.success, result.error_type) == (False, error_type), result.content
    assert sorted(bench.root.iterdir()) == before
    assert await bench.context.operations.list() == ()
    assert (tmp_path / "outside.cir").read_text() == "secret"
    assert (tmp_path / "away" / "kept.cir").read_text() == "kept"


async def test_a_file_changed_since_it_was_read_stays(bench: Bench) -> None:
    bench.write("rc.cir", RC)
    await bench.call("read_file", path="rc.cir")
    bench.write("rc.cir", "other\n")
    for tool, more in (
        ("delete_file", {"path": "rc.cir"}),
        ("rename_file", {"path": "rc.cir", "new_name": "x.cir"}),
    ):
        assert (await bench.call(tool, **more)).error_type == "file_modified_externally"
    assert (bench.root / "rc.cir").read_text() == "other\n"


async def test_previews_tell_what_would_be_lost_and_do_nothing(bench: Bench) -> None:
    bench.write("old/a.cir", "1\n2\n3\n")
    bench.write("old/b.cir", "1\n")
    tool = bench.executor.tool("delete_file")
    assert tool is not None
    assert tool.preview is not None
    effect = await tool.preview(tool.read_arguments({"path": "old"}), bench.context)
    assert (effect.effect, effect.files) == ("delete", 2)
    assert [(item.path, item.lines_lost, item.bytes_after) for item in effect.paths] == [
        ("old", 0, None),
        ("old/a.cir", 3, None),
        ("old/b.cir", 1, None),
    ]
    assert (bench.root / "old" / "a.cir").exists()
