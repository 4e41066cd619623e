"""What a report tells of the power a circuit takes at rest."""

from __future__ import annotations

import pytest

from domain.design.catalogue import propose, understand
from domain.simulation.operating_point import OperatingPoint, SourcePoint
from presentation.report.blocks import Paragraph
from presentation.report.document import operating_point_blocks


@pytest.mark.parametrize(
    ("request_text", "is_told"),
    [("inverting amplifier, gain 10", True), ("inverting amplifier with an LM358, gain 10", False)],
)
def test_op_amps_without_supply_current_are_told(request_text: str, is_told: bool) -> None:
    netlist = propose(understand(request_text), str).netlist
    source = SourcePoint(name="vcc", voltage=15.0, current=1e-9, power=15e-9)
    blocks = operating_point_blocks(OperatingPoint(sources=(source,)), str, netlist)
    told = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert told[0].startswith("The sources deliver 15")
    assert any("draws no supply current" in text for text in told) is is_told
