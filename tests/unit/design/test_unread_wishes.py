"""What of a request no goal holds is told: wishes without a figure, and figures of other quantities."""

from __future__ import annotations

import pytest

from domain.design.catalogue import understand
from infrastructure.persistence.known_texts import request_texts

_BUCK = "buck converter 12 V to 5 V, 2 A"


def _notes(text: str) -> list[str]:
    return [str(note) for note in understand(text, request_texts()).assumptions]


@pytest.mark.parametrize(
    ("text", "wish", "instead"),
    [
        (f"{_BUCK} and keep it quiet", "keep it quiet", "output ripple 22 mV"),
        (f"{_BUCK}, with a smaller inductor", "a smaller inductor", "inductor 10 uH"),
        (f"{_BUCK}, with soft start and short-circuit protection", "short-circuit protection", ""),
        ("a low-noise preamp, gain 100", "low-noise", ""),
        ("RC low-pass 1 kHz with a volume control", "a volume control", ""),
        ("LED driver 350 mA from 12 V, should not get hot", "should not get hot", ""),
    ],
)
def test_a_wish_without_a_figure_is_told_with_what_can_be_asked(text: str, wish: str, instead: str) -> None:
    notes = _notes(text)
    told = [note for note in notes if note.startswith(f"“{wish}” has no effect")]
    assert len(told) == 1
    assert instead in told[0]
    assert any(note.startswith("This circuit can also be asked for: ") for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        f"{_BUCK}, synchronous, with low ripple below 20 mV",
        f"{_BUCK}, for my Arduino and my phone, please simulate it and show me the plot",
        "comparator with hysteresis, trip at 2 V and 3 V",
        "Sallen-Key low-pass 1 kHz with Butterworth response and unity gain",
        "non-inverting amplifier with gain 10 and bandwidth 100 kHz with an LM358",
    ],
)
def test_what_was_read_and_what_only_tells_is_no_such_wish(text: str) -> None:
    assert not [note for note in _notes(text) if "no effect" in note]


@pytest.mark.parametrize(
    ("text", "left", "tolerance"),
    [
        ("non-inverting amplifier gain 10, THD below 0.1 %", "THD below 0.1 %", 0.05),
        ("inverting amplifier gain -10 with less than 10 % overshoot", "10 % overshoot", 0.05),
        ("LDO 5 V to 3.3 V 0.5 A, PSRR at least 60 dB at 1 kHz", "PSRR at least 60 dB at 1 kHz", 0.02),
        ("inverting amplifier gain -10, slew rate 1 V/us", "slew rate 1 V/us", 0.05),
    ],
)
def test_a_figure_of_another_quantity_is_none_of_the_circuits(text: str, left: str, tolerance: float) -> None:
    intent = understand(text, request_texts())
    assert f"“{left}” was not understood and had no effect on the design." in map(str, intent.assumptions)
    assert intent.parameters["tolerance"] == tolerance
    assert intent.parameters.get("swing_v") is None


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("a headphone amp for my phone, gain of 3", "non_inverting_amplifier"),
        ("mic amp gain 100", "non_inverting_amplifier"),
        ("clean boost for guitar, gain of 5", "non_inverting_amplifier"),
        ("buffer for a piezo pickup", "non_inverting_amplifier"),
        ("headphone amp 50 mW into 32 ohm, class AB", "class_ab_stage"),
        ("subwoofer filter 80 Hz", "first_order"),
        ("bench supply 9 V 1 A from 12 V", "buck"),
        ("constant current 20 mA LED from 9 V", "led_driver"),
    ],
)
def test_names_of_every_day(text: str, family: str) -> None:
    assert understand(text, request_texts()).family == family
