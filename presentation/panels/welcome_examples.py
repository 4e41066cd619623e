"""The words and curves the welcome page has for the bundled examples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from shared.message import Message, msg

CURVES = Path(__file__).resolve().parents[2] / "resources" / "look" / "example_curves.json"
"""Made by `scripts/draw_example_curves.py`."""

EXAMPLES: Mapping[str, tuple[Message, Message]] = {
    "sallen-key-filter": (
        msg("Sallen-Key low-pass, 4th order"),
        msg("10 kHz Butterworth, ±5 V, E24 values"),
    ),
    "miller-opamp": (
        msg("Two-stage Miller op-amp"),
        msg("81 dB, 72 MHz, 76° phase margin, level-1 models"),
    ),
    "buck-converter": (
        msg("Buck converter, 12 V to 3.3 V"),
        msg("2 A, 500 kHz, start-up and load step"),
    ),
    "wien-oscillator": (
        msg("Wien-bridge oscillator"),
        msg("1 kHz, amplitude held by two diodes"),
    ),
    "bandgap-reference": (
        msg("Bandgap reference"),
        msg("1.21 V, −40 to 125 °C"),
    ),
    "loaded-follower": (
        msg("Step response of a loaded follower"),
        msg("Overshoot with 1 nF, isolation resistor"),
    ),
}
"""Title and detail by the example's name, in the order of the page."""


def curves() -> dict[str, list[int]]:
    """A small curve of each: heights at evenly spaced places, 0 to 1000. Blocking: called off the loop."""
    found: dict[str, list[int]] = json.loads(CURVES.read_text("utf-8"))
    return found
