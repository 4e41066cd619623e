"""Studies on a cluster give what they give here; what goes wrong there is told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from domain.simulation.batch import Batch
from infrastructure.cluster.dask_batch import DaskBatch
from shared.errors import EnvironmentProblem
from tests.fakes.formula_batch import FormulaBatch
from tests.ground.forked_commands import ForkedCommands
from tests.ground.forked_process import ForkedProcess
from tests.integration.cluster.conftest import Cluster

pytestmark = pytest.mark.timeout(180)

DECK = """two libraries
.lib "{lib}/process lib.lib" tt
.include "{lib}/load.inc"
V1 in 0 DC 1 AC 1
R1 in out {{1k*scale}}
C1 out 0 1n
X1 out 0 load
.ac dec 20 1 1g
.end
"""
SPEC: dict[str, Any] = {
    "parameters": [{"name": "R1", "tolerance": "1%", "min": "500", "max": "5k", "scale": "E24"},
                   {"name": "C1", "tolerance": 0.05}],
    "measure": {"bw": "bandwidth(v(out))", "dc": "dcgain(v(out))"},
    "goals": [{"metric": "bw", ">=": 1.0e5, "<=": 1.2e5}],
    "runs": 60,
    "seed": 7,
    "corners": {"process": ["tt", "ss"], "temp": [-40, 125]},
}  # fmt: skip


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """A circuit with libraries in another folder, one of which includes a neighbour."""
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "process lib.lib").write_text(".lib tt\n.param scale=1\n.endl\n.lib ss\n.param scale=1.3\n.endl\n")
    (lib / "load.inc").write_text('.include "inner.inc"\n')
    (lib / "inner.inc").write_text(".subckt load a b\nRa a b 100k\n.ends\n")
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    path = tmp_path / "deck.cir"
    path.write_text(DECK.format(lib=lib))
    return path


def run(commands: ForkedCommands, *argv: object) -> tuple[int, dict[str, Any]]:
    done = commands.run(*argv, "--json")
    (document,) = done.events
    return done.exit_code, document


def arguments(command: str, deck: Path) -> tuple[object, ...]:
    return (command, deck, "--spec", deck.with_name("spec.json"), "--library", deck.with_name("lib"))


@pytest.mark.parametrize("command", ["montecarlo", "corners", "worst-case"])
def test_a_study_on_the_cluster_is_the_study_here(
    command: str, commands: ForkedCommands, cluster: Cluster, deck: Path
) -> None:
    here, there = (
        run(commands, *arguments(command, deck), *where)
        for where in (("--workers", 1), ("--cluster", cluster.address))
    )
    assert here[0] == there[0], there
    assert there[1]["rows"] == here[1]["rows"]
    assert len(there[1]["rows"]) > 3
    assert there[1]["statistics"] == here[1]["statistics"]


def test_a_search_on_the_cluster_is_the_search_here(
    commands: ForkedCommands, cluster: Cluster, deck: Path
) -> None:
    here, there = (
        run(commands, *arguments("optimize", deck), "--budget", 40, *where)
        for where in ((), ("--cluster", cluster.address))
    )
    assert here[0] == there[0] == 0, there
    assert there[1]["best"] == here[1]["best"]
    assert there[1]["history"] == here[1]["history"]


def test_the_workers_need_no_file_of_this_machine(
    commands: ForkedCommands, cluster: Cluster, deck: Path
) -> None:
    """What is wrong with the circuit is told of its own files, and nothing is left over there."""
    deck.write_text(deck.read_text().replace("C1 out 0 1n", "C1 out 0 1n\nD1 out 0 nomodel"))
    code, document = run(commands, *arguments("montecarlo", deck), "--runs", 4, "--cluster", cluster.address)
    assert code == 1
    assert document["runs"]["failed"] == 4
    error = document["errors"][0]
    assert (error["code"], error["line"], Path(error["file"])) == ("undefined-model", 7, deck)
    assert str(cluster.folder) not in json.dumps(document)
    assert not list(cluster.temporary.glob("circuit-ai-*"))


def test_an_address_where_nothing_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    batch = DaskBatch(f"tcp://127.0.0.1:{port}", local=FormulaBatch(lambda _: 0.0), connect_s=0.3)

    async def first() -> object:
        return await anext(batch.run(Batch(circuits=(), runs=())))

    with pytest.raises(EnvironmentProblem) as caught:
        asyncio.run(first())
    assert (caught.value.exit_code, caught.value.error_type) == (3, "cluster_unreachable")


def test_an_address_that_is_none_is_bad_usage(commands: ForkedCommands, deck: Path) -> None:
    assert run(commands, *arguments("montecarlo", deck), "--cluster", "nowhere")[0] == 2


SLOW = """slow
V1 in 0 SIN(0 1 1meg)
R1 in out 1k
C1 out 0 1n
.tran 10n 60u
.end
"""


def slow_batch(commands: ForkedCommands, cluster: Cluster, tmp_path: Path, runs: int) -> ForkedProcess:
    (tmp_path / "slow.cir").write_text(SLOW)
    return commands.start(
        "montecarlo", tmp_path / "slow.cir", "--param", "R1=1%", "--measure", "m=max(v(out))",
        "--runs", runs, "--cluster", cluster.address, "--json",
    )  # fmt: skip


def wait_until_busy(process: ForkedProcess, cluster: Cluster) -> None:
    """Until some chunks have come and gone."""
    seen: set[Path] = set()
    while len(seen) < 6:
        seen.update(cluster.temporary.glob("circuit-ai-*/0/files"))
        assert process.poll() is None
        time.sleep(0.02)


def test_a_stop_keeps_what_is_done(commands: ForkedCommands, cluster: Cluster, tmp_path: Path) -> None:
    with slow_batch(commands, cluster, tmp_path, 5000) as process:
        wait_until_busy(process, cluster)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["stopped"] is True
    assert 0 < document["runs"]["done"] < 5000


def test_a_worker_that_is_killed_costs_no_run(
    commands: ForkedCommands, cluster: Cluster, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack, slow_batch(commands, cluster, tmp_path, 150) as process:
        wait_until_busy(process, cluster)
        cluster.workers[0].kill()
        cluster.workers[0].wait()
        out, err = process.communicate(timeout=150)
        document = json.loads(out)
        assert process.returncode == 0, (document, err)
        assert document["runs"] == {"total": 150, "done": 150, "ok": 150, "failed": 0}
        assert [row["run"] for row in document["rows"]] == list(range(150))
        stack.pop_all()
    for left in cluster.temporary.glob("circuit-ai-*"):  # of the killed one
        subprocess.run(["rm", "-rf", str(left)], check=True)
