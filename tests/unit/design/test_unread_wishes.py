"""What of a request no goal holds is told: wishes without a figure, and figures of other quantities."""

from __future__ import annotations

import pytest

from domain.design.catalogue import propose, told_without_figure, understand
from infrastructure.persistence.known_texts import request_texts
from shared.errors import CircuitError

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
        ("1 kHz sine oscillator, 1 V amplitude, with low distortion", "low distortion", "distortion 2.2 %"),
        ("RC low-pass 1 kHz with a volume control", "a volume control", ""),
        (
            "sensor amplifier with a gain of 10 on a 5 V supply, and protect the input",
            "protect the input",
            "",
        ),
        ("LED driver 350 mA from 12 V, should not get hot", "should not get hot", ""),
    ],
)
def test_a_wish_without_a_figure_is_told_with_what_can_be_asked(text: str, wish: str, instead: str) -> None:
    notes = _notes(text)
    told = [note for note in notes if note.startswith(f"“{wish}” has no effect")]
    assert len(told) == 1
    assert instead in told[0]
    assert any(note.startswith("This circuit can also be asked for: ") for note in notes) is not bool(instead)


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
        ("amplifier for an electret microphone, gain 50", "non_inverting_amplifier"),
        ("I need a power supply that turns 12 V into 5 V for a Raspberry Pi", "buck"),
        ("headphone amp 50 mW into 32 ohm, class AB", "class_ab_stage"),
        ("subwoofer filter 80 Hz", "first_order"),
        ("bench supply 9 V 1 A from 12 V", "buck"),
        ("constant current 20 mA LED from 9 V", "led_driver"),
    ],
)
def test_names_of_every_day(text: str, family: str) -> None:
    assert understand(text, request_texts()).family == family


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("buck 12 V to 3.3 V, at most 5 % overshoot when the load steps from 0.5 to 2 A", (0.5, 2, 0.165)),
        ("12 V to 5 V buck converter, 2 A, output must stay within 200 mV for a 1 A load step", (1, 2, 0.2)),
        ("buck 24 V to 5 V, 3 A, with a 50 % load step the output may dip 250 mV", (1.5, 3, 0.25)),
        ("boost 5 V to 12 V, load step from 0.1 to 0.5 A with less than 600 mV dip", (0.1, 0.5, 0.6)),
        ("12V转3.3V降压，2A，负载从0.5A跳变到2A时过冲不超过5%", (0.5, 2, 0.165)),
    ],
)
def test_a_load_step_of_a_converter_is_read_whole(text: str, step: tuple[float, float, float]) -> None:
    intent = understand(text, request_texts())
    asked = intent.parameters
    assert (asked["step_from_a"], asked["step_to_a"], round(asked["deviation_v"], 9)) == step
    assert asked["iout"] == step[1]
    assert (asked["tolerance"], intent.goals[-1].metric) == (0.02, "load_step_dip")
    assert not [note for note in map(str, intent.assumptions) if "no effect" in note]


def test_what_no_capacitor_can_hold_is_refused_with_the_figure() -> None:
    intent = understand("buck 12 V to 3.3 V, 2 A, less than 10 mV overshoot at a load step of 1.5 A")
    with pytest.raises(CircuitError, match="resistance of switch and inductor alone moves it by"):
        propose(intent, str)


def test_an_overshoot_at_the_start_is_none_of_a_load_step() -> None:
    intent = understand("buck 12 V to 5 V 2 A, start-up overshoot below 5 %")
    assert intent.parameters["step_to_a"] is None
    assert any("no effect" in str(note) for note in intent.assumptions)


@pytest.mark.parametrize(
    ("request_text", "text", "instead"),
    [
        (_BUCK, "less ripple", "output ripple 22 mV"),
        (_BUCK, "make it more efficient", "efficiency 90 %"),
        (_BUCK, "can it be cheaper?", "It can also be asked for: "),
        ("non-inverting amplifier gain 10", "make it louder", "gain 22"),
        ("band-pass from 300 Hz to 3 kHz", "make it steeper", "order 8"),
        (_BUCK, "thanks", ""),
        (_BUCK, "make it nicer", ""),
        (_BUCK, "what is the ripple?", ""),
    ],
)
def test_a_wish_without_a_figure_behind_a_design_is_told_how_to_ask(
    request_text: str, text: str, instead: str
) -> None:
    told = told_without_figure(understand(request_text), text)
    assert (told is None) is not bool(instead)
    assert instead.removeprefix("It") in str(told)


@pytest.mark.parametrize("text", ["make me a low pass filter", "high-pass", "低通滤波器"])
def test_a_circuit_that_is_only_named_is_asked_for_its_figure(text: str) -> None:
    with pytest.raises(CircuitError, match="does not give the cut-off frequency"):
        understand(text, request_texts())
