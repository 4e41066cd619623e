"""Wishes as people put them beside a circuit, which name no file."""

from __future__ import annotations

import pytest

from infrastructure.llm_adapters.builtin.commands import (
    Analyze,
    Change,
    Command,
    Design,
    understand_command,
)
from tests.ground.cases import for_each


@for_each(
    ("text", "values", "figures"),
    [
        ("make RC 4k7", (("RC", "4.7k"),), ()),
        ("set R1 2k and simulate", (("R1", "2k"),), ()),
        ("change the load to 1k and tell me the new gain", (("RL", "1k"),), ("gain",)),
        ("RL改成100k再看下增益", (("RL", "100k"),), ("gain",)),  # not a gain of 100,000
        ("change the load to 2 A, and the efficiency?", (("load_i", "2"),), ("efficiency",)),
        ("负载改为 500mA", (("load_i", "500m"),), ()),  # not 500 milliohms
        ("把RC改成2.7k", (("RC", "2.7k"),), ()),
    ],
)
def test_a_value_is_changed(text: str, values: tuple[tuple[str, str], ...], figures: tuple[str, ...]) -> None:
    command = understand_command(text, ("amp.cir",))

    assert isinstance(command, Change)
    assert (command.values, command.ask.figures if command.ask else ()) == (values, figures)
    assert command.simulates is (bool(figures) or "simulate" in text)


@pytest.mark.parametrize(
    "text", ["does this look ok to you?", "这个电路有没有问题?", "what does this circuit do?"]
)
def test_a_look_at_the_circuit_is_asked_for(text: str) -> None:
    command: Command = understand_command(text, ("amp.cir",))
    assert command == Analyze(file="")


def test_another_supply_is_no_run_of_the_circuit_as_it_is() -> None:
    assert isinstance(understand_command("Can I run this off 9V instead of 12?", ("amp.cir",)), Design)
