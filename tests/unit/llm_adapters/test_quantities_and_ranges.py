"""Quantities of parts and supplies beside figures, values one by one, parts that fail, what is not there."""

from __future__ import annotations

from typing import Any

from infrastructure.llm_adapters.builtin.commands import Change, Unclear, understand_command
from infrastructure.llm_adapters.builtin.reading import Ask, things_in
from tests.ground.cases import for_each
from tests.unit.llm_adapters.test_builtin_questions import said_by

FILES = ("amp.cir",)


@for_each(
    ("text", "intent", "holds"),
    [
        ("total supply current and power?", "figure", {"figures": ("current", "power")}),
        (
            "how hot does the pass transistor get if VIN goes to 9 V?",
            "what_if",
            {"figures": ("power",), "names": ("VIN", "q*"), "parameters": (("VIN", "9"),)},
        ),
        ("what's the gain with R4 shorted?", "what_if",
         {"figures": ("gain",), "names": ("R4",), "parameters": (("R4", "1m"),)}),
        ("what happens to the gain if C3 goes open", "what_if",
         {"figures": ("gain",), "names": ("C3",), "removed": ("C3",)}),
        ("ripple with C1 = 10u, 22u and 47u?", "sweep",
         {"figures": ("ripple",), "names": ("C1",), "points": (10e-6, 22e-6, 47e-6)}),
        ("list Vout at -20, 25 and 70 C", "sweep",
         {"figures": ("vout",), "names": ("temp",), "points": (-20.0, 25.0, 70.0)}),
        (".step RL 1k 5k 500 and show the gain", "sweep",
         {"figures": ("gain",), "names": ("RL",), "span": (1e3, 5e3), "runs": 9}),
        ("ripple vs load current", "sweep", {"figures": ("ripple",), "names": ("load",)}),
        ("how many dB down are we at 5x the corner?", "figure", {"figures": ("gain",), "place": "5*cutoff"}),
        ("psrr at 10k?", "supply_rejection", {"at": 1e4, "at_unit": "Hz"}),
        ("step ILOAD from 2mA to 40mA and show the undershoot", "load_step",
         {"names": ("ILOAD",), "span": (2e-3, 40e-3)}),
        ("what's the dropout voltage", "dropout", {}),
        ("Would a 22uH inductor keep it in CCM?", "conduction", {"parameters": (("l*", "2.2e-05"),)}),
        ("which transistor dominates the noise at 2 kHz?", "limits",
         {"figures": ("noise",), "at": 2e3, "at_unit": "Hz"}),
        ("温度升到60度,集电极电流会变多少?", "what_if",
         {"figures": ("collector_current",), "parameters": (("temp", "60"),)}),
        ("如果RL变成1k,还是连续导通吗", "conduction", {"names": ("RL",), "parameters": (("RL", "1000"),)}),
        ("whats the bandwith", "figure", {"figures": ("bandwidth",)}),
        ("is the output inverted?", "figure", {"figures": ("vout",), "is_nearest": True}),
    ],
)  # fmt: skip
def test_it_is_taken_as_meant(text: str, intent: str, holds: dict[str, Any]) -> None:
    assert said_by(understand_command(text, FILES)) == (intent, holds)


@for_each(
    ("text", "figure", "value", "other"),
    [
        ("get the gbw to 30 MHz with at most 1 mW of power", "ugf", 30e6, ("power", 1e-3, "at_most")),
        ("想把功耗压到1mW以下,相位裕度别低于60度", "power", 1e-3, ("phase_margin", 60.0, "at_least")),
        ("raise the phase margin to 65 but don't let the GBW go under 8 MHz", "phase_margin", 65.0,
         ("ugf", 8e6, "at_least")),
    ],
)  # fmt: skip
def test_a_wish_with_a_bound_of_another_quantity(
    text: str, figure: str, value: float, other: tuple[str, float, str]
) -> None:
    command = understand_command(text, FILES)
    assert isinstance(command, Ask)
    assert (command.intent, command.figures, command.value) == ("tune", (figure,), value)
    [bound] = command.besides
    assert (bound.figures[0], bound.value, bound.bound) == other


def test_a_frequency_below_nothing_is_asked_back() -> None:
    assert understand_command("put the cutoff at minus 2 kHz", FILES) == Unclear(parts=("minus 2 kHz",))


def test_a_share_more_of_a_part_changes_it() -> None:
    command = understand_command("increase R1 by 20%", FILES)
    assert isinstance(command, Change)
    assert command.values == (("R1", "*1.2"),)


def test_what_is_only_supposed_is_not_taken_to_be_there() -> None:
    assert things_in("what's the offset of the op-amp, with a diode?") == ("op-amp",)
