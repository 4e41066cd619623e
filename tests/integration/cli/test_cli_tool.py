"""`tool`: always exactly one JSON object, and what the exit code says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import ROOT, Cli

RC = "RC low-pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 159.155n\n.ac dec 20 1 1meg\n.end\n"
KEYS = {"success", "content", "error_type", "error_message", "suggestions", "result"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "circuits"
    made.mkdir()
    (made / "rc.cir").write_text(RC)
    return made


def call(cli: Cli, folder: Path, name: str, arguments: object, **more: str):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return cli("tool", name, text, "--project", folder, **more)


def test_reading_works_in_any_folder_and_leaves_nothing_behind(cli: Cli, folder: Path) -> None:
    read = call(cli, folder, "read_file", {"path": "rc.cir"})
    assert read.exit_code == 0
    assert set(read.document) == KEYS
    assert read.document["success"] is True
    assert read.document["error_type"] is None
    assert read.document["result"]["content"] == RC.rstrip()
    assert call(cli, folder, "list_project_files", "{}").document["result"]["entries"][0]["path"] == "rc.cir"
    assert call(cli, folder, "search_project", {"query": "R1"}).exit_code == 0
    assert [item.name for item in folder.iterdir()] == ["rc.cir"]


@pytest.mark.parametrize("is_project", [False, True])
def test_hidden_files_stay_unread(cli: Cli, folder: Path, is_project: bool) -> None:
    if is_project:
        (folder / ".circuit_ai").mkdir()
    (folder / ".netrc").write_text("password")
    refused = call(cli, folder, "read_file", {"path": ".netrc"})
    assert (refused.exit_code, refused.document["error_type"]) == (1, "protected_path")
    assert "password" not in refused.stdout
    (folder / ".spiceinit").write_text("set ngbehavior=ps\n")
    assert call(cli, folder, "read_file", {"path": ".spiceinit"}).exit_code == 0


def test_options_may_stand_between_the_arguments(cli: Cli, folder: Path) -> None:
    run = cli("tool", "read_file", "--project", folder, '{"path": "rc.cir"}')
    assert run.exit_code == 0, run.stdout
    assert cli("tool", "--project", folder, "read_file", "--json", '{"path": "rc.cir"}').exit_code == 0
    assert cli("tool", "read_file", "--project", folder, "{}", "more").exit_code == 2


def test_a_project_no_folder_can_be_named_like(cli: Cli) -> None:
    for name in ("read_file", "rewrite_file"):
        run = cli("tool", name, '{"path": "a.cir", "content": ""}', "--project", "x" * 5000)
        assert run.document["error_type"] in ("no_project", "bad_arguments")
        assert run.exit_code in (1, 2)


def test_changing_makes_a_project_and_simulates_in_it(cli: Cli, folder: Path) -> None:
    change = {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 2k"}
    assert call(cli, folder, "patch_file", change).exit_code == 0
    assert "R1 in out 2k" in (folder / "rc.cir").read_text()
    assert (folder / ".circuit_ai" / "operations.sqlite").is_file()
    run = call(cli, folder, "run_simulation", "{}")
    assert run.exit_code == 0, run.stdout
    look = call(cli, folder, "inspect_data", {"expressions": ["highcut(v(out))"]})
    assert look.document["result"]["values"]["highcut(v(out))"]["value"] == pytest.approx(500, rel=0.01)


def test_a_new_project_begins_with_its_first_file(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "project"
    assert call(cli, folder, "patch_file", {"path": "a.cir", "search": "a", "replace": "b"}).exit_code == 2
    assert not folder.exists()
    assert call(cli, folder, "rewrite_file", {"path": "rc.cir", "content": RC}).exit_code == 0
    assert (folder / "rc.cir").read_text() == RC


@pytest.mark.parametrize(
    ("name", "arguments", "code", "error_type"),
    [
        ("no_such_tool", "{}", 1, "unknown_tool"),
        ("read_file", "{}", 1, "bad_arguments"),
        ("read_file", "not json", 1, "bad_arguments"),
        ("read_file", "[]", 1, "bad_arguments"),
        ("read_file", '{"path": "rc.cir", "max_tokens": NaN}', 1, "bad_arguments"),
        ("read_file", '{"path": "rc.cir", "start_line": ' + "9" * 5000 + "}", 1, "bad_arguments"),
        ("read_file", '{"path": ' + "[" * 50_000, 1, "bad_arguments"),
        ("read_file", '{"path": "../x"}', 1, "outside_project"),
        ("read_file", '{"path": "\\ud800"}', 1, "bad_path"),
        ("rewrite_file", '{"path": "x.cir", "content": "\\ud800"}', 1, "encoding"),
        ("run_simulation", '{"file_path": "none.cir"}', 1, "file_not_found"),
    ],
)
def test_failures_are_one_object_too(
    cli: Cli, folder: Path, name: str, arguments: str, code: int, error_type: str
) -> None:
    run = call(cli, folder, name, arguments)
    assert run.exit_code == code
    assert set(run.document) == KEYS
    assert (run.document["success"], run.document["error_type"]) == (False, error_type)
    assert run.document["error_message"]


def test_a_bad_call_makes_no_project(cli: Cli, folder: Path) -> None:
    call(cli, folder, "rewrite_file", {"path": "x.cir"})
    call(cli, folder, "no_such_tool", "{}")
    assert [item.name for item in folder.iterdir()] == ["rc.cir"]


def test_the_command_itself_used_wrongly_is_exit_2(cli: Cli, folder: Path, tmp_path: Path) -> None:
    missing = call(cli, tmp_path / "none", "read_file", {"path": "rc.cir"})
    assert (missing.exit_code, missing.document["error_type"]) == (2, "no_project")
    not_a_folder = call(cli, folder / "rc.cir", "read_file", {"path": "rc.cir"})
    assert (not_a_folder.exit_code, not_a_folder.document["error_type"]) == (2, "no_project")


def test_without_ngspice_the_exit_code_is_3(cli: Cli, folder: Path, tmp_path: Path) -> None:
    run = call(cli, folder, "run_simulation", "{}", PATH=str(tmp_path))
    assert run.exit_code == 3
    assert run.document["error_type"] == "simulator_missing"


def test_arguments_come_from_standard_input(folder: Path) -> None:
    content = "放大器\n" * 50_000
    outcome = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "tool", "rewrite_file", "-", "--project", str(folder)],
        input=json.dumps({"path": "amp.cir", "content": content}, ensure_ascii=False),
        env={**os.environ, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout)["success"] is True
    assert (folder / "amp.cir").read_text("utf-8") == content


def test_texts_follow_the_language_but_contents_do_not(cli: Cli, folder: Path) -> None:
    chinese = call(cli, folder, "read_file", {"path": "../x"}, LANG="zh_CN.UTF-8").document
    assert "项目" in chinese["error_message"]
    assert chinese["content"].startswith("Error (outside_project): ../x is outside")


def test_tools_and_schemas_are_shown(cli: Cli) -> None:
    names = [tool["name"] for tool in cli("tool", "list").document["tools"]]
    assert "patch_file" in names
    schema = cli("tool", "patch_file", "--schema").document
    assert schema["function"]["parameters"]["required"] == ["path", "search", "replace"]
    assert cli("tool", "patch", "--schema").exit_code == 1


def test_it_loads_neither_langchain_nor_the_graph(folder: Path) -> None:
    argv = ["main.py", "tool", "read_file", '{"path": "rc.cir"}', "--project", str(folder)]
    probe = f"""
import runpy, sys
sys.argv = {argv!r}
try:
    runpy.run_path("main.py", run_name="__main__")
except SystemExit:
    pass
loaded = {{name.partition(".")[0] for name in sys.modules}}
sys.exit(", ".join(sorted(loaded & {{"PyQt6", "qasync", "langgraph", "langchain_core"}})) or 0)
"""
    outcome = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
