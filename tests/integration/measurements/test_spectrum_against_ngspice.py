"""Spectra of simulated waveforms against ngspice's own `fft` and `fourier`."""

from __future__ import annotations

import math
import re
import subprocess

import pytest

from domain.simulation.distortion import steady_distortion
from domain.simulation.expressions import evaluate, evaluate_vector
from domain.simulation.spectrum import WindowName, spectrum_of

_CLIPPER = """* a diode clipper
Vin in 0 SIN(0.1 1.5 1k)
R1 in out 1k
D1 out mid d
D2 mid out d
Vm mid 0 0.05
.model d D(IS=1e-14)
.tran 1u 5m 0 1u
"""
_TONES = """* three tones that nothing distorts
V1 a 0 SIN(0.3 1 1k)
V2 b a SIN(0 0.01 2k)
V3 out b SIN(0 0.002 5.3k)
R1 out 0 1k
.tran 2u 10m 0 2u
"""


def _ngspice(folder, deck: str) -> str:
    (folder / "own.cir").write_text(deck)
    done = subprocess.run(
        ["ngspice", "-n", "-b", "own.cir"],
        cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout


def test_bins_are_those_of_ngspices_fft(run_deck, tmp_path):
    signal = evaluate_vector("v(out)", run_deck(_TONES + ".end\n"))
    for ours, theirs in (("hann", "hanning"), ("rectangular", "none"), ("flat-top", "flattop")):
        control = (
            ".control\nrun\nlet lin-tstart = 0\nlet lin-tstop = 10m*4095/4096\nlet lin-tstep = 10m/4096\n"
            f"linearize v(out)\nset specwindow={theirs}\nfft v(out)\nwrdata bins.txt mag(v(out))\n"
            ".endc\n.end\n"
        )
        _ngspice(tmp_path, _TONES + control)
        rows = [line.split() for line in (tmp_path / "bins.txt").read_text().splitlines()]
        found = [float(size) for _frequency, size in rows]
        window: WindowName = ours  # type: ignore[assignment]
        spectrum = spectrum_of(signal, window=window)
        for at, amplitude in ((10, 1.0), (20, 0.01), (53, 0.002)):
            assert spectrum.amplitudes[at] == pytest.approx(amplitude, rel=2e-3), (ours, at)
            for near in range(at - 2, at + 3):
                expected = pytest.approx(found[near], rel=5e-3, abs=1e-4)
                assert spectrum.amplitudes[near] == expected, (ours, near)


def test_harmonics_are_those_of_ngspices_fourier(run_deck, tmp_path):
    plots = run_deck(_CLIPPER + ".end\n")
    printed = _ngspice(tmp_path, _CLIPPER + ".control\nrun\nset nfreqs=10\nfourier 1k v(out)\n.endc\n.end\n")
    rows = re.findall(r"^ (\d+) +(\S+) +(\S+) +(\S+)", printed, re.MULTILINE)
    theirs = {int(order): float(size) for order, _frequency, size, _phase in rows}
    ours = steady_distortion(evaluate_vector("v(out)", plots))
    assert ours.fundamental.frequency_hz == pytest.approx(1e3, rel=1e-5)
    assert ours.fundamental.amplitude == pytest.approx(theirs[1], rel=2e-3)
    for line in ours.harmonics:
        if theirs[line.order] > 1e-3:
            assert line.amplitude == pytest.approx(theirs[line.order], rel=0.01), line
    thd = float(re.findall(r"THD: (\S+) %", printed)[0]) / 100
    assert evaluate("thd(v(out))", plots).value == pytest.approx(thd, rel=0.005)
    assert evaluate("thdn(v(out))", plots).value == pytest.approx(ours.thd, rel=0.01)
    largest = max(size for order, size in theirs.items() if order > 1)
    expected = 20 * math.log10(theirs[1] / largest)
    assert evaluate("sfdr(v(out), 1k)", plots).value == pytest.approx(expected, abs=0.1)
