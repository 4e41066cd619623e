"""What a circuit's own commands compute is its result: every plot, number by number what ngspice computed."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.result import SimulationResult
from domain.simulation.waveform import Plot
from infrastructure.waveforms.raw_file import read_raw
from shared.errors import UserInputError
from shared.message import msg

FILTER = "my filter\nV1 in 0 dc 1 ac 1 pulse(0 1 0 1u 1u 1m 2m)\nR1 in out 1k\nC1 out 0 1u\n"
Simulate = Callable[..., Awaitable[SimulationResult]]


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build(environment=os.environ)
    yield application
    await application.close()


@pytest.fixture
def simulate(app: Application, tmp_path: Path) -> Simulate:
    async def run(deck: str, **files: str) -> SimulationResult:
        (tmp_path / ".circuit_ai").mkdir(exist_ok=True)
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        (tmp_path / "c.cir").write_text(deck)
        return await app.simulation.run(SimulationRequest(circuit=tmp_path / "c.cir"))

    return run


async def read(path: Path) -> list[Plot]:
    return await asyncio.to_thread(read_raw, path)


async def plots_of(result: SimulationResult) -> list[str]:
    return [plot.name for plot in await read(result.run.raw_paths[0])]


def codes(result: SimulationResult, severity: str) -> list[str]:
    return [issue.code for issue in result.issues if issue.severity == severity]


async def test_every_plot_is_kept_number_by_number(simulate: Simulate, tmp_path: Path) -> None:
    commands = (
        "op", "let gain = v(out)/v(in)", "tran 10u 5m", "let half = v(out)/2", "meas tran top max v(out)",
        "linearize v(out)", "foreach r 1k 2k 5k", "alter r1 = $r", "ac dec 5 1 10k", "end",
    )  # fmt: skip
    result = await simulate(f"{FILTER}.control\n" + "\n".join(commands) + "\n.endc\n.end\n")
    assert result.ok, result.issues
    assert await plots_of(result) == [
        "Operating Point (op1)", "Transient Analysis (tran1)", "Transient Analysis (linearized) (tran2)",
        "AC Analysis (ac2: r1=1k)", "AC Analysis (ac3: r1=2k)", "AC Analysis (ac4: r1=5k)",
    ]  # fmt: skip
    named = ("op1", "tran1", "tran2", "ac2", "ac3", "ac4")
    writes = "\n".join(f"setplot {name}\nwrite {name}.raw" for name in named)
    bare = tmp_path / "bare.cir"
    bare.write_text(f"{FILTER}.control\n" + "\n".join(commands) + f"\n{writes}\n.endc\n.end\n")
    await asyncio.to_thread(
        subprocess.run, ["ngspice", "-n", "-b", bare], cwd=tmp_path, check=False, capture_output=True
    )
    kept = await read(result.run.raw_paths[0])
    for name, ours in zip(named, kept, strict=True):
        (theirs,) = await read(tmp_path / f"{name}.raw")
        assert list(ours.vectors) == list(theirs.vectors)
        for key, vector in theirs.vectors.items():
            data = ours.vectors[key].data  # a single number stays one; ngspice's `write` fills it up
            assert np.array_equal(data, vector.data[: len(data)]), (name, key)
            assert len(data) == (1 if key == "top" else len(vector.data))


@pytest.mark.parametrize(
    "end",
    [
        "quit",
        "  exit 0",
        "if 1\n  quit\nend\ntran 1u 1m",
        "foreach i 1 2 3\n ac dec 5 1 1k\n if $i = 2\n  quit\n end\nend",
    ],
)
async def test_plots_are_kept_when_the_commands_quit(simulate: Simulate, end: str) -> None:
    result = await simulate(f"{FILTER}.control\nac dec 5 1 1k\n{end}\n.endc\n.end\n")
    assert result.ok, result.issues
    names = await plots_of(result)
    assert set(names) >= {"AC Analysis (ac1)"}
    assert not any("Transient" in name for name in names)
    assert len(names) == (3 if "foreach" in end else 1)


async def test_quitting_with_a_number_is_a_failure_with_its_data(simulate: Simulate) -> None:
    result = await simulate(f"{FILTER}.control\nop\nquit 3\n.endc\n.end\n")
    assert codes(result, "error") == ["control-quit"]
    assert await plots_of(result) == ["Operating Point (op1)"]


async def test_cards_the_commands_run_are_not_run_again(simulate: Simulate) -> None:
    result = await simulate(f"{FILTER}.tran 10u 1m\n.control\nrun\nplot v(out)\n.endc\n.end\n")
    assert result.ok, result.issues
    assert await plots_of(result) == ["Transient Analysis (tran1)"]


async def test_cards_the_commands_leave_alone_come_first(simulate: Simulate) -> None:
    result = await simulate(f"{FILTER}.tran 10u 1m\n.control\nac dec 5 1 1k\n.endc\n.end\n")
    assert result.ok, result.issues
    assert await plots_of(result) == ["Transient Analysis", "AC Analysis (ac1)"]


async def test_blocks_in_many_places_are_one_script(simulate: Simulate) -> None:
    deck = f"{FILTER}.control\nop\n.endc\n*#tran 10u 1m\n.include more.inc\n.control\nac dec 5 1 1k\n.endc\n"
    result = await simulate(deck, more__inc="R2 out 0 1meg\n.control\ndc v1 0 1 0.5\n.endc\n")
    assert result.ok, result.issues
    names = await plots_of(result)
    assert sorted(name.partition(" (")[0] for name in names) == [
        "AC Analysis", "DC transfer characteristic", "Operating Point", "Transient Analysis",
    ]  # fmt: skip


async def test_an_included_quit_keeps_the_plots_too(simulate: Simulate) -> None:
    result = await simulate(
        f"{FILTER}.include more.inc\n.end\n", more__inc=".control\nop\nquit\n.endc\nR2 out 0 1k\n"
    )
    assert result.ok, result.issues
    assert await plots_of(result) == ["Operating Point (op1)"]


async def test_a_failed_command_is_a_warning_when_there_are_data(simulate: Simulate) -> None:
    result = await simulate(f"{FILTER}.control\nop\nfrobnicate\nwrite /nowhere/x.raw\n.endc\n.end\n")
    assert result.ok, result.issues
    assert "control-command-failed" in codes(result, "warning")
    nothing = await simulate(f"{FILTER}.control\nfrobnicate\n.endc\n.end\n")
    assert codes(nothing, "error") == ["control-command-failed"]


async def test_commands_without_an_analysis_leave_no_data(simulate: Simulate) -> None:
    result = await simulate(f"{FILTER}.control\necho hello\n.endc\n.end\n")
    assert codes(result, "error") == ["no-data"]


async def test_what_commands_measure_and_print_are_metrics(simulate: Simulate) -> None:
    result = await simulate(
        f"{FILTER}.control\nop\nprint v(out) i(v1)\ntran 10u 5m\nmeas tran top max v(out)\n"
        "meas tran t50 when v(out)=0.5 rise=1\nmeas tran late when v(out)=5 rise=1\n"
        "let swing = top - minimum(v(out))\nlet curve = v(out)*2\nprint top*2 > file.txt\nprint top*3 top*4\n"
        'echo "gain = $&top V"\necho all is well\n'
        "print top late\n"
        "foreach r 1k 2k\nalter r1 = $r\nac dec 10 1 100k\nmeas ac bw when vdb(out)=-3\nprint bw\nend\n"
        ".endc\n.end\n"
    )
    assert result.ok, result.issues
    found = result.metrics
    assert list(found) == [
        "v(out)", "i(v1)", "top", "t50", "late", "swing", "top*3", "top*4", "bw@1", "bw@2", "gain",
    ]  # fmt: skip
    units = {name: figure.unit for name, figure in found.items()}
    assert units["v(out)"] == units["top"] == units["gain"] == "V"
    assert (units["i(v1)"], units["t50"], units["bw@1"]) == ("A", "s", "Hz")
    plot = next(plot for plot in await read(result.run.raw_paths[0]) if plot.analysis == "tran")
    assert found["top"].value == pytest.approx(plot.vectors["v(out)"].data.max(), rel=1e-6)
    assert len(plot.vectors["swing"].data) == 1
    assert found["swing"].value == plot.vectors["swing"].data[0]
    assert found["top*3"].value == pytest.approx(3 * found["top"].value, rel=1e-6)
    assert found["bw@1"].value == pytest.approx(2 * found["bw@2"].value, rel=1e-3)
    assert np.isnan(found["late"].value)
    assert "measurement-failed" in codes(result, "warning")


async def test_a_loop_of_many_prints_is_bounded(simulate: Simulate) -> None:
    loop = "let i = 0\ndowhile i < 700\nlet i = i + 1\nprint i\nend\n"
    result = await simulate(f"{FILTER}.control\nop\n{loop}.endc\n.end\n")
    assert result.ok, result.issues
    assert len(result.metrics) == 500
    assert result.metrics["i@500"].value == 500


async def test_folders_that_commands_write_into_are_made_in_the_runs_own(simulate: Simulate) -> None:
    result = await simulate(
        f"{FILTER}.control\nop\nwrite out/a.raw\nwrdata ./deep/er/b.txt v(out)\necho hi > notes/c.txt\n"
        "write ../../away.raw\n.endc\n.end\n"
    )
    assert result.ok, result.issues
    files = result.run.log_path.parent / "files"
    made = await asyncio.to_thread(
        lambda: sorted(str(path.relative_to(files)) for path in files.rglob("*") if path.is_file())
    )
    assert made == ["deep/er/b.txt", "notes/c.txt", "out/a.raw"]
    assert codes(result, "warning") == ["file-not-opened"]


async def test_files_that_commands_read_are_found(app: Application, tmp_path: Path) -> None:
    (tmp_path / "more.cmd").write_text("*ng_script\nac dec 5 1 1k\n")
    (tmp_path / "c.cir").write_text(f"{FILTER}.control\nsource more.cmd\n.endc\n.end\n")
    result = await app.simulation.run(
        SimulationRequest(circuit=tmp_path / "c.cir")
    )  # no project: shown one by one
    assert result.ok, result.issues
    assert await plots_of(result) == ["AC Analysis (ac1)"]


async def test_digital_nodes_are_told_where_they_are(simulate: Simulate) -> None:
    result = await simulate(
        "d\nV1 clk 0 pulse(0 5 0 1n 1n 50n 100n)\nR1 clk 0 1k\nabr [clk] [dclk] adc\n.model adc adc_bridge\n"
        "ainv dclk dn inv\n.model inv d_inverter\n.control\ntran 1n 300n\neprint dclk dn\n.endc\n.end\n"
    )
    assert result.ok, result.issues
    (note,) = result.notes
    assert note.line == 10
    log = await asyncio.to_thread(result.run.log_path.read_text)
    assert "dclk" in log


async def test_what_was_printed_is_kept_when_the_data_cannot_be_read(
    simulate: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> list[Plot]:
        raise UserInputError(msg("{file} is not a regular file.", file="x.raw"))

    monkeypatch.setattr("infrastructure.waveforms.raw_file.RawFileReader.read", refuse)
    result = await simulate(f"{FILTER}.control\nop\nprint v(out)*3\n.endc\n.end\n")
    assert result.ok, result.issues
    assert result.metrics["v(out)*3"].value == 3
