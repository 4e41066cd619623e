"""The raw reader on what ngspice really writes."""

from __future__ import annotations

import subprocess
import time

import numpy as np
import pytest

from infrastructure.waveforms.raw_file import read_headers, read_raw

CIRCUIT = """* every analysis
v1 in 0 dc 1 ac 1 sin(0 1 1k)
r1 in Out 1k
c1 out 0 1u
m1 d out 0 0 nm w=1u l=1u
vd d 0 1
.model nm nmos
.save all @m1[id] @m1[gm] @r1[i]
"""


def test_every_analysis_in_one_file(run_deck):
    plots = run_deck(
        CIRCUIT + ".op\n.ac dec 3 1 1k\n.tran 10u 1m\n.dc v1 0 1 0.5\n.dc temp 0 50 25\n"
        ".noise v(out) v1 dec 3 1 1k 1\n"
        ".tf v(out) v1\n.pz in 0 out 0 vol pz\n.sens v(out)\n.disto dec 3 1 1k\n.end\n"
    )
    by_analysis = {plot.analysis: plot for plot in plots}
    assert set(by_analysis) == {
        "op",
        "ac",
        "tran",
        "dc",
        "noise",
        "noise_integrated",
        "tf",
        "pz",
        "sens",
        "disto",
    }
    op, ac, dc = by_analysis["op"], by_analysis["ac"], by_analysis["dc"]
    assert {"v(in)", "v(out)", "i(v1)", "i(vd)", "@m1[id]", "@m1[gm]", "@r1[i]"} <= op.vectors.keys()
    assert op.vectors["@m1[gm]"].unit == "S"
    assert op.vectors["v(out)"].data == pytest.approx([1.0])
    assert ac.axis is not None
    f = ac.axis.data
    assert np.allclose(ac.vectors["v(out)"].data, 1 / (1 + 2j * np.pi * f * 1e-3), rtol=1e-6)
    assert [plot.axis_name for plot in plots if plot.analysis == "dc"] in (
        [["v-sweep", "temp-sweep"], ["temp-sweep", "v-sweep"]]
    )
    assert dc.axis is not None
    assert by_analysis["noise_integrated"].vectors["onoise_total"].unit == "V"
    assert by_analysis["tf"].vectors["transfer_function"].data == pytest.approx([1.0])


@pytest.mark.parametrize("filetype", ["binary", "ascii"])
@pytest.mark.parametrize("padding", ["", "set nopadding\n"])
def test_what_write_writes_in_every_format(tmp_path, filetype, padding):
    (tmp_path / "deck.cir").write_text(
        CIRCUIT + f".control\nset filetype={filetype}\n{padding}set appendwrite\nop\nwrite out.raw all\n"
        "ac dec 3 1 1k\n"
        "write out.raw v(out) db(v(out))\ntran 10u 0.1m\nlet w = vector(3)\nwrite out.raw all\n"
        "linearize v(out)\nfft v(out)\nwrite out.raw all\n.endc\n.end\n"
    )
    subprocess.run(
        ["ngspice", "-n", "-b", "deck.cir"], cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=60, check=False,
    )  # fmt: skip
    op, ac, tran, spectrum = read_raw(tmp_path / "out.raw")
    assert op.vectors["v(out)"].data == pytest.approx([1.0])
    assert np.allclose(ac.vectors["db(v(out))"].data, 20 * np.log10(np.abs(ac.vectors["v(out)"].data)))
    assert tran.vectors["w"].data[:3].tolist() == [0, 1, 2]
    assert len(tran.vectors["w"].data) == (3 if padding else tran.points)
    assert tran.vectors["time"].data[-1] == pytest.approx(1e-4)
    assert (spectrum.analysis, spectrum.axis_name) == ("other", "frequency")
    assert not any(header.is_truncated for header in read_headers(tmp_path / "out.raw"))


def test_a_killed_run_leaves_its_points(tmp_path):
    (tmp_path / "deck.cir").write_text(CIRCUIT + ".op\n.tran 1u 1000\n.end\n")
    process = subprocess.Popen(
        ["ngspice", "-n", "-b", "-r", "out.raw", "deck.cir"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 50
        raw = tmp_path / "out.raw"
        while not raw.exists() or raw.stat().st_size < 300_000:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    op, tran = read_headers(raw)
    assert (op.points, op.is_truncated) == (1, False)
    assert tran.is_truncated
    assert tran.points > 1000
    plot = read_raw(raw)[1]
    assert plot.axis is not None
    assert np.all(np.diff(plot.axis.data) > 0)
    assert np.abs(plot.vectors["v(in)"].data - np.sin(2e3 * np.pi * plot.axis.data)).max() < 1e-6
