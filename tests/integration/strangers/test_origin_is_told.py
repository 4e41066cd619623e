"""Data of another installation are told as such, whoever reads them: command line, tools, the list."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from infrastructure.exports.target import new_file
from tests.integration.cli.conftest import cli  # noqa: F401 - a fixture
from tests.integration.strangers.test_results_from_elsewhere import DECK, as_user, simulate

WORDS = "computed elsewhere, not by this installation"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".circuit_ai").mkdir(parents=True)
    (tmp_path / "p" / "a.cir").write_text(DECK)
    return tmp_path / "p"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CIRCUIT_DESIGN_AI_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def both(project: Path, home: Path, tmp_path: Path) -> tuple[Path, Path]:
    """(a stranger's result, the user's own) of one project."""
    theirs = as_user(tmp_path / "stranger", simulate(project / "a.cir")).result_path
    return theirs, as_user(home, simulate(project / "a.cir")).result_path


def test_the_command_line_says_it(both, cli, tmp_path, home):  # noqa: F811 - a fixture
    for source, origin in zip(both, ("elsewhere", "here"), strict=True):
        out = tmp_path / f"{origin}.csv"
        plain = cli("measure", source, "v(out)")
        assert plain.exit_code == 0
        assert (WORDS in plain.stdout + plain.stderr) is (origin == "elsewhere")
        assert json.loads(cli("measure", source, "v(out)", "--json").stdout)["origin"] == origin
        assert json.loads(cli("export", source, "-o", out, "--json").stdout)["origin"] == origin
    raw = both[0].with_name("lone.raw")
    shutil.copy(next(both[0].parent.glob("*.raw")), raw)  # also by its data, whatever their name
    assert json.loads(cli("measure", raw, "v(out)", "--json").stdout)["origin"] == "elsewhere"
    shutil.move(raw, tmp_path / "lone.raw")
    assert json.loads(cli("measure", tmp_path / "lone.raw", "v(out)", "--json").stdout)["origin"] == "unknown"


def test_the_list_of_what_is_removed_says_it(both, cli, project, home):  # noqa: F811 - a fixture
    listed = json.loads(cli("clean", project, "--keep", "5", "--dry-run", "--json").stdout)["kept"]
    assert {item["id"]: item["origin"] for item in listed} == {
        both[0].parent.name: "elsewhere",
        both[1].parent.name: "here",
    }


@pytest.mark.parametrize("tool", ["inspect_data", "export_waveform_data"])
def test_tools_say_it(both, cli, project, home, tool):  # noqa: F811 - a fixture
    key = "file_path" if tool == "inspect_data" else "data_source"
    for source, origin in zip(both, ("elsewhere", "here"), strict=True):
        arguments = {key: str(source.relative_to(project))}
        found = cli("tool", tool, json.dumps(arguments), "--project", project, "--yes")
        answer = json.loads(found.stdout)
        assert WORDS in found.stdout if origin == "elsewhere" else WORDS not in found.stdout
        assert f'"origin": "{origin}"' in json.dumps(answer)


def test_a_pipe_in_the_place_of_a_circuit_or_a_log_holds_nothing_up(tmp_path, home):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / ".circuit_ai" / "ngspice.log").symlink_to(tmp_path / "secret")

    async def read(app):
        waves = app.simulation.waveforms
        log = tmp_path / ".circuit_ai" / "ngspice.log"
        return await waves.digest_of(tmp_path / "pipe"), await waves.log_tail(log, 100)

    assert as_user(home, read) == (None, "")


def test_an_export_lands_in_the_folder_that_was_meant(tmp_path):
    """Its folder is exchanged for a link while it is written."""
    (tmp_path / "out").mkdir()
    (tmp_path / "outside").mkdir()
    with new_file(tmp_path / "out" / "a.csv", overwrite=False) as file:
        (tmp_path / "out").rename(tmp_path / "meant")
        (tmp_path / "out").symlink_to(tmp_path / "outside")
        file.write(b"x")
    assert [path.name for path in (tmp_path / "meant").iterdir()] == ["a.csv"]
    assert not list((tmp_path / "outside").iterdir())
