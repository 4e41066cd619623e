"""A project and the user's folder as a version of November 2026 left them: nothing is lost, all is shown.

`former_project.tar.xz` is what its command line and its window wrote: a finished design, a chat that changed
and simulated a circuit, one that deleted a file, the undo of that; settings, a protected file, the layout.
"""

from __future__ import annotations

import asyncio
import os
import tarfile
from pathlib import Path

import pytest

import bootstrap
from tests.integration.cli.conftest import Cli

ARCHIVE = Path(__file__).with_name("former_project.tar.xz")
NAMES = {
    "Chat 2026-11-24 12:56": "workflow",
    "把 rc.cir 的 R1 改成 2k，然后仿真": "free_work",
    "delete broken.cir": "free_work",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    home = Path(os.environ["CIRCUIT_DESIGN_AI_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    for file in (tmp_path / "home").iterdir():
        content = file.read_bytes().replace(b"@PROJECT@", str(tmp_path / "project").encode())
        (home / file.name).write_bytes(content)
        (home / file.name).chmod(0o600)
    return tmp_path / "project"


def test_its_conversations_are_ours_and_read_as_they_were(cli: Cli, project: Path) -> None:
    listed = cli("sessions", "list", project, "--json").document["sessions"]
    assert {each["name"]: each["work_mode"] for each in listed} == NAMES
    assert {each["origin"] for each in listed} == {"here"}
    told = {each["name"]: cli("sessions", "show", project, each["id"]).stdout for each in listed}
    design, chat, deletion = (told[name] for name in NAMES)
    for words in (
        "目标",
        "已写入：sallen_key_lowpass_order4_1kHz.cir",
        "检查点 1：4/4 项目标达标",
        "-38.17 dB",
    ):
        assert words in design, words
    assert "“R1 in out 1.6k”已改为“R1 in out 2k”" in chat
    assert "broken.cir is deleted. That can be undone." in deletion


def test_its_changes_can_be_undone_and_its_rules_hold(cli: Cli, project: Path) -> None:
    done = cli("operations", project, "--json").document["operations"]
    assert [(each["tool"], each["state"]) for each in done if each["tool"] != "run_simulation"] == [
        ("rewrite_file", "done"),
        ("patch_file", "done"),
        ("delete_file", "undone"),
        ("undo", "done"),
    ]
    patched = next(each for each in done if each["tool"] == "patch_file")
    assert cli("undo", project, patched["id"]).exit_code == 0
    assert "R1 in out 1.6k" in (project / "rc.cir").read_text("utf-8")
    said = cli("chat", project, "delete rc.cir", "--json").events
    assert (project / "rc.cir").exists()
    card = next(event for event in said if event["type"] == "confirm")
    assert card["calls"][0]["reasons"] == ["protected"]
    simulated = cli("measure", next((project / ".circuit_ai/sim_results").iterdir()), "max(v(out))")
    assert (simulated.exit_code, simulated.stderr) == (0, "")


async def test_its_settings_and_layout_are_read(project: Path) -> None:
    app = bootstrap.build(environment=os.environ)
    try:
        assert await asyncio.to_thread(lambda: (app.program.language, app.program.warnings)) == ("zh", ())
        state = await asyncio.to_thread(app.program.window_state.load)
    finally:
        await app.close()
    assert state.last_project == project
    assert state.right_panel == "info"
    (memory,) = state.projects.values()
    assert memory.open_files == ("rc.cir", "sallen_key_lowpass_order4_1kHz.cir")
    assert memory.sizes["panes"] == (313, 681, 436)
    assert "half a thought" in str(memory)
