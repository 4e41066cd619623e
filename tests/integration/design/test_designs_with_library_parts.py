"""A sentence that names a part of the model library is designed with that very model, and judged with it."""

from __future__ import annotations

import re

import pytest

import bootstrap
from application.workflow.designing import DesignRequest
from domain.circuit.numbers import parse_number
from domain.design.catalogue import understand
from domain.design.engine.device_cards import cards_named
from domain.design.engine.library_parts import DIODES, MOSFETS
from domain.design.engine.reading import read
from domain.design.families.first_order import FAMILY
from domain.design.sentence import read_sentence
from shared.errors import CircuitError
from shared.paths import MODEL_LIBRARY
from tests.integration.design.conftest import _answer


@pytest.mark.parametrize(("text", "part", "element"), [
    ("inverting amplifier, gain 10, bandwidth 100 kHz with TL072", "TL072", "X1 0 n vcc vee out TL072"),
    ("common-emitter amplifier, gain 30, with a 2N3904", "2N3904", "Q1 c b e 2N3904"),
    ("用LM358设计增益10倍、带宽20kHz的反相放大器", "LM358", "X1 0 n vcc vee out LM358"),
    ("2nd-order Butterworth low-pass 5 kHz, use LM358N", "LM358", "X1 p1 out vcc vee out LM358"),
    ("buck converter 12 V to 5 V, 1 A, with a 1N5819", "1N5819", "D1 0 sw 1N5819"),
    ("boost converter 5 V to 12 V, 0.3 A, with 1N5819", "1N5819", "D1 sw out 1N5819"),
    ("synchronous buck 24 V to 12 V, 3 A using IRF540", "IRF540N", "M1 in g1 sw IRF540N"),
    ("用1N 4148设计12V转5V、0.1A的降压电路", "1N4148", "D1 0 sw 1N4148"),
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
    assert f".model {part.lower()}" not in netlist.lower()


async def test_a_stage_is_sized_by_the_tables_of_a_named_model(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "n3.lib").write_text(
        ".model q1 npn\n.model nch nmos(level=3 vto=0.6 uo=460 tox=15n nsub=6e16 theta=0.08 vmax=1.6e5)\n"
    )
    app = bootstrap.build()
    try:
        text = "设计共源放大电路，增益8倍，电源2.5V，用 models/n3.lib 里的 {}"
        done = await app.design.run(
            DesignRequest(project=tmp_path, text=text.format("nch")), ask=_answer, emit=lambda _event: None
        )
        refused = {}
        for name in ("q1", "nx"):
            with pytest.raises(CircuitError) as error:
                await app.design.run(
                    DesignRequest(project=tmp_path, text=text.format(name)), ask=_answer,
                    emit=lambda _event: None,
                )  # fmt: skip
            refused[name] = str(error.value.message)
    finally:
        await app.close()
    assert done.goals_met
    assert len(done.verdicts) == 2
    (circuit,) = tmp_path.glob("*.cir")
    netlist = circuit.read_text()
    assert '\n.include "models/n3.lib"\n' in netlist
    assert re.search(r"^M1 d g s 0 nch W=\S+ L=1u ", netlist, re.MULTILINE)
    assert "n3.lib, line 1: q1 is of type NPN, not NMOS." in refused["q1"]
    assert "There are: nch." in refused["nx"]


@pytest.mark.parametrize(("text", "cards"), [
    ("common-source amplifier, gain 20 dB, with NMOS models from nch.lib", ("nch.lib", "", "")),
    ("用models/t180.lib里的nch/pch设计两级运放，增益70dB", ("models/t180.lib", "nch", "pch")),
    ("two-stage op-amp using the BSIM4 models nch and pch in a.inc, GBW 5 MHz", ("a.inc", "nch", "pch")),
    ("two-stage op-amp, GBW 5 MHz, with NMOS_180", ("", "NMOS_180", "PMOS_180")),
    ("共源放大电路，增益10倍，采用l3.lib中的NMOS模型n3", ("l3.lib", "n3", "")),
])  # fmt: skip
def test_models_are_named_in_a_sentence(text, cards):
    found, rest = cards_named(text)
    assert found == dict(zip(("file", "nmos", "pmos"), cards, strict=True))
    assert not re.search(r"180|bsim|lib|nch|n3", rest, re.IGNORECASE)
    if "source" in text or "源" in text:
        assert understand(text).parameters["cards"] == found


@pytest.mark.parametrize(("text", "words"), [
    ("RC low-pass 1 kHz with NMOS_180", "a MOSFET amplifier"),
    ("inverting amplifier, gain 10 with AD797", "LM358, LM324, TL071, TL072"),
    ("用LF356设计二阶巴特沃斯低通滤波器，截止频率1kHz", "NE5532, OPA2134, OP07"),
    ("inverting amplifier gain 100, bandwidth 100 kHz, TL071", "faster op-amp"),
    ("buck 12 V to 5 V, 1 A using IRF9540", "2N7000, IRF540N, IRLZ44N"),
    ("buck 12 V to 5 V, 5 A using 2N7000", "another MOSFET"),
    ("buck 12 V to 5 V, 2 A with SS34", "1N5819, 1N4148, 1N4001"),
    ("buck 12 V to 5 V, 1 A with 1N4007", "another diode"),
    ("buck 48 V to 5 V, 1 A with 1N5819", "another diode"),
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


def test_a_part_without_a_place_in_the_circuit_is_told():
    _, notes = read(FAMILY, read_sentence("RC low-pass 1 kHz with 2N3904"))
    assert "This circuit has no use for 2N3904; it was not used." in map(str, notes)


@pytest.mark.parametrize("name", MOSFETS)
def test_what_sizing_knows_of_a_mosfet_is_what_its_model_says(name):
    text = (MODEL_LIBRARY / f"{name}.lib").read_text()
    said = {key: parse_number(value) for key, value in re.findall(r"\b(VTO|KP|RS|RD|BV)=(\S+)", text)}
    channel = 1 / (said["KP"] * (10 - said["VTO"]))
    assert MOSFETS[name].on_ohm == pytest.approx(channel + said["RS"] + said["RD"], rel=0.05)
    assert MOSFETS[name].blocks_v < said["BV"] <= 1.3 * MOSFETS[name].blocks_v


@pytest.mark.parametrize("name", DIODES)
def test_what_sizing_knows_of_a_diode_is_what_its_model_says(name):
    text = (MODEL_LIBRARY / f"{name}.lib").read_text()
    said = {key: parse_number(value) for key, value in re.findall(r"\b(IS|N|RS|TT|BV)=(\S+)", text)}
    diode = DIODES[name]
    assert (said["IS"], said["N"], said["RS"], said["TT"]) == pytest.approx(
        (diode.saturation_a, diode.emission, diode.series_ohm, diode.recovery_s)
    )
    assert diode.reverse_v < said["BV"] <= 1.3 * diode.reverse_v
