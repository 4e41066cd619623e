"""Real ngspice on the tests' own decks: a bare process, no code of the project around it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.simulation.waveform import Plot
from infrastructure.waveforms.raw_file import read_raw

RunDeck = Callable[[str], list[Plot]]
PrintedMeasures = Callable[[str], dict[str, float]]


def _ngspice(folder: Path, deck: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "deck.cir").write_text(deck)
    return subprocess.run(
        ["ngspice", "-n", "-b", *options, "deck.cir"],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


@pytest.fixture
def run_deck(tmp_path: Path) -> RunDeck:
    """Simulate a deck and read its plots."""

    def run(deck: str) -> list[Plot]:
        done = _ngspice(tmp_path, deck, "-r", "out.raw")
        assert done.returncode == 0, done.stdout + done.stderr
        return read_raw(tmp_path / "out.raw")

    return run


@pytest.fixture
def printed_measures(tmp_path: Path) -> PrintedMeasures:
    """The values ngspice itself prints for the .meas cards of a deck."""

    def run(deck: str) -> dict[str, float]:
        done = _ngspice(tmp_path, deck)
        assert "Measurements for" in done.stdout, done.stdout + done.stderr
        found = re.findall(
            r"^(\w+) += +([-+]?(?:\d[\d.]*e[-+]\d+|nan|inf|failed))", done.stdout, re.MULTILINE
        )
        return {name: float(text) for name, text in found if text != "failed"}

    return run
