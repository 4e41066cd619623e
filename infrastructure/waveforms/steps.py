"""Parts the runs of a `.step`, which LTspice and QSPICE write behind each other into one plot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from domain.circuit.numbers import read_number
from infrastructure.waveforms.raw_header import opened
from shared.errors import UserInputError

if TYPE_CHECKING:
    from domain.simulation.waveform import RealArray

MAX_STEPS = 100_000
_MAX_LOG_BYTES = 16 * 2**20
_LINE = re.compile(r"^(?:\d+ of \d+ steps:\s+)?\.step\s+(.*)$", re.IGNORECASE)
_VALUE = re.compile(r"([^\s=]+)\s*=\s*(\S+)")


def step_starts(axis: RealArray) -> list[int]:
    """Where runs begin on an axis that starts anew with each; the first is 0.

    A run goes on while the axis moves the way it mostly does, or stands still (LTspice repeats points).
    """
    if len(axis) < 2:
        return [0]
    with np.errstate(invalid="ignore"):
        moves = np.diff(axis)
    direction = np.sign(np.count_nonzero(moves > 0) - np.count_nonzero(moves < 0)) or 1
    return [0, *(np.flatnonzero(moves * direction < 0) + 1).tolist()]


def step_values(raw_path: Path) -> list[Mapping[str, float]]:
    """The stepped quantities of each run, by lower-case name, from the .log beside the raw file.

    Empty when there is no such log, or nothing of steps in it: the runs then have numbers only.
    """
    try:
        with opened(raw_path.with_suffix(".log")) as file:
            content = file.read(_MAX_LOG_BYTES)
    except UserInputError:
        return []
    encoding = "utf-16-le" if content[1:2] == b"\0" or content.startswith(b"\xff\xfe") else "utf-8"
    found: list[Mapping[str, float]] = []
    for line in content.decode(encoding, "replace").lstrip("\ufeff").splitlines():
        if (step := _LINE.match(line.strip())) is not None and len(found) < MAX_STEPS:
            values = {}
            for name, text in _VALUE.findall(step[1]):
                if (number := read_number(text)) is not None:
                    values[name.lower()] = number.value
            found.append(values)
    return found
