"""Calls a confused or hostile model makes: each a typed failure, nothing outside touched, nothing hanging."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from application.tool_execution.registry import TOOLS
from domain.llm.chat import RESULT_LIMIT, RESULT_TOKENS
from domain.llm.tokens import count_tokens
from domain.llm.tools.result import ToolCall, ToolResult
from shared.ulid import new_ulid
from tests.integration.tools.conftest import Bench

RC = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 20 1 1meg\n.end\n"
SECRET = "top secret 4711"


def digest(folder: Path) -> str:
    """Names, kinds, modes, times and contents of everything in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found.update(f"{path.relative_to(folder)}|{status.st_mode}|{status.st_mtime_ns}|".encode())
        if stat.S_ISREG(status.st_mode):
            found.update(path.read_bytes())
    return found.hexdigest()


@pytest.fixture
def outside(bench: Bench, tmp_path: Path) -> Iterator[Path]:
    """A folder beside the project; the test fails when anything in it changes."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.cir").write_text(f"{SECRET}\nR1 a 0 1k\n.op\n.end\n")
    (folder / "secret.json").write_text(json.dumps({"raw_paths": ["secret.raw"], "key": SECRET}))
    before = digest(folder)
    yield folder
    assert digest(folder) == before


@pytest.fixture
def trap(bench: Bench, outside: Path) -> Iterator[Bench]:
    """A project full of links, pipes, sockets and odd names; its own folder must stay as it is."""
    bench.write("rc.cir", RC)
    bench.write("sub/inner.cir", RC)
    bench.write("binary.txt", bytes(range(256)) * 4)
    bench.write("script.py", "print(1)\n")
    bench.write(".git/hooks/x.txt", "hook\n")
    root = bench.root
    (root / "link.cir").symlink_to(outside / "secret.cir")
    (root / "folder_link").symlink_to(outside)
    (root / "own_link").symlink_to(root / ".circuit_ai")
    (root / "loop.cir").symlink_to(root / "loop.cir")
    (root / "dangling.cir").symlink_to(outside / "not_there.cir")
    (root / "script.txt").symlink_to(root / "script.py")
    (root / "null.cir").symlink_to("/dev/null")
    (root / "zero.cir").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.cir")
    (root / "folder.cir").mkdir()
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)  # the name of a socket may have 107 bytes only
    listening.bind("socket.cir")
    os.chdir(here)
    own = root / ".circuit_ai"
    (own / "design_goals.json").write_text(SECRET)
    yield bench
    listening.close()
    assert (own / "design_goals.json").read_text() == SECRET
    assert (root / "script.py").read_text() == "print(1)\n"
    assert (root / ".git/hooks/x.txt").read_text() == "hook\n"
    assert not list(root.rglob("*.tmp"))


OUTSIDE = "outside_project"
PATHS = [
    ("..", OUTSIDE),
    ("../outside/secret.cir", OUTSIDE),
    ("../outside/not_there.cir", OUTSIDE),
    ("sub/../../outside/secret.cir", OUTSIDE),
    ("./../outside/secret.cir", OUTSIDE),
    ("/etc/passwd", OUTSIDE),
    ("/etc/no_such_file_at_all.txt", OUTSIDE),
    ("/proc/self/environ", OUTSIDE),
    ("/dev/stdin", OUTSIDE),
    ("//etc/passwd", OUTSIDE),
    ("~/secret.cir", OUTSIDE),
    ("~root/.bashrc", OUTSIDE),
    ("C:\\Windows\\win.ini", OUTSIDE),
    ("c:/windows/win.ini", OUTSIDE),
    ("\\\\server\\share\\x.cir", OUTSIDE),
    ("file:///etc/passwd", OUTSIDE),
    ("https://example.invalid/x.cir", OUTSIDE),
    ("..\\outside\\secret.cir", "outside_project"),
    ("sub\\inner.cir", "bad_path"),
    ("\u202ertl.cir", "bad_path"),
    ("zero\u200bwidth.cir", "bad_path"),
    ("link.cir", OUTSIDE),
    ("folder_link/secret.cir", OUTSIDE),
    ("folder_link/not_there.cir", OUTSIDE),
    ("dangling.cir", OUTSIDE),
    ("own_link/design_goals.json", OUTSIDE),
    (".circuit_ai/design_goals.json", OUTSIDE),
    (".CIRCUIT_AI/design_goals.json", OUTSIDE),
    ("./.circuit_ai//design_goals.json", OUTSIDE),
    (".circuit_ai/operations.sqlite", OUTSIDE),
    (".circuit_ai", OUTSIDE),
    ("null.cir", OUTSIDE),
    ("zero.cir", OUTSIDE),
    ("loop.cir", "not_a_file"),
    ("pipe.cir", "not_a_file"),
    ("socket.cir", "not_a_file"),
    ("folder.cir", "not_a_file"),
    (".", None),
    ("", "bad_path"),
    ("   ", "bad_path"),
    ("rc.cir\0", "bad_path"),
    ("rc.cir\0.txt", "bad_path"),
    ("rc\n.cir", "bad_path"),
    ("rc.cir\r", "bad_path"),
    ("rc.cir.", "bad_path"),
    ("rc.cir ", "bad_path"),
    (".circuit_ai./design_goals.json", "bad_path"),
    ("x" * 300 + ".cir", "bad_path"),
    ("sub/" * 2000 + "x.cir", "bad_path"),
    ("\ud800.cir", None),
    ("rc.cir/x.cir", None),
    ("\uff0e\uff0e/outside/secret.cir", "bad_path"),
    ("\u2024\u2024/outside/secret.cir", "bad_path"),
    ("\u2025/outside/secret.cir", "bad_path"),
    ("sub\u2215inner.cir", "bad_path"),
    ("..\uff0foutside\uff0fsecret.cir", "bad_path"),
    ("\uff0ecircuit_ai/design_goals.json", "bad_path"),
    ("/dev/fd/0", OUTSIDE),
    ("/proc/self/root/etc/passwd", OUTSIDE),
    ("sub/./../../outside/secret.cir", OUTSIDE),
    ("x" * 10_000_000, "bad_path"),
]
CALLS = {
    "read_file": lambda path: {"path": path},
    "rewrite_file": lambda path: {"path": path, "content": "gone\n"},
    "patch_file": lambda path: {"path": path, "search": "R1", "replace": "R2"},
    "analyze_file": lambda path: {"file_path": path},
    "run_simulation": lambda path: {"file_path": path},
    "inspect_data": lambda path: {"file_path": path},
    "find_references": lambda path: {"symbol_name": "R1", "definition_file": path},
    "analyze_convergence": lambda path: {"file_path": path, "auto_fix": True},
    "run_parametric_sweep": lambda path: {"file_path": path, "sweep_params": [{"name": "R1", "values": [1]}]},
    "optimize_parameters": lambda path: {
        "file_path": path,
        "parameters": [{"name": "R1", "min": 1, "max": 2}],
        "minimize": "max(v(out))",
    },
    "generate_chart": lambda path: {"data_source": path},
    "export_waveform_data": lambda path: {"data_source": path},
    "get_file_summary": lambda path: {"file_path": path},
    "get_dependencies": lambda path: {"file_path": path},
}
"""Tools by the argument that names a file which has to be there."""
MOVES = {
    "delete_file": lambda path: {"path": path},
    "move_file": lambda path: {"source": path, "destination": "sub/moved.cir"},
    "move_file to": lambda path: {"source": "rc.cir", "destination": path},
    "rename_file": lambda path: {"path": path, "new_name": "renamed.cir"},
    "rename_file to": lambda path: {"path": "rc.cir", "new_name": path},
    "generate_chart to": lambda path: {"path": path},
    "export_waveform_data to": lambda path: {"path": path},
}
"""Tools by the argument that names what they make or take away."""


def assert_typed(result: ToolResult) -> None:
    assert not result.success
    assert result.error_type
    assert result.error_type != "internal"
    assert result.error_message is not None
    assert len(result.content) <= RESULT_LIMIT
    assert "Traceback" not in result.content
    assert SECRET not in result.content
    json.dumps(result.result, allow_nan=False).encode()
    result.content.encode()
    str(result.error_message).encode()


@pytest.mark.parametrize("tool", CALLS)
async def test_hostile_paths(trap: Bench, tool: str) -> None:
    for path, kind in PATHS:
        result = await trap.call(tool, **CALLS[tool](path))
        assert_typed(result)
        if kind is not None:
            assert result.error_type == kind, (tool, path)


@pytest.mark.parametrize("tool", MOVES)
async def test_hostile_places_for_what_is_made_or_taken_away(trap: Bench, tool: str) -> None:
    """Everything but the project's own folders and links; those may be moved, never what they point to."""
    own = (
        digest(trap.root / ".circuit_ai/sim_results")
        if (trap.root / ".circuit_ai/sim_results").exists()
        else ""
    )
    for path, kind in PATHS:
        if kind not in (OUTSIDE, "bad_path"):
            continue
        result = await trap.call(tool.partition(" ")[0], **MOVES[tool](path))
        assert_typed(result)
        assert (trap.root / "rc.cir").read_text() == RC, (tool, path)
        assert (trap.root / "sub/inner.cir").read_text() == RC, (tool, path)
        assert (trap.root / "link.cir").is_symlink(), (tool, path)
    after = (
        digest(trap.root / ".circuit_ai/sim_results")
        if (trap.root / ".circuit_ai/sim_results").exists()
        else ""
    )
    assert own == after


@pytest.mark.parametrize("path", [path for path, _ in PATHS if path.strip() not in ("", ".", "folder.cir")])
async def test_hostile_folders(trap: Bench, path: str) -> None:
    assert_typed(await trap.call("list_project_files", path=path))


async def test_what_lies_outside_is_refused_alike_whether_it_exists_or_not(trap: Bench) -> None:
    for there, missing in (
        ("/etc/passwd", "/etc/no_such_file"),
        ("folder_link/secret.cir", "folder_link/none.cir"),
        ("link.cir", "dangling.cir"),
    ):
        first = await trap.call("read_file", path=there)
        second = await trap.call("read_file", path=missing)
        assert first.content.replace(there, "X") == second.content.replace(missing, "X")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("x.py", "suffix_not_allowed"),
        ("x", "suffix_not_allowed"),
        ("x.sh", "suffix_not_allowed"),
        ("x.cir.exe", "suffix_not_allowed"),
        ("Makefile", "suffix_not_allowed"),
        ("script.txt", "suffix_not_allowed"),  # a link to script.py
        (".git/hooks/x.txt", "protected_path"),
        (".vscode/tasks.json", "protected_path"),
        (".env.txt", "protected_path"),
        ("rc.cir/new.cir", "not_a_file"),
        ("pipe.cir/new.cir", "not_a_file"),
        ("sub/", "not_a_file"),
        ("binary.txt", "binary_file"),
    ],
)
async def test_what_is_not_written(trap: Bench, path: str, kind: str) -> None:
    before = digest(trap.root / "sub")
    result = await trap.call("rewrite_file", path=path, content="x\n")
    assert_typed(result)
    assert result.error_type == kind
    assert digest(trap.root / "sub") == before
    assert await trap.context.operations.list() == ()


ARGUMENTS = [
    ("read_file", {}),
    ("read_file", {"path": None}),
    ("read_file", {"path": 5}),
    ("read_file", {"path": ["rc.cir"]}),
    ("read_file", {"path": {"path": "rc.cir"}}),
    ("read_file", {"path": True}),
    ("read_file", {"path": "rc.cir", "lines": 5}),
    ("read_file", {"path": "rc.cir", "start_line": True}),
    ("read_file", {"path": "rc.cir", "start_line": 0}),
    ("read_file", {"path": "rc.cir", "start_line": -3}),
    ("read_file", {"path": "rc.cir", "start_line": 1.5}),
    ("read_file", {"path": "rc.cir", "start_line": "two"}),
    ("read_file", {"path": "rc.cir", "start_line": "1e3"}),
    ("read_file", {"path": "rc.cir", "start_line": 10**30}),
    ("read_file", {"path": "rc.cir", "start_line": "9" * 5000}),
    ("read_file", {"path": "rc.cir", "start_line": float("inf")}),
    ("read_file", {"path": "rc.cir", "max_tokens": float("nan")}),
    ("read_file", {"path": "rc.cir", "max_tokens": 0}),
    ("read_file", {"path": "rc.cir", "max_tokens": [1]}),
    ("read_file", {"path": "rc.cir", "query": {"text": "R1"}}),
    ("read_file", {"path": "rc.cir", "query": "x" * 100_000}),
    ("rewrite_file", {"path": "new.cir"}),
    ("rewrite_file", {"path": "new.cir", "content": ["a", "b"]}),
    ("rewrite_file", {"path": "new.cir", "content": None}),
    ("rewrite_file", {"path": "new.cir", "content": 5}),
    ("rewrite_file", {"path": "new.cir", "content": "bad \ud83d half"}),
    ("rewrite_file", {"path": "new.cir", "content": "x", "mode": 0o777}),
    ("patch_file", {"path": "rc.cir", "search": "R1"}),
    ("patch_file", {"path": "rc.cir", "search": "", "replace": "x"}),
    ("patch_file", {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 1k"}),
    ("patch_file", {"path": "rc.cir", "search": "R1", "replace": "R2", "occurrence": -1}),
    ("patch_file", {"path": "rc.cir", "search": "R1", "replace": "R2", "occurrence": False}),
    ("patch_file", {"path": "rc.cir", "search": "R1", "replace": "R2", "fuzzy": "maybe"}),
    ("patch_file", {"path": "rc.cir", "search": "R1", "replace": "R2", "fuzzy": 1}),
    ("patch_file", {"path": "rc.cir", "search": "\ud800", "replace": "x"}),
    ("list_project_files", {"pattern": "*" * 10_000}),
    ("list_project_files", {"path": 7}),
    ("list_project_files", {"include_preview": "perhaps"}),
    ("run_simulation", {"file_path": "rc.cir", "analysis_type": "hack"}),
    ("run_simulation", {"file_path": "rc.cir", "analysis_type": ["ac"]}),
    ("run_simulation", {"file_path": "rc.cir", "timeout_s": -1}),
    ("run_simulation", {"file_path": "rc.cir", "timeout_s": 1e12}),
    ("run_simulation", {"file_path": "rc.cir", "timeout_s": True}),
    ("run_simulation", {"file_path": "rc.cir", "parameters": ["R1=2k"]}),
    ("run_simulation", {"file_path": "rc.cir", "parameters": {"R1": {"value": "2k"}}}),
    ("run_simulation", {"file_path": "rc.cir", "parameters": {"R1": "2k\n.include /etc/passwd"}}),
    ("run_simulation", {"file_path": "rc.cir", "analysis": "op\n.include /etc/passwd"}),
    ("run_simulation", {"file_path": "rc.cir", "analysis": "shell rm -rf /"}),
    ("inspect_data", {"expressions": {"a": 1}}),
    ("inspect_data", {"expressions": ["max(v(out))"] * 1000}),
    ("inspect_data", {"range": ["a", "b"]}),
    ("inspect_data", {"range": ["1", "2", "3"]}),
    ("inspect_data", {"options": {"points": 10**9}}),
    ("inspect_data", {"options": {"shell": "rm"}}),
    ("find_references", {"symbol_name": ""}),
    ("find_references", {"symbol_name": "x" * 10_000}),
    ("find_references", {"symbol_name": "(((((", "definition_file": ".."}),
    ("search_project", {"query": ""}),
    ("search_project", {"query": "  \n "}),
    ("search_project", {"query": "x" * 10_000}),
    ("search_project", {"query": "R1", "scope": "everything"}),
    ("search_project", {"query": "R1", "max_results": 10**6}),
    ("search_project", {"query": "R1", "token_budget": -5}),
]


@pytest.mark.parametrize(("tool", "arguments"), ARGUMENTS)
async def test_hostile_arguments(trap: Bench, tool: str, arguments: dict[str, object]) -> None:
    before = (trap.root / "rc.cir").read_bytes()
    result = await trap.repeat(ToolCall(call_id=new_ulid(), name=tool, arguments=arguments))
    assert_typed(result)
    assert (trap.root / "rc.cir").read_bytes() == before
    assert not (trap.root / "new.cir").exists()


async def test_deeply_nested_arguments(trap: Bench) -> None:
    bomb: object = "x"
    for _ in range(100_000):
        bomb = [bomb]
    for tool, name in (
        ("read_file", "path"),
        ("inspect_data", "expressions"),
        ("run_simulation", "parameters"),
        ("inspect_data", "options"),
        ("read_file", "unknown"),
    ):
        assert_typed(await trap.call(tool, **{name: bomb}))
    text = "[" * 200_000
    assert_typed(await trap.call("inspect_data", file_path="rc.cir", expressions=text))
    while isinstance(bomb, list):  # taken apart by hand: its own destructor would go too deep
        bomb = bomb.pop()


@pytest.mark.parametrize(
    "name", ["chmod", "", "read_file ", "READ_FILE", "x" * 10_000, "read\0file", "\ud800", "../read_file"]
)
async def test_unknown_tools(trap: Bench, name: str) -> None:
    result = await trap.repeat(ToolCall(call_id=new_ulid(), name=name, arguments={}))
    assert_typed(result)
    assert result.error_type == "unknown_tool"


async def test_what_takes_a_change_back_is_a_change(trap: Bench) -> None:
    result = await trap.repeat(ToolCall(call_id=new_ulid(), name="undo_last_change", arguments={}))
    assert result.error_type == "unknown_tool"
    assert "former text" in result.content


async def test_unreadable_arguments_come_back_with_the_reason(trap: Bench) -> None:
    call = ToolCall(call_id=new_ulid(), name="read_file", arguments={}, problem="a brace is missing")
    result = await trap.repeat(call)
    assert result.error_type == "bad_arguments"
    assert "a brace is missing" in result.content


async def test_a_link_put_in_place_between_reading_and_writing(trap: Bench, outside: Path) -> None:
    """The name the session read as a file leads outside at the next call."""
    for tool, arguments in (
        ("patch_file", {"search": "R1 in out 1k", "replace": "R1 in out 2k"}),
        ("rewrite_file", {"content": "x\n"}),
    ):
        target = trap.root / "swap.cir"
        target.unlink(missing_ok=True)
        trap.write("swap.cir", RC)
        assert (await trap.call("read_file", path="swap.cir")).success
        target.unlink()
        target.symlink_to(outside / "secret.cir")
        result = await trap.call(tool, path="swap.cir", **arguments)
        assert_typed(result)
        assert result.error_type == OUTSIDE


async def test_a_folder_exchanged_for_a_link_while_the_call_runs(
    trap: Bench, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path was found to be inside; before it is opened its folder becomes a link to the outside."""
    from infrastructure.persistence.project_view import FolderView

    for tool in ("read_file", "rewrite_file", "analyze_file"):
        folder = trap.root / "swapped"
        if folder.is_symlink():
            folder.unlink()
        trap.write("swapped/secret.cir", RC)
        method = "locate_for_writing" if tool == "rewrite_file" else "locate"
        original = getattr(FolderView, method)

        def exchanging(self: FolderView, text: str, *, original=original, folder=folder) -> Path:
            found = original(self, text)
            (folder / "secret.cir").unlink()
            folder.rmdir()
            folder.symlink_to(outside)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(FolderView, method, exchanging)
            assert_typed(await trap.call(tool, **CALLS[tool]("swapped/secret.cir")))


def add_odd_names(root: Path) -> None:
    (root / "new\nline.cir").write_text(RC)
    undecodable = root / os.fsdecode(b"caf\xe9")
    undecodable.mkdir()
    (undecodable / "x.cir").write_text(RC)
    deep = root
    for _ in range(60):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "bottom.cir").write_text(RC)


async def test_odd_names_in_the_project_are_listed_and_searched_without_harm(trap: Bench) -> None:
    add_odd_names(trap.root)
    listing = await trap.call("list_project_files", pattern="*.cir")  # the folders alone would fill it
    names = [entry["path"] for entry in listing.result["entries"]]
    assert "new\\x0aline.cir" in names
    assert {entry["path"]: entry["kind"] for entry in listing.result["entries"]}["pipe.cir"] == "special"
    json.dumps(listing.result).encode()
    found = await trap.call("search_project", query=SECRET)
    assert found.result["exact_matches"] == []
    assert (await trap.call("find_references", symbol_name="R1")).success
    assert (await trap.call("search_project", query="R1", max_results=100)).success


async def test_a_file_grown_to_gigabytes_does_not_fill_the_memory(trap: Bench) -> None:
    with (trap.root / "sparse.txt").open("wb") as file:
        file.truncate(3 * 2**30)
    for tool in ("read_file", "analyze_file", "patch_file"):
        result = await trap.call(tool, **CALLS[tool]("sparse.txt"))
        assert_typed(result)
        assert result.error_type in ("binary_file", "file_too_large")


HOSTILE_DECKS = {
    "absolute": "t\n.include /etc/passwd\n.include /proc/self/environ\nR1 a 0 1k\n.op\n.end\n",
    "parent": "t\n.include ../outside/secret.cir\n.lib ../outside/secret.cir tt\nR1 a 0 1k\n.op\n.end\n",
    "linked": "t\n.include link.cir\n.include folder_link/secret.cir\nR1 a 0 1k\n.op\n.end\n",
    "own": "t\n.include .circuit_ai/design_goals.json\nR1 a 0 1k\n.op\n.end\n",
    "fifo": "t\n.include pipe.cir\n.include zero.cir\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n",
    "itself": "t\n.include itself.cir\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n",
    "chain": "t\n.include chain0.inc\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n",
    "commands": "t\n*# shell touch escaped.txt\nV1 a 0 1\nR1 a 0 1k\n.op\n"
    ".control\nshell touch escaped.txt\ncat ../outside/secret.cir\n.endc\n.end\n",
}
CIRCUIT_TOOLS = (
    "run_simulation",
    "analyze_file",
    "get_dependencies",
    "get_file_summary",
    "analyze_convergence",
)


@pytest.mark.parametrize("name", HOSTILE_DECKS)
async def test_hostile_decks_reach_nothing_and_end(trap: Bench, name: str) -> None:
    """Includes of what is outside, of pipes, of themselves, in a chain of hundreds; commands in the deck."""
    trap.write(f"{name}.cir", HOSTILE_DECKS[name])
    for number in range(200 if name == "chain" else 0):
        trap.write(f"chain{number}.inc", f".include chain{number + 1}.inc\n* {number}\n")
    for tool in CIRCUIT_TOOLS:
        result = await trap.call(tool, file_path=f"{name}.cir")
        assert result.error_type != "internal", (tool, result.content)
        told = result.content + json.dumps(result.result, ensure_ascii=False)
        assert SECRET not in told
        assert "root:" not in told
        assert not list(trap.root.rglob("escaped.txt"))


async def test_megabytes_in_any_argument(trap: Bench) -> None:
    """Every text argument of every tool: refused or used, in a result of usual size."""
    huge = "R1 in out 1k\n" * 400_000
    for tool in TOOLS:
        arguments = {
            name: huge for name, field in tool.arguments.model_fields.items() if field.annotation is str
        }
        if not arguments:
            continue
        result = await trap.repeat(ToolCall(call_id=new_ulid(), name=tool.name, arguments=arguments))
        assert_typed(result)
    for arguments in (
        {"path": "rc.cir", "search": huge, "replace": ""},
        {"path": "rc.cir", "search": "R1", "replace": huge},
    ):
        assert_typed(await trap.call("patch_file", **arguments))
    assert (trap.root / "rc.cir").read_text() == RC


async def test_every_tool_stays_within_its_room_on_a_large_project(bench: Bench) -> None:
    """Results are verdicts and figures: with thousands of files, signals, errors and Chinese texts too."""
    lines = "".join(f"R{n} n{n} n{n + 1} 1k\n.param 参数{n}={n}\n" for n in range(300))
    measures = "".join(f".meas ac m{n} find vdb(n{n}) at=10\n" for n in range(100))
    head = "大电路 滤波器\nV1 n0 0 DC 1 AC 1\n"
    bench.write("big.cir", f"{head}{lines}Rl n300 0 1k\n.op\n.ac dec 5 1 1k\n{measures}.end\n")
    bench.write("notes.md", "滤波器的设计说明，截止频率与增益。\n" * 3000)
    for number in range(150):
        bench.write(f"parts/部件{number:03}.inc", f"* 滤波器 {number}\nR{number} a b 1k\n")
    ran = await bench.call("run_simulation", file_path="big.cir")
    assert ran.success, ran.content
    calls: dict[str, dict[str, object]] = {
        "list_project_files": {"include_preview": True},
        "read_file": {"path": "notes.md", "max_tokens": 100_000},
        "rewrite_file": {"path": "new.md", "content": "说明\n" * 5000},
        "patch_file": {"path": "notes.md", "search": "增益", "replace": "相位", "occurrence": 0},
        "move_file": {"source": "parts", "destination": "moved"},
        "rename_file": {"path": "moved", "new_name": "parts2"},
        "delete_file": {"path": "parts2"},
        "run_simulation": {"file_path": "big.cir"},
        "run_parametric_sweep": {
            "file_path": "big.cir", "sweep_params": [{"name": "Rl", "values": ["1k", "2k"]}],
            "analysis": "op", "measure": {f"m{n}": f"v(n{n})" for n in range(60)},
        },
        "analyze_convergence": {"file_path": "big.cir"},
        "inspect_data": {"file_path": "big.cir"},
        "generate_chart": {"data_source": "big.cir", "signals": ["v(n3)", "v(n9)"], "chart_types": ["bode"]},
        "export_waveform_data": {"data_source": "big.cir", "format": "csv"},
        "analyze_file": {"file_path": "big.cir"},
        "get_file_summary": {"file_path": "big.cir"},
        "get_dependencies": {"file_path": "big.cir"},
        "find_references": {"symbol_name": "n0"},
        "search_project": {"query": "滤波器", "max_results": 100, "token_budget": 100_000},
        "search_exact": {"query": "滤波器", "max_results": 100},
    }  # fmt: skip
    for name, arguments in calls.items():
        result = await bench.call(name, **arguments)
        assert result.error_type != "internal", (name, result.content)
        assert count_tokens(result.content) <= RESULT_TOKENS, name
        structured = json.dumps(result.result, ensure_ascii=False)
        assert count_tokens(structured) <= RESULT_TOKENS, name
        assert len(re.findall(r"-?\d+\.\d+e?[-+\d]*", structured)) < 400, name
