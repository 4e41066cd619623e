"""Results: where they are, what is written, what is found again."""

import hashlib
import json
import math
import os
from pathlib import Path

import pytest

from domain.simulation.result import Quantity, SimulationIssue, SimulationResult, SimulationRun
from infrastructure.persistence.results import ResultFolders
from shared.errors import UserInputError
from shared.message import msg


@pytest.fixture
def store(tmp_path):
    return ResultFolders(user_home=tmp_path / "home")


@pytest.fixture
def circuit(tmp_path):
    (tmp_path / "amp/.circuit_ai").mkdir(parents=True)
    (tmp_path / "amp/main.cir").write_text("title\n")
    return tmp_path / "amp/main.cir"


def result_in(folder, result_id, circuit, *, raw=("run.raw",), status="ok", **changes):
    for name in raw:
        (folder / name).write_bytes(b"Title: x\n")
    run = SimulationRun(
        status=status,
        raw_paths=tuple(folder / name for name in raw),
        issues=(),
        log_path=folder / "ngspice.log",
        duration_s=0.25,
        simulator_version="ngspice-39",
        confinement=("bubblewrap", "rlimits"),
    )
    return SimulationResult(
        result_id=result_id,
        netlist_path=circuit,
        netlist_sha256="ab" * 32,
        run=run,
        result_path=folder / "result.json",
        created="2026-01-02T03:04:05.678+00:00",
        **changes,
    )


def test_a_projects_results_are_in_the_project(store, circuit, tmp_path):
    result_id, folder = store.new_result(circuit)
    assert folder == tmp_path / "amp/.circuit_ai/sim_results" / result_id
    assert [path.name for path in folder.iterdir()] == [".running"]
    assert not (tmp_path / "home").exists()


def test_a_lone_circuits_results_are_the_users_and_nothing_is_made_beside_it(store, tmp_path):
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk/x.cir").write_text("title\n")
    result_id, folder = store.new_result(tmp_path / "desk/x.cir")
    assert folder == tmp_path / "home/sim_results" / result_id
    assert [path.name for path in (tmp_path / "desk").iterdir()] == ["x.cir"]


def test_ids_sort_by_time_and_never_repeat(store, circuit):
    ids = [store.new_result(circuit)[0] for _ in range(50)]
    assert ids == sorted(set(ids))


def test_what_is_written(store, circuit):
    result_id, folder = store.new_result(circuit)
    store.save(
        result_in(
            folder,
            result_id,
            circuit,
            metrics={
                "gain": Quantity(value=-9.5, unit="dB"),
                "bw": Quantity(value=math.nan, unit="Hz"),
                "inf": Quantity(value=math.inf, unit=""),
            },
            issues=(
                SimulationIssue(
                    severity="warning",
                    code="gmin-stepping",
                    message=msg("Node {node} 需要.", node="out"),
                    file=circuit,
                    line=3,
                    node="out",
                    advice=msg("Look at it."),
                ),
            ),
            request={"analysis": None, "set": {"R1": "2k"}, "timeout_s": math.inf},
        )
    )
    text = (folder / "result.json").read_text("utf-8")
    written = json.loads(text)
    assert written.pop("raw_sha256") == [hashlib.sha256((folder / "run.raw").read_bytes()).hexdigest()]
    assert len(written.pop("signature")) == 43
    assert written == {
        "schema_version": 1,
        "id": result_id,
        "created": "2026-01-02T03:04:05.678+00:00",
        "ok": True,
        "status": "ok",
        "verdict": "complete",
        "reach": None,
        "netlist": {"path": str(circuit), "place": "main.cir", "sha256": "ab" * 32, "read_beside": {}},
        "request": {"analysis": None, "set": {"R1": "2k"}, "timeout_s": None},
        "simulator": {
            "version": "ngspice-39",
            "confinement": ["bubblewrap", "rlimits"],
            "duration_s": 0.25,
        },
        "operating_point": None,
        "metrics": {
            "gain": {"value": -9.5, "unit": "dB"},
            "bw": {"value": None, "unit": "Hz"},
            "inf": {"value": None, "unit": ""},
        },
        "steps": [],
        "curves": [],
        "fingerprint": "",
        "raw_bytes": [9],
        "dialect": "ngspice",
        "notes": [],
        "assigned": [],
        "issues": [
            {
                "severity": "warning",
                "code": "gmin-stepping",
                "message": "Node out 需要.",
                "text": {"template": "Node {node} 需要.", "params": {"node": "out"}},
                "file": str(circuit),
                "line": 3,
                "element": None,
                "node": "out",
                "advice": "Look at it.",
            }
        ],
        "raw_paths": ["run.raw"],
        "log_path": "ngspice.log",
    }
    assert "NaN" not in text


def test_numbers_of_numpy_are_written_as_numbers(store, circuit):
    import numpy as np

    result_id, folder = store.new_result(circuit)
    metrics = {
        "a": Quantity(value=np.float64(1.5), unit="V"),
        "b": Quantity(value=np.float64("nan"), unit="V"),
    }
    store.save(result_in(folder, result_id, circuit, metrics=metrics))
    written = json.loads((folder / "result.json").read_text())["metrics"]
    assert [entry["value"] for entry in written.values()] == [1.5, None]


def test_a_name_that_is_no_text_can_be_written(store, tmp_path):
    circuit = tmp_path / os.fsdecode(b"\xb5.cir")
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit))
    assert json.loads((folder / "result.json").read_text())["id"] == result_id


def test_the_raw_file_is_found_by_the_result_its_folder_or_itself(store, circuit):
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit, raw=("first.raw", "second.raw")))
    for path in (folder / "result.json", folder, folder / "first.raw"):
        assert store.raw_path_of(path) == folder / "first.raw"
    assert store.raw_path_of(folder / "second.raw") == folder / "second.raw"


def test_a_moved_project_keeps_its_results(store, circuit, tmp_path):
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit))
    (tmp_path / "amp").rename(tmp_path / "moved")
    moved = tmp_path / "moved/.circuit_ai/sim_results" / result_id
    assert store.raw_path_of(moved / "result.json") == moved / "run.raw"


def test_a_result_without_data_says_so(store, circuit):
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit, raw=(), status="failed"))
    with pytest.raises(UserInputError, match="produced no data; its status is failed"):
        store.raw_path_of(folder)


def test_a_raw_file_that_is_gone_is_named(store, circuit):
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit))
    (folder / "run.raw").unlink()
    with pytest.raises(UserInputError, match=r"run\.raw"):
        store.raw_path_of(folder)


@pytest.mark.parametrize("raw", ["/etc/passwd", "../other.raw", "../../../main.cir", "link.raw", "a\0b"])
def test_a_result_points_only_into_its_own_folder(store, circuit, raw):
    _, folder = store.new_result(circuit)
    (folder.parent / "other.raw").write_text("")
    (folder / "link.raw").symlink_to("/etc/passwd")
    (folder / "result.json").write_text(json.dumps({"schema_version": 1, "raw_paths": [raw]}))
    with pytest.raises(UserInputError) as caught:
        store.raw_path_of(folder)
    assert caught.value.error_type == "bad_result"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", "null", '{"raw_paths": "x"}', '{"raw_paths": [1]}', "\x00\xff", "[" * 100_000],
)
def test_a_broken_result(store, tmp_path, content):
    (tmp_path / "result.json").write_text(content, "latin-1")
    with pytest.raises(UserInputError) as caught:
        store.raw_path_of(tmp_path / "result.json")
    assert caught.value.error_type == "bad_result"


def test_a_result_of_a_newer_version(store, tmp_path):
    (tmp_path / "result.json").write_text('{"schema_version": 99, "raw_paths": []}')
    with pytest.raises(UserInputError, match="newer"):
        store.raw_path_of(tmp_path)


@pytest.mark.parametrize(
    "name", ["nowhere", "nowhere.json", "nowhere/result.json", ".", "a\0b", "x" * 300, "pipe"]
)
def test_where_there_is_no_result(store, tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserInputError):
        store.raw_path_of(tmp_path / name)


def test_a_fifo_in_place_of_the_result_does_not_block(store, tmp_path):
    os.mkfifo(tmp_path / "result.json")
    with pytest.raises(UserInputError):
        store.raw_path_of(tmp_path)


def test_relative_paths(store, circuit, monkeypatch):
    result_id, folder = store.new_result(circuit)
    store.save(result_in(folder, result_id, circuit))
    monkeypatch.chdir(folder)
    assert store.raw_path_of(Path("result.json")) == folder / "run.raw"
