"""Which value of a circuit a name in a sentence means."""

from __future__ import annotations

from domain.circuit.netlist import Netlist
from infrastructure.llm_adapters.builtin.circuit import Circuit
from infrastructure.llm_adapters.builtin.conditions import resolved
from shared.message import Message


def circuit_of(text: str) -> Circuit:
    return Circuit(
        file="a.cir", netlist=Netlist.parse(text.encode()), supplies="", inputs="", outputs=(), stages=(),
        loads=(), feedback=(), counts={}, nodes=(), analyses=(), measures=(),
    )  # fmt: skip


def test_a_letter_is_the_parameter_of_that_name_before_it_is_a_kind_of_part() -> None:
    text = "* oscillator\nR1 a b {R}\nR4 b c 1k\nR5 c 0 1k\nC1 a 0 {C}\n.op\n"
    with_parameters = circuit_of(f"{text}.param R=65k\n.param C=10p\n.end\n")
    assert resolved(with_parameters, (("R", "2k"), ("C", "1n"))) == [("R", "2k"), ("C", "1n")]
    asked = resolved(circuit_of(f"{text}.end\n"), (("R", "2k"),))
    assert isinstance(asked, Message)
    assert "R4, R5" in str(asked)
