"""A sentence that names a part of the model library is designed with that very model, and judged with it."""

from __future__ import annotations

import pytest

import bootstrap
from application.workflow.designing import DesignRequest
from shared.errors import CircuitError
from tests.integration.design.conftest import _answer


@pytest.mark.parametrize(("text", "part", "element"), [
    ("inverting amplifier, gain 10, bandwidth 100 kHz with TL072", "TL072", "X1 0 n vcc vee out TL072"),
    ("用LM358设计增益10倍、带宽20kHz的反相放大器", "LM358", "X1 0 n vcc vee out LM358"),
    ("2nd-order Butterworth low-pass 5 kHz, use LM358N", "LM358", "X1 p1 out vcc vee out LM358"),
    ("4th-order Butterworth high-pass filter 1 kHz with the tl-074", "TL074", "X2 p2 out vcc vee out TL074"),
])  # fmt: skip
async def test_the_named_op_amp_is_used_and_judged(tmp_path, text, part, element):
    app = bootstrap.build()
    try:
        done = await app.design.run(
            DesignRequest(project=tmp_path, text=text), ask=_answer, emit=lambda _event: None
        )
    finally:
        await app.close()
    assert done.goals_met
    (circuit,) = tmp_path.glob("*.cir")
    netlist = circuit.read_text()
    assert f"\n.include {part}.lib\n" in netlist
    assert f"\n{element} " in netlist
    assert ".subckt" not in netlist


@pytest.mark.parametrize(("text", "words"), [
    ("inverting amplifier, gain 10 with OPA2134", "LM358, TL071, TL072, TL074"),
    ("用NE5532设计二阶巴特沃斯低通滤波器，截止频率1kHz", "LM358, TL071, TL072, TL074"),
    ("inverting amplifier gain 100, bandwidth 100 kHz, TL071", "faster op-amp"),
])  # fmt: skip
async def test_a_part_that_is_not_there_or_too_slow_is_refused_in_words(tmp_path, text, words):
    app = bootstrap.build()
    try:
        with pytest.raises(CircuitError) as refused:
            await app.design.run(
                DesignRequest(project=tmp_path, text=text), ask=_answer, emit=lambda _event: None
            )
    finally:
        await app.close()
    assert words in str(refused.value.advice)
