"""Times of change beyond every calendar, and dates nobody lives to see: everything goes on working."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from presentation.panels.info import panel as info_panel
from presentation.panels.project.results import _when
from shared.local_time import clock_time, local_time
from shared.paths import result_name
from tests.integration.cli.conftest import cli  # noqa: F401 - a fixture
from tests.integration.strangers.test_results_from_elsewhere import DECK, as_user, simulate

FAR = (-(2**55), -62135596801, -1, 0, 2**33, 9223372037, 16725225600, 253402300800, 2**40, 2**55)
MOMENTS = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00", "x", "", "1e9")


@pytest.fixture(params=["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    import time

    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def aged(top: Path, rng: random.Random) -> None:
    """Give everything below a folder times that a disk image or an archive may bring."""
    for folder, _, names in os.walk(top, topdown=False):
        for path in (Path(folder, name) for name in (*names, ".")):
            second = rng.choice(FAR)
            os.utime(path, ns=(second * 10**9, second * 10**9 + rng.randrange(10**9)))


def test_moments_that_are_no_dates(zone):
    for moment in (*FAR, *MOMENTS, float("nan"), float("inf"), -1e300):
        found = local_time(moment)
        assert found is None or 1 <= found.year <= 9999
    for text in MOMENTS:
        clock_time(text)
        _when(text)


@pytest.mark.parametrize("second", FAR)
def test_the_info_tab_has_the_facts_of_any_file(tmp_path, second):
    path = tmp_path / "a.cir"
    path.write_text(DECK)
    os.utime(path, ns=(second * 10**9, second * 10**9))
    facts = info_panel._file_facts(path)
    assert facts is not None
    assert facts.size == len(DECK)


def test_the_name_of_a_result_of_the_last_ulids():
    assert result_name("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").startswith("99991231T235959")
    assert result_name("01J0000000000000000000000A")[:4] == "2024"


@pytest.mark.parametrize("seed", range(3))
def test_a_whole_project_of_such_files(cli, tmp_path, monkeypatch, seed):  # noqa: F811 - a fixture
    home, project = tmp_path / "home", tmp_path / "p"
    monkeypatch.setenv("CIRCUIT_DESIGN_AI_HOME", str(home))
    (project / ".circuit_ai").mkdir(parents=True)
    (project / "a.cir").write_text(DECK)
    result = as_user(home, simulate(project / "a.cir")).result_path
    content = json.loads(result.read_text())
    content["created"] = MOMENTS[seed]
    other = result.parent.with_name("99991231T235959999Z-ZZZZZZZZ")
    other.mkdir()
    (other / "result.json").write_text(json.dumps(content))
    (project / ".circuit_ai" / "conversations").mkdir(exist_ok=True)
    (project / ".circuit_ai" / "conversations" / "7ZZZZZZZZZZZZZZZZZZZZZZZZZ.jsonl").write_text(
        '{"event": "session", "created": "9999-12-31T23:59:59-14:00"}\n'
    )
    aged(project, random.Random(seed))
    for command in (
        ("sessions", "list", project),
        ("operations", "list", project),
        ("traces", "list", project),
        ("clean", project, "--keep", "1", "--older-than", "3", "--dry-run"),
        ("measure", result, "v(out)"),
        ("check", project / "a.cir"),
        ("tool", "list_files", "{}", "--project", project),
        ("tool", "search_project", '{"query": "out"}', "--project", project, "--yes"),
    ):
        run = cli(*command)
        assert "Traceback" not in run.stdout + run.stderr
        assert "This is a bug" not in run.stdout + run.stderr, command
        assert run.exit_code in (0, 1, 2), (command, run.stderr)

    async def looked_at(app):
        return await app.project.browse.open(project), await app.project.browse.results(project)

    as_user(home, looked_at)
